"""Which sampled keys matter: main effects and interactions as shares of the variance of a metric, and what is left to the seeds.

The points of a `[sample]` are given data: no index here needs a design of its own such as Saltelli's. What estimates what:

* Main effect of a range in a Latin hypercube: the first-order Sobol index by random balance designs on sorted points (RBD-FAST,
  Plischke 2010; bias as Tissot and Prieur 2012), by SALib, with its bootstrap interval. Points of a Sobol sequence, sorted by one
  key, are not random in the others, which it needs: there the model below gives the main effects as well.
* Main effect of a choice: the correlation ratio, adjusted for the number of choices, with a bootstrap interval.
* Interactions of two keys: from 300 points on by SALib's enhanced high-dimensional model representation (Gao et al. 2023), else by a
  quadratic response surface in orthonormal polynomials, whose squared coefficients are shares of the variance; its intervals are
  those of the coefficients (Student's t). The surface does not see what is neither linear nor quadratic.

Seeds are replicates: indices are of what the seeds of a point have together, the mean unless the figure says otherwise, and the variance
that the seeds leave in these means, or sums, is told beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricsim._figures import over_seeds
from fabricsim._hiding import show
from fabricsim._metrics import default_metric, metric_values, of_points
from fabricsim._student import t_quantile
from fabricsim._units import axis_value

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = ["Effect", "Effects", "Interaction", "effects"]

#: Fewer points tell nothing about variances.
_FEWEST = 16
#: SALib's model representation refuses fewer.
_FEWEST_FOR_HDMR = 300
_RESAMPLES = 200
_LEVEL = 0.95
_SEED = 1


@dataclass(frozen=True, slots=True)
class Effect:
    """A key's own share of the variance with its interval, and the metric at the two ends of the key.

    Attributes
    ----------
    key : str
        The sampled key, or several with commas.
    share, low, high : float
        First-order index, and the ends of its 95 % interval.
    method : str
        ``rbd-fast``, ``correlation-ratio``, ``surface`` or ``hdmr``.
    first, last : float
        Mean of the metric over the lowest and the highest fifth of the range, or over the first and the last choice.
    """

    key: str
    share: float
    low: float
    high: float
    method: str
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """The share of the variance that two keys have only together, with its 95 % interval."""

    keys: tuple[str, str]
    share: float
    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Effects:
    """What the sampled keys do to a metric at one combination of the swept ones.

    Attributes
    ----------
    of : str
        The metric.
    point : tuple of (key, value)
        The experiment and the values of swept keys; points are common to all of them.
    n_points, n_seeds : int
        Points of the sample, and seeds at each.
    mean, deviation : float
        Of the metric over the points.
    noise : float or None
        Share of the variance of the points' values that comes from the seeds; None with one seed, and of the greatest or least of seeds.
    effects : tuple of Effect
        In order of the keys.
    interactions : tuple of Interaction
        Largest first; empty where there are too few points.
    notes : tuple of str
        What cannot be told, and why.
    places : mapping of str to tuple of float
        Every point's place between 0 and 1 on the scale of each key; of choices their number.
    labels : mapping of str to tuple of str
        Of a range its ends, of choices their names.
    values : tuple of float
        The metric at every point: what its seeds have together.
    """

    of: str
    point: tuple[tuple[str, str], ...]
    n_points: int
    n_seeds: int
    mean: float
    deviation: float
    noise: float | None
    effects: tuple[Effect, ...]
    interactions: tuple[Interaction, ...]
    notes: tuple[str, ...]
    places: Mapping[str, tuple[float, ...]]
    labels: Mapping[str, tuple[str, ...]]
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the single points as JSON."""
        found = asdict(self)
        for name in ("places", "labels", "values"):
            del found[name]
        return {**found, "point": dict(self.point)}


def _number(text: object) -> float:
    found = axis_value(text)
    if found is None:
        raise ValueError(f"{text} is no number")
    return found[0]


