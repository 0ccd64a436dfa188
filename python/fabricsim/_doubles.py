"""Runs of a study that differ in their names alone: one is simulated, the others take its results.

Experiments often share points, such as a baseline that stands in each of them. A result is a function of what is simulated, and what
is simulated is the canonical specification without the names of study, experiment and sweep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._files import Seal, atomic_write
from fabricsim._seals import BrokenSeal, check, content_of, read_sealed, sealed
from fabricsim.errors import DamagedError

if TYPE_CHECKING:
    from fabricsim._runs import Run

__all__ = ["Doubles", "take_over"]

_NAMES = frozenset({"study", "experiment", "sweep"})


class Doubles:
    """Which runs are simulated, and which take the results of another.

    Parameters
    ----------
    finished : iterable of Run
        Runs that have results already.
    todo : iterable of Run
        Runs that need some.
    """

    def __init__(self, *, finished: Iterable[Run], todo: Iterable[Run]) -> None:
        first: dict[str, Run] = {}
        for run in finished:
            first.setdefault(_essence(run), run)
        self.with_results: list[tuple[Run, Run]] = []
        self.to_simulate: list[Run] = []
        self._waiting: dict[str, list[Run]] = {}
        ready = {run.id for run in first.values()}
        for run in todo:
            original = first.setdefault(_essence(run), run)
            if original is run:
                self.to_simulate.append(run)
            elif original.id in ready:
                self.with_results.append((original, run))
            else:
                self._waiting.setdefault(original.id, []).append(run)

    def of(self, run: Run) -> list[Run]:
        """Return the runs that wait for the results of a run that is simulated."""
        return self._waiting.get(run.id, [])


def take_over(folder: Path, original: Run, run: Run) -> None:
    """Give a run the results of another one; its record names that as ``same_as``.

    Raises
    ------
    DiskError
        The files cannot be written.
    DamagedError
        The original has changed since it was written.
    """
    source = folder / f"{original.id}.json"
    try:
        record = read_sealed(source)
        tables = {}
        for name, entry in record["tables"].items():
            source = folder / entry["file"]
            content = content_of(source)
            check(source, Seal(entry["sha256"], entry["bytes"]), Seal.of(content))
            tables[name] = {**entry, "file": f"{run.id}.{name}.arrow"}
            atomic_write(folder / tables[name]["file"], content)
    except BrokenSeal as error:
        raise DamagedError(source, error.reason, "`--resume` runs it again") from None
    own = {key: value for key, value in run.to_dict().items() if key in ("id", "hash", "study", "experiment", "sweep", "seed")}
    atomic_write(folder / f"{run.id}.json", sealed({**record, **own, "same_as": original.id, "tables": tables}))


def _essence(run: Run) -> str:
    specification = {key: value for key, value in json.loads(run.canonical).items() if key not in _NAMES}
    return hashlib.sha256(json.dumps(specification).encode()).hexdigest()
