"""Saturation loads: against the bounds of channel loads, the search by itself, searches that were stopped, and points that have no answer."""

import csv
import json
import subprocess
import sys
import time
from itertools import pairwise

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim._points import points_without
from fabricsim.analyses.saturation.bracket import FULL, Bracket, rounded
from fabricsim.analyses.saturation.records import Links, Measured, Saturation

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")


def _search(truth, *, start, exact=False, most=6, within=0.005, length=100, longest=800, needs=None):
    """Search where a network of known saturation load stops to keep up; near to it a run must have the length that `needs` says."""
    bracket = Bracket(within, start, most, length, longest, exact)
    while (place := bracket.ask()) is not None:
        assert bracket.ask() == place
        load, ran = place
        state = "unsettled" if needs is not None and ran < needs(load) else "ok" if load < truth else "saturated"
        bracket.tell(load, state, settles_ps=2 * ran, passes=truth)
    return bracket


@pytest.mark.parametrize("truth", [0.004, 0.03, 0.125, 0.268, 0.5, 0.77, 0.93])
@pytest.mark.parametrize("off", [0.8, 0.95, 1.0, 1.05, 1.25])
def test_a_guess_is_enough_to_bracket_with_six_runs(truth, off):
    found = _search(truth, start=truth * off)
    assert found.low < truth <= found.high
    assert len(found.tried) <= 6
    # A guess that is a fifth off costs the runs that would have halved the interval twice more.
    assert (found.high - found.low) / 2 <= (1.05 if abs(off - 1) < 0.1 else 4.2) * found.tolerance(truth)


@pytest.mark.parametrize("truth", [0.01, 0.125, 0.4, 0.9])
def test_where_links_are_full_three_runs_do(truth):
    found = _search(truth, start=truth, exact=True)
    assert len(found.tried) <= 4
    assert found.top == truth
    assert truth - found.low <= 2 * found.tolerance(truth) * 1.01
    assert found.high == rounded(1.1 * truth)


def test_buffers_that_carry_less_than_links_are_found_below_the_bound():
    found = _search(0.5, start=0.6, exact=True)
    assert found.low < 0.5 <= found.top <= 0.51
    assert len(found.tried) <= 6


def test_a_run_that_says_it_carries_more_than_links_can_is_too_short():
    bracket = Bracket(0.005, 0.5, 6, 100, 800, exact=True)
    bracket.tell(bracket.ask()[0], "ok")
    assert bracket.low is None
    assert bracket.ask() == (0.75, 100)


def test_loads_at_which_runs_are_too_short_are_run_again_for_longer_and_bounded():
    # Within 10 % of saturation a run must be four times as long.
    found = _search(0.3, start=0.3, most=9, needs=lambda load: 400 if abs(load / 0.3 - 1) < 0.1 else 100)
    assert found.low < 0.3 <= found.high
    assert found.high - found.low <= 0.011
    never = _search(0.3, start=0.3, most=9, needs=lambda load: 10**9 if abs(load / 0.3 - 1) < 0.1 else 100)
    assert never.low <= 0.27 < 0.33 <= never.high
    assert never.between
    assert max(length for _, length, _ in never.tried) == 800


def test_a_load_well_above_those_that_are_not_clear_is_run_as_long_as_the_study_says():
    found = _search(0.3, start=0.3, most=9, needs=lambda load: 400 if abs(load / 0.3 - 1) < 0.1 else 100)
    assert [state for _, _, state in found.tried[:2]] == ["unsettled"] * 2
    assert found.tried[2] == (0.355, 100, "saturated")
    assert all(length > 100 for _, length, _ in found.tried[3:])


def test_full_injection_and_overload_everywhere_come_to_an_end():
    full = _search(2.0, start=1.3)
    assert (full.low, len(full.tried)) == (FULL, 1)
    unknown = _search(2.0, start=None)
    assert unknown.low == FULL
    over = _search(0.0, start=0.2)
    assert over.low is None
    assert over.high < 0.05
    assert len(over.tried) == 6


