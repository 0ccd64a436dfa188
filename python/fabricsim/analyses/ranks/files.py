"""The files of where the time of ranks went."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text
from fabricsim._seals import products
from fabricsim.analyses.ranks.figure import timeline

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded
    from fabricsim.analyses.ranks.times import JobTimes

__all__ = ["MOST_FIGURES", "write"]

#: Figures that are drawn, of the first runs and jobs.
MOST_FIGURES = 8


def write(found: Sequence[JobTimes], results: Recorded) -> list[Path]:
    """Write ``ranks.json``, ``ranks.csv`` and the timeline of the first jobs as SVG and PNG into the results directory.

    Parameters
    ----------
    found : sequence of JobTimes
        What `rank_times` gave of these results.
    results : Results
        The results.
    """
    rows: list[list[object]] = [["run", "job", "ranks", "time_ns", "what", "part", "share"]]
    for job in found:
        own = [job.run, job.job, job.ranks, job.time_ns]
        rows += [[*own, "time", name, share] for name, share in job.shares.items()]
        rows += [[*own, "critical path", name, share] for name, share in job.path.items()]
        rows += [[*own, "critical path, held up at", name, share] for name, share in job.path_cables]
    with products(Path(results.folder)) as out:
        written = [
            out.write("ranks.json", json.dumps({"ranks": [job.to_json() for job in found]}, indent=1)),
            out.write("ranks.csv", csv_text(rows)),
        ]
        drawn = found[:MOST_FIGURES]
        for number, job in enumerate(drawn):
            figure = timeline(results.record(job.run), job.job, ", ".join(part for part in (job.name, job.label) if part))
            ending = f"-{number + 1}" if len(drawn) > 1 else ""
            written += [out.write(f"figures/ranks{ending}.{kind}", render(figure, kind)) for kind in ("svg", "png")]
    return written
