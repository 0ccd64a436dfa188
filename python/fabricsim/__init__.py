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
from fabricsim._routes import EngineRoutes, RouteStudy, routes
from fabricsim.errors import (
    CampaignInterrupted,
    CheckFailed,
    ClusterError,
    Diagnostic,
    DiskError,
    FabricsimError,
    Interrupted,
    ResultsError,
    RunFailed,
    StudyError,
)
from fabricsim.ops import Ops
from fabricsim.registry import describe, list_entries, schema
from fabricsim.results import Results, RunRecord
from fabricsim.study import CheckReport, Expansion, Run, Study, load, packaged_studies

__all__ = [
    "CampaignInterrupted",
    "CheckFailed",
    "CheckReport",
    "ClusterError",
    "Diagnostic",
    "DiskError",
    "EngineRoutes",
    "Expansion",
    "FabricsimError",
    "Interrupted",
    "Ops",
    "Results",
    "ResultsError",
    "RouteStudy",
    "Run",
    "RunFailed",
    "RunRecord",
    "Study",
    "StudyError",
    "__version__",
    "describe",
    "list_entries",
    "load",
    "packaged_studies",
    "routes",
    "schema",
]
