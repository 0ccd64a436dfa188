"""Forks of a run: the same run in which something fails at a time, or a key has another value.

A fork is a run of a study of its own, the run's study with one more outage or other values, from its first event on. That is the same as
to go on from the run's state at that time: nothing before an outage knows of it. Of it nothing is approximated, and anybody can run it
again from its study alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._build import build_words, same_build, this_build
from fabricsim._campaign import Campaign, Executor, Outcome
from fabricsim._folder import runs_left
from fabricsim._live import programs_of
from fabricsim._metrics import compared_by, number_of, refuse_old_name
from fabricsim._points import error_words, point_sets
from fabricsim._progress import make_observer
from fabricsim._runs import Expansion, Run
from fabricsim.analyses.fork.change import Change, changes, said_outages
from fabricsim.analyses.fork.defaults import FOLDER, KEY
from fabricsim.analyses.fork.records import Fork, Forks
from fabricsim.errors import StudyError
from fabricsim.results import Results
from fabricsim.study import Study

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord

__all__ = ["fork", "forked", "forks_of_others", "study_of"]


def study_of(results: Results) -> Study:
    """Return the study that a campaign has run, with its overrides and variant.

    Files that it names are looked for beside the study's own file.
    """
    manifest = results.manifest
    file = Path(str(manifest["study_file"]))
    base = file.parent if file.is_file() else Path()
    sets = [(str(key), str(value)) for key, value in manifest.get("sets") or []]
    source = str(manifest["study_source"])
    return Study.from_toml(source, file_name=str(file), base_dir=base, sets=sets, variant=manifest.get("variant"))


def fork(
    results: Results | str | Path,
    run: str | int | RunRecord = 0,
    *,
    cables: Iterable[str] = (),
    routers: Iterable[str] = (),
    nodes: Iterable[int] = (),
    groups: Iterable[int] = (),
    racks: Iterable[int] = (),
    at: str | None = None,
    until: str | None = None,
    reroute: str | None = None,
    keeps: float | None = None,
    error_rate: float | None = None,
    sets: dict[str, object] | None = None,
    each: bool = False,
    metric: str | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
) -> Forks:
    """Tell what would have become of a finished run if something had failed at a time, or if a key had another value.

    Parameters
    ----------
    results : Results or path
        Where the run is.
    run : str, int or RunRecord, optional
        Which run: by its id or the beginning of it, or by its place; the first by default.
    cables, routers : iterable of str, optional
        What fails, by the names that ``[fail]`` knows.
    nodes, groups, racks : iterable of int, optional
        Nodes, groups and racks that fail, by number.
    at : str, optional
        When it fails, such as ``"20 us"``.
    until : str, optional
        When it works again; for good by default.
    reroute : str, optional
        How long after that packets go round it, or ``"never"``; at once by default.
    keeps, error_rate : float, optional
        Cables live on, with this share of their bandwidth, or with this bit error rate.
    sets : dict, optional
        Values of keys of the study, by dotted key, from the start of the run on: a threshold of the routing, a placement.
    each : bool, optional
        A fork for every cable, router, node, group and rack instead of one with all of them.
    metric : str, optional
        The number that is compared; the time of the first job by default, else the mean latency.
    out : path, optional
        Results directory of forks; ``forks`` in that of the run by default. It keeps the forks that it has.
    jobs : int, optional
        Runs at a time.

    Returns
    -------
    Forks
        The run, and the forks that were asked for.

    Raises
    ------
    ValueError
        No such run or metric, nothing that is other, a run that is not one of its study, or one of programs.
    StudyError
        The study cannot be read any more, since files that it names are gone.

    Examples
    --------
    >>> import fabricsim as fs
    >>> work = {"kind": "ring", "message": "1 MiB"}
    >>> study = fs.Study({"name": "ring", "topology": {"kind": "ring", "routers": 8}, "job": [{"work": work}]})
    >>> results = study.run(out="ring", progress=False)
    >>> found = fs.fork(results, cables=["(0) ring+"], at="20 us", keeps=0.5)
    >>> found.forks[0].ratio > 1
    True
    """
    asked = changes(
        {"cables": cables, "routers": routers, "nodes": nodes, "groups": groups, "racks": racks},
        each=each,
        at=at,
        until=until,
        reroute=reroute,
        keeps=keeps,
        error_rate=error_rate,
        sets=dict(sets or {}),
    )

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        return campaign.execute(observer=make_observer(False), jobs=jobs, resume=resume, force=force)

    return forked(results, run, asked, metric=metric, out=out, execute=execute)


def forked(
    results: Results | str | Path,
    run: str | int | RunRecord,
    asked: Sequence[Change],
    *,
    execute: Executor,
    metric: str | None = None,
    out: str | Path | None = None,
) -> Forks:
    """Do what `fork` does, with somebody else to execute the campaign."""
    if metric is not None:
        refuse_old_name(metric)
    found = results if isinstance(results, Results) else Results.open(results)
    try:
        record = found.record(run)
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    _refuse(found, record)
    study = study_of(found)
    base = _own(study, record)
    folder = Path(out) if out is not None else found.folder / FOLDER
    name = metric or compared_by([record])
    try:
        value = number_of(record, name)
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    forks: dict[str, tuple[Run | None, str]] = {}
    for change in asked:
        try:
            forks[change.name] = (_fork_run(study, base, change), "")
        except StudyError as error:
            forks[change.name] = (None, error_words(error))
    # Two forks may be one run, differently said.
    runs = list({run.id: run for run, _ in forks.values() if run is not None}.values())
    outcome = _executed(study, folder, execute, runs, f"forks of {record.label}") if runs else None
    records = {record.id: record for record in Results.open(folder).records} if runs else {}
    told = [_told(words, forks[words], records, outcome, (name, value)) for words in forks]
    mine = _forks_of(record, records.values(), (name, value))
    earlier = [fork for fork in mine if fork.run not in {one.run for one in told}]
    return Forks(
        name=record.label,
        run=record.id,
        metric=name,
        value=value,
        state=record.state,
        why=record.why if value is None else "",
        forks=tuple(told),
        earlier=tuple(earlier),
    )


def forks_of_others(results: Results, folder: Path, run: str) -> list[Forks]:
    """Return the other runs of a campaign that have forks in a folder.

    Parameters
    ----------
    results : Results
        The campaign.
    folder : Path
        Where its forks are.
    run : str
        Id of the run that is left out.
    """
    records = Results.open(folder).records
    found = []
    for record in results.records:
        metric = compared_by([record])
        value = number_of(record, metric)
        forks = _forks_of(record, records, (metric, value)) if record.id != run else []
        if forks:
            why = record.why if value is None else ""
            found.append(Forks(record.label, record.id, metric, value, record.state, why, (), tuple(forks)))
    return found


def _forks_of(record: RunRecord, others: Iterable[RunRecord], compared: tuple[str, float | None]) -> list[Fork]:
    """Return what became of the forks of a run that have run."""
    mine = (record.run.experiment, record.run.sweep, record.run.seed)
    found = []
    for other in others:
        *sweep, last = other.run.sweep or (("", ""),)
        if last[0] == KEY and (other.run.experiment, tuple(sweep), other.run.seed) == mine:
            found.append(_became(last[1], other, compared))
    return found


def _refuse(found: Results, record: RunRecord) -> None:
    """Refuse runs that cannot be set beside another one."""
    if programs_of(record.run.canonical):
        raise ValueError(f"{record.label} is of programs, whose processes cannot be run from here: fork a replay of their log")
    if not record.ok:
        raise ValueError(f"{record.label}: a self-check failed, its numbers must not be used")
    if not same_build(found.manifest["build"], this_build()):
        theirs = build_words(found.manifest["build"])
        raise ValueError(
            f"{found.folder} is of fabricsim {theirs}, this is another: run it again, so that forks are of one build"
        )


def _own(study: Study, record: RunRecord) -> Run:
    """Return a run as its study has it."""
    experiments = [record.run.experiment] if record.run.experiment else None
    for run in study.expand(experiments=experiments).runs:
        if run.id == record.id:
            return run
    raise ValueError(
        f"{record.label} is no run of the study that its folder holds: a search has made it, or files of the study have changed"
    )


def _fork_run(study: Study, base: Run, change: Change) -> Run:
    """Return a fork of a run; raises `StudyError` where it cannot be run."""
    sets = {**point_sets(study, base.sweep), "run.seeds": [base.seed], **change.sets}
    if (outage := change.outage()) is not None:
        sets["outage"] = [*said_outages(base.canonical), outage]
    experiments = [base.experiment] if base.experiment else None
    runs = study.with_sets(sets).expand(experiments=experiments).runs
    run = next(run for run in runs if not run.perturbation and run.experiment == base.experiment)
    return replace(run, sweep=(*base.sweep, (KEY, change.name)))


def _executed(study: Study, folder: Path, execute: Executor, runs: Sequence[Run], description: str) -> Outcome:
    """Execute forks beside those that the folder has."""
    plan = {run.id: run for run in (*runs_left(study, folder), *runs)}
    expansion = Expansion(name=study.name, description=description, claims=(), reproduce={}, runs=tuple(plan.values()))
    return execute(Campaign(study, expansion, tuple(runs), folder, "python: fabricsim.fork"), True, True)


def _told(
    words: str,
    asked: tuple[Run | None, str],
    records: Mapping[str, RunRecord],
    outcome: Outcome | None,
    compared: tuple[str, float | None],
) -> Fork:
    """Return what became of a fork."""
    run, why = asked
    if run is None or outcome is None:
        return Fork(words, "", "refused", why)
    record = records.get(run.id)
    if record is None:
        texts = [text for text in (*outcome.user_errors, *outcome.refused, *outcome.faults) if f"({run.id})" in text]
        why = texts[0].partition(f"({run.id}): ")[2].strip().split("\n")[0] if texts else "it gave no result"
        return Fork(words, run.id, "refused" if texts and texts[0] in outcome.user_errors else "failed", why)
    return _became(words, record, compared)


def _became(words: str, record: RunRecord, compared: tuple[str, float | None]) -> Fork:
    """Return what became of a fork that has run."""
    if not record.ok:
        checks = [check for check in record.summary.get("verdict", {}).get("checks", []) if not check.get("ok")]
        why = "; ".join(f"{check.get('name')}: {check.get('detail')}" for check in checks)
        return Fork(words, record.id, "failed", f"a self-check failed: {why}")
    metric, before = compared
    try:
        value = number_of(record, metric)
    except KeyError:
        value = None
    lost = record.summary.get("lost") or {}
    busiest = record.summary.get("busiest_link") or {}
    return Fork(
        words,
        record.id,
        record.state,
        (record.why if record.state != "ok" else f"there is no {metric} with it") if value is None else "",
        value=value,
        ratio=value / before if value is not None and before else None,
        lost=int(lost.get("packets") or 0),
        sent_again=int(lost.get("sent_again") or 0),
        busiest_link=str(busiest.get("name") or ""),
        busy=busiest.get("busy"),
    )
