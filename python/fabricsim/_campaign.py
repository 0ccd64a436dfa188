"""A campaign: all runs of a study, in a results directory that loses no finished run.

Layout: `manifest.json` (what was asked, by what, where), `runs/<id>.json` and `runs/<id>.<table>.arrow` (a run is
finished when its JSON is there; files are written whole or not at all), `runs/<id>.checkpoint` of runs in progress, then from these `summary.json`,
`runs.parquet`, `jobs.parquet` where there are MPI ranks, and one Parquet file per table. Everything but the manifest's provenance and the run times and
memory (`cpu_s`, `build_s`, `peak_rss_bytes`) is a function of the study.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fabricsim import _core
from fabricsim._dask import Cluster, DaskPool
from fabricsim._files import atomic_write, directory_lock, remove_temporaries, translate_disk_errors
from fabricsim._forecast import Forecast, simulated_seconds
from fabricsim._host import available_cores, available_memory, host_facts
from fabricsim._mpi import RankPool, Ranks
from fabricsim._pool import Pool, PoolStopped
from fabricsim._tables import TABLES, jobs_table, merge_tables, runs_table
from fabricsim._units import format_bytes
from fabricsim.errors import CampaignInterrupted, DiskError, ResultsError, RunFailed, StudyError
from fabricsim.study import Expansion, Run, Study

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Campaign", "Observer", "Outcome", "assemble", "ordered_records", "read_manifest"]

_FORMAT = 1
_OWN_FILES = (
    "manifest.json",
    "summary.json",
    "claims.json",
    "effects.json",
    "effects.csv",
    "pareto.csv",
    "report.html",
    "runs.parquet",
    "jobs.parquet",
    *(f"{name}.parquet" for name in TABLES),
)
_OWN_FOLDERS = ("runs", "figures")


class Observer(Protocol):
    """Who watches a campaign. Every method is called in the caller's thread.

    Attributes
    ----------
    save : bool
        When the campaign stops, runs in progress are to write a checkpoint first.
    """

    save: bool

    def begin(self, *, folder: Path, total: int, reused: int, jobs: int) -> None:
        """Note that a campaign starts with `reused` of `total` runs finished already."""

    def predicted(self, *, runs: Sequence[Run], forecast: Forecast) -> None:
        """Note what the runs that are to be executed will take; the forecast learns from those that finish."""

    def launched(self, *, run: Run) -> None:
        """Note that a run has begun."""

    def warn(self, message: str) -> None:
        """Note something that the user should know."""

    def progress(self, *, run: Run, state: dict[str, Any], campaign_fraction: float) -> bool:
        """Note a run's progress; False stops the campaign."""

    def finished(self, *, run: Run, kind: str, message: str, done: int, total: int, campaign_fraction: float) -> None:
        """Note the end of a run: kind is `done`, `failed-check`, `fault`, `study`, `checkpoint`, `interrupted` or `disk`."""

    def tick(self) -> bool:
        """Return False to stop the campaign; called about ten times a second."""

    def end(self) -> None:
        """Note that no more runs are executed."""


@dataclass(slots=True)
class Outcome:
    """How a campaign went.

    Attributes
    ----------
    folder : Path
        The results directory.
    executed, reused : int
        Runs executed now, and runs found finished.
    failed_checks : list of str
        Labels of runs whose self-check failed.
    faults : list of str
        What went wrong in runs that gave no result.
    user_errors : list of str
        Runs that the core refused as the study's fault.
    refused : list of str
        Runs whose checkpoint cannot be used.
    """

    folder: Path
    executed: int = 0
    reused: int = 0
    failed_checks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    user_errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def raise_for_faults(self) -> None:
        """Raise `StudyError`, `ResultsError` or `RunFailed` where runs gave no result."""
        if self.user_errors:
            raise StudyError("\n".join(self.user_errors))
        if self.refused:
            raise ResultsError("\n".join(self.refused))
        if self.faults:
            raise RunFailed("\n".join(self.faults))


