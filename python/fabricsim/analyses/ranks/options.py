"""What the analysis of ranks is asked, for the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["JobOption", "Most", "Otf2Folder", "PerfettoFile", "RunOption", "WorkFile"]

RunOption = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="Only this run: its id, or the beginning of it \\[default: all].")
]
Most = Annotated[int, typer.Option("--most", metavar="N", min=1, help="Ranks and pairs of ranks that are named.")]
PerfettoFile = Annotated[
    Path | None,
    typer.Option("--perfetto", metavar="FILE", help="Write the timeline of one run for ui.perfetto.dev, times rounded to 1 ns."),
]
Otf2Folder = Annotated[
    Path | None,
    typer.Option(
        "--otf2",
        metavar="FOLDER",
        help="Write what the ranks of one job did as an archive of OTF2, in ps, for Vampir and others.",
    ),
]
WorkFile = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Write it as a file of recorded work, which can be played on other networks."),
]
JobOption = Annotated[
    int | None,
    typer.Option("--job", metavar="N", min=0, help="The job that is written, by its number in the study, if there are several."),
]
