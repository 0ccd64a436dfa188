"""A campaign: all runs of a study, in a results directory that loses no finished run.

Layout: `manifest.json` (what was asked, by what, where), `runs/<id>.json` and `runs/<id>.<table>.arrow` (a run is
finished when its JSON is there; files are written whole or not at all), `runs/<id>.checkpoint` of runs in progress, then from these `summary.json`,
`runs.parquet`, `jobs.parquet` where there are MPI ranks, and one Parquet file per table, sealed in `seals.json`. Everything but the manifest's provenance and the run times and
memory (`cpu_s`, `build_s`, `peak_rss_bytes`) is a function of the study.
"""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabricsim import _core
from fabricsim._build import build_words, same_build, this_build
from fabricsim._dask import Cluster, DaskPool
from fabricsim._doubles import Doubles, take_over
from fabricsim._files import atomic_write, directory_lock, remove_temporaries, translate_disk_errors
from fabricsim._folder import assemble, clear, forget_runs, holds_results, is_own, mend, take_away
from fabricsim._forecast import Forecast, simulated_seconds
from fabricsim._host import available_cores, available_memory, host_facts
from fabricsim._live import Replays
from fabricsim._mpi import RankPool, Ranks
from fabricsim._noted import Noted
from fabricsim._observer import Observer
from fabricsim._pool import Pool, PoolStopped
from fabricsim._records import FORMAT, OTHER_BUILD, read_manifest, read_records
from fabricsim._runs import Expansion, Run
from fabricsim._seals import sealed
from fabricsim._specification import Specification
from fabricsim._units import format_bytes, picoseconds
from fabricsim.errors import CampaignInterrupted, DamagedError, DiskError, ResultsError, RunFailed, StudyError

__all__ = ["Campaign", "Executor", "Observer", "Outcome", "check_interval"]

#: Least time between checkpoints: of the clock, and of runs whose end is not known.
_LEAST_WALL_S = 1
_LEAST_SIMULATED_PS = 1_000_000
#: Checkpoints of one run, where its end is known.
_MOST_CHECKPOINTS = 1_000
#: Damaged files that are named one by one.
_MOST_TOLD = 10


