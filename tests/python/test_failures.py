"""What failures cost: against formulas on small networks, whom they part against a search of the graph, and runs that were stopped or cannot be."""

import csv
import json
import math
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
import pytest
import tomli_w

import fabricsim as fs
from conftest import REAL
from fabricsim._metrics import number_of
from fabricsim._points import point_sets
from fabricsim.analyses.failures.figure import steps
from fabricsim.analyses.failures.records import Failure, Failures, quantile
from fabricsim.analyses.failures.trials import Asked, candidates, one_by_one
from fabricsim.registry import can_fail, fallout
from fabricsim.report.answers import answers

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

TREE = {"kind": "fat-tree", "down": [4, 4], "up": [4]}
#: Every node of a leaf to the same place of the next one, each with a cable of its own under d-mod-k; as fast as its interface.
SHIFT = {"kind": "shift", "by": 4, "message": "64 KiB", "count": 10}
SENDING_NS = 10 * 65536 / 25


def tree(routing="d-mod-k", **more):
    return fs.Study({"name": "tree", "topology": TREE, "routing": {"kind": routing}, "job": [{"work": SHIFT}], **more})


def mesh(**more):
    work = {"kind": "uniform", "message": "2 KiB", "count": 5}
    return fs.Study({"name": "mesh", "topology": {"kind": "mesh", "shape": [3, 2]}, "job": [{"work": work}], **more})


def _command(*arguments):
    command = [sys.executable, "-m", "fabricsim", "failures", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=600, check=False)


def test_a_dead_cable_of_a_fat_tree_costs_what_two_flows_on_one_cable_cost(tmp_path):
    study = tree(sweep={"routing.kind": ["d-mod-k", "adaptive-up"]})
    fixed, adaptive = fs.failures(study, out=tmp_path / "f")
    names = {f"L1.{leaf} to L2.{top}" for leaf in range(4) for top in range(4)}
    for one in (fixed, adaptive):
        assert {each.name for each in one.failures} == names
        assert (one.candidates, one.all_tried, one.metric, one.state) == (16, True, "jobs.0.time_ns", "ok")
        assert all((each.state, each.link_class, each.parted, each.dead) == ("ok", "up1", 0, 1) for each in one.failures)
        assert {each.without for each in one.failures} == {one.without}
    # What goes beside sending is there with and without: two flows share a cable, or four share three.
    beside = fixed.without - SENDING_NS
    for each in fixed.failures:
        assert each.slowdown == pytest.approx((2 * SENDING_NS + beside) / (SENDING_NS + beside), rel=1e-3)
        assert each.busiest_link
        assert each.busy > 0.95
    for each in adaptive.failures:
        assert each.slowdown == pytest.approx(4 / 3, rel=0.03)
    assert fixed.sentence == "d-mod-k: any one of 16 cables costs 1.97 times the time, whichever it is; none parts nodes."
    assert fixed.median == pytest.approx(fixed.p90) == pytest.approx(fixed.worst[0].slowdown, rel=1e-3)
    assert (fixed.share_within, len(fixed.worst), fixed.notes) == (0.0, 5, ())


def test_slowdowns_are_geometric_means_over_the_same_seeds(tmp_path):
    out = tmp_path / "f"
    study = mesh(run={"seeds": [3, 5, 9]})
    (one,) = fs.failures(study, sample=2, out=out)
    assert (one.n_seeds, one.all_tried, len(one.failures), one.candidates) == (3, False, 2, 7)
    times = {}
    for record in fs.Results.open(out):
        times.setdefault(record.value("fail"), {})[record.run.seed] = record.value("jobs.0.time_ns")
    assert {seed for seeds in times.values() for seed in seeds} == {3, 5, 9}
    for each in one.failures:
        ratios = [times[each.name][seed] / times["none"][seed] for seed in (3, 5, 9)]
        assert each.slowdown == pytest.approx(math.prod(ratios) ** (1 / 3), rel=1e-12)
        assert each.metric == pytest.approx(np.mean(list(times[each.name].values())))
    assert "(2 tried)" in one.sentence
    seeded = fs.failures(mesh(), sample=2, seeds=2, out=tmp_path / "s")
    assert seeded[0].n_seeds == 2
    assert [each.name for each in seeded[0].failures] == [each.name for each in one.failures]


