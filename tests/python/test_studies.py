"""The published studies and the router presets give one answer on every engine."""

import json
from pathlib import Path

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim import _core
from fabricsim.reproduce import judge_results, write_figures

STUDIES = sorted((Path(__file__).resolve().parents[2] / "studies").glob("*.toml"))
PRESETS = ["sculpin", "pisces", "merlin", "codes-torus", "codes-torus-pipelined"]

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")


def digest(canonical: str, engine: str) -> str:
    """Run a canonical run on an engine; its self-checks hold, or this raises."""
    run = json.loads(canonical)
    run["control"]["engine"] = engine
    summary = json.loads(_core.run(json.dumps(run), None).summary)
    assert summary["verdict"]["ok"]
    assert summary["messages"] > 0
    return str(summary["digest"])


def same_everywhere(canonical: str) -> None:
    expected = digest(canonical, "sequential")
    assert digest(canonical, "reference") == expected
    assert digest(canonical, "rollback-check") == expected


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_small_runs_of_published_studies_give_one_answer_on_every_engine(path):
    study = fs.load(path, sets={"run.seeds": [3]}, variant="quick")
    small = [run for run in study.expand().runs if run.topology.get("shape", [99])[0] <= 4 or "neighbour" in run.experiment]
    assert small, "a study needs at least one small run"
    for run in small[:6]:
        canonical = json.loads(run.canonical)
        for job in canonical["jobs"]:
            pairs = job["work"].get("pairs")
            if pairs:
                # Every window of the rollback check digests the whole state: a few messages are enough.
                pairs["messages"] = min(pairs["messages"], 3)
        same_everywhere(json.dumps(canonical))


@pytest.mark.parametrize("preset", PRESETS)
def test_router_presets_give_one_answer_on_every_engine(preset):
    codes = preset.startswith("codes")
    study = fs.Study(
        {
            "name": "preset",
            "topology": {"kind": "torus", "shape": [4, 4]},
            "router": {"preset": preset},
            "routing": {"kind": "dor"},
            "job": [{"work": {"kind": "uniform", "load": 0.05 if codes else 0.4, "message": "2048 B"}}],
            "run": {"end": "20 us" if codes else "4 us", "warmup": "0 ns"},
        }
    )
    (run,) = study.expand().runs
    same_everywhere(run.canonical)


def test_the_ecp_study_runs_in_its_quick_form(tmp_path):
    study = fs.load("ecp", variant="quick")
    results = study.run(out=tmp_path / "r", progress=False)
    assert results.ok
    assert set(results.experiments) == {"adaptive", "minimal", "fft", "credit"}
    assert {job["ranks"] for job in results.jobs.to_pylist()} == {512, 484}
    verdicts = judge_results(results)
    assert len(verdicts) == len(study.claims())
    # A claim is left open only for want of runs: no key and no name in it is wrong.
    reasons = [verdict.because for verdict in verdicts if verdict.verdict == "not measured"]
    assert all("no finished run" in reason or "have the same" in reason for reason in reasons)
    assert sum(verdict.verdict != "not measured" for verdict in verdicts) >= 25
    assert len(write_figures(results)) == 28


def test_the_ecp_campaign_is_complete():
    runs = fs.load("ecp", variant="campaign").expand().runs
    assert len(runs) == 216
    points = {tuple(dict(run.sweep)[key] for key in ("job.0.name", "link.bandwidth", "job.0.placement")) for run in runs}
    assert len(points) == 3 * 3 * 2
    networks = {(run.topology["kind"], run.estimate["nodes"]) for run in runs}
    assert networks == {(t, n) for t in ("fat-tree", "hyperx", "dragonfly", "dragonfly+") for n in (8192, 16384, 32768)}
    for run in runs:
        assert run.estimate["nodes"] * int(dict(run.sweep)["job.0.ranks_per_node"]) == 32768


def test_the_memory_study_runs_in_its_quick_form(tmp_path):
    study = fs.load("dsm-topology", variant="quick")
    results = study.run(out=tmp_path / "r", progress=False)
    assert results.ok
    assert set(results.experiments) == {"nodes-16", "nodes-256", "nodes-2048"}
    verdicts = judge_results(results)
    assert len(verdicts) == len(study.claims())
    assert all(verdict.verdict != "not measured" for verdict in verdicts), verdicts
    # Maps of six networks, their speedups, four figures of all, the largest network, latencies; each as SVG and PNG.
    assert len(write_figures(results)) == 2 * (6 + 6 + 4 + 1 + 1)


def test_the_memory_study_has_the_networks_of_its_paper():
    runs = fs.load("dsm-topology").expand().runs
    assert len(runs) == 2 * 6 * 4 + 3
    sizes = {(run.experiment, run.estimate["nodes"]) for run in runs}
    assert sizes == {("nodes-16", 16), ("nodes-256", 256), ("nodes-2048", 2048)}
    for run in runs:
        work = json.loads(run.canonical)["jobs"][0]["work"]["memory"]
        link = json.loads(run.canonical)["links"]["default"]
        assert work["memory_bandwidth"] == link["bandwidth"], "memory and network vary together"
        assert (work["cores"], work["l1"], work["l2"], work["memory"], work["pattern"]) == (4, 256, 512, 1 << 30, "random")
        assert not work["interleaved"]
