"""What forwarding tables are worth, as a table on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table
from fabricsim.analyses.routes.figures import figures_row

if TYPE_CHECKING:
    from fabricsim.analyses.routes.figures import RoutedFabric

__all__ = ["show"]


#: Channels of a cycle that are printed.
_MOST_CYCLE = 12


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "es" if what.endswith("ch") else "s")


def _or_dash(value: float | None, form: str) -> str:
    """Return a number as a cell, a dash where it cannot be given."""
    return "-" if value is None else format(value, form)


def show(found: RoutedFabric) -> None:
    """Print what forwarding tables are worth: a row per engine, then lanes, cycles and the hottest cables of each."""
    console = new_console()
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
    table = new_table(names, numbers=names[1:-1])
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
