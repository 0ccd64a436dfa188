"""Tables between the core and the disk: columns of bytes -> Arrow -> one Parquet file per kind for the whole campaign.

Units are in the column names (`latency_ns`); every row carries the id of its run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from fabricsim._files import Seal, atomic_write
from fabricsim.analyses.perturb.spread import columns
from fabricsim.errors import DamagedError

__all__ = [
    "TABLES",
    "jobs_table",
    "join_tables",
    "not_arrived",
    "read_arrow",
    "run_row",
    "runs_table",
    "table_of_columns",
    "write_arrow",
]

#: Tables a run may record, in the order in which they are stored.
TABLES = ("links", "messages", "timeline", "cdf", "hops", "senders", "ranks")

_ROW_GROUP = 1 << 20
#: Numbers that belong together: `latency_ns` with `mean` is the column `latency_mean_ns`.
_FAMILIES = ("latency_ns", "wait_ns", "source_wait_ns", "latency_of_arrived_ns", "throughput_MiBps")
#: What `runs.parquet` tells of the first job of ranks.
_OF_FIRST_JOB = ("time_ns", "compute_ns", "wait_ns", "overhead_ns", "compute_share", "wait_share", "overhead_share")


def table_of_columns(columns: list[tuple[str, str, bytes]]) -> pa.Table:
    """Return an Arrow table over the core's columns without copying those that have no nulls.

    Parameters
    ----------
    columns : list of (name, dtype, bytes)
        Little-endian NumPy type strings (``"<u4"``, ``"u4"``, ``"f8"``) and the raw values. A ``?`` behind the type of whole
        numbers says that the greatest one stands for null, behind that of fractions that NaN does.

    Raises
    ------
    ValueError
        Columns of different lengths, or bytes that are no whole number of values.
    """
    arrays: list[pa.Array] = []
    names: list[str] = []
    for name, kind, content in columns:
        dtype = np.dtype(kind.rstrip("?")).newbyteorder("<")
        values = np.frombuffer(content, dtype=dtype)
        missing = None
        if kind.endswith("?"):
            missing = np.isnan(values) if dtype.kind == "f" else values == np.iinfo(dtype).max
        arrays.append(pa.array(values, mask=missing))
        names.append(name)
    return pa.table(arrays, names=names)


def write_arrow(path: Path, table: pa.Table) -> Seal:
    """Write one run's table as an Arrow file, atomically, and return its seal; raises `DiskError`."""

    def write(handle: Any) -> None:
        with ipc.new_file(handle, table.schema) as writer:
            writer.write_table(table)

    return atomic_write(path, write)


def read_arrow(path: Path) -> pa.Table:
    """Read one run's table through a memory map: nothing is copied until it is used.

    Raises
    ------
    DamagedError
        It is no such file; only tables that nobody has sealed get so far.
    """
    try:
        with pa.memory_map(str(path), "r") as source:
            return ipc.open_file(source).read_all()
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(path, f"it is no table: {error}", "`fabricsim run STUDY --out DIR --resume` runs it again") from error


def join_tables(parts: Iterable[tuple[str, Path]]) -> Callable[[Any], None]:
    """Return what writes the tables of many runs as one Parquet file with a `run_id` column, one run in memory at a time.

    Parameters
    ----------
    parts : iterable of (run id, Arrow file)
        In the order of the campaign; must not be empty.
    """

    def write(handle: Any) -> None:
        writer: pq.ParquetWriter | None = None
        try:
            for run_id, part in parts:
                table = read_arrow(part)
                indices = pa.array(np.zeros(table.num_rows, dtype=np.int32))
                ids = pa.DictionaryArray.from_arrays(indices, pa.array([run_id], pa.string())).cast(pa.string())
                table = table.add_column(0, "run_id", ids)
                if writer is None:
                    writer = pq.ParquetWriter(handle, table.schema, compression="zstd")
                writer.write_table(table, row_group_size=_ROW_GROUP)
        finally:
            if writer is not None:
                writer.close()

    return write


