"""The numbers of results, as the core lists them: by key, with word, unit, meaning, and what several seeds have together.

Tables, axes, reports and errors have their words from here; `docs/reference/results.md` is made from the same list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from fabricsim import _core
from fabricsim._units import scaled_unit

__all__ = [
    "MAIN",
    "TABLES",
    "Figure",
    "all_figures",
    "column_label",
    "documented_key",
    "figure_label",
    "figure_of",
    "flat",
    "named",
    "new_name",
    "numbers",
    "over_seeds",
    "together",
]

#: The figures that tables of runs show, where there are such; their order is that of the columns.
MAIN = (
    "n_nodes",
    "jobs.0.time_ns",
    "memory.time_ns",
    "latency_ns.mean",
    "latency_ns.p99",
    "hops.mean",
    "offered_load",
    "accepted_load",
    "throughput_MiBps.mean",
    "messages",
    "cost.price_usd",
    "cost.power_w",
    "cost.energy_j",
    "cpu_s",
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, a text or a group of the results.

    Attributes
    ----------
    key : str
        Its dotted key; ``0`` stands for every place in a list: ``jobs.0.time_ns``.
    measure : str
        What it is measured in, such as ``nanoseconds``, ``share``, ``count``, ``text``, ``group``.
    unit : str
        The unit of that, empty where there is none.
    word : str
        Its name on axes and above columns, without the unit.
    line : str
        What it is, and of what.
    seeds, parts : str
        What several seeds, and what the parts of a run on workers and ranks, have together: ``mean``, ``sum``, ``greatest``, ``least``,
        ``pooled`` or ``apart``.
    """

    key: str
    measure: str
    unit: str
    word: str
    line: str
    seeds: str
    parts: str

    def label(self, *, unit: str | None = None, several_seeds: bool = False) -> str:
        """Return its words for an axis or a column.

        Parameters
        ----------
        unit : str, optional
            Another unit than its own, where numbers are shown in that.
        several_seeds : bool, optional
            What is shown is of several seeds: words say what they have together, unless it is their mean.
        """
        how = f", {self.seeds} over seeds" if several_seeds and self.seeds in _TOGETHER else ""
        shown = self.unit if unit is None else unit
        return f"{self.word}{how}{f' [{shown}]' if shown else ''}"

    def scaled(self, largest: float, *, several_seeds: bool = False) -> tuple[float, str]:
        """Return what to multiply its numbers by, and its label: long times are shown in us, ms or s.

        Parameters
        ----------
        largest : float
            The largest of the numbers that are shown.
        several_seeds : bool, optional
            As for the label.
        """
        factor, unit = scaled_unit(self.unit, largest) if self.measure == "nanoseconds" else (1.0, self.unit)
        return factor, self.label(unit=unit, several_seeds=several_seeds)


#: What several values have together where it is not their mean.
_TOGETHER: Mapping[str, Callable[[Sequence[float]], float]] = {"sum": sum, "greatest": max, "least": min}


@cache
def _listing() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_core.results())
    return found


#: Tables a run may record, in the order in which they are stored.
TABLES: tuple[str, ...] = tuple(table["name"] for table in _listing()["tables"])


def _below(figures: Sequence[Mapping[str, Any]], prefix: str) -> Iterator[Figure]:
    for entry in figures:
        key = prefix + entry["name"]
        yield Figure(key, **{name: entry[name] for name in ("measure", "unit", "word", "line", "seeds", "parts")})
        yield from _below(entry["figures"], f"{key}.0." if entry["measure"] == "list" else f"{key}.")


@cache
def all_figures() -> dict[str, Figure]:
    """Return every figure by its key, in the order of the documentation.

    Examples
    --------
    >>> all_figures()["jobs.0.time_ns"].unit
    'ns'
    """
    return {found.key: found for found in _below(_listing()["figures"], "")}


def documented_key(key: str) -> str:
    """Return a key with 0 for every place in a list, as figures are listed.

    Examples
    --------
    >>> documented_key("jobs.3.time_ns")
    'jobs.0.time_ns'
    """
    return re.sub(r"\.\d+(?=\.|$)", ".0", key)


@cache
def figure_of(key: str) -> Figure | None:
    """Return the figure of a key, of any place in a list; None where it is none, such as a swept key.

    Examples
    --------
    >>> figure_of("jobs.3.time_ns").word
    'time of the job'
    >>> figure_of("job.0.work.load") is None
    True
    """
    return all_figures().get(documented_key(key))


def figure_label(key: str, *, unit: str | None = None) -> str:
    """Return the words of a figure for an axis or a column, with its unit or another.

    Examples
    --------
    >>> figure_label("latency_ns.mean"), figure_label("jobs.0.time_ns", unit="us")
    ('mean latency [ns]', 'time of the job [us]')
    """
    return all_figures()[key].label(unit=unit)


def column_label(table: str, column: str) -> str:
    """Return the words of a column of a recorded table, with its unit.

    Examples
    --------
    >>> column_label("senders", "throughput_MiBps"), column_label("links", "peer_router")
    ('throughput [MiB/s]', 'receiving router')
    """
    columns = {(entry["name"], found["name"]): found for entry in _listing()["tables"] for found in entry["columns"]}
    found = columns.get((table, column))
    if found is None:
        return column.replace("_", " ")
    word, unit = found["word"], found["unit"]
    return f"{word} [{unit}]" if unit else str(word)


@cache
def _elsewhere() -> tuple[dict[str, Any], ...]:
    """Return what is no number of a run: columns of recorded tables and names in files, each with its file."""
    columns = [{"file": f"{table['name']}.parquet", **column} for table in _listing()["tables"] for column in table["columns"]]
    return (*columns, *({"file": file["name"], "word": "", **name} for file in _listing()["files"] for name in file["names"]))


