"""Which failures are tried at a point of a study, and whom each of them parts: known before anything is run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricsim._parts import SHELVES, part_name
from fabricsim.analyses.failures.defaults import MOST_ALL, SAMPLE
from fabricsim.registry import can_fail, fallout

__all__ = ["Asked", "Candidate", "Candidates", "Trial", "candidates", "drawn", "one_by_one", "too_few"]

#: What cables of `[fail]` are like that live on.
_OF_CABLES = ("keeps", "error_rate")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to fail.

    Attributes
    ----------
    of : str
        A kind of parts: ``cables``, ``routers``, ``nodes``, ``groups`` or ``racks``.
    link_class : str or None
        Only cables of this class.
    each : bool
        Every one by itself.
    sample : int or None
        So many by themselves.
    draw_seed : int
        Seed of the sample.
    counts : tuple of int
        So many at once.
    draws : int
        Draws of every count.
    """

    of: str = "cables"
    link_class: str | None = None
    each: bool = False
    sample: int | None = None
    draw_seed: int = 1
    counts: tuple[int, ...] = ()
    draws: int = 1

    @property
    def singly(self) -> bool:
        """Whether failures are tried one by one: unless several at once are asked for and nothing else is."""
        return self.each or self.sample is not None or not self.counts


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can fail.

    Attributes
    ----------
    name : str or int
        As `[fail]` takes it.
    link_class : str
        Of a cable.
    routers, nodes : tuple
        Of a group or rack what is in it: routers by name, and nodes that are at none of them.
    """

    name: str | int
    link_class: str = ""
    routers: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What can still fail at a point.

    Attributes
    ----------
    of : str
        Of which kind.
    live : tuple of Candidate
        Everything of that kind that is not dead already.
    own : dict
        What has failed in the study itself, as a ``[fail]`` of names; cables may keep a share of their bandwidth.
    n_dead : int
        Nodes that are dead in the study itself.
    classes : tuple of str
        Classes of cables of the whole network.
    """

    of: str
    live: tuple[Candidate, ...]
    own: dict[str, Any]
    n_dead: int
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A failure to try.

    Attributes
    ----------
    name : str
        What fails, or how many.
    link_class : str
        Class of a cable; of draws the one that is drawn among.
    dead : int
        How many fail.
    draw : int or None
        Seed of the draw; None of a single failure.
    fail : dict
        The study's ``[fail]`` with it.
    names : tuple of str
        What fails, by name.
    nodes_lost : int
        Nodes that are dead by it.
    parted : int
        Ordered pairs of live nodes without a way.
    first_parted : tuple of (int, int)
        Some of them.
    """

    name: str
    link_class: str
    dead: int
    draw: int | None
    fail: dict[str, Any]
    names: tuple[str, ...]
    nodes_lost: int
    parted: int
    first_parted: tuple[tuple[int, int], ...]


def candidates(canonical: str, asked: Asked) -> Candidates:
    """Return what can still fail in a run, and what has failed in it already.

    Parameters
    ----------
    canonical : str
        Of a run of the point.
    asked : Asked
        What is to fail.

    Raises
    ------
    ValueError
        The network has no cables of that class.
    """
    has = json.loads(canonical).get("fail") or {}
    dead = fallout(canonical)
    own: dict[str, Any] = {key: list(has.get(key, ())) for key in ("cables", "routers", "nodes", "groups")}
    if has.get("drawn"):
        # What the study draws stays what it is, by its names: with one more name it would draw others.
        own |= {key: list(dead[key]) for key in ("cables", "routers", "nodes")}
        if any(has.get(key) is not None for key in _OF_CABLES):
            # Those that are dead all the same are so with their routers.
            own["cables"] = list(dead["impaired"])
    own |= {key: has.get(key) for key in _OF_CABLES}
    every = [_candidate(asked.of, entry) for entry in can_fail(canonical, asked.of)]
    classes = tuple(dict.fromkeys(one.link_class for one in every if one.link_class))
    if asked.link_class is not None and asked.link_class not in classes:
        raise ValueError(f"no cable between routers has the class {asked.link_class}; there are: {', '.join(classes) or 'none'}")
    live = tuple(one for one in every if asked.link_class in (None, one.link_class) and not _is_gone(one, asked.of, dead, own))
    return Candidates(asked.of, live, {key: value for key, value in own.items() if value}, len(dead["nodes"]), classes)


def _candidate(of: str, entry: Any) -> Candidate:
    if of in SHELVES:
        number, routers, nodes = entry
        return Candidate(number, "", tuple(routers), tuple(nodes))
    return Candidate(*entry) if of == "cables" else Candidate(entry)


def _is_gone(one: Candidate, of: str, dead: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Tell whether nothing of it is left to fail."""
    if of in SHELVES:
        return set(one.routers) <= set(dead["routers"]) and set(one.nodes) <= set(dead["nodes"])
    return one.name in dead[of] or one.name in own[of] or (of == "cables" and one.name in dead["impaired"])


