"""Traces of applications from Python and the command line: pyarrow as the other reader and writer, and what users meet."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim.traces import trace_formats

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/work-format.md"
GOAL = """\
num_ranks 3
rank 0 {
a: calc 1500
b: send 4096b to 1 tag 3
b requires a
c: send 8b to 2
}
rank 1 {
a: recv 4096b from 0 tag 3
b: calc 20 cpu 1
}
rank 2 {
a: recv 8b from -1 tag -1
}
"""


def run(folder, *arguments):
    command = [sys.executable, "-m", "fabricsim", "trace", *map(str, arguments)]
    ran = subprocess.run(
        command, cwd=folder, text=True, capture_output=True, timeout=120, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran


@pytest.fixture
def goal(tmp_path):
    path = tmp_path / "app.goal"
    path.write_text(GOAL)
    return path


def test_info_has_what_tools_rely_on(goal, tmp_path):
    ran = run(tmp_path, "info", "app.goal", "--json")
    assert (ran.returncode, ran.stdout.count("\n")) == (0, 1)
    found = json.loads(ran.stdout)
    assert found["format"] == "goal"
    assert found["ranks"] == 3
    assert found["operations"] == {"compute": 2, "recv": 2, "send": 2}
    assert found["bytes_sent"] == 4104
    assert found["compute_ns"] == 1520.0
    assert found["communicators"] == 1
    assert (found["unmatched_sends"], found["unmatched_receives"]) == (0, 0)
    assert found["problems"] == []
    assert found["records"] > 0


def test_a_trace_with_messages_that_match_nothing_is_not_complete(tmp_path):
    (tmp_path / "app.goal").write_text(GOAL.replace("c: send 8b to 2", "c: send 8b to 1 tag 9"))
    ran = run(tmp_path, "info", "app.goal", "--json")
    found = json.loads(ran.stdout)
    assert ran.returncode == 2
    assert (found["unmatched_sends"], found["unmatched_receives"]) == (1, 1)
    assert len(found["problems"]) == 2
    text = run(tmp_path, "info", "app.goal").stdout
    assert "1 send matches nothing" in text
    assert "3 ranks, 1 communicator, " in text
    assert "what does not match is listed above" in text


def test_info_of_a_broken_file_has_the_same_object_and_exit_code_2(tmp_path):
    (tmp_path / "cut.goal").write_text(GOAL[:60])
    ran = run(tmp_path, "info", "cut.goal", "--json")
    found = json.loads(ran.stdout)
    assert ran.returncode == 2
    assert found["format"] == "goal"
    assert found["problems"]
    assert "cut.goal" in found["problems"][0]
    for name in ("nothing.goal", "noise.bin"):
        (tmp_path / "noise.bin").write_bytes(bytes(range(256)))
        ran = run(tmp_path, "info", name, "--json")
        assert ran.returncode == 2
        assert json.loads(ran.stdout)["problems"]
        assert "NOT complete" in run(tmp_path, "info", name).stdout


def test_info_as_text_shows_pairs_and_counts(goal, tmp_path):
    text = run(tmp_path, "info", "app.goal").stdout
    assert "3 ranks" in text
    assert "1.52 us of computation" in text
    assert re.search(r"0\s+1\s+1\s+4\.0 KiB", text)
    assert text.rstrip().endswith("complete")


WRONG = {
    "format that is not there": (["info", "app.goal", "--format", "otf3"], "no format otf3"),
    "writer that is not there": (["convert", "app.goal", "out", "--to", "otf2"], "no format otf2 that can be written"),
    "out is there": (["convert", "app.goal", "app.goal"], "app.goal exists; choose another name, or --force"),
    "out is the trace": (["convert", "app.goal", "app.goal", "--force"], "is read, and cannot be written"),
    "no folder": (["convert", "app.goal", "a/b.work"], "there is no folder a"),
    "name of another format": (["convert", "app.goal", "app.otf2"], "app.otf2 is named as a format that is not written"),
    "no file": (["convert", "nothing", "b.work"], "cannot be read"),
    "no such repair": (["convert", "app.goal", "b.work", "--repair", "glue"], "--repair glue: there is drop"),
    "cut of nothing": (["cut", "app.goal", "b.work"], "say which part"),
    "ranks that are none": (["cut", "app.goal", "b.work", "--ranks", "1-2"], "write A..B"),
    "ranks beyond": (["cut", "app.goal", "b.work", "--ranks", "1..9"], "ranks 1..9 of a trace of 3 ranks"),
    "time without unit": (["cut", "app.goal", "b.work", "--from-time", "3"], "is no time"),
    "times the wrong way": (["cut", "app.goal", "b.work", "--from-time", "3 us", "--to-time", "3 us"], "is not before"),
    "times that are not told": (["cut", "app.goal", "b.work", "--to-time", "3 us"], "does not tell when operations began"),
    "region that is not there": (["cut", "app.goal", "b.work", "--region", "main"], 'no region "main"'),
    "network that is not there": (["run", "app.goal", "--topology", "teapot"], "teapot"),
    "no network": (["run", "app.goal"], "--topology"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_exits_2_with_a_reason(goal, tmp_path, case):
    arguments, words = WRONG[case]
    ran = run(tmp_path, *arguments)
    assert ran.returncode == 2, ran.stderr
    assert words in " ".join(ran.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "results") == ["app.goal"]


def test_convert_goes_there_and_back(goal, tmp_path):
    for out, to in (("a.work", "work"), ("b.bin", "goal-binary"), ("c.goal", "goal")):
        ran = run(tmp_path, "convert", "app.goal", out, "--json")
        done = json.loads(ran.stdout)
        assert (ran.returncode, done["to"], done["operations"], done["from"]) == (0, to, 6, "goal")
        found = json.loads(run(tmp_path, "info", out, "--json").stdout)
        assert (found["format"], found["bytes_sent"], found["compute_ns"]) == (to, 4104, 1520.0)
    assert run(tmp_path, "convert", "app.goal", "a.work", "--force").stdout == "a.work: 6 operations as work, from goal\n"


def test_repair_and_cut_say_what_they_left_out(tmp_path):
    (tmp_path / "app.goal").write_text(GOAL.replace("c: send 8b to 2", "c: send 8b to 1 tag 9"))
    ran = run(tmp_path, "convert", "app.goal", "out.work", "--repair", "drop")
    assert ran.returncode == 0
    assert "left out: 1 recv" in ran.stderr
    assert "left out: 1 send" in ran.stderr
    assert json.loads(run(tmp_path, "info", "out.work", "--json").stdout)["problems"] == []
    ran = run(tmp_path, "cut", "app.goal", "two.work", "--ranks", "1..3", "--json")
    done = json.loads(ran.stdout)
    assert done["left_out"] == {"recv": 1}
    assert "1 receive from any rank or of any tag stays as it is" in done["notes"][0]


def test_run_tells_how_long_a_trace_takes_on_a_network_by_name(tmp_path):
    ops = fs.Ops()
    for rank in range(4):
        ops.add(rank, "compute", time="20 us").add(rank, "irecv", peer=(rank - 1) % 4, bytes=1 << 20, request=1)
        ops.add(rank, "send", peer=(rank + 1) % 4, bytes=1 << 20).add(rank, "wait", request=1)
    ops.save(tmp_path / "ring.work")
    times = []
    for bandwidth in ("10 GB/s", "40 GB/s"):
        arguments = [
            "--topology",
            "torus-4",
            "--set",
            f"link.bandwidth={bandwidth}",
            "--out",
            f"at {bandwidth[:2]}",
            "--json",
            "-q",
        ]
        ran = run(tmp_path, "run", "ring.work", *arguments)
        found = json.loads(ran.stdout)
        assert (ran.returncode, found["ok"], len(found["runs"])) == (0, True, 1), ran.stderr
        times.append(found["time_ns"])
    # Each rank works for 20 us and takes 1 MiB, which a link carries no faster than its bandwidth.
    assert times[0] >= 20_000 + (1 << 20) / 10
    assert 20_000 + (1 << 20) / 40 <= times[1] < times[0]


def test_every_command_has_help_and_formats_are_listed(tmp_path):
    for command in ("info", "convert", "cut", "run", "formats"):
        assert "--json" in run(tmp_path, command, "--help").stdout
    names = [entry["name"] for entry in json.loads(run(tmp_path, "formats", "--json").stdout)["formats"]]
    assert {"work", "otf2", "dumpi", "goal", "goal-binary"} <= set(names)
    assert "work: fabricsim's file" in run(tmp_path, "formats").stdout


def _long_trace(path, operations):
    schema = pa.schema([("rank", pa.uint8()), ("kind", pa.string())], metadata={"fabricsim_work": "1", "ranks": "1"})
    piece = pa.record_batch([pa.array([0] * 65536, pa.uint8()), pa.array(["compute"] * 65536)], schema=schema)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for _ in range(operations // 65536):
            writer.write_batch(piece)


def test_ctrl_c_ends_a_conversion_and_leaves_nothing(tmp_path):
    _long_trace(tmp_path / "long.work", 30_000_000)
    command = [sys.executable, "-m", "fabricsim", "trace", "convert", "long.work", "out.work", "-q"]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE)
    begun = time.monotonic()
    while not list(tmp_path.glob(".out.work.*")):
        assert process.poll() is None
        assert time.monotonic() - begun < 60
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "interrupted" in err
    assert [path.name for path in tmp_path.iterdir()] == ["long.work"]


def test_a_terminal_shows_a_bar_and_a_pipe_shows_none(tmp_path):
    _long_trace(tmp_path / "long.work", 6_000_000)
    ran = run(tmp_path, "info", "long.work", "--json")
    assert "\r" not in ran.stderr
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "fabricsim", "trace", "info", "long.work", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}
    ) as ran:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(master)
    assert b"reading long.work" in shown


def test_the_page_on_the_format_runs_as_written(tmp_path):
    text = re.search(r"<!-- file: write_work.py -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    (tmp_path / "write_work.py").write_text(text)
    subprocess.run([sys.executable, "write_work.py"], cwd=tmp_path, check=True)
    trace = fs.Trace.open(tmp_path / "mine.work")
    assert trace.problems == []
    assert trace.info["operations"] == {"compute": 2, "recv": 1, "send": 1}
    assert trace.info["form"] == "graph"
    assert trace.info["dependencies"] == 2
    assert trace.info["time_in_regions"][0]["region"] == "solve"
    assert trace.info["compute_ns"] == 8000.0


def test_the_page_names_every_column_and_kind(goal, tmp_path):
    table = fs.Trace.open(goal).operations
    page = PAGE.read_text()
    for field in table.schema:
        assert f"| `{field.name}` |" in page
    for column in ("kind", "mode"):
        for word in table[column].chunk(0).dictionary.to_pylist():
            assert f"`{word}`" in page, word


def test_pyarrow_validates_what_is_written_and_maps_it(goal, tmp_path):
    trace = fs.Trace.open(goal).convert(tmp_path / "it.work")
    before = pa.total_allocated_bytes()
    table = trace.operations
    assert pa.total_allocated_bytes() - before < 4096
    table.validate(full=True)
    rows = table.select(["rank", "kind", "peer", "tag", "bytes", "time", "lane", "after"]).to_pylist()
    assert rows == [
        {"rank": 0, "kind": "compute", "peer": None, "tag": None, "bytes": None, "time": 1_500_000, "lane": 0, "after": None},
        {"rank": 0, "kind": "send", "peer": 1, "tag": 3, "bytes": 4096, "time": 0, "lane": 0, "after": [0]},
        {"rank": 0, "kind": "send", "peer": 2, "tag": 0, "bytes": 8, "time": 0, "lane": 0, "after": None},
        {"rank": 1, "kind": "recv", "peer": 0, "tag": 3, "bytes": 4096, "time": 0, "lane": 0, "after": None},
        {"rank": 1, "kind": "compute", "peer": None, "tag": None, "bytes": None, "time": 20_000, "lane": 1, "after": None},
        {"rank": 2, "kind": "recv", "peer": None, "tag": None, "bytes": 8, "time": 0, "lane": 0, "after": None},
    ]


def _rewrite(table, path, *, metadata=None, **options):
    schema = table.schema if metadata is None else table.schema.with_metadata(metadata)
    with pa.OSFile(str(path), "wb") as file:
        with pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table.cast(schema), max_chunksize=2)
    return fs.Trace.open(path)


def test_rows_that_pyarrow_writes_are_the_same_whatever_types_it_takes(goal, tmp_path):
    trace = fs.Trace.open(goal).convert(tmp_path / "it.work")
    table = trace.operations
    wide = [pa.field(field.name, _wide(field.type)) for field in table.schema]
    kinds = table.schema.set(1, pa.field("kind", pa.large_string()))
    for name, other in {
        "same": table,
        "wide": table.cast(pa.schema(wide, table.schema.metadata)),
        "texts": table.cast(kinds),
        "few columns": table.select(["kind", "rank", "bytes", "peer", "tag", "time", "after", "lane"]),
    }.items():
        written = _rewrite(other, tmp_path / f"{name}.work")
        assert written.problems == [], name
        again = written.convert(tmp_path / f"{name} again.work").operations
        left = [column for column in table.column_names if column != "record"]
        assert again.select(left).to_pylist() == table.select(left).to_pylist(), name


def _wide(kind):
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int64(), pa.large_string())
    if pa.types.is_list(kind):
        return pa.large_list(pa.int64())
    return pa.int64()


def test_what_pyarrow_writes_otherwise_is_refused_with_a_hint(goal, tmp_path):
    table = fs.Trace.open(goal).convert(tmp_path / "it.work").operations
    known = table.schema.metadata
    cases = {
        "packed": (_rewrite(table, tmp_path / "packed.work", compression="zstd"), "without compression"),
        "version": (_rewrite(table, tmp_path / "2.work", metadata={**known, b"fabricsim_work": b"2"}), "newer fabricsim"),
        "no ranks": (_rewrite(table, tmp_path / "3.work", metadata={b"fabricsim_work": b"1"}), "`ranks` is missing"),
        "fewer ranks": (_rewrite(table, tmp_path / "4.work", metadata={**known, b"ranks": b"2", b"communicators": b"[[0,1]]"}), "rank 2 of 2 ranks"),
        "misspelt": (_rewrite(table.rename_columns([{"peer": "pier"}.get(n, n) for n in table.column_names]), tmp_path / "5.work", metadata=known), "no column `pier`"),
        "no kind": (_rewrite(table.drop_columns(["kind"]), tmp_path / "6.work", metadata=known), "column `kind` is missing"),
        "a float": (_rewrite(table.set_column(2, "peer", pa.array([1.5] * len(table))), tmp_path / "7.work", metadata=known), "cast it to whole numbers"),
        "negative": (_rewrite(table.set_column(2, "peer", pa.array([-1] * len(table))), tmp_path / "8.work", metadata=known), "negative"),
        "a kind": (_rewrite(table.set_column(1, "kind", pa.array(["fly"] * len(table))), tmp_path / "9.work", metadata=known), '"fly" is none of compute, send'),
    }  # fmt: skip
    for name, (trace, words) in cases.items():
        assert not trace.info["complete"], name
        assert words in trace.problems[-1], (name, trace.problems)
        with pytest.raises(fs.TraceError):
            _ = trace.operations


def test_a_changed_byte_is_told(goal, tmp_path):
    path = fs.Trace.open(goal).convert(tmp_path / "it.work").path
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    trace = fs.Trace.open(path)
    assert not trace.info["complete"]
    with pytest.raises(fs.TraceError, match="write it again") as caught:
        trace.convert(tmp_path / "other.work")
    assert json.loads(caught.value.problem)["file"] == str(path)
    assert not (tmp_path / "other.work").exists()


def test_a_graph_says_what_is_wrong_where_it_is_written():
    graph = fs.Graph(2)
    node = graph.compute(0, "1 us")
    for wrong, words in (
        (lambda: fs.Graph(0), "1 to"),
        (lambda: graph.compute(2, "1 us"), "rank 2 of a graph of 2 ranks"),
        (lambda: graph.compute(0, "1"), "is no time"),
        (lambda: graph.send(0, 2, 8), "to 2 of a graph"),
        (lambda: graph.send(0, 1, "8"), "is no size"),
        (lambda: graph.send(0, 1, -8), "is no size"),
        (lambda: graph.send(0, 1, 8, tag=-1), "tag -1"),
        (lambda: graph.send(0, 1, 8, lane=256), "lane 256"),
        (lambda: graph.compute(1, "1 us", after=[node]), "cannot wait for an operation of rank 0"),
        (lambda: graph.collective(0, "allredoce", 8), "no collective"),
        (lambda: graph.collective(0, "bcast", 8), "bcast has a root"),
        (lambda: graph.collective(0, "barrier", root=0), "barrier has no root"),
        (lambda: graph.collective(0, "bcast", 8, root=2), "root 2"),
        (lambda: graph.barrier(0, communicator=1), "no communicator 1"),
        (lambda: graph.communicator([0, 0]), "each once"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
    with pytest.raises(TypeError, match="not 0"):
        graph.compute(0, "1 us", after=[0])
    assert len(graph) == 1


def test_a_graph_is_saved_with_all_that_it_says(tmp_path):
    graph = fs.Graph(3)
    pair = graph.communicator([2, 0])
    first = graph.compute(2, "1.5 us", lane=3)
    graph.recv(2, None, tag=None, after=[first])
    graph.send(1, 2, "2 KiB", tag=4)
    for rank in (2, 0):
        graph.collective(rank, "bcast", "1 kB", root=1, communicator=pair, after_start=[first] if rank == 2 else [])
    trace = graph.save(tmp_path / "it.work")
    assert trace.problems == []
    found = trace.info
    assert (found["communicators"], found["dependencies"], found["bytes_sent"]) == (2, 2, 2048)
    again = trace.convert(tmp_path / "again.work").operations
    assert again.select(["rank", "kind", "peer", "communicator", "bytes"]).to_pylist()[-1] == {
        "rank": 2, "kind": "bcast", "peer": 1, "communicator": 1, "bytes": 1000,
    }  # fmt: skip


def test_operations_are_saved_as_the_same_kind_of_file(tmp_path):
    ops = fs.Ops().add(0, "compute", time="2 us").add(0, "send", peer=1, bytes=4096).add(1, "recv", peer="any", bytes=4096)
    trace = ops.save(tmp_path / "it.work")
    assert trace.info["form"] == "program"
    assert trace.operations.select(["rank", "kind", "bytes"]).to_pylist() == [
        {"rank": 0, "kind": "compute", "bytes": None},
        {"rank": 0, "kind": "send", "bytes": 4096},
        {"rank": 1, "kind": "recv", "bytes": 4096},
    ]


def test_what_is_wrong_with_a_file_is_a_warning_where_the_rest_is_converted(tmp_path):
    path = tmp_path / "app.goal"
    path.write_text(GOAL.replace("c: send 8b to 2", "c: calc 7\nc requires c"))
    with pytest.warns(fs.TraceWarning, match="waits for itself"):
        fs.Trace.open(path).convert(tmp_path / "it.work")


def test_every_format_is_explained():
    for entry in trace_formats():
        assert entry["line"]
        assert entry["files"]
        assert entry["source"]


def test_flows_in_parquet_are_those_of_the_same_text(tmp_path):
    import pyarrow.parquet as parquet

    columns = {
        "id": ["a", "b", "7", "007"],
        "source": [0, 1, 2, 0],
        "destination": [1, 2, 0, 2],
        "bytes": [1000, 2**33, 5, 64],
        "time_ns": [0.0, 2.5, None, 1e3],
        "after": [None, "a", "a;b", "7"],
    }
    parquet.write_table(pa.table(columns), tmp_path / "flows.parquet")
    rows = ["a,0,1,1000,0,", "b,1,2,8589934592,2.5,a", "7,2,0,5,,a;b", "007,0,2,64,1000,7"]
    (tmp_path / "flows.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    for name in ("flows.parquet", "flows.csv"):
        ran = run(tmp_path, "convert", name, f"{name}.work")
        assert ran.returncode == 0, ran.stderr
    first, second = (fs.Trace.open(tmp_path / f"flows.{ending}.work") for ending in ("parquet", "csv"))
    # A record is a row of the one, a line of the other.
    assert first.operations.drop_columns("record").equals(second.operations.drop_columns("record"))
    assert (first.info["bytes_sent"], first.problems) == (1000 + 2**33 + 5 + 64, [])
    info = json.loads(run(tmp_path, "info", "flows.parquet", "--json").stdout)
    assert (info["format"], info["complete"], info["records"]) == ("flows", True, 4)
    content = {
        "name": "flows",
        "topology": {"kind": "single-router", "nodes": 3},
        "job": [{"work": {"kind": "trace", "file": str(tmp_path / "flows.parquet")}}],
    }
    [record] = fs.Study(content).run(out=tmp_path / "results", progress=False).records
    assert record.summary["jobs"][0]["finished"] == 3
    parquet.write_table(pa.table({"source": ["1,\n2"], "destination": [0], "bytes": [1]}), tmp_path / "odd.parquet")
    ran = run(tmp_path, "convert", "odd.parquet", "odd.work")
    assert ran.returncode != 0
    assert "no Parquet table of numbers and words" in ran.stderr
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "flows.parquet").read_bytes()[:100])
    ran = run(tmp_path, "convert", "torn.parquet", "torn.work")
    assert ran.returncode != 0
    assert "no Parquet table" in ran.stderr
    assert not (tmp_path / "torn.work").exists()


def test_the_formats_of_traces_are_one_list(tmp_path):
    listed = subprocess.run(
        [sys.executable, "-m", "fabricsim", "list", "trace-format", "--json"],
        text=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    known = {entry["name"]: entry for entry in json.loads(listed.stdout)["trace-format"]}
    assert list(known) == [entry["name"] for entry in trace_formats()]
    assert all(known[entry["name"]]["files"] == entry["files"] for entry in trace_formats())
    (tmp_path / "app.goal").write_text(GOAL)
    assert "did you mean goal" in run(tmp_path, "info", "app.goal", "--format", "gaol").stderr


def test_visits_and_markers_are_parts(tmp_path):
    """The words of `trace cut` and of `Trace.cut` make the same part."""
    (tmp_path / "app.goal").write_text(GOAL)
    for options in (["--visits", "0..2"], ["--visits", "2", "--region", "x"], ["--from-marker", "x"], ["--to-marker", "x"]):
        ran = run(tmp_path, "cut", "app.goal", "out.work", *options)
        assert ran.returncode != 0, options
        assert not (tmp_path / "out.work").exists()
    trace = fs.Trace.open(tmp_path / "app.goal")
    with pytest.raises(fs.TraceError, match="the trace has no regions"):
        trace.cut(tmp_path / "out.work", region="x", visits=range(0, 2))
    with pytest.raises(ValueError, match="visits of a part follow each other"):
        trace.cut(tmp_path / "out.work", region="x", visits=range(0, 4, 2))
