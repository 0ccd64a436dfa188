"""What a search for saturation is asked, for the command: types, names of options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Longest", "MostRuns", "Resume", "Seeds", "WhatIf", "Within"]

Within = Annotated[
    float,
    typer.Option(
        "--within",
        help="Half of the interval is at most this fraction of the injection bandwidth, and at most four times this of the load.",
    ),
]
WhatIf = Annotated[
    list[str] | None,
    typer.Option("--what-if", metavar="KEY=VALUE", help="Find what this change of the study moves it to; may be repeated."),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", min=1, metavar="N", help="Seeds 1 to N at every load \\[default: the study's].")
]
MostRuns = Annotated[int, typer.Option("--most-runs", min=5, metavar="N", help="Loads that are run at a point, at most.")]
Longest = Annotated[
    float,
    typer.Option(
        "--longest", min=1.0, metavar="TIMES", help="How many times as long as the study's runs may be, where too short to tell."
    ),
]
Resume = Annotated[bool, typer.Option("--resume/--fresh", help="Keep the runs that are finished, or run them again.")]
