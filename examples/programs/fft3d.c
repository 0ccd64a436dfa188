/* A 3D Fourier transform and its inverse on a 2D grid of ranks, without the arithmetic: transposes of pencils along rows and columns, a
 * barrier, and the way back.
 *
 *     fft3d R C [NX NY NZ [ITERATIONS]]
 *
 * R x C ranks, NX x NY x NZ double complex values. What is sent is that of the motif fft3d, after the communicators of rows and columns
 * have been made. Every value says where it belongs, and is checked after each transpose. */
#include "grid.h"

typedef struct { double re, im; } Value;

static int part_begin(long all, int parts, int i)
{
    return all / parts * i + (all % parts < i ? all % parts : i);
}

static int planes(long all, int parts, int i)
{
    return part_begin(all, parts, i + 1) - part_begin(all, parts, i);
}

/* Exchanges blocks within a communicator: `mine` planes of one dimension stay together with all of the third, those of the other dimension
 * are dealt out. Returns nothing but checked data. */
static void transpose(MPI_Comm line, long split, long whole, long third, int round)
{
    int size, own;
    MPI_Comm_size(line, &size);
    MPI_Comm_rank(line, &own);
    int *counts = room(4 * size * sizeof(int)), *places = counts + size, *incounts = places + size, *inplaces = incounts + size;
    int out = 0, in = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = planes(whole, size, own) * planes(split, size, i) * third;
        incounts[i] = planes(whole, size, i) * planes(split, size, own) * third;
        places[i] = out;
        inplaces[i] = in;
        out += counts[i];
        in += incounts[i];
    }
    Value *from = room(out * sizeof(Value)), *to = room(in * sizeof(Value));
    for (int i = 0; i < size; i++)
        fill((char *)(from + places[i]), counts[i] * sizeof(Value), own, i, round);
    MPI_Alltoallv(from, counts, places, MPI_C_DOUBLE_COMPLEX, to, incounts, inplaces, MPI_C_DOUBLE_COMPLEX, line);
    for (int i = 0; i < size; i++)
        check((char *)(to + inplaces[i]), incounts[i] * sizeof(Value), i, own, round, "a transpose");
    free(from);
    free(to);
    free(counts);
}

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rows = number(count, list, 1, ranks), columns = number(count, list, 2, 1);
    long x = number(count, list, 3, 100), y = number(count, list, 4, 100), z = number(count, list, 5, 100);
    long iterations = number(count, list, 6, 1);
    if (rows * columns != ranks) {
        fprintf(stderr, "%d x %d ranks are not %d\n", rows, columns, ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int r = me % rows, c = me / rows;
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, c, r, &row);
    MPI_Comm_split(MPI_COMM_WORLD, r, c, &column);
    double begin = MPI_Wtime();
    for (int round = 0; round < iterations; round++) {
        transpose(row, x, y, planes(z, columns, c), round);
        transpose(column, y, z, planes(x, rows, r), round);
        MPI_Barrier(MPI_COMM_WORLD);
        transpose(column, z, y, planes(x, rows, r), round);
        transpose(row, y, x, planes(z, columns, c), round);
    }
    if (getenv("PRINT_TIME"))
        told("fft3d", begin);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
