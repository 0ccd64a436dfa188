"""What below the folder that is shown may be read: nothing that `..`, an absolute path or a link leads to outside of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fabricsim.analyses.fork.defaults import FOLDER

__all__ = ["Outside", "Root"]

#: Folders of results are looked for so deep below the one that is shown, and so many of them.
_DEPTH = 3
_MOST_FOLDERS = 500


class Outside(Exception):
    """A path leads out of the folder that is shown."""


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that is shown.

    Attributes
    ----------
    path : Path
        Without links.
    """

    path: Path

    @classmethod
    def of(cls, folder: Path) -> Root:
        """Return the root for a folder; it need not be there yet."""
        return cls(folder.resolve())

    def place(self, name: str) -> Path:
        """Return the path of what lies at `name` below the root; raises `Outside`."""
        parts = name.split("/")
        if "\0" in name or "\\" in name or name.startswith("/") or ".." in parts:
            raise Outside(f"{name!r} is no path below the folder that is shown")
        return self.inside(self.path.joinpath(*(part for part in parts if part)))

    def inside(self, path: Path) -> Path:
        """Return a path below the root if it leads, by all its links, to somewhere below the root; raises `Outside`."""
        try:
            real = path.resolve()
        except (OSError, RuntimeError) as error:
            raise Outside(f"{path.name!r} cannot be followed: {error}") from None
        if real != self.path and self.path not in real.parents:
            raise Outside(f"{path.name!r} leads out of the folder that is shown")
        return path

    def folders(self) -> list[str]:
        """Return the folders that hold results, or are about to: the root itself as an empty name, and those below it."""
        found: list[str] = []
        self._look(self.path, "", 0, found)
        return sorted(found)

    def _look(self, path: Path, name: str, depth: int, found: list[str]) -> None:
        if len(found) >= _MOST_FOLDERS:
            return
        try:
            with os.scandir(path) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return
        names = {entry.name for entry in below}
        if {"manifest.json", "seals.json"} & names or {"runs", ".lock"} <= names:
            found.append(name)
            # Of runs that were forked.
            below = [entry for entry in below if entry.name == FOLDER]
        for entry in below if depth < _DEPTH else ():
            # A link to a folder may lead round in a circle.
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                self._look(Path(entry.path), f"{name}/{entry.name}".lstrip("/"), depth + 1, found)
