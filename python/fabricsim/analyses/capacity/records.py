"""What came of jobs that share a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Capacity"]


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
