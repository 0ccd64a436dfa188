"""MPI ranks on the Python face: jobs and ranks as tables, operations as data."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fabricsim as fs
from fabricsim import plots
from fabricsim._text import runs_text
from fabricsim.measures import MeasureError, evaluate
from fabricsim.ops import is_frame
from fabricsim.report import report_data

pytestmark = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="ranks need the real core")

HALO = {"kind": "halo3d-26", "grid": [8, 8, 8], "vars": 2, "compute": "3 us"}
PLAIN = {"topology": {"kind": "single-router", "nodes": 4}, "router": {"model": "sculpin"}}


def _study(job, **more):
    return fs.Study({"name": "ranks", **PLAIN, "job": job if isinstance(job, list) else [job], **more})


@pytest.fixture(scope="module")
def two_jobs(tmp_path_factory):
    jobs = [
        {"name": "halo", "work": HALO, "nodes": 2, "ranks_per_node": 4},
        {"name": "ring", "work": {"kind": "ring", "message": "4 KiB", "iterations": 3}, "nodes": 2},
    ]
    return _study(jobs, observe={"ranks": True}).run(out=tmp_path_factory.mktemp("ranks") / "r", progress=False)


def test_jobs_are_a_table_and_the_first_one_is_in_the_row_of_its_run(two_jobs):
    jobs = two_jobs.jobs.to_pylist()
    assert [(job["job"], job["name"], job["ranks"], job["finished"]) for job in jobs] == [(0, "halo", 8, 8), (1, "ring", 2, 2)]
    assert jobs[0]["compute_ns"] == 3000.0
    for job in jobs:
        assert job["compute_share"] + job["wait_share"] + job["overhead_share"] == pytest.approx(1)
    row = two_jobs.runs.to_pylist()[0]
    assert row["jobs.0.time_ns"] == jobs[0]["time_ns"]
    assert row["jobs.0.wait_share"] == jobs[0]["wait_share"]
    assert "jobs" not in row
    assert two_jobs.records[0].value("jobs.1.time_ns") == jobs[1]["time_ns"]
    with pytest.raises(KeyError):
        two_jobs.records[0].value("jobs.2.time_ns")
    assert pq.read_table(two_jobs.folder / "jobs.parquet").equals(two_jobs.jobs)


def test_ranks_are_a_table_that_adds_up_to_the_jobs(two_jobs):
    ranks = two_jobs.ranks().to_pandas()
    assert list(ranks.groupby("job")["rank"].apply(list)) == [list(range(8)), [0, 1]]
    assert ranks[ranks.job == 0].node.nunique() == 2
    for job in two_jobs.jobs.to_pylist():
        own = ranks[ranks.job == job["job"]]
        assert own.finished_ns.max() == job["time_ns"]
        assert own.finished_ns.min() == job["first_ns"]
        for name in ("compute_ns", "wait_ns", "overhead_ns"):
            assert own[name].mean() == pytest.approx(job[name])
        for name in ("messages", "bytes", "local_messages", "local_bytes"):
            assert own[name].sum() == job[name]
    assert pq.read_table(two_jobs.folder / "ranks.parquet").num_rows == 10


def test_without_ranks_jobs_have_figures_of_their_messages(tmp_path):
    results = _study({"work": {"kind": "uniform", "load": 0.1}}, run={"end": "5 us"}).run(out=tmp_path / "r", progress=False)
    assert results.jobs.num_rows == 1
    assert results.jobs.column("measured").to_pylist() == results.runs.column("measured").to_pylist()
    assert "ranks" not in results.jobs.column_names
    assert "jobs.0.time_ns" not in results.runs.column_names
    with pytest.raises(KeyError, match=r"under \[observe\]"):
        results.ranks()


def test_what_is_recorded_does_not_change_a_run_that_records_nothing():
    plain, recorded = (_study({"work": HALO}, observe=observe).expand().runs[0] for observe in ({}, {"ranks": True}))
    assert '"ranks":true' not in plain.canonical
    assert plain.hash != recorded.hash
    assert plain.hash == _study({"work": HALO}, observe={"ranks": False}).expand().runs[0].hash


def test_the_report_and_the_table_show_the_times_of_jobs(two_jobs, capsys):
    runs_text(two_jobs)
    shown = capsys.readouterr().out
    times = [job["time_ns"] / 1e3 for job in two_jobs.jobs.to_pylist()]
    assert "time of the job [us]" in shown
    assert " / ".join(f"{time:,.2f}" for time in times) in shown
    assert report_data(two_jobs)["runs"][0]["summary"]["jobs"][1]["name"] == "ring"


def _exchange():
    """Four ranks: each computes, then all exchange 4 KiB round a ring, and meet in a barrier."""
    ops = fs.Ops()
    for rank in range(4):
        ops.add(rank, "compute", time="1.5 us")
        ops.add(rank, "irecv", peer=(rank - 1) % 4, bytes=4096).add(rank, "isend", peer=(rank + 1) % 4, bytes=4096)
        ops.add(rank, "waitall").add(rank, "barrier")
    return ops


def test_a_table_of_operations_is_work(tmp_path):
    ops = _exchange()
    assert len(ops) == 20
    results = _study({"work": ops}).run(out=tmp_path / "r", progress=False)
    (job,) = results.jobs.to_pylist()
    assert (job["ranks"], job["finished"], job["compute_ns"]) == (4, 4, 1500.0)
    assert job["bytes"] >= 4 * 4096
    # The same from a file beside the study, and from frames.
    (tmp_path / "ops.csv").write_text(ops.to_csv())
    rows = [{name: int(cell) if cell.isdecimal() else cell for name, cell in row.items()} for row in ops]
    columns = {name: [row.get(name) for row in rows] for name in ("rank", "op", "peer", "bytes", "time_ps")}
    frame = pa.table(columns)
    works = [{"kind": "ops", "file": "ops.csv"}, {"kind": "ops", "table": ops}, {"kind": "ops", "table": frame}, frame]
    works += [frame.to_pandas()]
    polars = pytest.importorskip("polars")
    works += [polars.from_arrow(frame)]
    for number, work in enumerate(works):
        study = fs.Study({"name": "ranks", **PLAIN, "job": [{"work": work}]}, base_dir=tmp_path)
        again = study.run(out=tmp_path / f"r{number}", progress=False)
        assert again.records[0].summary["digest"] == results.records[0].summary["digest"], work


def test_iterations_and_sweeps_of_tables(tmp_path):
    ops = _exchange()
    results = _study({"work": {"kind": "ops", "table": ops, "iterations": 3}}).run(out=tmp_path / "r", progress=False)
    assert results.jobs.to_pylist()[0]["compute_ns"] == 4500.0
    longer = _exchange().add(0, "compute", time="7 us")
    swept = _study({"work": ops}).sweep({"job.0.work": [ops, longer]}).run(out=tmp_path / "s", progress=False)
    first, second = swept.jobs.column("time_ns").to_pylist()
    # Rank 0 is not later than the last one when the 7 us begin.
    assert first < second <= first + 7000.0


def test_mistakes_in_tables_name_their_rows():
    ops = fs.Ops().add(0, "send", peer=1, bytes=100).add(1, "recv", peer=0, bytes=100).add(1, "sned", peer=0)
    found = _study({"work": ops}).check()
    assert not found.ok
    (one,) = found.diagnostics
    assert one.key == "job[0].work.table"
    assert 'row 2: there is no operation "sned"' in one.reason
    unmatched = fs.Ops().add(0, "send", peer=1, bytes=100).add(1, "compute", time="1 us")
    assert "row 0: " in _study({"work": unmatched}).check().diagnostics[0].reason
    wrong = pa.table({"rank": [0], "op": ["compute"], "lenght": [3]})
    assert "header: " in _study({"work": wrong}).check().diagnostics[0].reason
    for work in ({"kind": "ops"}, {"kind": "ops", "file": "a.csv", "table": ops}):
        assert "of operations" in _study({"work": work}).check().diagnostics[0].reason


def test_operations_are_refused_where_they_cannot_be_read():
    with pytest.raises(ValueError, match="is no time"):
        fs.Ops().add(0, "compute", time="3")
    with pytest.raises(ValueError, match="whole number of picoseconds"):
        fs.Ops().add(0, "compute", time="0.1 ps")
    with pytest.raises(ValueError, match="comma"):
        fs.Ops().add(0, "send,recv")
    with pytest.raises(TypeError, match="frame"):
        fs.Ops([1, 2])
    assert not is_frame({"columns": 1})


def test_keys_are_swept_together():
    job = {"work": HALO, "ranks_per_node": 1}
    sweep = {"job.0.ranks_per_node, job.0.work.iterations": [[1, 4], [2, 2], [4, 1]], "run.seed": [1, 2]}
    study = _study(job, sweep=sweep)
    points = [dict(run.sweep) for run in study.expand().runs]
    assert len(points) == 6
    assert [(p["job.0.ranks_per_node"], p["job.0.work.iterations"]) for p in points[::2]] == [("1", "4"), ("2", "2"), ("4", "1")]
    fixed = study.with_sets({"job.0.work.iterations": 5}).expand().runs
    assert [dict(run.sweep)["job.0.ranks_per_node"] for run in fixed] == ["1", "1", "2", "2", "4", "4"]
    for rows, words in (([[1]], "1 values for 2 keys"), ([3], "2 keys need 2 values")):
        found = _study(job, sweep={"job.0.ranks_per_node, job.0.work.iterations": rows}).check()
        assert words in found.diagnostics[0].reason
    twice = _study(job, sweep={"run.seed, routing.kind": [[1, "minimal"]], "routing.kind": ["minimal"]}).check()
    assert json.dumps([str(d) for d in twice.diagnostics]).count("swept twice") == 1


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two networks, two bandwidths, two sizes of a message, one run each."""
    sweep = {
        "topology, job.0.ranks_per_node": [
            [{"kind": "single-router", "nodes": 4}, 1],
            [{"kind": "hyperx", "shape": [4], "nodes_per_router": 1}, 1],
        ],
        "link.bandwidth": ["10 GB/s", "40 GB/s"],
        "job.0.work.message": ["4 KiB", "64 KiB"],
    }
    job = {"work": {"kind": "ring", "message": "4 KiB"}}
    return _study(job, sweep=sweep).run(out=tmp_path_factory.mktemp("grid") / "r", progress=False)


