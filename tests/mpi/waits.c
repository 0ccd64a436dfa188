/* Waiting for any, for some, for all; looking without waiting; requests that are none. */
#include "tell.h"

enum { N = 12 };
static int out[N], in[N];
static MPI_Request sends[N], receives[N];

static void start(int round)
{
    for (int i = 0; i < N; i++) {
        out[i] = rank * 1000 + round * 100 + i, in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - i % size) % size, i, MPI_COMM_WORLD, &receives[i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[i], 1, MPI_INT, (rank + i) % size, i, MPI_COMM_WORLD, &sends[i]);
}

static void end(const char *name, int seen)
{
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    int open = 0;
    for (int i = 0; i < N; i++)
        open += receives[i] != MPI_REQUEST_NULL;
    tell("%s: seen %d, open %d", name, seen, open);
    tell_list(name, in, N);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int indices[N], count, flag, which, seen = 0;
    MPI_Status status, statuses[N];
    start(0);
    for (int i = 0; i < N; i++) {
        MPI_Waitany(N, receives, &which, &status);
        seen += which + status.MPI_TAG * 100;
    }
    end("waitany", seen);
    start(1), seen = 0;
    for (int left = N; left > 0; left -= count) {
        MPI_Waitsome(N, receives, &count, indices, statuses);
        for (int i = 0; i < count; i++)
            seen += indices[i] + statuses[i].MPI_TAG * 100;
    }
    end("waitsome", seen);
    start(2), seen = 0;
    for (int left = N; left > 0; left -= count) {
        MPI_Testsome(N, receives, &count, indices, statuses);
        for (int i = 0; i < count; i++)
            seen += indices[i] + statuses[i].MPI_TAG * 100;
    }
    end("testsome", seen);
    start(3), seen = 0;
    for (int left = N; left > 0; left -= flag) {
        MPI_Testany(N, receives, &which, &flag, &status);
        if (flag)
            seen += which + status.MPI_TAG * 100;
    }
    end("testany", seen);
    start(4);
    do
        MPI_Testall(N, receives, &flag, statuses);
    while (!flag);
    end("testall", statuses[N - 1].MPI_TAG);
    start(5);
    for (int i = N - 1; i >= 0; i--) {
        do
            MPI_Request_get_status(receives[i], &flag, &status);
        while (!flag);
        seen = status.MPI_TAG;
        MPI_Test(&receives[i], &flag, &status);
        if (!flag)
            tell("over, and then not");
    }
    end("get_status and test", seen);
    MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Waitany(3, none, &which, &status);
    MPI_Waitsome(3, none, &count, indices, statuses);
    tell("none: %d %d, source any %d, tag any %d", which == MPI_UNDEFINED, count == MPI_UNDEFINED,
         status.MPI_SOURCE == MPI_ANY_SOURCE, status.MPI_TAG == MPI_ANY_TAG);
    MPI_Testall(3, none, &flag, statuses);
    tell("all of none: %d", flag);
    MPI_Testany(0, NULL, &which, &flag, &status);
    tell("any of nothing: %d %d", flag, which == MPI_UNDEFINED);
    MPI_Wait(&none[0], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("wait for none: count %d", count);
    MPI_Finalize();
    return 0;
}
