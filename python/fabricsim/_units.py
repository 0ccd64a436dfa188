"""Numbers out of the study's quantities, for axes and tables only (the core does the exact parsing), and numbers for people."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = [
    "amount",
    "axis_value",
    "counted",
    "format_bytes",
    "format_count",
    "format_seconds",
    "picoseconds",
    "scaled_unit",
    "speculation_line",
    "whole_bytes",
]

_QUANTITY = re.compile(r"^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ/%]*)\s*$")
_LIST = re.compile(r"^\[\s*(\d+(?:\s*,\s*\d+)*)\s*,?\s*\]$")
_PREFIX = {
    "": 1.0,
    "K": 1e3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 1024.0,
    "Mi": 1024.0**2,
    "Gi": 1024.0**3,
    "Ti": 1024.0**4,
}
# Both letters that look like a mu, as in the core.
_LENGTH = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3}
_POWER = {"mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6}
_PRICE = {"uUSD": 1e-6, "mUSD": 1e-3, "USD": 1.0, "kUSD": 1e3, "MUSD": 1e6}
_TIME = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}


def _scale(unit: str) -> tuple[float, str] | None:
    if unit in ("", "%"):
        return (1.0, unit)
    if unit in _TIME:
        return (_TIME[unit], "ns")
    if unit.endswith("/B") and unit[:-2] in _TIME:
        return (_TIME[unit[:-2]], "ns/B")
    for names, base in ((_LENGTH, "m"), (_POWER, "W"), (_PRICE, "USD")):
        if unit in names:
            return (names[unit], base)
    for suffix, factor, base in (("bit/s", 1e-9 / 8, "GB/s"), ("B/s", 1e-9, "GB/s"), ("B", 1.0, "B")):
        if unit.endswith(suffix) and unit[: -len(suffix)] in _PREFIX:
            return (_PREFIX[unit[: -len(suffix)]] * factor, base)
    return None


def axis_value(text: object) -> tuple[float, str] | None:
    """Return a swept value as a number and its axis unit, or None for a name.

    Times become ns, bandwidths GB/s, sizes B, lengths m, powers W, prices USD; a list of extents becomes its product (a torus of
    ``[4, 4, 4]`` has 64 routers).

    Examples
    --------
    >>> axis_value("200 Gbit/s")
    (25.0, 'GB/s')
    >>> axis_value("1.5 µs"), axis_value("10 ps/B")
    ((1500.0, 'ns'), (0.01, 'ns/B'))
    >>> axis_value("2 KiB")
    (2048.0, 'B')
    >>> axis_value("2.8 W"), axis_value("57 cm"), axis_value("12 kUSD")
    ((2.8, 'W'), (0.57, 'm'), (12000.0, 'USD'))
    >>> axis_value("[4, 4, 4]")
    (64.0, 'product')
    >>> axis_value("ugal") is None
    True
    """
    if isinstance(text, bool):
        return None
    if isinstance(text, int | float):
        return (float(text), "")
    if not isinstance(text, str):
        return None
    stripped = text.strip().strip('"')
    extents = _LIST.match(stripped)
    if extents:
        return (float(math.prod(int(part) for part in extents.group(1).split(","))), "product")
    match = _QUANTITY.match(stripped)
    if match is None:
        return None
    scale = _scale(match.group(2))
    if scale is None:
        return None
    return (float(f"{float(match.group(1)) * scale[0]:.12g}"), scale[1])


#: For every unit of figures and axes, units from the largest on: how many of the first fit into one, and its name.
_LADDERS: Mapping[str, Sequence[tuple[float, str]]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "B": ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")),
    "MiB/s": ((2.0**20, "TiB/s"), (2.0**10, "GiB/s")),
}


def scaled_unit(unit: str, largest: float) -> tuple[float, str]:
    """Return what to multiply numbers of a unit by, and the unit in which the largest of them is short.

    Examples
    --------
    >>> scaled_unit("ns", 3e8), scaled_unit("ns", 12.0), scaled_unit("B", 4096.0)
    ((1e-06, 'ms'), (1.0, 'ns'), (0.0009765625, 'KiB'))
    """
    found = next((step for step in _LADDERS.get(unit, ()) if abs(largest) >= step[0]), None)
    return (1 / found[0], found[1]) if found else (1.0, unit)


def amount(value: float, unit: str, *, digits: int = 4) -> str:
    """Return a number with its unit, in the one in which it is short.

    Parameters
    ----------
    value : float
        In `unit`.
    unit : str
        As figures and axes have it; empty for what has none.
    digits : int
        Significant digits; what has a thousand or more of the largest unit is given in whole ones.

    Examples
    --------
    >>> amount(3e8, "ns"), amount(0.25, ""), amount(1234567.0, "")
    ('300 ms', '0.25', '1,234,567')
    >>> amount(18_684_669.04, "ns", digits=6)
    '18.6847 ms'
    """
    factor, shown = scaled_unit(unit, value)
    scaled = value * factor
    text = f"{scaled:,.0f}" if abs(scaled) >= 1000 else f"{scaled:.{digits}g}"
    return f"{text} {shown}" if shown else text


def picoseconds(text: str) -> int:
    """Return a time with its unit in whole picoseconds.

    Raises
    ------
    ValueError
        No time, a time without a unit, or one that is no whole number of picoseconds.

    Examples
    --------
    >>> picoseconds("1.5 us")
    1500000
    """
    match = _QUANTITY.match(text) if isinstance(text, str) else None
    if match is None or match.group(2) not in _TIME:
        raise ValueError(f'{text!r} is no time; write "2 us" (ps, ns, us, ms, s)')
    found = Fraction(match.group(1)) * round(_TIME[match.group(2)] * 1000)
    if found.denominator != 1 or found < 0:
        raise ValueError(f"{text!r} is no whole number of picoseconds from 0 on")
    return int(found)


def whole_bytes(size: int | str) -> int:
    """Return a size in bytes: a whole number, or a text with its unit.

    Raises
    ------
    ValueError
        No size, a text without a unit, or one that is no whole number of bytes.

    Examples
    --------
    >>> whole_bytes(8), whole_bytes("1.5 KiB"), whole_bytes("1 MB")
    (8, 1536, 1000000)
    """
    if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**64 - 1:
        return size
    match = _QUANTITY.match(size) if isinstance(size, str) else None
    if match is None or not match.group(2).endswith("B") or match.group(2)[:-1] not in _PREFIX:
        raise ValueError(f'{size!r} is no size; write a number of bytes, or "4 KiB" (B, kB, KiB, MB, MiB, ...)')
    found = Fraction(match.group(1)) * round(_PREFIX[match.group(2)[:-1]])
    if found.denominator != 1 or not 0 <= found < 2**64 - 1:
        raise ValueError(f"{size!r} is no whole number of bytes from 0 on")
    return int(found)


def counted(number: int, noun: str, more: str = "") -> str:
    """Return so many of something, the noun in the singular or with an s, and words that follow it.

    Examples
    --------
    >>> counted(1, "rank"), counted(4096, "operation", " of collectives")
    ('1 rank', '4,096 operations of collectives')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}{more}"


