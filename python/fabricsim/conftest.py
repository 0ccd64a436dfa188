"""How the examples in this package's docstrings run as tests: each in a folder of its own, so that they leave nothing behind."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
