"""Tables of users in Parquet files, as the text that the core reads."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

__all__ = ["csv_text"]


def csv_text(path: str | Path) -> str:
    """Return a Parquet file as comma-separated lines: a header, then a line per row; what is null is an empty cell.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    ValueError
        It is no Parquet file, or has values that are neither numbers nor words.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "messages.parquet"
    >>> pq.write_table(pa.table({"time_ns": [1.5, 20.0], "bytes": [8, None]}), path)
    >>> print(csv_text(path), end="")
    time_ns,bytes
    1.5,8
    20,
    """
    try:
        table = pq.read_table(path)
        text = io.BytesIO()
        plain = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(table, text, plain)
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"no Parquet table of numbers and words: {error}"
        raise ValueError(message) from error
    return ",".join(table.column_names) + "\n" + text.getvalue().decode()
