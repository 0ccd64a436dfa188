"""Runs of a campaign on a Dask cluster: the scheduler says where, results come back through the client, which writes them.

No file system is shared. A worker runs in a folder of its own that is gone afterwards, and sends record and tables back; files that a
study names travel with the run. A run whose worker is lost is given to another by the scheduler; the third loss is the run's end.
A run that nobody waits for any more stops within moments, whether its campaign was interrupted or killed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import tempfile
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._build import build_words, same_build, this_build
from fabricsim._files import atomic_write
from fabricsim._live import program_folder
from fabricsim._pool import PoolStopped
from fabricsim._seals import sealed
from fabricsim.errors import ClusterError, DiskError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Cluster", "DaskPool", "connect"]

#: Seconds until a scheduler has to answer.
_PATIENCE_S = 10
#: Workers that a run may lose before it is given up.
_MOST_LOSSES = 3
#: Times that a run is handed to the scheduler, which holds losses against runs that had not even begun.
_MOST_SUBMISSIONS = 10
#: Seconds for the report of a start to leave before the run can take its worker down.
_LEAVE_S = 0.05
#: Least seconds between two progress reports of a run.
_REPORT_S = 1.0


class Cluster:
    """A connection to a Dask scheduler whose workers have been looked at.

    Attributes
    ----------
    client : distributed.Client
        The connection.
    address : str
        What the user has called the scheduler.
    slots : int
        Runs that its workers take at a time.
    memory_bytes : int or None
        Memory of a worker over the runs that it takes at a time, of the smallest one; None where nobody limits it.
    """

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self.slots = sum(int(worker["nthreads"]) for worker in workers)
        rooms = [int(worker["memory_limit"]) // int(worker["nthreads"]) for worker in workers if worker.get("memory_limit")]
        self.memory_bytes = min(rooms, default=None)

    def close(self) -> None:
        """End the connection; whatever still runs for it stops."""
        with contextlib.suppress(Exception):
            self.client.close(timeout=5)


def connect(address: str) -> Cluster:
    """Connect to a scheduler and see that its workers can run this version's runs.

    Parameters
    ----------
    address : str
        Such as ``tcp://host:8786``, or the JSON file that a scheduler has written (``--scheduler-file``).

    Raises
    ------
    ClusterError
        Dask is missing, nobody answers, or versions differ.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(f"--dask needs Dask, which is not here ({error}): pip install 'fabricsim[dask]'") from error
    # What it would log is told in words; its loggers have levels of their own.
    for logger in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]:
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    where: dict[str, Any] = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    if "scheduler_file" in where:
        _wait_until_written(address)
    try:
        with warnings.catch_warnings():
            # What differs is told below, in words.
            warnings.simplefilter("ignore")
            client = Client(**where, timeout=_PATIENCE_S, set_as_default=False, name="fabricsim")
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, ImportError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} within {_PATIENCE_S} s ({error}); start one with `dask scheduler` and give "
            "the address that it prints, such as tcp://host:8786"
        ) from error
    try:
        _compare_versions(client, address)
        return Cluster(client, address)
    except BaseException:
        client.close(timeout=5)
        raise


def _wait_until_written(file: str) -> None:
    """Wait for the scheduler to have written its file, which it does in pieces; raises `ClusterError` where there is none."""
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            json.loads(Path(file).read_text(encoding="utf-8"))
        except FileNotFoundError:
            words = f"there is no scheduler file {file}; start the scheduler with --scheduler-file, or give its address"
            raise ClusterError(words) from None
        except (OSError, ValueError) as error:
            if time.monotonic() > end:
                raise ClusterError(f"{file} is not what a scheduler writes with --scheduler-file: {error}") from None
            time.sleep(0.05)
        else:
            return


def _compare_versions(client: Client, address: str) -> None:
    """Refuse a cluster whose Python, Dask or fabricsim is another than here."""
    found = client.get_versions(check=False)
    differing = []
    for who, facts in [
        ("the scheduler", found["scheduler"]),
        *((f"worker {name}", facts) for name, facts in found["workers"].items()),
    ]:
        for package in ("python", "dask", "distributed"):
            here, there = (_release(package, side) for side in (found["client"], facts))
            if here != there:
                differing.append(f"{who} has {package} {there}, here it is {here}")
    if not differing:
        # Sent by value: it has to arrive where fabricsim is missing.
        def build() -> Any:
            try:
                from fabricsim._core import build
            except ImportError as error:
                return f"missing ({error})"
            return json.loads(build())

        for name, there in client.run(build, on_error="return").items():
            if not same_build(there, this_build()):
                words = build_words(there) if isinstance(there, dict) else there
                differing.append(f"worker {name} has fabricsim {words}, here it is {build_words(this_build())}")
    if differing:
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise ClusterError(
            f"versions differ on the Dask cluster at {address}: {'; '.join(differing[:5])}{more}; install the same on all of them"
        )


