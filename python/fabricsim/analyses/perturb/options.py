"""Options of commands that run studies: perturbed runs beside every run."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["PerturbOption", "SpreadOption", "perturb_sets"]

PerturbOption = Annotated[
    int | None,
    typer.Option(
        "--perturb",
        min=0,
        max=1000,
        metavar="N",
        help="Also run every run N times with other ties, starts that differ and neighbours in orders of their own: the spread of its times.",
    ),
]
SpreadOption = Annotated[
    str | None,
    typer.Option(
        "--perturb-spread",
        metavar="TIME",
        help="Starts of --perturb differ by up to this, 400ns \\[default: the time of a packet].",
    ),
]


def perturb_sets(perturb: int | None, spread: str | None) -> list[tuple[str, object]]:
    """Return what the options set in a study."""
    pairs: list[tuple[str, object]] = []
    if perturb is not None:
        pairs.append(("run.perturb", perturb))
    if spread is not None:
        pairs.append(("run.perturb_spread", spread))
    return pairs
