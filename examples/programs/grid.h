/* What the benchmarks share: a grid of ranks, first dimension fastest, data that can be checked, and times. */
#ifndef GRID_H
#define GRID_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, ranks;

/* Ends the program where what came is not what was to come. */
static inline void wrong(const char *what)
{
    fprintf(stderr, "rank %d: wrong data in %s\n", me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Fills a message so that its receiver can tell who sent it, and which it is. */
static inline void fill(char *data, size_t bytes, int from, int to, int which)
{
    for (size_t i = 0; i < bytes; i += 4096)
        data[i] = (char)(from * 31 + to * 7 + which + (int)(i >> 12));
    if (bytes > 0)
        data[bytes - 1] = (char)(from + to * 3 + which);
}

static inline void check(const char *data, size_t bytes, int from, int to, int which, const char *what)
{
    if (bytes == 0)
        return;
    for (size_t i = 0; i + 1 < bytes; i += 4096)
        if (data[i] != (char)(from * 31 + to * 7 + which + (int)(i >> 12)))
            wrong(what);
    if (data[bytes - 1] != (char)(from + to * 3 + which))
        wrong(what);
}

static inline void *room(size_t bytes)
{
    void *data = calloc(bytes ? bytes : 1, 1);
    if (!data) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", me, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return data;
}

/* Argument i as a number, or the default. */
static inline long number(int count, char **list, int i, long otherwise)
{
    return i < count ? strtol(list[i], NULL, 10) : otherwise;
}

/* Says when the last rank was done, counted from begin. */
static inline void told(const char *name, double begin)
{
    double own = MPI_Wtime() - begin, last;
    MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%s: %d ranks, %.12f s\n", name, ranks, last);
}

#endif