def one_by_one(canonical: str, found: Candidates, asked: Asked) -> list[Trial]:
    """Return single failures: all, or a sample that has all that a smaller one with the same seed has."""
    chosen = list(found.live)
    most = asked.sample if asked.sample is not None else SAMPLE if len(chosen) > MOST_ALL else len(chosen)
    if not asked.each and most < len(chosen):
        taken = set(_shuffled(chosen, asked.draw_seed)[:most])
        chosen = [one for one in chosen if one in taken]
    return [_named_trial(canonical, _name(found, one), (one,), None, found) for one in chosen]


def _shuffled(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Return them in an order by seed and names, so that points with the same names try the same failures."""
    return sorted(candidates, key=lambda one: hashlib.sha256(f"{seed}:{one.name}".encode()).digest())


def _name(found: Candidates, one: Candidate) -> str:
    return part_name(found.of, one.name) if found.of in SHELVES else str(one.name)


def drawn(canonical: str, found: Candidates, asked: Asked) -> list[Trial]:
    """Return draws of so many at once; with the same seed a larger number adds to what a smaller one has."""
    trials = []
    of_class = f" of class {asked.link_class}" if asked.link_class else ""
    chosen = {"class": asked.link_class} if asked.link_class else {}
    for count in asked.counts:
        for seed in range(1, asked.draws + 1):
            name = f"{count} {found.of if count > 1 else found.of[:-1]}{of_class}, draw {seed}"
            if found.of in SHELVES:
                # `[fail]` draws none of these.
                trials.append(_named_trial(canonical, name, _shuffled(found.live, seed)[:count], seed, found))
                continue
            fail: dict[str, Any] = {**found.own, "count": count, "of": found.of, **chosen, "seed": seed}
            spelt: dict[str, Any] = {**found.own, "drawn": {"of": found.of, "many": {"count": count}, **chosen, "seed": seed}}
            told = _fallout(canonical, spelt)
            known = {one.name for one in found.live}
            names = tuple(str(entry) for entry in told[found.of] if entry in known)
            trials.append(_trial(name, asked.link_class or "", count, seed, fail, names, told, found))
    return trials


def too_few(found: Candidates, asked: Asked) -> str:
    """Return why a point has too few of what is to fail; nothing where it has enough."""
    what = f"{found.of} of class {asked.link_class}" if asked.link_class else found.of
    if not found.live:
        return f"there are no {what} that can fail"
    most = max(asked.counts, default=0)
    return f"{most} {what} are to fail at once, {len(found.live)} are there to fail" if most > len(found.live) else ""


def _named_trial(canonical: str, name: str, chosen: Sequence[Candidate], draw: int | None, found: Candidates) -> Trial:
    """Return the failure of these."""

    def more(kind: str, names: Iterable[str | int]) -> dict[str, Any]:
        return {kind: list(dict.fromkeys([*found.own.get(kind, []), *names]))}

    fail = {**found.own, **more(found.of, (one.name for one in chosen))}
    spelt = fail
    if found.of == "racks":
        # A specification has what is in them.
        routers = (router for one in chosen for router in one.routers)
        spelt = {**found.own, **more("routers", routers), **more("nodes", (node for one in chosen for node in one.nodes))}
    names = tuple(_name(found, one) for one in chosen)
    told = _fallout(canonical, spelt)
    return _trial(name, chosen[0].link_class, len(chosen), draw, fail, names, told, found)


def _fallout(canonical: str, fail: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is dead with a ``[fail]`` as the specification of a run has it, and whom that parts."""
    return fallout(json.dumps({**json.loads(canonical), "fail": dict(fail)}))


def _trial(
    name: str,
    link_class: str,
    dead: int,
    draw: int | None,
    fail: dict[str, Any],
    names: tuple[str, ...],
    told: Mapping[str, Any],
    found: Candidates,
) -> Trial:
    pairs: Sequence[Sequence[int]] = told["first_parted"]
    first = tuple((int(one), int(other)) for one, other in pairs)
    lost = len(told["nodes"]) - found.n_dead
    return Trial(name, link_class, dead, draw, fail, names, lost, int(told["parted"]), first)
