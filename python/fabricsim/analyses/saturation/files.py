"""The files of saturation loads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text, translate_disk_errors
from fabricsim._seals import products
from fabricsim.analyses.saturation.figure import saturation

if TYPE_CHECKING:
    from fabricsim.analyses.saturation.records import Saturation

__all__ = ["write"]

_COLUMNS = (
    "load",
    "share",
    "state",
    "length_ns",
    "offered_load",
    "accepted_load",
    "accepted_load_error",
    "accepted_load_min",
    "fairness",
    "busiest_link",
)
_LATENCIES = ("mean", "mean_error", "mean_at_least", "p99", "p99_error", "p99_at_least")


def write(found: Sequence[Saturation], folder: str | Path) -> list[Path]:
    """Write ``saturation.json``, ``saturation.csv`` (a row per load that was run) and the figure, for readers and for the report.

    Parameters
    ----------
    found : sequence of Saturation
        What `saturation` gave.
    folder : path
        Where to.
    """
    target = Path(folder)
    with translate_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    every = [each for one in found for each in (one, *one.moved)]
    keys = list(dict.fromkeys(key for one in every for key, _ in (*one.point, *one.changed)))
    rows: list[list[object]] = [[*keys, *_COLUMNS, *(f"latency_ns.{name}" for name in _LATENCIES)]]
    for one in every:
        swept = dict((*one.point, *one.changed))
        for entry in one.measured:
            numbers = [getattr(entry, name) for name in _COLUMNS]
            latency = [entry.latency_ns.get(name) for name in _LATENCIES]
            rows.append([*(swept.get(key, "") for key in keys), *("" if cell is None else cell for cell in (*numbers, *latency))])
    figure = saturation(found)
    with products(target) as out:
        written = [
            out.write("saturation.json", json.dumps({"saturations": [one.to_json() for one in found]}, indent=1)),
            out.write("saturation.csv", csv_text(rows)),
            out.write("saturation.svg", render(figure, "svg")),
        ]
        if any(one.measured for one in every):
            out.write("figures/saturation.png", render(figure, "png"))
    return written
