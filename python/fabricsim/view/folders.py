"""A results directory as it is now: read again only where something has changed, whole or not, finished or still being written."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricsim._figures import MAIN, all_figures, flat
from fabricsim._files import is_locked
from fabricsim._forecast import simulated_seconds
from fabricsim._records import Finding, Records, file_of_run, read_manifest, take_record
from fabricsim._runs import Run
from fabricsim._seals import BrokenSeal, content_of, parse_object, read_sealed
from fabricsim.errors import DamagedError
from fabricsim.view.places import Outside, Root
from fabricsim.view.progress import Pace, noted

__all__ = ["Missing", "Watched"]

#: What was written in place, without a new name in the folder, is found after this many seconds.
_LOOK_AGAIN_S = 10.0
#: Two changes within this time may have the same time stamp.
_STAMP_S = 2.0
#: Findings that are named.
_MOST_FINDINGS = 20
#: What of a summary the table shows, and what it takes to tell a run's state.
_SHOWN = (*MAIN, "digest", "not_arrived", "saturated")


class Missing(Exception):
    """There is no such run, or nothing of it that could be shown."""


@dataclass(slots=True)
class Watched:
    """What is known of a results directory.

    Attributes
    ----------
    root : Root
        What may be read.
    name : str
        Of the folder, below the root.
    rows : dict
        What is shown of each finished run, by id.
    """

    root: Root
    name: str
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    damage: str = ""
    findings: dict[str, Finding] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    _wanted: dict[str, dict[str, Any]] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _stamps: tuple[int, int] = (0, 0)
    _looked: float = 0.0

    def refresh(self) -> list[str]:
        """Read what has changed and return the ids of the runs that are new, other or gone; raises `Outside`."""
        folder = self.root.place(self.name)
        runs = self.root.inside(folder / "runs")
        stamps = (_stamp(self.root.inside(folder / "manifest.json")), _stamp(runs))
        now = time.time()
        settled = now - max(stamps) / 1e9 > _STAMP_S
        if stamps == self._stamps and settled and now - self._looked < _LOOK_AGAIN_S:
            return []
        self._looked = now
        changed = self._read_manifest(folder) if stamps[0] != self._stamps[0] or not settled else []
        self._stamps = stamps
        return changed + self._read_runs(folder, runs)

    def _read_manifest(self, folder: Path) -> list[str]:
        before = self.manifest
        try:
            self.manifest, self.damage = read_manifest(folder) or {}, ""
        except DamagedError as error:
            self.manifest, self.damage = {}, error.reason
        if self.manifest == before:
            return []
        self._wanted = {run["id"]: run for run in self.manifest.get("runs", [])}
        gone = [*self.rows]
        self._seen.clear()
        self.rows.clear()
        self.findings.clear()
        self.pace = Pace()
        return gone

    def _read_runs(self, folder: Path, runs: Path) -> list[str]:
        seen: dict[str, tuple[int, int, int]] = {}
        changed: list[str] = []
        try:
            with os.scandir(runs) as entries:
                for entry in entries:
                    of = file_of_run(entry.name)
                    if of is None or not entry.name.endswith(".json"):
                        continue
                    key = of[0]
                    stat = entry.stat(follow_symlinks=False)
                    seen[key] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
                    if self._seen.get(key) != seen[key]:
                        changed.append(key)
                        self._read_run(folder, Path(entry.path), key, link=entry.is_symlink())
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self.damage = self.damage or f"runs is no folder that can be read: {error.strerror}"
        for key in self._seen.keys() - seen.keys():
            self.rows.pop(key, None)
            self.pace.forget(key)
            self.findings.pop(key, None)
            changed.append(key)
        self._seen = seen
        return changed

    def _read_run(self, folder: Path, path: Path, key: str, *, link: bool) -> None:
        self.rows.pop(key, None)
        self.findings.pop(key, None)
        self.pace.forget(key)
        if link:
            try:
                self.root.inside(path)
            except Outside as error:
                self.findings[key] = Finding("foreign", f"runs/{path.name}", str(error))
                return
        found = Records()
        wanted = self._wanted if self.manifest else None
        take_record(found, folder, path, wanted, None, sealed=self.manifest.get("format") != 1, tables=False)
        if found.findings:
            self.findings[key] = found.findings[0]
        elif wanted is None or key in wanted:
            record, entry = found.whole[key], wanted[key] if wanted else found.whole[key]
            self.rows[key] = _row(record, entry)
            estimate = entry.get("estimate") or {}
            self.pace.learn(key, estimate, simulated_seconds(record, estimate))

    def entry(self, run: str) -> dict[str, Any]:
        """Return what the manifest says of a finished run; raises `Missing`."""
        if run not in self.rows or run not in self._wanted:
            raise Missing(f"there is no finished run {run!r} here")
        return self._wanted[run]

    def record(self, run: str) -> dict[str, Any]:
        """Return the record of a finished run; raises `Missing`, `Outside` or `DamagedError`."""
        self.entry(run)
        path = self.root.inside(self.root.place(self.name) / "runs" / f"{run}.json")
        try:
            return read_sealed(path) if self.manifest.get("format") != 1 else parse_object(content_of(path))
        except BrokenSeal as error:
            raise DamagedError(path, error.reason, "`--resume` runs it again") from None

    def state(self) -> dict[str, Any]:
        """Return what is shown above the table: whose results these are, how far they are, what is wrong with them."""
        total = len(self._wanted)
        done = len(self.rows)
        phase = self._phase(done, total)
        folder = self.root.path / self.name
        note = noted(folder) if phase in ("running", "interrupted", "unknown") else {}
        running = {one["id"]: one["fraction"] for one in note.get("running", [])} if phase == "running" else {}
        return {
            "folder": self.name,
            "name": str((self.manifest.get("study") or {}).get("name") or self.name or self.root.path.name),
            "description": str((self.manifest.get("study") or {}).get("description") or ""),
            "version": str(self.manifest.get("version") or ""),
            "command": str(self.manifest.get("command") or ""),
            "created": str(self.manifest.get("created") or ""),
            "finished": done,
            "total": total,
            "phase": phase,
            "running": [one for one in note["running"] if one["id"] not in self.rows] if running else [],
            "failed": note.get("failed", []),
            "n_failed": note.get("failed_runs", 0),
            "left": self._left(running, note["jobs"]) if phase == "running" and note else None,
            "damage": self.damage,
            "findings": [str(finding) for finding in list(self.findings.values())[:_MOST_FINDINGS]],
            "n_findings": len(self.findings),
        }

    def _left(self, running: dict[str, float], jobs: int) -> dict[str, float | None] | None:
        todo = [
            (entry.get("estimate") or {}, running.get(key, 0.0)) for key, entry in self._wanted.items() if key not in self.rows
        ]
        return self.pace.left(todo, jobs=jobs) if todo else None

    def _phase(self, done: int, total: int) -> str:
        """Return where the campaign is: ``missing``, ``empty``, ``damaged``, ``running``, ``complete``, ``interrupted`` or ``unknown``."""
        folder = self.root.path / self.name
        if not folder.is_dir():
            return "missing"
        held = is_locked(folder)
        if held:
            return "running"
        if self.damage:
            return "damaged"
        if not self.manifest:
            return "unlisted" if done else "empty"
        if done >= total:
            return "complete"
        return "interrupted" if held is False else "unknown"

    def listed(self) -> dict[str, Any]:
        """Return all finished runs in the order of the study, with the words of what is shown of them."""
        order = self._wanted or self.rows
        figures = all_figures()
        words = {key: {"word": figures[key].word, "unit": figures[key].unit, "seeds": figures[key].seeds} for key in MAIN}
        words["not_arrived"] = {"word": figures["not_arrived"].word, "unit": "", "seeds": ""}
        rows = [self.rows[key] for key in order if key in self.rows]
        main = [key for key in MAIN if any(_has(row["summary"], key) for row in rows)]
        return {"state": self.state(), "words": words, "main": main, "order": list(order), "runs": rows}


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _row(record: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    summary = record["summary"]
    numbers = flat(summary)
    bounds = {key: numbers[f"{key}_at_least"] for key in MAIN if f"{key}_at_least" in numbers}
    kept = {key: numbers[key] for key in _SHOWN if key in numbers} | {f"{key}_at_least": value for key, value in bounds.items()}
    verdict = summary.get("verdict") or {}
    run = Run.from_dict({"canonical": "", **entry})
    return {
        "id": record["id"],
        "experiment": record["experiment"],
        "sweep": [list(pair) for pair in run.sweep],
        "seed": record["seed"],
        "label": run.label,
        "ok": bool(verdict.get("ok")),
        "tables": list(record["tables"]),
        "summary": {**_nested(kept), "verdict": {key: verdict[key] for key in ("state", "because") if key in verdict}},
    }


def _nested(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return dotted keys as objects in objects, as scripts of the report read them."""
    found: dict[str, Any] = {}
    for key, value in numbers.items():
        at = found
        *above, last = key.split(".")
        for part in above:
            at = at.setdefault(part, {})
        at[last] = value
    return found


def _has(summary: dict[str, Any], key: str) -> bool:
    at: Any = summary
    for part in key.split("."):
        if not isinstance(at, dict) or part not in at:
            return False
        at = at[part]
    return True
