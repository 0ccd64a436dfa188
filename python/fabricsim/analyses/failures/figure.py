"""What failures cost as a figure: how slowdowns of single failures are distributed, and slowdown over how many fail at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import MaxNLocator

from fabricsim._drawing import COLOURS, is_far, panels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.failures.records import Failures

__all__ = ["failures", "steps"]

_MARKERS = "osD^vPX*"
_MOST = 16


def steps(one: Failures) -> list[tuple[float, float]]:
    """Return the slowdowns of single failures, rising, each with the share of all single failures that are not worse.

    Those without a slowdown are worse than all others: where there are such, the shares end below 1.
    """
    known = sorted(each.slowdown for each in one.singles if each.slowdown is not None)
    return [(slowdown, (number + 1) / len(one.singles)) for number, slowdown in enumerate(known)]


def failures(found: Sequence[Failures]) -> Figure:
    """Draw the share of single failures over their slowdown, and the slowdown over the number of failures at once, a curve for every point.

    Parameters
    ----------
    found : sequence of Failures
        What `fabricsim.failures` gave; the first sixteen points that have numbers are drawn.
    """
    alone = [one for one in found if steps(one)][:_MOST]
    at_once = [one for one in found if any(many.median is not None for many in one.many)][:_MOST]
    drawn = [part for part in (alone, at_once) if part] or [alone]
    figure, axes = panels(4.6 * len(drawn), 3.6, 1, len(drawn), squeeze=False)
    for place, part in zip(axes[0], drawn, strict=True):
        tidy(place)
        (_alone if part is alone else _at_once)(place, part)
        if len(part) > 1:
            place.legend(fontsize=7, frameon=False)
    if len(found) == 1:
        figure.suptitle(found[0].sentence, fontsize=8, wrap=True)
    return figure


def _label(part: Sequence[Failures]) -> str:
    words = {one.word for one in part}
    of = f" of the {words.pop()}" if len(words) == 1 else ""
    return f"slowdown{of}"


def _alone(axes: Any, part: Sequence[Failures]) -> None:
    for index, one in enumerate(part):
        told = steps(one)
        xs, ys = [told[0][0], *(x for x, _ in told)], [0.0, *(y for _, y in told)]
        axes.step(xs, ys, where="post", color=COLOURS[index % len(COLOURS)], linewidth=1.4, label=one.name)
    if is_far([slowdown for one in part for slowdown, _ in steps(one)]):
        axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(_label(part))
    kinds = {one.of for one in part}
    axes.set_ylabel(f"share of the {kinds.pop() if len(kinds) == 1 else 'failures'} tried")


def _at_once(axes: Any, part: Sequence[Failures]) -> None:
    for index, one in enumerate(part):
        told = [(many.dead, many.least, many.median, many.worst) for many in one.many if many.median is not None]
        xs, least, middle, worst = zip(*told, strict=True)
        colour = COLOURS[index % len(COLOURS)]
        axes.fill_between(xs, least, worst, color=colour, alpha=0.15, linewidth=0)
        axes.plot(xs, middle, color=colour, marker=_MARKERS[index % len(_MARKERS)], markersize=4, linewidth=1.4, label=one.name)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(f"dead {part[0].of} (median, least to worst)")
    axes.set_ylabel(_label(part))
