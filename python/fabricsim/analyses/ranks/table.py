"""Where the time of ranks went, as tables on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fabricsim._terminal import new_console, new_table, number_text

if TYPE_CHECKING:
    from fabricsim.analyses.ranks.times import JobTimes

__all__ = ["show"]


def show(found: Sequence[JobTimes]) -> None:
    """Print where the time of ranks went, job by job."""
    console = new_console()
    for job in found:
        title = f"{job.label}, job {job.job}: {job.ranks:,} ranks, {number_text(job.time_ns, 6)} ns"
        parts = new_table(["", *job.shares], numbers=list(job.shares), title=title)
        parts.add_row("of the ranks' time", *(f"{share:.1%}" for share in job.shares.values()))
        console.print(parts)
        waits = new_table(
            ["rank", "waits", "most for", "of its waiting", "for late ranks"],
            numbers=["rank", "waits", "most for", "of its waiting", "for late ranks"],
        )
        for wait in job.worst:
            waits.add_row(str(wait.rank), f"{wait.share:.1%}", str(wait.peer), f"{wait.peer_share:.1%}", f"{wait.late_share:.1%}")
        if job.worst:
            console.print(waits)
        for sentence in job.sentences():
            console.print(Text(f"{sentence[0].upper()}{sentence[1:]}."))
        if job.path_messages:
            rank, peer, time = job.path_messages[0]
            console.print(Text(f"Its longest message is from rank {peer} to rank {rank}: {number_text(time, 6)} ns."))
        if not job.path:
            console.print(Text("No critical path: a rank did not come to its end."))
