"""A worker process: takes runs as JSON lines on stdin, writes each result atomically, reports as JSON lines on stdout.

A process of its own per run at a time keeps a crash, a kill for memory or a full disk from touching any other run.
SIGTERM asks the run in progress to write a checkpoint and stop, SIGUSR1 to stop; a parent that has gone stops it as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from fabricsim import _core
from fabricsim._figures import TABLES
from fabricsim._files import atomic_write, translate_disk_errors
from fabricsim._live import live, program_folder, programs_of, replayed
from fabricsim._seals import sealed
from fabricsim._tables import table_of_columns, write_arrow
from fabricsim.errors import CheckFailed, CheckpointRefused, DiskError, Interrupted, ProgramError, StudyError, diagnostics_of

__all__ = ["checkpoint_options", "execute", "main"]


class _Stop:
    """Whether the run in progress should end early."""

    def __init__(self) -> None:
        self.asked = False
        self.save = False
        self.parent = os.getppid()

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Note the request; the next progress report passes it on."""
        self.asked = True
        self.save |= number == signal.SIGTERM

    def wanted(self) -> bool:
        """Tell whether to stop: asked to, or orphaned."""
        return self.asked or os.getppid() != self.parent

    def order(self) -> bool | str:
        """Return what the core's progress callback is to say."""
        if self.save and os.getppid() == self.parent:
            return "checkpoint"
        return not self.wanted()


def _failed_summary(error: CheckFailed) -> dict[str, Any]:
    for candidate in (getattr(error, "summary", None), *reversed(error.args)):
        if isinstance(candidate, dict):
            return candidate
        if isinstance(candidate, str):
            with contextlib.suppress(json.JSONDecodeError):
                found = json.loads(candidate)
                if isinstance(found, dict):
                    return found
    return {"verdict": {"ok": False, "checks": [{"name": "self-check", "ok": False, "detail": str(error)}]}}


def checkpoint_options(task: dict[str, Any]) -> str | None:
    """Return what the core is to know about the checkpoints of a task, None if it has none."""
    if "checkpoint" not in task:
        return None
    return json.dumps({"file": str(Path(task["folder"]) / f"{task['run']['id']}.checkpoint"), **task["checkpoint"]})


class Rate:
    """Events per second of wall time, from one report to the next; None before the second."""

    def __init__(self) -> None:
        self.last: tuple[float, int] | None = None

    def of(self, events: int) -> float | None:
        """Return the rate since the last call."""
        now, last = time.monotonic(), self.last
        self.last = now, events
        return (events - last[1]) / (now - last[0]) if last is not None and now > last[0] else None


def execute(task: dict[str, Any], emit: Any, order: Any) -> dict[str, Any]:
    """Run one task and write its files; the JSON record comes last and makes the run finished.

    Parameters
    ----------
    task : dict
        ``run`` (an entry of the expansion), ``folder`` (where results go), ``build``; ``checkpoint`` with ``every``
        and ``resume`` if the run may have one; ``threads`` for the run to take; ``ranks`` if processes share it.
    emit : callable
        Receives every progress report.
    order : callable
        Says whether the run goes on: True, False, or ``"checkpoint"`` to write one and stop.

    Returns
    -------
    dict
        The closing report: ``kind`` is ``done``, ``failed-check``, ``interrupted``, ``checkpoint`` (it cannot be used),
        ``disk``, ``study`` or ``fault``.
    """
    run = task["run"]
    folder = Path(task["folder"])
    started = time.monotonic()

    checkpoint = folder / f"{run['id']}.checkpoint"
    options = checkpoint_options(task)

    programs = programs_of(run["canonical"])
    if programs and not task.get("checkpoint", {}).get("every"):
        # Processes cannot be saved.
        options = None
    rate = Rate()

    def progress(text: str) -> bool | str:
        state = json.loads(text)
        state["events_per_s"] = rate.of(state["events"])
        try:
            emit({"kind": "progress", "id": run["id"], "state": state})
        except OSError:
            return False
        answer: bool | str = order()
        return answer is True if programs else answer

    try:
        tables: dict[str, Any] = {}
        reports: list[dict[str, Any]] = []
        canonical = run["canonical"]
        if replay := task.get("replay"):
            canonical = replayed(canonical, [Path(log) for log in replay["logs"]])
        try:
            with translate_disk_errors(checkpoint):
                if programs and not replay:
                    # Two runs may not share a core by chance, nor the threads of one.
                    one_core = task.get("jobs", 1) == 1 and json.loads(canonical)["control"].get("workers", 0) <= 1
                    with live(program_folder(folder, run["id"]), lambda: order() is True, reports, one_core=one_core):
                        result = _core.run(canonical, progress, options, 1, task.get("ranks"))
                else:
                    result = _core.run(canonical, progress, options, task.get("threads", 1), task.get("ranks"))
            summary = json.loads(result.summary)
        except CheckFailed as error:
            result, summary = None, _failed_summary(error)
        if result is not None:
            for name in TABLES:
                columns = result.columns(name)
                if columns:
                    table = table_of_columns(columns)
                    path = folder / f"{run['id']}.{name}.arrow"
                    seal = write_arrow(path, table)
                    tables[name] = {"file": path.name, "rows": table.num_rows, **seal.to_json()}
        ok = bool(summary.get("verdict", {}).get("ok"))
        record = {
            **{key: run[key] for key in ("id", "hash", "study", "experiment", "sweep", "seed")},
            "version": task["build"]["version"],
            "build": task["build"],
            "status": "finished" if ok else "failed-check",
            "wall_s": round(time.monotonic() - started, 6),
            "summary": summary,
            "tables": tables,
            **({"programs": reports} if reports else {}),
            **({"replay_of": replay["of"]} if replay else {}),
        }
        atomic_write(folder / f"{run['id']}.json", sealed(record))
        if options is not None:
            checkpoint.unlink(missing_ok=True)
        return {"kind": "done" if ok else "failed-check", "id": run["id"], "record": record}
    except Interrupted:
        goes_on = "goes on from its checkpoint with --resume" if options is not None and checkpoint.is_file() else ""
        return {"kind": "interrupted", "id": run["id"], "message": goes_on}
    except CheckpointRefused as error:
        return {"kind": "checkpoint", "id": run["id"], "message": str(error)}
    except DiskError as error:
        return {"kind": "disk", "id": run["id"], "message": error.strerror or str(error)}
    except ProgramError as error:
        return {"kind": "study", "id": run["id"], "message": str(error)}
    except StudyError as error:
        return {"kind": "study", "id": run["id"], "message": "\n".join(str(item) for item in diagnostics_of(error))}
    except MemoryError:
        return {"kind": "fault", "id": run["id"], "message": "out of memory"}
    except Exception as error:
        return {
            "kind": "fault",
            "id": run["id"],
            "message": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(),
        }


def main() -> None:
    """Serve tasks until stdin ends; forwarding tables are shared with the processes that have the same folder as first argument."""
    stop = _Stop()
    signal.signal(signal.SIGTERM, stop.on_signal)
    signal.signal(signal.SIGUSR1, stop.on_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _core.share_tables(sys.argv[1] if len(sys.argv) > 1 else None)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints by accident goes to stderr, never into the protocol

    def emit(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    with contextlib.suppress(BrokenPipeError):
        emit({"kind": "ready"})
        for line in sys.stdin:
            task = json.loads(line)
            emit(execute(task, emit, stop.order))
            if stop.wanted():
                break


if __name__ == "__main__":
    main()
