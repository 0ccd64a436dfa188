"""Forwarding tables of a fabric with their figures, an entry per engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from fabricsim import _core
from fabricsim._files import atomic_write
from fabricsim._tables import table_of_columns

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EngineRoutes", "RoutedFabric", "figures_row"]

#: mpiGraph of more hosts than this is not computed: it has a number for every ordered pair.
_MOST_GRAPH = 2048
#: What becomes of a path that does not arrive, by the core's numbers.
_FATES = ("dead-end", "wrong-host", "loop")


@dataclass(frozen=True)
class EngineRoutes:
    """The tables of one engine, or of a file, with their figures.

    Attributes
    ----------
    name : str
        Name of the engine; ``"import"`` for tables of a dump, or what the file says.
    summary : dict
        The figures: ``lengths``, ``all_to_all``, ``uniform_bound``, ``ebb``, ``ebb_both_ways``, ``shifts``, ``racks``, ``demand``,
        ``lanes``, ``deadlock_free``, ``hottest``. Pairs of hosts that do not reach each other count as 0 in means of bandwidths; what
        cannot be given for them, or for fewer than two hosts, is None.
    about : dict
        What the engine tells besides: ``lanes_needed``, ``pairs_per_lane``, ``roots``, ``note``.
    """

    name: str
    summary: dict[str, Any]
    about: dict[str, Any]
    _routes: _core.Routes
    _figures: _core.Figures
    _switches: Sequence[str]
    _hosts: Sequence[str]

    @property
    def broken(self) -> int:
        """Ordered pairs of hosts that do not reach each other, at any of the receiver's addresses."""
        return int(self.summary["lengths"]["broken"] + self.summary["broken_elsewhere"])

    def arrow(self, table: str) -> pa.Table:
        """Return a table as Arrow: ``"channels"``, ``"shifts"``, ``"hops"`` or ``"lost"``."""
        found = table_of_columns(self._figures.columns(table))
        named = {
            "channels": {"from": self._switches, "to": self._switches},
            "lost": {"switch": self._switches, "host": self._hosts, "fate": _FATES, "at": self._switches},
        }
        for column, names in named.get(table, {}).items():
            place = found.column_names.index(column)
            words = pa.array(names, type=pa.string()).take(found.column(column))
            found = found.set_column(place, column, words)
        return found

    @cached_property
    def channels(self) -> pl.DataFrame:
        """Every directed channel between switches: names, ports, paths all to all, and of the shift and demand asked for."""
        return self._frame("channels")

    @cached_property
    def shifts(self) -> pl.DataFrame:
        """The shifts: distance, highest congestion, mean share, pairs that do not reach each other."""
        return self._frame("shifts")

    @cached_property
    def lost(self) -> pl.DataFrame:
        """Who does not reach whom: switch of the senders, host, pairs, fate (dead-end, wrong-host, loop), switch where it ends."""
        return self._frame("lost")

    @cached_property
    def hops(self) -> pl.DataFrame:
        """Ordered pairs of hosts by the channels between switches on their way."""
        return self._frame("hops")

    def _frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        found = pl.from_arrow(self.arrow(table))
        assert isinstance(found, pl.DataFrame)
        return found

    def mpi_graph(self) -> np.ndarray:
        """Return the bandwidth of every ordered pair of hosts when all shifts run one after the other.

        Pairs that do not reach each other have 0, the diagonal NaN.

        Raises
        ------
        ValueError
            More than 2,048 hosts.
        """
        hosts = int(self.summary["hosts"])
        if hosts > _MOST_GRAPH:
            raise ValueError(f"{hosts} hosts: mpiGraph is computed for up to {_MOST_GRAPH}; use racks")
        return np.frombuffer(self._routes.mpi_graph(int(self.summary["path"])), dtype="<f4").reshape(hosts, hosts)

    def dump_sizes(self) -> dict[str, int]:
        """Return the bytes of the files that `write` writes with `dump`, by their names."""
        lft, levels = self._routes.dump_sizes()
        return {f"{self.name}.lft": lft} | ({f"{self.name}.levels": levels} if self._has_lanes else {})

    @property
    def _has_lanes(self) -> bool:
        return len(self.summary["lanes"]) > 1

    def write(self, folder: str | Path, *, dump: bool = False) -> list[Path]:
        """Write the tables as ``NAME.tables`` (fabricsim's own form) and, where pairs are lost, which as ``NAME.lost.csv``.

        What the folder holds of former tables of this name is removed.

        Parameters
        ----------
        folder : path
            Where to; it must exist.
        dump : bool, optional
            Also as ``NAME.lft`` (as ibroute, a line per switch and address) and, with lanes, ``NAME.levels`` (a line per pair of hosts);
            `dump_sizes` tells how large they are.
        """
        stem = Path(folder) / self.name
        lft, levels, lost = (stem.with_suffix(suffix) for suffix in (".lft", ".levels", ".lost.csv"))
        written = [stem.with_suffix(".tables")]
        atomic_write(written[0], self._routes.compact())
        if self.summary["lengths"]["broken"]:
            table = self.arrow("lost")
            written.append(lost)
            atomic_write(lost, lambda handle: csv.write_csv(table, handle))
        if dump:
            written.append(lft)
            atomic_write(lft, lambda handle: self._routes.lft(handle.name))
        if dump and self._has_lanes:
            written.append(levels)
            atomic_write(levels, lambda handle: self._routes.levels(handle.name))
        for former in (lft, levels, lost):
            if former not in written:
                former.unlink(missing_ok=True)
        return written

    def __repr__(self) -> str:
        """Return the name and three figures."""
        ebb, mean = self.summary["ebb"], self.summary["lengths"]["mean"]
        words = [
            f"mean {mean:.2f} hops" if mean is not None else "no mean hops",
            f"most paths {self.summary['all_to_all']['max']:.0f}",
            f"eBB {ebb['mean']:.3f} +- {ebb['ci95']:.3f}" if ebb else "no eBB",
            *([f"{self.broken:,} pairs LOST"] if self.broken else []),
        ]
        return f"EngineRoutes({self.name!r}: {', '.join(words)})"


