/* All ways to send, and exchanges in one call. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, out[8], in[8];
    for (int i = 0; i < 8; i++)
        out[i] = rank * 100 + i, in[i] = -1;
    MPI_Request receives[8], sends[4];
    for (int i = 0; i < 8; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &receives[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    int bytes;
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes += 2 * MPI_BSEND_OVERHEAD;
    char *buffer = malloc(bytes);
    MPI_Buffer_attach(buffer, bytes);
    MPI_Send(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Ssend(&out[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Bsend(&out[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Rsend(&out[3], 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Isend(&out[4], 1, MPI_INT, next, 4, MPI_COMM_WORLD, &sends[0]);
    MPI_Issend(&out[5], 1, MPI_INT, next, 5, MPI_COMM_WORLD, &sends[1]);
    MPI_Ibsend(&out[6], 1, MPI_INT, next, 6, MPI_COMM_WORLD, &sends[2]);
    MPI_Irsend(&out[7], 1, MPI_INT, next, 7, MPI_COMM_WORLD, &sends[3]);
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(8, receives, MPI_STATUSES_IGNORE);
    tell_list("all modes:", in, 8);
    char *back;
    int again;
    MPI_Buffer_detach(&back, &again);
    tell("buffer: %d", back == buffer && again == bytes);
    free(buffer);
    /* A buffered send is over at once, though its receive comes later. */
    buffer = malloc(bytes = 100000 + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(buffer, bytes);
    int *large = malloc(80000), *got = malloc(80000);
    for (int i = 0; i < 20000; i++)
        large[i] = rank ^ i;
    MPI_Bsend(large, 20000, MPI_INT, next, 50, MPI_COMM_WORLD);
    memset(large, 0, 80000);
    MPI_Recv(got, 20000, MPI_INT, before, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("buffered: %08x", sum_of(got, 80000));
    MPI_Buffer_detach(&back, &again);
    free(buffer), free(large), free(got);
    MPI_Status status;
    int exchanged = rank + 7, count;
    MPI_Sendrecv_replace(&exchanged, 1, MPI_INT, next, 60, before, 60, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("replaced by %d from %d, %d", exchanged, status.MPI_SOURCE, count);
    int one = rank, two = -1;
    MPI_Sendrecv(&one, 1, MPI_INT, rank == size - 1 ? MPI_PROC_NULL : next, 61, &two, 1, MPI_INT,
                 rank == 0 ? MPI_PROC_NULL : before, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("from the left: %d, %d numbers", two, count);
    MPI_Sendrecv(&one, 1, MPI_INT, next, 62, &two, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    tell("from anybody: %d from %d with %d", two, status.MPI_SOURCE, status.MPI_TAG);
    /* To itself. */
    MPI_Request self;
    MPI_Irecv(&two, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &self);
    MPI_Ssend(&one, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&self, &status);
    tell("to itself: %d from %d", two, status.MPI_SOURCE);
    /* To nobody. */
    two = 77;
    MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&two, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("to nobody: %d, %d, %d, %d", two, status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG, count);
    MPI_Finalize();
    return 0;
}
