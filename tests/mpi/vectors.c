/* Columns, blocks and strides of a matrix as datatypes; a transposition by types alone. */
#include "tell.h"

enum { N = 12 };
static int matrix[N][N], other[N][N];

static void clear(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            matrix[i][j] = rank * 1000 + i * N + j, other[i][j] = -1;
}

static void pass(const char *name, MPI_Datatype sent, int sends, MPI_Datatype received, int receives)
{
    clear();
    MPI_Status status;
    MPI_Sendrecv(matrix, sends, sent, (rank + 1) % size, 4, other, receives, received, (rank + size - 1) % size, 4,
                 MPI_COMM_WORLD, &status);
    int count, elements, bytes;
    MPI_Get_count(&status, received, &count);
    MPI_Get_elements(&status, received, &elements);
    MPI_Type_size(sent, &bytes);
    MPI_Aint low, extent, true_low, true_extent;
    MPI_Type_get_extent(sent, &low, &extent);
    MPI_Type_get_true_extent(sent, &true_low, &true_extent);
    tell("%s: count %d, elements %d, size %d, extent %ld from %ld, true %ld from %ld, sum %08x", name, count, elements, bytes,
         (long)extent, (long)low, (long)true_extent, (long)true_low, sum_of(other, sizeof other));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Datatype column, columns, block, strided, row, one, backwards;
    MPI_Type_vector(N, 1, N, MPI_INT, &column);
    MPI_Type_commit(&column);
    pass("one column", column, 1, column, 1);
    MPI_Type_contiguous(N, MPI_INT, &row);
    MPI_Type_commit(&row);
    pass("a column as a row", column, 1, row, 1);
    pass("a row as a column", row, 1, column, 1);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    pass("transposed", columns, N, row, N);
    pass("transposed back", row, N, columns, N);
    pass("five columns", columns, 5, columns, 5);
    MPI_Type_vector(3, 2, 5, MPI_INT, &block);
    MPI_Type_commit(&block);
    pass("blocks", block, 4, block, 4);
    pass("blocks as numbers", block, 4, MPI_INT, 24);
    pass("more room than numbers", MPI_INT, 13, block, 4);
    MPI_Type_create_hvector(4, 3, 7 * sizeof(int), MPI_INT, &strided);
    MPI_Type_commit(&strided);
    pass("strides in bytes", strided, 2, strided, 2);
    MPI_Type_vector(2, 1, 2, strided, &one);
    MPI_Type_commit(&one);
    pass("strides of strides", one, 1, one, 1);
    MPI_Type_vector(4, 1, -2, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Aint low, extent;
    MPI_Type_get_extent(backwards, &low, &extent);
    clear();
    MPI_Sendrecv(&matrix[1][0], 2, backwards, rank, 5, other, 8, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell("backwards: extent %ld from %ld, %d %d %d %d %d", (long)extent, (long)low, other[0][0], other[0][1], other[0][2],
         other[0][3], other[0][4]);
    MPI_Datatype empty;
    MPI_Type_vector(0, 3, 4, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    pass("nothing", empty, 3, empty, 3);
    MPI_Datatype *types[] = {&column, &columns, &block, &strided, &row, &one, &backwards, &empty};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        MPI_Type_free(types[i]);
        if (*types[i] != MPI_DATATYPE_NULL)
            tell("a type is there after it was freed");
    }
    MPI_Finalize();
    return 0;
}
