"""The command `fabricsim failures`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabricsim._parts import Part
from fabricsim.analyses.failures.defaults import DRAWS
from fabricsim.analyses.failures.options import (
    Class,
    Counts,
    Draws,
    DrawSeed,
    Each,
    Maximise,
    Metric,
    Of,
    Resume,
    Sample,
    Seeds,
)
from fabricsim.cli._base import (
    CHECK,
    INPUT,
    OK,
    OURS,
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
    process,
    say,
)
from fabricsim.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricsim._campaign import Campaign, Outcome
    from fabricsim.analyses.failures.records import Failures


@app.command(epilog=example("failures my.toml --of cables --class global --counts 1,2,4,8"))
def failures(
    study: StudyArgument,
    of: Of = Part.cables,
    link_class: Class = None,
    each: Each = False,
    sample: Sample = None,
    draw_seed: DrawSeed = 1,
    counts: Counts = None,
    draws: Draws = DRAWS,
    seeds: Seeds = None,
    metric: Metric = None,
    maximise: Maximise = False,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: results/NAME-failures].")] = None,
    jobs: JobsOption = None,
    dask: DaskOption = None,
    resume: Resume = True,
    force: ForceOption = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what a dead cable, router, node, group or rack costs at every point of a study, which ones are worst, and whom they part."""
    from fabricsim.analyses.failures.files import write
    from fabricsim.analyses.failures.table import show
    from fabricsim.analyses.failures.trials import Asked
    from fabricsim.analyses.failures.tried import tried
    from fabricsim.results import Results

    loaded = load_study(study, sets, variant)
    asked = Asked(of.value, link_class, each, sample, draw_seed, _counts(counts), draws)
    folder = out or Path("results") / f"{loaded.name}-failures"
    cluster = open_cluster(dask, jobs=jobs) if dask is not None else None

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        planned = replace(campaign, command=command_line(), ranks=process.ranks, cluster=cluster)
        return execute_campaign(planned, jobs=jobs, workers=None, resume=resume, force=force, quiet=quiet)

    try:
        found = tried(
            loaded,
            asked,
            seeds=seeds,
            metric=metric,
            maximise=maximise,
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
    if report and any(one.failures for one in found):
        written.append(Results.open(folder).report())
    answer({"failures": [one.to_json() for one in found]}, lambda: show(found), written, as_json=as_json)
    raise typer.Exit(_code(found))


def _counts(text: str | None) -> tuple[int, ...]:
    """Return the numbers of --counts."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and (not parts or not all(part.isdecimal() and int(part) > 0 for part in parts)):
        raise InputError(f"--counts {text}: write numbers from 1 on with commas between them, such as 1,2,4,8")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _code(found: Sequence[Failures]) -> int:
    """Say what gave no result, and return the exit code."""
    unusable = [f"{one.name}: {each.name}: {each.why}" for one in found for each in one.failures if each.state == "failed"]
    reasons = list(dict.fromkeys([*(one.reason for one in found if one.reason), *unusable]))
    for reason in reasons:
        say(f"error: {reason}")
    if any("self-check" in reason for reason in reasons):
        return CHECK
    return OURS if unusable else INPUT if reasons else OK
