"""MPI programs on simulated networks: what a user meets before they run, while they do, and after."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MPI programs run on Linux"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="programs are compiled with gcc"),
    pytest.mark.skipif(not (Path(sys.prefix) / "include" / "mpi.h").is_file(), reason="the mpich package has the header"),
]

#: What a program does is its first argument.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int is(const char *word, const char *how) { return strcmp(word, how) == 0; }

static void ring(void) {
    int token = 0, to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (rank == 0) {
        token = 1;
        MPI_Send(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d hops\n", token);
    } else {
        MPI_Recv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token++;
        MPI_Send(&token, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    }
}

/* The first rank takes what comes from whomever. */
static void serve(void) {
    for (int i = 1; rank == 0 && i < size; i++) {
        int got;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d\n", got);
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "ring";
    int got = 0;
    if (is(how, "never")) {
        puts("no MPI");
        return 5;
    }
    if (is(how, "hang")) {
        printf("pid %d\n", getpid());
        fflush(stdout);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is(how, "ring")) ring();
    if (is(how, "serve")) serve();
    if (is(how, "crash") && rank == 1) { volatile int *nowhere = 0; *nowhere = 1; }
    if (is(how, "inside") && rank == 1) MPI_Send((void *)8, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (is(how, "crash") || is(how, "inside")) MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(how, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    if (is(how, "leave") && rank == 1) exit(0);
    if (is(how, "deadlock")) MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(how, "hang")) {
        if (rank == 0) MPI_Recv(&got, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else for (;;) pause();
    }
    if (is(how, "waits")) {
        printf("%d %d\n", rank, getpid());
        fflush(stdout);
        if (rank == size - 1) for (;;) pause();
        MPI_Recv(&got, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(how, "cat"))
        for (int c = getchar(); c != EOF; c = getchar()) { putchar(c); got++; }
    if (is(how, "cat") && rank > 0) fprintf(stderr, "rank %d reads %d bytes", rank, got);
    if (is(how, "bytes"))
        for (int i = 0; rank == 0 && i < 100000; i++) putchar(i % 256);
    if (is(how, "lines")) printf("first of %d\nlast of %d", rank, rank);
    if (is(how, "arguments"))
        for (int i = 2; rank == 0 && i < argc; i++) printf("[%s]", argv[i]);
    MPI_Finalize();
    return is(how, "code") ? rank + 3 : 0;
}
"""


@pytest.fixture(scope="session")
def libraries():
    from fabricsim.programs import libraries

    return libraries()


