"""How long will this work take on that network, why, and what would change it.

A packet-level simulator of HPC and AI interconnects: a Rust core and this Python face.

Examples
--------
>>> import fabricsim as fs
>>> study = fs.Study({"name": "first", "topology": {"kind": "torus", "shape": [4, 4]}})
>>> len(study.sweep({"topology.shape": [[4, 4], [8, 8]]}).expand())
2
"""

from fabricsim._core import __version__
from fabricsim._recorded import Recorded
from fabricsim._records import Finding
from fabricsim._verify import Verification, verify
from fabricsim.analyses.capacity.company import capacity, capacity_study
from fabricsim.analyses.capacity.records import Capacity
from fabricsim.analyses.effects.shares import Effects, effects
from fabricsim.analyses.knee.records import Knee
from fabricsim.analyses.knee.search import knee
from fabricsim.analyses.pareto.front import Pareto, pareto
from fabricsim.analyses.ranks.times import JobTimes, rank_times
from fabricsim.analyses.routes.figures import EngineRoutes
from fabricsim.analyses.routes.route import RouteStudy, routes
from fabricsim.analyses.saturation.records import Saturation
from fabricsim.analyses.saturation.search import saturation
from fabricsim.errors import (
    CampaignInterrupted,
    CheckFailed,
    ClusterError,
    DamagedError,
    DamagedWarning,
    Diagnostic,
    DiskError,
    FabricsimError,
    Interrupted,
    ResultsError,
    RunFailed,
    StudyError,
    TraceError,
    TraceWarning,
)
from fabricsim.graphs import Graph
from fabricsim.ops import Ops
from fabricsim.registry import describe, list_entries, schema
from fabricsim.results import Results, RunRecord
from fabricsim.study import CheckReport, Expansion, Run, Study, load, packaged_studies
from fabricsim.traces import Trace

__all__ = [
    "CampaignInterrupted",
    "Capacity",
    "CheckFailed",
    "CheckReport",
    "ClusterError",
    "DamagedError",
    "DamagedWarning",
    "Diagnostic",
    "DiskError",
    "Effects",
    "EngineRoutes",
    "Expansion",
    "FabricsimError",
    "Finding",
    "Graph",
    "Interrupted",
    "JobTimes",
    "Knee",
    "Ops",
    "Pareto",
    "Recorded",
    "Results",
    "ResultsError",
    "RouteStudy",
    "Run",
    "RunFailed",
    "RunRecord",
    "Saturation",
    "Study",
    "StudyError",
    "Trace",
    "TraceError",
    "TraceWarning",
    "Verification",
    "__version__",
    "capacity",
    "capacity_study",
    "describe",
    "effects",
    "knee",
    "list_entries",
    "load",
    "packaged_studies",
    "pareto",
    "rank_times",
    "routes",
    "saturation",
    "schema",
    "verify",
]
