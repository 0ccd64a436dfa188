"""The source package: it has all that the installed package has, and cargo takes its crates as they are locked."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

import fabricsim
from conftest import REAL

MATURIN = Path(__file__).resolve().parents[2] / ".venv" / "bin" / "maturin"
INSTALLED = Path(fabricsim.__file__).parent
#: Built here, not written: the core, and the MPI libraries, which a wheel of the source package does without.
BUILT = ("_core", "_libraries/")

pytestmark = pytest.mark.skipif(not REAL or not MATURIN.exists(), reason="needs the build environment of make setup")


def test_a_source_package_has_every_file_of_the_wheel_and_locked_crates(tmp_path):
    root = MATURIN.parents[2]
    subprocess.run([MATURIN, "sdist", "--out", tmp_path], cwd=root, check=True, capture_output=True)
    (packed,) = tmp_path.glob("fabricsim-*.tar.gz")
    with tarfile.open(packed) as files:
        files.extractall(tmp_path, filter="data")
    unpacked = tmp_path / packed.name.removesuffix(".tar.gz")
    package = unpacked / "python" / "fabricsim"
    there = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    wanted = {
        str(path.relative_to(INSTALLED)) for path in INSTALLED.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    missing = {name for name in wanted - there if not name.startswith(BUILT)}
    assert not missing
    assert "studies/ecp.toml" in there, "studies are a link in the repository, and files here"
    assert {"README.md", "LICENSE", "Cargo.lock", "pyproject.toml"} <= {path.name for path in unpacked.iterdir()}
    cargo = shutil.which("cargo")
    assert cargo is not None
    subprocess.run(
        [cargo, "metadata", "--locked", "--offline", "--format-version", "1"], cwd=unpacked, check=True, capture_output=True
    )
