/* The figures that people measure first on a network.
 *
 *     osu latency | bandwidth | allreduce | alltoall [LARGEST [ROUNDS]]
 *
 * latency: half of a ping-pong between the first and the last rank; bandwidth: windows of 64 messages from the first to the last, answered
 * by one; allreduce and alltoall: of all ranks, bytes in all or to each. Times are microseconds by MPI_Wtime, which is simulated time. */
#include "grid.h"

#define WINDOW 64

static double ping_pong(char *data, size_t bytes, int rounds)
{
    int last = ranks - 1;
    double begin = MPI_Wtime();
    for (int round = 0; round < rounds; round++)
        if (me == 0) {
            MPI_Send(data, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == last) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    return (MPI_Wtime() - begin) / rounds / 2;
}

static double windows(char *data, size_t bytes, int rounds)
{
    int last = ranks - 1;
    MPI_Request requests[WINDOW];
    double begin = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        if (me == 0) {
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(data, bytes, MPI_BYTE, last, 2, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == last) {
            for (int i = 0; i < WINDOW; i++)
                MPI_Irecv(data, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / rounds / WINDOW;
}

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *what = count > 1 ? list[1] : "latency";
    size_t largest = number(count, list, 2, 1 << 20);
    int rounds = number(count, list, 3, 10), collective = !strcmp(what, "allreduce") || !strcmp(what, "alltoall");
    if (!collective && strcmp(what, "latency") && strcmp(what, "bandwidth")) {
        if (me == 0)
            fprintf(stderr, "osu latency | bandwidth | allreduce | alltoall\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t all = largest * (strcmp(what, "alltoall") ? 1 : ranks);
    char *data = room(all), *more = room(all);
    if (me == 0)
        printf("# %s, %d ranks\n# bytes  microseconds%s\n", what, ranks, strcmp(what, "bandwidth") ? "" : "  GB/s");
    for (size_t bytes = collective ? 8 : 0; bytes <= largest; bytes = bytes ? 2 * bytes : 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        double time, longest;
        if (!strcmp(what, "latency"))
            time = ping_pong(data, bytes, rounds);
        else if (!strcmp(what, "bandwidth"))
            time = windows(data, bytes, rounds);
        else {
            double begin = MPI_Wtime();
            for (int round = 0; round < rounds; round++)
                if (!strcmp(what, "allreduce"))
                    MPI_Allreduce(data, more, bytes / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                else
                    MPI_Alltoall(data, bytes, MPI_BYTE, more, bytes, MPI_BYTE, MPI_COMM_WORLD);
            time = (MPI_Wtime() - begin) / rounds;
        }
        MPI_Reduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (me == 0 && strcmp(what, "bandwidth"))
            printf("%9zu  %.6f\n", bytes, longest * 1e6);
        else if (me == 0)
            printf("%9zu  %.6f  %.6f\n", bytes, longest * 1e6, bytes / longest / 1e9);
    }
    MPI_Finalize();
    return 0;
}
