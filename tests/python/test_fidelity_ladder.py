"""The page of the fidelity ladder has what its study gives, and its tool writes tables."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim import _core

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models/fidelity-ladder.md"
STUDY = ROOT / "studies/fidelity-ladder.toml"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("fidelity_ladder", ROOT / "tools/fidelity_ladder.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fidelity_ladder"] = module
    specification.loader.exec_module(module)
    return module


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_the_page_has_twenty_cases_in_both_tables(tool):
    text = PAGE.read_text(encoding="utf-8")
    tables = text.split(tool.BEGIN)[1].split(tool.END)[0]
    rows = [tuple(cells(line)[:3]) for line in tables.splitlines() if line.count("|") in (9, 8)]
    cases = [row for row in rows if row[0] not in ("topology", "---")]
    assert len(cases) == 40
    assert cases[:20] == cases[20:]
    runs = fs.load(STUDY).expand().runs
    swept = {tuple(dict(run.sweep)[key] for key in ("topology", "routing.kind", "job.0.work")) for run in runs}
    assert swept == set(cases)
    assert len(runs) == 20 * len(tool.RUNGS) * 3


@pytest.mark.skipif(not REAL, reason="needs the real core")
@pytest.mark.parametrize("case", [("hyperx", "dor", "uniform 0.4"), ("fat-tree", "d-mod-k", "all-to-all 8 KiB")])
def test_a_row_of_the_page_is_what_the_study_gives(tool, case):
    found = {}
    for run in fs.load(STUDY).expand().runs:
        swept = dict(run.sweep)
        if tuple(swept[key] for key in ("topology", "routing.kind", "job.0.work")) != case:
            continue
        summary = json.loads(_core.run(run.canonical, None).summary)
        assert summary["verdict"]["ok"]
        values = {
            "latency_ns.mean": summary["latency_ns"]["mean"],
            "accepted_load": summary["accepted_load"],
            "jobs.0.time_ns": summary["jobs"][0]["time_ns"],
            "cpu_s": 0.0,
            "events": summary["events"],
            "packet_hops": summary["packet_hops"],
        }
        found.setdefault(swept["router"], []).append(values)
    ranks = "all-to-all" in case[2]
    rungs = {rung: tool.figures(found[rung], ranks=ranks) for rung in tool.RUNGS}
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for rows in (tool.value_rows, tool.error_rows):
        (row,) = rows({case: rungs})
        assert "| " + " | ".join(row) + " |" in lines


@pytest.mark.skipif(not REAL, reason="needs the real core")
def test_the_tool_writes_tables_of_results(tool, tmp_path, monkeypatch):
    results = fs.load(STUDY, sets={"run.seeds": [1]}, variant="quick").run(out=tmp_path / "r", progress=False)
    assert results.ok
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tool.BEGIN}\nold\n{tool.END}\nbehind\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["fidelity_ladder.py", str(tmp_path / "r"), str(page)])
    tool.main()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("behind\n")
    assert "old" not in text
    assert "| torus | dor | uniform 0.3 |" in text
