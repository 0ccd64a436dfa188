"""Commands about traces of applications: info, convert, cut, run, formats."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabricsim.cli._base import (
    INPUT,
    OK,
    ForceOption,
    FreshOption,
    InputError,
    JsonOption,
    OutOption,
    QuietOption,
    SetOption,
    example,
    failed_code,
    outcome_code,
    parse_sets,
    put,
    run_campaign,
    say,
    stderr,
)

if TYPE_CHECKING:
    from rich.console import Console

trace_app = typer.Typer(
    name="trace",
    help="Traces of applications: what they have, the same in another format, and how long they take on a network.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="What names the trace: traces.otf2, a DUMPI .meta or its folder, a .goal or .bin, one .et of a set or its folder, a list file, "
        "a .work.",
    ),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="Format of FILE \\[default: as its name and first bytes tell].")
]

ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="NAME",
        help="Format of OUT: work, goal, goal-binary \\[default: as its name ends, .goal, .bin, else work].",
    ),
]
ForceOutOption = Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")]


def _console(*, quiet: bool) -> Console | None:
    return None if quiet else stderr()


def _known(name: str | None, *, written: bool = False) -> None:
    """Refuse a format that is not there."""
    from fabricsim.traces import trace_formats

    known = [entry["name"] for entry in trace_formats() if entry["written"] or not written]
    if name is not None and name not in known:
        near = get_close_matches(name.lower(), known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"no format {name} that can be {'written' if written else 'read'}; there are: {', '.join(known)}{meant}")


@trace_app.command(epilog=example("trace info traces.otf2"))
def info(
    path: FileArgument,
    format: FormatOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what a trace has and what is wrong with it: ranks, operations, messages, regions; 2 is the exit code of a trace with problems."""
    from fabricsim._reading import reading
    from fabricsim.traces import read_info

    _known(format)
    with reading(f"reading {path.name}", _console(quiet=quiet)) as progress:
        found = read_info(path, format=format, progress=progress)
    if as_json:
        put(json.dumps(found))
    else:
        from fabricsim._trace_text import info_text

        info_text(found)
    raise typer.Exit(OK if found["complete"] else INPUT)


def _target(out: Path, to: str | None, *, force: bool) -> None:
    """Refuse a file that cannot be written, before anything is read."""
    from fabricsim.traces import format_for

    _known(to, written=True)
    if to is None:
        try:
            format_for(out)
        except ValueError as error:
            raise InputError(f"{error}, as --to work") from None
    if out.exists() and not force:
        raise InputError(f"{out} exists; choose another name, or --force")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent}")


def _told(done: dict[str, Any], out: Path, *, as_json: bool) -> None:
    """Say what was written and what is not as it was."""
    from fabricsim._units import counted

    if as_json:
        put(json.dumps({**done, "file": str(out)}))
        return
    for text in done["problems"]:
        say(f"warning: {text}")
    if done["more_problems"]:
        say(f"warning: and {counted(done['more_problems'], 'problem')} more")
    for text in done["notes"]:
        say(f"note: {text}")
    for kind, count in done["left_out"].items():
        say(f"left out: {count:,} {kind}")
    put(f"{out}: {counted(done['operations'], 'operation')} as {done['to']}, from {done['from']}")


