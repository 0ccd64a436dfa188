"""Between which loads a network stops to keep up, with few runs.

Where links are full is known beforehand of some routings: no load above that is carried, whatever a short run says of it, so that one run well above
it shows the links, and the others look below. Of others it is a guess, and the search goes from there: steps grow fourfold until
the load lies between two that were run, and then halve. A load at which a run cannot tell is run again for longer once the loads about
it are known; after two in a row all runs are longer, but those of loads well above: an excess shows the sooner the greater it is. Where the longest run that is allowed cannot tell either, the interval reaches over it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["FULL", "Bracket", "rounded"]

#: All that interfaces can send.
FULL = 1.0
#: Significant digits of loads.
_DIGITS = 4
#: Within relative to the load: where a load is small, the same distance would say nothing.
_RELATIVE = 4.0
#: Growth of steps on the way out.
_GROWTH = 4.0
#: Loads above what links can carry at which they are looked at: a run sees that some messages get 9 % less than they ask for.
_OVER = (1.1, 1.5)
#: After so many runs in a row that could not tell all others are longer.
_SHORT = 2
#: A load so much above all at which a run could not tell is well above them.
_WELL_ABOVE = 1.1


def rounded(load: float) -> float:
    """Return a load as it is written in studies: to four significant digits.

    Examples
    --------
    >>> rounded(0.2706938), rounded(1.0)
    (0.2707, 1.0)
    """
    return min(FULL, float(f"{load:.{_DIGITS}g}"))


@dataclass(slots=True)
class Bracket:
    """The loads that were tried, and which one is next.

    Attributes
    ----------
    within : float
        Half of the interval is to be at most this, and at most four times this of the load itself.
    start : float or None
        Where links are thought to be full; None where that is not known.
    most : int
        Runs that may be used; a load that is run again for longer counts again.
    length, longest : int
        Of runs, in ps: of the next one, and at most.
    exact : bool
        No load above `start` is carried.
    low, high : float or None
        The greatest load that was kept up with, and the least that was not.
    unsettled : set
        Loads at which a run could not tell.
    tried : list
        Load, length and state of each run, in order.
    """

    within: float
    start: float | None
    most: int
    length: int
    longest: int
    exact: bool = False
    low: float | None = None
    high: float | None = None
    unsettled: set[float] = field(default_factory=set)
    tried: list[tuple[float, int, str]] = field(default_factory=list)
    _asked: tuple[float, int] | None = None
    _blurred: float = 0.0
    _ups: int = 0
    _downs: int = 0
    _settles: int = 0
    _short: int = 0
    _room: float | None = None
    _through: float | None = None
    _guessed: float | None = None

    def tolerance(self, load: float) -> float:
        """Return how close the loads about `load` are to be."""
        return min(self.within, _RELATIVE * self.within * load)

    @property
    def ceiling(self) -> float | None:
        """What no load that is carried is above, where links cannot carry full injection."""
        return self.start if self.exact and self.start is not None and self.start < FULL - self.tolerance(FULL) else None

    @property
    def top(self) -> float | None:
        """The upper end of the interval: of the least load that was not kept up with and what links can carry the lower one."""
        return min((end for end in (self.high, self.ceiling) if end is not None), default=None)

    @property
    def between(self) -> list[float]:
        """The loads between both ends at which nobody can tell yet, rising."""
        top = self.top
        return sorted(load for load in self.unsettled if (self.low or 0.0) < load < (math.inf if top is None else top))

    def ask(self) -> tuple[float, int] | None:
        """Return the next load, and the length of its run; None where enough is known, or runs are used up. It is the same until `tell`."""
        if len(self.tried) >= self.most:
            return None
        if self._asked is None:
            load = self._next()
            self._asked = None if load is None else (rounded(load), self._length_of(load))
            if self._asked in self._run:
                self._asked = None
        return self._asked

    def tell(self, load: float, state: str, *, settles_ps: int | None = None, passes: float | None = None) -> None:
        """Note what a run has found.

        Parameters
        ----------
        load : float
            As asked.
        state : str
            ``ok``, ``saturated`` or ``unsettled``.
        settles_ps : int, optional
            How long an unsettled run wants to be.
        passes : float, optional
            The load that got through, of a saturated run; what links leave room for, of another.
        """
        _, length = self._asked or (load, self.length)
        self.tried.append((load, length, state))
        self._asked = None
        self._short = self._short if state == "unsettled" else 0
        self.unsettled.discard(load)
        if state == "saturated":
            self.high = min(self.high or math.inf, load)
            self._through = passes
        elif state == "unsettled" or (self.ceiling is not None and load > self.ceiling):
            self.unsettled.add(load)
            self._blurred = max(self._blurred, load)
            self._settles = max(self._settles, settles_ps or 0)
            self._short += state == "unsettled"
            if self._short == _SHORT:
                self._lengthen()
        else:
            self.low = max(self.low or 0.0, load)
            self._room = passes

    def _next(self) -> float | None:
        if not self.tried:
            return self._first()
        if self.low is not None and self.low >= FULL:
            return None
        zone = self.between
        if self.high is None and self.ceiling is not None and self._ups + 1 < len(_OVER):
            self._ups += 1
            return self.ceiling * _OVER[self._ups]
        if self.top is None and (at := max([self.low or 0.0, *zone[-1:]])) < FULL:
            return self._up(at)
        top = FULL if self.top is None else self.top
        if self.low is None:
            return self._down(min([top, *zone[:1]]))
        if zone and (again := self._again(zone)) is not None:
            return again
        tolerance = self.tolerance((self.low + top) / 2)
        if not zone:
            return (self.low + top) / 2 if top - self.low > 2 * tolerance + 1e-12 else None
        below, above = zone[0] - self.low, top - zone[-1]
        if max(below, above) <= tolerance:
            return None
        return self.low + below / 2 if below >= above else top - above / 2

    def _length_of(self, load: float) -> int:
        """Return how long a load is run: as the study says where it is well above all at which runs could not tell."""
        return self._first_length if self._blurred and load > _WELL_ABOVE * self._blurred else self.length

    @property
    def _first_length(self) -> int:
        return self.tried[0][1] if self.tried else self.length

    def _lengthen(self) -> None:
        """Make the next runs as long as those that could not tell said, at least twice as long as they were."""
        self.length, self._short = min(self.longest, max(self._settles, 2 * self.length)), 0

    def _again(self, zone: list[float]) -> float | None:
        """Return the load in the middle of those at which nobody can tell that can be run for longer."""
        if self.length < self.longest and any((load, self.length) in self._run for load in zone):
            self._lengthen()
        left = [load for load in zone if (load, self.length) not in self._run]
        return left[len(left) // 2] if left else None

    @property
    def _run(self) -> set[tuple[float, int]]:
        return {(load, length) for load, length, _ in self.tried}

    def _first(self) -> float:
        if self.ceiling is not None:
            return self.ceiling * _OVER[0]
        first = 0.5 if self.start is None else self.start + self.tolerance(self.start)
        return FULL if first >= FULL - self.tolerance(FULL) else first

    def _up(self, at: float) -> float:
        """Return a load above one that the network kept up with: by a step, or where links leave no room."""
        self._ups += 1
        step = 2 * self.tolerance(max(at, 0.02)) * _GROWTH ** (self._ups - 1)
        load = max(at + step, self._room or 0.0) if self.start is None else at + step
        return FULL if load >= FULL - self.tolerance(FULL) else load

    def _down(self, at: float) -> float:
        """Return a load below one that the network did not keep up with: just below what links can carry or what got through, or by a step."""
        self._downs += 1
        tolerance = self.tolerance(at)
        load = at - 2 * tolerance * _GROWTH ** (self._downs - 1)
        if self.ceiling is not None and at == self.ceiling:
            load = at - 2 * tolerance
        elif self._through is not None and self._through < at - tolerance and self.high == at:
            # What gets through an overload may be more than is carried when it is asked for: a load that was guessed so once is not
            # crept down to by more such guesses.
            guess = self._through - tolerance
            load = min(load, guess) if self._guessed == at else guess
            self._guessed = rounded(guess)
        return max(load, at / 4)
