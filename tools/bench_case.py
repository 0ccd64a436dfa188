"""Run a bench case with the core alone, by its path: what the package imports would be simulated by valgrind, too.

``bench_case.py LIBRARY CASE LENGTH`` prints ``hops N``.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location

library, case, length = sys.argv[1:]
loader = ExtensionFileLoader("_core", library)
spec = spec_from_file_location("_core", library, loader=loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
print("hops", json.loads(core.bench(case, json.dumps({"length": float(length), "engine": "conservative"})))["packet_hops"])
