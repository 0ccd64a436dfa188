"""How far a campaign is: runs in progress and failed ones as it notes them, and the time left with its uncertainty."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricsim._noted import PROGRESS

__all__ = ["Pace", "noted"]

#: Finished runs from which on their spread says how sure a time is.
_LEAST = 3
#: Nine in ten of normal errors lie within so many standard deviations.
_NINE_IN_TEN = 1.645


def noted(folder: Path) -> dict[str, Any]:
    """Return what a campaign has noted of itself; empty where it has not, or what is there is not its own."""
    try:
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        running = [
            {"id": str(one["id"]), "label": str(one["label"]), "fraction": float(one["fraction"]), "since": float(one["since"])}
            for one in found["running"]
        ]
        failed = [{key: str(one[key]) for key in ("id", "label", "kind", "message")} for one in found["failed"]]
        return {"jobs": int(found["jobs"]), "running": running, "failed": failed, "failed_runs": int(found["failed_runs"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


@dataclass(slots=True)
class Pace:
    """What finished runs have taken against what was predicted.

    Examples
    --------
    >>> pace = Pace()
    >>> for number, taken in enumerate([2.0, 2.0, 2.0, 2.0]):
    ...     pace.learn(str(number), {"seconds": 1.0, "build_seconds": 0.0}, taken)
    >>> pace.left([({"seconds": 3.0, "build_seconds": 0.0}, 0.5)], jobs=1)
    {'seconds': 3.0, 'low': 3.0, 'high': 3.0}
    """

    taken: dict[str, tuple[float, float]] = field(default_factory=dict)

    def learn(self, run: str, estimate: Mapping[str, Any], simulated_s: float) -> None:
        """Note what a finished run has simulated for; a run of unknown length counts as one of a second."""
        self.taken[run] = (_stated(estimate), simulated_s)

    def forget(self, run: str) -> None:
        """Forget a run that is gone."""
        self.taken.pop(run, None)

    def left(self, runs: Iterable[tuple[Mapping[str, Any], float]], *, jobs: int) -> dict[str, float | None] | None:
        """Return the seconds left, and between which they are nine times in ten; None while nothing is known.

        Parameters
        ----------
        runs : iterable of (estimate, fraction)
            That are not finished, and how far they are.
        jobs : int
            Runs that go on at once.
        """
        todo = [(estimate, 1.0 - min(1.0, fraction)) for estimate, fraction in runs]
        weights = [_stated(estimate) * share for estimate, share in todo]
        stated = sum(one for one, _ in self.taken.values())
        if stated <= 0.0 and any(estimate.get("seconds") is None for estimate, _ in todo):
            return None
        factor = sum(taken for _, taken in self.taken.values()) / stated if stated > 0.0 else 1.0
        build = sum(float(estimate.get("build_seconds") or 0.0) * share for estimate, share in todo)
        at_once = max(1, min(jobs, len(todo)))

        def wall(times: float) -> float:
            # The longest run goes on when all others are done.
            return max((times * sum(weights) + build) / at_once, times * max(weights, default=0.0))

        seconds = wall(factor)
        if len(self.taken) < _LEAST:
            return {"seconds": round(seconds, 1), "low": None, "high": None}
        spread = _NINE_IN_TEN * self._spread(factor, weights) / at_once
        return {"seconds": round(seconds, 1), "low": round(max(0.0, seconds - spread), 1), "high": round(seconds + spread, 1)}

    def _spread(self, factor: float, weights: list[float]) -> float:
        """Return the standard deviation of the sum of what is left: of the mean factor, and of each run around it."""
        stated = sum(one for one, _ in self.taken.values())
        squares = sum((taken - factor * one) ** 2 / one for one, taken in self.taken.values() if one > 0.0)
        # Of a run that is predicted to take a second.
        variance = squares / (len(self.taken) - 1)
        return math.sqrt(variance * (sum(weights) ** 2 / stated + sum(weights)))


def _stated(estimate: Mapping[str, Any]) -> float:
    """Return what a run is predicted to simulate for, its set-up excluded."""
    if estimate.get("seconds") is None:
        return 1.0
    return max(1e-6, float(estimate["seconds"]) - float(estimate.get("build_seconds") or 0.0))
