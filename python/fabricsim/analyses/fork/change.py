"""What is other in a fork: what fails and when, and keys of the study."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricsim._parts import PARTS, part_name
from fabricsim._units import picoseconds

__all__ = ["Change", "changes", "said_outages"]

#: What `[[outage]]` says of cables that live on.
_IMPAIRS = ("keeps", "error_rate")


@dataclass(frozen=True, slots=True)
class Change:
    """What is other in a fork.

    Attributes
    ----------
    cables, routers, nodes, groups, racks : tuple
        What fails: cables and routers by name, nodes, groups and racks by number.
    at : str or None
        When, such as ``"20 us"``.
    until : str or None
        When it works again; None for never.
    reroute : str or None
        As in ``[[outage]]``: how long after `at` packets go round it, or ``"never"``.
    keeps, error_rate : float or None
        Cables live on, with this share of their bandwidth, or with this bit error rate.
    sets : mapping of str to object
        Values of keys of the study, from the beginning of the run on.
    """

    cables: tuple[str, ...] = ()
    routers: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    racks: tuple[int, ...] = ()
    at: str | None = None
    until: str | None = None
    reroute: str | None = None
    keeps: float | None = None
    error_rate: float | None = None
    sets: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what says nothing, or only half."""
        fails = any(getattr(self, part) for part in PARTS)
        if not fails and not self.sets:
            raise ValueError(
                "nothing is other in this fork: name a cable, a router, a node, a group or a rack that fails, or set a key"
            )
        if fails and self.at is None:
            raise ValueError('say when it fails: --at "20 us" (at = "20 us"), or "0 s" for from the start')
        if not fails and (said := [name for name in ("at", "until", "reroute", *_IMPAIRS) if getattr(self, name) is not None]):
            raise ValueError(f"{said[0]} is of something that fails, and nothing does: keys that are set hold from the start")
        for name in ("at", "until"):
            if (text := getattr(self, name)) is not None:
                picoseconds(text)

    @property
    def name(self) -> str:
        """What is other, for people."""
        parts = [part_name(part, name) for part in PARTS for name in getattr(self, part)]
        said = []
        if parts:
            what = "dead"
            if self.keeps is not None:
                what = (
                    f"at {100 * self.keeps:g} % of its bandwidth"
                    if len(parts) == 1
                    else f"at {100 * self.keeps:g} % of their bandwidth"
                )
            elif self.error_rate is not None:
                what = f"with an error rate of {self.error_rate:g}"
            elif self.reroute is not None:
                what += " and never gone round" if self.reroute == "never" else f" and gone round after {self.reroute}"
            until = f"to {self.until}" if self.until else "on"
            said.append(f"{' and '.join(parts)} {what} from {self.at} {until}")
        said += [f"{key} = {value}" for key, value in self.sets.items()]
        return ", ".join(said)

    def outage(self) -> dict[str, Any] | None:
        """Return its table of ``[[outage]]``; None where nothing fails."""
        parts = {part: list(getattr(self, part)) for part in PARTS if getattr(self, part)}
        if not parts:
            return None
        rest = {name: getattr(self, name) for name in ("at", "until", "reroute", *_IMPAIRS)}
        return {**parts, **{name: value for name, value in rest.items() if value is not None}}


def changes(parts: Mapping[str, Iterable[Any]], *, each: bool, **more: Any) -> list[Change]:
    """Return what is other in every fork that is asked for.

    Parameters
    ----------
    parts : mapping of str to iterable
        ``cables``, ``routers``, ``nodes``, ``groups`` and ``racks`` that fail.
    each : bool
        Each of them in a fork of its own.
    **more
        The other attributes of `Change`.

    Raises
    ------
    ValueError
        Nothing is other, or something is half said.
    """
    named = {part: tuple(dict.fromkeys(names)) for part, names in parts.items()}
    singly = [{part: (name,)} for part, names in named.items() for name in names]
    return [Change(**one, **more) for one in (singly if each and singly else [named])]


def said_outages(canonical: str) -> list[dict[str, Any]]:
    """Return the outages of a run as a study writes them.

    Parameters
    ----------
    canonical : str
        The run.
    """
    found = []
    for outage in json.loads(canonical).get("outages") or []:
        said = {key: value for key, value in outage.items() if key in (*PARTS, *_IMPAIRS)}
        if drawn := outage.get("drawn"):
            said |= {key: value for key, value in drawn.items() if key != "many" and value is not None} | drawn["many"]
        said |= {key: f"{outage[key]} ps" for key in ("at", "until") if outage.get(key) is not None}
        if (reroute := outage.get("reroute")) is not None:
            said["reroute"] = reroute if isinstance(reroute, str) else f"{reroute['after']} ps"
        found.append(said)
    return found
