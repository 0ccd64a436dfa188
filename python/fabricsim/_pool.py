"""A pool of worker processes that runs tasks within a budget of memory, one task per worker at a time.

Everything happens in the caller's thread; results depend on the tasks alone, never on their order of completion.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from fabricsim._files import folder_in_common
from fabricsim._host import resident_memory

__all__ = ["Pool", "PoolStopped"]

#: A worker finds this very package, and nothing in the working directory can stand in for a module. It writes columns as they come: what Arrow
#: would load to compute with them is half of its start.
_START = (
    "import sys; sys.path.append(sys.argv.pop()); from fabricsim._hiding import hide; hide('pandas', 'numpy'); "
    "from fabricsim._worker import main; main()"
)
#: A worker that grew beyond this is replaced, so that the next run's peak memory is its own.
_RETIRE_BYTES = 256 << 20
#: What a process takes to start (s), about, and predicted runs that pay for a further one: predictions of small runs say what starting takes, too.
_START_S = 0.5
_WORTH_S = 1.0
#: Part of the free memory that runs may take: predictions may be too low, and others live here as well.
_SHARE = 0.8
#: A stopped worker has this long to end its run before it is killed.
_GRACE_S = 10.0
#: The same where it writes a checkpoint first.
_SAVING_GRACE_S = 300.0


class PoolStopped(Exception):
    """The pool was asked to stop; `reason` is the message that asked for it, or None for the user."""

    def __init__(self, reason: dict[str, Any] | None) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(slots=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    buffer: bytes = b""
    task: dict[str, Any] | None = None
    memory: int = 0
    retire: bool = False


@dataclass(slots=True)
class Pool:
    """Runs tasks in `jobs` processes.

    Parameters
    ----------
    jobs : int
        Most processes at a time, at least 1.
    memory_bytes : int or None
        Start no further run while the predictions of the running ones would exceed this; a run that is too large
        by itself runs alone. None means what `available` says.
    on_message : callable
        Receives every message of every worker (dicts with `kind` and `id`); returns True to stop the pool.
    tick : callable
        Called about ten times a second; returns True to stop the pool.
    saves : callable, optional
        Asked when the pool stops: True if runs in progress are to write a checkpoint first.
    available : callable, optional
        Bytes that the machine can still give, None where nobody knows; asked before every start.
    meanwhile : callable, optional
        Called once, when the first runs have been started.
    """

    jobs: int
    memory_bytes: int | None
    on_message: Callable[[dict[str, Any]], bool]
    tick: Callable[[], bool]
    saves: Callable[[], bool] = lambda: False
    available: Callable[[], int | None] = lambda: None
    meanwhile: Callable[[], object] = lambda: None
    _workers: list[_Worker] = field(default_factory=list)
    _last_start: float = 0.0
    #: Where workers put what runs of one network need alike, for each other.
    _common: str = ""
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def run(self, tasks: Sequence[dict[str, Any]]) -> None:
        """Run all tasks; each has `run` (with `id` and `estimate`).

        Raises
        ------
        PoolStopped
            Asked to stop by a callback; running tasks were told to end and given time to.
        """
        waiting = deque(tasks)
        with folder_in_common() as common:
            self._common = str(common)
            try:
                self._start(waiting)
                self.meanwhile()
                while waiting or any(worker.task for worker in self._workers):
                    self._start(waiting)
                    if self._poll(0.1) or self.tick():
                        self._stop_all()
                        raise PoolStopped(None)
            finally:
                self._kill_all()

    def _start(self, waiting: deque[dict[str, Any]]) -> None:
        while waiting:
            busy = [worker for worker in self._workers if worker.task]
            need = int(waiting[0]["run"].get("estimate", {}).get("memory_bytes") or 0)
            if len(busy) >= self.jobs:
                return
            room = self._room(busy)
            fits = room is None or need <= room
            if busy and not fits:
                return
            idle = next((worker for worker in self._workers if not worker.task), None)
            if idle is None and self._workers and not self._worth_a_start(waiting):
                return
            idle = idle or self._spawn()
            task = waiting.popleft()
            idle.task, idle.memory = task, need
            assert idle.process.stdin is not None
            try:
                idle.process.stdin.write(json.dumps(task).encode() + b"\n")
                idle.process.stdin.flush()
            except BrokenPipeError:
                pass  # the death is reported when its output ends
            if not fits:
                self.on_message({"kind": "large", "id": task["run"]["id"], "room": room})
            self.on_message({"kind": "started", "id": task["run"]["id"]})

    def _worth_a_start(self, waiting: Iterable[dict[str, Any]]) -> bool:
        """Tell whether what waits pays for another process: the ones that are there would be busy with it for longer than one takes to start."""
        seconds = (task["run"].get("estimate", {}).get("seconds") for task in waiting)
        to_do = sum(math.inf if one is None else one for one in seconds)
        return to_do > _WORTH_S or time.monotonic() - self._last_start > _START_S

    def _room(self, busy: Sequence[_Worker]) -> int | None:
        """Return the bytes that a further run may take: the budget less what is promised, or what the machine has less what is still to come."""
        if self.memory_bytes is not None:
            return max(0, self.memory_bytes - sum(worker.memory for worker in busy))
        free = self.available()
        if free is None:
            return None
        to_come = sum(max(0, worker.memory - resident_memory(worker.process.pid)) for worker in busy)
        return max(0, int(free * _SHARE) - to_come)

    def _spawn(self) -> _Worker:
        errors = tempfile.TemporaryFile()
        self._last_start = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, self._common, str(Path(__file__).resolve().parent.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        worker = _Worker(process=process, errors=errors)
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        self._workers.append(worker)
        return worker

    def _poll(self, timeout: float) -> bool:
        stop = False
        for key, _ in self._selector.select(timeout):
            worker: _Worker = key.data
            try:
                chunk = os.read(key.fd, 1 << 20)
            except BlockingIOError:
                continue
            if not chunk:
                stop |= self._lost(worker)
                continue
            *lines, worker.buffer = (worker.buffer + chunk).split(b"\n")
            for line in lines:
                stop |= self._take(worker, json.loads(line))
        return stop

    def _take(self, worker: _Worker, message: dict[str, Any]) -> bool:
        if message["kind"] == "ready":
            return False
        if message["kind"] != "progress":
            worker.task = None
            summary = message.get("record", {}).get("summary", {})
            if int(summary.get("peak_rss_bytes") or 0) > _RETIRE_BYTES:
                self._close(worker)
        return self.on_message(message)

    def _lost(self, worker: _Worker) -> bool:
        code = worker.process.wait()
        worker.errors.seek(0)
        said = worker.errors.read()[-4000:].decode(errors="replace").strip()
        task = worker.task
        self._close(worker)
        if task is None:
            return False
        how = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        hint = "; the system may have run out of memory, try fewer --jobs" if code == -9 else ""
        return self.on_message(
            {"kind": "fault", "id": task["run"]["id"], "message": f"the worker process died ({how}){hint}", "traceback": said}
        )

    def _close(self, worker: _Worker) -> None:
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        process = worker.process
        assert process.stdout is not None
        assert process.stdin is not None
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(process.stdout)
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        # Between two runs it has nothing to lose, and to end in order takes it longer than a short run.
        process.kill()
        process.wait()
        worker.errors.close()

    def _stop_all(self) -> None:
        saves = self.saves()
        for worker in self._workers:
            if worker.task:
                worker.process.send_signal(signal.SIGTERM if saves else signal.SIGUSR1)
        deadline = time.monotonic() + (_SAVING_GRACE_S if saves else _GRACE_S)
        while any(worker.task for worker in self._workers) and time.monotonic() < deadline:
            self._poll(0.1)

    def _kill_all(self) -> None:
        for worker in list(self._workers):
            self._close(worker)
        self._selector.close()
