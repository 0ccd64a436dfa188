"""What fabricsim has: topologies, routings, router models and the rest, and the numbers of results, as the core tells it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from fabricsim import _core
from fabricsim._figures import all_figures, named

__all__ = [
    "KINDS",
    "bench_cases",
    "bill",
    "can_fail",
    "describe",
    "fallout",
    "limits",
    "list_entries",
    "name_links",
    "partition",
    "picture",
    "schema",
]

#: Kinds that `list_entries` is asked for when none is named, in reading order.
KINDS = (
    "topology",
    "topology-preset",
    "router-model",
    "router-preset",
    "mpi-preset",
    "memory-preset",
    "routing",
    "work",
    "pattern",
    "process",
    "placement",
    "engine",
    "trace-format",
    "result",
)

#: What `list_entries` tells of a number of results.
_OF_RESULT = ("line", "word", "unit", "measure", "seeds", "parts")


def list_entries(kind: str, name: str | None = None, /) -> list[dict[str, Any]]:
    """Return the entries of one kind: name, one line, parameters with units and defaults, paper, limits.

    Parameters
    ----------
    kind : str
        Such as ``"topology"`` or ``"routing"``; ``"result"`` has the numbers of results: word, unit, what it is, what several seeds have
        together.
    name : str, optional
        Only the entry of this name. Of ``"result"`` any name that stands in a file of results: a number of a run, a column of a recorded
        table, a key of a JSON file, each with the ``file`` it is of (empty for numbers of runs).

    Raises
    ------
    ValueError
        There is no such kind, or no entry of that name; the message names what there is.

    Examples
    --------
    >>> "torus" in [entry["name"] for entry in list_entries("topology")]
    True
    >>> list_entries("result", "fraction")[0]["file"]
    'cdf.parquet'
    """
    found: list[dict[str, Any]]
    if name is not None:
        found = named(name) if kind == "result" else [entry for entry in list_entries(kind) if entry["name"] == name]
        if not found:
            known = [entry["name"] for entry in list_entries(kind)]
            close = get_close_matches(name, known, n=1)
            raise ValueError(f"no {kind} {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        return found
    if kind == "result":
        return [{"name": key, **{name: getattr(found, name) for name in _OF_RESULT}} for key, found in all_figures().items()]
    found = json.loads(_core.list_entries(kind))
    return found


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study file, for editors."""
    found: dict[str, Any] = json.loads(_core.schema())
    return found


def describe(canonical: str, /, *, links: Iterable[tuple[int, int]] | None = None) -> dict[str, Any]:
    """Return the network of a run: name, metrics, and, up to 5,000 routers, the routers' places and the links between them.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.
    links : iterable of (router, port), optional
        List these links alone, in this order; ports to nodes and ports that a router has not are left out. A large network has
        hundreds of thousands of links.
    """
    found: dict[str, Any] = json.loads(_core.describe(canonical, None if links is None else _ports(links)))
    return found


def _ports(links: Iterable[tuple[int, int]]) -> str:
    return json.dumps([[int(number) for number in link] for link in links])


def picture(canonical: str, /) -> dict[str, Any]:
    """Return what a picture of a run is drawn from, whatever its size: lists with an entry for each router or link.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.

    Returns
    -------
    dict
        ``routers`` (``name``, places ``x`` and ``y``, ``group``, ``nodes``, ``first_node``), ``groups`` by name, ``links`` in the order of
        routers and ports (``router``, ``port``, ``peer``, ``class``, and ``name`` as a number in ``port_names``), ``classes``, what has ``failed`` and the
        nodes and routers of ``jobs``.
    """
    found: dict[str, Any] = json.loads(_core.picture(canonical))
    return found


def bill(canonical: str, /) -> dict[str, Any]:
    """Return what the network of a run is made of, and what that costs and draws, by arithmetic.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.

    Returns
    -------
    dict
        ``bill`` has routers, ports, interfaces, racks and, by link class and kind, cables, with prices in USD and powers in W; ``nodes``
        and ``bisection_links`` are those of the network; ``prices`` is ``of the study`` or ``default``.
    """
    found: dict[str, Any] = json.loads(_core.bill(canonical))
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


def limits(canonical: str, /) -> dict[str, Any] | None:
    """Return what the open-loop traffic of a run loads its links with at full load, by class, and the load at which that is full.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.

    Returns
    -------
    dict or None
        ``bound`` is a fraction of the injection bandwidth, ``limit`` the links it is of in words; ``exact`` says that no load above it is
        carried. None where there is no such traffic.
    """
    found: dict[str, Any] | None = json.loads(_core.limits(canonical))
    return found


def can_fail(canonical: str, of: str, /) -> list[Any]:
    """Return everything of a kind that can fail in a run's whole network, by the names that ``[fail]`` takes.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.
    of : str
        ``"cables"``, ``"routers"``, ``"nodes"``, ``"groups"`` or ``"racks"``.

    Returns
    -------
    list
        Of cables ``[name, class]``, each once; of routers names; of nodes numbers; of groups, and of racks by the study's
        ``[cost.layout]`` or its defaults, ``[number, routers, nodes that are at none of these]``.
    """
    found: list[Any] = json.loads(_core.can_fail(canonical, of))
    return found


def fallout(canonical: str, /) -> dict[str, Any]:
    """Return what is dead in a run and who is parted by it, as a search of the graph finds it.

    Parameters
    ----------
    canonical : str
        The `canonical` of a `Run`.

    Returns
    -------
    dict
        ``cables``, ``routers`` and ``nodes`` that are dead, by name, and cables that are ``impaired`` (live on with less bandwidth or with errors); ``parted`` is the number of ordered pairs of live nodes without a way
        between them, ``first_parted`` lists some.
    """
    found: dict[str, Any] = json.loads(_core.fallout(canonical))
    return found


def name_links(canonical: str, links: Sequence[tuple[int, int]], /) -> str:
    """Return what links, given by router and port, are called together: ``the 72 global links from groups to the next one``."""
    return _core.name_links(canonical, _ports(links))


def bench_cases() -> list[dict[str, Any]]:
    """Return the benchmark cases: name and one line each."""
    found = json.loads(_core.bench_cases())
    return [entry if isinstance(entry, dict) else {"name": str(entry), "summary": ""} for entry in found]
