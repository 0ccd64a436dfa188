"""Data-parallel training of a small network with mpi4py and NumPy: every rank has its own samples, gradients are summed by all-reduce.

    fabricsim mpirun -n 8 -- python examples/programs/training.py [STEPS [WIDTH]]

Prints what every rank has in the end: the loss, and whether all ranks have the same weights.
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
width = int(sys.argv[2]) if len(sys.argv) > 2 else 64

samples = np.random.default_rng(comm.rank).normal(size=(256, 8))
wanted = np.sin(samples).sum(axis=1, keepdims=True)
weights = [np.random.default_rng(1).normal(size=shape) / 3 for shape in ((8, width), (width, 1))]

for _step in range(steps):
    hidden = np.tanh(samples @ weights[0])
    error = hidden @ weights[1] - wanted
    outer = hidden.T @ error
    inner = samples.T @ (error @ weights[1].T * (1 - hidden**2))
    # The gradient of the last layer is on its way while that of the first is not yet there.
    sums = [np.empty_like(inner), np.empty_like(outer)]
    requests = [comm.Iallreduce(gradient, total) for gradient, total in ((outer, sums[1]), (inner, sums[0]))]
    MPI.Request.Waitall(requests)
    for weight, total in zip(weights, sums, strict=True):
        weight -= 0.05 * total / (len(samples) * comm.size)

loss = comm.allreduce(float((error**2).mean())) / comm.size
flat = np.concatenate([weight.ravel() for weight in weights])
least, most = np.empty_like(flat), np.empty_like(flat)
comm.Allreduce(flat, least, MPI.MIN)
comm.Allreduce(flat, most, MPI.MAX)
if comm.rank == 0:
    print(f"{steps} steps, {comm.size} ranks, loss {loss:.4f}, weights the same: {'yes' if (least == most).all() else 'no'}")