@pytest.fixture(scope="session")
def built(tmp_path_factory, libraries):
    """Return the folder of the program, `standard` and `mpich` by the ABI that it is built for."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "program.c").write_text(PROGRAM)
    include = Path(sys.prefix) / "include"
    for name, library, words in (
        ("mpich", "libmpi.so.12", []),
        ("standard", "libmpi_abi.so.1", ["-DMPI_ABI"]),
    ):
        if name == "standard" and not (include / "mpi_abi.h").is_file():
            continue
        _compile(folder / "program.c", folder / name, *words, f"-I{include}", str(libraries / library))
    return folder


@pytest.fixture(scope="session")
def program(built):
    return built / ("standard" if (built / "standard").is_file() else "mpich")


def _compile(source, to, *words):
    subprocess.run(["gcc", "-g", "-w", *words[:1], str(source), "-o", str(to), *words[1:]], check=True)


def mpirun(*words, command=(), text=True, **more):
    words = [sys.executable, "-m", "fabricsim", "mpirun", *map(str, words), "--", *map(str, command)]
    return subprocess.run(words, capture_output=True, text=text, timeout=120, check=False, **more)


def ran(*words, command=(), **more):
    done = mpirun(*words, command=command, **more)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("abi", ["standard", "mpich"])
def test_a_program_of_either_abi_runs_without_a_study(built, abi):
    if not (built / abi).is_file():
        pytest.skip("the header of the standard ABI comes with mpich 5.0.2")
    done = ran("-n", 4, command=[built / abi])
    assert done.stdout == "4 hops\n"
    assert "4 ranks took 2.80288 us of simulated time" in done.stderr


def test_a_shell_and_other_programs_may_start_the_ranks(built):
    for abi in ("standard", "mpich"):
        if (built / abi).is_file():
            assert ran("-n", 2, "-q", command=["sh", "-c", f"{built / abi}"]).stdout == "2 hops\n"


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("code", 5, "3 ranks took"),
        (
            "crash",
            139,
            "rank 1 was ended by signal 11 (segmentation fault), in its own code behind MPI_Comm_size at main (program.c:",
        ),
        ("inside", 139, "rank 1 was ended by signal 11 (segmentation fault), in MPI_Send at main (program.c:"),
        ("abort", 7, "rank 1 called MPI_Abort with code 7"),
        ("leave", 1, "rank 1 ended with code 0 without having called MPI_Finalize, in its own code behind MPI_Comm_size at main"),
        ("never", 5, "without having called MPI_Init: it uses no MPI, or another one than fabricsim's"),
        ("deadlock", 4, "circle: 0 waits for 1 waits for 2 waits for 0"),
    ],
)
def test_the_exit_code_is_that_of_the_program_and_its_end_is_told(program, tmp_path, how, code, words):
    done = mpirun("-n", 3, "--json", tmp_path / "end.json", command=[program, how])
    assert done.returncode == code
    assert words in done.stderr
    told = json.loads((tmp_path / "end.json").read_text())
    assert told["verdict"] == {"code": "ok", "deadlock": "deadlock"}.get(how, "failed")
    assert told["ranks"] == 3


def test_a_deadlock_names_rank_peer_tag_and_place(program):
    done = mpirun("-n", 2, command=[program, "deadlock"])
    assert "rank 0: receives up to 4 bytes from rank 1 (tag 3), at main (program.c:" in done.stderr


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("crash", "rank 1 was ended by signal 11 (segmentation fault), in its own code behind MPI_Comm_size at main"),
        ("deadlock", "deadlock: 3 of 3 ranks wait for what never comes"),
    ],
)
def test_the_log_of_a_program_that_came_to_no_end_has_what_was_done_and_says_so(program, tmp_path, how, reason):
    done = mpirun("-n", 3, "--log", "x.work", command=[program, how], cwd=tmp_path)
    assert "fabricsim: x.work is incomplete: it has what was done up to there" in done.stderr
    _is_incomplete(tmp_path / "x.work", reason)


def _is_incomplete(log, reason):
    """See that a log says why it ends early, and can be played without what has no other end."""
    words = [sys.executable, "-m", "fabricsim", "trace"]
    told = subprocess.run([*words, "info", str(log)], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 2
    assert f"it is incomplete, and ends where its run did: {reason}" in told.stdout
    whole = log.with_name("whole.work")
    made = subprocess.run(
        [*words, "convert", str(log), str(whole), "--repair", "drop"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    told = subprocess.run([*words, "info", str(whole)], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 0, told.stdout


def test_the_log_of_a_program_that_was_interrupted_is_kept(program, tmp_path):
    with _hanging(program, tmp_path, log=tmp_path / "x.work") as (launcher, _):
        launcher.send_signal(signal.SIGINT)
        _, errors = launcher.communicate(timeout=20)
    assert launcher.returncode == 130, errors
    _is_incomplete(tmp_path / "x.work", "interrupted")


def _files(folder, libraries):
    """Make what is no program that can run; return what is said of each."""
    (folder / "script").write_text("#!/no/such/interpreter\n")
    (folder / "plain").write_text("echo\n")
    for name in ("script",):
        (folder / name).chmod(0o755)
    (folder / "nothing.c").write_text("int MPI_Init(void *a, void *b) { return 0; } int main() { return 0; }")
    source = folder / "nothing.c"
    subprocess.run(
        ["gcc", "-w", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", source, "-o", folder / "libmpi.so.40"], check=True
    )
    (folder / "caller.c").write_text("int MPI_Init(); int main() { return MPI_Init(0, 0); }")
    subprocess.run(["gcc", "-w", folder / "caller.c", folder / "libmpi.so.40", "-o", folder / "openmpi"], check=True)
    words = {
        "./openmpi": "openmpi is built for Open MPI (libmpi.so.40); build it with an MPICH, or with mpicc_abi",
        "./script": "what it names as its loader, or as its interpreter in the first line, is not there",
        "./plain": "plain may not be executed: chmod +x ./plain",
        "./absent": f"there is no program {folder}/absent",
        "openmpi": "there is no program openmpi in the folders of PATH: write ./openmpi",
    }
    if (
        subprocess.run(["gcc", "-w", "-static", source, "-o", folder / "static"], capture_output=True, check=False).returncode
        == 0
    ):
        words["./static"] = "static is linked statically: its MPI cannot be replaced; link it dynamically"
    return words


def test_what_cannot_run_is_told_by_name(tmp_path, libraries):
    for command, words in _files(tmp_path, libraries).items():
        done = mpirun("-n", 2, command=[command], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (127, "")
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_which_tells_the_library_and_what_the_program_needs(built, program, tmp_path, libraries):
    done = ran("--which", command=[program])
    needs, library = done.stdout.splitlines()
    assert needs.startswith(f"{program} needs the ")
    assert Path(library.split()[1].rstrip(",")).is_file()
    assert "names no MPI itself" in ran("--which", command=["sh"]).stdout
    assert "libmpi_abi.so.1, loaded before all others" in ran("--which", "--abi", "standard", command=["sh"]).stdout
    _files(tmp_path, libraries)
    done = mpirun("--which", command=["./openmpi"], cwd=tmp_path)
    assert done.returncode == 2
    assert "Open MPI" in done.stderr


def test_output_passes_byte_by_byte(program, tmp_path):
    expected = bytes(i % 256 for i in range(100_000))
    assert ran("-n", 2, "-q", "--no-prefix", command=[program, "bytes"], text=False).stdout == expected
    done = ran("-n", 2, "-q", "--output", tmp_path / "out", command=[program, "bytes"], text=False)
    assert done.stdout == b""
    assert (tmp_path / "out" / "0.out").read_bytes() == expected


def test_output_has_the_rank_before_each_line_or_goes_to_files(program, tmp_path):
    done = ran("-n", 2, "-q", "--prefix", command=[program, "lines"])
    assert sorted(done.stdout.splitlines()) == ["0| first of 0", "0| last of 0", "1| first of 1", "1| last of 1"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "7.out").write_text("of an earlier program")
    (tmp_path / "out" / "mine.out").write_text("of somebody else")
    ran("-n", 2, "--output", tmp_path / "out", command=[program, "lines"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0.out", "1.out", "mine.out"]
    assert (tmp_path / "out" / "1.out").read_text() == "first of 1\nlast of 1"


def test_the_first_rank_reads_the_input_and_no_other(program):
    done = ran("-n", 2, "-q", command=[program, "cat"], input="one\ntwo")
    assert done.stdout == "one\ntwo"
    assert done.stderr == "rank 1 reads 0 bytes"


def test_arguments_with_line_ends_and_empty_ones_reach_the_program(program, tmp_path):
    assert ran("-n", 2, "-q", command=[program, "arguments", "two\n\tlines", "", "-x"]).stdout == "[two\n\tlines][][-x]"
    done = ran(
        "-n", 2, "-q", command=[sys.executable, "-c", "from mpi4py import MPI\nfor i in range(2):\n\tprint(MPI.COMM_WORLD.size)"]
    )
    assert done.stdout.split() == ["2"] * 4


def test_figures_go_into_a_file_and_the_log_plays_to_the_same_digest(program, tmp_path):
    ran("-n", 4, "--json", "a.json", "--log", "a.work", "--out", "results", command=[program], cwd=tmp_path)
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["verdict"] == "ok"
    assert told["time_ns"] == pytest.approx(2802.88)
    assert (told["ranks"], told["words"]) == (4, [])
    # Init, rank, size, Finalize of each rank, a send and a receive; init, the receive, and the send of blocking ranks are waited for.
    assert told["calls"] == 4 * 6
    assert 4 * 3 <= told["traps"] <= told["calls"]
    assert 0 < told["cpu_s"] < 5
    assert set(told["time_dependent_calls"]) >= {"Test", "Iprobe", "Waitany", "ANY_SOURCE"}
    assert not any(told["time_dependent_calls"].values())
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["runs"][0]["digest"] == told["digest"]
    assert (tmp_path / "results" / "report.html").is_file() or (tmp_path / "results" / "jobs.parquet").is_file()


def test_calls_that_depend_on_time_are_counted_and_told(program, tmp_path):
    done = ran("-n", 4, "--json", "-", command=[program, "serve"])
    *printed, told = done.stdout.splitlines()
    assert sorted(printed) == ["1", "2", "3"]
    assert json.loads(told)["time_dependent_calls"]["ANY_SOURCE"] == 3
    assert "3 ANY_SOURCE" in done.stderr


def test_a_study_and_its_keys_set_the_network(program, tmp_path):
    (tmp_path / "net.toml").write_text(
        'name = "net"\n[topology]\nkind = "torus"\nshape = [4, 4]\n[link]\nbandwidth = "25 GB/s"\nlatency = "1 us"\n'
        '[[job]]\nwork = { kind = "ring" }\nplacement = "random"\n'
    )
    times = []
    for latency in ("1 us", "2 us"):
        ran(
            "-n",
            4,
            "--study",
            "net.toml",
            "--set",
            f"link.latency={latency}",
            "--json",
            "t.json",
            command=[program],
            cwd=tmp_path,
        )
        times.append(json.loads((tmp_path / "t.json").read_text())["time_ns"])
    assert times[1] > times[0] + 4 * 1000
    done = mpirun("-n", 17, "--study", "net.toml", command=[program], cwd=tmp_path)
    assert done.returncode == 2
    assert "17 ranks do not fit" in done.stderr
    done = mpirun("-n", 4, "--set", "link.speed=1", command=[program], cwd=tmp_path)
    assert done.returncode == 2
    done = mpirun("-n", 4, "--log", "no/such/folder/x.work", command=[program], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


@contextlib.contextmanager
def _hanging(program, tmp_path, *words, log=None):
    """Start a program that goes on for ever, and end it; the launcher and the numbers of all processes, which begin to set up MPI."""
    logged = ["--log", str(log)] if log else []
    command = [sys.executable, "-m", "fabricsim", "mpirun", "-n", "3", "--no-prefix", *logged, "--", *words, str(program), "hang"]
    if words:
        command = [*command[:-2], f"{program} hang; true"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as launcher:
        try:
            yield launcher, [int(launcher.stdout.readline().split()[1]) for _ in range(3)]
        finally:
            launcher.kill()


def _becomes_true(what, within):
    end = time.monotonic() + within
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def _are_gone(processes, within):
    return _becomes_true(lambda: not any(Path(f"/proc/{process}").exists() for process in processes), within)


def _mapped(processes, begin):
    """Return the files that processes have in their memory and whose names begin so."""
    lines = [line for process in processes for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    return {words[5] for line in lines if len(words := line.split(maxsplit=5)) == 6 and words[5].startswith(begin)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_the_launcher_ends_the_ranks(program, tmp_path, number):
    with _hanging(program, tmp_path) as (launcher, ranks):
        launcher.send_signal(number)
        _, errors = launcher.communicate(timeout=20)
    assert launcher.returncode == 128 + number
    assert "Traceback" not in errors
    assert _are_gone(ranks, 1)


@pytest.mark.parametrize("words", [(), ("sh", "-c")], ids=["itself", "in a shell"])
def test_a_killed_launcher_leaves_no_process_and_no_file(program, tmp_path, words):
    with _hanging(program, tmp_path, *words) as (launcher, ranks):
        assert _becomes_true(lambda: _mapped(ranks, "/memfd:"), 20), "the ranks share memory that has no name"
        shared = _mapped(ranks, "/dev/shm/")
        launcher.kill()
        launcher.communicate(timeout=20)
    assert _are_gone(ranks, 5)
    assert [path for path in shared if Path(path).exists()] == []
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid is not installed")
def test_ranks_in_sessions_of_their_own_end_when_they_see_that_the_launcher_has_gone(program):
    words = ["-n", "18", "--no-prefix", "--", "setsid", "--wait", str(program), "waits"]
    with subprocess.Popen([sys.executable, "-m", "fabricsim", "mpirun", *words], stdout=subprocess.PIPE, text=True) as launcher:
        ranks = dict(map(int, launcher.stdout.readline().split()) for _ in range(18))
        launcher.kill()
    # This one is in its own code, and never comes again.
    own = ranks.pop(17)
    try:
        assert _are_gone(ranks.values(), 10)
    finally:
        for rank in (own, *ranks.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank, signal.SIGKILL)


def test_a_debugger_is_started_for_one_rank_and_waited_for_by_another(program, tmp_path):
    debugger = tmp_path / "gdb"
    debugger.write_text('#!/bin/sh\necho "debugging $2 $3" >&2\nshift\nexec "$@"\n')
    debugger.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = ran("-n", 2, "--debug", 1, "-q", command=[program], env=environment)
    assert done.stderr == f"debugging {program} \n"
    assert done.stdout == "2 hops\n"
    done = mpirun("-n", 2, "--debug", 2, command=[program])
    assert (done.returncode, "ranks are 0 to 1" in done.stderr) == (2, True)


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_a_rank_waits_for_a_debugger_that_comes(program):
    command = [sys.executable, "-m", "fabricsim", "mpirun", "-n", "2", "-q", "--wait", "1", "--", str(program)]
    launcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = launcher.stderr.readline()
    assert line.startswith("fabricsim: rank 1 waits for a debugger: gdb -p ")
    process = line.split("gdb -p ")[1].split(",")[0]
    attached = subprocess.run(["gdb", "-batch", "-p", process, "-ex", "continue"], capture_output=True, timeout=60, check=False)
    output, errors = launcher.communicate(timeout=30)
    if b"ptrace" in attached.stderr:
        pytest.skip("processes may not be traced here")
    assert (launcher.returncode, output) == (0, "2 hops\n"), errors


def _study(program, sweep="", more=""):
    return (
        'name = "programs"\n[topology]\nkind = "torus"\nshape = [4, 4]\n[link]\nbandwidth = "25 GB/s"\nlatency = "100 ns"\n'
        f'[[job]]\nwork = {{ kind = "program", command = {json.dumps(program)}, ranks = 4 }}\n{more}{sweep}'
    )


def _campaign(tmp_path, text, *words):
    (tmp_path / "s.toml").write_text(text)
    command = [sys.executable, "-m", "fabricsim", "run", "s.toml", "--out", "r", "--no-report", "--quiet", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    records = [json.loads(path.read_text()) for path in (tmp_path / "r" / "runs").glob("*.json")]
    by_latency = {dict(record["sweep"]).get("link.latency", ""): record for record in records}
    return done, dict(sorted(by_latency.items()))


NET = (
    'name = "net"\n[topology]\nkind = "torus"\nshape = [4, 4]\n[link]\nbandwidth = "25 GB/s"\nlatency = "100 ns"\n'
    '[[job]]\nwork = { kind = "ring" }\n'
)
SWEEP = '[sweep]\n"link.latency" = ["100 ns", "200 ns", "300 ns"]\n'


def test_a_campaign_runs_a_program_once_and_plays_its_log_on_the_other_networks(program, tmp_path):
    done, records = _campaign(tmp_path, _study([str(program)], SWEEP))
    first = records["100 ns"]
    assert first["programs"][0]["exit_code"] == 0
    assert [record.get("replay_of") for record in records.values()] == [None, first["id"], first["id"]]
    assert len({record["summary"]["digest"] for record in records.values()}) == 3
    assert "4 hops" not in done.stdout + done.stderr
    folder = tmp_path / "r" / "programs" / first["id"]
    assert (folder / "output" / "0.out").read_text() == "4 hops\n"
    assert (folder / "log.work").is_file()
    # What is played is what would have run.
    (tmp_path / "alone").mkdir()
    _, alone = _campaign(tmp_path / "alone", _study([str(program)], SWEEP.replace('"100 ns", "200 ns", ', "")))
    assert "replay_of" not in alone["300 ns"]
    assert alone["300 ns"]["summary"]["digest"] == records["300 ns"]["summary"]["digest"]
    verify = [sys.executable, "-m", "fabricsim", "verify", "r"]
    told = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0
    assert "not fabricsim's" not in told.stdout + told.stderr


def test_how_long_a_program_takes_is_not_told_before_it_runs(program, tmp_path):
    (tmp_path / "s.toml").write_text(_study([str(program)]))
    command = [sys.executable, "-m", "fabricsim", "expand", "s.toml", "--json"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    estimate = json.loads(told)["runs"][0]["estimate"]
    assert (estimate["seconds"], estimate["packet_hops"], estimate["nodes"]) == (None, None, 16)


def test_a_rerun_plays_the_logs_of_programs(program, tmp_path):
    _campaign(tmp_path, _study([str(program)], SWEEP.replace(', "300 ns"', "")))
    command = [sys.executable, "-m", "fabricsim", "rerun", "r", "--json", "-q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [run["same"] for run in json.loads(done.stdout)["runs"]] == [True, True]


def test_the_log_of_a_log_is_that_log(program, tmp_path):
    ran("-n", 4, "-q", "--log", "first.work", command=[program], cwd=tmp_path)
    again = ["--compute", "recorded", "--compute-file", "first.work"]
    ran("-n", 4, "-q", "--log", "again.work", *again, command=[program], cwd=tmp_path)
    assert (tmp_path / "again.work").read_bytes() == (tmp_path / "first.work").read_bytes()


def test_ranks_of_the_simulator_and_a_run_with_checkpoints_play_a_log_to_the_live_digest(program, tmp_path):
    launcher = Path(sys.executable).parent / "mpirun"
    if not launcher.exists():
        pytest.skip("no mpirun beside this Python: pip install mpich")
    (tmp_path / "net.toml").write_text(NET)
    ran("-n", 4, "-q", "--study", "net.toml", "--log", "x.work", "--json", "live.json", command=[program], cwd=tmp_path)
    live = json.loads((tmp_path / "live.json").read_text())["digest"]
    (tmp_path / "log.toml").write_text(NET.replace('{ kind = "ring" }', '{ kind = "trace", file = "x.work" }'))
    environment = {**os.environ, "MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}
    words = [sys.executable, "-m", "fabricsim", "run", "log.toml", "--no-report", "-q", "--out"]
    for name, before, more in (
        ("shared", [str(launcher), "-n", "2"], []),
        ("saved", [], ["--checkpoint-every", "1 us"]),
    ):
        command = [*before, *words, name, *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / name / "summary.json").read_text())["runs"][0]["digest"] == live


def test_a_campaign_runs_a_program_for_each_network_where_its_flow_depends_on_time(program, tmp_path):
    _, records = _campaign(tmp_path, _study([str(program), "serve"], SWEEP), "--jobs", "2")
    assert [record["programs"][0]["time_dependent"]["ANY_SOURCE"] for record in records.values()] == [3, 3, 3]
    for record in records.values():
        printed = (tmp_path / "r" / "programs" / record["id"] / "output" / "0.out").read_text()
        assert sorted(printed.split()) == ["1", "2", "3"]


def test_two_programs_and_a_motif_share_a_network(program, tmp_path):
    more = (
        f'[[job]]\nwork = {{ kind = "program", command = {json.dumps([str(program), "cat"])}, ranks = 3 }}\n'
        '[[job]]\nwork = { kind = "ring", ranks = 4 }\n'
    )
    text = _study([str(program)], more=more).replace("ranks = 4 }", "ranks = 4 }\nnodes = 4\n", 1)
    text = text.replace("ranks = 3 }", "ranks = 3 }\nnodes = 3\n").replace(
        '{ kind = "ring", ranks = 4 }', '{ kind = "ring" }\nnodes = 4'
    )
    _, records = _campaign(tmp_path, text)
    (record,) = records.values()
    assert [program["end"] for program in record["programs"]] == ["finished"] * 2
    assert [job["time_ns"] > 0 for job in record["summary"]["jobs"]][2]
    folder = tmp_path / "r" / "programs" / record["id"]
    assert sorted(path.name for path in folder.iterdir()) == ["log.1.work", "log.work", "output", "output.1"]
    assert (folder / "output" / "0.out").read_text() == "4 hops\n"
    assert (folder / "output.1" / "2.err").read_text() == "rank 2 reads 0 bytes"


def test_a_program_that_fails_fails_its_run_and_says_why(program, tmp_path):
    (tmp_path / "s.toml").write_text(_study([str(program), "deadlock"]))
    command = [sys.executable, "-m", "fabricsim", "run", "s.toml", "--out", "r", "--no-report", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    assert "rank 0: receives up to 4 bytes from rank 1" in done.stdout + done.stderr


def test_an_installation_without_the_libraries_says_so(program, monkeypatch, tmp_path):
    from fabricsim import _libraries_of_mpi as mpi
    from fabricsim.errors import ProgramError

    monkeypatch.delenv("FABRICSIM_MPI_LIBRARIES", raising=False)
    monkeypatch.setattr(mpi, "__file__", str(tmp_path / "mpi.py"))
    with pytest.raises(ProgramError, match=r"was built without the MPI libraries; `make setup`"):
        mpi.libraries()


def test_links_to_the_libraries_go_with_the_process_where_nothing_can_be_kept(tmp_path, libraries):
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "FABRICSIM_MPI_LIBRARIES"},
        "XDG_CACHE_HOME": str(tmp_path / "file"),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    code = (
        "import os, signal, sys; from fabricsim.programs import libraries; print(sorted(os.listdir(libraries())), flush=True)\n"
    )
    end = "os.kill(os.getpid(), signal.SIGKILL)"
    for more, left in ((end, 1), (end, 1), ("", 0)):
        done = subprocess.run([sys.executable, "-c", code + more], env=environment, capture_output=True, text=True, check=False)
        assert "libmpich.so.12" in done.stdout, done.stderr
        assert len(os.listdir(tmp_path / "temporary")) == left


MPI4PY = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
data, got, total = np.arange(50_000.0) + rank, np.empty(50_000), np.empty(50_000)
request = comm.Isend(data, (rank + 1) % size, 7)
comm.Recv(got, (rank - 1) % size, 7)
request.Wait()
comm.Allreduce(data, total)
assert got[5] == 5 + (rank - 1) % size and total[3] == sum(3 + r for r in range(size))
assert comm.sendrecv({"from": rank}, (rank + 1) % size, source=(rank - 1) % size) == {"from": (rank - 1) % size}
if rank == 0:
    print("ok", size, "fabricsim" in MPI.Get_library_version())
"""


