"""Forks: against formulas and against the study written by hand; what comes before the change is the same; what cannot be forked."""

import json
import subprocess
import sys

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim._progress import make_observer
from fabricsim.analyses.fork import forked
from fabricsim.analyses.fork.change import Change, changes, said_outages

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

RING = {"kind": "ring", "routers": 6}
#: Every node to the next one, as fast as its interface: each cable carries one flow in each direction but one.
SHIFT = {"kind": "shift", "by": 1, "message": "64 KiB", "count": 40}


def ring(**more):
    return fs.Study({"name": "ring", "topology": RING, "job": [{"work": SHIFT}], **more})


@pytest.fixture
def results(tmp_path):
    return ring(observe={"messages": "full"}).run(out=tmp_path / "r", progress=False)


def _command(*arguments):
    command = [sys.executable, "-m", "fabricsim", "fork", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)


def test_what_is_left_takes_twice_as_long_on_half_the_bandwidth(results):
    found = fs.fork(results, cables=["(0) ring+"], at="40 us", keeps=0.5)
    (one,) = found.forks
    assert (found.metric, found.state, one.state, one.lost) == ("jobs.0.time_ns", "ok", "ok", 0)
    # What a message takes beside its sending, some hundred ns, does not double.
    assert 0 < 2 * (found.value - 40_000) - (one.value - 40_000) < 500
    assert one.ratio == pytest.approx(one.value / found.value)
    assert one.name == "(0) ring+ at 50 % of its bandwidth from 40 us on"
    assert found.sentence.startswith(f"With {one.name}: time of the job ")
    # It comes back: what was not sent in the time stays behind.
    (back,) = fs.fork(results, cables=["(0) ring+"], at="40 us", until="60 us", keeps=0.5).forks
    assert back.value == pytest.approx(found.value + 10_000, abs=500)


def test_a_fork_is_its_study_run_from_the_start_and_has_the_past_of_its_run(results, tmp_path):
    outage = {"cables": ["(0) ring+"], "at": "40 us"}
    (one,) = fs.fork(results, **outage).forks
    by_hand = ring(observe={"messages": "full"}, outage=[outage]).run(out=tmp_path / "by-hand", progress=False)
    forks = fs.Results.open(results.folder / "forks")
    assert forks.record(one.run).summary["digest"] == by_hand.record(0).summary["digest"]
    assert by_hand.record(0).summary["digest"] != results.record(0).summary["digest"]

    def early(messages):
        rows = messages.to_pylist()
        return sorted(str(row) for row in rows if row["arrived_ps"] is not None and row["arrived_ps"] < 40_000_000)

    past = early(results.messages(0))
    assert len(past) > 50
    assert early(forks.messages(one.run)) == past


