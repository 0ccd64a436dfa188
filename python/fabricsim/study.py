"""Studies: what to simulate, from a TOML file, a text or a dictionary. The core validates; nothing here decides."""

from __future__ import annotations

import hashlib
import json
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from fabricsim import _core
from fabricsim.errors import DamagedWarning, Diagnostic, StudyError
from fabricsim.ops import Ops, is_frame

if TYPE_CHECKING:
    from fabricsim.results import Results

__all__ = ["CheckReport", "Expansion", "Run", "Study", "find_study", "load", "packaged_studies", "short_key"]


@dataclass(frozen=True, slots=True)
class Run:
    """One point of a study's sweep with one seed; a result is a function of `canonical` alone.

    Attributes
    ----------
    id : str
        Twelve hexadecimal digits of `hash`.
    canonical : str
        The complete specification as stable JSON.
    hash : str
        SHA-256 of the specification.
    study, experiment : str
        Names; `experiment` is empty where a study has only one.
    sweep : tuple of (key, value)
        Swept keys and their values as written in the study.
    seed : int
        Seed of every random draw.
    engine : str
        Engine asked for; it never changes the result.
    topology : dict
        The topology's parameters.
    estimate : dict
        ``nodes`` and ``routers``, and what the run is predicted to take: ``memory_bytes``, ``packets``, ``packet_hops`` and
        ``seconds`` on one core, of which ``build_seconds`` do not grow with the work; None where the work is not known beforehand.
    perturbation : dict
        Of a perturbed run its ``number`` beside the run before it, and by how much its starts differ, ``spread_ns``; else empty.
    """

    id: str
    canonical: str
    hash: str
    study: str
    experiment: str
    sweep: tuple[tuple[str, str], ...]
    seed: int
    engine: str
    topology: dict[str, Any]
    estimate: dict[str, Any]
    perturbation: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Run:
        """Build from an entry of the core's expansion."""
        return cls(
            id=str(entry["id"]),
            canonical=str(entry["canonical"]),
            hash=str(entry["hash"]),
            study=str(entry["study"]),
            experiment=str(entry.get("experiment") or ""),
            sweep=tuple(
                (str(key), value if isinstance(value, str) else json.dumps(value)) for key, value in entry.get("sweep") or []
            ),
            seed=int(entry["seed"]),
            engine=str(entry.get("engine") or "auto"),
            topology=dict(entry.get("topology") or {}),
            estimate=dict(entry.get("estimate") or {}),
            perturbation=dict(entry.get("perturbation") or {}),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, as in the manifest of a results directory."""
        return {
            "id": self.id,
            "hash": self.hash,
            "study": self.study,
            "experiment": self.experiment,
            "sweep": [list(pair) for pair in self.sweep],
            "seed": self.seed,
            "engine": self.engine,
            "topology": self.topology,
            "estimate": self.estimate,
            "canonical": self.canonical,
            **({"perturbation": self.perturbation} if self.perturbation else {}),
        }

    @property
    def label(self) -> str:
        """Name for people: experiment, swept values and seed."""
        parts = [f"{short_key(key)}={value}" for key, value in self.sweep]
        if self.perturbation:
            parts.append(f"perturbed={self.perturbation['number']}")
        return " ".join([*([self.experiment] if self.experiment else []), *parts, f"seed={self.seed}"])


@dataclass(frozen=True, slots=True)
class Expansion:
    """All runs of a study, in order: experiments, sweep as written, seeds innermost.

    Attributes
    ----------
    name, description : str
        Of the study.
    claims : tuple of dict
        The study's ``[[claim]]`` tables.
    reproduce : dict
        The study's ``[reproduce]`` table.
    runs : tuple of Run
        Every run.
    sample : dict
        ``method``, ``points``, ``seed`` and ``keys`` with their ranges where the study has a ``[sample]``.
    """

    name: str
    description: str
    claims: tuple[dict[str, Any], ...]
    reproduce: dict[str, Any]
    runs: tuple[Run, ...]
    sample: dict[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 over the study's name and the hashes of all runs: two studies with the same hash have the same results."""
        text = "\n".join([self.name, *(run.hash for run in self.runs)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of the experiments, in order."""
        return tuple(dict.fromkeys(run.experiment for run in self.runs))

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runs)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `Study.check` found.

    Attributes
    ----------
    ok : bool
        Whether the study can run.
    diagnostics : tuple of Diagnostic
        Errors and warnings.
    runs : int
        Number of runs.
    deadlock : tuple
        Cycles of waiting channels, by name; empty when every run is free of deadlock.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    runs: int
    deadlock: tuple[Any, ...]


def short_key(key: str) -> str:
    """Return the part of a dotted key that says what it is.

    Examples
    --------
    >>> short_key("routing.kind"), short_key("job.0.work.load")
    ('routing', 'load')
    """
    *parents, last = key.split(".")
    return parents[-1] if last == "kind" and parents else last


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


def _pairs(sets: Mapping[str, object] | Iterable[tuple[str, object]] | None) -> tuple[tuple[str, str], ...]:
    items = sets.items() if isinstance(sets, Mapping) else (sets or ())
    return tuple((str(key), _set_text(value)) for key, value in items)


class Study:
    """A study: a network, work on it, and what to sweep.

    Parameters
    ----------
    content : mapping
        The study as nested dictionaries, with the keys of a study file. Work may be an `Ops`, or a frame of operations.
    base_dir : path, optional
        Where relative paths in the study start; the working directory by default.
    sets : mapping, optional
        Overrides by dotted key, as ``--set`` on the command line.
    variant : str, optional
        Name of a ``[variant.NAME]`` of the study, such as ``"quick"``.

    Examples
    --------
    >>> study = Study({"name": "two", "topology": {"kind": "torus", "shape": [4, 4]},
    ...                "sweep": {"run.seed": [1, 2]}})
    >>> study.name
    'two'
    """

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
        self._sets = _pairs(sets)
        self._variant = variant

    @classmethod
    def _make(
        cls, source: bytes, file_name: str, base_dir: Path, sets: tuple[tuple[str, str], ...], variant: str | None
    ) -> Study:
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
    ) -> Study:
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
        return cls._make(source, file_name, Path(base_dir or ".").resolve(), _pairs(sets), variant)

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

    def with_sets(self, sets: Mapping[str, object], /) -> Study:
        """Return the study with further overrides by dotted key.

        Examples
        --------
        >>> study = Study({"name": "one", "topology": {"kind": "torus", "shape": [4, 4]}})
        >>> study.with_sets({"link.bandwidth": "50 GB/s", "topology.shape": [8, 8]}).sets
        (('link.bandwidth', '50 GB/s'), ('topology.shape', '[8, 8]'))
        """
        return Study._make(self._source, self._file_name, self._base_dir, (*self._sets, *_pairs(sets)), self._variant)

    def with_variant(self, variant: str | None, /) -> Study:
        """Return the study in another variant."""
        return Study._make(self._source, self._file_name, self._base_dir, self._sets, variant)

    def sweep(self, values: Mapping[str, Sequence[Any]], /) -> Study:
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
        >>> study = Study({"name": "s", "topology": {"kind": "torus", "shape": [4, 4]}})
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
        return Study._make(tomli_w.dumps(content).encode(), self._file_name, self._base_dir, self._sets, self._variant)

    def run(
        self,
        *,
        out: str | Path | None = None,
        jobs: int | None = None,
        experiments: Sequence[str] | None = None,
        resume: bool = True,
        force: bool = False,
        checkpoint_every: str | None = None,
        dask: str | None = None,
        progress: bool | Callable[[dict[str, Any]], bool | None] = True,
    ) -> Results:
        """Run the study and return its results.

        Parameters
        ----------
        out : path, optional
            Results directory; ``results/<name>-<hash8>`` by default.
        jobs : int, optional
            Parallel processes; the number of cores by default, fewer where memory is short.
        experiments : sequence of str, optional
            Only these experiments.
        resume : bool, optional
            Keep runs that `out` already has and go on from checkpoints (the default); False runs all of them again.
        force : bool, optional
            Replace the results of another study in `out`.
        checkpoint_every : str, optional
            Write a checkpoint of every run in progress this often: ``"10 min"``, ``"2 h"``, ``"30 s"`` are wall time,
            ``"1 ms"``, ``"50 us"``, ``"200 ns"`` simulated time.
        dask : str, optional
            Send the runs to this Dask scheduler (``"tcp://host:8786"`` or its scheduler file) instead of local processes.
        progress : bool or callable, optional
            True shows bars; a callable receives a dict about five times a second (``run``, ``fraction``,
            ``campaign_fraction``, ``events_per_s``, ...) and stops the campaign by returning False.

        Returns
        -------
        Results
            Of the whole campaign; runs with a failed self-check are in ``.failed`` and raise nothing here.

        Raises
        ------
        StudyError, ResultsError, ClusterError, DiskError, RunFailed, CampaignInterrupted
            See each; finished runs are always kept.
        """
        from fabricsim._campaign import Campaign
        from fabricsim._progress import make_observer
        from fabricsim.results import Results

        cluster = None
        if dask is not None:
            from fabricsim._dask import connect

            if jobs is not None or checkpoint_every is not None:
                raise ValueError("jobs and checkpoint_every have no meaning on a Dask cluster")
            cluster = connect(dask)
        try:
            campaign = Campaign.plan(study=self, out=out, experiments=experiments, command="python: Study.run", cluster=cluster)
            outcome = campaign.execute(
                jobs=jobs, resume=resume, force=force, checkpoint_every=checkpoint_every, observer=make_observer(progress)
            )
        finally:
            if cluster is not None:
                cluster.close()
        if progress is not True and outcome.mended:
            # With bars or lines it has been said.
            warnings.warn(f"{campaign.folder}: {'; '.join(outcome.mended[:3])}; run again", DamagedWarning, stacklevel=2)
        outcome.raise_for_faults()
        return Results.open(campaign.folder)

    def __repr__(self) -> str:
        """Return name and origin."""
        variant = f", variant={self._variant!r}" if self._variant else ""
        return f"Study({self.name!r}, {self._file_name!r}{variant})"

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
    hint = f"; studies that come with fabricsim: {', '.join(known)}" if known else ""
    raise FileNotFoundError(f"no study file {name}{hint}")


def load(
    path: str | Path,
    *,
    sets: Mapping[str, object] | Iterable[tuple[str, object]] | None = None,
    variant: str | None = None,
) -> Study:
    """Read a study from a file, or a packaged study by name.

    Parameters
    ----------
    path : path or str
        A TOML file, or a name such as ``"torus-ross-codes"``.
    sets : mapping, optional
        Overrides by dotted key.
    variant : str, optional
        Name of a variant of the study.

    Raises
    ------
    FileNotFoundError
        There is no such study.
    """
    found = find_study(path)
    return Study._make(found.read_bytes(), str(found), found.resolve().parent, _pairs(sets), variant)
