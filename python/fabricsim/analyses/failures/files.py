"""The files of what failures cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text, translate_disk_errors
from fabricsim._seals import products
from fabricsim.analyses.failures.figure import failures

if TYPE_CHECKING:
    from fabricsim.analyses.failures.records import Failures

__all__ = ["write"]

_COLUMNS = ("name", "link_class", "dead", "draw", "state", "slowdown")
_MORE = ("accepted_without", "accepted_load", "nodes_lost", "parted", "busiest_link", "busy", "why")


def write(found: Sequence[Failures], folder: str | Path) -> list[Path]:
    """Write ``failures.json``, ``failures.csv`` (a row per point and failure) and the figure, for readers and for the report.

    Parameters
    ----------
    found : sequence of Failures
        What `failures` gave.
    folder : path
        Where to.
    """
    target = Path(folder)
    with translate_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    keys = list(dict.fromkeys(key for one in found for key, _ in one.point))
    rows: list[list[object]] = [[*keys, *_COLUMNS, "metric", "without", "with", "seeds", *_MORE, "names"]]
    for one in found:
        swept = dict(one.point)
        for each in one.failures:
            numbers = [*(getattr(each, name) for name in _COLUMNS), one.metric, each.without, each.metric, one.n_seeds]
            cells = [*numbers, *(getattr(each, name) for name in _MORE), " + ".join(each.names)]
            rows.append([*(swept.get(key, "") for key in keys), *("" if cell is None else cell for cell in cells)])
    with products(target) as out:
        written = [
            out.write("failures.json", json.dumps({"failures": [one.to_json() for one in found]}, indent=1)),
            out.write("failures.csv", csv_text(rows)),
        ]
        if any(each.slowdown is not None for one in found for each in one.failures):
            figure = failures(found)
            written += [
                out.write("failures.svg", render(figure, "svg")),
                out.write("figures/failures.png", render(figure, "png")),
            ]
    return written
