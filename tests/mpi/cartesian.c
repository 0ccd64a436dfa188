/* Grids: coordinates, neighbours, rows of grids, and halos of columns. */
#include "tell.h"

enum { N = 5 };

static void halos(MPI_Comm grid)
{
    int cells[N + 2][N + 2], up, down, left, right;
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++)
            cells[i][j] = i && j && i <= N && j <= N ? rank * 100 + i * 10 + j : -1;
    MPI_Datatype column;
    MPI_Type_vector(N, 1, N + 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(&cells[1][1], N, MPI_INT, up, 1, &cells[N + 1][1], N, MPI_INT, down, 1, grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cells[N][1], N, MPI_INT, down, 2, &cells[0][1], N, MPI_INT, up, 2, grid, MPI_STATUS_IGNORE);
    MPI_Status status;
    MPI_Sendrecv(&cells[1][1], 1, column, left, 3, &cells[1][N + 1], 1, column, right, 3, grid, &status);
    MPI_Sendrecv(&cells[1][N], 1, column, right, 4, &cells[1][0], 1, column, left, 4, grid, MPI_STATUS_IGNORE);
    int count;
    MPI_Get_count(&status, column, &count);
    tell("halos: %d columns, %d %d %d %d, sum %08x", count, cells[0][1], cells[N + 1][1], cells[1][0], cells[1][N + 1],
         sum_of(cells, sizeof cells));
    MPI_Type_free(&column);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int closed = 0; closed < 2; closed++) {
        int dims[] = {0, 0}, periods[] = {closed, 1}, coords[2], count, kind, about[2], wraps[2];
        MPI_Dims_create(size, 2, dims);
        MPI_Comm grid, row, column;
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
        MPI_Topo_test(grid, &kind);
        MPI_Cartdim_get(grid, &count);
        MPI_Cart_get(grid, 2, about, wraps, coords);
        int back;
        MPI_Cart_rank(grid, coords, &back);
        tell("%s of %d: %d x %d, wraps %d %d, at %d %d, rank %d", kind == MPI_CART ? "grid" : "no grid", count, about[0], about[1],
             wraps[0], wraps[1], coords[0], coords[1], back);
        for (int far = -2; far <= 3; far++) {
            int from, to;
            MPI_Cart_shift(grid, 0, far, &from, &to);
            tell("shift %d: from %d to %d", far, from == MPI_PROC_NULL ? -99 : from, to == MPI_PROC_NULL ? -99 : to);
        }
        halos(grid);
        int rows[] = {0, 1}, columns[] = {1, 0}, sum;
        MPI_Cart_sub(grid, rows, &row);
        MPI_Cart_sub(grid, columns, &column);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
        MPI_Cartdim_get(row, &count);
        tell("my row: sum %d, dimensions %d", sum, count);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, column);
        tell("my column: sum %d", sum);
        MPI_Comm_free(&row), MPI_Comm_free(&column), MPI_Comm_free(&grid);
    }
    /* A grid of fewer ranks than there are. */
    int two[] = {2}, open[] = {0};
    MPI_Comm pair;
    if (size >= 2) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, two, open, 0, &pair);
        tell("in the pair: %d", pair != MPI_COMM_NULL);
        if (pair != MPI_COMM_NULL)
            MPI_Comm_free(&pair);
    }
    int fixed[] = {0, size % 2 ? 1 : 2, 0}, three[] = {0, 0, 0};
    MPI_Dims_create(size, 3, fixed);
    MPI_Dims_create(size * 12, 3, three);
    tell("dims %d %d %d and %d %d %d", fixed[0], fixed[1], fixed[2], three[0], three[1], three[2]);
    MPI_Finalize();
    return 0;
}
