"""Forwarding tables of a fabric without a simulation: engines or imported tables in, figures, tables and a report out."""

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
from fabricsim._files import atomic_write, translate_disk_errors
from fabricsim._tables import table_of_columns
from fabricsim.errors import StudyError
from fabricsim.study import Study, find_study, load

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EngineRoutes", "RouteStudy", "figures_row", "open_fabric", "route_engines", "routes"]

#: mpiGraph of more hosts than this is not computed: it has a number for every ordered pair.
_MOST_GRAPH = 2048
#: What becomes of a path that does not arrive, by the core's numbers.
_FATES = ("dead-end", "wrong-host", "loop")
#: Lines by which the output of ibnetdiscover is known.
_MARKS = (b"vendid=", b"devid=", b"sysimgguid=", b"switchguid=", b"caguid=", b"Switch\t", b"Switch ", b"Ca\t", b"Ca ")


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


class RouteStudy(Sequence[EngineRoutes]):
    """What `routes` found: one entry per engine, in the order asked for.

    Attributes
    ----------
    source : str
        What was routed.
    fabric : dict
        ``hosts``, ``switches``, ``cables``, ``lmc``, ``rates``, ``notes``, ``digest``.
    refused : dict
        Why an engine gave no tables, where all were tried.
    """

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

    def write(self, folder: str | Path, *, dump: bool = False) -> list[Path]:
        """Write ``report.html``, ``summary.json``, the fabric and every engine's tables into a folder, made if need be.

        Parameters
        ----------
        folder : path
            Where to.
        dump : bool, optional
            Also every engine's tables as the tools of a fabric print them, see `EngineRoutes.write`.

        Raises
        ------
        DiskError
            A file cannot be written.
        """
        from fabricsim.report.routes import write_routes_report

        target = Path(folder)
        with translate_disk_errors(target):
            target.mkdir(parents=True, exist_ok=True)
        written = [write_routes_report(self, target / "report.html"), target / "summary.json", target / "fabric.ibnetdiscover"]
        atomic_write(written[1], json.dumps(self.to_json(), indent=1))
        atomic_write(written[2], self._fabric.ibnetdiscover())
        return [*written, *(path for entry in self for path in entry.write(target, dump=dump))]

    def __repr__(self) -> str:
        """Return the source and the engines."""
        return f"RouteStudy({self.source!r}: {', '.join(entry.name for entry in self)})"


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


def open_fabric(source: str | Path | Study) -> tuple[_core.Fabric, str]:
    """Return the fabric of a study, a topology preset or a file of `ibnetdiscover`, and what to call it.

    Raises
    ------
    FileNotFoundError, StudyError
        There is nothing of that name, or it is wrong: where, why and what to do.
    """
    if isinstance(source, Study):
        return _core.fabric_of_run(source.expand().runs[0].canonical), source.name
    path = Path(source)
    if path.is_file() and path.suffix != ".toml":
        content = path.read_bytes()
        head = content[:65536].splitlines()
        if path.suffix == ".ibnetdiscover" or any(line.startswith(_MARKS) for line in head):
            return _core.fabric_of_file(content, str(path)), path.name
        topology = {"kind": "graph", "file": str(path.resolve())}
        return open_fabric(Study({"name": path.stem, "topology": topology}))
    try:
        find_study(source)
    except FileNotFoundError:
        if path.suffix or len(path.parts) > 1:
            raise
        return open_fabric(Study({"name": str(source), "topology": {"preset": str(source)}}))
    return open_fabric(load(source))


def _text(path: str | Path) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


def _removals(remove: Sequence[str | Path]) -> list[tuple[str, str]]:
    """Return removals as (lines, where they come from): a file's name stands for its lines."""
    found = [(_text(entry), str(entry)) for entry in remove if Path(entry).is_file()]
    lines = [str(entry) for entry in remove if not Path(entry).is_file()]
    return [*found, *([("\n".join(lines), "--remove")] if lines else [])]


