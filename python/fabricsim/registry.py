"""What fabricsim has: topologies, routings, router models and the rest, and the numbers of results, as the core tells it."""

from __future__ import annotations

import json
from typing import Any

from fabricsim import _core
from fabricsim._figures import all_figures

__all__ = ["KINDS", "bench_cases", "describe", "list_entries", "partition", "schema"]

#: Kinds that `list_entries` is asked for when none is named, in reading order.
KINDS = (
    "topology",
    "topology-preset",
    "router-model",
    "router-preset",
    "routing",
    "work",
    "pattern",
    "process",
    "placement",
    "engine",
    "result",
)

#: What `list_entries` tells of a number of results.
_OF_RESULT = ("line", "word", "unit", "measure", "seeds", "parts")


def list_entries(kind: str, /) -> list[dict[str, Any]]:
    """Return the entries of one kind: name, one line, parameters with units and defaults, paper, limits.

    Parameters
    ----------
    kind : str
        Such as ``"topology"`` or ``"routing"``; ``"result"`` has the numbers of results: word, unit, what it is, what several seeds have
        together.

    Raises
    ------
    ValueError
        There is no such kind; the message names those that exist.

    Examples
    --------
    >>> "torus" in [entry["name"] for entry in list_entries("topology")]
    True
    """
    if kind == "result":
        return [{"name": key, **{name: getattr(found, name) for name in _OF_RESULT}} for key, found in all_figures().items()]
    found: list[dict[str, Any]] = json.loads(_core.list_entries(kind))
    return found


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study file, for editors."""
    found: dict[str, Any] = json.loads(_core.schema())
    return found


def describe(canonical: str, /) -> dict[str, Any]:
    """Return the network of a run: name, metrics, and, up to 5,000 routers, the routers' places and the links.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.
    """
    found: dict[str, Any] = json.loads(_core.describe(canonical))
    return found


def partition(canonical: str, workers: int, /) -> dict[str, Any]:
    """Return how so many workers would share out the routers of a run: weights, imbalance, cables cut by link class.

    Up to 5,000 routers, `worker_of_router` holds the worker of each.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.
    workers : int
        Threads or ranks, at least 1.
    """
    found: dict[str, Any] = json.loads(_core.partition(canonical, workers))
    return found


def bench_cases() -> list[dict[str, Any]]:
    """Return the benchmark cases: name and one line each."""
    found = json.loads(_core.bench_cases())
    return [entry if isinstance(entry, dict) else {"name": str(entry), "summary": ""} for entry in found]
