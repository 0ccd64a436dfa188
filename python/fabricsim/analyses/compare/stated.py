"""What a study says, key by key, as far as it can make runs differ."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from fabricsim._figures import flat
from fabricsim._units import axis_value

__all__ = ["alike", "is_below", "said", "stated_keys"]

#: Keys of a study that change no run.
_WORDS = ("name", "description", "claim", "reproduce", "variant", "figure")


def stated_keys(manifest: Mapping[str, Any], *, experiment: str = "") -> dict[str, str]:
    """Return what a study says, by dotted keys: as written, with its variant, an experiment of it, and with what was set."""
    try:
        source: dict[str, Any] = tomllib.loads(str(manifest.get("study_source") or ""))
    except tomllib.TOMLDecodeError:
        source = {}
    variant = (source.get("variant") or {}).get(manifest.get("variant") or "") or {}
    part = (source.get("experiment") or {}).get(experiment) or {}
    found: dict[str, str] = {}
    for told in (source, variant, part):
        left_out = (*_WORDS, "sweep", "experiment")
        found |= {key: said(value) for key, value in flat({k: v for k, v in told.items() if k not in left_out}).items()}
    found |= {str(key): said(value).strip('"') for key, value in manifest.get("sets") or []}
    return found


def said(value: Any) -> str:
    """Return a value of a study as text."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def is_below(key: str, others: Iterable[str]) -> bool:
    """Tell whether a key is one of others, or stands below one."""
    return any(key == other or key.startswith(f"{other}.") for other in others)


def alike(value: str) -> object:
    """Return a value so that equal quantities are equal: ``25 GB/s`` and ``0.025 TB/s``."""
    return axis_value(value) or value