def test_a_sample_has_what_a_smaller_one_has_and_is_the_default_for_many(tmp_path):
    study = fs.Study({"name": "t", "topology": {"kind": "torus", "shape": [5, 5]}, "job": [{"work": {**SHIFT, "count": 1}}]})
    few, more = ({each.name for each in fs.failures(study, sample=n, out=tmp_path / str(n))[0].failures} for n in (3, 9))
    assert few < more
    other = fs.failures(study, sample=3, draw_seed=2, out=tmp_path / "other")[0]
    assert {each.name for each in other.failures} != few
    (usual,) = fs.failures(study, out=tmp_path / "usual")
    assert (len(usual.failures), usual.candidates, usual.all_tried) == (24, 50, False)
    assert {each.link_class for each in usual.classes} == {"x", "y"}
    assert sum(each.tried for each in usual.classes) == 24


#: Cables of a mesh of 3 by 2 routers with a node each, and of a ring of 6 without the one that closes it, with two.
MESH = {f"({x},{y}) x+": ((x, y), (x + 1, y)) for x in range(2) for y in range(2)} | {
    f"({x},0) y+": ((x, 0), (x, 1)) for x in range(3)
}
LINE = {f"({router}) ring+": (router, router + 1) for router in range(5)}


def _pieces(cables, dead):
    """Return the routers that cables still join, as sets."""
    pieces = [{router} for router in {end for ends in cables.values() for end in ends}]
    for name in set(cables) - set(dead):
        joined = [piece for piece in pieces if piece & set(cables[name])]
        pieces = [*(piece for piece in pieces if piece not in joined), set().union(*joined)]
    return pieces


def _cut(cables, dead, nodes=1):
    """Return the ordered pairs of nodes that dead cables leave without a way."""
    sizes = [nodes * len(piece) for piece in _pieces(cables, dead)]
    return sum(size * (sum(sizes) - size) for size in sizes)


def test_the_search_of_these_tests_is_that_of_networkx():
    networkx = pytest.importorskip("networkx")
    for cables in (MESH, LINE):
        for dead in combinations(cables, 2):
            graph = networkx.Graph(list(cables.values()))
            graph.remove_edges_from(cables[name] for name in dead)
            found = [set(piece) for piece in networkx.connected_components(graph)]
            assert sorted(map(sorted, found)) == sorted(map(sorted, _pieces(cables, dead)))


