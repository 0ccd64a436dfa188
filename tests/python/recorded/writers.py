"""What a recorded program did, in formats of others: OTF2 by the library of that format, GOAL and Chakra written by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: By rank: the rows of `program.py`.
Recorded = list[list[dict[str, Any]]]


def _gaps(rows: list[dict[str, Any]]) -> list[int]:
    """Return what the rank computes before each row (ns)."""
    begins = [rows[0]["begin"]] + [after["begin"] - before["end"] for before, after in pairwise(rows)]
    return [max(0, gap) for gap in begins]


def otf2_archive(ranks: Recorded, folder: Path) -> Path:
    """Write an archive as Score-P would: a location for each rank, its ids apart; completions within the wait."""
    import otf2
    from otf2.enums import CollectiveOp, GroupType, Paradigm

    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as trace:
        d = trace.definitions
        node = d.system_tree_node("maschine für Tests")
        names = {"isend": "MPI_Isend", "irecv": "MPI_Irecv", "waitall": "MPI_Waitall", "allreduce": "MPI_Allreduce"}
        regions = {kind: d.region(name, paradigm=Paradigm.MPI) for kind, name in names.items()}
        groups = [d.location_group(f"rank {rank}", system_tree_parent=node) for rank in range(len(ranks))]
        places = [d.location("main", group=group) for group in groups]
        # A second thread that does nothing is no rank.
        _ = [d.location("helper", group=group) for group in groups]
        d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=places)
        world = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=places)
        comm = d.comm("MPI_COMM_WORLD", group=world)
        for rows, place in zip(ranks, places, strict=True):
            writer = trace.event_writer_from_location(place)
            posted: dict[int, dict[str, Any]] = {}
            for row in rows:
                region, begin, end = regions[row["kind"]], row["begin"], row["end"]
                writer.enter(begin, region)
                match row["kind"]:
                    case "isend":
                        writer.mpi_isend(begin, row["peer"], comm, row["tag"], row["bytes"], row["request"])
                        posted[row["request"]] = row
                    case "irecv":
                        writer.mpi_irecv_request(begin, row["request"])
                        posted[row["request"]] = row
                    case "waitall":
                        for request in row["requests"]:
                            of = posted.pop(request)
                            if of["kind"] == "isend":
                                writer.mpi_isend_complete(end, request)
                            else:
                                writer.mpi_irecv(end, of["peer"], comm, of["tag"], of["bytes"], request)
                    case _:
                        writer.mpi_collective_begin(begin)
                        total = row["bytes"] * len(ranks)
                        writer.mpi_collective_end(end, CollectiveOp.ALLREDUCE, comm, 0xFFFFFFFF, total, total)
                writer.leave(end, region)
    return folder / "traces.otf2"


def _graph(rows: list[dict[str, Any]], keep: set[str]) -> list[tuple[str, dict[str, Any], list[int]]]:
    """Return what a rank does as operations with the numbers of those that they come after: compute, send, recv, allreduce."""
    nodes: list[tuple[str, dict[str, Any], list[int]]] = []
    last: list[int] = []
    numbers: dict[int, int] = {}
    for row, gap in zip(rows, _gaps(rows), strict=True):
        nodes.append(("compute", {"ns": gap // 1000 * 1000}, last))
        last = [len(nodes) - 1]
        kind = row["kind"]
        if kind in ("isend", "irecv"):
            numbers[row["request"]] = len(nodes)
            nodes.append(("send" if kind == "isend" else "recv", row, last))
        elif kind == "waitall":
            last = [*last, *(numbers[request] for request in row["requests"])]
        elif kind in keep:
            nodes.append((kind, row, last))
            last = [len(nodes) - 1]
    return nodes


def goal_text(ranks: Recorded, path: Path) -> Path:
    """Write messages and computations, each on a processor of its own as in an execution trace; GOAL has no collectives."""
    lines = [f"num_ranks {len(ranks)}"]
    for rank, rows in enumerate(ranks):
        lines.append(f"rank {rank} {{")
        for number, (kind, row, after) in enumerate(_graph(rows, set())):
            lines.append(
                f"l{number}: calc {row['ns']}"
                if kind == "compute"
                else f"l{number}: {kind} {row['bytes']}b {'to' if kind == 'send' else 'from'} {row['peer']} tag {row['tag']} cpu 1"
            )
            lines += [f"l{number} requires l{other}" for other in after]
        lines.append("}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def chakra_set(ranks: Recorded, folder: Path, *, collectives: bool) -> Path:
    """Write a file for each rank, as protocol buffers, each message with its length before it."""
    types = {"compute": 4, "send": 5, "recv": 6, "allreduce": 7}
    for rank, rows in enumerate(ranks):
        messages = [_field(1, b"1.0.2")]
        for number, (kind, row, after) in enumerate(_graph(rows, {"allreduce"} if collectives else set())):
            node = _field(1, number) if number else b""  # what is 0 is left out
            node += _field(2, kind.encode()) + _field(3, types[kind]) + b"".join(_field(5, other) for other in after)
            if kind == "compute":
                node += _field(7, row["ns"] // 1000)
            else:
                told = {"comm_size": row["bytes"]}
                if kind == "allreduce":
                    told["comm_type"] = 0
                else:
                    ends = {"comm_src": rank, "comm_dst": row["peer"]}
                    told |= {"comm_tag": row["tag"], **(ends if kind == "send" else {"comm_src": row["peer"], "comm_dst": rank})}
                for name, value in told.items():
                    node += _field(10, _field(1, name.encode()) + _field(9, value))
            node += _field(10, _field(1, b"is_cpu_op") + _field(27, 0))
            messages.append(node)
        (folder / f"app.{rank}.et").write_bytes(b"".join(_varint(len(message)) + message for message in messages))
    return folder / "app.0.et"