def _release(package: str, facts: dict[str, Any]) -> str:
    """Return a version as far as it matters: major and minor of Python, all of a package's."""
    version = str(((facts or {}).get("packages") or {}).get(package))
    return ".".join(version.split(".")[:2]) if package == "python" else version


class DaskPool:
    """Runs tasks on a cluster; stands in for :class:`fabricsim._pool.Pool`.

    Parameters
    ----------
    cluster : Cluster
        Where runs go.
    on_message, tick : callable
        As for the pool of processes.
    """

    def __init__(self, cluster: Cluster, *, on_message: Callable[[dict[str, Any]], bool], tick: Callable[[], bool]) -> None:
        self._cluster = cluster
        self._on_message = on_message
        self._tick = tick
        self._inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        #: Futures of the runs that are not finished.
        self._open: dict[str, Any] = {}
        self._starts: Counter[str] = Counter()
        self._submissions: Counter[str] = Counter()
        self._topic = f"fabricsim-{uuid.uuid4().hex}"
        self._tasks: dict[str, dict[str, Any]] = {}

    def run(self, tasks: Sequence[dict[str, Any]]) -> None:
        """Run all tasks.

        Raises
        ------
        PoolStopped
            Asked to stop by a callback; runs in progress are cancelled.
        """
        client = self._cluster.client
        self._tasks = {task["run"]["id"]: task for task in tasks}
        client.subscribe_topic(self._topic, lambda event: self._inbox.put(("told", event[1])))
        try:
            for key in self._tasks:
                self._submit(key)
            while self._open:
                stop = self._tick()
                with contextlib.suppress(queue.Empty):
                    what, item = self._inbox.get(timeout=0.1)
                    while not stop:
                        stop |= self._told(item) if what == "told" else self._ended(item)
                        what, item = self._inbox.get_nowait()
                if stop:
                    raise PoolStopped(None)
        finally:
            # A scheduler that is gone cannot be told.
            with contextlib.suppress(Exception):
                client.cancel(list(self._open.values()), force=True)
                client.unsubscribe_topic(self._topic)

    def _submit(self, key: str) -> None:
        task = self._tasks[key]
        self._submissions[key] += 1
        sent = {**{name: task[name] for name in ("run", "build", "threads")}, "topic": self._topic, "files": _files_of(task)}
        if replay := task.get("replay"):
            sent["replay"] = replay
        name = f"{self._topic}-{key}-{self._submissions[key]}"
        future = self._cluster.client.submit(run_on_worker, sent, key=name, pure=False, retries=0)
        self._open[key] = future
        future.add_done_callback(lambda future: self._inbox.put(("ended", (key, future))))

    def _told(self, message: dict[str, Any]) -> bool:
        """Pass on what a worker says of a run; the start after the last loss ends the run."""
        key = message["id"]
        if key not in self._open:
            return False
        if message["kind"] != "started":
            return self._on_message(message)
        self._starts[key] += 1
        if self._starts[key] <= _MOST_LOSSES:
            return self._on_message(message)
        self._cluster.client.cancel([self._open.pop(key)], force=True)
        return self._on_message(_lost(key, _MOST_LOSSES))

    def _ended(self, ended: tuple[str, Any]) -> bool:
        """Write the result of a run that has ended, and report it."""
        key, future = ended
        if key not in self._open or self._open[key] is not future:
            return False
        del self._open[key]
        folder = Path(self._tasks[key]["folder"])
        try:
            message = future.result()
            files = message.pop("files", {})
            of_programs = message.pop("programs", {})
        except Exception as error:
            return self._failed(key, error)
        try:
            for entry in message.get("record", {}).get("tables", {}).values():
                if atomic_write(folder / entry["file"], files[entry["file"]]).sha256 != entry["sha256"]:
                    words = f"table {entry['file']} is not what the worker has sent: run it again with --resume"
                    return self._on_message({"kind": "fault", "id": key, "message": words})
            for name, content in of_programs.items():
                path = program_folder(folder, key) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic_write(path, content)
            if "record" in message:
                atomic_write(folder / f"{key}.json", sealed(message["record"]))
                (folder / f"{key}.checkpoint").unlink(missing_ok=True)
        except DiskError as error:
            message = {"kind": "disk", "id": key, "message": error.strerror or str(error)}
        return self._on_message(message)

    def _failed(self, key: str, error: Exception) -> bool:
        """Report a run that the scheduler has given up, or submit it again where the fault was another's."""
        name = type(error).__name__
        if name == "KilledWorker":
            # The scheduler holds a worker's loss against all runs that waited there, started or not.
            if self._starts[key] < _MOST_LOSSES and self._submissions[key] < _MOST_SUBMISSIONS:
                self._submit(key)
                return False
            return self._on_message(_lost(key, max(self._starts[key], _MOST_LOSSES)))
        if "Cancelled" in name:
            words = f"the Dask scheduler at {self._cluster.address} is gone or has dropped the run"
        else:
            words = f"{name}: {error}"
        return self._on_message({"kind": "fault", "id": key, "message": words})


