"""What failures cost at every point of a study, by runs in one results directory.

Which failures there are, and whom they part, is known before anything runs (`trials.py`). First every point runs without further failures; the
points that can be told then run with each of them, with the same seeds. The answer is a function of the runs' records alone, so that a
campaign that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabricsim._campaign import Campaign, Executor, Outcome
from fabricsim._figures import together
from fabricsim._folder import runs_left
from fabricsim._metrics import compared_by, number_of, refuse_old_name, state_of
from fabricsim._parts import PARTS
from fabricsim._points import error_words, point_name, point_sets, points_without
from fabricsim._progress import make_observer
from fabricsim._runs import Expansion, Run
from fabricsim.analyses.failures.defaults import DRAWS
from fabricsim.analyses.failures.records import Failure, Failures
from fabricsim.analyses.failures.trials import Asked, Candidates, Trial, candidates, drawn, one_by_one, too_few
from fabricsim.errors import StudyError
from fabricsim.results import Results

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord
    from fabricsim._runs import Point
    from fabricsim.study import Study

__all__ = ["failures", "tried"]

#: Of these numbers more is better.
_MORE = ("accepted_load", "fairness", "throughput_MiBps")
#: What runs without further failures are called by.
_NONE = "none"


@dataclass(slots=True)
class _Place:
    """A point of the study with its failures.

    Attributes
    ----------
    study : Study
        With the values of the point.
    point : Point
        The experiment and the swept values.
    asked : Asked
        What is to fail.
    metric : str
        What slowdowns are of; chosen by the first runs where nobody says.
    maximise : bool
        A larger metric is better.
    plain : list of Run
        Without further failures, a seed each.
    trials : list of (Trial, list of Run, str)
        Failures with their runs, and why there are none.
    """

    study: Study
    point: Point
    asked: Asked
    metric: str
    maximise: bool
    plain: list[Run] = field(default_factory=list)
    trials: list[tuple[Trial, list[Run], str]] = field(default_factory=list)
    found: Candidates | None = None
    reason: str = ""

    def begin(self) -> None:
        """Find the runs without failures, and what can fail."""
        try:
            self.plain = self._runs(self.study, _NONE)
            self.found = candidates(self.plain[0].canonical, self.asked)
            self.reason = too_few(self.found, self.asked)
        except (StudyError, ValueError) as error:
            self.reason = error_words(error)

    def look(self) -> None:
        """Find the failures to try, whom they part, and what cannot be run with them."""
        assert self.found is not None
        canonical = self.plain[0].canonical
        singles = one_by_one(canonical, self.found, self.asked) if self.asked.singly else []
        for trial in (*singles, *drawn(canonical, self.found, self.asked)):
            try:
                self.trials.append((trial, self._runs(self.study.with_sets({"fail": trial.fail}), trial.name), ""))
            except StudyError as error:
                self.trials.append((trial, [], error_words(error)))

    def _runs(self, study: Study, name: str) -> list[Run]:
        """Return the runs of a form of the point's study, called by the point and by what fails."""
        experiment, swept = self.point
        # A point may have a name for what has failed in it already.
        own = [value for key, value in swept if key == "fail"]
        sweep = (
            *(pair for pair in swept if pair[0] != "fail"),
            ("fail", " + ".join([*own, name] if name != _NONE else own or [name])),
        )
        runs = study.expand(experiments=[experiment] if experiment else None).runs
        return [replace(run, sweep=sweep) for run in runs if not run.perturbation and run.experiment == experiment]

    def choose_metric(self, heard: _Heard) -> None:
        """Take what the runs without failures tell: whether they can be used, and what is compared."""
        records = []
        for run in self.plain:
            record = heard.records.get(run.id)
            if record is None:
                self.reason = heard.why(run)
                return
            if not record.ok:
                self.reason = f"{run.label}: a self-check failed, its numbers must not be used"
                return
            records.append(record)
        if not self.metric:
            self.metric = compared_by(records)
        self.maximise = self.maximise or self.metric.startswith(_MORE)
        for record in records:
            try:
                if number_of(record, self.metric) is None:
                    why = f" ({record.why})" if record.state != "ok" else ""
                    self.reason = f"without failures there is no {self.metric}{why}"
            except KeyError as error:
                self.reason = str(error.args[0])

    def answer(self, name: str, heard: _Heard) -> Failures:
        """Return what was found."""
        experiment, swept = self.point
        point = (*((("experiment", experiment),) if experiment else ()), *swept)
        live = self.found.live if self.found is not None else ()
        answer = Failures(
            name=point_name(point, name),
            point=point,
            of=self.asked.of,
            link_class=self.asked.link_class or "",
            metric=self.metric,
            maximise=self.maximise,
            candidates=len(live),
            n_seeds=len(self.plain),
            reason=self.reason,
        )
        if self.reason:
            return answer
        before = [heard.records[run.id] for run in self.plain]
        failures = tuple(self._failure(trial, runs, why, before, heard) for trial, runs, why in self.trials)
        return replace(
            answer,
            all_tried=sum(trial.draw is None for trial, _, _ in self.trials) == len(live),
            without=_together(before, self.metric),
            state=state_of(before),
            failures=failures,
            notes=tuple(self._notes(before, failures)),
        )

    def _failure(self, trial: Trial, runs: Sequence[Run], why: str, before: Sequence[RunRecord], heard: _Heard) -> Failure:
        failure = Failure(
            name=trial.name,
            link_class=trial.link_class,
            dead=trial.dead,
            draw=trial.draw,
            names=trial.names,
            state="unreachable",
            why=why,
            without=_together(before, self.metric),
            nodes_lost=trial.nodes_lost,
            parted=trial.parted,
            first_parted=trial.first_parted,
            accepted_without=_accepted(before),
        )
        if why:
            return failure
        for run in runs:
            if run.id in heard.refused:
                return replace(failure, why=heard.refused[run.id])
            if run.id not in heard.records:
                return replace(failure, state="failed", why=heard.why(run))
            if not heard.records[run.id].ok:
                return replace(failure, state="failed", why=f"{run.label}: a self-check failed, its numbers must not be used")
        records = [heard.records[run.id] for run in runs]
        links = [record.summary.get("busiest_link") or {} for record in records]
        busiest = max(links, key=lambda link: link.get("busy") or 0.0)
        failure = replace(
            failure,
            state=state_of(records),
            accepted_load=_accepted(records),
            busiest_link=str(busiest.get("name") or ""),
            busy=busiest.get("busy"),
        )
        if failure.state != "ok" and state_of(before) == "ok":
            return replace(failure, why=next(record.why for record in records if record.state == failure.state))
        with_it = _together(records, self.metric)
        slowdown = _slowdown(before, records, self.metric, maximise=self.maximise)
        none = f"there is no {self.metric} with it" if with_it is None else "" if slowdown else f"{self.metric} is 0"
        return replace(failure, metric=with_it, slowdown=slowdown, why=none)

    def _notes(self, before: Sequence[RunRecord], failures: Sequence[Failure]) -> list[str]:
        found = []
        if state_of(before) != "ok":
            found.append(f"without failures the network is {state_of(before)} already: slowdowns are of {self.metric}")
        own = self.found.own if self.found is not None and self.asked.of == "cables" else {}
        if keeps := own.get("keeps"):
            found.append(f"cables that fail keep {100 * keeps:g} % of their bandwidth, as the study says (fail.keeps)")
        if rate := own.get("error_rate"):
            found.append(f"cables that fail make errors at a rate of {rate:g}, as the study says (fail.error_rate)")
        jobs = json.loads(self.plain[0].canonical).get("jobs") or []
        whole = [job.get("name") or "?" for job in jobs if job.get("nodes") is None]
        if whole and any(one.nodes_lost for one in failures):
            take, has = ("takes", "has") if len(whole) == 1 else ("take", "have")
            found.append(
                f"{', '.join(whole)} {take} all nodes that are alive, and {has} less to do where nodes are dead: "
                "`nodes` in [[job]] that leaves some free keeps the work the same"
            )
        return found


