"""The knee of a curve: a closed form, noise that the seeds share and noise that they do not, and a network whose times follow from numbers."""

import csv
import json
import math
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import fabricsim as fs
from fabricsim._student import t_quantile
from fabricsim.analyses.knee.search import Axis, _fieller, search

REAL = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="times need the real core")


def _bandwidth(start="1 GB/s"):
    return Axis.of("link.bandwidth", start)


def _find(measure, *, start="1 GB/s", stop="1024 GB/s", **more):
    axis, first = _bandwidth(start)
    return search(axis, measure, start=first, stop=axis.parse(stop), **more)


def test_the_knee_of_a_fixed_part_and_a_part_that_shrinks_is_where_algebra_says():
    # t = a + b / x gains b / (2 (a x + b)) by a doubling: g at x = b (1 - 2 g) / (2 g a).
    asked = []

    def measure(x, a=100.0, b=400.0):
        asked.append(x)
        return [a + b / float(x)]

    found = _find(measure, gain=0.05)
    assert found.kind == "knee"
    assert found.value == pytest.approx(400 * 0.9 / (0.1 * 100), rel=0.01)
    # 1 to 128 by doublings, then three bisections between 32 and 64 with two values each.
    assert len(asked) == len(set(asked)) == 8 + 6
    assert found.n_seeds == 1
    assert found.low is None
    assert found.high is None
    assert (
        found.sentence
        == f"Beyond {found.text} doubling link.bandwidth cuts metric by less than 5 %. With one seed there are no intervals."
    )
    gains = {point.text: point.gain for point in found.doublings}
    assert gains["4 GB/s"] == pytest.approx(0.25)
    assert list(gains)[:3] == ["1 GB/s", "2 GB/s", "4 GB/s"]


@pytest.mark.parametrize("gain", [0.01, 0.05, 0.2])
def test_other_gains_have_other_knees(gain):
    found = _find(lambda x: [1 + 100 / float(x)], gain=gain, stop="100 TB/s", precision=0.02)
    assert found.value == pytest.approx(100 * (1 - 2 * gain) / (2 * gain), rel=0.002)


def test_a_metric_to_maximise_has_its_knee_where_the_rise_is_small():
    # m = x / (x + c) rises by c / (2 x + c): g at x = c (1 / g - 1) / 2.
    found = _find(lambda x: [float(x) / (float(x) + 10)], gain=0.1, maximise=True)
    assert found.value == pytest.approx(10 * (1 / 0.1 - 1) / 2, rel=0.01)
    assert "raises metric by less than 10 %" in found.sentence


def test_a_curve_that_never_flattens_and_one_that_is_flat_are_told():
    never = _find(lambda x: [1 / float(x)], stop="64 GB/s")
    assert (never.kind, never.value, never.points[-1].text) == ("never", None, "64 GB/s")
    assert never.sentence.startswith(
        "metric does not flatten up to 64 GB/s: doubling link.bandwidth from 32 GB/s cuts it by 50 %"
    )
    flat = _find(lambda x: [7.0])
    assert (flat.kind, len(flat.points)) == ("flat", 2)
    assert flat.sentence.startswith(
        "metric is flat from the start: doubling link.bandwidth from 1 GB/s cuts it by 0 %, less than 5 %."
    )
    worse = _find(lambda x: [float(x)])
    assert worse.kind == "flat"
    assert "raises it by 100 %" in worse.sentence


def test_what_all_seeds_share_does_not_blur_the_knee():
    shared = np.array([0.7, 1.0, 1.1, 1.6])
    found = _find(lambda x: shared * (100 + 400 / float(x)))
    assert found.value == pytest.approx(36, rel=0.01)
    # Seeds differ by a factor of two, and the interval stays between the last two values, which are 9 % apart.
    below, above = sorted(point.value for point in found.doublings if abs(point.value / 36 - 1) < 0.1)
    assert below <= float(found.low.split()[0]) <= float(found.high.split()[0]) <= above
    first = found.doublings[0]
    assert first.low == pytest.approx(first.gain)
    assert first.high == pytest.approx(first.gain)


