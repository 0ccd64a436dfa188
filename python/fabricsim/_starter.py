"""The study that `fabricsim new` writes: small, complete, every line explained."""

from __future__ import annotations

import json

__all__ = ["starter_study"]

_TEXT = """\
# A fabricsim study: what to simulate. Check it with `fabricsim check`, run it with `fabricsim run`.
# Quantities are texts with units: "25 GB/s" (decimal), "16 KiB" (binary), "90 ns".
name = {name}
description = "Latency of a small torus against the offered load"

[topology]                        # `fabricsim list topology` shows all kinds
kind = "torus"
shape = [4, 4, 4]                 # routers along each dimension
nodes_per_router = 2

[link]                            # [link.host], [link.x], ... where a class differs
bandwidth = "25 GB/s"
latency = "100 ns"

[router]
model = "credit"                  # input buffers with credits; "sculpin" has unbounded queues and is faster
traversal = "100 ns"
buffer = "64 KiB"                 # per port and virtual channel

[routing]
kind = "dor"                      # `fabricsim list routing`

[nic]
packet = "2 KiB"

[[job]]
work = {{ kind = "uniform", load = 0.5, message = "2 KiB", process = "poisson" }}

[sweep]                           # every combination is a run
"job.0.work.load" = [0.1, 0.3, 0.5, 0.7]
"routing.kind" = ["dor", "valiant"]

[observe]
links = true                      # load of every link
timeline = true

[run]
end = "50 us"                     # simulated time
seeds = [1]
"""


def starter_study(name: str) -> str:
    """Return the text of a starter study.

    Examples
    --------
    >>> starter_study("mine").splitlines()[2]
    'name = "mine"'
    """
    return _TEXT.format(name=json.dumps(name, ensure_ascii=False))
