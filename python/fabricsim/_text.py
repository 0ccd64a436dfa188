"""Tables on stdout: plain enough for a pipe, readable on a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from fabricsim._figures import all_figures, figure_label
from fabricsim._runs import short_key
from fabricsim._terminal import MOST_ROWS, new_console, new_table, number_text
from fabricsim._units import counted, format_bytes, format_count, format_seconds, speculation_line
from fabricsim.analyses.perturb.spread import headline

if TYPE_CHECKING:
    from fabricsim._prices import PricedNetwork
    from fabricsim._recorded import Recorded, RunRecord
    from fabricsim._runs import Expansion
    from fabricsim.claims import ClaimVerdict

__all__ = [
    "bench_line",
    "bench_text",
    "bill_text",
    "claims_text",
    "expansion_text",
    "network_text",
    "partition_text",
    "placement_text",
    "prices_text",
    "registry_text",
    "runs_text",
]

#: Columns of `expand` that say what a run will take.
_SIZES = ("nodes", "routers", "memory", "packet hops", "time")
_MOST_EXECUTIONS = 4


def execution_line(execution: Mapping[str, Any]) -> str:
    """Say how a run was executed: speed, fill of the windows, waiting, and what the engine found out."""
    if not execution:
        return ""
    workers = int(execution.get("workers") or 1)
    parts = [
        f"{workers} workers" if workers > 1 else "1 worker",
        f"{format_count(round(execution.get('events_per_s_per_worker') or 0))} events/s" + (" each" if workers > 1 else ""),
        f"{number_text(execution.get('events_per_window'), 0)} events per window",
    ]
    if (execution.get("windows_per_meeting") or 1) > 1:
        parts.append(f"workers meet once in {execution['windows_per_meeting']} windows")
    if execution.get("barrier_share") is not None:
        parts.append(f"{100 * execution['barrier_share']:.0f} % of the time at the barrier")
    if execution.get("skipped_periods"):
        parts.append(f"{format_count(execution['skipped_periods'])} periods that repeat were counted, not run")
    if execution.get("apart"):
        parts.append(f"jobs that do not meet were run apart, in {execution['apart']} runs")
    if execution.get("speculation"):
        parts.append(speculation_line(execution["speculation"]))
    if execution.get("remark"):
        parts.append(str(execution["remark"]))
    return "; ".join(parts)


def _job_times(summary: Mapping[str, Any]) -> list[float | None]:
    """Return the times of the jobs of MPI ranks and of memory nodes in ns; one that is not done has none."""
    memory = summary.get("memory")
    return [
        job.get("time_ns")
        for job in [*(job for job in summary.get("jobs") or [] if "ranks" in job), *([memory] if memory else [])]
    ]


def _latencies(key: str, shown: Sequence[RunRecord]) -> tuple[str, list[str]]:
    """Return the label of a latency and a cell for each run: the figure, or what it is more than where only that is known."""
    name = key.partition(".")[2]
    told = []
    for record in shown:
        latency = record.summary.get("latency_ns") or {}
        bound = latency.get(f"{name}_at_least")
        told.append(("", latency[name]) if latency.get(name) is not None else ("> ", bound))
    factor, label = all_figures()[key].scaled(max((number for _, number in told if number is not None), default=0.0))
    return label, [
        "" if number is None else f"{more}{number_text(number * factor, 1 if factor == 1.0 else 3)}" for more, number in told
    ]


def runs_text(results: Recorded) -> None:
    """Print the main numbers of every run, and a line of verdict."""
    keys = results.swept_keys()
    several = len(results.experiments) > 1
    shown = results.records[:MOST_ROWS]
    jobs = [_job_times(record.summary) for record in shown]
    lost = any(record.summary.get("not_arrived") for record in results.records)
    columns: dict[str, Sequence[str]] = {"experiment": [record.run.experiment for record in shown]} if several else {}
    columns |= {key: [str(dict(record.run.sweep).get(key, "")) for record in shown] for key in keys}
    columns["seed"] = [str(record.run.seed) for record in shown]
    words = set(columns)
    if any(jobs):
        longest = max((time for times in jobs for time in times if time is not None), default=0.0)
        factor, label = all_figures()["jobs.0.time_ns"].scaled(longest)
        columns[label] = [" / ".join("-" if time is None else number_text(time * factor, 3) for time in times) for times in jobs]
    if any(record.summary.get("perturbed") for record in results.records):
        columns["perturbed [us]"] = [headline(record.summary) for record in shown]
    columns |= (_latencies(key, shown) for key in ("latency_ns.mean", "latency_ns.p99"))
    if lost:
        columns[figure_label("not_arrived")] = [f"{100 * (record.summary.get('not_arrived') or 0):.2f} %" for record in shown]
    columns[figure_label("accepted_load")] = [number_text(record.summary.get("accepted_load"), 3) for record in shown]
    columns[figure_label("packet_hops")] = [format_count(record.summary.get("packet_hops")) for record in shown]
    columns[figure_label("cpu_s")] = [number_text(record.summary.get("cpu_s"), 2) for record in shown]
    table = new_table([*columns, "verdict"], numbers=[name for name in columns if name not in words])
    for cells in zip(*columns.values(), (record.verdict for record in shown), strict=True):
        table.add_row(*(Text(cell) for cell in cells))
    console = new_console()
    console.print(table)
    if len(results) <= _MOST_EXECUTIONS:
        for record in results.records:
            line = execution_line(record.summary.get("execution") or {})
            if line:
                console.print(line, markup=False, style="dim", soft_wrap=True)
            if record.summary.get("memory"):
                console.print(record.summary["memory"]["bottleneck"], markup=False, soft_wrap=True)
    if len(results) > MOST_ROWS:
        console.print(f"... and {len(results) - MOST_ROWS} more in {results.folder}/runs.parquet", markup=False)
    for record in results.records[:_MOST_EXECUTIONS]:
        for note in record.summary.get("notes", []):
            if note.startswith(("fragile", "estimated")):
                console.print(f"{record.label}: {note}", markup=False, soft_wrap=True)
    total = len(results.manifest["runs"])
    console.print(
        f"{len(results) + len(results.perturbed)} of {counted(total, 'run')} finished, {len(results.failed)} failed self-checks; "
        f"results in {results.folder}",
        markup=False,
    )


def expansion_text(plan: Expansion) -> None:
    """Print the runs of a study."""
    console = new_console()
    console.print(f"{plan.name}: {counted(len(plan), 'run')}, hash {plan.hash[:8]}", markup=False)
    if plan.description:
        console.print(plan.description.strip(), markup=False, style="dim")
    keys = list(dict.fromkeys(key for run in plan.runs for key, _ in run.sweep))
    several = len({run.experiment for run in plan.runs}) > 1
    table = new_table(["run", *(["experiment"] if several else []), *keys, "seed", *_SIZES], numbers=_SIZES)
    for run in plan.runs[:MOST_ROWS]:
        swept = dict(run.sweep)
        estimate = run.estimate
        cells = [run.id, *([run.experiment] if several else []), *(swept.get(key, "") for key in keys), str(run.seed)]
        hops, seconds = estimate.get("packet_hops"), estimate.get("seconds")
        cells += [
            str(estimate.get("nodes", "")),
            str(estimate.get("routers", "")),
            format_bytes(estimate.get("memory_bytes")),
            format_count(hops) if hops is not None else "",
            format_seconds(seconds) if seconds is not None else "",
        ]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    if len(plan) > MOST_ROWS:
        console.print(f"... and {len(plan) - MOST_ROWS} more (--json lists all)", markup=False)


def registry_text(found: dict[str, list[dict[str, Any]]], *, details: bool) -> None:
    """Print registry entries, with their parameters where one kind was asked for."""
    console = new_console()
    for kind, entries in found.items():
        console.print(Text(kind, style="bold underline"))
        table = new_table(["name", "what it is"])
        for entry in entries:
            about = str(entry.get("summary") or entry.get("line") or "")
            if kind == "result":
                about = f"{entry.get('file') or entry['word']}: {about}"
            shown = [entry["unit"]] if entry.get("unit") else []
            if entry.get("seeds") in ("sum", "greatest", "least"):
                shown.append(f"{entry['seeds']} over seeds")
            if shown:
                about += f" [{', '.join(shown)}]"
            if details and entry.get("source"):
                about += f"  [{entry['source']}]"
            table.add_row(Text(str(entry.get("name")), style="cyan"), Text(about))
            if details:
                if entry.get("files"):
                    table.add_row("", Text(f"file: {entry['files']}", style="dim"))
                for parameter in entry.get("parameters") or []:
                    default = parameter.get("default")
                    unit = f" in {parameter['unit']}" if parameter.get("unit") else ""
                    text = f"{parameter.get('type', '')}{unit}; {parameter.get('doc', '')}"
                    text += " [required]" if default in (None, "required") else f" [default: {default}]" if default != "" else ""
                    table.add_row(Text(f"  {parameter.get('key')}"), Text(text, style="dim"))
                for limit in entry.get("limits") or []:
                    table.add_row("", Text(f"limit: {limit}", style="yellow"))
        console.print(table)
        console.print()


def network_text(network: dict[str, Any], *, others: int) -> None:
    """Print a network's metrics."""
    console = new_console()
    console.print(Text(str(network.get("name", "network")), style="bold"))
    table = new_table(["metric", "value"], numbers=("value",))
    metrics = network.get("metrics") or {}
    for key, value in metrics.items():
        text = (
            f"{value:,}"
            if isinstance(value, int) and not isinstance(value, bool)
            else value
            if isinstance(value, str)
            else json.dumps(value)
        )
        if key == "bisection_links" and metrics.get("nodes"):
            # Full bisection: a link of the bandwidth of a node's for each node of one half.
            text = f"{text} ({200 * value / metrics['nodes']:.0f} % of full)"
        table.add_row(Text(str(key)), Text(str(text)))
    console.print(table)
    if network.get("classes"):
        console.print("link classes: " + ", ".join(str(name) for name in network["classes"]), markup=False)
    if network.get("fallout"):
        console.print(_dead(network["fallout"]), markup=False)
    if "bill" in network:
        bill_text(network["bill"], network["prices"])
    if others > 0:
        console.print(f"(the first of {others + 1} runs; --run ID shows another)", markup=False, style="dim")


