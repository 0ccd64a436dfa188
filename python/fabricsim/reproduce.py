"""Reproducing published studies: claims judged, figures drawn as the study's `[reproduce]` table declares them.

``[[reproduce.figure]]`` has `id`, `kind` (``sweep``, ``bars``, ``cdf``, ``links``, ``hops`` or ``network``), `title`, and for each kind
what to draw: `experiment`, `where`, `x`, `y`, `group`, `speedup`, `table`, `column`, of bars `panels`, `only`, `over`, `experiments`. Without figures a sensible set is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._seals import products
from fabricsim.claims import ClaimError, ClaimVerdict, judge, validate_claims
from fabricsim.measures import MeasureError, select
from fabricsim.registry import describe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim._recorded import Recorded
    from fabricsim._runs import Expansion

__all__ = ["check_claims", "declared_figures", "drawn_figures", "judge_results", "undrawn_figures", "write_figures"]

_KEYS = {
    "sweep": {"x", "y", "group", "speedup", "experiment", "where"},
    "bars": {"x", "y", "group", "panels", "only", "over", "experiments", "where"},
    "cdf": {"experiment", "where", "table", "column"},
    "links": {"experiment", "where"},
    "hops": {"experiment", "where"},
    "network": {"experiment", "where"},
}
_COMMON = {"id", "kind", "title", "paper"}


def declared_figures(reproduce: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures that a study declares, refusing what cannot be drawn.

    Raises
    ------
    ClaimError
        A figure is not well formed; the message says which key and why.
    """
    found: list[dict[str, Any]] = []
    figures = reproduce.get("figure", reproduce.get("figures", []))
    if not isinstance(figures, list):
        raise ClaimError("reproduce.figure: write [[reproduce.figure]] tables")
    for number, figure in enumerate(figures):
        if not isinstance(figure, dict):
            raise ClaimError(f"reproduce.figure {number + 1}: write a table")
        name = str(figure.get("id") or f"figure-{number + 1}")
        kind = str(figure.get("kind") or "sweep")
        if kind not in _KEYS:
            raise ClaimError(f"figure {name}: kind = {kind!r}; there are: {', '.join(_KEYS)}")
        unknown = sorted(set(figure) - _KEYS[kind] - _COMMON)
        if unknown:
            raise ClaimError(f"figure {name}: unknown key `{unknown[0]}`; there are: {', '.join(sorted(_KEYS[kind] | _COMMON))}")
        if "/" in name or name.startswith("."):
            raise ClaimError(f"figure {name}: an id is a file name without a folder")
        found.append({**figure, "id": name, "kind": kind})
    return found


def check_claims(plan: Expansion) -> None:
    """Refuse a study whose claims or figures are not well formed, before anything is run.

    Raises
    ------
    ClaimError
        Says which and why.
    """
    validate_claims(plan.claims)
    declared_figures(plan.reproduce)


def judge_results(results: Recorded) -> list[ClaimVerdict]:
    """Judge the study's claims and write them to `claims.json` for the report; raises `DiskError`."""
    claims = results.manifest["study"].get("claims") or []
    verdicts = judge(claims, results)
    with products(results.folder) as out:
        if verdicts:
            out.write("claims.json", json.dumps([verdict.to_dict() for verdict in verdicts], indent=1))
        else:
            out.remove("claims.json")
    return verdicts


def _defaults(results: Recorded) -> list[dict[str, Any]]:
    figures: list[dict[str, Any]] = []
    for experiment in results.experiments:
        prefix = f"{experiment}-" if experiment else ""
        if results.swept_keys(experiment):
            figures += [
                {"id": f"{prefix}latency", "kind": "sweep", "y": "latency_ns.mean", "experiment": experiment},
                {"id": f"{prefix}accepted-load", "kind": "sweep", "y": "accepted_load", "experiment": experiment},
                {"id": f"{prefix}throughput", "kind": "sweep", "y": "throughput_MiBps.mean", "experiment": experiment},
            ]
        figures.append({"id": f"{prefix}latency-cdf", "kind": "cdf", "experiment": experiment})
        figures += [{"id": f"{prefix}{kind}", "kind": kind, "experiment": experiment} for kind in ("links", "hops")]
    return figures


