/* Receives that nobody sends anything for are taken back at the end; what a cancelled send became is told by its status. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int number = -1, flag, next = (rank + 1) % size;
    MPI_Request request, free_one;
    MPI_Status status;
    MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
    MPI_Irecv(&number, 1, MPI_INT, next, 98, MPI_COMM_WORLD, &free_one);
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    tell("cancelled %d, null %d, number %d", flag, request == MPI_REQUEST_NULL, number);
    MPI_Cancel(&free_one);
    MPI_Request_free(&free_one);
    /* A receive that has its message is not cancelled any more. */
    MPI_Irecv(&number, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    do
        MPI_Request_get_status(request, &flag, &status);
    while (!flag);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    tell("cancelled %d, number %d", flag, number);
    /* A persistent receive can be cancelled and started again. */
    MPI_Recv_init(&number, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    tell("persistent: cancelled %d, there %d", flag, request != MPI_REQUEST_NULL);
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
