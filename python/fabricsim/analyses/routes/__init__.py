"""What the forwarding tables of a fabric are worth, without a simulation."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["ROUTES"]

#: Its report and tables go to a folder of their own, which is no results directory.
ROUTES = Analysis(name="routes", guide="docs/how-to/real-fabrics.md")
