"""Effects as a table on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table

if TYPE_CHECKING:
    from fabricsim.analyses.effects.shares import Effects

__all__ = ["show"]


def show(found: Sequence[Effects]) -> None:
    """Print the shares of the variance that keys have alone and in pairs."""
    console = new_console()
    for entry in found:
        head = ", ".join(f"{key}={value}" for key, value in entry.point)
        seeds = f"{entry.n_seeds} seeds each" if entry.n_seeds > 1 else "one seed each"
        console.print(
            Text(f"{head + ': ' if head else ''}{entry.of}, {entry.n_points} points, {seeds}", style="bold"),
        )
        console.print(f"mean {entry.mean:,.6g}, standard deviation {entry.deviation:,.3g} over the points", markup=False)
        table = new_table(
            ["key", "share of the variance", "at low end", "at high end", "estimator"],
            numbers=("share of the variance", "at low end", "at high end"),
        )
        for own in sorted(entry.effects, key=lambda effect: -effect.share):
            share = f"{100 * own.share:.1f} ({100 * own.low:.1f} to {100 * own.high:.1f}) %"
            table.add_row(*(Text(cell) for cell in (own.key, share, f"{own.first:,.6g}", f"{own.last:,.6g}", own.method)))
        for pair in entry.interactions[:10]:
            share = f"{100 * pair.share:.1f} ({100 * pair.low:.1f} to {100 * pair.high:.1f}) %"
            table.add_row(*(Text(cell) for cell in (" with ".join(pair.keys), share, "", "", pair.method)))
        if entry.noise is not None:
            table.add_row(*(Text(cell) for cell in ("(seeds)", f"{100 * entry.noise:.1f} %", "", "", "replicates")))
        console.print(table)
        for note in entry.notes:
            console.print(f"note: {note}", markup=False)