def _dead(fallout: Mapping[str, Any]) -> str:
    """Return what is dead in words, some of it by name."""
    parts = []
    for kind in ("cable", "router", "node"):
        names = [str(name) for name in fallout[f"{kind}s"]]
        if names:
            some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            parts.append(f"{counted(len(names), kind)} ({some})")
    words = "dead: " + (", ".join(parts) or "nothing")
    if impaired := fallout["impaired"]:
        words += (
            f"; impaired: {counted(len(impaired), 'cable')} ({', '.join(impaired[:3])}{', ...' if len(impaired) > 3 else ''})"
        )
    if fallout["parted"]:
        first, second = fallout["first_parted"][0]
        words += f"; {counted(fallout['parted'], 'pair')} of nodes parted, such as {first} and {second}"
    return words


def bill_text(bill: Mapping[str, Any], prices: str) -> None:
    """Print what a network is made of, and what that costs and draws."""
    console = new_console()
    numbers = ("number", "metres", "longest [m]", "price [USD]", "idle power [W]")
    table = new_table(["part", *numbers], numbers=numbers)
    for line in bill["cables"]:
        lengths = (f"{line['metres']:,.0f}", f"{line['longest_m']:,.4g}")
        costs = (f"{line['price_usd']:,.0f}", f"{line['power_w']:,.0f}")
        table.add_row(f"{line['class']} cables, {line['kind']}", f"{line['cables']:,}", *lengths, *costs)
    for part in ("routers", "interfaces"):
        costs = (f"{bill[f'{part}_usd']:,.0f}", f"{bill[f'{part}_w']:,.0f}")
        table.add_row(part, f"{bill[part]:,}", "", "", *costs)
    table.add_row("all", "", "", "", f"{bill['price_usd']:,.0f}", f"{bill['power_w']:,.0f}")
    console.print(table)
    where = f"{counted(bill['racks'], 'rack')} in {counted(bill['rows'], 'row')}"
    whose = "default prices of 2014, which [cost] replaces" if prices == "default" else f"prices {prices}"
    console.print(f"{where}, {bill['ports']:,} ports of routers with a cable; {whose}", markup=False)


