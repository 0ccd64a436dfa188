"""What jobs did alone and together, as a table on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table, number_text

if TYPE_CHECKING:
    from fabricsim.analyses.capacity.records import Capacity

__all__ = ["show"]


def show(points: Sequence[Capacity]) -> None:
    """Print what jobs did alone and together, a table per point."""
    console = new_console()
    for point in points:
        if point.sentence:
            console.print(Text(point.sentence))
    for point in points:
        title = ", ".join(f"{key} = {value}" for key, value in point.point)
        pairs = bool(point.interference)
        columns = [
            "job",
            "iterations alone",
            "iterations together",
            "slowdown",
            *(["worst beside", "slowdown there"] if pairs else []),
        ]
        table = new_table(columns, numbers=[*columns[1:4], "slowdown there"], title=title)
        for name in point.jobs:
            counts = (point.runs_alone[name], point.runs[name])
            cells = [name, *("-" if count is None else f"{count:,}" for count in counts), number_text(point.slowdown[name], 3)]
            if pairs:
                known = [
                    (there, other) for (job, other), there in point.interference.items() if job == name and there is not None
                ]
                worst = max(known, default=(None, "-"))
                cells += [worst[1], number_text(worst[0], 3)]
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)
        for note in point.notes:
            console.print(Text(f"no slowdown of {note}"))
