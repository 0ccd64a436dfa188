"""Campaigns lose no finished run: kill, Ctrl-C, full disk, other studies, two at a time, another version."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SLOW = dict(loads="0.1, 0.2, 0.3, 0.4, 0.5, 0.6", fake="seconds = 0.6")


def finished(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").glob("*.json")}


def wait_until(happened, timeout=40):
    deadline = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def wait_for(folder, count):
    wait_until(lambda: len(list((folder / "runs").glob("*.json"))) >= count)


def digests(folder):
    return [(run["id"], run["digest"]) for run in json.loads((folder / "summary.json").read_text())["runs"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_finished_and_resume_repeats_nothing(shell, number):
    study, out = shell.study(**SLOW), shell.folder / "r"
    process = shell.start("run", study, "--out", "r", "--jobs", "1")
    wait_for(out, 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "--resume" in err
    assert "Traceback" not in err
    kept = finished(out)
    assert 2 <= len(kept) < 6
    assert len(digests(out)) == len(kept), "what is finished is readable"
    ran = shell("run", study, "--out", "r", "--resume")
    assert ran.code == 0, ran.err
    after = finished(out)
    assert len(after) == 6
    assert {name: after[name] for name in kept} == kept


@pytest.fixture
def under_way(tmp_path_factory, monkeypatch):
    """Waits until so many runs of the test are well under way."""
    folder = tmp_path_factory.mktemp("under-way")
    monkeypatch.setenv("FAKE_UNDER_WAY", str(folder))
    return lambda count: wait_until(lambda: len(list(folder.iterdir())) >= count)


def checkpoints(folder):
    return sorted(path.name for path in (folder / "runs").glob("*.checkpoint"))


def test_sigterm_writes_checkpoints_that_resume_goes_on_from(shell, under_way):
    study, out = shell.study(loads="0.1, 0.2", fake="seconds = 6.0"), shell.folder / "r"
    process = shell.start("run", study, "--out", "r", "--jobs", "2")
    under_way(2)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "2 more have checkpoints" in err
    assert "--resume" in err
    assert len(checkpoints(out)) == 2
    steps = [int((out / "runs" / name).read_text().split()[1]) for name in checkpoints(out)]
    assert min(steps) > 2, "the rest is shorter than the whole"
    begun = time.monotonic()
    ran = shell("run", study, "--out", "r", "--resume")
    assert ran.code == 0, ran.err
    assert time.monotonic() - begun < 60
    assert checkpoints(out) == [], "a finished run has none"
    assert shell("run", study, "--out", "whole").code == 0
    assert digests(out) == digests(shell.folder / "whole")


def test_ctrl_c_writes_no_checkpoint(shell, under_way):
    study, out = shell.study(loads="0.1", fake="seconds = 3.0"), shell.folder / "r"
    process = shell.start("run", study, "--out", "r")
    under_way(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "checkpoint" not in err
    assert checkpoints(out) == []


def test_a_damaged_checkpoint_is_refused_by_name_and_costs_no_other_run(shell):
    study, out = shell.study(loads="0.1, 0.2"), shell.folder / "r"
    assert shell("run", study, "--out", "r").code == 0
    first = sorted((out / "runs").glob("*.json"))[0]
    first.unlink()
    damaged = first.with_suffix(".checkpoint")
    damaged.write_text("nothing 5")
    ran = shell("run", study, "--out", "r", "--resume")
    assert ran.code == 2
    assert str(damaged) in ran.err
    assert "remove the file" in ran.err
    assert damaged.exists()
    assert len(finished(out)) == 1
    damaged.unlink()
    assert shell("run", study, "--out", "r", "--resume").code == 0


def test_without_resume_a_checkpoint_is_no_beginning(shell):
    study, out = shell.study(loads="0.1"), shell.folder / "r"
    assert shell("run", study, "--out", "r").code == 0
    path = next((out / "runs").glob("*.json")).with_suffix(".checkpoint")
    path.write_text("nothing 5")
    assert shell("run", study, "--out", "r").code == 0
    assert checkpoints(out) == []


def test_checkpoints_by_the_clock_are_gone_when_runs_are_finished(shell):
    study, out = shell.study(loads="0.1", fake="seconds = 3.0"), shell.folder / "r"
    process = shell.start("run", study, "--out", "r", "--checkpoint-every", "1s")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not checkpoints(out):
        time.sleep(0.02)
    assert checkpoints(out)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert checkpoints(out) == []


def test_a_duration_without_sense_is_refused_before_anything_is_written(shell):
    study = shell.study()
    ran = shell("run", study, "--out", "r", "--checkpoint-every", "often")
    assert ran.code == 2
    assert "--checkpoint-every" in ran.err
    assert not (shell.folder / "r").exists()


@pytest.mark.parametrize("every", ["1 ns", "0.99 us", "0.5 s", "0.0001 h"])
def test_checkpoints_without_end_are_refused_with_the_reason(shell, every):
    ran = shell("run", shell.study(loads="0.1"), "--out", "r", "--checkpoint-every", every)
    assert ran.code == 2
    assert "do little else" in ran.err
    assert not (shell.folder / "r").exists()


def test_a_kill_loses_no_finished_run_and_leaves_no_worker(shell):
    study, out = shell.study(**SLOW), shell.folder / "r"
    process = shell.start("run", study, "--out", "r", "--jobs", "2")
    wait_for(out, 2)
    process.kill()
    process.communicate()
    kept = finished(out)
    time.sleep(1.5)  # orphans notice and stop; one may just have finished its run
    late = finished(out)
    assert len(late) <= len(kept) + 2
    (out / "runs" / ".half.json.1.partial").write_text("{")
    assert shell("run", study, "--out", "r", "--resume").code == 0
    after = finished(out)
    assert len(after) == 6
    assert {name: after[name] for name in kept} == kept
    assert not list((out / "runs").glob(".*"))


def test_results_do_not_depend_on_jobs_or_interruption(shell):
    study = shell.study(loads="0.1, 0.2, 0.3, 0.4")
    assert shell("run", study, "--out", "one", "--jobs", "1").code == 0
    assert shell("run", study, "--out", "two", "--jobs", "4", "--limit-runs", "2").code == 0
    assert shell("run", study, "--out", "two", "--jobs", "4", "--resume").code == 0
    for name in ("summary.json", "runs.parquet", "links.parquet", "messages.parquet"):
        assert (shell.folder / "one" / name).read_bytes() == (shell.folder / "two" / name).read_bytes(), name


def test_a_full_disk_is_named_exits_1_and_the_rest_follows_with_resume(shell):
    study = shell.study(loads="0.1, 0.2, 0.3", fake="rows = 40000")
    ran = shell("run", study, "--out", "r", "--jobs", "1", prefix=["bash", "-c", 'ulimit -f 600; exec "$@"', "bash"])
    assert ran.code == 1
    assert "cannot write" in ran.err
    assert "--resume" in ran.err
    assert "Traceback" not in ran.err
    assert not list((shell.folder / "r" / "runs").glob(".*partial"))
    assert shell("run", study, "--out", "r", "--resume").code == 0


def test_a_full_disk_while_joining_keeps_every_run(shell):
    study = shell.study(loads="0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8", fake="rows = 8000")
    limit = ["bash", "-c", 'ulimit -f 450; exec "$@"', "bash"]
    ran = shell("run", study, "--out", "r", "--jobs", "2", prefix=limit)
    assert ran.code == 1, ran.err
    assert "messages.parquet" in ran.err
    kept = finished(shell.folder / "r")
    assert len(kept) == 8
    assert shell("run", study, "--out", "r", "--resume").code == 0
    assert finished(shell.folder / "r") == kept


def test_a_disk_that_is_full_from_the_start_leaves_a_folder_that_resume_takes(shell):
    study = shell.study(loads="0.1")
    for limit in (0, 1, 2):
        ran = shell("run", study, "--out", "r", prefix=["bash", "-c", f'ulimit -f {limit}; exec "$@"', "bash"])
        assert ran.code == 1, ran.err
        assert "cannot write" in ran.err
        assert "Traceback" not in ran.err
    (shell.folder / "r" / ".manifest.json.1.partial").write_text("{")
    assert shell("run", study, "--out", "r", "--resume").code == 0
    assert shell("verify", "r").code == 0


@pytest.mark.parametrize("where", ["/dev/null/x", "study.toml/x", "x" * 300, "a/" * 3000 + "b"])
def test_a_place_where_no_folder_can_be_is_named(shell, where):
    ran = shell("run", shell.study(), "--out", where)
    assert ran.code == 2
    assert "cannot write" in ran.err
    assert "use another --out" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(shell):
    (shell.folder / "locked").mkdir(mode=0o500)
    ran = shell("run", shell.study(), "--out", "locked/r")
    assert ran.code in (1, 2)
    assert "permission" in ran.err.lower()


def test_another_study_is_refused_by_name_unless_forced(shell):
    shell("run", shell.study(name="first"), "--out", "r")
    before = (shell.folder / "r" / "summary.json").read_bytes()
    ran = shell("run", shell.study(name="second", loads="0.7"), "--out", "r")
    assert ran.code == 2
    assert "another study, `first`" in ran.err
    assert (shell.folder / "r" / "summary.json").read_bytes() == before
    assert shell("run", "study.toml", "--out", "r", "--force").code == 0
    assert len(finished(shell.folder / "r")) == 1


def test_another_form_of_the_study_is_refused_too(shell):
    shell("run", shell.study(), "--out", "r")
    ran = shell("run", "study.toml", "--out", "r", "--set", "topology.shape=[8, 8]")
    assert ran.code == 2
    assert "another form of this study" in ran.err


def test_a_form_with_more_runs_goes_on_where_the_smaller_one_ended(shell):
    shell("run", shell.study(loads="0.1, 0.2"), "--out", "r")
    times = {path: path.stat().st_mtime_ns for path in (shell.folder / "r" / "runs").glob("*.json")}
    study = shell.study(loads="0.1, 0.2, 0.3")
    refused = shell("run", study, "--out", "r")
    assert refused.code == 2
    assert "--resume keeps its finished runs" in refused.err
    assert "2 finished already" in shell("run", study, "--out", "r", "--resume").err
    assert len(finished(shell.folder / "r")) == 3
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_a_form_with_other_runs_keeps_the_common_ones_when_forced(shell):
    shell("run", shell.study(loads="0.1, 0.2"), "--out", "r")
    study = shell.study(loads="0.2, 0.3")
    refused = shell("run", study, "--out", "r", "--resume")
    assert refused.code == 2
    assert "1 of its finished runs is not of this form" in refused.err
    assert len(finished(shell.folder / "r")) == 2
    forced = shell("run", study, "--out", "r", "--resume", "--force")
    assert "1 finished already" in forced.err
    # What was removed because it was asked for is not missed.
    assert "missing" not in forced.err
    assert len(list((shell.folder / "r" / "runs").glob("*.json"))) == 2
    assert shell("verify", "r").code == 0


def test_a_folder_with_other_things_is_refused_and_force_keeps_them(shell):
    (shell.folder / "photos").mkdir()
    (shell.folder / "photos" / "cat.png").write_bytes(b"meow")
    ran = shell("run", shell.study(), "--out", "photos")
    assert ran.code == 2
    assert "cat.png" in ran.err
    assert shell("run", "study.toml", "--out", "photos", "--force").code == 0
    assert (shell.folder / "photos" / "cat.png").read_bytes() == b"meow"


def test_two_campaigns_cannot_write_to_one_directory(shell):
    study = shell.study(**SLOW)
    process = shell.start("run", study, "--out", "r", "--jobs", "1")
    wait_for(shell.folder / "r", 1)
    ran = shell("run", study, "--out", "r")
    assert ran.code == 2
    assert "another fabricsim process" in ran.err
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_resume_under_another_version_is_refused(shell, monkeypatch):
    monkeypatch.setenv("FAKE_VERSION", "0.0.1")
    shell("run", shell.study(), "--out", "r")
    monkeypatch.delenv("FAKE_VERSION")
    ran = shell("run", "study.toml", "--out", "r", "--resume")
    assert ran.code == 2
    assert "0.0.1" in ran.err
    assert shell("run", "study.toml", "--out", "r").code == 0


def test_a_damaged_record_is_run_again_and_a_damaged_manifest_is_written_anew(shell):
    shell("run", shell.study(), "--out", "r")
    victim = next((shell.folder / "r" / "runs").glob("*.json"))
    victim.write_text("{ half")
    assert shell("run", "study.toml", "--out", "r", "--resume").code == 0
    assert json.loads(victim.read_text())["status"] == "finished"
    (shell.folder / "r" / "manifest.json").write_text("{")
    ran = shell("run", "study.toml", "--out", "r")
    assert ran.code == 2
    assert "manifest.json is damaged" in ran.err
    assert "--resume" in ran.err
    times = finished(shell.folder / "r")
    ran = shell("run", "study.toml", "--out", "r", "--resume", "--quiet")
    assert ran.code == 0
    assert "manifest.json is damaged" in ran.err
    assert finished(shell.folder / "r") == times
    (shell.folder / "r" / "manifest.json").write_text("{")
    assert shell("run", "study.toml", "--out", "r", "--force").code == 0


def test_running_again_in_place_gives_the_same_bytes(shell):
    shell("run", shell.study(), "--out", "r")
    before = (shell.folder / "r" / "summary.json").read_bytes()
    times = finished(shell.folder / "r")
    assert shell("run", "study.toml", "--out", "r").code == 0
    assert (shell.folder / "r" / "summary.json").read_bytes() == before
    assert all(finished(shell.folder / "r")[name] > when for name, when in times.items())


def test_large_runs_do_not_share_the_memory():
    from fabricsim._pool import Pool

    seen, ended = [], []
    pool = Pool(
        jobs=3,
        memory_bytes=100,
        on_message=lambda message: message["kind"] != "started" and bool(ended.append(message["id"])),
        tick=lambda: bool(seen.append(sum(1 for worker in pool._workers if worker.task))),
    )
    tasks = [
        {"run": {"id": str(n), "canonical": "{", "estimate": {"memory_bytes": 80}}, "folder": "/nonexistent", "version": "0"}
        for n in range(3)
    ]
    pool.run(tasks)
    assert ended == ["0", "1", "2"]
    assert max(seen) <= 1


def test_progress_lines_name_runs_and_end_with_all_of_them(shell):
    ran = shell("run", shell.study())
    assert "3 runs, " in ran.err
    assert "[3/3]" in ran.err
    assert "\x1b" not in ran.err


def test_files_in_the_working_directory_are_never_taken_for_modules(shell):
    for name in ("numpy.py", "selectors.py", "pyarrow.py"):
        (shell.folder / name).write_text("raise SystemExit('the wrong module')")
    code = "import sys; sys.path.pop(0); from fabricsim.cli import main; sys.argv = ['fabricsim', 'run', 'study.toml', '--out', 'r']; main()"
    shell.study(loads="0.1")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=shell.folder, env=shell.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
