"""What would have become of a run if something had failed at a time, or if a key had another value: the run and its forks side by side."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["FORK"]

FORK = Analysis(name="fork", guide="docs/how-to/fork.md", keeps=True, files=r"forks\.(json|csv)", product="forks.json")
