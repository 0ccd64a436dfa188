"""Numbers of results have one name everywhere, and their words from the core's list."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import fabricsim as fs
from fabricsim import plots
from fabricsim._drawing import axis_label
from fabricsim._figures import MAIN, TABLES, all_figures, column_label, figure_of, new_name, numbers, together
from fabricsim._metrics import metric_values
from fabricsim.analyses.capacity.files import write as write_capacity
from fabricsim.analyses.capacity.records import Capacity
from fabricsim.analyses.effects.files import write as write_effects
from fabricsim.analyses.effects.shares import Effect, Effects, Interaction
from fabricsim.analyses.knee.files import write as write_knees
from fabricsim.analyses.knee.search import Axis, search
from fabricsim.analyses.pareto.files import write as write_pareto
from fabricsim.analyses.pareto.front import Objective, Pareto, Row
from fabricsim.measures import MeasureError, evaluate
from fabricsim.plots import time_axis
from fabricsim.registry import list_entries
from fabricsim.report import offered_metrics, report_data
from fabricsim.reproduce import judge_results

pytestmark = pytest.mark.skipif(os.environ.get("FABRICSIM_TEST_CORE") == "fake", reason="numbers are listed by the real core")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "results.md"
#: Columns that say of which run or job a row is.
IDENTITY = {"run_id", "experiment", "seed", "hash"}
WORK = {
    "traffic": {"kind": "uniform", "load": 0.2, "message": "1 KiB"},
    "pairs": {"kind": "pairs", "pairs": [[0, 5]], "message": "4 KiB", "messages": 3},
    "ranks": {"kind": "ring", "message": "1 KiB", "iterations": 1},
    "memory": {"kind": "memory", "pattern": "random", "accesses": 20},
    "overload": {"kind": "random-permutation", "load": 1.0},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    study = {
        "name": "every-kind",
        "topology": {"kind": "torus", "shape": [4, 4]},
        "link": {"bandwidth": "10 GB/s"},
        "sweep": {"link.latency": ["10 ns", "100 ns"]},
        "run": {"seeds": [1, 2], "end": "20 us"},
        "job": [{"work": {"kind": "uniform"}}],
        "experiment": {name: {"set": {"job.0.work": work}} for name, work in WORK.items()},
    }
    return fs.Study(study).run(out=tmp_path_factory.mktemp("figures") / "r", progress=False)


@pytest.fixture(scope="module")
def ranks_beside_traffic(tmp_path_factory):
    study = {
        "name": "mixed",
        "topology": {"kind": "torus", "shape": [4, 4]},
        "job": [
            {"name": "noise", "nodes": 8, "work": {**WORK["pairs"], "pairs": [[0, 5], [3, 1]]}},
            {"name": "ring", "nodes": 8, "work": WORK["ranks"]},
        ],
        "run": {"seeds": [1, 2], "perturb": 1},
    }
    return fs.Study(study).run(out=tmp_path_factory.mktemp("mixed") / "r", progress=False)


def stands_on_the_page(key, page):
    return f"| `{key}` |" in page


def chapter(name):
    return re.search(rf"### `{name}`\n(.*?)(?=\n##|\Z)", PAGE.read_text(), re.DOTALL)[1]


def test_columns_are_keys_of_figures_or_of_the_sweep_and_stand_on_the_page(results):
    page = PAGE.read_text()
    runs = pq.read_table(results.folder / "runs.parquet")
    assert {name for name in runs.column_names if stands_on_the_page(name, chapter("runs.parquet"))} == IDENTITY
    figures = [name for name in runs.column_names if name not in IDENTITY | {"link.latency"}]
    assert [name for name in figures if figure_of(name) is None or not stands_on_the_page(name, page)] == []
    assert {"latency_ns.mean", "jobs.0.time_ns", "verdict.state", "memory.time_ns", "throughput_MiBps.p50", "not_arrived"} <= set(
        figures
    )
    jobs = pq.read_table(results.folder / "jobs.parquet")
    inner = [name for name in jobs.column_names if name not in ("run_id", "job")]
    assert [name for name in inner if not stands_on_the_page(f"jobs.0.{name}", page)] == []
    assert stands_on_the_page("job", chapter("jobs.parquet"))
    assert {"name", "time_ns", "latency_ns.mean", "wait_ns", "wait_ns.mean", "wait_share", "offered_load"} <= set(inner)


def test_a_column_has_what_the_summary_has_by_that_key(results):
    rows = results.runs.to_pylist()
    compared = 0
    for record, row in zip(results.records, rows, strict=True):
        for key, value in row.items():
            # Notes are one text.
            if key in IDENTITY | {"notes"} or value is None:
                continue
            assert record.value(key) == value, key
            compared += 1
    assert compared > 20 * len(rows)


def test_no_number_of_a_summary_is_lost_in_the_tables(results):
    columns = set(results.runs.column_names)
    inner = {f"jobs.0.{name}" for name in results.jobs.column_names}
    for record in results.records:
        assert numbers(record.summary).keys() <= columns | inner


def test_the_first_job_of_ranks_has_its_own_number(ranks_beside_traffic):
    (row, _) = ranks_beside_traffic.runs.to_pylist()
    (record, _) = ranks_beside_traffic.records
    assert row["jobs.1.time_ns"] == record.value("jobs.1.time_ns")
    assert row["jobs.1.compute_share"] + row["jobs.1.wait_share"] + row["jobs.1.overhead_share"] == pytest.approx(1)
    assert not [key for key in row if key.startswith("jobs.0.")]
    spread = record.summary["perturbed"]["times"]["jobs.1.time_ns"]
    assert row["perturbed.times.jobs.1.time_ns.max"] == spread["max"]
    assert "perturbed.times.KEY.median" in chapter("runs.parquet")


def test_what_had_another_name_is_told_the_new_one(results):
    page = PAGE.read_text()
    for old, key in (
        ("latency_mean_ns", "latency_ns.mean"),
        ("throughput_p50_MiBps", "throughput_MiBps.p50"),
        ("source_wait_max_ns", "jobs.0.source_wait_ns.max"),
        ("hops_mean", "hops.mean"),
        ("verdict_ok", "verdict.ok"),
        ("verdict_state", "verdict.state"),
        ("job_time_ns", "jobs.0.time_ns"),
        ("job_wait_share", "jobs.0.wait_share"),
        ("memory_latency_max_ns", "memory.latency_max_ns"),
        ("busiest_link_busy", "busiest_link.busy"),
    ):
        assert new_name(old) == key
        assert stands_on_the_page(key, page)
    assert new_name("perturbed_relative_latency_p99") == "perturbed.times.latency_ns.p99.relative"
    assert not [key for key in all_figures() if new_name(key)]
    words = "latency_mean_ns.*is called `?latency_ns.mean"
    with pytest.raises(ValueError, match=words):
        metric_values(results, "latency_mean_ns")
    with pytest.raises(MeasureError, match=words):
        evaluate("value('latency_mean_ns')", results)
    with pytest.raises(KeyError, match=words):
        results.plot_sweep(y="latency_mean_ns", experiment="traffic")
    with pytest.raises(ValueError, match=words):
        fs.pareto(results, minimise=["latency_mean_ns", "accepted_load"])
    done = subprocess.run(
        [sys.executable, "-m", "fabricsim", "pareto", results.folder, "--minimise", "latency_mean_ns", "--minimise", "cpu_s"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.search(words, done.stderr)


def test_figures_are_listed_as_other_kinds_are():
    listed = {entry["name"]: entry for entry in list_entries("result")}
    assert list(listed) == list(all_figures())
    assert listed["latency_ns.p99"]["unit"] == "ns"
    assert listed["cpu_s"]["seeds"] == "sum"
    page = PAGE.read_text()
    assert all(stands_on_the_page(key, page) for key in listed)

    def told(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "fabricsim", "list", *arguments], capture_output=True, text=True, check=True
        ).stdout

    assert json.loads(told("result", "--json"))["result"] == list(listed.values())
    assert "jobs.0.time_ns" in told("result")
    assert re.search(r"latency_ns\.p99 .*\[ns\]", told())


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Every kind of work with everything observed, perturbed, and with a claim that is judged."""
    study = {
        "name": "everything",
        "description": "All there is.",
        "topology": {"kind": "torus", "shape": [4, 4]},
        "sweep": {"link.latency": ["10 ns", "100 ns"]},
        "run": {"seeds": [1, 2], "end": "20 us", "perturb": 1},
        "observe": {
            "links": True,
            "links_every": "1 us",
            "messages": "full",
            "timeline": True,
            "ranks": True,
            "operations": True,
        },
        "job": [{"work": {"kind": "uniform"}}],
        "experiment": {name: {"set": {"job.0.work": work}} for name, work in WORK.items()},
        "claim": [{"id": "one", "paper": "It takes time.", "measure": "value('latency_ns.min')", "expect": "> 0"}],
    }
    results = fs.Study(study).run(out=tmp_path_factory.mktemp("everything") / "r", progress=False)
    judge_results(results)
    return results


