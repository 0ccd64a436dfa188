"""What a campaign is at, noted in its folder for whoever looks at it from outside, such as `fabricsim view`."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabricsim._forecast import Forecast
    from fabricsim._observer import Observer
    from fabricsim._runs import Run

__all__ = ["PROGRESS", "Noted"]

#: The file, at the top of a results directory: no result, and gone when all runs have ended well.
PROGRESS = ".progress.json"
#: Seconds between two notes.
_EVERY_S = 0.5
#: Failed runs that are named.
_MOST_NAMED = 100


class Noted:
    """Passes all on to another observer, and notes which runs are in progress, how far they are, and which gave no result."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.folder = Path()
        self.jobs = 1
        self.failed_runs = 0
        self.running: dict[str, dict[str, Any]] = {}
        self.failed: list[dict[str, str]] = []
        self.last = 0.0

    @property
    def save(self) -> bool:
        """Whether runs in progress are to write a checkpoint when the campaign stops."""
        return self.observer.save

    @save.setter
    def save(self, wanted: bool) -> None:
        self.observer.save = wanted

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Note how many runs go on at once."""
        self.folder, self.jobs = folder, jobs
        self.observer.begin(folder=folder, total=total, reused=reused, jobs=jobs)
        self._write()

    def predicted(self, *, runs: Sequence[Run], forecast: Forecast) -> None:
        """Pass it on."""
        self.observer.predicted(runs=runs, forecast=forecast)

    def launched(self, *, run: Run) -> None:
        """Note that a run is in progress."""
        self.running[run.id] = {"label": run.label, "fraction": 0.0, "since": time.time()}
        self.observer.launched(run=run)
        self._write()

    def warn(self, message: str) -> None:
        """Pass it on."""
        self.observer.warn(message)

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Note how far a run is."""
        noted = self.running.setdefault(run.id, {"label": run.label, "fraction": 0.0, "since": time.time()})
        noted["fraction"] = round(min(1.0, max(0.0, float(state.get("fraction") or 0.0))), 4)
        self._write(every_s=_EVERY_S)
        return self.observer.progress(run=run, state=state, campaign_fraction=campaign_fraction)

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Note that a run has ended, and whether it gave a result."""
        self.running.pop(run.id, None)
        if kind not in ("done", "interrupted"):
            self.failed_runs += 1
            if len(self.failed) < _MOST_NAMED:
                self.failed.append({"id": run.id, "label": run.label, "kind": kind, "message": message})
        self._write(every_s=_EVERY_S)
        self.observer.finished(run=run, kind=kind, message=message, done=done, total=total, campaign_fraction=campaign_fraction)

    def tick(self) -> bool:
        """Pass it on."""
        return self.observer.tick()

    def end(self) -> None:
        """Leave a note of failed runs alone."""
        self.running.clear()
        if self.failed_runs:
            self._write()
        else:
            with contextlib.suppress(OSError):
                (self.folder / PROGRESS).unlink(missing_ok=True)
        self.observer.end()

    def _write(self, *, every_s: float = 0.0) -> None:
        now = time.monotonic()
        if now - self.last < every_s:
            return
        self.last = now
        running = [{"id": key, **noted} for key, noted in self.running.items()]
        told = {"jobs": self.jobs, "running": running, "failed": self.failed, "failed_runs": self.failed_runs}
        path = self.folder / PROGRESS
        # A note that cannot be written stops nothing.
        with contextlib.suppress(OSError):
            beside = path.with_name(f"{PROGRESS}.new")
            beside.write_text(json.dumps(told), encoding="utf-8")
            beside.replace(path)
