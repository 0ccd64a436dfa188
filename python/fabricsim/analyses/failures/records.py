"""What failures cost at a point of a study, and the answer in words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fabricsim._figures import figure_of
from fabricsim._units import counted

__all__ = ["Failure", "Failures", "Many", "OfClass", "quantile"]

#: A failure that costs less than this costs nothing to speak of.
_NOTHING = 1.01
#: Failures that are named as the worst.
_MOST_NAMED = 5
#: The key before an error, and the hint behind it, in words; names of routers have no spaces in their brackets.
_KEY, _HINT = re.compile(r"^[a-z_0-9.]+: "), re.compile(r" \((hint: )?[a-z][^()]* [^()]*\)$")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that was tried.

    Attributes
    ----------
    name : str
        What fails: its name, or how many in which draw.
    link_class : str
        Class of a cable; of draws the one that is drawn among.
    dead : int
        How many fail.
    draw : int or None
        Seed of the draw; None of a single failure.
    names : tuple of str
        What fails, by name.
    state : str
        ``ok``; ``saturated`` or ``unsettled`` where the network did not keep up with the load, or the run cannot tell; ``unreachable`` where
        nodes are parted, or the routing or the jobs cannot take the failure; ``failed`` where there is no result to use.
    why : str
        Why there is no slowdown.
    without, metric : float or None
        The metric without and with the failure, the seeds together.
    slowdown : float or None
        Geometric mean over seeds of the metric with the failure over that without, the other way round where more is better.
    accepted_without, accepted_load : float or None
        Mean accepted load of open loops.
    nodes_lost : int
        Nodes that are dead by it.
    parted : int
        Ordered pairs of live nodes without a way.
    first_parted : tuple of (int, int)
        Some of them.
    busiest_link : str
        The busiest link with the failure, by name.
    busy : float or None
        Part of the time that it was busy.
    """

    name: str
    link_class: str
    dead: int
    draw: int | None
    names: tuple[str, ...]
    state: str
    why: str = ""
    without: float | None = None
    metric: float | None = None
    slowdown: float | None = None
    accepted_without: float | None = None
    accepted_load: float | None = None
    nodes_lost: int = 0
    parted: int = 0
    first_parted: tuple[tuple[int, int], ...] = ()
    busiest_link: str = ""
    busy: float | None = None

    @property
    def words(self) -> str:
        """Why there is no slowdown, without the key that is to blame and without a hint."""
        return _HINT.sub("", _KEY.sub("", self.why))

    @property
    def place(self) -> float:
        """Where it stands among others: its slowdown; what has none is worse than all that have one."""
        return self.slowdown if self.slowdown is not None else math.inf


def quantile(places: Sequence[float], share: float) -> float | None:
    """Return a quantile, between its neighbours in proportion; None where failures that have no slowdown reach it.

    Examples
    --------
    >>> quantile([1.0, 1.0, 2.0, math.inf], 0.5), quantile([1.0, 2.0, math.inf], 0.9)
    (1.5, None)
    """
    if not places:
        return None
    ordered = sorted(places)
    at = share * (len(ordered) - 1)
    low = math.floor(at + 1e-12)
    high = min(low + 1, len(ordered) - 1)
    part = max(0.0, at - low)
    found = ordered[low] if part < 1e-12 else ordered[low] + part * (ordered[high] - ordered[low])
    return found if math.isfinite(found) else None


@dataclass(frozen=True, slots=True)
class OfClass:
    """Single failures of the cables of a class; quantiles as those of a point."""

    link_class: str
    tried: int
    median: float | None
    worst: float | None
    without_number: int


@dataclass(frozen=True, slots=True)
class Many:
    """Draws of so many failures at once; those without a slowdown count as worse than all others."""

    dead: int
    draws: int
    least: float | None
    median: float | None
    worst: float | None
    without_number: int


