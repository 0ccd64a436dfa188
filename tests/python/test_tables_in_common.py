"""Runs of one network share its forwarding tables and what is proved of them, between processes too; no result shows it."""

import fcntl
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import fabricsim as fs
from conftest import REAL

pytestmark = pytest.mark.skipif(not REAL, reason="tables are the core's")

STUDY = """\
name = "shared"
[topology]
kind = "hyperx"
shape = [4, 4]
nodes_per_router = 2
[router]
model = "credit"
buffer = "8 KiB"
[routing]
kind = "{kind}"
[[job]]
work = {{ kind = "uniform", load = 0.2, message = "4 KiB" }}
[sweep]
"job.0.work.load" = [0.1, 0.2, 0.3, 0.4]
[run]
end = "20 us"
"""

RUN = """
import json, sys
from fabricsim import _core
_core.share_tables(sys.argv[1] or None)
for run in json.load(sys.stdin):
    print(json.loads(_core.run(run, None).summary)["digest"])
"""


def canonical_runs(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return [run.canonical for run in fs.load(path).expand().runs]


def digests(runs, folders):
    """The digests of all runs, from a process for each of the folders, at the same time."""
    text = json.dumps(runs)

    def run(folder):
        command = [sys.executable, "-c", RUN, str(folder)]
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.split()

    with ThreadPoolExecutor(len(folders)) as threads:
        return list(threads.map(run, folders))


def names(folder):
    return sorted(path.name.split("-")[0] for path in folder.iterdir() if path.suffix != ".turn")


@pytest.mark.parametrize("kind", ["dfsssp", "parx", "sssp", "torus-2qos"])
def test_processes_make_tables_once_and_nothing_shows_it(tmp_path, kind):
    text = STUDY.format(kind=kind)
    if kind == "torus-2qos":
        text = text.replace('kind = "hyperx"', 'kind = "torus"')
    if kind == "sssp":
        text = text.replace("[router]\n", "[router]\nallow_deadlock = true\n")
    runs = canonical_runs(tmp_path, text)
    assert len(runs) == 4
    common = tmp_path / "common"
    common.mkdir()
    (alone,) = digests(runs, [""])
    shared = digests(runs, [common, common, common])
    assert shared == [alone] * 3
    assert names(common) == ["proof", "tables"]
    # What lies there is taken, not made again.
    (tables,) = common.glob("tables-*[0-9a-f]")
    before = tables.stat().st_mtime_ns
    assert digests(runs, [common]) == [alone]
    assert tables.stat().st_mtime_ns == before


def test_other_networks_have_other_tables(tmp_path):
    common = tmp_path / "common"
    common.mkdir()
    swept = STUDY.format(kind="dfsssp").replace(
        "[sweep]\n", '[sweep]\n"topology.shape" = [[4, 4], [4, 5]]\n"routing.lanes" = [4, 8]\n'
    )
    runs = canonical_runs(tmp_path, swept)
    (alone,) = digests(runs, [""])
    assert digests(runs, [common, common]) == [alone, alone]
    assert names(common).count("tables") == 4


def test_a_damaged_folder_is_no_harm(tmp_path):
    runs = canonical_runs(tmp_path, STUDY.format(kind="dfsssp"))
    common = tmp_path / "common"
    common.mkdir()
    (alone,) = digests(runs, [common])
    (tables,) = common.glob("tables-*[0-9a-f]")
    os.truncate(tables, 1_000)
    (proof,) = common.glob("proof-*[0-9a-f]")
    proof.write_text("{")
    assert digests(runs, [common, tmp_path / "gone"]) == [alone, alone]


def test_a_campaign_leaves_nothing_behind_and_clears_up_after_killed_ones(tmp_path, monkeypatch):
    held = tmp_path / "temporary"
    held.mkdir()
    # One that was killed, one that runs, one that has just been made, and what is none.
    for name in ("fabricsim-common-killed", "fabricsim-common-running", "fabricsim-common-new", "another"):
        (held / name).mkdir()
        (held / name / "tables-1").touch()
    (held / "fabricsim-common-killed" / ".lock").touch()
    running = (held / "fabricsim-common-running" / ".lock").open("w")
    fcntl.flock(running, fcntl.LOCK_EX)
    monkeypatch.setenv("TMPDIR", str(held))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(kind="dfsssp"))
    results = fs.load(path).run(out=tmp_path / "out", progress=False, jobs=2)
    assert results.runs.num_rows == 4
    running.close()
    assert sorted(path.name for path in held.iterdir()) == ["another", "fabricsim-common-new", "fabricsim-common-running"]
