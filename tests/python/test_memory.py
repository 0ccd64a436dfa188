"""Memory nodes on the Python face: what a run tells, what limits it in words, accesses as data, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim import plots
from fabricsim._metrics import default_metric
from fabricsim._text import runs_text
from fabricsim.errors import diagnostics_of
from fabricsim.report import report_data

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")


def _study(work, **more):
    return fs.Study(
        {
            "name": "memory",
            "topology": {"kind": "ring", "routers": 4},
            "link": {"bandwidth": "8 GB/s", "latency": "20 ns"},
            "router": {"traversal": "10 ns"},
            "job": [{"work": {"kind": "memory", **work}}],
            **more,
        }
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return _study({"accesses": 50}).run(out=tmp_path_factory.mktemp("plain") / "r", progress=False)


def test_a_summary_tells_where_the_time_of_an_access_went(plain):
    (record,) = plain.records
    memory = record.summary["memory"]
    assert (memory["nodes"], memory["cores"], memory["accesses"], memory["stores"]) == (4, 16, 800, 0)
    beyond = ("request", "request_wait", "forward", "forward_wait", "response", "response_wait", "inside", "directory", "owner")
    parts = [*beyond, "memory_wait", "memory", "protocol"]
    assert sum(memory[f"{part}_ns"] for part in parts) == pytest.approx(memory["beyond_ns"])
    whole = memory["l1_ns"] + memory["l2_ns"] + memory["bus_ns"] + memory["beyond_ns"]
    assert whole == pytest.approx(memory["latency_ns"])
    assert memory["latency_ns"] <= memory["latency_max_ns"] <= memory["time_ns"]
    assert memory["by_l1"] + memory["by_l2"] + memory["by_neighbour"] + memory["by_message"] == pytest.approx(1)
    # Caches of eight lines hold hardly any of 2^26: every access reads memory, a quarter of them its own.
    assert memory["memory_reads"] == 800
    assert record.value("memory.time_ns") == memory["time_ns"]
    assert default_metric(record) == "memory.time_ns"


BOTTLENECKS = {
    "latency": ({"outstanding": 1}, {"latency": "2 us"}, "the way through an idle network", True),
    "outstanding accesses": ({"outstanding": 2}, {"latency": "200 ns", "bandwidth": "100 GB/s"}, "an idle network", True),
    "issue": ({"outstanding": 16, "issue": "5 us"}, {}, "an idle network", False),
    "memory bandwidth": ({"memory_bandwidth": "100 MB/s"}, {}, "waiting for memory: its bandwidth", True),
    "memory latency": ({"memory_latency": "10 us", "memory_bandwidth": "1000 GB/s"}, {}, "memory itself: its latency", True),
    "links": ({"accesses": 120, "memory_bandwidth": "1000 GB/s"}, {"bandwidth": "100 MB/s"}, "waiting for links", True),
    "lines": (
        {"accesses": 120, "pattern": "hot-spot", "hot_fraction": 1.0, "stores": 100},
        {},
        "other accesses to the same lines",
        True,
    ),
}


@pytest.mark.parametrize("case", BOTTLENECKS)
def test_a_run_says_what_limits_it(tmp_path, case, capsys):
    work, link, words, full = BOTTLENECKS[case]
    base = {"bandwidth": "8 GB/s", "latency": "20 ns"}
    results = _study({"accesses": 40, **work}, link={**base, **link}).run(out=tmp_path / "r", progress=False)
    sentence = results.records[0].summary["memory"]["bottleneck"]
    assert words in sentence
    assert ("cores have no place for another access" in sentence) is full
    runs_text(results)
    assert sentence in capsys.readouterr().out


def test_the_report_has_what_limits_a_run(plain):
    sentence = plain.records[0].summary["memory"]["bottleneck"]
    assert report_data(plain)["runs"][0]["summary"]["memory"]["bottleneck"] == sentence
    page = plain.report().read_text()
    assert sentence in page
    assert "Memory nodes" in page


def test_accesses_are_a_table_a_file_or_a_frame(tmp_path):
    rows = {"core": [0, 4, 0], "address": [0, 1 << 30, 1 << 30], "op": ["store", "load", "load"], "time_ps": [0, 0, 50_000_000]}
    text = "core,address,op,time_ps\n0,0x0,store,\n4,0x40000000,load,0\n0,1073741824,load,50000000\n"
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "s.toml").write_text(
        'name = "memory"\ntopology = { kind = "ring", routers = 4 }\n'
        'link = { bandwidth = "8 GB/s", latency = "20 ns" }\nrouter = { traversal = "10 ns" }\n'
        'job = [{ work = { kind = "memory", pattern = "listed", file = "a.csv" } }]\n'
    )
    studies = [_study({"pattern": "listed", "table": table}) for table in (text, pa.table(rows))]
    found = [
        study.run(out=tmp_path / f"r{i}", progress=False).records[0].summary
        for i, study in enumerate([*studies, fs.load(tmp_path / "s.toml")])
    ]
    assert len({summary["digest"] for summary in found}) == 1
    memory = found[0]["memory"]
    assert (memory["accesses"], memory["stores"], memory["memory_reads"]) == (3, 1, 2)
    # The last one comes from node 1, which has the line for itself, to node 0: issued at 50 us.
    assert 50_000 < memory["time_ns"] < 50_300


def test_a_producers_lines_go_to_its_consumer_and_edges_to_neighbours(tmp_path):
    def counts(name, work):
        caches = {"l1": "4 KiB", "l2": "16 KiB"}
        results = _study({"accesses": 64, "outstanding": 1, **caches, **work}).run(out=tmp_path / name, progress=False)
        memory = results.records[0].summary["memory"]
        return memory["accesses"], memory["stores"], memory["owner_ns"] > 0

    # Lines come from the caches of those who have written them.
    assert counts("pairs", {"pattern": "producer-consumer", "shared_lines": 4}) == (16 * 64, 8 * 64, True)
    assert counts("stencil", {"pattern": "stencil", "edge": 2}) == (16 * 64, 8 * 64, True)
    assert counts("random", {"stores": 50})[2] is False


REFUSED = {
    "no such pattern": ({"pattern": "strid"}, "pattern", "did you mean `stride`"),
    "key of another pattern": ({"pattern": "random", "stride": "64 B"}, "stride", "pattern"),
    "cache of half a set": ({"l1": "192 B"}, "l1", "no whole number of sets"),
    "memory of half a line": ({"memory": "100 B"}, "memory", "no whole number of lines"),
    "no accesses": ({"accesses": 0}, "accesses", "0"),
    "too many cores": ({"cores": 33}, "cores", "33"),
    "bare number": ({"memory_bandwidth": 8}, "memory_bandwidth", "unit"),
    "grid of other cores": ({"pattern": "stencil", "grid": [3, 5]}, "grid", "3 x 5 make 15 cores, the job has 16"),
    "grid of one side": ({"pattern": "stencil", "grid": [16]}, "grid", "a grid has two"),
    "no table": ({"pattern": "listed"}, "file", "no table of accesses"),
    "no such core": (
        {"pattern": "listed", "table": "core,address,op\n0,0,load\n16,0,load\n"},
        "table",
        "row 1: there is no core 16",
    ),
    "no such address": ({"pattern": "listed", "table": "core,address,op\n0,4294967296,load\n"}, "table", "there is no address"),
    "no such operation": ({"pattern": "listed", "table": "core,address,op\n0,0,read\n"}, "table", 'row 0: op is "read"'),
    "no such column": ({"pattern": "listed", "table": "core,adress,op\n0,0,load\n"}, "table", "header: there is no column"),
    "count of a list": ({"pattern": "listed", "accesses": 3, "table": "core,address,op\n0,0,load\n"}, "accesses", "pattern"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_with_its_key(case):
    work, key, words = REFUSED[case]
    with pytest.raises(fs.StudyError) as error:
        _study(work).expand()
    told = [one for one in diagnostics_of(error.value) if one.key.endswith(f"work.{key}")]
    assert told, str(error.value)
    assert any(words in f"{one.reason} {one.hint}" for one in told), str(error.value)


TOO_MUCH = {
    "edges": {"pattern": "stencil", "edge": 64},
    "shared lines": {"pattern": "producer-consumer", "shared_lines": 200},
    "distance": {"pattern": "producer-consumer", "shared_lines": 2, "distance": 16},
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_lines_and_cores_that_are_not_there_are_refused(tmp_path, case):
    study = _study({"memory": "32 KiB", **TOO_MUCH[case]})
    with pytest.raises(fs.StudyError):
        study.run(out=tmp_path / "r", progress=False)


def test_a_speedup_is_the_time_of_the_run_compared_with_over_that_of_the_point(tmp_path):
    bandwidths = [["1 GB/s", "1 GB/s"], ["4 GB/s", "4 GB/s"]]
    study = _study(
        {"accesses": 20},
        sweep={
            "topology": [{"kind": "ring", "routers": 4}, {"kind": "single-router", "nodes": 4}],
            "link.bandwidth, job.0.work.memory_bandwidth": bandwidths,
        },
    )
    results = study.run(out=tmp_path / "r", progress=False)
    times = {(r.value("topology.kind"), r.value("link.bandwidth")): r.value("memory.time_ns") for r in results.records}

    def drawn(speedup):
        figure = plots.sweep(results, x="link.bandwidth", y="memory.time_ns", group=["topology.kind"], speedup=speedup)
        (axes,) = figure.axes
        lines = {container.get_label(): container.lines[0].get_ydata(orig=False) for container in axes.containers}
        return axes.get_ylabel(), lines

    label, lines = drawn({"link.bandwidth": "1 GB/s"})
    assert label == "speedup"
    for kind in ("ring", "single-router"):
        np.testing.assert_allclose(lines[f"topology = {kind}"], [1, times[kind, "1 GB/s"] / times[kind, "4 GB/s"]])
    assert lines["topology = ring"][1] > 1.5
    label, lines = drawn({"topology.kind": "single-router"})
    assert label == "relative performance"
    expected = [times["single-router", at] / times["ring", at] for at, _ in bandwidths]
    np.testing.assert_allclose(lines["topology = ring"], expected)
    with pytest.raises(ValueError, match="no run to compare with"):
        drawn({"link.bandwidth": "3 GB/s"})
