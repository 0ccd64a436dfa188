"""Traces of applications: what a file has, its operations as a table, and the same trace in another format. The core reads and writes."""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim import _core
from fabricsim._reading import reading
from fabricsim._units import picoseconds
from fabricsim.errors import TraceError, TraceWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from rich.console import Console

__all__ = ["Trace", "convert", "cut", "format_for", "read_info", "trace_formats"]


def trace_formats() -> list[dict[str, Any]]:
    """Return the formats of traces: name, what it is, which file to name, what is not kept of it, and whether it can be written.

    Examples
    --------
    >>> [entry["line"] for entry in trace_formats() if entry["name"] == "work"]
    ["fabricsim's file of recorded work: what every other format can be converted to"]
    """
    found: list[dict[str, Any]] = json.loads(_core.trace_formats())
    return found


#: Endings of names that formats have which are read and not written.
_READ_ONLY = (".otf2", ".def", ".evt", ".meta", ".et", ".xml", ".csv", ".cm", ".json")


def format_for(out: Path) -> str:
    """Return the format that a file is written in by the ending of its name: ``goal``, ``goal-binary``, or ``work``.

    Raises
    ------
    ValueError
        The ending is that of a format that is not written.

    Examples
    --------
    >>> format_for(Path("app.goal")), format_for(Path("app.bin")), format_for(Path("app.work"))
    ('goal', 'goal-binary', 'work')
    """
    ending = out.suffix.lower()
    if ending in _READ_ONLY:
        raise ValueError(f"{out} is named as a format that is not written: name it .work, .goal or .bin, or say the format")
    return {".goal": "goal", ".bin": "goal-binary"}.get(ending, "work")


def read_info(path: str | Path, *, format: str | None = None, progress: Callable[[str], bool] | None = None) -> dict[str, Any]:
    """Read a trace and return what `fabricsim trace info --json` prints; what cannot be read is told there."""
    found: dict[str, Any] = json.loads(_core.trace_info(str(path), format, progress))
    return found


