"""What a campaign answers, in the words that stand first in reports and after `fabricsim run`."""

import json
import subprocess
import sys

import pytest

import fabricsim as fs
from fabricsim._runs import point_words
from fabricsim._units import amount
from fabricsim.report import report_data
from fabricsim.report.answers import answers

UNIFORM = {"kind": "uniform", "message": "1 KiB", "load": 0.2}


def study(**more):
    return fs.Study({"name": "asked", "topology": {"kind": "torus", "shape": [2, 2]}, "job": [{"work": UNIFORM}], **more})


@pytest.fixture(scope="module")
def loads(tmp_path_factory):
    sweep = {"job.0.work.load": [0.1, 0.9], "routing.kind": ["dor", "min-a"]}
    return study(sweep=sweep, run={"end": "20 us"}).run(out=tmp_path_factory.mktemp("loads") / "r", progress=False)


def test_a_sweep_of_loads_says_up_to_which_one_the_network_keeps_up(loads):
    (answer,) = answers(loads)
    states = {(dict(r.run.sweep)["routing.kind"], dict(r.run.sweep)["job.0.work.load"]): r.state for r in loads.records}
    for routing in ("dor", "min-a"):
        assert states[routing, "0.1"] == "ok"
        high = states[routing, "0.9"]
        kept = {
            "ok": "with all",
            "saturated": "to 0.1 and is saturated at 0.9",
            "unsettled": "to 0.1; at 0.9 its runs are too short",
        }
        assert f"{routing} keeps up {kept[high]}" in answer.sentence
    assert answer.sentence.startswith("Of 2 loads from 0.1 to 0.9, dor ")
    assert [figure["x"] for figure in answer.figures] == ["job.0.work.load"] * 2
    assert report_data(loads)["answers"][0]["sentence"] == answer.sentence


def test_a_comparison_says_which_point_is_best_and_by_how_much(tmp_path):
    ring = {"kind": "ring", "message": "64 KiB"}
    asked = study(job=[{"work": ring}], sweep={"link.bandwidth": ["1 GB/s", "4 GB/s"]})
    found = asked.run(out=tmp_path / "r", progress=False)
    slow, fast = (record.value("jobs.0.time_ns") for record in found.records)
    (answer,) = answers(found)
    assert f"least with link.bandwidth = 4 GB/s: {amount(fast, 'ns')}." in answer.sentence
    assert f"It is {slow / fast:.3g} times as much with link.bandwidth = 1 GB/s" in answer.sentence
    (figure,) = answer.figures
    assert (figure["names"], figure["over"]) == (["1 GB/s", "4 GB/s"], "link.bandwidth")


def test_a_time_that_was_estimated_has_its_interval(tmp_path):
    work = {"kind": "allreduce-loop", "messages": ["64 KiB"], "compute": "2 us", "iterations": 1000}
    tree = {"kind": "fat-tree", "down": [4, 4], "up": [4]}
    asked = study(
        topology=tree, routing={"kind": "scatter"}, job=[{"work": work}], run={"end": "done", "fast_forward": "statistical"}
    )
    found = asked.run(out=tmp_path / "r", progress=False)
    (answer,) = answers(found)
    estimated = found.records[0].summary["estimated"]
    assert estimated["share"] > 0.5
    interval = f" +- {amount(estimated['error_ns'], 'ns')} (95 %; {100 * estimated['share']:.0f} % of the run was estimated): its ranks spend"
    assert interval in answer.sentence


def test_bars_have_the_names_that_tell_them_apart_and_nothing_beside_them(tmp_path):
    networks = [{"name": "square", "kind": "torus", "shape": [2, 2]}, {"name": "line", "kind": "ring", "routers": 4}]
    asked = study(
        job=[{"work": {"kind": "ring", "message": "64 KiB"}}],
        sweep={"topology, routing.kind": [[networks[0], "dor"], [networks[1], "minimal"]]},
    )
    (answer,) = answers(asked.run(out=tmp_path / "r", progress=False))
    (figure,) = answer.figures
    assert (figure["names"], figure["over"]) == (["square", "line"], "topology")
    assert "square, routing = dor" in answer.sentence
    both = study(
        job=[{"work": {"kind": "ring", "message": "64 KiB"}}],
        sweep={"topology": networks, "routing.kind": ["minimal", "valiant"]},
    )
    (answer,) = answers(both.run(out=tmp_path / "both", progress=False))
    (figure,) = answer.figures
    assert set(figure["names"]) == {f"routing = {kind}, {name}" for name in ("square", "line") for kind in ("minimal", "valiant")}


def test_one_run_says_how_long_it_took_and_what_for(tmp_path):
    found = study(job=[{"work": {"kind": "ring", "message": "64 KiB"}}]).run(out=tmp_path / "r", progress=False)
    (answer,) = answers(found)
    time = amount(found.records[0].value("jobs.0.time_ns"), "ns")
    assert answer.sentence.startswith(f"The time of the job is {time}: its ranks spend ")
    assert answer.figures == ()


def test_run_prints_the_answer_before_its_table(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'name = "s"\ntopology = { kind = "torus", shape = [2, 2] }\n[[job]]\nwork = { kind = "ring", message = "1 KiB" }\n'
    )
    command = [sys.executable, "-m", "fabricsim", "run", str(path), "--out", str(tmp_path / "r"), "-q"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith("The time of the job is ")


def test_points_are_told_by_key_and_value():
    assert point_words([("routing", "eager"), ("link.latency", "1 us")]) == "eager, link.latency = 1 us"
    assert point_words([("job.0.work.kind", "ring"), ("topology.kind", "torus")]) == "work = ring, topology = torus"
    assert point_words([("job.0.work.load", "0.5"), ("job.1.placement", "random")]) == "load = 0.5, placement = random"


def test_run_judges_the_claims_of_what_was_run(tmp_path):
    path = tmp_path / "s.toml"
    claim = '[[claim]]\nid = "{}"\npaper = "{}"\nmeasure = "value(\'n_nodes\', experiment=\'{}\')"\nexpect = {}\n'
    study = (
        'name = "s"\ntopology = { kind = "torus", shape = [2, 2] }\n[[job]]\nwork = { kind = "ring", message = "1 KiB" }\n'
        "[experiment.a]\n[experiment.b]\n"
    )
    claims = [
        claim.format("small", "four nodes", "a", 4),
        claim.format("large", "five nodes", "a", 5),
        claim.format("other", "as many", "b", 4),
    ]
    path.write_text(study + "".join(claims))
    command = [sys.executable, "-m", "fabricsim", "run", str(path), "--out", str(tmp_path / "r"), "-q", "--experiment", "a"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 of 2 claims agree" in done.stdout
    assert "as many" not in done.stdout
    told = subprocess.run([*command, "--resume", "--json"], capture_output=True, text=True, check=True).stdout
    assert [(one["id"], one["verdict"]) for one in json.loads(told)["claims"]] == [("small", "agrees"), ("large", "differs")]
    path.write_text(study + claim.format("wrong", "it grows", "a", '"big"'))
    warned = subprocess.run([*command, "--force"], capture_output=True, text=True, check=True)
    assert "warning: claim wrong: expect" in warned.stderr
    assert "claims agree" not in warned.stdout
