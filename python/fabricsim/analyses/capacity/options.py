"""What a capacity study is asked, for the command."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Pairs"]

Pairs = Annotated[bool, typer.Option("--pairs", help="Every two jobs as well: who slows whom down.")]
