"""Forks that a page has asked for: one at a time, each by the command `fabricsim fork` in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricsim._parts import PARTS
from fabricsim.analyses.fork.change import Change, changes
from fabricsim.analyses.fork.defaults import FOLDER
from fabricsim.view.places import Root

__all__ = ["Forks", "Refused"]

#: Forks that are remembered, and that may wait.
_MOST = 100
_OPTIONS = {"at": "--at", "until": "--until", "reroute": "--reroute", "keeps": "--keeps", "error_rate": "--error-rate"}


class Refused(Exception):
    """What is asked for is no fork, or there are too many already."""


@dataclass(slots=True)
class Asked:
    """A fork that was asked for.

    Attributes
    ----------
    number : int
        In the order of asking.
    folder, run : str
        Of what.
    name : str
        What is other in it.
    state : str
        ``waiting``, ``running``, ``done`` or ``failed``.
    sentence : str
        The answer, or why there is none.
    fork : str
        Id of the fork in ``FOLDER/forks``.
    """

    number: int
    folder: str
    run: str
    name: str
    state: str = "waiting"
    sentence: str = ""
    fork: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with the folder that the fork is in."""
        place = f"{self.folder}/{FOLDER}".lstrip("/")
        names = ("number", "run", "name", "state", "sentence", "fork")
        return {"folder": self.folder, "forks": place, **{name: getattr(self, name) for name in names}}


@dataclass(slots=True)
class Forks:
    """The forks that pages have asked for since the server began.

    Attributes
    ----------
    root : Root
        What may be read.
    asked : list of Asked
        All of them.
    """

    root: Root
    asked: list[Asked] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self, told: Any) -> Asked:
        """Take a fork that is asked for; raises `Refused`, or `Outside` where it is of a folder that is not shown."""
        if not isinstance(told, dict) or not all(isinstance(told.get(key), str) for key in ("folder", "run")):
            raise Refused("a fork is of a folder and a run")
        if sum(one.state in ("waiting", "running") for one in self.asked) >= _MOST:
            raise Refused(f"{_MOST} forks wait already")
        change = _change(told)
        folder = self.root.place(told["folder"])
        one = Asked(len(self.asked), told["folder"].strip("/"), told["run"], change.name)
        self.asked.append(one)
        task = asyncio.create_task(self._run(one, folder, _words(change)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return one

    async def _run(self, one: Asked, folder: Path, words: list[str]) -> None:
        command = [sys.executable, "-m", "fabricsim", "fork", str(folder), f"--run={one.run}", *words]
        async with self._turn:
            one.state = "running"
            process = await asyncio.create_subprocess_exec(
                *command,
                "--no-report",
                "--quiet",
                "--json",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                out, err = await process.communicate()
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
                raise
        try:
            found = json.loads(out)["forks"][0]
            one.fork, one.sentence = str(found["run"]), str(found["sentence"])
            one.state = "failed" if found["state"] in ("refused", "failed") else "done"
        except (ValueError, LookupError):
            lines = err.decode(errors="replace").strip().splitlines()
            one.state, one.sentence = "failed", lines[0] if lines else f"the process ended with exit code {process.returncode}"

    async def end(self) -> None:
        """End what runs and what waits."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _change(told: dict[str, Any]) -> Change:
    more = {name: told[name] for name in (*_OPTIONS, "sets") if told.get(name) not in (None, "", {})}
    try:
        (change,) = changes({part: told.get(part) or () for part in PARTS}, each=False, **more)
    except (ValueError, TypeError) as error:
        raise Refused(str(error)) from None
    return change


def _words(change: Change) -> list[str]:
    """Return the options of the command; values stand behind an equals sign, so that none is taken for an option."""
    words = [f"--{option}={name}" for part, option in PARTS.items() for name in getattr(change, part)]
    said = {option: getattr(change, name) for name, option in _OPTIONS.items()}
    words += [f"{option}={value}" for option, value in said.items() if value is not None]
    return words + [f"--set={key}={value}" for key, value in change.sets.items()]
