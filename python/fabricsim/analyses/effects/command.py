"""The command `fabricsim effects`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.analyses.effects.options import Of
from fabricsim.cli._base import InputError, JsonOption, answer, app, example


@app.command(epilog=example("effects results/sample --of latency_ns.mean"))
def effects(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory of a study with a sample.")],
    of: Of = None,
    as_json: JsonOption = False,
) -> None:
    """Tell which sampled keys a metric depends on: alone, in pairs, and how much is left to the seeds."""
    from fabricsim.analyses.effects.files import write
    from fabricsim.analyses.effects.shares import effects as evaluate
    from fabricsim.analyses.effects.table import show
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = evaluate(results, of=of)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'fabricsim[effects]'") from error
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    results.report()
    answer({"effects": [entry.to_json() for entry in found]}, lambda: show(found), written, as_json=as_json)
