"""Two campaigns point by point: which points they share, and the ratio of a number at each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._metrics import combined, default_metric, refuse_old_name
from fabricsim._recorded import Recorded
from fabricsim.analyses.compare.records import Comparison, Difference, Pair
from fabricsim.analyses.compare.stated import alike, is_below, stated_keys

if TYPE_CHECKING:
    from fabricsim._recorded import RunRecord

__all__ = ["compare"]

#: Swept values as far as both campaigns sweep them, behind the experiment.
_Place = tuple[object, ...]


def compare(
    first: Recorded | str | Path,
    second: Recorded | str | Path,
    *,
    of: str | None = None,
    where: Mapping[str, str] | Iterable[tuple[str, str]] = (),
) -> Comparison:
    """Compare two results directories: what differs in their studies, and the ratio of a number at every point that both have.

    Points are the same if their experiment and the values of the keys that both sweep are. Of a key that only one of them sweeps, the
    value that the other one's study has is taken.

    Parameters
    ----------
    first, second : Results or path
        Complete or not. Ratios are those of the second over the first.
    of : str, optional
        A number of a run; the time of the first job by default, else the mean latency.
    where : mapping of str to str, optional
        Values of swept keys: only the points that have them.

    Raises
    ------
    ValueError
        There is no such number, no point in common, or a key that only one sweeps and the other does not name.

    Examples
    --------
    >>> import fabricsim as fs
    >>> study = fs.Study({"name": "ring", "topology": {"kind": "ring", "routers": 8}, "job": [{"work": {"kind": "ring", "message": "1 MiB"}}]})
    >>> slow = study.run(out="slow", progress=False)
    >>> fast = study.with_sets({"link.bandwidth": "50 GB/s"}).run(out="fast", progress=False)
    >>> found = fs.compare(slow, fast)
    >>> [(one.key, one.second) for one in found.differences], 0.4 < found.mean < 0.6
    ([('link.bandwidth', '50 GB/s')], True)
    """
    sides = [side if isinstance(side, Recorded) else Recorded.open(side) for side in (first, second)]
    names = _names(sides)
    for side, name in zip(sides, names, strict=True):
        if not side.records:
            raise ValueError(f"{name} has no finished run")
    metric = of or default_metric(sides[0].records[0])
    refuse_old_name(metric)
    stated = [stated_keys(side.manifest) for side in sides]
    chosen = _chosen(sides, names, stated, dict(where))
    shared = [key for key in sides[0].swept_keys() if key in sides[1].swept_keys()]
    by_name = any(len(side.experiments) > 1 for side in sides)
    groups = [_by_place(records, shared, by_name) for records in chosen]
    pairs = [
        _pair(metric, names, mine, groups[1][place], shared, by_name) for place, mine in groups[0].items() if place in groups[1]
    ]
    if not pairs:
        raise ValueError(f"{names[0]} and {names[1]} have no point in common: {' and '.join(map(_some_points, chosen))}")
    if all(pair.first is None for pair in pairs) or all(pair.second is None for pair in pairs):
        _demand_number(metric, [records[0] for records in chosen])
    swept = {key for side in sides for key in side.swept_keys()}
    keys = [key for key in dict.fromkeys([*stated[0], *stated[1]]) if not is_below(key, swept)]
    differences = tuple(
        Difference(key, stated[0].get(key, ""), stated[1].get(key, ""))
        for key in keys
        if alike(stated[0].get(key, "")) != alike(stated[1].get(key, ""))
    )
    alone = (len(groups[0]) - len(pairs), len(groups[1]) - len(pairs))
    return Comparison(names, metric, differences, tuple(pairs), alone)


def _names(sides: Sequence[Recorded]) -> tuple[str, str]:
    """Return the folders' names, with as much of their paths as tells them apart."""
    paths = [side.folder.resolve().parts for side in sides]
    if paths[0] == paths[1]:
        raise ValueError(f"{sides[0].folder} is named twice")
    long = 1
    while paths[0][-long:] == paths[1][-long:]:
        long += 1
    first, second = ("/".join(parts[-long:]) for parts in paths)
    return first, second


