"""The report: one HTML file that holds everything and needs no network, light enough to mail."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._build import build_words
from fabricsim._cables import LinkNames, numbered
from fabricsim._figures import MAIN, all_figures, column_label, documented_key, numbers
from fabricsim._files import atomic_write
from fabricsim._seals import products
from fabricsim._units import speculation_line
from fabricsim.analyses import ANALYSES
from fabricsim.errors import DamagedWarning
from fabricsim.registry import describe
from fabricsim.report.answers import answers
from fabricsim.report.script import joined

if TYPE_CHECKING:
    import pyarrow as pa

    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["offered_metrics", "page", "report_data", "write_report"]

#: So many runs are embedded at most; runs.parquet has all.
_MOST_RUNS = 5000
#: Curves longer than this are thinned out.
_MOST_POINTS = 200
#: Link loads of so many links are embedded at most, over all runs.
_MOST_LINKS = 400_000
#: Distributions, hop counts and timelines of so many runs are embedded at most.
_MOST_CURVES = 400
_HOTTEST = 10
#: Columns of the curves of a run.
_CURVES = {
    "cdf": ("latency_ns", "fraction"),
    "hops": ("hops", "packets"),
    "timeline": ("time_ns", "accepted_load", "mean_latency_ns"),
}


def _rounded(values: Any, digits: int = 5) -> list[float | None]:
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]


def evenly(rows: int, most: int) -> np.ndarray:
    """Return the places of at most so many rows, evenly chosen, the first and the last among them."""
    # They lie a row or more apart, so that none comes twice; `np.unique` would load `numpy.ma`.
    return np.linspace(0, rows - 1, min(rows, most)).round().astype(int)


def _thin(table: pa.Table, names: tuple[str, ...]) -> list[list[float | None]]:
    keep = evenly(table.num_rows, _MOST_POINTS)
    return [_rounded(table.column(name).to_numpy()[keep]) for name in names]


def _pack(values: Any) -> str:
    """Return fractions as base64 of bytes: 0 is idle, 250 is full, 255 is unknown."""
    scaled = np.clip(np.asarray(values, dtype=float) * 250, 0, 254).round().astype(np.uint8)
    return base64.b64encode(scaled.tobytes()).decode()


def _pack_ends(routers: np.ndarray, peers: np.ndarray) -> str:
    """Return the two routers of each link as base64 of four bytes each, the least first."""
    return base64.b64encode(np.stack((routers, peers), axis=1).astype("<u4").tobytes()).decode()


class _Networks:
    """The drawings of the networks that the runs use, each embedded once, and the names of the links that the runs tell."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._by_key: dict[str, int | None] = {}
        #: Of each one found a run, and what it is described with.
        self._described: list[tuple[str, dict[str, Any]]] = []
        #: Of each one found the links to name: router, port, and what takes the name as its first entry.
        self._unnamed: list[list[tuple[int, int, list[Any]]]] = []

    def index(self, record: RunRecord) -> int | None:
        """Return the place of a run's network in `found`, or None where it is too large to draw."""
        key = json.dumps(record.run.topology, sort_keys=True)
        if key not in self._by_key:
            network = describe(record.run.canonical, links=())
            if "routers" not in network:
                self._by_key[key] = None
            else:
                self._by_key[key] = len(self.found)
                self.found.append(
                    {
                        "name": network.get("name", ""),
                        "metrics": network.get("metrics", {}),
                        "routers": [
                            [r["id"], str(r["name"]), float(r["x"]), float(r["y"]), r.get("nodes", 0)] for r in network["routers"]
                        ],
                    }
                )
                self._described.append((record.run.canonical, network))
                self._unnamed.append([])
        return self._by_key[key]

    def name_later(self, index: int, router: int, port: int, entry: list[Any]) -> None:
        """Put the name of a link in front of an entry, in `name_links`."""
        self._unnamed[index].append((router, port, entry))

    def name_links(self) -> None:
        """Name all links that were asked for: what a network of 200,000 links is described with is ten of them."""
        for (canonical, network), unnamed in zip(self._described, self._unnamed, strict=True):
            ports = sorted({(router, port) for router, port, _ in unnamed})
            names = LinkNames({**network, "links": describe(canonical, links=ports)["links"]})
            for router, port, entry in unnamed:
                entry[0] = names.get(router, port) or entry[0]