def test_whom_two_dead_cables_of_a_ring_part_is_what_a_search_says(tmp_path):
    ring = {"kind": "ring", "routers": 6, "nodes_per_router": 2}
    work = {"kind": "uniform", "message": "2 KiB", "count": 2}
    study = fs.Study(
        {
            "name": "ring",
            "topology": ring,
            "routing": {"kind": "minimal"},
            "job": [{"work": work}],
            "fail": {"cables": ["(0) ring-"]},
        }
    )
    (one,) = fs.failures(study, out=tmp_path / "f")
    # The cable that is dead already is no candidate.
    assert {each.name for each in one.failures} == set(LINE)
    for each in one.failures:
        assert (each.state, each.slowdown) == ("unreachable", None)
        assert each.parted == _cut(LINE, [each.name], 2) > 0
        assert all(first // 2 <= LINE[each.name][0] < second // 2 for first, second in each.first_parted[:2])
    assert one.median is None
    assert "5 of 5 part nodes ((0) ring+: 40 pairs, such as 0 and 2)" in one.sentence
    # Nothing but the runs without further failures has run.
    assert len(fs.Results.open(tmp_path / "f").records) == 1


def test_whom_drawn_cables_of_a_mesh_part_is_what_a_search_says(tmp_path):
    (one,) = fs.failures(mesh(routing={"kind": "minimal"}), counts=[1, 2, 3], draws=12, out=tmp_path / "f")
    assert len(one.failures) == 36
    assert not one.singles
    for each in one.failures:
        assert len(each.names) == each.dead
        assert each.parted == _cut(MESH, each.names)
        assert (each.state == "unreachable") == (each.parted > 0)
        assert (each.slowdown is None) == (each.parted > 0)
    # With the same seed more failures add to fewer.
    by_draw = {(each.dead, each.draw): set(each.names) for each in one.failures}
    assert all(by_draw[1, draw] < by_draw[2, draw] < by_draw[3, draw] for draw in range(1, 13))
    single, double, triple = one.many
    assert (single.without_number, single.draws) == (0, 12)
    assert double.without_number == sum(each.dead == 2 and each.parted > 0 for each in one.failures) > 0
    assert triple.median is None
    assert one.sentence.startswith("mesh: 1, 2 dead of 7 cables cost ")
    assert "; with 3 half of the draws have no slowdown; " in one.sentence


def test_a_routing_that_keeps_its_ways_names_the_pairs_that_lose_theirs(tmp_path):
    torus = {"kind": "torus", "shape": [4, 4]}
    work = {"kind": "uniform", "message": "2 KiB", "count": 2}
    sweep = {"routing.kind": ["dor", "minimal"]}
    study = fs.Study({"name": "t", "topology": torus, "job": [{"work": work}], "sweep": sweep})
    dor, minimal = fs.failures(study, sample=3, out=tmp_path / "f")
    assert [each.name for each in dor.failures] == [each.name for each in minimal.failures]
    assert all((each.state, each.slowdown, each.parted) == ("unreachable", None, 0) for each in dor.failures)
    assert dor.sentence.startswith(
        'dor: not one of 32 cables (3 failures tried) can be dead: "dor" keeps its ways, and those of 16 pairs'
    )
    assert dor.sentence.endswith(" ...")
    assert all(each.slowdown is not None for each in minimal.failures)
    # A dead node takes no way of others.
    (nodes,) = fs.failures(study.with_sets({"routing.kind": "dor"}), of="nodes", sample=3, out=tmp_path / "n")
    assert all(each.slowdown is not None and each.nodes_lost == 1 for each in nodes.failures)


def test_what_a_study_breaks_itself_stays_dead_and_what_it_draws_is_not_drawn_anew(tmp_path):
    own = {"count": 2, "seed": 4, "nodes": [5]}
    torus = {"kind": "torus", "shape": [3, 3]}
    work = {"kind": "uniform", "message": "2 KiB", "count": 2}
    study = fs.Study({"name": "t", "topology": torus, "routing": {"kind": "minimal"}, "job": [{"work": work}], "fail": own})
    canonical = study.expand().runs[0].canonical
    dead = fallout(canonical)
    out = tmp_path / "f"
    (one,) = fs.failures(study, each=True, counts=[3], draws=2, out=out)
    every = {name for name, _ in can_fail(canonical, "cables")}
    assert {each.name for each in one.singles} == every - set(dead["cables"])
    found = {}
    for record in fs.Results.open(out):
        found[record.value("fail")] = fallout(record.run.canonical)
    assert found["none"] == dead
    for each in one.failures:
        assert set(found[each.name]["cables"]) == {*dead["cables"], *each.names}
        assert found[each.name]["nodes"] == [5]
        assert each.nodes_lost == 0
    share = study.with_sets({"fail": {"share": 0.2}})
    (shared,) = fs.failures(share, sample=1, out=tmp_path / "s")
    assert shared.candidates == 18 - len(fallout(share.expand().runs[0].canonical)["cables"]) < 18


def test_cables_of_a_study_that_have_lost_lanes_stay_as_they_are():
    whole = json.loads(mesh().expand().runs[0].canonical)
    asked = Asked()
    whole["fail"] = {"cables": ["(0,0) x+"], "keeps": 0.25}
    found = candidates(json.dumps(whole), asked)
    assert found.own == {"cables": ["(0,0) x+"], "keeps": 0.25}
    assert [one.name for one in found.live] == [name for name, _ in can_fail(json.dumps(whole), "cables") if name != "(0,0) x+"]
    assert all(trial.fail["keeps"] == 0.25 for trial in one_by_one(json.dumps(whole), found, asked))
    whole["fail"] = {"cables": ["(0,0) x+"], "error_rate": 1e-6}
    found = candidates(json.dumps(whole), asked)
    assert found.own == {"cables": ["(0,0) x+"], "error_rate": 1e-6}
    assert all(trial.fail["error_rate"] == 1e-6 for trial in one_by_one(json.dumps(whole), found, asked))
    whole["fail"] = {"drawn": {"of": "cables", "many": {"count": 2}, "seed": 1}, "keeps": 0.25}
    impaired = fallout(json.dumps(whole))["impaired"]
    found = candidates(json.dumps(whole), asked)
    assert len(impaired) == 2
    assert found.own == {"cables": impaired, "keeps": 0.25}
    assert not {*impaired} & {one.name for one in found.live}


def test_a_point_that_breaks_something_by_a_named_table_keeps_it(tmp_path):
    sweep = {"fail": [{"name": "one less", "cables": ["(0,0) x+"]}, {"name": "whole", "count": 0}]}
    less, whole = fs.failures(mesh(routing={"kind": "minimal"}, sweep=sweep), out=tmp_path / "f")
    assert (less.name, whole.name) == ("one less", "whole")
    assert (less.candidates, whole.candidates) == (6, 7)
    labels = {record.value("fail") for record in fs.Results.open(tmp_path / "f")}
    assert {"whole", "one less", "one less + (1,0) x+", "whole + (1,0) x+"} <= labels
    # One point is a failure of the other: the same run, once.
    assert "whole + (0,0) x+" not in labels
    (same,) = (each for each in whole.failures if each.name == "(0,0) x+")
    assert same.metric == less.without


def test_points_with_named_tables_are_overrides_of_their_study(tmp_path):
    tables = [{"name": "near", "kind": "minimal"}, {"name": "far", "kind": "valiant"}]
    study = mesh(sweep={"routing": tables, "link.bandwidth": ["1 GB/s"]})
    kinds = [
        json.loads(study.with_sets(point_sets(study, swept)).expand().runs[0].canonical)["routing"]["kind"]
        for _, swept in study.points()
    ]
    assert kinds == ["minimal", "valiant"]
    first, second = fs.knee(study, over="link.bandwidth", start="1 GB/s", stop="2 GB/s", out=tmp_path / "k")
    assert (dict(first.point), dict(second.point)) == ({"routing": "near"}, {"routing": "far"})


def test_routers_and_nodes_take_nodes_along_and_that_is_said(tmp_path):
    (one,) = fs.failures(tree(), of="routers", out=tmp_path / "r")
    assert {each.name for each in one.failures} == {f"L{level}.{place}" for level in (1, 2) for place in range(4)}
    assert {each.name: each.nodes_lost for each in one.failures} == {f"L1.{n}": 4 for n in range(4)} | {
        f"L2.{n}": 0 for n in range(4)
    }
    by_name = {each.name: each.slowdown for each in one.failures}
    # Every leaf loses a cable up and one down: those of a place share.
    assert by_name["L2.0"] == pytest.approx(1.974, rel=1e-3)
    assert by_name["L1.3"] == pytest.approx(1.0, abs=0.01)
    (note,) = one.notes
    assert "job0 takes all nodes that are alive" in note
    # With nodes to spare the work is the same.
    spare = tree(job=[{"nodes": 12, "work": SHIFT}])
    (less,) = fs.failures(spare, of="nodes", sample=4, out=tmp_path / "n")
    assert less.notes == ()
    assert all(each.nodes_lost == 1 and each.slowdown is not None for each in less.failures)
    # A job that does not find its nodes any more is told.
    (full,) = fs.failures(tree(job=[{"nodes": 16, "work": SHIFT}]), of="nodes", sample=2, out=tmp_path / "o")
    assert all(each.state == "unreachable" and "16 nodes are asked for, 15 are free" in each.why for each in full.failures)


def test_racks_and_groups_fail_with_all_that_is_in_them(tmp_path):
    network = {"kind": "dragonfly", "groups": 5, "routers_per_group": 4, "nodes_per_router": 2}
    job = [{"nodes": 16, "work": {"kind": "shift", "by": 4, "message": "64 KiB", "count": 8}}]
    layout = {"layout": {"routers_per_rack": 2}}
    study = fs.Study({"name": "fly", "topology": network, "job": job, "cost": layout, "fail": {"racks": [9]}})
    (racks,) = fs.failures(study, of="racks", sample=3, counts=[1, 2], draws=2, each=False, out=tmp_path / "r")
    assert racks.candidates == 9  # the last one is dead already
    assert all(each.nodes_lost == 4 * each.dead for each in racks.failures)
    singles = [each for each in racks.failures if each.draw is None]
    assert len(singles) == 3
    assert all(each.names == (each.name,) and each.name.startswith("rack ") and each.parted == 0 for each in singles)
    draws = {(each.dead, each.draw): set(each.names) for each in racks.failures if each.draw is not None}
    assert all(draws[1, seed] < draws[2, seed] for seed in (1, 2))
    # The same as its routers by name.
    number = int(singles[0].name.removeprefix("rack "))
    named = [f"g{rack // 2}.r{2 * (rack % 2) + place}" for rack in (9, number) for place in range(2)]
    by_name = study.with_sets({"fail": {"routers": named}}).run(out=tmp_path / "n", progress=False)
    assert number_of(by_name.records[0], racks.metric) == singles[0].metric
    (groups,) = fs.failures(study, of="groups", out=tmp_path / "g")
    lost = {each.name: each.nodes_lost for each in groups.failures}
    # Half of the last group is in the dead rack.
    assert lost == {f"group {group}": 8 for group in range(4)} | {"group 4": 4}
    # A network without groups has none to fail; a mesh's are its lines.
    alone = fs.Study({"name": "star", "topology": {"kind": "single-router", "nodes": 8}, "job": [{"work": SHIFT}]})
    with pytest.raises(ValueError, match="there are no groups that can fail"):
        fs.failures(alone, of="groups", out=tmp_path / "s")


def test_ranks_are_compared_by_the_time_of_their_job(tmp_path):
    study = tree(job=[{"work": {"kind": "collective", "collective": "alltoall", "message": "16 KiB"}}])
    (one,) = fs.failures(study, sample=2, out=tmp_path / "f")
    assert one.metric == "jobs.0.time_ns"
    assert all(each.slowdown > 1.05 and each.accepted_load is None for each in one.failures)
    (other,) = fs.failures(study, sample=2, metric="jobs.0.wait_ns", out=tmp_path / "f")
    assert other.metric == "jobs.0.wait_ns"
    assert [each.name for each in other.failures] == [each.name for each in one.failures]


def _open_loop(load, **more):
    work = {"kind": "shift", "by": 4, "message": "2 KiB", "load": load}
    return tree(job=[{"work": work}], run={"end": "200 us"}, **more)


def test_an_open_loop_that_no_longer_keeps_up_is_told_so_and_has_no_number(tmp_path):
    (light,) = fs.failures(_open_loop(0.3), sample=2, out=tmp_path / "light")
    assert light.metric == "latency_ns.mean"
    for each in light.failures:
        assert each.state == "ok"
        assert 1.0 < each.slowdown < 1.5
        assert each.accepted_load == pytest.approx(each.accepted_without, rel=0.01)
    # Two flows on one cable: 1.4 of what it carries.
    (heavy,) = fs.failures(_open_loop(0.7), sample=2, out=tmp_path / "heavy")
    assert all((each.state, each.slowdown, each.metric) == ("saturated", None, None) for each in heavy.failures)
    assert heavy.sentence == "tree: with any one of 16 cables (2 tried) dead the network no longer keeps up; none parts nodes."
    assert all(each.accepted_load < 0.97 * each.accepted_without for each in heavy.failures)
    assert "figures" not in {path.name for path in (tmp_path / "heavy").iterdir()}
    # Saturated without failures: what is accepted is compared. Four nodes over two cables, then over one.
    (full,) = fs.failures(_open_loop(0.9, topology={**TREE, "up": [2]}), sample=2, out=tmp_path / "full")
    assert (full.metric, full.maximise, full.state) == ("accepted_load", True, "saturated")
    # Of 16 nodes the four that send from the leaf and the four that send to it have half of what the others have.
    assert [each.slowdown for each in full.failures] == pytest.approx([4 / 3] * 2, rel=0.01)
    assert (
        full.sentence
        == "tree: any one of 8 cables (2 tried) divides the accepted load by 1.33, whichever it is; none parts nodes."
    )
    assert full.notes[0].startswith("without failures the network is saturated already")


def test_quantiles_count_what_has_no_number_as_worse_than_all():
    places = [1.0, 1.2, 1.4, math.inf]
    assert quantile(places, 0.5) == pytest.approx(1.3)
    assert quantile(places, 0.9) is None
    assert quantile([1.0, math.inf], 0.5) is None
    assert quantile([], 0.5) is None
    assert quantile([2.0], 0.9) == 2.0


def _failure(name, slowdown=None, state="ok", **more):
    return Failure(name, "x", 1, None, (name,), state, slowdown=slowdown, **more)


def test_sentences_say_what_is_known_and_nothing_else():
    def said(*failures, **more):
        known = {
            "name": "d-mod-k",
            "point": (),
            "of": "cables",
            "metric": "jobs.0.time_ns",
            "candidates": 256,
            "all_tried": False,
        }
        return Failures(**{**known, **more}, failures=failures).sentence

    worst = _failure("L1.0 to L2.3", 1.93)
    words = "d-mod-k: any one of 256 cables (3 tried) costs 1.02 times the time (median), at worst 1.93 (L1.0 to L2.3)"
    assert said(_failure("a", 1.0), _failure("b", 1.02), worst) == f"{words}; none parts nodes."
    small = said(_failure("a", 1.001), _failure("b", 1.004), all_tried=True, link_class="global", candidates=2)
    assert small == "d-mod-k: any one of 2 global cables costs less than 1 % of the time, b most: 1.004 times; none parts nodes."
    apart = _failure("c", state="unreachable", parted=12, first_parted=((0, 4), (1, 4)))
    one = said(_failure("a", 1.2), _failure("b", 1.5), apart)
    assert one == (
        "d-mod-k: any one of 256 cables (3 tried) costs 1.50 times the time (median), at worst 1.50 (b); "
        "c parts nodes (12 pairs, such as 0 and 4)."
    )
    most = said(_failure("a", 1.2), apart, apart)
    assert most.startswith("d-mod-k: 1 single failures of 256 cables (3 tried) costs 1.20 times the time, the most a; ")
    late = said(_failure("a", 1.2), _failure("b", 1.5), _failure("c", state="unsettled", why="unsettled: short"))
    assert "; with c it no longer keeps up, or the run is too short to tell; none parts nodes." in late
    bad = said(_failure("a", 1.2), _failure("b", state="failed", why="a self-check failed"))
    assert bad.endswith("; none parts nodes; b gave no result to use.")
    assert said(reason="no such routing") == "d-mod-k: no answer: no such routing."
    refused = _failure(
        "a", state="unreachable", why='routing.kind: "rdr" needs a network without failures (take "minimal", which goes round)'
    )
    assert (
        said(refused) == 'd-mod-k: not one of 256 cables (1 failures tried) can be dead: "rdr" needs a network without failures.'
    )


STUDY = """\
name = "{name}"
topology = {{ kind = "mesh", shape = [3, 2] }}
[[job]]
work = {{ kind = "uniform", message = "2 KiB", count = 20 }}
[sweep]
"routing.kind" = ["minimal", "adaptive-up"]
"""


def test_the_command_answers_first_and_goes_on_in_its_folder(tmp_path):
    file = tmp_path / "mesh.toml"
    file.write_text(STUDY.format(name="mesh"))
    out = tmp_path / "f"
    asked = [file, "--out", out, "--each", "--counts", "1,2", "--draws", "3", "-q"]
    done = _command(*asked)
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("minimal: any one of 7 cables costs "), done.stdout + done.stderr
    assert "; 1, 2 dead of 7 cables cost " in first
    # A point that cannot be run is told, and costs the others nothing.
    assert second.startswith('adaptive-up: no answer: routing.kind: "adaptive-up" needs a fat-tree')
    assert done.returncode == 2
    verified = [sys.executable, "-m", "fabricsim", "verify", str(out)]
    assert subprocess.run(verified, capture_output=True, check=False).returncode == 0
    report = (out / "report.html").read_text()
    assert "What failures cost" in report
    assert "What do failures cost?" in report
    (answer,) = answers(fs.Results.open(out))
    assert answer.sentence.startswith(first)
    assert [figure["x"] for figure in answer.figures] == ["slowdown", "dead cables"]
    written = (out / "failures.json").read_bytes()
    rows = list(csv.DictReader((out / "failures.csv").read_text().splitlines()))
    assert len(rows) == 7 + 6
    assert {row["routing.kind"] for row in rows} == {"minimal"}
    assert {(row["name"], row["link_class"]) for row in rows if not row["draw"]} >= {("(0,0) x+", "x"), ("(2,0) y+", "y")}
    before = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    told = json.loads(_command(*asked, "--json").stdout)
    assert (out / "failures.json").read_bytes() == written
    assert {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")} == before
    assert told["failures"] == json.loads(written)["failures"]
    assert {"failures.json", "failures.csv", "failures.svg", "failures.png", "report.html"} == {
        name.rpartition("/")[2] for name in told["files"]
    }
    # Another question in the same folder leaves its own runs, and no others.
    less = json.loads(_command(file, "--out", out, "--sample", "2", "--json", "-q").stdout)
    assert less["failures"][0]["singles"]["tried"] == 2
    assert len(list(out.glob("runs/*.json"))) == 3 < len(before)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    assert all(before[path] == changed for path, changed in kept.items())
    assert subprocess.run(verified, capture_output=True, check=False).returncode == 0
    # What another study has left is not touched unless that is asked for.
    other = tmp_path / "other.toml"
    other.write_text(STUDY.format(name="other"))
    refused = _command(other, "--out", out, "-q")
    assert refused.returncode == 2
    assert "holds results of another study" in refused.stderr
    assert _command(other, "--out", out, "-q", "--force", "--sample", "1", "--no-report").returncode == 2
    assert fs.Results.open(out).name == "other"


def test_runs_that_were_killed_go_on_to_the_same_bytes(tmp_path):
    file = tmp_path / "mesh.toml"
    file.write_text(mesh(job=[{"work": {"kind": "uniform", "message": "2 KiB", "count": 400}}]).source)
    assert _command(file, "--out", tmp_path / "whole", "-q", "--no-report").returncode == 0
    whole = (tmp_path / "whole" / "failures.json").read_bytes()
    out = tmp_path / "f"
    command = [sys.executable, "-m", "fabricsim", "failures", str(file), "--out", str(out), "-q", "--no-report", "-j", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        deadline = time.monotonic() + 120
        while child.poll() is None and len(list(out.glob("runs/*.json"))) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        child.kill()
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*.json")}
    assert kept
    assert not (out / "failures.json").exists()
    done = _command(file, "--out", out, "-q", "--no-report")
    assert done.returncode == 0, done.stderr
    assert (out / "failures.json").read_bytes() == whole
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--counts", "x"], "write numbers from 1 on"),
        (["--counts", "0"], "write numbers from 1 on"),
        (["--counts", "99"], "99 cables are to fail at once, 7 are there to fail"),
        (["--class", "global"], "no cable between routers has the class global; there are: x, y"),
        (["--of", "routers", "--class", "x"], "only cables have classes"),
        (["--each", "--sample", "3"], "two answers to one question"),
        (["--of", "wires"], "'wires' is not one of"),
        (["--metric", "latency"], "no value `latency`"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(tmp_path, options, said):
    file = tmp_path / "mesh.toml"
    file.write_text(mesh().source)
    done = _command(file, "--out", tmp_path / "f", "-q", *options)
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert not (tmp_path / "f" / "failures.json").exists()


def test_a_network_without_cables_has_none_to_fail(tmp_path):
    study = fs.Study({"name": "s", "topology": {"kind": "single-router", "nodes": 4}, "job": [{"work": {**SHIFT, "by": 1}}]})
    with pytest.raises(ValueError, match="there are no cables that can fail"):
        fs.failures(study, out=tmp_path / "f")


def test_the_figure_has_a_step_for_every_number_and_ends_below_one_without():
    found = Failures("t", (), "cables", failures=(_failure("a", 1.5), _failure("b", 1.1), _failure("c", state="unreachable")))
    assert steps(found) == [(1.1, pytest.approx(1 / 3)), (1.5, pytest.approx(2 / 3))]


@pytest.mark.parametrize("dead", [{"groups": [1]}, {"routers": ["g4.r3"]}, {"racks": [0]}])
def test_the_report_of_a_network_with_dead_routers_is_written(tmp_path, dead):
    study = {
        "name": "dead",
        "topology": {"kind": "dragonfly", "groups": 5, "routers_per_group": 4, "nodes_per_router": 1},
        "cost": {"layout": {"routers_per_rack": 8}},
        "job": [{"work": {"kind": "uniform", "message": "2 KiB", "count": 2}}],
        "fail": dead,
    }
    (tmp_path / "study.toml").write_text(tomli_w.dumps(study))
    command = [sys.executable, "-m", "fabricsim", "run", "study.toml", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=600, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "dead" in (tmp_path / "out" / "report.html").read_text()
