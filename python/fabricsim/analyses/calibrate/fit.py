"""Finds what messages cost at both ends, so that a simulated measurement takes what the machine took.

The measurement is a study: its network, and work whose one message size takes each measured value. What the ends cost goes into its time about
linearly, a known number of times (twice for a message that one sends and another receives): a run without costs says what the network
takes, a run with an overhead only how often it counts. Costs are then the least squares of the logarithms of the times, none below zero;
runs with what was found correct what was not linear.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim import _core
from fabricsim._units import whole_bytes
from fabricsim.analyses.calibrate.measured import Measured, read_measurements
from fabricsim.analyses.calibrate.records import ALL_SIZES, Calibration, Compared, Costs, Piece
from fabricsim.registry import list_entries
from fabricsim.study import Study

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["calibrate", "ping_pong"]

#: Keys of work that are the size of its messages, in the order in which they are looked for.
_SIZES = ("messages", "message", "bytes")
#: An overhead that no network hides (ns), to see how often one counts.
_PROBE_NS = 1e6
#: Overheads of packets that are run (ns), and how near to what was found further ones are.
_OVERHEADS_NS = (3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0)
_NEARER = (1.5, 1.1)
#: Rounds of correction by runs, and the change below which no further one is made.
_ROUNDS = 6
_SETTLED = 1e-4


def ping_pong() -> Study:
    """Return the measurement that is simulated where no study is given: a round trip between two nodes at one router."""
    work = {"kind": "ping-pong"}
    return Study({"name": "ping-pong", "topology": {"kind": "single-router", "nodes": 2}, "job": [{"work": work}]})


def calibrate(
    measurements: str | Path | Sequence[Measured],
    *,
    study: Study | None = None,
    size_key: str | None = None,
    per: float | None = None,
    eager: int | str | None = None,
    pieces: Sequence[int | str] | None = None,
    packet_overhead: bool | None = None,
) -> Calibration:
    """Find what messages cost at their ends from times that were measured, and compare the simulated times with all of them.

    Parameters
    ----------
    measurements : path or sequence of Measured
        A table as `read_measurements` takes it. Points marked ``check`` are not fitted to.
    study : Study, optional
        What was measured: the network, and one job whose work sends messages of one size; a round trip between two nodes at one router if left
        out, with the links of the study language's defaults: give their bandwidth with ``with_sets``.
    size_key : str, optional
        The key of the size, as ``job.0.work.messages``; that of the first job's work by default.
    per : float, optional
        How many of the measured times the work takes: 2 for a ping-pong whose measured time is one way (the default for ``ping-pong``), else
        the ``iterations`` of the work.
    eager : int or str, optional
        The largest message that is sent without asking; without it the border that fits best, between the two sizes that it parts.
    pieces : sequence of int or str, optional
        Sizes at which the machine changes its protocol: each piece up to one of them has its own overhead and time per byte, and so has what is
        larger than all. By default there are two, up to `eager` and above, and the second one has no time per byte.
    packet_overhead : bool, optional
        Whether the time that the interface takes for each packet is fitted, too; by default it is where `pieces` is left out.

    Raises
    ------
    ValueError
        The table cannot be read, there are too few points for what is asked, or the study sends no messages of one size.
    ModuleNotFoundError
        SciPy is not installed: ``pip install 'fabricsim[calibrate]'``.
    StudyError, CheckFailed
        The study has mistakes; a run failed.
    """
    import scipy.optimize  # noqa: F401 - said before anything runs

    points = (
        list(measurements)
        if isinstance(measurements, Sequence) and not isinstance(measurements, str)
        else read_measurements(measurements)
    )
    machine = _Machine(study or ping_pong(), size_key, per)
    fitted = [point for point in points if not point.held_out]
    borders = [_size(border, "pieces") for border in pieces or ()]
    if borders != sorted(set(borders)):
        raise ValueError("pieces: give each size once, smallest first")
    asked = _Asked(machine, fitted, borders, packet_overhead if packet_overhead is not None else not borders)
    given = None if eager is None else _size(eager, "eager")
    best = asked.best(given)
    between = None if given is not None else asked.open_between(best.eager)
    simulated = machine.times([point.size for point in points], best)
    compared = [Compared(p.size, p.time_ns, float(t), p.held_out) for p, t in zip(points, simulated, strict=True)]
    return Calibration(best.eager, best.pieces, best.packet_overhead_ns, between, tuple(compared))


def _size(size: int | str, name: str) -> int:
    try:
        return whole_bytes(size)
    except ValueError as error:
        raise ValueError(f"{name}: {size!r} is no size; write 8192 or '8 KiB'") from error


@dataclass(slots=True)
class _Machine:
    """Simulates the measurement."""

    study: Study
    size_key: str | None
    times_of_work: float | None
    known: dict[str, float] = field(default_factory=dict)
    key: str = ""
    per: float = 1.0

    def __post_init__(self) -> None:
        part = self._part() if self.size_key is None or self.times_of_work is None else None
        self.key = self.size_key or f"job.0.work.{self._own_key((part or {})['motif']['kind'])}"
        self.per = self.times_of_work if self.times_of_work is not None else self._per(part or {})

    def times(self, sizes: Sequence[int], costs: Costs) -> NDArray[np.float64]:
        """Return the simulated times of sizes (ns), each of one measured time."""
        return np.array([self.time(size, costs) for size in sizes])

    def time(self, size: int, costs: Costs) -> float:
        """Return the simulated time of a size (ns)."""
        run = self.study.with_sets({**costs.keys(), self.key: f"{size} B"}).expand().runs[0]
        if run.canonical not in self.known:
            summary = json.loads(_core.run(run.canonical, None).summary)
            self.known[run.canonical] = float(summary["jobs"][0]["time_ns"])
        return self.known[run.canonical] / self.per

    def _part(self) -> dict[str, Any]:
        """Return the only part of the first job's work, as a run says it: its motif, and how often."""
        work = json.loads(self.study.expand().runs[0].canonical)["jobs"][0]["work"]
        parts = work.get("ranks", {}).get("parts", [])
        if len(parts) != 1:
            raise ValueError('the first job of the study is to have one work of MPI ranks, such as { kind = "ping-pong" }')
        part: dict[str, Any] = parts[0]
        return part

    def _own_key(self, kind: str) -> str:
        has = {parameter["key"] for entry in list_entries("motif", kind) for parameter in entry["parameters"]}
        for key in _SIZES:
            if key in has:
                return key
        raise ValueError(f"work {kind!r} has no key for the size of its messages; name it with --size-key")

    def _per(self, part: dict[str, Any]) -> float:
        iterations = float(part["iterations"])
        is_ping_pong = part["motif"]["kind"] == "ping-pong"
        return 2 * iterations * part["motif"]["values"].get("repeat", {"integer": 1})["integer"] if is_ping_pong else iterations