@cache
def _declared(name: str) -> re.Pattern[str]:
    """Return what a declared name stands for: a word in capitals for any, a 0 for any number."""
    holes = {"KEY": r"[\w.]+", "TABLE": r"\w+", "FILE": r".+", "0": r"\d+"}
    return re.compile(r"\.".join(holes.get(part, re.escape(part)) for part in name.split(".")))


def _is_called(declared: str, name: str) -> bool:
    """Tell whether a declared name is that of a key: all of it, its end, or what it stands for."""
    return declared == name or declared.endswith(f".{name}") or _declared(declared).fullmatch(name) is not None


def named(name: str) -> list[dict[str, Any]]:
    """Return all that is called so in results: numbers of runs, columns of tables, keys of files, each with what it is.

    The end of a dotted key is enough: ``time_ns`` is also ``jobs.0.time_ns``.

    Examples
    --------
    >>> [(found["name"], found["file"]) for found in named("utilisation")]
    [('utilisation', 'links.parquet'), ('utilisation', 'link_windows.parquet')]
    >>> named("perturbed.times.latency_ns.mean.max")[0]["seeds"]
    'greatest'
    """
    figures = ({"file": "", **asdict(found), "name": key} for key, found in all_figures().items() if _is_called(key, name))
    found = [*figures, *(entry for entry in _elsewhere() if _is_called(entry["name"], name))]
    # What is called so to the letter comes first, groups after what is in them.
    return sorted(found, key=lambda entry: (entry["name"] != documented_key(name), entry["measure"] == "group"))


@cache
def over_seeds(key: str) -> str:
    """Return what several seeds have together of a number: ``mean``, ``sum``, ``greatest`` or ``least``.

    Examples
    --------
    >>> over_seeds("cpu_s"), over_seeds("jobs.1.latency_ns.max"), over_seeds("job.0.work.load")
    ('sum', 'greatest', 'mean')
    >>> over_seeds("perturbed.times.sim_time_ns.min")
    'least'
    """
    found = figure_of(key)
    if found is None:
        declared = (entry for entry in _elsewhere() if "KEY" in entry["name"] and _is_called(entry["name"], key))
        told = next((str(entry["seeds"]) for entry in declared if entry["measure"] != "group"), "mean")
    else:
        told = found.seeds
    return told if told in _TOGETHER else "mean"


def together(key: str, values: Sequence[float]) -> float:
    """Return what several seeds have together of a number: their mean, unless the figure says otherwise.

    Examples
    --------
    >>> together("latency_ns.mean", [1.0, 3.0]), together("latency_ns.max", [1.0, 3.0]), together("cpu_s", [1.0, 3.0])
    (2.0, 3.0, 4.0)
    """
    how = _TOGETHER.get(over_seeds(key))
    if how is not None:
        return float(how(values))
    import numpy as np

    return float(np.mean(values))


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return what a part of a summary holds by dotted keys; lists of what has no keys stay as they are.

    Examples
    --------
    >>> flat({"hops": {"mean": 2.5}, "jobs": [{"time_ns": 3.0}], "notes": ["a", "b"]})
    {'hops.mean': 2.5, 'jobs.0.time_ns': 3.0, 'notes': ['a', 'b']}
    """
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        inner = dict(enumerate(value)).items()
    else:
        return {prefix: value}
    found: dict[str, Any] = {}
    for key, item in inner:
        found |= flat(item, f"{prefix}.{key}" if prefix else str(key))
    return found


def numbers(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return every number of a summary by key; one that cannot be given is what it is not below, where that is known."""
    every = flat(summary)
    found = {}
    for key, value in every.items():
        if key.endswith("_at_least"):
            continue
        told = every.get(f"{key}_at_least") if value is None else value
        if isinstance(told, int | float) and not isinstance(told, bool) and figure_of(key) is not None:
            found[key] = float(told)
    return found


#: Groups whose figures had the unit of the group at the end of their old names.
_UNIT_LAST = re.compile(r"(latency|wait|source_wait|latency_of_arrived|throughput)_(ns|MiBps)\.(\w+)")
_OLD_SPREAD = re.compile(r"perturbed_(min|median|max|relative)_(job_time|memory_time|sim_time|latency_mean|latency_p99)(?:_ns)?")
_OLD_TIMES = {
    "job_time": "jobs.0.time_ns",
    "memory_time": "memory.time_ns",
    "sim_time": "sim_time_ns",
    "latency_mean": "latency_ns.mean",
    "latency_p99": "latency_ns.p99",
}


@cache
def _old_names() -> dict[str, str]:
    """Return what columns of `runs.parquet` were called when they had names of their own, with their keys."""
    found = {"perturbed_runs": "perturbed.runs"}
    for key in all_figures():
        inner = key.removeprefix("jobs.0.")
        old = _UNIT_LAST.sub(r"\1_\3_\2", inner).replace(".", "_")
        if old != inner:
            found.setdefault(old, key)
        if inner != key:
            found.setdefault(f"job_{old}", key)
    return found


def new_name(name: str) -> str | None:
    """Return the key of what had another name as a column of `runs.parquet` in earlier versions; None if it had not.

    Examples
    --------
    >>> new_name("latency_mean_ns"), new_name("job_time_ns"), new_name("verdict_state"), new_name("latency_ns.mean")
    ('latency_ns.mean', 'jobs.0.time_ns', 'verdict.state', None)
    >>> new_name("perturbed_max_job_time_ns")
    'perturbed.times.jobs.0.time_ns.max'
    """
    if spread := _OLD_SPREAD.fullmatch(name):
        return f"perturbed.times.{_OLD_TIMES[spread[2]]}.{spread[1]}"
    return None if name in all_figures() else _old_names().get(name)
