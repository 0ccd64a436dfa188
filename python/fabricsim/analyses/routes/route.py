"""Forwarding tables of a fabric without a simulation: engines or imported tables in, figures, tables and a report out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabricsim import _core
from fabricsim._files import atomic_write, translate_disk_errors
from fabricsim.analyses.routes.defaults import LANES, SAMPLES, TORUS
from fabricsim.analyses.routes.figures import EngineRoutes, RoutedFabric
from fabricsim.errors import StudyError
from fabricsim.study import Study, find_study, load

__all__ = ["RouteStudy", "open_fabric", "route_engines", "routes"]

#: Lines by which the output of ibnetdiscover is known.
_MARKS = (b"vendid=", b"devid=", b"sysimgguid=", b"switchguid=", b"caguid=", b"Switch\t", b"Switch ", b"Ca\t", b"Ca ")


class RouteStudy(RoutedFabric):
    """What `routes` found: one entry per engine, in the order asked for.

    Attributes
    ----------
    source : str
        What was routed.
    fabric : dict
        ``hosts``, ``switches``, ``cables``, ``lmc``, ``rates``, ``notes``, ``digest``.
    refused : dict
        Why an engine gave no tables, where others did or all were tried.
    """

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
        from fabricsim.analyses.routes.page import write_routes_report

        target = Path(folder)
        with translate_disk_errors(target):
            target.mkdir(parents=True, exist_ok=True)
        written = [write_routes_report(self, target / "report.html"), target / "summary.json", target / "fabric.ibnetdiscover"]
        atomic_write(written[1], json.dumps(self.to_json(), indent=1))
        atomic_write(written[2], self._fabric.ibnetdiscover())
        return [*written, *(path for entry in self for path in entry.write(target, dump=dump))]


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
    samples: int = SAMPLES,
    seed: int = 1,
    lanes: int = LANES,
    lmc: int | None = None,
    path: int = 0,
    roots: Sequence[str] = (),
    torus: str | Path | None = None,
    hottest: int = 10,
) -> RouteStudy:
    """Route a fabric by the engines of a subnet manager, or take its tables from a file, and tell what the tables are worth.

    Nothing is simulated: figures follow from the paths alone, and are fractions of a link's bandwidth.

    Parameters
    ----------
    source : path, str or Study
        A study (its first run's topology), a topology preset, a graph file, or the output of ``ibnetdiscover``.
    engine : str or sequence of str, optional
        ``"sssp"``, ``"dfsssp"``, ... (`fabricsim routes --list`); ``"minhop"`` where neither engines nor `tables` are given. Of
        several, those that refuse the fabric are listed with their reason (`RouteStudy.refused`).
    compare : bool, optional
        All engines, also if all of them refuse.
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
    torus : path, optional
        A ``torus-2QoS.conf`` of OpenSM, by which ``torus-2qos`` knows which switch is where; by default by the cables.
    hottest : int, optional
        How many of the busiest channels are named.

    Returns
    -------
    RouteStudy
        An entry per engine with its figures and tables.

    Raises
    ------
    StudyError, FileNotFoundError
        Something of the input is wrong, or no engine that was asked for gives tables; ``error.diagnostics`` says where, why and
        what to do.

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
    known = [entry["name"] for entry in route_engines()]
    if compare:
        engines += [name for name in known if name not in engines]
    elif not engines and tables is None:
        engines = ["minhop"]
    questions: dict[str, Any] = {"samples": samples, "seed": seed, "path": path, "hottest": hottest}
    questions |= {key: value for key, value in (("shift", shift), ("rack", rack)) if value is not None}
    if demand is not None:
        questions["demand"] = {"file": str(demand), "text": _text(demand)}
    if torus is not None and TORUS not in engines:
        raise ValueError(f"a torus is told to {TORUS}: give it as an engine")
    told = {"file": str(torus), "text": _text(torus)} if torus is not None else None
    choices = {"lanes": lanes, "seed": seed, "roots": list(roots), "demand": questions.get("demand"), "torus": told}
    options = json.dumps(choices)
    found = []
    if tables is not None:
        content = Path(tables).read_bytes()
        level_content = Path(levels).read_bytes() if levels is not None else None
        found.append(fabric.tables(content, str(tables), level_content, str(levels or "")))
    elif levels is not None:
        raise ValueError("levels are of tables: give the tables too")
    refused: dict[str, StudyError] = {}
    for one in engines:
        try:
            found.append(fabric.route(one, options))
        except StudyError as error:
            if one not in known:
                raise
            refused[one] = error
    if refused and not found and not compare:
        raise next(iter(refused.values()))
    about = json.loads(fabric.about())
    switches, hosts = about["switch_names"], about["host_names"]
    entries: list[EngineRoutes] = []
    for made in found:
        figures = made.figures(json.dumps(questions))
        # An engine's tables of a file stand beside those that it computes.
        name_of = made.engine if made.engine not in [entry.name for entry in entries] else f"{made.engine}-again"
        entries.append(EngineRoutes(name_of, json.loads(figures.summary), json.loads(made.about), made, figures, switches, hosts))
    return RouteStudy(name, fabric, entries, questions, {one: str(error) for one, error in refused.items()})


def route_engines() -> list[dict[str, Any]]:
    """Return the routing engines: name, one line, whether their paths are minimal and free of deadlock."""
    found: list[dict[str, Any]] = json.loads(_core.route_engines())
    return found
