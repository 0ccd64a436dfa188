"""Effects of sampled keys and Pareto fronts, on functions whose shares of variance are known."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import fabricsim as fs
from fabricsim._metrics import metric_values
from fabricsim.results import RunRecord
from fabricsim.study import Run

pytest.importorskip("SALib")

REAL = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="samples need the real core")

KEYS = [
    {"key": "link.bandwidth", "kind": "quantity", "scale": "log", "from": "1 GB/s", "to": "64 GB/s"},
    {"key": "router.buffer", "kind": "quantity", "scale": "linear", "from": "0 B", "to": "1000000 B"},
    {"key": "job.0.work.load", "kind": "number", "scale": "linear", "from": 0.0, "to": 1.0},
]
KIND = {"key": "routing.kind", "kind": "choice", "values": ["dor", "valiant", "rdr"]}


def _points(method, n, d):
    if method == "sobol":
        return pytest.importorskip("scipy.stats").qmc.Sobol(d, seed=5).random(n)
    draws = np.random.Generator(np.random.Philox(5))
    return np.stack([(draws.permutation(n) + draws.random(n)) / n for _ in range(d)], axis=1)


def _results(function, *, n=256, seeds=1, noise=0.0, kinds=False, extra=(), method="sobol"):
    """Give results of a sample whose metric `y` is a function of the places of the points, and of swept values."""
    draws = np.random.Generator(np.random.Philox(8))
    records = []
    for number, place in enumerate(_points(method, n, 4)):
        kind = int(place[3] * 3)
        sweep = [
            ("link.bandwidth", f"{64 ** place[0]:.9f} GB/s"),
            ("router.buffer", f"{round(1e6 * place[1])} B"),
            ("job.0.work.load", f"{place[2]:.9f}"),
            *([("routing.kind", KIND["values"][kind])] if kinds else []),
        ]
        for swept in extra or ((),):
            for seed in range(1, seeds + 1):
                y = (
                    function(*place[:3], *([kind] if kinds else []), *(text for _, text in swept))
                    + noise * draws.standard_normal()
                )
                run = Run(f"{number}-{swept}-{seed}", "", "", "s", "", (*sweep, *swept), seed, "auto", {}, {})
                records.append(RunRecord(run, {"y": y, "z": {"deep": 2 * y}, "verdict": {"ok": True}}, {}, 0.0))
    table = pa.table({"column": [record.summary["y"] + 1 for record in records]})
    sample = {"method": method, "points": n, "seed": 1, "keys": [*KEYS, *([KIND] if kinds else [])]}
    return SimpleNamespace(records=tuple(records), runs=table, manifest={"study": {"sample": sample}}, folder=Path("nowhere"))


def _shares(found):
    return {effect.key: effect.share for effect in found.effects}


# In small Latin hypercubes keys are correlated by chance, and shares with them.
@pytest.mark.parametrize(
    ("method", "n"), [("sobol", 64), ("sobol", 256), ("sobol", 512), ("latin-hypercube", 256), ("latin-hypercube", 512)]
)
def test_shares_of_a_sum_are_those_of_its_parts(method, n):
    (found,) = fs.effects(_results(lambda a, b, c: 3 + 2 * a + b, n=n, method=method), of="y")
    # Variances 4/12 and 1/12.
    shares = _shares(found)
    assert shares["link.bandwidth"] == pytest.approx(0.8, abs=0.06)
    assert shares["router.buffer"] == pytest.approx(0.2, abs=0.12)
    assert shares["job.0.work.load"] == pytest.approx(0.0, abs=0.12)
    for effect, truth in zip(found.effects, (0.8, 0.2, 0.0), strict=True):
        assert effect.low <= truth + 0.01
        assert truth - 0.01 <= effect.high
    assert all(pair.share < 0.02 for pair in found.interactions)
    assert found.effects[0].last - found.effects[0].first == pytest.approx(2 * 0.8, rel=0.15)
    assert (found.n_points, found.n_seeds, found.noise) == (n, 1, None)


@pytest.mark.parametrize(("n", "method"), [(128, "surface"), (512, "hdmr")])
def test_a_product_is_all_interaction(n, method):
    (found,) = fs.effects(_results(lambda a, b, c: 7 + (a - 0.5) * (b - 0.5), n=n), of="y")
    assert all(abs(share) < 0.15 for share in _shares(found).values())
    first, *rest = found.interactions
    assert first.keys == ("link.bandwidth", "router.buffer")
    assert first.method == method
    assert first.share == pytest.approx(1.0, abs=0.05)
    assert all(pair.share < 0.03 for pair in rest)


def test_a_surface_tells_an_interaction_from_noise_with_an_interval():
    # Variances: a 1/12, a b 16/144, noise 0.04.
    (found,) = fs.effects(_results(lambda a, b, c: a + 4 * (a - 0.5) * (b - 0.5), n=128, noise=0.2), of="y")
    truth = (16 / 144) / (1 / 12 + 16 / 144 + 0.04)
    first, *rest = found.interactions
    assert first.low <= truth <= first.high
    assert first.low > 0.2
    assert all(pair.low == 0.0 and pair.high < 0.15 for pair in rest)


def test_choices_have_the_share_of_the_variance_between_them():
    (found,) = fs.effects(_results(lambda a, b, c, kind: [0.0, 1.0, 5.0][kind] + a, n=256, kinds=True), of="y")
    between = np.var([0, 1, 5])
    effect = found.effects[3]
    assert effect.method == "correlation-ratio"
    assert effect.share == pytest.approx(between / (between + 1 / 12), abs=0.02)
    assert effect.last - effect.first == pytest.approx(5, abs=0.2)
    assert found.labels["routing.kind"] == ("dor", "valiant", "rdr")
    nothing = fs.effects(_results(lambda a, b, c, kind: a, n=256, kinds=True), of="y")[0]
    assert nothing.effects[3].share == pytest.approx(0, abs=0.03)


def test_what_seeds_do_is_told_apart():
    # Means of four seeds with noise of variance 1/12: a share of 1/4 to 1 + 1/4.
    (found,) = fs.effects(_results(lambda a, b, c: a, n=256, seeds=4, noise=(1 / 12) ** 0.5), of="y")
    assert found.noise == pytest.approx(0.2, abs=0.03)
    assert _shares(found)["link.bandwidth"] == pytest.approx(0.8, abs=0.06)
    assert found.n_seeds == 4


def test_every_combination_of_swept_keys_has_its_own_effects_on_common_points():
    extra = [(("nic.packet", "1 KiB"),), (("nic.packet", "2 KiB"),)]
    one, two = fs.effects(_results(lambda a, b, c, packet: a if packet == "1 KiB" else b, n=64, extra=extra), of="y")
    assert one.point == (("nic.packet", "1 KiB"),)
    assert _shares(one)["link.bandwidth"] > 0.9 > 0.1 > abs(_shares(two)["link.bandwidth"])
    assert one.places == two.places


def test_results_that_cannot_tell_are_refused():
    few = _results(lambda a, b, c: a, n=8)
    with pytest.raises(ValueError, match="8 finished points are too few"):
        fs.effects(few, of="y")
    with pytest.raises(ValueError, match="has no number x; columns with numbers: column"):
        fs.effects(_results(lambda a, b, c: a, n=32), of="x")
    few.manifest["study"].pop("sample")
    with pytest.raises(ValueError, match="without \\[sample\\]"):
        fs.effects(few, of="y")
    failed = _results(lambda a, b, c: a, n=32)
    failed.records[7].summary["verdict"]["ok"] = False
    for ask in (lambda: fs.effects(failed, of="y"), lambda: fs.pareto(failed, minimise=["y", "z.deep"])):
        with pytest.raises(ValueError, match="failed a self-check"):
            ask()
    part = _results(lambda a, b, c: a, n=32)
    part.manifest["study"]["sample"]["points"] = 64
    assert fs.effects(part, of="y")[0].notes[0] == "32 of 64 points are finished"
    flat = fs.effects(_results(lambda a, b, c: 4.0, n=32), of="y")[0]
    assert (flat.deviation, flat.interactions, set(_shares(flat).values())) == (0.0, (), {0.0})


def test_numbers_are_found_by_key_and_by_column():
    results = _results(lambda a, b, c: a, n=8)
    assert metric_values(results, "z.deep") == pytest.approx(2 * metric_values(results, "y"))
    assert metric_values(results, "column") == pytest.approx(metric_values(results, "y") + 1)


def test_the_front_is_what_nothing_beats():
    # One the less, two the more: of each value of b only the best a counts, and only if no smaller b has as good a one.
    results = _results(lambda a, b, c: round(4 * a), n=32)
    found = fs.pareto(results, minimise=["router.buffer"], maximise=["y"])
    assert [one.unit for one in found.objectives] == ["B", ""]
    points = np.array([row.values for row in found.rows])
    for row in found.rows:
        beaten = any(other[0] <= row.values[0] and other[1] >= row.values[1] and tuple(other) != row.values for other in points)
        assert row.front == (not beaten)
    front = [row.values for row in found.front]
    assert front == sorted(front)
    assert [y for _, y in front] == sorted({y for _, y in front})
    for names in (["y"], ["y", "y"]):
        with pytest.raises(ValueError, match="at least two different objectives"):
            fs.pareto(results, minimise=names)


def _command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "fabricsim", *map(str, arguments)], text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@REAL
def test_a_sampled_study_goes_from_file_to_front(tmp_path):
    study = {
        "name": "sampled",
        "topology": {"kind": "single-router", "nodes": 2},
        "router": {"model": "sculpin", "traversal": "200 ns"},
        "job": [{"work": {"kind": "pairs", "mode": "ping-pong", "pairs": [[0, 1]], "message": "64 KiB", "messages": 2}}],
        "sample": {
            "method": "sobol",
            "points": 16,
            "link.bandwidth": {"from": "1 GB/s", "to": "64 GB/s", "scale": "log"},
            "link.latency": {"from": "10 ns", "to": "1 us"},
        },
    }
    file = tmp_path / "s.toml"
    file.write_text(fs.Study(study).source)
    out = tmp_path / "r"
    found = json.loads(_command("run", file, "--out", out, "--json", "--quiet"))
    assert len(found["runs"]) == 16
    more = _command("run", file, "--set", "sample.points=32", "--out", tmp_path / "more", "--quiet", "--json")
    ids = [run["id"] for run in json.loads(more)["runs"]]
    assert ids[:16] == [run["id"] for run in found["runs"]]
    results = fs.Results.open(out)
    assert results.manifest["study"]["sample"]["keys"][0]["key"] == "link.bandwidth"
    told = json.loads(_command("effects", out, "--of", "latency_ns.mean", "--json"))["effects"][0]
    assert told["effects"][0]["share"] > 0.5 > told["effects"][1]["share"]
    front = json.loads(_command("pareto", out, "--minimise", "latency_ns.mean", "--minimise", "link.bandwidth", "--json"))
    assert 2 <= len(front["front"]) <= 16
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") >= 3
    assert (out / "figures" / "effects.svg").is_file()
