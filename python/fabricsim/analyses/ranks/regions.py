"""What ranks did in the regions of a recorded program, beside what was recorded of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RegionShare", "against_the_recording", "compared", "region_shares"]


@dataclass(frozen=True, slots=True)
class RegionShare:
    """What all ranks of a job did in a region: sums over ranks, in ns.

    Attributes
    ----------
    region : str
        Its name; empty outside of all.
    visits : int or None
        How often ranks entered it; None where some rank did not come to its end.
    compute_ns, wait_ns, mpi_ns : float
        Computing, waiting for messages, and in MPI otherwise.
    recorded_compute_ns, recorded_mpi_ns : float or None
        What they computed and spent in MPI, waiting included, when they were recorded; None where that is not known of all of them.
    rank : int
        The rank that waited most there.
    rank_wait_ns : float
        What it waited there.
    """

    region: str
    visits: int | None
    compute_ns: float
    wait_ns: float
    mpi_ns: float
    recorded_compute_ns: float | None
    recorded_mpi_ns: float | None
    rank: int
    rank_wait_ns: float

    @property
    def factor(self) -> float | None:
        """Its time in MPI by the recorded one; None where that is not known, or nothing."""
        recorded = self.recorded_mpi_ns
        return (self.wait_ns + self.mpi_ns) / recorded if recorded else None

    @property
    def change_ns(self) -> float:
        """How much longer it is in MPI than when it was recorded."""
        return self.wait_ns + self.mpi_ns - (self.recorded_mpi_ns or 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        factor = self.factor
        return {**asdict(self), "factor": factor, "compared": None if factor is None else compared(factor).removesuffix(" as")}


def compared(factor: float) -> str:
    """Say a factor of times in words.

    Examples
    --------
    >>> compared(2.0), compared(1 / 44_620), compared(1.001), compared(0.0)
    ('2 times as long as', '44,600 times as fast as', 'as long as', 'nothing, unlike')
    """
    if 0.995 <= factor <= 1.005:
        return "as long as"
    if factor == 0:
        return "nothing, unlike"
    times = max(factor, 1 / factor)
    text = f"{float(f'{times:.3g}'):,.0f}" if times >= 1000 else f"{times:.3g}"
    return f"{text} times as {'long' if factor > 1 else 'fast'} as"


def region_shares(table: pa.Table | None, job: int) -> tuple[RegionShare, ...]:
    """Return what the ranks of a job did in each region, those first in which they spent most.

    Parameters
    ----------
    table : Table or None
        The table ``regions`` of a run; None of an earlier version.
    job : int
        Number of the job in the study.
    """
    if table is None or table.num_rows == 0:
        return ()
    import pyarrow.compute as pc

    own = table.filter(pc.equal(table["job"], job))
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in own.to_pylist():
        rows.setdefault(row["region"], []).append(row)
    shares = [_share(region, listed) for region, listed in rows.items()]
    return tuple(sorted(shares, key=lambda it: (-(it.compute_ns + it.wait_ns + it.mpi_ns), it.region)))


def _share(region: str, rows: Sequence[dict[str, Any]]) -> RegionShare:
    def known(name: str) -> int | None:
        values = [row[name] for row in rows]
        return None if any(value is None for value in values) else sum(values)

    def ns(value: int | None) -> float | None:
        return None if value is None else value / 1e3

    waits: dict[int, int] = {}
    for row in rows:
        waits[row["rank"]] = waits.get(row["rank"], 0) + row["wait_ps"]
    rank = min(waits, key=lambda rank: (-waits[rank], rank))
    return RegionShare(
        region=region,
        visits=known("visits"),
        compute_ns=sum(row["compute_ps"] for row in rows) / 1e3,
        wait_ns=sum(row["wait_ps"] for row in rows) / 1e3,
        mpi_ns=sum(row["mpi_ps"] for row in rows) / 1e3,
        recorded_compute_ns=ns(known("recorded_compute_ps")),
        recorded_mpi_ns=ns(known("recorded_mpi_ps")),
        rank=rank,
        rank_wait_ns=waits[rank] / 1e3,
    )


def against_the_recording(regions: Sequence[RegionShare]) -> list[str]:
    """Say how much faster or slower MPI is than when it was recorded, and where most of the difference is; nothing where that is not known."""
    known = [region for region in regions if region.recorded_mpi_ns is not None]
    recorded = sum(region.recorded_mpi_ns or 0.0 for region in known)
    if not recorded or len(known) < len(regions):
        return []
    spent = sum(region.wait_ns + region.mpi_ns for region in known)
    told = f"MPI {_does(spent / recorded)} when it was recorded"
    far = max(known, key=lambda region: abs(region.change_ns))
    if len(known) > 1 and far.region and far.factor is not None:
        told += f"; the greatest difference is in {far.region}, where it {_does(far.factor)} then"
    return [told]


def _does(factor: float) -> str:
    """Return a factor of times with its verb."""
    told = compared(factor)
    return f"{'is' if 'fast' in told else 'takes'} {told}"
