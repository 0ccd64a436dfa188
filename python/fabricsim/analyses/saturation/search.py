"""At which load every point of a study stops keeping up, by runs in one results directory.

All points are searched side by side, a round of runs after the other: each asks its bracket (`bracket.py`) for a load until it knows enough, then
runs shares of the saturation load. Every load has the same seeds at every point. The answer is a function of the runs' records alone, so that a
search that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._campaign import Campaign, Executor, Outcome
from fabricsim._folder import runs_left
from fabricsim._metrics import state_of
from fabricsim._points import error_words, point_name, point_sets, points_without
from fabricsim._progress import make_observer
from fabricsim._runs import Expansion, Run
from fabricsim.analyses.saturation.bracket import FULL, Bracket, rounded
from fabricsim.analyses.saturation.defaults import LONGEST, MOST_RUNS, WITHIN
from fabricsim.analyses.saturation.measure import full_links, measured
from fabricsim.analyses.saturation.records import SHARES, Links, Measured, Saturation
from fabricsim.errors import StudyError
from fabricsim.registry import limits
from fabricsim.results import Results

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord
    from fabricsim._runs import Point
    from fabricsim.study import Study

__all__ = ["saturation", "searched"]

#: A saturation so near to the bound of the channel loads is that of these links.
_AT_BOUND = 0.03
_NO_LOAD = (
    "its work has no load to search: `fabricsim saturation` is for patterns that nodes send without end (a `load` and no `count`); "
    "`fabricsim knee` finds where more of a resource stops to pay for work that ends, such as motifs and traces"
)


@dataclass(slots=True)
class _Search:
    """The search at one point.

    Attributes
    ----------
    study : Study
        With the values of the point, and with what was changed.
    point, changed : tuple of (key, value)
        Swept keys and what was changed.
    experiment : str
        Its name.
    keys : tuple of str
        The keys of the load.
    """

    study: Study
    experiment: str
    point: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...]
    within: float
    most: int
    longest: float
    keys: tuple[str, ...] = ()
    length: int = 0
    about: dict[str, object] = field(default_factory=dict)
    bracket: Bracket | None = None
    heard: dict[tuple[float, int], list[RunRecord]] = field(default_factory=dict)
    asked: dict[tuple[float, int], list[Run]] = field(default_factory=dict)
    shares: dict[float, tuple[float, int]] = field(default_factory=dict)
    reason: str = ""
    silent: bool = False
    canonical: str = ""

    def begin(self) -> None:
        """Find the load's keys, the length of runs, and where links are full."""
        try:
            runs = self.study.expand(experiments=[self.experiment] if self.experiment else None).runs
            first = json.loads(runs[0].canonical)
            self.canonical = runs[0].canonical
            works = [(job.get("work") or {}) if isinstance(job.get("work"), Mapping) else {} for job in first.get("jobs") or []]
            loads = [work.get("synthetic") or {} for work in works]
            self.keys = tuple(
                f"job.{i}.work.load" for i, work in enumerate(loads) if work.get("load") is not None and work.get("count") is None
            )
            if not self.keys:
                self.reason = _NO_LOAD
                return
            self.length = int(first["control"]["end"])
            found = limits(runs[0].canonical)
            self.about = found or {}
            self.silent = found is None or not found["senders"]
        except (StudyError, RuntimeError) as error:
            self.reason = error_words(error)
            return
        start = self.about.get("bound")
        self.bracket = Bracket(
            within=self.within,
            start=float(start) if isinstance(start, int | float) else None,
            most=self.most - len(SHARES),
            length=self.length,
            longest=round(self.length * self.longest),
            exact=bool(self.about.get("exact")),
        )

    def wanted(self) -> list[tuple[float, int]]:
        """Return the loads with lengths that are to be run next; none if enough is known."""
        if self.reason or self.silent or self.bracket is None:
            return []
        while (next_ := self.bracket.ask()) is not None:
            if next_ not in self.heard:
                return [next_]
            self._tell(*next_)
        base = self.base
        if base is None:
            return []
        if not self.shares:
            # As long as the study says: that is mostly enough so far below saturation.
            self.shares = {share: (rounded(share * base), self.length) for share in SHARES}
        if left := [place for place in dict.fromkeys(self.shares.values()) if place not in self.heard]:
            return left
        for share, (load, length) in self.shares.items():
            longer = (load, self.bracket.length)
            if length < longer[1] and state_of(self.heard[load, length]) == "unsettled" and len(self.heard) < self.most:
                self.shares[share] = longer
                if longer not in self.heard:
                    return [longer]
        return []

    def _tell(self, load: float, length: int) -> None:
        assert self.bracket is not None
        records = self.heard[load, length]
        state = state_of(records)
        settles = [record.summary["verdict"].get("settles_ns") for record in records]
        longest = max((float(time) for time in settles if time is not None), default=0.0)
        found = measured(load, length, records)
        if state == "saturated":
            passes: float | None = load * found.accepted_load / found.offered_load if found.offered_load else None
        else:
            passes = load / found.busiest_link if found.busiest_link else None
        self.bracket.tell(load, state, settles_ps=round(1000 * longest), passes=passes)

    @property
    def base(self) -> float | None:
        """The saturation load, or what stands for it."""
        assert self.bracket is not None
        low, high = self.bracket.low, self.bracket.top
        if low is not None and low >= FULL:
            return FULL
        if low is not None and high is not None:
            return (low + high) / 2
        return high if high is not None else low if low is not None else max(self.bracket.unsettled, default=None)

    def runs(self, load: float, length: int) -> list[Run]:
        """Return the runs of a load, a seed each; a point that has none is told."""
        time = {} if length == self.length else {"run.end": _time(length)}
        sets = {**dict.fromkeys(self.keys, load), "observe.links": True, **time}
        try:
            found = self.study.with_sets(sets).expand(experiments=[self.experiment] if self.experiment else None).runs
        except StudyError as error:
            self.reason = error_words(error)
            return []
        swept = (*self.point, *self.changed, (self.keys[0], f"{load:g}"), *time.items())
        runs = [replace(run, sweep=swept) for run in found if not run.perturbation]
        self.asked[load, length] = runs
        return runs

    def hear(self, records: Mapping[str, RunRecord], faults: Mapping[str, str]) -> None:
        """Take what runs have given."""
        for place, runs in self.asked.items():
            if place in self.heard or self.reason:
                continue
            for run in runs:
                if run.id not in records:
                    self.reason = faults.get(run.id, f"{run.label} gave no result")
                    return
                if not records[run.id].ok:
                    self.reason = f"{run.label}: a self-check failed, its numbers must not be used"
                    return
            self.heard[place] = [records[run.id] for run in runs]

    def answer(self, name: str) -> Saturation:
        """Return what was found."""
        point = (*((("experiment", self.experiment),) if self.experiment else ()), *self.point)
        found = Saturation(name=point_name(point, name), point=point, kind="failed", within=self.within, changed=self.changed)
        seen = self._measured()
        if self.reason:
            return replace(found, reason=self.reason, measured=seen, runs=len(self.heard))
        if self.silent or self.bracket is None:
            return replace(found, kind="silent")
        low, high = self._ends(seen)
        kind = "open"
        if low is not None and low >= FULL:
            kind = "full"
        elif low is None and high is not None:
            kind = "overload"
        elif low is not None and high is not None:
            close = (high - low) / 2 <= self.bracket.tolerance((low + high) / 2) * 1.01
            kind = "found" if close else "open"
        load = FULL if kind == "full" else (low + high) / 2 if low is not None and high is not None else None
        over = self.bracket.high
        at = next((entry for entry in seen if entry.load == over), seen[-1] if kind == "full" else None)
        bound = self.about.get("bound")
        found = replace(
            found,
            kind=kind,
            load=load,
            low=low,
            high=high,
            bound=float(bound) if isinstance(bound, int | float) else None,
            exact=bool(self.about.get("exact")),
            at=at,
            measured=seen,
            runs=len(self.heard),
            notes=tuple(self._notes(seen, low)),
        )
        return self._limited(found, over)

    def _measured(self) -> tuple[Measured, ...]:
        """Return every load with its longest run."""
        longest: dict[float, int] = {}
        for load, length in self.heard:
            longest[load] = max(length, longest.get(load, 0))
        share_of = {load: share for share, (load, _) in self.shares.items()}
        return tuple(
            measured(load, length, self.heard[load, length], share_of.get(load)) for load, length in sorted(longest.items())
        )

    def _ends(self, seen: Sequence[Measured]) -> tuple[float | None, float | None]:
        """Return the interval; the shares of the saturation load are loads like others."""
        assert self.bracket is not None
        high = self.bracket.top
        kept = [entry.load for entry in seen if entry.state == "ok" and (high is None or entry.load < high)]
        return max(kept, default=None), high

    def _notes(self, seen: Sequence[Measured], low: float | None) -> list[str]:
        found = []
        longer = sorted({length for _, length in self.heard if length > self.length})
        if longer:
            found.append(
                f"runs of {_time(self.length)} were too short to tell near saturation: they went on to {_time(longer[-1])}"
            )
        ceiling = self.bracket.ceiling if self.bracket is not None else None
        beyond = [entry.load for entry in seen if ceiling is not None and entry.load > ceiling and entry.state != "saturated"]
        found += [f"at {load:g} a run does not see yet that links carry {ceiling:.4g} at most" for load in beyond]
        # Above a load that is not kept up with, nobody needs to know.
        top = self.bracket.top if self.bracket is not None else None
        undecided = [
            entry.load
            for entry in seen
            if entry.state == "unsettled"
            and entry.share is None
            and entry.load not in beyond
            and (top is None or entry.load < top)
        ]
        if undecided:
            found.append(
                f"runs of {_time(longer[-1] if longer else self.length)} cannot tell at {', '.join(f'{load:g}' for load in undecided)}"
            )
        odd = [entry for entry in seen if entry.state == "saturated" and low is not None and entry.load < low]
        found += [f"at {entry.load:g}, below a load that is kept up with, a seed is saturated" for entry in odd]
        short = [entry for entry in seen if entry.share is not None and entry.state == "unsettled"]
        found += [f"at {entry.load:g} runs of {_time(round(1000 * entry.length_ns))} are too short to tell" for entry in short]
        apart = [entry.load for entry in seen if entry.state == "saturated" and len(set(entry.states)) > 1]
        if apart:
            found.append(
                f"seeds disagree at {', '.join(f'{load:g}' for load in apart)}: a load at which one is saturated is not kept up with"
            )
        if len(self.keys) > 1:
            found.append(f"all {len(self.keys)} jobs that have a load have the same one")
        return found

    def _limited(self, found: Saturation, over: float | None) -> Saturation:
        """Add what limits: by the channel loads where saturation is there, else by the links of the saturated run."""
        if found.kind == "full":
            return found
        links = None
        if over is not None:
            links = full_links(self.heard[over, max(length for load, length in self.heard if load == over)])
        words = self.about.get("limit")
        at_bound = (
            found.exact and found.bound is not None and found.load is not None and abs(found.load / found.bound - 1) <= _AT_BOUND
        )
        if at_bound and isinstance(words, str) and words:
            links = Links(words, "channel loads", links.busy if links else None, None, full=True)
        twice, twice_class = _twice(self.about, found.exact)
        return replace(found, links=links, twice=twice, twice_class=twice_class)