def test_forks_are_kept_and_the_same_one_runs_nothing(results):
    each = fs.fork(results, cables=["(0) ring+", "(2) ring+"], at="40 us", keeps=0.5, each=True)
    assert [one.name[:9] for one in each.forks] == ["(0) ring+", "(2) ring+"]
    assert each.forks[0].value == pytest.approx(each.forks[1].value, rel=1e-3)
    runs = results.folder / "forks" / "runs"
    before = {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json")}
    again = fs.fork(results, cables=["(0) ring+"], at="40 us", keeps=0.5)
    assert {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json")} == before
    assert again.forks == each.forks[:1]
    assert again.earlier == each.forks[1:]
    # The same fork in other words.
    twice = forked.forked(
        results,
        0,
        [Change(cables=("(0) ring+",), at=at, keeps=0.5) for at in ("40 us", "40000 ns")],
        execute=lambda campaign, resume, force: (
            pytest.fail("nothing is to be run")
            if len(campaign.selected) > 1
            else campaign.execute(observer=make_observer(False), resume=resume, force=force)
        ),
    )
    assert len(twice.forks) == 2
    assert {one.run for one in twice.forks} == {each.forks[0].run}
    # Of another run there is none.
    assert not any(path.suffix == ".json" and path.stem == results.record(0).id for path in runs.iterdir())


def test_keys_hold_from_the_start_and_swept_ones_have_one_value(tmp_path):
    swept = ring(sweep={"job.0.work.count": [10, 20]}).run(out=tmp_path / "s", progress=False)
    found = fs.fork(swept, 1, sets={"link.bandwidth": "12.5 GB/s", "nic.bandwidth": "12.5 GB/s"})
    assert found.name.startswith("count=20")
    assert found.forks[0].ratio == pytest.approx(2, rel=0.02)
    other = fs.fork(swept, 0, sets={"job.0.work.count": 20})
    assert other.forks[0].value == pytest.approx(fs.Results.open(tmp_path / "s").record(1).value("jobs.0.time_ns"))
    placed = fs.fork(swept, 0, sets={"job.0.placement": "random"})
    assert placed.forks[0].ratio > 1
    assert len(placed.earlier) == 1


def test_what_has_failed_in_the_study_fails_in_its_forks(tmp_path):
    outages = [
        {"cables": ["(0) ring+"], "at": "5 us", "until": "7 us"},
        {"share": 0.1, "of": "cables", "seed": 3, "keeps": 0.5, "at": "5 us"},
        {"routers": ["(3)"], "at": "9 us", "reroute": "1 us"},
        {"count": 1, "of": "nodes", "at": "9 us", "reroute": "never"},
    ]
    study = ring(outage=outages)
    (run,) = study.expand().runs
    (again,) = study.with_sets({"outage": said_outages(run.canonical)}).expand().runs
    assert again.canonical == run.canonical
    # One more, beside those that there are.
    calm = ring(outage=outages[:2]).run(out=tmp_path / "c", progress=False)
    (one,) = fs.fork(calm, cables=["(2) ring+"], at="40 us", keeps=0.25).forks
    by_hand = ring(outage=[*outages[:2], {"cables": ["(2) ring+"], "at": "40 us", "keeps": 0.25}])
    assert one.run == by_hand.expand().runs[0].id


def test_a_rack_that_fails_is_what_stands_in_it(tmp_path):
    study = ring(cost={"layout": {"routers_per_rack": 2}})
    finished = study.run(out=tmp_path / "out", progress=False)
    done = _command(finished.folder, "--rack", "1", "--at", "40 us", "--json")
    (told,) = json.loads(done.stdout)["forks"]
    assert told["name"] == "rack 1 dead from 40 us on"
    (by_name,) = study.with_sets({"outage": [{"routers": ["(2)", "(3)"], "at": "40 us"}]}).expand().runs
    assert told["run"] == by_name.id
    far = _command(finished.folder, "--rack", "9", "--at", "40 us", "--json")
    assert far.returncode == 2
    assert "there is no rack 9" in json.loads(far.stdout)["forks"][0]["why"]


def test_what_cannot_be_run_is_told_and_the_others_run(results):
    done = _command(
        results.folder, "--cable", "nowhere", "--cable", "(0) ring+", "--each", "--at", "40 us", "--keeps", "0.5", "--json"
    )
    assert done.returncode == 2, done.stderr
    refused, ran = json.loads(done.stdout)["forks"]
    assert refused["state"] == "refused"
    assert "no cable is called `nowhere`" in refused["why"]
    assert "no cable is called `nowhere`" in done.stderr
    assert ran["ratio"] > 1
    # Work that waits for what is lost for good does not end.
    dead = _command(results.folder, "--node", "3", "--at", "40 us", "--reroute", "never", "--json")
    told = json.loads(dead.stdout)["forks"][0]
    assert told["state"] in ("failed", "ok", "refused")
    assert told["lost"] > 0 or told["why"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "nothing is other in this fork"),
        (["--cable", "(0) ring+"], "say when it fails"),
        (["--set", "link.latency=1 us", "--at", "3 us"], "at is of something that fails"),
        (["--cable", "(0) ring+", "--at", "soon"], "'soon' is no time"),
        (["--run", "fff", "--cable", "(0) ring+", "--at", "3 us"], "no finished run with id 'fff'"),
        (["--cable", "(0) ring+", "--at", "3 us", "--metric", "speed"], "speed"),
        (["--set", "link.colour=red"], "link.colour"),
    ],
)
def test_half_a_question_is_refused_by_name(results, options, words):
    done = _command(results.folder, *options)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_run_is_chosen_where_there_are_several(tmp_path):
    swept = ring(sweep={"job.0.work.count": [10, 20]}).run(out=tmp_path / "s", progress=False)
    done = _command(swept.folder, "--set", "link.latency=1 us")
    assert (done.returncode, "choose one with --run" in done.stderr) == (2, True)
    done = _command(swept.folder, "--run", swept.record(1).id[:6], "--set", "link.latency=1 us")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("With link.latency = 1 us: time of the job ")
    folder = swept.folder / "forks"
    assert {path.name for path in folder.iterdir()} >= {"forks.json", "forks.csv", "report.html", "manifest.json"}
    assert fs.verify(folder).ok
    assert fs.verify(swept.folder).ok


def test_a_run_that_is_not_of_this_build_or_of_its_study_is_refused(results, monkeypatch, tmp_path):
    with monkeypatch.context() as patched:
        patched.setattr(forked, "same_build", lambda *_: False)
        with pytest.raises(ValueError, match="run it again"):
            fs.fork(results, cables=["(0) ring+"], at="40 us")
    searched = fs.failures(ring(), sample=1, out=tmp_path / "f")
    assert searched
    found = fs.Results.open(tmp_path / "f")
    dead = next(record for record in found if record.value("fail") != "none")
    with pytest.raises(ValueError, match="no run of the study"):
        fs.fork(found, dead, cables=["(0) ring+"], at="40 us")


def test_changes_have_names_and_tables():
    (one,) = changes({"routers": ["a"], "nodes": [3]}, each=False, at="1 us", until="2 us", reroute="never")
    assert one.name == "router a and node 3 dead and never gone round from 1 us to 2 us"
    assert one.outage() == {"routers": ["a"], "nodes": [3], "at": "1 us", "until": "2 us", "reroute": "never"}
    assert Change(sets={"a.b": 3}).outage() is None
    assert [one.name for one in changes({"cables": ["x", "x", "y"]}, each=True, at="0 s")] == [
        "x dead from 0 s on",
        "y dead from 0 s on",
    ]