def _draw(results: Recorded, figure: Mapping[str, Any]) -> Figure:
    from fabricsim import plots

    where, experiment, title = figure.get("where"), figure.get("experiment"), figure.get("title")
    if variant := results.manifest.get("variant"):
        title = f"{title or figure['id']} (variant {variant})"
    match figure["kind"]:
        case "sweep":
            return plots.sweep(
                results,
                x=figure.get("x"),
                y=str(figure.get("y", "latency_ns.mean")),
                group=figure.get("group"),
                speedup=figure.get("speedup"),
                experiment=experiment,
                where=where,
                title=title,
            )
        case "bars":
            return plots.bars(
                results,
                x=list(figure.get("x", [])),
                y=str(figure.get("y", "jobs.0.time_ns")),
                group=figure.get("group", ""),
                panels=figure.get("panels"),
                only=figure.get("only"),
                over=figure.get("over"),
                experiments=figure.get("experiments"),
                where=where,
                title=title,
            )
        case "cdf":
            return plots.cdf(
                results,
                experiment=experiment,
                where=where,
                table=str(figure.get("table", "cdf")),
                column=figure.get("column"),
                title=title,
            )
        case "links":
            # Of the chosen runs the last one: the largest or most loaded in a sweep as people write them.
            return plots.links(results, run=select(results, experiment=experiment, where=where)[-1].id, title=title)
        case "network":
            network = describe(select(results, experiment=experiment, where=where)[-1].run.canonical)
            return plots.network({**network, "name": title or network.get("name", "")})
        case _:
            return plots.hops(results, run=select(results, experiment=experiment, where=where)[-1].id, title=title)


#: Which figures could not be drawn, and why, for the report.
UNDRAWN = "undrawn.json"


def drawn_figures(results: Recorded, undrawn: dict[str, str]) -> Iterator[tuple[str, Figure]]:
    """Yield the study's figures by their ids, or the default set, one in memory at a time.

    Parameters
    ----------
    results : Results
        Complete or not. Figures of experiments that a variant leaves out are left out; of the default set only what the results have
        is drawn.
    undrawn : dict
        Gets the declared figures that cannot be drawn, with the reasons.
    """
    declared: list[dict[str, Any]] = []
    try:
        declared = declared_figures(results.manifest["study"].get("reproduce") or {})
    except ClaimError as error:
        undrawn["figures"] = str(error)
    planned = {run["experiment"] for run in results.manifest["runs"]}
    for figure in declared or _defaults(results):
        named = figure.get("experiments") or ([figure["experiment"]] if figure.get("experiment") else [])
        if named and planned.isdisjoint(named):
            continue
        try:
            drawing = _draw(results, figure)
        except (MeasureError, KeyError, ValueError, TypeError, IndexError, ArithmeticError) as error:
            if declared:
                undrawn[figure["id"]] = str(error.args[0] if error.args else error)
            continue
        yield str(figure["id"]), drawing


def write_figures(results: Recorded) -> list[Path]:
    """Write the study's figures as SVG and PNG into `figures/` and return the paths.

    A declared figure that cannot be drawn takes no other with it: `undrawn.json` says why, and the report repeats it. Figures of
    experiments that a variant leaves out are left out; of the default set only what the results have is drawn.

    Raises
    ------
    DiskError
        The files cannot be written.
    """
    from fabricsim import plots

    drawn: list[tuple[str, bytes]] = []
    undrawn: dict[str, str] = {}
    for key, drawing in drawn_figures(results, undrawn):
        drawn += [(f"figures/{key}.{kind}", plots.render(drawing, kind)) for kind in ("svg", "png")]
    with products(results.folder) as out:
        for key in undrawn:
            for kind in ("svg", "png"):
                out.remove(f"figures/{key}.{kind}")
        if undrawn:
            out.write(UNDRAWN, json.dumps(undrawn, indent=1))
        else:
            out.remove(UNDRAWN)
        return [out.write(name, content) for name, content in drawn]


def undrawn_figures(results: Recorded) -> dict[str, str]:
    """Return the figures that could not be drawn when they were last asked for, with the reasons."""
    content = results.product(UNDRAWN)
    try:
        found = json.loads(content) if content is not None else {}
    except ValueError:
        found = {}
    return {str(key): str(why) for key, why in found.items()} if isinstance(found, dict) else {}
