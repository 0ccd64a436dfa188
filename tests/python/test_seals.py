"""Whatever happens to a results directory is found by name, stops no command with a traceback, and is healed by resume."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import fabricsim as fs
from conftest import STUDY
from fabricsim import cli
from fabricsim._records import read_manifest
from fabricsim._seals import sealed

CLAIM = """
[[claim]]
id = "more-waits"
paper = "a loaded network is slower"
measure = "value('latency_ns.mean', where={'job.0.work.load': 0.3}) / value('latency_ns.mean', where={'job.0.work.load': 0.1})"
expect = ">= 1"
"""
#: Numbers of the machine.
_MACHINE = {"cpu_s", "build_s", "peak_rss_bytes", "execution", "engine"}


def dispatch(*words):
    """Run a command in this process; an exception that leaves it would be a traceback on a terminal."""
    before, sys.argv = sys.argv, ["fabricsim", *map(str, words)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fs.DamagedWarning)
            return cli._dispatch()
    finally:
        sys.argv = before


def study_file(folder, name="sealed", loads="0.1, 0.2, 0.3"):
    path = folder / f"{name}.toml"
    text = STUDY.format(name=name, loads=loads, fake="").replace("[fake]\n", "")
    path.write_text(text + CLAIM)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A campaign with everything in it, and another study's."""
    folder = tmp_path_factory.mktemp("made")
    for name, loads in (("sealed", "0.1, 0.2, 0.3"), ("other", "0.4, 0.5")):
        study = study_file(folder, name, loads)
        assert dispatch("run", study, "--out", folder / name, "--quiet") == 0
        assert dispatch("report", folder / name) == 0
        assert fs.verify(folder / name).state == "whole", fs.verify(folder / name).findings
    return folder


def figures_of(folder):
    """Return all that a campaign has found out, but for what its machine has."""
    runs = json.loads((folder / "summary.json").read_text())["runs"]
    numbers = [{key: value for key, value in run.items() if key not in _MACHINE} for run in runs]
    return numbers, *(pq.read_table(folder / f"{name}.parquet") for name in ("links", "messages", "cdf", "timeline"))


def records(folder):
    return sorted((folder / "runs").glob("*.json"))


def tables(folder, name="links"):
    return sorted((folder / "runs").glob(f"*.{name}.arrow"))


def flip(path, at=0.5, bit=1):
    content = bytearray(path.read_bytes())
    content[int(len(content) * at)] ^= bit
    path.write_bytes(content)


def instead(path, make):
    path.unlink()
    make(path)


def loop(path):
    path.symlink_to(path.name)


def full_folder(path):
    path.mkdir()
    (path / "cat.png").write_bytes(b"meow")


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def reseal(path, **changes):
    document = json.loads(path.read_text())
    del document["seal"]
    path.write_text(sealed({**document, **changes}))


def swap(first, second):
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])