@dataclass(frozen=True, slots=True)
class Campaign:
    """A study's runs and where their results go.

    Attributes
    ----------
    study : Study
        The study.
    expansion : Expansion
        All of its runs.
    selected : tuple of Run
        The runs asked for now.
    folder : Path
        The results directory.
    command : str
        What was typed, for the manifest.
    ranks : Ranks, optional
        The processes that share each run.
    cluster : Cluster, optional
        The Dask cluster that runs go to.
    """

    study: Study
    expansion: Expansion
    selected: tuple[Run, ...]
    folder: Path
    command: str
    ranks: Ranks | None = None
    cluster: Cluster | None = None

    @classmethod
    def plan(
        cls,
        *,
        study: Study,
        out: str | Path | None = None,
        experiments: Sequence[str] | None = None,
        limit: int | None = None,
        command: str = "",
        ranks: Ranks | None = None,
        cluster: Cluster | None = None,
    ) -> Campaign:
        """Expand a study and choose its directory; nothing is written.

        Raises
        ------
        StudyError
            The study cannot be run.
        ValueError
            An experiment that the study does not have.
        """
        expansion = study.expand()
        runs = expansion.runs
        if experiments:
            unknown = [name for name in experiments if name not in expansion.experiments]
            if unknown:
                names = ", ".join(name or "(unnamed)" for name in expansion.experiments)
                raise ValueError(f"no experiment {', '.join(unknown)} in {study.file_name}; there are: {names}")
            runs = tuple(run for run in runs if run.experiment in experiments)
        folder = Path(out) if out is not None else Path("results") / f"{_safe_name(expansion.name)}-{expansion.hash[:8]}"
        selected = runs[:limit] if limit is not None else runs
        return cls(
            study=study,
            expansion=expansion,
            selected=selected,
            folder=folder,
            command=command,
            ranks=ranks,
            cluster=cluster,
        )

    def execute(
        self,
        *,
        observer: Observer,
        jobs: int | None = None,
        workers: int | None = None,
        resume: bool = False,
        force: bool = False,
        checkpoint_every: str | None = None,
        memory_bytes: int | None = None,
    ) -> Outcome:
        """Execute the selected runs and assemble the results.

        Parameters
        ----------
        observer : Observer
            Who watches.
        jobs : int, optional
            Parallel processes; by default one per run, as many as fit on the cores with `workers` threads each.
        workers : int, optional
            Threads that one run may use, on each rank where ranks share it; by default the cores that others leave.
        resume : bool, optional
            Keep the runs that are finished, go on with the others from their checkpoints.
        force : bool, optional
            Replace the results of another study or version; with `resume` only those runs of another form of the study that are no
            runs of this form.
        checkpoint_every : str, optional
            Time between two checkpoints of a run, such as ``"10 min"`` (wall time) or ``"1 ms"`` (simulated time).
        memory_bytes : int, optional
            Memory that the runs may take together; by default what the machine has to give.

        Raises
        ------
        ValueError
            `checkpoint_every` is no duration, or there are none on a cluster.
        ResultsError
            The directory belongs to something else.
        DiskError
            Results cannot be written; finished runs are kept.
        CampaignInterrupted
            Stopped by the user; finished runs are kept.
        """
        if checkpoint_every is not None:
            _core.checkpoint_interval(checkpoint_every)
            if self.cluster is not None:
                raise ValueError("runs on a Dask cluster write no checkpoints")
        with translate_disk_errors(self.folder):
            existed = self.folder.is_dir()
            if self.folder.exists() and not existed:
                raise ResultsError(f"{self.folder} is a file, not a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        with directory_lock(self.folder):
            self._claim_folder(force=force, resume=resume)
            outcome = Outcome(folder=self.folder)
            finished = self._finished_ids() if resume else set()
            todo = [run for run in self.selected if run.id not in finished]
            outcome.reused = len(self.selected) - len(todo)
            if self.ranks is not None:
                jobs = 1
            count = jobs or max(1, min(len(todo), available_cores() // max(1, workers or 1)))
            cores = available_cores() // min(count, max(1, len(todo))) if self.ranks is None else self.ranks.threads
            if self.cluster is not None:
                # A thread of a Dask worker takes a run, and a run takes as many threads as it is told.
                count, cores = max(1, self.cluster.slots), 1
            threads = workers or max(1, cores)
            observer.begin(
                folder=self.folder, total=len(self.selected), reused=outcome.reused, jobs=min(count, max(1, len(todo)))
            )
            try:
                for key in finished:
                    self._checkpoint(key).unlink(missing_ok=True)
                if todo:
                    checkpoint = {"every": checkpoint_every, "resume": resume}
                    self._run_all(todo, outcome, observer, count, threads, checkpoint, memory_bytes)
            except (CampaignInterrupted, DiskError, KeyboardInterrupt):
                # What is finished is readable at once; on a full disk the runs' own files must do.
                with contextlib.suppress(DiskError):
                    remove_temporaries(self.folder / "runs")
                    assemble(self.folder)
                raise
            finally:
                observer.end()
            assemble(self.folder)
            return outcome

    def _checkpoint(self, key: str) -> Path:
        return self.folder / "runs" / f"{key}.checkpoint"

    def _run_all(
        self,
        todo: list[Run],
        outcome: Outcome,
        observer: Observer,
        jobs: int,
        threads: int,
        checkpoint: dict[str, Any],
        memory_bytes: int | None,
    ) -> None:
        forecast = Forecast()
        observer.predicted(runs=todo, forecast=forecast)
        # By predicted time where that is known of all, else by size.
        key = "seconds" if all(run.estimate.get("seconds") for run in todo) else "nodes"
        weights = {run.id: float(run.estimate.get(key) or 1) for run in todo}
        total_weight = sum(weights.values())
        fractions = dict.fromkeys(weights, 0.0)
        by_id = {run.id: run for run in todo}
        fatal: list[dict[str, Any]] = []

        def share() -> float:
            return sum(weights[key] * fractions[key] for key in weights) / total_weight

        def on_message(message: dict[str, Any]) -> bool:
            run = by_id[message["id"]]
            kind = message["kind"]
            if kind == "progress":
                fractions[run.id] = min(1.0, max(0.0, float(message["state"].get("fraction") or 0.0)))
                return not observer.progress(run=run, state=message["state"], campaign_fraction=share())
            if kind == "started":
                observer.launched(run=run)
                return False
            if kind == "large":
                observer.warn(_too_large(run, message["room"]))
                return False
            text = str(message.get("message") or "")
            if kind in ("done", "failed-check"):
                outcome.executed += 1
                fractions[run.id] = 1.0
                forecast.learn(run.estimate, simulated_seconds(message["record"], run.estimate))
            if kind == "failed-check":
                failed = [
                    check for check in message["record"]["summary"].get("verdict", {}).get("checks", []) if not check.get("ok")
                ]
                text = "; ".join(f"{check.get('name')}: {check.get('detail')}" for check in failed)
                outcome.failed_checks.append(f"{run.label} ({run.id}): {text}")
            elif kind == "fault":
                detail = str(message.get("traceback") or "").strip()
                outcome.faults.append(f"{run.label} ({run.id}): {text}" + (f"\n{detail}" if detail else ""))
            elif kind == "checkpoint":
                outcome.refused.append(f"{run.label} ({run.id}): {text}")
            elif kind == "study":
                outcome.user_errors.append(f"{run.label} ({run.id}): {text}")
            elif kind == "disk":
                fatal.append(message)
            done = outcome.reused + outcome.executed
            observer.finished(run=run, kind=kind, message=text, done=done, total=len(self.selected), campaign_fraction=share())
            return bool(kind == "disk")

        pool: Pool | RankPool | DaskPool
        if self.cluster is not None:
            pool = DaskPool(self.cluster, on_message=on_message, tick=lambda: not observer.tick())
            self._look_at_cluster(todo, self.cluster, observer)
        elif self.ranks is None:
            pool = Pool(
                jobs=jobs,
                memory_bytes=memory_bytes,
                on_message=on_message,
                tick=lambda: not observer.tick(),
                saves=lambda: observer.save,
                available=available_memory if memory_bytes is None else lambda: None,
            )
        else:
            pool = RankPool(self.ranks, on_message=on_message, tick=lambda: not observer.tick(), saves=lambda: observer.save)
        folder = str((self.folder / "runs").resolve())
        shared = {"folder": folder, "version": _core.__version__, "checkpoint": checkpoint, "threads": threads}
        try:
            pool.run([{"run": run.to_dict(), **shared} for run in todo])
        except PoolStopped:
            done = outcome.reused + outcome.executed
            kept = f"{done} of {len(self.selected)} runs are finished and kept in {self.folder}"
            saved = sum(self._checkpoint(run.id).is_file() for run in todo)
            if saved:
                kept += f", {saved} more {'has a checkpoint' if saved == 1 else 'have checkpoints'}"
            if fatal:
                raise DiskError(None, f"{fatal[0].get('message')}; {kept}") from None
            raise CampaignInterrupted(kept) from None

    @staticmethod
    def _look_at_cluster(todo: list[Run], cluster: Cluster, observer: Observer) -> None:
        """Warn where workers are missing, or smaller than what they are to take."""
        if cluster.slots == 0:
            observer.warn(f"the Dask scheduler at {cluster.address} has no workers yet; runs wait for the first")
        largest = max(todo, key=lambda run: int(run.estimate.get("memory_bytes") or 0))
        need = int(largest.estimate.get("memory_bytes") or 0)
        if cluster.memory_bytes is not None and need > cluster.memory_bytes:
            room = f"{format_bytes(cluster.memory_bytes)} per thread"
            observer.warn(f"{largest.label} is predicted to take {format_bytes(need)}, Dask workers have {room}")

    def _finished_ids(self) -> set[str]:
        wanted = {run.id: run.hash for run in self.selected}
        return {
            record["id"]
            for record in _records(self.folder)
            if record["status"] == "finished" and wanted.get(record["id"]) == record["hash"]
        }

    def _claim_folder(self, *, force: bool, resume: bool) -> None:
        """Make the folder this study's, or refuse by name."""
        manifest = read_manifest(self.folder)
        if manifest is None:
            strangers = [path.name for path in sorted(self.folder.iterdir()) if path.name != ".lock"]
            if strangers and not force:
                raise ResultsError(
                    f"{self.folder} is not empty and no results directory (it has {', '.join(strangers[:3])}); use another --out, or --force"
                )
        else:
            if manifest.get("study_hash") != self.expansion.hash:
                self._take_over(manifest, force=force, resume=resume)
            elif manifest.get("version") != _core.__version__:
                if resume and not force:
                    raise ResultsError(
                        f"{self.folder} was made by fabricsim {manifest.get('version')}, this is {_core.__version__}: "
                        "run again without --resume, or with --force"
                    )
                self._clear()
        with translate_disk_errors(self.folder):
            (self.folder / "runs").mkdir(exist_ok=True)
            remove_temporaries(self.folder)
            remove_temporaries(self.folder / "runs")
        head = {
            "name": self.expansion.name,
            "description": self.expansion.description,
            "claims": list(self.expansion.claims),
            "reproduce": self.expansion.reproduce,
            "sample": self.expansion.sample,
        }
        atomic_write(
            self.folder / "manifest.json",
            json.dumps(
                {
                    "format": _FORMAT,
                    "study": head,
                    "study_hash": self.expansion.hash,
                    "study_file": self.study.file_name,
                    "study_source": self.study.source,
                    "sets": [list(pair) for pair in self.study.sets],
                    "variant": self.study.variant,
                    "version": _core.__version__,
                    "command": self.command,
                    "engine": sorted({run.engine for run in self.selected}),
                    "created": datetime.now(UTC).isoformat(timespec="seconds"),
                    "host": host_facts(),
                    "runs": [run.to_dict() for run in self.expansion.runs],
                },
                indent=1,
            ),
        )

    def _take_over(self, manifest: dict[str, Any], *, force: bool, resume: bool) -> None:
        """Go on in the folder of another form of this study, whose finished runs are runs of this form too, or refuse.

        `force` removes the runs that are not, or, without `resume` or of another study or version, all of them.
        """
        theirs = (manifest.get("study") or {}).get("name", "?")
        related = theirs == self.expansion.name and manifest.get("version") == _core.__version__
        ours = {run.id: run.hash for run in self.expansion.runs}
        strange = [record["id"] for record in _records(self.folder) if ours.get(record["id"]) != record["hash"]]
        if related and resume and (force or not strange):
            for key in strange:
                for path in (self.folder / "runs").glob(f"{key}.*"):
                    path.unlink(missing_ok=True)
        elif force:
            self._clear()
        else:
            same = "another form of this study" if theirs == self.expansion.name else f"another study, `{theirs}`"
            hint = "use another --out, or --force to replace them"
            if related and not strange:
                hint = "--resume keeps its finished runs, which all are of this form too; or " + hint
            elif related:
                count = f"{len(strange)} of its finished runs {'is' if len(strange) == 1 else 'are'} not of this form"
                hint = f"{count}: use another --out, --resume --force to remove those, or --force to remove all"
            raise ResultsError(
                f"{self.folder} holds results of {same} (hash {str(manifest.get('study_hash'))[:8]}, "
                f"this is {self.expansion.hash[:8]}); {hint}"
            )

    def _clear(self) -> None:
        for name in _OWN_FILES:
            (self.folder / name).unlink(missing_ok=True)
        for name in _OWN_FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)


def _too_large(run: Run, room: int) -> str:
    need = format_bytes(run.estimate.get("memory_bytes"))
    return f"{run.label} is predicted to take {need}, there is room for {format_bytes(room)}: it runs alone"


def _safe_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_.+" else "-" for c in name).strip(".-") or "study"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return a results directory's manifest, or None where there is none.

    Raises
    ------
    ResultsError
        The manifest cannot be read as one.
    """
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path} is damaged: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ResultsError(f"{path} is not a manifest that this version reads (format {_FORMAT})")
    return manifest


def _records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all finished runs, sorted by id; damaged ones do not count as finished."""
    found = []
    for path in sorted((folder / "runs").glob("*.json")):
        try:
            record = json.loads(path.read_text())
        except (json.JSONDecodeError, UnicodeDecodeError):
            continue
        if isinstance(record, dict) and {"id", "hash", "status", "summary"} <= record.keys() and _tables_present(folder, record):
            found.append(record)
    return found


def _tables_present(folder: Path, record: dict[str, Any]) -> bool:
    return all((folder / "runs" / entry["file"]).is_file() for entry in record.get("tables", {}).values())


def ordered_records(folder: Path, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of the manifest's finished runs in the order of the study."""
    by_id = {record["id"]: record for record in _records(folder)}
    return [by_id[run["id"]] for run in manifest["runs"] if run["id"] in by_id and by_id[run["id"]]["hash"] == run["hash"]]


def assemble(folder: Path) -> pa.Table:
    """Write `summary.json`, `runs.parquet` and the tables of a directory from its finished runs.

    Raises
    ------
    ResultsError
        There is no manifest.
    DiskError
        The files cannot be written; the runs stay.
    """
    import pyarrow.parquet as pq

    manifest = read_manifest(folder)
    if manifest is None:
        raise ResultsError(f"{folder} is not a results directory: it has no manifest.json")
    records = ordered_records(folder, manifest)
    table = runs_table(records)
    atomic_write(folder / "runs.parquet", lambda handle: pq.write_table(table, handle, compression="zstd"))
    jobs = jobs_table(records)
    if jobs is not None:
        atomic_write(folder / "jobs.parquet", lambda handle: pq.write_table(jobs, handle, compression="zstd"))
    else:
        (folder / "jobs.parquet").unlink(missing_ok=True)
    for name in TABLES:
        parts = [
            (record["id"], folder / "runs" / record["tables"][name]["file"]) for record in records if name in record["tables"]
        ]
        if parts:
            merge_tables(folder / f"{name}.parquet", parts)
        else:
            (folder / f"{name}.parquet").unlink(missing_ok=True)
    summary = {
        "study": manifest["study"]["name"],
        "study_hash": manifest["study_hash"],
        "version": manifest["version"],
        "complete": len(records) == len(manifest["runs"]),
        "verdict": {
            "ok": all(record["status"] == "finished" for record in records),
            "finished": sum(record["status"] == "finished" for record in records),
            "failed_checks": [record["id"] for record in records if record["status"] != "finished"],
            "missing": len(manifest["runs"]) - len(records),
        },
        "runs": [
            {**{key: record[key] for key in ("id", "hash", "experiment", "sweep", "seed")}, **record["summary"]}
            for record in records
        ],
    }
    atomic_write(folder / "summary.json", json.dumps(summary, indent=1))
    return table
