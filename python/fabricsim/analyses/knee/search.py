"""Where the next doubling of a quantity pays less than a given gain, found with few runs.

Doublings from the start until one pays less, then bisection on a log scale between the last that paid and the first that did not.
Every value is run with the same seeds, so that differences are between runs with common random numbers. Whether a doubling pays is
one number per seed, the metric after it less (1 - gain) times the metric before it: at the knee its mean is zero. The interval of
the knee holds the values at which a paired t-test does not tell that mean from zero, and the interval of a gain is the same test
solved for the gain, which is Fieller's interval of a ratio of paired means (Fieller 1954). Both are exact where the seeds' values
are normal; a bootstrap over a handful of seeds is not. Of a metric of which the seeds have the greatest or the least together there is
one number for a value, and no interval.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._figures import over_seeds, together
from fabricsim._metrics import default_metric, metric_values, refuse_old_name
from fabricsim._points import point_sets, points_without
from fabricsim._student import t_quantile
from fabricsim._units import axis_value
from fabricsim.analyses.knee.defaults import GAIN, LEVEL, PRECISION
from fabricsim.analyses.knee.records import EXTREMES, Doubling, Knee, Measured
from fabricsim.errors import CheckFailed

if TYPE_CHECKING:
    from fabricsim.results import Results
    from fabricsim.study import Study

__all__ = ["Axis", "knee", "search"]

#: Runs a study with the experiments given, or all, into a folder.
Runner = Callable[["Study", Path, Sequence[str] | None], "Results"]

#: Significant digits of values between doublings.
_DIGITS = 4
#: Doublings without `stop`.
_MOST_DOUBLINGS = 10
_GRID = 200


@dataclass(frozen=True, slots=True)
class Axis:
    """A key whose values have an order: whole numbers, numbers, or quantities of one unit.

    Attributes
    ----------
    key : str
        The dotted key, or several with commas between them.
    unit : str
        The unit of the values, empty for numbers.
    whole : bool
        Only whole numbers are values.
    """

    key: str
    unit: str
    whole: bool

    @classmethod
    def of(cls, key: str, text: str) -> tuple[Axis, Decimal]:
        """Return the axis of a key and a value on it.

        Raises
        ------
        ValueError
            The value is a name or a list: such a key has no order, and no double.
        """
        found = axis_value(text)
        if found is None or found[1] in ("product", "%") or found[0] <= 0:
            raise ValueError(f"{key} = {text} cannot be doubled: a knee needs a number or a quantity above zero")
        bare = text.strip()
        number = bare.rstrip("".join(sorted(set(bare) - set("0123456789."))))
        unit = bare[len(number) :].strip()
        return cls(key, unit, unit in ("", "ps", "B", "bit/s", "B/s") and "." not in number), Decimal(number)

    @property
    def _binary(self) -> int:
        """Base units in a binary unit, else 0."""
        return 1024 ** ("KMGT".index(self.unit[0]) + 1) if self.unit[1:2] == "i" else 0

    def text(self, value: Decimal) -> str:
        """Return a value as it is written in a study: whole bytes where a binary unit would need a fraction."""
        if self._binary and value != value.to_integral_value():
            return f"{(value * self._binary).to_integral_value():f} {self.unit[2:]}"
        return f"{value.normalize():f} {self.unit}".strip()

    def sets(self, value: Decimal) -> dict[str, str]:
        """Return what gives a study this value: every key of the axis has it."""
        return dict.fromkeys(_keys(self.key), self.text(value))

    def parse(self, text: str) -> Decimal:
        """Return a value of this axis.

        Raises
        ------
        ValueError
            It has another unit, or none.
        """
        other, value = Axis.of(self.key, text)
        if other.unit != self.unit:
            theirs, ours = axis_value(text), axis_value(f"1 {self.unit}".strip())
            if theirs is None or ours is None or theirs[1] != ours[1]:
                raise ValueError(f"{self.key}: {text} is no value in {self.unit or 'plain numbers'}")
            return Decimal(repr(theirs[0])) / Decimal(repr(ours[0]))
        return value

    def middle(self, low: Decimal, high: Decimal) -> Decimal:
        """Return the value half-way on a log scale, round in the axis' unit."""
        exact = (low * high).sqrt()
        if self.whole:
            return exact.to_integral_value()
        if self._binary:
            return (exact * self._binary).to_integral_value() / self._binary
        return round(exact, _DIGITS - 1 - exact.adjusted())


