"""What a dead cable, router, node, group or rack costs, which ones are worst, and whom they part."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["FAILURES"]

FAILURES = Analysis(
    name="failures",
    guide="docs/how-to/failures.md",
    keeps=True,
    files=r"failures\.(json|csv|svg)",
    figures=r"failures",
    product="failures.json",
    section=True,
    pictures={"failures": "What failures cost"},
)
