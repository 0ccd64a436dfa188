"""Runs shared by the ranks of a real MPI library: the same result on any number of ranks, and an end with words when a rank dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import WHOLE

MPIRUN = Path(sys.executable).parent / "mpirun"
FABRICSIM = Path(sys.executable).parent / "fabricsim"
#: Ranks that wait let others run: tests share two cores with much else.
PATIENT = {**os.environ, "MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}

pytestmark = pytest.mark.skipif(not MPIRUN.exists(), reason="no mpirun beside this Python: pip install mpich")

STUDY = """
name = "ranks"
topology = { kind = "torus", shape = [6, 5, 4] }
[[job]]
work = { kind = "uniform", load = 0.5, message = "5 KiB" }
[run]
end = "END"
warmup = "0 us"
[sweep]
"router.model" = ["credit", "sculpin"]
[observe]
links = true
messages = "full"
"""


def _study(folder: Path, end: str = "10 us", text: str = STUDY) -> Path:
    path = folder / "study.toml"
    path.write_text(text.replace("END", end))
    return path


def _command(ranks: int, study: Path, out: Path, *arguments: str) -> list[str]:
    launcher = [str(MPIRUN), "-n", str(ranks)] if ranks > 1 else []
    return [*launcher, str(FABRICSIM), "run", str(study), "--out", str(out), "--json", *arguments]


def _runs(out: Path) -> list[dict[str, object]]:
    return list(json.loads((out / "summary.json").read_text())["runs"])


def _finish(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=PATIENT)


TABLES = ("links.parquet", "messages.parquet", "cdf.parquet", "hops.parquet")


@pytest.mark.parametrize(
    ("ranks", "workers", "engine"),
    [
        (2, 1, "auto"),
        (3, 1, "auto"),
        (2, 2, "conservative"),
        (2, 1, "optimistic"),
        (3, 2, "optimistic"),
        (10, 1, "auto"),
        (9, 1, "optimistic"),
    ],
)
def test_ranks_give_the_result_of_one_process(tmp_path: Path, ranks: int, workers: int, engine: str) -> None:
    study = _study(tmp_path)
    outs = {n: tmp_path / f"out{n}" for n in (1, ranks)}
    for n, out in outs.items():
        how = ["--workers", str(workers), "--engine", engine] if n > 1 else []
        done = _finish(_command(n, study, out, *how))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["ok"]
    alone, shared = (_runs(outs[n]) for n in (1, ranks))
    assert len(alone) == len(shared) == 2
    for one, many in zip(alone, shared, strict=True):
        assert many["execution"]["workers"] == ranks * workers  # type: ignore[index]
        assert many["execution"]["messages_per_meeting"] > 0  # type: ignore[index]
        assert one["execution"]["messages_per_meeting"] is None  # type: ignore[index]
        assert many["engine"] == ("optimistic" if engine == "optimistic" else "conservative")
        for key in ("digest", "messages", "packets", "packet_hops", "events", "latency_ns", "hops", "accepted_load", "verdict"):
            assert one[key] == many[key], key
    for table in TABLES:
        assert (outs[1] / table).read_bytes() == (outs[ranks] / table).read_bytes(), table


def test_pairs_that_react_over_ranks(tmp_path: Path) -> None:
    text = """