def routes(
    source: str | Path | Study,
    *,
    engine: str | Sequence[str] = (),
    compare: bool = False,
    tables: str | Path | None = None,
    levels: str | Path | None = None,
    remove: Sequence[str | Path] = (),
    demand: str | Path | None = None,
    shift: int | None = None,
    rack: int | None = None,
    samples: int = 1000,
    seed: int = 1,
    lanes: int = 8,
    lmc: int | None = None,
    path: int = 0,
    roots: Sequence[str] = (),
    hottest: int = 10,
) -> RouteStudy:
    """Route a fabric by the engines of a subnet manager, or take its tables from a file, and tell what the tables are worth.

    Nothing is simulated: figures follow from the paths alone, and are fractions of a link's bandwidth.

    Parameters
    ----------
    source : path, str or Study
        A study (its first run's topology), a topology preset, a graph file, or the output of ``ibnetdiscover``.
    engine : str or sequence of str, optional
        ``"sssp"``, ``"dfsssp"``, ... (`fabricsim routes --list`); ``"minhop"`` where neither engines nor `tables` are given.
    compare : bool, optional
        All engines; those that refuse the fabric are listed with their reason.
    tables, levels : path, optional
        Tables from a file: fabricsim's own, or a dump by ``dump_lfts``, ``ibroute`` or OpenSM; service levels of the paths from
        OpenSM's path record dump.
    remove : sequence, optional
        What is broken: ``"switch NAME"``, ``"cable NAME PORT"``, ``"random COUNT SEED"``, or files of such lines.
    demand : path, optional
        A CSV file of ``source,destination,amount`` to lay over the channels; ``parx`` also weighs paths by it.
    shift : int, optional
        A shift to look at closely: host i sends to host i + shift.
    rack : int, optional
        Consecutive hosts of a rack, for mpiGraph within racks.
    samples, seed : int, optional
        Random matchings of the effective bisection bandwidth.
    lanes : int, optional
        Virtual lanes that engines may use.
    lmc : int, optional
        Addresses per host are ``2**lmc``; that of the fabric by default.
    path : int, optional
        Which of a host's addresses senders use.
    roots : sequence of str, optional
        Switches that are the roots of ``updn`` and ``ftree``.
    hottest : int, optional
        How many of the busiest channels are named.

    Returns
    -------
    RouteStudy
        An entry per engine with its figures and tables.

    Raises
    ------
    StudyError, FileNotFoundError
        Something of the input is wrong; ``error.diagnostics`` says where, why and what to do.

    Examples
    --------
    >>> import fabricsim as fs
    >>> ring = fs.Study({"name": "r", "topology": {"kind": "ring", "routers": 6, "nodes_per_router": 2}})
    >>> found = fs.routes(ring, engine=["minhop", "dfsssp"], samples=100)
    >>> found["minhop"].summary["deadlock_free"], found["dfsssp"].summary["deadlock_free"]
    (False, True)
    """
    fabric, name = open_fabric(source)
    if lmc is not None:
        fabric = fabric.with_lmc(lmc)
    for lines, where in _removals(remove):
        fabric = fabric.without(lines, where)
    engines = list(dict.fromkeys([engine] if isinstance(engine, str) else engine))
    if compare:
        engines += [entry["name"] for entry in route_engines() if entry["name"] not in engines]
    elif not engines and tables is None:
        engines = ["minhop"]
    questions: dict[str, Any] = {"samples": samples, "seed": seed, "path": path, "hottest": hottest}
    questions |= {key: value for key, value in (("shift", shift), ("rack", rack)) if value is not None}
    if demand is not None:
        questions["demand"] = {"file": str(demand), "text": _text(demand)}
    options = json.dumps({"lanes": lanes, "seed": seed, "roots": list(roots), "demand": questions.get("demand")})
    found = []
    if tables is not None:
        content = Path(tables).read_bytes()
        level_content = Path(levels).read_bytes() if levels is not None else None
        found.append(fabric.tables(content, str(tables), level_content, str(levels or "")))
    elif levels is not None:
        raise ValueError("levels are of tables: give the tables too")
    refused: dict[str, str] = {}
    for one in engines:
        try:
            found.append(fabric.route(one, options))
        except StudyError as error:
            if not compare:
                raise
            refused[one] = str(error)
    about = json.loads(fabric.about())
    switches, hosts = about["switch_names"], about["host_names"]
    entries: list[EngineRoutes] = []
    for made in found:
        figures = made.figures(json.dumps(questions))
        # An engine's tables of a file stand beside those that it computes.
        name_of = made.engine if made.engine not in [entry.name for entry in entries] else f"{made.engine}-again"
        entries.append(EngineRoutes(name_of, json.loads(figures.summary), json.loads(made.about), made, figures, switches, hosts))
    return RouteStudy(name, fabric, entries, questions, refused)


def route_engines() -> list[dict[str, Any]]:
    """Return the routing engines: name, one line, whether their paths are minimal and free of deadlock."""
    found: list[dict[str, Any]] = json.loads(_core.route_engines())
    return found
