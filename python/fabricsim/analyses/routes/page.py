"""The report of forwarding tables: one HTML file, drawn like that of a campaign."""

from __future__ import annotations

import base64
import json
import math
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._core import __version__
from fabricsim._files import atomic_write
from fabricsim.analyses.routes.figures import figures_row
from fabricsim.report import evenly, page
from fabricsim.report.script import joined

if TYPE_CHECKING:
    from fabricsim.analyses.routes.figures import EngineRoutes, RoutedFabric

__all__ = ["routes_data", "write_routes_report"]

#: Points of a curve.
_MOST_POINTS = 400
#: Switches up to which the network is drawn, and hosts up to which mpiGraph is.
_MOST_DRAWN, _MOST_GRAPH = 2000, 2048
#: Rows of the picture of mpiGraph.
_MOST_ROWS = 336


def _places(found: RoutedFabric, ends: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return places of the switches: the family's own, else levels above the switches with hosts, else a circle."""
    if found.layout:
        return found.layout
    count = int(found.fabric["switches"])
    level = [0 if switch in set(found.switch_of_host) else -1 for switch in range(count)]
    if all(at == 0 for at in level):
        return [(math.sin(2 * math.pi * i / count), -math.cos(2 * math.pi * i / count)) for i in range(count)]
    peers: list[list[int]] = [[] for _ in range(count)]
    for a, b in ends:
        peers[a].append(b)
    queue = deque(switch for switch in range(count) if level[switch] == 0)
    while queue:
        at = queue.popleft()
        for peer in peers[at]:
            if level[peer] < 0:
                level[peer] = level[at] + 1
                queue.append(peer)
    places: list[tuple[float, float]] = [(0.0, 0.0)] * count
    for height in range(max(level) + 1):
        row = [switch for switch in range(count) if level[switch] == height]
        for place, switch in enumerate(row):
            places[switch] = ((place + 0.5) / len(row), -0.4 * height)
    return places


def _graph(entry: EngineRoutes) -> dict[str, Any] | None:
    """Return mpiGraph as bytes: 0 to 250 is the share of a link, 255 has none; rows are means of several hosts in large fabrics."""
    hosts = int(entry.summary["hosts"])
    if not 2 <= hosts <= _MOST_GRAPH:
        return None
    graph = entry.mpi_graph().astype(float)
    step = math.ceil(hosts / _MOST_ROWS)
    if step > 1:
        rows = math.ceil(hosts / step)
        padded = np.full((rows * step, rows * step), np.nan)
        padded[:hosts, :hosts] = graph
        blocks = padded.reshape(rows, step, rows, step)
        told = ~np.isnan(blocks)
        graph = np.where(told, blocks, 0).sum(axis=(1, 3)) / np.maximum(told.sum(axis=(1, 3)), 1)
    packed = np.where(np.isnan(graph), 255, np.clip(np.nan_to_num(graph) * 250, 0, 250).round()).astype(np.uint8)
    return {"rows": len(packed), "step": step, "cells": base64.b64encode(packed.tobytes()).decode()}


def _entry(entry: EngineRoutes, drawn: bool) -> dict[str, Any]:
    channels = entry.arrow("channels")
    paths = channels.column("paths").to_numpy().astype(float)
    ordered = np.sort(paths)[::-1]
    chosen = evenly(len(ordered), _MOST_POINTS)
    shifts = entry.arrow("shifts")
    at = evenly(shifts.num_rows, _MOST_POINTS)
    found: dict[str, Any] = {
        "name": entry.name,
        "row": figures_row(entry),
        "about": entry.about,
        "summary": entry.summary,
        "loads": [[float(f"{100 * (i + 1) / len(ordered):.4g}") for i in chosen], [float(ordered[i]) for i in chosen]],
        "shifts": [
            [float(value) for value in shifts.column(name).to_numpy()[at].round(4)]
            for name in ("shift", "mean_share", "max_congestion")
        ],
        "graph": _graph(entry),
    }
    if drawn:
        most = max(1.0, float(paths.max(initial=0)))
        found["use"] = base64.b64encode((paths / most * 250).round().astype(np.uint8).tobytes()).decode()
        found["most"] = most
    return found


def routes_data(found: RoutedFabric) -> dict[str, Any]:
    """Return everything that the page shows, as JSON.

    Parameters
    ----------
    found : RouteStudy
        What was routed.
    """
    drawn = int(found.fabric["switches"]) <= _MOST_DRAWN
    network = None
    if drawn and len(found):
        channels = found[0].arrow("channels")
        place = {name: i for i, name in enumerate(found.switch_names)}
        ends = [(place[a], place[b]) for a, b in zip(channels["from"].to_pylist(), channels["to"].to_pylist(), strict=True)]
        hosts = np.bincount(found.switch_of_host, minlength=len(found.switch_names))
        places = _places(found, ends)
        network = {
            "routers": [[i, name, *map(float, places[i]), int(hosts[i])] for i, name in enumerate(found.switch_names)],
            "ends": ends,
        }
    asked = {key: value if key != "demand" else value["file"] for key, value in found.questions.items()}
    return {
        "source": found.source,
        "fabric": found.fabric,
        "engines": [_entry(entry, drawn) for entry in found],
        "refused": found.refused,
        "network": network,
        "provenance": {
            "version": __version__,
            "source": found.source,
            "fabric": found.fabric["digest"],
            "asked": json.dumps(asked),
        },
    }


def write_routes_report(found: RoutedFabric, path: str | Path) -> Path:
    """Write the page as one HTML file.

    Raises
    ------
    DiskError
        The file cannot be written.
    """
    target = Path(path)
    last = 'modules["analyses/routes/page.js"].drawRoutes(modules["report/js/elements.js"].embedded());'
    script = joined(["analyses/routes/page.js"], last)
    atomic_write(target, page(f"{found.source}: routes", script, routes_data(found)))
    return target
