/* Records with gaps, indexed and resized types, types of types. */
#include "tell.h"
#include <stddef.h>

struct particle {
    char kind;
    double at[3];
    short flags[2];
    int number;
};

static MPI_Datatype of_particle(void)
{
    int lengths[] = {1, 3, 2, 1};
    MPI_Aint places[] = {offsetof(struct particle, kind), offsetof(struct particle, at), offsetof(struct particle, flags),
                         offsetof(struct particle, number)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT}, bare, padded;
    MPI_Type_create_struct(4, lengths, places, types, &bare);
    MPI_Aint low, extent;
    int bytes;
    MPI_Type_get_extent(bare, &low, &extent);
    MPI_Type_size(bare, &bytes);
    tell("bare: size %d, extent %ld from %ld", bytes, (long)extent, (long)low);
    MPI_Type_create_resized(bare, 0, sizeof(struct particle), &padded);
    MPI_Type_commit(&padded);
    MPI_Type_free(&bare);
    return padded;
}

static void particles(void)
{
    MPI_Datatype type = of_particle();
    struct particle mine[7], theirs[7];
    memset(mine, 0, sizeof mine);
    memset(theirs, 0, sizeof theirs);
    for (int i = 0; i < 7; i++) {
        mine[i].kind = (char)('a' + i);
        for (int d = 0; d < 3; d++)
            mine[i].at[d] = rank + i * 0.5 + d;
        mine[i].flags[0] = (short)i, mine[i].flags[1] = (short)-rank;
        mine[i].number = rank * 10 + i;
    }
    MPI_Status status;
    MPI_Sendrecv(mine, 5, type, (rank + 1) % size, 0, theirs, 7, type, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    int count, elements;
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    tell("%d particles, %d elements: %c %.3f %d %d, sum %08x", count, elements, theirs[4].kind, theirs[4].at[2],
         theirs[4].flags[1], theirs[4].number, sum_of(theirs, sizeof theirs));
    struct particle *all = calloc(size * 2, sizeof *all);
    MPI_Allgather(mine + 1, 2, type, all, 2, type, MPI_COMM_WORLD);
    tell("all: %08x", sum_of(all, size * 2 * sizeof *all));
    free(all);
    MPI_Type_free(&type);
}

static void indexed(void)
{
    int lengths[] = {3, 1, 0, 2}, places[] = {8, 0, 5, 3}, at[] = {9, 2, 4}, numbers[32], got[32];
    MPI_Aint bytes[] = {40, 0, 12, 64}, three[] = {16, 4, 100};
    MPI_Datatype types[5], pair;
    MPI_Type_indexed(4, lengths, places, MPI_INT, &types[0]);
    MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &types[1]);
    MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &types[2]);
    MPI_Type_create_hindexed_block(3, 3, three, MPI_INT, &types[3]);
    MPI_Type_contiguous(2, types[0], &pair);
    MPI_Type_dup(pair, &types[4]);
    MPI_Type_free(&pair);
    for (int i = 0; i < 5; i++) {
        MPI_Type_commit(&types[i]);
        for (int k = 0; k < 32; k++)
            numbers[k] = rank * 100 + k, got[k] = -1;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(got, 1, types[i], rank, i, MPI_COMM_WORLD, &request);
        MPI_Send(numbers, 1, types[i], rank, i, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        int size_of_it, elements;
        MPI_Aint low, extent;
        MPI_Type_size(types[i], &size_of_it);
        MPI_Type_get_extent(types[i], &low, &extent);
        MPI_Get_elements(&status, types[i], &elements);
        tell("indexed %d: size %d, extent %ld from %ld, elements %d, sum %08x", i, size_of_it, (long)extent, (long)low, elements,
             sum_of(got, sizeof got));
        MPI_Type_free(&types[i]);
    }
}

static void absolute(void)
{
    int first = rank + 7, parts[3] = {1, rank, 3}, lengths[] = {1, 3};
    double second = rank * 0.25;
    MPI_Aint places[2];
    MPI_Datatype types[] = {MPI_INT, MPI_INT}, type;
    MPI_Get_address(&first, &places[0]);
    MPI_Get_address(parts, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    int got[4];
    MPI_Sendrecv(MPI_BOTTOM, 1, type, (rank + 1) % size, 1, got, 4, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    tell_list("absolute:", got, 4);
    MPI_Bcast(MPI_BOTTOM, 1, type, size - 1, MPI_COMM_WORLD);
    tell("from the last: %d %d %d %d, %.2f", first, parts[0], parts[1], parts[2], second);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    particles();
    indexed();
    absolute();
    MPI_Finalize();
    return 0;
}
