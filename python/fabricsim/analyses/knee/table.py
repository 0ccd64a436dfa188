"""A knee as a table on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table, number_text

if TYPE_CHECKING:
    from fabricsim.analyses.knee.records import Knee

__all__ = ["show"]


def show(knees: Sequence[Knee]) -> None:
    """Print what was measured at every value, and where doublings stop to pay."""
    console = new_console()
    for found in knees:
        console.print(found.sentence, markup=False, soft_wrap=True)
    for found in knees:
        if found.point:
            console.print(Text(", ".join(f"{key}={value}" for key, value in found.point), style="bold"))
        table = new_table([found.over, found.metric, "doubling gains", "interval"], numbers=(found.metric, "doubling gains"))
        gains = {doubling.text: doubling for doubling in found.doublings}
        for point in found.points:
            doubling = gains.get(point.text)
            gain = f"{100 * doubling.gain:.2f} %" if doubling else ""
            ends = (
                f"{100 * doubling.low:.2f} to {100 * doubling.high:.2f} %"
                if doubling and doubling.low is not None and doubling.high is not None
                else ""
            )
            table.add_row(*(Text(cell) for cell in (point.text, number_text(point.together), gain, ends)))
        console.print(table)
