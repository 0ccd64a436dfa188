"""The Python face: studies, results, tables, measures, claims. Runs on whichever core is built."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fabricsim as fs
from fabricsim._cables import LinkNames
from fabricsim._files import atomic_write
from fabricsim._pool import _START
from fabricsim._tables import runs_table, table_of_columns
from fabricsim._units import axis_value, speculation_line
from fabricsim.claims import ClaimError, validate_claim
from fabricsim.measures import MeasureError, evaluate, parse
from fabricsim.report import report_data

CONTENT = {
    "name": "face",
    "topology": {"kind": "torus", "shape": [4, 4]},
    "routing": {"kind": "dor"},
    "job": [{"work": {"kind": "uniform", "load": 0.5, "message": "2048 B"}}],
    "sweep": {"job.0.work.load": [0.1, 0.2, 0.4]},
    "observe": {"links": True},
    "run": {"seeds": [1, 2], "end": "20 us"},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return fs.Study(CONTENT).run(out=tmp_path_factory.mktemp("face") / "r", progress=False)


def test_importing_imports_no_plotting_and_no_frames():
    code = "import sys, fabricsim; print([m for m in ('matplotlib', 'plotly', 'pandas', 'polars') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_commands_and_workers_load_no_pandas(tmp_path):
    # Whoever loads this one leaves a mark.
    (tmp_path / "pandas.py").write_text("import pathlib; pathlib.Path(__file__).with_suffix('.loaded').touch()")
    (tmp_path / "study.toml").write_text(fs.Study(CONTENT).source)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "fabricsim", "run", "study.toml", "--out", "r", "--quiet"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True)
    assert (tmp_path / "r" / "runs.parquet").exists()
    assert not (tmp_path / "pandas.loaded").exists()


def test_runs_and_reports_load_no_masked_arrays(tmp_path):
    # A fourteenth of the time of a small run; `np.unique` and `np.quantile` load them.
    (tmp_path / "study.toml").write_text(fs.Study(CONTENT).source)
    code = """
