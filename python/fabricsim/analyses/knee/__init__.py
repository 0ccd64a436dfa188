"""Where the next doubling of a quantity pays less than a given gain."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["KNEE"]

KNEE = Analysis(name="knee", guide="docs/how-to/knee.md", keeps=True, files=r"knee\.(json|csv)|knee(-\d+)?\.svg")
