/* Long messages, long vectors, and functions whose counts have 64 bits. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    enum { N = 500000 };
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    double *mine = malloc(N * sizeof *mine), *theirs = malloc(N * sizeof *theirs);
    for (int i = 0; i < N; i++)
        mine[i] = rank + i * 0.5;
    MPI_Request requests[2];
    MPI_Irecv_c(theirs, N, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend_c(mine, N, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    MPI_Count count;
    MPI_Get_count_c(&statuses[0], MPI_DOUBLE, &count);
    tell("%lld numbers: %08x", (long long)count, sum_of(theirs, N * sizeof *theirs));
    MPI_Allreduce_c(mine, theirs, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    tell("greatest: %08x", sum_of(theirs, N * sizeof *theirs));
    MPI_Bcast(theirs, N, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    MPI_Datatype half;
    MPI_Type_vector_c(N / 2, 1, 2, MPI_DOUBLE, &half);
    MPI_Type_commit(&half);
    MPI_Count bytes;
    MPI_Type_size_c(half, &bytes);
    MPI_Sendrecv_c(mine, 1, half, next, 1, theirs, N / 2, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("every second of %lld bytes: %08x", (long long)bytes, sum_of(theirs, N / 2 * sizeof *theirs));
    MPI_Type_free(&half);
    free(mine), free(theirs);
    /* Very many small messages at a time. */
    enum { MANY = 3000 };
    static int out[MANY], in[MANY];
    static MPI_Request all[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = rank * MANY + i;
        MPI_Irecv(&in[i], 1, MPI_INT, before, i % 100, MPI_COMM_WORLD, &all[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, next, i % 100, MPI_COMM_WORLD, &all[MANY + i]);
    MPI_Waitall(2 * MANY, all, MPI_STATUSES_IGNORE);
    tell("many: %08x", sum_of(in, sizeof in));
    MPI_Finalize();
    return 0;
}