def _twice(about: Mapping[str, object], exact: bool) -> tuple[float | None, str]:
    """Return the bound with twice the bandwidth of the class that limits, and that class, where it says something."""
    classes = about.get("classes")
    if not exact or not isinstance(classes, list):
        return None, ""
    bounds = {entry["class"]: float(entry["bound"]) for entry in classes if entry["bound"] is not None}
    if not bounds:
        return None, ""
    first = min(bounds, key=lambda name: bounds[name])
    if first == "ejection":
        return None, ""
    twice = min(FULL, *(bound * (2 if name == first else 1) for name, bound in bounds.items()))
    return twice, first


def _time(ps: int) -> str:
    """Return a time as it is written in studies.

    Examples
    --------
    >>> _time(100_000_000), _time(1_500_000_001)
    ('100 us', '1500000001 ps')
    """
    for unit, size in (("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if ps % size == 0:
            return f"{ps // size} {unit}"
    return f"{ps} ps"


def _load_keys(points: Sequence[Point]) -> set[str]:
    """Return the swept keys that are loads."""
    keys = {key for _, swept in points for key, _ in swept}
    return {key for key in keys if key.startswith("job.") and key.endswith(".work.load")}


class _Rounds:
    """The runs of all searches, a campaign after the other in one folder."""

    def __init__(self, study: Study, folder: Path, execute: Executor, *, resume: bool, force: bool) -> None:
        self.study, self.folder, self.execute, self.resume, self.force = study, folder, execute, resume, force
        self.runs: dict[str, Run] = {}

    def _execute(self, runs: Mapping[str, Run], asked: Sequence[Run], *, force: bool) -> Outcome:
        description = "the runs of a search for the load at which the network stops keeping up"
        plan = Expansion(name=self.study.name, description=description, claims=(), reproduce={}, runs=tuple(runs.values()))
        campaign = Campaign(self.study, plan, tuple(asked), self.folder, "python: fabricsim.saturation")
        outcome = self.execute(campaign, self.resume, force)
        self.resume = True
        return outcome

    def run(self, searches: Sequence[_Search]) -> bool:
        """Run what the searches want next; False if that is nothing."""
        asked: dict[str, Run] = {}
        for search in searches:
            for place in search.wanted():
                asked |= {run.id: run for run in search.runs(*place)}
        if not asked:
            return False
        # What an earlier search has left is kept until it is known what this one needs, in the order in which it was left.
        kept = {run.id: run for run in runs_left(self.study, self.folder)}
        self.runs |= asked
        outcome = self._execute({**kept, **self.runs}, list(asked.values()), force=self.force or (bool(kept) and not self.resume))
        faults: dict[str, str] = {}
        for text in (*outcome.user_errors, *outcome.refused, *outcome.faults):
            faults |= {key: text.strip().split("\n")[0] for key in asked if f"({key})" in text}
        records = {record.id: record for record in Results.open(self.folder).records}
        for search in searches:
            search.hear(records, faults)
        return True

    def close(self, searches: Sequence[_Search]) -> None:
        """Leave the runs that were used in the order of points and loads, and no others."""
        used = {run.id: run for search in searches for place in sorted(search.heard) for run in search.asked[place]}
        if used:
            self._execute(used, list(used.values()), force=True)


def saturation(
    study: Study,
    *,
    within: float = WITHIN,
    what_if: Sequence[tuple[str, str]] = (),
    seeds: int | None = None,
    most_runs: int = MOST_RUNS,
    longest: float = LONGEST,
    experiments: Sequence[str] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    resume: bool = True,
    force: bool = False,
) -> tuple[Saturation, ...]:
    """Find the load at which every point of a study stops keeping up, what limits it, and what a change moves it to.

    Parameters
    ----------
    study : Study
        What to run; a load that it sweeps is searched instead.
    within : float, optional
        Half of the interval about the saturation load is at most this fraction of the injection bandwidth, and at most four times this of the load.
    what_if : sequence of (key, value), optional
        Changes of the study, of which each is searched as well.
    seeds : int, optional
        Run every load with the seeds 1 to this number; with those of the study by default.
    most_runs : int, optional
        Loads that are run at a point at most, at least 5; a load that is run again for longer counts again.
    longest : float, optional
        How many times as long as the study's runs may be where they are too short to tell.
    experiments : sequence of str, optional
        Only these experiments.
    out : path, optional
        Results directory; ``results/NAME-saturation`` by default.
    jobs : int, optional
        Runs at a time.
    resume, force : bool, optional
        Keep the runs that `out` has; replace what another study has left there.

    Returns
    -------
    tuple of Saturation
        One for every point of the study.

    Raises
    ------
    StudyError
        The study cannot be read.
    ValueError
        A number is out of range, or no work of the study has a load.
    """

    def execute(campaign: Campaign, resume: bool, force: bool) -> Outcome:
        return campaign.execute(observer=make_observer(False), jobs=jobs, resume=resume, force=force)

    return searched(
        study,
        within=within,
        what_if=what_if,
        seeds=seeds,
        most_runs=most_runs,
        longest=longest,
        experiments=experiments,
        out=out,
        resume=resume,
        force=force,
        execute=execute,
    )


def searched(
    study: Study,
    *,
    execute: Executor,
    within: float = WITHIN,
    what_if: Sequence[tuple[str, str]] = (),
    seeds: int | None = None,
    most_runs: int = MOST_RUNS,
    longest: float = LONGEST,
    experiments: Sequence[str] | None = None,
    out: str | Path | None = None,
    resume: bool = True,
    force: bool = False,
) -> tuple[Saturation, ...]:
    """Do what `saturation` does, with somebody else to execute the campaigns."""
    if not 0 < within < 0.5 or most_runs < len(SHARES) + 2 or longest < 1:
        raise ValueError(f"within is above 0 and below 0.5, most runs are at least {len(SHARES) + 2}, longest is at least 1")
    if seeds is not None:
        study = study.with_sets({"run.seeds": list(range(1, seeds + 1))})
    loads = _load_keys(study.points(experiments=experiments))
    points = points_without(study, loads, experiments)
    # What swept loads are replaced by is set with each run; until then the first stands for all.
    plain = dict.fromkeys(loads, "0.5")
    searches: list[list[_Search]] = []
    for experiment, point in points:
        at = study.with_sets({**plain, **point_sets(study, point)})
        changes: list[tuple[tuple[str, str], ...]] = [(), *((change,) for change in what_if)]
        searches.append(
            [_Search(at.with_sets(dict(change)), experiment, point, change, within, most_runs, longest) for change in changes]
        )
    every = [search for group in searches for search in group]
    for search in every:
        search.begin()
    if every and all(search.reason == _NO_LOAD for search in every):
        raise ValueError(_NO_LOAD)
    name = study.name
    folder = Path(out) if out is not None else Path("results") / f"{name}-saturation"
    rounds = _Rounds(study, folder, execute, resume=resume, force=force)
    while rounds.run(every):
        pass
    rounds.close(every)
    notes = (f"the loads of the study's sweep ({', '.join(sorted(loads))}) are replaced by the search",) if loads else ()
    found = []
    for own, *others in searches:
        one = own.answer(name)
        one = replace(one, notes=(*notes, *one.notes), moved=tuple(other.answer(name) for other in others))
        found.append(one)
    return tuple(found)
