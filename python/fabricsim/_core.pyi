"""What the Rust module offers to Python. All strings are JSON unless said otherwise."""

from collections.abc import Callable
from typing import Any

__version__: str

class StudyError(ValueError):
    """The study cannot be run; `diagnostics` says where and why, all at once."""

    diagnostics: Any

class CheckFailed(RuntimeError):
    """A run finished but failed its own checks; `summary` is the JSON of the run's summary."""

    summary: str

class Interrupted(RuntimeError):
    """The progress callback asked to stop."""

class CheckpointRefused(ValueError):
    """A run's checkpoint cannot be used: the text names the file, the reason and what to do."""

class RunResult:
    summary: str
    def columns(self, table: str, /) -> list[tuple[str, str, bytes]]: ...

def check(source: bytes, file_name: str, base_dir: str, options: str, /) -> str: ...
def expand(source: bytes, file_name: str, base_dir: str, options: str, /) -> str: ...
def run(
    canonical: str,
    progress: Callable[[str], bool | str] | None,
    checkpoint: str | None = None,
    threads: int = 1,
    ranks: Any = None,
    /,
) -> RunResult: ...
def checkpoint_interval(text: str, /) -> str: ...
def list_entries(kind: str, /) -> str: ...
def schema() -> str: ...
def describe(canonical: str, /) -> str: ...
def partition(canonical: str, workers: int, /) -> str: ...
def bench(case: str, options: str, /) -> str: ...
def bench_cases() -> str: ...
