"""The command that runs an MPI program on a simulated network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabricsim._units import amount, counted
from fabricsim.cli._base import InputError, OutOption, SetOption, app, example, parse_sets, put, run_campaign, say

if TYPE_CHECKING:
    from fabricsim.study import Study

StudyFileOption = Annotated[
    str | None,
    typer.Option("--study", metavar="STUDY", help="A study whose network is taken \\[default: one router of 100 Gbit/s]."),
]


@app.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
    epilog=example("mpirun -n 64 --study machine.toml --out results/halo -- ./halo 4000"),
)
def mpirun(
    command: Annotated[list[str], typer.Argument(metavar="-- PROGRAM ARGS", help="The program and its arguments.")],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, metavar="N", help="How many processes.")] = 1,
    study: StudyFileOption = None,
    sets: SetOption = None,
    compute: Annotated[
        str | None,
        typer.Option("--compute", metavar="HOW", help="What computing takes: zero, cpu, table or recorded \\[default: zero]."),
    ] = None,
    compute_file: Annotated[
        Path | None, typer.Option("--compute-file", metavar="FILE", help="The table, or the log of the run that is recorded.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", metavar="FILE", help="Write what computing took, a table for --compute table (with cpu)."),
    ] = None,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Write what all ranks did, a trace: .work.")] = None,
    out: OutOption = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write verdict, time, digest and counts, - for stdout.")
    ] = None,
    prefix: Annotated[
        bool | None,
        typer.Option(
            "--prefix/--no-prefix", help="Put the rank before each line \\[default: where several print to a terminal]."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="What ranks print goes into a file per rank and stream.")
    ] = None,
    debug: Annotated[int | None, typer.Option("--debug", metavar="RANK", min=0, help="Start this rank under gdb.")] = None,
    wait: Annotated[
        int | None, typer.Option("--wait", metavar="RANK", min=0, help="This rank waits in MPI_Init for a debugger.")
    ] = None,
    abi: Annotated[
        str | None,
        typer.Option(
            "--abi", metavar="ABI", help="MPI of a program that names none itself: standard or mpich \\[default: see --which]."
        ),
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin/--no-pin", help="Keep all ranks on the simulator's core: calls are cheaper.")
    ] = True,
    which: Annotated[bool, typer.Option("--which", help="Say which MPI library the program gets, and start nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what the program prints, and errors.")] = False,
) -> None:
    """Run an unmodified MPI program: real processes and data, messages in simulated time.

    Exit codes: that of the program, 3 for a failed self-check, 4 for a deadlock.
    """
    from fabricsim.programs import program_study, run_program, which_library

    if abi not in (None, "standard", "mpich"):
        raise InputError(f"--abi {abi}: take standard or mpich")
    if compute not in (None, "zero", "cpu", "table", "recorded"):
        raise InputError(f"--compute {compute}: take zero, cpu, table or recorded")
    if table is not None and compute != "cpu":
        raise InputError("--table: only computing that is measured makes a table, take --compute cpu")
    for option, rank in (("--debug", debug), ("--wait", wait)):
        if rank is not None and rank >= ranks:
            raise InputError(f"{option} {rank}: ranks are 0 to {ranks - 1}")
    if which:
        put(_library_words(which_library(command, abi=abi)))
        raise typer.Exit(0)
    keys: dict[str, object] = {"compute": compute} if compute else {}
    if compute_file is not None:
        keys["compute_file"] = str(compute_file.absolute())
    pairs = parse_sets(sets)
    made = program_study(command, ranks, study=study, sets=pairs, keys=keys)
    if prefix is None:
        prefix = ranks > 1 and debug is None and sys.stdout.isatty()
    into: str | dict[str, str] = {"folder": str(output)} if output else ("prefix" if prefix else "pass")
    kept = log
    if out is not None and kept is None:
        out.mkdir(parents=True, exist_ok=True)
        kept = out.with_name(out.name + ".work")
    done = run_program(
        made,
        log=kept,
        table=table,
        output=into,
        debugger=(debug, ["gdb", "--args"]) if debug is not None else None,
        waits=wait,
        one_core=pin,
        abi=abi,
        quiet=quiet,
    )
    for line in done.words:
        say(f"fabricsim: {line}")
    if done.verdict == "ok" and not quiet:
        say(_line(done.time_ns, done.calls, done.time_dependent_calls, ranks))
    if json_file is not None:
        text = json.dumps(done.to_json())
        if str(json_file) == "-":
            put(text)
        else:
            json_file.write_text(text + "\n", encoding="utf-8")
    if out is not None and kept is not None and done.verdict == "ok":
        _replay(made, kept, out, quiet=quiet)
    raise typer.Exit(done.exit_code)


def _library_words(found: dict[str, Any]) -> str:
    needs = {
        "standard": "needs the standard ABI (libmpi_abi.so.1)",
        "mpich": "needs the ABI of MPICH (libmpi.so.12 or libmpich.so.12)",
        "unsaid": "names no MPI itself: a script, or a program that loads MPI later",
    }[found["abi"]]
    first = "loaded before all others" if found["loaded_first"] else "or its sister libmpi_abi.so.1, as what it loads asks for"
    return f"{found['program']} {needs}\nlibrary: {Path(found['library']).resolve()}, {first}"


def _line(time_ns: float | None, calls: int, time_dependent: dict[str, int], ranks: int) -> str:
    time = "an unknown time" if time_ns is None else amount(time_ns, "ns", digits=6)
    parts = [f"fabricsim: {counted(ranks, 'rank')} took {time} of simulated time, {counted(calls, 'call')} of MPI"]
    if depends := {name: count for name, count in time_dependent.items() if count}:
        told = ", ".join(f"{count:,} {name}" for name, count in depends.items())
        parts.append(f"what it does depends on times ({told}): run it again on another network")
    return "; ".join(parts)


def _replay(made: Study, log: Path, out: Path, *, quiet: bool) -> None:
    """Play the log of a program into a folder of results, with everything that runs have there."""
    from fabricsim.programs import replay_study

    run_campaign(
        replay_study(made, log),
        out=out,
        experiments=None,
        jobs=None,
        workers=None,
        resume=True,
        force=False,
        limit=None,
        quiet=quiet,
    )
