"""Effects as figures: the metric over every sampled key, and what keys do only together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabricsim._drawing import COLOURS, axis_label, panels, single, tidy
from fabricsim._runs import short_key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fabricsim.analyses.effects.shares import Effects

__all__ = ["effects", "interactions"]


def effects(found: Effects) -> Figure:
    """Draw the metric over every sampled key: a dot per point, the mean of each of eight slices, the key's share above.

    Parameters
    ----------
    found : Effects
        What `fabricsim.effects` gave.
    """
    n = len(found.effects)
    columns = min(3, n)
    rows = -(-n // columns)
    figure, grid = panels(2.6 * columns, 2.3 * rows + 0.4, rows, columns, sharey=True, squeeze=False)
    every = grid.ravel()
    values = np.array(found.values)
    for axes, effect in zip(every, found.effects, strict=False):
        tidy(axes)
        places, labels = np.array(found.places[effect.key]), found.labels[effect.key]
        choice = set(places.tolist()) == set(range(len(labels)))
        axes.scatter(places, values, s=8, color=COLOURS[0], alpha=0.5, linewidths=0)
        slices = places if choice else np.minimum((places * 8).astype(int), 7)
        at = sorted(set(slices.tolist()))
        middles = at if choice else [(slice_ + 0.5) / 8 for slice_ in at]
        means = [float(values[slices == slice_].mean()) for slice_ in at]
        axes.plot(
            middles,
            means,
            color=COLOURS[1],
            marker="_" if choice else "o",
            markersize=14 if choice else 3,
            linestyle="" if choice else "-",
        )
        axes.set_xticks(range(len(labels)) if choice else (0, 1), labels, fontsize=7)
        axes.set_xlabel(short_key(effect.key), fontsize=8)
        axes.set_title(f"{100 * effect.share:.0f} % ({100 * effect.low:.0f} to {100 * effect.high:.0f})", fontsize=8)
    for axes in every[n:]:
        axes.set_visible(False)
    for axes in every[::columns]:
        axes.set_ylabel(axis_label(found.of, several_seeds=found.n_seeds > 1), fontsize=8)
    title = ", ".join(f"{short_key(key)}={value}" for key, value in found.point)
    figure.suptitle(f"share of the variance of {axis_label(found.of)}{f', {title}' if title else ''}", fontsize=9)
    return figure


def interactions(found: Effects) -> Figure:
    """Draw what every two sampled keys do only together, as a share of the variance; on the diagonal what each does alone.

    Parameters
    ----------
    found : Effects
        What `fabricsim.effects` gave.
    """
    names = [effect.key for effect in found.effects]
    values = np.full((len(names), len(names)), np.nan)
    for index, effect in enumerate(found.effects):
        values[index, index] = 100 * max(0.0, effect.share)
    for pair in found.interactions:
        a, b = sorted(names.index(key) for key in pair.keys)
        values[b, a] = 100 * max(0.0, pair.share)
    figure, axes = single(2.2 + 0.62 * len(names), 1.6 + 0.42 * len(names))
    axes.grid(visible=False)
    image = axes.imshow(values, cmap="YlOrRd", vmin=0.0, vmax=max(5.0, float(np.nanmax(values))), aspect="auto")
    for (row, column), number in np.ndenumerate(values):
        if np.isfinite(number):
            colour = "white" if number > 0.6 * max(5.0, float(np.nanmax(values))) else "black"
            axes.text(column, row, f"{number:.1f}", ha="center", va="center", fontsize=7, color=colour)
    labels = [short_key(name) for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), labels, fontsize=8)
    axes.set_title(f"shares of the variance of {axis_label(found.of)} [%]", fontsize=9, wrap=True)
    figure.colorbar(image, ax=axes)
    return figure