import atexit, runpy, sys, numpy
always = "numpy.ma" in sys.modules
atexit.register(lambda: sys.stderr.write(f"loaded: {not always and 'numpy.ma' in sys.modules}"))
sys.argv = ["fabricsim", "run", "study.toml", "--out", "r", "--quiet"]
runpy.run_module("fabricsim", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (tmp_path / "r" / "report.html").exists()
    assert done.stderr.endswith("loaded: False"), done.stderr


def test_workers_load_no_numpy():
    code = f"{_START}; sys.stderr.write(str([name for name in ('pyarrow', 'numpy') if name in sys.modules]))"
    words = [sys.executable, "-P", "-c", code, str(Path(fs.__file__).parents[1])]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert done.stderr == "['pyarrow']"


def test_results_have_a_row_per_run_with_units_in_the_names(results):
    assert results.ok
    assert len(results) == 6
    assert {
        "run_id",
        "seed",
        "job.0.work.load",
        "latency_ns.mean",
        "latency_ns.p99",
        "accepted_load",
        "verdict.ok",
    } <= set(results.runs.column_names)
    assert results.runs.column("seed").to_pylist() == [1, 2, 1, 2, 1, 2]


def test_tables_are_read_per_run_and_missing_ones_say_what_to_do(results):
    links = results.links(0)
    assert links.num_rows > 0
    assert float(np.max(links.column("utilisation").to_numpy())) <= 1.0
    cdf = results.cdf(results.records[0].id[:6]).column("fraction").to_numpy()
    assert np.all(np.diff(cdf) >= 0)
    with pytest.raises(KeyError, match=r"under \[observe\]"):
        results.messages(0)
    with pytest.raises(KeyError, match="no table"):
        results.table("weather")
    for wrong in ("zzz", "", 99):
        with pytest.raises(KeyError):
            results.record(wrong)


def test_frames_have_the_same_numbers(results):
    assert results.to_pandas()["latency_ns.mean"].tolist() == results.runs.column("latency_ns.mean").to_pylist()
    assert results.to_polars()["seed"].to_list() == [1, 2, 1, 2, 1, 2]


def test_a_second_run_reuses_everything(results):
    again = fs.Study(CONTENT).run(out=results.folder, progress=lambda report: pytest.fail("nothing should run"))
    assert [record.summary["digest"] for record in again] == [record.summary["digest"] for record in results]


def test_a_callback_can_stop_the_campaign_and_what_is_finished_stays(tmp_path):
    seen = []

    def stop(report):
        seen.append(report)
        return len(seen) < 3

    content = {**CONTENT, "topology": {"kind": "torus", "shape": [8, 8]}, "run": {"seeds": [1], "end": "100 ms"}}
    if fs.__version__.endswith("fake"):
        content["fake"] = {"seconds": 2.0}
    with pytest.raises(fs.CampaignInterrupted, match="kept"):
        fs.Study(content).run(out=tmp_path / "r", jobs=1, progress=stop)
    assert len(seen) >= 3, "one more may be under way"
    assert 0 <= seen[0]["campaign_fraction"] <= 1
    assert seen[0]["events_per_s"] is None
    assert seen[2]["events_per_s"] > 0
    assert len(fs.Results.open(tmp_path / "r")) < 3


def test_reprs_show_runs_and_errors(results):
    assert "6 of 6 runs, ok" in repr(results)
    assert "<table>" in results._repr_html_()
    assert "6 runs" in fs.Study(CONTENT)._repr_html_()
    assert "topology" in fs.Study.from_toml("name = 'x'\ntoplogy = 1\n")._repr_html_()


def test_a_wrong_study_raises_with_every_diagnostic():
    with pytest.raises(fs.StudyError) as caught:
        fs.Study.from_toml("toplogy = 1\n").expand()
    from fabricsim.errors import diagnostics_of

    found = diagnostics_of(caught.value)
    assert len(found) >= 1
    assert all(item.reason for item in found)
    report = fs.Study.from_toml("toplogy = 1\n").check()
    assert not report.ok
    assert report.diagnostics


def test_sets_variants_and_sweeps_make_new_studies():
    study = fs.Study(CONTENT)
    assert len(study.sweep({"routing.kind": ["dor", "rdr"]}).expand()) == 12
    assert len(study.expand()) == 6
    assert study.with_sets({"topology.shape": [8, 8]}).expand().hash != study.expand().hash
    with pytest.raises(TypeError, match="not set"):
        study.with_sets({"a": {1, 2}})
    with pytest.raises(ValueError, match="experiments"):
        fs.Study({**CONTENT, "experiment": {"a": {}}}).sweep({"x": [1]})


def test_opening_nothing_says_so(tmp_path):
    with pytest.raises(fs.ResultsError, match="no manifest"):
        fs.Results.open(tmp_path)


COLUMNS = st.lists(st.integers(0, 2**32 - 1), max_size=50)


@given(COLUMNS)
def test_columns_survive_the_way_into_arrow(values):
    whole, real = np.array(values, "<u4").tobytes(), np.array(values, "<f8").tobytes()
    table = table_of_columns([("a", "uint32", whole, None), ("b", "float64", real, None)])
    assert table.column("a").to_pylist() == values
    assert table.column("b").type == pa.float64()


def test_broken_columns_are_refused():
    with pytest.raises(ValueError, match="multiple"):
        table_of_columns([("a", "uint32", b"123", None)])
    with pytest.raises(pa.ArrowInvalid):
        table_of_columns([("a", "uint8", b"12", None), ("b", "uint8", b"1", None)])


def test_rows_of_different_experiments_share_a_table():
    def record(**more):
        return {
            "id": "0" * 12,
            "hash": "h",
            "experiment": "",
            "seed": 1,
            "sweep": [],
            "summary": {"verdict": {"ok": True}},
            **more,
        }

    table = runs_table(
        [record(sweep=[["a", "1"]]), record(sweep=[["b", "x"]]), record(summary={"verdict": {"ok": False}, "n": 2**63 + 1})]
    )
    assert table.column("a").to_pylist() == ["1", None, None]
    assert table.column("b").to_pylist() == [None, "x", None]
    assert table.column("n").to_pylist() == [None, None, 2**63 + 1]
    assert table.column("verdict.ok").to_pylist() == [True, True, False]


AXIS = {
    "25 GB/s": (25.0, "GB/s"), "200 Gbit/s": (25.0, "GB/s"), "1.5 us": (1500.0, "ns"), "16 KiB": (16384.0, "B"), "0.5": (0.5, ""),
    "[4, 4, 4]": (64.0, "product"), "ugal": None, "": None, "[a, b]": None, "12 parsec": None, "1e3 ps": (1.0, "ns"), "2 µs": (2000.0, "ns"),
    "2 \u03bcs": (2000.0, "ns"), "10 ns/B": (10.0, "ns/B"), "500 ps/B": (0.5, "ns/B"), "3 ns/s": None, "-3": (-3.0, ""),
}  # fmt: skip


@pytest.mark.parametrize("text", AXIS)
def test_quantities_become_axis_numbers(text):
    assert axis_value(text) == AXIS[text]


def _of_core(key, text):
    """Return what the core makes of a quantity: ps, bytes, bit/s or ps per byte."""
    section, _, name = key.partition(".")
    content = {"name": "u", "topology": {"kind": "ring", "routers": 4}, "run": {"stall_after": "1 s"}, section: {name: text}}
    canonical = json.loads(fs.Study(content).expand().runs[0].canonical)
    return {"link.latency": lambda: canonical["links"]["default"]["latency"],
            "link.bandwidth": lambda: canonical["links"]["default"]["bandwidth"],
            "nic.packet": lambda: canonical["nic"]["packet"],
            "nic.idle_delay_per_byte": lambda: canonical["nic"]["idle_delay_per_byte"]}[key]()  # fmt: skip


@pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="units are the real core's")
@pytest.mark.parametrize(
    ("key", "factor", "units"),
    [
        ("link.latency", 1e3, ["ps", "ns", "us", "µs", "\u03bcs", "ms"]),
        ("link.bandwidth", 8e9, ["Mbit/s", "Gbit/s", "Tbit/s", "MB/s", "GB/s", "TB/s", "MiB/s", "GiB/s", "TiB/s"]),
        ("nic.packet", 1, ["B", "KB", "kB", "KiB"]),
        ("nic.idle_delay_per_byte", 1e3, ["ps/B", "ns/B"]),
    ],
)
def test_units_are_those_of_the_core(key, factor, units):
    for unit in units:
        found = axis_value(f"8 {unit}")
        assert found is not None, unit
        assert found[0] * factor == pytest.approx(_of_core(key, f"8 {unit}"), rel=1e-9), unit


