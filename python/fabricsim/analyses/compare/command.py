"""The command `fabricsim compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.cli._base import METRIC_HELP, InputError, JsonOption, answer, app, example, parse_sets


@app.command(epilog=example("compare results/before results/after --of latency_ns.p99"))
def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    second: Annotated[Path, typer.Argument(metavar="DIR", help="Another one: ratios are its numbers over those of the first.")],
    of: Annotated[str | None, typer.Option("--of", metavar="NAME", help=METRIC_HELP)] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="KEY=VALUE", help="Only points with this swept value; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what differs between two campaigns, and how many times a number of one that of the other is, point by point."""
    from fabricsim.analyses.compare.side import compare as evaluate
    from fabricsim.analyses.compare.table import show

    asked = [(key, str(value)) for key, value in parse_sets(where, option="--where")]
    try:
        found = evaluate(first, second, of=of, where=asked)
    except ValueError as error:
        raise InputError(str(error)) from error
    answer(found.to_json(), lambda: show(found), [], as_json=as_json)
