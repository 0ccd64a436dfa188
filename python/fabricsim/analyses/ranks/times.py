"""Where the time of ranks went, from the tables that `observe.operations` records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim.analyses.ranks.cables import NO_NAMES, CableNames, cable_names, cable_sums
from fabricsim.analyses.ranks.regions import RegionShare, against_the_recording, region_shares

if TYPE_CHECKING:
    import pyarrow as pa

    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["JobTimes", "PairWait", "RankWait", "operations_of", "rank_times"]

TABLES = ("operations", "waits", "critical_path")


@dataclass(frozen=True, slots=True)
class RankWait:
    """What a rank waited.

    Attributes
    ----------
    rank : int
        The rank.
    share : float
        Its waiting as a part of its time.
    peer : int
        The rank that it waited for longest.
    peer_share : float
        That waiting as a part of all of its waiting.
    late_share : float
        The part of its waiting in which the other rank had not come to it; the rest messages were under way.
    cable : str
        The cable that its longest waits for messages of that rank were about: see `fabricsim.analyses.ranks.cables`. Empty where the
        messages stayed inside a node, or nothing is known.
    """

    rank: int
    share: float
    peer: int
    peer_share: float
    late_share: float
    cable: str = ""


@dataclass(frozen=True, slots=True)
class PairWait:
    """What a rank waited for another: times in ns."""

    rank: int
    peer: int
    wait_ns: float
    late_ns: float
    waits: int


@dataclass(frozen=True, slots=True)
class JobTimes:
    """Where the time of the ranks of a job went.

    Attributes
    ----------
    run, label : str
        The run's id, and its name for people.
    job : int
        Number of the job in the study.
    ranks : int
        Ranks that did something.
    time_ns : float
        When the last of them was done, or did something last.
    shares : mapping of str to float
        Parts of the time of all ranks, from the first begin of each to its end: ``compute``, ``late sender``, ``late receiver``,
        ``transfer`` (waiting while a message was under way), ``overhead`` (the rest).
    path : mapping of str to float
        Parts of the critical path: ``compute``, ``overhead``, ``message``, ``wait``; empty where a rank did not come to its end.
    path_ranks : tuple of (rank, share)
        The ranks on which most of the path lies, messages excepted.
    path_messages : tuple of (rank, peer, ns)
        The messages of the path that took longest: from the peer to the rank.
    worst : tuple of RankWait
        The ranks that waited the greatest part of their time.
    pairs : tuple of PairWait
        The pairs with the longest waits.
    name : str
        Name of the job.
    path_cables : tuple of (cable, share)
        The cables that held messages of the path up longest, with the parts of the path that these messages are.
    regions : tuple of RegionShare
        What the ranks did in the regions of a recorded program, those first in which they spent most.
    """

    run: str
    label: str
    job: int
    ranks: int
    time_ns: float
    shares: Mapping[str, float]
    path: Mapping[str, float]
    path_ranks: tuple[tuple[int, float], ...]
    path_messages: tuple[tuple[int, int, float], ...]
    worst: tuple[RankWait, ...]
    pairs: tuple[PairWait, ...]
    name: str = ""
    path_cables: tuple[tuple[str, float], ...] = ()
    regions: tuple[RegionShare, ...] = ()

    def sentences(self) -> list[str]:
        """Say the most important of it in words."""
        told = []
        for wait in self.worst[:1]:
            over = f" over {wait.cable}" if wait.cable else ""
            told.append(
                f"rank {wait.rank} waits {wait.share:.0%} of its time, {wait.peer_share:.0%} of that for rank {wait.peer}{over}; "
                f"{wait.late_share:.0%} of its waiting is for ranks that are late, the rest for messages that are under way"
            )
        if self.path:
            parts = sorted(self.path.items(), key=lambda item: -item[1])
            told.append("the end depends on " + ", ".join(f"{share:.0%} {name}" for name, share in parts if share >= 0.005))
        told += [
            f"messages that are held up longest at {cable} are {share:.0%} of what the end depends on"
            for cable, share in self.path_cables[:1]
            if share >= 0.005
        ]
        return told + against_the_recording(self.regions)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "run": self.run,
            "label": self.label,
            "job": self.job,
            "name": self.name,
            "ranks": self.ranks,
            "time_ns": self.time_ns,
            "shares": dict(self.shares),
            "critical_path": {
                "shares": dict(self.path),
                "ranks": [{"rank": rank, "share": share} for rank, share in self.path_ranks],
                "messages": [{"rank": rank, "peer": peer, "time_ns": time} for rank, peer, time in self.path_messages],
                "cables": [{"cable": cable, "share": share} for cable, share in self.path_cables],
            },
            "waiting": [
                {
                    "rank": wait.rank,
                    "share": wait.share,
                    "peer": wait.peer,
                    "peer_share": wait.peer_share,
                    "late_share": wait.late_share,
                    "cable": wait.cable,
                }
                for wait in self.worst
            ],
            "pairs": [
                {"rank": pair.rank, "peer": pair.peer, "wait_ns": pair.wait_ns, "late_ns": pair.late_ns, "waits": pair.waits}
                for pair in self.pairs
            ],
            "regions": [region.to_json() for region in self.regions],
            "sentences": self.sentences(),
        }


def rank_times(results: Recorded, *, run: str | int | None = None, most: int = 5) -> list[JobTimes]:
    """Tell where the time of ranks went, job by job, of all runs or of one.

    Parameters
    ----------
    results : Results
        Of a study with ``observe.operations = true``.
    run : str or int, optional
        Only this run.
    most : int, optional
        How many ranks and pairs are named.

    Raises
    ------
    ValueError
        No run has recorded operations.

    Examples
    --------
    >>> import fabricsim as fs
    >>> study = fs.Study(
    ...     {
    ...         "name": "ring",
    ...         "topology": {"kind": "torus", "shape": [4]},
    ...         "job": [{"work": {"kind": "ring", "message": "64 KiB", "compute": "1 us"}}],
    ...         "observe": {"operations": True},
    ...     }
    ... )
    >>> [found] = fs.rank_times(study.run())
    >>> found.ranks, round(sum(found.shares.values()), 6), round(sum(found.path.values()), 6)
    (4, 1.0, 1.0)
    """
    records = [results.record(run)] if run is not None else list(results.records)
    found = [times for record in records if TABLES[0] in record.tables for times in _of_run(record, most)]
    if not found:
        raise ValueError(
            "no run has recorded what its ranks did: the study needs `observe.operations = true` and a job of MPI ranks"
        )
    return found


def operations_of(record: RunRecord) -> pa.Table:
    """Return the table of what the ranks of a run did.

    Raises
    ------
    ValueError
        The run has not recorded it.
    """
    if TABLES[0] not in record.tables:
        raise ValueError("the run has not recorded what its ranks did: the study needs `observe.operations = true`")
    return record.read(TABLES[0])


def _of_run(record: RunRecord, most: int) -> list[JobTimes]:
    operations, waits, path = (record.read(name) for name in TABLES)
    regions = record.read("regions") if "regions" in record.tables else None
    names = cable_names(record) if "link_port" in waits.column_names else NO_NAMES
    columns = {name: operations[name].to_numpy() for name in ("job", "rank", "begin_ps", "end_ps")}
    return [
        _of_job(record, int(job), (operations, waits, path, regions), columns, names, most) for job in np.unique(columns["job"])
    ]


def _words(table: pa.Table, name: str) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return a column of words as numbers and the words."""
    column = table[name].combine_chunks()
    return column.indices.to_numpy(), column.dictionary.to_pylist()


