"""Tables on stdout: plain enough for a pipe, readable on a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabricsim._perturb import headline
from fabricsim._tables import not_arrived
from fabricsim._units import format_bytes, format_count, format_seconds, speculation_line

if TYPE_CHECKING:
    from fabricsim._capacity import Capacity
    from fabricsim._effects import Effects
    from fabricsim._knee import Knee
    from fabricsim._pareto import Pareto
    from fabricsim._recorded import Recorded
    from fabricsim._routes import RouteStudy
    from fabricsim._runs import Expansion
    from fabricsim.claims import ClaimVerdict

__all__ = [
    "bench_text",
    "capacity_text",
    "claims_text",
    "effects_text",
    "expansion_text",
    "knee_text",
    "network_text",
    "pareto_text",
    "partition_text",
    "placement_text",
    "registry_text",
    "routes_text",
    "runs_text",
]

_MOST_ROWS = 200
#: Columns of `expand` that say what a run will take.
_SIZES = ("nodes", "routers", "memory", "packet hops", "time")
_MOST_EXECUTIONS = 4
#: Channels of a cycle that are printed.
_MOST_CYCLE = 12


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, 160))


def _table(columns: Sequence[str], *, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(Text(name), justify="right" if name in numbers else "left", overflow="fold")
    return table


def _number(value: Any, digits: int = 1) -> str:
    return f"{value:,.{digits}f}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _figure(latency: Mapping[str, Any], name: str) -> str:
    """Return a figure, or what it is more than where only that is known."""
    if latency.get(name) is not None:
        return _number(latency[name])
    bound = latency.get(f"{name}_at_least")
    return "" if bound is None else f"> {_number(bound)}"


def execution_line(execution: Mapping[str, Any]) -> str:
    """Say how a run was executed: speed, fill of the windows, waiting, and what the engine found out."""
    if not execution:
        return ""
    workers = int(execution.get("workers") or 1)
    parts = [
        f"{workers} workers" if workers > 1 else "1 worker",
        f"{format_count(round(execution.get('events_per_s_per_worker') or 0))} events/s" + (" each" if workers > 1 else ""),
        f"{_number(execution.get('events_per_window'), 0)} events per window",
    ]
    if (execution.get("windows_per_meeting") or 1) > 1:
        parts.append(f"workers meet once in {execution['windows_per_meeting']} windows")
    if execution.get("barrier_share") is not None:
        parts.append(f"{100 * execution['barrier_share']:.0f} % of the time at the barrier")
    if execution.get("speculation"):
        parts.append(speculation_line(execution["speculation"]))
    if execution.get("remark"):
        parts.append(str(execution["remark"]))
    return "; ".join(parts)


def _job_times(summary: Mapping[str, Any]) -> str:
    """Return the times of the jobs of MPI ranks and of memory nodes; one that is not done has none."""
    memory = summary.get("memory")
    ranks = [job for job in summary.get("jobs") or [] if "ranks" in job]
    times = [job.get("time_ns") for job in [*ranks, *([memory] if memory else [])]]
    return " / ".join("-" if time is None else _number(time / 1e3, 2) for time in times)


def runs_text(results: Recorded) -> None:
    """Print the main numbers of every run, and a line of verdict."""
    keys = results.swept_keys()
    several = len(results.experiments) > 1
    jobs = any(_job_times(record.summary) for record in results.records)
    lost = any(not_arrived(record.summary) for record in results.records)
    perturbed = ("perturbed [us]",) if any(record.summary.get("perturbed") for record in results.records) else ()
    numbers = (
        *(("job time [us]",) if jobs else ()),
        *perturbed,
        "mean latency [ns]",
        "p99 [ns]",
        *(("not arrived",) if lost else ()),
        "accepted load",
        "packet hops",
        "cpu [s]",
    )
    table = _table([*(["experiment"] if several else []), *keys, "seed", *numbers, "verdict"], numbers=numbers)
    for record in results.records[:_MOST_ROWS]:
        swept = dict(record.run.sweep)
        summary = record.summary
        latency = summary.get("latency_ns") or {}
        cells = [
            *([record.run.experiment] if several else []),
            *(swept.get(key, "") for key in keys),
            str(record.run.seed),
            *([_job_times(summary)] if jobs else []),
            *([headline(summary)] if perturbed else []),
            _figure(latency, "mean"),
            _figure(latency, "p99"),
            *([f"{100 * (not_arrived(summary) or 0):.2f} %"] if lost else []),
            _number(summary.get("accepted_load"), 3),
            format_count(summary.get("packet_hops")),
            _number(summary.get("cpu_s"), 2),
            record.verdict,
        ]
        table.add_row(*(Text(cell) for cell in cells))
    console = _console()
    console.print(table)
    if len(results) <= _MOST_EXECUTIONS:
        for record in results.records:
            line = execution_line(record.summary.get("execution") or {})
            if line:
                console.print(line, markup=False, style="dim", soft_wrap=True)
            if record.summary.get("memory"):
                console.print(record.summary["memory"]["bottleneck"], markup=False, soft_wrap=True)
    if len(results) > _MOST_ROWS:
        console.print(f"... and {len(results) - _MOST_ROWS} more in {results.folder}/runs.parquet", markup=False)
    for record in results.records[:_MOST_EXECUTIONS]:
        for note in record.summary.get("notes", []):
            if note.startswith("fragile"):
                console.print(f"{record.label}: {note}", markup=False, soft_wrap=True)
    total = len(results.manifest["runs"])
    console.print(
        f"{len(results) + len(results.perturbed)} of {total} runs finished, {len(results.failed)} failed self-checks; results in {results.folder}",
        markup=False,
    )


def expansion_text(plan: Expansion) -> None:
    """Print the runs of a study."""
    console = _console()
    console.print(f"{plan.name}: {len(plan)} runs, hash {plan.hash[:8]}", markup=False)
    if plan.description:
        console.print(plan.description.strip(), markup=False, style="dim")
    keys = list(dict.fromkeys(key for run in plan.runs for key, _ in run.sweep))
    table = _table(["run", "experiment", *keys, "seed", *_SIZES], numbers=_SIZES)
    for run in plan.runs[:_MOST_ROWS]:
        swept = dict(run.sweep)
        estimate = run.estimate
        cells = [run.id, run.experiment, *(swept.get(key, "") for key in keys), str(run.seed)]
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
    if len(plan) > _MOST_ROWS:
        console.print(f"... and {len(plan) - _MOST_ROWS} more (--json lists all)", markup=False)


def knee_text(knees: Sequence[Knee]) -> None:
    """Print what was measured at every value, and where doublings stop to pay."""
    console = _console()
    for found in knees:
        if found.point:
            console.print(Text(", ".join(f"{key}={value}" for key, value in found.point), style="bold"))
        table = _table([found.over, found.metric, "doubling gains", "interval"], numbers=(found.metric, "doubling gains"))
        gains = {doubling.text: doubling for doubling in found.doublings}
        for point in found.points:
            doubling = gains.get(point.text)
            gain = f"{100 * doubling.gain:.2f} %" if doubling else ""
            ends = (
                f"{100 * doubling.low:.2f} to {100 * doubling.high:.2f} %"
                if doubling and doubling.low is not None and doubling.high is not None
                else ""
            )
            table.add_row(*(Text(cell) for cell in (point.text, _number(point.mean), gain, ends)))
        console.print(table)
        console.print(found.sentence, markup=False, soft_wrap=True)


def effects_text(found: Sequence[Effects]) -> None:
    """Print the shares of the variance that keys have alone and in pairs."""
    console = _console()
    for entry in found:
        head = ", ".join(f"{key}={value}" for key, value in entry.point)
        seeds = f"{entry.n_seeds} seeds each" if entry.n_seeds > 1 else "one seed each"
        console.print(
            Text(f"{head + ': ' if head else ''}{entry.of}, {entry.n_points} points, {seeds}", style="bold"),
        )
        console.print(f"mean {entry.mean:,.6g}, standard deviation {entry.deviation:,.3g} over the points", markup=False)
        table = _table(
            ["key", "share of the variance", "at low end", "at high end", "estimator"],
            numbers=("share of the variance", "at low end", "at high end"),
        )
        for own in sorted(entry.effects, key=lambda effect: -effect.share):
            share = f"{100 * own.share:.1f} ({100 * own.low:.1f} to {100 * own.high:.1f}) %"
            table.add_row(*(Text(cell) for cell in (own.key, share, f"{own.first:,.6g}", f"{own.last:,.6g}", own.method)))
        for pair in entry.interactions[:10]:
            share = f"{100 * pair.share:.1f} ({100 * pair.low:.1f} to {100 * pair.high:.1f}) %"
            table.add_row(*(Text(cell) for cell in (" with ".join(pair.keys), share, "", "", pair.method)))
        if entry.noise is not None:
            table.add_row(*(Text(cell) for cell in ("(seeds)", f"{100 * entry.noise:.1f} %", "", "", "replicates")))
        console.print(table)
        for note in entry.notes:
            console.print(f"note: {note}", markup=False)


def pareto_text(found: Pareto) -> None:
    """Print the points of the front."""
    console = _console()
    keys = list(dict.fromkeys(key for row in found.rows for key, _ in row.point))
    names = [f"{one.name}{f' [{one.unit}]' if one.unit else ''}" for one in found.objectives]
    table = _table([*keys, *names], numbers=names)
    for row in found.front[:_MOST_ROWS]:
        table.add_row(
            *(
                Text(cell)
                for cell in (*(dict(row.point).get(key, "") for key in keys), *(f"{value:,.6g}" for value in row.values))
            )
        )
    console.print(table)
    console.print(f"{len(found.front)} of {len(found.rows)} points are on the front", markup=False)


def registry_text(found: dict[str, list[dict[str, Any]]], *, details: bool) -> None:
    """Print registry entries, with their parameters where one kind was asked for."""
    console = _console()
    for kind, entries in found.items():
        console.print(Text(kind, style="bold underline"))
        table = _table(["name", "what it is"])
        for entry in entries:
            about = str(entry.get("summary") or entry.get("line") or "")
            if details and entry.get("source"):
                about += f"  [{entry['source']}]"
            table.add_row(Text(str(entry.get("name")), style="cyan"), Text(about))
            if details:
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
    console = _console()
    console.print(Text(str(network.get("name", "network")), style="bold"))
    table = _table(["metric", "value"], numbers=("value",))
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
    if others > 0:
        console.print(f"(the first of {others + 1} runs; --run ID shows another)", markup=False, style="dim")


def placement_text(jobs: Sequence[Mapping[str, Any]]) -> None:
    """Print how many nodes each job has in each group of the network."""
    console = _console()
    for job in jobs:
        kind = job["placement"] if isinstance(job["placement"], str) else next(iter(job["placement"]))
        groups = job["groups"]
        where = f" in {len(groups):,} group{'' if len(groups) == 1 else 's'}" if groups else ""
        console.print(f"\njob {job['name']}: {job['nodes']:,} nodes, placed {kind}{where}", markup=False)
        if groups:
            shown = ", ".join(f"{name}: {count:,}" for name, count in groups[:_MOST_ROWS])
            more = f" ... and {len(groups) - _MOST_ROWS} more (--json lists all)" if len(groups) > _MOST_ROWS else ""
            console.print(shown + more, markup=False)


_METHODS = {"blocks": "by the order of the network's family", "metis": "by METIS", "map": "by the study's map"}


def partition_text(found: Mapping[str, Any]) -> None:
    """Print what each worker gets, and the cables that are cut."""
    console = _console()
    shares = found["workers"]
    title = f"\n{len(shares)} workers share out the routers {_METHODS.get(found['method'], found['method'])}"
    console.print(title, markup=False)
    names = ["worker", "routers", "nodes", "weight", "share [%]", "cables to others"]
    table = _table(names, numbers=names)
    busy = [(worker, share) for worker, share in enumerate(shares) if share["routers"]]
    for worker, share in busy[:_MOST_ROWS]:
        counts = [f"{share[key]:,}" for key in ("routers", "nodes", "weight")]
        table.add_row(str(worker), *counts, _number(100 * share["share"]), f"{share['cables_out']:,}")
    console.print(table)
    if len(busy) > _MOST_ROWS:
        console.print(f"... and {len(busy) - _MOST_ROWS} more (--json lists all)", markup=False)
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


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "es" if what.endswith("ch") else "s")


def _or_dash(value: float | None, form: str) -> str:
    """Return a number as a cell, a dash where it cannot be given."""
    return "-" if value is None else format(value, form)


def routes_text(found: RouteStudy) -> None:
    """Print what forwarding tables are worth: a row per engine, then lanes, cycles and the hottest cables of each."""
    from fabricsim._routes import figures_row

    console = _console()
    fabric = found.fabric
    sizes = ", ".join(
        _several(fabric[key], what) for key, what in (("hosts", "host"), ("switches", "switch"), ("cables", "cable"))
    )
    lmc = f", {2 ** fabric['lmc']} addresses per host" if fabric["lmc"] else ""
    console.print(f"{found.source}: {sizes}{lmc}", markup=False)
    for note in fabric["notes"][:12]:
        console.print(f"  {note}", markup=False)
    if len(fabric["notes"]) > 12:
        console.print(f"  ... and {len(fabric['notes']) - 12} more", markup=False)
    rows = [figures_row(entry) for entry in found]
    extra = [name for name in ("racks", "demand") if any(entry.summary[name] for entry in found)]
    names = [
        "engine",
        "hops",
        "max paths",
        "mean",
        "unused",
        "uniform",
        "eBB",
        "both ways",
        "shifts",
        "worst",
        *extra,
        "lanes",
        "deadlock",
    ]
    table = _table(names, numbers=names[1:-1])
    for row in rows:
        cells = [
            row["engine"],
            _or_dash(row["mean_hops"], ".3f"),
            f"{row['max_paths']:,.0f}",
            f"{row['mean_paths']:,.1f}",
            f"{row['unused_channels']:,}",
            _or_dash(row["uniform_bound"], ".3f"),
            f"{_or_dash(row['ebb'], '.3f')} +- {_or_dash(row['ebb_ci95'], '.3f')}",
            f"{_or_dash(row['ebb_both_ways'], '.3f')} +- {_or_dash(row['ebb_both_ways_ci95'], '.3f')}",
            _or_dash(row["shift_mean"], ".3f"),
            _or_dash(row["shift_max_congestion"], "d"),
            *([_or_dash(row["racks_mean"], ".3f")] if "racks" in extra else []),
            *([f"x {_or_dash(row['demand_slowdown'], '.2f')}"] if "demand" in extra else []),
            str(row["lanes"]) if row["lanes_used"] >= row["lanes"] else f"{row['lanes_used']} of {row['lanes']}",
        ]
        verdict = Text("free", style="green") if row["deadlock_free"] else Text("CAN DEADLOCK", style="red")
        table.add_row(*(Text(cell) for cell in cells), verdict)
    console.print(table)
    legend = (
        "hops: channels between switches, mean over pairs; paths: of all-to-all per channel; uniform, eBB, shifts: fractions of a "
        "link's bandwidth; worst: most flows of a shift on a channel"
    )
    console.print(legend, markup=False, style="dim")
    for name, reason in found.refused.items():
        console.print(f"{name}: refused: {reason.removeprefix(name + ': ')}", markup=False)
    for entry in found:
        console.print(f"\n{entry.name}", markup=False, style="bold")
        summary = entry.summary
        if entry.about.get("note"):
            console.print(f"  note: {entry.about['note']}", markup=False)
        if broken := summary["lengths"]["broken"]:
            words = f"{broken:,} pairs of hosts do not reach each other, their bandwidth counts as 0:"
            console.print(f"  {words}", markup=False, style="red")
            for example in summary["broken_examples"]:
                console.print(f"    {example}", markup=False, soft_wrap=True)
            if broken > len(summary["broken_examples"]):
                console.print(f"    ... --out writes all of them to {entry.name}.lost.csv", markup=False)
        if elsewhere := summary["broken_elsewhere"]:
            words = f"{elsewhere:,} pairs do not reach each other at other addresses of the receivers: look at each by --path"
            console.print(f"  {words}", markup=False, style="red")
        if len(summary["lanes"]) > 1:
            shares = ", ".join(f"{lane['lane']}: {lane['pairs']:,}" for lane in summary["lanes"] if lane["pairs"])
            console.print(f"  pairs of hosts per lane: {shares}", markup=False)
        for lane in summary["lanes"]:
            if not lane["free"]:
                cycle = lane["cycle"][:_MOST_CYCLE]
                more = (
                    f" -> ... ({len(lane['cycle']) - len(cycle)} more)" if len(lane["cycle"]) > len(cycle) else f" -> {cycle[0]}"
                )
                console.print(f"  lane {lane['lane']} can deadlock: {' -> '.join(cycle)}{more}", markup=False, soft_wrap=True)
        if summary["shift"]:
            shift = summary["shift"]
            words = f"most flows on a channel {shift['max_congestion']}, mean share {shift['mean']:.3f}"
            console.print(f"  shift by {shift['by']}: {words}", markup=False)
        if summary["racks"]:
            each = summary["racks"]["each"]
            if each:
                console.print(f"  racks of {summary['racks']['size']}: {min(each):.3f} to {max(each):.3f}", markup=False)
        if summary["demand"]:
            demand = summary["demand"]
            if demand["lost"]:
                words = f"{100 * demand['lost'] / demand['total']:.3g} % of it do not arrive: it takes for ever"
            else:
                hops = _or_dash(demand["mean_hops"], ".2f")
                words = f"{demand['slowdown']:.2f} times as long as the hosts alone would need, mean hops {hops}"
            console.print(f"  demand: {words}", markup=False)
        for place, hot in enumerate(summary["hottest"], 1):
            cable = f"{hot['from']} port {hot['port']} -> {hot['to']} port {hot['peer_port']}"
            console.print(f"  {place}. {cable}: {hot['paths']:,} paths", markup=False)


def bench_text(found: Sequence[dict[str, Any]]) -> None:
    """Print benchmark results, a row per case, and below them what other simulators were measured at."""
    from fabricsim.benchmark import PEERS

    console = _console()
    names = ["case", "M packet-hops / CPU s", "M events / CPU s", "CPU [s]", "build [s]", "memory [MB]", "digest"]
    table = _table(names, numbers=names[1:6])
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
    table = _table(["simulator", "case", "per CPU second", "memory"], numbers=[])
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
    console = _console()
    console.print(table)
    agree = sum(verdict.verdict == "agrees" for verdict in verdicts)
    missing = sum(verdict.verdict == "not measured" for verdict in verdicts)
    rest = f", {missing} not measured" if missing else ""
    console.print(f"{agree} of {len(verdicts) - missing} claims agree{rest}", markup=False)


def capacity_text(points: Sequence[Capacity]) -> None:
    """Print what jobs did alone and together, a table per point."""
    console = _console()
    for point in points:
        title = ", ".join(f"{key} = {value}" for key, value in point.point)
        pairs = bool(point.interference)
        columns = [
            "job",
            "iterations alone",
            "iterations together",
            "slowdown",
            *(["worst beside", "slowdown there"] if pairs else []),
        ]
        table = _table(columns, numbers=[*columns[1:4], "slowdown there"], title=title)
        for name in point.jobs:
            counts = (point.runs_alone[name], point.runs[name])
            cells = [name, *("-" if count is None else f"{count:,}" for count in counts), _number(point.slowdown[name], 3)]
            if pairs:
                known = [
                    (there, other) for (job, other), there in point.interference.items() if job == name and there is not None
                ]
                worst = max(known, default=(None, "-"))
                cells += [worst[1], _number(worst[0], 3)]
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)
        for note in point.notes:
            console.print(Text(f"no slowdown of {note}"))