@dataclass(slots=True)
class _Heard:
    """What runs have given.

    Attributes
    ----------
    records : dict
        Of finished runs by id.
    refused, faults : dict
        Why runs gave none, by id: as the study's fault, and not.
    """

    records: dict[str, RunRecord] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def why(self, run: Run) -> str:
        """Return why a run gave no result."""
        return self.refused.get(run.id) or self.faults.get(run.id) or f"{run.label} gave no result"


def _numbers(records: Sequence[RunRecord], metric: str) -> list[float] | None:
    """Return a number of every run; None where one has none."""
    try:
        found = [number_of(record, metric) for record in records]
    except KeyError:
        return None
    known = [value for value in found if value is not None]
    return known if known and len(known) == len(found) else None


def _together(records: Sequence[RunRecord], metric: str) -> float | None:
    found = _numbers(records, metric)
    return None if found is None else together(metric, found)


def _accepted(records: Sequence[RunRecord]) -> float | None:
    """Return the mean accepted load of open loops."""
    if json.loads(records[0].run.canonical)["control"].get("end") is None:
        return None
    found = _numbers(records, "accepted_load")
    return None if found is None else float(np.mean(found))


def _slowdown(before: Sequence[RunRecord], after: Sequence[RunRecord], metric: str, *, maximise: bool) -> float | None:
    """Return the geometric mean over seeds of what a failure makes of a number; None where a seed has none, or none above zero."""
    mine = {record.run.seed: record for record in after}
    if set(mine) != {record.run.seed for record in before}:
        return None
    values = _numbers(before, metric), _numbers([mine[record.run.seed] for record in before], metric)
    if values[0] is None or values[1] is None or min(*values[0], *values[1]) <= 0:
        return None
    logs = np.log(values[1]) - np.log(values[0])
    return float(np.exp((-logs if maximise else logs).mean()))


