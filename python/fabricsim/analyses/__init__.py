"""Questions to studies and to results, a folder each: what is computed, its command, its table, its figure, its part of the report.

From this list, in this order, come the commands, the names of files in results directories, and what reports show of analyses. The
folders' own ``__init__`` say what there is and load nothing.
"""

from __future__ import annotations

from fabricsim.analyses.calibrate import CALIBRATE
from fabricsim.analyses.capacity import CAPACITY
from fabricsim.analyses.compare import COMPARE
from fabricsim.analyses.effects import EFFECTS
from fabricsim.analyses.entry import Analysis
from fabricsim.analyses.failures import FAILURES
from fabricsim.analyses.fork import FORK
from fabricsim.analyses.knee import KNEE
from fabricsim.analyses.pareto import PARETO
from fabricsim.analyses.perturb import PERTURB
from fabricsim.analyses.ranks import RANKS
from fabricsim.analyses.routes import ROUTES
from fabricsim.analyses.saturation import SATURATION

__all__ = ["ANALYSES"]

ANALYSES: tuple[Analysis, ...] = (
    ROUTES,
    CAPACITY,
    SATURATION,
    FAILURES,
    FORK,
    KNEE,
    EFFECTS,
    PARETO,
    COMPARE,
    CALIBRATE,
    PERTURB,
    RANKS,
)