def prices_text(networks: Sequence[PricedNetwork]) -> None:
    """Print which network costs least and what it saves, then what each costs and draws, a line each."""
    from fabricsim._prices import price_sentence

    console = new_console()
    console.print(Text(price_sentence(networks)))
    keys = list(dict.fromkeys(key for network in networks for key, _ in network.point))
    numbers = (
        "nodes",
        "routers",
        "electrical",
        "optical",
        "cables [m]",
        "bisection [%]",
        "price [USD]",
        "per node [USD]",
        "saves [%]",
        "idle power [W]",
        "per node [W]",
    )
    table = new_table([*map(short_key, keys), *numbers], numbers=numbers)
    for network in networks:
        point = dict(network.point)
        counts = (network.nodes, network.routers, network.electrical, network.optical)
        table.add_row(
            *(Text(point.get(key, "")) for key in keys),
            *(f"{count:,}" for count in counts),
            f"{network.metres:,.0f}",
            f"{100 * network.bisection:,.0f}",
            f"{network.price_usd:,.0f}",
            f"{network.price_usd / network.nodes:,.0f}",
            f"{100 * network.saves:,.1f}",
            f"{network.power_w:,.0f}",
            f"{network.power_w / network.nodes:,.2f}",
        )
    console.print(table)
    default = sum(network.prices == "default" for network in networks)
    if default:
        of = "all" if default == len(networks) else f"{default:,} of them"
        console.print(f"{of} by default prices of 2014, which [cost] replaces", markup=False)
    console.print("bisection: of a cable for each node of a half; saves: of the price for each node of the first", markup=False)


