"""Perturbed runs: beside each run, told with it, and never in its place."""

import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import fabricsim as fs
from fabricsim.analyses.perturb.spread import groups, with_spread
from fabricsim.claims import judge

REAL = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="times need the real core")

#: Halos on a torus that has their shape: in phase and in common order no two messages ever meet.
TORUS = """
name = "torus-halo"
[topology]
kind = "torus"
shape = [4, 4, 4]
[link]
bandwidth = "25 GB/s"
latency = "100 ns"
[router]
model = "credit"
buffer = "16 KiB"
[[job]]
work = { kind = "stencil3d", grid = [256, 256, 256] }
[observe]
ranks = true
"""

SWEEP = '[sweep]\n"topology.shape" = [[4, 4, 4], [8, 8]]\n'


def _study(*sets, extra=""):
    return fs.Study.from_toml(TORUS + extra, sets=list(sets))


def _key(results):
    return [(record.id, record.run.hash, record.summary["digest"]) for record in results.records]


def test_the_spread_is_that_of_all_runs_and_what_lacks_a_time_is_said():
    done = {"jobs": [{"time_ns": 100.0}, {"time_ns": None}], "latency_ns": {"mean": 10.0, "p99": 0}, "notes": ["a"]}
    late = {"jobs": [{"time_ns": 105.0}, {"time_ns": 3.0}], "latency_ns": {"mean": 30.0, "p99": 0}}
    lost = {"jobs": [{"time_ns": None}, {"time_ns": None}], "latency_ns": {"mean": None, "p99": None}}
    found = with_spread(done, [late, lost], 3)
    times = found["perturbed"]["times"]
    assert times["jobs.0.time_ns"] == {
        "unperturbed": 100.0,
        "min": 100.0,
        "median": 102.5,
        "max": 105.0,
        "relative": 5 / 102.5,
        "runs": 1,
    }
    assert "jobs.1.time_ns" not in times
    assert times["latency_ns.mean"]["relative"] == 1.0
    assert times["latency_ns.p99"]["relative"] == 0.0
    assert found["notes"] == [
        "a",
        "fragile: 1 of 2 perturbed runs have no jobs.0.time_ns",
        "fragile: 1 of 2 perturbed runs have no latency_ns.mean",
        "fragile: 1 of 2 perturbed runs have no latency_ns.p99",
        "2 of 3 perturbed runs are finished and passed their self-checks",
    ]
    assert with_spread(done, [], 0) == done
    assert with_spread(done, [], 2)["perturbed"]["times"] == {}
    # A load of traffic is asked for its latency.
    loaded = [{"offered_load": 0.5, "latency_ns": {"mean": mean, "p99": 9.0}, "sim_time_ns": 7.0} for mean in (10.0, 12.0)]
    assert with_spread(loaded[0], loaded[1:], 1)["notes"] == [
        "fragile: latency_ns.mean is 10 unperturbed and 12 in a perturbed run, a spread of 18 %"
    ]


def test_perturbed_runs_belong_to_the_run_before_them():
    runs = [{"id": "a"}, {"id": "b", "perturbation": {"number": 1}}, {"id": "c", "perturbation": {"number": 2}}, {"id": "d"}]
    assert groups(runs) == {"a": ["b", "c"], "d": []}


@REAL
def test_a_halo_on_a_torus_of_its_own_shape_is_fragile(tmp_path):
    alone = _study().run(progress=False, out=tmp_path / "alone")
    results = _study(("run.perturb", 4)).run(progress=False, out=tmp_path / "four")
    # The unperturbed run is the run that it was.
    assert _key(results) == _key(alone)
    assert "perturbed" not in alone.records[0].summary
    assert len(results.perturbed) == 4
    assert results.complete
    assert results.ok
    (record,) = results.records
    own = record.value("jobs.0.time_ns")
    times = [other.value("jobs.0.time_ns") for other in results.perturbed]
    assert len(set(times)) == 4
    # In phase every face goes its link alone: the time of six of them. Out of phase they meet.
    assert min(times) > 1.5 * own
    spread = record.summary["perturbed"]["times"]["jobs.0.time_ns"]
    assert (spread["unperturbed"], spread["min"], spread["max"]) == (own, own, max(times))
    assert spread["relative"] > 0.1
    (note,) = record.summary["notes"]
    assert note.startswith("fragile: jobs.0.time_ns is ")
    # They record nothing but their numbers, which stand in a table of their own.
    assert all(set(other.tables) <= {"cdf", "hops", "senders"} for other in results.perturbed)
    (row,) = results.runs.to_pylist()
    assert (row["perturbed.times.jobs.0.time_ns.min"], row["perturbed.times.jobs.0.time_ns.max"]) == (own, max(times))
    assert row["perturbed.times.jobs.0.time_ns.relative"] == spread["relative"]
    beside = pq.read_table(tmp_path / "four" / "perturbed.parquet").to_pylist()
    assert [entry["jobs.0.time_ns"] for entry in beside] == times
    assert {entry["beside"] for entry in beside} == {record.id}
    assert set(pq.read_table(tmp_path / "four" / "hops.parquet")["run_id"].to_pylist()) == {record.id}
    report = results.report().read_text()
    assert "Under perturbation" in report
    assert "fragile: jobs.0.time_ns" in report


