"""Which core the tests run on: the real one where it is built, else a double; faults always come from the double."""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FAKE = HERE / "fake_core"
collect_ignore = ["fake_core"]


def _real_core_is_built() -> bool:
    """Tell whether `fabricsim._core` is there and whole."""
    try:
        importlib.import_module("fabricsim")
    except ImportError:
        for name in [name for name in sys.modules if name.split(".")[0] == "fabricsim"]:
            del sys.modules[name]
        return False
    return True


REAL = os.environ.get("FABRICSIM_TEST_CORE") != "fake" and _real_core_is_built()
if not REAL:
    sys.path.insert(0, str(FAKE))
    os.environ["FABRICSIM_TEST_CORE"] = "fake"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FAKE), os.environ.get("PYTHONPATH", "")]))
    # Another sitecustomize may have been imported at start-up; the finder of ours is what counts.
    sys.modules.pop("sitecustomize", None)
    importlib.import_module("sitecustomize")

#: Whether every world is run on every engine (`make parity`), and not only a part of them.
WHOLE = os.environ.get("FABRICSIM_PARITY") == "whole"
#: The files that take longest, in this order: of several workers, none is left with one of them when the others are done.
LONGEST = (
    *("documents", "mpi_library", "campaign", "checkpoint", "seals", "mpi", "saturation", "programs", "studies", "figures"),
    *("dask", "knee", "command_line", "trace_files"),
)


def pytest_collection_modifyitems(items):
    """Put the longest files first; within a file nothing changes."""
    places = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


STUDY = """\
name = "{name}"
[topology]
kind = "torus"
shape = [4, 4]
[[job]]
work = {{ kind = "uniform", load = 0.5, message = "2048 B" }}
[sweep]
"job.0.work.load" = [{loads}]
[observe]
links = true
messages = "full"
timeline = true
[fake]
{fake}
"""


def wait_until(happened, process, seconds=60):
    """Wait for something that a process does."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children(pid):
    """Return the processes that this one began and that are still there; none where /proc does not tell."""
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def kill_with_children(process):
    """Kill a run and its worker at once, no time to tidy up, and return what it had said of errors."""
    process.send_signal(signal.SIGSTOP)
    for child in children(process.pid):
        os.kill(child, signal.SIGKILL)
    process.kill()
    return process.communicate(timeout=60)[1]


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """The one JSON object on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs the command line on the double, in a folder of its own."""

    folder: Path

    def environment(self) -> dict:
        path = os.pathsep.join(filter(None, [str(FAKE), os.environ.get("PYTHONPATH", "")]))
        return {**os.environ, "FABRICSIM_TEST_CORE": "fake", "PYTHONPATH": path, "COLUMNS": "200", "NO_COLOR": "1"}

    def study(self, *, name="double", loads="0.1, 0.5, 0.9", fake="", file="study.toml", extra="") -> Path:
        path = self.folder / file
        path.write_text(STUDY.format(name=name, loads=loads, fake=fake) + extra)
        return path

    def start(self, *arguments, prefix=(), **options) -> subprocess.Popen:
        command = [*prefix, sys.executable, "-m", "fabricsim", *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    def __call__(self, *arguments, prefix=(), timeout=120) -> Ran:
        process = self.start(*arguments, prefix=prefix)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return Ran(process.returncode, out, err)


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)
