"""`fabricsim view`: the page of a folder while runs come in and after, and who is refused."""

import base64
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fabricsim as fs
from fabricsim import _files
from fabricsim._noted import PROGRESS, Noted
from fabricsim._runs import Run
from fabricsim._seals import sealed

pytest.importorskip("starlette", reason="fabricsim[view] is not installed")
pytest.importorskip("httpx2", reason="the client of starlette's tests needs httpx2")

from starlette.testclient import TestClient

from fabricsim.view.folders import Watched
from fabricsim.view.places import Outside, Root
from fabricsim.view.progress import Pace
from fabricsim.view.server import application

TOKEN, PORT = "k" * 32, 8123
HERE = f"http://127.0.0.1:{PORT}"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    study = fs.Study(
        {
            "name": "small",
            "topology": {"kind": "ring", "routers": 3},
            "job": [{"work": {"kind": "uniform", "message": "1 KiB", "load": 0.1}}],
            "sweep": {"job.0.work.load": [0.1, 0.2, 0.3]},
            "run": {"end": "5 us", "warmup": "1 us"},
        }
    )
    folder = tmp_path_factory.mktemp("view") / "small"
    study.run(out=folder, progress=False)
    return folder


@pytest.fixture
def folder(results, tmp_path):
    return Path(shutil.copytree(results, tmp_path / "small"))


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    """Two jobs on a dragonfly with a dead cable, under two routings, with loads over time and every message."""
    study = fs.Study(
        {
            "name": "moving",
            "topology": {"kind": "dragonfly", "groups": 4, "routers_per_group": 3, "nodes_per_router": 2, "links_per_pair": 2},
            "fail": {"count": 1, "seed": 3},
            "job": [
                {"name": "quiet", "nodes": 8, "work": {"kind": "uniform", "message": "1 KiB", "load": 0.2}},
                {"name": "loud", "nodes": 14, "work": {"kind": "hot-spot", "fraction": 0.5, "message": "2 KiB", "load": 0.4}},
            ],
            "sweep": {"routing.kind": ["minimal", "ugal"]},
            "observe": {"links_every": "500 ns", "messages": "full"},
            "run": {"end": "6 us", "warmup": "1 us"},
        }
    )
    folder = tmp_path_factory.mktemp("moving") / "moving"
    study.run(out=folder, progress=False)
    return folder


def client(folder):
    return TestClient(application(folder, token=TOKEN, port=PORT), base_url=HERE, follow_redirects=False)


def listed(folder, name=""):
    answer = client(folder).get(f"/{TOKEN}/api/runs", params={"folder": name})
    assert answer.status_code == 200, answer.text
    return answer.json()


def forked(one, told):
    """Have a run forked, and return how that ended."""
    begun = one.post(f"/{TOKEN}/api/fork", json=told)
    assert begun.status_code == 200, begun.text
    assert begun.json()["state"] in ("waiting", "running")
    deadline = time.monotonic() + 120
    while True:
        found = one.get(f"/{TOKEN}/api/forks").json()[begun.json()["number"]]
        if found["state"] not in ("waiting", "running"):
            return found
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_page_has_runs_forked_one_after_the_other(folder):
    run = listed(folder)["runs"][1]["id"]
    with client(folder) as one:
        slow = forked(one, {"folder": "", "run": run, "cables": ["(0) ring+"], "at": "2 us", "keeps": 0.5})
        assert (slow["state"], slow["forks"], slow["folder"]) == ("done", "forks", "")
        assert slow["sentence"].startswith("With (0) ring+ at 50 % of its bandwidth from 2 us on: mean latency ")
        found = listed(folder, "forks")["runs"]
        assert [entry["id"] for entry in found] == [slow["fork"]]
        # An answer, though it is no number.
        slower = forked(one, {"folder": "", "run": run, "cables": ["(0) ring+"], "at": "2 us", "keeps": 0.1})
        assert (slower["state"], "too short to tell" in slower["sentence"]) == ("done", True)
        wrong = forked(one, {"folder": "", "run": run, "cables": ["nowhere"], "at": "2 us"})
        assert wrong["state"] == "failed"
        assert "no cable is called `nowhere`" in wrong["sentence"]
        gone = forked(one, {"folder": "", "run": "000000000000", "sets": {"link.latency": "1 us"}})
        assert "no finished run with id '000000000000'" in gone["sentence"]
        assert one.get(f"/{TOKEN}/api/folders").json()["folders"] == ["", "forks"]
        link = one.get(f"/{TOKEN}/api/link", params={"run": run, "router": 0, "port": 0}).json()
        assert link["fails"] == {"cables": ["(0) ring+"]}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (b"no JSON", "as JSON"),
        ([], "of a folder and a run"),
        ({"folder": "", "run": "x"}, "nothing is other"),
        ({"folder": "", "run": "x", "cables": ["a"]}, "say when it fails"),
        ({"folder": "", "run": "x", "cables": ["a"], "at": 3}, "is no time"),
        ({"folder": "", "run": "x", "cables": 3, "at": "3 us"}, "not iterable"),
    ],
)
def test_half_a_fork_is_refused_with_words(folder, told, words):
    content = told if isinstance(told, bytes) else json.dumps(told).encode()
    with client(folder) as one:
        answer = one.post(f"/{TOKEN}/api/fork", content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, words in answer.text) == (400, True), answer.text
        outside = one.post(f"/{TOKEN}/api/fork", json={"folder": "..", "run": "x", "sets": {"a": "b"}})
        assert outside.status_code == 403


