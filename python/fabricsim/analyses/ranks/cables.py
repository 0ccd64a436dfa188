"""Names of the cables that held messages up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._cables import LinkNames, numbered
from fabricsim.registry import describe

if TYPE_CHECKING:
    import pyarrow as pa

    from fabricsim._recorded import RunRecord

__all__ = ["NO_NAMES", "CableNames", "cable_names", "cable_sums"]

#: No node, router or port.
_NONE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class CableNames:
    """Names of routers, and of links between them; numbers take their place where there is none."""

    routers: Mapping[int, str]
    links: LinkNames

    def of(self, node: int, router: int, port: int) -> str:
        """Return the name of a link of the tables ``waits`` and ``critical_path``; empty where there is none.

        Examples
        --------
        >>> network = {"routers": [{"id": 0, "name": "(0)"}, {"id": 1, "name": "(1)"}], "links": [[0, 2, 1, "local", "x+"]]}
        >>> names = CableNames({0: "(0)"}, LinkNames(network))
        >>> names.of(_NONE, 0, 2), names.of(7, 0, 4), names.of(7, _NONE, _NONE), names.of(_NONE, _NONE, _NONE)
        ('(0) x+ → (1)', '(0) → node 7', 'node 7 → its router', '')
        """
        if router == _NONE:
            return "" if node == _NONE else f"node {node} → its router"
        if node != _NONE:
            return f"{self.routers.get(router, f'router {router}')} → node {node}"
        return self.links.get(router, port) or numbered(router, port)


NO_NAMES = CableNames({}, LinkNames({}))


def cable_names(record: RunRecord) -> CableNames:
    """Return the names of routers and links of a run's network, none where it is too large to be drawn."""
    network = describe(record.run.canonical)
    routers = {router["id"]: str(router["name"]) for router in network.get("routers", ())}
    return CableNames(routers, LinkNames(network))


def cable_sums(table: pa.Table, chosen: Any, weights: Any, names: CableNames) -> Sequence[tuple[str, float]]:
    """Return the cables at which messages stayed longest, with the sums of the weights of these messages, largest first.

    Parameters
    ----------
    table : Table
        ``waits`` or ``critical_path``.
    chosen : array of bool
        Its rows that count.
    weights : array
        Of those rows.
    names : CableNames
        Of the network.
    """
    if "link_port" not in table.column_names:
        return []
    places = (table[name].fill_null(_NONE).to_numpy()[chosen] for name in ("link_node", "link_router", "link_port"))
    keys, place = np.unique(np.stack(list(places)), axis=1, return_inverse=True)
    found = np.bincount(place.ravel(), weights=np.asarray(weights, dtype=np.float64), minlength=keys.shape[1])
    sums: Counter[str] = Counter()
    for key, weight in zip(keys.T.tolist(), found.tolist(), strict=True):
        if name := names.of(*key):
            sums[name] += weight
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))