def test_a_bracket_closes_about_any_load_and_the_answers_grow_with_it():
    for guess in (None, 1.0, 1.3, 0.7):
        middles = []
        for percent in range(1, 100):
            true = percent / 100
            bracket = _search(true, start=None if guess is None else guess * true, most=30)
            low, high = bracket.low or 0.0, bracket.high if bracket.high is not None else FULL
            assert low <= true <= high, (true, guess, bracket)
            assert (high - low) / 2 <= bracket.tolerance((low + high) / 2) * 1.01, (true, guess, bracket)
            middles.append((low + high) / 2)
        # Two answers are as close as their intervals say.
        assert all(after > before - 0.011 for before, after in pairwise(middles))


def test_sentences_say_what_is_known_and_nothing_else():
    assert Saturation("dor", (), "full", 0.005, load=1.0, low=1.0).sentence == "dor keeps up with full injection."
    links = Links("the 9 global links from groups to the next one", "links", 0.99, 9, full=True)
    found = Saturation("ugal", (), "found", 0.005, 0.268, 0.265, 0.271, links=links)
    words = (
        "ugal saturates at 0.268 +- 0.003 of the injection bandwidth, limited by the 9 global links from groups to the next one"
    )
    assert found.sentence == words + "."
    other = Saturation("ugal", (), "found", 0.005, 0.38, 0.376, 0.384, changed=(("topology.links_per_pair", "2"),))
    more = {"links": links, "twice": 0.4, "twice_class": "global"}
    moved = Saturation("ugal", (), "found", 0.005, 0.268, 0.265, 0.271, moved=(other,), **more)
    assert moved.sentence == words + "; `links_per_pair = 2` moves it to 0.380 +- 0.004."
    bound = Saturation("dor", (), "found", 0.005, 0.268, 0.265, 0.271, **more)
    assert bound.sentence.endswith("; twice the bandwidth of global links would allow 0.4 at most (bound of the channel loads).")
    weak = Links("12 of the 60 links in dimension y", "links", 0.71, 12, full=False)
    said = Saturation("dor", (), "found", 0.005, 0.268, 0.265, 0.271, links=weak).sentence
    assert "no link is full (the busiest, 12 of the 60 links in dimension y, is busy 71 % of the time)" in said
    over = Saturation("dor", (), "overload", 0.005, high=0.01)
    assert over.sentence == "dor is saturated already at 0.01 of the injection bandwidth, the least load that was run."
    wide = Saturation("dor", (), "open", 0.005, 0.3, 0.2, 0.4, runs=9)
    assert wide.sentence == "dor saturates between 0.2 and 0.4 of the injection bandwidth, 9 runs did not get closer."
    # Half of the nodes are silent: what the others get of what they ask for is told.
    run = {"length_ns": 1e5, "share": None, "accepted_load_error": None, "fairness": None, "busiest_link": None, "latency_ns": {}}
    pair = [(0.3, "ok", 0.15), (0.44, "saturated", 0.21)]
    uneven = tuple(
        Measured(load=load, state=state, states=(state,), offered_load=load / 2, accepted_load=got, accepted_load_min=0.1, **run)
        for load, state, got in pair
    )
    starved = Saturation("ugal", (), "open", 0.005, 0.3, 0.2, 0.4, runs=9, measured=uneven).sentence
    assert starved.endswith(", 9 runs did not get closer; of higher loads up to 0.42 is accepted, though not of every node.")
    assert "of higher loads" not in Saturation("ugal", (), "open", 0.005, 0.3, 0.2, 0.41, runs=9, measured=uneven).sentence
    assert Saturation("dor", (), "failed", 0.005, reason="no such routing").sentence == "dor: no answer: no such routing."
    assert "nothing is sent" in Saturation("dor", (), "silent", 0.005).sentence