def _fieller(before: np.ndarray, after: np.ndarray, level: float) -> tuple[float, float] | None:
    """Return the interval of mean(after) / mean(before) of paired values; None where it has no ends."""
    n = len(before)
    if n < 2:
        return None
    quantile = t_quantile(level, n - 1) ** 2 / n
    covariance = np.cov(np.stack([before, after]))
    a = before.mean() ** 2 - quantile * covariance[0, 0]
    b = before.mean() * after.mean() - quantile * covariance[0, 1]
    c = after.mean() ** 2 - quantile * covariance[1, 1]
    if a <= 0:
        return None
    root = math.sqrt(max(0.0, b * b - a * c))
    return (b - root) / a, (b + root) / a


class _Search:
    """The values measured so far, and what they say."""

    def __init__(
        self, measure: Callable[[Decimal], Sequence[float]], metric: Callable[[], str], gain: float, level: float, maximise: bool
    ) -> None:
        self.measure, self.metric, self.gain, self.level, self.maximise = measure, metric, gain, level, maximise
        self.known: dict[Decimal, np.ndarray] = {}
        self.lacks: dict[Decimal, np.ndarray] = {}

    def at(self, value: Decimal) -> np.ndarray:
        if value not in self.known:
            self.known[value] = np.asarray(self.measure(value), dtype=float)
        return self.known[value]

    def compared(self, value: Decimal) -> np.ndarray:
        """Return what is compared with other values: the seeds one by one, or the one number that they have together."""
        seeds = self.at(value)
        return np.array([together(self.metric(), seeds.tolist())]) if over_seeds(self.metric()) in EXTREMES else seeds

    def measured(self, axis: Axis, value: Decimal) -> Measured:
        seeds = tuple(map(float, self.at(value)))
        return Measured(float(value), axis.text(value), float(self.at(value).mean()), seeds, together(self.metric(), seeds))

    def lack(self, value: Decimal) -> np.ndarray:
        """Return by how much doubling a value fails to pay, for each seed, as a share of the metric: above zero it does not."""
        if len(self.at(value)) != len(self.at(2 * value)):
            raise ValueError("not every value has results of every seed")
        before, after = self.compared(value), self.compared(2 * value)
        if before.mean() == 0:
            raise ValueError("the metric is zero: it cannot be cut or raised by a share")
        wanted = before * (1 + self.gain if self.maximise else 1 - self.gain)
        self.lacks[value] = (wanted - after if self.maximise else after - wanted) / before.mean()
        return self.lacks[value]

    def half_width(self, lack: np.ndarray) -> float:
        """Return half of the interval of the mean; zero with one seed."""
        n = len(lack)
        return t_quantile(self.level, n - 1) * float(lack.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0

    def doubling(self, axis: Axis, value: Decimal) -> Doubling:
        before, after = self.compared(value), self.compared(2 * value)
        ratio, ends = after.mean() / before.mean(), _fieller(before, after, self.level)
        sign = 1 if self.maximise else -1
        gains = sorted(sign * (end - 1) for end in ends) if ends else (None, None)
        return Doubling(float(value), axis.text(value), float(sign * (ratio - 1)), *gains)

    def interval(self, knee: float) -> tuple[float | None, float | None]:
        """Return the values next to the knee at which its test does not tell that a doubling pays or does not."""
        values = sorted(self.lacks)
        logs = np.array([math.log(value) for value in values])
        lacks = [self.lacks[value] for value in values]
        grid = np.unique(np.concatenate([np.linspace(a, b, _GRID) for a, b in pairwise(logs)] + [[math.log(knee)]]))
        # The widths of neighbours are interpolated, not their values: between two noisy values a mean of both would seem surer.
        mean, half = (
            np.interp(grid, logs, ends) for ends in ([lack.mean() for lack in lacks], [self.half_width(lack) for lack in lacks])
        )
        open_ = np.abs(mean) <= half
        here = int(np.argmin(np.abs(grid - math.log(knee))))
        low = here
        while low > 0 and open_[low - 1]:
            low -= 1
        high = here
        while high < len(grid) - 1 and open_[high + 1]:
            high += 1
        return (math.exp(grid[low]) if low > 0 else None, math.exp(grid[high]) if high < len(grid) - 1 else None)


def search(
    axis: Axis,
    measure: Callable[[Decimal], Sequence[float]],
    *,
    start: Decimal,
    stop: Decimal,
    gain: float = GAIN,
    precision: float = PRECISION,
    level: float = LEVEL,
    maximise: bool = False,
    metric: str | Callable[[], str] = "metric",
) -> Knee:
    """Find the knee of a measured curve.

    Parameters
    ----------
    axis : Axis
        What is doubled.
    measure : callable
        Gives the metric at a value, a number per seed, always of the same seeds.
    start, stop : Decimal
        The first value, and the largest that may be run.
    gain : float, optional
        A doubling pays if it improves the metric by at least this share.
    precision : float, optional
        Values are bisected until two neighbours are this close, as a share.
    level : float, optional
        Of the intervals.
    maximise : bool, optional
        A larger metric is better.
    metric : str or callable, optional
        Its name, or what gives it once something has been measured. It says what the seeds of a value have together.

    Raises
    ------
    ValueError
        There is no doubling between the ends, or the metric is zero.
    """
    if not 0 < gain < 1 or not 0 < level < 1 or precision <= 0:
        raise ValueError("gain and level are shares between 0 and 1, precision is above 0")
    if 2 * start > stop:
        raise ValueError(f"there is no doubling between {axis.text(start)} and {axis.text(stop)}")
    found = _Search(measure, metric if callable(metric) else lambda: str(metric), gain, level, maximise)
    ladder: list[tuple[Decimal, float]] = []
    value = start
    while 2 * value <= stop:
        lack = found.lack(value)
        ladder.append((value, float(lack.mean())))
        # Within the noise a doubling that seems not to pay is no end: the next one tells.
        if lack.mean() > 0 and lack.mean() > found.half_width(lack):
            break
        value *= 2
    pays = [index for index, (_, mean) in enumerate(ladder) if mean <= 0]
    kind, knee = "knee", None
    ends: tuple[float | None, float | None] = (None, None)
    if not pays:
        kind = "flat"
    elif pays[-1] == len(ladder) - 1:
        kind = "never"
    else:
        low, high = ladder[pays[-1]][0], ladder[pays[-1] + 1][0]
        while high / low > 1 + Decimal(repr(precision)):
            middle = axis.middle(low, high)
            if not low < middle < high:
                break
            low, high = (low, middle) if found.lack(middle).mean() > 0 else (middle, high)
        below, above = float(found.lacks[low].mean()), float(found.lacks[high].mean())
        knee = float(low) * (float(high) / float(low)) ** (-below / (above - below))
        if len(found.lacks[low]) > 1:
            ends = found.interval(knee)
    seeds = len(found.at(start))
    return Knee(
        over=axis.key,
        metric=found.metric(),
        gain=gain,
        level=level,
        maximise=maximise,
        kind=kind,
        value=knee,
        text=_short(axis, knee),
        low=_short(axis, ends[0]),
        high=_short(axis, ends[1]),
        points=tuple(found.measured(axis, value) for value in sorted(found.known)),
        doublings=tuple(found.doubling(axis, value) for value in sorted(found.lacks)),
        n_seeds=seeds,
        over_seeds=over_seeds(found.metric()),
    )


def _short(axis: Axis, value: float | None) -> str | None:
    """Return a value for people, to three digits."""
    return None if value is None else f"{float(f'{value:.3g}'):g} {axis.unit}".strip()


def _keys(over: str) -> list[str]:
    return [key.strip() for key in over.split(",")]


def _ends(study: Study, over: str, start: str | None, stop: str | None) -> tuple[Axis, Decimal, Decimal]:
    """Return the axis with its first and last value: as given, else of the study's sweep, else from the study's own value."""
    content = tomllib.loads(study.source)
    chief = _keys(over)[0]
    known = [value for run in study.expand().runs for key, value in run.sweep if key == chief]
    if not known:
        node: Any = content
        for part in chief.split("."):
            node = node[int(part)] if isinstance(node, list) and part.isdecimal() and int(part) < len(node) else node
            node = node.get(part) if isinstance(node, dict) else node
        known = [value for key, value in study.sets if key == chief] or (
            [] if node is None or isinstance(node, dict | list) else [str(node)]
        )
    if start is None and not known:
        raise ValueError(f"the study gives no {over}: say where to start, --from")
    axis, first = Axis.of(over, start if start is not None else known[0])
    others = [axis.parse(text) for text in known] if start is None or stop is None else []
    if start is None:
        first = min(others)
    last = axis.parse(stop) if stop is not None else max([*others, first])
    return axis, first, last if stop is not None or last >= 2 * first else first * 2**_MOST_DOUBLINGS


def knee(
    study: Study,
    *,
    over: str,
    start: str | None = None,
    stop: str | None = None,
    gain: float = GAIN,
    metric: str | None = None,
    maximise: bool = False,
    seeds: int | None = None,
    precision: float = PRECISION,
    level: float = LEVEL,
    experiments: Sequence[str] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    resume: bool = True,
    runner: Callable[[Study, Path, Sequence[str] | None], Results] | None = None,
) -> tuple[Knee, ...]:
    """Find where the next doubling of a key pays less than a given gain, running as few values of it as that takes.

    Parameters
    ----------
    study : Study
        What to run; other swept keys give a knee for each of their points.
    over : str
        The key to double, such as ``link.bandwidth``; several with commas between them have the same value.
    start, stop : str, optional
        First value, and largest that may be run; by default those of the study's sweep, else from its own value ten doublings on.
    gain : float, optional
        A doubling pays if it improves the metric by at least this share.
    metric : str, optional
        A number of the summary or a column of ``runs.parquet``; the time of the first job, else the mean latency, by default.
    maximise : bool, optional
        A larger metric is better.
    seeds : int, optional
        Run every value with the seeds 1 to this number; with those of the study by default.
    precision, level : float, optional
        How close values are bisected, as a share; level of the intervals.
    experiments : sequence of str, optional
        Only these experiments.
    out : path, optional
        Where to; ``results/NAME-knee`` by default. It gets a results directory for every value, and what `write` writes.
    jobs : int, optional
        Runs at a time.
    resume : bool, optional
        Keep the runs that `out` already has.
    runner : callable, optional
        Runs a study into a folder, instead of `Study.run`.

    Returns
    -------
    tuple of Knee
        One for every point of the other swept keys.

    Raises
    ------
    ValueError
        The key has no order, or the metric is no number.
    CheckFailed
        A run failed its self-checks.
    """

    def plain(study: Study, folder: Path, names: Sequence[str] | None) -> Results:
        return study.run(out=folder, jobs=jobs, experiments=names, resume=resume, progress=False)

    run = runner or plain
    if metric is not None:
        refuse_old_name(metric)
    if seeds is not None:
        study = study.with_sets({"run.seeds": list(range(1, seeds + 1))})
    axis, first, last = _ends(study, over, start, stop)
    folder = Path(out) if out is not None else Path("results") / f"{study.expand().name}-knee"
    at_start = study.with_sets(axis.sets(first))
    parts = points_without(at_start, _keys(over), experiments)
    found = []
    for number, (experiment, point) in enumerate(parts):
        place = folder / f"part-{number + 1}" if len(parts) > 1 else folder
        curve = _Curve(study.with_sets(point_sets(study, point)), axis, place, experiment, run, metric)
        asked = {"gain": gain, "precision": precision, "level": level}
        result = search(axis, curve, start=first, stop=last, maximise=maximise, metric=curve.name, **asked)
        whole = (*((("experiment", experiment),) if experiment else ()), *point)
        found.append(replace(result, point=whole))
    return tuple(found)


@dataclass(slots=True)
class _Curve:
    """The metric of a study at values of the axis: a results directory each."""

    study: Study
    axis: Axis
    folder: Path
    experiment: str
    run: Runner
    metric: str | None

    def name(self) -> str:
        """Return the metric, which is known once something has been measured."""
        return self.metric or ""

    def __call__(self, value: Decimal) -> list[float]:
        text = self.axis.text(value)
        place = self.folder / text.replace("/", "-").replace(" ", "")
        results = self.run(self.study.with_sets(self.axis.sets(value)), place, [self.experiment] if self.experiment else None)
        if results.failed:
            raise CheckFailed(f"{results.failed[0].label}: a self-check failed, its numbers must not be used")
        records = [record for record in results.records if record.run.experiment == self.experiment]
        self.metric = self.metric or default_metric(records[0])
        return [float(number) for number in metric_values(results, self.metric, records)]
