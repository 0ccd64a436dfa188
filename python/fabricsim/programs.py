"""Real MPI programs on simulated networks: their libraries, one run of one, and what came of it."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from fabricsim import _core
from fabricsim._libraries_of_mpi import libraries
from fabricsim._live import programs_of
from fabricsim._specification import find_study, override_pairs
from fabricsim.errors import CheckFailed, ProgramError
from fabricsim.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ProgramError", "ProgramRun", "libraries", "program_study", "replay_study", "run_program", "which_library"]

#: The network of programs that no study is given for.
_PLAIN = {"bandwidth": "100 Gbit/s", "latency": "100 ns"}
#: Names of checks that a program's own end makes fail.
_ENDS = {"programs", "ranks"}


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What came of a program.

    Attributes
    ----------
    verdict : str
        ``"ok"``, ``"failed"`` (a process has), ``"deadlock"``, ``"self-check"`` (the simulator's own) or ``"interrupted"``.
    exit_code : int
        For a shell: that of the program, 3 for a failed self-check, 4 for a deadlock.
    time_ns : float or None
        When its last rank had called ``MPI_Finalize``, in simulated time; None if one has not.
    digest : str or None
        Names all that the network did; equal for equal runs on every engine.
    ranks, calls, traps : int
        Processes, their calls of MPI, and those that waited for the simulator.
    cpu_s : float
        CPU time of the simulator and of its MPI library in the processes, without the program's own.
    time_dependent_calls : dict
        Calls after which a program may do something else at other times, by kind. All 0: its log is the program on any network.
    words : tuple of str
        What has gone wrong.
    summary : dict
        All figures of the run.
    """

    verdict: str
    exit_code: int
    time_ns: float | None
    digest: str | None
    ranks: int
    calls: int
    traps: int
    cpu_s: float
    time_dependent_calls: dict[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the figures that tools ask for."""
        keys = ("verdict", "exit_code", "time_ns", "digest", "ranks", "calls", "traps", "cpu_s", "time_dependent_calls", "words")
        return {key: list(value) if isinstance(value := getattr(self, key), tuple) else value for key in keys}


def which_library(command: Sequence[str], *, abi: str | None = None) -> dict[str, Any]:
    """Return which library a program gets: ``program``, ``library`` (files), ``abi`` and ``loaded_first``.

    ``abi`` is ``"standard"`` or ``"mpich"`` by what the program's file needs, ``"unsaid"`` where it names no MPI: then the library is that of the
    argument `abi`. ``loaded_first`` tells whether it is loaded before all others.

    Raises
    ------
    ProgramError
        It cannot be a rank.
    """
    try:
        found: dict[str, Any] = json.loads(
            _core.program_library(list(command), json.dumps({"libraries": str(libraries()), "abi": abi}))
        )
    except ValueError as error:
        raise ProgramError(str(error)) from None
    return found


def program_study(
    command: Sequence[str],
    ranks: int,
    *,
    study: str | Path | None = None,
    sets: Mapping[str, object] | Sequence[tuple[str, object]] | None = None,
    keys: Mapping[str, object] | None = None,
) -> Study:
    """Return a study of one program: on the network of `study`, whose work it replaces, or on one router of 100 Gbit/s.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments, relative to the working directory.
    ranks : int
        How many processes.
    study : path or str, optional
        A study file, or the name of one that comes with fabricsim. Of its jobs the first keeps its placement and its ranks per node.
    sets : mapping, optional
        Overrides by dotted key.
    keys : mapping, optional
        Keys of the work besides, such as ``compute``.
    """
    work = {**(keys or {}), "kind": "program", "command": list(command), "ranks": ranks, "folder": str(Path.cwd())}
    if study is None:
        content: dict[str, Any] = {
            "name": "program",
            "topology": {"kind": "single-router", "nodes": max(2, ranks)},
            "link": dict(_PLAIN),
            "job": [{"work": work}],
        }
        return Study(content, sets=dict(override_pairs(sets)))
    found = find_study(study)
    content = tomllib.loads(found.read_text(encoding="utf-8"))
    jobs = content.get("job") or [{}]
    first = jobs[0] if isinstance(jobs, list) else jobs
    content["job"] = [{**{key: value for key, value in first.items() if key != "work"}, "work": work}]
    for key in ("claim", "reproduce"):
        content.pop(key, None)
    return Study(content, base_dir=found.resolve().parent, sets=dict(override_pairs(sets)))


def replay_study(study: Study, log: str | Path) -> Study:
    """Return a study of one program with the log of it in the program's place."""
    content = tomllib.loads(study.source)
    content["job"][0]["work"] = {"kind": "trace", "file": str(Path(log).resolve())}
    return Study(content, base_dir=study.base_dir, sets=dict(study.sets), variant=study.variant)


def run_program(
    study: Study,
    *,
    log: str | Path | None = None,
    table: str | Path | None = None,
    output: str | Mapping[str, str] = "pass",
    debugger: tuple[int, Sequence[str]] | None = None,
    waits: int | None = None,
    one_core: bool = True,
    abi: str | None = None,
    quiet: bool = False,
    progress: Callable[[str], bool | str] | None = None,
) -> ProgramRun:
    """Run a study of one program here, with the program's own standard input and output.

    Parameters
    ----------
    study : Study
        Of one run, such as `program_study` makes.
    log : path, optional
        Where what all ranks did goes, as a trace.
    table : path, optional
        Where what computing took goes that is measured (``compute = "cpu"``): a table for ``compute = "table"``.
    output : str or mapping, optional
        Where what ranks print goes: ``"pass"``, ``"prefix"`` (with the rank before each line) or ``{"folder": DIR}``.
    debugger : (int, sequence of str), optional
        A rank and the words to put before its command.
    waits : int, optional
        A rank that waits for a debugger in ``MPI_Init``, and says so.
    one_core : bool, optional
        Keep all ranks on the simulator's core: calls are cheaper there.
    abi : str, optional
        The library of a program that names none itself, ``"mpich"`` or ``"standard"``; where it is not said, Python gets MPICH's, and
        others what they ask the loader for.
    quiet : bool, optional
        Say nothing on standard error of ranks that are waited for while they compute.
    progress : callable, optional
        Receives progress reports as JSON; returns False to end the run.

    Raises
    ------
    StudyError, ProgramError
        The study cannot be run, or is of several runs.
    """
    runs = study.expand().runs
    if len(runs) != 1:
        raise ProgramError(
            f"the study has {len(runs)} runs, a program is run once: leave out the sweep, or fix its keys with --set"
        )
    several = json.loads(runs[0].canonical)["control"].get("workers", 0) > 1
    options: dict[str, Any] = {
        "libraries": str(libraries()),
        "output": output,
        "one_core": one_core and not several,
        "abi": abi,
        "quiet": quiet,
    }
    for option, file in (("log", log), ("table", table)):
        if file is not None:
            if not Path(file).absolute().parent.is_dir():
                raise ProgramError(f"--{option} {file}: there is no folder {Path(file).parent}")
            options[option] = str(file)
    if waits is not None:
        options["waits"] = waits
    if debugger is not None:
        options["debugger"] = [debugger[0], list(debugger[1])]
    cores = os.sched_getaffinity(0)
    begun = _cpu()
    summary: dict[str, Any] = {}
    with _asked_to_stop() as stopped:

        def watch(text: str) -> bool | str:
            return not stopped.by and (progress is None or progress(text))

        _core.program_manner(json.dumps(options), lambda: not stopped.by)
        try:
            result = _core.run(runs[0].canonical, watch, None, 1, None)
            summary = json.loads(result.summary)
        except CheckFailed as error:
            summary = _summary_of(error)
        except _core.Interrupted:
            stopped.by = stopped.by or signal.SIGINT
        finally:
            os.sched_setaffinity(0, cores)
        reports = json.loads(_core.program_reports())
    return _outcome(summary, reports[-1] if reports else {}, stopped.by, _cpu() - begun, runs[0].canonical)


def _outcome(summary: dict[str, Any], report: dict[str, Any], stopped_by: int, cpu: float, canonical: str) -> ProgramRun:
    verdict = summary.get("verdict") or {}
    checks = [check for check in verdict.get("checks", []) if not check["ok"]]
    own = [check for check in checks if check["name"] not in _ENDS]
    words = list(report.get("words", []))
    end = report.get("end", "failed")
    if stopped_by:
        kind, code = "interrupted", 128 + stopped_by
    elif end != "finished":
        kind, code = ("deadlock" if end == "deadlock" else "failed"), int(report.get("exit_code", 1))
    elif checks:
        kind, code = "self-check", 3
    else:
        kind, code = "ok", int(report.get("exit_code", 0))
    if kind == "self-check" or (not report and kind != "interrupted"):
        words += [f"{check['name']}: {check['detail']}" for check in own or checks]
    jobs = summary.get("jobs") or [{}]
    return ProgramRun(
        verdict=kind,
        exit_code=code,
        time_ns=jobs[0].get("time_ns") if kind == "ok" else None,
        digest=summary.get("digest"),
        ranks=programs_of(canonical)[0]["ranks"],
        calls=int(report.get("calls", 0)),
        traps=int(report.get("traps", 0)),
        cpu_s=round(cpu + float(report.get("library_s", 0.0)), 6),
        time_dependent_calls=dict(report.get("time_dependent", {})),
        words=tuple(words),
        summary=summary,
    )


def _summary_of(error: CheckFailed) -> dict[str, Any]:
    for candidate in (getattr(error, "summary", None), *reversed(error.args)):
        found = json.loads(candidate) if isinstance(candidate, str) and candidate.startswith("{") else candidate
        if isinstance(found, dict):
            return found
    return {}


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class _Stop:
    """Whether somebody wants the run to end: the signal that says so."""

    by = 0

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.by = self.by or number


@contextmanager
def _asked_to_stop() -> Iterator[_Stop]:
    """Note Ctrl-C and the wish to end instead of raising: processes have to be ended first."""
    stop = _Stop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop.on_signal) for number in signals]
    try:
        sys.stdout.flush()
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
