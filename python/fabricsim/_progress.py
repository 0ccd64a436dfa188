"""Watching a campaign: bars on a terminal, plain lines elsewhere, a function of the user's, or nothing."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from fabricsim._forecast import Forecast, forecast_line, overview_line
from fabricsim._units import format_count, format_seconds
from fabricsim.errors import CampaignInterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from fabricsim._campaign import Observer
    from fabricsim._runs import Run

#: Runs whose predictions are listed one by one before a campaign starts.
_MOST_PREDICTED = 12
#: Runs that are expected to take this long are announced when they start.
_LONG_S = 10.0

__all__ = ["Bars", "Lines", "Quiet", "interruptible", "make_observer"]


class Quiet:
    """Watches and says nothing; the base of the others. `stop` asks the campaign to end, `save` with checkpoints."""

    def __init__(self) -> None:
        self.stop = False
        self.save = False
        self.started = time.monotonic()

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Start the clock."""
        self.started = time.monotonic()

    def predicted(self, *, runs: Sequence[Run], forecast: Forecast) -> None:
        """Note nothing."""

    def launched(self, *, run: Run) -> None:
        """Note nothing."""

    def warn(self, message: str) -> None:
        """Note nothing."""

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Go on unless asked to stop."""
        return not self.stop

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Note nothing."""

    def tick(self) -> bool:
        """Go on unless asked to stop."""
        return not self.stop

    def end(self) -> None:
        """Do nothing."""

    def remaining(self, fraction: float) -> float | None:
        """Return the seconds left at the pace so far, or None while that cannot be known."""
        elapsed = time.monotonic() - self.started
        return elapsed * (1 - fraction) / fraction if fraction > 0.01 else None


class Callback(Quiet):
    """Passes every report to a function of the user's."""

    def __init__(self, function: Callable[[dict[str, Any]], bool | None]) -> None:
        super().__init__()
        self.function = function

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Call the function; False from it stops the campaign."""
        report = {"run": run.id, "label": run.label, "campaign_fraction": campaign_fraction, **state}
        if self.function(report) is False:
            self.stop = True
        return not self.stop


def _describe(state: dict[str, Any]) -> str:
    text = f"{format_count(state.get('events_per_s'))} events/s"
    hot = state.get("hot_links") or []
    if hot:
        text += f", hottest {hot[0][0]} {float(hot[0][1]):.0%}"
    return text


class Lines(Quiet):
    """Writes a line per finished run and one now and then for a long run; for logs and pipes.

    Parameters
    ----------
    console : rich.console.Console
        Where to write.
    every_s : float
        Least seconds between two progress lines.
    """

    def __init__(self, console: Console, *, every_s: float = 10.0) -> None:
        super().__init__()
        self.console = console
        self.every_s = every_s
        self.last = time.monotonic()
        self.forecast = Forecast()
        #: Of runs in progress: when they were started and what they were expected to take.
        self.begun: dict[str, tuple[float, float | None]] = {}

    def say(self, text: str) -> None:
        """Write one plain line."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Say what is to be done."""
        super().begin(folder=folder, total=total, reused=reused, jobs=jobs)
        kept = f", {reused} finished already" if reused else ""
        self.say(f"{total} run{'s' if total != 1 else ''}{kept}, {jobs} at a time, results in {folder}")

    def predicted(self, *, runs: Sequence[Run], forecast: Forecast) -> None:
        """Say what the runs will take: each of a few, of many the first ones and all together."""
        self.forecast = forecast
        for run in runs[:_MOST_PREDICTED]:
            self.say(f"  {forecast_line(run, forecast)}")
        if len(runs) > _MOST_PREDICTED:
            self.say(f"  ... and {len(runs) - _MOST_PREDICTED} more (fabricsim expand lists them)")
        self.say(overview_line(runs, forecast))

    def launched(self, *, run: Run) -> None:
        """Say what a long run is expected to take, as far as it is known by now."""
        expected = self.forecast.seconds(run.estimate)
        self.begun[run.id] = (time.monotonic(), expected)
        if (expected or 0.0) >= _LONG_S:
            self.say(f"  started {forecast_line(run, self.forecast)}")

    def warn(self, message: str) -> None:
        """Say it."""
        self.say(f"warning: {message}")

    def taken(self, run: Run) -> str:
        """Say how long a run has taken and what was expected."""
        if run.id not in self.begun:
            return ""
        begun, expected = self.begun.pop(run.id)
        return f" in {format_seconds(time.monotonic() - begun)}" + (
            f" (predicted {format_seconds(expected)})" if expected is not None else ""
        )

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Say how far a long run is."""
        now = time.monotonic()
        if now - self.last >= self.every_s:
            self.last = now
            left = format_seconds(self.remaining(campaign_fraction))
            self.say(
                f"  {campaign_fraction:4.0%} of the campaign, {left} left; {run.label}: {float(state.get('fraction') or 0):.0%}, {_describe(state)}"
            )
        return not self.stop

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Say how a run ended."""
        self.last = time.monotonic()
        words = {
            "done": "ok",
            "failed-check": "SELF-CHECK FAILED",
            "fault": "FAILED",
            "study": "REFUSED",
            "checkpoint": "REFUSED",
            "interrupted": "interrupted",
            "disk": "NOT WRITTEN",
        }
        taken = self.taken(run) if kind == "done" else ""
        self.say(f"  [{done}/{total}] {run.label}: {words.get(kind, kind)}{taken}{': ' + message if message else ''}")