FORBIDDEN = [
    "__import__('os').system('true')", "open('x')", "().__class__", "[x for x in (1,)]", "lambda: 1", "value.__globals__", "value('a')[0]",
    "value(*['a'])", "value(**{'key': 'a'})", "f'{1}'", "x", "1 if True else 2", "value('a'", "", "(" * 5000, "1" * 3000, "{**{'a': 1}}",
    "9 // 2", "'a' % 1", "value(key := 'a')", "1 in [1]", "b'1'", "...", "1j",
]  # fmt: skip


@pytest.mark.parametrize("text", FORBIDDEN)
def test_the_language_of_measures_has_nothing_that_runs_code(text):
    with pytest.raises(MeasureError):
        parse(text)


def test_measures_measure(results):
    mean = evaluate("value('latency_ns.mean', where={'job.0.work.load': 0.1})", results)
    by_hand = [r.summary["latency_ns"]["mean"] for r in results if dict(r.run.sweep)["job.0.work.load"] == "0.1"]
    assert mean == pytest.approx(sum(by_hand) / 2)
    assert evaluate("increases('accepted_load', x='job.0.work.load')", results) is True
    assert evaluate("decreases('accepted_load', x='job.0.work.load')", results) is False
    assert evaluate("slope('accepted_load', x='job.0.work.load', log=True)", results) == pytest.approx(1.0, abs=0.15)
    assert evaluate("crossing('accepted_load', 0.15, x='job.0.work.load')", results) == pytest.approx(0.15, abs=0.03)
    assert evaluate("quantile_ratio('links', 'utilisation', high=1.0, low=0.5) >= 1 and not 1 > 2", results) is True
    assert evaluate(
        "2 * ratio('accepted_load', of={'job.0.work.load': '0.4'}, over={'job.0.work.load': '0.2'}) - 1", results
    ) == pytest.approx(3.0, abs=0.3)


UNMEASURABLE = [
    "value('nothing')", "value('digest')", "value('latency_ns.mean', experiment='nine')", "1 / 0", "'a' + 1", "value()", "value(1)", "10.0 ** 400",
    "quantile('messages', 'hops', 0.5)", "quantile('links', 'colour', 0.5)", "crossing('accepted_load', 99, x='job.0.work.load')",
    "increases('accepted_load', x='run.seed')", "slope('accepted_load', x='n_nodes')", "value('hops.mean', where=1)", "0.0 ** -1", "(-8) ** 0.5 > 1",
]  # fmt: skip


@pytest.mark.parametrize("text", UNMEASURABLE)
def test_what_cannot_be_measured_says_why(results, text):
    with pytest.raises(MeasureError):
        evaluate(text, results)


