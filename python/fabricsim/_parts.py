"""Kinds of parts of a network that can fail: what studies, commands and pages call them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["PARTS", "SHELVES", "Part", "part_name"]


class Part(StrEnum):
    """A kind of parts."""

    cables = "cables"
    routers = "routers"
    nodes = "nodes"
    groups = "groups"
    racks = "racks"


#: What one of each kind is called, which is its option, too.
PARTS = {part.value: part.value.removesuffix("s") for part in Part}
#: Of these those that have others in them.
SHELVES = ("groups", "racks")


def part_name(kind: str, name: str | int) -> str:
    """Return what a part is called where nothing else says of what kind it is; cables' names do."""
    return str(name) if kind == "cables" else f"{PARTS[kind]} {name}"
