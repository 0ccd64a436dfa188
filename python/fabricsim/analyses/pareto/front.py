"""The Pareto front: the points of a study that no other point beats in every objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._metrics import metric_values, of_points
from fabricsim._units import axis_value

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["Objective", "Pareto", "Row", "pareto"]


@dataclass(frozen=True, slots=True)
class Objective:
    """A number of the points, and which way is better; the unit is that of a swept quantity, else empty."""

    name: str
    maximise: bool
    unit: str


@dataclass(frozen=True, slots=True)
class Row:
    """A point: its experiment and swept values, what its seeds have together of every objective, and whether it is of the front."""

    point: tuple[tuple[str, str], ...]
    values: tuple[float, ...]
    n_seeds: int
    front: bool


@dataclass(frozen=True, slots=True)
class Pareto:
    """All points of a study with their objectives.

    Attributes
    ----------
    objectives : tuple of Objective
        As asked for.
    rows : tuple of Row
        In order of the study.
    """

    objectives: tuple[Objective, ...]
    rows: tuple[Row, ...]

    @property
    def front(self) -> tuple[Row, ...]:
        """The points that no other beats, by the first objective."""
        return tuple(sorted((row for row in self.rows if row.front), key=lambda row: row.values))

    def to_json(self) -> dict[str, Any]:
        """Return the front as JSON."""
        return {
            "objectives": [
                {"name": one.name, "better": "more" if one.maximise else "less", "unit": one.unit} for one in self.objectives
            ],
            "points": len(self.rows),
            "front": [
                {
                    "point": dict(row.point),
                    "values": dict(zip((one.name for one in self.objectives), row.values, strict=True)),
                    "seeds": row.n_seeds,
                }
                for row in self.front
            ],
        }


def _column(results: Recorded, name: str, records: Sequence[RunRecord]) -> tuple[np.ndarray, str]:
    swept = [axis_value(dict(record.run.sweep).get(name)) for record in records]
    units = {found[1] for found in swept if found is not None}
    if all(found is not None for found in swept) and len(units) == 1:
        return np.array([found[0] for found in swept if found is not None]), units.pop()
    return metric_values(results, name, records), ""


def pareto(results: Recorded, *, minimise: Sequence[str] = (), maximise: Sequence[str] = ()) -> Pareto:
    """Find the points of a study that no other point beats: as good in every objective and better in one.

    Parameters
    ----------
    results : Results
        Where from; of the seeds of a point an objective has what its figure says, the mean unless it says otherwise.
    minimise, maximise : sequence of str
        Numbers of the summary, columns of ``runs.parquet``, or swept and sampled quantities: at least two together.

    Raises
    ------
    ValueError
        Fewer than two objectives, one twice, one that is no number of every run, or a sum over unlike numbers of seeds.
    """
    names = [*minimise, *maximise]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError("a front needs at least two different objectives: name them with minimise and maximise")
    if not results.records:
        raise ValueError(f"{results.folder} has no finished run")
    records = results.records
    found = [_column(results, name, records) for name in names]
    objectives = tuple(
        Objective(name, index >= len(minimise), unit) for index, (name, (_, unit)) in enumerate(zip(names, found, strict=True))
    )
    points: dict[tuple[tuple[str, str], ...], int] = {}
    for record in records:
        experiment = (("experiment", record.run.experiment),) if record.run.experiment else ()
        point = (*experiment, *record.run.sweep)
        points[point] = points.get(point, 0) + 1
    seen = [of_points(name, zip(records, column, strict=True)) for name, (column, _) in zip(names, found, strict=True)]
    numbers = np.array([list(each.values()) for each in seen]).T
    cost = numbers * np.array([-1.0 if one.maximise else 1.0 for one in objectives])
    beaten = [bool(((cost <= own).all(axis=1) & (cost < own).any(axis=1)).any()) for own in cost]
    rows = (
        Row(point, tuple(map(float, values)), n_seeds, not lost)
        for (point, n_seeds), values, lost in zip(points.items(), numbers, beaten, strict=True)
    )
    return Pareto(objectives, tuple(rows))
