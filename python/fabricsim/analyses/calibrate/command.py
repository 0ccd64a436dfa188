"""The command `fabricsim calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabricsim.cli._base import (
    CHECK,
    InputError,
    JsonOption,
    SetOption,
    VariantOption,
    answer,
    app,
    example,
    load_study,
    parse_sets,
    say,
)
from fabricsim.errors import CheckFailed, StudyError


@app.command(epilog=example("calibrate ping-pong.csv --set link.bandwidth='100 Gbit/s' --eager '64000 B'"))
def calibrate(
    measurements: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A table (CSV): bytes, a time such as time_us, and use (fit or check) if wanted."),
    ],
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="STUDY", help="What was measured \\[default: a ping-pong of two nodes at one router]."),
    ] = None,
    size_key: Annotated[
        str | None,
        typer.Option(
            "--size-key", metavar="KEY", help="The key of the message's size \\[default: that of the first job's work]."
        ),
    ] = None,
    per: Annotated[
        float | None,
        typer.Option(
            "--per", metavar="N", help="Measured times in a run \\[default: 2 a round trip of a ping-pong, else the iterations]."
        ),
    ] = None,
    eager: Annotated[
        str | None,
        typer.Option("--eager", metavar="SIZE", help="Largest message sent without asking \\[default: what fits best]."),
    ] = None,
    pieces: Annotated[
        str | None,
        typer.Option(
            "--pieces", metavar="SIZES", help="Sizes, with commas, at which the protocol changes: a row of costs for each."
        ),
    ] = None,
    packet_overhead: Annotated[
        bool | None,
        typer.Option("--packet-overhead/--no-packet-overhead", help="Fit what a packet costs \\[default: without --pieces]."),
    ] = None,
    sets: SetOption = None,
    variant: VariantOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to \\[default: NAME-calibrated beside the table].")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit what messages cost on a machine to times that were measured there, and write the keys of [mpi] and [nic]."""
    from fabricsim.analyses.calibrate.files import write
    from fabricsim.analyses.calibrate.fit import calibrate as fit
    from fabricsim.analyses.calibrate.fit import ping_pong
    from fabricsim.analyses.calibrate.table import show

    measured = ping_pong().with_sets(dict(parse_sets(sets))) if study is None else load_study(study, sets, variant)
    borders = [part.strip() for part in pieces.split(",")] if pieces is not None else None
    try:
        found = fit(
            measurements, study=measured, size_key=size_key, per=per, eager=eager, pieces=borders, packet_overhead=packet_overhead
        )
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'fabricsim[calibrate]'") from error
    except StudyError:
        raise
    except CheckFailed as error:
        say(f"error: {error}")
        raise typer.Exit(CHECK) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    folder = out or measurements.with_name(f"{measurements.stem}-calibrated")
    written = write(found, folder, measurements.name)
    answer(found.to_json(), lambda: show(found), written, as_json=as_json)
