"""What the analysis of ranks is asked, for the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Most", "PerfettoFile", "RunOption"]

RunOption = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="Only this run: its id, or the beginning of it \\[default: all].")
]
Most = Annotated[int, typer.Option("--most", metavar="N", min=1, help="Ranks and pairs of ranks that are named.")]
PerfettoFile = Annotated[
    Path | None,
    typer.Option("--perfetto", metavar="FILE", help="Write the timeline of one run for ui.perfetto.dev, times rounded to 1 ns."),
]