def test_points_without_a_key_are_each_told_once():
    swept = {"routing.kind": ["dor", "rdr"], "router.vcs": [1, 2]}
    study = fs.Study({"name": "s", "topology": {"kind": "torus", "shape": [4, 4]}, "sweep": swept})
    assert points_without(study, {"router.vcs"}) == [("", (("routing.kind", "dor"),)), ("", (("routing.kind", "rdr"),))]


#: Small networks with routings that look at no queue, and the load at which links are full by a formula of the literature (Dally and
#: Towles 2004, section 3.3). Messages go to other nodes: of n nodes to n - 1. Half-way round a ring all go the positive way, which then
#: has (k + 2) / 8 of what a node sends for every node of a router. A permutation puts the messages of all its nodes, or of a group, on one link.
_CASES = {
    "ring": ({"kind": "ring", "routers": 8, "nodes_per_router": 2}, "dor", {"kind": "uniform"}, 15 / 16 / 2.5),
    "mesh": ({"kind": "mesh", "shape": [6, 6]}, "dor", {"kind": "uniform"}, 35 / 36 * 4 / 6),
    "torus": ({"kind": "torus", "shape": [4, 4], "nodes_per_router": 2}, "dor", {"kind": "uniform"}, 31 / 32 / 1.5),
    "tornado": ({"kind": "torus", "shape": [8, 8]}, "dor", {"kind": "tornado"}, 1 / 3),
    "transpose": ({"kind": "mesh", "shape": [4, 4]}, "dor", {"kind": "transpose"}, 1 / 3),
    "neighbour": ({"kind": "ring", "routers": 8, "nodes_per_router": 3}, "dor", {"kind": "shift", "by": 3}, 1 / 3),
    "hyperx": ({"kind": "hyperx", "shape": [4, 4], "nodes_per_router": 8}, "dor", {"kind": "uniform"}, 127 / 128 / 2),
    "dragonfly": (
        {"kind": "dragonfly", "groups": 9, "routers_per_group": 4, "nodes_per_router": 2},
        "minimal",
        {"kind": "shift", "by": 8},
        1 / 8,
    ),
    "fat-tree": ({"kind": "fat-tree", "down": [8, 8], "up": [4]}, "d-mod-k", {"kind": "uniform"}, 9 / 16),
}


def _cases(**more):
    """Return one study with every case as an experiment."""
    experiments = {
        name: {"set": {"topology": topology, "routing.kind": routing, "job.0.work": {"message": "2 KiB", "load": 0.5, **work}}}
        for name, (topology, routing, work, _) in _CASES.items()
    }
    return {
        "name": "cases",
        "router": {"buffer": "256 KiB"},
        "job": [{}],
        "run": {"end": "1 ms"},
        "experiment": experiments,
        **more,
    }


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    out = tmp_path_factory.mktemp("cases") / "out"
    return dict(zip(_CASES, fs.saturation(fs.Study(_cases()), out=out), strict=True))


@pytest.mark.parametrize("name", _CASES)
def test_networks_saturate_where_their_links_are_full(cases, name):
    one, bound = cases[name], _CASES[name][3]
    assert one.name == name
    assert one.exact
    assert one.bound == pytest.approx(bound, rel=1e-9)
    assert one.kind == "found", one.sentence
    assert one.load == pytest.approx(bound, rel=0.03)
    assert one.high <= bound * 1.000001
    assert one.runs <= 9
    assert one.links.by == "channel loads"
    assert one.links.busy > 0.95
    shares = {entry.share: entry for entry in one.measured if entry.share}
    assert sorted(shares) == [0.25, 0.5, 0.8]
    means = [entry.latency_ns["mean"] for _, entry in sorted(shares.items())]
    assert means == sorted(means)
    assert all(entry.state == "ok" and entry.latency_ns["mean_error"] > 0 for entry in shares.values())
    # What is accepted follows the load up to saturation, and no further.
    accepted = [entry.accepted_load / entry.offered_load for entry in one.measured if entry.load <= one.low]
    assert accepted == pytest.approx([1.0] * len(accepted), abs=0.04)
    assert one.at.state == "saturated"
    assert one.at.accepted_load < 0.99 * one.at.offered_load


