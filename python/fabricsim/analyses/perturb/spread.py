"""Runs beside a run that differ in what no machine keeps up: what they say of its times.

A run with ``run.perturb = N`` is followed by N others with other ties, starts that differ and neighbours in orders of their own. They are
runs of their own, with ids and records; results are those of the unperturbed runs, each with the spread of its times over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

__all__ = ["FRAGILE", "groups", "headline", "told_apart", "with_spread"]

#: A time that spreads by more than this part of its median is fragile.
FRAGILE = 0.1


def groups(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the ids of the unperturbed runs, in order, each with those of the perturbed runs that follow it.

    Examples
    --------
    >>> groups([{"id": "a"}, {"id": "b", "perturbation": {"number": 1}}, {"id": "c"}])
    {'a': ['b'], 'c': []}
    """
    found: dict[str, list[str]] = {}
    beside: list[str] = []
    for run in runs:
        if run.get("perturbation"):
            beside.append(str(run["id"]))
        else:
            beside = found.setdefault(str(run["id"]), [])
    return found


def _times(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the times of a run by key: what it is asked for, then those of its messages."""
    found = _asked_for(summary)
    latency = summary.get("latency_ns") or {}
    found |= {f"latency_ns.{key}": latency.get(key) for key in ("mean", "p99")}
    return {key: float(value) for key, value in found.items() if _is_number(value)}


def _asked_for(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the times of jobs and of memory nodes; where there are none that of a run until its work is done, or the mean latency."""
    # Jobs of ranks have a time to ask for; so has traffic that ends, once it has.
    found: dict[str, Any] = {
        f"jobs.{number}.time_ns": job.get("time_ns")
        for number, job in enumerate(summary.get("jobs") or [])
        if "ranks" in job or job.get("time_ns") is not None
    }
    if summary.get("memory"):
        found["memory.time_ns"] = summary["memory"].get("time_ns")
    if found:
        return found
    if summary.get("offered_load") is None and summary.get("sim_time_ns") is not None:
        return {"sim_time_ns": summary["sim_time_ns"]}
    return {"latency_ns.mean": (summary.get("latency_ns") or {}).get("mean")}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def with_spread(summary: Mapping[str, Any], beside: Sequence[Mapping[str, Any]], planned: int) -> dict[str, Any]:
    """Return a run's summary with the spread of its times over the perturbed runs beside it.

    A note says where one that it is asked for is fragile. A time that the unperturbed run does not have has no spread.

    Parameters
    ----------
    summary : mapping
        Of the unperturbed run.
    beside : sequence of mapping
        Of the perturbed runs that are finished and passed their self-checks.
    planned : int
        How many there are to be; with none the summary is returned as it is.

    Examples
    --------
    >>> found = with_spread({"sim_time_ns": 300.0}, [{"sim_time_ns": 500.0}, {"sim_time_ns": 400.0}], 2)
    >>> found["perturbed"]["times"]["sim_time_ns"]
    {'unperturbed': 300.0, 'min': 300.0, 'median': 400.0, 'max': 500.0, 'relative': 0.5, 'runs': 2}
    >>> found["notes"]
    ['fragile: sim_time_ns is 300 unperturbed and 400 to 500 in 2 perturbed runs, a spread of 50 %']
    """
    if planned == 0:
        return dict(summary)
    others = [_times(other) for other in beside]
    asked_for = _asked_for(summary)
    times: dict[str, dict[str, Any]] = {}
    notes = []
    for key, own in _times(summary).items():
        values = [other[key] for other in others if key in other]
        if len(values) < len(others):
            notes.append(f"fragile: {len(others) - len(values)} of {len(others)} perturbed runs have no {key}")
        if not values:
            continue
        every = sorted([own, *values])
        middle = median(every)
        relative = (every[-1] - every[0]) / middle if middle else 0.0
        times[key] = {
            "unperturbed": own,
            "min": every[0],
            "median": middle,
            "max": every[-1],
            "relative": relative,
            "runs": len(values),
        }
        if relative > FRAGILE and key in asked_for:
            count = f"{len(values)} perturbed runs" if len(values) > 1 else "a perturbed run"
            between = f"{min(values):,.6g} to {max(values):,.6g}" if len(values) > 1 else f"{values[0]:,.6g}"
            notes.append(f"fragile: {key} is {own:,.6g} unperturbed and {between} in {count}, a spread of {100 * relative:.0f} %")
    if len(beside) < planned:
        notes.append(f"{len(beside)} of {planned} perturbed runs are finished and passed their self-checks")
    perturbed = {"runs": len(beside), "planned": planned, "times": times}
    return {**summary, "perturbed": perturbed, "notes": [*summary.get("notes", []), *notes]}


def headline(summary: Mapping[str, Any]) -> str:
    """Return the spread of the first time that a run is asked for, in microseconds and per cent."""
    times = (summary.get("perturbed") or {}).get("times") or {}
    for key in _asked_for(summary):
        if key in times:
            spread = times[key]
            return f"{spread['min'] / 1e3:,.2f} to {spread['max'] / 1e3:,.2f} ({100 * spread['relative']:.1f} %)"
    return ""


def told_apart(records: list[dict[str, Any]], manifest: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the records of the unperturbed runs, with the spread of their times, and those of the perturbed runs."""
    by_id = {record["id"]: record for record in records}
    told, beside = [], []
    for own, others in groups(manifest["runs"]).items():
        perturbed = [by_id[key] for key in others if key in by_id]
        beside += perturbed
        if own in by_id:
            fine = [record["summary"] for record in perturbed if record["summary"].get("verdict", {}).get("ok")]
            told.append({**by_id[own], "summary": with_spread(by_id[own]["summary"], fine, len(others))})
    return told, beside
