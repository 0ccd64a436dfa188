"""Facts about the machine that results carry, and how much of it a campaign may use."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from pathlib import Path

__all__ = ["available_core_set", "available_cores", "available_memory", "host_facts", "resident_memory"]

#: Control groups of version 1 without a limit have one of about this many bytes.
_NO_LIMIT = 1 << 60


def available_core_set() -> set[int]:
    """Return the cores that this process may use, at least one; honours affinity masks."""
    try:
        return os.sched_getaffinity(0) or {0}
    except AttributeError:
        return set(range(os.cpu_count() or 1))


def available_cores() -> int:
    """Return how many cores this process may use (at least 1); honours affinity masks."""
    return len(available_core_set())


def _read_integer(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that can be taken without swapping, or None where the system does not tell.

    The limits of this process's control group and of those above it (versions 1 and 2) count as well as the machine's free memory;
    what they hold of files that can be dropped is free.

    Parameters
    ----------
    root : Path, optional
        The root of the file system.
    """
    free: int | None = None
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    rooms = [room for folder in _memory_groups(root) if (room := _room_of_group(folder)) is not None]
    return min((room for room in (free, *rooms) if room is not None), default=None)


def _memory_groups(root: Path) -> list[Path]:
    """Return the folders of this process's memory control group and of those above it."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = ["0::/"]
    folders: list[Path] = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / ("sys/fs/cgroup/memory" if controllers else "sys/fs/cgroup")
        # Within a container the path may be that of the machine, which cannot be seen.
        group = top / path.lstrip("/")
        folders += [folder for folder in (group, *group.parents) if folder.is_relative_to(top) and folder.is_dir()]
    return folders


def _room_of_group(folder: Path) -> int | None:
    """Return what a control group may still take, None without a limit."""
    for limit_name, used_name, droppable in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit, used = _read_integer(folder / limit_name), _read_integer(folder / used_name)
        if limit is None or used is None or limit >= _NO_LIMIT:
            continue
        files = 0
        with contextlib.suppress(OSError, ValueError):
            for line in (folder / "memory.stat").read_text().splitlines():
                name, _, value = line.partition(" ")
                if name == droppable:
                    files = int(value)
        return max(0, limit - used + files)
    return None


def resident_memory(process: int) -> int:
    """Return the bytes that a process holds, 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def host_facts() -> dict[str, str | int | None]:
    """Return what a reader needs to judge the run times: processor, cores, memory, system, Python."""
    try:
        memory: int | None = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        memory = None
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_bytes": memory,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": ".".join(str(part) for part in sys.version_info[:3]),
    }
