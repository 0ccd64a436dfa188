"""Saturation loads: against channel loads worked out by hand, searches that were stopped, and what cannot be searched."""

import json
import signal
import subprocess
import sys
import time
import tomllib

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim.analyses.saturation.bracket import Bracket

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

WITHIN = 0.03


def _of(text):
    return fs.Study(tomllib.loads(text))


def _study(topology, routing, pattern, *, end="100 us", more=""):
    return _of(
        f"""
name = "s"
topology = {topology}
routing = {routing}
[link]
bandwidth = "10 GB/s"
latency = "20 ns"
[router]
model = "credit"
buffer = "256 KiB"
traversal = "20 ns"
[nic]
packet = "1 KiB"
[[job]]
work = {{ {pattern}, load = 0.1, message = "1 KiB", process = "poisson" }}
[run]
end = "{end}"
{more}"""
    )


#: What is offered when the busiest link is full, by hand: link bandwidths are those of interfaces.
THEORY = {
    # The way round is 4 of 8 hops at most; mean distance with nodes that do not send to themselves 16/7, over 2 links of a router.
    "ring of 8, uniform": ('{ kind = "ring", routers = 8 }', '{ kind = "dor" }', 'kind = "uniform"', 2 / (16 / 7)),
    # Each half of a mesh of 8 sends 4 x 4/7 of the load over the middle link.
    "mesh of 8, uniform": ('{ kind = "mesh", shape = [8] }', '{ kind = "dor" }', 'kind = "uniform"', 7 / 16),
    # 8 x 8, transpose, dimension order: 7 sources of a row turn at its diagonal (Dally & Towles 2004, 3.2): the last link takes 7.
    "mesh 8 x 8, transpose": ('{ kind = "mesh", shape = [8, 8] }', '{ kind = "dor" }', 'kind = "transpose"', 1 / 7),
    # Everybody sends 3 routers on: 3 flows over each link.
    "ring of 8, shift by 3": ('{ kind = "ring", routers = 8 }', '{ kind = "dor" }', 'kind = "shift", by = 3', 1 / 3),
    # Both dimensions of 4 are fully connected; 4 nodes a router send to the one next to it: 4 flows over a cable.
    "hyperx 4 x 4, next router": (
        '{ kind = "hyperx", shape = [4, 4], nodes_per_router = 4 }',
        '{ kind = "dor" }',
        'kind = "shift", by = 4',
        1 / 4,
    ),
    # 8 nodes of a group over its one cable to the next.
    "dragonfly, next group": (
        '{ kind = "dragonfly", groups = 5, routers_per_group = 4, nodes_per_router = 2 }',
        '{ kind = "minimal" }',
        'kind = "shift", by = 8',
        1 / 8,
    ),
    # Half of the cables upwards: 8 nodes of a leaf over 4 of them, to other leaves.
    "fat-tree, tapered, next leaf": (
        '{ kind = "fat-tree", down = [8, 8], up = [4] }',
        '{ kind = "d-mod-k" }',
        'kind = "shift", by = 8',
        1 / 2,
    ),
    # A torus of 4 x 4 sends half-way round in both directions alike: 1 hop of x on the mean over 2 links, of all but oneself.
    "torus 4 x 4, tornado": ('{ kind = "torus", shape = [4, 4] }', '{ kind = "dor" }', 'kind = "shift", by = 1', 1.0),
}


@pytest.mark.parametrize("case", THEORY)
def test_networks_saturate_where_their_busiest_link_is_full(case, tmp_path):
    topology, routing, pattern, load = THEORY[case]
    (found,) = fs.saturation(_study(topology, routing, pattern, end="200 us"), out=tmp_path / "o")
    assert found.runs <= 9
    if load >= 1:
        assert found.kind == "full", found.sentence
        assert "keeps up with full injection" in found.sentence
        return
    assert found.kind == "found", found.sentence
    assert found.load == pytest.approx(load, rel=WITHIN), found.sentence
    assert found.low < found.load < found.high
    assert found.links.full
    # The curve has the shares, and is one of loads that rise; accepted load follows below and does not above.
    shares = [entry.share for entry in found.measured if entry.share is not None]
    assert shares == [0.25, 0.5, 0.8]
    loads = [entry.load for entry in found.measured]
    assert loads == sorted(loads)
    for entry in found.measured:
        if entry.state == "ok":
            assert entry.accepted_load == pytest.approx(entry.offered_load, rel=0.05)
        if entry.load >= found.high:
            assert entry.state == "saturated"


def test_a_what_if_is_measured_and_told_in_the_first_sentence(tmp_path):
    study = _study(THEORY["dragonfly, next group"][0], '{ kind = "minimal" }', 'kind = "shift", by = 8')
    (found,) = fs.saturation(
        study, out=tmp_path / "o", what_if=[("topology.links_per_pair", "2"), ("topology.groups", "nonsense")]
    )
    twice, nonsense = found.moved
    assert twice.load == pytest.approx(2 * found.load, rel=2 * WITHIN)
    assert f"`links_per_pair = 2` moves it to {twice.value}" in found.sentence
    # A change that cannot be is told without losing the rest.
    assert nonsense.kind == "failed"
    assert "`groups = nonsense` gives no answer" in found.sentence
    assert "global" in found.sentence


