"""The files of knees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text, translate_disk_errors
from fabricsim._seals import products
from fabricsim.analyses.knee.figure import knee

if TYPE_CHECKING:
    from fabricsim.analyses.knee.records import Knee

__all__ = ["write"]


def write(knees: Sequence[Knee], folder: str | Path) -> list[Path]:
    """Write ``knee.json``, ``knee.csv`` (a row per value that was run) and a figure for every knee.

    Parameters
    ----------
    knees : sequence of Knee
        What `knee` gave.
    folder : path
        Where to.
    """
    target = Path(folder)
    with translate_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    keys = list(dict.fromkeys(key for found in knees for key, _ in found.point))
    rows: list[list[object]] = [[*keys, "over", "value", "metric", "mean", "gain", "gain_low", "gain_high", "seeds", "together"]]
    for found in knees:
        gains = {doubling.text: doubling for doubling in found.doublings}
        swept = [dict(found.point).get(key, "") for key in keys]
        for point in found.points:
            doubling = gains.get(point.text)
            gain = [doubling.gain, doubling.low, doubling.high] if doubling else ["", "", ""]
            values = " ".join(repr(value) for value in point.seeds)
            rows.append([*swept, found.over, point.text, found.metric, point.mean, *gain, values, point.together])
    with products(target) as out:
        written = [
            out.write("knee.json", json.dumps({"knees": [found.to_json() for found in knees]}, indent=1)),
            out.write("knee.csv", csv_text(rows)),
        ]
        for number, found in enumerate(knees):
            name = f"knee{f'-{number + 1}' if len(knees) > 1 else ''}.svg"
            written.append(out.write(name, render(knee(found), "svg")))
    return written
