"""The command line: exit codes, exactly one JSON object, errors that are no tracebacks."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
import typer

from fabricsim._seals import sealed
from fabricsim.cli import app
from fabricsim.study import find_study, packaged_studies

JSON_KEYS = {
    "sweep", "verdict", "sim_time_ns", "messages", "packets", "packet_hops", "latency_ns", "offered_load",
    "accepted_load", "events", "cpu_s", "build_s", "peak_rss_bytes", "digest",
}  # fmt: skip


def test_a_run_writes_every_file_and_exits_0(shell):
    ran = shell("run", shell.study(), "--out", "r")
    assert ran.code == 0, ran.err
    names = {path.name for path in (shell.folder / "r").iterdir()}
    assert {
        "manifest.json",
        "summary.json",
        "report.html",
        "runs.parquet",
        "links.parquet",
        "messages.parquet",
        "timeline.parquet",
        "cdf.parquet",
    } <= names
    assert "3 of 3 runs finished" in ran.out


def test_json_is_exactly_one_object_with_the_promised_keys(shell):
    ran = shell("run", shell.study(), "--json", "--jobs", "2")
    assert ran.code == 0
    assert ran.out.count("\n") == 1
    assert ran.json["ok"] is True
    assert [run["sweep"] for run in ran.json["runs"]] == [{"job.0.work.load": text} for text in ("0.1", "0.5", "0.9")]
    for run in ran.json["runs"]:
        assert run.keys() >= JSON_KEYS
        assert run["latency_ns"].keys() >= {"mean", "p50", "p95", "p99", "min", "max"}


def test_the_default_directory_is_named_by_study_and_hash(shell):
    ran = shell("run", shell.study(name="my study/1"), "--json")
    assert ran.json["out"] == f"results/my-study-1-{ran.json['study_hash'][:8]}"
    assert (shell.folder / ran.json["out"] / "manifest.json").is_file()


BAD = {
    "no file": (["run", "nothing.toml"], "no study file nothing.toml"),
    "a folder": (["run", "."], "is a folder"),
    "not toml": (["run", "broken.toml"], "not TOML"),
    "binary": (["check", "binary.toml"], "not TOML"),
    "unknown key": (["run", "unknown.toml"], "did you mean"),
    "set without value": (["run", "study.toml", "--set", "a.b"], "write KEY=VALUE"),
    "set of an unknown key": (["run", "study.toml", "--set", "rooter.x=1"], "unknown key `rooter.x`"),
    "unknown variant": (["run", "study.toml", "--variant", "fast"], "no variant `fast`"),
    "unknown experiment": (["run", "study.toml", "--experiment", "nine"], "no experiment nine"),
    "unknown command": (["fly"], "No such command"),
    "unknown option": (["run", "study.toml", "--faster"], "No such option"),
    "jobs 0": (["run", "study.toml", "--jobs", "0"], "--jobs"),
    "unknown kind": (["list", "weather"], "no kind `weather`"),
    "report of nothing": (["report", "nowhere"], "not a results directory"),
    "rerun of nothing": (["rerun", "nowhere"], "not a results directory"),
    "unknown case": (["bench", "--case", "x"], "no case x"),
    "bench options": (["bench", "--options", "[1]"], "write a JSON object"),
    "unknown study to reproduce": (["reproduce", "cold-fusion"], "no study file cold-fusion"),
    "drawing of another kind": (["show", "study.toml", "--out", "n.gif"], ".svg, .png or .pdf"),
    "no workers": (["show", "study.toml", "--partition", "--workers", "0"], "--workers"),
    "run that is not there": (["show", "study.toml", "--run", "zzz"], "no run zzz"),
    "out is a file": (["run", "study.toml", "--out", "study.toml"], "is a file"),
    "new in no folder": (["new", "a/b.toml"], "no folder a"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_exits_2_with_a_reason_and_no_traceback(shell, case):
    shell.study()
    (shell.folder / "broken.toml").write_text("name = [\n")
    (shell.folder / "binary.toml").write_bytes(bytes(range(256)))
    (shell.folder / "unknown.toml").write_text("toplogy = 1\n[topology]\nkind = 'torus'\n")
    arguments, words = BAD[case]
    ran = shell(*arguments)
    assert ran.code == 2, ran.err
    assert words in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_with_json_an_input_error_is_still_exactly_one_object(shell):
    (shell.folder / "s.toml").write_text("toplogy = 1\n")
    ran = shell("run", "s.toml", "--json")
    assert ran.code == 2
    assert ran.json["ok"] is False
    assert [entry["key"] for entry in ran.json["diagnostics"]] == ["toplogy", "topology"]
    assert ran.json["diagnostics"][0]["line"] == 1


def test_a_failed_self_check_exits_3_keeps_the_other_runs_and_names_the_check(shell):
    ran = shell("run", shell.study(fake='fail = "all"', loads="0.1"), "--json", "--out", "r")
    assert ran.code == 3
    assert ran.json["ok"] is False
    assert ran.json["runs"][0]["verdict"]["ok"] is False
    assert "router 3 x+ carried 1.2 times its capacity" in ran.err
    assert "failed self-check" in (shell.folder / "r" / "report.html").read_text()


def test_a_dying_worker_exits_1_and_loses_only_its_run(shell):
    study = shell.study(
        fake='crash = "bad"\n[experiment.bad]\nsweep = { "job.0.work.load" = [0.3] }\n[experiment.good]\nsweep = { "job.0.work.load" = [0.1, 0.2] }'
    )
    ran = shell("run", study, "--json", "--out", "r")
    assert ran.code == 1
    assert "worker process died (exit status 66)" in ran.err
    assert [run["experiment"] for run in ran.json["runs"]] == ["good", "good"]


def test_bench_says_what_it_found_case_by_case_and_keeps_it_when_interrupted(shell):
    told = shell("bench", "--case", "sculpin-4k")
    assert told.code == 0, told.err
    case, figure = told.err.splitlines()
    assert case == "sculpin-4k ..."
    assert figure.strip().endswith("CPU s")
    assert "sculpin-4k" in told.out
    process = shell.start("bench", "--case", "sculpin-4k", "--repeat", "20", "--case", "sculpin-4k", start_new_session=True)
    lines = [process.stderr.readline() for _ in range(3)]
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, "".join(lines) + err
    assert out.count("sculpin-4k") == 1


def test_check_expand_list_show_bench_and_schema_speak_json(shell):
    study = shell.study()
    assert shell("check", study, "--json").json["runs"] == 3
    assert len(shell("expand", study, "--json").json["runs"]) == 3
    assert shell("list", "topology", "--json").json["topology"][0]["name"] == "torus"
    assert "routing" in shell("list", "--json").json
    assert shell("show", study, "--json").json["metrics"]["routers"] == 16
    assert shell("bench", "--json").json["cases"][0]["name"] == "sculpin-4k"
    assert shell("schema").json["type"] == "object"


@pytest.mark.parametrize("name", ["network.svg", "network.png", "network.pdf"])
def test_show_draws_the_network(shell, name):
    ran = shell("show", shell.study(), "--out", name)
    assert ran.code == 0, ran.err
    assert (shell.folder / name).stat().st_size > 2000


def test_show_tells_who_gets_which_router(shell):
    ran = shell("show", shell.study(), "--partition", "--workers", "2")
    assert ran.code == 0, ran.err
    assert "cables between workers: 8 of 32 (25.0 %)" in ran.out
    assert shell("show", shell.study(), "--workers", "2", "--json").json["partition"]["worker_of_router"] == [0] * 8 + [1] * 8


def test_show_takes_a_preset_that_is_no_file(shell):
    assert "torus 4x4" in shell("show", "some-preset").out


def test_new_writes_a_study_that_checks_and_never_overwrites(shell):
    assert shell("new", "mine.toml").code == 0
    assert shell("check", "mine.toml").code == 0
    second = shell("new", "mine.toml")
    assert second.code == 2
    assert "exists" in second.err
    assert shell("new", "mine.toml", "--force").code == 0


def test_rerun_says_same_and_notices_a_difference(shell):
    shell("run", shell.study(), "--out", "r")
    assert shell("rerun", "r", "--json").json["same"] is True
    path = next((shell.folder / "r" / "runs").glob("*.json"))
    record = json.loads(path.read_text())
    record["summary"]["digest"] = "0000000000000000"
    del record["seal"]
    path.write_text(sealed(record))
    ran = shell("rerun", "r", "--run", record["id"], "--json")
    assert ran.code == 3
    assert "digest 0000000000000000 became" in ran.json["runs"][0]["why"]


def test_a_closed_pipe_is_no_error(shell):
    shell.study(loads=", ".join(str(n / 1000) for n in range(1, 900)))
    command = f"{shlex.quote(sys.executable)} -m fabricsim expand study.toml --json | head -c 10"
    done = subprocess.run(
        command, shell=True, cwd=shell.folder, env=shell.environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == '{"study": '
    assert done.stderr == ""


def _commands(group, words=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*words, name))
        else:
            yield (*words, name), command


def test_version_and_help(shell):
    assert shell("--version").out.startswith("fabricsim ")
    told = shell("--help")
    assert told.code == 0
    for group in ("Studies", "Runs", "Questions"):
        assert f"─ {group} ─" in told.out
    assert "Example: fabricsim knee my.toml" in shell("knee", "--help").out


@pytest.mark.parametrize("words", [words for words, _ in _commands(typer.main.get_command(app))], ids=" ".join)
def test_every_command_has_an_example_that_it_understands(words):
    command = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    start = f"Example: fabricsim {' '.join(words)}"
    assert command.epilog
    assert command.epilog.startswith(start)
    arguments = shlex.split(command.epilog.removeprefix(start).replace("\\[", "[").split(">")[0])
    # Options and arguments are taken apart and checked; nothing is run.
    command.make_context(" ".join(words), arguments)


def test_a_study_that_is_not_there_is_told_with_the_one_that_was_meant(shell):
    shell.study()
    assert "did you mean study.toml?" in shell("check", "studi.toml").err
    packaged = next(iter(packaged_studies()), None)
    if packaged:
        with pytest.raises(FileNotFoundError, match=f"did you mean {packaged}\\?"):
            find_study(packaged[:-1] + "_")
    assert "did you mean" not in shell("check", "nothing-like-it-at-all").err