def convert(
    path: str | Path,
    out: str | Path,
    *,
    format: str | None = None,
    to: str | None = None,
    repair: bool = False,
    progress: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Convert a trace and return what was done; see `Trace.convert`."""
    options = {"format": format, "to": to or format_for(Path(out)), "repair": repair}
    found: dict[str, Any] = json.loads(_core.trace_convert(str(path), str(out), json.dumps(options), progress))
    return found


def cut(
    path: str | Path,
    out: str | Path,
    *,
    ranks: tuple[int, int] | None = None,
    times: tuple[int, int] | None = None,
    region: str | None = None,
    visits: tuple[int, int] | None = None,
    from_marker: str | None = None,
    to_marker: str | None = None,
    format: str | None = None,
    to: str | None = None,
    progress: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Write a part of a trace and return what was done; see `Trace.cut`. Times are ps."""
    options = {
        **{"format": format, "to": to or format_for(Path(out)), "ranks": ranks, "times": times, "region": region},
        **{"visits": visits, "from_marker": from_marker, "to_marker": to_marker},
    }
    found: dict[str, Any] = json.loads(_core.trace_cut(str(path), str(out), json.dumps(options), progress))
    return found


class Trace:
    """A trace of an application, in any format that fabricsim reads (`fabricsim trace formats` names them).

    Nothing is read before it is asked for.

    Parameters
    ----------
    path : path or str
        The file that names the trace: ``traces.otf2``, a DUMPI ``.meta``, ``app.goal``, one ``.et`` of a set or its folder, ``app.work``.
    format : str, optional
        Name of its format; by default the file tells.
    progress : bool, optional
        Show on stderr how far reading has come.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder.

    Examples
    --------
    >>> import fabricsim as fs
    >>> graph = fs.Graph(2)
    >>> work = graph.compute(0, "3 us")
    >>> sent = graph.send(0, 1, "1 MiB", after=[work])
    >>> received = graph.recv(1, 0, "1 MiB")
    >>> trace = graph.save("pair.work")
    >>> trace.info["operations"], trace.info["bytes_sent"], trace.problems
    ({'compute': 1, 'recv': 1, 'send': 1}, 1048576, [])
    >>> trace.operations.select(["rank", "kind", "peer"]).to_pydict()
    {'rank': [0, 0, 1], 'kind': ['compute', 'send', 'recv'], 'peer': [None, 1, 0]}
    >>> trace.convert("pair.goal").info["format"]
    'goal'
    """

    def __init__(self, path: str | Path, *, format: str | None = None, progress: bool = False) -> None:
        self.path = Path(path)
        self.format = format
        self._progress = progress
        if not self.path.exists():
            raise FileNotFoundError(f"no trace {self.path}")

    @classmethod
    def open(cls, path: str | Path, *, format: str | None = None, progress: bool = False) -> Trace:
        """Return the trace of a file; see the class."""
        return cls(path, format=format, progress=progress)

    def _console(self) -> Console | None:
        if not self._progress:
            return None
        from rich.console import Console

        return Console(stderr=True)

    @cached_property
    def info(self) -> dict[str, Any]:
        """What the trace is and has, as `fabricsim trace info --json` prints it: ``format``, ``ranks``, ``operations`` by kind, ``bytes_sent``, ...

        It is there for a broken file too: ``complete`` is False then, and `problems` say why.
        """
        with reading(f"reading {self.path.name}", self._console()) as progress:
            return read_info(self.path, format=self.format, progress=progress)

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file, then what does not match within the trace; at most 1,000 of each."""
        return list(self.info["problems"])

    @cached_property
    def operations(self) -> pa.Table:
        """The operations as a pyarrow table, a row each, mapped rather than read into memory.

        Columns are those of the file of recorded work (``docs/reference/work-format.md``). A trace of another format is converted into a
        temporary file for it, which is gone when the table is.

        Raises
        ------
        TraceError
            The file cannot be read to its end.
        """
        import pyarrow as pa

        def mapped(path: Path) -> pa.Table:
            return pa.ipc.open_file(pa.memory_map(str(path))).read_all()

        with self.path.open("rb") if self.path.is_file() else tempfile.TemporaryFile() as file:
            is_work = file.read(6) == b"ARROW1"
        if is_work:
            # The core has looked at every byte; a mapping believes what it finds.
            if not self.info["complete"]:
                raise TraceError(self.problems[0])
            return mapped(self.path)
        with tempfile.TemporaryDirectory() as folder:
            # What is mapped stays when its name is gone.
            return mapped(self.convert(Path(folder) / "it.work").path)

    def convert(self, out: str | Path, *, to: str | None = None, repair: bool = False, force: bool = False) -> Trace:
        """Write the trace in another format and return it.

        Parameters
        ----------
        out : path or str
            The file; it is there when all of it is written.
        to : str, optional
            ``"work"``, ``"goal"`` or ``"goal-binary"``; by default the ending says: ``.goal``, ``.bin``, and ``work`` for others, but for
            those of formats that are not written.
        repair : bool, optional
            Leave out what does not match: messages without their other end, collectives that ranks do not agree on. It takes a pass before.
        force : bool, optional
            Replace a file that is there.

        Raises
        ------
        FileExistsError
            There is a file of this name.
        TraceError
            The trace cannot be read to its end, or the format cannot have it, or the file cannot be written.
        ValueError
            The file is named as a format that is not written.

        Warns
        -----
        TraceWarning
            Something is wrong with the file that was read, or not as it was.
        """
        target = _target(out, force=force)
        with reading(f"converting {self.path.name}", self._console()) as progress:
            done = convert(self.path, target, format=self.format, to=to, repair=repair, progress=progress)
        return self._written(target, done)

    def cut(
        self,
        out: str | Path,
        *,
        ranks: range | None = None,
        from_time: str | None = None,
        to_time: str | None = None,
        region: str | None = None,
        visits: range | None = None,
        from_marker: str | None = None,
        to_marker: str | None = None,
        to: str | None = None,
        force: bool = False,
    ) -> Trace:
        """Write a part of the trace and return it: what all that are given have in common.

        A message or collective that is cut in two is left out on both sides, and so are waits for it.

        Parameters
        ----------
        out : path or str
            The file; it is there when all of it is written.
        ranks : range, optional
            These ranks, with step 1; they are numbered from 0 again.
        from_time, to_time : str, optional
            What began at `from_time` or later and before `to_time`, from the begin of the trace: ``"10 ms"``.
        region : str, optional
            What is in this region of the program.
        visits : range, optional
            Of the times that a rank is in the region, these, with step 1, counted from 0: iterations of a loop whose body is a region.
        from_marker, to_marker : str, optional
            Of each rank, what comes from where it first enters the region `from_marker`, to before it then first enters `to_marker`.
        to, force
            As in `convert`.

        Raises
        ------
        FileExistsError, TraceError
            As in `convert`, and for a part that there is not.
        ValueError
            No part is said, a time or the ranks are none, or the file is named as a format that is not written.

        Warns
        -----
        TraceWarning
            As in `convert`.

        Examples
        --------
        >>> import fabricsim as fs
        >>> graph = fs.Graph(4)
        >>> for rank in range(4):
        ...     _ = graph.send(rank, (rank + 1) % 4, 8), graph.recv(rank, (rank - 1) % 4, 8)
        >>> half = graph.save("ring.work").cut("half.work", ranks=range(0, 2))
        >>> half.info["ranks"], half.info["operations"], half.problems
        (2, {'compute': 2, 'recv': 1, 'send': 1}, [])
        """
        for name, numbers in (("ranks", ranks), ("visits", visits)):
            if numbers is not None and numbers.step != 1:
                raise ValueError(f"{name} of a part follow each other, unlike {numbers}")
        times = None
        if from_time is not None or to_time is not None:
            times = (picoseconds(from_time or "0 ps"), 2**64 - 1 if to_time is None else picoseconds(to_time))
        part: dict[str, Any] = {
            "ranks": None if ranks is None else (ranks.start, ranks.stop),
            "times": times,
            "region": region,
            "visits": None if visits is None else (visits.start, visits.stop),
            "from_marker": from_marker,
            "to_marker": to_marker,
        }
        if all(value is None for value in part.values()):
            raise ValueError("say which part: ranks, from_time, to_time, region, from_marker or to_marker")
        target = _target(out, force=force)
        with reading(f"cutting {self.path.name}", self._console()) as progress:
            done = cut(self.path, target, **part, format=self.format, to=to, progress=progress)
        return self._written(target, done)

    def _written(self, target: Path, done: dict[str, Any]) -> Trace:
        for text in [*done["problems"], *done["notes"]]:
            warnings.warn(text, TraceWarning, stacklevel=3)
        return Trace(target, progress=self._progress)

    def __repr__(self) -> str:
        """Return the file."""
        return f"Trace({str(self.path)!r})"


def _target(out: str | Path, *, force: bool) -> Path:
    target = Path(out)
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists; choose another name, or force=True")
    return target