def test_runs_are_forked_for_this_page_alone(folder):
    told = {"folder": "", "run": "x", "sets": {"link.latency": "1 us"}}
    one = client(folder)
    assert one.post("/api/fork", json=told).status_code == 405
    assert one.post(f"/{'x' * 32}/api/fork", json=told).status_code == 403
    assert one.post(f"/{TOKEN}/api/runs", json=told).status_code == 405
    assert one.post(f"/{TOKEN}/api/fork", data=told).status_code == 405
    assert one.post(f"/{TOKEN}/api/fork", json=told, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    only_read = TestClient(application(folder, token=TOKEN, port=PORT, may_fork=False), base_url=HERE, follow_redirects=False)
    assert only_read.post(f"/{TOKEN}/api/fork", json=told).status_code == 405
    assert only_read.get(f"/{TOKEN}/api/folders").json()["may_fork"] is False


def test_a_server_that_ends_ends_its_forks(folder):
    run = listed(folder)["runs"][0]["id"]
    with client(folder) as one:
        told = {"folder": "", "run": run, "sets": {"run.end": "400 ms"}}
        number = one.post(f"/{TOKEN}/api/fork", json=told).json()["number"]
        deadline = time.monotonic() + 60
        while not (folder / "forks" / ".lock").exists():
            assert time.monotonic() < deadline, one.get(f"/{TOKEN}/api/forks").json()[number]
            time.sleep(0.05)
        begun = time.monotonic()
    assert time.monotonic() - begun < 30
    assert not list((folder / "forks" / "runs").glob("*.json"))


def records(folder):
    return sorted((folder / "runs").glob("*.json"))


def test_finished_runs_are_told_in_the_order_of_the_study(folder):
    found = listed(folder)
    assert found["state"]["phase"] == "complete"
    assert [run["sweep"][0][1] for run in found["runs"]] == ["0.1", "0.2", "0.3"]
    assert all(run["ok"] for run in found["runs"])
    assert "latency_ns.mean" in found["main"]
    assert found["runs"][0]["summary"]["latency_ns"]["mean"] > 0


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 403),
        ("/api/runs", {}, 403),
        (f"/{TOKEN[:-1]}/api/runs", {}, 403),
        (f"/{TOKEN}x/", {}, 403),
        (f"/{TOKEN}/", {"host": "example.org"}, 421),
        (f"/{TOKEN}/", {"host": f"127.0.0.1:{PORT + 1}"}, 421),
        (f"/{TOKEN}/", {"host": ""}, 421),
        (f"/{TOKEN}/", {"sec-fetch-site": "cross-site"}, 403),
        (f"/{TOKEN}/api/runs?folder=..", {}, 403),
        (f"/{TOKEN}/api/runs?folder=a/../..", {}, 403),
        (f"/{TOKEN}/api/runs?folder=/etc", {}, 403),
        (f"/{TOKEN}/api/events?folder=..", {}, 403),
        (f"/{TOKEN}/api/picture?folder=..&run=x", {}, 403),
        (f"/{TOKEN}/api/loads?folder=..&run=x", {}, 403),
        (f"/{TOKEN}/api/link?folder=/etc&run=x", {}, 403),
        (f"/{TOKEN}/api/differences?folder2=..", {}, 403),
        (f"/{TOKEN}/api/picture?run=../../manifest", {}, 404),
        (f"/{TOKEN}/api/loads?run=000000000000", {}, 404),
        ("/api/picture", {}, 403),
        (f"/{TOKEN}/api/runs?folder=%00", {}, 403),
        (f"/{TOKEN}/../manifest.json", {}, 403),
        (f"/{TOKEN}/manifest.json", {}, 404),
        (f"/{TOKEN}", {}, 307),
        (f"/{TOKEN}/", {}, 200),
        (f"/{TOKEN}/", {"host": f"LOCALHOST:{PORT}"}, 200),
    ],
)
def test_only_who_has_the_address_is_answered(folder, path, headers, status):
    answer = client(folder).get(path, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert TOKEN not in answer.text


def test_nothing_can_be_sent(folder):
    assert client(folder).post(f"/{TOKEN}/api/runs").status_code == 405


def test_links_that_lead_outside_are_refused(folder, tmp_path):
    (folder / "away").symlink_to("/")
    assert client(folder).get(f"/{TOKEN}/api/runs?folder=away").status_code == 403
    assert client(folder).get(f"/{TOKEN}/api/folders").json()["folders"] == [""]
    record = records(folder)[0]
    (tmp_path / "elsewhere.json").write_bytes(record.read_bytes())
    record.unlink()
    record.symlink_to(tmp_path / "elsewhere.json")
    found = listed(folder)
    assert len(found["runs"]) == 2
    assert "leads out of the folder" in found["state"]["findings"][0]
    moved = (folder / "runs").rename(tmp_path / "runs")
    (folder / "runs").symlink_to(moved)
    assert client(folder).get(f"/{TOKEN}/api/runs").status_code == 403
    (folder / "circle").symlink_to(folder / "circle")
    with pytest.raises(Outside):
        Root.of(folder).place("circle")


def asked(folder, path, /, **query):
    answer = client(folder).get(f"/{TOKEN}/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_a_picture_has_the_loads_of_the_tables(moving):
    results = fs.Results.open(moving)
    run = results.records[1]
    found = asked(moving, "picture", run=run.id).json()
    assert found["groups"] == ["g0", "g1", "g2", "g3"]
    assert [job["name"] for job in found["jobs"]] == ["quiet", "loud"]
    assert len(numbers(found["jobs"][1]["routers"], "<u4")) == 14
    assert len(found["failed"]["cables"]) == 1
    # What is dead is drawn, and is no link.
    a, b, _ = found["failed"]["cables"][0]
    router, port, peer = (numbers(found["links"][name], "<u4") for name in ("router", "port", "peer"))
    assert not ((router == a) & (peer == b) & (port == -1)).any()
    size = len(router) + len(found["routers"]["name"])
    whole = np.frombuffer(asked(moving, "loads", run=run.id, first=-1, count=1).content, np.uint8)
    assert len(whole) == size
    table = results.links(run)
    loads = {
        (r, p): use
        for r, p, use in zip(*(table.column(name).to_pylist() for name in ("router", "port", "utilisation")), strict=True)
    }
    for place, (r, p) in enumerate(zip(router.tolist(), port.tolist(), strict=True)):
        assert abs(whole[place] / 250 - loads[r, p]) <= 1 / 250, (r, p)
    # Windows together are the whole run, of links and of the busiest link to a node of each router.
    times = found["windows"]
    count = len(times["begin_ns"])
    assert count == 24 or times["end_ns"][-1] >= 6000
    windows = np.frombuffer(asked(moving, "loads", run=run.id, first=0, count=64).content, np.uint8).reshape(count, size)
    lengths = np.array(times["end_ns"]) - np.array(times["begin_ns"])
    sums = (windows[:, : len(router)] / 250 * lengths[:, None]).sum(axis=0)
    assert np.abs(sums / run.summary["sim_time_ns"] - whole[: len(router)] / 250).max() < 0.02
    assert max(times["most"]) == pytest.approx(windows[:, : len(router)].max() / 250, abs=1 / 250)
    assert windows[:, len(router) :].any()
    # A part is that part.
    part = asked(moving, "loads", run=run.id, first=3, count=2).content
    assert part == windows[3:5].tobytes()
    assert asked(moving, "loads", run=run.id, first=count, count=2).content == b""


def test_of_a_link_is_told_what_the_run_has_recorded_and_what_not(moving):
    results = fs.Results.open(moving)
    run = results.records[0]
    link = asked(moving, "link", run=run.id, router=0, port=0).json()
    assert link["class"] in ("local", "global")
    assert link["whole"]["packets"] >= 0
    assert "not recorded" in link["unknown"][0]
    assert "observe.operations" in link["unknown"][0]
    # Of a node all messages are known, and who has sent them.
    picture = asked(moving, "picture", run=run.id).json()
    ports = int((numbers(picture["links"]["router"], "<u4") == 0).sum())
    to_node = asked(moving, "link", run=run.id, router=0, port=ports).json()
    assert (to_node["class"], to_node["unknown"]) == ("host", [])
    sent = [user for user in to_node["users"] if "bytes" in user]
    messages = results.messages(run)
    mine = np.asarray(messages.column("destination")) == 0
    assert sum(user["bytes"] for user in sent) == int(np.asarray(messages.column("bytes"))[mine].sum()) > 0
    for query, words in (
        ({"router": 99, "port": 0}, "no router"),
        ({"router": 0, "port": 99}, "no port"),
        ({"router": "x"}, "whole number"),
    ):
        answer = client(moving).get(f"/{TOKEN}/api/link", params={"run": run.id, "port": 0, **query})
        assert (answer.status_code, words in answer.text) == (404, True), answer.text


def test_waits_name_the_ranks_whose_messages_a_link_held_up(tmp_path):
    study = fs.Study(
        {
            "name": "ranks",
            "topology": {"kind": "mesh", "shape": [3]},
            "job": [{"work": {"kind": "ring", "message": "1 MiB"}}],
            "observe": {"operations": True},
        }
    )
    run = study.run(out=tmp_path / "ranks", progress=False).records[0]
    waits = fs.Results.open(tmp_path / "ranks").table("waits", run).to_pylist()
    held = next(wait for wait in waits if wait["link_router"] is not None)
    link = asked(tmp_path / "ranks", "link", run=run.id, router=held["link_router"], port=held["link_port"]).json()
    mine = [wait for wait in waits if (wait["link_router"], wait["link_port"]) == (held["link_router"], held["link_port"])]
    named = [user for user in link["users"] if "held_ns" in user]
    if link["class"] != "host":
        assert sum(user["held_ns"] for user in named) == pytest.approx(sum(wait["link_ps"] for wait in mine) / 1e3)
        assert f"rank {held['peer']}" in str(named)


def test_two_runs_differ_in_what_their_studies_say(moving, folder):
    first, second = (record.id for record in fs.Results.open(moving).records)
    found = asked(moving, "differences", run=first, run2=second).json()
    assert found["keys"] == [["routing.kind", "minimal", "ugal"]]
    assert not found["same"]
    hops = next(figure for figure in found["figures"] if figure["key"] == "hops.mean")
    assert hops["change"] == pytest.approx((hops["second"] - hops["first"]) / hops["first"])
    assert hops["main"]
    assert not any(figure["key"].startswith(("cpu_s", "execution.")) for figure in found["figures"])
    same = asked(moving, "differences", run=first, run2=first).json()
    assert (same["keys"], same["same"]) == ([], True)
    # Of another folder below the root.
    shutil.copytree(moving, folder.parent / "moving")
    other = records(folder)[0].stem
    found = asked(folder.parent, "differences", folder="moving", run=first, folder2="small", run2=other).json()
    assert ["topology.kind", "dragonfly", "ring"] in found["keys"]
    assert client(moving).get(f"/{TOKEN}/api/differences?run={first}&run2=x").status_code == 404


def test_a_run_without_loads_has_a_picture_all_the_same(tmp_path):
    study = fs.Study(
        {"name": "bare", "topology": {"kind": "single-router", "nodes": 3}, "observe": {"links": False}, "run": {"end": "2 us"}}
    )
    run = study.run(out=tmp_path / "bare", progress=False).records[0]
    found = asked(tmp_path / "bare", "picture", run=run.id).json()
    assert (found["windows"], found["whole"], found["groups"]) == (None, False, [])
    assert asked(tmp_path / "bare", "loads", run=run.id, first=-1, count=1).content == b""
    assert asked(tmp_path / "bare", "link", run=run.id, router=0, port=2).json()["whole"] is None


def test_a_table_that_is_not_what_was_written_is_not_drawn(moving, tmp_path):
    copy = Path(shutil.copytree(moving, tmp_path / "torn"))
    run = fs.Results.open(copy).records[0].id
    table = copy / "runs" / f"{run}.link_windows.arrow"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    answer = client(copy).get(f"/{TOKEN}/api/picture", params={"run": run})
    assert answer.status_code == 404
    assert "link_windows" in answer.text


def test_a_campaign_tells_what_it_is_at(folder):
    class Said:
        save = False

        def __getattr__(self, name):
            return lambda **told: True

    run, other, *_ = fs.Results.open(folder).manifest["runs"]
    aside = [path.rename(folder / path.name) for path in records(folder)]
    note = Noted(Said())
    note.begin(folder=folder, total=3, reused=0, jobs=2)
    note.launched(run=Run.from_dict(run))
    note.last = 0.0
    note.progress(run=Run.from_dict(run), state={"fraction": 0.25}, campaign_fraction=0.1)
    note.last = 0.0
    note.finished(run=Run.from_dict(other), kind="fault", message="killed", done=0, total=3, campaign_fraction=0.3)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _files.is_locked(folder) is None:
            pytest.skip("this system does not tell who holds locks")
        state = listed(folder)["state"]
        assert [(one["id"], one["fraction"]) for one in state["running"]] == [(run["id"], 0.25)]
        assert [(one["label"], one["message"]) for one in state["failed"]] == [(Run.from_dict(other).label, "killed")]
        assert state["left"]["low"] is None
        assert state["left"]["seconds"] > 0
    # Nobody runs any more: what failed is still told, what was in progress is not.
    state = listed(folder)["state"]
    assert (state["phase"], state["running"], state["n_failed"], state["left"]) == ("interrupted", [], 1, None)
    note.failed_runs = 0
    note.end()
    assert not (folder / PROGRESS).exists()
    assert aside


@pytest.mark.parametrize("content", ["", "[]", '{"running": 3}', "\0"])
def test_a_note_that_is_none_is_not_believed(folder, content):
    (folder / PROGRESS).write_text(content)
    records(folder)[0].unlink()
    assert listed(folder)["state"]["n_failed"] == 0


def test_the_time_left_is_as_sure_as_finished_runs_are_alike():
    estimate = {"seconds": 1.0, "build_seconds": 0.0}
    todo = [(estimate, 0.0)] * 30
    alike, unlike = Pace(), Pace()
    for number in range(10):
        alike.learn(str(number), estimate, 2.0)
        unlike.learn(str(number), estimate, 1.0 + 2.0 * (number % 2))
    assert alike.left(todo, jobs=2) == {"seconds": 30.0, "low": 30.0, "high": 30.0}
    left = unlike.left(todo, jobs=2)
    assert left["low"] < 25 < left["seconds"] == 30.0 < 35 < left["high"]
    # A run that is longer than all others together sets the end.
    assert alike.left([*todo, ({"seconds": 100.0, "build_seconds": 0.0}, 0.5)], jobs=8)["seconds"] == 100.0
    assert Pace().left([({"seconds": None}, 0.0)], jobs=1) is None
    # Of unknown work each run is taken as long as those before.
    unknown = Pace()
    unknown.learn("a", {"seconds": None}, 7.0)
    assert unknown.left([({"seconds": None}, 0.0)] * 2, jobs=1)["seconds"] == 14.0


def test_folders_below_are_found_and_the_page_is_whole(folder):
    found = client(folder.parent).get(f"/{TOKEN}/api/folders").json()
    assert found["folders"] == ["small"]
    assert len(listed(folder.parent, "small")["runs"]) == 3
    script = client(folder).get(f"/{TOKEN}/view.js").text
    assert "import {" not in script
    assert ".rows" in client(folder).get(f"/{TOKEN}/view.css").text


def test_what_is_missing_empty_or_damaged_is_told(folder, tmp_path):
    assert listed(tmp_path / "none")["state"]["phase"] == "missing"
    (tmp_path / "bare").mkdir()
    assert listed(tmp_path / "bare")["state"]["phase"] == "empty"
    record = records(folder)[0]
    record.write_text(record.read_text().replace('"seed": 1', '"seed": 2'))
    found = listed(folder)
    assert (len(found["runs"]), found["state"]["n_findings"], found["state"]["phase"]) == (2, 1, "interrupted")
    (folder / "manifest.json").write_text("{")
    found = listed(folder)
    assert found["state"]["phase"] == "damaged"
    assert "JSON" in found["state"]["damage"]
    (folder / "manifest.json").unlink()
    assert listed(folder)["state"]["phase"] == "unlisted"
    shutil.rmtree(folder / "runs")
    (folder / "runs").write_text("")
    assert "no folder" in listed(folder)["state"]["damage"]


def test_a_folder_is_read_again_where_it_has_changed(folder):
    aside = [path.rename(folder / path.name) for path in records(folder)]
    watched = Watched(Root.of(folder), "")
    assert watched.refresh() == []
    assert watched.state()["phase"] == "interrupted"
    back = aside[0].rename(folder / "runs" / aside[0].name)
    assert watched.refresh() == [back.stem]
    assert watched.state()["finished"] == 1
    back.unlink()
    assert watched.refresh() == [back.stem]
    assert watched.rows == {}


def test_a_campaign_at_work_is_told_from_one_that_was_interrupted(folder):
    records(folder)[0].unlink()
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _files.is_locked(folder) is None:
            pytest.skip("this system does not tell who holds locks")
        assert listed(folder)["state"]["phase"] == "running"
    assert listed(folder)["state"]["phase"] == "interrupted"
    # Looking takes no lock.
    with _files.directory_lock(folder):
        assert _files.is_locked(folder)


@contextlib.contextmanager
def server(folder):
    """Start the command; give its address, and its process."""
    command = [sys.executable, "-m", "fabricsim", "view", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_two_servers_have_ports_of_their_own_and_ctrl_c_ends_them(folder):
    import httpx2 as httpx

    with server(folder) as (one, first), server(folder) as (two, second):
        assert one != two
        for address in (one, two):
            assert httpx.get(address + "api/runs").json()["state"]["finished"] == 3
        assert httpx.get(two.rsplit("/", 2)[0] + "/" + one.split("/")[3] + "/").status_code == 403
        with httpx.stream("GET", one + "api/events") as stream:
            assert next(stream.iter_lines()).startswith("data: ")
            first.send_signal(signal.SIGINT)
            assert first.wait(timeout=20) in (0, 130)
        second.send_signal(signal.SIGTERM)
        assert second.wait(timeout=20) in (0, -signal.SIGTERM, 143)
        assert "Traceback" not in first.stderr.read() + second.stderr.read()


def many_runs(folder, count):
    """Make a folder with so many copies of its first run."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["seal"]
    record = json.loads(records(folder)[0].read_text())
    del record["seal"]
    record["tables"] = {}
    for path in (folder / "runs").iterdir():
        path.unlink()
    first = next(run for run in manifest["runs"] if run["id"] == record["id"])
    manifest["runs"] = [{**first, "id": f"{number:012x}", "seed": number} for number in range(count)]
    (folder / "manifest.json").write_text(sealed(manifest))
    for number in range(count):
        path = folder / "runs" / f"{number:012x}.json"
        path.write_text(sealed({**record, "id": path.stem, "seed": number}))


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are looked at with playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium is here")
    with playwright.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield one
        one.close()


def shots(page, name):
    """Keep a picture where somebody wants to look at it."""
    if place := os.environ.get("FABRICSIM_SHOTS"):
        page.screenshot(path=f"{place}/{name}.png")


def test_runs_appear_on_the_page_without_a_reload(browser, folder):
    aside = [path.rename(folder / path.name) for path in records(folder)]
    with server(folder) as (address, process):
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.get_by_text("0 of 3 runs").wait_for()
        page.get_by_text("interrupted").wait_for()
        with (folder / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _files.is_locked(folder):
                page.get_by_text("running", exact=True).wait_for()
            for number, path in enumerate(aside, start=1):
                path.rename(folder / "runs" / path.name)
                page.get_by_text(f"{number} of 3 runs").wait_for()
        page.get_by_text("complete").wait_for()
        assert page.locator(".rows tbody tr:not(.space)").count() == 3
        process.send_signal(signal.SIGINT)
        page.get_by_text("the server has ended").wait_for()
        assert errors == []
        page.close()


def test_ten_thousand_runs_scroll_without_a_stall(browser, folder):
    many_runs(folder, 10_000)
    with server(folder) as (address, _):
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(address)
        page.get_by_text("10,000 of 10,000 runs").wait_for()
        page.locator(".rows tbody tr:not(.space)").first.wait_for()
        assert page.locator(".rows tbody tr").count() < 80
        longest = page.evaluate(
            """async () => {
              const box = document.querySelector(".rows");
              let [longest, last] = [0, performance.now()];
              for (let i = 0; i < 120; i++) {
                box.scrollTop = (box.scrollHeight * i) / 120;
                await new Promise(requestAnimationFrame);
                longest = Math.max(longest, performance.now() - last);
                last = performance.now();
              }
              return longest;
            }"""
        )
        print(f"longest frame {longest:.0f} ms")
        assert longest < 1000
        # By the keyboard alone: to the table, to its end, and to a heading.
        page.locator(".rows").focus()
        page.keyboard.press("End")
        page.locator("tr.on", has_text=f"{9999:012x}").wait_for()
        page.keyboard.press("Enter")
        page.locator(".side h3", has_text="seed=9999").wait_for()
        page.locator(".rows").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort=ascending]").count() == 1
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
        page.close()


def opened(browser, address, **how):
    """Open a page; give it when its picture is there, and its errors."""
    page = browser.new_page(**{"viewport": {"width": 1600, "height": 1000}, **how})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(address)
    page.locator(".stage").first.wait_for()
    return page


def test_a_click_on_a_link_forks_the_run_and_puts_it_beside(browser, moving, tmp_path):
    folder = Path(shutil.copytree(moving, tmp_path / "moving"))
    with server(folder) as (address, _):
        page = opened(browser, address)
        page.locator(".over").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".hot button").first.click()
        start = page.get_by_label("from", exact=True)
        start.wait_for()
        assert start.input_value().endswith(" ns")
        page.locator(".fork select").select_option("0.1")
        shots(page, "what-if")
        page.get_by_role("button", name="run the fork").click()
        page.locator(".fork p", has_text="of its bandwidth from").filter(has_text="times the").wait_for()
        page.get_by_text("what differs").wait_for()
        assert page.locator(".side").count() == 2
        shots(page, "forked")
        # Keys alone, and what they are not.
        page.get_by_label("keys from the start").fill("routing.kind")
        page.get_by_role("button", name="run the fork").click()
        page.get_by_text("is no key with its value").wait_for()
        assert page.errors == []
        page.close()


def test_the_picture_moves_through_time_by_mouse_and_keyboard(browser, moving):
    with server(moving) as (address, _):
        page = opened(browser, address)
        page.get_by_text("the whole run", exact=True).wait_for()
        assert "1 dead link" in page.locator(".side p").inner_text()
        hottest = page.locator(".hot li b").first
        whole = hottest.inner_text()
        over = page.locator(".over")
        over.focus()
        page.keyboard.press("ArrowRight")
        page.get_by_text("window 2 of").wait_for()
        page.keyboard.press("End")
        assert page.locator("input[type=range]").input_value() == page.locator("input[type=range]").get_attribute("max")
        last = int(re.search(r"window (\d+) of", page.get_by_text("window ").filter(has_text=" of ").first.inner_text()).group(1))
        seen = set()
        for step in range(1, min(10, last - 1)):
            page.keyboard.press("ArrowLeft")
            page.get_by_text(f"window {last - step} of").wait_for()
            seen.add(page.locator(".hot").inner_text())
        assert len(seen) > 2, "hot spots come and go"
        assert whole not in ("", "0 %")
        frames = int(page.locator(".base").get_attribute("data-frames"))
        page.keyboard.press(" ")
        page.get_by_role("button", name="pause").wait_for()
        for _ in range(200):
            if int(page.locator(".base").get_attribute("data-frames")) > frames + 5:
                break
            page.wait_for_timeout(50)
        else:
            pytest.fail("it does not move by itself")
        page.get_by_role("button", name="pause").click()
        page.get_by_role("button", name="whole run").click()
        page.get_by_text("the whole run", exact=True).wait_for()
        assert page.errors == []
        page.close()


def test_a_click_says_who_uses_a_link_and_leads_into_groups(browser, moving):
    with server(moving) as (address, _):
        page = opened(browser, address)
        page.locator(".hot button").first.click()
        page.locator(".link h3").wait_for()
        assert "of the run" in page.locator(".link").inner_text()
        assert "not recorded" in page.locator(".link").inner_text()
        page.get_by_label("jobs").check()
        assert "loud, 14 nodes" in page.locator(".legend").inner_text()
        shots(page, "jobs")
        # A matrix of four by four: the diagonal leads into a group.
        page.get_by_label("show").select_option("matrix")
        box = page.locator(".over").bounding_box()
        page.mouse.click(box["x"] + 0.5 * box["width"] * 0.2, box["y"] + 8)
        page.get_by_label("zoom into").select_option("2")
        page.locator(".over").focus()
        page.keyboard.press("Escape")
        assert page.get_by_label("zoom into").input_value() == "-1"
        assert page.errors == []
        page.close()


def test_two_runs_stand_side_by_side_with_what_differs(browser, moving):
    with server(moving) as (address, _):
        page = opened(browser, address)
        first = page.locator(".rows tbody tr:not(.space)").nth(1)
        first.click(modifiers=["Shift"])
        page.get_by_text("what differs").wait_for()
        assert page.locator(".stage").count() == 2
        text = page.locator(".beside").inner_text()
        assert "routing.kind" in text
        assert "%" in text
        assert "mean hops" in text
        page.locator(".over").nth(1).focus()
        page.keyboard.press("ArrowRight")
        page.get_by_text("window 2 of").wait_for()
        frames = [page.locator(".base").nth(number).get_attribute("data-frames") for number in (0, 1)]
        assert all(int(number) > 1 for number in frames), "both move"
        page.get_by_label("beside it").select_option("")
        page.locator(".stage").nth(1).wait_for(state="detached")
        assert page.errors == []
        page.close()


def test_a_run_without_windows_says_which_key_gives_them(browser, folder):
    with server(folder) as (address, _):
        page = opened(browser, address)
        page.get_by_text("observe.links_every").wait_for()
        assert not page.locator("input[type=range]").is_visible()
        page.close()


def test_a_network_of_32k_nodes_moves_at_thirty_frames_a_second(browser, tmp_path):
    study = fs.Study(
        {
            "name": "large",
            "topology": {"kind": "torus", "shape": [32, 32, 32]},
            "router": {"model": "sculpin"},
            "job": [{"work": {"kind": "uniform", "message": "64 B", "load": 0.3}}],
            "observe": {"links_every": "100 ns"},
            "run": {"end": "600 ns", "warmup": "0 ns", "drain": "0 ns"},
        }
    )
    study.run(out=tmp_path / "large", progress=False)
    with server(tmp_path / "large") as (address, _):
        page = opened(browser, address)
        page.get_by_text("32,768 routers").wait_for()
        page.get_by_label("show").select_option("network")
        page.get_by_label("speed").select_option("60")
        page.locator(".over").focus()
        page.keyboard.press("End")
        page.get_by_text("window 6 of 6").wait_for()
        # The time on the processor of the page's own thread for each frame: what else the machine does is not counted.
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent():
            found = session.send("Performance.getMetrics")["metrics"]
            frames = int(page.locator(".base").get_attribute("data-frames"))
            return next(one["value"] for one in found if one["name"] == "TaskDuration"), frames

        begin, first = spent()
        page.evaluate(
            """async () => {
              const slider = document.querySelector("input[type=range]");
              for (let i = 0; i < 40; i++) {
                slider.value = i % 6;
                slider.dispatchEvent(new Event("input"));
                await new Promise(requestAnimationFrame);
              }
            }"""
        )
        end, last = spent()
        taken = 1000 * (end - begin) / (last - first)
        print(f"a frame takes {taken:.1f} ms on the processor")
        assert last - first >= 20
        assert taken < 1000 / 30
        assert page.errors == []
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1600])
def test_the_page_fits_narrow_and_wide_screens(browser, moving, width, scheme):
    with server(moving) as (address, _):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(address)
        page.locator(".rows tbody tr:not(.space)").first.wait_for()
        page.locator(".stage").first.wait_for()
        page.locator(".rows tbody tr:not(.space)").nth(1).click(modifiers=["Shift"])
        page.get_by_text("what differs").wait_for()
        page.locator(".hot button").first.click()
        page.locator(".link h3").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if place := os.environ.get("FABRICSIM_SHOTS"):
            page.screenshot(path=f"{place}/{scheme}-{width}.png", full_page=True)
        page.close()
