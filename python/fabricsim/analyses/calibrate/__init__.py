"""What messages cost on a machine, from times that were measured there."""

from __future__ import annotations

from fabricsim.analyses.entry import Analysis

__all__ = ["CALIBRATE"]

CALIBRATE = Analysis(name="calibrate", guide="docs/how-to/calibrate.md")
