"""Who gets which router: `fabricsim show --partition` with the real core, and maps of users."""

import json
import subprocess
import sys

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim.registry import partition

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

STUDY = """\
name = "shared"
[topology]
kind = "{kind}"
{shape}
[[job]]
work = {{ kind = "uniform", load = 0.2 }}
[run]
end = "2 us"
{run}
"""
TORUS = {"kind": "torus", "shape": "shape = [4, 4, 8]\nnodes_per_router = 1"}


def show(folder, *arguments):
    command = [sys.executable, "-m", "fabricsim", "show", "study.toml", *arguments]
    ran = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=120, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def write(folder, *, run="", **network):
    (folder / "study.toml").write_text(STUDY.format(run=run, **(network or TORUS)))


def test_a_table_tells_what_each_worker_gets_and_what_is_cut(tmp_path):
    write(tmp_path)
    code, out, err = show(tmp_path, "--partition", "--workers", "4")
    assert code == 0, err
    assert "4 workers share out the routers by the order of the network's family" in out
    # Four slabs of two planes of 16 routers with 6 ports and a node.
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["0"], ["1"], ["2"], ["3"])]
    assert [row[1:5] for row in rows] == [["32", "32", "256", "25.0"]] * 4
    assert "cables between workers: 64 of 384 (16.7 %)" in out
    assert "z: 64 of 128 (50.0 %)" in out
    assert "x: 0 of 128 (0.0 %)" in out
    assert "1.000 times the mean" in out


def test_json_has_the_worker_of_every_router(tmp_path):
    write(tmp_path, run="workers = 2")
    code, out, _ = show(tmp_path, "--partition", "--json")
    assert code == 0
    found = json.loads(out)["partition"]
    assert (found["method"], found["cables_cut"], len(found["workers"])) == ("blocks", 32, 2)
    # The first dimension runs fastest: planes of z are 16 routers in a row.
    assert found["worker_of_router"] == [0] * 64 + [1] * 64


def test_without_the_option_nothing_is_shared_out(tmp_path):
    write(tmp_path)
    code, out, _ = show(tmp_path, "--json")
    assert code == 0
    assert "partition" not in json.loads(out)


def test_the_drawing_has_a_colour_per_worker(tmp_path):
    write(tmp_path)
    colours = {"#2563a8", "#d1622b", "#2f8f5b", "#8a4fa3"}
    assert show(tmp_path, "--workers", "3", "--out", "three.svg")[0] == 0
    drawn = (tmp_path / "three.svg").read_text()
    assert {colour for colour in colours if colour in drawn} == {"#2563a8", "#d1622b", "#2f8f5b"}
    assert show(tmp_path, "--out", "plain.svg")[0] == 0
    assert not any(colour in (tmp_path / "plain.svg").read_text() for colour in colours)


def test_metis_shares_out_graphs_from_files(tmp_path):
    ring = [f"a{i} a{(i + 1) % 12}\na{i} a{(i + 5) % 12}\n" for i in range(12)]
    other = [line.replace("a", "b") for line in ring]
    lines = [line for pair in zip(ring, other, strict=True) for line in pair]
    (tmp_path / "net.txt").write_text("".join(lines) + "a0 b0\n")
    write(tmp_path, kind="graph", shape='file = "net.txt"\nnodes_per_router = 1')
    code, out, err = show(tmp_path, "--partition", "--workers", "2", "--json")
    assert code == 0, err
    found = json.loads(out)["partition"]
    assert (found["cables_cut"], [share["routers"] for share in found["workers"]]) == (1, [12, 12])


def test_a_map_decides_and_changes_no_result(tmp_path):
    rows = [f'"({x},{y})",{3 * (x // 2) + y % 2}' for y in range(4) for x in range(4)]
    (tmp_path / "map.csv").write_text("router,part\n" + "\n".join(rows) + "\n")
    mesh = {"kind": "mesh", "shape": "shape = [4, 4]\nnodes_per_router = 1"}
    write(tmp_path, run='partition = { file = "map.csv" }', **mesh)
    code, out, err = show(tmp_path, "--partition", "--workers", "2", "--json")
    assert code == 0, err
    found = json.loads(out)["partition"]
    assert found["method"] == "map"
    assert found["worker_of_router"] == [0, 0, 1, 1] * 4
    with_map = fs.load(tmp_path / "study.toml").expand().runs[0]
    write(tmp_path, **mesh)
    without = fs.load(tmp_path / "study.toml").expand().runs[0]
    assert with_map.id == without.id
    # The canonical run needs the file no more.
    (tmp_path / "map.csv").unlink()
    assert partition(with_map.canonical, 2)["worker_of_router"] == [0, 0, 1, 1] * 4


def test_mistakes_of_a_map_have_place_reason_and_hint(tmp_path):
    (tmp_path / "map.csv").write_text("router,part\n0,0\n(9,9,9),1\n")
    write(tmp_path, run='partition = { file = "map.csv" }', **TORUS)
    code, _, err = show(tmp_path, "--partition")
    assert code == 2
    assert 'map.csv, line 3: there is no router "(9,9,9)"' in err
    assert "study.toml:10" in err
    (tmp_path / "map.csv").write_text("router,part\n" + "".join(f"{r},{r % 2}\n" for r in range(128)))
    code, _, err = show(tmp_path, "--partition", "--workers", "3")
    assert code == 2
    assert "parts for 2 workers only, not for 3" in err
    assert "take 2 workers or fewer" in err
