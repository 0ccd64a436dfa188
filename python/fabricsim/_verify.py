"""Verifying a results directory: is every file what was written, is it of this campaign, is one missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricsim._build import build_words
from fabricsim._folder import holds_results, look_at_products
from fabricsim._records import Finding, Records, read_manifest, read_records, records_of
from fabricsim._seals import LEDGER
from fabricsim.errors import DamagedError, ResultsError

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found.

    Attributes
    ----------
    folder : Path
        The results directory.
    state : str
        ``whole``, ``damaged``, or ``not sealed``: made before results had seals, and nothing else is wrong.
    findings : tuple of Finding
        Files that are damaged, missing or foreign.
    notes : tuple of str
        What is no damage: what interrupted runs left, files of others, what is out of date.
    build : str
        Which build made it, for people.
    runs, finished : int
        Runs of the study, and those with a record that is whole.
    checked : int
        Files compared with their seals.
    """

    folder: Path
    state: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    build: str
    runs: int
    finished: int
    checked: int

    @property
    def ok(self) -> bool:
        """Whether every file is what was written."""
        return self.state == "whole"

    def to_json(self) -> dict[str, Any]:
        """Return what `fabricsim verify --json` prints."""
        return {
            "ok": self.ok,
            "out": str(self.folder),
            "state": self.state,
            "findings": [finding.to_json() for finding in self.findings],
            "notes": list(self.notes),
            "build": self.build,
            "runs": self.runs,
            "finished": self.finished,
            "checked": self.checked,
        }


def verify(folder: str | Path) -> Verification:
    """Compare every file of a results directory with its seal, and every record with the run that it should be of.

    A campaign that is not complete is whole: what has not run yet is no damage. A folder of answers, as `fabricsim knee` makes it, is
    verified with the results directories in it.

    Parameters
    ----------
    folder : path
        The results directory.

    Raises
    ------
    ResultsError
        It is no results directory.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ResultsError(
            f"{path} is not a results directory: " + ("it is a file" if path.exists() else "there is no such folder")
        )
    findings: list[Finding] = []
    manifest = None
    try:
        manifest = read_manifest(path)
    except DamagedError as error:
        kind = "foreign" if "another study" in error.reason else "damaged"
        findings.append(Finding(kind, "manifest.json", error.reason, error.hint))
    inner = [place for place in sorted(path.iterdir()) if place.is_dir() and place.name not in ("runs", "figures", "aside")]
    parts = [verify(place) for place in inner if (place / "manifest.json").exists() or (place / LEDGER).exists()]
    campaign = manifest is not None or bool(findings) or holds_runs(path)
    if not campaign and not parts and not holds_results(path):
        raise ResultsError(f"{path} is not a results directory: it has no manifest.json")
    if campaign and manifest is None and not findings:
        findings.append(
            Finding("missing", "manifest.json", "it is missing", "`fabricsim run STUDY --out DIR --resume` writes it anew")
        )
    of_products, notes, checked = look_at_products(path, manifest=manifest)
    before = manifest is not None and manifest["format"] == 1
    if manifest is not None:
        records = records_of(path, manifest, tables=True)
    else:
        records = read_records(path, None) if campaign else Records()
    if before and not (path / LEDGER).exists():
        # Nothing in such a folder has ever been sealed.
        of_products, notes = [], []
    findings += records.findings + of_products
    for part in parts:
        findings += [Finding(found.kind, f"{part.folder.name}/{found.file}", found.reason, found.hint) for found in part.findings]
        notes += [f"{part.folder.name}: {note}" for note in part.notes]
    findings = list(dict.fromkeys(findings))
    unsealed = before or any(part.state == "not sealed" for part in parts)
    build = manifest.get("build") if manifest is not None else None
    return Verification(
        folder=path,
        state="damaged" if findings else "not sealed" if unsealed else "whole",
        findings=tuple(findings),
        notes=tuple(notes + records.notes),
        build=build_words(build) if build else (str(manifest["version"]) if manifest is not None else "unknown"),
        runs=len({run["id"] for run in manifest["runs"]} if manifest is not None else ()) + sum(part.runs for part in parts),
        finished=len(records.whole) + sum(part.finished for part in parts),
        checked=checked + records.checked + (manifest is not None) + sum(part.checked for part in parts),
    )


def holds_runs(folder: Path) -> bool:
    """Tell whether a folder is, or has been, one of a campaign."""
    return (folder / "runs").is_symlink() or (folder / "runs").exists() or (folder / "manifest.json").is_symlink()
