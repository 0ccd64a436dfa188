"""Runs the benchmark cases, each in a process of its own, and puts them beside measured figures of other simulators."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["PEERS", "run_case"]

#: Measured on one core of a two-core x86 machine, CPU seconds, +-30 %: (simulator, case, packet-hops or events per CPU second, memory).
PEERS: Sequence[tuple[str, str, str, str]] = (
    ("SST Merlin (OfferedLoad)", "64-256 nodes, uniform 0.5", "0.23-0.43 M packet-hops", ""),
    ("SST/macro SCULPIN", "Halo3D-26, 64-8,192 nodes", "0.34-3.6 M events", "1.0 GiB at 8,192 nodes"),
    ("CODES dragonfly-dally, PAR", "1,056 / 8,320 nodes, uniform 0.5", "0.087 / 0.052 M packet-hops", "0.94 / 2.3 GB"),
    ("CODES dragonfly+, PAR", "1,088 / 8,448 nodes", "0.092 / 0.044 M packet-hops", "6.8 GB at 8,448 nodes"),
    ("CODES fat-tree, adaptive", "1,024 / 8,192 nodes", "0.14 / 0.055 M packet-hops", ""),
    ("CODES torus, 32-byte chunks", "4^3 ... 16^3", "0.4-1.6 M events", "60 kB per node at 16^3"),
    ("BookSim2", "64 / 4-5 k / 16-33 k nodes, single flits", "0.3-0.5 / 0.1 / 0.07 M flit-hops", "1.6-2.4 GB at 33 k"),
    ("CAMINOS", "64 / 4-5 k / 16-33 k nodes", "0.09 / 0.03 / 0.02 M packet-hops", "0.23 GB at 32,768"),
    ("ROSS PHOLD, sequential", "16 k / 65 k / 262 k LPs", "0.67-0.80 / 0.37-0.41 / 0.20-0.31 M events", "1.2-2.1 kB per LP"),
)

_CODE = "import sys; from fabricsim import _core; sys.stdout.write(_core.bench(sys.argv[1], sys.argv[2]))"


def run_case(name: str, options: str = "{}", *, repeat: int = 1) -> dict[str, Any]:
    """Run one case `repeat` times, each in a fresh process, and return the fastest with the spread of all.

    Parameters
    ----------
    name : str
        A case of ``fabricsim bench``.
    options : str
        JSON object for the case, such as ``{"length": 0.5}``.
    repeat : int
        How often; the fastest counts, since a busy machine only ever slows a run down.

    Returns
    -------
    dict
        The fastest run, with ``cpu_s_all`` of every run. All runs must give the same digest.
    """
    found: list[dict[str, Any]] = []
    for _ in range(repeat):
        done = subprocess.run([sys.executable, "-c", _CODE, name, options], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise RuntimeError(f"benchmark case {name}: {lines[-1]}")
        found.append(json.loads(done.stdout))
    digests = {entry["digest"] for entry in found}
    if len(digests) > 1:
        raise RuntimeError(f"benchmark case {name}: runs gave different digests: {', '.join(sorted(digests))}")
    best = min(found, key=lambda entry: float(entry["cpu_s"]))
    return {**best, "cpu_s_all": [entry["cpu_s"] for entry in found]}
