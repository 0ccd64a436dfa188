"""The points of a study without some of their keys: what searches over these keys do their work at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from fabricsim._runs import short_key

if TYPE_CHECKING:
    from fabricsim._runs import Point
    from fabricsim._specification import Specification

__all__ = ["point_name", "points_without"]


def points_without(study: Specification, keys: Collection[str], experiments: Sequence[str] | None = None) -> list[Point]:
    """Return the points of a study with `keys` taken out of them, each once, in order.

    Parameters
    ----------
    study : Specification
        Whose points.
    keys : collection of str
        Dotted keys that a search gives values to.
    experiments : sequence of str, optional
        Only these.
    """
    points = study.points(experiments=experiments)
    found = [(experiment, tuple(pair for pair in swept if pair[0] not in keys)) for experiment, swept in points]
    return list(dict.fromkeys(found))


def point_name(point: Sequence[tuple[str, str]], otherwise: str = "") -> str:
    """Return a point in words: the values of kinds by themselves, others with their keys.

    Examples
    --------
    >>> point_name([("routing.kind", "ugal"), ("job.0.work.message", "2 KiB")])
    'ugal, message=2 KiB'
    """
    words = [value if key.endswith(".kind") or key == "experiment" else f"{short_key(key)}={value}" for key, value in point]
    return ", ".join(words) or otherwise
