"""What is drawn of a run: its network, the loads of its links, its jobs, and what is known of one link."""

from __future__ import annotations

import base64
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fabricsim._files import Seal
from fabricsim._seals import BrokenSeal, check, seal_of
from fabricsim._tables import read_arrow
from fabricsim.errors import DamagedError
from fabricsim.registry import picture
from fabricsim.view.folders import Missing, Watched
from fabricsim.view.loads import Loads, Places
from fabricsim.view.users import users

__all__ = ["Picture", "Pictures"]

#: Pictures that are kept, each with the tables of its run behind it.
_MOST_KEPT = 8
#: Tables that a picture or a click on it is drawn from.
_TABLES = ("links", "link_windows", "messages", "waits")


@dataclass(slots=True)
class Picture:
    """A run that is drawn.

    Attributes
    ----------
    network : dict
        As `registry.picture` has it.
    loads : Loads
        Of its links.
    tables : dict
        What else its run has recorded.
    label : str
        The run's name for people.
    """

    network: dict[str, Any]
    loads: Loads
    tables: dict[str, pa.Table]
    label: str

    def to_json(self) -> dict[str, Any]:
        """Return what a page needs to draw it: numbers of routers and links as base64 of little-endian arrays."""
        routers, links = self.network["routers"], self.network["links"]
        groups = [-1 if group is None else group for group in routers["group"]]
        return {
            "label": self.label,
            "routers": {
                "name": routers["name"],
                "x": _packed(routers["x"], "<f4"),
                "y": _packed(routers["y"], "<f4"),
                "group": _packed(groups, "<i4"),
                "nodes": _packed(routers["nodes"], "<u4"),
            },
            "groups": self.network["groups"],
            "links": {
                "router": _packed(links["router"], "<u4"),
                "port": _packed(links["port"], "<u4"),
                "peer": _packed(links["peer"], "<u4"),
                "class": _packed(links["class"], "<u1"),
                "name": _packed(links["name"], "<u4"),
            },
            "port_names": self.network["port_names"],
            "classes": self.network["classes"],
            "failed": self.network["failed"],
            "jobs": [{"name": job["name"], "routers": _packed(job["routers"], "<u4")} for job in self.network["jobs"]],
            "windows": self.loads.about() if self.loads.windows is not None else None,
            "whole": self.loads.whole is not None,
        }

    def of_link(self, router: int, port: int) -> dict[str, Any]:
        """Return what is known of a link: its ends, class, loads, and who uses it as far as the run has recorded that; raises `Missing`."""
        offsets = self.loads.places.offsets
        if not 0 <= router < len(offsets) - 1:
            raise Missing(f"there is no router {router}")
        names, links = self.network["routers"]["name"], self.network["links"]
        place, n_nodes = int(offsets[router]) + port, self.network["routers"]["nodes"][router]
        n_ports = int(offsets[router + 1] - offsets[router])
        if not 0 <= port < n_ports + n_nodes:
            raise Missing(f"router {names[router]} has no port {port}")
        node = self.network["routers"]["first_node"][router] + port - n_ports if port >= n_ports else None
        peer = links["peer"][place] if node is None else None
        link_class = self.network["classes"][links["class"][place] if node is None else 0]
        end = names[peer] if peer is not None else f"node {node}"
        by = self.network["port_names"][links["name"][place]] if node is None else f"to node {node}"
        return {
            "name": f"{names[router]} {by} \u2192 {end}"
            if node is None and by != f"to {end}"
            else f"{names[router]} \u2192 {end}",
            "class": link_class,
            # What fails with it, as a fork is asked for.
            "fails": {"cables": [f"{names[router]} {by}"]} if node is None else {"nodes": [node]},
            **self.loads.of_link(router, port),
            **users(self.network, self.tables, router, port, node),
        }


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values, dtype=kind).tobytes()).decode()


@dataclass(slots=True)
class Pictures:
    """The pictures that pages have asked for; the latest few are kept."""

    _kept: OrderedDict[tuple[str, str, str], Picture] = field(default_factory=OrderedDict)

    def get(self, watched: Watched, run: str) -> Picture:
        """Return the picture of a finished run of a folder; raises `Missing` or `DamagedError`."""
        entry = watched.entry(run)
        key = (watched.name, run, str(watched.rows[run]["summary"].get("digest")))
        if key not in self._kept:
            self._kept[key] = self._read(watched, entry)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]

    @staticmethod
    def _read(watched: Watched, entry: dict[str, Any]) -> Picture:
        runs = watched.root.place(watched.name) / "runs"
        record = watched.record(entry["id"])
        tables = {}
        for name in _TABLES:
            if name in record["tables"]:
                tables[name] = _read_table(watched.root.inside(runs / f"{entry['id']}.{name}.arrow"), record["tables"][name])
        network = picture(entry["canonical"])
        loads = Loads(Places.of(network), tables.pop("links", None), tables.pop("link_windows", None))
        return Picture(network, loads, tables, str(watched.rows[entry["id"]]["label"]))


def _read_table(path: Path, entry: dict[str, Any]) -> pa.Table:
    """Return a table that is as it was written; raises `DamagedError`."""
    try:
        if "sha256" in entry:
            check(path, Seal(entry["sha256"], entry["bytes"]), seal_of(path))
    except BrokenSeal as error:
        raise DamagedError(path, error.reason, "`--resume` runs it again") from None
    return read_arrow(path)
