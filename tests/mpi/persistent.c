/* Requests that are made once and started often. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, out[4], in[4];
    static char buffer[4 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Request requests[8];
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send_init(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[7]);
    int flag;
    MPI_Status status;
    MPI_Test(&requests[0], &flag, &status);
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    tell("not started: over %d, source any %d, tag any %d, count %d", flag, status.MPI_SOURCE == MPI_ANY_SOURCE,
         status.MPI_TAG == MPI_ANY_TAG, count);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4; i++)
            out[i] = rank * 1000 + round * 10 + i, in[i] = -1;
        MPI_Startall(4, requests);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(3, requests + 4);
        MPI_Start(&requests[7]);
        MPI_Status statuses[8];
        MPI_Waitall(8, requests, statuses);
        tell_list("got:", in, 4);
        tell("from %d with %d, there %d", statuses[3].MPI_SOURCE, statuses[3].MPI_TAG, requests[3] != MPI_REQUEST_NULL);
    }
    MPI_Wait(&requests[1], &status);
    MPI_Request nobody;
    MPI_Send_init(out, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nobody);
    MPI_Start(&nobody);
    MPI_Wait(&nobody, &status);
    MPI_Request_free(&nobody);
    for (int i = 0; i < 8; i++)
        MPI_Request_free(&requests[i]);
    tell("freed %d", requests[7] == MPI_REQUEST_NULL);
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    tell("buffer %d", back == buffer && bytes == sizeof buffer);
    MPI_Finalize();
    return 0;
}
