"""Programs of real MPI processes, recorded by a recorder of our own, are read out of three formats as what they did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import fabricsim as fs
from conftest import REAL
from recorded.writers import chakra_set, goal_text, otf2_archive

MPIRUN = Path(sys.executable).parent / "mpirun"
PROGRAM = Path(__file__).parent / "recorded" / "program.py"
RANKS = 4

pytestmark = [
    pytest.mark.skipif(not REAL, reason="needs the real core"),
    pytest.mark.skipif(not MPIRUN.exists(), reason="no mpirun beside this Python: pip install mpich"),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Rows of each rank, by program."""
    found = {}
    for name in ("stencil", "allreduce"):
        folder = tmp_path_factory.mktemp(name)
        command = [str(MPIRUN), "-n", str(RANKS), sys.executable, str(PROGRAM), name, str(folder)]
        patient = {**os.environ, "MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}
        subprocess.run(command, check=True, timeout=120, env=patient)
        found[name] = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(RANKS)]
    return found


def counted(rows, *kinds):
    """Return how often a rank does each, with what size and to whom, as the recorder has it."""
    return Counter((row["kind"], row["bytes"], row.get("peer"), row.get("tag", 0)) for row in rows if row["kind"] in kinds)


def read(trace, names):
    """Return the same of each rank of a trace, whose kinds have these names."""
    found = [Counter() for _ in range(trace.info["ranks"])]
    for row in trace.operations.to_pylist():
        if kind := names.get(row["kind"]):
            peer = None if kind == "allreduce" else row["peer"]
            found[row["rank"]][kind, row["bytes"], peer, row["tag"] or 0] += 1
    return found


def sound(trace):
    assert (trace.problems, trace.info["ranks"]) == ([], RANKS)
    return trace


@pytest.mark.parametrize("program", ["stencil", "allreduce"])
def test_an_archive_has_the_calls_that_the_program_made(recorded, tmp_path, program):
    pytest.importorskip("otf2")
    ranks = recorded[program]
    trace = sound(fs.Trace.open(otf2_archive(ranks, tmp_path / "archive")))
    kinds = ("isend", "irecv", "allreduce")
    assert read(trace, {kind: kind for kind in kinds}) == [counted(rows, *kinds) for rows in ranks]
    waits = sum(row["kind"] == "waitall" for rows in ranks for row in rows)
    assert trace.info["operations"].get("waitall", 0) == waits
    # Calls of a rank are in the order in which it made them.
    mine = [
        row["kind"]
        for row in trace.operations.to_pylist()
        if row["rank"] == 1 and row["kind"] not in ("compute", "enter", "leave")
    ]
    assert mine == [row["kind"] for row in ranks[1]]
    # What it computes is the time between its calls.
    gaps = sum(max(0, b["begin"] - a["end"]) for rows in ranks for a, b in pairwise(rows))
    assert trace.info["compute_ns"] == gaps


@pytest.mark.parametrize("program", ["stencil", "allreduce"])
def test_execution_traces_have_the_operations_that_the_program_did(recorded, tmp_path, program):
    ranks = recorded[program]
    trace = sound(fs.Trace.open(chakra_set(ranks, tmp_path, collectives=True)))
    names = {"send": "isend", "recv": "irecv", "allreduce": "allreduce"}
    assert read(trace, names) == [counted(rows, *names.values()) for rows in ranks]


def test_a_goal_graph_has_the_messages_of_the_program(recorded, tmp_path):
    ranks = recorded["stencil"]
    trace = sound(fs.Trace.open(goal_text(ranks, tmp_path / "app.goal")))
    names = {"send": "isend", "recv": "irecv"}
    assert read(trace, names) == [counted(rows, *names.values()) for rows in ranks]


def replayed(path, folder):
    """Return the ends of all ranks of a replay, and its messages."""
    content = {
        "name": "replay",
        "topology": {"kind": "torus", "shape": [2, 2]},
        "job": [{"work": {"kind": "trace", "file": str(path)}}],
    }
    results = fs.Study(content).run(out=folder, progress=False)
    [record] = results.records
    [job] = record.summary["jobs"]
    return job["time_ns"], job["mean_ns"], job["first_ns"], job["messages"], job["bytes"], record.summary["digest"]


def test_the_same_graph_in_two_formats_is_the_same_run(recorded, tmp_path):
    ranks = recorded["stencil"]
    (tmp_path / "et").mkdir()
    execution = chakra_set(ranks, tmp_path / "et", collectives=False)
    goal = goal_text(ranks, tmp_path / "app.goal")
    found = [replayed(path, tmp_path / f"results of {path.suffix[1:]}") for path in (goal, execution)]
    assert found[0] == found[1]
    assert found[0][3:5] == (2 * RANKS * 4, 2 * RANKS * (1000 + 2000 + 3000 + 4000))


def test_a_recording_of_calls_is_replayed_as_the_calls_are(recorded, tmp_path):
    pytest.importorskip("otf2")
    ranks = recorded["stencil"]
    archive = otf2_archive(ranks, tmp_path / "archive")
    ops = fs.Ops()
    for rank, rows in enumerate(ranks):
        # A location of an archive begins with its first event.
        end = rows[0]["begin"]
        for row in rows:
            ops.add(rank, "compute", time=f"{row['begin'] - end} ns")
            end = row["end"]
            match row["kind"]:
                case "waitall":
                    ops.add(rank, "waitall")
                case "allreduce":
                    ops.add(rank, "allreduce", bytes=row["bytes"])
                case kind:
                    ops.add(rank, kind, peer=row["peer"], bytes=row["bytes"], tag=row["tag"], request=row["request"])
    own = ops.save(tmp_path / "own.work").path
    found = [replayed(path, tmp_path / name) for path, name in ((archive, "a"), (own, "b"))]
    assert found[0][:5] == found[1][:5]
