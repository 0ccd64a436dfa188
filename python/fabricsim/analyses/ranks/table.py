"""Where the time of ranks went, as tables on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table
from fabricsim._units import amount
from fabricsim.analyses.ranks.regions import compared

if TYPE_CHECKING:
    from rich.table import Table

    from fabricsim.analyses.ranks.times import JobTimes

__all__ = ["show"]

#: Regions that are shown; ``ranks.json`` has all.
_MOST_REGIONS = 20


def _time(time_ns: float) -> str:
    return amount(time_ns, "ns", digits=6)


def _regions(job: JobTimes) -> Table:
    """Return what the ranks did in the regions of their program."""
    heads = [
        "region",
        "visits",
        "computing",
        "waiting",
        "in MPI otherwise",
        "in MPI, recorded",
        "in MPI against that",
        "most waiting",
    ]
    table = new_table(heads, numbers=heads[1:], title="regions, sums over ranks")
    for region in job.regions[:_MOST_REGIONS]:
        recorded, factor = region.recorded_mpi_ns, region.factor
        table.add_row(
            region.region or "outside of all",
            "-" if region.visits is None or not region.region else f"{region.visits:,}",
            _time(region.compute_ns),
            _time(region.wait_ns),
            _time(region.mpi_ns),
            "-" if recorded is None else _time(recorded),
            "-" if factor is None else compared(factor).removesuffix(" as"),
            f"rank {region.rank}: {_time(region.rank_wait_ns)}" if region.rank_wait_ns else "-",
        )
    if len(job.regions) > _MOST_REGIONS:
        table.add_row(f"and {len(job.regions) - _MOST_REGIONS} more", *[""] * (len(heads) - 1))
    return table


def show(found: Sequence[JobTimes]) -> None:
    """Print where the time of ranks went, job by job."""
    console = new_console()
    for job in found:
        title = f"{job.label}, {job.name or f'job {job.job}'}: {job.ranks:,} ranks, {_time(job.time_ns)}"
        parts = new_table(["", *job.shares], numbers=list(job.shares), title=title)
        parts.add_row("of the ranks' time", *(f"{share:.1%}" for share in job.shares.values()))
        console.print(parts)
        waits = new_table(
            ["rank", "waits", "most for rank", "of its waiting", "for late ranks", "over"],
            numbers=["rank", "waits", "most for rank", "of its waiting", "for late ranks"],
        )
        for wait in job.worst:
            cells = [str(wait.rank), f"{wait.share:.1%}", str(wait.peer), f"{wait.peer_share:.1%}", f"{wait.late_share:.1%}"]
            waits.add_row(*cells, wait.cable or "-")
        if job.worst:
            console.print(waits)
        if job.regions:
            console.print(_regions(job))
        for sentence in job.sentences():
            console.print(Text(f"{sentence[0].upper()}{sentence[1:]}."))
        if job.path_messages:
            rank, peer, time = job.path_messages[0]
            console.print(Text(f"Its longest message is from rank {peer} to rank {rank}: {_time(time)}."))
        if not job.path:
            console.print(Text("No critical path: a rank did not come to its end."))
