/* What the machine itself takes to wake a process and to be woken by it, PROCESSES in turn on one core: `hand_over PROCESSES ROUNDS`
   prints the CPU time of both per turn. It is what no call that waits can cost less than. See program_costs.py. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Turns that were given to a process and that it gave back, in a line of its own. */
struct turn {
    _Alignas(64) unsigned given, back;
};

static void give(unsigned *turns)
{
    __atomic_add_fetch(turns, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, turns, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(unsigned *turns, unsigned seen)
{
    while (__atomic_load_n(turns, __ATOMIC_SEQ_CST) == seen)
        syscall(SYS_futex, turns, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static double cpu(int of)
{
    struct rusage used;
    getrusage(of, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void rounds(struct turn *turns, int processes, unsigned from, unsigned until)
{
    for (unsigned round = from; round < until; round++)
        for (int i = 0; i < processes; i++) {
            give(&turns[i].given);
            await(&turns[i].back, round);
        }
}

/* CPU time of a whole run, its processes with it. */
static double run(int processes, unsigned count)
{
    struct turn *turns = mmap(NULL, sizeof *turns * processes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double before = cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN);
    if (turns == MAP_FAILED)
        exit(1);
    for (int i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child < 0)
            exit(1);
        if (child == 0) {
            for (unsigned round = 0; round < count; round++) {
                await(&turns[i].given, round);
                give(&turns[i].back);
            }
            _exit(0);
        }
    }
    rounds(turns, processes, 0, count);
    while (wait(NULL) > 0)
        ;
    munmap(turns, sizeof *turns * processes);
    return cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN) - before;
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 64;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(sched_getcpu(), &core);
    sched_setaffinity(0, sizeof core, &core);
    double start = run(processes, count / 10), whole = run(processes, count);
    printf("hand_over_us %.3f\n", (whole - start) * 1e6 / ((double)processes * (count - count / 10)));
    return 0;
}
