"""Running finished runs again: the same specification must give the same bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._build import this_build
from fabricsim._host import available_cores, available_memory
from fabricsim._pool import Pool, PoolStopped
from fabricsim._progress import Lines, Quiet, interruptible
from fabricsim._tables import read_arrow
from fabricsim.errors import CampaignInterrupted, DamagedError

if TYPE_CHECKING:
    from rich.console import Console

    from fabricsim._recorded import RunRecord

__all__ = ["rerun_results"]

#: Numbers that measure the machine; everything else must be equal.
_OF_THE_MACHINE = frozenset({"cpu_s", "build_s", "peak_rss_bytes", "engine", "execution", "wall_s"})


def _difference(old: RunRecord, new: dict[str, Any], folder: Path) -> str | None:
    """Return what differs between a record and its second run, or None."""
    summary = new["summary"]
    if old.summary.get("digest") != summary.get("digest"):
        return f"digest {old.summary.get('digest')} became {summary.get('digest')}"
    for key in sorted((set(old.summary) | set(summary)) - _OF_THE_MACHINE):
        if key not in ("notes", "limits", "perturbed") and _comparable(key, old.summary.get(key)) != _comparable(
            key, summary.get(key)
        ):
            return f"{key} was {old.summary.get(key)!r}, is {summary.get(key)!r}"
    if set(old.tables) != set(new["tables"]):
        return f"tables {sorted(old.tables)} became {sorted(new['tables'])}"
    for name in old.tables:
        try:
            theirs = old.read(name)
        except DamagedError as error:
            return str(error)
        if not theirs.equals(read_arrow(folder / new["tables"][name]["file"])):
            return f"table {name} differs"
    return None


def _task(record: RunRecord, folder: Path) -> dict[str, Any]:
    """Return what a worker is to do: the run, with the logs of its programs in their place."""
    task = {"run": record.run.to_dict(), "folder": str(folder), "build": this_build()}
    if record.logs:
        # A program that was measured, or that asks its host, does not do the same again; its log does.
        task["replay"] = {"of": record.id, "logs": [str(log) for log in record.logs]}
    return task


def _comparable(key: str, value: Any) -> Any:
    """Return a figure without what only runs of processes have."""
    if key != "verdict" or not isinstance(value, dict):
        return value
    return {**value, "checks": [check for check in value.get("checks", []) if check["name"] != "programs"]}


def rerun_results(records: Sequence[RunRecord], *, jobs: int | None, console: Console | None) -> list[dict[str, Any]]:
    """Run records again in a temporary folder and compare.

    Parameters
    ----------
    records : sequence of RunRecord
        What to run again.
    jobs : int or None
        Parallel processes; the cores by default.
    console : Console or None
        Where to write progress.

    Returns
    -------
    list of dict
        Per record: ``id``, ``label``, ``same``, ``digest``, ``why``.

    Raises
    ------
    CampaignInterrupted
        Stopped by the user.
    """
    by_id = {record.id: record for record in records}
    found: dict[str, dict[str, Any]] = {}
    watch = Lines(console) if console is not None else Quiet()
    with tempfile.TemporaryDirectory(prefix="fabricsim-rerun-") as name:
        folder = Path(name) / "runs"
        folder.mkdir()

        def on_message(message: dict[str, Any]) -> bool:
            record = by_id[message["id"]]
            if message["kind"] == "progress":
                return not watch.progress(run=record.run, state=message["state"], campaign_fraction=len(found) / len(by_id))
            if message["kind"] in ("done", "failed-check"):
                why = _difference(record, message["record"], folder)
                digest = message["record"]["summary"].get("digest")
                for entry in message["record"]["tables"].values():
                    (folder / entry["file"]).unlink(missing_ok=True)
            else:
                why, digest = str(message.get("message") or message["kind"]), None
            found[record.id] = {"id": record.id, "label": record.label, "same": why is None, "digest": digest, "why": why}
            return False

        count = jobs or max(1, min(len(records), available_cores()))
        memory = available_memory()
        pool = Pool(
            jobs=count, memory_bytes=int(memory * 0.8) if memory else None, on_message=on_message, tick=lambda: not watch.tick()
        )
        tasks = [_task(record, folder) for record in records]
        from rich.console import Console

        try:
            with interruptible(watch, console or Console(stderr=True), "nothing was changed"):
                pool.run(tasks)
        except PoolStopped:
            raise CampaignInterrupted(f"{len(found)} of {len(records)} runs were compared") from None
    return [found[record.id] for record in records]
