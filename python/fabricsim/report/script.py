"""The script of a page: its modules joined into one text, in the order in which they need each other.

Modules are ES modules with named imports and exports, so that Node and linters read them as they are. A page must be one file that needs
no network, so that each becomes a function that is called at once and returns what it exports, and an import takes from that. No
build step and no tool is needed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from importlib.resources import files

__all__ = ["joined", "module_text"]

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|function|class) (\w+)", re.MULTILINE)
#: What is left where a module says something that is not read here.
_OTHER = re.compile(r"^(import|export)\b.*", re.MULTILINE)


def module_text(path: str) -> str:
    """Return the text of a module by its path in the package."""
    return files("fabricsim").joinpath(*path.split("/")).read_text(encoding="utf-8")


def _needs(path: str, text: str) -> list[str]:
    """Return the paths of the modules that a module imports."""
    return [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for _, name in _IMPORT.findall(text)]


def _ordered(paths: Sequence[str], texts: dict[str, str], within: tuple[str, ...] = ()) -> None:
    """Add modules to `texts`, each after those that it needs."""
    for path in paths:
        if path in within:
            raise ValueError(f"{path} imports itself by way of {' and '.join(within[within.index(path) :])}")
        if path not in texts:
            text = module_text(path)
            _ordered(_needs(path, text), texts, (*within, path))
            texts[path] = text


def _wrapped(path: str, text: str) -> str:
    """Return a module as a function that is called and gives what it exports."""
    paths = iter(_needs(path, text))
    exports = [name for _, name in _EXPORT.findall(text)]
    text = _IMPORT.sub(lambda found: f'const {{{found[1]}}} = modules["{next(paths)}"];\n', text)
    text = _EXPORT.sub(r"\1 \2", text)
    if other := _OTHER.search(text):
        raise ValueError(f"{path}: only named imports and exports can be joined, not `{other[0]}`")
    return f'modules["{path}"] = (() => {{\n{text}return {{ {", ".join(exports)} }};\n}})();\n'


def joined(entries: Sequence[str], last: str) -> str:
    """Return modules and all that they need as one script.

    Parameters
    ----------
    entries : sequence of str
        Paths in the package of the modules that `last` uses.
    last : str
        The statement that draws the page; ``modules["PATH"]`` is what a module exports.

    Raises
    ------
    ValueError
        Modules need each other in a circle, or say what cannot be joined.

    Examples
    --------
    >>> script = joined(["report/js/quantities.js"], 'print(modules["report/js/quantities.js"].quantity("2 us"));')
    >>> script.splitlines()[0], script.count("export ")
    ('"use strict";', 0)
    """
    texts: dict[str, str] = {}
    _ordered(entries, texts)
    parts = [_wrapped(path, text) for path, text in texts.items()]
    return "\n".join(['"use strict";', "const modules = {};", *parts, last, ""])