@dataclass(slots=True)
class _Network:
    """What the network alone takes, and how often what the ends cost counts: by runs without costs, and with an overhead only.

    Between the overheads of packets that were run, times lie on straight lines.
    """

    machine: _Machine
    overheads_ns: list[float | None]
    known: dict[tuple[int, bool], tuple[list[float], float]] = field(default_factory=dict)

    def of(self, size: int, packet_ns: float | None, *, eager: bool) -> tuple[float, float]:
        """Return the time without costs (ns), and by how much it grows with what an end costs."""
        if (size, eager) not in self.known:
            self.known[size, eager] = self._run(size, eager=eager)
        free, factor = self.known[size, eager]
        if packet_ns is None:
            return free[0], factor
        return float(np.interp(packet_ns, [overhead or 0.0 for overhead in self.overheads_ns], free)), factor

    def _run(self, size: int, *, eager: bool) -> tuple[list[float], float]:
        limit = size if eager else max(size - 1, 0)

        def time(end_ns: float, packet_ns: float | None) -> float:
            return self.machine.time(size, Costs(limit, (Piece(ALL_SIZES, end_ns, 0.0),), packet_ns))

        free = [time(0.0, packet_ns) for packet_ns in self.overheads_ns]
        return free, (time(_PROBE_NS, self.overheads_ns[0]) - free[0]) / _PROBE_NS


