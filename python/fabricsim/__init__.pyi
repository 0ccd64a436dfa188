from . import (
    claims,
    errors,
    graphs,
    measures,
    ops,
    plots,
    programs,
    registry,
    reproduce,
    results,
    study,
    topologies,
    traces,
    traffic,
)
from ._core import __version__
from ._recorded import Recorded
from ._records import Finding
from ._verify import Verification, verify
from .analyses.calibrate.fit import calibrate
from .analyses.calibrate.measured import Measured
from .analyses.calibrate.records import Calibration
from .analyses.capacity.company import capacity_study
from .analyses.capacity.records import Capacity
from .analyses.capacity.slowdown import capacity
from .analyses.compare.records import Comparison
from .analyses.compare.side import compare
from .analyses.effects.shares import Effects, effects
from .analyses.failures.records import Failures
from .analyses.failures.tried import failures
from .analyses.fork.forked import fork
from .analyses.fork.records import Fork, Forks
from .analyses.knee.records import Knee
from .analyses.knee.search import knee
from .analyses.pareto.front import Pareto, pareto
from .analyses.ranks.times import JobTimes, rank_times
from .analyses.routes.figures import EngineRoutes
from .analyses.routes.route import RouteStudy, routes
from .analyses.saturation.records import Saturation
from .analyses.saturation.search import saturation
from .errors import (
    CampaignInterrupted,
    CheckFailed,
    ClaimError,
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
from .graphs import Graph
from .ops import Ops
from .registry import describe, list_entries, schema
from .results import Results, RunRecord
from .study import CheckReport, Expansion, Run, Study, load, packaged_studies
from .traces import Trace

__all__ = [
    "Calibration",
    "CampaignInterrupted",
    "Capacity",
    "CheckFailed",
    "CheckReport",
    "ClaimError",
    "ClusterError",
    "Comparison",
    "DamagedError",
    "DamagedWarning",
    "Diagnostic",
    "DiskError",
    "Effects",
    "EngineRoutes",
    "Expansion",
    "FabricsimError",
    "Failures",
    "Finding",
    "Fork",
    "Forks",
    "Graph",
    "Interrupted",
    "JobTimes",
    "Knee",
    "Measured",
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
    "calibrate",
    "capacity",
    "capacity_study",
    "claims",
    "compare",
    "describe",
    "effects",
    "errors",
    "failures",
    "fork",
    "graphs",
    "knee",
    "list_entries",
    "load",
    "measures",
    "ops",
    "packaged_studies",
    "pareto",
    "plots",
    "programs",
    "rank_times",
    "registry",
    "reproduce",
    "results",
    "routes",
    "saturation",
    "schema",
    "study",
    "topologies",
    "traces",
    "traffic",
    "verify",
]