def _executed(
    study: Study, folder: Path, execute: Executor, plan: Mapping[str, Run], chosen: Sequence[Run], *, resume: bool, force: bool
) -> _Heard:
    """Execute runs of a plan, and return what all that are chosen have given."""
    description = "runs without and with failures: parts of the network that are dead"
    expansion = Expansion(name=study.name, description=description, claims=(), reproduce={}, runs=tuple(plan.values()))
    outcome = execute(Campaign(study, expansion, tuple(chosen), folder, "python: fabricsim.failures"), resume, force)
    heard = _Heard(records={record.id: record for record in Results.open(folder).records})
    for into, texts in ((heard.refused, outcome.user_errors), (heard.faults, (*outcome.refused, *outcome.faults))):
        for text in texts:
            into |= {run.id: _after(text, f"({run.id}): ") for run in chosen if f"({run.id})" in text}
    return heard


def _after(text: str, mark: str) -> str:
    """Return the first line of what stands behind a mark."""
    return text.partition(mark)[2].strip().split("\n")[0].removeprefix("error: ") or text.strip().split("\n")[0]


def failures(
    study: Study,
    *,
    of: str = "cables",
    link_class: str | None = None,
    each: bool = False,
    sample: int | None = None,
    draw_seed: int = 1,
    counts: Sequence[int] = (),
    draws: int = DRAWS,
    seeds: int | None = None,
    metric: str | None = None,
    maximise: bool = False,
    experiments: Sequence[str] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    resume: bool = True,
    force: bool = False,
) -> tuple[Failures, ...]:
    """Find what failures cost at every point of a study: single ones, or several at once.

    Parameters
    ----------
    study : Study
        What to run; what has failed in it stays dead.
    of : str, optional
        What fails: ``cables``, ``routers``, ``nodes``, ``groups`` or ``racks``.
    link_class : str, optional
        Only cables of this class.
    each : bool, optional
        Try all of them, one by one.
    sample : int, optional
        Try so many of them, one by one; by default all where there are at most 32, else 24, or none where `counts` are given.
    draw_seed : int, optional
        Seed of the sample.
    counts : sequence of int, optional
        Let so many fail at once, drawn.
    draws : int, optional
        Draws of every count: ``fail.seed`` from 1 on.
    seeds : int, optional
        Run everything with the seeds 1 to this number; with those of the study by default.
    metric : str, optional
        A number of a run; by default the time of the work, of open loops the mean latency, of those that do not keep up the accepted load.
    maximise : bool, optional
        A larger metric is better.
    experiments : sequence of str, optional
        Only these experiments.
    out : path, optional
        Results directory; ``results/NAME-failures`` by default.
    jobs : int, optional
        Runs at a time.
    resume, force : bool, optional
        Keep the runs that `out` has; replace what another study has left there.

    Returns
    -------
    tuple of Failures
        One for every point of the study.

    Raises
    ------
    StudyError
        The study cannot be read.
    ValueError
        A number is out of range, or runs have no such metric.

    Examples
    --------
    >>> import fabricsim as fs
    >>> work = {"kind": "shift", "by": 4, "message": "64 KiB", "count": 8}
    >>> tree = {"kind": "fat-tree", "down": [4, 4], "up": [4]}
    >>> study = fs.Study({"name": "tree", "topology": tree, "routing": {"kind": "d-mod-k"}, "job": [{"work": work}]})
    >>> (found,) = fs.failures(study, sample=2, out="dead")
    >>> len(found.failures), 1.9 < found.worst[0].slowdown < 2.1
    (2, True)
    """

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        return campaign.execute(observer=make_observer(False), jobs=jobs, resume=resume, force=force)

    asked = Asked(of, link_class, each, sample, draw_seed, tuple(counts), draws)
    return tried(
        study,
        asked,
        seeds=seeds,
        metric=metric,
        maximise=maximise,
        experiments=experiments,
        out=out,
        resume=resume,
        force=force,
        execute=execute,
    )