def placement_text(jobs: Sequence[Mapping[str, Any]]) -> None:
    """Print how many nodes each job has in each group of the network."""
    console = new_console()
    for job in jobs:
        kind = job["placement"] if isinstance(job["placement"], str) else next(iter(job["placement"]))
        groups = job["groups"]
        where = f" in {len(groups):,} group{'' if len(groups) == 1 else 's'}" if groups else ""
        console.print(f"\njob {job['name']}: {job['nodes']:,} nodes, placed {kind}{where}", markup=False)
        if groups:
            shown = ", ".join(f"{name}: {count:,}" for name, count in groups[:MOST_ROWS])
            more = f" ... and {len(groups) - MOST_ROWS} more (--json lists all)" if len(groups) > MOST_ROWS else ""
            console.print(shown + more, markup=False)


_METHODS = {"blocks": "by the order of the network's family", "metis": "by METIS", "map": "by the study's map"}


def partition_text(found: Mapping[str, Any]) -> None:
    """Print what each worker gets, and the cables that are cut."""
    console = new_console()
    shares = found["workers"]
    title = f"\n{len(shares)} workers share out the routers {_METHODS.get(found['method'], found['method'])}"
    console.print(title, markup=False)
    names = ["worker", "routers", "nodes", "weight", "share [%]", "cables to others"]
    table = new_table(names, numbers=names)
    busy = [(worker, share) for worker, share in enumerate(shares) if share["routers"]]
    for worker, share in busy[:MOST_ROWS]:
        counts = [f"{share[key]:,}" for key in ("routers", "nodes", "weight")]
        table.add_row(str(worker), *counts, number_text(100 * share["share"]), f"{share['cables_out']:,}")
    console.print(table)
    if len(busy) > MOST_ROWS:
        console.print(f"... and {len(busy) - MOST_ROWS} more (--json lists all)", markup=False)
    if len(busy) < len(shares):
        console.print(f"{len(shares) - len(busy)} workers have no router", markup=False)
    console.print(f"cables between workers: {_of_all(found['cables_cut'], found['cables'])}", markup=False)
    for entry in found["classes"]:
        console.print(f"  {entry['class']}: {_of_all(entry['cut'], entry['cables'])}", markup=False)
    console.print(f"imbalance: the heaviest worker has {found['imbalance']:.3f} times the mean weight", markup=False)
    if found.get("note"):
        console.print(str(found["note"]), markup=False)


