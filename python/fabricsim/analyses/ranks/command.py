"""The command `fabricsim ranks`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.analyses.ranks.options import JobOption, Most, Otf2Folder, PerfettoFile, RunOption, WorkFile
from fabricsim.cli._base import InputError, JsonOption, answer, app, example


@app.command(epilog=example("ranks results/halo --perfetto halo.pftrace"))
def ranks(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A results directory of a study with `observe.operations = true`.")
    ],
    run: RunOption = None,
    most: Most = 5,
    perfetto: PerfettoFile = None,
    otf2: Otf2Folder = None,
    trace: WorkFile = None,
    job: JobOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what MPI ranks did with their time, whom they waited for, and which chain of work and messages the end depends on."""
    from fabricsim.analyses.ranks.as_trace import write_run_trace
    from fabricsim.analyses.ranks.files import write
    from fabricsim.analyses.ranks.perfetto import write_perfetto
    from fabricsim.analyses.ranks.table import show
    from fabricsim.analyses.ranks.times import rank_times
    from fabricsim.results import Results

    results = Results.open(folder)
    try:
        found = rank_times(results, run=run, most=most)
        written = write(found, results)
        notes: list[str] = []
        if perfetto is not None or otf2 is not None or trace is not None:
            record = results.record(found[0].run)
            if len({times.run for times in found}) > 1:
                raise InputError("a timeline is of one run: name it with --run")
            if perfetto is not None:
                written.append(write_perfetto(record, perfetto))
            for place, to in ((otf2, "otf2"), (trace, "work")):
                if place is not None:
                    files, told = write_run_trace(record, place, to=to, job=job)
                    written += files
                    notes += [note for note in told if note not in notes]
        elif job is not None:
            raise InputError("--job says of which job a trace is written: add --otf2 or --trace")
    except KeyError as error:
        raise InputError(str(error.args[0])) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    results.report()
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    answer({"ranks": [times.to_json() for times in found]}, lambda: show(found), written, as_json=as_json)
