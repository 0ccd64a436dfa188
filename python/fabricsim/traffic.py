"""Traffic of one's own: matrices, permutations and what a function draws ahead, as work of a study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._files import atomic_write

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["matrix", "mixed", "partners", "sampled"]


def _work(kind: str, rows: str, file: str | Path | None, keys: Mapping[str, Any]) -> dict[str, Any]:
    if file is None:
        return {"kind": kind, "table": rows, **keys}
    atomic_write(Path(file), rows.encode())
    return {"kind": kind, "file": str(file), **keys}


def _cells(weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return rows, columns and weights of what is not 0, and the shape; a mapping has none of its own."""
    if isinstance(weights, Mapping):
        pairs = np.array(list(weights), dtype=np.int64).reshape(-1, 2)
        most = int(pairs.max(initial=-1)) + 1
        return pairs[:, 0], pairs[:, 1], np.array(list(weights.values()), dtype=float), (most, most)
    if hasattr(weights, "tocoo"):
        sparse = weights.tocsr().tocoo()
        return sparse.row, sparse.col, np.asarray(sparse.data, dtype=float), sparse.shape
    dense = np.asarray(weights, dtype=float)
    if dense.ndim != 2:
        raise ValueError(f"a matrix has 2 dimensions, not {dense.ndim}")
    # What is no number is not 0 either: it is told below.
    row, column = np.nonzero(dense)
    return row, column, dense[row, column], dense.shape


def matrix(
    weights: ArrayLike | Mapping[tuple[int, int], float] | Any,
    *,
    of: str = "nodes",
    blocks: Sequence[int] | None = None,
    rates: str = "weighted",
    file: str | Path | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """Return work whose destinations are drawn by the weights of a matrix.

    Parameters
    ----------
    weights : array_like, SciPy sparse matrix or mapping
        Weight of what row `i` sends to column `j`, from 0, in any unit that all share; a mapping has ``{(i, j): weight}``.
    of : {"nodes", "routers", "groups", "blocks"}, optional
        What rows and columns are: nodes of the job, routers or groups of the network by number, or blocks of the job's nodes. Between
        units of several nodes every node of the one sends to every node of the other alike.
    blocks : sequence of int, optional
        Nodes of each block, for ``of="blocks"``; as many as the matrix has rows.
    rates : {"weighted", "alike"}, optional
        Whether nodes send by the sums of their rows (those that send most offer `load`), or all alike.
    file : path, optional
        Write the rows there and name the file, in place of a text in the study: for large matrices.
    **keys
        ``load``, ``message``, ``process`` and the other keys of synthetic traffic.

    Returns
    -------
    dict
        To be the ``work`` of a job.

    Raises
    ------
    ValueError
        No square matrix, a weight that is negative or no number, a node's weight for itself, or no weight at all.

    Examples
    --------
    >>> import fabricsim as fs
    >>> work = fs.traffic.matrix([[0, 2], [1, 0]], load=0.3)
    >>> work["table"].splitlines()
    ['source,destination,weight', '0,1,2.0', '1,0,1.0']
    >>> fs.Study({"name": "two", "topology": {"kind": "single-router", "nodes": 2}, "job": [{"work": work}]}).check().ok
    True
    """
    rows, columns, values, shape = _cells(weights)
    if shape[0] != shape[1]:
        raise ValueError(f"a matrix has as many rows as columns, not {shape[0]} x {shape[1]}")
    if blocks is not None and not isinstance(weights, Mapping) and len(blocks) != shape[0]:
        raise ValueError(f"{len(blocks)} blocks for {shape[0]} rows")
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"the weight from {rows[at]} to {columns[at]} is {values[at]}: weights are numbers from 0")
    own = (rows == columns) & (values > 0)
    if of == "nodes" and own.any():
        node = int(rows[np.argmax(own)])
        raise ValueError(f"node {node} sends to itself: such messages take no network, set the diagonal to 0")
    if not (values > 0).any():
        raise ValueError("all weights are 0")
    lines = ["source,destination,weight"]
    told = values > 0
    cells = zip(rows[told].tolist(), columns[told].tolist(), values[told].tolist(), strict=True)
    lines += [f"{row},{column},{value!r}" for row, column, value in cells]
    given = {"of": of, "rates": rates, **({} if blocks is None else {"blocks": [int(block) for block in blocks]})}
    defaults = {"of": "nodes", "rates": "weighted"}
    shown = {key: value for key, value in given.items() if defaults.get(key) != value}
    return _work("matrix", "\n".join(lines) + "\n", file, {**shown, **keys})


