"""A knee as a figure: the metric over the doubled key, and what each doubling gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import NullFormatter

from fabricsim._drawing import COLOURS, axis_label, label_times, panels, range_about, tidy
from fabricsim._runs import short_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.knee.records import Knee

__all__ = ["knee"]


def knee(found: Knee) -> Figure:
    """Draw the metric over the doubled key, and below it what each doubling gains, with the knee and its interval.

    Parameters
    ----------
    found : Knee
        What `fabricsim.knee` gave.
    """
    figure, (top, bottom) = panels(5.2, 4.6, 2, 1, sharex=True, height_ratios=(3, 2))
    tidy(top)
    tidy(bottom)
    xs = [point.value for point in found.points]
    ys = [point.together for point in found.points]
    ranges = [range_about(point.together, point.seeds) for point in found.points]
    low, high = [below for below, _ in ranges], [above for _, above in ranges]
    top.errorbar(xs, ys, yerr=[low, high], color=COLOURS[0], marker="o", markersize=4, capsize=2)
    top.set_xscale("log", base=2)
    top.set_yscale("log")
    top.yaxis.set_minor_formatter(NullFormatter())
    label_times(top.yaxis, axis_label(found.metric, several_seeds=found.n_seeds > 1), max(ys))
    gains = [100 * doubling.gain for doubling in found.doublings]
    ends = [
        (100 * (d.low if d.low is not None else d.gain), 100 * (d.high if d.high is not None else d.gain))
        for d in found.doublings
    ]
    bars_ = [
        [max(0.0, g - e[0]) for g, e in zip(gains, ends, strict=True)],
        [max(0.0, e[1] - g) for g, e in zip(gains, ends, strict=True)],
    ]
    bottom.errorbar([d.value for d in found.doublings], gains, yerr=bars_, color=COLOURS[2], marker="s", markersize=4, capsize=2)
    bottom.axhline(100 * found.gain, color="#6b7280", linestyle="--", linewidth=1)
    bottom.set_ylabel("gain of doubling [%]")
    unit = found.points[0].text.partition(" ")[2]
    bottom.set_xlabel(f"{axis_label(found.over)}{f' [{unit}]' if unit else ''}")
    bottom.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if found.value is not None:
        for axes in (top, bottom):
            axes.axvline(found.value, color=COLOURS[1], linewidth=1.2)
            if found.low and found.high:
                axes.axvspan(
                    *(float(text.split()[0]) for text in (found.low, found.high)), color=COLOURS[1], alpha=0.15, linewidth=0
                )
    title = ", ".join(f"{short_key(key)}={value}" for key, value in found.point)
    figure.suptitle(f"{title}\n{found.sentence}" if title else found.sentence, fontsize=8, wrap=True)
    return figure