def test_the_intervals_hold_the_truth_as_often_as_they_say():
    draws = np.random.Generator(np.random.Philox(11))
    hits, bounded, of_gain, n = 0, 0, 0, 300
    for _ in range(n):
        noise = {}

        def measure(x, noise=noise):
            if x not in noise:
                noise[x] = 1 + 0.01 * draws.standard_normal(5)
            return (100 + 400 / float(x)) * noise[x]

        found = _find(measure)
        low, high = (float(text.split()[0]) if text else None for text in (found.low, found.high))
        bounded += low is not None and high is not None
        hits += (low is None or low <= 36) and (high is None or 36 <= high)
        first = found.doublings[0]
        of_gain += first.low <= 0.4 <= first.high
    assert bounded > 0.9 * n
    assert 0.91 <= of_gain / n <= 0.985
    # Nominal less two standard errors of 300 repeats.
    assert hits / n >= 0.925


def test_fiellers_ends_are_where_a_paired_test_is_at_its_limit():
    draws = np.random.Generator(np.random.Philox(3))
    before, after = draws.normal(100, 5, 6), draws.normal(80, 5, 6)
    for end in _fieller(before, after, 0.95):
        difference = after - end * before
        statistic = difference.mean() / (difference.std(ddof=1) / math.sqrt(6))
        assert abs(statistic) == pytest.approx(t_quantile(0.95, 5), rel=1e-9)
    assert _fieller(before[:1], after[:1], 0.95) is None
    assert _fieller(np.array([1.0, -1.0]), np.array([1.0, 2.0]), 0.95) is None


def test_quantiles_of_student_are_those_of_the_tables():
    found = [t_quantile(level, degrees) for level, degrees in ((0.95, 1), (0.95, 2), (0.95, 10), (0.99, 7), (0.8, 30))]
    assert found == pytest.approx([12.7062047, 4.30265273, 2.22813885, 3.49948330, 1.31041503], rel=1e-8)


def test_values_are_written_in_the_unit_of_the_axis():
    axis, start = _bandwidth("1.5 GB/s")
    assert [axis.text(value) for value in (start, 2 * start, axis.middle(start, 2 * start))] == [
        "1.5 GB/s",
        "3 GB/s",
        "2.121 GB/s",
    ]
    axis, start = Axis.of("router.buffer", "8 KiB")
    assert [axis.text(value) for value in (4 * start, axis.middle(start, 2 * start))] == ["32 KiB", "11585 B"]
    axis, start = Axis.of("job.0.work.window", "3")
    assert [axis.text(value) for value in (start, axis.middle(start, 2 * start))] == ["3", "4"]
    axis, _ = _bandwidth("100 Gbit/s")
    assert axis.parse("25 GB/s") == Decimal(200)
    with pytest.raises(ValueError, match="no value in Gbit/s"):
        axis.parse("25 ns")


@pytest.mark.parametrize("text", ["dor", "[4, 4]", "0 ns", "true", "{ kind = 'x' }"])
def test_a_key_without_an_order_is_refused(text):
    with pytest.raises(ValueError, match="cannot be doubled"):
        Axis.of("routing.kind", text)


#: Two nodes on one router, one message at a time: t = a + b / x with the two links and the router as a, the message as b.
PING = {
    "name": "ping",
    "topology": {"kind": "single-router", "nodes": 2},
    "router": {"model": "sculpin", "traversal": "200 ns"},
    "link": {"bandwidth": "8 GB/s", "latency": "4 us"},
    "job": [
        {"work": {"kind": "pairs", "mode": "ping-pong", "pairs": [[0, 1]], "message": "64 KiB", "ack": "64 KiB", "messages": 10}}
    ],
    "run": {"seeds": [1, 2]},
}


