"""Libraries stay out of processes of fabricsim's own that do without them.

Arrow loads pandas and NumPy wherever they are installed, which takes longer than most commands. Whoever imports fabricsim has what
is installed. Commands need no pandas; workers of campaigns, which only write columns, no NumPy either.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

__all__ = ["hide", "show"]


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