def test_every_load_of_every_point_has_the_same_seeds(tmp_path):
    out = tmp_path / "s"
    study = fs.Study(_cases(run={"end": "100 us", "seeds": [3, 5]}))
    (one,) = fs.saturation(study, experiments=["dragonfly"], out=out, longest=1)
    seeds = {}
    for record in fs.Results.open(out):
        seeds.setdefault(record.value("job.0.work.load"), set()).add(record.run.seed)
    assert len(seeds) == one.runs
    assert set(map(frozenset, seeds.values())) == {frozenset({3, 5})}
    assert all(len(entry.states) == 2 for entry in one.measured)


def test_ugal_by_its_own_queues_takes_what_two_global_links_for_a_packet_leave(tmp_path):
    # The worst pattern: every group to the next one. 8 global links of a group for its 15 nodes, of which nearly all packets take two: 8 / 30.
    study = fs.Study(
        {
            "name": "adversarial",
            "topology": {"kind": "dragonfly", "groups": 9, "routers_per_group": 5, "nodes_per_router": 3},
            "router": {"buffer": "16 KiB"},
            "routing": {"kind": "ugal", "via": "group"},
            "job": [{"work": {"kind": "shift", "by": 15, "message": "2 KiB", "load": 0.2}}],
            "run": {"end": "400 us"},
        }
    )
    (one,) = fs.saturation(study, out=tmp_path / "s")
    assert not one.exact
    assert one.runs <= 9
    assert one.load == pytest.approx(8 / 30, rel=0.05)
    assert one.high - one.low <= 0.02 + 1e-9
    assert one.links.full
    assert "global links between groups" in one.links.words


def _command(*arguments):
    command = [sys.executable, "-m", "fabricsim", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)


#: Quick, and with a routing that is not for the network at one of its points.
_QUICK = {
    "name": "quick",
    "topology": {"kind": "dragonfly", "groups": 5, "routers_per_group": 4, "nodes_per_router": 2},
    "routing": {"kind": "minimal"},
    "job": [{"work": {"kind": "shift", "by": 8, "message": "2 KiB", "load": 0.5}}],
    "run": {"end": "200 us"},
    "sweep": {"routing.kind": ["minimal", "adaptive-up"], "job.0.work.load": [0.1, 0.2]},
}


