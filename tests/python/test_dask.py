"""Campaigns on a real Dask scheduler with worker processes of their own, on loopback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from conftest import FAKE, REAL, wait_until

pytest.importorskip("distributed")

#: Workers that say nothing, and that do not outlive a test that was killed.
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s",
}


def _environment(core: str, folder: Path) -> dict[str, str]:
    environment = {**os.environ, **QUIET, "TMPDIR": str(folder)}
    if core == "fake":
        path = os.pathsep.join(filter(None, [str(FAKE), os.environ.get("PYTHONPATH", "")]))
        environment |= {"FABRICSIM_TEST_CORE": "fake", "PYTHONPATH": path}
    return environment


class Cluster:
    """A scheduler and workers, each worker with a folder for temporary files of its own."""

    def __init__(self, folder: Path, core: str, stack: ExitStack) -> None:
        self.folder, self.core, self.stack = folder, core, stack
        self.file = folder / "scheduler.json"
        self.workers: list[tuple[subprocess.Popen[bytes], Path]] = []
        self.scheduler = self.start(
            "scheduler", "--port", "0", "--no-dashboard", "--no-show", "--host", "127.0.0.1", folder=folder
        )
        deadline = time.monotonic() + 60
        while (address := self._written()) is None:
            assert self.scheduler.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = address

    def _written(self) -> str | None:
        """Return the address in the file of the scheduler, which is there before anything is in it."""
        try:
            address: str = json.loads(self.file.read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return address

    def start(self, what: str, *arguments: str, folder: Path, core: str | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments, "--scheduler-file", str(self.file)]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(core or self.core, folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def add_worker(self, *arguments: str, core: str | None = None) -> Path:
        """Start a worker of one thread and return its folder, in which its runs live."""
        folder = self.folder / f"worker{len(self.workers)}"
        folder.mkdir()
        process = self.start(
            "worker", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60", *arguments, folder=folder, core=core
        )
        self.workers.append((process, folder))
        return folder

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)


@pytest.fixture
def cluster(tmp_path):
    @contextmanager
    def make(core, workers, *arguments):
        with ExitStack() as stack:
            (tmp_path / "cluster").mkdir()
            found = Cluster(tmp_path / "cluster", core, stack)
            for _ in range(workers):
                found.add_worker(*arguments)
            if workers:
                found.wait_for_workers(workers)
            yield found

    return make


def runs_in(folder):
    return list(folder.glob("fabricsim-run-*"))


def finished(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "runs").glob("*.json")}


def digests(out):
    return [(run["id"], run["digest"]) for run in json.loads((out / "summary.json").read_text())["runs"]]


def test_a_worker_killed_in_the_middle_costs_its_run_only_and_nothing_is_repeated(shell, cluster):
    study = shell.study(loads="0.1, 0.2, 0.3, 0.4", fake="seconds = 3.0")
    out = shell.folder / "r"
    with cluster("fake", 2, "--no-nanny") as dask:
        job = shell.start("run", study, "--out", "r", "--dask", dask.address)
        process, folder = dask.workers[0]
        # Three seconds from here on its run is in the middle.
        wait_until(lambda: runs_in(folder), job)
        process.send_signal(signal.SIGKILL)
        _, err = job.communicate(timeout=120)
        assert job.returncode == 0, err
        assert len(finished(out)) == 4
        assert runs_in(dask.workers[1][1]) == [], "a run takes its folder with it"
        before = finished(out)
        again = shell("run", study, "--out", "r", "--dask", dask.address, "--resume")
        assert again.code == 0, again.err
        assert "4 finished already" in again.err
        assert finished(out) == before
    assert shell("run", study, "--out", "here", "--jobs", "4").code == 0
    assert digests(out) == digests(shell.folder / "here")
    for name in ("messages.parquet", "links.parquet", "timeline.parquet"):
        assert (out / name).read_bytes() == (shell.folder / "here" / name).read_bytes(), name


def test_a_run_that_takes_its_worker_with_it_is_given_up_and_costs_no_other(shell, cluster):
    text = (
        'name = "mixed"\n[topology]\nkind = "torus"\nshape = [4, 4]\n[fake]\nseconds = 1.0\ncrash = "bad"\n'
        '[experiment.bad]\nset = { "fake.seconds" = 0.5 }\n[experiment.good]\nsweep = { "run.x" = [1] }\n'
    )
    study = shell.folder / "study.toml"
    study.write_text(text)
    with cluster("fake", 1) as dask:
        ran = shell("run", study, "--out", "r", "--dask", dask.address, timeout=240)
        assert ran.code == 1, ran.err
        (line,) = [line for line in ran.err.splitlines() if "gave no result" in line]
        assert "given up: 3 workers were lost while they ran it" in line
        assert "memory" in line
        assert "Traceback" not in ran.err
        assert len(finished(shell.folder / "r")) == 1, "the other run is finished"


def test_ctrl_c_keeps_what_is_finished_and_frees_the_workers(shell, cluster):
    study = shell.study(loads="0.1, 0.2, 0.3, 0.4, 0.5, 0.6", fake="seconds = 2.0")
    out = shell.folder / "r"
    with cluster("fake", 2, "--no-nanny") as dask:
        job = shell.start("run", study, "--out", "r", "--dask", dask.address)
        wait_until(lambda: finished(out), job)
        wait_until(lambda: any(runs_in(folder) for _, folder in dask.workers), job)
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=60)
        assert job.returncode == 130
        assert "--resume" in err
        assert "Traceback" not in err
        kept = finished(out)
        assert 1 <= len(kept) < 6
        assert len(digests(out)) == len(kept), "what is finished is readable"
        deadline = time.monotonic() + 20
        while any(runs_in(folder) for _, folder in dask.workers):
            assert time.monotonic() < deadline, "runs that nobody waits for stop"
            time.sleep(0.05)
        ran = shell("run", study, "--out", "r", "--dask", dask.address, "--resume")
        assert ran.code == 0, ran.err
        after = finished(out)
        assert len(after) == 6
        assert {name: after[name] for name in kept} == kept


def test_runs_of_a_killed_campaign_stop(shell, cluster):
    study = shell.study(loads="0.1", fake="seconds = 600.0")
    with cluster("fake", 1, "--no-nanny") as dask:
        job = shell.start("run", study, "--out", "r", "--dask", dask.address)
        folder = dask.workers[0][1]
        wait_until(lambda: runs_in(folder), job)
        job.kill()
        job.communicate()
        deadline = time.monotonic() + 60
        while runs_in(folder):
            assert time.monotonic() < deadline, "ten minutes for nobody"
            time.sleep(0.1)


def test_a_scheduler_that_goes_away_is_told_and_finished_runs_stay(shell, cluster):
    text = (
        'name = "two"\n[topology]\nkind = "torus"\nshape = [4, 4]\n[fake]\nseconds = 0.1\n'
        '[experiment.short]\n[experiment.long]\nset = { "fake.seconds" = 600.0 }\n'
    )
    (shell.folder / "study.toml").write_text(text)
    out = shell.folder / "r"
    with cluster("fake", 1, "--no-nanny") as dask:
        job = shell.start("run", "study.toml", "--out", "r", "--dask", dask.address)
        folder = dask.workers[0][1]
        wait_until(lambda: finished(out) and runs_in(folder), job)
        dask.scheduler.kill()
        _, err = job.communicate(timeout=120)
    assert job.returncode == 1, err
    assert f"the Dask scheduler at {dask.address} is gone" in err
    assert "Traceback" not in err, err
    assert len(finished(out)) == 1
    assert len(digests(out)) == 1


def test_runs_wait_for_workers_that_come_late(shell, cluster):
    study = shell.study(loads="0.1")
    with cluster("fake", 0) as dask:
        job = shell.start("run", study, "--out", "r", "--dask", str(dask.file))
        for line in job.stderr:
            if "no workers yet" in line:
                break
        else:
            pytest.fail("it has to say what it waits for")
        dask.add_worker("--no-nanny")
        _, err = job.communicate(timeout=120)
        assert job.returncode == 0, err


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_an_address_where_nobody_answers_is_told_and_nothing_is_written(shell):
    ran = shell("run", shell.study(), "--out", "r", "--dask", f"tcp://127.0.0.1:{_free_port()}")
    assert ran.code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1" in ran.err
    assert "dask scheduler" in ran.err
    assert "Traceback" not in ran.err
    assert not (shell.folder / "r").exists()
    ran = shell("run", "study.toml", "--out", "r", "--dask", "nowhere.json")
    assert ran.code == 2
    assert "no scheduler file nowhere.json" in ran.err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--jobs", "2"), "--jobs has no meaning"),
        (("--memory", "2GiB"), "it has no meaning with --dask"),
        (("--checkpoint-every", "1s"), "--checkpoint-every has no meaning"),
    ],
)
def test_what_has_no_meaning_on_a_cluster_is_refused(shell, option, words):
    ran = shell("run", shell.study(), "--dask", "tcp://127.0.0.1:1", *option)
    assert ran.code == 2
    assert words in ran.err


def test_without_dask_it_says_what_to_install(shell):
    (shell.folder / "distributed.py").write_text("raise ImportError('no module named distributed')")
    code = "import sys; sys.path.insert(0, ''); from fabricsim.cli import main; sys.argv = ['fabricsim', 'run', 'study.toml', '--dask', 'tcp://h:1']; main()"
    shell.study()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=shell.folder, env=shell.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "pip install 'fabricsim[dask]'" in done.stderr


@pytest.mark.skipif(not REAL, reason="needs the real core")
def test_a_worker_of_another_version_is_refused_by_name(shell, cluster):
    # The double of the core calls itself another version than the real one.
    with cluster("fake", 1, "--no-nanny") as dask:
        environment = {key: value for key, value in shell.environment().items() if key != "FABRICSIM_TEST_CORE"}
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
        shell.study()
        (shell.folder / "real.toml").write_text('[topology]\nkind = "ring"\nrouters = 4\n[run]\nend = "1 us"\n')
        done = subprocess.run(
            [sys.executable, "-m", "fabricsim", "run", "real.toml", "--out", "r", "--dask", dask.address],
            cwd=shell.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    assert "versions differ on the Dask cluster" in done.stderr
    assert "has fabricsim 0.0.0+fake, commit aaaaaaaaaa" in done.stderr
    assert "here it is" in done.stderr
    assert not (shell.folder / "r").exists()


@pytest.mark.skipif(not REAL, reason="needs the real core")
def test_a_worker_of_another_version_that_comes_late_fails_its_run_with_words(tmp_path, cluster):
    (tmp_path / "s.toml").write_text('[topology]\nkind = "ring"\nrouters = 4\n[run]\nend = "1 us"\n')
    with cluster("fake", 0) as dask:
        command = [sys.executable, "-m", "fabricsim", "run", "s.toml", "--out", "r", "--dask", dask.address]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as job:
            assert any("no workers yet" in line for line in job.stderr)
            dask.add_worker("--no-nanny")
            _, err = job.communicate(timeout=120)
    assert job.returncode == 1, err
    assert "has fabricsim 0.0.0+fake, commit aaaaaaaaaa" in err
    assert ", the campaign" in err


REAL_STUDY = """
name = "far"
[topology]
kind = "graph"
file = "net.txt"
nodes_per_router = 2
[[job]]
work = { kind = "uniform", load = 0.3, message = "3 KiB" }
[run]
end = "20 us"
warmup = "0 us"
seeds = [1, 2]
[sweep]
"link.bandwidth" = ["25 GB/s", "50 GB/s"]
[observe]
links = true
messages = "full"
"""


@pytest.mark.skipif(not REAL, reason="needs the real core")
def test_a_cluster_gives_the_bytes_of_this_machine_and_needs_no_shared_files(tmp_path, cluster):
    (tmp_path / "net.txt").write_text("a b\nb c\nc d\nd a\na c\n")
    (tmp_path / "s.toml").write_text(REAL_STUDY)
    command = [sys.executable, "-m", "fabricsim", "run", "s.toml", "--json"]
    with cluster("real", 2, "--no-nanny") as dask:
        far = subprocess.run(
            [*command, "--out", "far", "--dask", dask.address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    assert far.returncode == 0, far.stderr
    near = subprocess.run([*command, "--out", "near"], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert near.returncode == 0, near.stderr
    assert digests(tmp_path / "far") == digests(tmp_path / "near")
    assert len(digests(tmp_path / "far")) == 4
    for name in ("messages.parquet", "links.parquet", "hops.parquet"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes(), name


PROGRAM = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
print(comm.allreduce(comm.rank))
"""


@pytest.mark.skipif(not REAL, reason="needs the real core")
def test_programs_on_a_cluster_leave_what_they_leave_here_and_run_once(tmp_path, cluster):
    pytest.importorskip("mpi4py")
    (tmp_path / "sum.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, str(tmp_path / "sum.py")])
    (tmp_path / "s.toml").write_text(
        'name = "programs"\n[topology]\nkind = "torus"\nshape = [4, 4]\n'
        f'[[job]]\nwork = {{ kind = "program", command = {command}, ranks = 3 }}\n'
        '[sweep]\n"link.latency" = ["100 ns", "200 ns"]\n'
    )
    with cluster("real", 2) as dask:
        for out, where in (("far", ["--dask", dask.address]), ("near", ["--jobs", "1"])):
            words = [sys.executable, "-m", "fabricsim", "run", "s.toml", "--no-report", "--out", out, *where]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
            assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "far") == digests(tmp_path / "near")
    far, near = (
        {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for out in (tmp_path / "far" / "programs", tmp_path / "near" / "programs")
    )
    assert far == near
    assert sorted(Path(name).name for name in far) == ["0.out", "1.out", "2.out", "log.work"], (
        "the second run plays the log of the first"
    )
