"""Predicted memory and time of runs: against what runs take, and what a campaign does with them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from conftest import REAL
from fabricsim._forecast import Forecast, forecast_line, overview_line, simulated_seconds
from fabricsim._host import available_memory

real = pytest.mark.skipif(not REAL, reason="needs the real core")

#: Name, network, router and routing, load, what is observed. None of them was looked at when the prediction was made.
NETWORKS = [
    ("mesh of 2,048", 'kind = "mesh"\nshape = [32, 32]\nnodes_per_router = 2', "", 0.1, ""),
    ("hyperx of 1,728", 'kind = "hyperx"\nshape = [6, 6, 6]\nnodes_per_router = 8', "", 0.6, ""),
    (
        "hyperx of 27,648, valiant",
        'kind = "hyperx"\nshape = [12, 12, 12]\nnodes_per_router = 16',
        '[routing]\nkind = "valiant"',
        0.4,
        "",
    ),
    ("dragonfly of 8,320", 'kind = "dragonfly"\ngroups = 65\nrouters_per_group = 16\nnodes_per_router = 8', "", 0.4, ""),
    ("tapered fat-tree of 4,096", 'kind = "fat-tree"\ndown = [16, 16, 16]\nup = [8, 8]', "", 0.7, ""),
    (
        "dragonfly+ of 2,048",
        'kind = "dragonfly+"\ngroups = 16\nleaves = 8\nspines = 8\nnodes_per_leaf = 16',
        '[router]\nmodel = "sculpin"',
        0.5,
        'messages = "full"\nlinks = true',
    ),
    ("torus of 4,096, input-queued", 'kind = "torus"\nshape = [16, 16, 16]', '[router]\npreset = "merlin"', 0.3, ""),
    ("torus of 8,192, late admission", 'kind = "torus"\nshape = [8, 8, 8, 16]', '[router]\npreset = "codes-torus"', 0.1, ""),
    (
        "saturated torus of 32,768, sculpin",
        'kind = "torus"\nshape = [8, 8, 8, 8, 8]',
        '[router]\nmodel = "sculpin"',
        1.0,
        "",
    ),
    ("32,768 nodes of a hyperx", 'kind = "hyperx"\nshape = [32, 32]\nnodes_per_router = 32', "", 0.3, 'messages = "full"'),
]


def fabricsim(folder, *arguments, timeout=300):
    return subprocess.run(
        [sys.executable, "-m", "fabricsim", *arguments], cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
    )


def write(folder, network, rest, load, observe, end="4 us", sweep=""):
    (folder / "s.toml").write_text(
        f'name = "p"\n[topology]\n{network}\n{rest}\n[[job]]\nwork = {{ kind = "uniform", load = {load}, message = "2 KiB" }}\n'
        f'[observe]\n{observe}\n[run]\nend = "{end}"\nwarmup = "1 us"\n{sweep}'
    )


@real
@pytest.mark.parametrize(("name", "network", "rest", "load", "observe"), NETWORKS, ids=[row[0] for row in NETWORKS])
def test_memory_is_predicted_within_a_factor_of_two(tmp_path, name, network, rest, load, observe):
    write(tmp_path, network, rest, load, observe)
    # A process of its own, whose peak is this run's.
    done = fabricsim(tmp_path, "run", "s.toml", "--out", "r", "--no-report", "--workers", "1", "--json")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    told = manifest["runs"][0]["estimate"]["memory_bytes"]
    took = json.loads((tmp_path / "r" / "summary.json").read_text())["runs"][0]["peak_rss_bytes"]
    print(f"{name}: predicted {told / 1e6:.0f} MB, took {took / 1e6:.0f} MB, ratio {told / took:.2f}")
    assert 0.5 <= told / took <= 2.0


@real
def test_check_and_expand_tell_what_runs_will_take(tmp_path):
    write(tmp_path, 'kind = "torus"\nshape = [4, 4]', "", 0.1, "", end="200 us", sweep='[sweep]\n"run.seeds" = [[1], [2]]\n')
    checked = json.loads(fabricsim(tmp_path, "check", "s.toml", "--json").stdout)
    expanded = json.loads(fabricsim(tmp_path, "expand", "s.toml", "--json").stdout)
    assert [entry["estimate"]["packet_hops"] for entry in expanded["runs"]] == [
        entry["packet_hops"] for entry in checked["predictions"]
    ]
    found = checked["predictions"][0]
    assert found["label"]
    assert found["memory_bytes"] > 50e6
    # 16 nodes send 1 / 819.2 ns each (25 GB/s, 2 KiB, load 0.1) for 200 us and a step of the drain, a sixteenth, over 1 + 2 * 16 / 15 links.
    assert found["packet_hops"] == pytest.approx(16 * 212_500 / 819.2 * (1 + 32 / 15), rel=0.03)
    assert "packet hops" in fabricsim(tmp_path, "expand", "s.toml").stdout
    assert "predicted: " in fabricsim(tmp_path, "check", "s.toml").stdout


def test_times_come_from_what_finished_runs_have_taken():
    forecast = Forecast()
    small = {"packet_hops": 10**6, "seconds": 0.3, "build_seconds": 0.1}
    large = {"packet_hops": 10**8, "seconds": 20.1, "build_seconds": 0.1}
    assert forecast.seconds(large) == 20.1
    forecast.learn(small, 0.6)
    assert forecast.seconds(large) == pytest.approx(60.1), "hops cost three times as much here"
    forecast.learn({"packet_hops": None, "seconds": None}, 1e9)
    assert forecast.seconds(large) == pytest.approx(60.1)
    # Long runs count for what they are.
    forecast.learn(large, 20.0)
    assert forecast.seconds(large) == pytest.approx(0.1 + 20 * 20.6 / 20.2)
    assert forecast.seconds({"seconds": None}) is None
    # By the run's own clock; the parts before a checkpoint are in its CPU time alone.
    own = {"summary": {"cpu_s": 8.0, "execution": {"wall_s": 3.0, "workers": 4}}, "wall_s": 9.0}
    assert simulated_seconds(own, small) == 3.0
    own["summary"]["cpu_s"] = 40.0
    assert simulated_seconds(own, small) == 10.0
    assert simulated_seconds({"wall_s": 0.5, "summary": {}}, small) == pytest.approx(0.4)


def test_what_may_repeat_is_told_beside_the_whole():
    estimate = {"packet_hops": 10**9, "seconds": 5400.1, "build_seconds": 0.1, "memory_bytes": 2**30}
    alone = SimpleNamespace(label="halo", estimate=estimate)
    repeats = SimpleNamespace(label="halo", estimate=estimate | {"seconds_at_least": 3.1})
    assert "repeat" not in forecast_line(alone, Forecast()) + overview_line([alone], Forecast())
    assert "about 1 h 30 min, from 3.1 s on if iterations repeat, 1.0 GiB" in forecast_line(repeats, Forecast())
    assert "less if iterations repeat" in overview_line([alone, repeats], Forecast())
    # What hops have cost so far counts for both.
    slow = Forecast()
    slow.learn({"seconds": 1.1, "build_seconds": 0.1}, 2.0)
    assert "from 6.1 s on" in forecast_line(repeats, slow)


@real
def test_iterations_that_repeat_are_told(tmp_path):
    for name, keys in {"repeats": "", "all": '[run]\nfast_forward = "off"\n'}.items():
        text = (
            '[topology]\nkind = "torus"\nshape = [4, 4]\n[[job]]\nwork = { kind = "halo3d", grid = [16, 16, 16], iterations = 400 }\n'
            + keys
        )
        (tmp_path / f"{name}.toml").write_text(text)
    whole = json.loads(fabricsim(tmp_path, "expand", "all.toml", "--json").stdout)["runs"][0]["estimate"]
    found = json.loads(fabricsim(tmp_path, "expand", "repeats.toml", "--json").stdout)["runs"][0]["estimate"]
    assert whole["seconds_at_least"] is None
    least, all_of_it = (found[key] - found["build_seconds"] for key in ("seconds_at_least", "seconds"))
    assert least == pytest.approx(all_of_it / 100)


def spans(out):
    """Return when runs began and ended, by the clock of files."""
    found = []
    for path in (out / "runs").glob("*.json"):
        ended = path.stat().st_mtime
        found.append((ended - json.loads(path.read_text())["wall_s"], ended))
    return sorted(found)


def test_runs_that_do_not_fit_together_run_one_after_the_other(shell):
    study = shell.study(loads="0.1, 0.2, 0.3", fake="seconds = 1.0")
    # The double predicts 1,064,000 bytes per run.
    ran = shell("run", study, "--out", "tight", "--jobs", "3", "--memory", "2 MB")
    assert ran.code == 0, ran.err
    assert "warning" not in ran.err
    one_by_one = spans(shell.folder / "tight")
    assert len(one_by_one) == 3
    # The clock of files is a hundredth of a second coarse.
    assert all(before[1] <= after[0] + 0.05 for before, after in itertools.pairwise(one_by_one)), one_by_one
    ran = shell("run", study, "--out", "wide", "--jobs", "3", "--memory", "4 MB")
    assert ran.code == 0, ran.err
    together = spans(shell.folder / "wide")
    assert together[1][0] < together[0][1], together


def test_a_run_that_does_not_fit_runs_alone_with_a_warning(shell):
    study = shell.study(loads="0.1, 0.2", fake="seconds = 0.5")
    ran = shell("run", study, "--out", "r", "--jobs", "2", "--memory", "500 kB")
    assert ran.code == 0, ran.err
    assert ran.err.count("warning: ") == 2
    assert "is predicted to take 1.0 MiB, there is room for 488.3 KiB: it runs alone" in ran.err
    first, second = spans(shell.folder / "r")
    assert first[1] <= second[0] + 0.05
    for size in ("much", "16", "-3 GiB", "1 s"):
        ran = shell("run", study, "--out", "r", "--memory", size)
        assert ran.code == 2
        assert f"--memory {size}: write a size" in ran.err


def test_a_campaign_says_beforehand_what_its_runs_will_take(shell):
    ran = shell("run", shell.study(loads="0.1, 0.2", fake="seconds = 0.5"), "--jobs", "1")
    assert "load=0.1 seed=1: 16.0 k packet-hops, about 0.6 s, 1.0 MiB" in ran.err
    assert "predicted: 1.2 s of runs, up to 1.0 MiB each" in ran.err
    (line,) = [line for line in ran.err.splitlines() if "[1/2]" in line]
    assert "(predicted 0.6 s)" in line


def group(root, path, limit, used, dropped=0):
    folder = root / "sys/fs/cgroup" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {dropped}\n")


def test_limits_of_control_groups_count_as_well_as_free_memory(tmp_path):
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    assert available_memory(tmp_path) is None
    (proc / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    assert available_memory(tmp_path) == 2_048_000
    (proc / "self" / "cgroup").write_text("0::/slurm/job1\n")
    group(tmp_path, "slurm/job1", "max", 10)
    assert available_memory(tmp_path) == 2_048_000
    group(tmp_path, "slurm", 1_000_000, 400_000, dropped=50_000)
    assert available_memory(tmp_path) == 650_000, "of a group above, and what files hold is free"
    group(tmp_path, "slurm/job1", 300_000, 100_000)
    assert available_memory(tmp_path) == 200_000
    # Version 1 has a tree of its own.
    (proc / "self" / "cgroup").write_text("4:cpu:/x\n3:memory:/job\n")
    old = tmp_path / "sys/fs/cgroup/memory/job"
    old.mkdir(parents=True)
    (old / "memory.limit_in_bytes").write_text("700000")
    (old / "memory.usage_in_bytes").write_text("100000")
    assert available_memory(tmp_path) == 600_000
    (old / "memory.limit_in_bytes").write_text("9223372036854771712")
    assert available_memory(tmp_path) == 2_048_000
