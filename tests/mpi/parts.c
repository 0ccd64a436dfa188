/* Reductions whose result is dealt out, and scans. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int *counts = malloc(sizeof(int) * size), total = 0, first = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i == 1 ? 0 : i + 2;
        if (i < rank)
            first += counts[i];
        total += counts[i];
    }
    int *numbers = malloc(sizeof(int) * (total + size * 3)), *mine = malloc(sizeof(int) * (total + size * 3));
    for (int i = 0; i < total; i++)
        numbers[i] = rank * 10 + i;
    MPI_Reduce_scatter(numbers, mine, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tell_list("parts of their own:", mine, counts[rank]);
    MPI_Reduce_scatter(numbers, mine, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    tell_list("greatest:", mine, counts[rank]);
    for (int i = 0; i < size * 3; i++)
        numbers[i] = rank + i * i;
    MPI_Reduce_scatter_block(numbers, mine, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tell_list("equal parts:", mine, 3);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, numbers, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    tell_list("in place:", numbers, 3);
    for (int i = 0; i < total; i++)
        numbers[i] = rank * 2 - i;
    MPI_Reduce_scatter(MPI_IN_PLACE, numbers, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tell_list("in place, of their own:", numbers, counts[rank]);
    double value[2] = {rank + 0.5, 1.0 / (rank + 1)}, so_far[2] = {-1, -1};
    MPI_Scan(value, so_far, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    tell("so far %.13g %.13g", so_far[0], so_far[1]);
    MPI_Exscan(value, so_far, 2, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    if (rank > 0)
        tell("before %.13g %.13g", so_far[0], so_far[1]);
    MPI_Scan(MPI_IN_PLACE, value, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    tell("greatest so far %.13g %.13g", value[0], value[1]);
    value[0] = rank, value[1] = -rank;
    MPI_Exscan(MPI_IN_PLACE, value, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0)
        tell("before, in place %.13g %.13g", value[0], value[1]);
    free(counts), free(numbers), free(mine);
    MPI_Finalize();
    return 0;
}
