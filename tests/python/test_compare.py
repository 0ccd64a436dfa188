"""Two results directories side by side."""

import json
import subprocess
import sys

import pytest

import fabricsim as fs

LOADS = [0.1, 0.2]
TORNADO = {"work": {"kind": "tornado", "message": "4 KiB", "load": 0.2}}


def study(**more):
    work = {"kind": "uniform", "message": "1 KiB", "load": 0.2}
    given = {"name": "asked", "topology": {"kind": "torus", "shape": [5, 5]}, "job": [{"work": work}], "run": {"end": "20 us"}}
    return fs.Study({**given, **more})


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("compare")
    made = {
        "base": study(sweep={"job.0.work.load": LOADS, "routing.kind": ["dor", "min-a"]}, run={"end": "20 us", "seeds": [1, 2]}),
        "again": study(sweep={"job.0.work.load": LOADS, "routing.kind": ["dor", "min-a"]}, run={"end": "20 us", "seeds": [1, 2]}),
        "slow": study(
            sweep={"job.0.work.load": [0.2, 0.1], "routing.kind": ["dor"]},
            run={"end": "20 us", "seeds": [1, 2]},
            link={"latency": "300 ns"},
        ),
        "one": study(routing={"kind": "min-a"}, link={"latency": "300 ns"}),
        "full": study(sweep={"job.0.work.load": [0.2, 1.0]}, job=[TORNADO], run={"end": "200 us"}),
        "fuller": study(sweep={"job.0.work.load": [0.2, 1.0]}, job=[TORNADO], run={"end": "200 us"}, link={"latency": "300 ns"}),
        "ring": study(job=[{"work": {"kind": "ring", "message": "1 KiB"}}]),
    }
    return {name: one.run(out=root / name, progress=False) for name, one in made.items()}


def test_what_is_the_same_is_so_to_the_last_digit(folders):
    found = fs.compare(folders["base"], folders["again"])
    assert found.differences == ()
    assert [(pair.ratio, pair.low, pair.high, pair.same) for pair in found.pairs] == [(1.0, 1.0, 1.0, True)] * 4
    assert found.sentence == "base and again are the same to the last digit at all 4 points that both have."


def test_ratios_are_those_of_the_numbers_and_swapping_turns_them_over(folders):
    found = fs.compare(folders["base"], folders["slow"])
    assert [(one.key, one.first, one.second) for one in found.differences] == [("link.latency", "", "300 ns")]
    assert (len(found.pairs), found.alone) == (2, (2, 0))
    for pair in found.pairs:
        load = float(dict(pair.point)["job.0.work.load"])
        means = []
        ratios = {}
        for name in ("base", "slow"):
            records = [
                record
                for record in folders[name].records
                if float(record.value("job.0.work.load")) == load and record.value("routing.kind") == "dor"
            ]
            numbers = {record.run.seed: record.value("latency_ns.mean") for record in records}
            means.append(sum(numbers.values()) / 2)
            ratios[name] = numbers
        assert pair.ratio == pytest.approx(means[1] / means[0], rel=1e-12)
        by_seed = [ratios["slow"][seed] / ratios["base"][seed] for seed in (1, 2)]
        assert (pair.low, pair.high) == (min(by_seed), max(by_seed))
    back = fs.compare(folders["slow"], folders["base"])
    assert back.mean == pytest.approx(1 / found.mean, rel=1e-12)
    assert back.alone == (0, 2)


def test_of_a_key_that_one_sweeps_the_value_of_the_other_is_taken(folders):
    found = fs.compare(folders["base"], folders["one"])
    # The other study has one load and one routing; its seed is one of two.
    assert [dict(pair.point) for pair in found.pairs] == [{}]
    assert found.pairs[0].low is None
    wanted = [
        record
        for record in folders["base"].records
        if record.value("routing.kind") == "min-a" and record.value("job.0.work.load") == "0.2"
    ]
    assert found.pairs[0].first == pytest.approx(sum(record.value("latency_ns.mean") for record in wanted) / 2)


def test_points_that_do_not_keep_up_are_told_and_not_compared(folders):
    found = fs.compare(folders["full"], folders["fuller"])
    kept, lost = found.pairs
    assert kept.ratio == pytest.approx(found.mean)
    assert (lost.first, lost.second, lost.ratio, lost.low) == (None, None, None, None)
    assert lost.why == "saturated in full, saturated in fuller"
    assert found.sentence.endswith(" 1 more point cannot be compared.")
    # What is accepted is a number there, too.
    assert all(pair.ratio is not None for pair in fs.compare(folders["full"], folders["fuller"], of="accepted_load").pairs)
    beyond = fs.compare(folders["full"], folders["fuller"], where={"job.0.work.load": "1.0"})
    assert beyond.sentence == f"The mean latency cannot be compared at the point that both have: {lost.why}."


@pytest.mark.parametrize(
    ("names", "more", "told"),
    [
        (("base", "base"), {}, "named twice"),
        (("base", "ring"), {}, "base sweeps job.0.work.load, of which the study of ring says nothing: choose one of 0.1, 0.2"),
        (("base", "slow"), {"of": "nonsense"}, "no value `nonsense`"),
        (("base", "slow"), {"of": "engine"}, "engine is not a number"),
        (("base", "slow"), {"where": {"link.bandwidth": "1 GB/s"}}, "neither base nor slow sweeps link.bandwidth"),
        (("base", "slow"), {"where": {"routing.kind": "ugal"}}, "no finished run of base has routing.kind = ugal"),
    ],
)
def test_what_cannot_be_compared_says_why(folders, names, more, told):
    with pytest.raises(ValueError, match=told.replace(".", r"\.")):
        fs.compare(folders[names[0]], folders[names[1]], **more)


def test_the_command_answers_first(folders):
    command = [sys.executable, "-m", "fabricsim", "compare", *(str(folders[name].folder) for name in ("base", "slow"))]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith("The mean latency in slow is ")
    assert "link.latency" in told
    assert "2 points only in base" in told
    found = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert found["sentence"] == fs.compare(folders["base"], folders["slow"]).sentence
    assert [point["ratio"] for point in found["points"]] == [
        pair.ratio for pair in fs.compare(folders["base"], folders["slow"]).pairs
    ]
    wrong = subprocess.run([*command, "--of", "nonsense"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "no value `nonsense`" in wrong.stderr) == (2, True)
