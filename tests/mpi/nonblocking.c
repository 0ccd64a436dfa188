/* Collective operations that do not wait, several at a time, between messages. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    enum { N = 6 };
    int value = rank + 1, sum = 0, word = rank == 0 ? 4711 : 0, token = rank, got = -1, *all = calloc(size * 2, sizeof(int)),
        *parts = calloc(size * 2, sizeof(int)), *back = calloc(size * 2, sizeof(int));
    for (int i = 0; i < size * 2; i++)
        parts[i] = rank * 100 + i;
    MPI_Request requests[N], messages[2];
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &messages[0]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &messages[1]);
    MPI_Ialltoall(parts, 2, MPI_INT, back, 2, MPI_INT, MPI_COMM_WORLD, &requests[3]);
    int so_far = 0, least = 0;
    MPI_Iscan(&value, &so_far, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
    MPI_Ireduce(&value, &least, 1, MPI_INT, MPI_MIN, size - 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Waitall(2, messages, MPI_STATUSES_IGNORE);
    tell("message %d", got);
    for (int i = N - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    tell("sum %d, word %d, so far %d, least %d", sum, word, so_far, rank == size - 1 ? least : 0);
    tell_list("all:", all, size);
    tell_list("parts:", back, 2 * size);
    int flag = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    while (!flag)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    int mine[2] = {0, 0}, counts[64], places[64];
    for (int i = 0; i < size; i++)
        counts[i] = 1 + i % 2, places[i] = 2 * i;
    MPI_Iscatter(parts, 2, MPI_INT, mine, 2, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    tell_list("scattered:", mine, 2);
    MPI_Igather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgatherv(mine, counts[rank], MPI_INT, back, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        tell_list("gathered:", all, 2 * size);
    tell_list("with places:", back, 2 * size);
    int part = -1;
    MPI_Ireduce_scatter_block(parts, &part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    tell("my part %d", part);
    MPI_Iexscan(&value, &so_far, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (rank > 0)
        tell("before me %d", so_far);
    MPI_Comm copy;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, copy, &requests[0]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tell("in a duplicate %d, in the world %d", value, sum);
    MPI_Comm_free(&copy);
    free(all), free(parts), free(back);
    MPI_Finalize();
    return 0;
}
