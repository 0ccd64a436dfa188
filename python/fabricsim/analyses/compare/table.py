"""A comparison as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._figures import figure_of
from fabricsim._runs import value_words
from fabricsim._terminal import MOST_ROWS, new_console, new_table, number_text
from fabricsim._units import counted

if TYPE_CHECKING:
    from fabricsim.analyses.compare.records import Comparison

__all__ = ["show"]


def show(found: Comparison) -> None:
    """Print the answer, what differs in the studies, and a row per point."""
    console = new_console()
    console.print(found.sentence, markup=False, soft_wrap=True)
    if found.differences:
        table = new_table(["what differs", *found.names])
        for one in found.differences:
            table.add_row(*(Text(cell or "-") for cell in (one.key, value_words(one.first), value_words(one.second))))
        console.print(table)
    shown = found.pairs[:MOST_ROWS]
    keys = list(dict.fromkeys(key for pair in shown for key, _ in pair.point))
    figure = figure_of(found.metric)
    largest = max((value for pair in shown for value in (pair.first, pair.second) if value is not None), default=0.0)
    factor, label = figure.scaled(largest) if figure else (1.0, found.metric)
    several = any(pair.low is not None for pair in shown)
    numbers = [*(f"{name}: {label}" for name in found.names), "ratio", *(["by seed"] if several else [])]
    table = new_table([*keys, *numbers, ""], numbers=numbers)
    for pair in shown:
        values = (pair.first, pair.second)
        told = ["-" if value is None else number_text(value * factor, 3) for value in values]
        ends = [f"{pair.low:.4f} to {pair.high:.4f}" if pair.low is not None else ""] if several else []
        ratio = "-" if pair.ratio is None else f"{pair.ratio:.4f}"
        remark = "the same to the last digit" if pair.same else pair.why
        table.add_row(*(Text(cell) for cell in (*(dict(pair.point).get(key, "") for key in keys), *told, ratio, *ends, remark)))
    console.print(table)
    if len(found.pairs) > MOST_ROWS:
        console.print(f"... and {len(found.pairs) - MOST_ROWS} more (--json lists all)", markup=False)
    for name, alone in zip(found.names, found.alone, strict=True):
        if alone:
            console.print(f"{counted(alone, 'point')} only in {name}", markup=False)