@REAL
def test_a_ping_pong_has_the_knee_of_its_message(tmp_path):
    out = tmp_path / "k"
    (found,) = fs.knee(fs.Study(PING), over="link.bandwidth", out=out)
    a, b = 4000 + 200 + 4000, 65536  # ns; bytes, which are ns at 1 GB/s
    assert {point.text: point.mean for point in found.points}["8 GB/s"] == pytest.approx(a + b / 8)
    assert found.value == pytest.approx(b * (1 - 2 * 0.05) / (2 * 0.05 * a), rel=0.01)
    assert found.points[-1].text == "256 GB/s"
    # Nothing is random here: the seeds agree, and intervals have no width.
    assert found.low == found.high == found.text
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*.json")}
    again = fs.knee(fs.Study(PING), over="link.bandwidth", out=out)
    assert again == (found,)
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*.json")} == before


def _command(*arguments):
    command = [sys.executable, "-m", "fabricsim", "knee", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=300, check=False)


@REAL
def test_keys_that_are_doubled_together_have_one_value(tmp_path):
    # Both parts of a message's way shrink: its time halves until latency is left.
    study = fs.Study(
        {
            "name": "both",
            "topology": {"kind": "single-router", "nodes": 2},
            "link": {"bandwidth": "1 GB/s", "latency": "100 ns"},
            "router": {"model": "credit", "traversal": "100 ns", "buffer": "unlimited"},
            "nic": {"bandwidth": "1 GB/s", "packet": "2 KiB"},
            "job": [
                {
                    "work": {
                        "kind": "pairs",
                        "pairs": [[0, 1]],
                        "messages": 1,
                        "message": "2000 B",
                        "ack": "2000 B",
                        "mode": "ping-pong",
                    }
                }
            ],
        }
    )
    (found,) = fs.knee(study, over="link.bandwidth, nic.bandwidth", stop="8 GB/s", gain=0.01, out=tmp_path / "k")
    assert [point.text for point in found.points] == ["1 GB/s", "2 GB/s", "4 GB/s", "8 GB/s"]
    # One packet on two links: 300 ns, and 2,000 B over the slower of interface and link.
    assert [point.mean for point in found.points] == pytest.approx([300 + 2000 / gigabytes for gigabytes in (1, 2, 4, 8)])
    assert "doubling link.bandwidth, nic.bandwidth" in found.sentence


@REAL
def test_the_command_answers_in_a_sentence_and_writes_what_it_found(tmp_path):
    file = tmp_path / "ping.toml"
    file.write_text(fs.Study({**PING, "sweep": {"job.0.work.message": ["16 KiB", "64 KiB"]}}).source)
    out = tmp_path / "k"
    done = _command(
        file,
        "--over",
        "link.bandwidth",
        "--from",
        "4 GB/s",
        "--to",
        "128 GB/s",
        "--gain",
        "0.1",
        "--seeds",
        "1",
        "--out",
        out,
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("doubling link.bandwidth cuts") == 2
    found = json.loads((out / "knee.json").read_text())["knees"]
    assert [knee["point"]["job.0.work.message"] for knee in found] == ["16 KiB", "64 KiB"]
    # b (1 - 2 g) / (2 g a) with b of 16 and 64 KiB.
    assert [knee["value"] for knee in found] == pytest.approx([16384 * 0.8 / (0.2 * 8200), 65536 * 0.8 / (0.2 * 8200)], rel=0.01)
    rows = list(csv.DictReader((out / "knee.csv").read_text().splitlines()))
    assert len(rows) == sum(len(knee["points"]) for knee in found)
    assert "GB/s" in (out / "knee-2.svg").read_text()
    refused = _command(file, "--over", "job.0.work.kind", "--from", "pairs", "--out", out)
    assert refused.returncode == 2
    assert "cannot be doubled" in refused.stderr
    unknown = _command(
        file, "--over", "link.bandwidth", "--from", "4 GB/s", "--seeds", "1", "--metric", "speed", "--out", out, "--quiet"
    )
    assert unknown.returncode == 2
    assert "has no number speed; columns with numbers: " in unknown.stderr
