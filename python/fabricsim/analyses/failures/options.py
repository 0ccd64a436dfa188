"""What failures are asked for, for the command: types, names of options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricsim._parts import Part
from fabricsim.analyses.failures.defaults import MOST_ALL, SAMPLE
from fabricsim.cli._base import METRIC_HELP

__all__ = ["Class", "Counts", "DrawSeed", "Draws", "Each", "Maximise", "Metric", "Of", "Resume", "Sample", "Seeds"]


Of = Annotated[Part, typer.Option("--of", help="What fails.")]
Class = Annotated[str | None, typer.Option("--class", metavar="NAME", help="Only cables of this class, such as global.")]
Each = Annotated[bool, typer.Option("--each", help="Try every one by itself.")]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample", min=1, metavar="N", help=f"Try N of them, drawn \\[default: all up to {MOST_ALL}, of more {SAMPLE}]."
    ),
]
DrawSeed = Annotated[int, typer.Option("--draw-seed", min=0, metavar="N", help="Seed of the sample.")]
Counts = Annotated[
    str | None,
    typer.Option("--counts", metavar="N,N", help="Let so many fail at once, drawn; one by one only if that is asked for."),
]
Draws = Annotated[int, typer.Option("--draws", min=1, metavar="N", help="Draws of every number of --counts.")]
Seeds = Annotated[
    int | None, typer.Option("--seeds", min=1, metavar="N", help="Seeds 1 to N of every run \\[default: the study's].")
]
Metric = Annotated[str | None, typer.Option("--metric", metavar="NAME", help=METRIC_HELP)]
Maximise = Annotated[bool, typer.Option("--maximise", help="A larger metric is better.")]
Resume = Annotated[bool, typer.Option("--resume/--fresh", help="Keep the runs that are finished, or run them again.")]
