"""A front as a figure: the first two objectives of all points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim._drawing import COLOURS, axis_label, is_far, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.pareto.front import Pareto

__all__ = ["pareto"]


def pareto(found: Pareto) -> Figure:
    """Draw the first two objectives of all points, with the front.

    Parameters
    ----------
    found : Pareto
        What `fabricsim.pareto` gave.
    """
    figure, axes = single()
    x, y = found.objectives[:2]
    several = any(row.n_seeds > 1 for row in found.rows)
    others = [row for row in found.rows if not row.front]
    front = sorted((row for row in found.rows if row.front), key=lambda row: row.values[:2])
    axes.scatter(
        [row.values[0] for row in others],
        [row.values[1] for row in others],
        s=14,
        color="#94a3b8",
        linewidths=0,
        label="other points",
    )
    axes.plot(
        [row.values[0] for row in front],
        [row.values[1] for row in front],
        color=COLOURS[1],
        marker="o",
        markersize=4,
        linestyle="-" if len(found.objectives) == 2 else "",
        drawstyle="steps-post" if not x.maximise else "steps-pre",
        label="front",
    )
    for objective, name in ((x, "x"), (y, "y")):
        values = [row.values[found.objectives.index(objective)] for row in found.rows]
        if is_far(values):
            getattr(axes, f"set_{name}scale")("log")
        unit = f" [{objective.unit}]" if objective.unit else ""
        getattr(axes, f"set_{name}label")(
            f"{axis_label(objective.name, several_seeds=several)}{unit} ({'more' if objective.maximise else 'less'} is better)"
        )
    axes.legend(frameon=False, fontsize=8)
    return figure
