"""The campaign of a capacity study: what jobs that share a network do to each other, against each of them alone in the same place.

A study with several jobs and an end becomes a campaign: all jobs together, each alone while the nodes of the others stay taken and
idle, and, if asked for, every two of them. Placements are those of the study, so that what differs is the company alone.
"""

from __future__ import annotations

import json
import tomllib
from itertools import combinations
from typing import Any

import tomli_w

from fabricsim.analyses.capacity.slowdown import TOGETHER, alone_name, pair_name
from fabricsim.study import Study

__all__ = ["capacity_study"]


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
    parts = {TOGETHER: set(names), **{alone_name(name): {name} for name in names}}
    if pairs:
        parts |= {pair_name(*two): set(two) for two in combinations(names, 2)}
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
