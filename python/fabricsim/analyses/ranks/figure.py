"""What ranks did over time, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import patheffects

from fabricsim._drawing import COLOURS, single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim._recorded import RunRecord

__all__ = ["MOST_RANKS", "timeline"]

#: Ranks that are drawn; of more of them these at equal distances.
MOST_RANKS = 48
#: Boxes of a kind that are drawn for a rank; beyond that time is cut into as many slices, each of the colour of what was most in it.
MOST_BOXES = 600

#: Computing, messages handled, waiting: the colours that the report has for them.
_PARTS = (("computing", COLOURS[0]), ("messages handled", COLOURS[2]), ("waiting", COLOURS[1]))


def timeline(record: RunRecord, job: int, title: str = "") -> Figure:
    """Draw what the ranks of a job did: computing, messages handled, waiting; and the critical path through them.

    Parameters
    ----------
    record : RunRecord
        A run with ``observe.operations``.
    job : int
        Number of the job in the study.
    title : str
        What stands above it, before the number of ranks.
    """
    operations, waits, path = (_of_job(record, name, job) for name in ("operations", "waits", "critical_path"))
    ranks = np.unique(operations["rank"])
    title, n_ranks = title or f"job {job}", len(ranks)
    if len(ranks) > MOST_RANKS:
        ranks = ranks[np.linspace(0, len(ranks) - 1, MOST_RANKS).round().astype(int)]
    row = {int(rank): number for number, rank in enumerate(ranks)}
    last = float(operations["end_ps"].max())
    scale, unit = next(((s, u) for s, u in ((1e9, "ms"), (1e6, "us"), (1e3, "ns")) if last >= s), (1.0, "ps"))
    figure, axes = single(7.2, 1.1 + 0.13 * len(ranks))
    axes.grid(visible=False)
    width = last / MOST_BOXES
    for rank, number in row.items():
        for kind, table in enumerate((operations, operations, waits)):
            own = table["rank"] == rank
            if table is operations:
                own &= (table["operation"] == "compute") == (kind == 0)
            boxes = _boxes(table["begin_ps"][own], table["end_ps"][own], width)
            axes.broken_barh(
                [(b / scale, w / scale) for b, w in boxes], (number - 0.42, 0.84), color=_PARTS[kind][1], linewidth=0
            )
    _draw_path(axes, path, row, scale)
    axes.set_xlim(0, last / scale)
    axes.set_ylim(len(ranks) - 0.4, -0.6)
    step = max(1, len(ranks) // 12)
    axes.set_yticks(range(0, len(ranks), step), [str(rank) for rank in ranks[::step]], fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel(f"time [{unit}]", fontsize=9)
    axes.set_ylabel("rank", fontsize=9)
    for name, colour in _PARTS:
        axes.barh([-9], [0], color=colour, label=name)
    axes.plot([], [], color="black", linewidth=1.0, label="what the end depends on")
    axes.set_title(
        f"{title}: {len(row)} of {n_ranks} ranks" if len(row) < n_ranks else f"{title}: {n_ranks} ranks", fontsize=9, loc="left"
    )
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    return figure


def _of_job(record: RunRecord, name: str, job: int) -> dict[str, Any]:
    table = record.read(name)
    own = table["job"].to_numpy() == job
    return {column: table[column].to_numpy(zero_copy_only=False)[own] for column in table.column_names}


def _boxes(begin: Any, end: Any, width: float) -> list[tuple[float, float]]:
    """Return boxes (begin, length); neighbours that are closer than a `width` become one where there are many."""
    if len(begin) == 0:
        return []
    begin, end = begin.astype(float), end.astype(float)
    if len(begin) <= MOST_BOXES:
        return list(zip(begin, end - begin, strict=True))
    slices = np.minimum((np.concatenate([begin, end]) / width).astype(int), MOST_BOXES - 1)
    covered = np.zeros(MOST_BOXES)
    first, last = slices[: len(begin)], slices[len(begin) :]
    np.add.at(covered, first[first == last], (end - begin)[first == last])
    for b, e, low, high in zip(*(v[first != last] for v in (begin, end, first, last)), strict=True):
        covered[low] += (low + 1) * width - b
        covered[low + 1 : high] += width
        covered[high] += e - high * width
    return [(number * width, width) for number in np.flatnonzero(covered > width / 2)]


def _draw_path(axes: Any, path: dict[str, Any], row: dict[int, int], scale: float) -> None:
    """Draw the critical path: along the ranks that are drawn, and from rank to rank with messages."""
    x: list[float] = []
    y: list[float] = []
    for rank, peer, part, begin, end in zip(
        *(path[name] for name in ("rank", "peer", "part", "begin_ps", "end_ps")), strict=True
    ):
        ends = (peer, rank) if part == "message" else (rank, rank)
        for who, when in zip(ends, (begin, end), strict=True):
            x.append(when / scale)
            y.append(row.get(int(who), np.nan))
    # White around it, so that it is seen on all colours.
    halo = [patheffects.Stroke(linewidth=2.0, foreground="white"), patheffects.Normal()]
    axes.plot(x, y, color="black", linewidth=0.9, solid_capstyle="butt", path_effects=halo)