def _names_in(document, prefix=""):
    """Give every key of a JSON document with dots, 0 for any place in a list."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield f"{prefix}{key}"
            yield from _names_in(value, f"{prefix}{key}.")
    elif isinstance(document, list):
        for value in document:
            yield from _names_in(value, f"{prefix}0.")


#: What stands in files as the study has it.
AS_GIVEN = r"(study\.(claims|reproduce|sample)|(runs\.0\.)?topology|(runs\.0\.)?sweep)\."


def unknown_names(names, file):
    """Return those names of a file that neither its chapter of the page has nor the list of numbers."""
    page, lines = PAGE.read_text(), chapter(re.escape(file))

    def told(name):
        try:
            entries = list_entries("result", name)
        except ValueError:
            return False
        return any(stands_on_the_page(entry["name"], lines if entry["file"] == file else "") for entry in entries) or any(
            not entry["file"] and stands_on_the_page(entry["name"], page) for entry in entries
        )

    return {name for name in names if not re.match(AS_GIVEN, name) and not told(name)}


def test_every_column_of_a_run_with_everything_observed_is_told(everything):
    found = {path.stem: pq.read_schema(path).names for path in everything.folder.glob("*.parquet")}
    assert set(found) == {"runs", "jobs", "perturbed", *TABLES}
    swept = {"link.latency"}
    assert unknown_names(set(found["runs"]) - swept, "runs.parquet") == set()
    assert unknown_names({"beside"}, "perturbed.parquet") == set()
    assert unknown_names(set(found["perturbed"]) - swept - {"beside"}, "runs.parquet") == set()
    inner = {f"jobs.0.{name}" for name in found["jobs"][2:]}
    assert unknown_names({"run_id", "job", *inner}, "jobs.parquet") == set()
    for table in TABLES:
        assert found[table][0] == "run_id"
        assert unknown_names(found[table][1:], f"{table}.parquet") == set()
        assert all(column_label(table, name) for name in found[table][1:])


def test_every_key_of_a_run_with_everything_observed_is_told(everything):
    files = {"summary.json", "manifest.json", "seals.json", "claims.json"}
    documents = [(file, json.loads((everything.folder / file).read_text())) for file in files]
    documents += [("runs/ID.json", json.loads(path.read_text())) for path in (everything.folder / "runs").glob("*.json")]
    # Records of runs have the same names: each is looked for once.
    asked: dict[str, set[str]] = {}
    for file, document in documents:
        asked.setdefault(file, set()).update(_names_in(document))
    seen = 0
    for file, names in asked.items():
        build = {name for name in names if name.startswith("build.")}
        assert unknown_names(build, "manifest.json") == set()
        if file != "manifest.json":
            # Numbers of a run stand by their keys behind the run that has them.
            names = {re.sub(r"^(runs\.0|summary)\.(?!(id|hash|experiment|sweep|seed)$)", "", name) for name in names}
        perturbed = {name for name in names if re.match(r"perturbed(\.|$)", name)}
        assert unknown_names(perturbed, "runs.parquet") == set()
        assert unknown_names(names - build - perturbed, file) == set()
        seen += len(names)
    answer = {key for key in everything.to_json() if key not in ("study", "study_hash", "version", "complete", "runs")}
    assert unknown_names({*answer, "report"}, "run --json") == set()
    assert seen > 600


def test_files_of_analyses_hold_what_the_page_says(tmp_path):
    axis, first = Axis.of("link.bandwidth", "1 GB/s")
    found = search(axis, lambda x: [1 + 9 / float(x), 1 + 8 / float(x)], start=first, stop=axis.parse("64 GB/s"))
    write_knees([replace(found, point=(("nic.packet", "1 KiB"),))], tmp_path)
    write_pareto(
        Pareto((Objective("cpu_s", False, ""), Objective("n_nodes", False, "")), (Row((), (1.0, 2.0), 1, True),)), tmp_path
    )
    company = Capacity((("seed", "1"),), ("a",), {"a": 1}, {"a": 2}, {"a": 2.0}, {})
    write_capacity([company], tmp_path)
    own = Effect("link.latency", 0.5, 0.4, 0.6, "surface", 1.0, 2.0)
    pair = Interaction(("link.latency", "link.bandwidth"), 0.1, 0.0, 0.2, "surface")
    keys = {"link.latency": (0.0, 1.0), "link.bandwidth": (0.0, 1.0)}
    effects = Effects(
        "cpu_s", (), 2, 2, 1.0, 1.0, 0.1, (own, replace(own, key="link.bandwidth")), (pair,), ("a note",), keys, dict.fromkeys(keys, ("1", "2")), (1.0, 2.0)
    )  # fmt: skip
    write_effects([effects], tmp_path)
    swept = {"knee.csv": {"nic.packet"}, "capacity.csv": {"seed"}, "pareto.csv": {"cpu_s", "n_nodes"}}
    listed = {entry["file"] for name in ("share", "front", "slowdown", "gain") for entry in list_entries("result", name)}
    assert {"knee.csv", "knee.json", "effects.csv", "effects.json", "capacity.csv", "pareto.csv"} <= listed
    for path in tmp_path.glob("*.csv"):
        head = path.read_text().splitlines()[0].split(",")
        assert unknown_names(set(head) - swept.get(path.name, set()), path.name) == set()
    for path in tmp_path.glob("*.json"):
        if path.name != "seals.json":
            names = {name for name in _names_in(json.loads(path.read_text())) if not re.search(r"\.point\.", name)}
            assert unknown_names(names, path.name) == set()


def test_a_name_is_told_wherever_it_stands():
    def files(name):
        return [entry["file"] for entry in list_entries("result", name)]

    assert files("latency_ns.p99") == ["", "saturation.csv", ""]  # of the run, of the loads of a search, and of each job
    assert list_entries("result", "jobs.3.time_ns")[0]["word"] == "time of the job"
    assert files("peer_router") == ["links.parquet"]
    assert {"messages.parquet", "hops.parquet"} <= set(files("hops"))
    assert files("study_source") == ["manifest.json"]
    with pytest.raises(ValueError, match=r"no result 'latency_ns.p98'; did you mean 'latency_ns.p9"):
        list_entries("result", "latency_ns.p98")
    told = subprocess.run(
        [sys.executable, "-m", "fabricsim", "list", "result", "fraction"], capture_output=True, text=True, check=True
    )
    assert "cdf.parquet: Part of the measured messages" in told.stdout
    assert [entry["name"] for entry in list_entries("topology", "torus")] == ["torus"]


def test_axes_have_the_words_of_figures():
    assert axis_label("latency_ns.p99") == "p99 latency [ns]"
    assert axis_label("jobs.2.time_ns") == "time of the job [ns]"
    assert axis_label("jobs.0.wait_share") == "share of waiting"
    assert axis_label("peak_rss_bytes", several_seeds=True) == "peak memory, greatest over seeds [B]"
    assert axis_label("routing.kind") == "routing"
    assert time_axis("memory.time_ns", 3e6, several_seeds=True) == (1e-6, "time until the last access [ms]")
    assert [key for key in MAIN if figure_of(key) is None] == []
    told = "links link_windows messages timeline cdf hops senders ranks operations communicators waits regions critical_path"
    assert " ".join(TABLES) == told


def test_charts_of_several_seeds_show_what_the_figure_says(results):
    traffic = [record for record in results.records if record.run.experiment == "traffic"]
    mine, others = traffic[:2], traffic[2:]
    assert [dict(record.run.sweep)["link.latency"] for record in traffic] == ["10 ns", "10 ns", "100 ns", "100 ns"]
    for key, how in (
        ("latency_ns.mean", lambda values: sum(values) / 2),
        ("latency_ns.max", max),
        ("latency_ns.min", min),
        ("cpu_s", sum),
    ):
        values = [record.value(key) for record in mine]
        assert together(key, values) == how(values)
        axes = results.plot_sweep(y=key, experiment="traffic").axes[0]
        (line,) = axes.containers
        assert line[0].get_ydata()[0] == how(values)
        said = {"latency_ns.max": "greatest over seeds", "latency_ns.min": "least over seeds", "cpu_s": "sum over seeds"}
        assert said.get(key, "latency [ns]") in axes.get_ylabel()
        drawn = plots.bars(results, x=["link.latency"], y=key, group="experiment", experiments=["traffic"]).axes[0]
        alone = plots.bars(results, x=["link.latency"], y=key, experiments=["traffic"])
        assert [bar.get_height() for bar in alone.axes[0].patches] == [bar.get_height() for bar in drawn.patches]
        assert not alone.legends
        every = [[record.value(key) for record in pair] for pair in (mine, others)]
        scale = time_axis(key, max(map(how, every)))[0]
        assert [patch.get_height() for patch in drawn.patches] == pytest.approx([how(values) * scale for values in every])


def test_reports_offer_the_numbers_that_some_run_has(results):
    def of(name):
        return [record for record in results.records if record.run.experiment == name]

    main, others = offered_metrics(of("traffic"))
    assert main[:2] == ["n_nodes", "latency_ns.mean"]
    assert "jobs.0.time_ns" not in main
    assert {"latency_ns.p50", "jobs.0.latency_ns.mean", "peak_rss_bytes"} <= set(others)
    assert not [key for key in (*main, *others) if key.startswith(("memory.", "throughput_MiBps."))]
    assert offered_metrics(of("ranks"))[0][1] == "jobs.0.time_ns"
    assert offered_metrics(of("memory"))[0][1] == "memory.time_ns"
    # What is only known to be more than something is offered, its bound is not.
    overloaded = of("overload")
    assert overloaded[0].value("latency_ns.mean") is None
    main, others = offered_metrics(overloaded)
    assert "latency_ns.mean" in main
    assert not [key for key in others if key.endswith("_at_least")]
    data = report_data(results)
    assert set(data["main"]) <= set(data["metrics"])
    assert all(re.sub(r"\.\d+(?=\.)", ".0", key) in data["words"] for key in data["metrics"])
    assert data["columns"]["timeline"] == ["time [ns]", "accepted load", "mean latency [ns]"]
