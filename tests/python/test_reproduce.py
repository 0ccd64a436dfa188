"""`fabricsim reproduce`: claims judged, figures drawn, second use, and claims that cannot be judged."""

import json
from pathlib import Path

import pytest

STUDY = (Path(__file__).parent / "data" / "torus-claims.toml").read_text()


@pytest.fixture
def study(shell):
    path = shell.folder / "torus-claims.toml"
    path.write_text(STUDY)
    return path


def test_every_claim_gets_a_verdict_and_every_figure_is_drawn(shell, study):
    ran = shell("reproduce", study, "--variant", "quick", "--out", "r", "--json")
    assert ran.code == 0, ran.err
    assert {claim["id"]: claim["verdict"] for claim in ran.json["claims"]} == {
        "hops-grow-with-size": "agrees",
        "hops-ratio": "agrees",
        "latency-halves-with-message-size": "differs",
        "spread-of-links": "agrees",
        "needs-a-run-that-is-not-there": "not measured",
    }
    assert sorted(path.name for path in (shell.folder / "r" / "figures").iterdir()) == sorted(
        f"{name}.{kind}" for name in ("fig-1", "fig-3", "hot-spots") for kind in ("svg", "png")
    )
    assert json.loads((shell.folder / "r" / "claims.json").read_text()) == ran.json["claims"]
    assert "Larger messages take longer to serialise." in (shell.folder / "r" / "report.html").read_text()


def test_the_second_time_nothing_is_run_again(shell, study):
    first = shell("reproduce", study, "--variant", "quick")
    assert first.code == 0, first.err
    second = shell("reproduce", study, "--variant", "quick")
    assert second.code == 0
    assert "finished already" in second.err
    assert second.out == first.out
    assert "3 of 4 claims agree, 1 not measured" in second.out


BROKEN = {
    "unknown measure": ("increases('hops.mean'", "grows('hops.mean'", "no measure `grows`"),
    "unknown key": ('unit = "MiB/s"', 'units = "MiB/s"', "unknown key `units`"),
    "expectation": ("expect = 350", 'expect = "plenty"', "expect = 'plenty'"),
    "two of an id": ('id = "hops-ratio"', 'id = "hops-grow-with-size"', "two of this id"),
    "figure kind": ('kind = "links"', 'kind = "pie"', "kind = 'pie'"),
    "figure key": ("group = []", "colour = 1", "unknown key `colour`"),
    "figure outside": ('id = "hot-spots"', 'id = "../hot-spots"', "without a folder"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_claims_and_figures_are_checked_before_anything_is_run(shell, study, case):
    old, new, words = BROKEN[case]
    assert old in STUDY
    study.write_text(STUDY.replace(old, new, 1))
    ran = shell("reproduce", study, "--out", "r")
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert not (shell.folder / "r").exists()


def test_what_cannot_be_had_takes_nothing_with_it(shell, study):
    more = """
[[reproduce.figure]]
id = "of-nothing"
title = "Times of a job that there is not"
kind = "bars"
x = ["seed"]
y = "jobs.0.time_ns"
group = "topology.kind"
"""
    study.write_text(STUDY + more)
    ran = shell("reproduce", study, "--variant", "quick", "--out", "r", "--json")
    assert ran.code == 0, ran.err
    assert list(ran.json["undrawn"]) == ["of-nothing"]
    assert "jobs.0.time_ns" in ran.json["undrawn"]["of-nothing"]
    assert len(ran.json["figures"]) == 6
    assert len(ran.json["claims"]) == 5
    report = (shell.folder / "r" / "report.html").read_text()
    assert '"missing":"no value `jobs.0.time_ns`' in report
    assert "Times of a job that there is not" in report
    assert "of-nothing is not drawn" in shell("report", "r").err
    assert shell("verify", "r").code == 0


def test_a_claim_that_is_not_well_formed_leaves_the_report(shell, study):
    study.write_text(STUDY.replace("increases('hops.mean'", "grows('hops.mean'", 1))
    assert shell("run", study, "--variant", "quick", "--out", "r").code == 0
    assert shell("report", "r").code == 0
    first = json.loads((shell.folder / "r" / "claims.json").read_text())[0]
    assert first["verdict"] == "not measured"
    assert "no measure `grows`" in first["because"]


def test_figures_of_a_variant_say_so(shell, study):
    assert shell("reproduce", study, "--variant", "quick", "--out", "r").code == 0
    assert "(variant quick)" in (shell.folder / "r" / "figures" / "fig-1.svg").read_text()


def test_report_judges_again_without_running(shell, study):
    shell("run", study, "--variant", "quick", "--out", "r", "--no-report")
    ran = shell("report", "r")
    assert ran.code == 0, ran.err
    assert (shell.folder / "r" / "claims.json").is_file()
    assert "figures/fig-1.svg" in ran.out


def test_list_names_the_studies(shell):
    assert shell("reproduce", "list").code == 0
    assert "studies" in shell("list", "studies", "--json").json
