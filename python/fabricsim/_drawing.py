"""What figures have in common: colours, axes, words of keys, and how they are written: the same bytes for the same results.

Importing `fabricsim` does not import this module.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fabricsim._figures import figure_of
from fabricsim._files import atomic_write, translate_disk_errors
from fabricsim._runs import short_key
from fabricsim._units import scaled_unit

__all__ = ["COLOURS", "axis_label", "is_far", "label_times", "panels", "range_about", "render", "save", "single", "tidy"]

COLOURS = ("#2563a8", "#d1622b", "#2f8f5b", "#8a4fa3", "#b8902a", "#3aa0a8", "#c2477f", "#6b7280")


def tidy(axes: Any) -> None:
    """Give axes a grid behind what is drawn, and no frame at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#e5e7eb", linewidth=0.7)
    axes.set_axisbelow(True)


def single(width: float = 5.2, height: float = 3.4) -> tuple[Figure, Any]:
    """Return a figure of so many inches with its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    tidy(axes)
    return figure, axes


def panels(width: float, height: float, rows: int, columns: int, **options: Any) -> tuple[Figure, Any]:
    """Return a figure with an array of axes; `options` are those of matplotlib's ``subplots``."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **options)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as SVG, PNG or PDF, without a date in it.

    Raises
    ------
    ValueError
        Another ending.
    """
    target = Path(path)
    content = render(figure, target.suffix.lower().lstrip("."))
    with translate_disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(target, content)
    return target


def render(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of an ``svg``, ``png`` or ``pdf`` file, without a date in it.

    Raises
    ------
    ValueError
        Another kind.
    """
    import matplotlib as mpl

    if kind not in ("svg", "png", "pdf"):
        raise ValueError(f"a figure is a .svg, .png or .pdf file, not {kind!r}")
    nothing = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "fabricsim", "svg.fonttype": "none"}):
        figure.savefig(content, format=kind, dpi=200, metadata=nothing)
    return content.getvalue()


def axis_label(key: str, *, several_seeds: bool = False) -> str:
    """Return a key as an axis label: the words of a figure, the last word of any other key.

    Parameters
    ----------
    key : str
        A figure or a swept key.
    several_seeds : bool, optional
        What is drawn is of several seeds: where it is not their mean the label says what it is.

    Examples
    --------
    >>> axis_label("latency_ns.mean"), axis_label("job.0.work.load")
    ('mean latency [ns]', 'load')
    >>> axis_label("latency_ns.max", several_seeds=True)
    'greatest latency, greatest over seeds [ns]'
    """
    found = figure_of(key)
    return found.label(several_seeds=several_seeds) if found is not None else short_key(key).replace("_", " ")


def label_times(axis: Any, label: str, largest: float) -> None:
    """Give an axis its label; one of times is marked in the unit in which the largest of them is short.

    What is drawn stays in the unit of the label: marks alone are written in another one.

    Parameters
    ----------
    axis : Axis
        An axis of matplotlib whose scale is set.
    label : str
        Words with the unit at their end, such as ``mean latency [ns]``.
    largest : float
        The largest number on the axis, in the unit of the label.
    """
    words, _, unit = label.removesuffix("]").rpartition(" [")
    scale, shown = scaled_unit(unit, largest) if unit in ("ns", "s") and label.endswith("]") else (1.0, unit)
    axis.set_label_text(f"{words} [{shown}]" if shown != unit else label)
    if scale != 1.0:
        axis.set_major_formatter(lambda value, _: f"{value * scale:g}")


def range_about(shown: float, values: Sequence[float]) -> tuple[float, float]:
    """Return how far values reach below and above the one that is shown for them; a sum has no range."""
    least, most = min(values), max(values)
    return (shown - least, most - shown) if least <= shown <= most else (0.0, 0.0)


def is_far(values: Sequence[float]) -> bool:
    """Tell whether values are to be drawn on a logarithmic axis: above zero, and spanning 30 times."""
    positive = [value for value in values if value > 0]
    return len(positive) == len(values) > 2 and max(positive) / min(positive) > 30
