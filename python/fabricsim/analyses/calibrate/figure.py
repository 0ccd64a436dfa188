"""A calibration as a figure: measured and simulated times over the size, and by how much they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricsim._drawing import COLOURS, panels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.calibrate.records import Calibration

__all__ = ["calibration"]


def calibration(found: Calibration) -> Figure:
    """Draw times over sizes, both logarithmic, and below them the share by which simulated times are off."""
    figure, axes = panels(5.4, 4.6, 2, 1, sharex=True, height_ratios=(2, 1))
    above, below = axes
    # A message of no bytes has a place, too.
    sizes = [max(point.size, 1) for point in found.points]
    tidy(above)
    tidy(below)
    above.plot(sizes, [point.simulated_ns / 1e3 for point in found.points], color=COLOURS[0], linewidth=1.4, label="simulated")
    for held_out, marker, words in ((False, "o", "measured, fitted to"), (True, "D", "measured, held out")):
        own = [point for point in found.points if point.held_out == held_out]
        if own:
            xs = [max(point.size, 1) for point in own]
            colour = COLOURS[1 + held_out]
            above.plot(xs, [point.measured_ns / 1e3 for point in own], marker, color=colour, markersize=4, label=words)
            below.plot(xs, [100 * point.error for point in own], marker, color=colour, markersize=4)
    above.set_xscale("log", base=2)
    above.set_yscale("log")
    above.set_ylabel("time (us)")
    above.legend(fontsize=7, frameon=False)
    below.axhline(0, color="0.6", linewidth=0.8)
    below.set_ylabel("off by (%)")
    below.set_xlabel("message (B)")
    return figure
