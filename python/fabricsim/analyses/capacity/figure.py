"""Who slows whom down, as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fabricsim._drawing import single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.capacity.records import Capacity

__all__ = ["interference"]


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number


def interference(point: Capacity) -> Figure:
    """Draw who slows whom down: a row per job, a column per company; with everybody in the last one.

    Parameters
    ----------
    point : Capacity
        A point of a capacity study.
    """
    names = list(point.jobs)
    columns = [*(names if point.interference else []), "all"]
    values = np.full((len(names), len(columns)), np.nan)
    for row, name in enumerate(names):
        for column, other in enumerate(columns[:-1]):
            values[row, column] = _or_nan(point.interference.get((name, other)))
        values[row, -1] = _or_nan(point.slowdown[name])
    figure, axes = single(1.6 + 0.52 * len(columns), 1.2 + 0.36 * len(names))
    axes.grid(visible=False)
    shown = values[np.isfinite(values)]
    most = max(1.05, float(shown.max())) if shown.size else 1.05
    image = axes.imshow(values, cmap="YlOrRd", vmin=1.0, vmax=most, aspect="auto")
    for (row, column), number in np.ndenumerate(values):
        if np.isfinite(number):
            colour = "white" if (number - 1.0) / (most - 1.0) > 0.6 else "black"
            axes.text(column, row, f"{number:.2f}", ha="center", va="center", fontsize=7, color=colour)
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel("beside")
    axes.set_ylabel("job")
    figure.colorbar(image, ax=axes, label="time / time alone")
    return figure
