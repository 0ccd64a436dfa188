"""The page of the ECP study says what its table of times says.

The runs take machine hours, so they are not run here: `docs/studies/ecp-times.csv` has the time and the digest of every run that was, and
what the page says of claims is worked out from it once more.
"""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

import fabricsim as fs
from fabricsim import claims
from fabricsim._recorded import Recorded, RunRecord

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "studies" / "ecp-times.csv"
PAGE = ROOT / "docs" / "studies" / "ecp.md"
#: Rows of the page's claims: id, figure, sentence, expectation, value, verdict.
ROW = re.compile(r"^\| `([\w-]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| (?:\*\*)?(agrees|differs)", re.MULTILINE)


@cache
def _study():
    return fs.load("ecp")


@cache
def _runs():
    return {run.id: run for run in _study().expand().runs}


@cache
def _rows():
    with TABLE.open() as file:
        return list(csv.DictReader(file))


@cache
def _results():
    """What the table holds, as results of the study."""

    def record(row):
        summary = {"jobs": [{"time_ns": float(row["jobs.0.time_ns"])}], "verdict": {"ok": True, "state": "ok"}}
        return RunRecord(run=_runs()[row["run"]], summary=summary, tables={}, wall_s=0.0)

    manifest = {"study": {"name": "ecp"}, "runs": [{"id": row["run"]} for row in _rows()]}
    return Recorded(ROOT, manifest, [record(row) for row in _rows()])


def _complete(experiment):
    """Whether the table has all runs of an experiment."""
    wanted = {run.id for run in _runs().values() if run.experiment == experiment}
    assert wanted, experiment
    return wanted <= {row["run"] for row in _rows()}


def test_rows_are_runs_of_the_study_and_each_has_its_keys():
    assert len({row["run"] for row in _rows()}) == len(_rows())
    for row in _rows():
        run = _runs()[row["run"]]
        swept = dict(run.sweep)
        assert (row["experiment"], int(row["seed"])) == (run.experiment, run.seed)
        assert {key: value for key, value in row.items() if key in swept} == {
            key: value for key, value in swept.items() if key in row
        }
        assert re.fullmatch(r"[0-9a-f]{16}", row["digest"])


def test_what_two_experiments_share_has_one_time_and_one_digest():
    seen = {}
    for row in _rows():
        router = "credit" if row["experiment"] == "credit" else "sculpin"
        keys = tuple(value for key, value in row.items() if key not in ("experiment", "run", "jobs.0.time_ns", "digest"))
        found = (row["jobs.0.time_ns"], row["digest"])
        assert seen.setdefault((router, *keys), found) == found


@pytest.mark.parametrize("claim", _study().claims(), ids=lambda claim: claim["id"])
def test_the_page_says_what_comes_out(claim):
    every = {run.experiment for run in _runs().values()}
    named = {experiment for experiment in every if f"'{experiment}'" in claim["measure"]}
    if not all(map(_complete, named or every)):
        pytest.skip("not all of its runs are in the table yet")
    [found] = claims.judge([claim], _results())
    said = {row[0]: (row[3].strip(), row[4].strip(), row[5]) for row in ROW.findall(PAGE.read_text())}
    assert said[claim["id"]] == (found.expect, found.ours, found.verdict)
    if found.verdict == "differs":
        assert found.because, "a claim that differs has a reason"
