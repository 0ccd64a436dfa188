"""The example that writes the traces of a training step: they are read by a few lines of their own, and have what the sizes say."""

import collections
import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "training_step.py"
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
SIZES = {"layers": 8, "hidden": 64, "sequence": 32, "micro-batch": 2, "micro-batches": 3, "vocabulary": 100}


def _write(folder, **options):
    """Run the example and return the nodes of each rank, and the groups."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in {**SIZES, **options}.items()]
    done = subprocess.run(
        [sys.executable, EXAMPLE, f"--out={folder}", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    files = sorted(folder.glob("step.*.et"), key=lambda path: int(path.suffixes[-2][1:]))
    return [_nodes(path.read_bytes()) for path in files], json.loads((folder / "groups.json").read_text())


def _varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number, at


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value, at = _varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at : at + value], at + value
        else:
            assert key & 7 == 0
        yield key >> 3, value


def _nodes(data):
    messages, at = [], 0
    while at < len(data):
        length, at = _varint(data, at)
        messages.append(data[at : at + length])
        at += length
    nodes = {}
    for message in messages[1:]:
        node = {"after": []}
        for number, value in _fields(message):
            if number == 10:
                (_, name), (_, of) = _fields(value)
                node[name.decode()] = of.decode() if isinstance(of, bytes) else of
            elif number == 5:
                node["after"].append(value)
            else:
                node[{1: "id", 2: "name", 3: "type", 7: "micros"}[number]] = value
        nodes[node["id"]] = node
    return nodes


@pytest.mark.parametrize("shape", [(2, 2, 2), (1, 1, 1), (3, 1, 4), (1, 4, 2), (2, 2, 8)])
def test_traces_have_what_sizes_and_shape_say(tmp_path, shape):
    data, tensor, pipeline = shape
    ranks, groups = _write(tmp_path, data=data, tensor=tensor, pipeline=pipeline)
    assert len(ranks) == data * tensor * pipeline
    activations = 2 * 32 * 64 * 2
    layers, batches = 8 // pipeline, 3
    messages = collections.Counter()
    steps = collections.defaultdict(list)
    for rank, nodes in enumerate(ranks):
        of = collections.defaultdict(list)
        for number, node in nodes.items():
            of[node["type"]].append(node)
            assert all(after in nodes and after < number for after in node["after"])
        stage = rank // (data * tensor)
        neighbours = (stage > 0) + (stage < pipeline - 1)
        assert len(of[SEND]) == len(of[RECEIVE]) == batches * neighbours
        for node in of[SEND]:
            messages[rank, node["comm_dst"], node["comm_tag"]] += 1
            assert node["comm_size"] == activations
            assert abs(node["comm_dst"] - rank) == data * tensor
        for node in of[RECEIVE]:
            messages[node["comm_src"], rank, node["comm_tag"]] -= 1
        # Two all-reduces of a layer in each direction, and one of its gradients.
        sizes = collections.Counter(node["comm_size"] for node in of[COLLECTIVE])
        gradients = 12 * 64**2 // tensor * 2
        expected = {activations: 4 * layers * batches * (tensor > 1), gradients: layers * (data > 1)}
        assert sizes == {size: count for size, count in expected.items() if count}
        for node in of[COLLECTIVE]:
            assert rank in groups[node["pg_name"]]
            steps[rank, node["pg_name"]].append(node["comm_size"])
        # Forward once and backward twice what a layer is, and the logits of the last stage.
        tokens = 2 * 32
        layer = (24 * tokens * 64**2 + 4 * tokens * 32 * 64) // tensor
        logits = 2 * tokens * 64 * 100 // tensor
        done = sum(node["num_ops"] for node in of[COMPUTE] if node["num_ops"] > 1) - 20 * 12 * 64**2 // tensor * layers
        assert done == 3 * batches * (layers * layer + logits * (stage == pipeline - 1))
    assert not +messages
    assert not -messages
    for (rank, group), sizes in steps.items():
        assert all(steps[other, group] == sizes for other in groups[group]), rank


def test_a_stage_holds_no_more_micro_batches_than_there_are_stages_after_it(tmp_path):
    ranks, _ = _write(tmp_path, data=1, tensor=1, pipeline=4, **{"micro-batches": 9})
    for stage, nodes in enumerate(ranks):
        held = most = 0
        for node in nodes.values():
            name = node["name"].decode()
            held += name.startswith("attention forward") and name.endswith(".0")
            held -= name.startswith("mlp backward") and name.endswith(".1")
            most = max(most, held)
        assert held == 0
        assert most == 4 - stage


def test_the_seed_decides_what_computations_take(tmp_path):
    def times(name, **options):
        ranks, _ = _write(tmp_path / name, teraflops=0.001, **options)
        return [[node.get("micros") for node in nodes.values()] for nodes in ranks]

    assert times("a", seed=1) == times("b", seed=1)
    assert times("a", seed=1) != times("c", seed=2)
    one, *others = times("d", jitter=0, pipeline=1)
    assert all(other == one for other in others)


@pytest.mark.parametrize(
    ("word", "reason"),
    [("--layers=3", "3 layers are not shared out evenly among 2 stages"), ("--data=0", "--data is at least 1")],
)
def test_what_cannot_be_is_refused(tmp_path, word, reason):
    command = [sys.executable, EXAMPLE, f"--out={tmp_path}", word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert reason in done.stderr