def _places(entry: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the place of every row on the scale of a sampled key, and what to write at it."""
    keys = [key.strip() for key in str(entry["key"]).split(",")]
    if entry["kind"] == "choice":
        texts = [", ".join(row[key] for key in keys) for row in rows]
        # As in the study, as far as texts are written the same way there.
        written = [", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in entry["values"]]
        order = list(dict.fromkeys([text for text in written if text in texts] + texts))
        return np.array([float(order.index(text)) for text in texts]), tuple(order)
    low, high = _number(entry["from"]), _number(entry["to"])
    values = np.array([_number(row[keys[0]]) for row in rows])
    places = np.log(values / low) / math.log(high / low) if entry.get("scale") == "log" else (values - low) / (high - low)
    return places, (str(entry["from"]), str(entry["to"]))


def _correlation_ratio(groups: np.ndarray, values: np.ndarray) -> float:
    """Return the share of the variance between groups, adjusted for their number."""
    names, counts = np.unique(groups, return_counts=True)
    total = ((values - values.mean()) ** 2).sum()
    n, k = len(values), len(names)
    if total == 0 or n <= k or k < 2:
        return 0.0
    within = sum(((values[groups == name] - values[groups == name].mean()) ** 2).sum() for name in names[counts > 1])
    return float(1 - (within / (n - k)) / (total / (n - 1)))


#: A share with the ends of its interval, and what estimated it.
_Share = tuple[float, float, float, str]


def _of_choice(groups: np.ndarray, values: np.ndarray) -> _Share:
    draws = np.random.Generator(np.random.Philox(_SEED))
    picks = draws.integers(len(values), size=(_RESAMPLES, len(values)))
    spread = np.std([_correlation_ratio(groups[pick], values[pick]) for pick in picks], ddof=1)
    share, half = _correlation_ratio(groups, values), 1.959964 * float(spread)
    return share, share - half, share + half, "correlation-ratio"


def _of_range(places: np.ndarray, values: np.ndarray) -> _Share:
    from SALib.analyze import rbd_fast

    # Every harmonic adds noise, and metrics are smooth in keys: few of them where there are few points.
    harmonics = max(2, min(6, len(values) // 24))
    found = rbd_fast.analyze(
        {"num_vars": 1, "names": ["x"], "bounds": [[0, 1]]},
        places[:, None],
        values,
        M=harmonics,
        num_resamples=_RESAMPLES,
        conf_level=_LEVEL,
        seed=_SEED,
    )
    share, half = float(found["S1"][0]), float(found["S1_conf"][0])
    return share, share - half, share + half, "rbd-fast"


def _ends(places: np.ndarray, values: np.ndarray, choice: bool) -> tuple[float, float]:
    if choice:
        return float(values[places == places.min()].mean()), float(values[places == places.max()].mean())
    part, order = max(1, len(values) // 5), np.argsort(places, kind="stable")
    return float(values[order[:part]].mean()), float(values[order[-part:]].mean())


def _basis(places: np.ndarray, n_choices: int) -> list[np.ndarray]:
    """Return functions of a key with mean 0 and variance 1 over its points: two Legendre polynomials, or contrasts of choices."""
    if n_choices:
        columns = [(places == level).astype(float) for level in range(n_choices - 1)]
        columns = [column - column.mean() for column in columns]
    else:
        x = 2 * places - 1
        return [math.sqrt(3) * x, math.sqrt(5) * (3 * x**2 - 1) / 2]
    ortho = np.linalg.qr(np.stack(columns, axis=1))[0] if columns else np.zeros((len(places), 0))
    return [column * math.sqrt(len(places)) for column in ortho.T]


#: Shares of keys by place, and of pairs of keys.
_Model = dict[tuple[int, ...], _Share]


def _surface(bases: Sequence[list[np.ndarray]], values: np.ndarray, *, pairs: bool = True) -> _Model | None:
    """Fit a response surface: quadratic in every key, linear in every pair; None where the points are too few."""
    linear = [basis[:1] if len(basis) == 2 else basis for basis in bases]
    terms: dict[tuple[int, ...], list[np.ndarray]] = {(index,): basis for index, basis in enumerate(bases)}
    if pairs:
        terms |= {(a, b): [x * y for x in linear[a] for y in linear[b]] for a, b in combinations(range(len(bases)), 2)}
    design = np.stack([np.ones(len(values)), *(column for columns in terms.values() for column in columns)], axis=1)
    degrees = len(values) - design.shape[1]
    total = float(values.var())
    if degrees < 5 or total == 0 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    fit = np.linalg.lstsq(design, values, rcond=None)[0]
    residual = ((values - design @ fit) ** 2).sum() / degrees
    errors = residual * np.diag(np.linalg.inv(design.T @ design))
    t, at = t_quantile(_LEVEL, degrees), 1
    found = {}
    for name, columns in terms.items():
        squares, noise = float((fit[at : at + len(columns)] ** 2).sum()), float(errors[at : at + len(columns)].sum())
        at += len(columns)
        low, high = (max(0.0, math.sqrt(squares) + sign * t * math.sqrt(noise)) ** 2 / total for sign in (-1, 1))
        # What noise adds to a square is taken off again.
        found[name] = (max(0.0, squares - noise) / total, low, high, "surface")
    return found


def _hdmr(places: Sequence[np.ndarray], values: np.ndarray) -> _Model:
    import warnings

    from SALib.analyze import enhanced_hdmr

    names = [f"x{index}" for index in range(len(places))]
    scaled = np.stack([column / max(1.0, column.max()) for column in places], axis=1)
    problem = {"num_vars": len(places), "names": names, "bounds": [[0, 1]] * len(places)}
    state = np.random.get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subset = max(_FEWEST_FOR_HDMR, len(values) // 2)
        found = enhanced_hdmr.analyze(problem, scaled, values, poly_order=2, bootstrap=20, subset=subset, seed=_SEED)
    np.random.set_state(state)
    shares = zip(found["Term"], found["S"], found["S_conf"], strict=False)
    model: _Model = {}
    for term, share, half in shares:
        parts = [part.strip() for part in str(term).split("/")]
        if all(part in names for part in parts):
            model[tuple(names.index(part) for part in parts)] = (float(share), float(share - half), float(share + half), "hdmr")
    return model


def _groups(results: Recorded, sampled: Sequence[str]) -> dict[tuple[tuple[str, str], ...], list[RunRecord]]:
    groups: dict[tuple[tuple[str, str], ...], list[RunRecord]] = {}
    for record in results.records:
        swept = tuple(pair for pair in record.run.sweep if pair[0] not in sampled)
        experiment = (("experiment", record.run.experiment),) if record.run.experiment else ()
        groups.setdefault((*experiment, *swept), []).append(record)
    return groups


def effects(results: Recorded, *, of: str | None = None) -> tuple[Effects, ...]:
    """Return what the keys of a study's ``[sample]`` do to a metric.

    Parameters
    ----------
    results : Results
        Of a study with a sample.
    of : str, optional
        A number of the summary or a column of ``runs.parquet``; the time of the first job, else the mean latency, by default.

    Returns
    -------
    tuple of Effects
        One for every experiment and every combination of swept keys.

    Raises
    ------
    ValueError
        The study has no sample, too few points are finished, or the metric is no number.
    ModuleNotFoundError
        SALib is not installed.
    """
    show("pandas")
    import SALib  # noqa: F401 - said before anything is computed

    sample = results.manifest["study"].get("sample") or {}
    if not sample.get("keys"):
        raise ValueError(f"{results.folder} is of a study without [sample]: effects are those of sampled keys")
    if not results.records:
        raise ValueError(f"{results.folder} has no finished run")
    metric = of or default_metric(results.records[0])
    sampled = [key.strip() for entry in sample["keys"] for key in str(entry["key"]).split(",")]
    return tuple(
        _effects(results, metric, sample, sampled, point, records) for point, records in _groups(results, sampled).items()
    )


def _effects(
    results: Recorded,
    metric: str,
    sample: Mapping[str, Any],
    sampled: Sequence[str],
    point: tuple[tuple[str, str], ...],
    records: Sequence[RunRecord],
) -> Effects:
    by_point: dict[tuple[str, ...], list[float]] = {}
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    numbers = metric_values(results, metric, records)
    for record, value in zip(records, numbers, strict=True):
        swept = dict(record.run.sweep)
        name = tuple(swept[key] for key in sampled)
        by_point.setdefault(name, []).append(float(value))
        rows[name] = swept
    seeds = {len(values) for values in by_point.values()}
    n = len(by_point)
    if n < _FEWEST:
        raise ValueError(f"{n} finished points are too few for effects: {_FEWEST} are the least, some ten per key are better")
    values = np.array(list(of_points(metric, zip(records, numbers, strict=True)).values()))
    variance, noise = float(values.var(ddof=1)), None
    how = over_seeds(metric)
    if min(seeds) > 1 and how in ("mean", "sum"):
        # A sum of n seeds varies n times as much as one of them, their mean one n-th of it.
        shares = [np.var(found, ddof=1) * (len(found) if how == "sum" else 1 / len(found)) for found in by_point.values()]
        within = float(np.mean(shares))
        noise = min(1.0, within / variance) if variance else 0.0
    keys = [str(entry["key"]) for entry in sample["keys"]]
    choices = [entry["kind"] == "choice" for entry in sample["keys"]]
    found = [_places(entry, list(rows.values())) for entry in sample["keys"]]
    places = [place for place, _ in found]
    notes = []
    if n < sample["points"]:
        notes.append(f"{n} of {sample['points']} points are finished")
    if len(seeds) > 1:
        notes.append("not every point has the same number of finished seeds")
    if min(seeds) == 1:
        notes.append("one seed: what seeds do cannot be told from what keys do")
    elif noise is None:
        notes.append(f"{metric} is the {how} of the seeds: what seeds do cannot be told from what keys do")
    model: _Model | None = {}
    if variance > 0:
        if n >= _FEWEST_FOR_HDMR and len(keys) > 1:
            model = _hdmr(places, values)
        else:
            bases = [
                _basis(place, len(labels) if choice else 0)
                for place, choice, (_, labels) in zip(places, choices, found, strict=True)
            ]
            model = _surface(bases, values)
            if model is None:
                notes.append(f"{n} points are too few for the interactions of {len(keys)} keys")
                model = _surface(bases, values, pairs=False)
    own = []
    for index, (key, place, choice) in enumerate(zip(keys, places, choices, strict=True)):
        share: _Share = (0.0, 0.0, 0.0, "none")
        if variance > 0:
            fitted = (model or {}).get((index,)) if sample["method"] == "sobol" else None
            share = _of_choice(place, values) if choice else fitted or _of_range(place, values)
        own.append(Effect(key, *share, *_ends(place, values, choice)))
    interactions = [
        Interaction((keys[name[0]], keys[name[1]]), *share) for name, share in (model or {}).items() if len(name) == 2
    ]
    return Effects(
        of=metric,
        point=point,
        n_points=n,
        n_seeds=min(seeds),
        mean=float(values.mean()),
        deviation=math.sqrt(variance),
        noise=noise,
        effects=tuple(own),
        interactions=tuple(sorted(interactions, key=lambda entry: -entry.share)),
        notes=tuple(notes),
        places={key: tuple(map(float, place)) for key, place in zip(keys, places, strict=True)},
        labels={key: labels for key, (_, labels) in zip(keys, found, strict=True)},
        values=tuple(map(float, values)),
    )
