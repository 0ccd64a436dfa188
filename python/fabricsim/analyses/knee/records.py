"""What a search for a knee has measured and found, and the answer in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["EXTREMES", "Doubling", "Knee", "Measured"]

#: What seeds may have together that says nothing of how far they spread.
EXTREMES = ("greatest", "least")


@dataclass(frozen=True, slots=True)
class Measured:
    """The metric at a value: the number of every seed, their mean, and what they have together, as the figure says."""

    value: float
    text: str
    mean: float
    seeds: tuple[float, ...]
    together: float


@dataclass(frozen=True, slots=True)
class Doubling:
    """What doubling a value gains, as a fraction; the interval is absent with one seed."""

    value: float
    text: str
    gain: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Knee:
    """Where doublings stop to pay.

    Attributes
    ----------
    over, metric : str
        What is doubled, and what it is to improve.
    gain, level : float
        The gain below which a doubling does not pay, and the level of the intervals.
    maximise : bool
        A larger metric is better.
    kind : str
        ``knee``, ``never`` (the last doubling still pays) or ``flat`` (already the first one does not).
    value, text : float and str, or None
        The knee, between measured values interpolated on a log scale.
    low, high : str or None
        Its interval; None with one seed, or where the measured range does not bound it.
    points : tuple of Measured
        Every value that was run.
    doublings : tuple of Doubling
        Every gain that was measured, in order of the value.
    n_seeds : int
        Seeds at every value.
    point : tuple of (key, value)
        The values of the other swept keys, and the experiment.
    over_seeds : str
        What the seeds of a value have together: ``mean``, ``sum``, ``greatest`` or ``least``, as the metric says of itself.
    """

    over: str
    metric: str
    gain: float
    level: float
    maximise: bool
    kind: str
    value: float | None
    text: str | None
    low: str | None
    high: str | None
    points: tuple[Measured, ...]
    doublings: tuple[Doubling, ...]
    n_seeds: int
    point: tuple[tuple[str, str], ...] = ()
    over_seeds: str = "mean"

    @property
    def sentence(self) -> str:
        """The answer in words."""
        verb = "raises" if self.maximise else "cuts"
        less = f"{verb} {self.metric} by less than {_percent(self.gain)}"
        if self.kind == "knee":
            return f"Beyond {self.text}{self._interval()} doubling {self.over} {less}.{self._remark()}"
        first, last = self.doublings[0], self.doublings[-1]
        if self.kind == "flat":
            what = f"doubling {self.over} from {first.text} {_effect(first, self.maximise)}"
            return f"{self.metric} is flat from the start: {what}, less than {_percent(self.gain)}.{self._remark()}"
        what = f"doubling {self.over} from {last.text} {_effect(last, self.maximise)}"
        return f"{self.metric} does not flatten up to {self.points[-1].text}: {what}, at least {_percent(self.gain)}.{self._remark()}"

    def _interval(self) -> str:
        if self.low is None and self.high is None:
            return ""
        ends = (
            f"{self.low} to {self.high}"
            if self.low and self.high
            else f"{self.low} or more"
            if self.low
            else f"up to {self.high}"
        )
        return f" ({100 * self.level:g} % interval: {ends})"

    def _remark(self) -> str:
        if self.n_seeds < 2:
            return " With one seed there are no intervals."
        return (
            f" It is the {self.over_seeds} of {self.n_seeds} seeds, which has no intervals."
            if self.over_seeds in EXTREMES
            else ""
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the sentence."""
        return {**asdict(self), "point": dict(self.point), "sentence": self.sentence}


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _effect(doubling: Doubling, maximise: bool) -> str:
    gains, loses = ("raises it by", "lowers it by") if maximise else ("cuts it by", "raises it by")
    words = f"{gains if doubling.gain >= 0 else loses} {_percent(abs(doubling.gain))}"
    if doubling.low is None or doubling.high is None:
        return words
    return f"{words} (interval of the gain: {_percent(doubling.low)} to {_percent(doubling.high)})"