def _links(record: RunRecord, results: Recorded, networks: _Networks, room: int) -> tuple[dict[str, Any] | None, int]:
    if "links" not in record.tables:
        return None, 0
    table = results.links(record)
    router, port = table.column("router").to_numpy(), table.column("port").to_numpy()
    peer, use = table.column("peer_router").to_numpy(), table.column("utilisation").to_numpy()
    if not len(use):
        return None, 0
    index = networks.index(record)
    order = np.lexsort((port, router, -use))[:_HOTTEST]
    hottest = [
        [numbered(int(router[i]), int(port[i]), int(peer[i])), float(f"{use[i]:.4g}"), int(router[i]), int(peer[i])]
        for i in order
    ]
    if index is not None:
        for i, entry in zip(order, hottest, strict=True):
            networks.name_later(index, int(router[i]), int(port[i]), entry)
    # As `np.quantile`, which would load `numpy.ma`.
    quantiles = np.interp(np.array([0, 0.25, 0.5, 0.75, 0.95, 1]) * (len(use) - 1), np.arange(len(use)), np.sort(use))
    found: dict[str, Any] = {
        "hottest": hottest,
        "quantiles": _rounded(quantiles, 4),
        "mean": float(f"{use.mean():.4g}"),
        "histogram": [int(n) for n in np.histogram(use, bins=20, range=(0, 1))[0]],
    }
    cost = 0
    if index is not None and len(use) <= room:
        network = networks.found[index]
        routers = [entry[0] for entry in network["routers"]]
        # One place more, for what is none of them.
        known = np.zeros(max(routers, default=-1) + 2, dtype=bool)
        known[routers] = True
        a, b = (np.minimum(end, len(known) - 1) for end in (router, peer))
        drawn = known[a] & known[b] & (router != peer)
        ends = _pack_ends(router[drawn], peer[drawn])
        network.setdefault("ends", ends)
        if network["ends"] == ends:
            found |= {"network": index, "use": _pack(use[drawn])}
            cost = int(drawn.sum())
    return found, cost


def _figures(results: Recorded) -> list[dict[str, str]]:
    """Return the figures that the study declares and that have been drawn, as images that need no file."""
    from fabricsim.claims import ClaimError
    from fabricsim.reproduce import declared_figures, undrawn_figures

    found = []
    try:
        declared = declared_figures(results.manifest["study"].get("reproduce") or {})
    except ClaimError:
        declared = []
    undrawn = undrawn_figures(results)
    for figure in declared:
        image = _image(results, f"figures/{figure['id']}.png")
        if image is not None:
            title = ": ".join(str(part) for part in (figure.get("paper"), figure.get("title") or figure["id"]) if part)
            found.append({"title": title, "image": image})
    titles = {figure["id"]: str(figure.get("title") or figure["id"]) for figure in declared}
    found += [{"title": titles.get(key, key), "missing": why} for key, why in undrawn.items()]
    return found + _of_analyses(results)


def _of_analyses(results: Recorded) -> list[dict[str, str]]:
    """Return the figures of analyses that have been drawn."""
    found = []
    for name, title in ((name, title) for analysis in ANALYSES for name, title in analysis.pictures.items()):
        for path in sorted((results.folder / "figures").glob(f"{name}*.png")):
            image = _image(results, f"figures/{path.name}")
            if image is not None:
                found.append({"title": title, "image": image})
    return found


def _image(results: Recorded, name: str) -> str | None:
    content = results.product(name)
    return "data:image/png;base64," + base64.b64encode(content).decode() if content is not None else None


def _products(results: Recorded) -> dict[str, Any]:
    """Return what sections of analyses are drawn from, by name of the analysis, of those that have been made."""
    found: dict[str, Any] = {}
    for analysis in ANALYSES:
        content = results.product(analysis.product) if analysis.product else None
        if content is None:
            continue
        try:
            found[analysis.name] = json.loads(content)
        except ValueError:
            warnings.warn(f"{results.folder / analysis.product} is not used: it is no JSON", DamagedWarning, stacklevel=2)
    return found


def _claims(results: Recorded) -> list[dict[str, Any]]:
    """Return the claims as they were judged on these results, none where they were not."""
    content = results.product("claims.json")
    try:
        found = json.loads(content) if content is not None else []
    except ValueError:
        found = None
    if not isinstance(found, list):
        warnings.warn(f"{results.folder / 'claims.json'} is not used: it is no list of claims", DamagedWarning, stacklevel=2)
        return []
    return found


def _speculation(results: Recorded) -> str:
    """Say what the first run that was run ahead had to mend."""
    found = ((record.summary.get("execution") or {}).get("speculation") for record in results.records)
    first = next((did for did in found if did), None)
    return speculation_line(first) if first else ""


def _words() -> dict[str, dict[str, str]]:
    """Return word, unit, and what several seeds have together, of every figure."""
    return {key: {"word": found.word, "unit": found.unit, "seeds": found.seeds} for key, found in all_figures().items()}


