"""A halo exchange of 64 MPI ranks on a HyperX, ranks in order or scattered over the nodes; and an exchange written by hand."""

import fabricsim as fs

# ---- a motif: 4 x 4 x 4 ranks, four per node, 26 neighbours each
study = fs.Study(
    {
        "name": "mpi-halo",
        "topology": {"kind": "hyperx", "shape": [4, 4], "nodes_per_router": 1},
        "router": {"model": "sculpin"},
        "link": {"bandwidth": "25 GB/s"},
        "job": [
            {
                "work": {"kind": "halo3d-26", "grid": [32, 32, 32], "vars": 10, "compute": "20 us", "iterations": 3},
                "ranks_per_node": 4,
            }
        ],
        "sweep": {"job.0.placement": ["linear", "random"], "link.bandwidth": ["25 GB/s", "100 GB/s"]},
        "observe": {"ranks": True},
    }
)
results = study.run(out="mpi-halo-results", progress=False)
assert results.ok
for record, job in zip(results, results.jobs.to_pylist(), strict=True):
    print(f"{record.label:45} {job['time_ns'] / 1e3:8.1f} us, {100 * job['wait_share']:4.1f} % of it waiting")
last = results.ranks(0).sort_by([("finished_ns", "descending")]).slice(0, 1).to_pylist()[0]
print(f"the last rank is {last['rank']} on node {last['node']}, it waited {last['wait_ns'] / 1e3:.1f} us")

# ---- the same machine, a program of one's own: every rank sends to the next and meets the others in an allreduce
ops = fs.Ops()
for rank in range(8):
    ops.add(rank, "irecv", peer=(rank - 1) % 8, bytes=65536).add(rank, "isend", peer=(rank + 1) % 8, bytes=65536)
    ops.add(rank, "compute", time="5 us").add(rank, "waitall").add(rank, "allreduce", bytes=8)
own = fs.Study(
    {
        "name": "mpi-ops",
        "topology": {"kind": "hyperx", "shape": [4, 4], "nodes_per_router": 1},
        "router": {"model": "sculpin"},
        "job": [{"work": {"kind": "ops", "table": ops, "iterations": 10}, "nodes": 8}],
    }
)
print(f"ten rounds by hand: {own.run(out='mpi-ops-results', progress=False).jobs['time_ns'][0].as_py() / 1e3:.1f} us")
