"""Saturation loads as a table on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table, number_text

if TYPE_CHECKING:
    from rich.console import Console

    from fabricsim.analyses.saturation.records import Measured, Saturation

__all__ = ["show"]


def show(found: Sequence[Saturation]) -> None:
    """Print for every point its sentence first, then what was measured at every load."""
    console = new_console()
    for one in found:
        console.print(one.sentence, markup=False, soft_wrap=True)
    for one in found:
        for each in (one, *one.moved):
            if each.measured:
                _table(each, console)
            for note in each.notes:
                console.print(f"note: {note}", markup=False, soft_wrap=True)


def _table(one: Saturation, console: Console) -> None:
    change = ", ".join(f"{key}={value}" for key, value in one.changed)
    console.print(Text(f"{one.name}{f' with {change}' if change else ''}", style="bold"))
    if one.bound is not None:
        known = "links are full at" if one.exact else "looked from"
        console.print(f"{known} {one.bound:.4g} (channel loads); {one.runs} runs", markup=False)
    heads = ["load", "of saturation", "accepted", "worst node", "Jain's index", "mean latency [ns]", "p99 latency [ns]", "state"]
    table = new_table(heads, numbers=heads[:-1])
    for entry in one.measured:
        share = f"{100 * entry.share:.0f} %" if entry.share is not None else ""
        least = "" if entry.accepted_load_min is None else f"{entry.accepted_load_min:.4f}"
        fair = "" if entry.fairness is None else f"{entry.fairness:.4f}"
        cells = (
            f"{entry.load:g}",
            share,
            _accepted(entry),
            least,
            fair,
            _latency(entry, "mean"),
            _latency(entry, "p99"),
            entry.state,
        )
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)


def _accepted(entry: Measured) -> str:
    error = f" +- {entry.accepted_load_error:.4f}" if entry.accepted_load_error is not None else ""
    return f"{entry.accepted_load:.4f}{error}"


def _latency(entry: Measured, name: str) -> str:
    """Return a latency with its interval, or what it is not below."""
    value, bound, error = (entry.latency_ns.get(key) for key in (name, f"{name}_at_least", f"{name}_error"))
    if value is None:
        return f"> {number_text(bound, 0)}" if bound is not None else "-"
    return number_text(value, 0) + (f" +- {number_text(error, 0)}" if error is not None else "")
