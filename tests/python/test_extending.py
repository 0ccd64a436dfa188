"""The worked example of an analysis, added to a copy of the package, is a command like others."""

import os
import shutil
import tomllib
from pathlib import Path

import fabricsim

WORKED = Path(__file__).resolve().parents[2] / "crates" / "extending" / "worked"


def _add(name, python):
    """Do what a worked example's `add.toml` says, in a copy of the folder `python`."""
    told = tomllib.loads((WORKED / name / "add.toml").read_text())
    for file in told["file"]:
        target = python / Path(file["to"]).relative_to("python")
        target.parent.mkdir(exist_ok=True)
        target.write_text((WORKED / name / file["name"]).read_text())
    for line in told["line"]:
        target = python / Path(line["to"]).relative_to("python")
        lines = target.read_text().splitlines()
        at = [text.strip() for text in lines].index(line["below"])
        lines[at + 1 : at + 1] = line["text"].splitlines()
        target.write_text("\n".join(lines) + "\n")


def test_the_worked_example_of_an_analysis_is_a_command(tmp_path, monkeypatch, shell):
    unneeded = shutil.ignore_patterns("studies", "__pycache__")
    shutil.copytree(Path(fabricsim.__file__).parent, tmp_path / "python" / "fabricsim", ignore=unneeded)
    _add("slowdown", tmp_path / "python")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path / "python"), os.environ.get("PYTHONPATH", "")])))
    assert shell("run", shell.study(loads="0.1, 0.5"), "--out", "out", "--quiet").code == 0
    found = shell("slowdown", "out", "--json")
    assert found.code == 0, found.err
    ratios = {point["point"]: point["ratio"] for point in found.json["points"]}
    assert found.json["metric"] == "latency_ns.mean"
    assert list(ratios) == ["job.0.work.load = 0.1", "job.0.work.load = 0.5"]
    assert min(ratios.values()) == 1.0
    assert "1.000  job.0.work.load" in shell("slowdown", "out").out
