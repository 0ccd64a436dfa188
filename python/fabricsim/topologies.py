"""Topologies of one's own, from edges or NetworkX graphs, without a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["graph"]


def _word(name: object) -> str:
    word = str(name)
    if not word or word.startswith("#") or any(c.isspace() for c in word):
        raise ValueError(f"router {name!r}: names are words without blanks that do not begin with '#'")
    return word


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ValueError(f"{what} is {value!r}, not a whole number from 0")
    return int(value)


def graph(
    edges: Any,
    *,
    nodes_per_router: int | None = None,
    nodes: Mapping[Any, int] | None = None,
) -> dict[str, Any]:
    """Return any graph as a topology.

    Parameters
    ----------
    edges : networkx.Graph, array_like or iterable of tuples
        Routers that cables join. Rows have two routers, and as they like how many cables join them and the class of those. A NetworkX graph
        has these as edge attributes ``count`` and ``class``, parallel edges of a multigraph, and nodes of a router as the node attribute
        ``nodes``. Routers that are exactly the numbers from 0 keep them, else they count in the order in which they first come.
    nodes_per_router : int, optional
        Nodes on each router that has no number of its own.
    nodes : mapping, optional
        Nodes of single routers.

    Returns
    -------
    dict
        To be the ``topology`` of a study.

    Raises
    ------
    ValueError
        No cable, a cable from a router to itself, a name that no file could have, or nodes of a router without a cable.

    Examples
    --------
    A Petersen graph of ten routers with two nodes each:

    >>> import fabricsim as fs
    >>> edges = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    >>> study = fs.Study({"name": "petersen", "topology": fs.topologies.graph(edges, nodes_per_router=2)})
    >>> study.check().ok
    True
    """
    own: dict[Any, Any] = {}
    if hasattr(edges, "edges") and hasattr(edges, "nodes"):
        rows: Iterable[tuple[Any, ...]] = [
            (a, b, data.get("count", 1), data.get("class")) for a, b, data in edges.edges(data=True)
        ]
        own.update((router, data["nodes"]) for router, data in edges.nodes(data=True) if "nodes" in data)
    else:
        rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
    own.update(nodes or {})
    lines, routers = [], set()
    for row in rows:
        a, b, *rest = row
        count = _whole(rest[0], f"the number of cables from {a} to {b}") if rest else 1
        name = rest[1] if len(rest) > 1 else None
        if a == b:
            raise ValueError(f"router {a!r} has a cable to itself")
        routers |= {a, b}
        if count:
            lines.append(" ".join([_word(a), _word(b), str(count), *([_word(name)] if name else [])]))
    if not lines:
        raise ValueError("the graph has no cable; for one router take kind = 'single-router'")
    for router, count in own.items():
        if router not in routers:
            raise ValueError(f"router {router!r} has nodes, but no cable")
        lines.append(f"node {_word(router)} {_whole(count, f'the number of nodes of router {router}')}")
    given = {} if nodes_per_router is None else {"nodes_per_router": nodes_per_router}
    return {"kind": "graph", "text": "\n".join(lines) + "\n", **given}
