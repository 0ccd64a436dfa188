"""The files of forks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

from fabricsim._files import csv_text
from fabricsim._seals import products
from fabricsim.analyses.fork.records import Fork, Forks

__all__ = ["write"]


def write(told: Sequence[Forks], folder: str | Path) -> list[Path]:
    """Write ``forks.json`` and ``forks.csv`` (a row per fork) into the folder of forks, for readers and for the report.

    Parameters
    ----------
    told : sequence of Forks
        Every run that has forks, with these.
    folder : path
        Where the forks are.
    """
    columns = [field.name for field in fields(Fork)]
    rows: list[list[object]] = [["of", "metric", "as it is", *columns]]
    for one in told:
        cells = [[one.run, one.metric, one.value, *astuple(fork)] for fork in (*one.forks, *one.earlier)]
        rows += [["" if cell is None else cell for cell in row] for row in cells]
    with products(Path(folder)) as out:
        return [
            out.write("forks.json", json.dumps({"forks": [one.to_json() for one in told]}, indent=1)),
            out.write("forks.csv", csv_text(rows)),
        ]