def _lost(key: str, count: int) -> dict[str, Any]:
    hint = "the system may have run out of memory: fewer threads per worker, or workers with more"
    return {"kind": "fault", "id": key, "message": f"given up: {count} workers were lost while they ran it; {hint}"}


def _named_files(specification: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return the places of a specification that name a file, as (table, key)."""
    topology = specification.get("topology") or {}
    source = (specification.get("routing") or {}).get("source") or {}
    made = source.get("engine") if isinstance(source, dict) else None
    tables = source.get("file") if isinstance(source, dict) else None
    torus = made.get("torus") if isinstance(made, dict) else None
    read = topology.get("kind") == "graph" and topology.get("format") != "built-in" and topology.get("text") is None
    told = [(file, "path") for file in (tables, torus) if isinstance(file, dict)]
    return [*([(topology, "file")] if read else []), *told]


def _files_of(task: dict[str, Any]) -> dict[str, bytes]:
    """Return the files that a run reads, by their names in its specification, and the logs that it plays, by theirs."""
    places = _named_files(json.loads(task["run"]["canonical"]))
    names = [*(table[key] for table, key in places), *(task.get("replay") or {}).get("logs", [])]
    return {name: Path(name).read_bytes() for name in names}


def run_on_worker(task: dict[str, Any]) -> dict[str, Any]:
    """Run a task on a Dask worker, in a folder of its own, and return the closing report with the files that belong to it."""
    from distributed import get_worker

    from fabricsim._worker import execute

    worker = get_worker()
    own = worker.get_current_task()
    key = task["run"]["id"]
    worker.log_event(task["topic"], {"kind": "started", "id": key, "where": worker.address})
    time.sleep(_LEAVE_S)
    if not same_build(task["build"], this_build()):
        words = f"worker {worker.address} has fabricsim {build_words(this_build())}, the campaign {build_words(task['build'])}"
        return {"kind": "fault", "id": key, "message": words}
    last = 0.0

    def emit(message: dict[str, Any]) -> None:
        nonlocal last
        if time.monotonic() - last >= _REPORT_S:
            last = time.monotonic()
            worker.log_event(task["topic"], message)

    def order() -> bool:
        state = worker.state.tasks.get(own)
        return state is not None and state.state in ("executing", "long-running")

    with tempfile.TemporaryDirectory(prefix="fabricsim-run-") as name:
        folder = Path(name) / "runs"
        folder.mkdir()
        # More than one: nobody knows who else is on the cores of a worker, so processes of programs may have all of them.
        local = {**task, "folder": str(folder), "run": _with_files(task, folder), "jobs": 2}
        if replay := task.get("replay"):
            local["replay"] = {**replay, "logs": [str(log) for log in _logs_here(task, folder)]}
        message = execute(local, emit, order)
        tables = message.get("record", {}).get("tables", {}).values()
        files = {entry["file"]: (folder / entry["file"]).read_bytes() for entry in tables}
        return {**message, "files": files, "programs": _of_programs(program_folder(folder, key))}


def _of_programs(folder: Path) -> dict[str, bytes]:
    """Return what programs of a run have printed and their logs, by their names below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _logs_here(task: dict[str, Any], folder: Path) -> list[Path]:
    """Lay the logs that a run plays into its folder."""
    logs = []
    for number, name in enumerate(task["replay"]["logs"]):
        logs.append(folder / f"log-{number}.work")
        logs[-1].write_bytes(task["files"][name])
    return logs


def _with_files(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Lay the files of a run into its folder, and return the run that reads them there."""
    run: dict[str, Any] = task["run"]
    specification = json.loads(run["canonical"])
    for number, (table, key) in enumerate(_named_files(specification)):
        path = folder / f"file-{number}{Path(table[key]).suffix}"
        path.write_bytes(task["files"][table[key]])
        table[key] = str(path)
    return {**run, "canonical": json.dumps(specification)} if task["files"] else run
