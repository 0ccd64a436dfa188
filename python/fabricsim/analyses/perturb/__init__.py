"""How far the times of runs spread when what no machine keeps up is perturbed: a key and options of runs, no command."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["PERTURB"]

PERTURB = Analysis(
    name="perturb",
    guide="docs/how-to/fragile-results.md",
    command=False,
    files=r"perturbed\.parquet",
    section=True,
)
