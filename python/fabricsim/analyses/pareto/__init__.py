"""The points of a study that no other point beats."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["PARETO"]

PARETO = Analysis(
    name="pareto",
    guide="docs/how-to/sample-a-design.md",
    files=r"pareto\.csv",
    figures="pareto",
    pictures={"pareto": "The points that no other point beats"},
)
