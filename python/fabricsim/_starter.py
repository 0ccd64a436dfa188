"""Studies that `fabricsim new` writes: small, complete, every line explained; each a folder in `templates`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

__all__ = ["starter_files", "templates"]

_FOLDER = Path(__file__).parent / "templates"
_STUDY = "study.toml"


def templates() -> dict[str, str]:
    """Return the names of all templates and what each is about; `torus` first, which is the one to start from.

    Examples
    --------
    >>> list(templates())[0]
    'torus'
    """
    names = sorted(
        (folder.name for folder in _FOLDER.iterdir() if (folder / _STUDY).is_file()), key=lambda name: (name != "torus", name)
    )
    return {name: tomllib.loads(_text(name, "x")).get("description", "") for name in names}


def starter_files(template: str, path: Path) -> dict[Path, str]:
    """Return the files of a template for a study at `path`, the study first: what it needs lies beside it, named after it.

    Examples
    --------
    >>> [file.name for file in starter_files("fabric-file", Path("mine.toml"))]
    ['mine.toml', 'mine.edges']
    """
    beside = {}
    for source in sorted((_FOLDER / template).iterdir()):
        if source.name != _STUDY and source.is_file():
            named = path.with_name(path.stem + source.suffix)
            beside[source.name] = named if named != path else path.with_name(f"{path.stem}-{source.name}")
    text = _text(template, path.stem, {name: file.name for name, file in beside.items()})
    return {path: text} | {file: (_FOLDER / template / name).read_text() for name, file in beside.items()}


def _text(template: str, name: str, files: dict[str, str] | None = None) -> str:
    """Return the study of a template with its name, and those of the files beside it, filled in."""

    def file(found: re.Match[str]) -> str:
        return json.dumps((files or {}).get(found[1], found[1]), ensure_ascii=False)

    text = (_FOLDER / template / _STUDY).read_text().replace("{name}", json.dumps(name, ensure_ascii=False), 1)
    return re.sub(r"\{file:([^}]+)\}", file, text)
