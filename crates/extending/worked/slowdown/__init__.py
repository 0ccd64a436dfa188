"""How many times as much every point of a study has of a number as the point with the least."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["SLOWDOWN"]

SLOWDOWN = Analysis(name="slowdown", guide="docs/extending/add-an-analysis.md")
