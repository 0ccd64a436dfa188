"""Where jobs are: `fabricsim show --placement` with the real core, and files of users."""

import json
import subprocess
import sys

import pytest

from conftest import REAL

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

STUDY = """\
name = "placed"
[topology]
kind = "dragonfly"
groups = 4
routers_per_group = 2
nodes_per_router = 2
[[job]]
name = "a"
nodes = 6
placement = {first}
[[job]]
name = "b"
nodes = 4
placement = {second}
[run]
end = "1 us"
"""


def show(folder, *arguments, first='"linear"', second='"linear"'):
    (folder / "study.toml").write_text(STUDY.format(first=first, second=second))
    command = [sys.executable, "-m", "fabricsim", "show", "study.toml", "--placement", *arguments]
    ran = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=120, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def test_a_job_tells_how_many_nodes_it_has_in_each_group(tmp_path):
    code, out, err = show(tmp_path, second='"spread"')
    assert code == 0, err
    assert "job a: 6 nodes, placed linear in 2 groups" in out
    assert "g0: 4, g1: 2" in out
    assert "job b: 4 nodes, placed spread in 3 groups" in out


def test_json_has_the_placement_with_its_keys(tmp_path):
    (tmp_path / "nodes.csv").write_text("logical,physical\n" + "".join(f"{i},{15 - i}\n" for i in range(4)))
    second = '{ kind = "file", file = "nodes.csv" }'
    code, out, err = show(tmp_path, "--json", first='{ kind = "strided", stride = 2 }', second=second)
    assert code == 0, err
    jobs = json.loads(out)["jobs"]
    assert jobs[0]["placement"] == {"strided": {"stride": 2}}
    # Nodes 0, 2, ..., 10 in groups of four.
    assert jobs[0]["groups"] == [["g0", 2], ["g1", 2], ["g2", 2]]
    assert (jobs[1]["placement"], jobs[1]["groups"]) == ("file", [["g3", 4]])


def test_a_node_that_another_job_has_is_refused_by_name(tmp_path):
    (tmp_path / "nodes.csv").write_text("logical,physical\n0,9\n1,8\n2,3\n3,7\n")
    code, _, err = show(tmp_path, second='{ kind = "file", file = "nodes.csv" }')
    assert code == 2
    assert 'job.1.placement: node 3 of logical node 2 is taken by job "a" (list nodes that are free' in err


def test_the_list_says_what_each_kind_is_and_what_it_needs():
    ran = subprocess.run([sys.executable, "-m", "fabricsim", "list", "placement"], text=True, capture_output=True, check=True)
    lines = ran.stdout.splitlines()
    per_group = next(line for line in lines if line.startswith("per-group"))
    assert "Fills one group after the other" in per_group
    assert "[Jain et al. 2014" in per_group
    assert any(line.startswith("  stride ") and "[required]" in line for line in lines)
