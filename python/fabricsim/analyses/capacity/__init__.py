"""What jobs that share a network do to each other."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["CAPACITY"]

CAPACITY = Analysis(name="capacity", guide="docs/how-to/capacity.md", files=r"capacity\.csv|interference(-\d+)?\.svg")
