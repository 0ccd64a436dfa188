"""Two results directories side by side: what differs in the studies, and what that does to their numbers."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["COMPARE"]

COMPARE = Analysis(name="compare", guide="docs/how-to/compare.md")
