/* Conjugate gradients for the Laplace equation on a square, cut into strips of rows.
 *
 *     cg [N [ITERATIONS]]
 *
 * N x N points, a halo of one row on both sides of each strip, two all-reduces an iteration. The right side is made from a solution that is known,
 * and what is found is compared with it. */
#include "grid.h"
#include <math.h>

static long side, rows;
static MPI_Comm line;
static int below, above;

/* y = A x; x has a row more at both ends. */
static void apply(double *x, double *y)
{
    MPI_Sendrecv(x + rows * side, side, MPI_DOUBLE, above, 0, x, side, MPI_DOUBLE, below, 0, line, MPI_STATUS_IGNORE);
    MPI_Sendrecv(x + side, side, MPI_DOUBLE, below, 1, x + (rows + 1) * side, side, MPI_DOUBLE, above, 1, line, MPI_STATUS_IGNORE);
    for (long i = 1; i <= rows; i++)
        for (long j = 0; j < side; j++) {
            double *own = x + i * side + j;
            y[(i - 1) * side + j] = 4 * *own - own[-side] - own[side] - (j > 0 ? own[-1] : 0) - (j + 1 < side ? own[1] : 0);
        }
}

static double dot(const double *a, const double *b, long n)
{
    double own = 0, all;
    for (long i = 0; i < n; i++)
        own += a[i] * b[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, line);
    return all;
}

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int periodic = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
    MPI_Comm_rank(line, &me);
    MPI_Cart_shift(line, 0, 1, &below, &above);
    side = number(count, list, 1, 128);
    long iterations = number(count, list, 2, 1000);
    long first = side * me / ranks;
    rows = side * (me + 1) / ranks - first;
    long n = rows * side;
    double h = 1.0 / (side + 1), *known = room(n * sizeof(double));
    double *x = room((n + 2 * side) * sizeof(double)), *p = room((n + 2 * side) * sizeof(double));
    double *r = room(n * sizeof(double)), *q = room(n * sizeof(double));
    for (long i = 0; i < n; i++)
        known[i] = p[side + i] = sin(7 * (first + i / side + 1) * h) * exp(i % side * h);
    apply(p, r);
    memcpy(p + side, r, n * sizeof(double));
    double old = dot(r, r, n), begin = MPI_Wtime();
    long round = 0;
    for (; round < iterations && old > 1e-20; round++) {
        apply(p, q);
        double alpha = old / dot(p + side, q, n);
        for (long i = 0; i < n; i++) {
            x[side + i] += alpha * p[side + i];
            r[i] -= alpha * q[i];
        }
        double now = dot(r, r, n), beta = now / old;
        for (long i = 0; i < n; i++)
            p[side + i] = r[i] + beta * p[side + i];
        old = now;
    }
    double own = 0, worst, last = MPI_Wtime() - begin, longest;
    for (long i = 0; i < n; i++)
        own = fmax(own, fabs(x[side + i] - known[i]));
    MPI_Reduce(&own, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, line);
    MPI_Reduce(&last, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, line);
    if (me == 0) {
        printf("%ld iterations, residual below 1e-9: %s, error below 1e-8: %s\n", round, sqrt(old) < 1e-9 ? "yes" : "no",
               worst < 1e-8 ? "yes" : "no");
        if (getenv("PRINT_TIME"))
            printf("%.9f s\n", longest);
    }
    MPI_Finalize();
    return 0;
}
