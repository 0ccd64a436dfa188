"""Forwarding tables without a simulation: `fabricsim routes` and `fs.routes`, with the real core."""

import contextlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fabricsim as fs
from conftest import REAL, wait_until

pytestmark = pytest.mark.skipif(not REAL, reason="needs the real core")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/real-fabrics.md").read_text()
FABRIC = re.search(r"<!-- file: fabric.ibnetdiscover -->\n```text\n(.*?)```", PAGE, re.DOTALL)[1]
RING = {"name": "ring", "topology": {"kind": "ring", "routers": 8, "nodes_per_router": 2}}


def run(folder, *arguments):
    command = [sys.executable, "-m", "fabricsim", "routes", *map(str, arguments)]
    ran = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=120, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def fabric(tmp_path):
    path = tmp_path / "fabric.ibnetdiscover"
    path.write_text(FABRIC)
    return path


def test_a_table_compares_engines_and_names_cycle_and_busiest_channels(tmp_path):
    (tmp_path / "ring.toml").write_text('name = "ring"\n[topology]\nkind = "ring"\nrouters = 8\nnodes_per_router = 2\n')
    code, out, err = run(tmp_path, "ring.toml", "--engine", "minhop,dfsssp", "--samples", "100", "--hottest", "2")
    assert code == 0, err
    assert "ring: 16 hosts, 8 switches, 8 cables" in out
    rows = {line.split()[0]: line for line in out.splitlines() if line.split()[:1] in (["minhop"], ["dfsssp"]) and "+-" in line}
    assert "CAN DEADLOCK" in rows["minhop"]
    assert rows["dfsssp"].rstrip().endswith("free")
    cycle = re.search(r"lane 0 can deadlock: (.*)", out)[1].split(" -> ")
    assert cycle[0] == cycle[-1]
    assert len(cycle) == 9
    assert re.search(r"1\. \(\d\) port \d -> \(\d\) port \d: \d+ paths", out)


