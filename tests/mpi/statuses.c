/* What statuses say, and what programs make them say; requests of the program's own. */
#include "tell.h"

static int queried, freed, cancelled;

static int query(void *state, MPI_Status *status)
{
    queried++;
    status->MPI_SOURCE = *(int *)state, status->MPI_TAG = 55;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int stop(void *state, int complete)
{
    (void)state;
    cancelled += 1 + complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, count, flag, numbers[8] = {rank};
    MPI_Status status;
    MPI_Datatype pair;
    struct {
        int number;
        double real;
    } mine = {rank, 0.5}, theirs;
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    /* Five numbers received where three pairs would fit: no whole number of pairs. */
    MPI_Sendrecv(numbers, 5, MPI_BYTE, next, 0, &theirs, 12, MPI_BYTE, before, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("five bytes as numbers: %d", count == MPI_UNDEFINED);
    MPI_Get_count(&status, MPI_BYTE, &count);
    tell("as bytes: %d", count);
    MPI_Sendrecv(&mine, 1, pair, next, 1, &theirs, 1, pair, before, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, pair, &count);
    int elements;
    MPI_Get_elements(&status, pair, &elements);
    MPI_Count elements_x;
    MPI_Get_elements_x(&status, pair, &elements_x);
    MPI_Test_cancelled(&status, &flag);
    tell("a pair: %d, %d elements, %d, cancelled %d", count, elements, (int)elements_x, flag);
    struct {
        int number;
        double real;
    } two[2];
    MPI_Sendrecv(&mine.number, 1, MPI_INT, next, 2, two, 2, pair, before, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &elements);
    tell("a part of a pair: %d, %d elements", count == MPI_UNDEFINED, elements);
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 9);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Test_cancelled(&status, &flag);
    tell("set: %d, cancelled %d", count, flag);
    MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)5 << 32);
    MPI_Get_elements_x(&status, MPI_BYTE, &elements_x);
    MPI_Get_count(&status, MPI_BYTE, &count);
    tell("many: %lld, %d", (long long)elements_x, count == MPI_UNDEFINED);
    MPI_Request own;
    MPI_Grequest_start(query, release, stop, &rank, &own);
    MPI_Test(&own, &flag, &status);
    tell("own: %d", flag);
    MPI_Cancel(&own);
    MPI_Grequest_complete(own);
    MPI_Wait(&own, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    tell("own: from %d with %d, %d numbers; queried %d, freed %d, cancelled %d, null %d", status.MPI_SOURCE, status.MPI_TAG, count,
         queried > 0, freed, cancelled, own == MPI_REQUEST_NULL);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
