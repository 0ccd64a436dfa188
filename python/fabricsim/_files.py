"""Files that survive: written whole or not at all, read only where they are files, errors of the disk by name.

Everything goes to a temporary file in the same folder, is flushed to the device, and is then renamed. Whoever writes gets the
digest of what was written, for the seal.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import fcntl
import hashlib
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fabricsim.errors import DiskError, ResultsError

__all__ = [
    "NO_ROOM",
    "Seal",
    "atomic_write",
    "csv_text",
    "directory_lock",
    "folder_in_common",
    "is_locked",
    "is_temporary",
    "open_regular",
    "remove_temporaries",
    "translate_disk_errors",
]

_DISK_ERRNOS = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would grow beyond the allowed file size",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: "the device reported an input/output error",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.ENOENT: "a folder of the path does not exist",
    errno.EEXIST: "something else of this name is there",
    errno.EISDIR: "a folder of this name is there",
    errno.ENOTEMPTY: "a folder of this name is there",
    errno.ELOOP: "its links lead round in a circle",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENXIO: "the device is not there",
    errno.ENODEV: "the device is not there",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ESTALE: "the network file system has lost it",
}
#: What passes when there is room again; with other errors of the disk another folder helps.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ESTALE})
_SUFFIX = ".partial"
#: What the names of folders begin with that processes of one campaign have in common.
_IN_COMMON = "fabricsim-common-"


@dataclass(frozen=True, slots=True)
class Seal:
    """What a file's content is known by.

    Attributes
    ----------
    sha256 : str
        Digest of the content, hexadecimal.
    size : int
        Length of the content, bytes.
    """

    sha256: str
    size: int

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"sha256": self.sha256, "bytes": self.size}

    @classmethod
    def of(cls, content: bytes) -> Seal:
        """Return the seal of a content."""
        return cls(hashlib.sha256(content).hexdigest(), len(content))

    @classmethod
    def of_file(cls, handle: IO[bytes]) -> Seal:
        """Return the seal of an open file, read from its beginning in pieces."""
        handle.seek(0)
        digest = hashlib.file_digest(handle, "sha256").hexdigest()  # type: ignore[arg-type]
        return cls(digest, handle.tell())


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


def atomic_write(path: Path, write: bytes | str | Callable[[IO[bytes]], Any]) -> Seal:
    """Write a file so that it is complete or absent, also after a kill or a power cut.

    Parameters
    ----------
    path : Path
        The file; its folder must exist.
    write : bytes, str or callable
        The content (text as UTF-8), or a function that writes it to the open file.

    Returns
    -------
    Seal
        Of what was written.

    Raises
    ------
    DiskError
        Disk full, quota, read-only or permission; no temporary file is left.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_SUFFIX}")
    with translate_disk_errors(path):
        try:
            with temporary.open("w+b") as handle:
                if callable(write):
                    write(handle)
                    handle.flush()
                    seal = Seal.of_file(handle)
                else:
                    content = write.encode() if isinstance(write, str) else write
                    handle.write(content)
                    handle.flush()
                    seal = Seal.of(content)
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
    return seal


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as a CSV file's text."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, refusing what stands in its place: a folder, a pipe (which would wait for ever), a device.

    Raises
    ------
    OSError
        As for `open`; `IsADirectoryError` for a folder, `EINVAL` for what is no file.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "a folder stands in its place", str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "something that is no file stands in its place", str(path))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def is_temporary(name: str) -> bool:
    """Tell whether a name is one that `atomic_write` gives to what is not complete."""
    return name.startswith(".") and name.endswith(_SUFFIX)


def remove_temporaries(folder: Path) -> None:
    """Remove what a killed process left behind in `folder`; call only while holding its lock."""
    for path in sorted(folder.glob(f".*{_SUFFIX}")):
        with contextlib.suppress(OSError):
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


@contextlib.contextmanager
def folder_in_common() -> Iterator[Path]:
    """Make a folder among the temporary files for the processes of one campaign, and remove it afterwards.

    Those of campaigns that were killed go as well: nobody holds their locks.
    """
    with tempfile.TemporaryDirectory(prefix=_IN_COMMON, ignore_cleanup_errors=True) as name:
        own = Path(name)
        with (own / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            for folder in own.parent.glob(f"{_IN_COMMON}*"):
                # Who has just made one has no lock in it yet, or waits for it, and does without where the folder has gone.
                with contextlib.suppress(OSError), (folder / ".lock").open("r+") as abandoned:
                    fcntl.flock(abandoned, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            yield own


def is_locked(folder: Path) -> bool | None:
    """Tell whether a campaign of this machine holds a results directory, without touching its lock; None where the system does not tell.

    Taking the lock to find out would refuse a campaign that starts at that moment.
    """
    try:
        found = (folder / ".lock").stat()
    except OSError:
        return False
    try:
        locks = Path("/proc/locks").read_text()
    except OSError:
        return None
    for line in locks.splitlines():
        words = line.split()
        if "FLOCK" in words and "WRITE" in words and "->" not in words:
            major, minor, inode = words[-3].split(":")
            # Layered file systems have devices of no driver, which are told differently here and there.
            same = (int(major, 16), int(minor, 16)) == (os.major(found.st_dev), os.minor(found.st_dev))
            if int(inode) == found.st_ino and (same or os.major(found.st_dev) == 0):
                return True
    return False
