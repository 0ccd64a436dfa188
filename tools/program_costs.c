/* What calls of MPI cost on a simulated network: `start`, `ring ROUNDS`, `clock CALLS` and `calls WINDOWS`. See program_costs.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW 64

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "start";
    long count = argc > 2 ? atol(argv[2]) : 1000;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    long sent = rank, got = 0;
    MPI_Request open[2 * WINDOW];
    if (!strcmp(what, "ring"))
        for (long round = 0; round < count; round++) {
            MPI_Irecv(&got, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, &open[0]);
            MPI_Isend(&sent, 1, MPI_LONG, next, 0, MPI_COMM_WORLD, &open[1]);
            MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
            sent = got;
        }
    if (!strcmp(what, "clock"))
        for (long call = 0; call < count; call++)
            MPI_Wtime();
    if (!strcmp(what, "calls")) {
        double receives = 0, sends = 0;
        long into[WINDOW];
        for (long window = 0; window < count; window++) {
            double begun = cpu();
            for (int i = 0; i < WINDOW; i++)
                MPI_Irecv(&into[i], 1, MPI_LONG, before, 0, MPI_COMM_WORLD, &open[i]);
            double between = cpu();
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(&sent, 1, MPI_LONG, next, 0, MPI_COMM_WORLD, &open[WINDOW + i]);
            receives += between - begun;
            sends += cpu() - between;
            MPI_Waitall(2 * WINDOW, open, MPI_STATUSES_IGNORE);
        }
        if (rank == 0)
            printf("receive_ns %.1f\nsend_ns %.1f\n", receives / (double)(count * WINDOW), sends / (double)(count * WINDOW));
    }
    if (!strcmp(what, "ring") && rank == 0)
        printf("token %ld\n", sent);
    MPI_Finalize();
    return 0;
}