class RoutedFabric(Sequence[EngineRoutes]):
    """Forwarding tables of a fabric with their figures: one entry per engine; `RouteStudy` is this and can be written."""

    def __init__(
        self,
        source: str,
        fabric: _core.Fabric,
        entries: Sequence[EngineRoutes],
        questions: dict[str, Any],
        refused: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.refused = dict(refused or {})
        about = json.loads(fabric.about())
        self.switch_names: list[str] = about.pop("switch_names")
        self.host_names: list[str] = about.pop("host_names")
        self.switch_of_host: list[int] = about.pop("switch_of_host")
        self.layout: list[tuple[float, float]] = about.pop("layout")
        self.fabric: dict[str, Any] = about
        self.questions = questions
        self._fabric = fabric
        self._entries = tuple(entries)

    def __getitem__(self, key: Any) -> Any:
        """Return an entry by place or by the engine's name."""
        if isinstance(key, str):
            for entry in self._entries:
                if entry.name == key:
                    return entry
            raise KeyError(f"no tables of {key!r}; there are {', '.join(entry.name for entry in self._entries)}")
        return self._entries[key]

    def __len__(self) -> int:
        """Return the number of engines."""
        return len(self._entries)

    def __iter__(self) -> Iterator[EngineRoutes]:
        """Iterate over the engines."""
        return iter(self._entries)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per engine: the figures that compare them."""
        import polars as pl

        return pl.DataFrame([figures_row(entry) for entry in self])

    def to_json(self) -> dict[str, Any]:
        """Return everything but the tables, as JSON."""
        entries = [{"engine": entry.name, "about": entry.about, **entry.summary} for entry in self]
        names = {"switch_names": self.switch_names, "host_names": self.host_names}
        fabric = {**self.fabric, **names}
        ok = not any(entry.broken for entry in self)
        return {"ok": ok, "source": self.source, "fabric": fabric, "engines": entries, "refused": self.refused}

    def dump_sizes(self) -> dict[str, int]:
        """Return the bytes of the files that `write` writes with `dump`, by their names."""
        return {name: size for entry in self for name, size in entry.dump_sizes().items()}

    def __repr__(self) -> str:
        """Return the source and the engines."""
        return f"{type(self).__name__}({self.source!r}: {', '.join(entry.name for entry in self)})"


def figures_row(entry: EngineRoutes) -> dict[str, Any]:
    """Return the figures of an engine that compare it with others, flat."""
    found = entry.summary
    ebb, both = found["ebb"] or {}, found["ebb_both_ways"] or {}
    shifts, racks, demand = found["shifts"] or {}, found["racks"] or {}, found["demand"] or {}
    row = {
        "engine": entry.name,
        "mean_hops": found["lengths"]["mean"],
        "max_hops": len(found["lengths"]["histogram"]) - 1 if found["lengths"]["histogram"] else None,
        "max_paths": found["all_to_all"]["max"],
        "mean_paths": found["all_to_all"]["mean"],
        "unused_channels": found["all_to_all"]["unused"],
        "uniform_bound": found["uniform_bound"],
        "ebb": ebb.get("mean"),
        "ebb_ci95": ebb.get("ci95"),
        "ebb_both_ways": both.get("mean"),
        "ebb_both_ways_ci95": both.get("ci95"),
        "shift_mean": shifts.get("mean_inverse_congestion"),
        "shift_max_congestion": shifts.get("max"),
        "racks_mean": racks.get("mean"),
        "demand_slowdown": demand.get("slowdown"),
        "lanes": len(found["lanes"]),
        "lanes_used": sum(lane["pairs"] > 0 for lane in found["lanes"]),
        "deadlock_free": found["deadlock_free"],
        "broken_pairs": entry.broken,
    }
    return row
