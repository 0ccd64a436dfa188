"""The command line. Numbers go to stdout, progress and errors to stderr.

Exit codes: 0 fine, 2 the user's input, 3 a failed self-check, 1 ours, 130 interrupted (SIGINT), 143 told to end (SIGTERM).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from copy import copy
from importlib import import_module
from typing import Annotated, Any, NoReturn, TextIO

import typer

from fabricsim import __version__
from fabricsim._files import NO_ROOM
from fabricsim._hiding import alone, hide
from fabricsim._mpi import connect, serve
from fabricsim.analyses import ANALYSES
from fabricsim.cli import bench, programs, runs, studies, trace, view
from fabricsim.cli._base import CHECK, INPUT, INTERRUPTED, OK, OURS, TERMINATED, InputError, app, command_line, process, put, say
from fabricsim.errors import (
    CampaignInterrupted,
    ClaimError,
    ClusterError,
    DamagedWarning,
    DiskError,
    ProgramError,
    ResultsError,
    StudyError,
    TraceError,
    diagnostics_of,
)

__all__ = ["app", "bench", "main", "programs", "runs", "studies", "trace", "view"]

#: Base of the command line library's own errors (unknown option, missing argument, ...).
_USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

for _analysis in ANALYSES:
    if _analysis.command:
        import_module(f"fabricsim.analyses.{_analysis.name}.command")

#: The commands as the help lists them, by group.
_GROUPS: dict[str, tuple[str, ...]] = {
    "Studies": ("new", "check", "expand", "show", "cost", "list", "schema"),
    "Runs": ("run", "reproduce", "mpirun", "trace", "view", "report", "export", "verify", "rerun"),
    "Questions": tuple(analysis.name for analysis in ANALYSES),
    "fabricsim itself": ("bench",),
}
_PLACES = {name: (group, number) for number, (group, name) in enumerate((g, n) for g, names in _GROUPS.items() for n in names)}


def _name(command: Any) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))


app.add_typer(trace.trace_app, rich_help_panel=_PLACES["trace"][0])
app.registered_commands.sort(key=lambda command: _PLACES[_name(command)][1])
for _command in app.registered_commands:
    _command.rich_help_panel = _PLACES[_name(_command)][0]


def _version(wanted: bool) -> None:
    if wanted:
        put(f"fabricsim {__version__}")
        raise typer.Exit


@app.callback(help="How long will this work take on that network, why, and what would change it?")
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Answer for the options that come before a command."""


def _fail(code: int, message: str, diagnostics: list[dict[str, Any]] | None = None) -> int:
    """Report an error: rendered on stderr, and as the one JSON object on stdout where --json asks for it."""
    say(message)
    if "--json" in sys.argv[1:] and sys.argv[1:2] != ["mpirun"]:  # which has a file for it, and programs may have the option
        kind = {INPUT: "input", CHECK: "self-check", OURS: "internal", INTERRUPTED: "interrupted", TERMINATED: "interrupted"}[
            code
        ]
        put(json.dumps({"ok": False, "error": kind, "message": message, "diagnostics": diagnostics or [], "runs": []}))
    return code


def _again() -> str:
    """Return the command that goes on with an interrupted one; some keep what is finished without being told."""
    keeping = ("reproduce", *(analysis.name for analysis in ANALYSES if analysis.keeps))
    keeps = "--resume" in sys.argv or sys.argv[1:2] in [[name] for name in keeping]
    return command_line() if keeps else f"{command_line()} --resume"


def _for(command: str) -> typer.Typer:
    """Return the application with this command alone, if it is one: describing all of them takes longer than most commands."""
    commands = [known for known in app.registered_commands if _name(known) == command]
    groups = [known for known in app.registered_groups if known.typer_instance is trace.trace_app and command == "trace"]
    if not commands and not groups:
        return app
    alone = copy(app)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone


def _dispatch() -> int:
    """Run the command line and return the exit code; user input never gives a traceback."""
    try:
        code = _for(sys.argv[1] if len(sys.argv) > 1 else "")(standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C in a command
            return _fail(INTERRUPTED, "interrupted")
        return code if isinstance(code, int) else OK
    except typer.Exit as stop:
        return stop.exit_code
    except _USAGE_ERROR as error:
        error.show(sys.stderr)
        return INPUT
    except StudyError as error:
        from dataclasses import asdict

        found = diagnostics_of(error)
        return _fail(INPUT, "\n".join(str(item) for item in found), [asdict(item) for item in found])
    except (CampaignInterrupted, typer.Abort, KeyboardInterrupt) as error:
        again = _again()
        code = TERMINATED if getattr(error, "signal", signal.SIGINT) == signal.SIGTERM else INTERRUPTED
        kept = f"{error}\ngo on with: {again}" if isinstance(error, CampaignInterrupted) and str(error) else ""
        return _fail(code, f"interrupted; {kept}" if kept else "interrupted")
    except (
        InputError,
        ResultsError,
        ClaimError,
        ClusterError,
        ProgramError,
        TraceError,
        FileNotFoundError,
        IsADirectoryError,
    ) as error:
        return _fail(INPUT, f"error: {error}")
    except DiskError as error:
        if error.errno is not None and error.errno not in NO_ROOM:
            return _fail(INPUT, f"error: {error.strerror}; use another --out, or put right what is in the way")
        again = _again()
        return _fail(OURS, f"error: {error.strerror or error}\nwhen there is room again, go on with: {again}")
    except PermissionError as error:
        return _fail(INPUT, f"error: {error}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say what damaged files are left out, in words; other warnings are the developers'."""
    if issubclass(category, DamagedWarning):
        say(f"warning: {message}")
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def main() -> NoReturn:
    """Entry point of the `fabricsim` command, on every rank where a launcher has started several."""
    hide("pandas")
    alone()
    try:
        process.ranks = connect()
    except RuntimeError as error:
        raise SystemExit(_fail(INPUT, str(error))) from None
    if process.ranks is not None and process.ranks.rank > 0:
        serve(process.ranks)
        raise SystemExit(OK)
    warnings.showwarning = _show_warning
    # Every folder that is opened tells its own.
    warnings.simplefilter("always", DamagedWarning)
    try:
        code = _dispatch()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = OK
    except Exception:
        traceback.print_exc()
        code = _fail(OURS, "this is a fault of fabricsim, not of your study; please report it with the text above")
        if process.ranks is not None:
            process.ranks.abort()
    if process.ranks is not None:
        process.ranks.tell(None)
    raise SystemExit(code)
