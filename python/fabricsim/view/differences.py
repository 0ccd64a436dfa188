"""What two runs differ in: the keys of their studies, and their figures."""

from __future__ import annotations

from typing import Any

from fabricsim._figures import MAIN, all_figures, documented_key, flat, numbers
from fabricsim._runs import Run
from fabricsim.analyses.compare.stated import alike, is_below, said, stated_keys
from fabricsim.view.folders import Watched

__all__ = ["differences"]

#: Figures of the simulator itself, which tell of the machine.
_OWN = ("cpu_s", "build_s", "peak_rss_bytes", "execution.")


def differences(sides: tuple[tuple[Watched, str], tuple[Watched, str]]) -> dict[str, Any]:
    """Return what two finished runs differ in.

    Parameters
    ----------
    sides : pair of (folder, run id)
        The first and the second.

    Returns
    -------
    dict
        ``keys`` (each ``[key, first, second]``, empty where one does not say it), ``figures`` (each with ``key``, ``word``, ``unit``, ``first``,
        ``second``, whether each is only known to be ``at_least`` that, ``change`` relative to the first, ``main``), ``states`` of the two and whether they are the ``same`` events.

    Raises
    ------
    Missing
        There is no such run.
    DamagedError
        Its record is not what was written.
    """
    runs = [Run.from_dict(watched.entry(run)) for watched, run in sides]
    stated = [_keys(watched, run) for (watched, _), run in zip(sides, runs, strict=True)]
    swept = {key for run in runs for key, _ in run.sweep}
    every = list(dict.fromkeys([*stated[0], *stated[1]]))
    # A swept table stands for the keys below it.
    every = [key for key in every if key in swept or not is_below(key, swept)]
    keys = [
        [key, first, second] for key in every if alike(first := stated[0].get(key, "")) != alike(second := stated[1].get(key, ""))
    ]
    rows = [watched.rows[run] for watched, run in sides]
    found = [watched.record(run)["summary"] for watched, run in sides]
    digests = [row["summary"].get("digest") for row in rows]
    return {
        "labels": [row["label"] for row in rows],
        "keys": keys,
        "figures": _figures(*found),
        "states": [row["summary"]["verdict"].get("state", "") if row["ok"] else "FAILED" for row in rows],
        "same": digests[0] is not None and digests[0] == digests[1],
    }


def _keys(watched: Watched, run: Run) -> dict[str, str]:
    found = stated_keys(watched.manifest, experiment=run.experiment)
    found |= {key: said(value) for key, value in run.sweep}
    for key in ("run.seed", "run.seeds"):
        found.pop(key, None)
    return found | {"seed": str(run.seed)}


def _figures(*summaries: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the figures that both have and that are not the same, those of tables first; what is only known to be more has no change."""
    figures = all_figures()
    order = {key: place for place, key in enumerate(dict.fromkeys([*MAIN, *figures]))}
    values = [numbers(summary) for summary in summaries]
    # A figure that cannot be given is told as what it is at least.
    bounds = [[flat(summary).get(key) is None for summary in summaries] for key in values[0]]
    found = []
    for key, is_bound in zip(values[0], bounds, strict=True):
        if key not in values[1] or key.startswith(_OWN):
            continue
        first, second = (mine[key] for mine in values)
        is_main = key in MAIN
        if first == second and not is_main:
            continue
        figure = figures[documented_key(key)]
        change = None if any(is_bound) or not first else (second - first) / abs(first)
        told = {"key": key, "word": figure.word, "unit": figure.unit, "first": first, "second": second}
        found.append(
            {**told, "at_least": is_bound, "change": 0.0 if first == second and not any(is_bound) else change, "main": is_main}
        )
    return sorted(found, key=lambda one: (order.get(one["key"], order[documented_key(one["key"])]), one["key"]))