GOOD_CLAIM = {"id": "c", "paper": "p", "measure": "value('hops.mean')", "expect": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"measure": "boom()"},
        {"expect": "large"},
        {"tolerance": "big"},
        {"tolerance": -1},
        {"tolerance": "-5 %"},
        {"colour": 1},
        {"expect": [1]},
        {"measure": None},
    ],
)
def test_claims_that_cannot_be_judged_are_refused_before_the_run(change):
    validate_claim(GOOD_CLAIM)
    with pytest.raises(ClaimError, match="claim c"):
        validate_claim({**GOOD_CLAIM, **change})


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path):
    path = tmp_path / "a"
    atomic_write(path, "old")

    def half(handle):
        handle.write(b"new")
        raise OSError(28, "No space left on device")

    with pytest.raises(fs.DiskError, match="no space left"):
        atomic_write(path, half)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_figures_are_the_same_bytes_every_time(results, tmp_path):
    from fabricsim import plots

    for name, draw in {
        "sweep": results.plot_sweep,
        "cdf": results.plot_cdf,
        "links": results.plot_links,
        "hops": results.plot_hops,
    }.items():
        first = plots.save(draw(), tmp_path / f"{name}-1.svg").read_bytes()
        assert first == plots.save(draw(), tmp_path / f"{name}-2.svg").read_bytes()
        assert len(first) > 3000


def test_the_report_is_self_contained_and_cannot_be_broken_out_of(tmp_path):
    content = {**CONTENT, "name": "</script><script>alert(1)</script>", "description": "<img src=x onerror=alert(1)> & \u2028"}
    results = fs.Study(content).run(out=tmp_path / "r", progress=False)
    page = results.report().read_text()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "http://www.w3.org/2000/svg" in page
    assert "src=" not in page.replace("onerror", "").split('id="data"')[0]
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert data["study"]["name"] == content["name"]
    assert len(data["runs"]) == 6
    assert data["runs"][0]["links"]["hottest"]


def test_the_report_draws_and_names_the_links_of_the_network(tmp_path):
    # With four nodes each, links between routers carry twice as much as those to nodes.
    content = {**CONTENT, "topology": {**CONTENT["topology"], "nodes_per_router": 4}}
    results = fs.Study(content).run(out=tmp_path / "r", progress=False)
    data = report_data(results)
    network = fs.describe(results.records[0].run.canonical)
    names = LinkNames(network)
    between_routers = {(router, peer, names.get(router, port)) for router, port, peer, *_ in network["links"]}
    for run in data["runs"]:
        hottest = run["links"]["hottest"]
        assert len(hottest) == 10
        for name, _, router, peer in hottest:
            if peer < len(network["routers"]):
                assert (router, peer, name) in between_routers
            else:
                # A link to a node has the numbers of its ends for a name.
                assert name.startswith(f"router {router} port ")
        assert any(peer < len(network["routers"]) for *_, peer in hottest)
    ends = np.frombuffer(base64.b64decode(data["networks"][0]["ends"]), "<u4").reshape(-1, 2).tolist()
    assert ends == [[router, peer] for router, _, peer, *_ in network["links"]]
    assert len(base64.b64decode(data["runs"][0]["links"]["use"])) == len(ends)


def test_a_network_is_described_with_the_links_that_are_asked_for():
    run = fs.Study(CONTENT).expand().runs[0].canonical
    whole = fs.describe(run)
    asked = [whole["links"][place] for place in (7, 0, 5)]
    # A port to a node and one of no router are no links between routers.
    part = fs.describe(run, links=[*((link[0], link[1]) for link in asked), (0, 60000), (2**32 - 1, 0)])
    assert sorted(part["links"]) == sorted(asked)
    assert {**part, "links": []} == {**whole, "links": []} == fs.describe(run, links=())


def test_a_run_ahead_is_told_in_one_line():
    did = {
        "events_executed": 1_200_000,
        "events_rolled_back": 200_000,
        "events_committed": 1_000_000,
        "efficiency": 1 / 1.2,
        "events_safe": 300_000,
        "anti_events": 4_000,
        "rounds": 900,
        "deepest_round": 16,
        "peak_kept_bytes": 3 << 20,
    }
    line = speculation_line(did)
    for part in ("1.2 M events run", "efficiency 83.3 %", "900 rounds of up to 16 windows", "3.0 MiB kept"):
        assert part in line
