"""Archives of OTF2 by the library that the format is from, and every record of an archive as that library reads it.

`make SEED N FOLDER` writes N random archives into FOLDER/0, FOLDER/1, ... and what it reads of them into `said.txt` in each.
`say FILE` prints what it reads of an archive: a line for each record, `LOCATION TIME ID ARGUMENTS`, location after location.

Needs the package `otf2`; tests/otf2_oracle.rs compares.
"""

import random
import sys
from pathlib import Path

import _otf2
import otf2
from otf2 import events as kinds
from otf2.enums import CollectiveOp, GroupFlag, GroupType, LocationType, MappingType, MeasurementMode, Paradigm, RmaSyncLevel, Type

#: Numbers of records: they are numbered in the order in which the library has them.
IDS = {
    kind: 10 + i
    for i, kind in enumerate(
        kind
        for kind in vars(kinds).values()
        if isinstance(kind, type) and issubclass(kind, kinds._Event) and kind is not kinds._Event
    )
}
#: What is compared of the records that have a meaning for a replay.
ARGUMENTS = {
    "BufferFlush": ["stop_time"],
    "MeasurementOnOff": ["measurement_mode"],
    "Enter": ["region"],
    "Leave": ["region"],
    "MpiSend": ["receiver", "communicator", "msg_tag", "msg_length"],
    "MpiIsend": ["receiver", "communicator", "msg_tag", "msg_length", "request_id"],
    "MpiIsendComplete": ["request_id"],
    "MpiIrecvRequest": ["request_id"],
    "MpiRecv": ["sender", "communicator", "msg_tag", "msg_length"],
    "MpiIrecv": ["sender", "communicator", "msg_tag", "msg_length", "request_id"],
    "MpiRequestTest": ["request_id"],
    "MpiRequestCancelled": ["request_id"],
    "MpiCollectiveEnd": ["collective_op", "communicator", "root", "size_sent", "size_received"],
    "RmaPut": ["win", "remote", "bytes", "matching_id"],
    "RmaGet": ["win", "remote", "bytes", "matching_id"],
    "NonBlockingCollectiveRequest": ["request_id"],
    "NonBlockingCollectiveComplete": ["collective_op", "communicator", "root", "size_sent", "size_received", "request_id"],
    "CommCreate": ["communicator"],
    "CommDestroy": ["communicator"],
    "MpiProbe": ["sender", "communicator", "tag", "message_id"],
    "MpiMrecv": ["message_id", "msg_length"],
    "MpiImrecvRequest": ["message_id", "request_id"],
    "MpiImrecv": ["request_id", "msg_length"],
}
#: Place of writing events out in the list of random records.
FLUSH = 21


def say(path):
    """Return what is read of an archive."""
    said = {}
    with otf2.reader.open(str(path)) as trace:
        for location, event in trace.events:
            kind = type(event)
            words = [location._ref, event.time, IDS[kind]]
            for name in ARGUMENTS.get(kind.__name__, []):
                value = getattr(event, name)
                words.append(value._ref if hasattr(value, "_ref") else getattr(value, "value", value))
            said.setdefault(location._ref, []).append(" ".join(map(str, words)))
    return "".join(line + "\n" for _, lines in sorted(said.items()) for line in lines)


class Ref:
    """What a location calls a region, communicator or window."""

    def __init__(self, ref):
        self._ref = ref