def format_bytes(count: float | None) -> str:
    """Return a size for people: ``1.5 GiB``."""
    return _scaled(count, 1024, (" B", " KiB", " MiB", " GiB", " TiB"))


def format_count(count: float | None) -> str:
    """Return a count for people: ``12.3 M``."""
    return _scaled(count, 1000, ("", " k", " M", " G", " T"))


def _scaled(count: float | None, step: int, units: Sequence[str]) -> str:
    """Return a number in the first of some units, each so many of the one before, in which it is short; a tenth from the second on."""
    if count is None:
        return "?"
    value, place = float(count), 0
    while abs(value) >= step and place < len(units) - 1:
        value, place = value / step, place + 1
    return f"{value:.{min(place, 1)}f}{units[place]}"


def format_seconds(seconds: float | None) -> str:
    """Return a duration for people: ``1 h 02 min``, ``3 min 20 s``, ``4.2 s``."""
    if seconds is None or not math.isfinite(seconds):
        return "?"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def speculation_line(did: Mapping[str, Any]) -> str:
    """Say what speculation did: events run and undone, meetings, memory."""
    return (
        f"ahead: {format_count(did['events_executed'])} events run, {format_count(did['events_rolled_back'])} of them undone "
        f"(efficiency {100 * did['efficiency']:.1f} %), {format_count(did['events_safe'])} safe, "
        f"{format_count(did['anti_events'])} taken back, {format_count(did['rounds'])} rounds of up to {did['deepest_round']} windows, "
        f"{format_bytes(did['peak_kept_bytes'])} kept at most"
    )
