"""What a campaign answers, in a sentence each and with the figure that shows it: what reports and `fabricsim run` say first.

Which question a campaign answers follows from what was asked: a search answers in its own words, a sweep of loads up to which load the
network keeps up, another sweep which point is best, one run how long it took.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from fabricsim._figures import figure_of
from fabricsim._metrics import combined, default_metric
from fabricsim._runs import Point, point_words, short_key, value_words
from fabricsim._units import amount, axis_value, counted
from fabricsim.analyses.capacity.slowdown import capacity

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["Answer", "answers"]

#: Numbers that differ by less than this are not told apart.
_SEEN = 1.01
#: Answers that are given, and lines that a sentence names, at most.
_MOST = 8
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with its answer.

    Attributes
    ----------
    question : str
        In words; of a campaign of several experiments it begins with the experiment.
    sentence : str
        The answer.
    figures : tuple of dict
        What shows it: ``{"kind": "lines", "experiment", "x", "y"}``, ``{"kind": "bars", "label", "names", "values", "remarks"}``,
        ``{"kind": "curves", "x", "y", "lines"}`` or ``{"kind": "cdf", "run"}``.
    """

    question: str
    sentence: str
    figures: tuple[dict[str, Any], ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def answers(results: Recorded) -> list[Answer]:
    """Return what a campaign answers, the answers of searches first; none where no run has finished.

    Parameters
    ----------
    results : Results
        Complete or not.
    """
    found = [*_of_searches(results), *_of_capacity(results)]
    if found:
        return _joined(found)
    several = len(results.experiments) > 1
    for experiment in results.experiments[:_MOST]:
        records = [record for record in results.records if record.run.experiment == experiment and record.ok]
        answer = _of_runs(records) if records else None
        if answer is not None:
            question = f"{experiment}: {answer.question}" if several and experiment else answer.question
            found.append(Answer(question, answer.sentence, answer.figures))
    return found


def _joined(found: Sequence[Answer]) -> list[Answer]:
    """Return one answer per question: the sentences of its points one after the other, with the figures of the first ones."""
    by_question: dict[str, list[Answer]] = {}
    for answer in found:
        by_question.setdefault(answer.question, []).append(answer)
    joined = []
    for question, mine in by_question.items():
        said = [answer.sentence for answer in mine[:_MOST]]
        if len(mine) > _MOST:
            said.append(f"And {counted(len(mine) - _MOST, 'more point')}.")
        figures = [figure for answer in mine for figure in answer.figures]
        joined.append(Answer(question, " ".join(said), tuple(figures[:_MOST])))
    return joined


def _of_searches(results: Recorded) -> list[Answer]:
    """Return what searches for saturation, failures and knees have found, in their own words."""
    found = []
    for name, entries, question, draw in (
        ("saturation.json", "saturations", "At which load does the network stop keeping up?", _saturation_figures),
        ("failures.json", "failures", "What do failures cost?", _failure_figures),
        ("forks.json", "forks", "What would have become of it?", _fork_figures),
        ("knee.json", "knees", "Where does doubling stop to pay?", _knee_figures),
    ):
        content = results.product(name)
        try:
            told = json.loads(content)[entries] if content is not None else []
            answers = [Answer(question, str(entry["sentence"])) for entry in told]
            if answers:
                answers[0] = Answer(question, answers[0].sentence, draw(told))
        except (ValueError, KeyError, TypeError):
            continue  # the section of the analysis tells what is wrong with the file
        found += answers
    return found


def _saturation_figures(told: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return mean latency and accepted load over the loads that were measured, a line for every point."""

    def lines(value: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
        found = []
        for entry in told[:_MOST]:
            points = [
                [one["load"], value(one), "" if one["state"] == "ok" else one["state"]]
                for one in entry["measured"]
                if value(one) is not None
            ]
            found.append({"name": entry["name"], "points": points})
        return [line for line in found if line["points"]]

    def accepted(one: dict[str, Any]) -> Any:
        # Silent nodes accept nothing: what the sending ones get is drawn.
        return one["load"] * one["accepted_load"] / one["offered_load"] if one["offered_load"] else None

    label = "offered load"
    latency = {"kind": "curves", "x": label, "y": "mean latency [ns]", "lines": lines(lambda one: one["latency_ns"]["mean"])}
    load = {"kind": "curves", "x": label, "y": "accepted load", "diagonal": True, "lines": lines(accepted)}
    return tuple(figure for figure in (latency, load) if figure["lines"])


def _failure_figures(told: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return how slowdowns of single failures are distributed, and slowdowns over how many fail at once, a line for every point."""
    alone, at_once = [], []
    for entry in told[:_MOST]:
        singles = [one["slowdown"] for one in entry["failures"] if one["draw"] is None]
        known = sorted(slowdown for slowdown in singles if slowdown is not None)
        shares = [[slowdown, (number + 1) / len(singles), ""] for number, slowdown in enumerate(known)]
        alone.append({"name": entry["name"], "points": shares})
        medians = [[many["dead"], many["median"], ""] for many in entry["many"] if many["median"] is not None]
        at_once.append({"name": entry["name"], "points": medians})
    kind = told[0]["of"]
    figures: tuple[dict[str, Any], ...] = (
        {"kind": "curves", "x": "slowdown", "y": f"share of the {kind} tried", "lines": alone},
        {"kind": "curves", "x": f"dead {kind}", "y": "slowdown (median of the draws)", "lines": at_once},
    )
    lines = [[line for line in figure["lines"] if line["points"]] for figure in figures]
    return tuple({**figure, "lines": mine} for figure, mine in zip(figures, lines, strict=True) if mine)


def _fork_figures(told: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return every run and its forks as bars."""
    found = []
    for entry in told[:_MOST]:
        forks = [fork for fork in (*entry["forks"], *entry["earlier"]) if fork["value"] is not None]
        if entry["value"] is None or not forks:
            continue
        names = [f"{entry['name']}, as it is", *(fork["name"] for fork in forks)]
        values = [entry["value"], *(fork["value"] for fork in forks)]
        states = [entry["state"], *(fork["state"] for fork in forks)]
        remarks = ["" if state == "ok" else state for state in states]
        figure = figure_of(entry["metric"])
        label = figure.label() if figure else entry["metric"]
        found.append({"kind": "bars", "label": label, "names": names, "values": values, "remarks": remarks})
    return tuple(found)


def _knee_figures(told: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the metric over what is doubled, a line for every point."""
    figure = figure_of(told[0]["metric"])
    unit = told[0]["points"][0]["text"].partition(" ")[2]
    lines = [
        {
            "name": point_words(list(entry["point"].items())),
            "points": [[point["value"], point["together"], ""] for point in entry["points"]],
        }
        for entry in told[:_MOST]
    ]
    label = f"{short_key(told[0]['over'])}{f' [{unit}]' if unit else ''}"
    return ({"kind": "curves", "x": label, "y": figure.label() if figure else told[0]["metric"], "lines": lines},)


def _of_capacity(results: Recorded) -> list[Answer]:
    """Return what sharing the network costs, a bar per job, where the results are of a capacity study."""
    try:
        points = capacity(results)
    except (ValueError, KeyError):
        return []
    found = []
    for point in points:
        if not point.sentence:
            continue
        known = {job: slowdown for job, slowdown in point.slowdown.items() if slowdown is not None}
        bars = {
            "kind": "bars",
            "label": "time with all others / time alone",
            "names": list(known),
            "values": list(known.values()),
            "remarks": [""] * len(known),
        }
        found.append(Answer("What does sharing the network cost?", point.sentence, (bars,)))
    return found


def _points(records: Sequence[RunRecord]) -> dict[Point, list[RunRecord]]:
    """Return the seeds of every point."""
    found: dict[Point, list[RunRecord]] = {}
    for record in records:
        found.setdefault((record.run.experiment, record.run.sweep), []).append(record)
    return found


def _load_key(records: Sequence[RunRecord]) -> str | None:
    """Return the swept key of offered loads: all numbers, and more than one."""
    for key in dict.fromkeys(key for record in records for key, _ in record.run.sweep):
        values = {dict(record.run.sweep).get(key) for record in records}
        if key.rpartition(".")[2] == "load" and len(values) > 1 and all(axis_value(value) for value in values):
            return key
    return None


def _of_runs(records: Sequence[RunRecord]) -> Answer | None:
    key = _load_key(records)
    if key is not None:
        return _of_loads(records, key)
    points = _points(records)
    return _of_points(points) if len(points) > 1 else _of_one(records)


def _of_loads(records: Sequence[RunRecord], key: str) -> Answer:
    """Say up to which of the loads the network keeps up, of every line."""
    lines: dict[tuple[tuple[str, str], ...], dict[float, list[str]]] = {}
    for record in records:
        swept = dict(record.run.sweep)
        load = axis_value(swept.pop(key))
        if load is not None:
            lines.setdefault(tuple(swept.items()), {}).setdefault(load[0], []).append(record.state)
    parts = []
    for line, states in list(lines.items())[:_MOST_NAMED]:
        # The value of one key that is no number needs no key before it.
        name = value_words(line[0][1]) if len(line) == 1 and axis_value(line[0][1]) is None else point_words(line)
        parts.append((f"{name} " if name else "the network ") + _kept_up(states))
    every = sorted({load for states in lines.values() for load in states})
    sentence = f"Of {counted(len(every), 'load')} from {every[0]:g} to {every[-1]:g}, {'; '.join(parts)}."
    if len(lines) > _MOST_NAMED:
        sentence += f" The figure has {counted(len(lines) - _MOST_NAMED, 'more line')}."
    experiment = records[0].run.experiment
    figures = tuple({"kind": "lines", "experiment": experiment, "x": key, "y": y} for y in ("latency_ns.mean", "accepted_load"))
    return Answer("Up to which load does the network keep up?", sentence, figures)


def _kept_up(states: dict[float, list[str]]) -> str:
    """Say up to which load all seeds keep up, and what is known of the next one."""
    best: float | None = None
    for load in sorted(states):
        if any(state != "ok" for state in states[load]):
            if "saturated" in states[load]:
                return f"keeps up to {best:g} and is saturated at {load:g}" if best is not None else "is saturated at all"
            kept = f"keeps up to {best:g}; at {load:g} its" if best is not None else f"is not decided: at {load:g} its"
            return f"{kept} runs are too short to tell"
        best = load
    return "keeps up with all"


def _waits_for_answers(record: RunRecord) -> bool:
    """Return whether all work of a run is sources without end that wait for answers: their latency only says how many messages are under way."""
    works = [job.get("work") for job in json.loads(record.run.canonical).get("jobs") or []]
    traffic = [work["synthetic"] for work in works if isinstance(work, dict) and "synthetic" in work]
    waiting = [work for work in traffic if work.get("window") is not None and work.get("count") is None]
    return bool(waiting) and len(waiting) == sum(work != "idle" for work in works)


def _of_points(points: dict[Point, list[RunRecord]]) -> Answer | None:
    """Say at which point the run is shortest, and at which longest."""
    first = next(iter(points.values()))[0]
    # Of closed loops more is better, of times less.
    more = _waits_for_answers(first)
    metric = "accepted_load" if more else default_metric(first)
    figure = figure_of(metric)
    unit, word = (figure.unit, figure.word) if figure else ("", metric)
    known: dict[Point, float] = {}
    for point, records in points.items():
        values = [(record, record.value(metric)) for record in records if more or default_metric(record) == metric]
        if len(values) == len(records) and all(isinstance(value, int | float) for _, value in values):
            known[point] = combined(metric, values)
    late = sum(any(record.state != "ok" for record in records) for records in points.values())
    question = f"Which point has the {'highest' if more else 'least'} {word}?"
    if not known:
        return Answer(question, f"No point has a {word}: {counted(late, 'point')} did not keep up.")
    least, most = min(known, key=lambda point: known[point]), max(known, key=lambda point: known[point])
    best, worst = (most, least) if more else (least, most)
    others = sum(value == known[best] for value in known.values()) - 1
    equal = f", and the same with {counted(others, 'other')}" if others else ""
    sentence = f"The {word} is {'highest' if more else 'least'} with {point_words(best[1])}: {amount(known[best], unit)}{equal}."
    if known[most] == known[least]:
        if len(known) > 1:
            sentence = f"The {word} is the same at all {len(known)} points: {amount(known[best], unit)}."
    elif known[most] < _SEEN * known[least]:
        sentence += f" No point differs from it by {_SEEN - 1:.0%} or more."
    elif known[least] > 0:
        times = known[most] / known[least]
        ratio = f"1/{times:.3g} of it" if more else f"{times:.3g} times as much"
        sentence += (
            f" It is {ratio} with {point_words(worst[1])}, the {'least' if more else 'most'}: {amount(known[worst], unit)}."
        )
    if len(known) < len(points):
        sentence += f" {counted(len(points) - len(known), 'point')} of {len(points)} cannot be compared."
    if late:
        sentence += f" {counted(late, 'point')} did not keep up with the load, or cannot tell."
    return Answer(question, sentence, (_figure_of_points(points, known, metric),))


def _figure_of_points(points: dict[Point, list[RunRecord]], known: dict[Point, float], metric: str) -> dict[str, Any]:
    """Return lines over a swept number where there is one, else a bar per point."""
    keys = dict.fromkeys(key for _, sweep in points for key, _ in sweep)
    for key in keys:
        found = {axis_value(dict(sweep).get(key)) for _, sweep in points}
        if len(found) > 2 and None not in found and len({item[1] for item in found if item}) == 1:
            return {"kind": "lines", "experiment": next(iter(points))[0], "x": key, "y": metric}
    figure = figure_of(metric)
    values = {key: [dict(sweep).get(key) for _, sweep in points] for key in keys}
    varying = [key for key in keys if len(set(values[key])) > 1]
    # Where the words of one key tell all points apart, what goes with them need not stand at every bar.
    telling = (
        key
        for key in varying
        if len(set(values[key])) == len(points) and all(value and axis_value(value) is None for value in values[key])
    )
    if (alone := next(telling, None)) is not None:
        varying = [alone]

    def name(sweep: Sequence[tuple[str, str]]) -> str:
        # One key needs no name at every bar: the axis has it.
        mine = [pair for pair in sweep if pair[0] in varying]
        return value_words(mine[0][1]) if len(varying) == 1 and mine else point_words(mine)

    return {
        "kind": "bars",
        "label": figure.label() if figure else metric,
        "over": varying[0] if len(varying) == 1 else "",
        "names": [name(point[1]) for point in known],
        "values": list(known.values()),
        "remarks": [", ".join(sorted({record.state for record in points[point]} - {"ok"})) for point in known],
    }


def _of_one(records: Sequence[RunRecord]) -> Answer | None:
    """Say how long the one point took, and what it was spent with."""
    record = records[0]
    metric = default_metric(record)
    values = [(each, each.value(metric)) for each in records]
    numbers = [(each, float(value)) for each, value in values if isinstance(value, int | float)]
    figure = figure_of(metric)
    unit, word = (figure.unit, figure.word) if figure else ("", metric)
    is_time = metric == "jobs.0.time_ns"
    over = f", over {counted(len(numbers), 'seed')}" if len(numbers) > 1 else _error(record) if is_time else ""
    sentence = f"The {word} is {amount(combined(metric, numbers), unit)}{over}" if numbers else f"There is no {word}"
    sentence += _spent(record) if is_time else _tail(record) if numbers and metric == "latency_ns.mean" else ""
    if record.state != "ok":
        sentence += f"; {record.why}"
    question = "How long does it take?" if metric != "latency_ns.mean" else "How long do messages take?"
    figures = ({"kind": "cdf", "run": record.id},) if metric == "latency_ns.mean" and "cdf" in record.tables else ()
    return Answer(question, f"{sentence}.", figures)


def _error(record: RunRecord) -> str:
    """Say how well a time is known of which a part was estimated."""
    estimated = record.summary.get("estimated") or {}
    if not estimated.get("iterations"):
        return ""
    return f" +- {amount(estimated['error_ns'], 'ns')} (95 %; {100 * estimated['share']:.0f} % of the run was estimated)"


def _spent(record: RunRecord) -> str:
    """Say what the ranks of the first job did with their time."""
    job = record.summary["jobs"][0]
    parts = {"computing": "compute_ns", "waiting": "wait_ns", "in software of MPI": "overhead_ns"}
    known = {name: float(job[key]) for name, key in parts.items() if isinstance(job.get(key), int | float)}
    whole = max(sum(known.values()), float(job["time_ns"]))
    if not whole:
        return ""
    if (left := whole - sum(known.values())) > 0.005 * whole:
        known["done before the last one"] = left
    return ": its ranks spend " + ", ".join(f"{100 * spent / whole:.0f} % {name}" for name, spent in known.items())


def _tail(record: RunRecord) -> str:
    p99 = (record.summary.get("latency_ns") or {}).get("p99")
    return f"; 99 % of the messages take at most {amount(p99, 'ns')}" if isinstance(p99, int | float) else ""