@REAL
def test_perturbed_runs_go_with_sweeps_seeds_and_what_is_finished(tmp_path):
    swept = [("run.seeds", [1, 2])]
    folder = tmp_path / "results"
    first = _study(*swept, extra=SWEEP).run(progress=False, out=folder)
    assert len(first) == 4
    study = _study(*swept, ("run.perturb", 2), extra=SWEEP)
    assert len(study.expand()) == 12
    # Interrupted: the finished ones are kept, the others are counted as missing.
    file = tmp_path / "study.toml"
    file.write_text(TORUS + SWEEP)
    limited = ["--set", "run.seeds=[1, 2]", "--perturb", "2", "--limit-runs", "5", "--resume", "--no-report", "--quiet"]
    command = [sys.executable, "-m", "fabricsim", "run", str(file), *limited, "--out", str(folder)]
    subprocess.run(command, check=False, capture_output=True)
    part = fs.Results.open(folder)
    assert _key(part) == _key(first)
    assert not part.complete
    planned = [record.summary["perturbed"]["planned"] for record in part.records]
    assert planned == [2] * 4
    whole = study.run(progress=False, out=folder)
    assert _key(whole) == _key(first)
    assert whole.complete
    assert len(whole.perturbed) == 8
    assert {record.summary["perturbed"]["runs"] for record in whole.records} == {2}
    for record in whole.records:
        others = [other for other in whole.perturbed if other.run.sweep == record.run.sweep and other.run.seed == record.run.seed]
        assert [other.run.perturbation["number"] for other in others] == [1, 2]
        times = [record.value("jobs.0.time_ns"), *(other.value("jobs.0.time_ns") for other in others)]
        assert record.summary["perturbed"]["times"]["jobs.0.time_ns"]["max"] == max(times)
    # By another number of workers and on another engine they are the same.
    again = _study(*swept, ("run.perturb", 2), ("run.engine", "reference"), extra=SWEEP).run(
        progress=False, out=tmp_path / "again"
    )
    assert [record.summary["digest"] for record in again.perturbed] == [record.summary["digest"] for record in whole.perturbed]


@REAL
def test_claims_that_turn_under_perturbation_say_so(tmp_path):
    results = _study(("run.perturb", 3)).run(progress=False, out=tmp_path / "claims")
    own = results.records[0].value("jobs.0.time_ns")
    base = {"paper": "it is so", "measure": "value('jobs.0.time_ns')"}
    claims = [
        {**base, "id": "turns", "expect": f"<= {1.2 * own}"},
        {**base, "id": "holds", "expect": f"<= {10 * own}"},
        {**base, "id": "fails", "expect": f">= {10 * own}"},
        {**base, "id": "unknown", "measure": "value('no.such')", "expect": 1},
    ]
    turns, holds, fails, unknown = judge(claims, results)
    assert (turns.verdict, holds.verdict, fails.verdict, unknown.verdict) == ("agrees", "agrees", "differs", "not measured")
    assert turns.perturbed.startswith("turns in 3 of 3 perturbed runs (")
    assert holds.perturbed.startswith("holds in 3 perturbed runs (")
    assert fails.perturbed.startswith("fails in 3 perturbed runs (")
    assert unknown.perturbed == ""
    plain = judge(claims, _study().run(progress=False, out=tmp_path / "plain"))
    assert [verdict.perturbed for verdict in plain] == [""] * 4
