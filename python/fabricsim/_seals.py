"""Seals: what is written into a results directory is known by its SHA-256, and what has changed since is told by name.

Manifest and records are the source of everything and carry their seals inside: the last key of the file, over the text of all the
others. The tables of a run are sealed by its record. All that is made from these (joined tables, summary, report, figures, answers) is
sealed in `seals.json`, which is written after it. A seal tells accidents and edits; it is no signature, since whoever wants to can seal
anew.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from fabricsim._files import Seal, atomic_write, open_regular, translate_disk_errors

__all__ = [
    "LEDGER",
    "BrokenSeal",
    "Products",
    "check",
    "content_of",
    "parse_object",
    "products",
    "read_ledger",
    "read_product",
    "read_sealed",
    "seal_of",
    "sealed",
    "size_of",
]

#: The file that seals what is made from the records.
LEDGER = "seals.json"
_LOCK = ".seals.lock"
_FORMAT = 1
_TAIL = re.compile(rb',\n "seal": "([0-9a-f]{64})"\n}')
_TAIL_BYTES = len(b',\n "seal": ""\n}') + 64


class BrokenSeal(Exception):
    """A file is not what was written; `missing` where there is none, `unsealed` where nothing else is wrong with it."""

    def __init__(self, reason: str, *, missing: bool = False, unsealed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = missing
        self.unsealed = unsealed


def sealed(document: Mapping[str, Any]) -> str:
    """Return an object as JSON text whose last key is the seal of all before it.

    Examples
    --------
    >>> list(json.loads(sealed({"load": 0.5})))
    ['load', 'seal']
    """
    body = json.dumps(document, indent=1)
    return f'{body[:-2]},\n "seal": "{hashlib.sha256(body.encode()).hexdigest()}"\n}}'


def content_of(path: Path) -> bytes:
    """Return a file's content.

    Raises
    ------
    BrokenSeal
        There is none to read; it says why.
    """
    with _broken(), open_regular(path) as handle:
        return handle.read()


def seal_of(path: Path) -> Seal:
    """Return the seal of a file as it is now, without holding it in memory; raises `BrokenSeal` where it cannot be read."""
    with _broken(), open_regular(path) as handle:
        return Seal.of_file(handle)


def size_of(path: Path) -> int:
    """Return the length of a file; raises `BrokenSeal` where it is none."""
    with _broken(), open_regular(path) as handle:
        return os.fstat(handle.fileno()).st_size


@contextlib.contextmanager
def _broken() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOENT: "it is missing",
            errno.ENOTDIR: "it is missing: its folder is none",
            errno.EISDIR: "a folder stands in its place",
            errno.ELOOP: "its links lead round in a circle",
            errno.EACCES: "it may not be read (permission denied)",
        }
        reason = reasons.get(error.errno or 0, f"it cannot be read: {error.strerror or error}")
        raise BrokenSeal(reason, missing=error.errno in (errno.ENOENT, errno.ENOTDIR)) from error


def read_sealed(path: Path) -> dict[str, Any]:
    """Return a sealed object, without its seal.

    Raises
    ------
    BrokenSeal
        It cannot be read, or is not what was written. An object without a seal is `unsealed`.
    """
    content = content_of(path)
    tail = _TAIL.fullmatch(content[-_TAIL_BYTES:])
    # Nothing is parsed that is not known to be ours.
    if tail is not None and hashlib.sha256(content[:-_TAIL_BYTES] + b"\n}").hexdigest().encode() == tail.group(1):
        found: dict[str, Any] = json.loads(content)
        del found["seal"]
        return found
    raise _why_broken(content, changed=tail is not None)


def parse_object(content: bytes) -> dict[str, Any]:
    """Return a JSON object that nobody has sealed; raises `BrokenSeal` where it is none."""
    if not content:
        raise BrokenSeal("it is empty")
    try:
        found = json.loads(content)
    except UnicodeDecodeError as error:
        raise BrokenSeal(f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise BrokenSeal("it is not JSON that fabricsim writes: nested too deep") from error
    except ValueError as error:
        raise BrokenSeal(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BrokenSeal(f"it is JSON of another shape: {type(found).__name__}, not an object")
    return found


def _why_broken(content: bytes, *, changed: bool) -> BrokenSeal:
    try:
        found = parse_object(content)
    except BrokenSeal as error:
        return error
    if changed:
        return BrokenSeal("its content is not what was sealed")
    if "seal" in found:
        return BrokenSeal("its text is not as it was written")
    return BrokenSeal("it has no seal", unsealed=True)


class Products:
    """The ledger of a folder: what was made there, with the seal of each file.

    Attributes
    ----------
    files : dict
        Seals by path from the folder.
    finished : set of str
        Ids of the runs that had records when the ledger was written; they are missed where they are gone.
    study_hash : str or None
        Of the campaign, None where the folder holds an answer without runs of its own.
    state : str
        What the runs had given when a product was made (`state_of`); a product of another state is out of date.
    states : dict
        The state that each file was made of.
    writing : bool
        The process that was writing products has not come to its end.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, Seal] = {}
        self.finished: set[str] = set()
        self.study_hash: str | None = None
        self.state = ""
        self.states: dict[str, str] = {}
        self.writing = False

    def write(self, name: str, write: bytes | str | Callable[[IO[bytes]], Any]) -> Path:
        """Write a product and note its seal; raises `DiskError`.

        Parameters
        ----------
        name : str
            Its path from the folder, with `/`.
        write : bytes, str or callable
            As for `atomic_write`.
        """
        path = self.folder / name
        if path.parent != self.folder:
            with translate_disk_errors(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
        if not self.writing:
            self.writing = True
            self._save()
        self.files[name] = atomic_write(path, write)
        self.states[name] = self.state
        return path

    def remove(self, name: str) -> None:
        """Remove a product that is no longer made."""
        self.forget(name)
        with translate_disk_errors(self.folder / name):
            (self.folder / name).unlink(missing_ok=True)

    def forget(self, name: str) -> None:
        """Strike a product from the list."""
        self.files.pop(name, None)
        self.states.pop(name, None)

    def _save(self) -> None:
        document = {
            "format": _FORMAT,
            "study_hash": self.study_hash,
            "finished": sorted(self.finished),
            "state": self.state,
            "files": {name: {**self.files[name].to_json(), "state": self.states[name]} for name in sorted(self.files)},
            "writing": self.writing,
        }
        atomic_write(self.folder / LEDGER, sealed(document))


@contextlib.contextmanager
def products(folder: Path) -> Iterator[Products]:
    """Open the ledger of a folder for writing products; it is saved at the end, also after an error. Does not nest.

    Raises
    ------
    DiskError
        It cannot be written.
    """
    path = folder / _LOCK
    with translate_disk_errors(path):
        lock = path.open("w")
    with lock:
        # A report may be written while a campaign runs. Where the file system knows no locks, one at a time is up to the user.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            ledger = read_ledger(folder) or Products(folder)
        except BrokenSeal:
            ledger = Products(folder)
        try:
            yield ledger
        finally:
            ledger.writing = False
            ledger._save()


def read_ledger(folder: Path) -> Products | None:
    """Return what a folder's `seals.json` says, None where it has none.

    Raises
    ------
    BrokenSeal
        It is damaged.
    """
    try:
        found = read_sealed(folder / LEDGER)
    except BrokenSeal as error:
        if error.missing:
            return None
        raise
    ledger = Products(folder)
    try:
        if found["format"] != _FORMAT:
            raise BrokenSeal(f"it has format {found['format']!r}, this version reads {_FORMAT}")
        ledger.files = {_inside(name): Seal(str(seal["sha256"]), int(seal["bytes"])) for name, seal in found["files"].items()}
        ledger.states = {name: str(seal["state"]) for name, seal in found["files"].items()}
        ledger.state = str(found["state"])
        ledger.finished = set(found["finished"])
        ledger.study_hash = found["study_hash"]
        ledger.writing = bool(found["writing"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BrokenSeal("it is sealed, but no list of seals") from error
    return ledger


def _inside(name: str) -> str:
    """Return a path from the folder, refusing one that leads out of it."""
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(name)
    return name


def read_product(folder: Path, name: str) -> bytes | None:
    """Return a product that is whole, None where there is none; in a folder without seals whatever is there.

    Raises
    ------
    BrokenSeal
        It is not what was written, or was made of other runs than there are by now.
    """
    ledger = read_ledger(folder)
    path = folder / name
    try:
        content = content_of(path)
    except BrokenSeal as error:
        if error.missing and (ledger is None or name not in ledger.files):
            return None
        raise
    if ledger is not None:
        check(path, ledger.files.get(name), Seal.of(content))
        if ledger.states[name] != ledger.state:
            raise BrokenSeal("it was made before the runs were what they are now")
    return content


def check(path: Path, expected: Seal | None, found: Seal) -> None:
    """Compare a file with its seal; raises `BrokenSeal`."""
    if expected is None:
        raise BrokenSeal("nothing in this folder has sealed it")
    if found.size != expected.size:
        raise BrokenSeal(f"it has {found.size:,} bytes, {expected.size:,} were written")
    if found != expected:
        raise BrokenSeal("its content is not what was sealed")
