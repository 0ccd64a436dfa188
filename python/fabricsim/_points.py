"""The points of a study without some of their keys: what searches over these keys do their work at."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fabricsim._runs import short_key
from fabricsim.errors import StudyError, diagnostics_of

if TYPE_CHECKING:
    from fabricsim._runs import Point
    from fabricsim._specification import Specification

__all__ = ["error_words", "point_name", "point_sets", "points_without"]


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
    """Return a point in words: the values of kinds and the names of tables by themselves, others with their keys.

    Examples
    --------
    >>> point_name([("routing.kind", "ugal"), ("job.0.work.message", "2 KiB")])
    'ugal, message=2 KiB'
    >>> point_name([("routing", "eager")])
    'eager'
    """
    words = [
        value if key.endswith(".kind") or ("." not in key and not value.startswith("{")) else f"{short_key(key)}={value}"
        for key, value in point
    ]
    return ", ".join(words) or otherwise


def point_sets(study: Specification, point: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return a point as overrides of its study: a table that the sweep gives a name is the table.

    Examples
    --------
    >>> import fabricsim as fs
    >>> study = fs.Study({"name": "s", "sweep": {"routing": [{"name": "near", "kind": "minimal"}], "link.bandwidth": ["1 GB/s"]}})
    >>> point_sets(study, [("routing", "near"), ("link.bandwidth", "1 GB/s")])
    {'routing': {'kind': 'minimal'}, 'link.bandwidth': '1 GB/s'}
    """
    content = tomllib.loads(study.source)
    named: dict[tuple[str, str], Mapping[str, Any]] = {}
    for part in (content, *_tables(content, "experiment"), *_tables(content, "variant")):
        for key, values in (part.get("sweep") or {}).items():
            tables = (
                [value for value in values if isinstance(value, Mapping) and "name" in value] if isinstance(values, list) else []
            )
            named |= {(key, str(table["name"])): table for table in tables}
    return {
        key: {name: item for name, item in named[key, value].items() if name != "name"} if (key, value) in named else value
        for key, value in point
    }


def _tables(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [table for table in (content.get(key) or {}).values() if isinstance(table, Mapping)]


def error_words(error: BaseException) -> str:
    """Return an error of a point on one line."""
    found = diagnostics_of(error) if isinstance(error, StudyError) else []
    texts = [f"{entry.key}: {entry.reason}" + (f" (hint: {entry.hint})" if entry.hint else "") for entry in found]
    return "; ".join(dict.fromkeys(texts)) or str(error).strip().split("\n")[0]
