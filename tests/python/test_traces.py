"""Programs traced by valgrind here and now: memory nodes do what the text says, counted without the reader."""

import gzip
import shutil
import subprocess

import pytest

import fabricsim as fs
from conftest import REAL

pytestmark = [
    pytest.mark.skipif(not REAL, reason="needs the real core"),
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
]

STUDY = """
name = "traced"
[topology]
kind = "ring"
routers = 3
nodes_per_router = 1
[[job]]
work = {{ kind = "memory", pattern = "trace", trace = "{trace}", memory = "64 MiB", cores = 2, l1 = "16 KiB", l2 = "64 KiB", {keys} }}
"""
PROGRAM = """
#include <stdlib.h>
int main(void) {
    int n = 20000, *numbers = malloc(n * sizeof *numbers), sum = 0;
    for (int i = 0; i < n; i++) numbers[i] = i;
    for (int i = 0; i < n; i++) sum += numbers[(i * 7919) % n];
    return sum == 42;
}
"""


def traced(folder, *command):
    """Trace a command; its text as a list of lines."""
    valgrind = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={folder}/trace", *command]
    subprocess.run(valgrind, check=True, capture_output=True, timeout=300)
    text = (folder / "trace").read_bytes()
    (folder / "trace.gz").write_bytes(gzip.compress(text))
    return text.decode().splitlines()


def lines_of(text, line=64):
    """Reads, writes and fetches of lines."""
    counts = {"L": 0, "S": 0, "I": 0}
    for word in text:
        if word.startswith(("I  ", " L ", " S ", " M ")):
            kind, (address, size) = word[:2].strip(), word[3:].split(",")
            first = int(address, 16)
            n = (first + int(size) - 1) // line - first // line + 1
            for letter in {"M": "LS"}.get(kind, kind):
                counts[letter] += n
    return counts


def run(folder, trace="trace.gz", **keys):
    words = ", ".join(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in keys.items())
    study = fs.Study.from_toml(STUDY.format(trace=trace, keys=words), base_dir=folder)
    (result,) = study.run(progress=False)
    return result.summary["memory"]


@pytest.fixture(params=["c", "ls"])
def text(request, tmp_path):
    if request.param == "ls":
        return traced(tmp_path, "ls", "/")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-o", tmp_path / "program", tmp_path / "program.c"], check=True)
    return traced(tmp_path, tmp_path / "program")


def test_memory_nodes_do_what_the_program_did(tmp_path, text):
    counts = lines_of(text)
    assert counts["L"] > 20_000
    assert counts["S"] > 10_000
    for keys in [{"split": "blocks"}, {"split": "one-core", "pages": "interleaved"}]:
        memory = run(tmp_path, **keys)
        assert (memory["accesses"], memory["stores"]) == (counts["L"] + counts["S"], counts["S"])
        assert memory["time_ns"] is not None
    # Lackey counts the instructions itself.
    told = next(line.split()[-1] for line in text if "guest instrs:" in line)
    assert sum(line.startswith("I") for line in text) == int(told.replace(",", ""))
    memory = run(tmp_path, instructions="fetched", split="blocks")
    assert memory["accesses"] == sum(counts.values())


def test_a_trace_that_was_cut_is_refused_with_its_line(tmp_path, text):
    packed = (tmp_path / "trace.gz").read_bytes()
    (tmp_path / "half.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "half").write_text("\n".join(text[:1000]) + "\n")
    (tmp_path / "mixed").write_text("\n".join([*text[:1000], "what ls says", *text[1000:]]) + "\n")
    for trace, words in [
        ("half.gz", "half.gz, after line"),
        ("half", "half, after line 1000: valgrind's last words are missing"),
        ("mixed", 'mixed, line 1001: "what ls says" is not lackey\'s'),
    ]:
        with pytest.raises(fs.StudyError) as refused:
            run(tmp_path, trace=trace)
        assert words in str(refused.value)
        assert "valgrind" in str(refused.value)
    # The beginning can be used.
    assert run(tmp_path, trace="half", accesses=20)["accesses"] == 120