def test_a_script_of_mpi4py_runs_beside_the_mpich_package(tmp_path):
    pytest.importorskip("mpi4py")
    (tmp_path / "script.py").write_text(MPI4PY)
    assert ran("-n", 8, "-q", command=[sys.executable, "script.py"], cwd=tmp_path).stdout == "ok 8 True\n"


def _wheel():
    folder = Path(__file__).resolve().parents[2] / ".stamps" / "wheels"
    return next(iter(sorted(folder.glob("*.whl"))), None)


@pytest.mark.skipif("FABRICSIM_FRESH" not in os.environ, reason="installs packages, a minute: FABRICSIM_FRESH=1")
@pytest.mark.skipif(_wheel() is None, reason="`make setup` leaves the wheel")
def test_a_fresh_environment_runs_a_script_with_no_compiler_and_no_study(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True)
    binaries = tmp_path / "fresh" / "bin"
    installed = subprocess.run(
        [binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(_wheel()), "mpi4py", "numpy"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"packages cannot be installed: {installed.stderr[-200:]}")
    (tmp_path / "script.py").write_text(MPI4PY)
    keep = {name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ}
    environment = {**keep, "PATH": f"{binaries}{os.pathsep}/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = ["fabricsim", "mpirun", "-n", "8", "-q", "--", "python", "script.py"]
    done = subprocess.run(
        [binaries / command[0], *command[1:]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ok 8 True\n"), done.stderr
