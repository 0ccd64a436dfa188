"""The MPI library beside a real one: the same numbers behind the same names, the same functions, and programs that print the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from fabricsim import programs

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "mpi"
LIBRARY = HERE.parents[1] / "crates" / "mpi-library" / "src"
PREFIX = Path(sys.prefix)
MPIEXEC = PREFIX / "bin" / "mpiexec"
COMPILER = shutil.which("cc") or shutil.which("gcc")
#: Ranks that wait let others run: tests share few cores with much else.
PATIENT = {**os.environ, "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
SIZES = (1, 2, 3, 5, 8)
#: Waiting ranks of MPICH spin: on more ranks than cores this program, thousands of reductions one behind the other, takes 22 CPU seconds of
#: the 55 of all, for the same reductions. `FABRICSIM_MPICH=whole` has it on all numbers of ranks, and mpi4py's tests on one rank.
WHOLE = os.environ.get("FABRICSIM_MPICH") == "whole"
FEWER = {} if WHOLE else {"reductions": (1, 2, 3)}
#: Functions of the C library that the library stands before: sleeping is computing on a simulated network, and clocks may show its time.
STANDS_BEFORE = set("sleep usleep nanosleep clock_nanosleep poll select clock_gettime gettimeofday time".split())


@dataclass(frozen=True)
class Face:
    """A binary interface: how programs are compiled for it, and the library that they ask for."""

    name: str
    flags: tuple[str, ...]
    library: str


FACES = (Face("standard", ("-DMPI_ABI",), "libmpi_abi.so.1"), Face("mpich", (), "libmpi.so.12"))

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler: install gcc")
needs_headers = pytest.mark.skipif(
    not (PREFIX / "include" / "mpi_abi.h").exists(),
    reason="no headers of both interfaces beside this Python: pip install 'mpich>=5.0.2'",
)


@pytest.fixture(scope="module")
def libraries() -> Path:
    try:
        return programs.libraries()
    except programs.ProgramError as error:
        pytest.skip(str(error))


def _compiler(*arguments: str | Path, text: str | None = None) -> str:
    assert COMPILER
    done = subprocess.run([COMPILER, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _preprocessed(face: Face, *flags: str) -> str:
    return _compiler("-E", *flags, *face.flags, "-I", PREFIX / "include", "-x", "c", "-", text="#include <mpi.h>\n")


# Constants


def _number(text: str) -> int:
    """The value of a number as Rust writes it."""
    words = text.replace("_u32", "").split(" as ")
    value = int(words[0], 0)
    return value - (1 << 32) if "i32" in words and value >= 1 << 31 else value


def _table(face: Face) -> dict[str, int]:
    """Every name of the table of constants with its value in a binary interface."""
    source = (LIBRARY / "faces" / "constants.rs").read_text()
    column = FACES.index(face)
    rows = re.findall(r'^ {4}\w+ "(MPIX?_\w+)": ([^,;]+), ([^,;]+);$', source, re.MULTILINE)
    found = {name: _number(values[column]) for name, *values in rows}
    alone = source.split(f"pub const {face.name.upper()}_ALONE")[1].split("];")[0]
    return found | {name: _number(value) for name, value in re.findall(r'\("(\w+)", ([^)]+)\)', alone)}


#: Constants of the headers that are no numbers: functions and variables, and how numbers are printed.
_NO_NUMBERS = re.compile(
    r"MPI_ABI|.*_(DUP|NULL_COPY|NULL_DELETE)_FN|MPI_DUP_FN|MPI_CONVERSION_FN_NULL(_C)?|MPI_T_PVAR_ALL_HANDLES|MPI_AINT_FMT_\w+"
    r"|MPI_UNWEIGHTED|MPI_WEIGHTS_EMPTY|MPI_F_STATUS(ES)?_IGNORE|MPI_F08_STATUS(ES)?_IGNORE"
)


def _names(face: Face) -> set[str]:
    """The constants of a header: macros and members of enumerations, without what MPICH's says of its own functions."""
    macros = set(re.findall(r"^#define (MPIX?_[A-Z0-9_]+(?:_T)?) .+$", _preprocessed(face, "-dM"), re.MULTILINE))
    text = _preprocessed(face, "-P")
    functions = {name.upper() + "_T" for name in re.findall(r"\b(MPIX?_\w+) *\(", text)}
    members = {
        name
        for body in re.findall(r"enum\s*\w*\s*\{([^}]*)\}", text)
        for name in re.findall(r"\b(MPIX?_\w+)\b\s*(?:=|,|$)", body)
    }
    return {name for name in macros | members if name not in functions and not _NO_NUMBERS.fullmatch(name)}


