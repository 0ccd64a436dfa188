"""pandas stays out of fabricsim's own processes: Arrow loads it wherever it is installed, which takes longer than most commands.

Whoever imports fabricsim has what is installed; commands and the workers of campaigns need none of it.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

__all__ = ["hide_pandas", "show_pandas"]


class _NoPandas:
    """Finds out before all other finders that there is no pandas."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Refuse one name."""
        if name == "pandas":
            raise ModuleNotFoundError("fabricsim's own processes do without pandas", name=name)
        return None


_HIDING = _NoPandas()


def hide_pandas() -> None:
    """Let imports of pandas find nothing in this process, unless it is loaded already."""
    if _HIDING not in sys.meta_path:
        sys.meta_path.insert(0, _HIDING)


def show_pandas() -> None:
    """Take `hide_pandas` back, for what cannot do without."""
    if _HIDING in sys.meta_path:
        sys.meta_path.remove(_HIDING)