def _of_all(some: int, whole: int) -> str:
    return f"{some:,} of {whole:,} ({100 * some / max(1, whole):.1f} %)"


def bench_line(entry: dict[str, Any]) -> str:
    """Say in short how fast a benchmark case was."""
    hops = entry["packet_hops_per_cpu_s"]
    rate, what = (hops, "packet-hops") if hops else (entry["events_per_cpu_s"], "events")
    return f"{rate / 1e6:.2f} M {what} per CPU second, {entry['cpu_s']:.2f} CPU s"


def bench_text(found: Sequence[dict[str, Any]]) -> None:
    """Print benchmark results, a row per case, and below them what other simulators were measured at."""
    from fabricsim.benchmark import PEERS

    console = new_console()
    names = ["case", "M packet-hops / CPU s", "M events / CPU s", "CPU [s]", "build [s]", "memory [MB]", "digest"]
    table = new_table(names, numbers=names[1:6])
    for entry in found:
        hops = entry["packet_hops_per_cpu_s"]
        cells = [
            entry["name"],
            f"{hops / 1e6:.2f}" if hops else "",
            f"{entry['events_per_cpu_s'] / 1e6:.2f}",
            f"{entry['cpu_s']:.2f}",
            f"{entry['build_s']:.2f}",
            f"{entry['peak_rss_bytes'] / 1e6:.0f}",
            entry["digest"],
        ]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    console.print("\nother simulators, one core of a comparable machine (CPU seconds, +-30 %):")
    table = new_table(["simulator", "case", "per CPU second", "memory"], numbers=[])
    for row in PEERS:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def claims_text(verdicts: Sequence[ClaimVerdict]) -> None:
    """Print claim, what the paper says, what came out here, verdict."""
    if not verdicts:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 1, 0))
    for name in ("claim", "paper", "ours", "verdict"):
        table.add_column(name, overflow="fold", ratio={"claim": 2, "paper": 4, "ours": 3, "verdict": 4}[name])
    for verdict in verdicts:
        style = {"agrees": "green", "differs": "yellow"}.get(verdict.verdict, "red")
        text = verdict.verdict + (f": {verdict.because}" if verdict.because and verdict.verdict != "agrees" else "")
        if verdict.perturbed:
            text += f"; {verdict.perturbed}"
        table.add_row(Text(verdict.id), Text(verdict.paper), Text(verdict.ours), Text(text, style=style))
    console = new_console()
    console.print(table)
    agree = sum(verdict.verdict == "agrees" for verdict in verdicts)
    missing = sum(verdict.verdict == "not measured" for verdict in verdicts)
    rest = f", {missing} not measured" if missing else ""
    console.print(f"{agree} of {len(verdicts) - missing} claims agree{rest}", markup=False)