@dataclass(slots=True)
class _Asked:
    """What is fitted, and to what."""

    machine: _Machine
    points: Sequence[Measured]
    borders: list[int]
    with_packets: bool

    def __post_init__(self) -> None:
        free = 2 * (len(self.borders) + 1) if self.borders else 3 + self.with_packets
        if len(self.points) < free:
            raise ValueError(f"{len(self.points)} points are fitted to, which is too few for {free} numbers: measure more sizes")
        for low, high in zip([-1, *self.borders], [*self.borders, ALL_SIZES], strict=True) if self.borders else ():
            if sum(low < point.size <= high for point in self.points) < 2:
                raise ValueError(
                    f"pieces: fewer than two points are fitted to from {low + 1} B to {high} B: measure more sizes there"
                )

    def candidates(self, given: int | None) -> list[int]:
        """Return the eager limits to try: the one that is given, the borders of pieces, or one between any two sizes that may be parted."""
        if given is not None:
            return [given]
        if self.borders:
            return self.borders
        sizes = [point.size for point in self.points]
        return [_between(low, high) for low, high in pairwise(sizes[1:])]

    def open_between(self, eager: int) -> tuple[int, int] | None:
        """Return the sizes between which another limit would fit as well."""
        if eager in self.borders:
            return None
        sizes = [point.size for point in self.points]
        return (max((s for s in sizes if s <= eager), default=0), min((s for s in sizes if s > eager), default=ALL_SIZES))

    def best(self, given: int | None) -> Costs:
        """Find the costs: the eager limit and the overhead of packets that leave least, then both ends' by runs until nothing changes."""
        overheads: list[float | None] = [0.0, *_OVERHEADS_NS] if self.with_packets else [None]
        network = _Network(self.machine, overheads)
        tried = [(*self._least(network, limit), limit) for limit in self.candidates(given)]
        _, packet_ns, eager = min(tried, key=lambda one: one[0])
        for spread in _NEARER:
            if not packet_ns:
                break
            network = _Network(self.machine, [packet_ns / spread, packet_ns, packet_ns * spread])
            _, packet_ns = self._least(network, eager)
        return self._corrected(network, eager, packet_ns)

    def _least(self, network: _Network, eager: int) -> tuple[float, float | None]:
        """Return the least sum of squares with an eager limit, and the overhead of packets that has it."""
        if network.overheads_ns == [None]:
            return self._ends(network, eager, None)[1], None
        from scipy.optimize import minimize_scalar

        low, *_, high = (overhead or 0.0 for overhead in network.overheads_ns)
        # Small overheads are looked for as closely as large ones.
        found = minimize_scalar(
            lambda x: self._ends(network, eager, low + math.expm1(x))[1], bounds=(0.0, math.log1p(high - low)), method="bounded"
        )
        at_ends = [(self._ends(network, eager, overhead)[1], overhead) for overhead in (low, high)]
        return min([*at_ends, (float(found.fun), low + math.expm1(float(found.x)))])

    def _alone(self, network: _Network, eager: int, packet_ns: float | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what the network alone takes for each point, and how often what the ends cost counts in it."""
        found = [network.of(point.size, packet_ns, eager=point.size <= eager) for point in self.points]
        return np.array([free for free, _ in found]), np.array([factor for _, factor in found])

    def _ends(self, network: _Network, eager: int, packet_ns: float | None, correction: Any = 0.0) -> tuple[list[Piece], float]:
        """Return what the ends cost with this limit and this overhead of packets, and the sum of squares that is left."""
        sizes = np.array([point.size for point in self.points], dtype=float)
        measured = np.array([point.time_ns for point in self.points])
        alone, factor = self._alone(network, eager, packet_ns)
        free = alone + correction
        pieces: list[Piece] = []
        low, cost = -1, 0.0
        for upto in [*self.borders, ALL_SIZES] if self.borders else [eager, ALL_SIZES]:
            own = (sizes > low) & (sizes <= upto)
            slope = bool(self.borders) or upto == eager
            piece, left = _least_squares(upto, sizes[own], measured[own], free[own], factor[own], with_slope=slope)
            pieces.append(piece)
            low, cost = upto, cost + left
        return pieces, cost

    def _corrected(self, network: _Network, eager: int, packet_ns: float | None) -> Costs:
        """Return the costs with which runs take what was fitted: what is not linear in them goes to the network's side."""
        whole = [point.size for point in self.points]
        alone, factor = self._alone(network, eager, packet_ns)
        pieces, _ = self._ends(network, eager, packet_ns)
        for _ in range(_ROUNDS):
            last = pieces
            costs = Costs(eager, tuple(pieces), packet_ns)
            ends = factor * np.array([_piece_of(pieces, size).time_ns(size) for size in whole])
            pieces, _ = self._ends(network, eager, packet_ns, self.machine.times(whole, costs) - alone - ends)
            if _change(last, pieces, whole) < _SETTLED:
                break
        return Costs(eager, tuple(pieces), packet_ns)


def _between(low: int, high: int) -> int:
    """Return a power of two between two sizes, or else the middle of both on a logarithmic scale."""
    middle = math.sqrt(max(low, 1) * high)
    power = 1 << round(math.log2(middle))
    return power if low <= power < high else int(middle)


def _piece_of(pieces: Sequence[Piece], size: int) -> Piece:
    return next((piece for piece in pieces if size <= piece.upto), pieces[-1])


def _change(last: Sequence[Piece], pieces: Sequence[Piece], sizes: Sequence[int]) -> float:
    pairs = [(_piece_of(last, size).time_ns(size), _piece_of(pieces, size).time_ns(size)) for size in sizes]
    return max(abs(now - before) / max(now, before, 1.0) for before, now in pairs)


def _least_squares(upto: int, sizes: Any, measured: Any, free: Any, factor: Any, *, with_slope: bool) -> tuple[Piece, float]:
    """Find the overhead and the time per byte that bring times nearest to those measured, and the squares of logarithms that are left."""
    from scipy.optimize import least_squares

    if not len(sizes):
        return Piece(upto, 0.0, 0.0), 0.0
    scale = np.array([1.0, 1.0 / max(float(sizes.max()), 1.0)])[: 1 + with_slope] * float(measured.max())

    def ends(found: Any) -> Any:
        found = found * scale
        return found[0] + (sizes * found[1] if with_slope else 0.0)

    # What the network alone takes may be more than was measured: logarithms go on below that.
    def residuals(found: Any) -> Any:
        return np.log(np.maximum(free + factor * ends(found), 1e-3) / measured)

    found = least_squares(residuals, np.full(len(scale), 0.1), bounds=(0, np.inf), xtol=1e-12, ftol=1e-12)
    overhead, *per_byte = found.x * scale
    return Piece(upto, float(overhead), float(per_byte[0]) if per_byte else 0.0), 2 * float(found.cost)
