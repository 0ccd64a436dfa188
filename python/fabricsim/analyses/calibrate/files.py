"""The files of a calibration."""

from __future__ import annotations

import json
from pathlib import Path

from fabricsim._drawing import render
from fabricsim._files import atomic_write, csv_text
from fabricsim.analyses.calibrate.figure import calibration
from fabricsim.analyses.calibrate.records import Calibration, rows

__all__ = ["write"]


def write(found: Calibration, folder: str | Path, source: str) -> list[Path]:
    """Write ``calibration.toml`` (the keys, to be put into a study), ``.json``, ``.csv``, ``.svg`` and ``.png`` into a folder.

    Parameters
    ----------
    found : Calibration
        What `calibrate` gave.
    folder : path
        Made if it is not there; files of an earlier calibration are replaced.
    source : str
        What was fitted to, for the first line of the keys.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    figure = calibration(found)
    head = f"# What messages cost at their ends, fitted to {source}: {found.sentence}.\n"
    contents: dict[str, bytes | str] = {
        "calibration.toml": head + found.toml(),
        "calibration.json": json.dumps(found.to_json(), indent=1),
        "calibration.csv": csv_text(rows(found.points)),
        "calibration.svg": render(figure, "svg"),
        "calibration.png": render(figure, "png"),
    }
    for name, content in contents.items():
        atomic_write(target / name, content)
    return [target / name for name in contents]