@trace_app.command(epilog=example("trace convert traces.otf2 lulesh.work"))
def convert(
    path: FileArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    to: ToOption = None,
    format: FormatOption = None,
    repair: Annotated[
        str | None,
        typer.Option(
            "--repair", metavar="drop", help="Leave out what does not match: messages without their other end and the like."
        ),
    ] = None,
    force: ForceOutOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a trace in another format; OUT is there when all of it is written."""
    from fabricsim._reading import reading
    from fabricsim.traces import convert as write

    _known(format)
    if repair not in (None, "drop"):
        raise InputError(f"--repair {repair}: there is drop")
    _target(out, to, force=force)
    with reading(f"converting {path.name}", _console(quiet=quiet)) as progress:
        done = write(path, out, format=format, to=to, repair=repair is not None, progress=progress)
    _told(done, out, as_json=as_json)


def _range(option: str, text: str | None, things: str) -> tuple[int, int] | None:
    """Return the numbers of A..B, the second one not among them."""
    if text is None:
        return None
    begin, dots, end = text.partition("..")
    if not dots or not begin.strip().isdecimal() or not end.strip().isdecimal():
        raise InputError(f"{option} {text}: write A..B, such as 0..64 for the first 64 {things}")
    return int(begin), int(end)


def _times(begin: str | None, end: str | None) -> tuple[int, int] | None:
    """Return the times of a part in ps."""
    if begin is None and end is None:
        return None
    from fabricsim._units import picoseconds

    try:
        found = (picoseconds(begin or "0 ps"), picoseconds(end) if end is not None else 2**64 - 1)
    except ValueError as error:
        raise InputError(f"--from-time, --to-time: {error}") from error
    if found[0] >= found[1] or found[0] >= 2**64:
        raise InputError(f"--from-time {begin or '0 ps'} is not before --to-time {end}")
    return found[0], min(found[1], 2**64 - 1)


@trace_app.command(epilog=example("trace cut lulesh.work step.work --region step --visits 3..4"))
def cut(
    path: FileArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    ranks: Annotated[
        str | None, typer.Option("--ranks", metavar="A..B", help="Ranks from A to before B; they are numbered from 0 again.")
    ] = None,
    from_time: Annotated[
        str | None,
        typer.Option("--from-time", metavar="TIME", help="What began then or later, from the begin of the trace: 10ms."),
    ] = None,
    to_time: Annotated[str | None, typer.Option("--to-time", metavar="TIME", help="What began before.")] = None,
    region: Annotated[
        str | None,
        typer.Option("--region", metavar="NAME", help="What is in this region of the program; `trace info` names them."),
    ] = None,
    visits: Annotated[
        str | None,
        typer.Option(
            "--visits", metavar="A..B", help="Of the times that a rank is in --region, those from A to before B, from 0."
        ),
    ] = None,
    from_marker: Annotated[
        str | None,
        typer.Option("--from-marker", metavar="NAME", help="Of each rank, from where it first enters the region of this name."),
    ] = None,
    to_marker: Annotated[
        str | None,
        typer.Option("--to-marker", metavar="NAME", help="Of each rank, to before it first enters it, after --from-marker."),
    ] = None,
    to: ToOption = None,
    format: FormatOption = None,
    force: ForceOutOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a part of a trace: some ranks, a time, a region, or what all that are given have in common.

    A message or collective that is cut in two is left out on both sides, and counted; so are waits for it.
    """
    from fabricsim._reading import reading
    from fabricsim.traces import cut as write

    _known(format)
    _target(out, to, force=force)
    part: dict[str, Any] = {
        "ranks": _range("--ranks", ranks, "ranks"),
        "times": _times(from_time, to_time),
        "region": region,
        "visits": _range("--visits", visits, "visits"),
        "from_marker": from_marker,
        "to_marker": to_marker,
    }
    if all(value is None for value in part.values()):
        raise InputError("say which part: --ranks, --from-time, --to-time, --region, --from-marker or --to-marker")
    with reading(f"cutting {path.name}", _console(quiet=quiet)) as progress:
        done = write(path, out, **part, format=format, to=to, progress=progress)
    _told(done, out, as_json=as_json)


@trace_app.command(epilog=example("trace run lulesh.work --topology tsubame2-hyperx"))
def run(
    path: FileArgument,
    topology: Annotated[
        str, typer.Option("--topology", metavar="PRESET", help="A network by name: `fabricsim list topology-preset`.")
    ],
    sets: SetOption = None,
    out: OutOption = None,
    fresh: FreshOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Replay a trace on a network without a study: how long would it take there."""
    from fabricsim.study import Study

    if not path.exists():
        raise InputError(f"no trace {path}")
    content = {
        "name": f"{path.stem}-{topology}",
        "topology": {"preset": topology},
        "job": [{"work": {"kind": "trace", "file": str(path.resolve())}}],
    }
    study = Study(content, sets=dict(parse_sets(sets)))
    outcome, results = run_campaign(
        study, out=out, experiments=None, jobs=None, workers=None, resume=not fresh, force=force, limit=None, quiet=quiet
    )
    code = failed_code(results, outcome_code(outcome))
    if as_json:
        # One run with one job: its time is the answer.
        jobs = [job for record in results.records for job in record.summary.get("jobs") or []]
        time_ns = jobs[0].get("time_ns") if jobs else None
        put(json.dumps({**results.to_json(), "ok": code == OK, "study": content, "time_ns": time_ns}))
    else:
        from fabricsim._text import runs_text

        runs_text(results)
        put(f"results: {results.folder}")
    raise typer.Exit(code)


@trace_app.command(epilog=example("trace formats"))
def formats(as_json: JsonOption = False) -> None:
    """List the formats of traces: which file to name, what is not kept of it, and which can be written."""
    from fabricsim.traces import trace_formats

    found = trace_formats()
    if as_json:
        put(json.dumps({"formats": found}))
        return
    for entry in found:
        put(f"{entry['name']}: {entry['line']}" + (" (read and written)" if entry["written"] else ""))
        for key in ("files", "limits", "source"):
            put(f"    {key}: {entry[key]}")
