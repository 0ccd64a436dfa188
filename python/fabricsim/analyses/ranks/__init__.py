"""What ranks did with their time, whom they waited for, and what the end of a job depends on."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["RANKS"]

RANKS = Analysis(
    name="ranks",
    guide="docs/how-to/who-waits.md",
    files=r"ranks\.(json|csv)",
    figures=r"ranks(-\d+)?",
    product="ranks.json",
    section=True,
    pictures={"ranks": "What ranks did over time, with the chain that the end depends on"},
)
