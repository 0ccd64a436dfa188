/* A token goes around and every rank adds its part; then blocks of all sizes go both ways at once. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, token = 0;
    for (int round = 0; round < 3 && size > 1; round++) {
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank * (round + 1);
            MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD);
        }
        tell("token %d in round %d", token, round);
    }
    for (int bytes = 0; bytes <= 1 << 20; bytes = bytes ? bytes * 8 : 1) {
        unsigned char *to = malloc(bytes + 1), *from = malloc(bytes + 1), *back = malloc(bytes + 1);
        for (int i = 0; i < bytes; i++)
            to[i] = (unsigned char)(rank * 31 + i * 7);
        MPI_Request requests[4];
        MPI_Status statuses[4];
        MPI_Irecv(from, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(back, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(to, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(to, bytes, MPI_BYTE, before, 2, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, statuses);
        int count;
        MPI_Get_count(&statuses[0], MPI_BYTE, &count);
        tell("%d of %d bytes from %d with tag %d: %08x, from the other side %08x", count, bytes, statuses[0].MPI_SOURCE,
             statuses[0].MPI_TAG, sum_of(from, bytes), sum_of(back, bytes));
        free(to), free(from), free(back);
    }
    MPI_Finalize();
    return 0;
}
