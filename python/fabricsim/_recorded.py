"""What a campaign has recorded, read from its directory as Arrow tables; pandas and polars are imported only on demand."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from fabricsim._figures import TABLES, figure_label, new_name
from fabricsim._files import Seal
from fabricsim._live import logs_of, programs_of
from fabricsim._records import Finding, ordered_records, read_manifest, records_of
from fabricsim._runs import Run
from fabricsim._seals import BrokenSeal, check, read_product, seal_of
from fabricsim._tables import jobs_table, read_arrow, runs_table
from fabricsim.analyses.perturb.spread import told_apart
from fabricsim.errors import DamagedError, DamagedWarning, ResultsError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Recorded", "RunRecord"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A finished run: what was asked and what came out.

    Attributes
    ----------
    run : Run
        The specification.
    summary : dict
        The run's numbers; units are in the keys.
    tables : dict
        Arrow file of each recorded table.
    wall_s : float
        Wall time of the run in its process, seconds.
    seals : dict
        Seal of each table; none in folders of before there were seals.
    logs : tuple of Path
        Of a run of programs: what they did, or what was played in their place.
    """

    run: Run
    summary: dict[str, Any]
    tables: dict[str, Path]
    wall_s: float
    seals: dict[str, Seal] = field(default_factory=dict)
    logs: tuple[Path, ...] = ()

    def read(self, table: str) -> pa.Table:
        """Return a table as it was written.

        Raises
        ------
        DamagedError
            It is not what was written.
        """
        path = self.tables[table]
        try:
            if table in self.seals:
                check(path, self.seals[table], seal_of(path))
        except BrokenSeal as error:
            raise DamagedError(path, error.reason, "`fabricsim run STUDY --out DIR --resume` runs it again") from None
        return read_arrow(path)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.run.id

    @property
    def ok(self) -> bool:
        """Whether every self-check held."""
        return bool(self.summary.get("verdict", {}).get("ok"))

    @property
    def state(self) -> str:
        """Whether the network kept up with the load: ``"ok"``, ``"saturated"``, or ``"unsettled"`` where the run is too short to tell."""
        verdict = self.summary.get("verdict", {})
        return str(verdict.get("state") or ("saturated" if self.summary.get("saturated") else "ok"))

    @property
    def why(self) -> str:
        """The state in words, and why."""
        because = self.summary.get("verdict", {}).get("because") or self.summary.get("saturated") or ""
        return f"{self.state}: {because}" if because else self.state

    @property
    def verdict(self) -> str:
        """Verdict of the self-checks, or the state of the load."""
        return self.state if self.ok else "SELF-CHECK FAILED"

    @property
    def label(self) -> str:
        """Name for people."""
        return self.run.label

    def value(self, key: str) -> Any:
        """Return a number of the summary, a swept value, or what the network is, by key.

        Keys are dotted: ``latency_ns.p99``, ``jobs.0.time_ns``, ``topology.kind``. ``engine`` is the one that ran, not what the study
        asked for, which is ``.run.engine``.

        Raises
        ------
        KeyError
            The run has no such number; the message names what there is.
        """
        swept = dict(self.run.sweep)
        if key in swept:
            return swept[key]
        if key in ("seed", "experiment"):
            return getattr(self.run, key)
        section, _, name = key.partition(".")
        if section == "topology" and name in self.run.topology:
            return self.run.topology[name]
        found: Any = self.summary
        for part in key.split("."):
            if isinstance(found, list) and part.isdecimal() and int(part) < len(found):
                found = found[int(part)]
                continue
            if not isinstance(found, Mapping) or part not in found:
                if renamed := new_name(key):
                    raise KeyError(f"no value `{key}` in run {self.run.id}: it is called `{renamed}`")
                names = ", ".join([*swept, *(name for name in self.summary if name not in ("verdict", "notes", "limits"))])
                raise KeyError(f"no value `{key}` in run {self.run.id}; there are: {names}")
            found = found[part]
        return found


def _logs(folder: Path, run: Run, record: Mapping[str, Any]) -> list[Path]:
    """Return the logs of the programs of a run, its own or those that it has played."""
    count = len(programs_of(run.canonical))
    return logs_of(folder, record.get("replay_of") or run.id, count) if count else []


