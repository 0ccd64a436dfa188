"""The files of a capacity study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text
from fabricsim._seals import products
from fabricsim.analyses.capacity.figure import interference

if TYPE_CHECKING:
    from fabricsim.analyses.capacity.records import Capacity

__all__ = ["write"]


def write(points: Sequence[Capacity], folder: str | Path) -> list[Path]:
    """Write ``capacity.csv``, a row per point and job, and a figure of the slowdowns of each point.

    Parameters
    ----------
    points : sequence of Capacity
        What `capacity` gave.
    folder : path
        Where to.
    """
    target = Path(folder)
    keys = list(dict.fromkeys(key for point in points for key, _ in point.point))
    rows: list[list[object]] = [[*keys, "job", "beside", "iterations", "slowdown"]]
    for point in points:
        swept = [dict(point.point).get(key, "") for key in keys]
        for name in point.jobs:
            rows.append([*swept, name, "nobody", point.runs_alone[name], 1.0])
            rows.append([*swept, name, "all", point.runs[name], point.slowdown[name]])
        rows += [[*swept, name, other, "", slowdown] for (name, other), slowdown in point.interference.items()]
    with products(target) as out:
        written = [out.write("capacity.csv", csv_text(rows))]
        for index, point in enumerate(points):
            name = f"interference{f'-{index}' if len(points) > 1 else ''}.svg"
            written.append(out.write(name, render(interference(point), "svg")))
    return written
