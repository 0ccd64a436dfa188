"""What a calibration gave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabricsim._units import counted

__all__ = ["ALL_SIZES", "Calibration", "Compared", "Costs", "Piece", "rows"]

#: A size beyond all messages: the last row of `mpi.costs` is for everything that is larger.
ALL_SIZES = 10**12


@dataclass(frozen=True, slots=True)
class Piece:
    """What messages up to a size take of the processor at each end: a row of ``mpi.costs``.

    Attributes
    ----------
    upto : int
        The largest message that it is for, in bytes.
    overhead_ns, per_byte_ns : float
        Of a message and of each of its bytes.
    """

    upto: int
    overhead_ns: float
    per_byte_ns: float

    def time_ns(self, size: int) -> float:
        """Return what one end pays for a message."""
        return self.overhead_ns + size * self.per_byte_ns

    def row(self) -> list[str]:
        """Return the row as a study writes it, in whole picoseconds and femtoseconds."""
        upto = "1 TB" if self.upto >= ALL_SIZES else f"{self.upto} B"
        return [upto, f"{round(self.overhead_ns * 1e3) / 1e3:.3f} ns", f"{round(self.per_byte_ns * 1e6) / 1e6:.6f} ns/B"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A measured time beside the simulated one.

    Attributes
    ----------
    size : int
        Of the message, in bytes.
    measured_ns, simulated_ns : float
        With the keys that were found.
    held_out : bool
        Nothing was fitted to it.
    """

    size: int
    measured_ns: float
    simulated_ns: float
    held_out: bool

    @property
    def error(self) -> float:
        """By which share the simulated time is off."""
        return self.simulated_ns / self.measured_ns - 1


@dataclass(frozen=True, slots=True)
class Costs:
    """What messages cost at their ends, as keys of a study.

    Attributes
    ----------
    eager : int
        The largest message that is sent without asking, in bytes.
    pieces : tuple of Piece
        What messages take at both ends.
    packet_overhead_ns : float, optional
        Of each packet; None where the study's own was kept.
    """

    eager: int
    pieces: tuple[Piece, ...]
    packet_overhead_ns: float | None

    def keys(self) -> dict[str, Any]:
        """Return what was found as overrides of a study, by dotted key."""
        found: dict[str, Any] = {"mpi.eager": f"{self.eager} B", "mpi.costs": [piece.row() for piece in self.pieces]}
        if self.packet_overhead_ns is not None:
            found["nic.packet_overhead"] = f"{round(self.packet_overhead_ns * 1e3)} ps"
        return found

    def toml(self) -> str:
        """Return what was found as sections of a study file."""
        rows = ",\n".join("    [" + ", ".join(f'"{cell}"' for cell in piece.row()) + "]" for piece in self.pieces)
        text = f'[mpi]\neager = "{self.eager} B"\n# Up to which size, overhead and time per byte, at each end.\ncosts = [\n{rows},\n]\n'
        if self.packet_overhead_ns is not None:
            text += f'\n[nic]\npacket_overhead = "{self.keys()["nic.packet_overhead"]}"\n'
        return text


@dataclass(frozen=True, slots=True)
class Calibration(Costs):
    """Keys of a study that make messages take what was measured, and how well.

    Attributes
    ----------
    eager, pieces, packet_overhead_ns
        As of `Costs`.
    eager_between : tuple of int, optional
        The sizes between which the measurements leave the eager limit open; None where it was given.
    points : tuple of Compared
        All measured points, by size.
    """

    eager_between: tuple[int, int] | None
    points: tuple[Compared, ...]

    def worst(self, *, held_out: bool) -> Compared | None:
        """Return the point that is furthest off, of those fitted to or of those held out; None without any."""
        return max((p for p in self.points if p.held_out == held_out), key=lambda p: abs(math.log1p(p.error)), default=None)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        words = [self._of("fitted to", held_out=False)]
        if self.worst(held_out=True) is not None:
            words.append(self._of("held out", held_out=True))
        return "; ".join(words)

    def _of(self, name: str, *, held_out: bool) -> str:
        worst = self.worst(held_out=held_out)
        number = sum(point.held_out == held_out for point in self.points)
        if worst is None:
            return f"no point is {name}"
        return f"{counted(number, 'point')} {name}: the worst is {100 * worst.error:+.1f} % off, at {worst.size} B"

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "sentence": self.sentence,
            "keys": self.keys(),
            "eager_bytes": self.eager,
            "eager_between_bytes": None if self.eager_between is None else list(self.eager_between),
            "pieces": [
                {"upto_bytes": piece.upto, "overhead_ns": piece.overhead_ns, "per_byte_ns": piece.per_byte_ns}
                for piece in self.pieces
            ],
            "packet_overhead_ns": self.packet_overhead_ns,
            "points": [_plain(point) for point in self.points],
        }


def _plain(point: Compared) -> dict[str, Any]:
    return {
        "bytes": point.size,
        "measured_ns": point.measured_ns,
        "simulated_ns": point.simulated_ns,
        "error": point.error,
        "use": "check" if point.held_out else "fit",
    }


def rows(points: Sequence[Compared]) -> list[list[object]]:
    """Return points as rows of a table, with a head."""
    return [["bytes", "measured_ns", "simulated_ns", "error", "use"], *(list(_plain(point).values()) for point in points)]
