"""Templates of `fabricsim new`: each is a study that runs as it is, with results that may be believed."""

import subprocess
import sys

import pytest

from fabricsim._starter import starter_files, templates
from fabricsim.study import load


def _fabricsim(folder, *words):
    command = [sys.executable, "-m", "fabricsim", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("template", templates())
def test_a_template_is_a_study_that_runs_as_it_is(tmp_path, template):
    for file, text in starter_files(template, tmp_path / "mine.toml").items():
        file.write_text(text)
    study = load(tmp_path / "mine.toml")
    assert study.expand().name == "mine"
    results = study.run(out=tmp_path / "out", progress=False)
    assert results.complete
    assert len(results) >= 2
    states = [record.value("verdict.state") for record in results.records]
    # Whoever starts here is shown results, not what is wrong with them; what a routing cannot carry is one.
    assert set(states) <= {"ok", "saturated"}, states
    assert states.count("ok") > len(states) / 2, states


def test_new_writes_a_template_and_the_files_it_needs(tmp_path):
    told = _fabricsim(tmp_path, "new", "--template", "list").stdout
    assert [line.split()[0] for line in told.splitlines()] == list(templates())
    assert all(len(line.split()) > 3 for line in told.splitlines())
    done = _fabricsim(tmp_path, "new", "a b.toml", "--template", "fabric-file")
    assert done.returncode == 0, done.stderr
    assert "a b.toml and a b.edges written; next: fabricsim check 'a b.toml'" in done.stdout
    assert _fabricsim(tmp_path, "check", "a b.toml").returncode == 0
    # Neither file is replaced unasked, and nothing is written where one of them is there.
    (tmp_path / "c.edges").write_text("mine")
    refused = _fabricsim(tmp_path, "new", "c.toml", "--template", "fabric-file")
    assert (refused.returncode, (tmp_path / "c.toml").exists()) == (2, False)
    assert "c.edges exists" in refused.stderr
    unknown = _fabricsim(tmp_path, "new", "d.toml", "--template", "dragonflies")
    assert unknown.returncode == 2
    assert "did you mean dragonfly?" in unknown.stderr


def test_a_study_is_not_named_as_what_lies_beside_it(tmp_path):
    names = [file.name for file in starter_files("trace", tmp_path / "mine.csv")]
    assert names == ["mine.csv", "mine-flows.csv"]
