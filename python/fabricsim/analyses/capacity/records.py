"""What came of jobs that share a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricsim._runs import point_words

__all__ = ["Capacity"]

#: Slowdowns below this are none in two digits.
_SEEN = 1.005


@dataclass(frozen=True, slots=True)
class Capacity:
    """What came of the jobs of one point of a campaign.

    Attributes
    ----------
    point : tuple of (key, value)
        Swept keys and their values, and the seed.
    jobs : tuple of str
        Names of the jobs.
    runs, runs_alone : mapping
        Iterations that each job finished, with all others and alone; None of jobs that have none, such as uniform traffic.
    slowdown : mapping
        Time with all others by time alone; of jobs that do not end, iterations alone by iterations with all others; of synthetic
        traffic, mean latency by mean latency alone. None where there is nothing to divide: a note says why.
    interference : mapping of (job, other) to float
        The same with one other job; empty without pairs.
    notes : tuple of str
        Why a slowdown cannot be given.
    """

    point: tuple[tuple[str, str], ...]
    jobs: tuple[str, ...]
    runs: Mapping[str, int | None]
    runs_alone: Mapping[str, int | None]
    slowdown: Mapping[str, float | None]
    interference: Mapping[tuple[str, str], float | None]
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The answer: which job loses most beside the others, and by whom; empty where no slowdown is known."""
        known = {job: slowdown for job, slowdown in self.slowdown.items() if slowdown is not None}
        if not known:
            return ""
        worst = max(known, key=lambda job: known[job])
        where = point_words([pair for pair in self.point if pair[0] != "seed"])
        said = (
            f"{worst} loses most beside the others: it takes {known[worst]:.2f} times as long as alone."
            if known[worst] >= _SEEN
            else "No job is slower beside the others than alone."
        )
        return f"{f'With {where}: ' if where else ''}{said}{self._worst_company()}"

    def _worst_company(self) -> str:
        known = {two: slowdown for two, slowdown in self.interference.items() if slowdown is not None}
        if not known or max(known.values()) < _SEEN:
            return ""
        (job, other), most = max(known.items(), key=lambda item: item[1])
        return f" Of pairs {other} slows {job} most: {most:.2f} times."
