"""At which load a network stops keeping up, what limits it, and what moves that."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["SATURATION"]

SATURATION = Analysis(
    name="saturation",
    guide="docs/how-to/saturation.md",
    keeps=True,
    files=r"saturation\.(json|csv|svg)",
    figures=r"saturation",
    product="saturation.json",
    section=True,
    pictures={"saturation": "Latency and accepted load over offered load"},
)
