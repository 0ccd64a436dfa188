"""What to simulate, as it is written and as runs. The core validates; nothing here decides."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import tomli_w

from fabricsim import _core
from fabricsim._runs import CheckReport, Expansion, Point, Run
from fabricsim.errors import Diagnostic, StudyError
from fabricsim.ops import Ops, is_frame

__all__ = ["Specification", "find_study", "override_pairs", "packaged_studies"]


def _plain(value: object) -> Any:
    """Return a study's content with tables of operations as texts: an `Ops` as work, an `Ops` or a frame as its `table`."""
    if isinstance(value, Ops):
        return {"kind": "ops", "table": value.to_csv()}
    if is_frame(value):
        return {"kind": "ops", "table": Ops(value).to_csv()}
    if isinstance(value, Mapping):
        return {key: _table_text(item) if key == "table" else _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _table_text(value: object) -> Any:
    if isinstance(value, Ops) or is_frame(value):
        return (value if isinstance(value, Ops) else Ops(value)).to_csv()
    return _plain(value)


def _literal(value: object) -> str:
    """Return a value as TOML text on one line."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_literal(item)}" for key, item in value.items()) + " }"
    raise TypeError(f"a study holds text, numbers, booleans, lists and tables of these, not {type(value).__name__}")


def _set_text(value: object) -> str:
    """Return a value as `--set` text: a string as it is, everything else as a TOML literal."""
    return value if isinstance(value, str) else _literal(_plain(value))


def override_pairs(sets: Mapping[str, object] | Iterable[tuple[str, object]] | None) -> tuple[tuple[str, str], ...]:
    items = sets.items() if isinstance(sets, Mapping) else (sets or ())
    return tuple((str(key), _set_text(value)) for key, value in items)


class Specification:
    """What a study says, from a TOML file, a text or a dictionary; `fabricsim.Study` is this and can be run."""

    __slots__ = ("_base_dir", "_file_name", "_sets", "_source", "_variant")

    def __init__(
        self,
        content: Mapping[str, Any],
        *,
        base_dir: str | Path | None = None,
        sets: Mapping[str, object] | None = None,
        variant: str | None = None,
    ) -> None:
        self._source = tomli_w.dumps(_plain(content)).encode()
        self._file_name = "<dictionary>"
        self._base_dir = Path(base_dir or ".").resolve()
        self._sets = override_pairs(sets)
        self._variant = variant

    @classmethod
    def _make(cls, source: bytes, file_name: str, base_dir: Path, sets: tuple[tuple[str, str], ...], variant: str | None) -> Self:
        study = cls.__new__(cls)
        study._source, study._file_name, study._base_dir = source, file_name, base_dir
        study._sets, study._variant = sets, variant
        return study

    @classmethod
    def from_toml(
        cls,
        text: str | bytes,
        *,
        file_name: str = "<text>",
        base_dir: str | Path | None = None,
        sets: Mapping[str, object] | Iterable[tuple[str, object]] | None = None,
        variant: str | None = None,
    ) -> Self:
        """Make a study of TOML text; nothing is checked before it is used.

        Parameters
        ----------
        text : str or bytes
            The study.
        file_name : str, optional
            Name for error messages.
        base_dir, sets, variant
            As for `Study`.
        """
        source = text.encode() if isinstance(text, str) else bytes(text)
        return cls._make(source, file_name, Path(base_dir or ".").resolve(), override_pairs(sets), variant)

    @property
    def source(self) -> str:
        """The study as TOML text."""
        return self._source.decode(errors="replace")

    @property
    def file_name(self) -> str:
        """Where the study came from."""
        return self._file_name

    @property
    def base_dir(self) -> Path:
        """Where relative paths in the study start."""
        return self._base_dir

    @property
    def sets(self) -> tuple[tuple[str, str], ...]:
        """Overrides by dotted key."""
        return self._sets

    @property
    def variant(self) -> str | None:
        """The variant in use."""
        return self._variant

    @property
    def name(self) -> str:
        """The study's name, as written."""
        try:
            return str(tomllib.loads(self.source).get("name", ""))
        except tomllib.TOMLDecodeError:
            return ""

    def _options(self, experiments: Sequence[str] | None = None) -> str:
        return json.dumps(
            {
                "sets": [list(pair) for pair in self._sets],
                "variant": self._variant,
                "experiments": list(experiments) if experiments else None,
            }
        )

    def check(self, *, experiments: Sequence[str] | None = None) -> CheckReport:
        """Check the study without running it: keys, values, the network, freedom from deadlock.

        Parameters
        ----------
        experiments : sequence of str, optional
            Only these experiments; all by default.
        """
        found = json.loads(_core.check(self._source, self._file_name, str(self._base_dir), self._options(experiments)))
        return CheckReport(
            ok=bool(found["ok"]),
            diagnostics=tuple(Diagnostic.from_dict(entry) for entry in found.get("diagnostics") or []),
            runs=int(found.get("runs") or 0),
            deadlock=tuple(found.get("deadlock") or ()),
        )

    def expand(self, *, experiments: Sequence[str] | None = None) -> Expansion:
        """Return every run of the study.

        Raises
        ------
        StudyError
            The study cannot be run; ``error.diagnostics`` says why, all at once.
        """
        found = json.loads(_core.expand(self._source, self._file_name, str(self._base_dir), self._options(experiments)))
        head = found["study"]
        return Expansion(
            name=str(head.get("name") or Path(self._file_name).stem or "study"),
            description=str(head.get("description") or ""),
            claims=tuple(head.get("claims") or ()),
            reproduce=dict(head.get("reproduce") or {}),
            runs=tuple(Run.from_dict(entry) for entry in found["runs"]),
            sample=dict(head.get("sample") or {}),
        )

    def points(self, *, experiments: Sequence[str] | None = None) -> tuple[Point, ...]:
        """Return the points of the study, seeds apart: an experiment and the swept keys with their values; whether they run is not looked at.

        Raises
        ------
        StudyError
            The study cannot be read.

        Examples
        --------
        >>> import fabricsim as fs
        >>> study = fs.Study({"name": "s", "topology": {"kind": "ring", "routers": 4}, "sweep": {"routing.kind": ["dor", "rdr"]}})
        >>> study.points()
        (('', (('routing.kind', 'dor'),)), ('', (('routing.kind', 'rdr'),)))
        """
        found = json.loads(_core.points(self._source, self._file_name, str(self._base_dir), self._options(experiments)))
        return tuple((str(name), tuple((str(key), str(value)) for key, value in swept)) for name, swept in found)

    def claims(self) -> list[dict[str, Any]]:
        """Return the study's ``[[claim]]`` tables as they are written; none of a file that cannot be read, which `check` tells of."""
        try:
            return list(tomllib.loads(self.source).get("claim", []))
        except (tomllib.TOMLDecodeError, TypeError):
            return []

    def with_sets(self, sets: Mapping[str, object], /) -> Self:
        """Return the study with further overrides by dotted key.

        Examples
        --------
        >>> import fabricsim as fs
        >>> study = fs.Study({"name": "one", "topology": {"kind": "torus", "shape": [4, 4]}})
        >>> study.with_sets({"link.bandwidth": "50 GB/s", "topology.shape": [8, 8]}).sets
        (('link.bandwidth', '50 GB/s'), ('topology.shape', '[8, 8]'))
        """
        return self._make(self._source, self._file_name, self._base_dir, (*self._sets, *override_pairs(sets)), self._variant)

    def with_variant(self, variant: str | None, /) -> Self:
        """Return the study in another variant."""
        return self._make(self._source, self._file_name, self._base_dir, self._sets, variant)

    def sweep(self, values: Mapping[str, Sequence[Any]], /) -> Self:
        """Return the study with further swept keys; a key that was swept already gets the new values.

        Parameters
        ----------
        values : mapping
            Dotted key to the list of its values; the sweep is their product in the order given.

        Raises
        ------
        StudyError
            The study is not TOML.
        ValueError
            The study has experiments: they carry their own sweeps.

        Examples
        --------
        >>> import fabricsim as fs
        >>> study = fs.Study({"name": "s", "topology": {"kind": "torus", "shape": [4, 4]}})
        >>> print(study.sweep({"routing.kind": ["dor", "rdr"]}).source.split("[sweep]")[1].strip())
        "routing.kind" = [
            "dor",
            "rdr",
        ]
        """
        try:
            content = tomllib.loads(self.source)
        except tomllib.TOMLDecodeError:
            self.expand()
            raise
        if "experiment" in content:
            raise ValueError(f"{self._file_name} has experiments with sweeps of their own; add the keys there")
        content["sweep"] = {**content.get("sweep", {}), **{str(key): _plain(list(items)) for key, items in values.items()}}
        return self._make(tomli_w.dumps(content).encode(), self._file_name, self._base_dir, self._sets, self._variant)

    def __repr__(self) -> str:
        """Return name and origin."""
        variant = f", variant={self._variant!r}" if self._variant else ""
        return f"{type(self).__name__}({self.name!r}, {self._file_name!r}{variant})"

    def _repr_html_(self) -> str:
        """Return a table of the runs for notebooks; an invalid study shows its errors."""
        from html import escape

        try:
            plan = self.expand()
        except StudyError as error:
            from fabricsim.errors import diagnostics_of

            return "<pre style='color:#b3261e'>" + escape("\n".join(str(item) for item in diagnostics_of(error))) + "</pre>"
        keys = list(dict.fromkeys(key for run in plan.runs for key, _ in run.sweep))
        head = "".join(f"<th>{escape(text)}</th>" for text in ["run", "experiment", *keys, "seed", "nodes"])
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(str(text))}</td>"
                for text in [
                    run.id,
                    run.experiment,
                    *(dict(run.sweep).get(key, "") for key in keys),
                    run.seed,
                    run.estimate.get("nodes", ""),
                ]
            )
            + "</tr>"
            for run in plan.runs[:20]
        )
        more = f"<p>... and {len(plan) - 20} more</p>" if len(plan) > 20 else ""
        return f"<b>{escape(plan.name)}</b> &mdash; {len(plan)} runs<p>{escape(plan.description)}</p><table><tr>{head}</tr>{body}</table>{more}"


def packaged_studies() -> dict[str, Path]:
    """Return the studies that come with fabricsim by name: those in the package, then those of a source tree."""
    here = Path(__file__).resolve().parent
    found: dict[str, Path] = {}
    for folder in (here / "studies", here.parent.parent / "studies", Path("studies")):
        if folder.is_dir():
            for path in sorted(folder.glob("*.toml")):
                found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find_study(name: str | Path) -> Path:
    """Return the path of a study given as a file or as the name of a packaged study.

    Raises
    ------
    FileNotFoundError
        Neither; the message names what there is.
    """
    path = Path(name)
    if path.is_file():
        return path
    known = packaged_studies()
    if str(name) in known:
        return known[str(name)]
    if path.is_dir():
        raise FileNotFoundError(f"{name} is a folder, a study is a .toml file")
    beside = [file.name for file in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    near = get_close_matches(path.name, [*known, *beside], n=1)
    meant = f"; did you mean {near[0] if near[0] in known else path.with_name(near[0])}?" if near else ""
    hint = f"; studies that come with fabricsim: {', '.join(known)}" if known else ""
    raise FileNotFoundError(f"no study file {name}{meant}{hint}")
