"""Every point of a study against the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricsim._metrics import metric_values, of_points

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded

__all__ = ["Slowdown", "slowdown"]


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Ratios of a number.

    Attributes
    ----------
    metric : str
        The number.
    ratios : tuple of (str, float)
        A point in words with its ratio to the least, in the order of the study.
    """

    metric: str
    ratios: tuple[tuple[str, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the ratios as JSON."""
        return {"metric": self.metric, "points": [{"point": point, "ratio": ratio} for point, ratio in self.ratios]}


def slowdown(results: Recorded, *, metric: str) -> Slowdown:
    """Compare every point with the one that has least of a number.

    Parameters
    ----------
    results : Results
        Where from; the seeds of a point have the number together as its figure says.
    metric : str
        A number of runs.

    Raises
    ------
    ValueError
        A run does not have the number, or the least is not above zero.
    """
    values = metric_values(results, metric)
    points = of_points(metric, zip(results.records, map(float, values), strict=True))
    least = min(points.values(), default=0.0)
    if least <= 0.0:
        raise ValueError(f"the least {metric} is {least:g}: ratios need one above zero")
    words = [", ".join(filter(None, [experiment, *(f"{key} = {value}" for key, value in swept)])) for experiment, swept in points]
    return Slowdown(metric, tuple(zip(words, (value / least for value in points.values()), strict=True)))