class Recorded:
    """The results of a campaign as they lie in its directory; `fabricsim.Results` is this and can be drawn."""

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        records: list[RunRecord],
        damaged: Sequence[Finding] = (),
        perturbed: Sequence[RunRecord] = (),
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.records = tuple(records)
        self.damaged = tuple(damaged)
        self.perturbed = tuple(perturbed)

    @classmethod
    def open(cls, folder: str | Path, *, tables: bool = False) -> Self:
        """Open a results directory, complete or not.

        Records that are not what was written are left out with a `DamagedWarning`, and are in ``.damaged``. Tables are compared
        with their seals when they are read, or now where `tables` is True.

        Raises
        ------
        ResultsError
            It is no results directory.
        DamagedError
            Its manifest is not what was written.
        """
        path = Path(folder)
        manifest = read_manifest(path)
        if manifest is None:
            raise ResultsError(f"{path} is not a results directory: it has no manifest.json")
        runs = {entry["id"]: Run.from_dict(entry) for entry in manifest["runs"]}
        found = records_of(path, manifest, tables=tables)
        records, perturbed = (
            [
                RunRecord(
                    run=runs[record["id"]],
                    summary=record["summary"],
                    tables={name: path / "runs" / entry["file"] for name, entry in record["tables"].items()},
                    wall_s=float(record.get("wall_s") or 0.0),
                    seals={
                        name: Seal(entry["sha256"], entry["bytes"])
                        for name, entry in record["tables"].items()
                        if "sha256" in entry
                    },
                    logs=tuple(_logs(path / "runs", runs[record["id"]], record)),
                )
                for record in told
            ]
            for told in told_apart(ordered_records(manifest, found.whole), manifest)
        )
        if found.findings:
            more = f" and {len(found.findings) - 1} more" if len(found.findings) > 1 else ""
            warnings.warn(
                f"{path}: {found.findings[0]}{more} (fabricsim verify names all); used without them", DamagedWarning, stacklevel=2
            )
        return cls(path, manifest, records, found.findings, perturbed)

    def product(self, name: str) -> bytes | None:
        """Return a file that was made from these results, such as ``figures/latency.png``; None where there is none that is whole.

        One that is damaged, or was made before the runs were what they are now, gives a `DamagedWarning`.
        """
        try:
            return read_product(self.folder, name)
        except BrokenSeal as error:
            warnings.warn(f"{self.folder / name} is not used: {error.reason}", DamagedWarning, stacklevel=2)
            return None

    def perturbation(self, number: int) -> Self:
        """Return the same results with every run replaced by one of the perturbed runs beside it, counted from 1.

        Runs without it are missing, so that measures on it never mix perturbed runs with others.
        """
        chosen = [record for record in self.perturbed if record.run.perturbation.get("number") == number]
        return type(self)(self.folder, self.manifest, chosen, self.damaged)

    @property
    def perturbations(self) -> int:
        """How many perturbed runs stand beside each run, at most."""
        return max((int(record.run.perturbation["number"]) for record in self.perturbed), default=0)

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.manifest["study"]["name"])

    @property
    def ok(self) -> bool:
        """Whether every run is finished and passed its self-checks."""
        return self.complete and not self.failed and not self.damaged

    @property
    def complete(self) -> bool:
        """Whether every run of the study is finished."""
        return len(self.records) + len(self.perturbed) == len({run["id"] for run in self.manifest["runs"]})

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        """Runs with a failed self-check: their numbers must not be used."""
        return tuple(record for record in (*self.records, *self.perturbed) if not record.ok)

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of the experiments that have finished runs, in order."""
        return tuple(dict.fromkeys(record.run.experiment for record in self.records))

    def swept_keys(self, experiment: str | None = None) -> tuple[str, ...]:
        """Return the swept keys, of one experiment or of all, in order."""
        keys: dict[str, None] = {}
        for record in self.records:
            if experiment is None or record.run.experiment == experiment:
                keys.update(dict.fromkeys(key for key, _ in record.run.sweep))
        return tuple(keys)

    @cached_property
    def runs(self) -> pa.Table:
        """A row per run: swept keys, seed, verdict and every number, by the keys of the summary (``latency_ns.p99``)."""
        return runs_table(
            {
                "id": record.run.id,
                "hash": record.run.hash,
                "experiment": record.run.experiment,
                "seed": record.run.seed,
                "sweep": record.run.sweep,
                "summary": record.summary,
            }
            for record in self.records
        )

    @cached_property
    def jobs(self) -> pa.Table:
        """A row per run and job, by the keys that the summary has for it: ``time_ns``, ``latency_ns.mean``, ``wait_share``.

        Empty where no run has jobs that do something.
        """
        found = jobs_table({"id": record.run.id, "summary": record.summary} for record in self.records)
        return found if found is not None else pa.table({})

    def to_pandas(self) -> pd.DataFrame:
        """Return `runs` as a pandas frame (needs pandas)."""
        return self.runs.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return `runs` as a polars frame (needs polars)."""
        import polars as pl

        frame = pl.from_arrow(self.runs)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def record(self, run: str | int | RunRecord) -> RunRecord:
        """Return a run by id (or the beginning of one), by position, or as given.

        Raises
        ------
        KeyError
            No run, or more than one, is meant.
        """
        if isinstance(run, RunRecord):
            return run
        if isinstance(run, int):
            try:
                return self.records[run]
            except IndexError:
                raise KeyError(f"no run {run}: there are {len(self.records)} finished runs") from None
        found = [record for record in (*self.records, *self.perturbed) if record.run.id.startswith(run)]
        if not run or len(found) != 1:
            raise KeyError(f"{'no' if not found else 'more than one'} finished run with id {run!r} in {self.folder}")
        return found[0]

    def table(self, name: str, run: str | int | RunRecord = 0) -> pa.Table:
        """Return a recorded table of one run.

        Parameters
        ----------
        name : str
            ``links``, ``messages``, ``timeline``, ``cdf``, ``hops``, ``senders`` or ``ranks``.
        run : str, int or RunRecord
            The run, the first by default.

        Raises
        ------
        KeyError
            No such run or table, or the study did not ask for it under ``[observe]``.
        DamagedError
            The table is not what was written.
        """
        if name not in TABLES:
            raise KeyError(f"no table {name!r}; there are: {', '.join(TABLES)}")
        record = self.record(run)
        if name not in record.tables:
            raise KeyError(f"run {record.id} recorded no {name}; ask for it under [observe] in the study")
        return record.read(name)

    def links(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return the load of every link direction of a run: ``utilisation`` is a fraction of its bandwidth."""
        return self.table("links", run)

    def cdf(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return the distribution of message latency: ``latency_ns`` and ``fraction``."""
        return self.table("cdf", run)

    def messages(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return every message of a run (``[observe] messages = true``) with its times in ps, null where it has not come so far."""
        return self.table("messages", run)

    def timeline(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return accepted load and latency over simulated time."""
        return self.table("timeline", run)

    def hops(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return packets by number of hops."""
        return self.table("hops", run)

    def senders(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return throughput and latency per sending node."""
        return self.table("senders", run)

    def ranks(self, run: str | int | RunRecord = 0) -> pa.Table:
        """Return a row per MPI rank (``[observe] ranks = true``); a rank that did not come to its end has no ``finished_ns`` (NaN)."""
        return self.table("ranks", run)

    def to_json(self) -> dict[str, Any]:
        """Return what `fabricsim run --json` prints."""
        return {
            "study": self.name,
            "study_hash": self.manifest["study_hash"],
            "version": self.manifest["version"],
            "out": str(self.folder),
            "ok": self.ok,
            "complete": self.complete,
            "runs": [
                {
                    "id": record.run.id,
                    "experiment": record.run.experiment,
                    "seed": record.run.seed,
                    "sweep": dict(record.run.sweep),
                    **record.summary,
                }
                for record in self.records
            ],
        }

    def __len__(self) -> int:
        """Return the number of finished runs."""
        return len(self.records)

    @property
    def state(self) -> str:
        """The verdict in words."""
        if self.failed:
            return f"{len(self.failed)} self-checks failed"
        if self.damaged:
            return f"{len(self.damaged)} files damaged"
        return "ok" if self.complete else "incomplete"

    def __repr__(self) -> str:
        """Return name, runs and verdict."""
        state = self.state
        return f"{type(self).__name__}({self.name!r}, {len(self.records)} of {len(self.manifest['runs'])} runs, {state}, {str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """Return the main numbers of the first runs for notebooks."""
        keys = self.swept_keys()
        colour = "#1a7f37" if self.ok else "#b3261e"
        figures = map(figure_label, ("latency_ns.mean", "latency_ns.p99", "accepted_load"))
        head = ["experiment", *keys, "seed", *figures, "verdict"]
        rows = []
        for record in self.records[:30]:
            swept = dict(record.run.sweep)
            latency = record.summary.get("latency_ns") or {}
            bounds = [latency.get(f"{name}_at_least") for name in ("mean", "p99")]
            accepted = record.summary.get("accepted_load")
            cells = [record.run.experiment, *(swept.get(key, "") for key in keys), str(record.run.seed)]
            for value, bound in zip((latency.get("mean"), latency.get("p99")), bounds, strict=True):
                cells.append(f"{value:,.0f}" if value is not None else f"> {bound:,.0f}" if bound is not None else "")
            cells += [f"{accepted:.3f}" if isinstance(accepted, int | float) else "", record.verdict]
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        more = f"<p>... and {len(self.records) - 30} more</p>" if len(self.records) > 30 else ""
        header = "".join(f"<th>{escape(text)}</th>" for text in head)
        return (
            f"<b>{escape(self.name)}</b> <span style='color:{colour}'>{escape(self.state)}</span>"
            f"<table><tr>{header}</tr>{''.join(rows)}</table>{more}"
        )

    def __iter__(self) -> Iterator[RunRecord]:
        """Iterate over the finished runs in order."""
        return iter(self.records)
