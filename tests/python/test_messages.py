"""Messages from tables of users, and the times of every message in the results."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fabricsim as fs
from conftest import REAL
from fabricsim._tables import table_of_columns

real = pytest.mark.skipif(not REAL, reason="needs the real core")

STUDY = """
name = "listed"
[topology]
kind = "single-router"
nodes = 3
[link]
bandwidth = "1 TB/s"
latency = "10 ns"
[router]
model = "sculpin"
traversal = "10 ns"
[nic]
packet = "1000 B"
[[job]]
work = {{ kind = "messages", file = "{file}" }}
[observe]
messages = true
[run]
{run}
"""
ROWS = {"time_ns": [70.0, 5.0, 0.5], "source": [2, 0, 1], "destination": [1, 1, 0], "bytes": [500, 1500, 1]}


def study(folder, file, run=""):
    """Load the study of a table in a folder."""
    path = folder / "study.toml"
    path.write_text(STUDY.format(file=file, run=run))
    return fs.load(path)


@real
def test_a_parquet_file_is_the_same_run_as_its_rows_in_csv(tmp_path):
    pq.write_table(pa.table(ROWS), tmp_path / "m.parquet")
    lines = [",".join(ROWS), *(",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True))]
    (tmp_path / "m.csv").write_text("\n".join(lines))
    runs = [study(tmp_path, file).expand() for file in ("m.parquet", "m.csv")]
    assert runs[0].hash == runs[1].hash
    results = study(tmp_path, "m.parquet").run(out=tmp_path / "out")
    rows = results.messages().sort_by("source").to_pylist()
    assert [row["arrived_ps"] for row in rows] == [36_500, 30_501, 100_500]
    # The results need the table no more.
    (tmp_path / "m.parquet").unlink()
    again = fs.Results.open(tmp_path / "out")
    assert again.messages().num_rows == 3


@real
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({**ROWS, "bytes": [500, 0, 1]}, 'row 1: bytes is "0"'),
        ({**ROWS, "source": [2, 0, None]}, 'row 2: source is ""'),
        ({**ROWS, "size": [1, 2, 3]}, 'there is no column "size"'),
        ({**ROWS, "bytes": [[1], [2], [3]]}, "no Parquet table of numbers and words"),
        (None, "no Parquet table of numbers and words"),
    ],
)
def test_a_parquet_file_that_does_not_fit_is_refused_with_its_row(tmp_path, columns, reason):
    if columns is None:
        (tmp_path / "m.parquet").write_text("time,source")
    else:
        pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    with pytest.raises(fs.StudyError) as refused:
        study(tmp_path, "m.parquet").expand()
    assert reason in str(refused.value)
    assert "job[0].work.file" in str(refused.value)


@real
def test_what_has_not_arrived_or_left_is_null_in_the_table(tmp_path):
    rows = {"time_ps": [0, 0, 0, 9_999], "source": [0, 0, 0, 1], "destination": [1, 1, 2, 2], "bytes": [1000, 9000, 1, 1]}
    pq.write_table(pa.table(rows), tmp_path / "m.parquet")
    table = study(tmp_path, "m.parquet", 'end = "9999 ps"').run(out=tmp_path / "out").messages()
    assert table.column("injected_ps").to_pylist() == [0, 1000, None]
    assert table.column("arrived_ps").to_pylist() == [None] * 3
    stored = pq.read_table(tmp_path / "out" / "messages.parquet")
    assert stored.column("hops").null_count == 3


def test_a_bit_each_says_what_is_there():
    most = 2**64 - 1
    values = np.array([1, most, 0] * 3, "<u8").tobytes()
    table = table_of_columns([("a", "uint64", values, bytes([0b1101_1011, 0b0])), ("b", "uint64", values, None)])
    assert table.column("a").to_pylist() == [1, most, None, 1, most, None, 1, most, None]
    assert table.column("a").null_count == 3
    assert table.column("b").to_pylist() == [1, most, 0] * 3
