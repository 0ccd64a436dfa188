"""A results directory as a whole: what in it is fabricsim's, mending what is damaged, joining what the runs gave.

Nothing that is somebody else's is ever removed: what is in the way, or stands where only fabricsim's files belong, goes to ``aside``.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._figures import TABLES
from fabricsim._files import is_temporary, translate_disk_errors
from fabricsim._live import FOLDER as PROGRAMS
from fabricsim._noted import PROGRESS
from fabricsim._records import (
    OTHER_BUILD,
    Finding,
    Records,
    file_of_run,
    ordered_records,
    read_manifest,
    read_records,
    records_of,
    state_of,
)
from fabricsim._runs import Run
from fabricsim._seals import LEDGER, BrokenSeal, check, products, read_ledger, seal_of
from fabricsim.analyses import ANALYSES
from fabricsim.analyses.perturb.spread import groups, told_apart
from fabricsim.errors import DamagedError, ResultsError

if TYPE_CHECKING:
    import pyarrow as pa

    from fabricsim._specification import Specification

__all__ = [
    "assemble",
    "clear",
    "forget_programs",
    "holds_results",
    "is_own",
    "look_at_products",
    "mend",
    "runs_left",
    "take_away",
]

_HIDDEN = (".lock", ".seals.lock", PROGRESS)
#: What is made in every results directory, and what analyses add to it.
_ANSWERS = re.compile(
    "|".join(
        [
            r"(summary|claims|undrawn)\.json|report\.html",
            rf"({'|'.join(('runs', 'jobs', *TABLES))})\.parquet",
            *(analysis.files for analysis in ANALYSES if analysis.files),
        ]
    )
)
#: Of these, what every campaign makes anew.
_REMADE = ("summary.json", "report.html", *(f"{name}.parquet" for name in ("runs", "jobs", *TABLES)))
#: Figures that no study declares.
_DRAWN = [
    r"(.*-)?(latency|accepted-load|throughput|latency-cdf|links|hops)",
    *(analysis.figures for analysis in ANALYSES if analysis.figures),
]
_FIGURES = re.compile(rf"({'|'.join(_DRAWN)})\.(svg|png)")


def is_own(name: str) -> bool:
    """Tell whether a name at the top of a results directory is one that fabricsim gives."""
    return (
        name in ("manifest.json", LEDGER, "runs", PROGRAMS, "figures", *_HIDDEN)
        or is_temporary(name)
        or bool(_ANSWERS.fullmatch(name))
    )


def holds_results(folder: Path) -> bool:
    """Tell whether a folder without a manifest has been a results directory with something in it."""
    return (folder / LEDGER).exists() or any(file_of_run(path.name) for path in _files_in(folder / "runs"))


def clear(folder: Path) -> None:
    """Remove all that a campaign and its analyses have left in a folder, and nothing else; raises `DiskError`."""
    try:
        ledger = read_ledger(folder)
    except BrokenSeal:
        ledger = None
    if ledger is not None:
        names = set(ledger.files)
    else:
        names = {path.name for path in folder.iterdir() if _ANSWERS.fullmatch(path.name)}
        names |= {f"figures/{path.name}" for path in _files_in(folder / "figures") if path.name in _figure_names(folder)}
    names |= {f"runs/{path.name}" for path in _files_in(folder / "runs") if file_of_run(path.name) or is_temporary(path.name)}
    for name in sorted(names | {"manifest.json", LEDGER, PROGRESS}):
        path = folder / name
        if path.is_symlink() or not path.is_dir():
            with translate_disk_errors(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
    forget_programs(folder, [path.name for path in _files_in(folder / PROGRAMS)])
    for name in ("runs", PROGRAMS, "figures"):
        with contextlib.suppress(OSError):
            (folder / name).rmdir()


def forget_programs(folder: Path, runs: Iterable[str]) -> None:
    """Remove what programs of runs have printed, and their logs."""
    for run in runs:
        if file_of_run(f"{run}.json"):
            shutil.rmtree(folder / PROGRAMS / run, ignore_errors=True)


def forget_runs(folder: Path, runs: Collection[str]) -> None:
    """Remove runs with all that is theirs, so that nobody misses them; raises `DiskError`."""
    if not runs:
        return
    for key in runs:
        for path in (folder / "runs").glob(f"{key}.*"):
            take_away(folder, f"runs/{path.name}", ours=True)
    forget_programs(folder, runs)
    # A ledger that is damaged is mended later, and told of.
    with contextlib.suppress(BrokenSeal):
        if read_ledger(folder) is not None:
            with products(folder) as ledger:
                ledger.finished -= set(runs)


def runs_left(study: Specification, folder: Path) -> list[Run]:
    """Return the runs that an earlier search of the same study has left in the folder."""
    try:
        manifest = read_manifest(folder)
    except DamagedError:
        return []
    if manifest is None or manifest.get("format") == 1:
        return []
    same = (
        manifest.get("study_source") == study.source
        and manifest.get("sets") == [list(pair) for pair in study.sets]
        and manifest.get("variant") == study.variant
    )
    return [Run.from_dict(entry) for entry in manifest["runs"]] if same else []


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _figure_names(folder: Path) -> set[str]:
    """Return the names of the figures in a folder without a ledger that fabricsim has drawn."""
    declared: list[Any] = []
    with contextlib.suppress(DamagedError, AttributeError):
        declared = ((read_manifest(folder) or {}).get("study") or {}).get("reproduce", {}).get("figure", [])
    ids = {str(figure.get("id")) for figure in declared if isinstance(figure, dict)}
    names = {path.name for path in _files_in(folder / "figures") if _FIGURES.fullmatch(path.name)}
    return names | {f"{key}.{kind}" for key in ids for kind in ("svg", "png")}


def look_at_products(folder: Path, *, manifest: Mapping[str, Any] | None) -> tuple[list[Finding], list[str], int]:
    """Return what is wrong with the files that were made from records, notes, and how many were looked at."""
    findings: list[Finding] = []
    notes: list[str] = []
    again = "`fabricsim report DIR` makes it anew, or the command that has made it"
    try:
        ledger = read_ledger(folder)
    except BrokenSeal as error:
        return [Finding("damaged", LEDGER, error.reason, "`--resume` writes it anew")], notes, 1
    listed = ledger.files if ledger is not None else {}
    stopped = ", and its process ended while it was writing" if ledger is not None and ledger.writing else ""
    for name, seal in listed.items():
        try:
            check(folder / name, seal, seal_of(folder / name))
        except BrokenSeal as error:
            findings.append(Finding("missing" if error.missing else "damaged", name, error.reason + stopped, again))
        else:
            if ledger is not None and ledger.states[name] != ledger.state:
                notes.append(f"{name}: made before the runs were what they are now; {again}")
    if ledger is not None:
        present = {path.stem for path in _files_in(folder / "runs") if path.suffix == ".json"}
        findings += [
            Finding("missing", f"runs/{key}.json", "it was there when the tables were written", "`--resume` runs it again")
            for key in sorted(ledger.finished - present)
        ]
        known = {run["id"] for run in manifest["runs"]} if manifest is not None else set()
        if late := (present & known) - ledger.finished:
            notes.append(f"{len(late)} runs are younger than summary and tables: `--resume` or `fabricsim report` joins them")
    for path in _files_in(folder):
        if path.name in listed or path.name in _HIDDEN or path.name in ("manifest.json", LEDGER, "runs", PROGRAMS, "figures"):
            continue
        if is_temporary(path.name):
            notes.append(f"{path.name}: left by a process that was stopped")
        elif _ANSWERS.fullmatch(path.name):
            findings.append(Finding("foreign", path.name, "nothing in this folder has sealed it", "`--resume` moves it aside"))
        elif not (path.is_dir() and (path / LEDGER).exists()):
            notes.append(f"{path.name}: not fabricsim's")
    figures = folder / "figures"
    if figures.is_symlink() or figures.exists():
        if not figures.is_dir():
            findings.append(Finding("damaged", "figures", "it is no folder", "`--resume` moves it aside"))
        for path in _files_in(figures):
            if is_temporary(path.name):
                notes.append(f"figures/{path.name}: left by a process that was stopped")
            elif f"figures/{path.name}" not in listed:
                reason = "nothing in this folder has sealed it"
                findings.append(Finding("foreign", f"figures/{path.name}", reason, "`--resume` moves it aside"))
    if ledger is None and manifest is not None and any(file_of_run(path.name) for path in _files_in(folder / "runs")):
        if findings:
            findings.insert(0, Finding("missing", LEDGER, "it is missing", "`--resume` writes it anew"))
        else:
            notes.append("summary and tables have not been written yet: `--resume` or `fabricsim report` joins the runs")
    return findings, notes, len(listed) + (ledger is not None)


def mend(folder: Path, manifest: Mapping[str, Any], *, build: Any, tables: bool) -> tuple[Records, list[str]]:
    """Take away what is damaged or foreign, so that its runs run again and its products are made again; holds the folder's lock.

    Records of another build stay until their runs have run again.

    Returns
    -------
    Records
        What is whole.
    list of str
        What was found, for people.
    """
    with contextlib.suppress(BrokenSeal):
        ledger = read_ledger(folder)
        if ledger is not None and ledger.study_hash not in (None, manifest["study_hash"]):
            # Of another form of the study: its products are looked at as they are, and made anew.
            with products(folder) as ledger:
                ledger.study_hash = manifest["study_hash"]
    wanted = {run["id"] for run in manifest["runs"]}
    told: dict[str, None] = {}
    found = read_records(folder, manifest["runs"], build=build, tables=tables)
    if others := [finding for finding in found.findings if finding.kind == OTHER_BUILD]:
        told[f"{len(others)} finished runs are of another build and run again; the first: {others[0]}"] = None
    findings = [finding for finding in found.findings if finding.kind != OTHER_BUILD]
    of_products, _, _ = look_at_products(folder, manifest=manifest)
    while findings or of_products:
        for finding in (*findings, *of_products):
            told[str(finding)] = None
            of = file_of_run(Path(finding.file).name)
            ours = finding.kind == "damaged" or finding.file in _REMADE or (of is not None and of[0] in wanted)
            take_away(folder, finding.file, ours=ours and finding.file not in ("runs", "figures"))
        if any(finding.file == LEDGER for finding in of_products):
            # Without the list, what it listed is of nobody.
            findings, of_products = [], look_at_products(folder, manifest=None)[0]
            continue
        with products(folder) as ledger:
            for finding in of_products:
                ledger.forget(finding.file)
            ledger.finished &= set(found.whole)
        break
    return found, list(told)


def take_away(folder: Path, name: str, *, ours: bool) -> None:
    """Remove a file of ours or a link, and move everything else aside; raises `DiskError`."""
    path = folder / name
    with translate_disk_errors(path):
        if path.is_symlink() or (ours and path.is_file()):
            path.unlink()
        elif path.exists():
            _aside(folder, path)


def _aside(folder: Path, path: Path) -> None:
    """Move what is not ours to ``aside``, under a name that is free."""
    place = folder / "aside"
    name = "-".join(path.relative_to(folder).parts)
    with translate_disk_errors(place):
        place.mkdir(exist_ok=True)
        number = 0
        target = place / name
        while target.exists() or target.is_symlink():
            number += 1
            target = place / f"{name}.{number}"
        path.rename(target)


def assemble(folder: Path) -> tuple[pa.Table, list[Finding]]:
    """Write `summary.json`, `runs.parquet` and the tables of a directory from its finished runs that are whole.

    Returns
    -------
    table
        A row per run.
    list of Finding
        Runs that were left out, and why.

    Raises
    ------
    ResultsError
        There is no manifest, or none that is whole.
    DiskError
        The files cannot be written; the runs stay.
    """
    import pyarrow.parquet as pq

    from fabricsim._tables import jobs_table, join_tables, runs_table

    manifest = read_manifest(folder)
    if manifest is None:
        raise ResultsError(f"{folder} is not a results directory: it has no manifest.json")
    found = records_of(folder, manifest, tables=True)
    all_records = ordered_records(manifest, found.whole)
    records, beside = told_apart(all_records, manifest)
    table = runs_table(records)
    jobs = jobs_table(records)
    ids = {run["id"] for run in manifest["runs"]}
    with products(folder) as out:
        out.study_hash = manifest["study_hash"]
        out.finished = (out.finished & ids) | set(found.whole)
        out.state = state_of(found.whole)
        out.write("runs.parquet", lambda handle: pq.write_table(table, handle, compression="zstd"))
        if jobs is not None:
            out.write("jobs.parquet", lambda handle: pq.write_table(jobs, handle, compression="zstd"))
        else:
            out.remove("jobs.parquet")
        if beside:
            own = {key: own for own, others in groups(manifest["runs"]).items() for key in others}
            perturbed = runs_table(
                [{**record, "summary": {"beside": own[record["id"]], **record["summary"]}} for record in beside]
            )
            out.write("perturbed.parquet", lambda handle: pq.write_table(perturbed, handle, compression="zstd"))
        else:
            out.remove("perturbed.parquet")
        for name in TABLES:
            parts = [
                (record["id"], folder / "runs" / record["tables"][name]["file"]) for record in records if name in record["tables"]
            ]
            if parts:
                out.write(f"{name}.parquet", join_tables(parts))
            else:
                out.remove(f"{name}.parquet")
        missing = len(ids) - len(all_records)
        summary = {
            "study": manifest["study"]["name"],
            "study_hash": manifest["study_hash"],
            "version": manifest["version"],
            "build": manifest.get("build"),
            "complete": not missing,
            "verdict": {
                "ok": all(record["status"] == "finished" for record in all_records),
                "finished": sum(record["status"] == "finished" for record in all_records),
                "failed_checks": [record["id"] for record in all_records if record["status"] != "finished"],
                "missing": missing,
            },
            "runs": [
                {**{key: record[key] for key in ("id", "hash", "experiment", "sweep", "seed")}, **record["summary"]}
                for record in records
            ],
        }
        out.write("summary.json", json.dumps(summary, indent=1))
    return table, found.findings
