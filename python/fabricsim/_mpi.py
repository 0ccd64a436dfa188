"""Ranks: several processes under `mpirun` that share each run of a study.

Rank 0 plans, reports and writes; the others wait for runs to take part in. Everything that mpi4py does not carry is in the core:
:class:`Ranks` only moves bytes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from array import array
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from fabricsim import _core
from fabricsim._host import available_core_set
from fabricsim._pool import PoolStopped
from fabricsim.errors import Interrupted, StudyError

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["RankPool", "Ranks", "connect", "launched_ranks", "serve"]

#: How launchers tell a process how many there are: Open MPI, MPICH and Intel MPI (Hydra), Slurm.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
#: A message's first part holds its whole length and as many of its bytes; most windows need no second part.
_FIRST = 1 << 16
#: Longer messages (checkpoints, results) arrive in memory of their own, which is given back.
_KEPT = 1 << 26
#: Looks at unfinished transfers before a rank naps: with a core for each rank (a millisecond's worth), and with fewer cores.
_LOOKS = (4_000, 50)
#: Up to so many ranks each sends to each other one at a meeting, which takes the time of one message; more add up what all say by trees.
_PAIRS = 8
_NAP_S = 20e-6


def launched_ranks() -> int:
    """Return how many ranks the launcher has started, 1 without one."""
    for name in _SIZES:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 1


class Ranks:
    """The connection of this rank to the others, for the core.

    Parameters
    ----------
    communicator : mpi4py.MPI.Comm
        All ranks of the run.
    """

    def __init__(self, communicator: MPI.Comm) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._communicator = communicator
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self._inbox = {rank: bytearray(_FIRST + 8) for rank in range(self.size) if rank != self.rank}
        #: Where what does not fit a first part arrives; kept, since fresh memory costs more than the transfer.
        self._rests = {rank: bytearray() for rank in self._inbox}
        machine = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        cores = machine.allgather(available_core_set())
        machine.Free()
        of_machine = len(set().union(*cores))
        mine = min(*map(len, cores), of_machine // len(cores))
        #: Threads that each rank may take without taking another's core; the same number on all.
        self.threads: int = max(1, communicator.allreduce(mine, op=MPI.MIN))
        self._looks = _LOOKS[0] if len(cores) <= of_machine else _LOOKS[1]
        #: Whether :meth:`meet` is to be used at meetings.
        self.adds_up: bool = self.size > _PAIRS
        self._meetings = 0

    def exchange(self, out: Sequence[bytes]) -> list[bytes]:
        """Send ``out[r]`` to every rank ``r`` and return what each has sent here; called by all ranks alike."""
        firsts = [self._communicator.Irecv([box, self._mpi.BYTE], source=rank, tag=1) for rank, box in self._inbox.items()]
        # Buffers have to live until their transfer is done.
        headed = {rank: len(out[rank]).to_bytes(8, "little") + out[rank][:_FIRST] for rank in self._inbox}
        firsts += [self._communicator.Isend([part, self._mpi.BYTE], dest=rank, tag=1) for rank, part in headed.items()]
        self._finish(firsts)
        came = [b""] * self.size
        came[self.rank] = out[self.rank]
        rests: list[Any] = []
        long: dict[int, memoryview] = {}
        for rank, box in self._inbox.items():
            length = int.from_bytes(box[:8], "little")
            if length > _FIRST:
                long[rank] = self._room(rank, length - _FIRST)
                rests.append(self._communicator.Irecv([long[rank], self._mpi.BYTE], source=rank, tag=2))
            else:
                came[rank] = bytes(memoryview(box)[8 : 8 + length])
            if len(out[rank]) > _FIRST:
                rests.append(self._communicator.Isend([memoryview(out[rank])[_FIRST:], self._mpi.BYTE], dest=rank, tag=2))
        self._finish(rests)
        rests.clear()
        while long:
            rank, rest = long.popitem()
            came[rank] = b"".join((memoryview(self._inbox[rank])[8:], rest))
        return came

    def meet(self, least: bytes, sums: bytes, out: Sequence[bytes]) -> tuple[list[int], list[int], list[bytes]]:
        """Meet all ranks at the end of a window; called by all alike.

        Parameters
        ----------
        least, sums : bytes
            Words of 64 bits of which the least of all ranks counts, and words that are added up.
        out : sequence of bytes
            What every other rank is to get; nothing is sent where it is empty.

        Returns
        -------
        tuple
            The words of all ranks together, and the messages that have come, by rank.
        """
        mpi, communicator = self._mpi, self._communicator
        words, added = array("Q", least), array("Q", sums)
        least_of_all, all_together = array("Q", bytes(len(least))), array("Q", bytes(len(sums)))
        to_come = array("i", [0])
        # A rank that has left this meeting may send for the next one before others have taken all of this; none is two ahead.
        self._meetings += 1
        tag = 3 + self._meetings % 2
        sends = [communicator.Isend([out[rank], mpi.BYTE], dest=rank, tag=tag) for rank in self._inbox if out[rank]]
        sent = array("i", [int(rank != self.rank and bool(part)) for rank, part in enumerate(out)])
        self._finish(
            [
                communicator.Iallreduce([words, mpi.UINT64_T], [least_of_all, mpi.UINT64_T], op=mpi.MIN),
                communicator.Iallreduce([added, mpi.UINT64_T], [all_together, mpi.UINT64_T], op=mpi.SUM),
                communicator.Ireduce_scatter_block([sent, mpi.INT], [to_come, mpi.INT], op=mpi.SUM),
            ]
        )
        came: list[tuple[int, bytes]] = []
        status = mpi.Status()
        while len(came) < to_come[0]:
            message = self._until(lambda: communicator.Improbe(source=mpi.ANY_SOURCE, tag=tag, status=status))
            part = bytearray(status.Get_count(mpi.BYTE))
            message.Recv([part, mpi.BYTE])
            came.append((status.Get_source(), bytes(part)))
        self._finish(sends)
        return list(least_of_all), list(all_together), [part for _, part in sorted(came)]

    def _room(self, rank: int, length: int) -> memoryview:
        """Return memory for the rest of a message from `rank`."""
        if length > _KEPT:
            return memoryview(bytearray(length))
        if len(self._rests[rank]) < length:
            self._rests[rank] = bytearray(2 * length)
        return memoryview(self._rests[rank])[:length]

    def _finish(self, requests: list[Any]) -> None:
        """Wait for transfers."""
        self._until(lambda: self._mpi.Request.Testall(requests))

    def _until(self, look: Callable[[], Any]) -> Any:
        """Look until there is something, without burning a core that another rank may need."""
        looks = 0
        while not (found := look()):
            looks += 1
            if looks > self._looks:
                time.sleep(_NAP_S)
        return found

    def tell(self, task: dict[str, Any] | None) -> dict[str, Any] | None:
        """Hand a task from rank 0 to all others; None ends their service."""
        return self._communicator.bcast(task, root=0)  # type: ignore[no-any-return]

    def abort(self) -> NoReturn:
        """End all ranks."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._communicator.Abort(1)
        raise SystemExit(1)


