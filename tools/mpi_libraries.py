"""Builds the MPI libraries of programs on simulated networks and puts them into the package: `python tools/mpi_libraries.py release`.

The wheel takes what lies in `python/fabricsim/_libraries` (tool.maturin in pyproject.toml). Where they cannot be built the folder is left
empty and the wheel is whole without them: `fabricsim mpirun` says so.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "python" / "fabricsim" / "_libraries"
#: The crate of each library, and the name that programs look for.
LIBRARIES = {"fabricsim-mpi-standard": "libmpi_abi.so.1", "fabricsim-mpi-mpich": "libmpi.so.12"}


def build(profile: str) -> dict[str, Path]:
    """Build both; return the file of each by the name that programs look for."""
    words = ["cargo", "build", "--quiet", "--locked", "--profile", profile, "--message-format", "json-render-diagnostics"]
    words += [word for crate in LIBRARIES for word in ("-p", crate)]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    built = {}
    for line in done.stdout.splitlines():
        told = json.loads(line)
        if told["reason"] != "compiler-artifact" or "cdylib" not in told["target"]["crate_types"]:
            continue
        crate = next(
            (crate for crate in LIBRARIES if f"/{crate}#" in told["package_id"] or f"#{crate}@" in told["package_id"]), None
        )
        if crate is not None:
            built[LIBRARIES[crate]] = Path(told["filenames"][0])
    return built


def place(built: dict[str, Path]) -> None:
    """Copy what has changed into the package, and take away what is not of it."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        if old.name not in built:
            old.unlink()
    for name, file in built.items():
        own = FOLDER / name
        if not own.is_file() or own.read_bytes() != file.read_bytes():
            shutil.copyfile(file, own)


def main() -> None:
    """Build and place them, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", nargs="?", default="release", help="cargo profile, as for the wheel")
    profile = parser.parse_args().profile
    built: dict[str, Path] = {}
    if not sys.platform.startswith("linux"):
        print("MPI programs run on Linux only: the wheel is built without the MPI libraries", file=sys.stderr)
    else:
        try:
            built = build(profile)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"the MPI libraries are not built, `fabricsim mpirun` will say so: {error}", file=sys.stderr)
    place(built)


if __name__ == "__main__":
    main()
