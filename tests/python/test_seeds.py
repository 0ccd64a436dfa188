"""What several seeds have together of a number: claims, fronts, effects, knees and figures against a small calculation by hand."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import fabricsim as fs
from fabricsim import plots
from fabricsim._figures import all_figures, over_seeds, together
from fabricsim._metrics import combined
from fabricsim.analyses.knee.search import Axis, search
from fabricsim.claims import judge
from fabricsim.measures import MeasureError, evaluate
from fabricsim.results import RunRecord
from fabricsim.study import Run

pytestmark = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="numbers are listed by the real core")

#: Latencies in ns of the messages of two seeds, at two loads.
LATENCIES = {
    ("0.5", 1): [10.0, 20.0, 90.0],
    ("0.5", 2): [10.0, 30.0, 50.0],
    ("0.9", 1): [40.0, 60.0, 80.0],
    ("0.9", 2): [40.0, 50.0, 150.0],
}
CPU = {("0.5", 1): 1.0, ("0.5", 2): 2.0, ("0.9", 1): 3.0, ("0.9", 2): 5.0}


def _record(load, seed, summary, *, ok=True):
    run = Run(f"{load}-{seed}", "", "", "s", "", (("job.0.work.load", load),), seed, "auto", {}, {})
    return RunRecord(run, {"verdict": {"ok": ok, "state": "ok"}, **summary}, {}, 0.0)


def _results(records):
    return SimpleNamespace(
        records=tuple(records),
        runs=pa.table({"column": [0.0] * len(records)}),
        manifest={"study": {}},
        folder=Path("nowhere"),
        perturbations=0,
    )


def _summary(place):
    seen = LATENCIES[place]
    return {"latency_ns": {"mean": sum(seen) / 3, "max": max(seen), "min": min(seen)}, "cpu_s": CPU[place], "n_nodes": 16}


@pytest.fixture
def results():
    return _results([_record(*place, _summary(place)) for place in LATENCIES])


#: By hand, of the loads 0.5 and 0.9: means of the means, greatest and least of all messages, sums.
BY_HAND = {"latency_ns.mean": (35.0, 70.0), "latency_ns.max": (90.0, 150.0), "cpu_s": (3.0, 8.0)}


@pytest.mark.parametrize("key", BY_HAND)
def test_claims_take_of_seeds_what_the_number_says(results, key):
    half, much = BY_HAND[key]
    assert evaluate(f"value('{key}', where={{'job.0.work.load': '0.5'}})", results) == pytest.approx(half)
    assert evaluate(f"value('{key}')", results) == pytest.approx((half + much) / 2)
    sides = "of={'job.0.work.load': '0.9'}, over={'job.0.work.load': '0.5'}"
    assert evaluate(f"ratio('{key}', {sides})", results) == pytest.approx(much / half)
    assert evaluate(f"ratios('{key}', {sides}, per=['n_nodes'])", results) == pytest.approx(much / half)
    assert evaluate(f"spread('{key}', among='job.0.work.load', per=['n_nodes'])", results) == pytest.approx(much / half)
    assert evaluate(f"slope('{key}', x='job.0.work.load')", results) == pytest.approx((much - half) / 0.4)
    middle = (half + much) / 2
    assert evaluate(f"crossing('{key}', {middle}, x='job.0.work.load')", results) == pytest.approx(0.7)


def test_fronts_and_figures_show_the_same(results):
    found = fs.pareto(results, minimise=["latency_ns.max"], maximise=["cpu_s"])
    assert [row.values for row in found.rows] == [(90.0, 3.0), (150.0, 8.0)]
    for key, wanted in BY_HAND.items():
        (line,) = plots.sweep(results, y=key).axes[0].containers
        assert list(line[0].get_ydata()) == pytest.approx(wanted)
        scale = plots.time_axis(key, wanted[1])[0]
        drawn = plots.bars(results, x=["job.0.work.load"], y=key, group="experiment").axes[0]
        assert [patch.get_height() for patch in drawn.patches] == pytest.approx([scale * height for height in wanted])
        over = plots.bars(results, x=["job.0.work.load"], y=key, group="experiment", over={"job.0.work.load": "0.5"}).axes[0]
        assert [patch.get_height() for patch in over.patches] == pytest.approx([1, wanted[1] / wanted[0]])


def _without(results, number, **summary):
    record = results.records[number]
    record.summary.update(summary)
    return results


def test_a_number_that_a_seed_does_not_have_is_told_and_never_averaged_away(results):
    unsettled = {"ok": True, "state": "saturated", "because": "the backlog grows"}
    lacking = _without(results, 1, latency_ns={"mean": None, "max": None, "min": 10.0, "mean_at_least": 70.0}, verdict=unsettled)
    for measure in (
        "value('latency_ns.mean')",
        "slope('latency_ns.mean', x='job.0.work.load')",
        "ratios('latency_ns.mean', of={}, over={}, per=['n_nodes'])",
    ):
        with pytest.raises(MeasureError, match=r"not a number in run 0\.5-2: None \(saturated: the backlog grows\)"):
            evaluate(measure, lacking)
    (verdict,) = judge([{"id": "a", "paper": "", "measure": "value('latency_ns.mean')", "expect": ">= 1"}], lacking)
    assert verdict.verdict == "not measured"
    assert "saturated: the backlog grows" in verdict.because
    with pytest.raises(ValueError, match=r"has no number latency_ns\.mean: saturated"):
        fs.pareto(lacking, minimise=["latency_ns.mean", "cpu_s"])
    # What is only known not to be below something points upwards: here (40 + 70) / 2.
    axes = plots.sweep(lacking, y="latency_ns.mean").axes[0]
    assert [list(line[0].get_ydata()) for line in axes.containers] == [pytest.approx([70.0])]
    (open_end, *_) = [line for line in axes.lines if line.get_marker() == "^"]
    assert list(open_end.get_ydata()) == pytest.approx([(40.0 + 70.0) / 2])
    # Without a bound there is a cross at the foot, and no point.
    axes = plots.sweep(lacking, y="latency_ns.max").axes[0]
    assert [list(line[0].get_xdata()) for line in axes.containers] == [[0.9]]
    (cross,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert (list(cross.get_xdata()), cross.get_label()) == ([0.5], "no number")
    bars = plots.bars(lacking, x=["job.0.work.load"], y="latency_ns.max", group="experiment")
    assert len(bars.axes[0].patches) == 1
    assert bars.legends[0].texts[-1].get_text() == "no number"


def test_a_seed_that_failed_a_self_check_leaves_no_number_of_its_point(results):
    failed = _without(results, 0, verdict={"ok": False})
    for measure in ("value('cpu_s')", "slope('cpu_s', x='job.0.work.load')", "quantile('links', 'utilisation', 0.5)"):
        with pytest.raises(MeasureError, match="failed a self-check"):
            evaluate(measure, failed)
    assert evaluate("value('cpu_s', where={'job.0.work.load': '0.9'})", failed) == 8
    (line,) = plots.sweep(failed, y="cpu_s").axes[0].containers
    assert list(line[0].get_xdata()) == [0.9]
    assert len(plots.bars(failed, x=["job.0.work.load"], y="cpu_s", group="experiment").axes[0].patches) == 1


def test_a_sum_over_fewer_seeds_is_no_sum(results):
    few = _results(results.records[1:])
    with pytest.raises(
        MeasureError, match="cpu_s is a sum over seeds, and not every point has the same number of finished seeds"
    ):
        evaluate("value('cpu_s')", few)
    assert evaluate("value('latency_ns.mean')", few) == pytest.approx((30 + 70) / 2)
    with pytest.raises(ValueError, match="is a sum over seeds"):
        fs.pareto(few, minimise=["cpu_s", "latency_ns.max"])
    (line,) = plots.sweep(few, y="cpu_s").axes[0].containers
    assert list(line[0].get_xdata()) == [0.9]


def test_of_several_points_there_is_the_mean_of_what_each_has():
    loads = {"1": [1.0, 5.0], "2": [2.0, 3.0]}
    seen = [(_record(load, seed, {}), number) for load, numbers in loads.items() for seed, number in enumerate(numbers)]
    assert combined("latency_ns.max", seen) == (5 + 3) / 2
    assert combined("latency_ns.mean", seen) == (3 + 2.5) / 2
    assert combined("cpu_s", seen) == (6 + 5) / 2


def test_every_number_has_a_rule_that_can_be_taken():
    for key, figure in all_figures().items():
        if figure.measure in ("text", "flag", "group", "list"):
            assert figure.seeds == "apart"
        else:
            assert over_seeds(key) == figure.seeds, key
    assert together("latency_ns.min", [3.0, 2.0]) == 2


def _noisy(x, seeds=(0.9, 1.0, 1.1)):
    return [(100 + 400 / float(x)) * seed for seed in seeds]


def test_a_knee_of_the_greatest_over_seeds_is_that_of_the_greatest_and_has_no_interval():
    axis, first = Axis.of("link.bandwidth", "1 GB/s")
    ends = {"start": first, "stop": axis.parse("1024 GB/s")}
    worst = search(axis, _noisy, metric="latency_ns.max", **ends)
    alone = search(axis, lambda x: _noisy(x, (1.1,)), metric="latency_ns.max", **ends)
    assert (worst.value, worst.over_seeds, worst.n_seeds) == (alone.value, "greatest", 3)
    assert worst.low is None
    assert "It is the greatest of 3 seeds, which has no intervals." in worst.sentence
    assert [point.together for point in worst.points] == [max(point.seeds) for point in worst.points]
    sums = search(axis, _noisy, metric="cpu_s", **ends)
    means = search(axis, _noisy, metric="latency_ns.mean", **ends)
    assert (sums.value, sums.low, sums.high) == (means.value, means.low, means.high)
    assert sums.points[0].together == pytest.approx(3 * means.points[0].together)
    assert sums.points[0].mean == means.points[0].mean == pytest.approx(500)
    assert means.sentence.endswith("%.")


def _sample(key, function):
    """Give results of a Latin hypercube of one key, with three seeds at each point."""
    draws = np.random.Generator(np.random.Philox(3))
    head, _, name = key.partition(".")
    records = []
    for number, place in enumerate((draws.permutation(64) + 0.5) / 64):
        for seed in (1, 2, 3):
            run = Run(f"{number}-{seed}", "", "", "s", "", (("job.0.work.load", f"{place:.6f}"),), seed, "auto", {}, {})
            value = function(place, draws.standard_normal())
            records.append(RunRecord(run, {head: {name: value} if name else value, "verdict": {"ok": True}}, {}, 0.0))
    results = _results(records)
    keys = [{"key": "job.0.work.load", "kind": "number", "scale": "linear", "from": 0.0, "to": 1.0}]
    results.manifest["study"]["sample"] = {"method": "latin-hypercube", "points": 64, "seed": 1, "keys": keys}
    return results


@pytest.mark.parametrize(("key", "how"), [("latency_ns.mean", np.mean), ("cpu_s", sum), ("latency_ns.max", max)])
def test_effects_are_of_what_the_seeds_have_together(key, how):
    pytest.importorskip("SALib")
    results = _sample(key, lambda place, noise: place + 0.1 * noise)
    (found,) = fs.effects(results, of=key)
    numbers = [record.value(key) for record in results.records]
    each = [numbers[at : at + 3] for at in range(0, len(numbers), 3)]
    wanted = [float(how(trio)) for trio in each]
    assert list(found.values) == pytest.approx(wanted)
    if key == "latency_ns.max":
        assert found.noise is None
        assert "latency_ns.max is the greatest of the seeds" in found.notes[0]
    else:
        # Of a mean and of a sum alike: the variance of one seed as a part of that of the whole.
        within = np.mean([np.var(trio, ddof=1) for trio in each]) * (3 if key == "cpu_s" else 1 / 3)
        assert found.noise == pytest.approx(within / np.var(wanted, ddof=1))


def test_capacity_refuses_a_run_that_failed_a_self_check():
    with pytest.raises(ValueError, match="failed a self-check"):
        fs.capacity(_results([_record("1", 1, {}, ok=False)]))
