"""Measures: what a claim may ask of the results, as a small expression language.

An expression has numbers, texts, lists, ``+ - * / **``, comparisons, ``and or not`` and calls of the measures below;
nothing else, no names and no attributes, so a study file can never run code. Values of runs are named by dotted key
(``latency_ns.mean``, ``throughput_MiBps.p50``, ``n_nodes``) or by a swept key (``nic.packet``). Runs are chosen by
``experiment=`` and by ``where={"routing.kind": "dor"}``. Seeds of one point have together what the number says of itself (the mean, the
greatest, ...: `fabricsim list result`), several points the mean of that. A number that one of the runs does not have cannot be measured.

Register a further measure with `measure`; its first argument is the results.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._metrics import combined, refuse_failed
from fabricsim._units import axis_value

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["MEASURES", "MeasureError", "evaluate", "measure", "parse", "series"]

#: Every registered measure by name.
MEASURES: dict[str, Callable[..., Any]] = {}
_MOST_CHARACTERS = 2000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class MeasureError(ValueError):
    """A measure cannot be evaluated; the message says why."""


def measure(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as a measure under its own name."""
    MEASURES[function.__name__] = function
    return function


def parse(text: str) -> ast.Expression:
    """Parse an expression and refuse everything that the language does not have.

    Raises
    ------
    MeasureError
        Not an expression of the language.

    Examples
    --------
    >>> _ = parse("ratio('latency_ns.mean', over={'routing.kind': 'dor'}) - 1")
    >>> parse("__import__('os')")
    Traceback (most recent call last):
    ...
    fabricsim.measures.MeasureError: no measure `__import__`; there are: ...
    """
    if len(text) > _MOST_CHARACTERS:
        raise MeasureError(f"the measure has {len(text)} characters, the limit is {_MOST_CHARACTERS}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise MeasureError(f"not an expression: {text!r}: {error}") from error
    try:
        _verify(tree.body)
    except RecursionError as error:
        raise MeasureError("the measure is nested too deeply") from error
    return tree


def _verify(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return
        case ast.List(elts=items) | ast.Tuple(elts=items):
            children = list(items)
        case ast.Dict(keys=keys, values=values):
            if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys):
                raise MeasureError('keys of a selection are texts: {"routing.kind": "dor"}')
            children = list(values)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            children = [left, right]
        case ast.BoolOp(values=values):
            children = list(values)
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in _COMPARE for op in ops):
            children = [left, *comparators]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name not in MEASURES:
                raise MeasureError(f"no measure `{name}`; there are: {', '.join(sorted(MEASURES))}")
            if any(keyword.arg is None for keyword in keywords) or any(isinstance(arg, ast.Starred) for arg in args):
                raise MeasureError(f"`{name}`: arguments are given one by one")
            children = [*args, *(keyword.value for keyword in keywords)]
        case _:
            raise MeasureError(f"`{ast.unparse(node)}` is not part of the language of measures")
    for child in children:
        _verify(child)


def evaluate(text: str, results: Recorded) -> Any:
    """Return the value of an expression over the results: a number, a truth, a text or a list of these.

    Raises
    ------
    MeasureError
        The expression is wrong, or the results lack what it needs.
    """
    tree = parse(text)
    try:
        return _value(tree.body, results)
    except MeasureError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError, IndexError) as error:
        detail = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise MeasureError(f"{text}: {detail}") from error