KEY = "'jobs.0.time_ns'"


def test_ratios_are_taken_pair_by_pair(grid):
    def time(kind, bandwidth, message):
        wanted = {"topology.kind": kind, "link.bandwidth": bandwidth, "job.0.work.message": message}
        (found,) = [r.value("jobs.0.time_ns") for r in grid if all(str(r.value(k)) == v for k, v in wanted.items())]
        return found

    kinds, sizes = ("single-router", "hyperx"), ("4 KiB", "64 KiB")
    pairs = [time(kind, "10 GB/s", size) / time(kind, "40 GB/s", size) for kind in kinds for size in sizes]
    text = f"ratios({KEY}, of={{'link.bandwidth': '10 GB/s'}}, over={{'link.bandwidth': '40 GB/s'}}, per=['topology.kind', 'job.0.work.message']"
    assert evaluate(text + ", pick='least')", grid) == pytest.approx(min(pairs))
    assert evaluate(text + ", pick='greatest')", grid) == pytest.approx(max(pairs))
    assert evaluate(text + ")", grid) == pytest.approx(np.exp(np.mean(np.log(pairs))))
    between = [max(time(k, "10 GB/s", s) for k in kinds) / min(time(k, "10 GB/s", s) for k in kinds) for s in sizes]
    text = f"spread({KEY}, among='topology.kind', per=['job.0.work.message'], where={{'link.bandwidth': '10 GB/s'}}, pick='greatest')"
    assert evaluate(text, grid) == pytest.approx(max(between))
    for wrong in (
        f"ratios({KEY}, of={{}}, over={{}}, per=['topology.kind'], pick='middle')",
        f"spread({KEY}, among='job.0.ranks_per_node', per=['topology.kind'])",
        "ratios('saturated', of={}, over={}, per=[])",
    ):
        with pytest.raises(MeasureError):
            evaluate(wrong, grid)


def test_bars_are_divided_by_the_run_that_is_named(grid):
    over = {"topology.kind": "single-router", "link.bandwidth": "10 GB/s", "job.0.work.message": "4 KiB"}
    x = ["job.0.work.message"]
    figure = plots.bars(grid, x=x, group="topology.kind", panels="link.bandwidth", over=over)
    first, second = figure.axes
    assert [len(axes.patches) for axes in (first, second)] == [4, 4]
    assert first.patches[0].get_height() == 1.0
    assert second.patches[0].get_height() < 1.0
    only = plots.bars(grid, x=[*x, "link.bandwidth"], group="topology.kind", only=[["64 KiB", "10 GB/s"]], over=over)
    assert [patch.get_height() for patch in only.axes[0].patches] == [p.get_height() for p in first.patches[1::2]]
    with pytest.raises(ValueError, match="no run"):
        plots.bars(grid, x=x, group="topology.kind", experiments=["other"])
