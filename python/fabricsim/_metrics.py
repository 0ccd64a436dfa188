"""Numbers of runs by their keys, which are those of the summary and of the columns of `runs.parquet`, and what runs have together of them.

Claims, analyses and figures have one number of several runs from `combined`, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fabricsim._figures import new_name, over_seeds, together

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord
    from fabricsim._runs import Point

__all__ = [
    "combined",
    "compared_by",
    "default_metric",
    "metric_values",
    "number_of",
    "of_points",
    "refuse_failed",
    "refuse_old_name",
    "state_of",
]


def metric_values(results: Recorded, name: str, records: Sequence[RunRecord] | None = None) -> np.ndarray:
    """Return a number of every run, in the order of `records` (all by default).

    Parameters
    ----------
    results : Results
        Where from.
    name : str
        A key such as ``jobs.0.time_ns`` or ``latency_ns.mean``, or another column of ``runs.parquet``.

    Raises
    ------
    ValueError
        There is no such number, or a run does not have it, or has failed a self-check; the message names what there is.
    """
    refuse_old_name(name)
    chosen = results.records if records is None else records
    table = results.runs
    column: dict[str, object] = {}
    if name in table.column_names:
        column = dict(zip((record.id for record in results.records), table.column(name).to_pylist(), strict=True))
    found = []
    for record in chosen:
        refuse_failed(record)
        try:
            value = record.value(name)
        except KeyError:
            value = column.get(record.id)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            if name.partition(".")[0] in ("latency_ns", "wait_ns") and record.state != "ok":
                raise ValueError(f"{record.label} has no number {name}: {record.why}")
            numbers = [field.name for field in table.schema if str(field.type) in ("double", "int64", "uint64")]
            raise ValueError(f"{record.label} has no number {name}; columns with numbers: {', '.join(numbers)}")
        found.append(float(value))
    return np.array(found)


def of_points(name: str, numbers: Iterable[tuple[RunRecord, float]]) -> dict[Point, float]:
    """Return what the seeds of every point have together of a number, as its figure says.

    Parameters
    ----------
    name : str
        Its key.
    numbers : iterable of (run, number)
        Of every run; those of a point differ in the seed alone.

    Raises
    ------
    ValueError
        Seeds are added up, and one point has fewer of them than another.
    """
    found: dict[Point, list[float]] = {}
    for record, number in numbers:
        found.setdefault((record.run.experiment, record.run.sweep), []).append(number)
    if over_seeds(name) == "sum" and len({len(values) for values in found.values()}) > 1:
        raise ValueError(f"{name} is a sum over seeds, and not every point has the same number of finished seeds")
    return {point: together(name, values) for point, values in found.items()}


def combined(name: str, numbers: Iterable[tuple[RunRecord, float]]) -> float:
    """Return one number for several runs: of seeds what the figure says, of several points the mean of that.

    Raises
    ------
    ValueError
        There are none, or they cannot be added up (see `of_points`).
    """
    found = of_points(name, numbers)
    if not found:
        raise ValueError(f"no run has {name}")
    return float(np.mean(list(found.values())))


def refuse_failed(record: RunRecord) -> None:
    """Refuse a run of which a self-check does not hold.

    Raises
    ------
    ValueError
        It is one.
    """
    if not record.ok:
        raise ValueError(f"{record.label} failed a self-check: its numbers must not be used")


def refuse_old_name(name: str) -> None:
    """Refuse a name that a number had as a column in earlier versions.

    Raises
    ------
    ValueError
        It is one; the message has the new name.
    """
    if renamed := new_name(name):
        raise ValueError(f"there is no number {name}: it is called {renamed}")


def default_metric(record: RunRecord) -> str:
    """Return the number that says how long a run took: of its first job of ranks, of memory nodes, else the mean latency of messages."""
    if (record.summary.get("memory") or {}).get("time_ns") is not None:
        return "memory.time_ns"
    jobs = record.summary.get("jobs") or []
    return "jobs.0.time_ns" if jobs and "ranks" in jobs[0] and jobs[0].get("time_ns") is not None else "latency_ns.mean"


def state_of(records: Sequence[RunRecord]) -> str:
    """Return ``saturated`` if one of the seeds is, ``ok`` if all are, else ``unsettled``."""
    states = {record.state for record in records}
    return "saturated" if "saturated" in states else "unsettled" if "unsettled" in states else "ok"


def compared_by(records: Sequence[RunRecord]) -> str:
    """Return what a run is compared by with what becomes of it when something fails, from its seeds.

    The time of its work where it ends, else the latency, of what does not keep up with its load what is accepted.
    """
    metric = default_metric(records[0])
    if metric != "latency_ns.mean":
        return metric
    jobs = records[0].summary.get("jobs") or []
    if jobs and jobs[0].get("time_ns") is not None:
        return "jobs.0.time_ns"
    return metric if state_of(records) == "ok" else "accepted_load"


def number_of(record: RunRecord, metric: str) -> float | None:
    """Return a number of a run, None where it has none; raises `KeyError` where there is no such number."""
    value = record.value(metric)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
