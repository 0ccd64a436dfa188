"""The script of a page: its modules joined into one text that needs no network and runs as it is."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import fabricsim as fs
from fabricsim.report import script

TESTS = Path(__file__).resolve().parents[1]
SOURCES = {
    "a/one.js": 'import { two } from "../b/two.js";\nexport const one = () => two() - 1;\n',
    "b/two.js": "const shown = 2;\nexport function two() {\n  return shown;\n}\n",
    "b/same.js": 'import {\n  two,\n} from "./two.js";\nconst shown = 3;\nexport const three = () => shown + two() - 2;\n',
    "c/turn.js": 'import { back } from "./back.js";\nexport const turn = back;\n',
    "c/back.js": 'import { turn } from "./turn.js";\nexport const back = turn;\n',
    "c/whole.js": 'import * as all from "../b/two.js";\n',
    "c/list.js": "const x = 1;\nexport { x };\n",
}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="scripts run in node")


@pytest.fixture
def sources(monkeypatch):
    monkeypatch.setattr(script, "module_text", SOURCES.__getitem__)


def node(text):
    return subprocess.run(
        ["node", "--input-type=module", "-e", text], capture_output=True, text=True, check=True, timeout=120
    ).stdout


@needs_node
def test_modules_are_joined_once_each_and_keep_their_names(sources):
    last = 'console.log(modules["a/one.js"].one(), modules["b/same.js"].three());'
    text = script.joined(["a/one.js", "b/same.js"], last)
    assert text.count("const shown = 2") == 1
    assert node(text).split() == ["1", "3"]


@pytest.mark.parametrize(
    ("path", "words"),
    [("c/turn.js", "imports itself by way of"), ("c/whole.js", "only named imports"), ("c/list.js", "only named imports")],
)
def test_what_cannot_be_joined_is_refused(sources, path, words):
    with pytest.raises(ValueError, match=words):
        script.joined([path], "")


def parts(page):
    """Return the data and the script of a page."""
    found = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert len(found) == 2
    return json.loads(found[0]), found[1]


@needs_node
def test_reports_of_small_campaigns_are_drawn(tmp_path):
    study = fs.Study(
        {
            "name": "drawn",
            "topology": {"kind": "torus", "shape": [3, 3]},
            "job": [{"work": {"kind": "uniform", "message": "1 KiB", "load": 0.2}}],
            "sweep": {"job.0.work.load": [0.2, 0.4]},
            "observe": {"links": True, "timeline": True},
        }
    )
    page = study.run(out=tmp_path / "r", progress=False).report().read_text()
    assert "import {" not in page
    assert "src=" not in page.split("<script")[0]
    data, text = parts(page)
    (tmp_path / "data.json").write_text(json.dumps(data))
    (tmp_path / "script.js").write_text(text)
    code = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ emptyPage, headings }} from "{TESTS}/javascript/page.mjs";
        const page = emptyPage();
        page.data.textContent = readFileSync("{tmp_path}/data.json", "utf8");
        new Function(readFileSync("{tmp_path}/script.js", "utf8"))();
        console.log(JSON.stringify([headings(page), page.top.textContent]));
    """
    sections, head = json.loads(node(code))
    assert sections[:2] == ["Up to which load does the network keep up?", "Against the swept keys"]
    assert {"Where the load is", "Inside one run", "Runs", "Self-checks"} <= set(sections)
    assert "packet hops" not in head
