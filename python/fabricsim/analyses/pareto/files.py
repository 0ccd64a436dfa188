"""The files of a front."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text
from fabricsim._seals import products
from fabricsim.analyses.pareto.figure import pareto

if TYPE_CHECKING:
    from fabricsim.analyses.pareto.front import Pareto

__all__ = ["write"]


def write(found: Pareto, folder: str | Path) -> list[Path]:
    """Write ``pareto.csv``, all points with a column that tells the front, and a figure of the first two objectives.

    Parameters
    ----------
    found : Pareto
        What `pareto` gave.
    folder : path
        The results directory; the figure goes to its ``figures/``.
    """
    target = Path(folder)
    keys = list(dict.fromkeys(key for row in found.rows for key, _ in row.point))
    units = [f" [{one.unit}]" if one.unit else "" for one in found.objectives]
    head = [*keys, *(f"{one.name}{unit}" for one, unit in zip(found.objectives, units, strict=True)), "seeds", "front"]
    rows = [
        [*(dict(row.point).get(key, "") for key in keys), *row.values, row.n_seeds, "yes" if row.front else "no"]
        for row in found.rows
    ]
    figure = pareto(found)
    with products(target) as out:
        written = [out.write("pareto.csv", csv_text([head, *rows]))]
        written += [out.write(f"figures/pareto.{kind}", render(figure, kind)) for kind in ("svg", "png")]
    return written
