"""Replays of traces are one run: on every engine and number of workers, after a checkpoint, and shared by the ranks of a real MPI library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fabricsim as fs
from conftest import REAL, WHOLE, kill_with_children

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

MPIRUN = Path(sys.executable).parent / "mpirun"
#: Ranks that wait let others run: tests share two cores with much else.
PATIENT = {**os.environ, "MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}
RANKS = 24
#: All ways of running (`make parity`), or one of each kind.
#: Its multiples are no borders of windows.
EVERY_PS = 39_999_937

STUDY = """
name = "replayed"
topology = {{ kind = "torus", shape = [4, 3, 2] }}
[router]
model = "{model}"
[mpi]
eager = "3 kB"
[[job]]
ranks_per_node = 2
work = {{ kind = "trace", file = "{file}", iterations = {iterations} }}
[observe]
messages = "full"
"""


def _calls(path: Path) -> None:
    """Write a trace of calls: messages of both protocols, receives from anybody, waits, tests and collectives."""
    ops = fs.Ops()
    for me in range(RANKS):
        after, before = (me + 5) % RANKS, (me - 5) % RANKS
        ops.add(me, "compute", time=f"{300 + me} ns")
        ops.add(me, "irecv", peer=before, bytes=9000, request=1).add(me, "irecv", peer="any", bytes=200, request=2)
        ops.add(me, "isend", peer=after, bytes=9000, request=3).add(me, "isend", peer=me ^ 1, bytes=200, request=4)
        ops.add(me, "test", request=1).add(me, "wait", request=1).add(me, "waitall")
        ops.add(me, "sendrecv", peer=after, source=before, bytes=5000)
        ops.add(me, "allreduce", bytes=700).add(me, "bcast", peer=3, bytes=4000)
    ops.save(path)


def _graph(path: Path) -> None:
    """Write a trace that is a graph: messages and collectives of two lanes, and what starts when others do."""
    graph = fs.Graph(RANKS)
    for me in range(RANKS):
        after, before = (me + 5) % RANKS, (me - 5) % RANKS
        first = graph.compute(me, f"{300 + me} ns")
        sent = graph.send(me, after, 9000, after=[first])
        inner = graph.compute(me, "2 us", after=[first])
        got = graph.recv(me, before, 9000)
        near = graph.send(me, me ^ 1, 200, tag=1, after=[inner])
        far = graph.recv(me, me ^ 1, 200, tag=1)
        met = graph.allreduce(me, 700, after=[got, near])
        graph.collective(me, "bcast", 4000, root=3, after=[met, far, sent])
    graph.save(path)


KINDS = {"calls": _calls, "graph": _graph}


@pytest.fixture(scope="module", params=[("calls", "credit"), ("graph", "sculpin")], ids="-".join)
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a trace and its study; return the folder."""
    kind, model = request.param
    folder = tmp_path_factory.mktemp(f"{kind}-{model}")
    KINDS[kind](folder / "app.work")
    (folder / "study.toml").write_text(STUDY.format(model=model, file="app.work", iterations=3))
    (folder / "long.toml").write_text(STUDY.format(model=model, file="app.work", iterations=100))
    return folder


def _command(study: Path, out: Path, *arguments: str, ranks: int = 1) -> list[str]:
    launcher = [str(MPIRUN), "-n", str(ranks)] if ranks > 1 else []
    run = [sys.executable, "-m", "fabricsim", "run", str(study), "--out", str(out), "--json", "--no-report", "--jobs", "1"]
    return [*launcher, *run, *arguments]


def _answer(study: Path, out: Path, *arguments: str, ranks: int = 1) -> dict[str, object]:
    """Run a study and return what every way of running it has to agree on."""
    command = _command(study, out, *arguments, ranks=ranks)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=PATIENT)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((out / "summary.json").read_text())["runs"]
    keys = ("digest", "messages", "packets", "packet_hops", "events", "latency_ns", "jobs", "verdict")
    return {key: run[key] for key in keys}


@pytest.fixture(scope="module")
def answer(study: Path) -> dict[str, object]:
    """Run the study on the sequential engine."""
    found = _answer(study / "study.toml", study / "sequential", "--engine", "sequential")
    assert found["messages"] > 3 * RANKS  # type: ignore[operator]
    return found


WORKERS = (1, 2, 4) if WHOLE else (2,)
ENGINES = [
    *([("reference", 1)] if WHOLE else []),
    ("rollback-check", 1),
    *(("conservative", workers) for workers in WORKERS),
    *(("optimistic", workers) for workers in WORKERS),
]
#: Numbers of ranks and their engine.
SHARED = [(2, "conservative"), (4, "conservative"), (2, "optimistic"), (4, "optimistic")] if WHOLE else [(2, "conservative")]


def test_every_engine_and_number_of_workers_gives_one_answer(study: Path, answer: dict[str, object], tmp_path: Path) -> None:
    for engine, workers in ENGINES:
        how = ["--engine", engine, *(["--workers", str(workers)] if workers > 1 else [])]
        assert _answer(study / "study.toml", tmp_path / f"{engine}-{workers}", *how) == answer, (engine, workers)


@pytest.mark.skipif(not MPIRUN.exists(), reason="no mpirun beside this Python: pip install mpich")
def test_ranks_of_mpi_give_the_answer_of_one_process(study: Path, answer: dict[str, object], tmp_path: Path) -> None:
    for ranks, engine in SHARED:
        found = _answer(study / "study.toml", tmp_path / f"{engine}-{ranks}", "--engine", engine, ranks=ranks)
        assert found == answer, (ranks, engine)


def _stopped(study: Path, out: Path) -> Path:
    """Start a long run, stop it behind a checkpoint and return that."""
    command = _command(study, out, "--checkpoint-every", f"{EVERY_PS} ps", "--engine", "sequential")
    # A busy machine may let a run end before it is stopped: such a run shows nothing, and is made again.
    for _ in range(5):
        shutil.rmtree(out, ignore_errors=True)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=PATIENT) as job:
            deadline = time.monotonic() + 120
            while not list(out.glob("runs/*.checkpoint")) and job.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            # A worker that lived on would write on while its folder is copied.
            said = kill_with_children(job)
        if found := list(out.glob("runs/*.checkpoint")):
            return found[0]
    pytest.fail(f"no run could be stopped on its way: {said.decode()}")


def test_what_a_checkpoint_resumes_on_any_engine_and_on_ranks_ends_as_if_never_stopped(study: Path, tmp_path: Path) -> None:
    whole = _answer(study / "long.toml", tmp_path / "whole", "--engine", "sequential")
    ways = [("conservative", 2, 1), ("optimistic", 2, 1)]
    if WHOLE:
        ways += [("reference", 1, 1), ("rollback-check", 1, 1), ("sequential", 1, 1)]
    if MPIRUN.exists():
        ways += [("conservative", 1, 2), ("conservative", 1, 4)] if WHOLE else [("conservative", 1, 2)]
    stopped = _stopped(study / "long.toml", tmp_path / "stopped")
    for engine, workers, ranks in ways:
        out = tmp_path / f"{engine}-{workers}-{ranks}"
        shutil.copytree(tmp_path / "stopped", out)
        checkpoint = out / "runs" / stopped.name
        how = ["--engine", engine, *(["--workers", str(workers)] if workers > 1 else []), "--resume"]
        assert _answer(study / "long.toml", out, *how, ranks=ranks) == whole, (engine, workers, ranks)
        assert not checkpoint.exists()
