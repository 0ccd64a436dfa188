"""The command `fabricsim saturation`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabricsim.analyses.saturation.defaults import LONGEST, MOST_RUNS, WITHIN
from fabricsim.analyses.saturation.options import Longest, MostRuns, Resume, Seeds, WhatIf, Within
from fabricsim.cli._base import (
    CHECK,
    INPUT,
    OK,
    DaskOption,
    ExperimentOption,
    ForceOption,
    InputError,
    JobsOption,
    JsonOption,
    QuietOption,
    SetOption,
    StudyArgument,
    VariantOption,
    answer,
    app,
    command_line,
    example,
    execute_campaign,
    load_study,
    open_cluster,
    parse_sets,
    process,
    say,
)
from fabricsim.errors import StudyError

if TYPE_CHECKING:
    from fabricsim._campaign import Campaign, Outcome


@app.command(epilog=example("saturation my.toml --what-if topology.links_per_pair=2"))
def saturation(
    study: StudyArgument,
    within: Within = WITHIN,
    what_if: WhatIf = None,
    seeds: Seeds = None,
    most_runs: MostRuns = MOST_RUNS,
    longest: Longest = LONGEST,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: results/NAME-saturation].")
    ] = None,
    jobs: JobsOption = None,
    dask: DaskOption = None,
    resume: Resume = True,
    force: ForceOption = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the load at which every point of a study stops keeping up, what limits it, and what a change moves it to."""
    from fabricsim.analyses.saturation.files import write
    from fabricsim.analyses.saturation.search import searched
    from fabricsim.analyses.saturation.table import show
    from fabricsim.results import Results

    loaded = load_study(study, sets, variant)
    changes = [(key, str(value)) for key, value in parse_sets(what_if, option="--what-if")]
    folder = out or Path("results") / f"{loaded.name}-saturation"
    cluster = open_cluster(dask, jobs=jobs) if dask is not None else None

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        planned = replace(campaign, command=command_line(), ranks=process.ranks, cluster=cluster)
        return execute_campaign(planned, jobs=jobs, workers=None, resume=resume, force=force, quiet=quiet)

    try:
        found = searched(
            loaded,
            within=within,
            what_if=changes,
            seeds=seeds,
            most_runs=most_runs,
            longest=longest,
            experiments=experiment,
            out=folder,
            resume=resume,
            force=force,
            execute=execute,
        )
    except StudyError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    finally:
        if cluster is not None:
            cluster.close()
    written = write(found, folder)
    if report and any(entry.measured for entry in found):
        written.append(Results.open(folder).report())
    answer({"saturations": [entry.to_json() for entry in found]}, lambda: show(found), written, as_json=as_json)
    reasons = [entry.reason for one in found for entry in (one, *one.moved) if entry.kind == "failed"]
    for reason in dict.fromkeys(reasons):
        say(f"error: {reason}")
    raise typer.Exit(OK if not reasons else CHECK if any("self-check" in reason for reason in reasons) else INPUT)
