"""Traffic and topologies of one's own from Python."""

import math

import numpy as np
import pytest

import fabricsim as fs


def _study(work, topology=None, **run):
    content = {
        "name": "own",
        "topology": topology or {"kind": "single-router", "nodes": 4},
        "job": [{"work": work}],
        "observe": {"messages": True},
        "run": {"end": "200 us", "warmup": "0 s", **run},
    }
    return fs.Study(content)


def _messages(study, folder):
    results = study.run(out=folder, jobs=1, progress=False)
    return next(iter(results)), results.messages()


def _counts(table):
    found = {}
    for source, destination in zip(table["source"].to_pylist(), table["destination"].to_pylist(), strict=True):
        found[source, destination] = found.get((source, destination), 0) + 1
    return found


def test_messages_go_by_the_weights_of_a_matrix(tmp_path):
    weights = np.array([[0, 3, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0.5], [0, 0, 0, 0]])
    record, table = _messages(_study(fs.traffic.matrix(weights, load=0.4, message="1 KiB")), tmp_path)
    assert record.state == "ok"
    counts = _counts(table)
    assert set(counts) == {(i, j) for i, j in zip(*np.nonzero(weights), strict=True)}
    # Node 0 sends a message of 1 KiB every 102.4 ns: 40.96 ns of 25 GB/s, four tenths of the time.
    total = 200e3 / (1024 / 25 / 0.4)
    for (i, j), count in counts.items():
        expected = total * weights[i, j] / weights.sum(axis=1).max()
        assert abs(count - expected) < 6 * math.sqrt(expected), (i, j)