@needs_compiler
@needs_headers
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
def test_every_constant_has_the_value_of_the_header(tmp_path: Path, face: Face) -> None:
    table, names = _table(face), _names(face)
    assert len(names) > 340
    known = {name for name in names if name != "MPI_LAST_FUNC_T"}
    assert known - table.keys() == set(), "constants of the header that the table lacks"
    assert table.keys() - names == set(), "constants of the table that the header lacks"
    lines = [f'    printf("{name} %lld\\n", (long long)(intptr_t)({name}));' for name in sorted(table)]
    program = "#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    (tmp_path / "constants.c").write_text(program)
    links = ("-Wl,--unresolved-symbols=ignore-all",)
    built = tmp_path / "constants"
    _compiler("-w", *face.flags, "-I", PREFIX / "include", tmp_path / "constants.c", "-o", built, *links)
    printed = subprocess.run([built], capture_output=True, text=True, timeout=60, check=True).stdout
    values = {name: int(value) for name, value in (line.split() for line in printed.splitlines())}
    assert values == {name: table[name] for name in values}
    assert len(values) == len(table)


# Exports


def _symbols(library: Path) -> dict[str, tuple[str, int]]:
    """Kind and address of the names that a library shows."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, timeout=60, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {name.split("@")[0]: (kind, int(address, 16)) for address, kind, name in rows}


@needs_compiler
@needs_headers
@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm: install binutils")
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
def test_every_function_of_the_header_is_there_under_two_names_and_nothing_else_is(libraries: Path, face: Face) -> None:
    declared = set(re.findall(r"^(?:\w+ )+(P?MPIX?_\w+)\(", _preprocessed(face, "-P"), re.MULTILINE))
    shown = _symbols(libraries / face.library)
    assert len(declared) > 1200
    assert declared - shown.keys() == set(), "functions of the header that the library lacks"
    others = {name for name in shown if not re.fullmatch(r"P?MPIX?_\w+|MPIR_Dup_fn", name)}
    assert others == STANDS_BEFORE
    for name, (kind, address) in shown.items():
        if name.startswith("PMPI"):
            assert kind == "T", name
            assert shown[name[1:]] == ("W", address), name


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf: install binutils")
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
def test_the_library_needs_what_every_system_has(libraries: Path, face: Face) -> None:
    done = subprocess.run(["readelf", "-d", libraries / face.library], capture_output=True, text=True, timeout=60, check=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout))
    assert needed <= {"libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert re.findall(r"\(SONAME\).*\[(.+)\]", done.stdout) == [face.library]


# Programs


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, libraries: Path) -> dict[tuple[str, str], Path]:
    """All programs, compiled for both interfaces."""
    folder = tmp_path_factory.mktemp("programs")
    done = {}
    for face in FACES:
        for source in sorted(SOURCES.glob("*.c")):
            program = folder / f"{source.stem}-{face.name}"
            arguments = ("-O1", "-w", *face.flags, "-I", PREFIX / "include", source, "-o", program, libraries / face.library)
            _compiler(*arguments, "-lm", "-lpthread")
            done[source.stem, face.name] = program
    return done


def _ours(program: Path, ranks: int, folder: Path, *arguments: str) -> tuple[programs.ProgramRun, list[str], str]:
    """How a program ends on a simulated network, what it prints, and what it says of errors."""
    command = [str(program), *arguments]
    run = programs.run_program(programs.program_study(command, ranks), output={"folder": str(folder)})
    lines = [line for rank in range(ranks) for line in _said(folder / f"{rank}.out").splitlines()]
    return run, sorted(lines), "".join(_said(folder / f"{rank}.err") for rank in range(ranks))


def _said(file: Path) -> str:
    """What a rank has written; it has a file from the first byte on."""
    return file.read_text() if file.exists() else ""


def _theirs(program: Path, ranks: int) -> list[str]:
    environment = {**PATIENT, "LD_LIBRARY_PATH": str(PREFIX / "lib")}
    command = [str(MPIEXEC), "-n", str(ranks), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.splitlines())


def _is_close(one: str, other: str) -> bool:
    """Whether two words are the same, or real numbers that differ in the last digits only."""
    if one == other:
        return True
    try:
        left, right = float(one.rstrip(",")), float(other.rstrip(","))
    except ValueError:
        return False
    return "." in one + other and abs(left - right) <= 1e-12 * max(1.0, abs(left))


def _differences(ours: list[str], theirs: list[str]) -> list[tuple[str, str]]:
    pairs = [
        *zip(ours, theirs, strict=False),
        *((line, "") for line in ours[len(theirs) :]),
        *(("", line) for line in theirs[len(ours) :]),
    ]
    same = lambda one, other: len(one) == len(other) and all(map(_is_close, one, other))  # noqa: E731
    return [(one, other) for one, other in pairs if not same(one.split(), other.split())]


NAMES = sorted(source.stem for source in SOURCES.glob("*.c") if source.stem != "failures")


@needs_compiler
@needs_headers
@pytest.mark.skipif(not MPIEXEC.exists(), reason="no mpiexec beside this Python: pip install mpich")
@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_it_prints_under_mpich(tmp_path: Path, built: dict[tuple[str, str], Path], name: str) -> None:
    for ranks in FEWER.get(name, SIZES):
        theirs = _theirs(built[name, "mpich"], ranks)
        # The other interface is the same code behind other numbers: one size tells.
        for face in FACES if ranks == 3 else FACES[1:]:
            folder = tmp_path / f"{face.name}-{ranks}"
            run, ours, said = _ours(built[name, face.name], ranks, folder)
            assert (run.verdict, run.exit_code) == ("ok", 0), (ranks, face.name, run.words, said)
            assert _differences(ours, theirs) == [], (ranks, face.name)


def test_there_are_programs_enough() -> None:
    assert len(NAMES) >= 20


@needs_compiler
@needs_headers
def test_calls_are_counted_by_what_makes_programs_depend_on_time(tmp_path: Path, built: dict[tuple[str, str], Path]) -> None:
    run, _, _ = _ours(built["waits", "mpich"], 2, tmp_path / "waits")
    counts = run.time_dependent_calls
    assert counts["Waitany"] == 2 * 13
    assert all(counts[kind] > 0 for kind in ("Waitsome", "Testsome", "Test", "Request_get_status"))
    assert (counts["Iprobe"], counts["Improbe"], counts["ANY_SOURCE"]) == (0, 0, 0)
    assert run.calls > sum(counts.values())
    run, _, _ = _ours(built["ring", "mpich"], 3, tmp_path / "ring")
    assert set(run.time_dependent_calls.values()) == {0}
    # MPI_Init, rank, size and MPI_Finalize, three rounds of two messages, and per size four starts, a wait and a count.
    assert run.calls == 3 * (4 + 3 * 2 + 8 * 6)


#: What is said of a mistake, and with which code the program ends.
FAILURES = {
    "truncation": ("rank 1: MPI_Recv: a message did not fit into the 8 bytes of its receive", 1),
    "tag": ("MPI_Send: tag 100000 is not between 0 and 65534", 1),
    "communicator": ("MPI_Send: the communicator is MPI_COMM_NULL", 1),
    "rank": ("MPI_Send: rank 99 is not in a communicator of 2", 1),
    "datatype": ("MPI_Send: the datatype has not been committed", 1),
    "count": ("MPI_Send: count -3 is negative", 1),
    "request": ("MPI_Request_free: the request is MPI_REQUEST_NULL", 1),
    "root": ("MPI_Bcast: rank 7 is not in a communicator of 2", 1),
    "mismatch": ("collective operation number 0 on the communicator", 1),
    "file": ("MPI_File_open (file input and output) is not there yet: see docs/models/programs.md", 1),
    "abort": ("rank 1: MPI_Abort with code 42", 42),
    "threads": ("while another thread is in a call of MPI", 134),
    "before": ("MPI_Barrier: MPI_Init has not been called", 1),
    "after": ("MPI_Barrier: MPI_Finalize has been called", 1),
}


@needs_compiler
@needs_headers
@pytest.mark.parametrize("what", FAILURES)
def test_a_mistake_is_named_and_ends_the_program(tmp_path: Path, built: dict[tuple[str, str], Path], what: str) -> None:
    words, code = FAILURES[what]
    run, _, said = _ours(built["failures", "mpich"], 2, tmp_path / "out", what)
    assert words in said
    # After MPI_Finalize the simulation is over, and well; the program has its own end.
    assert (run.verdict, run.exit_code) == ("ok" if what == "after" else "failed", code)


@needs_compiler
@needs_headers
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)
def test_what_is_not_there_is_refused_through_the_error_handler(
    tmp_path: Path, built: dict[tuple[str, str], Path], face: Face
) -> None:
    run, lines, said = _ours(built["failures", face.name], 2, tmp_path / "out", "unsupported")
    assert run.verdict == "ok"
    chapters = ("file", "session", "shared window", "spawn", "two groups", "window")
    assert lines == [f"{rank}: {chapter}: unsupported 1" for rank in range(2) for chapter in chapters]
    assert said.count("is not there yet: see docs/models/programs.md") == 2 * len(chapters)


# The tests of mpi4py

MODULES = (
    "p2p_buf", "p2p_obj", "cco_buf", "cco_obj", "cco_nb_buf", "request", "status", "comm", "op", "group", "attributes",
    "errhandler", "comm_topo",
)  # fmt: skip
#: What the standard leaves open, or what is refused: a synchronous send that has ended says that its receive was found, not that it
#: has ended; files, sessions and windows are not there.
NOT_OURS = ("testTestSomeRecv", "testWaitSomeRecv", "TestErrhandlerFile", "TestErrhandlerWin", "TestErrhandlerSession")


@pytest.fixture(scope="module")
def mpi4py_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tests of the mpi4py that is installed, from its source package."""
    try:
        version = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        pytest.skip("no mpi4py beside this Python: pip install mpi4py")
    folder = tmp_path_factory.mktemp("mpi4py")
    # Its version is known: an environment in which it could be built would cost half a minute.
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", "mpi4py"]
    done = subprocess.run(
        [*command, "-d", folder, f"mpi4py=={version}"], capture_output=True, text=True, timeout=120, check=False
    )
    archives = list(folder.glob("mpi4py-*.tar.gz"))
    if not archives:
        pytest.skip(f"the source package of mpi4py cannot be had: {done.stderr.strip()[-200:]}")
    shutil.unpack_archive(archives[0], folder, filter="data")
    return archives[0].with_suffix("").with_suffix("") / "test"


@pytest.mark.parametrize("ranks", [1, 2, 5] if WHOLE else [2, 5])
def test_the_tests_of_mpi4py_pass(tmp_path: Path, libraries: Path, mpi4py_tests: Path, ranks: int) -> None:
    modules = [f"test_{name}" for name in (*MODULES, *(["datatype"] if ranks == 1 else []))]
    skipped = [word for name in NOT_OURS for word in ("-x", name)]
    command = [sys.executable, str(mpi4py_tests / "main.py"), "--no-numpy", "-q", *skipped, *modules]
    run = programs.run_program(programs.program_study(command, ranks), output={"folder": str(tmp_path / "out")})
    said = [_said(tmp_path / "out" / f"{rank}.err") for rank in range(ranks)]
    assert (run.verdict, run.exit_code) == ("ok", 0), said[0][-4000:]
    for text in said:
        counted = re.search(r"^Ran (\d+) tests", text, re.MULTILINE)
        assert counted, text[-2000:]
        assert int(counted[1]) > 500
        assert re.search(r"^OK\b", text, re.MULTILINE), text[-4000:]
