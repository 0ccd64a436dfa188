"""What a knee is asked, for the command: types, names of options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricsim.cli._base import METRIC_HELP

__all__ = ["Gain", "Level", "Maximise", "Metric", "Over", "Precision", "Seeds", "Start", "Stop"]

Over = Annotated[str, typer.Option("--over", metavar="KEY", help="What to double, such as link.bandwidth.")]
Start = Annotated[
    str | None, typer.Option("--from", metavar="VALUE", help="First value \\[default: of the study's sweep, else the study's].")
]
Stop = Annotated[
    str | None, typer.Option("--to", metavar="VALUE", help="Largest value that may be run \\[default: ten doublings].")
]
Gain = Annotated[float, typer.Option("--gain", help="A doubling pays if it improves the metric by this share.")]
Metric = Annotated[str | None, typer.Option("--metric", metavar="NAME", help=METRIC_HELP)]
Maximise = Annotated[bool, typer.Option("--maximise", help="A larger metric is better.")]
Seeds = Annotated[
    int | None, typer.Option("--seeds", min=1, metavar="N", help="Seeds 1 to N at every value \\[default: the study's].")
]
Precision = Annotated[float, typer.Option("--precision", help="How close values are bisected, as a share.")]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.")]
