"""Results for other programs and for papers."""

import json
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv
import pytest

import fabricsim as fs
from fabricsim._export import export

FIGURE = {"id": "asked", "kind": "sweep", "y": "latency_ns.p99"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    study = fs.Study(
        {
            "name": "torus, 3x3",
            "topology": {"kind": "torus", "shape": [3, 3]},
            "job": [{"work": {"kind": "uniform", "message": "1 KiB", "load": 0.2}}],
            "run": {"end": "20 us", "seeds": [1, 2]},
            "sweep": {"job.0.work.load": [0.1, 0.2]},
            "observe": {"links": True},
            "reproduce": {"figure": [FIGURE, {**FIGURE, "id": "lacking", "y": "nonsense"}]},
        }
    )
    return study.run(out=tmp_path_factory.mktemp("export") / "made", progress=False)


def test_tables_are_those_of_the_results(results, tmp_path):
    written, _ = export(results, tmp_path, figures=())
    assert {path.name for path in written} == {"runs.csv", "jobs.csv", "links.csv", "cdf.csv", "hops.csv"}
    links = pa.csv.read_csv(tmp_path / "links.csv")
    assert links.column_names == ["run_id", *results.table("links").column_names]
    for record in results.records:
        mine = links.filter(pa.compute.equal(links["run_id"], record.id)).drop_columns("run_id")
        assert mine.to_pylist() == results.table("links", record).to_pylist()
    runs = pa.csv.read_csv(tmp_path / "runs.csv")
    assert runs["latency_ns.p99"].to_pylist() == results.runs["latency_ns.p99"].to_pylist()
    assert runs.num_rows == 4


def test_figures_have_the_width_of_a_column_and_one_that_cannot_be_drawn_takes_no_other_with_it(results, tmp_path):
    written, undrawn = export(results, tmp_path, csv=False, figures=("pdf", "svg", "png"), width_mm=85)
    assert [path.name for path in written] == ["asked.pdf", "asked.svg", "asked.png"]
    assert list(undrawn) == ["lacking"]
    assert (tmp_path / "asked.pdf").read_bytes().startswith(b"%PDF")
    (width,) = re.findall(r'<svg [^>]*width="([\d.]+)pt"', (tmp_path / "asked.svg").read_text())
    assert float(width) == pytest.approx(85 / 25.4 * 72, rel=1e-3)


def test_a_damaged_table_is_told(results, tmp_path):
    path = results.records[0].tables["links"]
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[:-8])
        with pytest.raises(fs.DamagedError, match="bytes"):
            export(results, tmp_path, figures=())
        assert not (tmp_path / "links.csv").exists()
    finally:
        path.write_bytes(whole)


def test_the_command_writes_beside_the_results_what_is_asked_for(results):
    command = [sys.executable, "-m", "fabricsim", "export", str(results.folder)]
    done = subprocess.run([*command, "--png", "--json"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["files"] == [str(results.folder.resolve().parent / "made-export" / "asked.png")]
    assert list(told["undrawn"]) == ["lacking"]
    wrong = subprocess.run([*command, "--width", "5"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "--width" in wrong.stderr) == (2, True)
    assert fs.verify(results.folder).state == "whole"
