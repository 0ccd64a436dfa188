"""The command `fabricsim slowdown`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.analyses.slowdown.ratios import slowdown as evaluate
from fabricsim.cli._base import InputError, JsonOption, answer, app, put


@app.command()
def slowdown(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    metric: Annotated[str, typer.Option(metavar="NAME", help="A number of runs.")] = "latency_ns.mean",
    as_json: JsonOption = False,
) -> None:
    """Compare every point of a study with the one that has least of a number."""
    from fabricsim.results import Results

    try:
        found = evaluate(Results.open(folder), metric=metric)
    except ValueError as error:
        raise InputError(str(error)) from error
    lines = [f"{ratio:8.3f}  {point}" for point, ratio in found.ratios]
    answer(found.to_json(), lambda: put("\n".join(lines)), [], as_json=as_json)
