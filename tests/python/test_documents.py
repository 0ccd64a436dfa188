"""What the documents show is executed: the tutorial, the README's tour, the examples, the notebook."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fabricsim as fs

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```", re.DOTALL)


#: What `make setup` does not install: pages and notebooks that everybody reads do without.
OPTIONAL = ("pandas", "polars")


def _hide(folder, modules):
    """Return a folder that makes modules look as if they were not installed."""
    hidden = folder / "hidden"
    hidden.mkdir()
    for name in modules:
        (hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError({f'No module named {name}'!r}, name={name!r})\n")
    return hidden


def _environment(folder, hidden=OPTIONAL):
    """Let `fabricsim` be this interpreter's, without what is optional."""
    command = folder / "bin" / "fabricsim"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fabricsim "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join(filter(None, [str(_hide(folder, hidden)), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "agg", "PYTHONPATH": path}


def _do(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def _execute(document, folder, *, skip=(), hidden=OPTIONAL):
    environment, script, blocks = _environment(folder, hidden), [], 0

    def flush():
        if script:
            (folder / "blocks.py").write_text("\n".join(script))
            _do([sys.executable, "blocks.py"], folder, environment)

    for match in BLOCK.finditer((ROOT / document).read_text()):
        text = match["text"]
        if any(word in text for word in skip):
            continue
        blocks += 1
        if match["file"]:
            (folder / match["file"]).write_text(text)
        elif match["kind"] == "bash":
            _do(["bash", "-euc", text], folder, environment)
        elif match["kind"] == "python":
            script.append(text)
    flush()
    return blocks


def test_the_tutorial_runs_as_written(tmp_path):
    assert _execute("docs/tutorial.md", tmp_path) >= 7
    assert (tmp_path / "latency.png").stat().st_size > 5000
    assert (tmp_path / "campus-results" / "report.html").is_file()


def test_the_tour_of_the_readme_runs_as_written(tmp_path):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").write_text("")
    assert _execute("README.md", tmp_path, skip=["make setup"]) == 2
    assert (tmp_path / "p99.png").is_file()


def test_the_page_on_fragile_results_runs_as_written(tmp_path):
    assert _execute("docs/how-to/fragile-results.md", tmp_path) == 2
    assert (tmp_path / "torus" / "perturbed.parquet").is_file()


def test_the_page_on_shared_machines_runs_as_written(tmp_path):
    assert _execute("docs/how-to/capacity.md", tmp_path) == 2
    assert (tmp_path / "shared" / "interference.svg").is_file()


def test_the_page_on_samples_runs_as_written(tmp_path):
    pytest.importorskip("SALib")
    assert _execute("docs/how-to/sample-a-design.md", tmp_path, hidden=()) == 5
    assert (tmp_path / "designed" / "figures" / "pareto.svg").is_file()


def test_the_page_on_tapering_runs_as_written(tmp_path):
    assert _execute("docs/how-to/tapering.md", tmp_path) == 3
    assert (tmp_path / "tapered" / "pareto.csv").is_file()


def test_the_page_on_rails_runs_as_written(tmp_path):
    assert _execute("docs/how-to/ai-clusters.md", tmp_path) == 2
    found = {(record.run.experiment, record.value("topology")): record.summary for record in fs.Results.open(tmp_path / "rails")}
    mean = {name: summary["latency_ns"]["mean"] for (of, name), summary in found.items() if of == "same-rail"}
    # The spine carries nothing of a rail but what goes on to the next pod: a quarter of it does, to the last digit.
    assert mean["rails-tapered"] == mean["rails"]
    assert mean["one-leaf-tapered"] > 3 * mean["one-leaf"]
    rows = [line for line in (ROOT / "docs/how-to/ai-clusters.md").read_text().splitlines() if line.startswith("| `")]
    for name in mean:
        (row,) = (row for row in rows if row.startswith(f"| `{name}` |"))
        assert f" {mean[name] / 1e3:.0f} us" in row.replace("*", ""), row
        assert f" {found['all-to-all', name]['jobs'][0]['time_ns'] / 1e6:.1f} ms" in row, row


def test_the_page_on_comparisons_runs_as_written(tmp_path):
    assert _execute("docs/how-to/compare.md", tmp_path) == 2
    assert (tmp_path / "after" / "runs.parquet").is_file()


def test_traffic_of_ones_own_runs_as_written(tmp_path):
    assert _execute("docs/how-to/traffic.md", tmp_path) == 5


def test_the_page_on_calibration_runs_as_written(tmp_path):
    assert _execute("docs/how-to/calibrate.md", tmp_path, hidden=()) >= 6
    assert "[mpi]" in (tmp_path / "fitted" / "calibration.toml").read_text()


def test_the_page_on_knees_runs_as_written(tmp_path):
    assert _execute("docs/how-to/knee.md", tmp_path) == 3
    assert "doubling link.bandwidth" in (tmp_path / "paid" / "knee.json").read_text()


def test_the_page_on_failures_runs_as_written(tmp_path):
    assert _execute("docs/how-to/failures.md", tmp_path) == 12
    found = {name: json.loads((tmp_path / name / "failures.json").read_text())["failures"] for name in ("tree", "torus")}
    for name, points in found.items():
        for entry in points:
            told = [
                line
                for line in (ROOT / "docs/how-to/failures.md").read_text().splitlines()
                if line.startswith(f"{entry['name']}: ")
            ]
            assert all(entry["sentence"].startswith(line.removesuffix(" ...").removesuffix(",")) for line in told), (name, told)
    assert (tmp_path / "dragonfly" / "report.html").is_file()


def test_the_page_on_forks_runs_as_written(tmp_path):
    assert _execute("docs/how-to/fork.md", tmp_path) == 4
    told = (ROOT / "docs/how-to/fork.md").read_text()
    found = json.loads((tmp_path / "halo" / "forks" / "forks.json").read_text())["forks"][0]
    sentences = [fork["sentence"] for fork in (*found["forks"], *found["earlier"])]
    assert len(sentences) == 4
    assert sum(sentence in told for sentence in sentences) == 1


def test_the_page_on_mpi_jobs_runs_as_written(tmp_path):
    assert _execute("docs/how-to/mpi-jobs.md", tmp_path, skip=['[sweep]\n"mpi.eager', "[[job]]\nwork = ["]) >= 4
    assert (tmp_path / "halo" / "jobs.parquet").is_file()


def test_the_page_on_traces_of_applications_runs_as_written(tmp_path):
    assert _execute("docs/how-to/traces.md", tmp_path) >= 6
    assert (tmp_path / "ring.work").is_file()
    assert (tmp_path / "torus-4" / "summary.json").is_file()


def test_the_page_on_score_p_runs_as_written_from_the_recording_on(tmp_path):
    assert _execute("docs/how-to/score-p.md", tmp_path) >= 4
    assert (tmp_path / "what-if" / "ranks.json").is_file()


#: Formats whose example a reader can make by hand.
BY_HAND = ("flows", "goal", "htsim", "liballprof", "msccl", "ops", "simgrid")


@pytest.mark.parametrize("format", BY_HAND)
def test_the_example_of_a_format_runs_as_written(tmp_path, format):
    page = f"docs/formats/{format}.md"
    assert "```bash" in (ROOT / page).read_text()
    assert _execute(page, tmp_path) >= 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MPI programs run on Linux")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="mpicc needs a compiler")
def test_the_page_on_mpi_programs_runs_as_written(tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    # The compiler of the mpich package, and the interpreter that has mpi4py.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert _execute("docs/how-to/mpi-programs.md", tmp_path) >= 8
    printed = [path.read_text() for path in (tmp_path / "three" / "programs").glob("*/output/0.out")]
    assert [text.split(",")[0] for text in printed] == ["sum 992"]


def test_every_format_of_traces_has_a_page_in_the_table():
    from fabricsim.traces import trace_formats

    table = (ROOT / "docs/formats/README.md").read_text()
    assert [entry["name"] for entry in trace_formats() if f"`{entry['name']}`" not in table] == []


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_the_page_on_traces_runs_as_written(tmp_path):
    assert _execute("docs/how-to/trace-a-program.md", tmp_path) == 4
    assert (tmp_path / "traced" / "summary.json").is_file()


def test_the_page_on_real_fabrics_runs_as_written(tmp_path):
    assert _execute("docs/how-to/real-fabrics.md", tmp_path, hidden=()) >= 9
    assert (tmp_path / "compared" / "report.html").is_file()


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples_run(tmp_path, example):
    _do([sys.executable, str(ROOT / "examples" / example)], tmp_path, _environment(tmp_path))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("notebook", sorted(path.name for path in (ROOT / "examples").glob("*.ipynb")))
def test_notebooks_run(tmp_path, monkeypatch, notebook):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    shutil.copy(ROOT / "examples" / notebook, tmp_path)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join(filter(None, [str(_hide(tmp_path, OPTIONAL)), os.environ.get("PYTHONPATH", "")]))
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    # The kernel of this interpreter, whatever kernels the machine has.
    kernel = tmp_path / "kernels" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        f'{{"argv": ["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"], "display_name": "Python 3", "language": "python"}}'
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "kernels"))
    read = nbformat.read(tmp_path / notebook, as_version=4)
    nbclient.NotebookClient(read, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert all(not any(out["output_type"] == "error" for out in cell.get("outputs", [])) for cell in read.cells)
