"""The command `fabricsim ranks`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.analyses.ranks.options import Most, PerfettoFile, RunOption
from fabricsim.analyses.ranks.times import rank_times
from fabricsim.cli._base import InputError, JsonOption, answer, app


@app.command()
def ranks(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A results directory of a study with `observe.operations = true`.")
    ],
    run: RunOption = None,
    most: Most = 5,
    perfetto: PerfettoFile = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what MPI ranks did with their time, whom they waited for, and which chain of work and messages the end depends on."""
    from fabricsim.analyses.ranks.files import write
    from fabricsim.analyses.ranks.perfetto import write_perfetto
    from fabricsim.analyses.ranks.table import show
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = rank_times(results, run=run, most=most)
        written = write(found, results)
        if perfetto is not None:
            record = results.record(found[0].run)
            if len({job.run for job in found}) > 1:
                raise InputError("a timeline is of one run: name it with --run")
            written.append(write_perfetto(record, perfetto))
    except KeyError as error:
        raise InputError(str(error.args[0])) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    results.report()
    answer({"ranks": [job.to_json() for job in found]}, lambda: show(found), written, as_json=as_json)
