"""Who watches a campaign: what it is told while runs go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from fabricsim._forecast import Forecast
from fabricsim._runs import Run

__all__ = ["Observer"]


class Observer(Protocol):
    """Who watches a campaign. Every method is called in the caller's thread.

    Attributes
    ----------
    save : bool
        When the campaign stops, runs in progress are to write a checkpoint first.
    """

    save: bool

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Note that a campaign starts with `reused` of `total` runs finished already."""

    def predicted(self, *, runs: Sequence[Run], forecast: Forecast) -> None:
        """Note what the runs that are to be executed will take; the forecast learns from those that finish."""

    def launched(self, *, run: Run) -> None:
        """Note that a run has begun."""

    def warn(self, message: str) -> None:
        """Note something that the user should know."""

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Note a run's progress; False stops the campaign."""

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Note the end of a run: kind is `done`, `failed-check`, `fault`, `study`, `checkpoint`, `interrupted` or `disk`."""

    def tick(self) -> bool:
        """Return False to stop the campaign; called about ten times a second."""

    def end(self) -> None:
        """Note that no more runs are executed."""