name = "pairs"
topology = { kind = "hyperx", shape = [4, 4], nodes_per_router = 3 }
[[job]]
work = { kind = "pairs", matching = "mutual", mode = "batch", batch = 3, messages = 7, message = "5 KiB", ack = "64 B" }
"""
    study = _study(tmp_path, text=text)
    digests = []
    for ranks in (1, 2):
        out = tmp_path / f"out{ranks}"
        done = subprocess.run(_command(ranks, study, out), capture_output=True, text=True, timeout=300, check=False, env=PATIENT)
        assert done.returncode == 0, done.stderr
        digests.append(_runs(out)[0]["digest"])
    assert digests[0] == digests[1]


def test_a_study_that_cannot_run_is_told_once(tmp_path: Path) -> None:
    study = _study(tmp_path, text=STUDY.replace('"torus"', '"tours"'))
    done = subprocess.run(
        _command(2, study, tmp_path / "out"), capture_output=True, text=True, timeout=120, check=False, env=PATIENT
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("did you mean") == 1
    assert len(done.stdout.splitlines()) == 1


def _ranks_of(launcher: int) -> list[int]:
    """Return the processes below `launcher` that run fabricsim."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            grandparent = int((Path("/proc") / str(parent) / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if launcher in (parent, grandparent) and any(part.endswith(b"/fabricsim") for part in line):
            found.append(int(entry.name))
    return sorted(found)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_a_killed_rank_ends_the_job_and_finished_runs_stay(tmp_path: Path) -> None:
    # The first run is short, the second far too long.
    text = STUDY.replace('"router.model" = ["credit", "sculpin"]', '"run.end" = ["1 us", "80 ms"]').replace('end = "END"\n', "")
    study, out = _study(tmp_path, text=text), tmp_path / "out"
    with subprocess.Popen(_command(2, study, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PATIENT) as job:
        deadline = time.monotonic() + 120
        while not list(out.glob("runs/*.json")):
            assert job.poll() is None, job.stderr.read() if job.stderr else ""
            assert time.monotonic() < deadline
            time.sleep(0.1)
        ranks = _ranks_of(job.pid)
        assert len(ranks) >= 2
        os.kill(ranks[-1], signal.SIGKILL)
        said = job.communicate(timeout=60)
    assert job.returncode != 0
    assert b"BAD TERMINATION" in said[0] + said[1]
    # What was finished is kept and taken up.
    (finished,) = out.glob("runs/*.json")
    written = finished.stat().st_mtime_ns
    with subprocess.Popen(
        [str(FABRICSIM), "run", str(study), "--out", str(out), "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as again:
        time.sleep(5)
        again.send_signal(signal.SIGINT)
        again.communicate(timeout=60)
    assert again.returncode == 130
    assert finished.stat().st_mtime_ns == written


#: Long enough to be stopped on the way.
LONG = STUDY.replace('"router.model" = ["credit", "sculpin"]', '"router.model" = ["credit"]')
#: Its multiples are no borders of windows.
EVERY_PS = 99_999_937


def _header(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    length = int.from_bytes(data[24:28], "little")
    return dict(json.loads(data[28 : 28 + length]))


def _checkpoint(job: subprocess.Popen[bytes], out: Path) -> Path:
    """Return the checkpoint of the run in progress as soon as it is there."""
    deadline = time.monotonic() + 120
    while not (found := list(out.glob("runs/*.checkpoint"))):
        assert job.poll() is None, job.stderr.read() if job.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found[0]


def _same(one: Path, other: Path) -> None:
    assert _runs(one)[0]["digest"] == _runs(other)[0]["digest"]
    for table in TABLES:
        assert (one / table).read_bytes() == (other / table).read_bytes(), table


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the long study without a stop and return its folder, with the results in `out`."""
    folder = tmp_path_factory.mktemp("whole")
    done = _finish(_command(1, _study(folder, "1000 us", LONG), folder / "out"))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("again", [1, 3])
def test_a_killed_rank_costs_no_more_than_what_was_run_since_the_checkpoint(tmp_path: Path, whole: Path, again: int) -> None:
    study, out = whole / "study.toml", tmp_path / "out"
    command = _command(2, study, out, "--checkpoint-every", f"{EVERY_PS} ps")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PATIENT) as job:
        path = _checkpoint(job, out)
        os.kill(_ranks_of(job.pid)[-1], signal.SIGKILL)
        job.communicate(timeout=60)
    assert job.returncode != 0
    assert not list(out.glob("runs/*.json"))
    assert _header(path)["time_ps"] % EVERY_PS == 0  # type: ignore[operator]
    done = _finish(_command(again, study, out, "--resume"))
    assert done.returncode == 0, done.stderr
    _same(out, whole / "out")
    assert not path.exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("who", ["first", "last", "mpirun"] if WHOLE else ["last", "mpirun"])
def test_sigterm_has_all_ranks_write_a_checkpoint_and_stop(tmp_path: Path, whole: Path, who: str) -> None:
    study, out = whole / "study.toml", tmp_path / "out"
    # By simulated time, so that much is left to do behind the first checkpoint however fast or busy the machine is; and
    # far apart, because signals are looked at several times a second, not at every window.
    every_ps = 3 * EVERY_PS
    command = _command(2, study, out, "--checkpoint-every", f"{every_ps} ps", "--workers", "2")
    # A signal that comes right behind a regular checkpoint finds nothing new to save: such a run shows nothing, and is made again.
    for _ in range(3):
        shutil.rmtree(out, ignore_errors=True)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PATIENT) as job:
            path = _checkpoint(job, out)
            ranks = _ranks_of(job.pid)
            os.kill({"first": ranks[0], "last": ranks[-1], "mpirun": job.pid}[who], signal.SIGTERM)
            said = job.communicate(timeout=120)
        assert job.returncode != 0
        assert not list(out.glob("runs/*.json"))
        assert json.loads(said[0].splitlines()[0])["error"] == "interrupted", said
        assert b"1 more has a checkpoint" in said[0]
        assert b"Traceback" not in said[1]
        if at := _header(path)["time_ps"] % every_ps:  # type: ignore[operator]
            break
    assert at, "the last one was written because of the signal"
    done = _finish(_command(2, study, out, "--resume"))
    assert done.returncode == 0, done.stderr
    _same(out, whole / "out")


def test_a_checkpoint_that_cannot_be_used_is_told_once_and_ends_all_ranks(tmp_path: Path) -> None:
    study, out = _study(tmp_path), tmp_path / "out"
    done = _finish(_command(2, study, out, "--limit-runs", "1"))
    assert done.returncode == 0, done.stderr
    (record,) = out.glob("runs/*.json")
    record.with_suffix(".checkpoint").write_bytes(b"Lorem ipsum")
    record.unlink()
    done = _finish(_command(2, study, out, "--limit-runs", "1", "--resume"))
    assert done.returncode == 2, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert "remove the file to begin this run anew" in line
    assert "Traceback" not in done.stderr


def test_an_engine_that_ranks_cannot_share_is_refused_by_name(tmp_path: Path) -> None:
    done = _finish(_command(2, _study(tmp_path), tmp_path / "out", "--engine", "reference", "--limit-runs", "1"))
    assert done.returncode == 2, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert "run.engine" in line
    assert "run without mpirun" in line
    assert "Traceback" not in done.stderr


def test_several_processes_without_mpi_are_refused(tmp_path: Path) -> None:
    if shutil.which("env") is None:
        pytest.skip("needs env")
    done = subprocess.run(
        _command(1, _study(tmp_path), tmp_path / "out"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "OMPI_COMM_WORLD_SIZE": "4"},
    )
    assert done.returncode == 2
    assert "mpi4py sees one" in done.stderr or "MPI cannot be used" in done.stderr