SWEPT = """
name = "s"
topology = { kind = "mesh", shape = [8] }
[link]
bandwidth = "10 GB/s"
latency = "20 ns"
[router]
model = "credit"
buffer = "64 KiB"
[[job]]
work = { kind = "uniform", load = 0.1, message = "1 KiB", process = "poisson" }
[sweep]
"routing.kind" = ["dor", "valiant", "ugal", "nonsense"]
"job.0.work.load" = [0.1, 0.2]
[run]
end = "60 us"
seeds = [1, 2]
"""


def _command(folder, *words):
    return [sys.executable, "-m", "fabricsim", "saturation", "s.toml", "--out", "o", "--no-report", *words], {
        "cwd": folder,
        "text": True,
    }


def test_a_search_that_was_stopped_goes_on_and_gives_the_same_bytes(tmp_path):
    swept = SWEPT.replace(', "nonsense"', "")
    answers = []
    for name in ("whole", "stopped"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "s.toml").write_text(swept)
        command, how = _command(folder, "--quiet")
        if name == "stopped":
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how) as job:
                deadline = time.monotonic() + 60
                while len(list((folder / "o" / "runs").glob("*.json"))) < 5 and job.poll() is None:
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                job.send_signal(signal.SIGINT)
                assert job.wait(60) == 130
        done = subprocess.run(command, capture_output=True, check=False, timeout=300, **how)
        assert done.returncode == 0, done.stderr
        answers.append((folder / "o" / "saturation.json").read_bytes())
        assert "dor saturates at" in done.stdout.splitlines()[0]
        told = subprocess.run([sys.executable, "-m", "fabricsim", "verify", "o"], cwd=folder, capture_output=True, check=False)
        assert told.returncode == 0, told.stdout
    assert answers[0] == answers[1]
    # The second use of the same folder runs nothing and answers the same.
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "whole" / "o" / "runs").glob("*.json")}
    command, how = _command(tmp_path / "whole", "--json")
    again = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=300, **how).stdout)
    assert [entry["point"] for entry in again["saturations"]] == [{"routing.kind": kind} for kind in ("dor", "valiant", "ugal")]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "whole" / "o" / "runs").glob("*.json")} == before


def test_common_seeds_and_a_point_that_cannot_be_are_told_per_point(tmp_path):
    found = fs.saturation(_of(SWEPT.replace('"nonsense"', '"doal"')), out=tmp_path / "o", within=0.02)
    kinds = [one.kind for one in found]
    assert kinds[3] == "failed", kinds
    assert "failed" not in kinds[:3]
    assert "no answer" in found[3].sentence
    assert all(len(entry.states) == 2 for one in found[:3] for entry in one.measured), "both seeds at every load"
    assert any("replaced by the search" in note for note in found[0].notes)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ('{ kind = "halo3d-26", grid = [8, 8, 8] }', "has no load to search"),
        ('{ kind = "uniform", load = 0.1, message = "1 KiB", count = 5 }', "has no load to search"),
    ],
)
def test_work_without_a_load_is_refused_with_what_to_do(tmp_path, work, words):
    study = _of(f'name = "s"\ntopology = {{ kind = "torus", shape = [4, 4] }}\n[[job]]\nwork = {work}\n')
    with pytest.raises(ValueError, match=words) as refused:
        fs.saturation(study, out=tmp_path / "o")
    assert "fabricsim knee" in str(refused.value)
    assert not (tmp_path / "o").exists()


def test_one_node_sends_nothing_and_says_so(tmp_path):
    study = _study('{ kind = "single-router", nodes = 1 }', '{ kind = "minimal" }', 'kind = "uniform"')
    (found,) = fs.saturation(study, out=tmp_path / "o")
    assert found.kind in ("silent", "failed"), found.sentence


def test_a_bracket_closes_about_any_load_within_its_runs():
    for percent in range(1, 100):
        true = percent / 100
        for start in (None, true, 1.3 * true, 0.7 * true):
            bracket = Bracket(within=0.005, start=start, most=30, length=10, longest=10)
            while (asked := bracket.ask()) is not None:
                bracket.tell(asked[0], "ok" if asked[0] < true else "saturated")
            low, high = bracket.low or 0.0, bracket.high if bracket.high is not None else 1.0
            assert low <= true <= high, (true, start, bracket)
            assert (high - low) / 2 <= bracket.tolerance((low + high) / 2) * 1.01, (true, start, bracket)
            if start == true:
                assert len(bracket.tried) <= 3, (true, bracket.tried)