def _flatten(prefix: str, value: Any, out: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            name, _, unit = prefix.rpartition("_")
            if prefix in _FAMILIES:
                _flatten(f"{name}_{key}_{unit}", item, out)
            else:
                _flatten(f"{prefix}_{key}" if prefix else str(key), item, out)
    else:
        out[prefix] = value


def run_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's record as one flat row.

    Swept keys keep their names; `latency_ns` with `mean` becomes `latency_mean_ns`, `throughput_MiBps`
    with `p50` becomes `throughput_p50_MiBps`. The verdict becomes `verdict_ok` and `verdict_state`; `not_arrived` is the share of the measured
    messages that had not arrived when the run ended. The first job of MPI ranks has its numbers here
    (`job_time_ns`, `job_wait_share`); `jobs_table` has all of them.
    """
    summary = dict(record["summary"])
    verdict = summary.pop("verdict", {})
    notes = summary.pop("notes", [])
    summary.pop("limits", None)
    jobs = summary.pop("jobs", [])
    perturbed = summary.pop("perturbed", None)
    row: dict[str, Any] = {"run_id": record["id"], "experiment": record["experiment"], "seed": record["seed"]}
    row.update({str(key): str(value) for key, value in record["sweep"]})
    row["verdict_ok"] = bool(verdict.get("ok"))
    if "state" in verdict:
        row["verdict_state"] = str(verdict["state"])
        row["verdict_settles_ns"] = verdict.get("settles_ns")
    row["not_arrived"] = not_arrived(summary)
    flat: dict[str, Any] = {}
    _flatten("", summary, flat)
    for key, value in flat.items():
        row.setdefault(key, value)
    ranks = next((job for job in jobs if "ranks" in job), None)
    if ranks is not None:
        first = job_row(ranks)
        row.update({f"job_{key}": first[key] for key in _OF_FIRST_JOB})
    if perturbed:
        row.update(columns(perturbed))
    row["notes"] = "; ".join(str(note) for note in notes)
    row["hash"] = record["hash"]
    return row


def not_arrived(summary: Mapping[str, Any]) -> float | None:
    """Return the share of the measured messages that had not arrived when the run ended; None where none was measured or told.

    Examples
    --------
    >>> not_arrived({"measured": 8, "arrived": 6})
    0.25
    """
    measured, arrived = summary.get("measured"), summary.get("arrived")
    return (measured - arrived) / measured if measured and arrived is not None else None


def job_row(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a job as one flat row; of MPI ranks with the shares of their time, which sum to 1 over computing, waiting and overhead.

    Times of ranks are means over them, but for `time_ns`, when the last was done.
    """
    flat: dict[str, Any] = {}
    _flatten("", job, flat)
    job = flat
    if "compute_ns" not in job:
        return job
    spent = {kind: float(job[f"{kind}_ns"]) for kind in ("compute", "wait", "overhead")}
    whole = sum(spent.values())
    return {**job, **{f"{kind}_share": time / whole if whole else None for kind, time in spent.items()}}


def jobs_table(records: Iterable[Mapping[str, Any]]) -> pa.Table | None:
    """Return a row per run and job, None where no run has any."""
    rows = []
    for record in records:
        for number, job in enumerate(record["summary"].get("jobs") or []):
            row = job_row(job)
            rows.append({"run_id": record["id"], "job": number, "name": row.pop("name"), **row})
    return _table_of_rows(rows) if rows else None


def runs_table(records: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return a row per run, in the order given; a key that only some runs have is null in the others."""
    return _table_of_rows([run_row(record) for record in records])


def _table_of_rows(rows: list[dict[str, Any]]) -> pa.Table:
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        if kinds == {int, float}:
            values = [None if value is None else float(value) for value in values]
        elif len(kinds) > 1:
            values = [None if value is None else str(value) for value in values]
        if kinds == {int} and any(value is not None and value >= 2**63 for value in values):
            columns[name] = pa.array(values, pa.uint64())
        else:
            columns[name] = pa.array(values) if kinds else pa.array(values, pa.string())
    return pa.table(columns)
