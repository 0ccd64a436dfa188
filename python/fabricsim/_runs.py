"""The runs of a study as plain records: what is asked, not how it is found out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricsim.errors import Diagnostic

__all__ = ["CheckReport", "Expansion", "Point", "Run", "point_words", "short_key", "value_words"]

#: What runs of one point have in common: the experiment and the swept values.
Point = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Run:
    """One point of a study's sweep with one seed; a result is a function of `canonical` alone.

    Attributes
    ----------
    id : str
        Twelve hexadecimal digits of `hash`.
    canonical : str
        The complete specification as stable JSON.
    hash : str
        SHA-256 of the specification.
    study, experiment : str
        Names; `experiment` is empty where a study has only one.
    sweep : tuple of (key, value)
        Swept keys and their values as written in the study.
    seed : int
        Seed of every random draw.
    engine : str
        Engine asked for; it never changes the result.
    topology : dict
        The topology's parameters.
    estimate : dict
        ``nodes`` and ``routers``, and what the run is predicted to take: ``memory_bytes``, ``packets``, ``packet_hops`` and
        ``seconds`` on one core, of which ``build_seconds`` do not grow with the work; None where the work is not known beforehand.
        ``seconds_at_least`` if iterations repeat and need not be run; None where all are.
    perturbation : dict
        Of a perturbed run its ``number`` beside the run before it, and by how much its starts differ, ``spread_ns``; else empty.
    """

    id: str
    canonical: str
    hash: str
    study: str
    experiment: str
    sweep: tuple[tuple[str, str], ...]
    seed: int
    engine: str
    topology: dict[str, Any]
    estimate: dict[str, Any]
    perturbation: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Run:
        """Build from an entry of the core's expansion."""
        return cls(
            id=str(entry["id"]),
            canonical=str(entry["canonical"]),
            hash=str(entry["hash"]),
            study=str(entry["study"]),
            experiment=str(entry.get("experiment") or ""),
            sweep=tuple(
                (str(key), value if isinstance(value, str) else json.dumps(value)) for key, value in entry.get("sweep") or []
            ),
            seed=int(entry["seed"]),
            engine=str(entry.get("engine") or "auto"),
            topology=dict(entry.get("topology") or {}),
            estimate=dict(entry.get("estimate") or {}),
            perturbation=dict(entry.get("perturbation") or {}),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, as in the manifest of a results directory."""
        return {
            "id": self.id,
            "hash": self.hash,
            "study": self.study,
            "experiment": self.experiment,
            "sweep": [list(pair) for pair in self.sweep],
            "seed": self.seed,
            "engine": self.engine,
            "topology": self.topology,
            "estimate": self.estimate,
            "canonical": self.canonical,
            **({"perturbation": self.perturbation} if self.perturbation else {}),
        }

    @property
    def label(self) -> str:
        """Name for people: experiment, swept values and seed."""
        parts = [f"{short_key(key)}={value}" for key, value in self.sweep]
        if self.perturbation:
            parts.append(f"perturbed={self.perturbation['number']}")
        return " ".join([*([self.experiment] if self.experiment else []), *parts, f"seed={self.seed}"])


@dataclass(frozen=True, slots=True)
class Expansion:
    """All runs of a study, in order: experiments, sweep as written, seeds innermost.

    Attributes
    ----------
    name, description : str
        Of the study.
    claims : tuple of dict
        The study's ``[[claim]]`` tables.
    reproduce : dict
        The study's ``[reproduce]`` table.
    runs : tuple of Run
        Every run.
    sample : dict
        ``method``, ``points``, ``seed`` and ``keys`` with their ranges where the study has a ``[sample]``.
    """

    name: str
    description: str
    claims: tuple[dict[str, Any], ...]
    reproduce: dict[str, Any]
    runs: tuple[Run, ...]
    sample: dict[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 over the study's name and the hashes of all runs: two studies with the same hash have the same results."""
        text = "\n".join([self.name, *(run.hash for run in self.runs)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of the experiments, in order."""
        return tuple(dict.fromkeys(run.experiment for run in self.runs))

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runs)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `Study.check` found.

    Attributes
    ----------
    ok : bool
        Whether the study can run.
    diagnostics : tuple of Diagnostic
        Errors and warnings.
    runs : int
        Number of runs.
    deadlock : tuple
        Cycles of waiting channels, by name; empty when every run is free of deadlock.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    runs: int
    deadlock: tuple[Any, ...]


def short_key(key: str) -> str:
    """Return the part of a dotted key that says what it is.

    Examples
    --------
    >>> short_key("routing.kind"), short_key("job.0.work.load")
    ('routing', 'load')
    """
    *parents, last = key.split(".")
    return parents[-1] if last == "kind" and parents else last


def value_words(text: str) -> str:
    """Return a swept value for people: a table without a name by its kind and what is set beside it.

    Examples
    --------
    >>> value_words('{ kind = "clustered", chunk = 4 }'), value_words("25 GB/s")
    ('clustered chunk=4', '25 GB/s')
    """
    if not (text.startswith("{") and text.endswith("}")):
        return text
    return text[1:-1].replace("kind = ", "").replace('"', "").replace(" = ", "=").replace(",", "").strip()


def point_words(sweep: Iterable[tuple[str, str]]) -> str:
    """Return where a point of a sweep stands: keys with their values; the name of a table stands for itself.

    Examples
    --------
    >>> point_words([("routing.kind", "ugal"), ("job.0.work.load", "0.5")])
    'routing = ugal, load = 0.5'
    >>> point_words([("routing", "eager")])
    'eager'
    >>> point_words([("job.0.placement", "linear"), ("job.1.placement", "linear")])
    'placement = linear'
    >>> point_words([("job.0.placement", "linear"), ("job.1.placement", "random")])
    'job.0.placement = linear, job.1.placement = random'
    """
    values: dict[str, set[str]] = {}
    for key, value in (pairs := list(sweep)):
        values.setdefault(_without_job(key), set()).add(value)
    found = []
    for key, value in pairs:
        # Values of these keys are tables: what is written as none is the name of one.
        is_name = ("." not in key or key.rpartition(".")[2] == "work") and not value.startswith("{")
        short = _without_job(key)
        # Jobs with another value each are told apart.
        shown = short if len(values[short]) == 1 else key
        found.append(value if is_name else f"{shown} = {value_words(value)}")
    return ", ".join(dict.fromkeys(found))


def _without_job(key: str) -> str:
    """Return a key without the job it is of, and a table's kind as the table."""
    parts = key.split(".")
    parts = parts[:-1] if parts[-1] == "kind" and len(parts) > 1 else parts
    parts = parts[2:] if parts[0] == "job" and len(parts) > 2 else parts
    return ".".join(parts[1:] if parts[0] == "work" and len(parts) > 1 else parts)
