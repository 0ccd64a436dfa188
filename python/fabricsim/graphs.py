"""Graphs of operations that Python writes down: what each rank does and what it waits for, saved as a file of recorded work."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricsim._files import atomic_write
from fabricsim._units import picoseconds, whole_bytes
from fabricsim.traces import Trace

__all__ = ["Graph", "Node"]

_ANY_RANK, _NONE = 2**32 - 2, 2**32 - 1


@dataclass(frozen=True, slots=True)
class Node:
    """An operation of a graph, to be named in ``after`` of others of its rank.

    Attributes
    ----------
    rank : int
        Whose it is.
    number : int
        Its number in the rank, from 0.
    """

    rank: int
    number: int


class Graph:
    """Operations of ranks with what each waits for. Operations of a rank that do not wait for each other go on side by side.

    Parameters
    ----------
    ranks : int
        Number of ranks, from 1.

    Raises
    ------
    ValueError
        No number of ranks.

    Examples
    --------
    Rank 0 sends while it works on; rank 1 works with what it has received.

    >>> import fabricsim as fs
    >>> g = fs.Graph(2)
    >>> first = g.compute(0, "3 us")
    >>> sent = g.send(0, 1, "1 MiB", after=[first])
    >>> more = g.compute(0, "20 us", after=[first], lane=1)
    >>> got = g.recv(1, 0, "1 MiB")
    >>> last = g.compute(1, "5 us", after=[got])
    >>> _ = g.allreduce(0, "8 B", after=[sent, more]), g.allreduce(1, "8 B", after=[last])
    >>> len(g)
    7
    >>> g.save("overlap.work").info["compute_ns"]
    28000.0
    """

    __slots__ = ("_communicators", "_numbers", "_rows", "ranks")

    def __init__(self, ranks: int) -> None:
        if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks < _ANY_RANK:
            raise ValueError(f"a graph has 1 to {_ANY_RANK - 1} ranks, not {ranks!r}")
        self.ranks = ranks
        self._rows: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._communicators: list[list[int]] = []

    def _rank(self, rank: int, what: str = "rank") -> int:
        if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank < self.ranks:
            raise ValueError(f"{what} {rank!r} of a graph of {self.ranks} ranks")
        return rank

    def _add(
        self,
        rank: int,
        kind: str,
        *,
        after: Iterable[Node],
        after_start: Iterable[Node],
        lane: int,
        **cells: Any,
    ) -> Node:
        number = self._numbers.get(self._rank(rank), 0)
        lists = {"after": after, "after_start": after_start}
        row = {"rank": rank, "kind": kind, "lane": _small("lane", lane), **cells}
        for name, nodes in lists.items():
            numbers = []
            for node in nodes:
                if not isinstance(node, Node):
                    raise TypeError(f"{name} has operations of this graph, not {node!r}")
                if node.rank != rank:
                    raise ValueError(f"{name}: rank {rank} cannot wait for an operation of rank {node.rank}; send it a message")
                if node.number >= number:
                    raise ValueError(f"{name}: rank {rank} has no operation {node.number} yet")
                numbers.append(node.number)
            row[name] = numbers or None
        self._rows.append(row)
        self._numbers[rank] = number + 1
        return Node(rank, number)

    def compute(
        self, rank: int, time: str, *, after: Iterable[Node] = (), after_start: Iterable[Node] = (), lane: int = 0
    ) -> Node:
        """Let a rank work without the network.

        Parameters
        ----------
        rank : int
            Who works.
        time : str
            How long, with its unit: ``"3 us"``.
        after, after_start : iterable of Node, optional
            Operations of the same rank that have to have ended, or started, before.
        lane : int, optional
            Processor, thread or stream of the rank, 0 to 255: one operation at a time on each.
        """
        return self._add(rank, "compute", after=after, after_start=after_start, lane=lane, time=picoseconds(time))

    def send(
        self,
        rank: int,
        to: int,
        size: int | str,
        *,
        tag: int = 0,
        after: Iterable[Node] = (),
        after_start: Iterable[Node] = (),
        lane: int = 0,
    ) -> Node:
        """Let a rank send a message.

        Parameters
        ----------
        rank, to : int
            Who sends, and to whom.
        size : int or str
            Bytes, or a size with its unit: ``"1 MiB"``.
        tag : int, optional
            Its tag.
        after, after_start, lane
            As in `compute`.
        """
        cells = {"peer": self._rank(to, "to"), "bytes": whole_bytes(size), "tag": _tag(tag)}
        return self._add(rank, "send", after=after, after_start=after_start, lane=lane, **cells)

    def recv(
        self,
        rank: int,
        source: int | None,
        size: int | str | None = None,
        *,
        tag: int | None = 0,
        after: Iterable[Node] = (),
        after_start: Iterable[Node] = (),
        lane: int = 0,
    ) -> Node:
        """Let a rank receive a message.

        Parameters
        ----------
        rank : int
            Who receives.
        source : int or None
            From whom; None is from any rank.
        size : int or str, optional
            The most that it takes; any size if it is not given.
        tag : int or None, optional
            Tag of the message; None is any.
        after, after_start, lane
            As in `compute`.
        """
        cells = {
            "peer": None if source is None else self._rank(source, "source"),
            "bytes": None if size is None else whole_bytes(size),
            "tag": None if tag is None else _tag(tag),
        }
        return self._add(rank, "recv", after=after, after_start=after_start, lane=lane, **cells)

    def collective(
        self,
        rank: int,
        kind: str,
        size: int | str = 0,
        *,
        root: int | None = None,
        communicator: int = 0,
        after: Iterable[Node] = (),
        after_start: Iterable[Node] = (),
        lane: int = 0,
    ) -> Node:
        """Let a rank take part in a collective; every rank of the communicator has to, in the same order.

        Parameters
        ----------
        rank : int
            Who takes part.
        kind : str
            ``"barrier"``, ``"bcast"``, ``"reduce"``, ``"allreduce"``, ``"gather"``, ``"scatter"``, ``"allgather"``, ``"alltoall"``,
            ``"reduce_scatter_block"``, ``"scan"`` or ``"exscan"``.
        size : int or str, optional
            Bytes as the kind counts them: ``docs/reference/work-format.md``.
        root : int, optional
            Of a collective that has one: its number in the communicator.
        communicator : int, optional
            What `communicator` gave; 0 has all ranks.
        after, after_start, lane
            As in `compute`.
        """
        if kind not in _COLLECTIVES:
            raise ValueError(f"no collective {kind!r}; there are {', '.join(_COLLECTIVES)}")
        if not 0 <= communicator <= len(self._communicators):
            raise ValueError(f"no communicator {communicator!r}; there are 0 to {len(self._communicators)}")
        members = self.ranks if communicator == 0 else len(self._communicators[communicator - 1])
        if (root is not None) != _COLLECTIVES[kind]:
            raise ValueError(f"{kind} has {'a' if _COLLECTIVES[kind] else 'no'} root")
        if root is not None and not 0 <= root < members:
            raise ValueError(f"root {root!r} of a communicator of {members} ranks")
        cells = {"bytes": whole_bytes(size), "peer": root, "communicator": communicator}
        return self._add(rank, kind, after=after, after_start=after_start, lane=lane, **cells)

    def allreduce(
        self,
        rank: int,
        size: int | str,
        *,
        communicator: int = 0,
        after: Iterable[Node] = (),
        after_start: Iterable[Node] = (),
        lane: int = 0,
    ) -> Node:
        """Let a rank take part in an allreduce of so many bytes from each; see `collective`."""
        return self.collective(
            rank, "allreduce", size, communicator=communicator, after=after, after_start=after_start, lane=lane
        )

    def barrier(
        self, rank: int, *, communicator: int = 0, after: Iterable[Node] = (), after_start: Iterable[Node] = (), lane: int = 0
    ) -> Node:
        """Let a rank take part in a barrier; see `collective`."""
        return self.collective(rank, "barrier", communicator=communicator, after=after, after_start=after_start, lane=lane)

    def communicator(self, ranks: Iterable[int]) -> int:
        """Add a communicator of some ranks, in the order of their numbers in it, and return its number."""
        members = [self._rank(rank) for rank in ranks]
        if not members or len(set(members)) < len(members):
            raise ValueError(f"a communicator has ranks, each once, not {members}")
        self._communicators.append(members)
        return len(self._communicators)

    def save(self, path: str | Path) -> Trace:
        """Write the graph into a file of recorded work, whole or not at all, and return it as a trace.

        Parameters
        ----------
        path : path or str
            The file, usually ``NAME.work``; one that is there is replaced.

        Raises
        ------
        DiskError
            The file cannot be written.
        """
        import pyarrow as pa

        everyone = {"first": 0, "count": self.ranks, "stride": 1}
        metadata = {
            "fabricsim_work": "1",
            "ranks": str(self.ranks),
            "form": "graph",
            "communicators": json.dumps([everyone, *self._communicators]),
        }
        fields = [
            ("rank", pa.uint32()),
            ("kind", pa.dictionary(pa.int8(), pa.string())),
            *((name, pa.uint32()) for name in ("peer", "tag", "communicator")),
            *((name, pa.uint64()) for name in ("bytes", "time")),
            ("lane", pa.uint8()),
            ("after", pa.list_(pa.uint32())),
            ("after_start", pa.list_(pa.uint32())),
        ]
        schema = pa.schema(fields, metadata=metadata)
        rows = sorted(self._rows, key=lambda row: row["rank"])
        table = pa.Table.from_pylist(rows, schema)

        def write(handle: Any) -> None:
            with pa.ipc.new_file(handle, schema) as writer:
                writer.write_table(table)

        atomic_write(Path(path), write)
        return Trace(path)

    def __len__(self) -> int:
        """Return the number of operations."""
        return len(self._rows)

    def __repr__(self) -> str:
        """Return the size."""
        return f"Graph({len(self)} operations of {self.ranks} ranks)"


#: Whether a collective has a root.
_COLLECTIVES = {
    "barrier": False,
    "bcast": True,
    "reduce": True,
    "allreduce": False,
    "gather": True,
    "scatter": True,
    "allgather": False,
    "alltoall": False,
    "reduce_scatter_block": False,
    "scan": False,
    "exscan": False,
}


def _small(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 256:
        raise ValueError(f"{name} {value!r}: there are 0 to 255")
    return value


def _tag(tag: int) -> int:
    if isinstance(tag, bool) or not isinstance(tag, int) or not 0 <= tag < _NONE:
        raise ValueError(f"tag {tag!r}: there are 0 to {_NONE - 1}")
    return tag
