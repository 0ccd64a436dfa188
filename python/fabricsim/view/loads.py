"""Loads of a run's links, over the whole run and over time, in the order of the links of its picture, as bytes that a page draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FULL", "NO_ROUTER", "Loads", "Places"]

#: A link that was busy all the time as a byte, as scripts of the report have it.
FULL = 250
#: At the end of a link is a node.
NO_ROUTER = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Places:
    """Where links stand in the order of a picture: those between routers by router and port, then a place for each router's own nodes.

    Attributes
    ----------
    offsets : array
        Of each router the place of its first link, and the number of links at last.
    """

    offsets: np.ndarray[Any, Any]

    @classmethod
    def of(cls, picture: dict[str, Any]) -> Places:
        """Return the places of the links of a picture as `registry.picture` has it."""
        routers = np.asarray(picture["links"]["router"], dtype=np.int64)
        return cls(np.searchsorted(routers, np.arange(len(picture["routers"]["name"]) + 1)))

    @property
    def count(self) -> int:
        """Links between routers, and routers."""
        return int(self.offsets[-1]) + len(self.offsets) - 1

    def find(self, router: np.ndarray[Any, Any], port: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the places of links by router and port; links to nodes are in the place of their router."""
        router = router.astype(np.int64)
        first, end = self.offsets[router], self.offsets[router + 1]
        found: np.ndarray[Any, Any] = np.where(port < end - first, first + port, self.offsets[-1] + router)
        return found


@dataclass(slots=True)
class Loads:
    """The loads of a run.

    Attributes
    ----------
    places : Places
        Of its links.
    whole, windows : table, optional
        The run's tables ``links`` and ``link_windows``, where it has recorded them.
    """

    places: Places
    whole: pa.Table | None
    windows: pa.Table | None
    _starts: np.ndarray[Any, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Find where windows begin in their table."""
        numbers = self._column("window") if self.windows is not None else np.zeros(0, dtype=np.uint32)
        count = int(numbers[-1]) + 1 if len(numbers) else 0
        self._starts = np.searchsorted(numbers, np.arange(count + 1))

    def _column(self, name: str) -> np.ndarray[Any, Any]:
        assert self.windows is not None
        found: np.ndarray[Any, Any] = self.windows.column(name).to_numpy()
        return found

    @property
    def count(self) -> int:
        """Windows, those in which nothing was sent among them."""
        return len(self._starts) - 1

    def about(self) -> dict[str, Any]:
        """Return when windows begin and end (ns), how busy links between routers were in them in the mean and at most."""
        begins, ends, means, most = [], [], [], []
        length = self._length()
        n_links = max(1, int(self.places.offsets[-1]))
        for number in range(self.count):
            rows = slice(self._starts[number], self._starts[number + 1])
            use = self._column("utilisation")[rows]
            between = self.places.find(self._column("router")[rows], self._column("port")[rows]) < self.places.offsets[-1]
            begins.append(number * length)
            ends.append(float(self._column("end_ns")[rows][0]) if len(use) else (number + 1) * length)
            means.append(round(float(use[between].sum()) / n_links, 4))
            most.append(round(float(use[between].max()), 4) if between.any() else 0.0)
        return {"begin_ns": begins, "end_ns": ends, "mean": means, "most": most}

    def _length(self) -> float:
        """Return how long windows are (ns): all but the last are as long."""
        if not self.count:
            return 0.0
        last = self._column("window")[-1]
        begin = self._column("time_ns")[-1]
        return float(begin / last) if last else float(self._column("end_ns")[-1])

    def packed(self, first: int, count: int) -> bytes:
        """Return a byte for each link and router of so many windows, or of the whole run where `first` is below zero."""
        if first < 0:
            if self.whole is None:
                return b""
            columns = [self.whole.column(name).to_numpy() for name in ("router", "port", "utilisation")]
            return self._bytes(*columns)
        parts = []
        for number in range(first, min(first + count, self.count)):
            rows = slice(self._starts[number], self._starts[number + 1])
            parts.append(self._bytes(*(self._column(name)[rows] for name in ("router", "port", "utilisation"))))
        return b"".join(parts)

    def _bytes(self, router: np.ndarray[Any, Any], port: np.ndarray[Any, Any], use: np.ndarray[Any, Any]) -> bytes:
        found = np.zeros(self.places.count, dtype=np.uint8)
        # What was busy at all is not idle, and of a router's links to nodes the busiest one counts.
        scaled = np.where(use > 0, np.clip(np.round(use * FULL), 1, FULL), 0).astype(np.uint8)
        np.maximum.at(found, self.places.find(router, port), scaled)
        return found.tobytes()

    def of_link(self, router: int, port: int) -> dict[str, Any]:
        """Return what the tables say of one link: ``whole``, and its utilisation in every ``windows``."""
        found: dict[str, Any] = {"whole": None, "windows": None}
        if self.whole is not None:
            rows = np.flatnonzero(
                (self.whole.column("router").to_numpy() == router) & (self.whole.column("port").to_numpy() == port)
            )
            names = ("utilisation", "packets", "bytes")
            found["whole"] = {name: self.whole.column(name)[int(rows[0])].as_py() for name in names} if len(rows) else None
        if self.windows is not None:
            rows = np.flatnonzero((self._column("router") == router) & (self._column("port") == port))
            values = np.zeros(self.count)
            values[self._column("window")[rows]] = self._column("utilisation")[rows]
            found["windows"] = [round(float(value), 4) for value in values]
        return found
