"""Watching a long file being read: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabricsim._units import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

__all__ = ["reading"]

#: Seconds after which reading is told for the first time, and between two lines.
_FIRST_S, _BETWEEN_S = 2.0, 10.0


@contextmanager
def reading(what: str, console: Console | None) -> Iterator[Callable[[str], bool]]:
    """Give the function that the core tells how far it has read.

    Parameters
    ----------
    what : str
        What is done, as the bar says it.
    console : rich.console.Console, optional
        Where to write; nothing is said without one.

    Examples
    --------
    >>> with reading("reading", None) as told:
    ...     told('{"done": 1, "all": 2, "records": 3}')
    True
    """
    if console is None:
        yield lambda _report: True
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=28),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False, style="dim"),
    )
    next_line = time.monotonic() + _FIRST_S
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(what, total=None, note="")

        def told(report: str) -> bool:
            nonlocal next_line
            at = json.loads(report)
            note = f"{format_count(at['records'])} records"
            bars.update(bar, completed=at["done"], total=at["all"] or None, note=note)
            if not console.is_terminal and time.monotonic() >= next_line:
                next_line = time.monotonic() + _BETWEEN_S
                share = f"{at['done'] / at['all']:.0%}, " if at["all"] else ""
                console.print(f"  {what}: {share}{note}", markup=False, highlight=False, soft_wrap=True)
            return True

        yield told
