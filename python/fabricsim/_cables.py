"""Names of links, as reports and analyses tell them: a router, the port it sends from, and what is at the other end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["LinkNames", "numbered"]

#: No router: what is at the end of a link is a node.
_NODE = 2**32 - 1


class LinkNames:
    """The names of the links between routers of a network, as `describe` has it: made when they are asked for, of a large network ten of 200,000.

    Examples
    --------
    >>> routers = [{"id": 0, "name": "(0)"}, {"id": 1, "name": "(1)"}]
    >>> names = LinkNames({"routers": routers, "links": [[0, 2, 1, "local", "x+"], [1, 3, 0, "local"], [1, 4, 0, "local", "to (0)"]]})
    >>> [names.get(router, port) for router, port in [(0, 2), (1, 3), (1, 4), (1, 2)]]
    ['(0) x+ → (1)', '(1) 3 → (0)', '(1) → (0)', None]
    """

    def __init__(self, network: Mapping[str, Any]) -> None:
        self._routers = {router["id"]: str(router["name"]) for router in network.get("routers", ())}
        #: In the order of routers and their ports.
        self._links: Sequence[list[Any]] = network.get("links", ())

    def get(self, router: int, port: int) -> str | None:
        """Return the name of the link that a router has at a port, if it leads to a router."""
        place = bisect_left(self._links, [router, port])
        if place == len(self._links):
            return None
        sender, at, receiver, *more = self._links[place]
        if (sender, at) != (router, port) or not isinstance(receiver, int):
            return None
        end = self._routers.get(receiver, receiver)
        by = more[1] if len(more) > 1 else port
        # A port that is named by where it leads need not say it twice.
        parts = [self._routers.get(router, router), *([] if by == f"to {end}" else [by]), "→", end]
        return " ".join(map(str, parts))


def numbered(router: int, port: int, peer: int = _NODE) -> str:
    """Return what a link without a name is called, by the numbers of its ends.

    Examples
    --------
    >>> numbered(0, 6), numbered(0, 2, 1)
    ('router 0 port 6 → node', 'router 0 port 2 → router 1')
    """
    end = "node" if peer >= _NODE else f"router {peer}"
    return f"router {router} port {port} → {end}"
