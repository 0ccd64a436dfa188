"""Where the MPI libraries of programs are: they come with the package, under the names of files and not of links."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from fabricsim.errors import ProgramError

__all__ = ["libraries"]

#: The two libraries, and the other names that programs know them by.
_NAMES = {"libmpi_abi.so.1": ("libmpi_abi.so.0", "libmpi_abi.so"), "libmpi.so.12": ("libmpich.so.12", "libmpi.so")}


def libraries() -> Path:
    """Return the folder of the MPI libraries with all names that programs know them by.

    The libraries come with the package, which can hold no links: those are in the user's cache, in a folder for each installation, or, where
    nothing can be kept, in one that this process removes at its end.

    Raises
    ------
    ProgramError
        This installation has none.
    """
    if given := os.environ.get("FABRICSIM_MPI_LIBRARIES"):
        return Path(given)
    if not sys.platform.startswith("linux"):
        raise ProgramError(f"MPI programs run on Linux, this is {sys.platform}; logs of them are played everywhere")
    package = Path(__file__).resolve().parent / "_libraries"
    if missing := [name for name in _NAMES if not (package / name).is_file()]:
        raise ProgramError(
            f"this installation has no {missing[0]}: it was built without the MPI libraries; `make setup` in the sources builds them, or "
            "`python tools/mpi_libraries.py` before `pip install .`"
        )
    name = f"mpi-{hashlib.sha256(os.fsencode(package)).hexdigest()[:16]}"
    with suppress(OSError, RuntimeError):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fabricsim" / name
        _link(package, folder)
        _forget_others(folder)
        return folder
    return _passing_links(package)


def _link(package: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, others in _NAMES.items():
        for link in (name, *others):
            place, aim = folder / link, package / name
            if place.is_symlink() and place.readlink() == aim:
                continue
            fresh = folder / f".{link}.{os.getpid()}"
            fresh.symlink_to(aim)
            fresh.replace(place)


def _forget_others(folder: Path) -> None:
    """Remove the links of installations that are not there any more."""
    for other in folder.parent.glob("mpi-*"):
        if other != folder and not any((other / name).exists() for name in _NAMES):
            shutil.rmtree(other, ignore_errors=True)


@cache
def _passing_links(package: Path) -> Path:
    """Return a folder with links for this process, and remove those of processes that were killed."""
    place = Path(tempfile.gettempdir())
    for other in place.glob("fabricsim-mpi-*-*"):
        process = other.name.split("-")[2]
        with suppress(OSError):
            if process.isdecimal() and other.lstat().st_uid == os.getuid() and not Path(f"/proc/{process}").exists():
                shutil.rmtree(other, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"fabricsim-mpi-{os.getpid()}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _link(package, folder)
    except OSError as error:
        raise ProgramError(f"links to the MPI libraries can be made nowhere: {error}") from None
    return folder
