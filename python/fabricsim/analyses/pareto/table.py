"""A front as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import MOST_ROWS, new_console, new_table

if TYPE_CHECKING:
    from fabricsim.analyses.pareto.front import Pareto

__all__ = ["show"]


def show(found: Pareto) -> None:
    """Print the points of the front."""
    console = new_console()
    keys = list(dict.fromkeys(key for row in found.rows for key, _ in row.point))
    names = [f"{one.name}{f' [{one.unit}]' if one.unit else ''}" for one in found.objectives]
    table = new_table([*keys, *names], numbers=names)
    for row in found.front[:MOST_ROWS]:
        table.add_row(
            *(
                Text(cell)
                for cell in (*(dict(row.point).get(key, "") for key in keys), *(f"{value:,.6g}" for value in row.values))
            )
        )
    console.print(table)
    console.print(f"{len(found.front)} of {len(found.rows)} points are on the front", markup=False)
