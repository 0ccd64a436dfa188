"""What a results directory holds: its manifest and the records of its runs, each believed only as far as its seal goes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricsim._build import build_words, same_build
from fabricsim._figures import TABLES
from fabricsim._files import Seal, is_temporary
from fabricsim._seals import BrokenSeal, check, content_of, parse_object, read_ledger, read_sealed, seal_of, size_of
from fabricsim.errors import DamagedError

__all__ = [
    "FORMAT",
    "OTHER_BUILD",
    "Finding",
    "Records",
    "file_of_run",
    "ordered_records",
    "read_manifest",
    "read_records",
    "records_of",
    "state_of",
    "take_record",
]

#: Of the manifest: 1 had no seals.
FORMAT = 2
_OF_RUN = re.compile(rf"([0-9a-f]{{12}})\.(?:json|checkpoint|({'|'.join(TABLES)})\.arrow)")
#: Kind of a finding: these are left until their run has run again.
OTHER_BUILD = "of another build"
_AGAIN = "`--resume` runs it again"
_OF_IDENTITY = ("id", "hash", "study", "experiment", "sweep", "seed")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a results directory that is not as it was written.

    Attributes
    ----------
    kind : str
        ``damaged``, ``missing``, ``foreign`` (whole perhaps, but not of this folder) or ``of another build``.
    file : str
        Path from the folder.
    reason, hint : str
        What is wrong, and what to do.
    """

    kind: str
    file: str
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.file} is {self.kind}: {self.reason}" + (f"; {self.hint}" if self.hint else "")

    def to_json(self) -> dict[str, str]:
        """Return the JSON form."""
        return {"kind": self.kind, "file": self.file, "reason": self.reason, "hint": self.hint}


