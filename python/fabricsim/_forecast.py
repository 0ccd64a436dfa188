"""What runs will take: the core's predictions, corrected by what the finished runs of a campaign have taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricsim._units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from fabricsim._runs import Run

__all__ = ["Forecast", "forecast_line", "overview_line", "simulated_seconds"]


def simulated_seconds(record: Mapping[str, Any], estimate: Mapping[str, Any]) -> float:
    """Return how long a finished run has simulated: by its own clock where it tells, else what it took beyond its set-up.

    A run that went on from a checkpoint counts the CPU time of its other parts as well.
    """
    summary = record.get("summary") or {}
    execution = summary.get("execution") or {}
    if execution.get("wall_s") is None:
        return max(0.0, float(record.get("wall_s") or 0.0) - float(estimate.get("build_seconds") or 0.0))
    cpu_s = float(summary.get("cpu_s") or 0.0) / max(1, int(execution.get("workers") or 1))
    return max(float(execution["wall_s"]), cpu_s)


@dataclass(slots=True)
class Forecast:
    """Times of runs, from the stated cost per packet-hop until a run is finished, then from what hops have cost.

    Examples
    --------
    >>> forecast = Forecast()
    >>> estimate = {"packet_hops": 1_000_000, "seconds": 1.2, "build_seconds": 0.2}
    >>> forecast.seconds(estimate)
    1.2
    >>> forecast.learn(estimate, 2.0)
    >>> forecast.seconds(estimate)
    2.2
    """

    _stated: float = 0.0
    _taken: float = 0.0

    def learn(self, estimate: Mapping[str, Any], simulated_s: float) -> None:
        """Note that a run has simulated for so long, set-up excluded."""
        if estimate.get("seconds") is None:
            return
        build = float(estimate.get("build_seconds") or 0.0)
        self._stated += max(0.0, float(estimate["seconds"]) - build)
        self._taken += simulated_s

    @property
    def factor(self) -> float:
        """How many times as long as stated packet-hops have taken so far; 1 while nothing is known."""
        return self._taken / self._stated if self._stated > 0 and self._taken > 0 else 1.0

    def seconds(self, estimate: Mapping[str, Any], key: str = "seconds") -> float | None:
        """Return the time that a run will take, None where its work is not known beforehand."""
        if estimate.get(key) is None:
            return None
        build = float(estimate.get("build_seconds") or 0.0)
        return build + self.factor * max(0.0, float(estimate[key]) - build)


def forecast_line(run: Run, forecast: Forecast) -> str:
    """Say what a run will take.

    Such as ``load=0.5: 1.2 M packet-hops, about 3.1 s, 82.0 MiB``, or ``about 1 h 30 min, from 3.1 s on if iterations repeat``.
    """
    seconds = forecast.seconds(run.estimate)
    hops = run.estimate.get("packet_hops")
    work = f"{format_count(hops)} packet-hops, " if hops is not None else ""
    time = f"about {format_seconds(seconds)}" if seconds is not None else "time unknown"
    least = forecast.seconds(run.estimate, "seconds_at_least")
    if least is not None:
        time += f", from {format_seconds(least)} on if iterations repeat"
    return f"{run.label}: {work}{time}, {format_bytes(run.estimate.get('memory_bytes'))}"


def overview_line(runs: Iterable[Run], forecast: Forecast) -> str:
    """Say what many runs will take together and the largest of them alone."""
    estimates = [run.estimate for run in runs]
    times = [seconds for seconds in map(forecast.seconds, estimates) if seconds is not None]
    largest = max((int(estimate.get("memory_bytes") or 0) for estimate in estimates), default=0)
    unknown = len(estimates) - len(times)
    rest = f" and {unknown} of unknown length" if unknown else ""
    if any(estimate.get("seconds_at_least") is not None for estimate in estimates):
        rest += ", less if iterations repeat"
    return f"predicted: {format_seconds(sum(times))} of runs{rest}, up to {format_bytes(largest)} each"
