"""The files of effects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricsim._drawing import render
from fabricsim._files import csv_text
from fabricsim._seals import products
from fabricsim.analyses.effects.figure import effects, interactions

if TYPE_CHECKING:
    from fabricsim.analyses.effects.shares import Effects

__all__ = ["write"]


def write(found: Sequence[Effects], folder: str | Path) -> list[Path]:
    """Write ``effects.json``, ``effects.csv`` and the figures of main effects and interactions as SVG and PNG.

    Parameters
    ----------
    found : sequence of Effects
        What `effects` gave.
    folder : path
        The results directory; figures go to its ``figures/``.
    """
    target = Path(folder)
    keys = list(dict.fromkeys(key for entry in found for key, _ in entry.point))
    rows: list[list[object]] = [[*keys, "of", "key", "with", "share", "low", "high", "method"]]
    for entry in found:
        swept = [dict(entry.point).get(key, "") for key in keys]
        rows += [[*swept, entry.of, own.key, "", own.share, own.low, own.high, own.method] for own in entry.effects]
        rows += [[*swept, entry.of, *pair.keys, pair.share, pair.low, pair.high, pair.method] for pair in entry.interactions]
        if entry.noise is not None:
            rows.append([*swept, entry.of, "seeds", "", entry.noise, "", "", "replicates"])
    with products(target) as out:
        written = [
            out.write("effects.json", json.dumps({"effects": [entry.to_json() for entry in found]}, indent=1)),
            out.write("effects.csv", csv_text(rows)),
        ]
        for number, entry in enumerate(found):
            ending = f"-{number + 1}" if len(found) > 1 else ""
            for kind in ("svg", "png"):
                written.append(out.write(f"figures/effects{ending}.{kind}", render(effects(entry), kind)))
                if entry.interactions:
                    drawn = render(interactions(entry), kind)
                    written.append(out.write(f"figures/interactions{ending}.{kind}", drawn))
    return written
