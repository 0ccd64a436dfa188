"""The command that measures fabricsim itself."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from fabricsim import __version__
from fabricsim.cli._base import InputError, JsonOption, app, example, put, say


@app.command(epilog=example("bench --case hyperx-2k-credit --repeat 5"))
def bench(
    case: Annotated[list[str] | None, typer.Option("--case", metavar="NAME", help="Only this case; may be repeated.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100, help="Runs per case; the fastest counts.")] = 1,
    options: Annotated[str, typer.Option("--options", help="JSON object that the case understands.")] = "{}",
    as_json: JsonOption = False,
) -> None:
    """Measure the speed of the engine on fixed cases, beside measured figures of other simulators."""
    from fabricsim._text import bench_line, bench_text
    from fabricsim.benchmark import run_case
    from fabricsim.registry import bench_cases

    try:
        if not isinstance(json.loads(options), dict):
            raise InputError("--options: write a JSON object")
    except json.JSONDecodeError as error:
        raise InputError(f"--options: not JSON: {error}") from error
    known = [entry["name"] for entry in bench_cases()]
    unknown = [name for name in case or [] if name not in known]
    if unknown:
        raise InputError(f"no case {', '.join(unknown)}; there are: {', '.join(known)}")
    found: list[dict[str, Any]] = []
    try:
        for name in case or known:
            if not as_json:
                say(f"{name} ...")
            found.append(run_case(name, options, repeat=repeat))
            if not as_json:
                say(f"  {bench_line(found[-1])}")
    finally:
        # Who interrupts it has what was measured up to there.
        if not as_json and found:
            bench_text(found)
    if as_json:
        from fabricsim._host import host_facts

        put(json.dumps({"version": __version__, "host": host_facts(), "cases": found}))
