"""What effects are asked, for the command."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricsim.cli._base import METRIC_HELP

__all__ = ["Of"]

Of = Annotated[str | None, typer.Option("--of", metavar="METRIC", help=METRIC_HELP)]
