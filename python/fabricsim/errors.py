"""Errors of the Python face: every error says what was wrong, where, and what to do.

`StudyError`, `CheckFailed`, `CheckpointRefused`, `TraceError` and `Interrupted` are raised by the core; the others by the campaign layer.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricsim._core import CheckFailed, CheckpointRefused, Interrupted, StudyError, TraceError

__all__ = [
    "CampaignInterrupted",
    "CheckFailed",
    "CheckpointRefused",
    "ClaimError",
    "ClusterError",
    "DamagedError",
    "DamagedWarning",
    "Diagnostic",
    "DiskError",
    "FabricsimError",
    "Interrupted",
    "ProgramError",
    "ResultsError",
    "RunFailed",
    "StudyError",
    "TraceError",
    "TraceWarning",
    "diagnostics_of",
]


class FabricsimError(Exception):
    """Base of the errors that are raised above the core."""


class ResultsError(FabricsimError, ValueError):
    """A results directory cannot be used as asked: it is missing, belongs to another study, or is in use."""


class DamagedError(ResultsError):
    """A file of a results directory is not what was written there.

    Attributes
    ----------
    place, reason, hint : str
        The file, what is wrong with it, and what to do.
    """

    def __init__(self, place: str | Path, reason: str, hint: str = "") -> None:
        super().__init__(f"{place} is damaged: {reason}" + (f"; {hint}" if hint else ""))
        self.place, self.reason, self.hint = str(place), reason, hint


class DamagedWarning(UserWarning):
    """Files of a results directory are not what was written there; what is whole was used without them."""


class TraceWarning(UserWarning):
    """Something is wrong with the file of a trace; what could be read was used."""


class ClaimError(FabricsimError, ValueError):
    """A claim of the study is not well formed; the message says which and why."""


class ClusterError(FabricsimError, ValueError):
    """A Dask cluster cannot be used as asked: nobody answers, versions differ, or Dask is missing."""


class ProgramError(FabricsimError):
    """An MPI program cannot be run, and why."""


class DiskError(FabricsimError, OSError):
    """Results could not be written (disk full, quota, read-only); finished runs are kept."""


class RunFailed(FabricsimError, RuntimeError):
    """A run ended in an error that is not the user's: the worker process died or the core reported a fault."""


class CampaignInterrupted(FabricsimError):
    """The campaign was stopped by the user; finished runs are kept.

    Attributes
    ----------
    signal : int
        What stopped it: SIGINT (Ctrl-C, or a function of the user's) or SIGTERM.
    """

    signal: int = signal.SIGINT


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in a study file.

    Attributes
    ----------
    severity : str
        ``"error"`` or ``"warning"``.
    file : str
        The study file, or ``--set`` for an override.
    line, column : int
        Place in the file, counted from 1; 0 where there is none.
    key : str
        Dotted key, such as ``router.vcs``.
    reason, hint : str
        Why it is wrong, and what to do about it (may be empty).
    rendered : str
        The finding as text with the source line and a caret.
    """

    severity: str
    file: str
    line: int
    column: int
    key: str
    reason: str
    hint: str
    rendered: str

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Diagnostic:
        """Build from the core's JSON object; absent fields become empty."""
        return cls(
            severity=str(entry.get("severity") or "error"),
            file=str(entry.get("file") or ""),
            line=int(entry.get("line") or 0),
            column=int(entry.get("column") or 0),
            key=str(entry.get("key") or ""),
            reason=str(entry.get("reason") or ""),
            hint=str(entry.get("hint") or ""),
            rendered=str(entry.get("rendered") or ""),
        )

    def __str__(self) -> str:
        """Return the rendered text, or one line where the core rendered nothing."""
        if self.rendered:
            return self.rendered.rstrip("\n")
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else (f"{self.file}: " if self.file else "")
        key = f"{self.key}: " if self.key else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.severity}: {place}{key}{self.reason}{hint}"


def diagnostics_of(error: StudyError) -> list[Diagnostic]:
    """Return the findings that a `StudyError` carries, in file order.

    Parameters
    ----------
    error : StudyError
        As raised by the core; its ``diagnostics`` are a list of objects or their JSON text.

    Returns
    -------
    list of Diagnostic
        At least one entry: an error without findings becomes one that carries its message.
    """
    found: Any = getattr(error, "diagnostics", None)
    if isinstance(found, str):
        found = json.loads(found)
    entries = [Diagnostic.from_dict(entry) for entry in found or []]
    if not entries:
        entries = [Diagnostic.from_dict({"reason": str(error), "rendered": f"error: {error}"})]
    return entries
