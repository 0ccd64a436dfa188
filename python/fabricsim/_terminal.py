"""What tables on stdout have in common: plain enough for a pipe, readable on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["MOST_ROWS", "new_console", "new_table", "number_text"]

#: Rows that a table has at most.
MOST_ROWS = 200


def new_console() -> Console:
    """Return stdout, wide where it is a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, 160))


def new_table(columns: Sequence[str], *, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """Return a table of columns with these names, those of `numbers` to the right."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(Text(name), justify="right" if name in numbers else "left", overflow="fold")
    return table


def number_text(value: Any, digits: int = 1) -> str:
    """Return a number as a cell, empty where it is none."""
    return f"{value:,.{digits}f}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