def partners(
    partners: Sequence[int] | Sequence[Sequence[int]] | np.ndarray, *, file: str | Path | None = None, **keys: Any
) -> dict[str, Any]:
    """Return work in which every node sends to partners of its own: a permutation, or a list for each node.

    Parameters
    ----------
    partners : array_like or sequence of sequences
        The partner of each node; or for each node its partners, which it sends to one after the other and again from the first. Nodes that
        are their own partner, and those with an empty list, are silent.
    file : path, optional
        Write the rows there and name the file, in place of a text in the study.
    **keys
        ``load``, ``message``, ``process`` and the other keys of synthetic traffic.

    Raises
    ------
    ValueError
        A partner that is no node, a node among several partners of its own, or nobody who sends.

    Examples
    --------
    >>> import fabricsim as fs
    >>> fs.traffic.partners([1, 2, 0, 3], load=0.3)["table"].splitlines()
    ['source,destination', '0,1', '1,2', '2,0']
    """
    lists = [np.atleast_1d(np.asarray(own)).tolist() for own in partners]
    n, lines = len(lists), ["source,destination"]
    for node, own in enumerate(lists):
        for to in own:
            if not isinstance(to, int) or not 0 <= to < n:
                raise ValueError(f"partner {to!r} of node {node} is none of the nodes 0 to {n - 1}")
            if to != node:
                lines.append(f"{node},{to}")
            elif len(own) > 1:
                raise ValueError(f"node {node} is among its own partners")
    if len(lines) == 1:
        raise ValueError("nobody sends")
    return _work("partners", "\n".join(lines) + "\n", file, keys)


def sampled(
    function: Callable[[int, np.random.Generator], int],
    nodes: int,
    *,
    messages: int = 1000,
    seed: int = 0,
    file: str | Path | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """Return work whose destinations a function has drawn ahead.

    Parameters
    ----------
    function : callable
        Called with a source node and a generator, returns the destination of its next message: another node, or the source itself, which
        leaves the message out.
    nodes : int
        Nodes of the job, at least 2.
    messages : int, optional
        How many destinations are drawn for each node; a node that sends more begins again. Take as many as a node sends where the function
        has a memory or rare destinations.
    seed : int, optional
        What the generators are made from: one for each node, the same whatever the other nodes draw.
    file : path, optional
        Write the rows there and name the file, in place of a text in the study.
    **keys
        ``load``, ``message``, ``process`` and the other keys of synthetic traffic.

    Raises
    ------
    ValueError
        A destination that is no node, or fewer than two nodes.

    Examples
    --------
    Near nodes more often than far ones:

    >>> import fabricsim as fs
    >>> def near(source, generator):
    ...     return (source + int(generator.geometric(0.5))) % 64
    >>> work = fs.traffic.sampled(near, 64, messages=100, load=0.4)
    >>> study = fs.Study({"name": "near", "topology": {"kind": "torus", "shape": [8, 8]}, "job": [{"work": work}]})
    >>> study.check().ok
    True
    """
    if nodes < 2 or messages < 1:
        raise ValueError(f"{nodes} nodes with {messages} messages each: it takes 2 nodes and a message")
    lists = []
    for source in range(nodes):
        generator = np.random.default_rng([seed, source])
        drawn = [function(source, generator) for _ in range(messages)]
        for to in drawn:
            if math.trunc(to) != to or not 0 <= to < nodes:
                raise ValueError(
                    f"the function sent a message of node {source} to {to!r}, which is none of the nodes 0 to {nodes - 1}"
                )
        lists.append([int(to) for to in drawn if to != source])
    return partners(lists, file=file, **keys)


def mixed(*parts: tuple[float, Mapping[str, Any]], **keys: Any) -> dict[str, Any]:
    """Return work of several patterns, each for a share of the messages.

    Parameters
    ----------
    *parts : (float, mapping)
        Share and pattern: a table of work without ``load``. A ``message`` of its own is the size of its messages.
    **keys
        ``load``, ``message``, ``process`` and the other keys of synthetic traffic.

    Examples
    --------
    Nine in ten messages are short and go anywhere, the others are long and go to one node:

    >>> import fabricsim as fs
    >>> work = fs.traffic.mixed(
    ...     (0.9, {"kind": "uniform", "message": "64 B"}), (0.1, {"kind": "incast", "message": "64 KiB"}), load=0.1
    ... )
    >>> study = fs.Study({"name": "mix", "topology": {"kind": "torus", "shape": [4, 4]}, "job": [{"work": work}]})
    >>> study.check().ok
    True
    """
    return {"kind": "mixed", "parts": [{**pattern, "share": share} for share, pattern in parts], **keys}
