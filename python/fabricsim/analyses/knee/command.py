"""The command `fabricsim knee`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fabricsim.analyses.knee.defaults import GAIN, LEVEL, PRECISION
from fabricsim.analyses.knee.options import Gain, Level, Maximise, Metric, Over, Precision, Seeds, Start, Stop
from fabricsim.cli._base import (
    CHECK,
    OK,
    ExperimentOption,
    ForceOption,
    FreshOption,
    InputError,
    JobsOption,
    JsonOption,
    QuietOption,
    SetOption,
    StudyArgument,
    VariantOption,
    answer,
    app,
    example,
    load_study,
    outcome_code,
    run_campaign,
    say,
)
from fabricsim.errors import CheckFailed, StudyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricsim.results import Results
    from fabricsim.study import Study


@app.command(epilog=example("knee my.toml --over link.bandwidth --gain 0.1 --seeds 3"))
def knee(
    study: StudyArgument,
    over: Over,
    start: Start = None,
    stop: Stop = None,
    gain: Gain = GAIN,
    metric: Metric = None,
    maximise: Maximise = False,
    seeds: Seeds = None,
    precision: Precision = PRECISION,
    level: Level = LEVEL,
    sets: SetOption = None,
    variant: VariantOption = None,
    experiment: ExperimentOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: results/NAME-knee].")] = None,
    jobs: JobsOption = None,
    fresh: FreshOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find where the next doubling of a key, such as the bandwidth, pays less than a given gain, with few runs."""
    from fabricsim.analyses.knee.files import write
    from fabricsim.analyses.knee.search import knee as find
    from fabricsim.analyses.knee.table import show

    loaded = load_study(study, sets, variant)

    def runner(study: Study, folder: Path, experiments: Sequence[str] | None) -> Results:
        outcome, results = run_campaign(
            study,
            out=folder,
            experiments=list(experiments) if experiments else None,
            jobs=jobs,
            workers=None,
            resume=not fresh,
            force=force,
            limit=None,
            quiet=quiet,
        )
        code = outcome_code(outcome)
        if code != OK:
            raise typer.Exit(code)
        return results

    folder = out or Path("results") / f"{loaded.expand().name}-knee"
    try:
        found = find(
            loaded,
            over=over,
            start=start,
            stop=stop,
            gain=gain,
            metric=metric,
            maximise=maximise,
            seeds=seeds,
            precision=precision,
            level=level,
            experiments=experiment,
            out=folder,
            runner=runner,
        )
    except StudyError:
        raise
    except CheckFailed as error:
        say(f"error: {error}")
        raise typer.Exit(CHECK) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    written = write(found, folder)
    answer({"knees": [entry.to_json() for entry in found]}, lambda: show(found), written, as_json=as_json)