@dataclass(frozen=True, slots=True)
class Failures:
    """What failures cost at a point.

    Attributes
    ----------
    name : str
        The point in words.
    point : tuple of (key, value)
        The experiment and the values of swept keys.
    of : str
        What fails: ``cables``, ``routers``, ``nodes``, ``groups`` or ``racks``.
    link_class : str
        Only cables of this class; empty for all.
    metric : str
        What slowdowns are of.
    maximise : bool
        A larger metric is better.
    candidates : int
        How many there are that can fail.
    all_tried : bool
        Single failures are all there are; else a sample.
    n_seeds : int
        Seeds of every run.
    without : float or None
        The metric without failures, the seeds together.
    state : str
        Of the runs without failures.
    failures : tuple of Failure
        All that were tried, single ones first.
    notes : tuple of str
        What else there is to say.
    reason : str
        Why there is no answer.
    """

    name: str
    point: tuple[tuple[str, str], ...]
    of: str
    link_class: str = ""
    metric: str = ""
    maximise: bool = False
    candidates: int = 0
    all_tried: bool = True
    n_seeds: int = 0
    without: float | None = None
    state: str = ""
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def singles(self) -> tuple[Failure, ...]:
        """Failures of one thing each."""
        return tuple(one for one in self.failures if one.draw is None)

    @property
    def worst(self) -> tuple[Failure, ...]:
        """The single failures that have the greatest slowdowns, the worst first."""
        known = [one for one in self.singles if one.slowdown is not None]
        return tuple(sorted(known, key=lambda one: -one.place)[:_MOST_NAMED])

    @property
    def median(self) -> float | None:
        """Median of the single failures; those without a slowdown count as worse than all others."""
        return quantile([one.place for one in self.singles], 0.5)

    @property
    def p90(self) -> float | None:
        """What nine tenths of the single failures are not above."""
        return quantile([one.place for one in self.singles], 0.9)

    @property
    def share_within(self) -> float | None:
        """Share of the single failures that cost at most 1 %."""
        return sum(one.place <= _NOTHING for one in self.singles) / len(self.singles) if self.singles else None

    @property
    def classes(self) -> tuple[OfClass, ...]:
        """Single failures of cables by class."""
        found = []
        for link_class in dict.fromkeys(one.link_class for one in self.singles if one.link_class):
            mine = [one for one in self.singles if one.link_class == link_class]
            known = [one.slowdown for one in mine if one.slowdown is not None]
            median = quantile([one.place for one in mine], 0.5)
            found.append(OfClass(link_class, len(mine), median, max(known, default=None), len(mine) - len(known)))
        return tuple(found)

    @property
    def many(self) -> tuple[Many, ...]:
        """Draws of several at once, by how many."""
        found = []
        for dead in dict.fromkeys(one.dead for one in self.failures if one.draw is not None):
            mine = [one for one in self.failures if one.draw is not None and one.dead == dead]
            known = [one.slowdown for one in mine if one.slowdown is not None]
            median = quantile([one.place for one in mine], 0.5)
            ends = (min(known, default=None), median, max(known, default=None))
            found.append(Many(dead, len(mine), *ends, len(mine) - len(known)))
        return tuple(found)

    @property
    def word(self) -> str:
        """What slowdowns are of, in words."""
        if self.metric in ("jobs.0.time_ns", "memory.time_ns", "sim_time_ns"):
            return "time"
        figure = figure_of(self.metric)
        return figure.word if figure else self.metric

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.reason:
            return f"{self.name}: no answer: {self.reason}."
        if self.failures and all(one.state == "unreachable" and not one.parted for one in self.failures):
            tried = f"{self.candidates:,} {self._noun(self.candidates)} ({len(self.failures)} failures tried)"
            return _closed(f"{self.name}: not one of {tried} can be dead: {self.failures[0].words}")
        parts = [part for part in (self._one_by_one(), self._at_once()) if part]
        return _closed(f"{self.name}: {'; '.join([*parts, *self._without_number()])}")

    def _noun(self, number: int) -> str:
        kind = f"{self.link_class} {self.of}" if self.link_class else self.of
        return kind if number != 1 else kind.removesuffix("s")

    def _costs(self, slowdowns: str, number: int = 1) -> str:
        """Say slowdowns as costs of one failure or of several."""
        verb = ("divide" if self.maximise else "cost") + ("s" if number == 1 else "")
        return f"{verb} the {self.word} by {slowdowns}" if self.maximise else f"{verb} {slowdowns} times the {self.word}"

    @property
    def _overwhelmed(self) -> bool:
        """Whether each single failure is more than the network can take."""
        return bool(self.singles) and all(one.state == "saturated" and one.slowdown is None for one in self.singles)

    def _one_by_one(self) -> str:
        if not self.singles:
            return ""
        tried = "" if self.all_tried else f" ({len(self.singles)} tried)"
        of = f"{self.candidates:,} {self._noun(self.candidates)}{tried}"
        known = sorted(one.place for one in self.singles if one.slowdown is not None)
        if self._overwhelmed:
            return f"with any one of {of} dead the network no longer keeps up"
        if not known:
            return f"no slowdown can be told of any one of {of}"
        worst = self.worst[0]
        if len(known) == len(self.singles) > 1 and known[-1] < _NOTHING * known[0] and known[-1] >= _NOTHING:
            return f"any one of {of} {self._costs(_times(self.median))}, whichever it is"
        if self.median is None:
            ends = " to ".join(dict.fromkeys((_times(known[0]), _times(known[-1]))))
            return f"{len(known)} single failures of {of} {self._costs(ends, len(known))}, the most {worst.name}"
        if known[-1] < _NOTHING:
            return f"any one of {of} costs less than 1 % of the {self.word}, {worst.name} most: {known[-1]:.3f} times"
        return f"any one of {of} {self._costs(_times(self.median))} (median), at worst {_times(known[-1])} ({worst.name})"

    def _at_once(self) -> str:
        found = self.many
        if not found:
            return ""
        of = f"{self.candidates:,} {self._noun(self.candidates)}"
        told = [one for one in found if one.median is not None]
        if not told:
            return f"no slowdown can be told of half of the draws of {found[0].dead} of {of} or more"
        numbers, values = (", ".join(texts) for texts in ([str(one.dead) for one in told], [_times(one.median) for one in told]))
        worst = max(told, key=lambda one: one.worst or 0.0)
        draws = f"{'medians' if len(told) > 1 else 'median'} of {counted(told[0].draws, 'draw')}"
        none = ", ".join(str(one.dead) for one in found if one.median is None)
        more = f"; with {none} half of the draws have no slowdown" if none else ""
        return (
            f"{numbers} dead of {of} {self._costs(values, 2)} ({draws}), at worst {_times(worst.worst)} (with {worst.dead}){more}"
        )

    def _without_number(self) -> list[str]:
        """Say what of the failures has no slowdown, and that none parts nodes."""
        parted = [one for one in self.failures if one.parted]
        refused = [one for one in self.failures if one.state == "unreachable" and not one.parted]
        late = [one for one in self.failures if one.slowdown is None and not (self._overwhelmed and one.draw is None)]
        full = [one for one in late if one.state == "saturated"]
        open_ = [one for one in late if one.state == "unsettled"]
        unusable = [one for one in self.failures if one.state == "failed"]
        said = []
        if full:
            said.append(f"with {self._some(full)} the network no longer keeps up")
        if open_:
            said.append(f"with {self._some(open_)} it no longer keeps up, or the run is too short to tell")
        if refused:
            said.append(f"{self._some(refused)} cannot be taken: {refused[0].words}")
        if parted:
            first = parted[0]
            example = f", such as {first.first_parted[0][0]} and {first.first_parted[0][1]}" if first.first_parted else ""
            pairs = f"{counted(first.parted, 'pair')}{example}"
            if len(parted) == 1:
                said.append(f"{first.name} parts nodes ({pairs})")
            else:
                said.append(f"{len(parted)} of {len(self.failures)} part nodes ({first.name}: {pairs})")
        elif not refused:
            said.append("none parts nodes")
        if unusable:
            said.append(f"{self._some(unusable)} gave no result to use")
        return said

    def _some(self, those: Sequence[Failure]) -> str:
        """Return how many failures with the first one's name."""
        first = those[0].name
        return first if len(those) == 1 else f"{len(those)} of {len(self.failures)} (such as {first})"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the sentence."""
        found = {key: value for key, value in asdict(self).items() if key not in ("point", "failures")}
        singles = {
            "tried": len(self.singles),
            "median": self.median,
            "p90": self.p90,
            "worst": self.worst[0].slowdown if self.worst else None,
            "share_within_1_percent": self.share_within,
            "without_number": sum(one.slowdown is None for one in self.singles),
        }
        return {
            "sentence": self.sentence,
            "point": dict(self.point),
            **found,
            "singles": singles if self.singles else None,
            "worst": [one.name for one in self.worst],
            "classes": [asdict(one) for one in self.classes],
            "many": [asdict(one) for one in self.many],
            "failures": [asdict(one) for one in self.failures],
        }


def _times(slowdown: float | None) -> str:
    """Return a slowdown as it is said: two digits behind the point, whole ones where it is large."""
    return "" if slowdown is None else f"{slowdown:.2f}" if slowdown < 10 else f"{slowdown:.3g}"


def _closed(text: str) -> str:
    """Return a sentence with its end."""
    return text if text.endswith("...") else f"{text}."