def connect() -> Ranks | None:
    """Join the other ranks if a launcher has started several, else return None.

    Raises
    ------
    RuntimeError
        A launcher has, but mpi4py or an MPI library is missing: every process would do all the work.
    """
    if launched_ranks() < 2:
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"a launcher has started {launched_ranks()} processes, but MPI cannot be used here: {error}; "
            "install it with `pip install 'fabricsim[mpi]'`, or mpi4py for the MPI of the machine"
        ) from error
    communicator = MPI.COMM_WORLD
    if communicator.Get_size() < 2:
        raise RuntimeError(
            f"a launcher has started {launched_ranks()} processes, but mpi4py sees one: mpirun and mpi4py are of different MPI "
            "libraries; use the mpirun beside the MPI library that mpi4py loads (python -m mpi4py --mpi-lib-version)"
        )
    return Ranks(communicator)


def serve(ranks: Ranks) -> None:
    """Take part in the runs of rank 0 until it has no more.

    Ctrl-C is rank 0's to answer. SIGTERM has all ranks write a checkpoint and stop, whichever of them gets it.
    """
    from fabricsim._worker import checkpoint_options

    asked = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while (task := ranks.tell(None)) is not None:
            # What fails the same way on all ranks, or on rank 0, is told by rank 0.
            with contextlib.suppress(StudyError, Interrupted):
                _core.run(
                    task["run"]["canonical"],
                    lambda _state: "checkpoint" if asked else True,
                    checkpoint_options(task),
                    task["threads"],
                    ranks,
                )
    except BaseException:
        print(f"rank {ranks.rank} cannot go on:", file=sys.stderr)
        traceback.print_exc()
        ranks.abort()


class RankPool:
    """Runs tasks one after the other, each on all ranks; stands in for :class:`fabricsim._pool.Pool` on rank 0.

    Parameters
    ----------
    ranks : Ranks
        The connection to the others, which serve.
    on_message, tick, saves : callable
        As for the pool of processes.
    """

    def __init__(
        self,
        ranks: Ranks,
        *,
        on_message: Callable[[dict[str, Any]], bool],
        tick: Callable[[], bool],
        saves: Callable[[], bool] = lambda: False,
    ) -> None:
        self._ranks = ranks
        self._on_message = on_message
        self._tick = tick
        self._saves = saves
        self._stop = False

    def run(self, tasks: Sequence[dict[str, Any]]) -> None:
        """Run all tasks.

        Raises
        ------
        PoolStopped
            Asked to stop by a callback.
        """
        from fabricsim._worker import execute

        for task in tasks:
            self._ranks.tell(task)
            message = execute({**task, "ranks": self._ranks}, self._emit, self._order)
            self._stop |= self._on_message(message) or self._tick()
            # Any rank can be told to stop, then all do.
            if self._stop or message["kind"] == "interrupted":
                raise PoolStopped(None if self._stop else message)

    def _order(self) -> bool | str:
        if self._stop and self._saves():
            return "checkpoint"
        return not self._stop

    def _emit(self, message: dict[str, Any]) -> None:
        self._stop |= self._on_message(message) or self._tick()
