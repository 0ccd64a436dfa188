"""The command `fabricsim fork`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabricsim.analyses.fork.defaults import FOLDER
from fabricsim.cli._base import (
    CHECK,
    INPUT,
    METRIC_HELP,
    OK,
    OURS,
    InputError,
    JobsOption,
    JsonOption,
    QuietOption,
    SetOption,
    answer,
    app,
    command_line,
    example,
    execute_campaign,
    parse_sets,
    process,
    say,
)
from fabricsim.errors import StudyError

if TYPE_CHECKING:
    from fabricsim._campaign import Campaign, Outcome
    from fabricsim.analyses.fork.records import Forks

_Names = list[str] | None
_Numbers = list[int] | None


@app.command(epilog=example('fork results/mine --cable "(0,0) x+" --at "20 us"'))
def fork(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory.")],
    run: Annotated[str | None, typer.Option("--run", metavar="ID", help="Which run, if there are several.")] = None,
    cable: Annotated[_Names, typer.Option("--cable", metavar="NAME", help="A cable that fails; may be repeated.")] = None,
    router: Annotated[_Names, typer.Option("--router", metavar="NAME", help="A router that fails; may be repeated.")] = None,
    node: Annotated[_Numbers, typer.Option("--node", metavar="N", help="A node that fails; may be repeated.")] = None,
    group: Annotated[_Numbers, typer.Option("--group", metavar="N", help="A group that fails; may be repeated.")] = None,
    rack: Annotated[_Numbers, typer.Option("--rack", metavar="N", help="A rack that fails; may be repeated.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help='When, such as "20 us".')] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="When it works again \\[default: never].")] = None,
    reroute: Annotated[
        str | None,
        typer.Option("--reroute", metavar="TIME|never", help="How long after that packets go round it \\[default: 0 s]."),
    ] = None,
    keeps: Annotated[
        float | None, typer.Option("--keeps", metavar="X", help="Cables live on with this share of their bandwidth.")
    ] = None,
    error_rate: Annotated[
        float | None, typer.Option("--error-rate", metavar="X", help="Cables live on with this bit error rate.")
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="A fork for everything that is named, not one with all of it.")] = False,
    sets: SetOption = None,
    metric: Annotated[str | None, typer.Option("--metric", metavar="NAME", help=METRIC_HELP)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where forks go \\[default: forks in the folder of the run].")
    ] = None,
    jobs: JobsOption = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what would have become of a finished run if something had failed at a time, or a key had another value."""
    from fabricsim.analyses.fork.change import changes
    from fabricsim.analyses.fork.files import write
    from fabricsim.analyses.fork.forked import forked, forks_of_others
    from fabricsim.analyses.fork.table import show
    from fabricsim.results import Results

    target = out or folder / FOLDER

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        planned = replace(campaign, command=command_line(), ranks=process.ranks)
        return execute_campaign(planned, jobs=jobs, workers=None, resume=resume, force=force, quiet=quiet)

    try:
        asked = changes(
            {
                "cables": cable or (),
                "routers": router or (),
                "nodes": node or (),
                "groups": group or (),
                "racks": rack or (),
            },
            each=each,
            at=at,
            until=until,
            reroute=reroute,
            keeps=keeps,
            error_rate=error_rate,
            sets=dict(parse_sets(sets)),
        )
        results = Results.open(folder)
        if run is None and len(results.records) > 1:
            told = ", ".join(f"{record.id} ({record.label})" for record in results.records[:4])
            raise InputError(f"{folder} has {len(results.records)} runs; choose one with --run: {told}, ...")
        found = forked(results, run if run is not None else 0, asked, metric=metric, out=target, execute=execute)
    except StudyError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    written = []
    if any(one.run for one in found.forks):
        written = write([found, *forks_of_others(results, target, found.run)], target)
        if report:
            written.append(Results.open(target).report())
    answer(found.to_json(), lambda: show(found), written, as_json=as_json)
    raise typer.Exit(_code(found))


def _code(found: Forks) -> int:
    """Say what gave no result, and return the exit code."""
    for one in found.forks:
        if one.state in ("refused", "failed"):
            say(f"error: {one.name}: {one.why}")
    states = {one.state for one in found.forks}
    if any("self-check" in one.why for one in found.forks):
        return CHECK
    return OURS if "failed" in states else INPUT if "refused" in states else OK