def digit(path):
    """Change one digit of one number in the middle of a text."""
    text = path.read_text()
    at = next(at for at in range(len(text) // 2, len(text)) if text[at] in "12345678")
    path.write_text(text[:at] + str(int(text[at]) + 1) + text[at + 1 :])


def without_column(path):
    with pa.memory_map(str(path)) as source:
        table = ipc.open_file(source).read_all()
    with ipc.new_file(str(path) + ".new", table.drop_columns(["utilisation"]).schema) as writer:
        writer.write_table(table.drop_columns(["utilisation"]))
    Path(str(path) + ".new").replace(path)


def unsealed(path):
    document = json.loads(path.read_text())
    del document["seal"]
    path.write_text(json.dumps(document, indent=1))


def rewritten(path, **options):
    path.write_text(json.dumps(json.loads(path.read_text()), **options))


def first(folder):
    return records(folder)[0]


def other(folder):
    return folder.parent / "other"


# Name -> (what happens to the folder, beginning of the file that must be named).
DAMAGE = {
    "record truncated": (lambda f: first(f).write_bytes(first(f).read_bytes()[:-40]), "runs/"),
    "record empty": (lambda f: first(f).write_bytes(b""), "runs/"),
    "record with one bit flipped": (lambda f: flip(first(f)), "runs/"),
    "record with one digit changed": (lambda f: digit(first(f)), "runs/"),
    "record that is no JSON": (lambda f: first(f).write_text("latency: 5"), "runs/"),
    "record that is a list": (lambda f: first(f).write_text("[1, 2]"), "runs/"),
    "record that is a number": (lambda f: first(f).write_text("5"), "runs/"),
    "record nested too deep": (lambda f: first(f).write_text("[" * 200_000), "runs/"),
    "record with a huge number": (lambda f: first(f).write_text('{"id": ' + "9" * 5000 + "}"), "runs/"),
    "record of zeros": (lambda f: first(f).write_bytes(bytes(first(f).stat().st_size)), "runs/"),
    "records swapped": (lambda f: swap(*records(f)[:2]), "runs/"),
    "record given to two runs": (lambda f: records(f)[1].write_bytes(first(f).read_bytes()), "runs/"),
    "record duplicated under another name": (lambda f: shutil.copy(first(f), f / "runs" / "copy.json"), "runs/copy.json"),
    "record of another study": (lambda f: shutil.copy(first(other(f)), f / "runs"), "runs/"),
    "record removed": (lambda f: first(f).unlink(), "runs/"),
    "record not UTF-8": (lambda f: first(f).write_bytes(b"\xff\xfe" + first(f).read_bytes()), "runs/"),
    "record with a byte order mark": (lambda f: first(f).write_bytes(b"\xef\xbb\xbf" + first(f).read_bytes()), "runs/"),
    "record with bytes after its end": (lambda f: first(f).write_bytes(first(f).read_bytes() + b"\n"), "runs/"),
    "record with other line ends": (lambda f: first(f).write_bytes(first(f).read_bytes().replace(b"\n", b"\r\n")), "runs/"),
    "record laid out anew": (lambda f: rewritten(first(f), indent=2), "runs/"),
    "record with a key twice": (lambda f: replace(first(f), '"id":', '"seed": 7,\n "id":'), "runs/"),
    "record without a seal": (lambda f: unsealed(first(f)), "runs/"),
    "record of before there were seals": (lambda f: first(f).write_text('{"id": "0", "hash": "0", "status": "finished"}'), "runs/"),
    "record with a seal of its own": (lambda f: first(f).write_text(sealed({"id": first(f).stem})), "runs/"),
    "record with tables elsewhere": (lambda f: reseal(first(f), tables={"links": {"file": "../../x"}}), "runs/"),
    "record with another specification": (lambda f: reseal(first(f), hash="0" * 64), "runs/"),
    "record with another sweep value": (lambda f: reseal(first(f), sweep=[["job.0.work.load", "0.9"]]), "runs/"),
    "record of another build": (lambda f: reseal(first(f), build={"version": "9", "commit": None, "sources": "1"}), "runs/"),
    "folder in place of a record": (lambda f: instead(first(f), Path.mkdir), "runs/"),
    "folder with files in place of a record": (lambda f: instead(first(f), full_folder), "runs/"),
    "record that links to itself": (lambda f: instead(first(f), loop), "runs/"),
    "record that links nowhere": (lambda f: instead(first(f), lambda p: p.symlink_to("/nowhere/at/all")), "runs/"),
    "pipe in place of a record": (lambda f: instead(first(f), os.mkfifo), "runs/"),
    "record that may not be read": (lambda f: first(f).chmod(0), "runs/"),
    "table truncated": (lambda f: os.truncate(tables(f)[0], 100), "runs/"),
    "table empty": (lambda f: os.truncate(tables(f)[0], 0), "runs/"),
    "table with one bit flipped": (lambda f: flip(tables(f)[0]), "runs/"),
    "table removed": (lambda f: tables(f)[0].unlink(), "runs/"),
    "tables of two runs swapped": (lambda f: swap(*tables(f)[:2]), "runs/"),
    "table of another kind": (lambda f: tables(f)[0].write_bytes(tables(f, "cdf")[0].read_bytes()), "runs/"),
    "table with a column missing": (lambda f: without_column(tables(f)[0]), "runs/"),
    "table that is text": (lambda f: tables(f)[0].write_text("router,port\n1,2\n"), "runs/"),
    "folder in place of a table": (lambda f: instead(tables(f)[0], full_folder), "runs/"),
    "table that links to itself": (lambda f: instead(tables(f)[0], loop), "runs/"),
    "strange file among the runs": (lambda f: (f / "runs" / "notes.txt").write_text("mine"), "runs/notes.txt"),
    "runs removed": (lambda f: shutil.rmtree(f / "runs"), "runs/"),
    "file in place of the runs": (lambda f: (shutil.rmtree(f / "runs"), (f / "runs").write_text("x")), "runs"),
    "runs that link nowhere": (lambda f: (shutil.rmtree(f / "runs"), (f / "runs").symlink_to("gone")), "runs"),
    "runs of another study": (lambda f: (shutil.rmtree(f / "runs"), shutil.copytree(other(f) / "runs", f / "runs")), "runs/"),
    "manifest truncated": (lambda f: os.truncate(f / "manifest.json", 500), "manifest.json"),
    "manifest empty": (lambda f: os.truncate(f / "manifest.json", 0), "manifest.json"),
    "manifest removed": (lambda f: (f / "manifest.json").unlink(), "manifest.json"),
    "manifest with one bit flipped": (lambda f: flip(f / "manifest.json"), "manifest.json"),
    "manifest with one digit changed": (lambda f: digit(f / "manifest.json"), "manifest.json"),
    "manifest not UTF-8": (lambda f: (f / "manifest.json").write_bytes(b"\xff{}"), "manifest.json"),
    "manifest of another study": (lambda f: shutil.copy(other(f) / "manifest.json", f), "manifest.json"),
    "record in place of the manifest": (lambda f: shutil.copy(first(f), f / "manifest.json"), "manifest.json"),
    "manifest of another shape": (lambda f: (f / "manifest.json").write_text(sealed({"format": 2, "runs": 3})), "manifest.json"),
    "manifest that calls itself old": (lambda f: (f / "manifest.json").write_text('{"format": 1}'), "manifest.json"),
    "folder in place of the manifest": (lambda f: instead(f / "manifest.json", Path.mkdir), "manifest.json"),
    "pipe in place of the manifest": (lambda f: instead(f / "manifest.json", os.mkfifo), "manifest.json"),
    "manifest that links to itself": (lambda f: instead(f / "manifest.json", loop), "manifest.json"),
    "summary with one digit changed": (lambda f: digit(f / "summary.json"), "summary.json"),
    "summary removed": (lambda f: (f / "summary.json").unlink(), "summary.json"),
    "joined table truncated": (lambda f: os.truncate(f / "runs.parquet", 50), "runs.parquet"),
    "joined table with a column missing": (
        lambda f: pq.write_table(pq.read_table(f / "links.parquet").drop_columns(["utilisation"]), f / "links.parquet"),
        "links.parquet",
    ),
    "joined table of another study": (lambda f: shutil.copy(other(f) / "runs.parquet", f), "runs.parquet"),
    "report edited": (lambda f: replace(f / "report.html", "<title>", "<title>best "), "report.html"),
    "folder in place of the report": (lambda f: instead(f / "report.html", full_folder), "report.html"),
    "figures swapped": (lambda f: swap(*sorted((f / "figures").glob("*.png"))[:2]), "figures/"),
    "figure removed": (lambda f: sorted((f / "figures").glob("*.svg"))[0].unlink(), "figures/"),
    "figure of nobody": (lambda f: shutil.copy(next((f / "figures").glob("*.png")), f / "figures" / "effects.png"), "figures/effects.png"),
    "file in place of the figures": (lambda f: (shutil.rmtree(f / "figures"), (f / "figures").write_text("x")), "figures"),
    "claims edited": (lambda f: replace(f / "claims.json", "agrees", "differs"), "claims.json"),
    "claims of another shape": (lambda f: (f / "claims.json").write_text("5"), "claims.json"),
    "pipe in place of the claims": (lambda f: instead(f / "claims.json", os.mkfifo), "claims.json"),
    "answer of nobody": (lambda f: (f / "capacity.csv").write_text("job,slowdown\na,1\n"), "capacity.csv"),
    "list of seals truncated": (lambda f: os.truncate(f / "seals.json", 300), "seals.json"),
    "list of seals with one bit flipped": (lambda f: flip(f / "seals.json"), "seals.json"),
    "list of seals removed": (lambda f: (f / "seals.json").unlink(), "seals.json"),
    "list of seals of another study": (lambda f: shutil.copy(other(f) / "seals.json", f), ""),
    "folder in place of the list of seals": (lambda f: instead(f / "seals.json", Path.mkdir), "seals.json"),
    "list of seals of another shape": (lambda f: (f / "seals.json").write_text(sealed({"format": 1, "files": [1]})), "seals.json"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_stops_nothing_and_is_healed(made, tmp_path, name, capsys):
    damage, file = DAMAGE[name]
    if name.endswith("may not be read") and os.geteuid() == 0:
        pytest.skip("root may read anything")
    shutil.copytree(made / "other", tmp_path / "other")
    folder, drawn = tmp_path / "sealed", tmp_path / "drawn"
    shutil.copytree(made / "sealed", folder)
    damage(folder)
    shutil.copytree(made / "sealed", drawn)
    damage(drawn)

    found = fs.verify(folder)
    assert found.state == "damaged"
    assert [finding for finding in found.findings if finding.file.startswith(file)], found.findings
    assert all(finding.reason and finding.kind for finding in found.findings)
    capsys.readouterr()
    assert dispatch("verify", folder, "--json") == 3
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "damaged"
    assert len(told["findings"]) == len(found.findings)

    # What is read is whole, or refused with words.
    expected = {run["id"]: run["latency_ns"] for run in figures_of(made / "sealed")[0]}
    with warnings.catch_warnings(), contextlib.suppress(fs.ResultsError):
        warnings.simplefilter("ignore", fs.DamagedWarning)
        results = fs.Results.open(folder)
        for record in results:
            assert record.summary["latency_ns"] == expected[record.id]
            for table in record.tables:
                with contextlib.suppress(fs.DamagedError):
                    assert results.table(table, record).num_rows
    assert dispatch("report", drawn, "--no-figures") in (0, 2, 3)
    assert dispatch("rerun", drawn, "--quiet") in (0, 2, 3) if name.startswith("table") else True
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err

    # Resume says what it found, and leaves what an undisturbed campaign leaves.
    assert dispatch("run", made / "sealed.toml", "--out", folder, "--resume") == 0
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert "warning: " in said.err
    healed = fs.verify(folder)
    assert healed.state == "whole", healed.findings
    assert healed.finished == healed.runs == 3
    assert figures_of(folder) == figures_of(made / "sealed")


def test_every_bit_counts(made, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(made / "sealed", folder)
    draw = random.Random(1)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    assert len(files) > 30
    for path in files:
        content = path.read_bytes()
        for at in {0, len(content) - 1, *(draw.randrange(len(content)) for _ in range(3))}:
            changed = bytearray(content)
            changed[at] ^= 1 << draw.randrange(8)
            path.write_bytes(changed)
            found = fs.verify(folder)
            assert str(path.relative_to(folder)) in {finding.file for finding in found.findings}, (path, at)
        path.write_bytes(content)
    assert fs.verify(folder).ok


def test_seals_are_what_the_pages_say(made):
    folder = made / "sealed"
    for path in (*records(folder), folder / "manifest.json", folder / "seals.json"):
        document = json.loads(path.read_text())
        seal = document.pop("seal")
        assert hashlib.sha256(json.dumps(document, indent=1).encode()).hexdigest() == seal
    for path in records(folder):
        for entry in json.loads(path.read_text())["tables"].values():
            content = (folder / "runs" / entry["file"]).read_bytes()
            assert (entry["sha256"], entry["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))
    listed = json.loads((folder / "seals.json").read_text())["files"]
    for name, entry in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == entry["sha256"]
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")}
    assert there - set(listed) - {str(path.relative_to(folder)) for path in (folder / "runs").iterdir()} == {
        "manifest.json",
        "seals.json",
    }


def test_manifest_and_records_say_of_which_build_they_are(made):
    manifest = read_manifest(made / "sealed")
    assert set(manifest["build"]) == {"version", "commit", "dirty", "sources"}
    assert len(manifest["build"]["sources"]) == 64
    assert all(json.loads(path.read_text())["build"] == manifest["build"] for path in records(made / "sealed"))


def as_before(folder):
    """Make a folder what it was before there were seals."""
    for path in (*records(folder), folder / "manifest.json"):
        document = json.loads(path.read_text())
        del document["seal"], document["build"]
        for entry in document.get("tables", {}).values():
            del entry["sha256"], entry["bytes"]
        if "format" in document:
            document["format"] = 1
        path.write_text(json.dumps(document, indent=1))
    (folder / "seals.json").unlink()


def test_a_folder_of_before_there_were_seals_is_said_to_be_one(made, tmp_path, capsys):
    folder = tmp_path / "r"
    shutil.copytree(made / "sealed", folder)
    as_before(folder)
    assert fs.verify(folder).state == "not sealed"
    assert dispatch("verify", folder) == 2
    assert "not sealed" in capsys.readouterr().out
    assert len(fs.Results.open(folder)) == 3
    assert fs.Results.open(folder).links().num_rows
    assert dispatch("report", folder) == 0
    first(folder).write_text("{")
    assert fs.verify(folder).state == "damaged"
    capsys.readouterr()
    assert dispatch("run", made / "sealed.toml", "--out", folder, "--resume") == 0
    assert "not sealed" in capsys.readouterr().err
    assert fs.verify(folder).ok
    assert figures_of(folder) == figures_of(made / "sealed")


@pytest.mark.parametrize("what", ["manifest.json", "runs", "table"])
def test_damage_in_a_folder_of_before_gives_no_traceback_either(made, tmp_path, what, capsys):
    folder = tmp_path / "r"
    shutil.copytree(made / "sealed", folder)
    as_before(folder)
    victim = {"manifest.json": folder / "manifest.json", "runs": first(folder), "table": tables(folder)[0]}[what]
    victim.write_text("[]")
    for words in (("verify", folder), ("report", folder), ("rerun", folder, "--quiet")):
        assert dispatch(*words) in (0, 2, 3)
    assert "Traceback" not in "".join(capsys.readouterr())


def test_what_is_no_results_directory_is_no_damage(tmp_path, capsys):
    for path in (tmp_path, tmp_path / "nothing", Path("/dev/null")):
        assert dispatch("verify", path) == 2
    assert "not a results directory" in capsys.readouterr().err


def test_a_campaign_that_is_not_complete_is_whole(made, tmp_path, capsys):
    assert dispatch("run", made / "sealed.toml", "--out", tmp_path / "r", "--limit-runs", "2", "--quiet") == 0
    found = fs.verify(tmp_path / "r")
    assert (found.state, found.finished, found.runs) == ("whole", 2, 3)
    (tmp_path / "r" / "thoughts.txt").write_text("mine")
    found = fs.verify(tmp_path / "r")
    assert found.ok
    assert found.notes == ("thoughts.txt: not fabricsim's",)


def test_a_figure_of_fewer_runs_is_out_of_date_and_not_in_the_report(made, tmp_path):
    folder = tmp_path / "r"
    assert dispatch("run", made / "sealed.toml", "--out", folder, "--limit-runs", "2", "--quiet") == 0
    assert dispatch("report", folder) == 0
    assert json.loads((folder / "claims.json").read_text())[0]["verdict"] == "not measured"
    assert dispatch("run", made / "sealed.toml", "--out", folder, "--resume", "--quiet") == 0
    assert any(note.startswith("figures/") and "before the runs" in note for note in fs.verify(folder).notes)
    # Claims are judged whenever something has run; figures are drawn when they are asked for.
    assert json.loads((folder / "claims.json").read_text())[0]["verdict"] != "not measured"
    assert "more-waits" in (folder / "report.html").read_text()
    assert dispatch("report", folder) == 0
    assert fs.verify(folder).notes == ()


def test_answers_that_hold_results_directories_are_verified_with_them(made, tmp_path):
    from fabricsim._seals import products

    folder = tmp_path / "answer"
    shutil.copytree(made / "sealed", folder / "part")
    with products(folder) as out:
        out.write("knee.csv", "over,value\n")
    found = fs.verify(folder)
    assert (found.state, found.runs, found.finished) == ("whole", 3, 3)
    digit(first(folder / "part"))
    assert fs.verify(folder).findings[0].file.startswith("part/runs/")
    (folder / "knee.csv").write_text("over,value\n1,2\n")
    assert "knee.csv" in {finding.file for finding in fs.verify(folder).findings}


def test_force_removes_what_is_sealed_and_nothing_else(made, tmp_path):
    from fabricsim._seals import products

    folder = tmp_path / "r"
    shutil.copytree(made / "sealed", folder)
    with products(folder) as out:
        for name in ("capacity.csv", "interference.svg", "pareto.csv", "effects.json"):
            out.write(name, "of the first study")
    for name in ("thoughts.txt", "figures/mine.svg", "runs/mine.txt"):
        (folder / name).write_text("mine")
    assert dispatch("run", made / "other.toml", "--out", folder, "--force", "--no-report", "--quiet") == 0
    left = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert left == {
        *("manifest.json", "seals.json", "summary.json", "claims.json", "runs", "figures", "aside", "thoughts.txt"),
        *(path.name for path in folder.glob("*.parquet")),
    }
    kept = [path.name for path in folder.rglob("*") if path.is_file() and path.read_bytes() == b"mine"]
    assert sorted(kept) == ["figures-mine.svg", "runs-mine.txt", "thoughts.txt"]
    assert fs.verify(folder).ok


def test_another_build_does_not_mix_with_old_results(shell, monkeypatch):
    study, out = shell.study(), shell.folder / "r"
    assert shell("run", study, "--out", "r").code == 0
    times = {path: path.stat().st_mtime_ns for path in records(out)}
    left = out / "runs" / f"{records(out)[0].stem}.checkpoint"
    monkeypatch.setenv("FAKE_COMMIT", "c" * 40)
    same = shell("run", study, "--out", "r", "--resume")
    assert "the same, they are kept" in same.err
    assert times == {path: path.stat().st_mtime_ns for path in records(out)}
    monkeypatch.setenv("FAKE_SOURCES", "d" * 64)
    left.write_text("nothing 5")
    ran = shell("run", study, "--out", "r", "--resume")
    assert ran.code == 0
    assert "3 finished runs are of another build" in ran.err
    assert "1 checkpoints are removed" in ran.err
    assert "sources dddddddddd" in ran.err
    assert all(path.stat().st_mtime_ns > times[path] for path in records(out))
    assert "whole" in shell("verify", "r").out


def test_an_interrupted_change_of_builds_uses_no_old_run(shell, monkeypatch):
    study, out = shell.study(), shell.folder / "r"
    assert shell("run", study, "--out", "r").code == 0
    monkeypatch.setenv("FAKE_SOURCES", "d" * 64)
    assert shell("run", study, "--out", "r", "--resume", "--limit-runs", "1").code == 0
    summary = json.loads((out / "summary.json").read_text())
    assert (len(summary["runs"]), summary["verdict"]["missing"]) == (1, 2)
    assert shell("verify", "r").out.count("is of another build") == 2


def test_a_killed_campaign_is_not_damaged(shell):
    from conftest import wait_until

    study, out = shell.study(loads="0.1, 0.2, 0.3, 0.4, 0.5, 0.6", fake="seconds = 0.4"), shell.folder / "r"
    process = shell.start("run", study, "--out", "r", "--jobs", "2")
    wait_until(lambda: len(records(out)) >= 2, process)
    process.kill()
    process.communicate()
    found = fs.verify(out)
    assert found.state == "whole", found.findings
    assert found.finished >= 2


def test_two_writers_of_products_lose_no_seal(made, tmp_path):
    import threading

    from fabricsim._seals import products, read_ledger

    shutil.copytree(made / "sealed", tmp_path / "r")

    def write(number):
        for part in range(5):
            with products(tmp_path / "r") as out:
                out.write(f"figures/{number}-{part}.svg", str(number))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (
        sum(name.startswith("figures/") and "-" in name and name[8].isdigit() for name in read_ledger(tmp_path / "r").files) == 20
    )
    assert fs.verify(tmp_path / "r").ok
