"""Figures for papers, by matplotlib: the same bytes for the same results, readable without colour.

Importing `fabricsim` does not import this module.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from fabricsim._drawing import COLOURS, axis_label, is_far, label_times, range_about, render, save, single
from fabricsim._figures import column_label, figure_of, over_seeds
from fabricsim._metrics import combined
from fabricsim._runs import point_words, value_words
from fabricsim._units import axis_value
from fabricsim.analyses.capacity.figure import interference
from fabricsim.analyses.effects.figure import effects, interactions
from fabricsim.analyses.knee.figure import knee
from fabricsim.analyses.pareto.figure import pareto
from fabricsim.measures import same_value, select
from fabricsim.registry import describe

if TYPE_CHECKING:
    from fabricsim._recorded import Recorded, RunRecord

__all__ = [
    "axis_label",
    "bars",
    "cdf",
    "effects",
    "hops",
    "interactions",
    "interference",
    "knee",
    "links",
    "network",
    "pareto",
    "render",
    "save",
    "sweep",
]

#: What stands in place of a bar that has nothing to show.
_ABSENT: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 4, "color": "#9ca3af", "clip_on": False, "zorder": 3}
#: What the legend says where a run has no number, or failed a self-check.
_NO_NUMBER = "no number"
_MARKERS = "osD^vPX*"
_STYLE = ("-", "--", "-.", ":")


def _x_values(records: Sequence[RunRecord], key: str) -> tuple[dict[str, float], str, bool]:
    """Return the place of each value on the axis, the axis label, and whether the axis is of names."""
    texts = list(dict.fromkeys(str(record.value(key)) for record in records))
    found = {text: axis_value(text) for text in texts}
    numbers = {text: item for text, item in found.items() if item is not None}
    units = {item[1] for item in numbers.values()}
    if len(numbers) == len(texts) and len(units) == 1:
        unit = units.pop()
        label = axis_label(key)
        if unit == "product":
            label = "routers" if key.endswith("shape") else f"product of {label}"
        elif unit:
            label = f"{label} [{unit}]"
        return {text: item[0] for text, item in numbers.items()}, label, False
    return {text: float(index) for index, text in enumerate(texts)}, axis_label(key), True


#: How a bound is drawn.
_MORE_THAN: Mapping[str, Any] = {"linestyle": "none", "marker": "^", "markersize": 6, "fillstyle": "none"}


def at_least(record: RunRecord, key: str) -> float | None:
    """Return what a figure that a run cannot give is not below; None where that is unknown too."""
    head, _, name = key.rpartition(".")
    figures = record.summary.get(head) if head else None
    bound = figures.get(f"{name}_at_least") if isinstance(figures, Mapping) else None
    return float(bound) if isinstance(bound, int | float) else None


def _line_keys(records: Sequence[RunRecord], keys: Sequence[str], x: str) -> list[str]:
    """Return the swept keys that make lines of their own: not those that only say in other words where a point stands on x."""
    found = []
    for key in keys:
        by_value: dict[str, set[str]] = {}
        for record in records:
            by_value.setdefault(str(dict(record.run.sweep).get(key, "")), set()).add(str(record.value(x)))
        if len(by_value) < 2 or any(len(points) > 1 for points in by_value.values()):
            found.append(key)
    return found


def _said(record: RunRecord, key: str) -> str:
    """Return the value of a key of a run as a text, empty where the run has no such key."""
    try:
        return str(record.value(key))
    except KeyError:
        return ""


def _bases(
    records: Sequence[RunRecord], keys: Sequence[str], y: str, speedup: Mapping[str, Any] | None
) -> Callable[[RunRecord], float | None] | None:
    """Return what gives the number that a run is compared with: of the run that has the values of `speedup` and is like it else."""
    if speedup is None:
        return None
    like = [key for key in (*keys, "experiment", "seed") if key not in speedup]

    def place(record: RunRecord) -> tuple[str, ...]:
        return tuple(_said(record, key) for key in like)

    chosen = [record for record in records if all(same_value(_said(record, key), value) for key, value in speedup.items())]
    found = {place(record): value for record in chosen if isinstance(value := record.value(y), int | float)}
    return lambda record: found.get(place(record))


def sweep(
    results: Recorded,
    *,
    x: str | None = None,
    y: str = "latency_ns.mean",
    group: Sequence[str] | None = None,
    speedup: Mapping[str, Any] | None = None,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw a number against a swept key, one line per combination of the other swept keys.

    Parameters
    ----------
    results : Results
        Where from.
    x : str, optional
        A swept key or a number; the first swept key by default.
    y : str, optional
        A number of the summary by dotted key.
    group : sequence of str, optional
        Keys that make the lines, such as ``topology.kind``; all other swept keys by default.
    speedup : mapping, optional
        Draw how many times smaller `y` is than in the run that has these values and the same `x`, lines' keys, experiment and seed
        else; runs without such a one are left out.
    experiment, where
        Which runs.
    title : str, optional
        Above the figure.

    Returns
    -------
    Figure
        Points are what the seeds have together, their mean where the figure does not say otherwise; bars are their range. An open
        triangle stands at what that is not below, where a run has only a bound; a cross where one has no number, or failed a
        self-check.

    Raises
    ------
    ValueError
        Nothing is swept and no `x` is given, or there are no such runs.
    """
    records = select(results, experiment=experiment, where=where)
    keys = list(dict.fromkeys(key for record in records for key, _ in record.run.sweep))
    if x is None:
        if not keys:
            raise ValueError("nothing was swept: say which number is x")
        x = next((key for key in keys if not _x_values(records, key)[2]), keys[0])
    lines = (
        list(group)
        if group is not None
        else _line_keys(records, [key for key in keys if key != x and key not in (where or {})], x)
    )
    base = _bases(records, [x, *lines], y, speedup)
    records = [record for record in records if base is None or base(record) is not None]
    if not records:
        raise ValueError(f"no run to compare with has {dict(speedup or {})!r}")
    places, label, names = _x_values(records, x)
    figure, axes = single()
    curves: dict[tuple[str, ...], dict[float, _Seen]] = {}
    for record in records:
        name = tuple(point_words([(key, said)]) for key in lines if (said := _said(record, key)))
        seen = curves.setdefault(name, {}).setdefault(places[str(record.value(x))], _Seen())
        value = record.value(y)
        if base is None:
            seen.add(record, value, at_least(record, y))
        else:
            compared = base(record)
            seen.add(record, compared / value if compared is not None and isinstance(value, int | float) else None)
    _demand_all_seeds(y, [seen for points in curves.values() for seen in points.values()])
    bounds = False
    lacking: set[float] = set()
    for index, (name, points) in enumerate(curves.items()):
        xs = sorted(at for at, seen in points.items() if seen.is_whole)
        ys = [points[at].together(y, compared=base is not None) for at in xs]
        ranges = [range_about(shown, points[at].values) for at, shown in zip(xs, ys, strict=True)]
        low, high = [below for below, _ in ranges], [above for _, above in ranges]
        axes.errorbar(
            xs,
            ys,
            yerr=[low, high] if any(low) or any(high) else None,
            color=COLOURS[index % len(COLOURS)],
            marker=_MARKERS[index % len(_MARKERS)],
            linestyle=_STYLE[(index // len(COLOURS)) % len(_STYLE)],
            markersize=4,
            linewidth=1.4,
            capsize=2,
            label=", ".join(name) or None,
        )
        open_ends = sorted((at, seen.together(y)) for at, seen in points.items() if seen.is_bound)
        if open_ends:
            # What is only known to be more than this points upwards.
            axes.plot(*zip(*open_ends, strict=True), color=COLOURS[index % len(COLOURS)], **_MORE_THAN)
        bounds = bounds or bool(open_ends)
        lacking |= {at for at, seen in points.items() if seen.lacks}
    if lacking:
        # At the foot of the figure, whatever its scale.
        axes.plot(sorted(lacking), [0.02] * len(lacking), transform=axes.get_xaxis_transform(), label=_NO_NUMBER, **_ABSENT)
    if bounds:
        axes.plot([], [], color="#555555", label="more than", **_MORE_THAN)
    if names:
        axes.set_xticks(list(places.values()), list(places), rotation=20 if max(map(len, places)) > 8 else 0)
    elif is_far(list(places.values())):
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    several = any(len(seen.numbers) > 1 for points in curves.values() for seen in points.values())
    y_label = (
        axis_label(y, several_seeds=several) if base is None else "speedup" if x in (speedup or {}) else "relative performance"
    )
    label_times(axes.xaxis, label, max(places.values(), default=0.0))
    label_times(axes.yaxis, y_label, max((n for c in curves.values() for seen in c.values() for n in seen.values), default=0.0))
    if len(curves) > 1 or bounds or lacking:
        axes.legend(frameon=False, fontsize=8)
    if title:
        axes.set_title(title, fontsize=10, wrap=True)
    return figure


class _Seen:
    """The numbers of the runs that stand at one place of a figure: one for all of them, or none."""

    def __init__(self) -> None:
        self.numbers: list[tuple[RunRecord, float]] = []
        self.lacks = False
        self._has_bound = False

    def add(self, record: RunRecord, value: object, bound: float | None = None) -> None:
        """Take in the number of a run, or what it is not below; a run that has neither leaves nothing to show of the others."""
        if record.ok and isinstance(value, int | float):
            self.numbers.append((record, float(value)))
        elif record.ok and bound is not None:
            self.numbers.append((record, bound))
            self._has_bound = True
        else:
            self.lacks = True

    @property
    def is_whole(self) -> bool:
        """Whether every run has a number."""
        return not self.lacks and not self._has_bound

    @property
    def is_bound(self) -> bool:
        """Whether what the runs have together is only known not to be below a number."""
        return self._has_bound and not self.lacks

    @property
    def values(self) -> list[float]:
        return [number for _, number in self.numbers]

    def together(self, key: str, *, compared: bool = False) -> float:
        """Return what the runs have together of a number, of what is compared with another run their mean."""
        return float(np.mean(self.values)) if compared else combined(key, self.numbers)


def _demand_all_seeds(key: str, places: Sequence[_Seen]) -> None:
    """Take the number from places that have fewer seeds than others, where it is a sum over them."""
    most = max((len(seen.numbers) for seen in places), default=0)
    if over_seeds(key) == "sum":
        for seen in places:
            seen.lacks = seen.lacks or len(seen.numbers) < most


def time_axis(key: str, largest: float, *, several_seeds: bool = False) -> tuple[float, str]:
    """Return what to multiply numbers of a key by, and the axis label: times in ns become us, ms or s where they are long.

    Examples
    --------
    >>> time_axis("jobs.0.time_ns", 5e6)
    (1e-06, 'time of the job [ms]')
    >>> time_axis("hops.mean", 5e6)
    (1.0, 'mean hops')
    """
    found = figure_of(key)
    return (
        (1.0, axis_label(key, several_seeds=several_seeds))
        if found is None
        else found.scaled(largest, several_seeds=several_seeds)
    )


def _bar_style(index: int) -> dict[str, Any]:
    hatch = ("", "//", "..", "xx")[index % 4]
    return {"facecolor": COLOURS[index % len(COLOURS)], "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}


def bars(
    results: Recorded,
    *,
    x: Sequence[str],
    y: str = "jobs.0.time_ns",
    group: str | Sequence[str] = (),
    panels: str | None = None,
    only: Sequence[Sequence[Any]] | None = None,
    over: Mapping[str, Any] | None = None,
    experiments: Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw grouped bars: a group for each combination of values of the keys `x`, in it a bar per value of `group`.

    Parameters
    ----------
    results : Results
        Where from.
    x : sequence of str
        Swept keys or numbers that make the groups, the last one fastest.
    y : str, optional
        A number of the summary by dotted key.
    group : str or sequence of str, optional
        The key that makes the bars of a group, or several: a bar for each combination that there is; without, groups are of one bar.
    panels : str, optional
        A key whose values have a panel each, one below the other.
    only : sequence, optional
        The combinations of values of `x` to draw, in this order; all by default.
    over : mapping, optional
        Selects the runs by whose number every bar is divided; within `experiments` unless it names an ``experiment``.
    experiments : sequence of str, optional
        Only runs of these.
    where, title
        As for `sweep`.

    Returns
    -------
    Figure
        Bars are what the seeds have together, their mean where the figure does not say otherwise. A cross stands where nothing was run, or one of
        the runs has no such number or failed a self-check.
    """
    records = [r for r in select(results, where=where) if experiments is None or r.run.experiment in experiments]
    unit = 1.0
    if over is not None:
        chosen = select(results, where=over)
        base = [r for r in chosen if experiments is None or "experiment" in over or r.run.experiment in experiments]
        divisor = _Seen()
        for r in base:
            divisor.add(r, r.value(y))
        unit = divisor.together(y) if divisor.numbers and divisor.is_whole else math.nan
    if not records or not math.isfinite(unit):
        raise ValueError("no run to draw, or none to divide by")
    grouped = (group,) if isinstance(group, str) and group else tuple(group)

    def name(record: RunRecord) -> str:
        return ", ".join(value_words(str(record.value(key))) for key in grouped)

    def place(record: RunRecord) -> tuple[str, ...]:
        return (*(str(record.value(key)) for key in x), name(record), *([str(record.value(panels))] if panels else []))

    found: dict[tuple[str, ...], _Seen] = {}
    orders = {
        key: list(dict.fromkeys(str(record.value(key)) for record in records)) for key in (*x, *([panels] if panels else []))
    }
    names = list(dict.fromkeys(map(name, records)))
    for record in records:
        found.setdefault(place(record), _Seen()).add(record, record.value(y))
    _demand_all_seeds(y, list(found.values()))
    heights = {place: seen.together(y) / unit for place, seen in found.items() if seen.is_whole}
    several = any(len(seen.numbers) > 1 for seen in found.values())
    scale, label = time_axis(y, max(heights.values(), default=0.0), several_seeds=several)
    if over is not None:
        scale, label = 1.0, "relative time" if "time" in y else f"relative {axis_label(y)}"
    places = [tuple(map(str, place)) for place in only or itertools.product(*(orders[key] for key in x))]
    rows = orders[panels] if panels else [""]
    figure = Figure(figsize=(max(5.2, 0.75 * len(places) + 1.2), 1.1 + 2.1 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    all_axes = figure.subplots(len(rows), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    width = 0.8 / len(names)
    crosses: set[str] = set()
    for axes, row in zip(all_axes, rows, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, axis="y", color="#e5e7eb", linewidth=0.7)
        axes.set_axisbelow(True)
        for index, bar in enumerate(names):
            at = [(i, heights.get((*group_of, bar, *([row] if panels else [])))) for i, group_of in enumerate(places)]
            axes.bar(
                [i + (index - (len(names) - 1) / 2) * width for i, height in at if height is not None],
                [height * scale for _, height in at if height is not None],
                width=0.92 * width,
                **_bar_style(index),
            )
            absent = [i + (index - (len(names) - 1) / 2) * width for i, height in at if height is None]
            if absent:
                # A line without points has no place, and takes that of the panels.
                axes.plot(absent, [0.0] * len(absent), **_ABSENT)
                missing = {(*group_of, bar, *([row] if panels else [])) for group_of in places} - set(heights)
                crosses |= {_NO_NUMBER if at in found else "not run" for at in missing}
        axes.set_ylabel(label)
        if row:
            axes.set_title(row, fontsize=9, loc="left")
    all_axes[-1].set_xticks(range(len(places)), ["\n".join(place[::-1]) for place in places], fontsize=8)
    all_axes[-1].set_xlabel(", then ".join(axis_label(key) for key in reversed(x)))
    # Not on the axes: bars may stand anywhere. Not of the bars: a panel may have none of a name.
    handles: list[Any] = [Patch(label=bar, **_bar_style(index)) for index, bar in enumerate(names) if bar]
    if crosses:
        handles.append(Line2D([], [], label=" or ".join(sorted(crosses, reverse=True)), **_ABSENT))
    if handles:
        columns = max(1, min(len(handles), int(14 * figure.get_figwidth() / (6 + max(map(len, names))))))
        figure.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8, ncols=columns)
    if title:
        figure.suptitle(title, fontsize=10, wrap=True)
    return figure


def cdf(
    results: Recorded,
    *,
    runs: Sequence[str | int] | None = None,
    experiment: str | None = None,
    where: Mapping[str, Any] | None = None,
    table: str = "cdf",
    column: str | None = None,
    title: str | None = None,
) -> Figure:
    """Draw cumulative distributions: of message latency, or of a column of another table.

    Parameters
    ----------
    results : Results
        Where from.
    runs : sequence of str or int, optional
        Which runs; those chosen by `experiment` and `where` by default.
    table, column : str, optional
        ``table="senders", column="throughput_MiBps"`` draws the distribution over senders.
    experiment, where, title
        As for `sweep`.
    """
    records = [results.record(run) for run in runs] if runs is not None else select(results, experiment=experiment, where=where)
    figure, axes = single()
    drawn, shown = 0, column or "latency_ns"
    for record in records:
        if table not in record.tables:
            continue
        data = results.table(table, record)
        if table == "cdf" and column is None:
            xs, ys = data.column("latency_ns").to_numpy(), data.column("fraction").to_numpy()
        else:
            shown = column or data.column_names[-1]
            xs = np.sort(data.column(shown).to_numpy())
            ys = np.arange(1, len(xs) + 1) / max(1, len(xs))
        label = record.label if len({r.run.seed for r in records}) > 1 else record.label.rsplit(" seed=", 1)[0]
        axes.plot(
            xs,
            ys,
            color=COLOURS[drawn % len(COLOURS)],
            linestyle=_STYLE[(drawn // len(COLOURS)) % len(_STYLE)],
            linewidth=1.4,
            label=label,
        )
        drawn += 1
    if not drawn:
        raise ValueError(f"no run recorded the table {table}")
    axes.set_ylim(0, 1.005)
    axes.set_ylabel("fraction")
    spread = [float(value) for line in axes.lines for value in (np.min(line.get_xdata()), np.max(line.get_xdata()))]
    if is_far(spread):
        axes.set_xscale("log")
    label_times(axes.xaxis, column_label(table, shown), max(spread))
    if 1 < drawn <= 12:
        axes.legend(frameon=False, fontsize=7)
    if title:
        axes.set_title(title, fontsize=10, wrap=True)
    return figure


def hops(results: Recorded, *, run: str | int = 0, title: str | None = None) -> Figure:
    """Draw how many packets took how many hops."""
    data = results.hops(run)
    figure, axes = single()
    axes.bar(data.column("hops").to_numpy(), data.column("packets").to_numpy(), color=COLOURS[0], width=0.8)
    axes.set_xlabel("hops")
    axes.set_ylabel("packets")
    if title:
        axes.set_title(title, fontsize=10, wrap=True)
    return figure


def _draw_network(axes: Any, network: Mapping[str, Any], load: Mapping[tuple[int, int], float] | None) -> Any:
    places = {router["id"]: (float(router["x"]), float(router["y"])) for router in network["routers"]}
    best: dict[tuple[int, int], float] = {}
    for router, port, peer, *_ in network["links"]:
        if not isinstance(peer, int) or peer == router:
            continue  # a host link
        pair = (min(router, peer), max(router, peer))
        best[pair] = max(best.get(pair, 0.0), load.get((router, port), 0.0) if load else 0.0)
    pairs = sorted(best, key=lambda pair: (best[pair], pair))
    span = max((max(x for x, _ in places.values()) - min(x for x, _ in places.values())), 1.0)
    pairs = [(a, b) for a, b in pairs if a in places and b in places]
    curved = [_curve(places[a], places[b], span) for a, b in pairs]
    lines = LineCollection(curved, linewidths=[0.5 + 2.2 * best[pair] for pair in pairs] if load else 0.7, cmap="inferno_r")
    if load:
        lines.set_array(np.array([best[pair] for pair in pairs]))
        lines.set_clim(0, 1)
    else:
        lines.set_color("#94a3b8")
    axes.add_collection(lines)
    size = max(2.0, min(60.0, 4000 / max(1, len(places))))
    axes.scatter(
        [x for x, _ in places.values()], [y for _, y in places.values()], s=size, color="#1f2937", zorder=3, linewidths=0
    )
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.axis("off")
    return lines


def _colour_by_worker(axes: Any, network: Mapping[str, Any], workers: Sequence[int]) -> None:
    """Draw routers in the colours of their workers, and thicker and dark the links between workers."""
    count = max(workers) + 1
    # Neighbours in number get far colours: steps of the golden ratio round the circle.
    palette = [colormaps["hsv"](worker * 0.618034 % 1.0) if count > len(COLOURS) else COLOURS[worker] for worker in range(count)]
    places = {router["id"]: (float(router["x"]), float(router["y"])) for router in network["routers"]}
    pairs = {(min(a, b), max(a, b)) for a, _, b, *_ in network["links"] if isinstance(b, int) and workers[a] != workers[b]}
    span = max((max(x for x, _ in places.values()) - min(x for x, _ in places.values())), 1.0)
    cut = [_curve(places[a], places[b], span) for a, b in sorted(pairs)]
    axes.add_collection(LineCollection(cut, linewidths=0.9, colors="#334155", zorder=2))
    size = max(6.0, min(90.0, 6000 / max(1, len(places))))
    order = [router["id"] for router in network["routers"]]
    axes.scatter(
        [places[router][0] for router in order],
        [places[router][1] for router in order],
        s=size,
        c=[palette[workers[router]] for router in order],
        zorder=4,
        linewidths=0,
    )


def _height(description: Mapping[str, Any]) -> float:
    """Return the height in inches of a drawing 7 inches wide that fits the network's extents."""
    xs, ys = ([float(router[axis]) for router in description["routers"]] for axis in ("x", "y"))
    wide, tall = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    return min(8.0, max(2.4, 6.0 * tall / wide + 0.9))


def _curve(a: tuple[float, float], b: tuple[float, float], span: float) -> list[tuple[float, float]]:
    """Return a link as a line, bent where it is long so that wrap-around cables are seen."""
    length = math.hypot(b[0] - a[0], b[1] - a[1])
    if length < 0.02 * span or length <= 1.5:
        return [a, b]
    bend = 0.12
    middle = ((a[0] + b[0]) / 2 - bend * (b[1] - a[1]), (a[1] + b[1]) / 2 + bend * (b[0] - a[0]))
    steps = np.linspace(0, 1, 13)
    return [
        (
            float((1 - t) ** 2 * a[0] + 2 * t * (1 - t) * middle[0] + t**2 * b[0]),
            float((1 - t) ** 2 * a[1] + 2 * t * (1 - t) * middle[1] + t**2 * b[1]),
        )
        for t in steps
    ]


def network(description: Mapping[str, Any]) -> Figure:
    """Draw a network as `fabricsim.describe` gives it; with a `partition`, routers have the colour of their worker."""
    figure, axes = single(7, _height(description))
    _draw_network(axes, description, None)
    workers = description.get("partition", {}).get("worker_of_router")
    if workers:
        _colour_by_worker(axes, description, workers)
    axes.set_title(str(description.get("name", "")), fontsize=10)
    return figure


def links(results: Recorded, *, run: str | int = 0, title: str | None = None) -> Figure:
    """Draw the load of a run's links on the network, the hottest on top.

    Raises
    ------
    KeyError
        The run recorded no links.
    ValueError
        The network has too many routers to draw.
    """
    record = results.record(run)
    data = results.links(record)
    description = describe(record.run.canonical)
    if "routers" not in description:
        raise ValueError("the network has too many routers to draw (the limit is 5,000)")
    columns = (data.column("router").to_pylist(), data.column("port").to_pylist(), data.column("utilisation").to_pylist())
    load = {(router, port): float(use) for router, port, use in zip(*columns, strict=True)}
    figure, axes = single(7, _height(description))
    lines = _draw_network(axes, description, load)
    bar = figure.colorbar(lines, ax=axes, shrink=0.9, pad=0.01)
    bar.set_label("link utilisation")
    axes.set_title(title or record.label, fontsize=10)
    return figure