def test_the_command_answers_first_and_goes_on_in_its_folder(tmp_path):
    file = tmp_path / "quick.toml"
    file.write_text(fs.Study(_QUICK).source)
    out = tmp_path / "s"
    asked = ["saturation", file, "--out", out, "--what-if", "topology.links_per_pair=2", "-q"]
    done = _command(*asked)
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("minimal saturates at 0.12"), done.stdout + done.stderr
    assert "limited by the 5 global links from groups to the next one; `links_per_pair = 2` moves it to 0.24" in first
    # A point that cannot be run is told, and costs the others nothing.
    assert second.startswith('adaptive-up: no answer: routing.kind: "adaptive-up" needs a fat-tree')
    assert done.returncode == 2
    assert "the loads of the study's sweep (job.0.work.load) are replaced by the search" in done.stdout
    assert _command("verify", out).returncode == 0
    assert "Where the network saturates" in (out / "report.html").read_text()
    written = (out / "saturation.json").read_bytes()
    rows = list(csv.DictReader((out / "saturation.csv").read_text().splitlines()))
    assert {row["topology.links_per_pair"] for row in rows} == {"", "2"}
    assert {row["state"] for row in rows} >= {"ok", "saturated"}
    before = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    answer = json.loads(_command(*asked, "--json").stdout)
    assert (out / "saturation.json").read_bytes() == written
    assert {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")} == before
    assert answer["saturations"] == json.loads(written)["saturations"]
    assert answer["saturations"][0]["moved"][0]["load"] == pytest.approx(0.25, rel=0.03)
    # Another question in the same folder leaves its own runs, and no others.
    less = json.loads(_command("saturation", file, "--out", out, "--json", "-q").stdout)
    assert less["saturations"][0]["load"] == answer["saturations"][0]["load"]
    assert len(list(out.glob("runs/*.json"))) < len(before)
    assert _command("verify", out).returncode == 0


def test_a_change_that_cannot_be_is_told_without_losing_the_rest(tmp_path):
    study = fs.Study({**_QUICK, "sweep": {}})
    (one,) = fs.saturation(study, out=tmp_path / "o", what_if=[("topology.groups", "nonsense")])
    assert one.kind == "found"
    assert one.moved[0].kind == "failed"
    assert "`groups = nonsense` gives no answer" in one.sentence


def test_a_search_that_was_killed_goes_on_to_the_same_bytes(tmp_path):
    file = tmp_path / "quick.toml"
    file.write_text(fs.Study({**_QUICK, "sweep": {}}).source)
    assert _command("saturation", file, "--out", tmp_path / "whole", "-q", "--no-report").returncode == 0
    whole = (tmp_path / "whole" / "saturation.json").read_bytes()
    out = tmp_path / "s"
    command = [sys.executable, "-m", "fabricsim", "saturation", str(file), "--out", str(out), "-q", "--no-report", "-j", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        deadline = time.monotonic() + 120
        while child.poll() is None and len(list(out.glob("runs/*.json"))) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        child.kill()
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    assert kept
    assert not (out / "saturation.json").exists()
    done = _command("saturation", file, "--out", out, "-q", "--no-report")
    assert done.returncode == 0, done.stderr
    assert (out / "saturation.json").read_bytes() == whole
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert _command("verify", out).returncode == 0


@pytest.mark.parametrize("work", [{"kind": "uniform", "message": "2 KiB", "count": 5}, {"kind": "halo3d-26", "grid": [2, 2, 2]}])
def test_work_without_a_load_is_refused_with_a_way_out(tmp_path, work):
    file = tmp_path / "work.toml"
    file.write_text(fs.Study({"name": "w", "topology": {"kind": "ring", "routers": 8}, "job": [{"work": work}]}).source)
    done = _command("saturation", file, "--out", tmp_path / "s", "-q")
    assert done.returncode == 2
    assert "no load to search" in done.stderr
    assert "fabricsim knee" in done.stderr
    assert not (tmp_path / "s").exists()


def test_one_node_full_injection_and_a_hot_spot_are_each_told(tmp_path):
    shift = {"kind": "shift", "by": 3, "message": "2 KiB", "load": 0.5}
    hot = {"kind": "hot-spot", "message": "2 KiB", "load": 0.5, "fraction": 0.9}
    study = {
        "name": "odd",
        "topology": {"kind": "single-router"},
        "job": [{}],
        "run": {"end": "500 us"},
        "experiment": {
            "alone": {"set": {"topology.nodes": 1, "job.0.work": shift}},
            "crossbar": {"set": {"topology.nodes": 8, "job.0.work": shift}},
            "hot": {"set": {"topology.nodes": 64, "job.0.work": hot}},
        },
    }
    alone, crossbar, hot = fs.saturation(fs.Study(study), out=tmp_path / "s")
    assert alone.kind in ("failed", "silent")
    assert crossbar.sentence == "crossbar keeps up with full injection."
    assert hot.kind == "found", hot.sentence
    # The hot node gets 0.9 of 63 others' messages, and of the rest, and of its own that go elsewhere, nothing more.
    assert hot.load == pytest.approx(1 / (0.9 * 63 + 0.1), rel=0.03)
    assert "the link to one node" in hot.sentence


def test_numbers_out_of_range_are_refused():
    study = fs.Study(_QUICK)
    for wrong in ({"within": 0.0}, {"most_runs": 4}, {"longest": 0.5}):
        with pytest.raises(ValueError, match="within is above 0"):
            fs.saturation(study, **wrong)
