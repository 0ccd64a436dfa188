"""Calibration: costs that are known come back, and machines that were measured are met where nothing was fitted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim.analyses.calibrate.fit import ping_pong
from fabricsim.analyses.calibrate.measured import Measured, read_measurements

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")
pytest.importorskip("scipy")

VALIDATION = Path(__file__).resolve().parents[2] / "validation"
DAHU = VALIDATION / "dahu-ping-pong.csv"
OMNI_PATH = {"link.bandwidth": "100 Gbit/s", "link.latency": "100 ns"}
#: Where Omni-Path's library changes its protocol on that machine.
PROTOCOLS = ["8141 B", "15182 B", "33975 B", "64000 B"]


def _time(study, size):
    """The time of one way of a ping-pong, by a run (ns)."""
    study = study.with_sets({"job.0.work.messages": f"{size} B"})
    return json.loads(fs._core.run(study.expand().runs[0].canonical, None).summary)["jobs"][0]["time_ns"] / 2


def _made(sets, sizes):
    study = ping_pong().with_sets(sets)
    return [Measured(size, _time(study, size)) for size in sizes]


def test_costs_that_are_known_come_back():
    # Never what was measured anywhere: by plain keys, and from there by rows.
    sets = {
        **OMNI_PATH,
        **{"mpi.send_overhead": "310 ns", "mpi.receive_overhead": "290 ns", "mpi.copy": "7 GB/s", "mpi.eager": "16 KiB"},
        "nic.packet_overhead": "23 ns",
    }
    points = _made(sets, [1, 64, 1024, 4096, 16384, 20000, 65536, 1 << 20, 8 << 20])
    found = fs.calibrate(points, study=ping_pong().with_sets(OMNI_PATH))
    assert found.eager_between == (16384, 20000)
    assert 16384 <= found.eager < 20000
    small, large = found.pieces
    assert small.overhead_ns == pytest.approx(300, rel=0.01)
    assert small.per_byte_ns == pytest.approx(1 / 7, rel=0.02)
    assert large.overhead_ns == pytest.approx(300, rel=0.02)
    assert large.per_byte_ns == 0
    assert found.packet_overhead_ns == pytest.approx(23, rel=0.02)
    assert all(abs(point.error) < 2e-3 for point in found.points)
    # What it says to write is what it simulated.
    again = ping_pong().with_sets({**OMNI_PATH, **found.keys()})
    assert _time(again, 4096) == found.points[3].simulated_ns


def test_a_switch_of_omni_path_is_met_where_nothing_was_fitted():
    """10 % above its eager limit and 25 % below, with five points for three protocols that are one here; both were set before the first run.

    One point is not met: between 15 and 34 KB the machine has a protocol of its own, which no line from 1 B to 64,000 B knows of.
    """
    found = fs.calibrate(DAHU, study=ping_pong().with_sets(OMNI_PATH), eager="64000 B")
    held_out = {point.size: point.error for point in found.points if point.held_out}
    assert list(held_out) == [64, 1024, 4096, 12288, 24576, 64000, 64001, 1 << 20]
    not_met = {size: error for size, error in held_out.items() if abs(error) > (0.10 if size > 64000 else 0.25)}
    assert not_met == {24576: pytest.approx(0.272, abs=0.002)}


def test_with_its_protocols_as_pieces_it_is_met_within_five_per_cent():
    def one_way(size):
        # Round trips of the source, a + b n: us and ns per byte.
        table = (
            (8141, 2.814, 0.5121),
            (15182, 6.176, 0.2110),
            (33975, 5.713, 0.2237),
            (64000, 11.92, 0.2275),
            (10**12, 26.24, 0.1620),
        )
        a, b = next((a, b) for upto, a, b in table if size <= upto)
        return (1e3 * a + b * size) / 2

    fitted = [1, 8141, 8142, 15182, 15183, 33975, 33976, 64000, 64001, 16 << 20]
    points = [Measured(size, one_way(size)) for size in fitted]
    points += [point for point in read_measurements(DAHU) if point.size not in fitted]
    points = [Measured(point.size, point.time_ns, point.size not in fitted) for point in points]
    found = fs.calibrate(points, study=ping_pong().with_sets(OMNI_PATH), eager="64000 B", pieces=PROTOCOLS)
    assert len(found.pieces) == 5
    assert found.packet_overhead_ns is None
    assert max(abs(point.error) for point in found.points) < 0.05


def _torus(shape, nodes, sets=None):
    work = {"kind": "collective", "collective": "allgather", "iterations": 1}
    study = {
        "name": "ring",
        "topology": {"kind": "torus", "shape": shape},
        "link": {"bandwidth": "6.8 GB/s", "latency": "100 ns"},
        "mpi": {"allgather": "ring"},
        "job": [{"work": work, "nodes": nodes}],
    }
    return fs.Study(study, sets=sets)


def test_a_ring_on_512_nodes_of_fugaku_follows_from_one_on_eight():
    """Within 10 %, set before the first run: total times of 511 steps, of which nothing was fitted to.

    The table on eight nodes has a jump between 32 and 256 B and another one above 16 KiB: three pieces. One line up to 16 KiB is up to 14 %
    off on the eight nodes themselves, and 12 and 15 % at the two smaller sizes here.
    """
    table = VALIDATION / "fugaku-ring-step.csv"
    found = fs.calibrate(table, study=_torus([2, 2, 2], 8), per=7, pieces=["32 B", "16 KiB"], eager="16 KiB")
    assert max(abs(point.error) for point in found.points) < 0.10
    measured_us = {256: 1489, 2048: 1887, 16384: 4290, 131072: 17428}
    errors = {}
    for size, least in measured_us.items():
        study = _torus([8, 8, 8], 512, found.keys()).with_sets({"job.0.work.message": f"{size} B"})
        summary = json.loads(fs._core.run(study.expand().runs[0].canonical, None).summary)
        errors[size] = summary["jobs"][0]["time_ns"] / 1e3 / least - 1
    assert all(abs(error) < 0.10 for error in errors.values()), errors


def _command(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "fabricsim", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_the_command_writes_keys_that_a_study_takes(tmp_path):
    points = _made(OMNI_PATH, [1, 256, 4096, 16384, 262144, 1 << 20])
    rows = "".join(f"{point.size},{point.time_ns / 1e3}\n" for point in points)
    (tmp_path / "table.csv").write_text(f"# a line for people\nbytes,time_us\n{rows}")
    done = _command(
        "calibrate", "table.csv", "--set", "link.bandwidth=100 Gbit/s", "--set", "link.latency=100 ns", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["sentence"].startswith("6 points fitted to: the worst is ")
    folder = tmp_path / "table-calibrated"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        f"calibration.{kind}" for kind in ("csv", "json", "png", "svg", "toml")
    )
    keys = (folder / "calibration.toml").read_text()
    (tmp_path / "study.toml").write_text(f'name = "with-them"\ntopology = {{ kind = "single-router", nodes = 2 }}\n{keys}')
    assert fs.load(tmp_path / "study.toml").check().ok
    # A second time into the same folder is another calibration there.
    assert _command("calibrate", "table.csv", "--eager", "8 KiB", "--no-packet-overhead", cwd=tmp_path).returncode == 0
    assert "packet_overhead" not in (folder / "calibration.toml").read_text()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "is empty"),
        ("size,time_us\n1,2\n", "table.csv:1: the columns are size, time_us; there must be bytes"),
        ("bytes,time\n1,2\n", "name ends in its unit"),
        ("bytes,time_us\n1,2\n64\n", "table.csv:3: has 1 values"),
        ("bytes,time_us\n1,2\n1,3\n", "table.csv:3: 1 B come a second time"),
        ("bytes,time_us\n1,fast\n", "table.csv:2: 'fast' is no time"),
        ("bytes,time_us\n1,0\n", "above zero"),
        ("bytes,time_us\n1 parsec,2\n", "'1 parsec' is no size"),
        ("bytes,time_us,use\n1,2,perhaps\n", "use is 'perhaps'; it is fit or check"),
        ("bytes,time_us\n1,2\n64,3\n", "2 points are fitted to, which is too few for 4 numbers"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(tmp_path, table, words):
    (tmp_path / "table.csv").write_text(table)
    done = _command("calibrate", "table.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "table-calibrated").exists()
