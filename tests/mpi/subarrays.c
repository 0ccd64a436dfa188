/* Boxes of arrays: subarrays in both orders, and arrays that are dealt out. */
#include "tell.h"

enum { X = 6, Y = 5, Z = 4 };

static void boxes(int order)
{
    int sizes[] = {X, Y, Z}, parts[] = {3, 2, 3}, starts[] = {1, 2, 0}, numbers[X * Y * Z], got[X * Y * Z];
    MPI_Datatype box;
    MPI_Type_create_subarray(3, sizes, parts, starts, order, MPI_INT, &box);
    MPI_Type_commit(&box);
    for (int i = 0; i < X * Y * Z; i++)
        numbers[i] = rank * 1000 + i, got[i] = -1;
    MPI_Sendrecv(numbers, 1, box, (rank + 1) % size, 0, got, 18, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    tell_list(order == MPI_ORDER_C ? "rows first:" : "columns first:", got, 18);
    MPI_Aint low, extent, true_low, true_extent;
    MPI_Type_get_extent(box, &low, &extent);
    MPI_Type_get_true_extent(box, &true_low, &true_extent);
    tell("extent %ld from %ld, true %ld from %ld", (long)extent, (long)low, (long)true_extent, (long)true_low);
    memset(got, 0, sizeof got);
    MPI_Sendrecv(numbers, 18, MPI_INT, (rank + 1) % size, 0, got, 1, box, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    tell("put into a box: %08x", sum_of(got, sizeof got));
    MPI_Type_free(&box);
}

/* The root deals a matrix out as boxes of a grid of ranks. */
static void deal(void)
{
    int grid[2] = {0, 0};
    MPI_Dims_create(size, 2, grid);
    int sizes[] = {grid[0] * 3, grid[1] * 4}, parts[] = {3, 4}, starts[] = {0, 0}, mine[12];
    int *matrix = malloc(sizeof(int) * sizes[0] * sizes[1]), *counts = malloc(sizeof(int) * size),
        *places = malloc(sizeof(int) * size);
    MPI_Datatype box, near;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &box);
    MPI_Type_create_resized(box, 0, 4 * sizeof(int), &near);
    MPI_Type_commit(&near);
    for (int i = 0; i < sizes[0] * sizes[1]; i++)
        matrix[i] = rank == 0 ? i : -1;
    for (int i = 0; i < size; i++)
        counts[i] = 1, places[i] = i / grid[1] * 3 * grid[1] + i % grid[1];
    MPI_Scatterv(matrix, counts, places, near, mine, 12, MPI_INT, 0, MPI_COMM_WORLD);
    tell_list("my box:", mine, 12);
    for (int i = 0; i < 12; i++)
        mine[i] = mine[i] * 2 + rank;
    MPI_Gatherv(mine, 12, MPI_INT, matrix, counts, places, near, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tell("all boxes: %08x", sum_of(matrix, sizeof(int) * sizes[0] * sizes[1]));
    MPI_Type_free(&box), MPI_Type_free(&near);
    free(matrix), free(counts), free(places);
}

static void dealt(int order)
{
    int sizes[] = {9, 8}, how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, blocks[] = {MPI_DISTRIBUTE_DFLT_DARG, 3},
        grid[] = {0, 0}, numbers[72], got[72];
    MPI_Dims_create(size, 2, grid);
    MPI_Datatype type;
    MPI_Type_create_darray(size, rank, 2, sizes, how, blocks, grid, order, MPI_INT, &type);
    MPI_Type_commit(&type);
    int bytes;
    MPI_Aint low, extent;
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &low, &extent);
    for (int i = 0; i < 72; i++)
        numbers[i] = i, got[i] = -1;
    MPI_Sendrecv(numbers, 1, type, rank, 0, got, 72, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("dealt: size %d, extent %ld", bytes, (long)extent);
    tell_list("numbers:", got, bytes / 4);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    boxes(MPI_ORDER_C);
    boxes(MPI_ORDER_FORTRAN);
    deal();
    dealt(MPI_ORDER_C);
    dealt(MPI_ORDER_FORTRAN);
    MPI_Finalize();
    return 0;
}