def _value(node: ast.expr, results: Recorded) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, results) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {
                key.value: _value(item, results) for key, item in zip(keys, values, strict=True) if isinstance(key, ast.Constant)
            }
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, results)
            return (not value) if isinstance(op, ast.Not) else -value if isinstance(op, ast.USub) else +value
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _value(left, results), _value(right, results)
            if not all(isinstance(item, int | float) for item in (first, second)):
                raise MeasureError(f"`{ast.unparse(node)}`: arithmetic is for numbers")
            found = _BINARY[type(op)](float(first), float(second))
            if isinstance(found, complex):
                raise MeasureError(f"`{ast.unparse(node)}`: a root of a negative number")
            return found
        case ast.BoolOp(op=op, values=values):
            found = [_value(item, results) for item in values]
            return all(found) if isinstance(op, ast.And) else any(found)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            terms = [_value(item, results) for item in (left, *comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            named = {keyword.arg: _value(keyword.value, results) for keyword in keywords if keyword.arg}
            return MEASURES[name](results, *(_value(arg, results) for arg in args), **named)
    raise MeasureError(f"`{ast.unparse(node)}` is not part of the language of measures")


def same_value(have: Any, want: Any) -> bool:
    """Tell whether a value of a run is the one wanted, or one of a list of them; quantities are compared as such."""
    if have == want or str(have) == str(want):
        return True
    if isinstance(want, list | tuple) and not isinstance(have, list | tuple):
        return any(same_value(have, one) for one in want)
    first, second = axis_value(have), axis_value(want)
    return first is not None and second is not None and first == second


def select(results: Recorded, *, experiment: str | None = None, where: Mapping[str, Any] | None = None) -> list[RunRecord]:
    """Return the runs of an experiment whose keys have the given values, or one of a list of them, in order.

    Raises
    ------
    MeasureError
        There are none, or a key is unknown.
    """
    found = []
    for record in results.records:
        if experiment is not None and record.run.experiment != experiment:
            continue
        try:
            if all(same_value(record.value(key), value) for key, value in (where or {}).items()):
                found.append(record)
        except KeyError:
            continue
    if not found:
        raise MeasureError(f"no finished run with experiment={experiment!r}, where={dict(where or {})!r}")
    return found


def _number_of(record: RunRecord, key: str) -> float | None:
    value = record.value(key)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    found = axis_value(value)
    return found[0] if found is not None else None


def _no_number(record: RunRecord, key: str) -> MeasureError:
    value = record.value(key)
    reason = f" ({record.why})" if value is None and record.state != "ok" else ""
    return MeasureError(f"`{key}` is not a number in run {record.id}: {value!r}{reason}")


def _chosen(results: Recorded, experiment: str | None, where: Mapping[str, Any] | None) -> list[RunRecord]:
    """Return the runs that are selected, all of which have passed their self-checks."""
    found = select(results, experiment=experiment, where=where)
    for record in found:
        refuse_failed(record)
    return found


def _numbers(
    results: Recorded, key: str, experiment: str | None, where: Mapping[str, Any] | None
) -> list[tuple[RunRecord, float]]:
    """Return the number of every run that is selected."""
    found = []
    for record in _chosen(results, experiment, where):
        number = _number_of(record, key)
        if number is None:
            raise _no_number(record, key)
        found.append((record, number))
    return found


def series(
    results: Recorded,
    *,
    x: str,
    y: str,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> tuple[list[float], list[float]]:
    """Return y against x, sorted by x; runs with the same x are one point: of seeds what the number says, of others the mean.

    Raises
    ------
    MeasureError
        No runs, or values that are not numbers.
    """
    found: dict[float, list[tuple[RunRecord, float]]] = {}
    places = _numbers(results, x, experiment, where)
    for (_, at), seen in zip(places, _numbers(results, y, experiment, where), strict=True):
        found.setdefault(at, []).append(seen)
    xs = sorted(found)
    return xs, [combined(y, found[at]) for at in xs]


@measure
def value(results: Recorded, key: str, *, experiment: str | None = None, where: Mapping[str, Any] | None = None) -> float:
    """Return a number of the chosen runs: of seeds what it says of itself, of several points the mean of that."""
    return combined(key, _numbers(results, key, experiment, where))


@measure
def ratio(
    results: Recorded,
    key: str,
    *,
    of: Mapping[str, Any] | None = None,
    over: Mapping[str, Any] | None = None,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> float:
    """Return a number in the runs `of` divided by the same number in the runs `over`, both within `where`."""
    top = value(results, key, experiment=experiment, where={**(where or {}), **(of or {})})
    bottom = value(results, key, experiment=experiment, where={**(where or {}), **(over or {})})
    if bottom == 0:
        raise MeasureError(f"`{key}` is zero in the runs over={dict(over or {})!r}")
    return float(top / bottom)


def _groups(
    results: Recorded, key: str, per: Sequence[str], experiment: str | None, where: Mapping[str, Any] | None
) -> dict[tuple[str, ...], float]:
    """Return the number of the chosen runs by their values of the keys `per`."""
    found: dict[tuple[str, ...], list[tuple[RunRecord, float]]] = {}
    for record, number in _numbers(results, key, experiment, where):
        found.setdefault(tuple(str(record.value(name)) for name in per), []).append((record, number))
    return {at: combined(key, numbers) for at, numbers in found.items()}


def _pick(numbers: Sequence[float], pick: str) -> float:
    match pick:
        case "least":
            return min(numbers)
        case "greatest":
            return max(numbers)
        case "mean":
            return math.exp(sum(math.log(number) for number in numbers) / len(numbers))
    raise MeasureError(f'pick = {pick!r}: write "least", "greatest" or "mean" (the geometric one)')


@measure
def ratios(
    results: Recorded,
    key: str,
    *,
    of: Mapping[str, Any],
    over: Mapping[str, Any],
    per: Sequence[str],
    pick: str = "mean",
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> float:
    """Return `ratio` taken for each combination of values of the keys `per`: the least, the greatest or the geometric mean.

    A combination that has no run on one of the sides does not count.
    """
    top = _groups(results, key, per, experiment, {**(where or {}), **of})
    bottom = _groups(results, key, per, experiment, {**(where or {}), **over})
    both = [at for at in top if at in bottom]
    if not both:
        raise MeasureError(f"no two runs of={dict(of)!r} and over={dict(over)!r} have the same {', '.join(per)}")
    return _pick([top[at] / bottom[at] for at in both], pick)


@measure
def spread(
    results: Recorded,
    key: str,
    *,
    among: str,
    per: Sequence[str],
    pick: str = "mean",
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> float:
    """Return the largest over the smallest of a number among the values of one key, for each combination of the keys `per`.

    Of these quotients the least, the greatest or the geometric mean; combinations with a single value do not count.
    """
    groups: dict[tuple[str, ...], list[float]] = {}
    for at, number in _groups(results, key, [*per, among], experiment, where).items():
        groups.setdefault(at[:-1], []).append(number)
    found = [max(numbers) / min(numbers) for numbers in groups.values() if len(numbers) > 1]
    if not found:
        raise MeasureError(f"no two runs differ in {among} alone")
    return _pick(found, pick)


def _monotone(xs: Sequence[float], ys: Sequence[float], sign: int, slack: float) -> bool:
    if len(xs) < 2:
        raise MeasureError(f"a trend needs at least two points, there is {len(xs)}")
    return all(sign * (b - a) >= -slack * abs(a) for a, b in itertools.pairwise(ys)) and sign * (ys[-1] - ys[0]) > 0


@measure
def increases(
    results: Recorded,
    y: str,
    *,
    x: str,
    slack: float = 0.0,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> bool:
    """Tell whether `y` grows with `x` from point to point (each step may fall by the fraction `slack`) and overall."""
    return _monotone(*series(results, x=x, y=y, experiment=experiment, where=where), 1, slack)


@measure
def decreases(
    results: Recorded,
    y: str,
    *,
    x: str,
    slack: float = 0.0,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> bool:
    """Tell whether `y` falls with `x` from point to point (each step may grow by the fraction `slack`) and overall."""
    return _monotone(*series(results, x=x, y=y, experiment=experiment, where=where), -1, slack)


@measure
def slope(
    results: Recorded, y: str, *, x: str, log: bool = False, experiment: str | None = None, where: Mapping[str, Any] | None = None
) -> float:
    """Return the least-squares slope of `y` over `x`; with `log` the exponent of a power law."""
    xs, ys = series(results, x=x, y=y, experiment=experiment, where=where)
    if len(xs) < 2:
        raise MeasureError(f"a slope needs at least two points, there is {len(xs)}")
    if log:
        if min(*xs, *ys) <= 0:
            raise MeasureError("a power law needs positive numbers")
        xs, ys = [math.log(item) for item in xs], [math.log(item) for item in ys]
    return float(np.polyfit(xs, ys, 1)[0])


@measure
def crossing(
    results: Recorded, y: str, level: float, *, x: str, experiment: str | None = None, where: Mapping[str, Any] | None = None
) -> float:
    """Return the first `x` at which `y` passes `level`, by straight lines between the points."""
    xs, ys = series(results, x=x, y=y, experiment=experiment, where=where)
    for (x0, y0), (x1, y1) in zip(zip(xs, ys, strict=True), zip(xs[1:], ys[1:], strict=True), strict=False):
        if (y0 - level) * (y1 - level) <= 0 and y0 != y1:
            return x0 + (level - y0) * (x1 - x0) / (y1 - y0)
    raise MeasureError(f"`{y}` never passes {level}: it goes from {min(ys):.4g} to {max(ys):.4g}")


def _columns(
    results: Recorded, table: str, column: str, experiment: str | None, where: Mapping[str, Any] | None
) -> Iterator[tuple[RunRecord, np.ndarray]]:
    """Give a column of a recorded table of every run that is selected."""
    for record in _chosen(results, experiment, where):
        values = results.table(table, record).column(column).to_numpy()
        if not len(values):
            raise MeasureError(f"table {table} of run {record.id} is empty")
        yield record, values


@measure
def quantile_ratio(
    results: Recorded,
    table: str,
    column: str,
    *,
    high: float = 0.95,
    low: float = 0.5,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> float:
    """Return the quotient of two quantiles of a recorded table's column (spread of links or senders), mean over runs."""
    found = []
    for record, values in _columns(results, table, column, experiment, where):
        bottom = float(np.quantile(values, low))
        if bottom == 0:
            raise MeasureError(f"the {low:.0%} quantile of {table}.{column} is zero in run {record.id}")
        found.append(float(np.quantile(values, high)) / bottom)
    return sum(found) / len(found)


@measure
def quantile(
    results: Recorded,
    table: str,
    column: str,
    at: float,
    *,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> float:
    """Return a quantile of a recorded table's column, mean over runs."""
    found = [float(np.quantile(values, at)) for _, values in _columns(results, table, column, experiment, where)]
    return sum(found) / len(found)
