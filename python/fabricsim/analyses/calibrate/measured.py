"""Times that were measured on a machine, as a table of sizes and times."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

from fabricsim._units import whole_bytes

__all__ = ["Measured", "read_measurements"]

_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_TIME = re.compile(r"^(?:.*_)?(ps|ns|us|ms|s)$")
_USES = {"": False, "fit": False, "calibrate": False, "check": True, "hold-out": True}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one size took.

    Attributes
    ----------
    size : int
        Of the message, in bytes.
    time_ns : float
        What was measured.
    held_out : bool
        Kept apart for the check: nothing is fitted to it.
    """

    size: int
    time_ns: float
    held_out: bool = False


def read_measurements(path: str | Path) -> list[Measured]:
    """Read a table (CSV) with a column ``bytes``, a column of times whose name ends in its unit, and, if wanted, a column ``use``.

    Sizes are numbers of bytes or quantities (``8 KiB``); times stand in a column such as ``time_us`` or ``one_way_ns``; ``use`` is ``fit``
    (or ``calibrate``, or empty) or ``check`` (or ``hold-out``). Lines that begin with ``#`` are passed over.

    Raises
    ------
    ValueError
        The file is no such table; the message names the line, what is wrong and what would do.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    lines = [
        (number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ValueError(f"{file}: is empty; begin it with a line such as bytes,time_us")
    rows = list(csv.reader([line for _, line in lines], skipinitialspace=True))
    header = [name.strip().lower() for name in rows[0]]
    times = [name for name in header if _TIME.match(name)]
    if "bytes" not in header or len(times) != 1:
        told = ", ".join(header)
        raise ValueError(
            f"{file}:{lines[0][0]}: the columns are {told}; there must be bytes and one time whose name ends in its unit, as in bytes,time_us"
        )
    scale = _NS[_TIME.sub(r"\1", times[0])]
    points: dict[int, Measured] = {}
    for (number, _), row in zip(lines[1:], rows[1:], strict=True):
        if len(row) != len(header):
            raise ValueError(f"{file}:{number}: has {len(row)} values, the first line has {len(header)}")
        cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
        point = _point(cells, cells[times[0]], scale, f"{file}:{number}")
        if point.size in points:
            raise ValueError(
                f"{file}:{number}: {point.size} B come a second time; give the least or the median of what was measured"
            )
        points[point.size] = point
    return sorted(points.values(), key=lambda point: point.size)


def _point(cells: dict[str, str], time: str, scale: float, place: str) -> Measured:
    try:
        size = int(cells["bytes"]) if cells["bytes"].isdigit() else whole_bytes(cells["bytes"])
    except ValueError as error:
        raise ValueError(f"{place}: {cells['bytes']!r} is no size; write 8192 or 8 KiB") from error
    try:
        value = float(time) * scale
    except ValueError as error:
        raise ValueError(f"{place}: {time!r} is no time; write a number, its unit is in the name of the column") from error
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{place}: a time of {time} was not measured; it is above zero")
    use = cells.get("use", "").lower()
    if use not in _USES:
        raise ValueError(f"{place}: use is {use!r}; it is fit or check")
    return Measured(size, value, _USES[use])
