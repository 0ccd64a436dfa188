"""Facts about the machine that results carry, and how much of it a campaign may use."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

__all__ = ["available_core_set", "available_cores", "available_memory", "host_facts"]


def available_core_set() -> set[int]:
    """Return the cores that this process may use, at least one; honours affinity masks."""
    try:
        return os.sched_getaffinity(0) or {0}
    except AttributeError:
        return set(range(os.cpu_count() or 1))


def available_cores() -> int:
    """Return how many cores this process may use (at least 1); honours affinity masks."""
    return len(available_core_set())


def _read_integer(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def available_memory() -> int | None:
    """Return the bytes that can be taken without swapping, or None where the system does not tell.

    A control group's limit counts as well as the machine's free memory.
    """
    free: int | None = None
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    limit = _read_integer("/sys/fs/cgroup/memory.max")
    used = _read_integer("/sys/fs/cgroup/memory.current")
    if limit is not None and used is not None:
        room = max(0, limit - used)
        free = room if free is None else min(free, room)
    return free


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