def test_json_is_one_object_with_everything(tmp_path, fabric):
    code, out, _ = run(tmp_path, fabric, "--engine", "sssp", "--rack", "2", "--shift", "2", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["fabric"]["rates"] == ["4xEDR"]
    assert found["fabric"]["switch_names"] == ["leaf0", "leaf1", "spine0", "spine1"]
    engine = found["engines"][0]
    assert engine["engine"] == "sssp"
    # Two leaves of two hosts: pairs of one leaf take no channel, the others two.
    assert engine["lengths"] == {"histogram": [4, 0, 8], "mean": 16 / 12, "broken": 0}
    assert engine["all_to_all"]["mean"] == 2.0
    assert engine["racks"]["each"] == [1.0, 1.0]
    assert engine["shift"]["by"] == 2
    assert engine["deadlock_free"] is True


def test_tables_are_written_and_read_again_with_the_same_figures(tmp_path, fabric):
    out = tmp_path / "out"
    first = fs.routes(fabric, engine=["minhop", "dfsssp"], samples=50)
    written = [path.name for path in first.write(out, dump=True)]
    assert written[:3] == ["report.html", "summary.json", "fabric.ibnetdiscover"]
    for name in ("minhop.tables", "minhop.lft"):
        again = fs.routes(out / "fabric.ibnetdiscover", tables=out / name, samples=50)
        assert again[0].summary == first["minhop"].summary
        assert again[0].name == ("minhop" if name.endswith("tables") else "import")
    page = (out / "report.html").read_text()
    assert "/*DATA*/" not in page
    assert "/*KIT*/" not in page
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", page)


def test_lanes_go_through_service_levels(tmp_path):
    ring = fs.Study(RING)
    first = fs.routes(ring, engine="dfsssp", samples=10)
    assert len(first[0].summary["lanes"]) > 1
    first.write(tmp_path, dump=True)
    again = fs.routes(ring, tables=tmp_path / "dfsssp.lft", levels=tmp_path / "dfsssp.levels", samples=10)
    assert [lane["pairs"] for lane in again[0].summary["lanes"]] == [lane["pairs"] for lane in first[0].summary["lanes"]]
    assert again[0].summary["deadlock_free"] is True
    assert fs.routes(ring, tables=tmp_path / "dfsssp.lft", samples=10)[0].summary["deadlock_free"] is False


def test_dumps_are_written_on_request_and_their_size_is_told_first(tmp_path):
    (tmp_path / "ring.toml").write_text('[topology]\nkind = "ring"\nrouters = 8\nnodes_per_router = 2\n')
    asked = ["ring.toml", "--engine", "minhop,dfsssp", "--samples", "10", "--out", "o"]
    common = {"report.html", "summary.json", "fabric.ibnetdiscover", "minhop.tables", "dfsssp.tables"}
    dumps = {"minhop.lft", "dfsssp.lft", "dfsssp.levels"}

    def files():
        return {path.name for path in (tmp_path / "o").iterdir()}

    assert run(tmp_path, *asked)[0] == 0
    assert files() == common
    code, out, err = run(tmp_path, *asked, "--dump")
    assert code == 0, err
    assert files() == common | dumps
    found = fs.routes(tmp_path / "ring.toml", engine=["minhop", "dfsssp"], samples=10)
    sizes = {name: (tmp_path / "o" / name).stat().st_size for name in dumps}
    assert found.dump_sizes() == sizes
    assert f"--dump writes {sum(sizes.values()) / 1024:.1f} KiB: minhop.lft " in err
    assert all(f"written: o/{name}" in out for name in dumps)
    # The folder used again does not keep dumps that may be of other tables.
    assert run(tmp_path, *asked)[0] == 0
    assert files() == common
    assert run(tmp_path, *asked[:-2], "--dump")[0] == 2


def lossy(folder, fabric):
    """Tables of the fabric in which leaf0 has no entry for node3, and leaf1 and spine0 send what is for node1 to each other."""
    fs.routes(fabric, engine="minhop", samples=10).write(folder, dump=True)
    blocks = re.split(r"(?=Unicast)", (folder / "minhop.lft").read_text())
    name = {block.split("(")[1].split(")")[0]: i for i, block in enumerate(blocks) if "(" in block}

    def change(switch, host, port):
        i, line = name[switch], rf"(0x\w+) \d+ (: \(Channel Adapter .*{host} HCA-1'\)\n)"
        blocks[i], done = re.subn(line, "" if port is None else rf"\1 {port:03} \2", blocks[i])
        assert done == 1
        valid = int(re.search(r"(\d+) valid", blocks[i])[1]) - (port is None)
        blocks[i] = re.sub(r"\d+ valid", f"{valid} valid", blocks[i])

    change("leaf0", "node3", None)
    change("leaf1", "node1", 19)
    change("spine0", "node1", 2)
    path = folder / "lossy.lft"
    path.write_text("".join(blocks))
    return path


def test_lost_pairs_are_an_error_and_count_as_nothing(tmp_path, fabric):
    tables = lossy(tmp_path, fabric)
    demand = tmp_path / "demand.csv"
    demand.write_text("0,3,10\n0,1,30\n")
    asked = [fabric, "--tables", tables, "--samples", "200", "--rack", "4", "--demand", demand]
    code, out, err = run(tmp_path, *asked, "--out", "o")
    assert code == 3, (out, err)
    # Two hosts of leaf 0 to node 3, two of leaf 1 to node 1.
    assert "import: 4 pairs of hosts do not reach each other, node0 HCA-1 to node3 HCA-1: leaf0: `leaf0` has no entry" in err
    assert "node2 HCA-1 to node1 HCA-1: leaf1 -> spine0: comes back to `leaf1`" in out
    assert "25 % of it do not arrive" in out
    lost = (tmp_path / "o/import.lost.csv").read_text().splitlines()
    assert lost == [
        '"switch","host","pairs","fate","at"',
        '"leaf0","node3 HCA-1",2,"dead-end","leaf0"',
        '"leaf1","node1 HCA-1",2,"loop","leaf1"',
    ]
    code, out, _ = run(tmp_path, *asked, "--json")
    assert code == 3
    found = json.loads(out)
    assert found["ok"] is False
    engine = found["engines"][0]
    assert engine["lengths"]["broken"] == 4
    assert engine["lengths"]["mean"] is None
    assert engine["uniform_bound"] is None
    assert engine["demand"]["slowdown"] is None
    # By hand: of the twelve ordered pairs four get nothing. All shifts together have each pair once, the mean is over all twelve.
    routes = fs.routes(fabric, tables=tables, samples=200)[0]
    graph = routes.mpi_graph()
    shares = graph[~np.isnan(graph)]
    assert len(shares) == 12
    assert (shares == 0).sum() == 4
    assert engine["shifts"]["mean_inverse_congestion"] == pytest.approx(shares.mean())
    assert engine["shifts"]["lost"] == 4
    assert engine["racks"]["mean"] == pytest.approx(shares.mean())
    # No matching of four hosts gets more than those of its two pairs that arrive: 8 of 12 on the mean.
    arrive = 1 - engine["ebb"]["lost"] / (2 * 200)
    assert engine["ebb"]["mean"] <= arrive
    assert arrive == pytest.approx(8 / 12, abs=0.12)
    assert "4 pairs LOST" in repr(routes)


def test_tables_without_a_pair_have_no_bandwidth(tmp_path, fabric):
    one = re.sub(r'\[2\]\t"H-[^\n]*\n', "", FABRIC)
    one = re.sub(r'\[1\]\t"H-00000000000000a2"[^\n]*\n', "", one)
    one = re.sub(r"\ncaguid=0xa[123]\n.*?(?=\ncaguid|\Z)", "", one, flags=re.DOTALL)
    fabric.write_text(one)
    code, out, err = run(tmp_path, fabric, "--rack", "2", "--out", "o")
    assert code == 0, err
    assert "1 host," in out
    entry = fs.routes(fabric, rack=2)[0]
    assert entry.summary["ebb"] is None
    assert entry.summary["shifts"] is None
    assert entry.summary["racks"]["mean"] is None
    assert entry.summary["lengths"]["mean"] is None


def test_tables_of_a_file_name_no_file_elsewhere(tmp_path, fabric):
    fs.routes(fabric, samples=10).write(tmp_path)
    content = (tmp_path / "minhop.tables").read_bytes()
    (tmp_path / "evil.tables").write_bytes(content.replace(b"engine minhop", b"engine ../up"))
    with pytest.raises(fs.StudyError, match="is no engine"):
        fs.routes(fabric, tables=tmp_path / "evil.tables")


def test_tables_are_frames(fabric):
    pytest.importorskip("polars")
    found = fs.routes(fabric, engine=["minhop", "updn"], samples=20)
    assert found.table["engine"].to_list() == ["minhop", "updn"]
    channels = found["minhop"].channels
    assert channels.columns == ["from", "port", "to", "peer_port", "paths"]
    assert channels.height == 8
    assert channels["paths"].sum() == 16
    assert set(channels["from"]) == {"leaf0", "leaf1", "spine0", "spine1"}
    assert found["updn"].shifts["shift"].to_list() == [1, 2, 3]
    assert found["updn"].hops["pairs"].to_list() == [4, 0, 8]
    graph = found["minhop"].mpi_graph()
    assert np.isnan(np.diag(graph)).all()
    assert np.nanmean(graph) == pytest.approx(found["minhop"].summary["shifts"]["mean_inverse_congestion"])
    with pytest.raises(KeyError, match="no tables of 'lash'"):
        found["lash"]


def test_removed_cables_lead_around(tmp_path, fabric):
    whole = fs.routes(fabric, samples=10)[0].summary
    less = fs.routes(fabric, remove=["cable leaf0 19"], samples=10)
    # Spine 0 is left with one cable: everything goes over spine 1.
    assert less[0].summary["all_to_all"]["max"] == 4
    assert whole["all_to_all"]["max"] == 2
    assert any("leaf0 port 19 - spine0 port 1" in note for note in less.fabric["notes"])
    lines = tmp_path / "broken.txt"
    lines.write_text("# a spine\nswitch spine0\n")
    assert fs.routes(fabric, remove=[lines], samples=10).fabric["switches"] == 3


def test_a_demand_is_laid_over_the_channels(tmp_path, fabric):
    demand = tmp_path / "demand.csv"
    demand.write_text("source,destination,bytes\nnode0 HCA-1,node2 HCA-1,10\n1,3,30\n")
    found = fs.routes(fabric, demand=demand, samples=10)[0].summary["demand"]
    assert (found["pairs"], found["total"], found["busiest_host"], found["mean_hops"]) == (2, 40.0, 30.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.ibnetdiscover"], "no study file nothing.ibnetdiscover"),
        (["fabric.ibnetdiscover", "--engine", "fastest"], "no routing engine `fastest`; there are minhop"),
        (["fabric.ibnetdiscover", "--remove", "switch leaf9"], "no switch is called `leaf9`"),
        (["fabric.ibnetdiscover", "--remove", "cable leaf0 19", "--remove", "cable leaf0 20"], "falls into 2 pieces"),
        (["fabric.ibnetdiscover", "--remove", "host a"], "`host` is nothing that can be removed"),
        (["fabric.ibnetdiscover", "--tables", "missing.lft"], "missing.lft"),
        (["fabric.ibnetdiscover", "--tables", "fabric.ibnetdiscover"], "no line of a forwarding table dump"),
        (["fabric.ibnetdiscover", "--demand", "wrong.csv"], "wrong.csv:2"),
        (["fabric.ibnetdiscover", "--levels", "x"], "give both"),
        (["fabric.ibnetdiscover", "--path", "1"], "hosts have 1 addresses"),
        (["fabric.ibnetdiscover", "--root", "leaf9", "--engine", "updn"], "no switch is called `leaf9`"),
        (["cut.ibnetdiscover"], "cut.ibnetdiscover:"),
        ([], "name a study"),
    ],
)
def test_bad_input_is_told_with_place_and_hint(tmp_path, fabric, arguments, words):
    (tmp_path / "wrong.csv").write_text("source,destination,bytes\nnobody,1,1\n")
    (tmp_path / "cut.ibnetdiscover").write_text(FABRIC[: len(FABRIC) // 2])
    code, out, err = run(tmp_path, *arguments)
    assert code == 2, err
    assert words in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are looked at in /proc")
def test_ctrl_c_ends_long_work_of_the_core_at_once(tmp_path):
    # Tables and lanes of 32,768 hosts take more than a minute; the signal comes as soon as the core works on anything.
    (tmp_path / "large.toml").write_text('[topology]\npreset = "ecp-32k-hyperx"\n')
    command = [sys.executable, "-m", "fabricsim", "routes", "large.toml", "--engine", "dfsssp"]
    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: works(process.pid), process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, (out, err)
    assert "interrupted" in err
    assert "Traceback" not in err


def works(pid):
    """Tell whether the core works for a process."""
    for thread in Path("/proc", str(pid), "task").glob("*/comm"):
        with contextlib.suppress(OSError):  # a thread may have ended
            if thread.read_text().strip() == "fabricsim-work":
                return True
    return False


def test_all_mistakes_of_a_file_come_at_once(tmp_path):
    text = FABRIC.replace('[19]\t"S-0000000000000020"[2]', '[19]\t"S-0000000000000020"[3]').replace("lid 8 4xEDR", "lid 9 4xEDR")
    path = tmp_path / "wrong.ibnetdiscover"
    path.write_text(text)
    with pytest.raises(fs.StudyError) as caught:
        fs.routes(path)
    found = json.loads(caught.value.diagnostics)
    assert len(found) >= 3
    assert all(entry["line"] > 0 and entry["reason"] and entry["hint"] for entry in found)


def test_every_engine_is_tried_and_refusals_say_why(tmp_path):
    found = fs.routes(fs.Study(RING), compare=True, samples=10)
    names = [entry.name for entry in found]
    assert {"minhop", "sssp", "dfsssp", "updn", "lash"} <= set(names)
    assert set(names) | set(found.refused) == {entry["name"] for entry in json.loads(fs._core.route_engines())}
    assert "ftree" in found.refused
    assert all(reason for reason in found.refused.values())


def test_of_several_engines_those_that_refuse_do_not_hide_the_others():
    ring = fs.Study(RING)
    found = fs.routes(ring, engine=["ftree", "updn", "parx"], samples=10)
    assert [entry.name for entry in found] == ["updn"]
    assert set(found.refused) == {"ftree", "parx"}
    with pytest.raises(fs.StudyError, match="ftree"):
        fs.routes(ring, engine=["ftree", "parx"])
    # A name that is none is a mistake, whatever the others give.
    with pytest.raises(fs.StudyError, match="updm"):
        fs.routes(ring, engine=["updn", "updm"])


def test_a_real_fabric_is_a_topology_too(tmp_path, fabric):
    study = tmp_path / "s.toml"
    study.write_text('name = "s"\n[topology]\nkind = "graph"\nfile = "fabric.ibnetdiscover"\n')
    found = fs.load(study).check()
    assert found.ok, found
    # Port numbers and LIDs are those of the file, not new ones.
    assert fs.routes(study, samples=10).fabric["digest"] == fs.routes(fabric, samples=10).fabric["digest"]


def test_parx_weighs_paths_by_the_demand(tmp_path):
    hyperx = fs.Study({"name": "hx", "topology": {"kind": "hyperx", "shape": [4, 4], "nodes_per_router": 2}})
    demand = tmp_path / "demand.csv"
    demand.write_text("".join(f"{i},{(i + 9) % 32},1000\n" for i in range(32)))
    blind, seeing = (fs.routes(hyperx, engine="parx", samples=10, **given)[0] for given in ({}, {"demand": demand}))
    assert blind.summary["addresses_per_host"] == 4
    assert "LMC 2" in blind.about["note"]
    assert blind._routes.compact() != seeing._routes.compact()


def test_a_torus_is_found_by_its_cables_or_by_opensm_s_file(tmp_path):
    texts = dict(re.findall(r"<!-- file: (torus\S*) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert run(tmp_path, "torus.toml", "--engine", "torus-2qos", "--samples", "2", "--out", "torus")[0] == 0
    switches = (tmp_path / "torus/fabric.ibnetdiscover").read_text()
    head, *blocks = switches.split("\nvendid=")
    fabric = tmp_path / "torus.ibnetdiscover"
    # Blocks backwards: numbers say no coordinates.
    fabric.write_text("\nvendid=".join([head, *reversed([block.rstrip() + "\n" for block in blocks])]))
    code, out, err = run(
        tmp_path, fabric, "--engine", "torus-2qos", "--remove", "switch (2,1)", "--samples", "2", "--hottest", "0"
    )
    assert code == 0, err
    told = re.search(r"note: a torus of (\d) x (\d), coordinates from `\(6,4\)`; without a switch at", out)
    assert told, out
    assert sorted(told.groups()) == ["5", "7"]
    arguments = ["--engine", "torus-2qos", "--torus", "torus-2QoS.conf", "--samples", "2", "--json"]
    code, out, err = run(tmp_path, fabric, "--remove", "switch (2,1)", *arguments)
    assert code == 0, err
    [entry], names = json.loads(out)["engines"], json.loads(out)["fabric"]["switch_names"]
    torus = entry["about"]["torus"]
    assert (torus["shape"], torus["rings"], torus["from"]) == ([5, 7, 1], [True, True, False], "(0,0)")
    # The file's x is the other dimension, and its y begins three switches further down.
    assert dict(zip(names, torus["coordinates"], strict=True)) == {
        f"({x},{y})": [y, (x + 3) % 7, 0] for x in range(7) for y in range(5) if (x, y) != (2, 1)
    }
    assert [lack["at"] for lack in torus["missing_switches"]] == [[1, 5, 0]]
    assert torus["missing_cables"] == []
    same = fs.routes(fabric, engine="torus-2qos", torus=tmp_path / "torus-2QoS.conf", samples=2)
    assert same.table["lanes_used"].to_list() == [2]


def test_a_torus_file_is_refused_by_its_lines_and_with_other_engines(tmp_path, fabric):
    (tmp_path / "wrong.conf").write_text("torus 2 2\nxp_link 0x10\n")
    code, _, err = run(tmp_path, fabric, "--engine", "torus-2qos", "--torus", "wrong.conf")
    assert code == 2
    assert "z: a number lacks" in err
    assert all(place in err for place in ("wrong.conf:1", "wrong.conf:2"))
    code, _, err = run(tmp_path, fabric, "--engine", "minhop", "--torus", "wrong.conf")
    assert code == 2
    assert "--torus tells torus-2qos which switch is where" in err
    # Two leaves and two spines are a ring of four.
    code, _, err = run(tmp_path, fabric, "--engine", "torus-2qos")
    assert code == 2
    assert "rings of four switches, such as `leaf0`, `spine0`, `leaf1`, `spine1`: it may be a torus of 4 or of 2 x 2" in err
    with pytest.raises(ValueError, match="torus-2qos"):
        fs.routes(fabric, engine="minhop", torus="wrong.conf")


def test_a_study_on_a_real_torus_runs_by_the_file(tmp_path):
    (tmp_path / "torus.toml").write_text('name = "t"\n[topology]\nkind = "torus"\nshape = [5, 3]\nnodes_per_router = 1\n')
    assert run(tmp_path, "torus.toml", "--engine", "torus-2qos", "--samples", "2", "--out", "torus")[0] == 0
    guid = 0x5157 << 32
    links = f"xp_link {guid} {guid + 1} to the right\nyp_link {guid} {guid + 5}\n"
    (tmp_path / "torus-2QoS.conf").write_text(f"torus 5 3 1\n{links}")
    study = {
        "name": "t",
        "topology": {"kind": "graph", "file": str(tmp_path / "torus/fabric.ibnetdiscover")},
        "routing": {"kind": "torus-2qos", "torus": str(tmp_path / "torus-2QoS.conf")},
        "job": [{"work": {"kind": "uniform", "load": 0.3, "message": "2 KiB"}}],
        "run": {"end": "5 us"},
    }
    ran = fs.Study(study).run(out=tmp_path / "out", progress=False)
    assert len(ran.runs) == 1
    warnings = [found for found in fs.Study(study).check().diagnostics if found.key == "routing.torus"]
    assert [found.reason for found in warnings] == ["line 2: `to` and what follows is left out, as OpenSM does"]