class Bars(Lines):
    """Draws a bar for the campaign and one per run in progress."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, every_s=float("inf"))
        self.bars: Progress | None = None
        self.campaign: TaskID | None = None
        self.tasks: dict[str, TaskID] = {}

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Open the bars."""
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        super().begin(folder=folder, total=total, reused=reused, jobs=jobs)
        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=28),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}", markup=False, style="dim"),
            console=self.console,
            transient=True,
        )
        self.bars.start()
        self.campaign = self.bars.add_task(f"campaign {reused}/{total}", total=1.0, note="")

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Move the bars."""
        if self.bars is not None and self.campaign is not None:
            if run.id not in self.tasks:
                label = run.label if len(run.label) <= 48 else run.label[:45] + "..."
                self.tasks[run.id] = self.bars.add_task("  " + label, total=1.0, note="")
            expected = self.forecast.seconds(run.estimate)
            note = _describe(state) + (f", {format_seconds(expected)} predicted" if expected is not None else "")
            self.bars.update(self.tasks[run.id], completed=float(state.get("fraction") or 0), note=note)
            self.bars.update(
                self.campaign, completed=campaign_fraction, note=f"{format_seconds(self.remaining(campaign_fraction))} left"
            )
        return not self.stop

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Close a run's bar; only trouble is written above the bars."""
        if self.bars is not None and self.campaign is not None:
            if run.id in self.tasks:
                self.bars.remove_task(self.tasks.pop(run.id))
            self.bars.update(self.campaign, description=f"campaign {done}/{total}", completed=campaign_fraction)
        if kind != "done":
            super().finished(run=run, kind=kind, message=message, done=done, total=total, campaign_fraction=campaign_fraction)

    def end(self) -> None:
        """Close the bars."""
        if self.bars is not None:
            self.bars.stop()
            self.bars = None


def make_observer(progress: bool | Callable[[dict[str, Any]], bool | None], *, console: Console | None = None) -> Observer:
    """Return who watches: bars on a terminal, lines elsewhere, the user's function, or nobody for False."""
    if callable(progress):
        return Callback(progress)
    if not progress:
        return Quiet()
    from rich.console import Console

    target = console or Console(stderr=True)
    return Bars(target) if target.is_terminal else Lines(target)


@contextmanager
def interruptible(observer: Quiet, console: Console, note: str) -> Iterator[None]:
    """Let the first Ctrl-C end the campaign in order, SIGTERM with checkpoints; a second one ends the process at once."""
    heard: list[int] = []

    def handler(number: int, _frame: FrameType | None) -> None:
        if observer.stop:
            sys.stderr.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        heard.append(number)
        observer.save = number == signal.SIGTERM
        observer.stop = True
        console.print(f"stopping; {note} (Ctrl-C again to end at once)", markup=False, highlight=False)

    previous = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except CampaignInterrupted as error:
        if heard:
            error.signal = heard[0]
        raise
    finally:
        for number, old in previous.items():
            signal.signal(number, old)