def offered_metrics(records: Sequence[RunRecord]) -> tuple[list[str], list[str]]:
    """Return the keys of the numbers that some run has or has a bound of: those of tables, and the others in the order of their documentation.

    The time of the first job is one of tables where the job is of MPI ranks.
    """
    had: set[str] = set()
    for record in records:
        had |= numbers(record.summary).keys()
    main = [key for key in MAIN if key in had and (key != "jobs.0.time_ns" or "jobs.0.ranks" in had)]
    order = {key: place for place, key in enumerate(all_figures())}
    return main, sorted(had - set(main), key=lambda key: (order[documented_key(key)], len(key), key))


def report_data(results: Recorded) -> dict[str, Any]:
    """Return everything that the report shows, as JSON: a function of the results directory alone.

    Parameters
    ----------
    results : Results
        Complete or not.
    """
    networks = _Networks()
    runs: list[dict[str, Any]] = []
    room = _MOST_LINKS
    for number, record in enumerate(results.records[:_MOST_RUNS]):
        entry: dict[str, Any] = {
            "id": record.id,
            "experiment": record.run.experiment,
            "seed": record.run.seed,
            "sweep": [list(pair) for pair in record.run.sweep],
            "label": record.label,
            "ok": record.ok,
            "summary": record.summary,
        }
        if number < _MOST_CURVES:
            for name, columns in _CURVES.items():
                if name in record.tables:
                    entry[name] = _thin(results.table(name, record), columns)
        entry["operations"] = "operations" in record.tables
        entry["links"], cost = _links(record, results, networks, room)
        room -= cost
        runs.append(entry)
    networks.name_links()
    manifest = results.manifest
    main, others = offered_metrics(results.records[:_MOST_RUNS])
    return {
        "version": manifest["version"],
        "study": {"name": results.name, "description": manifest["study"].get("description", "")},
        "provenance": {
            "build": build_words(manifest["build"]) if "build" in manifest else f"{manifest['version']}, not sealed",
            "study hash": manifest["study_hash"],
            "study file": Path(manifest["study_file"]).name,
            "variant": manifest.get("variant") or "",
            "overrides": ", ".join(f"{key}={value}" for key, value in manifest.get("sets") or []),
            "command": manifest.get("command") or "",
            "created": manifest["created"],
            "engine": ", ".join(dict.fromkeys(str(record.summary.get("engine", "")) for record in results.records)),
            "speculation": _speculation(results),
            **{str(key): str(value) for key, value in manifest["host"].items()},
        },
        "source": manifest["study_source"],
        "total_runs": len(manifest["runs"]),
        "finished_runs": len(results),
        "answers": [answer.to_json() for answer in answers(results)],
        "state": results.state,
        "ok": results.ok,
        "claims": _claims(results),
        "figures": _figures(results),
        "products": _products(results),
        "networks": networks.found,
        "words": _words(),
        "columns": {name: [column_label(name, column) for column in columns] for name, columns in _CURVES.items()},
        "metrics": [*main, *others],
        "main": main,
        "runs": runs,
    }


def _embed(data: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write_report(results: Recorded, path: str | Path | None = None) -> Path:
    """Write the interactive report as one HTML file.

    Parameters
    ----------
    results : Results
        What to show.
    path : path, optional
        ``report.html`` in the results directory by default.

    Raises
    ------
    DiskError
        The file cannot be written.
    """
    text = page(results.name, _script(), report_data(results))
    if path is not None:
        atomic_write(Path(path), text)
        return Path(path)
    with products(results.folder) as out:
        return out.write("report.html", text)


def _script() -> str:
    """Return what draws the page of a campaign, with the sections of analyses."""
    campaign, elements = "report/js/campaign.js", "report/js/elements.js"
    sections = {f"analyses/{analysis.name}/section.js": f"{analysis.name}Section" for analysis in ANALYSES if analysis.section}
    drawn = ", ".join(f'modules["{path}"].{name}' for path, name in sections.items())
    last = f'modules["{campaign}"].drawCampaign(modules["{elements}"].embedded(), [{drawn}]);'
    return joined([campaign, elements, *sections], last)


def page(title: str, script: str, data: Mapping[str, Any]) -> str:
    """Return a page that holds its data, style and scripts.

    Parameters
    ----------
    title : str
        Of the page.
    script : str
        What draws it; it reads the data from the element ``data``.
    data : mapping
        What the script reads, as JSON.
    """
    from html import escape

    here = files("fabricsim.report")
    text = (here / "template.html").read_text(encoding="utf-8")
    text = text.replace("/*STYLE*/", (here / "report.css").read_text(encoding="utf-8"))
    text = text.replace("<!--TITLE-->", escape(title))
    return text.replace("/*SCRIPT*/", script).replace("/*DATA*/", _embed(data))
