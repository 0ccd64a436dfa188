"""The timeline of a run as a trace for Perfetto (ui.perfetto.dev): a track per rank, operations with waits in them, messages as arrows.

Perfetto's format is a list of protobuf messages, of which few fields are needed here
(https://perfetto.dev/docs/reference/synthetic-track-event). Its times are whole ns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricsim._files import atomic_write
from fabricsim.analyses.ranks.times import operations_of

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord

__all__ = ["write_perfetto"]

# Numbers of fields in perfetto_trace.proto.
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _TRACK_DESCRIPTOR = 8, 10, 11, 60
_UUID, _NAME, _PROCESS, _THREAD, _PARENT = 1, 2, 3, 4, 5
_TYPE, _EVENT_TRACK, _EVENT_NAME, _FLOWS, _TERMINATING = 9, 11, 23, 47, 48
_BEGIN, _END, _INSTANT = 1, 2, 3


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _packet(content: bytes) -> bytes:
    return _bytes(_PACKET, content + _number(_SEQUENCE, 1))


def _track(job: int, rank: int) -> int:
    return 1 + (job << 32 | rank + 1)


def _event(when_ps: int, kind: int, track: int, name: bytes = b"", more: bytes = b"") -> bytes:
    event = _number(_TYPE, kind) + _number(_EVENT_TRACK, track) + name + more
    return _packet(_number(_TIMESTAMP, (when_ps + 500) // 1000) + _bytes(_TRACK_EVENT, event))


def _tracks(operations: dict[str, list[Any]]) -> Iterator[bytes]:
    """Tell a process per job and a thread per rank."""
    known: set[tuple[int, int]] = set()
    for job, rank in zip(operations["job"], operations["rank"], strict=True):
        if (job, rank) in known:
            continue
        if not any(other == job for other, _ in known):
            process = _number(1, job + 1) + _bytes(6, f"job {job}".encode())
            yield _packet(_bytes(_TRACK_DESCRIPTOR, _number(_UUID, 1 + (job << 32)) + _bytes(_PROCESS, process)))
        known.add((job, rank))
        thread = _number(1, job + 1) + _number(2, rank + 1) + _bytes(5, f"rank {rank}".encode())
        described = _number(_UUID, _track(job, rank)) + _number(_PARENT, 1 + (job << 32)) + _bytes(_THREAD, thread)
        yield _packet(_bytes(_TRACK_DESCRIPTOR, described))


def write_perfetto(record: RunRecord, path: str | Path) -> Path:
    """Write the timeline of a run for Perfetto.

    Operations are slices of the track of their rank, waits slices within them, and messages that ended a wait arrows from the rank that
    sent them; an operation that took no time is left out.

    Parameters
    ----------
    record : RunRecord
        A run with ``observe.operations``.
    path : path
        The file.

    Raises
    ------
    ValueError
        The run has not recorded operations.
    """
    operations = operations_of(record).to_pydict()
    waits = record.read("waits").to_pydict()
    # At one time ends come before begins, inner ends before outer ones, and outer begins before inner ones.
    events: list[tuple[int, int, bytes]] = []
    names: dict[str, bytes] = {}
    named = ("job", "rank", "operation", "begin_ps", "end_ps")
    for job, rank, word, begin, end in zip(*(operations[name] for name in named), strict=True):
        if begin < end:
            name = names.setdefault(word, _bytes(_EVENT_NAME, word.encode()))
            track = _track(job, rank)
            events += [(begin, 2, _event(begin, _BEGIN, track, name)), (end, 1, _event(end, _END, track))]
    waited = zip(*(waits[name] for name in ("job", "rank", "peer", "why", "begin_ps", "end_ps", "late_ps")), strict=True)
    for flow, (job, rank, peer, why, begin, end, late) in enumerate(waited):
        track = _track(job, rank)
        name = _bytes(_EVENT_NAME, f"wait for rank {peer}: {why}".encode())
        events += [(begin, 3, _event(begin, _BEGIN, track, name)), (end, 0, _event(end, _END, track))]
        if late:
            flows = _fixed(_FLOWS, flow + 1), _fixed(_TERMINATING, flow + 1)
            sent, came = _bytes(_EVENT_NAME, f"to rank {rank}".encode()), _bytes(_EVENT_NAME, f"from rank {peer}".encode())
            events += [
                (begin + late, 4, _event(begin + late, _INSTANT, _track(job, peer), sent, flows[0])),
                (end, 4, _event(end, _INSTANT, track, came, flows[1])),
            ]
    events.sort(key=lambda event: event[:2])
    target = Path(path)

    def write(handle: Any) -> None:
        for packet in _tracks(operations):
            handle.write(packet)
        for _, _, packet in events:
            handle.write(packet)

    atomic_write(target, write)
    return target
