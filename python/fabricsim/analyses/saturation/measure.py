"""What runs of a load tell, the seeds together: the state, accepted load, latency, and which links were full."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fabricsim._metrics import state_of
from fabricsim._student import t_quantile
from fabricsim.analyses.saturation.records import Links, Measured
from fabricsim.registry import name_links

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord

__all__ = ["full_links", "measured"]

#: Links that are busy for so much of what the busiest is busy are as full: packets come by chance.
_AS_BUSY = 0.93
#: A link that is busy for so much of the time is full.
_FULL = 0.9
_LEVEL = 0.95


def _interval(values: Sequence[float]) -> float | None:
    """Return half of the interval of the mean of several seeds."""
    n = len(values)
    if n < 2:
        return None
    return t_quantile(_LEVEL, n - 1) * float(np.std(values, ddof=1)) / math.sqrt(n)


def _latency(records: Sequence[RunRecord]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    of_seeds = [record.summary.get("latency_ns") or {} for record in records]
    for name in ("mean", "p99"):
        values = [latency.get(name) for latency in of_seeds]
        known = [float(value) for value in values if value is not None]
        whole = bool(values) and len(known) == len(values)
        found[name] = float(np.mean(known)) if whole else None
        own = of_seeds[0].get(f"{name}_error") if len(records) == 1 else None
        found[f"{name}_error"] = (_interval(known) if len(known) > 1 else own) if whole else None
        if not whole:
            bounds = [
                latency.get(name) if latency.get(name) is not None else latency.get(f"{name}_at_least") for latency in of_seeds
            ]
            least = [float(bound) for bound in bounds if bound is not None]
            if len(least) == len(bounds):
                found[f"{name}_at_least"] = float(np.mean(least))
    return found


def measured(load: float, length_ps: int, records: Sequence[RunRecord], share: float | None = None) -> Measured:
    """Return what the runs of a load, a seed each, have together."""
    numbers = [record.summary for record in records]

    def values(key: str) -> list[float]:
        return [float(summary[key]) for summary in numbers if summary.get(key) is not None]

    accepted = values("accepted_load")
    own = numbers[0].get("accepted_load_error")
    busy = [
        float(summary["busiest_link"]["busy"])
        for summary in numbers
        if (summary.get("busiest_link") or {}).get("busy") is not None
    ]
    return Measured(
        load=load,
        length_ns=length_ps / 1000,
        state=state_of(records),
        states=tuple(record.state for record in records),
        share=share,
        offered_load=float(np.mean(values("offered_load"))),
        accepted_load=float(np.mean(accepted)),
        accepted_load_error=_interval(accepted) if len(accepted) > 1 else own,
        accepted_load_min=min(values("accepted_load_min"), default=None),
        fairness=min(values("fairness"), default=None),
        busiest_link=max(busy, default=None),
        latency_ns=_latency(records),
    )


def full_links(records: Sequence[RunRecord]) -> Links | None:
    """Return the links that were full in runs that did not keep up, by their shares of time over all seeds."""
    tables = [record.read("links") for record in records if "links" in record.tables]
    if not tables:
        return None
    busy = np.mean([table.column("utilisation").to_numpy() for table in tables], axis=0)
    if not len(busy):
        return None
    routers, ports = (tables[0].column(name).to_numpy() for name in ("router", "port"))
    kinds = tables[0].column("class").to_numpy()
    # Links of the class of the busiest one: a link to a node is not in the way of others.
    chosen = np.flatnonzero((busy >= _AS_BUSY * busy.max()) & (kinds == kinds[int(busy.argmax())]))
    words = name_links(records[0].run.canonical, [(int(routers[i]), int(ports[i])) for i in chosen])
    most = float(busy.max())
    return Links(words=words, by="links", busy=most, count=len(chosen), full=most >= _FULL)