def test_a_matrix_is_taken_from_whatever_holds_one(tmp_path):
    dense = [[0, 2.5], [1, 0]]

    class Sparse:
        """What SciPy's matrices of all formats have."""

        shape = (2, 2)
        row, col, data = np.array([1, 0]), np.array([0, 1]), np.array([1.0, 2.5])

        def tocsr(self):
            return self

        tocoo = tocsr

    rows = {tuple(sorted(fs.traffic.matrix(weights)["table"].splitlines()[1:])) for weights in (
        dense, np.array(dense), np.array(dense, dtype=np.float32), {(0, 1): 2.5, (1, 0): 1}, Sparse(),
    )}  # fmt: skip
    assert rows == {("0,1,2.5", "1,0,1.0")}
    scipy = pytest.importorskip("scipy.sparse")
    # Entries that come twice are summed, as SciPy means them.
    twice = scipy.coo_matrix(([1.0, 1.5, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert tuple(sorted(fs.traffic.matrix(twice)["table"].splitlines()[1:])) in rows


@pytest.mark.parametrize(
    ("weights", "keys", "words"),
    [
        ([[0, 1, 2], [1, 0, 2]], {}, "2 x 3"),
        ([0, 1], {}, "2 dimensions"),
        ([[0, -1], [1, 0]], {}, "from 0 to 1 is -1"),
        ([[0, math.nan], [1, 0]], {}, "from 0 to 1 is nan"),
        ([[1, 1], [1, 0]], {}, "node 0 sends to itself"),
        ([[0, 0], [0, 0]], {}, "all weights are 0"),
        ([[1, 1], [1, 0]], {"of": "blocks", "blocks": [2, 1, 1]}, "3 blocks for 2 rows"),
    ],
)
def test_what_is_no_matrix_is_refused(weights, keys, words):
    with pytest.raises(ValueError, match=words):
        fs.traffic.matrix(weights, **keys)


def test_units_of_several_nodes_may_have_weights_of_their_own(tmp_path):
    work = fs.traffic.matrix([[1, 0], [1, 0]], of="blocks", blocks=[3, 1], load=0.2)
    _, table = _messages(_study(work), tmp_path)
    assert set(_counts(table)) == {(i, j) for i in range(4) for j in range(3) if i != j}


def test_partners_come_in_turn(tmp_path):
    _, table = _messages(_study(fs.traffic.partners([[1, 2, 1], [], [3], [0, 1]], count=6)), tmp_path)
    assert _counts(table) == {(0, 1): 4, (0, 2): 2, (2, 3): 6, (3, 0): 3, (3, 1): 3}
    permutation = fs.traffic.partners(np.array([2, 1, 3, 0]), count=5)
    _, table = _messages(_study(permutation), tmp_path / "permutation")
    assert _counts(table) == {(0, 2): 5, (2, 3): 5, (3, 0): 5}


@pytest.mark.parametrize(
    ("partners", "words"),
    [([1, 4], "partner 4 of node 1"), ([1, -1], "partner -1"), ([[0, 1], [0]], "node 0 is among its own"), ([0, 1], "nobody")],
)
def test_what_is_no_partner_is_refused(partners, words):
    with pytest.raises(ValueError, match=words):
        fs.traffic.partners(partners)


def test_what_a_function_draws_is_sent(tmp_path):
    def to(source, generator):
        return int(generator.choice([1, 3], p=[0.25, 0.75])) if source == 0 else source

    work = fs.traffic.sampled(to, 4, messages=4000, load=0.5, message="1 KiB")
    assert work == fs.traffic.sampled(to, 4, messages=4000, load=0.5, message="1 KiB")
    assert work != fs.traffic.sampled(to, 4, messages=4000, seed=1, load=0.5, message="1 KiB")
    _, table = _messages(_study(work), tmp_path)
    counts = _counts(table)
    assert set(counts) == {(0, 1), (0, 3)}
    n = sum(counts.values())
    assert abs(counts[0, 3] - 0.75 * n) < 6 * math.sqrt(n * 3 / 16)
    with pytest.raises(ValueError, match="which is none of the nodes 0 to 3"):
        fs.traffic.sampled(lambda source, generator: 4, 4)


def test_a_table_in_a_file_gives_the_same_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = _study(fs.traffic.matrix([[0, 1, 1, 2], [1, 0, 1, 1], [1, 1, 0, 1], [3, 1, 1, 0]], load=0.3))
    there = _study(fs.traffic.matrix([[0, 1, 1, 2], [1, 0, 1, 1], [1, 1, 0, 1], [3, 1, 1, 0]], load=0.3, file="weights.csv"))
    assert here.expand().runs[0].hash == there.expand().runs[0].hash
    assert (tmp_path / "weights.csv").read_text().startswith("source,destination,weight\n0,1,1.0\n")


def test_the_mix_of_the_page_is_what_it_says(tmp_path):
    work = fs.traffic.mixed((3, {"kind": "shift", "by": 1}), (1, {"kind": "shift", "by": 2, "message": "8 KiB"}), load=0.4)
    _, table = _messages(_study(work), tmp_path)
    by_size = {
        (b, (d - s) % 4) for s, d, b in zip(*(table[n].to_pylist() for n in ("source", "destination", "bytes")), strict=True)
    }
    assert by_size == {(2048, 1), (8192, 2)}


def test_edges_and_graphs_become_topologies():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    plain = fs.Study({"name": "g", "topology": fs.topologies.graph(ring, nodes_per_router=2)}).expand().runs[0]
    array = fs.Study({"name": "g", "topology": fs.topologies.graph(np.array(ring), nodes_per_router=2)}).expand().runs[0]
    assert plain.id == array.id
    named = fs.topologies.graph([("a", "b", 2, "global"), ("b", "c")], nodes={"a": 4, "c": 1})
    assert named["text"].splitlines() == ["a b 2 global", "b c 1", "node a 4", "node c 1"]
    study = fs.Study({"name": "g", "topology": named, "link": {"global": {"latency": "1 us"}}})
    assert study.check().ok
    networkx = pytest.importorskip("networkx")
    found = fs.topologies.graph(networkx.petersen_graph(), nodes_per_router=3)
    assert len(found["text"].splitlines()) == 15


def test_a_networkx_graph_is_asked_for_its_attributes():
    class Graph:
        """What NetworkX graphs have."""

        def nodes(self, data):
            return [("x", {"nodes": 3}), ("y", {})]

        def edges(self, data):
            return [("x", "y", {"count": 2, "class": "long"}), ("y", "x", {})]

    assert fs.topologies.graph(Graph())["text"].splitlines() == ["x y 2 long", "y x 1", "node x 3"]


@pytest.mark.parametrize(
    ("edges", "keys", "words"),
    [
        ([], {}, "no cable"),
        ([(1, 1)], {}, "cable to itself"),
        ([("a b", "c")], {}, "words without blanks"),
        ([(0, 1, 1.5)], {}, "number of cables from 0 to 1 is 1.5"),
        ([(0, 1)], {"nodes": {2: 1}}, "router 2 has nodes, but no cable"),
        ([(0, 1)], {"nodes": {1: -1}}, "number of nodes of router 1 is -1"),
    ],
)
def test_what_is_no_graph_is_refused(edges, keys, words):
    with pytest.raises(ValueError, match=words):
        fs.topologies.graph(edges, **keys)


def test_a_graph_in_a_study_routes_like_one_in_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edges = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
    topology = fs.topologies.graph(edges, nodes_per_router=1)
    (tmp_path / "g.edges").write_text(topology["text"])
    work = {"kind": "uniform", "load": 0.2}
    [of_text] = _study(work, topology, end="20 us").run(out="text", jobs=1, progress=False)
    in_file = {"kind": "graph", "file": "g.edges", "nodes_per_router": 1}
    [of_file] = _study(work, in_file, end="20 us").run(out="file", jobs=1, progress=False)
    assert of_text.summary["digest"] == of_file.summary["digest"]
    assert of_text.state == "ok"
    with pytest.raises(fs.StudyError, match="in pieces"):
        fs.Study({"name": "g", "topology": fs.topologies.graph([(0, 1), (2, 3)], nodes_per_router=1)}).run(
            out="pieces", jobs=1, progress=False
        )
