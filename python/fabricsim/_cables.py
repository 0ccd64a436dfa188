"""Names of links, as reports and analyses tell them: a router, the port it sends from, and what is at the other end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["link_names", "link_text"]

#: No router: what is at the end of a link is a node.
_NODE = 2**32 - 1


def link_names(network: Mapping[str, Any]) -> dict[tuple[int, int], str]:
    """Return the names of the links between routers of a network, as `describe` has it, by router and port that send.

    Examples
    --------
    >>> routers = [{"id": 0, "name": "(0)"}, {"id": 1, "name": "(1)"}]
    >>> link_names({"routers": routers, "links": [[0, 2, 1, "local", "x+"], [1, 3, 0, "local"], [1, 4, 0, "local", "to (0)"]]})
    {(0, 2): '(0) x+ → (1)', (1, 3): '(1) 3 → (0)', (1, 4): '(1) → (0)'}
    """
    names = {router["id"]: str(router["name"]) for router in network.get("routers", ())}
    found = {}
    for sender, port, receiver, *more in network.get("links", ()):
        if isinstance(receiver, int):
            end = names.get(receiver, receiver)
            by = more[1] if len(more) > 1 else port
            # A port that is named by where it leads need not say it twice.
            parts = [names.get(sender, sender), *([] if by == f"to {end}" else [by]), "→", end]
            found[sender, port] = " ".join(map(str, parts))
    return found


def link_text(names: Mapping[tuple[int, int], str], router: int, port: int, peer: int = _NODE) -> str:
    """Return the name of a link, its numbers where it has none.

    Examples
    --------
    >>> link_text({(0, 2): "(0) x+ → (1)"}, 0, 2), link_text({}, 0, 6), link_text({}, 0, 2, 1)
    ('(0) x+ → (1)', 'router 0 port 6 → node', 'router 0 port 2 → router 1')
    """
    end = "node" if peer >= _NODE else f"router {peer}"
    return names.get((router, port), f"router {router} port {port} → {end}")
