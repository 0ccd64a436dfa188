"""What running MPI programs on a simulated network costs: CPU time of a call that waits, of one that does not, and of a start.

``.venv/bin/python tools/program_costs.py [--ring 64x10000] [--repeat 3]``: every figure is CPU time (user and system) of the whole tree of
processes, the least and the most of its repetitions, so that a busy machine disturbs it least. Needs gcc and the header of an MPI
(``pip install mpich``); docs/perf-lessons.md has what was found.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fabricsim.programs import libraries

SOURCE = Path(__file__).with_suffix(".c")
BARE = Path(__file__).with_name("hand_over.c")


@dataclass(frozen=True)
class Cost:
    """What a run has cost."""

    cpu_s: float
    wall_s: float
    figures: dict[str, object]
    printed: dict[str, float]


def build(folder: Path, include: Path) -> Path:
    """Compile the program for the standard ABI, or for MPICH's where its header is missing."""
    standard = (include / "mpi_abi.h").is_file()
    library = libraries() / ("libmpi_abi.so.1" if standard else "libmpi.so.12")
    program = folder / "program_costs"
    flags = ["-DMPI_ABI"] if standard else []
    subprocess.run(["gcc", "-O2", *flags, f"-I{include}", str(SOURCE), "-o", str(program), str(library)], check=True)
    return program


def measure(program: Path, ranks: int, *arguments: str, options: tuple[str, ...] = ()) -> Cost:
    """Run the program once."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        words = [sys.executable, "-m", "fabricsim", "mpirun", "-q", "-n", str(ranks), "--json", str(figures), *options, "--"]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([*words, str(program), *arguments], check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        printed = (line.split() for line in done.stdout.splitlines())
        return Cost(
            cpu,
            time.perf_counter() - begun,
            json.loads(figures.read_text()),
            {name: float(value) for name, value in printed},
        )


def bare(folder: Path, ranks: int, rounds: int) -> float:
    """Return what the machine itself takes (us of CPU) to wake a process and be woken by it, among as many processes."""
    program = folder / "hand_over"
    if not program.exists():
        subprocess.run(["gcc", "-O2", str(BARE), "-o", str(program)], check=True)
    done = subprocess.run([str(program), str(ranks), str(rounds)], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[1])


def spread(values: list[float], unit: str) -> str:
    """Return least and most."""
    return f"{min(values):.3g} to {max(values):.3g} {unit}"


def trap(program: Path, ranks: int, rounds: int, repeat: int, options: tuple[str, ...]) -> None:
    """Tell what a call that waits costs in a ring, without what starting and ending does."""
    own, tree, rings, machine = [], [], [], []
    for _ in range(repeat):
        short = measure(program, ranks, "ring", str(rounds // 10), options=options)
        long = measure(program, ranks, "ring", str(rounds), options=options)
        traps = int(str(long.figures["traps"])) - int(str(short.figures["traps"]))
        own.append((float(str(long.figures["cpu_s"])) - float(str(short.figures["cpu_s"]))) / traps * 1e6)
        tree.append((long.cpu_s - short.cpu_s) / traps * 1e6)
        rings.append(long.cpu_s)
        machine.append(bare(program.parent, ranks, rounds))
    print(f"ring of {ranks} ranks, {rounds} rounds: {spread(rings, 's of CPU in all')}")
    print(f"  a call that waits: {spread(own, 'us of simulator and library')}, {spread(tree, 'us of all processes')}")
    print(f"  processes that only wake each other, in turn with it: {spread(machine, 'us')}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ring", action="append", metavar="RANKSxROUNDS", help="rings to run (64x10000, 1024x300)")
    parser.add_argument("--start", type=int, default=1024, metavar="RANKS", help="ranks that are started")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--include", type=Path, default=Path(sys.prefix) / "include", help="folder of mpi.h")
    parser.add_argument("--no-pin", action="store_true", help="let ranks have all cores")
    chosen = parser.parse_args()
    options = ("--no-pin",) if chosen.no_pin else ()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), chosen.include)
        for ring in chosen.ring or ["64x10000", "1024x300"]:
            ranks, rounds = map(int, ring.split("x"))
            trap(program, ranks, rounds, chosen.repeat, options)
        for compute in ("zero", "cpu"):
            runs = [measure(program, 4, "calls", "2000", options=(*options, "--compute", compute)) for _ in range(chosen.repeat)]
            told = (f"{name[:-3]} {spread([run.printed[name] for run in runs], 'ns')}" for name in ("receive_ns", "send_ns"))
            print(f"a call that does not wait, compute {compute}: {', '.join(told)}")
        if chosen.start:
            runs = [measure(program, chosen.start, "start", options=options) for _ in range(chosen.repeat)]
            walls, cpus = ([run.wall_s for run in runs], [run.cpu_s for run in runs])
            print(f"start and end of {chosen.start} ranks: {spread(walls, 's')}, {spread(cpus, 's of CPU')}")


if __name__ == "__main__":
    main()
