/* Communicators from communicators, and messages and collective operations that stay in them. */
#include "tell.h"

static const char *compared(MPI_Comm one, MPI_Comm other)
{
    int result;
    MPI_Comm_compare(one, other, &result);
    return result == MPI_IDENT       ? "identical"
           : result == MPI_CONGRUENT ? "congruent"
           : result == MPI_SIMILAR   ? "similar"
                                     : "unequal";
}

static void report(const char *name, MPI_Comm comm)
{
    int place, members, sum, *ranks;
    MPI_Comm_rank(comm, &place);
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    ranks = malloc(sizeof(int) * members);
    MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, comm);
    tell("%s: %d of %d, sum %d", name, place, members, sum);
    tell_list("members:", ranks, members);
    free(ranks);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int columns = size > 2 ? 2 : 1;
    MPI_Comm row, column, reversed, again, some, part;
    MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % columns, rank, &column);
    report("row", row);
    report("column", column);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    report("reversed", reversed);
    MPI_Comm_dup(reversed, &again);
    tell("world with reversed: %s, with its duplicate: %s, with itself: %s, with the row: %s", compared(MPI_COMM_WORLD, reversed),
         compared(reversed, again), compared(again, again), compared(MPI_COMM_WORLD, row));
    /* The same tag and source in two communicators are two messages. */
    int in_world = rank, in_again = rank + 100, got[2];
    MPI_Request requests[4];
    int place;
    MPI_Comm_rank(again, &place);
    MPI_Isend(&in_world, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&in_again, 1, MPI_INT, place, 7, again, &requests[1]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, again, &requests[2]);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    tell_list("contexts:", got, 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1 ? MPI_UNDEFINED : 0, 0, &some);
    if (some != MPI_COMM_NULL) {
        report("some", some);
        MPI_Comm_free(&some);
    }
    MPI_Group world, even;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int range[1][3] = {{0, size - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Comm_create(MPI_COMM_WORLD, even, &part);
    if (part != MPI_COMM_NULL) {
        report("even", part);
        MPI_Comm_free(&part);
    }
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 3, &part);
        report("even by themselves", part);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&even), MPI_Group_free(&world);
    /* Many communicators, one after the other. */
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        MPI_Comm brief;
        MPI_Comm_dup(i % 2 ? row : MPI_COMM_WORLD, &brief);
        int value = i, all;
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, brief);
        sum += all;
        MPI_Comm_free(&brief);
    }
    tell("brief ones: %d", sum);
    /* Many at a time. */
    MPI_Comm many[40];
    for (int i = 0; i < 40; i++)
        MPI_Comm_dup(i ? many[i - 1] : MPI_COMM_WORLD, &many[i]);
    for (int i = 0; i < 40; i++) {
        int value = rank + i, all;
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_MAX, many[39 - i]);
        sum += all;
    }
    for (int i = 0; i < 40; i++)
        MPI_Comm_free(&many[i]);
    tell("many: %d", sum);
    MPI_Comm shared;
    MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    report("shared", shared);
    MPI_Comm_free(&shared);
    MPI_Comm_free(&row), MPI_Comm_free(&column), MPI_Comm_free(&reversed), MPI_Comm_free(&again);
    MPI_Finalize();
    return 0;
}
