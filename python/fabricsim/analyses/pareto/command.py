"""The command `fabricsim pareto`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.cli._base import InputError, JsonOption, answer, app, example


@app.command(epilog=example("pareto results/sample --minimise latency_ns.mean --maximise accepted_load"))
def pareto(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    minimise: Annotated[
        list[str] | None, typer.Option("--minimise", metavar="NAME", help="Less of this is better; may be repeated.")
    ] = None,
    maximise: Annotated[
        list[str] | None, typer.Option("--maximise", metavar="NAME", help="More of this is better; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the points that no other point beats in every objective: numbers of runs, or swept and sampled quantities."""
    from fabricsim.analyses.pareto.files import write
    from fabricsim.analyses.pareto.front import pareto as evaluate
    from fabricsim.analyses.pareto.table import show
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, minimise=minimise or [], maximise=maximise or [])
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    answer(found.to_json(), lambda: show(found), written, as_json=as_json)
