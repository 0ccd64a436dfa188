"""What failures cost as a table on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._figures import figure_of
from fabricsim._terminal import new_console, new_table
from fabricsim._units import amount

if TYPE_CHECKING:
    from rich.console import Console

    from fabricsim.analyses.failures.records import Failure, Failures

__all__ = ["show"]

#: Failures without a slowdown that are shown.
_MOST = 5


def show(found: Sequence[Failures]) -> None:
    """Print for every point its sentence first, then how slowdowns are distributed, and the worst failures by name."""
    console = new_console()
    for one in found:
        console.print(one.sentence, markup=False, soft_wrap=True)
    for one in found:
        if one.failures:
            _point(one, console)
        for note in one.notes:
            console.print(f"note: {note}", markup=False, soft_wrap=True)


def _point(one: Failures, console: Console) -> None:
    console.print(Text(one.name, style="bold"))
    figure = figure_of(one.metric)
    value = amount(one.without or 0.0, figure.unit if figure else "")
    seeds = f", {one.n_seeds} seeds" if one.n_seeds > 1 else ""
    console.print(f"without failures: {figure.word if figure else one.metric} {value}{seeds}", markup=False)
    heads = ["what fails", "tried", "median", "p90", "worst", "within 1 %", "no number"]
    rows = new_table(heads, numbers=heads[1:])
    if one.singles:
        none = sum(each.slowdown is None for each in one.singles)
        worst = one.worst[0].slowdown if one.worst else None
        share = f"{100 * (one.share_within or 0.0):.0f} %"
        kind = f"one of {one.candidates:,} {one.link_class + ' ' if one.link_class else ''}{one.of}"
        rows.add_row(kind, str(len(one.singles)), _times(one.median), _times(one.p90), _times(worst), share, str(none or ""))
        for each in one.classes if len(one.classes) > 1 else ():
            numbers = (_times(each.median), "", _times(each.worst), "", str(each.without_number or ""))
            rows.add_row(f"  of class {each.link_class}", str(each.tried), *numbers)
    for many in one.many:
        numbers = (_times(many.median), "", _times(many.worst), "", str(many.without_number or ""))
        rows.add_row(f"{many.dead} {one.of if many.dead > 1 else one.of[:-1]} at once", str(many.draws), *numbers)
    console.print(rows)
    _worst(one, console)


def _worst(one: Failures, console: Console) -> None:
    told = (
        list(one.worst)
        or sorted((each for each in one.failures if each.slowdown is not None), key=lambda each: -each.place)[:_MOST]
    )
    others = [each for each in one.failures if each.slowdown is None]
    heads = ["worst", "class", "slowdown", "busiest link then", "busy", "state"]
    table = new_table(heads, numbers=("slowdown", "busy"))
    for each in (*told, *others[:_MOST]):
        busy = f"{100 * each.busy:.0f} %" if each.busy is not None else ""
        table.add_row(
            *(Text(cell) for cell in (each.name, each.link_class, _times(each.slowdown), each.busiest_link, busy, _state(each)))
        )
    console.print(table)
    if len(others) > _MOST:
        console.print(f"and {len(others) - _MOST} more without a number (failures.csv has all)", markup=False)


def _state(each: Failure) -> str:
    if each.parted:
        pairs = ", ".join(f"{one} from {other}" for one, other in each.first_parted[:2])
        return f"{each.state}: parts {each.parted} pairs of nodes ({pairs}{', ...' if each.parted > 2 else ''})"
    words = each.words
    return f"{each.state}: {words}" if words and not words.startswith(each.state) else words or each.state


def _times(slowdown: float | None) -> str:
    return "-" if slowdown is None else f"{slowdown:.3f}"
