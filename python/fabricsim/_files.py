"""Writing that survives a kill: a file appears whole or not at all, and a full disk has a name.

Everything goes to a temporary file in the same folder, is flushed to the device, and is then renamed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from fabricsim.errors import DiskError, ResultsError

__all__ = ["atomic_write", "directory_lock", "remove_temporaries", "translate_disk_errors"]

_DISK_ERRNOS = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would grow beyond the allowed file size",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: "the device reported an input/output error",
}
_SUFFIX = ".partial"


@contextlib.contextmanager
def translate_disk_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's disk errors into a `DiskError` that names the file and the reason."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        reason = _DISK_ERRNOS.get(error.errno or 0)
        if reason is None:
            raise
        raise DiskError(error.errno, f"cannot write {path}: {reason}") from error


def atomic_write(path: Path, write: bytes | str | Callable[[IO[bytes]], None]) -> None:
    """Write a file so that it is complete or absent, also after a kill or a power cut.

    Parameters
    ----------
    path : Path
        The file; its folder must exist.
    write : bytes, str or callable
        The content (text as UTF-8), or a function that writes it to the open file.

    Raises
    ------
    DiskError
        Disk full, quota, read-only or permission; no temporary file is left.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_SUFFIX}")
    with translate_disk_errors(path):
        try:
            with temporary.open("wb") as handle:
                if callable(write):
                    write(handle)
                else:
                    handle.write(write.encode() if isinstance(write, str) else write)
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_temporaries(folder: Path) -> None:
    """Remove what a killed process left behind in `folder`; call only while holding its lock."""
    for path in sorted(folder.glob(f".*{_SUFFIX}")):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def directory_lock(folder: Path) -> Iterator[None]:
    """Hold a results directory for one campaign at a time; the lock goes away with the process.

    Raises
    ------
    ResultsError
        Another process is writing to the directory.
    """
    path = folder / ".lock"
    with translate_disk_errors(path):
        handle = path.open("w")
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResultsError(
                f"{folder} is being written by another fabricsim process; wait for it or use another --out"
            ) from error
        yield
    finally:
        handle.close()