class Archive:
    """A random archive."""

    def __init__(self, rng, folder, big):
        self.rng, self.folder, self.big = rng, str(folder), big

    def define(self, trace):
        rng, d = self.rng, trace.definitions
        node = d.system_tree_node("root")
        self.attribute = d.attribute("note", description="", type=Type.UINT64)
        ranks = rng.randint(1, 5)
        self.threads, self.others = [], []
        for rank in range(ranks):
            group = d.location_group(f"rank {rank}", system_tree_parent=node)
            self.threads.append(d.location("main", group=group))
            # What is the same in all is one to the library: names differ.
            for i in range(rng.randint(0, 2)):
                self.others.append(d.location(f"thread {i}", group=group))
            if rng.random() < 0.3:
                self.others.append(d.location("stream", group=group, type=LocationType.ACCELERATOR_STREAM))
        rng.shuffle(self.threads)
        paradigms = [Paradigm.MPI, Paradigm.USER, Paradigm.COMPILER, Paradigm.OPENMP]
        names = ["MPI_Send", "MPI_Waitall", "MPI_Test", "MPI_Sendrecv", "main", "solve", "!$omp for", "MPI_Bcast"]
        self.regions = [d.region(f"{rng.choice(names)} {i}", paradigm=rng.choice(paradigms)) for i in range(rng.randint(2, 20))]
        d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=self.threads)
        self.communicators = []
        for i in range(rng.randint(1, 6)):
            some = self.threads if i == 0 else rng.sample(self.threads, rng.randint(1, ranks))
            flags = rng.choice([GroupFlag.NONE, GroupFlag.GLOBAL_MEMBERS]) if i else GroupFlag.NONE
            group = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=some, group_flags=flags)
            self.communicators.append(d.comm("MPI_COMM_WORLD" if i == 0 else "", group=group))
        self.windows = [d.rma_win("", comm=rng.choice(self.communicators)) for _ in range(2)]

    def mapping(self, writer, kind, known):
        """Give a location numbers of its own for what is known; return them."""
        rng = self.rng
        refs = [one._ref for one in known]
        shape = rng.choice(["none", "dense", "sparse"])
        if shape == "none":
            return refs
        if shape == "dense":
            listed = [rng.choice(refs) for _ in range(rng.randint(1, 12))]
            table = _otf2.IdMap_CreateFromUint64Array(listed, False)
            # What is behind the list stays what it is.
            mine = list(range(len(listed))) + [ref for ref in refs if ref >= len(listed)]
        else:
            table = _otf2.IdMap_Create(_otf2.ID_MAP_SPARSE, 4)
            mine = sorted(rng.sample(range(100_000), rng.randint(1, 8)))
            for local in mine:
                _otf2.IdMap_AddIdPair(table, local, rng.choice(refs))
            mine += [ref for ref in refs if ref not in mine]
        _otf2.DefWriter_WriteMappingTable(writer._def_handle, kind, table)
        _otf2.IdMap_Free(table)
        return mine

    def clock(self, writer, begin, end):
        rng = self.rng
        n = rng.choice([0, 0, 1, 2, 2, 3, 6])
        times = sorted(rng.sample(range(begin - 5000, end + 5000), n))
        for time in times:
            _otf2.DefWriter_WriteClockOffset(writer._def_handle, time, rng.randint(-900, 900), rng.random())

    def record(self, w, t, refs, attributes):
        """Write a record of any kind; return when it ends."""
        rng = self.rng
        regions, communicators, windows = refs

        def number(bits):
            return rng.choice([0, 1, rng.getrandbits(8), rng.getrandbits(bits - 1), (1 << bits) - 1])

        def region():
            return Ref(rng.choice(regions))

        def communicator():
            return Ref(rng.choice(communicators))

        def op():
            return CollectiveOp(rng.randint(0, 22))

        def root():
            return rng.choice([0, 1, 0xFFFFFFFF, 0xFFFFFFFE])

        peer, tag, size, request = rng.randint(0, 4), number(32), number(64), number(64)
        window, stop = Ref(rng.choice(windows)), t + rng.randint(0, 1000)
        make = [
            lambda: w.enter(t, region(), attributes),
            lambda: w.leave(t, region(), attributes),
            lambda: w.mpi_send(t, peer, communicator(), tag, size, attributes),
            lambda: w.mpi_isend(t, peer, communicator(), tag, size, request, attributes),
            lambda: w.mpi_isend_complete(t, request, attributes),
            lambda: w.mpi_irecv_request(t, request, attributes),
            lambda: w.mpi_recv(t, peer, communicator(), tag, size, attributes),
            lambda: w.mpi_irecv(t, peer, communicator(), tag, size, request, attributes),
            lambda: w.mpi_request_test(t, request, attributes),
            lambda: w.mpi_request_cancelled(t, request, attributes),
            lambda: w.mpi_collective_begin(t, attributes),
            lambda: w.mpi_collective_end(t, op(), communicator(), root(), size, request, attributes),
            lambda: w.non_blocking_collective_request(t, request, attributes),
            lambda: w.non_blocking_collective_complete(t, op(), communicator(), root(), size, 7, request, attributes),
            lambda: w.comm_create(t, communicator(), attributes),
            lambda: w.comm_destroy(t, communicator(), attributes),
            lambda: w.rma_put(t, window, peer, size, request, attributes),
            lambda: w.rma_get(t, window, peer, size, request, attributes),
            lambda: w.rma_collective_begin(t, attributes),
            lambda: w.rma_collective_end(t, op(), RmaSyncLevel.NONE, window, 0, size, 1, attributes),
            lambda: w.rma_op_complete_blocking(t, window, request, attributes),
            lambda: w.buffer_flush(t, stop, attributes),
            lambda: w.measurement_on_off(t, rng.choice([MeasurementMode.ON, MeasurementMode.OFF]), attributes),
            lambda: w.omp_fork(t, tag, attributes),
            lambda: w.omp_join(t, attributes),
            lambda: w.omp_task_create(t, request, attributes),
            lambda: w.omp_task_switch(t, request, attributes),
            lambda: w.omp_task_complete(t, request, attributes),
            lambda: w.omp_acquire_lock(t, 1, 2, attributes),
            lambda: w.thread_fork(t, Paradigm.OPENMP, tag, attributes),
            lambda: w.thread_join(t, Paradigm.OPENMP, attributes),
            lambda: w.mpi_probe(t, peer, communicator(), tag, request, attributes),
            lambda: w.mpi_mrecv(t, request, size, attributes),
            lambda: w.mpi_imrecv_request(t, request, size, attributes),
            lambda: w.mpi_imrecv(t, request, size, attributes),
            lambda: w.program_end(t, peer, attributes),
        ]
        i = rng.randrange(len(make))
        make[i]()
        # Nothing happens while events are written out.
        return stop if i == FLUSH else t

    def write(self):
        rng = self.rng
        resolution = rng.choice([1000, 10**9, 2_000_000_653, 10**12])
        chunk = 256 * 1024
        options = {"timer_resolution": resolution, "chunk_size_events": chunk, "chunk_size_definitions": chunk}
        with otf2.writer.open(self.folder, **options) as trace:
            self.define(trace)
            for location in self.threads + self.others:
                n = 20_000 if self.big and location is self.threads[0] else rng.randint(0, 300)
                writer = trace.event_writer_from_location(location)
                begin = rng.choice([10**9, 1 << 40, 3_588_073_803_233_221])
                time, end = begin, begin + 40 * n
                lists = [(MappingType.REGION, self.regions), (MappingType.COMM, self.communicators)]
                lists.append((MappingType.RMA_WIN, self.windows))
                refs = [self.mapping(writer, kind, known) for kind, known in lists]
                self.clock(writer, begin, max(end, begin + 20))
                for _ in range(n):
                    attributes = {self.attribute: rng.getrandbits(40)} if rng.random() < 0.1 else None
                    time = self.record(writer, time, refs, attributes)
                    time += rng.choice([0, 1, rng.randint(0, 100)])


def make(seed, n, folder):
    """Write random archives, and what is read of them."""
    for i in range(n):
        here = Path(folder) / str(i)
        Archive(random.Random(seed * 1_000_003 + i), here, i % 20 == 0).write()
        (here / "said.txt").write_text(say(here / "traces.otf2"))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "make":
        make(int(arguments[0]), int(arguments[1]), arguments[2])
    else:
        sys.stdout.write(say(arguments[0]))
