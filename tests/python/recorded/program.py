"""Two small MPI programs that tell what they do: `program.py stencil|allreduce FOLDER`, started by mpirun; a file RANK.json for each rank.

Every call of MPI is a row: what it is, when it began and ended (ns from a common begin), and what it has: peer, bytes, tag, root, or the numbers of
requests. Nothing of fabricsim is imported here: the rows are what its readers are held to.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mpi4py import MPI


class RecordedComm:
    """MPI_COMM_WORLD, with a row for each call."""

    def __init__(self) -> None:
        self.comm = MPI.COMM_WORLD
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.rows: list[dict[str, object]] = []
        self._requests: dict[int, int] = {}
        self._made = 0
        self.comm.Barrier()
        self._begin = time.monotonic_ns()

    def _row(self, kind: str, begin: int, **more: object) -> None:
        self.rows.append({"kind": kind, "begin": begin - self._begin, "end": time.monotonic_ns() - self._begin, **more})

    def isend(self, data: bytearray, peer: int, tag: int) -> tuple[int, MPI.Request]:
        begin = time.monotonic_ns()
        request = self.comm.Isend([data, MPI.BYTE], dest=peer, tag=tag)
        self._made += 1
        self._row("isend", begin, peer=peer, bytes=len(data), tag=tag, request=self._made)
        return self._made, request

    def irecv(self, data: bytearray, peer: int, tag: int) -> tuple[int, MPI.Request]:
        begin = time.monotonic_ns()
        request = self.comm.Irecv([data, MPI.BYTE], source=peer, tag=tag)
        self._made += 1
        self._row("irecv", begin, peer=peer, bytes=len(data), tag=tag, request=self._made)
        return self._made, request

    def waitall(self, requests: list[tuple[int, MPI.Request]]) -> None:
        begin = time.monotonic_ns()
        MPI.Request.Waitall([request for _, request in requests])
        self._row("waitall", begin, requests=[number for number, _ in requests])

    def allreduce(self, sent: bytearray, received: bytearray) -> None:
        begin = time.monotonic_ns()
        self.comm.Allreduce([sent, MPI.BYTE], [received, MPI.BYTE], op=MPI.BOR)
        self._row("allreduce", begin, bytes=len(sent))


def stencil(comm: RecordedComm) -> None:
    """Exchange the borders of a ring, compute, and agree on an error of 8 bytes."""
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    for step in range(4):
        size = 1000 * (step + 1)
        # What goes to the right has tag 0, to the left 1, so that two ranks alone tell them apart.
        requests = [
            comm.irecv(bytearray(size), left, 0),
            comm.irecv(bytearray(size), right, 1),
            comm.isend(bytearray(size), right, 0),
            comm.isend(bytearray(size), left, 1),
        ]
        comm.waitall(requests)
        sum(range(20_000 + 1_000 * comm.rank))
        comm.allreduce(bytearray(8), bytearray(8))


def allreduce(comm: RecordedComm) -> None:
    """Reduce vectors of several sizes."""
    for size in (8, 1024, 65_536, 100_003):
        sum(range(5_000))
        comm.allreduce(bytearray(size), bytearray(size))


def main() -> None:
    name, folder = sys.argv[1:]
    comm = RecordedComm()
    {"stencil": stencil, "allreduce": allreduce}[name](comm)
    (Path(folder) / f"{comm.rank}.json").write_text(json.dumps(comm.rows))


if __name__ == "__main__":
    main()
