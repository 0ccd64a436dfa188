"""Capacity: what jobs that share a network do to each other, against each of them alone in the same place.

A study with several jobs and an end becomes a campaign: all jobs together, each alone while the nodes of the others stay taken and
idle, and, if asked for, every two of them. Placements are those of the study, so that what differs is the company alone.
"""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from fabricsim.study import Study

if TYPE_CHECKING:
    from fabricsim.results import Results, RunRecord

__all__ = ["Capacity", "capacity", "capacity_study", "write"]

TOGETHER = "together"


def _alone(name: str) -> str:
    return f"alone-{name}"


def _pair(first: str, second: str) -> str:
    return f"{first}--{second}"


def _job_names(study: Study) -> list[str]:
    names = [str(job["name"]) for job in json.loads(study.expand().runs[0].canonical)["jobs"]]
    if len(names) < 2:
        raise ValueError(f"{study.file_name} has one job: capacity is about several jobs on one network")
    return names


def capacity_study(study: Study, *, pairs: bool = False) -> Study:
    """Return the campaign of a study of several jobs: all of them together, each alone and, if asked for, every two.

    Parameters
    ----------
    study : Study
        A study with several jobs of MPI ranks; its sweep and seeds hold for every part.
    pairs : bool, optional
        Every two jobs as well, for the matrix of interference: n (n - 1) / 2 more parts.

    Raises
    ------
    ValueError
        The study has one job, or experiments of its own.
    """
    content: dict[str, Any] = tomllib.loads(study.source)
    if "experiment" in content:
        raise ValueError(f"{study.file_name} has experiments of its own; capacity makes them")
    names = _job_names(study)
    parts = {TOGETHER: set(names), **{_alone(name): {name} for name in names}}
    if pairs:
        parts |= {_pair(*two): set(two) for two in combinations(names, 2)}
    sweep = content.pop("sweep", None)

    def experiment(busy: set[str]) -> dict[str, Any]:
        idle = {f"job.{index}.work": {"kind": "idle"} for index, name in enumerate(names) if name not in busy}
        return {"set": idle, **({"sweep": sweep} if sweep else {})}

    content["experiment"] = {name: experiment(busy) for name, busy in parts.items()}
    return Study.from_toml(
        tomli_w.dumps(content),
        file_name=study.file_name,
        base_dir=study.base_dir,
        sets=study.sets,
        variant=study.variant,
    )


@dataclass(frozen=True, slots=True)
class Capacity:
    """What came of the jobs of one point of a campaign.

    Attributes
    ----------
    point : tuple of (key, value)
        Swept keys and their values, and the seed.
    jobs : tuple of str
        Names of the jobs.
    runs, runs_alone : mapping
        Iterations that each job finished, with all others and alone.
    slowdown : mapping
        Time with all others by time alone; of jobs that do not end, iterations alone by iterations with all others.
    interference : mapping of (job, other) to float
        The same with one other job; empty without pairs.
    """

    point: tuple[tuple[str, str], ...]
    jobs: tuple[str, ...]
    runs: Mapping[str, int]
    runs_alone: Mapping[str, int]
    slowdown: Mapping[str, float]
    interference: Mapping[tuple[str, str], float]


def _jobs(record: RunRecord) -> dict[str, Mapping[str, Any]]:
    return {str(job["name"]): job for job in record.summary.get("jobs") or []}


def _slowdown(shared: Mapping[str, Any], alone: Mapping[str, Any]) -> float:
    if shared["time_ns"] and alone["time_ns"]:
        return float(shared["time_ns"]) / float(alone["time_ns"])
    return float(alone["iterations"]) / float(shared["iterations"]) if shared["iterations"] else float("inf")


def capacity(results: Results) -> list[Capacity]:
    """Return what came of a `capacity_study`, a `Capacity` for each of its points.

    Raises
    ------
    ValueError
        The results are not of a capacity study, or not complete.
    """
    points: dict[tuple[tuple[str, str], ...], dict[str, RunRecord]] = {}
    for record in results.records:
        point = (*record.run.sweep, ("seed", str(record.run.seed)))
        points.setdefault(point, {})[record.run.experiment] = record
    found = []
    for point, parts in points.items():
        if TOGETHER not in parts:
            raise ValueError(f"{results.folder} has no run of all jobs together: it is not of a capacity study, or not complete")
        shared = _jobs(parts[TOGETHER])
        alone = {name: _jobs(parts[_alone(name)])[name] for name in shared if _alone(name) in parts}
        if missing := [name for name in shared if name not in alone]:
            raise ValueError(f"{results.folder} has no run of {missing[0]} alone: it is not complete")
        matrix = {}
        for pair in combinations(shared, 2):
            if _pair(*pair) in parts:
                both = _jobs(parts[_pair(*pair)])
                matrix.update({(name, other): _slowdown(both[name], alone[name]) for name, other in (pair, pair[::-1])})
        found.append(
            Capacity(
                point=point,
                jobs=tuple(shared),
                runs={name: int(job["iterations"]) for name, job in shared.items()},
                runs_alone={name: int(job["iterations"]) for name, job in alone.items()},
                slowdown={name: _slowdown(job, alone[name]) for name, job in shared.items()},
                interference=matrix,
            )
        )
    return found


def write(points: Sequence[Capacity], folder: str | Path) -> list[Path]:
    """Write ``capacity.csv``, a row per point and job, and a figure of the slowdowns of each point.

    Parameters
    ----------
    points : sequence of Capacity
        What `capacity` gave.
    folder : path
        Where to.
    """
    from fabricsim import plots

    target = Path(folder)
    keys = list(dict.fromkeys(key for point in points for key, _ in point.point))
    table = target / "capacity.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([*keys, "job", "beside", "iterations", "slowdown"])
        for point in points:
            swept = [dict(point.point).get(key, "") for key in keys]
            for name in point.jobs:
                rows.writerow([*swept, name, "nobody", point.runs_alone[name], 1.0])
                rows.writerow([*swept, name, "all", point.runs[name], point.slowdown[name]])
            for (name, other), slowdown in point.interference.items():
                rows.writerow([*swept, name, other, "", slowdown])
    figures = [
        plots.save(plots.interference(point), target / f"interference{f'-{index}' if len(points) > 1 else ''}.svg")
        for index, point in enumerate(points)
    ]
    return [table, *figures]
