"""Runs with MPI programs in a campaign: where what they print goes, and which need not be run again.

What a program does on one network it does on every network if nothing in it depends on time: then it runs once, and the other runs of the
campaign play its log.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabricsim import _core
from fabricsim._libraries_of_mpi import libraries
from fabricsim._runs import Run
from fabricsim._specification import Specification

__all__ = ["FOLDER", "Replays", "live", "logs_of", "program_folder", "programs_of", "replayed"]

#: In a results directory: a folder for each run that has run programs.
FOLDER = "programs"


def programs_of(canonical: str) -> list[dict[str, Any]]:
    """Return the programs of a run in the order of its jobs: the plain values of their keys."""
    if '"program"' not in canonical:
        return []
    return [
        {key: next(iter(value.values())) for key, value in motif["values"].items()} for motif in _motifs(json.loads(canonical))
    ]


def _motifs(specification: Mapping[str, Any]) -> list[dict[str, Any]]:
    works = [job["work"] for job in specification["jobs"]]
    parts = [part for work in works if isinstance(work, dict) for part in (work.get("ranks") or {}).get("parts", [])]
    return [part["motif"] for part in parts if part["motif"]["kind"] == "program"]


def program_folder(folder: Path, run: str) -> Path:
    """Return where what the programs of a run print goes, and their logs; `folder` is that of the records."""
    return folder.parent / FOLDER / run


def logs_of(folder: Path, run: str, programs: int) -> list[Path]:
    """Return the logs of a run of so many programs; empty where one is not there."""
    place = program_folder(folder, run)
    logs = [place / ("log.work" if number == 0 else f"log.{number}.work") for number in range(programs)]
    return logs if all(log.is_file() for log in logs) else []


@contextlib.contextmanager
def live(folder: Path, goes_on: Callable[[], bool], reports: list[dict[str, Any]], *, one_core: bool) -> Iterator[None]:
    """Run programs with what they print in files of a folder, and with their logs there; `reports` gets what came of each."""
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "libraries": str(libraries()),
        "output": {"folder": str(folder / "output")},
        "input": False,
        "one_core": one_core,
        "log": str(folder / "log.work"),
    }
    cores = os.sched_getaffinity(0)
    _core.program_reports()
    _core.program_manner(json.dumps(options), goes_on)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        reports += json.loads(_core.program_reports())


def replayed(canonical: str, logs: Sequence[Path]) -> str:
    """Return the specification of a run with logs in the places of its programs."""
    specification = json.loads(canonical)
    for motif, log in zip(_motifs(specification), logs, strict=True):
        ranks = motif["values"]["ranks"]["integer"]
        motif.update(_motif_of_log(log, ranks))
    return json.dumps(specification)


def _motif_of_log(log: Path, ranks: int) -> dict[str, Any]:
    study = Specification(
        {
            "name": "log",
            "topology": {"kind": "single-router", "nodes": max(2, ranks)},
            "job": [{"work": {"kind": "trace", "file": str(log.resolve())}}],
        }
    )
    specification = json.loads(study.expand().runs[0].canonical)
    motif: dict[str, Any] = specification["jobs"][0]["work"]["ranks"]["parts"][0]["motif"]
    return motif


class Replays:
    """Which runs of a campaign need their programs, and which play the logs of others.

    Parameters
    ----------
    folder : Path
        Of the records.
    finished : sequence of Run
        Runs whose records are there.
    todo : sequence of Run
        Runs that are to be simulated.
    """

    def __init__(self, folder: Path, finished: Sequence[Run], todo: Sequence[Run]) -> None:
        self.folder = folder
        self.todo = todo
        self.others = list(finished)

    def waves(self) -> tuple[list[Run], list[Run]]:
        """Return the runs that go first, and those that perhaps can play the logs of these."""
        known = {self._key(run) for run in self.others if self._logs(run.id)} - {None}
        first: list[Run] = []
        second: list[Run] = []
        for run in self.todo:
            key = self._key(run)
            (second if key in known else first).append(run)
            if key is not None:
                known.add(key)
        self.others += first
        return first, second

    def logs(self, run: Run) -> dict[str, Any]:
        """Return what a run plays in place of its programs: ``of`` (the run that has made them) and ``logs``; empty if it needs them."""
        key = self._key(run)
        for other in self.others:
            if self._key(other) == key and (logs := self._logs(other.id)):
                return {"of": other.id, "logs": [str(log) for log in logs]}
        return {}

    @staticmethod
    def _key(run: Run) -> str | None:
        programs = programs_of(run.canonical)
        return json.dumps(programs, sort_keys=True) if programs else None

    def _logs(self, run: str) -> list[Path]:
        """Return the logs of a run that hold for every network."""
        try:
            record = json.loads((self.folder / f"{run}.json").read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            return []
        programs = record.get("programs") or []
        fixed = all(
            program["end"] == "finished" and not program["exit_code"] and not any(program["time_dependent"].values())
            for program in programs
        )
        return logs_of(self.folder, run, len(programs)) if fixed else []
