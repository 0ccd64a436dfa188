"""Checkpoints with the real core: what was stopped goes on, on any engine, to the same numbers."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import REAL, children, kill_with_children

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

STUDY = """\
name = "long"
[topology]
kind = "torus"
shape = [6, 6]
[router]
buffer = "16 KiB"
[[job]]
work = { kind = "uniform", load = 0.4, message = "4 KiB" }
[run]
seed = 5
end = "16 ms"
warmup = "100 us"
drain = "20 us"
"""
#: Its multiples are no borders of windows: a checkpoint at another time was written on demand.
EVERY_PS = 1_299_999_937


def start(folder, *arguments):
    command = [sys.executable, "-m", "fabricsim", "run", "study.toml", "--no-report", "--jobs", "1", *arguments]
    return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def wait_for_checkpoint(process, folder):
    """Return the checkpoint's path as soon as it is there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        found = list(Path(folder).glob("runs/*.checkpoint"))
        if found:
            return found[0]
        time.sleep(0.01)
    pytest.fail(f"no checkpoint: {process.communicate()[1] if process.poll() is not None else 'in time'}")


def header(path):
    data = path.read_bytes()
    assert data.startswith(b"fabricsim checkpoint")
    length = int.from_bytes(data[24:28], "little")
    return json.loads(data[28 : 28 + length])


def numbers(folder):
    """Return the summary without what measures the machine."""
    (run,) = json.loads((folder / "summary.json").read_text())["runs"]
    machine = ("cpu_s", "build_s", "peak_rss_bytes", "engine", "execution", "wall_s")
    return {key: value for key, value in run.items() if key not in machine}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run the study without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "study.toml").write_text(STUDY)
    code, _, err = finish(start(folder, "--out", "r"))
    assert code == 0, err
    return numbers(folder / "r")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.mark.parametrize("other", [("--engine", "reference"), ("--engine", "conservative", "--workers", "2"), ()])
def test_sigterm_saves_and_resume_goes_on_to_the_same_numbers(study, whole, other):
    # A signal that is heard right behind a regular checkpoint finds nothing new to save: such a run shows nothing, and is made again.
    # A run listens at set times, so that on a machine of some speed checkpoints may fall in with them: others come at other times.
    for more in range(5):
        every = EVERY_PS + 130_000_010 * more
        shutil.rmtree(study / "r", ignore_errors=True)
        process = start(study, "--out", "r", "--checkpoint-every", f"{every} ps")
        path = wait_for_checkpoint(process, study / "r")
        process.send_signal(signal.SIGTERM)
        code, _, err = finish(process)
        assert code == 143
        assert "has a checkpoint" in err
        assert "Traceback" not in err
        saved = header(path)
        if saved["time_ps"] % every:
            break
    assert saved["time_ps"] % every, "the last one was written because of the signal"
    assert not list((study / "r" / "runs").glob("*.json"))
    code, _, err = finish(start(study, "--out", "r", "--resume", *other))
    assert code == 0, err
    assert numbers(study / "r") == whole
    assert not path.exists()


def test_more_checkpoints_than_a_run_can_bear_are_refused_with_the_least_time(study):
    code, _, err = finish(start(study, "--out", "r", "--checkpoint-every", "1ps"))
    assert code == 2
    assert "would write 16,000,000,000 checkpoints" in err
    assert "16 us or more" in err
    assert not (study / "r").exists()


def test_ctrl_c_leaves_the_checkpoint_that_was_there(study, whole):
    process = start(study, "--out", "r", "--checkpoint-every", f"{EVERY_PS} ps")
    path = wait_for_checkpoint(process, study / "r")
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    assert header(path)["time_ps"] % EVERY_PS == 0
    assert finish(start(study, "--out", "r", "--resume"))[0] == 0
    assert numbers(study / "r") == whole


def _writers(folder):
    """Return the processes that are writing a checkpoint: each has its number in the name of its unfinished file."""
    return [int(name.split(".")[-2]) for name in os.listdir(folder) if name.endswith(".partial")]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_kill_while_checkpoints_are_written_leaves_a_sound_one(study, whole):
    """Checkpoints follow each other closely; kills come at any moment, and then as soon as a file is begun."""
    choice = random.Random(3)
    reached, halves = [], 0
    while len(reached) < 3 or (halves == 0 and len(reached) < 40):
        process = start(study, "--out", "r", "--checkpoint-every", "16 us", "--resume")
        path = wait_for_checkpoint(process, study / "r")
        deadline = time.monotonic() + 30
        while reached and header(path)["time_ps"] <= reached[-1] and time.monotonic() < deadline:
            time.sleep(0.02)
        if len(reached) < 3:
            time.sleep(choice.random() * 0.3)
        else:
            # What an earlier kill left has another process's number.
            while not (writers := set(_writers(path.parent)) & set(children(process.pid))):
                assert time.monotonic() < deadline, "a checkpoint is begun"
            for writer in writers:
                os.kill(writer, signal.SIGKILL)
        kill_with_children(process)
        halves += len(_writers(path.parent))
        reached.append(header(path)["time_ps"])
    assert reached == sorted(set(reached)), "every attempt went on where the one before it was killed"
    assert halves > 0, "at least one kill fell into the writing"
    # And what would be left of a longer write does no harm.
    (path.parent / f".{path.name}.1.partial").write_bytes(path.read_bytes()[:1000])
    code, _, err = finish(start(study, "--out", "r", "--resume"))
    assert code == 0, err
    assert numbers(study / "r") == whole
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-1], "the checkpoint is damaged"),
        (lambda data: data[:10], "the checkpoint is damaged"),
        (lambda data: data[:5000] + bytes([data[5000] ^ 4]) + data[5001:], "the checkpoint is damaged"),
        (lambda data: b"PK" + data[2:], "not a checkpoint of fabricsim"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_what_to_do(study, damage, words):
    process = start(study, "--out", "r", "--checkpoint-every", f"{EVERY_PS} ps")
    path = wait_for_checkpoint(process, study / "r")
    process.send_signal(signal.SIGTERM)
    finish(process)
    path.write_bytes(damage(path.read_bytes()))
    code, _, err = finish(start(study, "--out", "r", "--resume"))
    assert code == 2
    assert str(path.resolve()) in err
    assert words in err
    assert "remove the file to begin this run anew" in err
    assert path.exists()


def test_python_resumes_and_refuses_too(study):
    import fabricsim as fs

    seen = []

    def stop(report):
        seen.append(report["sim_time_ns"])
        return len(seen) < 3

    loaded = fs.load(study / "study.toml")
    with pytest.raises(fs.CampaignInterrupted):
        loaded.run(out=study / "r", checkpoint_every="40 us", progress=stop)
    (path,) = (study / "r" / "runs").glob("*.checkpoint")
    path.write_bytes(b"x")
    with pytest.raises(fs.ResultsError, match="not a checkpoint of fabricsim"):
        loaded.run(out=study / "r", progress=False)
    with pytest.raises(ValueError, match="has no unit"):
        loaded.run(out=study / "r", checkpoint_every="40", progress=False)