@dataclass(slots=True)
class Outcome:
    """How a campaign went.

    Attributes
    ----------
    folder : Path
        The results directory.
    executed, reused : int
        Runs executed now, and runs whose results were there: finished before, or the same as another run but for their names.
    failed_checks : list of str
        Labels of runs whose self-check failed.
    faults : list of str
        What went wrong in runs that gave no result.
    user_errors : list of str
        Runs that the core refused as the study's fault.
    refused : list of str
        Runs whose checkpoint cannot be used.
    mended : list of str
        What was damaged or foreign in the folder: its runs have run again.
    """

    folder: Path
    executed: int = 0
    reused: int = 0
    failed_checks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    user_errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)

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

    study: Specification
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
        study: Specification,
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
        meanwhile: Callable[[], object] = lambda: None,
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
        meanwhile : callable, optional
            Called when the first runs go on in processes of this machine; twice where runs of programs come before others.

        Raises
        ------
        ValueError
            `checkpoint_every` is no duration, too short a one, or there are none on a cluster.
        ResultsError
            The directory belongs to something else.
        DiskError
            Results cannot be written; finished runs are kept.
        CampaignInterrupted
            Stopped by the user; finished runs are kept.
        """
        if checkpoint_every is not None:
            check_interval(checkpoint_every, self.selected)
            if self.cluster is not None:
                raise ValueError("runs on a Dask cluster write no checkpoints")
        with translate_disk_errors(self.folder):
            existed = self.folder.is_dir()
            if self.folder.exists() and not existed:
                raise ResultsError(f"{self.folder} is a file, not a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        with directory_lock(self.folder):
            outcome = Outcome(folder=self.folder)
            finished = self._claim_folder(force=force, resume=resume, told=outcome.mended)
            _tell(observer, outcome.mended)
            doubles = Doubles(
                finished=[run for run in self.expansion.runs if run.id in finished],
                todo=[run for run in self.selected if run.id not in finished],
            )
            for original, run in doubles.with_results:
                take_over(self.folder / "runs", original, run)
            todo = doubles.to_simulate
            waiting = sum(len(doubles.of(run)) for run in todo)
            outcome.reused = len(self.selected) - len(todo) - waiting
            if self.ranks is not None:
                jobs = 1
            count = jobs or max(1, min(len(todo), available_cores() // max(1, workers or 1)))
            cores = available_cores() // min(count, max(1, len(todo))) if self.ranks is None else self.ranks.threads
            if self.cluster is not None:
                # A thread of a Dask worker takes a run, and a run takes as many threads as it is told.
                count, cores = max(1, self.cluster.slots), 1
            threads = workers or max(1, cores)
            observer = Noted(observer)
            observer.begin(
                folder=self.folder, total=len(self.selected), reused=outcome.reused, jobs=min(count, max(1, len(todo)))
            )
            try:
                for key in finished:
                    self._checkpoint(key).unlink(missing_ok=True)
                if todo:
                    checkpoint = {"every": checkpoint_every, "resume": resume}
                    self._run_all(doubles, outcome, observer, count, threads, checkpoint, memory_bytes, meanwhile)
            except (CampaignInterrupted, DiskError, KeyboardInterrupt):
                # What is finished is readable at once; on a full disk the runs' own files must do.
                with contextlib.suppress(DiskError):
                    remove_temporaries(self.folder / "runs")
                    assemble(self.folder)
                raise
            finally:
                observer.end()
            _, left_out = assemble(self.folder)
            # A run whose files were changed while others ran.
            changed = [str(finding) for finding in left_out if finding.kind != OTHER_BUILD]
            outcome.mended += changed
            _tell(observer, changed)
            return outcome

    def _checkpoint(self, key: str) -> Path:
        return self.folder / "runs" / f"{key}.checkpoint"

    def _run_all(
        self,
        doubles: Doubles,
        outcome: Outcome,
        observer: Observer,
        jobs: int,
        threads: int,
        checkpoint: dict[str, Any],
        memory_bytes: int | None,
        meanwhile: Callable[[], object],
    ) -> None:
        todo = doubles.to_simulate
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
                for program in message["record"].get("programs", []):
                    if program["exit_code"] and program["end"] == "finished":
                        observer.warn(f"{run.label}: a program ended with exit code {program['exit_code']}")
                outcome.executed += 1
                fractions[run.id] = 1.0
                forecast.learn(run.estimate, simulated_seconds(message["record"], run.estimate))
                try:
                    for double in doubles.of(run):
                        take_over(self.folder / "runs", run, double)
                        outcome.reused += 1
                except DiskError as error:
                    kind, text = "disk", error.strerror or str(error)
                    message = {**message, "kind": kind, "message": text}
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

        def pool() -> Pool | RankPool | DaskPool:
            if self.cluster is not None:
                return DaskPool(self.cluster, on_message=on_message, tick=lambda: not observer.tick())
            if self.ranks is not None:
                return RankPool(self.ranks, on_message=on_message, tick=lambda: not observer.tick(), saves=lambda: observer.save)
            return Pool(
                jobs=jobs,
                memory_bytes=memory_bytes,
                on_message=on_message,
                tick=lambda: not observer.tick(),
                saves=lambda: observer.save,
                available=available_memory if memory_bytes is None else lambda: None,
                meanwhile=meanwhile,
            )

        if self.cluster is not None:
            self._look_at_cluster(todo, self.cluster, observer)
        folder = (self.folder / "runs").resolve()
        shared = {"folder": str(folder), "build": this_build(), "checkpoint": checkpoint, "threads": threads, "jobs": jobs}
        going = {run.id for run in todo}
        replays = Replays(folder, [run for run in self.expansion.runs if run.id not in going], todo)
        # Processes that share runs have no logs of each other.
        first, second = replays.waves() if self.ranks is None else (list(todo), [])
        try:
            pool().run([{"run": run.to_dict(), **shared} for run in first])
            if second:
                pool().run([{"run": run.to_dict(), **shared, "replay": replays.logs(run)} for run in second])
        except PoolStopped as stop:
            done = outcome.reused + outcome.executed
            kept = f"{done} of {len(self.selected)} runs are finished and kept in {self.folder}"
            saved = sum(self._checkpoint(run.id).is_file() for run in todo)
            if saved:
                kept += f", {saved} more {'has a checkpoint' if saved == 1 else 'have checkpoints'}"
            if fatal:
                raise DiskError(None, f"{fatal[0].get('message')}; {kept}") from None
            interrupted = CampaignInterrupted(kept)
            if stop.reason is not None:
                # Another rank was told to stop, and those hear SIGTERM alone.
                interrupted.signal = signal.SIGTERM
            raise interrupted from None

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

    def _claim_folder(self, *, force: bool, resume: bool, told: list[str]) -> set[str]:
        """Make the folder this study's, or refuse by name; mend what is damaged.

        Parameters
        ----------
        force, resume : bool
            As for `execute`.
        told : list of str
            Receives what was found damaged or foreign.

        Returns
        -------
        set of str
            Ids of the runs that are finished and whole.
        """
        try:
            manifest = read_manifest(self.folder)
        except DamagedError as error:
            if force and not resume:
                clear(self.folder)
            elif not resume:
                raise DamagedError(
                    error.place, error.reason, "--resume writes it anew and keeps the runs that are whole, --force replaces all"
                ) from None
            else:
                told.append(f"manifest.json is damaged: {error.reason}; it is written anew")
                self._drop_checkpoints(told, "nobody can tell of which build they are")
            take_away(self.folder, "manifest.json", ours=True)
            manifest = None
        else:
            if manifest is None:
                self._claim_without_manifest(force=force, resume=resume, told=told)
            elif manifest["format"] == 1:
                self._claim_of_before(manifest, force=force, resume=resume, told=told)
            elif manifest["study_hash"] != self.expansion.hash:
                self._take_over(manifest, force=force, resume=resume)
            elif manifest["version"] != _core.__version__:
                if resume and not force:
                    raise ResultsError(
                        f"{self.folder} was made by fabricsim {manifest['version']}, this is {_core.__version__}: "
                        "run again without --resume, or with --force"
                    )
                clear(self.folder)
            elif not same_build(manifest["build"], this_build()):
                if resume:
                    self._drop_checkpoints(told, f"they are of fabricsim {build_words(manifest['build'])}")
                else:
                    clear(self.folder)
            elif resume and manifest["build"]["commit"] != this_build()["commit"]:
                told.append(
                    f"finished runs are of commit {manifest['build']['commit']}, this is {this_build()['commit']}; "
                    "the sources of the core are the same, they are kept"
                )
        runs = [run.to_dict() for run in self.expansion.runs]
        ours = {"study_hash": self.expansion.hash, "runs": runs}
        found, mended = mend(self.folder, ours, build=this_build(), tables=resume)
        told += mended
        with translate_disk_errors(self.folder):
            (self.folder / "runs").mkdir(exist_ok=True)
        remove_temporaries(self.folder)
        remove_temporaries(self.folder / "runs")
        self._write_manifest(runs)
        return {key for key, record in found.whole.items() if record["status"] == "finished"} if resume else set()

    def _claim_without_manifest(self, *, force: bool, resume: bool, told: list[str]) -> None:
        """Take a folder without a manifest: an empty one, one that a full disk has left, or with `resume` one that has lost it."""
        entries = sorted(path.name for path in self.folder.iterdir() if path.name != ".lock")
        strangers = [name for name in entries if not is_own(name)]
        if force:
            if not resume and holds_results(self.folder):
                clear(self.folder)
        elif strangers:
            raise ResultsError(
                f"{self.folder} is not empty and no results directory (it has {', '.join(strangers[:3])}); use another --out, or --force"
            )
        elif holds_results(self.folder):
            if not resume:
                raise ResultsError(
                    f"{self.folder} has results but no manifest.json; --resume writes it anew and keeps the runs that are whole, "
                    "--force replaces all"
                )
            told.append("manifest.json is missing: it is written anew")
            self._drop_checkpoints(told, "nobody can tell of which build they are")

    def _claim_of_before(self, manifest: dict[str, Any], *, force: bool, resume: bool, told: list[str]) -> None:
        """Replace what a version without seals has left of this study."""
        if manifest["study_hash"] != self.expansion.hash and not force:
            raise ResultsError(
                f"{self.folder} holds results of another study or form, `{manifest['study']['name']}`, from before results had seals; "
                "use another --out, or --force to replace them"
            )
        if resume:
            told.append(
                f"the results are not sealed (fabricsim {manifest['version']}, before there were seals): nobody can tell whether they "
                "are whole, all runs run again"
            )
        clear(self.folder)

    def _drop_checkpoints(self, told: list[str], why: str) -> None:
        found = [path for path in sorted((self.folder / "runs").glob("*.checkpoint")) if path.is_file()]
        for path in found:
            with translate_disk_errors(path):
                path.unlink()
        if found:
            told.append(f"{len(found)} checkpoints are removed: {why}")

    def _write_manifest(self, runs: list[dict[str, Any]]) -> None:
        head = {
            "name": self.expansion.name,
            "description": self.expansion.description,
            "claims": list(self.expansion.claims),
            "reproduce": self.expansion.reproduce,
            "sample": self.expansion.sample,
        }
        atomic_write(
            self.folder / "manifest.json",
            sealed(
                {
                    "format": FORMAT,
                    "study": head,
                    "study_hash": self.expansion.hash,
                    "study_file": self.study.file_name,
                    "study_source": self.study.source,
                    "sets": [list(pair) for pair in self.study.sets],
                    "variant": self.study.variant,
                    "version": _core.__version__,
                    "build": this_build(),
                    "command": self.command,
                    "engine": sorted({run.engine for run in self.selected}),
                    "created": datetime.now(UTC).isoformat(timespec="seconds"),
                    "host": host_facts(),
                    "runs": runs,
                }
            ),
        )

    def _take_over(self, manifest: dict[str, Any], *, force: bool, resume: bool) -> None:
        """Go on in the folder of another form of this study, whose finished runs are runs of this form too, or refuse.

        `force` removes the runs that are not, or, without `resume` or of another study or version, all of them.
        """
        theirs = (manifest.get("study") or {}).get("name", "?")
        related = theirs == self.expansion.name and same_build(manifest["build"], this_build())
        ours = {run.id: run.hash for run in self.expansion.runs}
        records = read_records(self.folder, None, tables=False).whole
        strange = [key for key, record in records.items() if ours.get(key) != record["hash"]]
        if related and resume and (force or not strange):
            forget_runs(self.folder, strange)
        elif force:
            clear(self.folder)
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


#: Executes a campaign; the flags are those of `Campaign.execute`, to keep what is finished, and to remove what is not of it.
Executor = Callable[[Campaign, bool, bool], Outcome]


def check_interval(every: str, runs: Sequence[Run]) -> None:
    """Refuse a time between checkpoints that would have runs do little else.

    Raises
    ------
    ValueError
        It is no duration, or less than a second, or it would give a run more than 1,000 checkpoints.
    """
    if _core.checkpoint_interval(every) == "wall":
        unit = every.strip().lstrip("0123456789. ")
        if float(every.strip().removesuffix(unit)) * {"s": 1, "min": 60, "h": 3600}[unit] < _LEAST_WALL_S:
            raise ValueError(
                f"{every!r} is less than {_LEAST_WALL_S} s: a run would write checkpoints and do little else; write 10 min, say"
            )
        return
    every_ps = picoseconds(every)
    for run in runs:
        end = json.loads(run.canonical).get("control", {}).get("end")
        count = end // every_ps if isinstance(end, int) else None
        if count is not None and count > _MOST_CHECKPOINTS:
            raise ValueError(
                f"{every!r} would write {count:,} checkpoints of {run.label}, each with the whole state of the run; "
                f"{_MOST_CHECKPOINTS:,} at most: {end / _MOST_CHECKPOINTS / 1e6:g} us or more, or wall time such as 10 min"
            )
        if count is None and every_ps < _LEAST_SIMULATED_PS:
            raise ValueError(
                f"{every!r} is less than 1 us, and {run.label} runs until its work is done: it would write checkpoints and do "
                "little else; write 100 us, say, or wall time such as 10 min"
            )


def _tell(observer: Observer, found: Sequence[str]) -> None:
    for text in found[:_MOST_TOLD]:
        observer.warn(text)
    if len(found) > _MOST_TOLD:
        observer.warn(f"... and {len(found) - _MOST_TOLD} more (fabricsim verify names them all)")


def _too_large(run: Run, room: int) -> str:
    need = format_bytes(run.estimate.get("memory_bytes"))
    return f"{run.label} is predicted to take {need}, there is room for {format_bytes(room)}: it runs alone"


def _safe_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_.+" else "-" for c in name).strip(".-") or "study"
