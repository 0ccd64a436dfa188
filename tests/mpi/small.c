/* Messages of none to twenty bytes, of zeros, ones and numbers, by every way to send and to receive: what fits into a word may travel without memory. */
#include "tell.h"

#define MOST 20

/* Bytes of a message: of all ones, of zeros, or each another. */
static void fill(unsigned char *to, int bytes, int how)
{
    for (int i = 0; i < bytes; i++)
        to[i] = how == 0 ? 0xff : how == 1 ? 0 : (unsigned char)(17 * i + 3 * rank + how);
}

static void told(const char *way, const unsigned char *got, MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    tell("%s: %d bytes from %d with tag %d, %08x", way, bytes, status->MPI_SOURCE, status->MPI_TAG, sum_of(got, MOST + 4));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    unsigned char sent[MOST], got[MOST + 4];
    MPI_Status status;
    MPI_Message message;
    MPI_Request requests[2];
    for (int bytes = 0; bytes <= MOST; bytes++)
        for (int how = 0; how < 3; how++) {
            fill(sent, bytes, how);
            memset(got, 0xa5, sizeof got);
            MPI_Sendrecv(sent, bytes, MPI_BYTE, next, 1, got, MOST, MPI_BYTE, before, 1, MPI_COMM_WORLD, &status);
            told("sendrecv", got, &status);
            memset(got, 0xa5, sizeof got);
            MPI_Irecv(got, MOST, MPI_BYTE, before, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
            MPI_Issend(sent, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
            MPI_Wait(&requests[0], &status);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            told("irecv", got, &status);
            /* Sent before anybody asks, looked at, and received. */
            memset(got, 0xa5, sizeof got);
            MPI_Isend(sent, bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD, &requests[0]);
            MPI_Probe(before, 3, MPI_COMM_WORLD, &status);
            MPI_Recv(got, MOST, MPI_BYTE, before, 3, MPI_COMM_WORLD, &status);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            told("probe", got, &status);
            /* Taken out of the queue, and received later, with others in between. */
            memset(got, 0xa5, sizeof got);
            MPI_Isend(sent, bytes, MPI_BYTE, next, 4, MPI_COMM_WORLD, &requests[0]);
            MPI_Mprobe(before, 4, MPI_COMM_WORLD, &message, &status);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Mrecv(got, MOST, MPI_BYTE, &message, &status);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            told("mprobe", got, &status);
            /* To itself. */
            memset(got, 0xa5, sizeof got);
            MPI_Irecv(got, MOST, MPI_BYTE, rank, 5, MPI_COMM_WORLD, &requests[0]);
            MPI_Send(sent, bytes, MPI_BYTE, rank, 5, MPI_COMM_WORLD);
            MPI_Wait(&requests[0], &status);
            told("itself", got, &status);
        }
    /* Two halves of a number with a gap between them, there and here. */
    MPI_Datatype halves, quarters;
    MPI_Type_vector(2, 1, 2, MPI_INT, &halves);
    MPI_Type_vector(4, 1, 2, MPI_SHORT, &quarters);
    MPI_Type_commit(&halves);
    MPI_Type_commit(&quarters);
    int wide[4] = {-1, 7, -1, 9}, there[4] = {0, 0, 0, 0};
    MPI_Sendrecv(wide, 1, halves, next, 6, there, 1, halves, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("halves %d %d %d %d", there[0], there[1], there[2], there[3]);
    short narrow[8] = {1, 0, 2, 0, 3, 0, 4, 0};
    MPI_Sendrecv(narrow, 1, quarters, next, 7, there, 1, halves, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("quarters %x %d %x %d", there[0], there[1], there[2], there[3]);
    MPI_Type_free(&halves);
    MPI_Type_free(&quarters);
    /* What does not fit is an error, and the next message is not disturbed. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    long number = -1, short_of = 5;
    int half = 0;
    MPI_Isend(&number, 1, MPI_LONG, next, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&short_of, 1, MPI_LONG, next, 8, MPI_COMM_WORLD, &requests[1]);
    tell("too long: %s", class_of(MPI_Recv(&half, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
    MPI_Recv(&number, 1, MPI_LONG, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("the next: %ld", number);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
