"""Capacity studies: jobs together, alone and two by two."""

import csv
import json
import os
import subprocess
import sys

import pytest

import fabricsim as fs

pytestmark = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="ranks need the real core")

#: Two jobs whose messages share the cable between two routers, and one that stays on its router.
LINE = {
    "name": "line",
    "topology": {"kind": "mesh", "shape": [2], "nodes_per_router": 8},
    "router": {"model": "sculpin"},
    "job": [
        *(
            {
                "name": name,
                "nodes": 4,
                "placement": {"kind": "strided", "stride": 4},
                "work": {"kind": "mpi-graph", "message": "64 KiB", "iterations": iterations},
            }
            for name, iterations in (("short", 4), ("long", 1_000_000))
        ),
        {"name": "still", "nodes": 2, "work": {"kind": "ring", "message": "1 KiB", "compute": "10 us", "iterations": 1_000_000}},
    ],
    "run": {"end": "2 ms"},
}


def _line(**more):
    return fs.Study({**LINE, **more})


def _command(*arguments):
    command = [sys.executable, "-m", "fabricsim", "capacity", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)


def test_every_part_leaves_the_others_where_they_are():
    runs = fs.capacity_study(_line(), pairs=True).expand().runs
    assert [run.experiment for run in runs] == [
        "together",
        "alone-short",
        "alone-long",
        "alone-still",
        "short--long",
        "short--still",
        "long--still",
    ]
    jobs = [json.loads(run.canonical)["jobs"] for run in runs]
    busy = [[job["name"] for job in part if job["work"] != "idle"] for part in jobs]
    assert [busy[0], busy[1], busy[6]] == [["short", "long", "still"], ["short"], ["long", "still"]]
    places = [[(job["nodes"], job["placement"]) for job in part] for part in jobs]
    assert all(place == places[0] for place in places)


def test_jobs_on_the_same_cables_slow_each_other_down_and_others_do_not(tmp_path):
    results = fs.capacity_study(_line(), pairs=True).run(out=tmp_path / "r", progress=False)
    (point,) = fs.capacity(results)
    assert point.jobs == ("short", "long", "still")
    # The one that ends is told by its time, the others by what they got done.
    assert point.runs["short"] == point.runs_alone["short"] == 4
    assert point.runs_alone["long"] > 100
    slow = point.interference
    assert slow["short", "long"] > 1.02
    assert slow["long", "short"] >= 1.0
    for name in ("short", "long"):
        assert slow[name, "still"] == pytest.approx(1.0, abs=0.01)
        assert point.slowdown[name] == pytest.approx(slow[name, "long" if name == "short" else "short"], rel=0.05)
    assert point.slowdown["still"] == pytest.approx(1.0, abs=0.01)


def test_a_sweep_gives_a_point_each(tmp_path):
    study = fs.capacity_study(_line(sweep={"link.bandwidth": ["12.5 GB/s", "25 GB/s"]}))
    points = fs.capacity(study.run(out=tmp_path / "r", progress=False))
    assert [dict(point.point)["link.bandwidth"] for point in points] == ["12.5 GB/s", "25 GB/s"]
    assert points[0].runs["long"] < points[1].runs["long"]
    assert points[0].interference == {}


def test_the_command_prints_and_writes_what_came_out(tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(_line().source)
    done = _command(file, "--pairs", "--quiet", "--out", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    assert "worst beside" in done.stdout
    rows = list(csv.DictReader((tmp_path / "r" / "capacity.csv").read_text().splitlines()))
    assert [row["beside"] for row in rows].count("nobody") == 3
    assert len(rows) == 3 * 2 + 3 * 2
    assert (tmp_path / "r" / "interference.svg").read_text().count("long") >= 2
    found = json.loads(_command(file, "--quiet", "--json", "--out", tmp_path / "s").stdout)
    assert found["points"][0]["runs"]["short"] == 4


def test_a_job_that_finished_nothing_has_no_slowdown_and_a_note(tmp_path):
    results = fs.capacity_study(_line(run={"end": "5 us"})).run(out=tmp_path / "r", progress=False)
    (point,) = fs.capacity(results)
    assert point.runs["still"] == point.runs_alone["still"] == 0
    assert point.slowdown["still"] is None
    assert any(note.startswith("still beside all: finished no iteration, not even alone") for note in point.notes)
    file = tmp_path / "line.toml"
    file.write_text(_line(run={"end": "5 us"}).source)
    done = _command(file, "--quiet", "--json", "--out", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    assert "Infinity" not in done.stdout
    assert "inf" not in (tmp_path / "s" / "capacity.csv").read_text()


def test_synthetic_jobs_are_not_left_out(tmp_path):
    traffic = {"name": "traffic", "nodes": 4, "work": {"kind": "uniform", "load": 0.2, "message": "1 KiB"}}
    results = fs.capacity_study(_line(job=[LINE["job"][2], traffic], run={"end": "100 us"})).run(
        out=tmp_path / "r", progress=False
    )
    (point,) = fs.capacity(results)
    assert point.jobs == ("still", "traffic")
    assert point.runs["traffic"] is None
    told = point.slowdown["traffic"]
    assert (told is not None and told > 0.9) or any(note.startswith("traffic beside all") for note in point.notes)


def test_one_job_or_experiments_are_refused(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text('topology = { kind = "single-router", nodes = 4 }\n')
    done = _command(file, "--out", tmp_path / "r")
    assert done.returncode == 2
    assert "has one job" in done.stderr
    with pytest.raises(ValueError, match="experiments of its own"):
        fs.capacity_study(_line(experiment={"a": {}}))
    with pytest.raises(ValueError, match="not of a capacity study"):
        fs.capacity(_line(run={"end": "10 us"}).run(out=tmp_path / "plain", progress=False))
