"""The command that shows results in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fabricsim.cli._base import InputError, app, example, put, say


@app.command(epilog=example("view results/ugal"))
def view(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results directory, or a folder of such.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: one that is free.")] = 0,
    forks: Annotated[
        bool, typer.Option("--forks/--read-only", help="Whether the page may fork runs, which writes below DIR and takes time.")
    ] = True,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Show results in a local page while they come in, and after; Ctrl-C ends it."""
    try:
        from fabricsim.view.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise InputError(f"`fabricsim view` needs {error.name}, which is not here: pip install 'fabricsim[view]'") from None
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder")
    if not folder.exists():
        say(f"{folder} is not there yet; the page shows it as soon as a campaign has made it")

    def ready(address: str) -> None:
        put(address)
        sys.stdout.flush()
        say("Ctrl-C ends it; the address holds the key to it, keep it to yourself")
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(folder, port=port, may_fork=forks, ready=ready)
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}; leave --port out for one that is free") from None
