"""Points that several experiments of a study share are simulated once."""

import json

import pyarrow.parquet as pq
import pytest

import fabricsim as fs

STUDY = """\
name = "shared"
[topology]
kind = "torus"
shape = [4, 4]
[[job]]
work = { kind = "uniform", load = 0.5, message = "2048 B" }
[run]
warmup = "1 us"
end = "6 us"
[observe]
messages = "full"
[experiment.first.sweep]
"job.0.work.load" = [0.2, 0.4]
[experiment.second]
description = "The second point of the first, and another."
[experiment.second.sweep]
"job.0.work.load" = [0.4, 0.6]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def records(folder):
    found = [json.loads(path.read_text()) for path in (folder / "runs").glob("*.json")]
    return {(record["experiment"], record["sweep"][0][1]): record for record in found}


def test_a_shared_point_is_simulated_once_and_stands_in_both_experiments(study, tmp_path):
    results = fs.load(study).run(out=tmp_path / "r", progress=False)
    found = records(tmp_path / "r")
    assert len(found) == 4
    shared = found["second", "0.4"]
    original = found["first", "0.4"]
    assert shared["same_as"] == original["id"] != shared["id"]
    assert shared["summary"] == original["summary"], "times of execution too: it was not executed"
    assert [record for record in found.values() if "same_as" in record] == [shared]
    rows = results.to_pandas()
    assert sorted(rows[rows["job.0.work.load"] == "0.4"]["experiment"]) == ["first", "second"]
    messages = pq.read_table(tmp_path / "r" / "messages.parquet").to_pandas()
    counts = messages.groupby("run_id").size()
    assert counts[shared["id"]] == counts[original["id"]] > 0


def test_a_shared_point_that_another_experiment_has_run_is_there(study, tmp_path):
    fs.load(study).run(out=tmp_path / "r", progress=False, experiments=["first"])
    before = {key: record["wall_s"] for key, record in records(tmp_path / "r").items()}
    fs.load(study).run(out=tmp_path / "r", progress=False, experiments=["second"], resume=True)
    after = records(tmp_path / "r")
    assert after["second", "0.4"]["same_as"] == after["first", "0.4"]["id"]
    assert {key: after[key]["wall_s"] for key in before} == before
    # Once more: everything is there, and what was taken over is as good as any.
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "r" / "runs").glob("*.json")}
    fs.load(study).run(out=tmp_path / "r", progress=False, resume=True)
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


def test_seeds_and_engines_are_no_names(study, tmp_path):
    text = STUDY.replace('end = "6 us"', 'end = "6 us"\nseeds = [1, 2]')
    study.write_text(text + '[experiment.second.set]\n"run.engine" = "sequential"\n')
    fs.load(study).run(out=tmp_path / "r", progress=False)
    assert not [record for record in records(tmp_path / "r").values() if "same_as" in record]
