/* Messages of unknown size: looked at, then received; and taken out of the queue for a receive of their own. */
#include "tell.h"

static int sent[64];
static MPI_Request sends[4];

static void send_sizes(int tag)
{
    for (int i = 0; i < 64; i++)
        sent[i] = rank * 100 + i;
    for (int i = 0; i < 4; i++)
        MPI_Isend(sent, (rank * 5 + i * 3) % 60, MPI_INT, (rank + 1) % size, tag + i, MPI_COMM_WORLD, &sends[i]);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int before = (rank + size - 1) % size, count, flag, *numbers;
    MPI_Status status;
    MPI_Message message;
    send_sizes(0);
    for (int i = 3; i >= 0; i--) {
        MPI_Probe(before, i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        numbers = calloc(count + 1, sizeof(int));
        MPI_Recv(numbers, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tell("probed %d from %d with %d: %08x", count, status.MPI_SOURCE, status.MPI_TAG, sum_of(numbers, count * sizeof(int)));
        free(numbers);
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    tell("nothing is there: %d", flag);
    MPI_Barrier(MPI_COMM_WORLD);
    send_sizes(10);
    for (int i = 0; i < 4; i++) {
        do
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        while (!flag);
        MPI_Get_count(&status, MPI_INT, &count);
        numbers = calloc(count + 1, sizeof(int));
        MPI_Recv(numbers, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tell("seen %d from %d with %d: %08x", count, status.MPI_SOURCE, status.MPI_TAG, sum_of(numbers, count * sizeof(int)));
        free(numbers);
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    send_sizes(20);
    for (int i = 0; i < 4; i++) {
        if (i % 2) {
            MPI_Mprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        } else {
            do
                MPI_Improbe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
            while (!flag);
        }
        MPI_Get_count(&status, MPI_INT, &count);
        numbers = calloc(count + 1, sizeof(int));
        if (i < 2) {
            MPI_Mrecv(numbers, count, MPI_INT, &message, &status);
        } else {
            MPI_Request request;
            MPI_Imrecv(numbers, count, MPI_INT, &message, &request);
            MPI_Wait(&request, &status);
        }
        tell("taken %d from %d with %d: %08x, handle %s", count, status.MPI_SOURCE, status.MPI_TAG,
             sum_of(numbers, count * sizeof(int)), message == MPI_MESSAGE_NULL ? "null" : "there");
        free(numbers);
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("from nobody: %d, any tag %d, count %d", status.MPI_SOURCE == MPI_PROC_NULL, status.MPI_TAG == MPI_ANY_TAG, count);
    MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &message, &status);
    tell("no message %d", message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&count, 1, MPI_INT, &message, &status);
    tell("received from nobody: %d", status.MPI_SOURCE == MPI_PROC_NULL);
    /* A message that was taken out does not meet receives that are posted later. */
    int first = rank, second = rank + 1000, got[2];
    MPI_Isend(&first, 1, MPI_INT, (rank + 1) % size, 30, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(&second, 1, MPI_INT, (rank + 1) % size, 30, MPI_COMM_WORLD, &sends[1]);
    MPI_Mprobe(before, 30, MPI_COMM_WORLD, &message, &status);
    MPI_Recv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mrecv(&got[0], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    tell_list("in order:", got, 2);
    MPI_Finalize();
    return 0;
}
