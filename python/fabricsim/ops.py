"""Operations of MPI ranks as data: a program that Python writes down and the core runs; no callback in the loop.

A table has a row per operation, in the order in which each rank does them; rows of different ranks may come in any order. Columns
are ``rank``, ``op``, ``peer``, ``source``, ``bytes``, ``tag``, ``communicator``, ``request`` and ``time_ps``. The core checks the
table as a whole: its errors name the row.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabricsim._units import picoseconds
from fabricsim.traces import Trace, convert

__all__ = ["Ops", "is_frame"]

_COLUMNS = ("rank", "op", "peer", "source", "bytes", "tag", "communicator", "request", "time_ps")


class Ops:
    """A table of operations, written row by row or taken from a frame.

    Give it as the work of a job: ``{"work": ops}``, or ``{"work": {"kind": "ops", "table": ops, "iterations": 10}}``.

    Parameters
    ----------
    frame : polars, pyarrow or pandas frame, optional
        Rows to begin with; columns as in the module's text, empty cells where an operation does not need one.

    Raises
    ------
    TypeError
        Not a frame.

    Examples
    --------
    >>> ops = Ops()
    >>> _ = ops.add(0, "compute", time="2 us").add(0, "send", peer=1, bytes=4096).add(1, "recv", peer=0, bytes=4096)
    >>> print(ops.to_csv())
    rank,op,peer,bytes,time_ps
    0,compute,,,2000000
    0,send,1,4096,
    1,recv,0,4096,
    """

    __slots__ = ("_columns", "_rows")

    def __init__(self, frame: Any = None) -> None:
        self._rows: list[dict[str, str]] = []
        self._columns: list[str] = []
        if frame is not None:
            import pyarrow as pa

            if not is_frame(frame):
                raise TypeError(f"operations come from a polars, pyarrow or pandas frame, not from {type(frame).__name__}")
            table = pa.table(frame)
            self._columns = [name for name in table.column_names if not name.startswith("__index")]
            self._rows = [{name: _cell(row[name]) for name in self._columns} for row in table.to_pylist()]

    def add(
        self,
        rank: int,
        op: str,
        *,
        peer: int | str | None = None,
        source: int | str | None = None,
        bytes: int | None = None,
        tag: int | str | None = None,
        communicator: int | None = None,
        request: int | None = None,
        time: str | None = None,
    ) -> Ops:
        """Add the next operation of a rank and return the table.

        Parameters
        ----------
        rank : int
            Who does it.
        op : str
            ``compute``, ``send``, ``isend``, ``ssend``, ``issend``, ``recv``, ``irecv``, ``sendrecv``, ``wait``, ``waitall``,
            ``waitany``, ``waitnews``, ``test``, or a collective such as ``allreduce``, or ``iallreduce`` that does not wait.
        peer : int or "any", optional
            To whom or from whom; the root of a collective that has one.
        source : int or "any", optional
            From whom a ``sendrecv`` receives; `peer` if not given.
        bytes : int, optional
            Size of the message.
        tag : int or "any", optional
            Tag, 0 if not given.
        communicator, request : int, optional
            Number of the communicator; name of the request.
        time : str, optional
            How long a ``compute`` takes, with its unit: ``"2 us"``.
        """
        cells = {
            "rank": rank,
            "op": op,
            "peer": peer,
            "source": source,
            "bytes": bytes,
            "tag": tag,
            "communicator": communicator,
            "request": request,
            "time_ps": None if time is None else picoseconds(time),
        }
        row = {name: _cell(value) for name, value in cells.items() if value is not None}
        self._columns = [name for name in _COLUMNS if name in row or name in self._columns] + [
            name for name in self._columns if name not in _COLUMNS
        ]
        self._rows.append(row)
        return self

    def to_csv(self) -> str:
        """Return the table as the core reads it: the header, then a line per row."""
        lines = [",".join(self._columns), *(",".join(row.get(name, "") for name in self._columns) for row in self._rows)]
        return "\n".join(lines)

    def save(self, path: str | Path) -> Trace:
        """Write the table into a file of recorded work, whole or not at all, and return it as a trace.

        Parameters
        ----------
        path : path or str
            The file, usually ``NAME.work``; one that is there is replaced.

        Raises
        ------
        TraceError
            A row is wrong, or the file cannot be written.

        Examples
        --------
        >>> ops = Ops().add(0, "send", peer=1, bytes=4096).add(1, "recv", peer=0, bytes=4096)
        >>> ops.save("pair.work").info["operations"]
        {'recv': 1, 'send': 1}
        """
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "operations.csv"
            table.write_text(self.to_csv() + "\n")
            convert(table, path, format="ops", to="work")
        return Trace(path)

    def __len__(self) -> int:
        """Return the number of operations."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        """Iterate over the rows, cells as texts."""
        return iter(self._rows)

    def __repr__(self) -> str:
        """Return the size."""
        return f"Ops({len(self)} operations of {len({row.get('rank') for row in self._rows})} ranks)"


def is_frame(value: object) -> bool:
    """Tell whether a value is a table with columns that Arrow can take over: of polars, pyarrow, or pandas."""
    return hasattr(value, "__arrow_c_stream__") or (hasattr(value, "columns") and hasattr(value, "to_dict"))


def _cell(value: object) -> str:
    # A column with empty cells has become one of floats in pandas.
    if value is None or value != value:
        return ""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if "," in text or "\n" in text:
        raise ValueError(f"a cell with a comma or a line break: {text!r}")
    return text
