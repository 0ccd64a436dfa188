"""The command `fabricsim capacity`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from fabricsim.analyses.capacity.options import Pairs
from fabricsim.cli._base import (
    OK,
    ForceOption,
    InputError,
    JobsOption,
    JsonOption,
    OutOption,
    QuietOption,
    SetOption,
    StudyArgument,
    VariantOption,
    answer,
    app,
    example,
    failed_code,
    load_study,
    outcome_code,
    run_campaign,
)
from fabricsim.errors import StudyError


@app.command(epilog=example("capacity tsubame2-capacity --pairs"))
def capacity(
    study: StudyArgument,
    sets: SetOption = None,
    variant: VariantOption = None,
    pairs: Pairs = False,
    out: OutOption = None,
    jobs: JobsOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that are finished.")] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run the jobs of a study together and each of them alone in the same place: what sharing the network costs."""
    from fabricsim.analyses.capacity.company import capacity_study
    from fabricsim.analyses.capacity.files import write
    from fabricsim.analyses.capacity.slowdown import capacity as evaluate
    from fabricsim.analyses.capacity.table import show

    loaded = load_study(study, sets, variant)
    try:
        campaign = capacity_study(loaded, pairs=pairs)
    except StudyError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    outcome, results = run_campaign(
        campaign,
        out=out,
        experiments=None,
        jobs=jobs,
        workers=None,
        resume=resume,
        force=force,
        limit=None,
        quiet=quiet,
    )
    code = failed_code(results, outcome_code(outcome))
    if code != OK:
        raise typer.Exit(code)
    points = evaluate(results)
    rows = [
        {**asdict(point), "interference": [[*two, slowdown] for two, slowdown in point.interference.items()]} for point in points
    ]
    answer({"points": rows}, lambda: show(points), write(points, results.folder), as_json=as_json)
