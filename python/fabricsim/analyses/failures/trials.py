"""Which failures are tried at a point of a study, and whom each of them parts: known before anything is run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricsim.analyses.failures.defaults import MOST_ALL, SAMPLE
from fabricsim.registry import can_fail, fallout

__all__ = ["Asked", "Candidates", "Trial", "candidates", "drawn", "one_by_one", "too_few"]

#: What cables of `[fail]` are like that live on.
_OF_CABLES = ("keeps", "error_rate")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to fail.

    Attributes
    ----------
    of : str
        ``cables``, ``routers`` or ``nodes``.
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
class Candidates:
    """What can still fail at a point.

    Attributes
    ----------
    of : str
        ``cables``, ``routers`` or ``nodes``.
    live : tuple of (name, class)
        Everything of that kind that is not dead already; classes are those of cables, else empty.
    own : dict
        What has failed in the study itself, as a ``[fail]`` of names; cables may keep a share of their bandwidth.
    n_dead : int
        Nodes that are dead in the study itself.
    classes : tuple of str
        Classes of cables of the whole network.
    """

    of: str
    live: tuple[tuple[str | int, str], ...]
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
    every = [tuple(entry) if asked.of == "cables" else (entry, "") for entry in can_fail(canonical, asked.of)]
    classes = tuple(dict.fromkeys(link_class for _, link_class in every if link_class))
    if asked.link_class is not None and asked.link_class not in classes:
        raise ValueError(f"no cable between routers has the class {asked.link_class}; there are: {', '.join(classes) or 'none'}")
    gone = {*dead[asked.of], *own[asked.of], *(dead["impaired"] if asked.of == "cables" else ())}
    live = [entry for entry in every if entry[0] not in gone and asked.link_class in (None, entry[1])]
    return Candidates(asked.of, tuple(live), {key: value for key, value in own.items() if value}, len(dead["nodes"]), classes)


def one_by_one(canonical: str, found: Candidates, asked: Asked) -> list[Trial]:
    """Return single failures: all, or a sample that has all that a smaller one with the same seed has."""
    chosen = list(found.live)
    most = asked.sample if asked.sample is not None else SAMPLE if len(chosen) > MOST_ALL else len(chosen)
    if not asked.each and most < len(chosen):
        # By their names, so that points with the same names try the same failures.
        shuffled = sorted(chosen, key=lambda entry: hashlib.sha256(f"{asked.draw_seed}:{entry[0]}".encode()).digest())
        taken = set(shuffled[:most])
        chosen = [entry for entry in chosen if entry in taken]
    trials = []
    for name, link_class in chosen:
        fail: dict[str, Any] = {**found.own, found.of: [*found.own.get(found.of, []), name]}
        trials.append(_trial(canonical, str(name), link_class, 1, None, fail, fail, found))
    return trials


def drawn(canonical: str, found: Candidates, asked: Asked) -> list[Trial]:
    """Return draws of so many at once; with the same seed a larger number adds to what a smaller one has."""
    trials = []
    of_class = f" of class {asked.link_class}" if asked.link_class else ""
    chosen = {"class": asked.link_class} if asked.link_class else {}
    for count in asked.counts:
        for seed in range(1, asked.draws + 1):
            fail: dict[str, Any] = {**found.own, "count": count, "of": found.of, **chosen, "seed": seed}
            spelt: dict[str, Any] = {**found.own, "drawn": {"of": found.of, "many": {"count": count}, **chosen, "seed": seed}}
            name = f"{count} {found.of if count > 1 else found.of[:-1]}{of_class}, draw {seed}"
            trials.append(_trial(canonical, name, asked.link_class or "", count, seed, fail, spelt, found))
    return trials


def too_few(found: Candidates, asked: Asked) -> str:
    """Return why a point has too few of what is to fail; nothing where it has enough."""
    what = f"{found.of} of class {asked.link_class}" if asked.link_class else found.of
    if not found.live:
        return f"there are no {what} that can fail"
    most = max(asked.counts, default=0)
    return f"{most} {what} are to fail at once, {len(found.live)} are there to fail" if most > len(found.live) else ""


def _trial(
    canonical: str,
    name: str,
    link_class: str,
    dead: int,
    draw: int | None,
    fail: dict[str, Any],
    spelt: Mapping[str, Any],
    found: Candidates,
) -> Trial:
    """Return a failure with whom it parts; `spelt` is ``[fail]`` as the specification of a run has it."""
    whole = json.loads(canonical)
    whole["fail"] = dict(spelt)
    told = fallout(json.dumps(whole))
    known = {entry for entry, _ in found.live}
    names = tuple(str(entry) for entry in told[found.of] if entry in known) if draw is not None else (name,)
    pairs: Sequence[Sequence[int]] = told["first_parted"]
    first = tuple((int(one), int(other)) for one, other in pairs)
    lost = len(told["nodes"]) - found.n_dead
    return Trial(name, link_class, dead, draw, fail, names, lost, int(told["parted"]), first)
