"""What tables on stdout have in common: plain enough for a pipe, readable on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

__all__ = ["MOST_ROWS", "FittingTable", "new_console", "new_table", "number_text"]

#: Rows that a table has at most.
MOST_ROWS = 200


def new_console() -> Console:
    """Return stdout, wide where it is a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, 160))


class FittingTable(Table):
    """A table in which no number and no word is split; one that is wider than the console has a line per column, and rows beside each other."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the columns what they need, or turn the table."""
        cells = [[str(cell) for cell in column.cells] for column in self.columns]
        heads = [str(column.header) for column in self.columns]
        least = [max(_longest_word(head), *map(_least_width, mine), 0) for head, mine in zip(heads, cells, strict=True)]
        room = options.max_width - _GAP * (len(heads) - 1)
        if sum(least) <= room:
            natural = [max(map(cell_len, (head, *mine))) for head, mine in zip(heads, cells, strict=True)]
            for column, width in zip(self.columns, _shared(natural, least, room), strict=True):
                column.width = width
            yield from super().__rich_console__(console, options)
            return
        if self.title:
            yield Text(str(self.title), style="italic")
        label = max(map(cell_len, heads))
        rows = list(zip(*(column.cells for column in self.columns), strict=True))
        for number, group in enumerate(_groups(rows, options.max_width - label - _GAP)):
            if number:
                yield Text()
            turned = Table(box=None, pad_edge=False, show_header=False)
            turned.add_column(style="bold", no_wrap=True)
            for _ in group:
                turned.add_column(justify="right", overflow="fold")
            for place, head in enumerate(heads):
                turned.add_row(Text(head), *(row[place] for row in group))
            yield turned


#: Columns between two columns.
_GAP = 2
#: Cells that are longer may be broken between words, to a width of this at least.
_TEXT = 24


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _least_width(cell: str) -> int:
    return cell_len(cell) if cell_len(cell) <= _TEXT else max(_TEXT, _longest_word(cell))


def _shared(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Take from the widest columns that may be narrower what is too much."""
    widths = list(natural)
    while sum(widths) > room:
        widest = max((i for i, width in enumerate(widths) if width > least[i]), key=lambda i: widths[i], default=None)
        if widest is None:
            break
        widths[widest] -= 1
    return widths


def _groups(rows: Sequence[Sequence[Any]], room: int) -> list[list[Sequence[Any]]]:
    """Return the rows in groups that fit beside each other, one at least in each."""
    groups: list[list[Sequence[Any]]] = []
    left = 0
    for row in rows:
        width = max(cell_len(str(cell)) for cell in row) + _GAP
        if not groups or width > left:
            groups.append([])
            left = room + _GAP
        groups[-1].append(row)
        left -= width
    return groups


def new_table(columns: Sequence[str], *, numbers: Sequence[str] = (), title: str | None = None) -> FittingTable:
    """Return a table of columns with these names, those of `numbers` to the right."""
    table = FittingTable(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(Text(name), justify="right" if name in numbers else "left", overflow="fold")
    return table


def number_text(value: Any, digits: int = 1) -> str:
    """Return a number as a cell, empty where it is none."""
    return f"{value:,.{digits}f}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
