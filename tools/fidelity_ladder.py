"""Writes the tables of docs/models/fidelity-ladder.md: `fabricsim run fidelity-ladder --out ladder; python tools/fidelity_ladder.py ladder docs/models/fidelity-ladder.md`.

A rung's error is its distance from the next rung: that of the mean latency where both have one, else of the accepted load, for MPI ranks of the
time. Prices are CPU time and events of all cases of a kind together.
"""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import fabricsim as fs
from fabricsim._recorded import RunRecord

RUNGS = ("sculpin", "voq", "input-queued", "vc-router", "vc-router, speed-up 2")
#: Rungs that are compared: each with the one that it leaves something out of.
STEPS = (("sculpin", "voq"), ("voq", "input-queued"), ("input-queued", "vc-router, speed-up 2"), ("input-queued", "vc-router"))
BEGIN, END = "<!-- tables of tools/fidelity_ladder.py -->", "<!-- end of the tables -->"
#: Bytes of a flit, and packets of the traffic that is not of packets of 2 KiB.
FLIT, SMALL = 64, "64 B"

Case = tuple[str, str, str]


@dataclass(frozen=True)
class Figures:
    """What the runs of a case on a rung have in the mean over their seeds."""

    latency_ns: float | None
    accepted: float | None
    time_ns: float | None
    cpu_s: float
    events: float
    packet_hops: float


def figures(summaries: Iterable[dict[str, float | None]], *, ranks: bool) -> Figures:
    """Put the summaries of the seeds of a case together; a latency that one of them lacks is none."""
    listed = list(summaries)

    def mean(key: str) -> float | None:
        values = [summary[key] for summary in listed]
        known = [value for value in values if value is not None]
        return fmean(known) if len(known) == len(values) else None

    def total(key: str) -> float:
        return sum(summary[key] or 0.0 for summary in listed)

    return Figures(
        latency_ns=None if ranks else mean("latency_ns.mean"),
        accepted=None if ranks else mean("accepted_load"),
        time_ns=mean("jobs.0.time_ns") if ranks else None,
        cpu_s=total("cpu_s"),
        events=total("events"),
        packet_hops=total("packet_hops"),
    )


def case_of(record: RunRecord) -> tuple[str, Case]:
    """Return the rung of a run and its case: topology, routing, work."""
    swept = dict(record.run.sweep)
    return swept["router"], (swept["topology"], swept["routing.kind"], swept["job.0.work"])


def collect(results: fs.Results) -> dict[Case, dict[str, Figures]]:
    """Return the figures of all cases in the order of the study, by rung."""
    keys = ("latency_ns.mean", "accepted_load", "jobs.0.time_ns", "cpu_s", "events", "packet_hops")
    found: dict[tuple[Case, str], list[dict[str, float | None]]] = {}
    kinds: dict[Case, bool] = {}
    for record in results.records:
        if not record.ok:
            raise SystemExit(f"{record.label}: a self-check failed")
        rung, case = case_of(record)
        kinds[case] = record.run.experiment == "ranks"
        found.setdefault((case, rung), []).append({key: record.value(key) for key in keys})
    ordered = sorted(kinds, key=lambda case: kinds[case])
    return {case: {rung: figures(found[case, rung], ranks=kinds[case]) for rung in RUNGS} for case in ordered}


def value(figure: Figures) -> str:
    """Return the figure of a case that its errors are of, in words."""
    if figure.time_ns is not None:
        return f"{figure.time_ns / 1e3:.1f} us"
    if figure.latency_ns is not None:
        return f"{figure.latency_ns:,.0f} ns"
    return f"load {figure.accepted or 0.0:.3f}"


def error(lower: Figures, upper: Figures) -> tuple[str, float]:
    """Return what is compared (`time`, `latency`, `load`) and by how much the first is off."""
    for what, own, other in (
        ("time", lower.time_ns, upper.time_ns),
        ("latency", lower.latency_ns, upper.latency_ns),
        ("load", lower.accepted, upper.accepted),
    ):
        if own is not None and other is not None:
            return what, own / other - 1.0
    raise SystemExit("a case has neither time nor latency nor load")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    listed = [list(head), *(list(row) for row in rows)]
    listed.insert(1, ["---"] * len(listed[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in listed)


def value_rows(cases: dict[Case, dict[str, Figures]]) -> list[list[str]]:
    """Return what came out of each case on each rung."""
    return [[*case, *(value(rungs[rung]) for rung in RUNGS)] for case, rungs in cases.items()]


def error_rows(cases: dict[Case, dict[str, Figures]]) -> list[list[str]]:
    """Return by how much each rung is off."""
    rows = []
    for case, rungs in cases.items():
        errors = [error(rungs[lower], rungs[upper]) for lower, upper in STEPS]
        rows.append([*case, *(f"{what} {100.0 * off:+.1f} %" for what, off in errors)])
    return rows


def spread_rows(cases: dict[Case, dict[str, Figures]]) -> list[list[str]]:
    """Return the median and the greatest error of each rung, by what is compared."""
    rows = []
    for what in ("latency", "load", "time"):
        row = [what]
        for lower, upper in STEPS:
            errors = [error(rungs[lower], rungs[upper]) for rungs in cases.values()]
            sizes = sorted(100.0 * abs(off) for kind, off in errors if kind == what)
            middle = sizes[(len(sizes) - 1) // 2] if sizes else 0.0
            row.append(f"{middle:.1f} %, {sizes[-1]:.1f} % of {len(sizes)}" if sizes else "none")
        rows.append(row)
    return rows


def price_rows(cases: dict[Case, dict[str, Figures]]) -> list[list[str]]:
    """Return CPU time and events by packet-hop and flit-hop."""
    rows = []
    for name, flits, belongs in (
        ("packets of 2 KiB", 2_048 // FLIT, lambda case, figure: SMALL not in case[2] and figure.time_ns is None),
        ("packets of 64 B", 1, lambda case, _: SMALL in case[2]),
    ):
        for rung in RUNGS:
            own = [rungs[rung] for case, rungs in cases.items() if belongs(case, rungs[rung])]
            hops = sum(figure.packet_hops for figure in own)
            if not hops:
                continue
            cpu, events = (1e9 * sum(figure.cpu_s for figure in own) / hops, sum(figure.events for figure in own) / hops)
            rows.append([name, rung, f"{cpu:,.0f} ns", f"{cpu / flits:.1f} ns", f"{events:.2f}"])
    return rows


def tables(cases: dict[Case, dict[str, Figures]]) -> str:
    """Return all tables of the page."""
    case = ("topology", "routing", "work")
    steps = [f"{lower} against {upper}" for lower, upper in STEPS]
    return "\n\n".join(
        (
            "**What comes out**: the mean latency; the accepted load where some flows get more and more behind; of ranks the time.",
            table((*case, *RUNGS), value_rows(cases)),
            "**By how much each is off** from the rung that keeps more; in latency if both have one, else in accepted load.",
            table((*case, *steps), error_rows(cases)),
            "**In short**: half of the cases are off by no more than the first number, all by no more than the second.",
            table(("of", *steps), spread_rows(cases)),
            "**The price**: all cases of traffic together, on one core. CPU times are those of one machine.",
            table(("traffic", "rung", "CPU per packet-hop", "per flit-hop", "events per packet-hop"), price_rows(cases)),
        )
    )


def main() -> None:
    """Read results, write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("page", type=Path)
    asked = parser.parse_args()
    text = asked.page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    behind = rest.split(END)[1]
    written = tables(collect(fs.Results.open(asked.results)))
    asked.page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{behind}", encoding="utf-8")


if __name__ == "__main__":
    main()
