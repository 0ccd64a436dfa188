"""What came of a capacity study: how much slower jobs are together than alone, out of the figures of its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from fabricsim._metrics import refuse_failed
from fabricsim.analyses.capacity.records import Capacity

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["TOGETHER", "alone_name", "capacity", "pair_name"]

#: The experiment of all jobs together.
TOGETHER = "together"


def alone_name(name: str) -> str:
    """Return the experiment of a job alone."""
    return f"alone-{name}"


def pair_name(first: str, second: str) -> str:
    """Return the experiment of two jobs."""
    return f"{first}--{second}"


def _jobs(record: RunRecord) -> dict[str, Mapping[str, Any]]:
    """Return what a run says of each job that works in it; nothing of a job that it has no figures of."""
    said = {str(job["name"]): job for job in record.summary.get("jobs") or []}
    work = {str(job["name"]): job["work"] for job in json.loads(record.run.canonical)["jobs"]}
    return {name: said.get(name, {}) for name, kind in work.items() if kind != "idle"}


def _slowdown(shared: Mapping[str, Any], alone: Mapping[str, Any]) -> tuple[float | None, str]:
    """Return a slowdown, or None and why there is none."""
    if shared.get("time_ns") and alone.get("time_ns"):
        return float(shared["time_ns"]) / float(alone["time_ns"]), ""
    if shared.get("iterations") is not None and alone.get("iterations") is not None:
        if shared["iterations"]:
            return float(alone["iterations"]) / float(shared["iterations"]), ""
        if alone["iterations"]:
            return (
                None,
                f"finished no iteration in company and {alone['iterations']:,} alone: more than {alone['iterations']:,}; make run.end longer",
            )
        return None, "finished no iteration, not even alone: make run.end longer"
    latencies = [(job.get("latency_ns") or {}).get("mean") for job in (shared, alone)]
    if latencies[0] is not None and latencies[1]:
        return float(latencies[0]) / float(latencies[1]), ""
    return None, "the run has no figures of it alone: it tells time and iterations of jobs of ranks"


def _compare(name: str, shared: Mapping[str, Any], alone: Mapping[str, Any], beside: str, notes: dict[str, None]) -> float | None:
    """Return a job's slowdown; where there is none, None and a note."""
    found, why = _slowdown(shared, alone)
    if found is None:
        notes[f"{name} beside {beside}: {why}"] = None
    return found


def capacity(results: Recorded) -> list[Capacity]:
    """Return what came of a `capacity_study`, a `Capacity` for each of its points.

    Raises
    ------
    ValueError
        The results are not of a capacity study, or not complete, or a run failed a self-check.
    """
    points: dict[tuple[tuple[str, str], ...], dict[str, RunRecord]] = {}
    for record in results.records:
        refuse_failed(record)
        point = (*record.run.sweep, ("seed", str(record.run.seed)))
        points.setdefault(point, {})[record.run.experiment] = record
    found = []
    for point, parts in points.items():
        if TOGETHER not in parts:
            raise ValueError(f"{results.folder} has no run of all jobs together: it is not of a capacity study, or not complete")
        shared = _jobs(parts[TOGETHER])
        alone = {name: _jobs(parts[alone_name(name)])[name] for name in shared if alone_name(name) in parts}
        if missing := [name for name in shared if name not in alone]:
            raise ValueError(f"{results.folder} has no run of {missing[0]} alone: it is not complete")
        matrix: dict[tuple[str, str], float | None] = {}
        notes: dict[str, None] = {}
        for pair in combinations(shared, 2):
            if pair_name(*pair) in parts:
                both = _jobs(parts[pair_name(*pair)])
                matrix.update(
                    {(name, other): _compare(name, both[name], alone[name], other, notes) for name, other in (pair, pair[::-1])}
                )
        slowdown = {name: _compare(name, job, alone[name], "all", notes) for name, job in shared.items()}
        found.append(
            Capacity(
                point=point,
                jobs=tuple(shared),
                runs={name: job.get("iterations") for name, job in shared.items()},
                runs_alone={name: job.get("iterations") for name, job in alone.items()},
                slowdown=slowdown,
                interference=matrix,
                notes=tuple(notes),
            )
        )
    return found
