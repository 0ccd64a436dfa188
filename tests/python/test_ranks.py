"""What ranks did with their time: parts that make a whole, whoever counts them, and files that others read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fabricsim as fs
from fabricsim.analyses.ranks.as_trace import write_run_trace
from fabricsim.analyses.ranks.figure import MOST_BOXES, _boxes
from fabricsim.analyses.ranks.perfetto import write_perfetto

STUDY = """
name = "ranks"
topology = { kind = "torus", shape = [3, 3] }
job = [
    { nodes = 4, work = { kind = "sweep3d", grid = [20, 20, 20], compute = "100 ns" } },
    { nodes = 5, work = { kind = "collective", collective = "allreduce", message = "64 KiB", compute = "3 us", iterations = 2 } },
]
observe = { operations = true, ranks = true }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> fs.Results:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "s.toml").write_text(STUDY, encoding="utf-8")
    return fs.load(folder / "s.toml").run(out=folder / "out")


def test_the_parts_of_the_ranks_time_are_those_that_the_run_counts(results: fs.Results) -> None:
    """The summary of a job has them from the ranks' own counters, the analysis from tables of single operations and waits."""
    found = fs.rank_times(results)
    assert [job.job for job in found] == [0, 1]
    for job in found:
        summary = results.records[0].summary["jobs"][job.job]
        assert sum(job.shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert sum(job.path.values()) == pytest.approx(1.0, abs=1e-12)
        waiting = sum(job.shares[name] for name in ("late sender", "late receiver", "transfer"))
        assert waiting == pytest.approx(summary["wait_share"], abs=1e-9)
        assert job.shares["compute"] == pytest.approx(summary["compute_share"], abs=1e-9)
        assert job.shares["overhead"] == pytest.approx(summary["overhead_share"], abs=1e-9)
        assert job.time_ns == pytest.approx(summary["time_ns"])
        assert job.ranks == summary["ranks"]


def test_pairs_and_ranks_tell_the_same_waits(results: fs.Results) -> None:
    [job, _] = fs.rank_times(results, most=1000)
    ranks = results.table("ranks").to_pandas().query("job == 0").set_index("rank")
    for rank, own in ranks.wait_ns.items():
        assert sum(pair.wait_ns for pair in job.pairs if pair.rank == rank) == pytest.approx(own)
    for wait in job.worst:
        assert wait.share == pytest.approx(ranks.wait_ns[wait.rank] / ranks.finished_ns[wait.rank])


def test_observing_changes_nothing(results: fs.Results, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.replace("operations = true", "operations = false"), encoding="utf-8")
    without = fs.load(tmp_path / "s.toml").run(out=tmp_path / "out")
    assert without.records[0].summary["digest"] == results.records[0].summary["digest"]
    with pytest.raises(ValueError, match=r"observe\.operations = true"):
        fs.rank_times(without)


def test_many_boxes_become_slices_that_cover_as_much() -> None:
    begin = np.arange(0, 3_000_000, 1000)
    boxes = _boxes(begin, begin + 990, 3_000_000 / MOST_BOXES)
    assert len(boxes) == MOST_BOXES
    assert sum(width for _, width in boxes) == pytest.approx(3_000_000)
    assert _boxes(begin, begin + 10, 3_000_000 / MOST_BOXES) == []


def test_the_file_for_perfetto_has_every_operation_and_wait_by_its_own_schema(results: fs.Results, tmp_path: Path) -> None:
    schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    path = write_perfetto(results.records[0], tmp_path / "t.pftrace")
    trace = schema.Trace.FromString(path.read_bytes())
    operations = results.table("operations").to_pandas()
    waits = results.table("waits").to_pandas()
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    kinds = [packet.track_event.type for packet in events]
    slices = int((operations.begin_ps < operations.end_ps).sum()) + len(waits)
    assert kinds.count(schema.TrackEvent.TYPE_SLICE_BEGIN) == kinds.count(schema.TrackEvent.TYPE_SLICE_END) == slices
    tracks = {packet.track_descriptor.uuid for packet in trace.packet if packet.HasField("track_descriptor")}
    assert len(tracks) == 2 + len(operations.groupby(["job", "rank"]))
    open_slices: dict[int, list[str]] = {}
    last = 0
    for packet in events:
        assert packet.timestamp >= last
        last = packet.timestamp
        event = packet.track_event
        assert event.track_uuid in tracks
        own = open_slices.setdefault(event.track_uuid, [])
        if event.type == schema.TrackEvent.TYPE_SLICE_BEGIN:
            # A wait is a part of an operation, and nothing else is a part of one.
            assert len(own) == event.name.startswith("wait for"), (own, event.name)
            own.append(event.name)
        elif event.type == schema.TrackEvent.TYPE_SLICE_END:
            own.pop()
    assert not any(open_slices.values())
    arrows = [flow for packet in events for flow in packet.track_event.flow_ids]
    assert sorted(arrows) == sorted(flow for packet in events for flow in packet.track_event.terminating_flow_ids)
    assert len(arrows) == int((waits.late_ps > 0).sum())


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fabricsim", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_command_writes_files_and_a_report_and_says_what_it_cannot(results: fs.Results, tmp_path: Path) -> None:
    told = _command("ranks", str(results.folder), "--json", "--perfetto", str(tmp_path / "t.pftrace"))
    assert told.returncode == 0, told.stderr
    assert [job["ranks"] for job in json.loads(told.stdout)["ranks"]] == [4, 5]
    assert {path.name for path in (results.folder / "figures").iterdir()} == {
        f"ranks-{number}.{kind}" for number in (1, 2) for kind in ("svg", "png")
    }
    assert "What ranks did over time" in (results.folder / "report.html").read_text(encoding="utf-8")
    refused = _command("ranks", str(results.folder), "--run", "nonsense")
    assert refused.returncode == 2
    assert "no finished run with id 'nonsense'" in refused.stderr


def test_a_run_written_as_a_trace_is_read_by_the_library_and_played_with_the_same_times(tmp_path: Path) -> None:
    study = {
        "name": "halo",
        "topology": {"kind": "torus", "shape": [2, 4]},
        "job": [{"work": {"kind": "halo3d-26", "grid": [16, 16, 16], "vars": 2, "compute": "2 us", "iterations": 2}}],
        "mpi": {"eager": "1 KiB"},
        "observe": {"operations": True, "ranks": True},
    }
    results = fs.Study(study).run(out=tmp_path / "out")
    [record] = results.records
    [anchor], notes = write_run_trace(record, tmp_path / "otf2", to="otf2")
    [work], more = write_run_trace(record, tmp_path / "run.work", to="work")
    assert notes == more == []
    finished = results.table("ranks").to_pydict()["finished_ns"]
    for file in (anchor, work):
        again = fs.Study({**study, "job": [{"work": {"kind": "trace", "file": str(file)}}]}).run(
            out=tmp_path / f"again-{file.name}"
        )
        assert again.records[0].summary["digest"] == record.summary["digest"]
        assert again.table("ranks").to_pydict()["finished_ns"] == finished
    otf2 = pytest.importorskip("otf2")
    operations = results.table("operations").to_pandas()
    with otf2.reader.open(str(anchor)) as archive:
        assert archive.timer_resolution == 10**12
        sends: dict[int, list[int]] = {}
        for location, event in archive.events:
            if type(event).__name__ in ("MpiSend", "MpiIsend"):
                sends.setdefault(int(location.group.name.split()[-1]), []).append(event.msg_length)
    told = operations[operations.operation.isin(["send", "isend"])]
    assert {rank: sizes.tolist() for rank, sizes in told.groupby("rank").bytes} == sends


def test_a_trace_is_of_one_job_that_is_named(results: fs.Results, tmp_path: Path) -> None:
    folder, work, archive = str(results.folder), tmp_path / "a.work", tmp_path / "b"
    refused = _command("ranks", folder, "--trace", str(work))
    assert refused.returncode != 0
    assert "name it with --job" in refused.stderr
    written = _command("ranks", folder, "--job", "1", "--trace", str(work), "--otf2", str(archive))
    assert written.returncode == 0, written.stderr
    assert fs.Trace.open(work).info["ranks"] == 5
    assert (archive / "traces.otf2").exists()
    unknown = _command("ranks", folder, "--job", "7", "--trace", str(tmp_path / "c.work"))
    assert unknown.returncode != 0
    assert "job 7" in unknown.stderr


def _archive(path: Path) -> Path:
    """Write an archive of 2 ranks, as the library of OTF2 does: rank 1 waits in its solver for what rank 0 sends in its own."""
    otf2 = pytest.importorskip("otf2")
    kinds, mpi, user = otf2.enums, otf2.enums.Paradigm.MPI, otf2.enums.Paradigm.USER
    with otf2.writer.open(str(path), timer_resolution=10**9) as archive:
        define = archive.definitions
        root = define.system_tree_node("root node")
        main, solve = (define.region(name, paradigm=user) for name in ("main", "solve<double, 3>"))
        calls = [define.region(name, paradigm=mpi, region_role=kinds.RegionRole.POINT2POINT) for name in ("MPI_Send", "MPI_Recv")]
        groups = [define.location_group(f"MPI Rank {rank}", system_tree_parent=root) for rank in range(2)]
        places = [define.location(f"Master {rank}", group=group) for rank, group in enumerate(groups)]
        define.group("places", group_type=kinds.GroupType.COMM_LOCATIONS, paradigm=mpi, members=places)
        members = define.group("world", group_type=kinds.GroupType.COMM_GROUP, paradigm=mpi, members=places)
        world = define.comm("MPI_COMM_WORLD", group=members)
        for rank, times in enumerate(((30_000, 31_000, 35_000), (1_000, 2_000, 42_000))):
            events = archive.event_writer_from_location(places[rank])
            events.enter(0, main)
            events.enter(times[0], solve)
            events.enter(times[1], calls[rank])
            if rank == 0:
                events.mpi_send(31_100, 1, world, 7, 800)
            else:
                events.mpi_recv(40_000, 0, world, 7, 800)
            events.leave(times[2], calls[rank])
            events.leave(times[2], solve)
            events.leave(50_000, main)
    return path / "traces.otf2"


def test_regions_are_those_of_the_archive_with_the_times_of_then(tmp_path: Path) -> None:
    study = {
        "name": "app",
        "topology": {"kind": "torus", "shape": [2, 2]},
        "job": [{"work": {"kind": "trace", "file": str(_archive(tmp_path / "app"))}}],
        "observe": {"operations": True, "ranks": True},
    }
    results = fs.Study(study).run(out=tmp_path / "out")
    rows = {(row["rank"], row["region"]): row for row in results.table("regions").to_pylist()}
    assert set(rows) == {(rank, region) for rank in (0, 1) for region in ("main", "solve<double, 3>")}
    sent, came = rows[0, "solve<double, 3>"], rows[1, "solve<double, 3>"]
    us = 1_000_000
    assert [row["recorded_mpi_ps"] for row in (sent, came)] == [4 * us, 40 * us]
    assert [row["compute_ps"] for row in (sent, came)] == [row["recorded_compute_ps"] for row in (sent, came)] == [us, us]
    assert [rows[rank, "main"]["compute_ps"] for rank in (0, 1)] == [45 * us, 9 * us]
    assert {row["visits"] for row in rows.values()} == {1}
    finished = results.table("ranks").to_pydict()["finished_ns"]
    for rank, end in enumerate(finished):
        own = [row["compute_ps"] + row["wait_ps"] + row["mpi_ps"] for (other, _), row in rows.items() if other == rank]
        assert sum(own) == pytest.approx(end * 1e3)
    [job] = fs.rank_times(results)
    by_name = {region.region: region for region in job.regions}
    solver = by_name["solve<double, 3>"]
    assert (solver.visits, solver.recorded_mpi_ns, solver.rank) == (2, 44e3, 1)
    assert solver.wait_ns == came["wait_ps"] / 1e3 > 29e3
    assert solver.factor == pytest.approx((solver.wait_ns + solver.mpi_ns) / 44e3)
    assert by_name["main"].factor is None
    [told] = [sentence for sentence in job.sentences() if "recorded" in sentence]
    assert told.startswith(f"MPI is {1 / solver.factor:.3g} times as fast as when it was recorded")
    assert "solve<double, 3>" in told
    shown = _command("ranks", str(tmp_path / "out"))
    assert shown.returncode == 0, shown.stderr
    assert "solve" in shown.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Whom ranks wait for" in page


def test_work_without_regions_has_an_empty_table_of_the_same_columns(results: fs.Results) -> None:
    table = results.table("regions")
    assert table.num_rows == 0
    assert "recorded_mpi_ps" in table.column_names
    assert all(job.regions == () for job in fs.rank_times(results))


def test_the_cable_that_two_senders_share_is_named(tmp_path: Path) -> None:
    """Ranks 0 and 1 of a ring of 8 send to rank 3 at once: the message of rank 0 waits behind the other from router 1 to router 2."""
    rows = ["0,send,3,1000,", "1,send,3,1000,", "3,recv,0,1000,", "3,recv,1,1000,"]
    table = "\n".join(["rank,op,peer,bytes,time_ps", *rows, ""])
    study = {
        "name": "shared",
        "topology": {"kind": "torus", "shape": [8]},
        "router": {"model": "sculpin"},
        "link": {"bandwidth": "8 Gbit/s"},
        "nic": {"bandwidth": "80 Gbit/s"},
        "job": [{"work": {"kind": "ops", "ranks": 4, "table": table}}],
        "observe": {"operations": True},
    }
    [job] = fs.rank_times(fs.Study(study).run(out=tmp_path / "out"))
    [wait] = job.worst
    assert wait.rank == 3
    assert wait.cable == "(1) x+ → (2)"
    assert f"over {wait.cable}" in job.sentences()[0]
    assert job.to_json()["waiting"][0]["cable"] == wait.cable


def test_ranks_of_graphs_wait_and_the_parts_make_a_whole(tmp_path: Path) -> None:
    goal = tmp_path / "app.goal"
    goal.write_text(
        "num_ranks 2\nrank 0 {\na: calc 40000\nb: send 4096b to 1\nb requires a\n}\n"
        "rank 1 {\na: recv 4096b from 0\nb: calc 10000\nb requires a\nc: calc 50000 cpu 1\n}\n",
        encoding="utf-8",
    )
    study = {
        "name": "graph",
        "topology": {"kind": "torus", "shape": [2]},
        "job": [{"work": {"kind": "trace", "file": str(goal)}}],
        "observe": {"operations": True},
    }
    results = fs.Study(study).run(out=tmp_path / "out")
    [job] = fs.rank_times(results)
    assert sum(job.shares.values()) == pytest.approx(1.0, abs=1e-12)
    # The other lane of rank 1 computes for longer than it waits for its message.
    assert not job.worst
    one_lane = goal.read_text(encoding="utf-8").replace("c: calc 50000 cpu 1\n", "")
    goal.write_text(one_lane, encoding="utf-8")
    [job] = fs.rank_times(fs.Study(study).run(out=tmp_path / "again"))
    [wait] = job.worst
    assert (wait.rank, wait.peer) == (1, 0)
    assert wait.late_share > 0.95
    assert sum(job.shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert sum(job.path.values()) == pytest.approx(1.0, abs=1e-12)
