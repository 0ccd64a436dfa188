"""Saturation as a figure: latency and accepted load over offered load, as networks are drawn since Dally and Towles (2004)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fabricsim._drawing import COLOURS, label_times, panels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.saturation.records import Measured, Saturation

__all__ = ["saturation"]

_MARKERS = "osD^vPX*"
_MOST = 16


def saturation(found: Sequence[Saturation]) -> Figure:
    """Draw mean latency and accepted load over offered load, a line for every point; loads that are not kept up with are hollow.

    Parameters
    ----------
    found : sequence of Saturation
        What `fabricsim.saturation` gave; the first sixteen that have runs are drawn, changes of the study among them.
    """
    curves = [each for one in found for each in (one, *one.moved) if each.measured][:_MOST]
    figure, (left, right) = panels(7.6, 3.6, 1, 2)
    tidy(left)
    tidy(right)
    for index, one in enumerate(curves):
        _curve(left, right, one, {"color": COLOURS[index % len(COLOURS)], "marker": _MARKERS[index % len(_MARKERS)]})
    most = max((entry.load for one in curves for entry in one.measured), default=1.0)
    right.plot([0, most], [0, most], color="#6b7280", linestyle="--", linewidth=1, zorder=1)
    for axes, label in ((left, "mean latency [ns]"), (right, "accepted load")):
        axes.set_xlim(0, 1.03 * most)
        axes.set_xlabel("offered load (fraction of the injection bandwidth)")
        axes.set_ylabel(label)
    right.set_ylim(bottom=0)
    told = [mean for one in curves for entry in one.measured if (mean := entry.latency_ns.get("mean")) is not None]
    if told:
        left.set_yscale("log")
        label_times(left.yaxis, "mean latency [ns]", max(told))
    if curves:
        right.legend(fontsize=7, frameon=False)
    if len(found) == 1:
        figure.suptitle(found[0].sentence, fontsize=8, wrap=True)
    return figure


def _name(one: Saturation) -> str:
    change = ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in one.changed)
    return f"{one.name}, {change}" if change else one.name


def _curve(left: Any, right: Any, one: Saturation, style: dict[str, Any]) -> None:
    def latency(entry: Measured) -> float | None:
        return entry.latency_ns.get("mean") if entry.state != "saturated" else None

    told = [(entry.load, value) for entry in one.measured if (value := latency(entry)) is not None]
    left.plot([load for load, _ in told], [value for _, value in told], markersize=4, linewidth=1.2, **style)
    # Silent nodes accept nothing: what the sending ones get is drawn.
    shown = [(entry.load, entry.load * entry.accepted_load / entry.offered_load) for entry in one.measured if entry.offered_load]
    right.plot([load for load, _ in shown], [value for _, value in shown], linewidth=1.2, color=style["color"], label=_name(one))
    for entry, (load, value) in zip((entry for entry in one.measured if entry.offered_load), shown, strict=True):
        face = "none" if entry.state == "saturated" else style["color"]
        right.plot([load], [value], markersize=4, linestyle="none", markerfacecolor=face, **style)
    if one.load is not None:
        for axes in (left, right):
            axes.axvline(one.load, color=style["color"], linewidth=1, linestyle=":")
            if one.kind != "full" and one.low is not None and one.high is not None:
                axes.axvspan(one.low, one.high, color=style["color"], alpha=0.15, linewidth=0)