@dataclass(slots=True)
class Records:
    """The records of a folder.

    Attributes
    ----------
    whole : dict
        Records by id, with all their tables.
    findings : list of Finding
        Files in ``runs`` that are not what they should be.
    notes : list of str
        What is no damage: what interrupted runs left.
    checked : int
        Files that were looked at.
    """

    whole: dict[str, dict[str, Any]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: int = 0


def file_of_run(name: str) -> tuple[str, str] | None:
    """Return the id of the run that a file in ``runs`` is of, and which table (empty for its record or checkpoint)."""
    match = _OF_RUN.fullmatch(name)
    return (match.group(1), match.group(2) or "") if match else None


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return a results directory's manifest, or None where there is none.

    One of format 1 was written before there were seals: it is believed as it is.

    Raises
    ------
    DamagedError
        It is not what was written, or not of this folder.
    """
    path = folder / "manifest.json"
    try:
        try:
            manifest = read_sealed(path)
        except BrokenSeal as error:
            if error.missing:
                return None
            if not error.unsealed:
                raise
            manifest = parse_object(content_of(path))
            if manifest.get("format") != 1:
                raise
        _look_at_manifest(manifest)
    except BrokenSeal as error:
        raise DamagedError(path, error.reason, "`fabricsim run STUDY --out DIR --resume` writes it anew") from None
    try:
        ledger = read_ledger(folder)
    except BrokenSeal:
        ledger = None
    if ledger is not None and ledger.study_hash not in (None, manifest["study_hash"]) and manifest["format"] != 1:
        raise DamagedError(
            path,
            f"it is of another study ({manifest['study']['name']!r}, hash {manifest['study_hash'][:8]}) than the results beside it "
            f"(hash {str(ledger.study_hash)[:8]})",
            "`fabricsim run STUDY --out DIR --resume` writes it anew",
        )
    return manifest


def _look_at_manifest(manifest: Mapping[str, Any]) -> None:
    """Refuse what is no manifest, however whole; raises `BrokenSeal`."""
    if manifest.get("format") not in (1, FORMAT) or "study_source" not in manifest:
        raise BrokenSeal(f"it is not a manifest that this version reads (format {FORMAT})")
    texts = {"study_hash", "study_file", "study_source", "version", "created"}
    runs = manifest.get("runs")
    shaped = (
        all(isinstance(manifest.get(key), str) for key in texts)
        and isinstance(manifest.get("study"), dict)
        and isinstance(manifest["study"].get("name"), str)
        and isinstance(manifest.get("host"), dict)
        and (manifest["format"] == 1 or isinstance(manifest.get("build"), dict))
        and isinstance(runs, list)
        and all(isinstance(run, dict) and {*_OF_IDENTITY, "canonical"} <= run.keys() for run in runs)
    )
    if not shaped:
        raise BrokenSeal("it is JSON of another shape than a manifest")


def read_records(
    folder: Path, runs: Iterable[Mapping[str, Any]] | None, *, build: Any = None, sealed: bool = True, tables: bool = True
) -> Records:
    """Read the records of a folder and look at everything beside them.

    Parameters
    ----------
    folder : Path
        The results directory.
    runs : iterable of mapping, or None
        The runs whose records are wanted, as in a manifest; None for whatever there is.
    build : mapping, optional
        The build that has to have made them.
    sealed : bool
        Whether records have seals; those of folders of format 1 have none.
    tables : bool
        Whether tables are read and compared with their seals, or their lengths alone.
    """
    found = Records()
    wanted = None if runs is None else {run["id"]: run for run in runs}
    place = folder / "runs"
    try:
        entries = sorted(place.iterdir(), key=lambda path: path.name)
    except FileNotFoundError:
        if place.is_symlink():
            found.findings.append(Finding("damaged", "runs", "it is a link that leads nowhere"))
        return found
    except OSError as error:
        found.findings.append(Finding("damaged", "runs", f"it is no folder that can be read: {error.strerror}"))
        return found
    leftovers: dict[str, list[str]] = {}
    for path in entries:
        of = file_of_run(path.name)
        if is_temporary(path.name):
            leftovers.setdefault("", []).append(path.name)
        elif of is None or (wanted is not None and of[0] not in wanted):
            reason = "no run of this folder has such a file"
            found.findings.append(Finding("foreign", f"runs/{path.name}", reason, "`--resume` moves it aside"))
        elif path.suffix == ".json":
            found.checked += 1
            take_record(found, folder, path, wanted, build, sealed=sealed, tables=tables)
        else:
            leftovers.setdefault(of[0], []).append(path.name)
    for key, names in leftovers.items():
        own = {entry["file"] for entry in found.whole[key]["tables"].values()} if key in found.whole else set()
        broken = any(finding.file.startswith(f"runs/{key}.") for finding in found.findings) if key else False
        for name in names:
            if name not in own and not broken:
                found.notes.append(f"runs/{name}: left by a run that was stopped")
    return found


def take_record(
    found: Records,
    folder: Path,
    path: Path,
    wanted: Mapping[str, Mapping[str, Any]] | None,
    build: Any,
    *,
    sealed: bool,
    tables: bool,
) -> None:
    """Add the record at `path`, or what is wrong with it or its tables; parameters as for `read_records`."""
    name, key = f"runs/{path.name}", path.stem
    try:
        record = read_sealed(path) if sealed else parse_object(content_of(path))
        _look_at_record(record, sealed=sealed)
    except BrokenSeal as error:
        found.findings.append(Finding("damaged", name, error.reason, _AGAIN))
        return
    if record["id"] != key:
        found.findings.append(Finding("foreign", name, f"it is the record of run {record['id']}", _AGAIN))
        return
    if wanted is not None and (theirs := [part for part in _OF_IDENTITY if record[part] != wanted[key][part]]):
        reason = f"its {theirs[0]} is not that of run {key} in the manifest"
        found.findings.append(Finding("foreign", name, reason, _AGAIN))
        return
    if build is not None and not same_build(record["build"], build):
        reason = f"it is of fabricsim {build_words(record['build'])}, not of {build_words(build)}"
        found.findings.append(Finding(OTHER_BUILD, name, reason, _AGAIN))
        return
    broken = []
    for entry in record["tables"].values():
        table = folder / "runs" / entry["file"]
        found.checked += 1
        try:
            if not sealed:
                size_of(table)
            elif tables:
                check(table, Seal(entry["sha256"], entry["bytes"]), seal_of(table))
            elif (size := size_of(table)) != entry["bytes"]:
                raise BrokenSeal(f"it has {size:,} bytes, {entry['bytes']:,} were written")
        except BrokenSeal as error:
            broken.append(Finding("missing" if error.missing else "damaged", f"runs/{entry['file']}", error.reason, _AGAIN))
    if broken:
        found.findings += broken
    else:
        found.whole[key] = record


def _look_at_record(record: Mapping[str, Any], *, sealed: bool) -> None:
    """Refuse what is no record, however whole; raises `BrokenSeal`."""
    texts = ("id", "hash", "study", "experiment", "status")
    tables = record.get("tables")
    shaped = (
        all(isinstance(record.get(key), str) for key in texts)
        and isinstance(record.get("sweep"), list)
        and isinstance(record.get("summary"), dict)
        and isinstance(record.get("seed"), int)
        and isinstance(tables, dict)
        and all(
            table in TABLES and isinstance(entry, dict) and entry.get("file") == f"{record['id']}.{table}.arrow"
            for table, entry in tables.items()
        )
    )
    if not shaped:
        raise BrokenSeal("it is JSON of another shape than a record")
    if sealed and not all(
        isinstance(entry.get("sha256"), str) and isinstance(entry.get("bytes"), int) for entry in record["tables"].values()
    ):
        raise BrokenSeal("its tables have no seals")


def ordered_records(manifest: Mapping[str, Any], records: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records in the order of the study, each run once."""
    return [records[key] for key in dict.fromkeys(run["id"] for run in manifest["runs"]) if key in records]


def state_of(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what tells whether products are of these records: a digest over what was run, by which build, and what came out."""
    lines = [
        f"{key} {(record.get('build') or {}).get('sources')} {record['summary'].get('digest')}" for key, record in records.items()
    ]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def records_of(folder: Path, manifest: Mapping[str, Any], *, tables: bool) -> Records:
    """Return the records of a folder's own campaign."""
    sealed = manifest["format"] != 1
    return read_records(folder, manifest["runs"], build=manifest.get("build") if sealed else None, sealed=sealed, tables=tables)