def _sums(keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Return the sum of the values of each key; exact below 2^53."""
    return np.bincount(keys, weights=values.astype(np.float64), minlength=size)


def _of_job(
    record: RunRecord,
    job: int,
    tables: tuple[pa.Table, pa.Table, pa.Table, pa.Table | None],
    columns: Mapping[str, np.ndarray[Any, Any]],
    cables: CableNames,
    most: int,
) -> JobTimes:
    operations, waits, path, regions = tables
    own = columns["job"] == job
    rank, begin, end = (columns[name][own] for name in ("rank", "begin_ps", "end_ps"))
    n = int(rank.max()) + 1
    codes, words = _words(operations, "operation")
    computing = codes[own] == (words.index("compute") if "compute" in words else -1)
    waiting = waits["job"].to_numpy() == job
    who, peer, late = (waits[name].to_numpy()[waiting] for name in ("rank", "peer", "late_ps"))
    spent = (waits["end_ps"].to_numpy() - waits["begin_ps"].to_numpy())[waiting]
    reasons, names = _words(waits, "why")
    shares = {"compute": 0.0}
    for name in ("late sender", "late receiver", "transfer"):
        shares[name] = 0.0
    for number, name in enumerate(names):
        chosen = reasons[waiting] == number
        lost = late[chosen].sum(dtype=np.float64)
        shares[name] += float(lost) if name != "transfer" else 0.0
        shares["transfer"] += float(spent[chosen].sum(dtype=np.float64) - lost)
    # Operations of a graph overlap, and none of them is there while its rank is idle.
    stretches = [(rank, begin, end), tuple(waits[name].to_numpy()[waiting] for name in ("rank", "begin_ps", "end_ps"))]
    total = _spans(stretches, n)
    whole = float(total.sum())
    shares["compute"] = _covered(rank[computing], begin[computing], end[computing])
    shares["overhead"] = max(whole - sum(shares.values()), 0.0)

    pairs, place = np.unique(who.astype(np.uint64) << np.uint64(32) | peer.astype(np.uint64), return_inverse=True)
    of_pair = _sums(place, spent, len(pairs))
    late_of_pair = _sums(place, late, len(pairs))
    count = np.bincount(place, minlength=len(pairs))
    found = [
        PairWait(int(pair >> np.uint64(32)), int(pair & np.uint64(0xFFFFFFFF)), time / 1e3, lateness / 1e3, int(times))
        for pair, time, lateness, times in zip(pairs, of_pair, late_of_pair, count, strict=True)
    ]
    found.sort(key=lambda pair: (-pair.wait_ns, pair.rank, pair.peer))
    return JobTimes(
        run=record.id,
        label=record.label,
        job=job,
        ranks=len(np.unique(rank)),
        time_ns=float(end.max()) / 1e3,
        shares={name: share / whole if whole else 0.0 for name, share in shares.items()},
        worst=tuple(
            replace(wait, cable=_cable_of(waits, waiting, wait, cables))
            for wait in _worst(found, total, _sums(who, spent, n), _sums(who, late, n), most)
        ),
        pairs=tuple(found[:most]),
        name=_job_name(record, job),
        regions=region_shares(regions, job),
        **_path(path, job, most, cables),
    )


def _job_name(record: RunRecord, job: int) -> str:
    jobs = record.summary.get("jobs") or []
    return str(jobs[job].get("name", "")) if job < len(jobs) else ""


def _cable_of(waits: pa.Table, own: Any, wait: RankWait, cables: CableNames) -> str:
    """Return the cable that the waits of a rank for the rank that it waits for most were about longest."""
    chosen = own & (waits["rank"].to_numpy() == wait.rank) & (waits["peer"].to_numpy() == wait.peer)
    spent = (waits["end_ps"].to_numpy() - waits["begin_ps"].to_numpy())[chosen]
    found = cable_sums(waits, chosen, spent, cables)
    return found[0][0] if found else ""


def _spans(stretches: Sequence[tuple[np.ndarray[Any, Any], ...]], n: int) -> np.ndarray[Any, Any]:
    """Return the time of each rank from its first begin to its last end in lists of (ranks, begins, ends)."""
    first, last = np.full(n, np.iinfo(np.uint64).max, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    for rank, begin, end in stretches:
        np.minimum.at(first, rank, begin)
        np.maximum.at(last, rank, end)
    return (last - np.minimum(first, last)).astype(np.float64)


def _covered(rank: np.ndarray[Any, Any], begin: np.ndarray[Any, Any], end: np.ndarray[Any, Any]) -> float:
    """Return how long there is something at each rank, summed over ranks: what overlaps counts once."""
    order = np.lexsort((begin, rank))
    rank, begin, end = rank[order], begin[order], end[order]
    borders = np.flatnonzero(np.diff(rank)) + 1
    covered = 0.0
    for own in np.split(np.arange(len(rank)), borders):
        if not len(own):
            continue
        until = np.maximum.accumulate(end[own])
        since = np.maximum(begin[own][1:], until[:-1])
        # Differences first: sums of times would not be exact.
        more = np.maximum(end[own][1:], since) - since
        covered += float(end[own][0] - begin[own][0]) + float(more.sum(dtype=np.float64))
    return covered


def _worst(
    pairs: Sequence[PairWait],
    total: np.ndarray[Any, Any],
    spent: np.ndarray[Any, Any],
    late: np.ndarray[Any, Any],
    most: int,
) -> tuple[RankWait, ...]:
    longest: dict[int, PairWait] = {}
    for pair in pairs:
        longest.setdefault(pair.rank, pair)
    share = np.divide(spent, total, out=np.zeros_like(total), where=total > 0)
    order = sorted(longest, key=lambda rank: (-share[rank], rank))[:most]
    return tuple(
        RankWait(
            rank=rank,
            share=float(share[rank]),
            peer=longest[rank].peer,
            peer_share=longest[rank].wait_ns * 1e3 / float(spent[rank]),
            late_share=float(late[rank] / spent[rank]),
        )
        for rank in order
    )


def _path(path: pa.Table, job: int, most: int, cables: CableNames) -> dict[str, Any]:
    own = path["job"].to_numpy() == job
    length = (path["end_ps"].to_numpy() - path["begin_ps"].to_numpy())[own].astype(np.float64)
    whole = float(length.sum())
    if not whole:
        return {"path": {}, "path_ranks": (), "path_messages": (), "path_cables": ()}
    codes, words = _words(path, "part")
    codes = codes[own]
    ranks, peers = (path[name].to_numpy()[own] for name in ("rank", "peer"))
    is_message = codes == (words.index("message") if "message" in words else -1)
    at = _sums(ranks[~is_message], length[~is_message], 1)
    order = np.argsort(-at, kind="stable")[:most]
    slow = np.argsort(-length[is_message], kind="stable")[:most]
    messages = zip(ranks[is_message][slow], peers[is_message][slow], length[is_message][slow], strict=True)
    return {
        "path": {word: float(length[codes == number].sum()) / whole for number, word in enumerate(words)},
        "path_ranks": tuple((int(rank), float(at[rank]) / whole) for rank in order if at[rank] > 0),
        "path_cables": tuple((cable, spent / whole) for cable, spent in cable_sums(path, own, length, cables)[:most]),
        "path_messages": tuple((int(rank), int(peer), float(time) / 1e3) for rank, peer, time in messages),
    }
