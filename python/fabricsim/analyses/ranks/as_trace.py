"""What the ranks of a job did as a trace that others read, and that can be played again. The core writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim import _core
from fabricsim.analyses.ranks.times import operations_of

if TYPE_CHECKING:
    import pyarrow as pa

    from fabricsim._recorded import RunRecord

__all__ = ["write_run_trace"]

#: Stands for what is not there.
_NOTHING = 2**64 - 1


def _columns(table: pa.Table) -> dict[str, bytes]:
    """Return whole numbers as the core takes them: 64 bits, little-endian."""
    import pyarrow as pa
    import pyarrow.types as types

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if types.is_integer(column.type):
            whole = column.cast(pa.uint64()).fill_null(_NOTHING)
            columns[name] = whole.to_numpy().astype("<u8", copy=False).tobytes()
    return columns


def write_run_trace(record: RunRecord, path: str | Path, *, to: str, job: int | None = None) -> tuple[list[Path], list[str]]:
    """Write what the ranks of a job did as a trace; return the files and, in words, what is not as it was.

    Parameters
    ----------
    record : RunRecord
        A run with ``observe.operations``.
    path : path
        A folder for ``to="otf2"``, which gets ``traces.otf2``, ``traces.def`` and a folder ``traces``; a file for ``to="work"``.
    to : str
        ``"otf2"``, with a clock of 1 ps, so that no time is rounded, or ``"work"``.
    job : int, optional
        Number of the job in the study; needed where several have recorded operations.

    Raises
    ------
    ValueError
        The run has not recorded operations, or has several jobs of ranks and none is named.
    TraceError
        The format cannot have these operations, or the place cannot be written.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    operations = operations_of(record)
    if "communicators" not in record.tables:
        raise ValueError("the run was recorded by an earlier version, without communicators: run it again")
    communicators = record.read("communicators")
    jobs = sorted(pc.unique(operations["job"]).to_pylist())
    if job is None and len(jobs) > 1:
        raise ValueError(f"a trace is of one job: name it with --job, there are {', '.join(map(str, jobs))}")
    chosen = jobs[0] if job is None else job
    if chosen not in jobs:
        raise ValueError(f"no ranks of a job {chosen} have done anything; there are {', '.join(map(str, jobs))}")
    operations, communicators = (table.filter(pc.equal(table["job"], chosen)) for table in (operations, communicators))
    words = operations["operation"].combine_chunks()
    told = {**_columns(operations), "operation": words.indices.cast(pa.uint64()).to_numpy().astype("<u8", copy=False).tobytes()}
    out = Path(path)
    notes = _core.run_trace(told, words.dictionary.to_pylist(), _columns(communicators), str(out), to)
    return [out / "traces.otf2" if to == "otf2" else out], notes
