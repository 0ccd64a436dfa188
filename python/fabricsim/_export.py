"""Results for other programs and for papers: tables as CSV, figures at the width of a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fabricsim._drawing import save
from fabricsim._figures import TABLES
from fabricsim._files import atomic_write, translate_disk_errors
from fabricsim.reproduce import drawn_figures

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["export"]

_MM_PER_INCH = 25.4


def export(
    results: Recorded, out: str | Path, *, csv: bool = True, figures: Sequence[str] = ("pdf",), width_mm: float | None = None
) -> tuple[list[Path], dict[str, str]]:
    """Write the tables of results as CSV and their figures, and return the files and which figures cannot be drawn, and why.

    Parameters
    ----------
    results : Results
        Complete or not.
    out : path
        The folder; files of the same names are replaced, others are left alone.
    csv : bool
        Whether to write ``runs.csv``, ``jobs.csv`` and a file per recorded table, with the run in its first column.
    figures : sequence of str
        Kinds of files: ``pdf``, ``svg``, ``png``.
    width_mm : float, optional
        Width of every figure; words keep their size. As wide as it is drawn by default.

    Raises
    ------
    DamagedError
        A table is not what was written.
    DiskError
        The files cannot be written.
    """
    target = Path(out)
    with translate_disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    written = list(_tables(results, target)) if csv else []
    undrawn: dict[str, str] = {}
    for name, figure in drawn_figures(results, undrawn) if figures else ():
        if width_mm is not None:
            _resize(figure, width_mm / _MM_PER_INCH)
        written += [save(figure, target / f"{name}.{kind}") for kind in figures]
    return written, undrawn


def _tables(results: Recorded, target: Path) -> Iterator[Path]:
    for name, table in (("runs", results.runs), ("jobs", results.jobs)):
        if table.num_columns:
            path = target / f"{name}.csv"
            atomic_write(path, partial(_append, table=table, header=True))
            yield path
    for name in TABLES:
        records = [record for record in results.records if name in record.tables]
        if records:
            path = target / f"{name}.csv"
            atomic_write(path, partial(_append_all, records=records, name=name))
            yield path


def _append_all(handle: IO[bytes], records: Sequence[RunRecord], name: str) -> None:
    """Write the tables of many runs below each other, one in memory at a time."""
    import pyarrow as pa

    columns: list[str] | None = None
    for record in records:
        table = record.read(name)
        table = table.add_column(0, "run_id", pa.array([record.id] * table.num_rows, pa.string()))
        columns = table.column_names if columns is None else columns
        _append(handle, table.select(columns), header=record is records[0])


def _append(handle: IO[bytes], table: pa.Table, *, header: bool) -> None:
    from pyarrow import csv

    csv.write_csv(table, handle, csv.WriteOptions(include_header=header, quoting_style="needed"))


def _resize(figure: Figure, width: float) -> None:
    old_width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * width / old_width)
