"""Which sampled keys a metric depends on."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["EFFECTS"]

EFFECTS = Analysis(
    name="effects",
    guide="docs/how-to/sample-a-design.md",
    files=r"effects\.(json|csv)",
    figures=r"(effects|interactions)(-\d+)?",
    pictures={
        "effects": "The metric over every sampled key, with means of slices and the key's share of the variance",
        "interactions": "Shares of the variance that two keys have only together",
    },
)
