"""Time as MPI programs have it: sleeps, clocks, threads, and what a message takes, to the picosecond."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MPI programs run on Linux"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="programs are compiled with gcc"),
    pytest.mark.skipif(not (Path(sys.prefix) / "include" / "mpi.h").is_file(), reason="the mpich package has the header"),
]

#: What a program does is its first argument. Times of the host are asked of the system itself, which nobody stands before.
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static double of(struct timespec t) { return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

static double host(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return of(now);
}

static double clock_of(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return of(now);
}

static double simulated, real;

static void begin(void) { simulated = MPI_Wtime(), real = host(); }

/* Simulated time in us, and whether as much of the host's went by. */
static void end(const char *what, double wanted_s) {
    double passed = MPI_Wtime() - simulated;
    printf("%s %.6f %s\n", what, passed * 1e6, host() - real >= wanted_s ? "real" : "at once");
}

static void sleeps(void) {
    struct timespec half = {30, 500000000}, wrong = {1, 2000000000}, left = {0, 0}, date;
    struct timeval quarter = {20, 250000};
    begin(), sleep(40), end("sleep", 40);
    begin(), usleep(15000000), end("usleep", 15);
    begin(), nanosleep(&half, &left), end("nanosleep", 30.5);
    begin(), clock_nanosleep(CLOCK_MONOTONIC, 0, &half, &left), end("clock_nanosleep", 30.5);
    clock_gettime(CLOCK_MONOTONIC, &date);
    for (int i = 0; i < 3; i++) {
        date.tv_sec += 25;
        begin(), clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, NULL), end("to a date", 25);
    }
    begin(), poll(NULL, 0, 12500), end("poll", 12.5);
    begin(), select(0, NULL, NULL, NULL, &quarter), end("select", 20.25);
    printf("left %ld\n", (long)(quarter.tv_sec + quarter.tv_usec));
    begin();
    int code = nanosleep(&wrong, NULL);
    printf("wrong %d %d\n", code, errno == EINVAL);
    usleep(0), end("nothing", 1);
}

static void *naps(void *none) { usleep(300000); return none; }

/* What waits for others is no computing, and other threads sleep as they always do. */
static void waits(void) {
    int ends[2];
    pthread_t thread;
    if (pipe(ends)) exit(9);
    struct pollfd of_pipe = {ends[0], POLLIN, 0};
    begin(), poll(&of_pipe, 1, 300), end("descriptor", 0.3);
    begin(), pthread_create(&thread, NULL, naps, NULL), pthread_join(thread, NULL), end("thread", 0.3);
}

static void clocks(void) {
    struct timeval day;
    double begun = MPI_Wtime(), monotonic = clock_of(CLOCK_MONOTONIC), calendar = clock_of(CLOCK_REALTIME);
    usleep(2500000);
    gettimeofday(&day, NULL);
    double passed = MPI_Wtime() - begun;
    printf("%.3f %.3f %.3f\n", passed, clock_of(CLOCK_MONOTONIC) - monotonic, clock_of(CLOCK_REALTIME) - calendar);
    printf("%ld %.3f %ld\n", (long)time(NULL), (double)day.tv_sec - calendar + 1e-6 * (double)day.tv_usec, (long)calendar);
    struct timespec date = {(long)clock_of(CLOCK_MONOTONIC) + 100, 0};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, NULL);
    printf("%.6f\n", clock_of(CLOCK_MONOTONIC) - (double)date.tv_sec);
}

static void spins(void) {
    double begun = MPI_Wtime();
    while (MPI_Wtime() - begun < 1e-5) {}
    printf("%.3f us\n", (MPI_Wtime() - begun) * 1e6);
}

static void *burns(void *none) {
    double begun = clock_of(CLOCK_THREAD_CPUTIME_ID);
    while (clock_of(CLOCK_THREAD_CPUTIME_ID) - begun < 0.1) {}
    return none;
}

static void threads(void) {
    pthread_t thread;
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    pthread_create(&thread, NULL, burns, NULL);
    burns(NULL);
    pthread_join(thread, NULL);
    printf("%.6f\n", MPI_Wtime() - begun);
}

static void passes_a_token(long rounds) {
    long sent = rank, got = 0;
    for (long round = 0; round < rounds; round++) {
        MPI_Request open[2];
        MPI_Irecv(&got, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &open[0]);
        MPI_Isend(&sent, 1, MPI_LONG, (rank + 1) % size, 0, MPI_COMM_WORLD, &open[1]);
        MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
        sent = got;
    }
}

static void asks_who_it_is(long rounds) {
    for (long round = 0; round < rounds; round++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

/* Says how much CPU time it has taken for itself. */
static void works_for_itself(long rounds) {
    double own = 0;
    for (long round = 0; round < rounds; round++) {
        double begun = clock_of(CLOCK_THREAD_CPUTIME_ID), now = begun;
        while (now - begun < 2e-4) now = clock_of(CLOCK_THREAD_CPUTIME_ID);
        own += now - begun;
        passes_a_token(1);
    }
    printf("%.6f\n", own);
}

static void levels(int provided) {
    static const int all[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++)
        if (all[i] == provided) printf("level %d\n", i);
}

static void ping(void) {
    static char data[1 << 20];
    for (long bytes = 0; bytes <= 1 << 20; bytes = bytes ? bytes * 2 : 1)
        for (long n = bytes > 1 ? bytes - 1 : bytes; n <= bytes + (bytes > 1 && bytes < 1 << 20); n++) {
            double begun = 0;
            for (int round = 0; round < 2; round++) {
                begun = MPI_Wtime();
                if (rank == 0) MPI_Send(data, (int)n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(data, (int)n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank == 1) MPI_Send(data, (int)n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            if (rank == 0) printf("%ld %.0f\n", n, (MPI_Wtime() - begun) * 1e12);
        }
}

int main(int argc, char **argv) {
    const char *how = argv[1];
    double before = host();
    int provided, wanted = argc > 2 ? atoi(argv[2]) : 0;
    static const int all[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    if (!strcmp(how, "outside")) usleep(300000), printf("before %d\n", host() - before >= 0.3);
    MPI_Init_thread(&argc, &argv, all[wanted], &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "sleeps")) sleeps();
    if (!strcmp(how, "waits")) waits();
    if (!strcmp(how, "clocks")) clocks();
    if (!strcmp(how, "spins")) spins();
    if (!strcmp(how, "threads")) threads();
    if (!strcmp(how, "level")) levels(provided);
    if (!strcmp(how, "ping")) ping();
    if (!strcmp(how, "token")) passes_a_token(atol(argv[3]));
    if (!strcmp(how, "asks")) asks_who_it_is(atol(argv[3]));
    if (!strcmp(how, "works")) works_for_itself(atol(argv[3]));
    MPI_Finalize();
    double after = host();
    if (!strcmp(how, "outside")) usleep(300000), printf("after %d\n", host() - after >= 0.3);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    from fabricsim.programs import ProgramError, libraries

    try:
        folder = libraries()
    except ProgramError as error:
        pytest.skip(str(error))
    built = tmp_path_factory.mktemp("times")
    (built / "times.c").write_text(PROGRAM)
    include = Path(sys.prefix) / "include"
    face = (
        ["-DMPI_ABI", folder / "libmpi_abi.so.1"] if (include / "mpi_abi.h").is_file() else ["-DMPICH", folder / "libmpi.so.12"]
    )
    command = ["gcc", "-w", face[0], f"-I{include}", built / "times.c", "-o", built / "times", face[1], "-lpthread"]
    subprocess.run(command, check=True)
    return built / "times"


def mpirun(*words, command, environment=None):
    words = [sys.executable, "-m", "fabricsim", "mpirun", "-q", *map(str, words), "--", *map(str, command)]
    given = {**os.environ, **(environment or {})}
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=given)


def ran(*words, command, environment=None):
    done = mpirun(*words, command=command, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_sleep_is_computing_of_its_length_and_returns_at_once(program):
    assert ran(command=[program, "sleeps"]).splitlines() == [
        "sleep 40000000.000000 at once",
        "usleep 15000000.000000 at once",
        "nanosleep 30500000.000000 at once",
        "clock_nanosleep 30500000.000000 at once",
        *["to a date 25000000.000000 at once"] * 3,
        "poll 12500000.000000 at once",
        "select 20250000.000000 at once",
        "left 0",
        "wrong -1 1",
        "nothing 0.000000 at once",
    ]


def test_what_waits_for_the_host_is_no_sleep(program):
    assert ran(command=[program, "waits"]).splitlines() == ["descriptor 0.000000 real", "thread 0.000000 real"]


def test_before_the_beginning_and_after_the_end_sleeps_are_those_of_the_host(program):
    assert ran(command=[program, "outside"]).splitlines() == ["before 1", "after 1"]


def test_a_program_that_was_started_by_itself_sleeps_as_it_always_did(program):
    from fabricsim.programs import libraries

    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries())}
    done = subprocess.run([program, "outside"], capture_output=True, text=True, timeout=60, check=True, env=environment)
    assert done.stdout.splitlines() == ["before 1", "after 1"]


def test_clocks_show_simulated_time_where_that_is_asked_for(program):
    lines = ran("--set", "job.0.work.virtual_clock=true", command=[program, "clocks"]).splitlines()
    # The calendar begins on 1 January 2000.
    assert lines == ["2.500 2.500 2.500", "946684802 2.500 946684800", "0.000000"]


def test_clocks_are_the_hosts_unless_that_is_asked_for(program):
    first, second, _ = ran(command=[program, "clocks"]).splitlines()
    passed, monotonic, _ = map(float, first.split())
    assert (passed, monotonic < 2) == (2.5, True)
    assert int(second.split()[0]) > 1_700_000_000


def test_who_looks_at_the_clock_again_and_again_sees_time_go_by(program):
    # Each look from the seventeenth on takes 100 ns.
    assert ran(command=[program, "spins"]) == "10.000 us\n" or ran(command=[program, "spins"]) == "10.100 us\n"


@pytest.mark.parametrize(("threads", "least", "most"), [("caller", 0.099, 0.17), ("sum", 0.199, 0.3), ("wall", 0.099, 0.15)])
def test_the_time_of_threads_is_that_of_one_of_all_or_of_as_many_as_are_said(program, threads, least, most):
    words = ("--compute", "cpu", "--set", f'job.0.work.threads="{threads}"')
    took = float(ran(*words, command=[program, "threads"], environment={"OMP_NUM_THREADS": "2"}))
    assert least < took < most


def test_threads_whose_number_nobody_says_are_refused(program):
    words = ("--compute", "cpu", "--set", 'job.0.work.threads="wall"')
    done = mpirun(*words, command=[program, "threads"], environment={"OMP_NUM_THREADS": ""})
    assert done.returncode == 127
    assert 'threads = "wall" divides by the number of threads of a rank, and OMP_NUM_THREADS does not say it' in done.stderr


@pytest.mark.parametrize("wanted", range(4))
def test_threads_may_do_what_is_asked_for_up_to_one_after_the_other(program, wanted):
    assert ran(command=[program, "level", wanted]) == f"level {min(wanted, 2)}\n"


def _cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize(("what", "ranks", "rounds"), [("token", 64, 2500), ("asks", 2, 16_000_000), ("works", 16, 1000)])
def test_the_cpu_time_that_is_told_is_what_all_processes_took_without_the_programs_own(program, tmp_path, what, ranks, rounds):
    def took(rounds):
        before = _cpu_of_children()
        printed = ran("-n", ranks, "--json", tmp_path / "told.json", command=[program, what, 0, rounds])
        own = sum(map(float, printed.split()))
        return _cpu_of_children() - before, own, json.loads((tmp_path / "told.json").read_text())["cpu_s"]

    starts = [took(1) for _ in range(3)]
    everything, own, told = took(rounds)
    # What starting Python and the ranks costs is no part of it; it differs from run to run.
    assert told <= everything - own
    start, _, told_of_start = min(starts)
    expected = everything - start - own
    # Of calls that take next to nothing a fifth is their way in and out, which is not timed.
    assert 0.5 * expected - 0.25 < told - told_of_start < 1.2 * expected + 0.25


#: A machine whose numbers are all told, in ps, bytes and ps per byte.
OVERHEADS, COPY, EAGER, HEADER, CONTROL, MESSAGE = (200_000, 300_000), 50, 8192, 32, 64, 70_000
LINK, LATENCY, TRAVERSAL, LOCAL, LOCAL_LATENCY = 40, 110_000, 90_000, 100, 150_000
MACHINE = """
name = "closed-form"
[topology]
kind = "single-router"
nodes = 2
[link]
bandwidth = "25 GB/s"
latency = "110 ns"
[router]
traversal = "90 ns"
[nic]
packet = "2 KiB"
overhead = "70 ns"
[mpi]
send_overhead = "200 ns"
receive_overhead = "300 ns"
copy = "20 GB/s"
eager = "8 KiB"
header = "32 B"
control = "64 B"
local_latency = "150 ns"
local_bandwidth = "10 GB/s"
[[job]]
work = { kind = "ring" }
"""


def _through_the_network(wire):
    return MESSAGE + wire * LINK + 2 * LATENCY + TRAVERSAL


def _inside_the_node(wire):
    return LOCAL_LATENCY + wire * LOCAL


def _one_way(size, is_inside):
    """What docs/models/mpi.md says that a message takes (ps)."""
    # Inside of a node a message without bytes moves nothing.
    inside = size + HEADER if size else 0
    data = _inside_the_node(inside) if is_inside else _through_the_network(size + HEADER)
    if size <= EAGER:
        return sum(OVERHEADS) + 2 * size * COPY + data
    control = LOCAL_LATENCY if is_inside else _through_the_network(CONTROL)
    return sum(OVERHEADS) + 2 * control + data


@pytest.mark.parametrize("per_node", [1, 2], ids=["two nodes", "one node"])
def test_a_ping_pong_takes_what_the_page_on_ranks_says_to_the_picosecond(program, tmp_path, per_node):
    study = tmp_path / "machine.toml"
    study.write_text(MACHINE + f"ranks_per_node = {per_node}\n")
    printed = ran("-n", 2, "--study", study, command=[program, "ping"])
    took = {int(size): int(ps) for size, ps in (line.split() for line in printed.splitlines())}
    assert {0, 1, EAGER, EAGER + 1, 1 << 20} <= took.keys()
    assert took == {size: 2 * _one_way(size, per_node == 2) for size in took}


SLEEPER = """
import time
from mpi4py import MPI
begun, host = MPI.Wtime(), time.monotonic()
for _ in range(3):
    time.sleep(1.25)
passed = MPI.Wtime() - begun
print(f"{passed:.9f}", "at once" if time.monotonic() - host < 3 else "real")
"""


def test_a_script_that_sleeps_does_so_in_simulated_time_and_the_same_in_every_run(tmp_path):
    pytest.importorskip("mpi4py")
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    digests = set()
    for run in range(2):
        command = [sys.executable, tmp_path / "sleeper.py"]
        printed = ran("-n", 2, "--json", tmp_path / f"{run}.json", command=command)
        assert printed == "3.750000000 at once\n" * 2
        digests.add(json.loads((tmp_path / f"{run}.json").read_text())["digest"])
    assert len(digests) == 1
