"""Forks of a run as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._figures import figure_of
from fabricsim._terminal import new_console, new_table
from fabricsim._units import amount

if TYPE_CHECKING:
    from fabricsim.analyses.fork.records import Forks

__all__ = ["show"]


def show(found: Forks) -> None:
    """Print what became of every fork in a sentence, then all of them side by side with the run."""
    console = new_console()
    for fork in found.forks:
        console.print(found.sentence_of(fork), markup=False, soft_wrap=True)
    figure = figure_of(found.metric)
    unit, word = (figure.unit, figure.word) if figure else ("", found.metric)
    numbers = (word, "times", "lost", "sent again", "busy")
    table = new_table(["run", word, "times", "lost", "sent again", "busiest link", "busy", "state"], numbers=numbers)
    table.add_row(Text(f"{found.name}, as it is"), _number(found.value, unit), "1", "", "", "", "", found.state)
    for fork in (*found.forks, *found.earlier):
        busy = f"{100 * fork.busy:.0f} %" if fork.busy is not None else ""
        ratio = f"{fork.ratio:.3f}" if fork.ratio is not None else "-"
        lost = [f"{count:,}" if count else "" for count in (fork.lost, fork.sent_again)]
        table.add_row(Text(fork.name), _number(fork.value, unit), ratio, *lost, Text(fork.busiest_link), busy, fork.state)
    console.print(table)


def _number(value: float | None, unit: str) -> str:
    return "-" if value is None else amount(value, unit)
