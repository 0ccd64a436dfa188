"""Who uses a link, as far as a run has recorded it; what it has not recorded is said, and which key records it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["users"]

#: Pairs that are named.
_NAMED = 12


def users(
    network: dict[str, Any], tables: dict[str, pa.Table], router: int, port: int, node: int | None
) -> dict[str, list[dict[str, Any]] | list[str]]:
    """Return who uses a link.

    Parameters
    ----------
    network : dict
        As `registry.picture` has it.
    tables : dict
        ``messages`` and ``waits``, where the run has recorded them.
    router, port : int
        That sends on it.
    node : int or None
        The node at its end, if it is one.

    Returns
    -------
    dict
        ``users`` (each ``who``, ``what``), and ``unknown``, what is not known in sentences.
    """
    found: list[dict[str, Any]] = []
    unknown: list[str] = []
    jobs = _jobs_by_node(network)
    if node is not None:
        if node in jobs:
            found.append(
                {"who": f"job {jobs[node]}", "what": f"node {node} is one of its nodes: all that it receives comes this way"}
            )
        if "messages" in tables:
            found += _senders(tables["messages"], node, jobs)
        else:
            unknown.append('Which nodes send to it is not recorded: observe.messages = "full" does.')
        return {"users": found, "unknown": unknown}
    if "waits" in tables:
        held = _held(tables["waits"], router, port, network)
        found += held
        if not held:
            unknown.append("No message that a rank waited for was held up longest on this link.")
        unknown.append("What else passes here is not recorded: waits tell only of messages that were waited for.")
    else:
        unknown.append(
            "Which messages took this link is not recorded. Of MPI ranks observe.operations = true records whose messages were held "
            "up longest on it."
        )
    return {"users": found, "unknown": unknown}


def _jobs_by_node(network: dict[str, Any]) -> dict[int, str]:
    """Return the name of the job of each node; a host of several rails has a node for each."""
    rails = range(network["rails"])
    hosts = [(host, job["name"]) for job in network["jobs"] for host in job["nodes"]]
    return {host * len(rails) + rail: name for host, name in hosts for rail in rails}


def _senders(messages: pa.Table, node: int, jobs: dict[int, str]) -> list[dict[str, Any]]:
    """Return the nodes that have sent most to a node."""
    rows = np.flatnonzero(messages.column("destination").to_numpy() == node)
    source, size = (messages.column(name).to_numpy()[rows] for name in ("source", "bytes"))
    sums: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    for sender, amount in zip(source.tolist(), size.tolist(), strict=True):
        sums[sender] += amount
        counts[sender] += 1
    found: list[dict[str, Any]] = [
        {
            "who": f"node {sender} \u2192 node {node}" + (f", job {jobs[sender]}" if sender in jobs else ""),
            "bytes": total,
            "messages": counts[sender],
        }
        for sender, total in sums.most_common(_NAMED)
    ]
    if len(sums) > _NAMED:
        found.append(
            {"who": f"{len(sums) - _NAMED} more nodes", "bytes": sum(sums.values()) - sum(one["bytes"] for one in found)}
        )
    return found


def _held(waits: pa.Table, router: int, port: int, network: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pairs of ranks whose messages were held up longest on a link, those that were waited for longest first."""
    at = [waits.column(name).to_pylist() for name in ("link_router", "link_port", "job", "peer", "rank", "link_ps")]
    times: Counter[tuple[int, int, int]] = Counter()
    counts: Counter[tuple[int, int, int]] = Counter()
    for on, by, job, peer, rank, held in zip(*at, strict=True):
        if on == router and by == port:
            times[job, peer, rank] += held or 0
            counts[job, peer, rank] += 1
    names = [job["name"] for job in network["jobs"]]
    return [
        {"who": f"job {names[job]}: rank {peer} \u2192 rank {rank}", "held_ns": held / 1e3, "messages": counts[job, peer, rank]}
        for (job, peer, rank), held in times.most_common(_NAMED)
    ]
