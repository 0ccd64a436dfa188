"""Latency against offered load on a small torus, under two routings; writes load-sweep.png."""

import fabricsim as fs
from fabricsim import plots

study = fs.Study(
    {
        "name": "load-sweep",
        "topology": {"kind": "torus", "shape": [4, 4], "nodes_per_router": 2},
        "routing": {"kind": "dor"},
        "job": [{"work": {"kind": "uniform", "load": 0.5, "message": "2 KiB", "process": "poisson"}}],
        "sweep": {"routing.kind": ["dor", "valiant"], "job.0.work.load": [0.1, 0.3, 0.5]},
        "run": {"end": "20 us", "seeds": [1, 2]},
    }
)
report = study.check()
assert report.ok, "\n".join(map(str, report.diagnostics))
results = study.run(out="load-sweep-results", progress=False)
assert results.ok
plots.save(results.plot_sweep(x="job.0.work.load", y="latency_ns.mean"), "load-sweep.png")
for record in results:
    mean = record.value("latency_ns.mean")
    print(f"{record.label:45} {record.why if mean is None else f'{mean:10.1f} ns'}")
