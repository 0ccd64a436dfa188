"""`fabricsim view`: the page of a folder while runs come in and after, and who is refused."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fabricsim as fs
from fabricsim import _files
from fabricsim._seals import sealed

pytest.importorskip("starlette", reason="fabricsim[view] is not installed")
pytest.importorskip("httpx2", reason="the client of starlette's tests needs httpx2")

from starlette.testclient import TestClient

from fabricsim.view.folders import Watched
from fabricsim.view.places import Outside, Root
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


def client(folder):
    return TestClient(application(folder, token=TOKEN, port=PORT), base_url=HERE, follow_redirects=False)


def listed(folder, name=""):
    answer = client(folder).get(f"/{TOKEN}/api/runs", params={"folder": name})
    assert answer.status_code == 200, answer.text
    return answer.json()


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
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort=ascending]").count() == 1
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1600])
def test_the_page_fits_narrow_and_wide_screens(browser, folder, width, scheme):
    with server(folder) as (address, _):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(address)
        page.locator(".rows tbody tr:not(.space)").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shots(page, f"{scheme}-{width}")
        page.close()