def _chosen(
    sides: Sequence[Recorded], names: Sequence[str], stated: Sequence[Mapping[str, str]], where: Mapping[str, str]
) -> list[list[RunRecord]]:
    """Return the runs of each that are asked for, and that have what the other one's study says of keys that it does not sweep."""
    for key in where:
        if not any(key in side.swept_keys() for side in sides):
            raise ValueError(f"neither {names[0]} nor {names[1]} sweeps {key}; there are: {', '.join(_all_keys(sides))}")
    chosen = []
    for place, side in enumerate(sides):
        wanted = {key: value for key, value in where.items() if key in side.swept_keys()}
        for key in side.swept_keys():
            if key in sides[1 - place].swept_keys() or key in wanted:
                continue
            if key not in stated[1 - place]:
                values = ", ".join(dict.fromkeys(dict(record.run.sweep).get(key, "-") for record in side.records))
                raise ValueError(
                    f"{names[place]} sweeps {key}, of which the study of {names[1 - place]} says nothing: choose one of {values} "
                    f"with --where {key}=VALUE"
                )
            wanted[key] = stated[1 - place][key]
        found = [record for record in side.records if _has(record, wanted)]
        if not found:
            asked = ", ".join(f"{key} = {value}" for key, value in wanted.items())
            raise ValueError(f"no finished run of {names[place]} has {asked}")
        chosen.append(found)
    return chosen


def _all_keys(sides: Sequence[Recorded]) -> list[str]:
    return list(dict.fromkeys(key for side in sides for key in side.swept_keys())) or ["no keys that are swept"]


def _has(record: RunRecord, wanted: Mapping[str, str]) -> bool:
    swept = dict(record.run.sweep)
    return all(key not in swept or alike(swept[key]) == alike(value) for key, value in wanted.items())


def _by_place(records: Sequence[RunRecord], shared: Sequence[str], by_name: bool) -> dict[_Place, list[RunRecord]]:
    found: dict[_Place, list[RunRecord]] = {}
    for record in records:
        swept = dict(record.run.sweep)
        place = (record.run.experiment if by_name else "", *(alike(swept[key]) if key in swept else None for key in shared))
        found.setdefault(place, []).append(record)
    return found


def _some_points(records: Sequence[RunRecord]) -> str:
    return f"{records[0].label} ..." if len(records) > 1 else records[0].label


def _pair(
    metric: str,
    names: Sequence[str],
    first: Sequence[RunRecord],
    second: Sequence[RunRecord],
    shared: Sequence[str],
    by_name: bool,
) -> Pair:
    swept = dict(first[0].run.sweep)
    point = (
        *([("experiment", first[0].run.experiment)] if by_name and first[0].run.experiment else []),
        *((key, swept[key]) for key in shared if key in swept),
    )
    sides = (first, second)
    values = [[_number(record, metric) for record in side] for side in sides]
    whole = [
        combined(metric, [(record, value) for record, value in zip(side, mine, strict=True) if value is not None])
        if None not in mine
        else None
        for side, mine in zip(sides, values, strict=True)
    ]
    by_seed = [
        {record.run.seed: value for record, value in zip(side, mine, strict=True)}
        for side, mine in zip(sides, values, strict=True)
    ]
    ratios = [later / earlier for seed, earlier in by_seed[0].items() if earlier and (later := by_seed[1].get(seed)) is not None]
    digests = [{record.run.seed: record.summary.get("digest") for record in side} for side in sides]
    why = ", ".join(
        f"{record.verdict} in {name}" if record.verdict != "ok" else f"no such number in {name}"
        for name, side, value in zip(names, sides, whole, strict=True)
        if value is None
        for record in [next(one for one in side if _number(one, metric) is None)]
    )
    return Pair(
        point,
        whole[0],
        whole[1],
        min(ratios) if len(ratios) > 1 else None,
        max(ratios) if len(ratios) > 1 else None,
        digests[0] == digests[1] and None not in digests[0].values(),
        why or ("it is 0 in the first" if not whole[0] and whole[1] else ""),
    )


def _number(record: RunRecord, metric: str) -> float | None:
    """Return the number of a run, None where it has none or must not be used."""
    if not record.ok:
        return None
    try:
        value = record.value(metric)
    except KeyError:
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _demand_number(metric: str, records: Sequence[RunRecord]) -> None:
    """Say which numbers there are where the one that is asked for is none of them."""
    for record in records:
        try:
            value = record.value(metric)
        except KeyError as error:
            raise ValueError(str(error.args[0])) from None
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{metric} is not a number: {value!r}")
