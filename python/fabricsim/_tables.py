"""Tables between the core and the disk: columns of bytes -> Arrow -> one Parquet file per kind for the whole campaign.

Columns have the keys of the figures (`latency_ns.mean`), with their units; every row carries the id of its run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from fabricsim._figures import figure_of, flat
from fabricsim._files import Seal, atomic_write
from fabricsim.errors import DamagedError

__all__ = [
    "jobs_table",
    "join_tables",
    "read_arrow",
    "run_row",
    "runs_table",
    "table_of_columns",
    "write_arrow",
]

_ROW_GROUP = 1 << 20


def table_of_columns(columns: list[tuple[str, str, bytes, bytes | None]]) -> pa.Table:
    """Return an Arrow table over the core's columns without copying them.

    Parameters
    ----------
    columns : list of (name, type, values, bits)
        Arrow's name of the type (``"uint32"``, ``"float64"``), the values one behind the other, the least byte first, and where
        some may be missing a bit for each that says whether it is there, the least one first. Words are numbers of one byte
        into those that the type lists: ``"uint8:send,recv"``, names those of four bytes into a list as JSON:
        ``'uint32:["init"]'``.

    Raises
    ------
    ValueError
        Columns of different lengths, or bytes that are no whole number of values.
    """
    arrays: list[pa.Array] = []
    names: list[str] = []
    for name, kind, values, there in columns:
        names.append(name)
        kind, named, words = kind.partition(":")
        value = pa.type_for_alias(kind)
        length, rest = divmod(len(values), value.bit_width // 8)
        if rest:
            raise ValueError(f"column {name}: {len(values)} bytes are no multiple of those of one {kind}")
        bits = None if there is None else pa.py_buffer(there)
        array = pa.Array.from_buffers(value, length, [bits, pa.py_buffer(values)])
        if named:
            listed = json.loads(words) if words.startswith("[") else words.split(",") if words else []
            array = pa.DictionaryArray.from_arrays(array, pa.array(listed, pa.string()))
        arrays.append(array)
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
        import pyarrow.parquet as pq

        writer: pq.ParquetWriter | None = None
        try:
            for run_id, part in parts:
                table = read_arrow(part)
                # Repeated, not cast: a cast loads all of Arrow's functions, a tenth of a second.
                table = table.add_column(0, "run_id", pa.repeat(pa.scalar(run_id, pa.string()), table.num_rows))
                if writer is None:
                    writer = pq.ParquetWriter(handle, table.schema, compression="zstd")
                writer.write_table(table, row_group_size=_ROW_GROUP)
        finally:
            if writer is not None:
                writer.close()

    return write


def run_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's record as one flat row: the keys of columns are those of the summary, `latency_ns.mean`.

    Swept keys keep their names. The first job of MPI ranks has its times and shares here (`jobs.0.time_ns`); `jobs_table` has all
    of all jobs. Notes are one text.
    """
    summary = dict(record["summary"])
    notes = summary.pop("notes", [])
    summary.pop("limits", None)
    jobs = summary.pop("jobs", [])
    summary["verdict"] = {key: value for key, value in summary.get("verdict", {}).items() if key != "checks"}
    row: dict[str, Any] = {"run_id": record["id"], "experiment": record["experiment"], "seed": record["seed"]}
    row.update({str(key): str(value) for key, value in record["sweep"]})
    for key, value in flat(summary).items():
        row.setdefault(key, value)
    number = next((number for number, job in enumerate(jobs) if "ranks" in job), None)
    if number is not None:
        told = {f"jobs.{number}.{key}": value for key, value in jobs[number].items()}
        row.update({key: value for key, value in told.items() if _is_time_or_share(key)})
    row["notes"] = "; ".join(str(note) for note in notes)
    row["hash"] = record["hash"]
    return row


def _is_time_or_share(key: str) -> bool:
    found = figure_of(key)
    return found is not None and found.measure in ("nanoseconds", "share")


def jobs_table(records: Iterable[Mapping[str, Any]]) -> pa.Table | None:
    """Return a row per run and job, None where no run has any."""
    rows = []
    for record in records:
        for number, job in enumerate(record["summary"].get("jobs") or []):
            row = flat(job)
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
