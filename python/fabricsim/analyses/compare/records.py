"""What a comparison of two campaigns has found, and the answer in words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from fabricsim._figures import figure_of
from fabricsim._runs import point_words
from fabricsim._units import amount, counted

__all__ = ["Comparison", "Difference", "Pair"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A key that the studies do not have alike, with what each of them says; empty where one does not have it."""

    key: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A point that both campaigns have.

    Attributes
    ----------
    point : tuple of (str, str)
        Its experiment, where there are several, and its swept values.
    first, second : float or None
        The metric in each, the seeds together; None where a run has no such number.
    low, high : float or None
        Least and greatest ratio, second over first, of runs with the same seed; None with fewer than two such.
    same : bool
        Whether the runs have the same digests: the same events, to the last digit.
    why : str
        Why there is no ratio.
    """

    point: tuple[tuple[str, str], ...]
    first: float | None
    second: float | None
    low: float | None
    high: float | None
    same: bool
    why: str

    @property
    def ratio(self) -> float | None:
        """The second over the first; None where it cannot be had."""
        if self.first is None or self.second is None or self.first == 0:
            return 1.0 if self.first == self.second == 0 else None
        return self.second / self.first


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two campaigns, point by point.

    Attributes
    ----------
    names : tuple of (str, str)
        What they are called: their folders.
    metric : str
        The number that is compared.
    differences : tuple of Difference
        What the studies do not have alike.
    pairs : tuple of Pair
        The points that both have, in the order of the first.
    alone : tuple of (int, int)
        How many points only one of them has.
    """

    names: tuple[str, str]
    metric: str
    differences: tuple[Difference, ...]
    pairs: tuple[Pair, ...]
    alone: tuple[int, int]

    @property
    def mean(self) -> float | None:
        """The geometric mean of the ratios; None where there is none, or one is 0."""
        ratios = [ratio for ratio, _ in self._known()]
        return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios and min(ratios) > 0 else None

    def _known(self) -> list[tuple[float, Pair]]:
        """Return the points that have a ratio, with it."""
        return [(ratio, pair) for pair in self.pairs if (ratio := pair.ratio) is not None]

    @property
    def sentence(self) -> str:
        """The answer in words."""
        first, second = self.names
        figure = figure_of(self.metric)
        word, unit = (figure.word, figure.unit) if figure else (self.metric, "")
        known = self._known()
        if not known:
            reasons = "; ".join(dict.fromkeys(pair.why for pair in self.pairs))
            where = "the point that" if len(self.pairs) == 1 else f"any of the {len(self.pairs)} points that"
            return f"The {word} cannot be compared at {where} both have: {reasons}."
        if all(pair.same for pair in self.pairs):
            where = "the point that" if len(self.pairs) == 1 else f"all {len(self.pairs)} points that"
            return f"{first} and {second} are the same to the last digit at {where} both have."
        if len(known) == 1:
            ((ratio, pair),) = known
            values = f"{amount(pair.second or 0.0, unit)} against {amount(pair.first or 0.0, unit)}"
            return f"The {word} in {second} is {_times(ratio)} that in {first}: {values}.{self._rest()}"
        (least, at_least), (most, at_most) = (pick(known, key=lambda one: one[0]) for pick in (min, max))
        if least == most:
            return f"The {word} in {second} is {_times(most)} that in {first} at all {len(known)} points.{self._rest()}"
        ends = f"from {_times(least)} with {point_words(at_least.point)} to {_times(most)} with {point_words(at_most.point)}"
        if self.mean is None:
            return f"The {word} in {second} is {ends} that in {first}.{self._rest()}"
        mean = f"{_times(self.mean)} that in {first} (geometric mean of {len(known)} points)"
        return f"The {word} in {second} is {mean}: {ends}.{self._rest()}"

    def _rest(self) -> str:
        same = sum(pair.same for pair in self.pairs)
        left = len(self.pairs) - len(self._known())
        return "".join(
            [
                f" {counted(same, 'point')} of them the same to the last digit." if same else "",
                f" {counted(left, 'more point')} cannot be compared." if left else "",
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the sentence and the ratios."""
        return {
            "names": list(self.names),
            "metric": self.metric,
            "sentence": self.sentence,
            "mean_ratio": self.mean,
            "differences": [asdict(one) for one in self.differences],
            "points": [{**asdict(pair), "point": dict(pair.point), "ratio": pair.ratio} for pair in self.pairs],
            "only_in_first": self.alone[0],
            "only_in_second": self.alone[1],
        }


def _times(ratio: float) -> str:
    return f"{ratio:.4g} times"
