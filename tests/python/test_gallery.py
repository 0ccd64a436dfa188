"""The gallery: small studies that each answer a question; what the page says is what comes out.

`FABRICSIM_BLESS=1 pytest tests/python/test_gallery.py` writes the page and its figures anew.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
PAGE = GALLERY / "README.md"
#: The questions, in the order of the page.
CHAPTERS = (
    *("Which network?", "Which routing?", "At which load?", "How long will it take?", "Who slows whom?", "What if it breaks?"),
    *("What does it cost?", "What else?"),
)
BLESS = os.environ.get("FABRICSIM_BLESS") == "1"
INTRODUCTION = """\
# Gallery

Small studies, each of which answers a question in seconds: copy one, run it, change it. The answers are what `fabricsim` prints first.
"""


def _header(study):
    """Return chapter, question and command, which the first comments of a study say."""
    lines = study.read_text().splitlines()[:3]
    return tuple(line.removeprefix("# ") for line in lines)


def _studies():
    found = {study.stem: (*_header(study), study) for study in sorted(GALLERY.glob("*.toml"))}
    return dict(sorted(found.items(), key=lambda item: (CHAPTERS.index(item[1][0]), item[0])))


STUDIES = _studies()


def _done(arguments, folder):
    done = subprocess.run(
        [sys.executable, "-m", "fabricsim", *arguments],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "agg", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def _answer(name, folder):
    """Run the command of a study as its comment says; return what it answers first, and its figure, if it draws one."""
    _, _, command, study = STUDIES[name]
    shutil.copy(study, folder)
    program, verb, *rest = shlex.split(command)
    assert (program, rest[0]) == ("fabricsim", study.name)
    if verb == "cost":
        return _done([verb, *rest], folder), None
    said = _done([verb, *rest, "--out", "out", "--quiet", "--jobs", "1"], folder).splitlines()
    if verb == "run":
        _done(["export", "out", "--svg", "--out", "drawn"], folder)
        return said[0], folder / "drawn" / "figure-1.svg"
    # Searches answer once for each point of the study.
    points = [line for line in said[: max(1, _n_points(study))] if line]
    drawn = {"saturation": "saturation", "failures": "failures", "knee": "knee", "capacity": "interference"}[verb]
    return "\n".join(points), folder / "out" / f"{drawn}.svg"


def _n_points(study):
    lists = tomllib.loads(study.read_text()).get("sweep", {}).values()
    n = 1
    for values in lists:
        n *= len(values)
    return n


def _section(name, answer):
    _, question, command, study = STUDIES[name]
    is_table = command.split()[1] == "cost"
    said = f"```text\n{answer.rstrip()}\n```" if is_table else "\n".join(f"> {line}" for line in answer.splitlines())
    figure = "" if is_table else f"\n![{question}]({name}.svg)\n"
    text = "\n".join(study.read_text().splitlines()[3:]).strip()
    return f"### {question}\n\n{said}\n{figure}\n```bash\n{command}\n```\n\n[`{study.name}`]({study.name}):\n\n```toml\n{text}\n```\n"


@pytest.fixture(scope="module")
def sections():
    if BLESS:
        yield (found := {})
        chapters = {chapter: [name for name in STUDIES if STUDIES[name][0] == chapter] for chapter in CHAPTERS}
        parts = [f"## {chapter}\n\n" + "\n".join(found[name] for name in names) for chapter, names in chapters.items()]
        PAGE.write_text("\n".join([INTRODUCTION, *parts]))
        return
    text = PAGE.read_text()
    by_question = {part.split("\n", 1)[0]: part for part in re.split(r"(?m)^### ", text)[1:]}
    yield {name: "### " + by_question[STUDIES[name][1]].split("\n## ")[0] for name in STUDIES}


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_says_what_the_study_answers(name, sections, tmp_path):
    answer, figure = _answer(name, tmp_path)
    section = _section(name, answer)
    if figure is not None:
        assert figure.stat().st_size > 2_000
    if BLESS:
        sections[name] = section
        if figure is not None:
            shutil.copy(figure, GALLERY / f"{name}.svg")
        return
    assert sections[name].strip() == section.strip()
    assert figure is None or (GALLERY / f"{name}.svg").is_file()


def test_every_study_has_a_question_of_its_own():
    questions = [question for _, question, _, _ in STUDIES.values()]
    assert len(set(questions)) == len(questions) >= 24
    assert all(question.endswith("?") for question in questions)
    assert {path.stem for path in GALLERY.glob("*.svg")} <= set(STUDIES)
