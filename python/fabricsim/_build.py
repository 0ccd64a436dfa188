"""Which build of fabricsim this is: version, commit, whether its sources were changed, and a digest of those sources.

The digest decides whether two builds give the same answers: it needs no git, and tells two changed states of one commit apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from fabricsim import _core

__all__ = ["build_words", "same_build", "this_build"]


@cache
def this_build() -> dict[str, Any]:
    """Return ``version``, ``commit``, ``dirty`` (None without git) and ``sources`` of the core in this process."""
    found: dict[str, Any] = json.loads(_core.build())
    return found


def same_build(one: Any, other: Any) -> bool:
    """Tell whether two builds give the same answers; a build that nobody knows is like no other."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    return bool(one.get("sources")) and all(one.get(key) == other.get(key) for key in ("version", "sources"))


def build_words(build: Any) -> str:
    """Return a build for people.

    Examples
    --------
    >>> build_words({"version": "0.2.0", "commit": "7228105773109b82", "dirty": True, "sources": "bf02"})
    '0.2.0, commit 7228105773 with changes (sources bf02)'
    >>> build_words(None)
    'unknown'
    """
    if not isinstance(build, Mapping):
        return "unknown"
    commit = f"commit {str(build['commit'])[:10]}" if build.get("commit") else "no commit"
    changed = " with changes" if build.get("dirty") else ""
    return f"{build.get('version')}, {commit}{changed} (sources {str(build.get('sources'))[:10]})"
