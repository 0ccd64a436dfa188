"""Libraries stay out of processes of fabricsim's own that do without them.

Arrow loads pandas and NumPy wherever they are installed, which takes longer than most commands. Whoever imports fabricsim has what
is installed. Commands need no pandas; workers of campaigns, which only write columns, no NumPy either.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["alone", "hide", "show"]

#: What the library of linear algebra in NumPy's wheels looks at when it is loaded.
_THREADS = "OPENBLAS_NUM_THREADS"


class _NotThere:
    """Finds out before all other finders that there are no such modules."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Refuse what is hidden."""
        if name in self.names:
            raise ModuleNotFoundError(f"this process of fabricsim does without {name}", name=name)
        return None


_HIDING = _NotThere()


def hide(*names: str) -> None:
    """Let imports of these modules find nothing in this process, unless they are loaded already."""
    _HIDING.names.update(names)
    if _HIDING not in sys.meta_path:
        sys.meta_path.insert(0, _HIDING)


def show(*names: str) -> None:
    """Take `hide` back, for what cannot do without."""
    _HIDING.names.difference_update(names)


class _Alone:
    """Loads a module with one thread for linear algebra, in this process and not in those that it starts."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        os.environ[_THREADS] = "1"
        try:
            self._loader.exec_module(module)
        finally:
            del os.environ[_THREADS]


class _AloneFinder:
    """Finds NumPy for `_Alone`."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Find it where it is, unless somebody has said how many threads there are to be."""
        if name != "numpy" or _THREADS in os.environ:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None:
            spec.loader = _Alone(spec.loader)  # type: ignore[assignment]
        return spec


def alone() -> None:
    """Let NumPy start no threads in this process, whose sums are small."""
    if "numpy" not in sys.modules:
        sys.meta_path.insert(0, _AloneFinder())