def tried(
    study: Study,
    asked: Asked,
    *,
    execute: Executor,
    seeds: int | None = None,
    metric: str | None = None,
    maximise: bool = False,
    experiments: Sequence[str] | None = None,
    out: str | Path | None = None,
    resume: bool = True,
    force: bool = False,
) -> tuple[Failures, ...]:
    """Do what `failures` does, with somebody else to execute the campaigns."""
    _refuse(asked)
    if metric is not None:
        refuse_old_name(metric)
    if seeds is not None:
        study = study.with_sets({"run.seeds": list(range(1, seeds + 1))})
    places = [
        _Place(study.with_sets(point_sets(study, point[1])), point, asked, metric or "", maximise)
        for point in points_without(study, (), experiments)
    ]
    for place in places:
        place.begin()
    if all(place.reason and place.plain for place in places):
        # Every point can be run, and none has what is asked for: a mistake in the question, not in the study.
        raise ValueError(next((place.reason for place in places), "the study has no points"))
    folder = Path(out) if out is not None else Path("results") / f"{study.name}-failures"
    first = {run.id: run for place in places if not place.reason for run in place.plain}
    heard = _Heard()
    if first:
        # What an earlier question has left is kept until it is known what this one needs.
        kept = {run.id: run for run in runs_left(study, folder)}
        again = force or (bool(kept) and not resume)
        heard = _executed(study, folder, execute, {**kept, **first}, list(first.values()), resume=resume, force=again)
        told = [place for place in places if not place.reason]
        for place in told:
            place.choose_metric(heard)
        if metric is not None and all(place.reason for place in told):
            raise ValueError(told[0].reason)
        for place in told:
            if not place.reason:
                place.look()
        # A point may be a failure of another one: the same run, which keeps the name that it has by now.
        whole = {run.id: run for place in told for run in place.plain}
        for run in (run for place in told for _, runs, _ in place.trials for run in runs):
            whole.setdefault(run.id, run)
        heard = _executed(study, folder, execute, whole, list(whole.values()), resume=True, force=True)
    return tuple(place.answer(study.name, heard) for place in places)


def _refuse(asked: Asked) -> None:
    """Refuse a question that cannot be asked."""
    if asked.of not in PARTS:
        raise ValueError(f"what fails is one of {', '.join(PARTS)}, not {asked.of!r}")
    if asked.link_class is not None and asked.of != "cables":
        raise ValueError("only cables have classes")
    if asked.each and asked.sample is not None:
        raise ValueError("each one and a sample are two answers to one question: give one of them")
    if any(count < 1 for count in asked.counts) or asked.draws < 1 or (asked.sample is not None and asked.sample < 1):
        raise ValueError("counts, draws and samples are 1 or more")
    if asked.draw_seed < 0:
        raise ValueError("the seed of the sample is 0 or more")
