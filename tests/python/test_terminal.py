"""What a terminal shows: tables of which no number and no word is split and nothing is lost, and kinds as people say them."""

import io
import json
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from fabricsim._terminal import new_table

HEADS = st.lists(
    st.sampled_from(["load", "mean latency [ns]", "job.0.work.load", "verdict", "seed"]), min_size=1, max_size=5, unique=True
)
CELLS = st.sampled_from(
    ["", "0.5", "> 177,114.4", "saturated", "e5f1c0ffee42", "1,234,567.8 ns", "the runs were too short to tell anything"]
)


def printed(heads, rows, width):
    table = new_table(heads, numbers=heads[1:])
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(table)
    return out.getvalue()


@given(st.data(), HEADS, st.integers(40, 200))
def test_no_cell_is_split_and_none_is_lost(data, heads, width):
    rows = data.draw(st.lists(st.tuples(*(CELLS for _ in heads)), min_size=1, max_size=6))
    text = printed(heads, rows, width)
    assert max(map(len, text.splitlines()), default=0) <= width
    for cell in {cell for row in rows for cell in row if len(cell) <= 24}:
        assert text.count(cell) >= sum(row.count(cell) for row in rows)
    words = {word for head in heads for word in head.split()} | {word for row in rows for cell in row for word in cell.split()}
    assert words <= set(text.split())


def test_a_wide_table_is_turned_and_a_narrow_one_is_not():
    heads = ["job.0.work.load", "routing.kind", "mean latency [ns]", "p99 latency [ns]", "packet hops", "verdict"]
    rows = [("0.5", "valiant", "> 177,114.4", "> 285,554.2", "700.5 k", "saturated")] * 3
    assert [line.split()[0] for line in printed(heads, rows, 160).splitlines()] == ["job.0.work.load", "0.5", "0.5", "0.5"]
    assert [line.split()[0] for line in printed(heads, rows, 60).splitlines()] == [head.split()[0] for head in heads]
    # As many beside each other as there is room for, then the others.
    assert [line[:7].strip() for line in printed(heads, rows, 40).splitlines()].count("job.0.w") == 3


def listed(*words):
    return subprocess.run(
        [sys.executable, "-m", "fabricsim", "list", *words, "--json"], capture_output=True, text=True, check=False
    )


def test_kinds_are_understood_in_the_plural_and_by_their_last_word():
    for word, kinds in {
        "routings": ["routing"],
        "Topologies": ["topology"],
        "processes": ["process"],
        "motifs": ["motif"],
        "router models": ["router-model"],
        "presets": ["topology-preset", "router-preset", "mpi-preset", "memory-preset"],
        "study": ["studies"],
    }.items():
        assert list(json.loads(listed(word).stdout)) == kinds
    assert list(json.loads(listed("presets", "merlin").stdout)) == ["router-preset"]
    wrong = listed("presets", "merlim")
    assert (wrong.returncode, "no topology-preset 'merlim'" in wrong.stderr) == (2, True)
