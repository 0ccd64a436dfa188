/* Conjugate gradients of trilinear finite elements: a point and its 26 neighbours in three dimensions, the communication of miniFE.
 *
 *     femcg NX NY NZ [ITERATIONS [OVERLAP]]
 *
 * NX x NY x NZ points over all ranks; faces, edges and corners are exchanged before each product with the matrix, two scalar products an
 * iteration. With OVERLAP = 1 points that need no neighbour are computed while the halo is under way. The right side is made from a solution
 * that is known, and what is found is compared with it. */
#include "blocks.h"
#include <math.h>

#define LAYERS 1

static struct halo halo;
static int overlap;

/* y = A x for a part of the own points; y has no layers. */
static void product(enum part part, const double *x, double *y)
{
    long line = cells[2] + 2 * LAYERS, plane = line * (cells[1] + 2 * LAYERS);
    EACH_LINE(part, 1, {
        const double *c = x + at(LAYERS, i, j, 0);
        double *out = y + ((long)i * cells[1] + j) * cells[2];
        for (int k = k0; k < k1; k++) {
            double sum = 0;
            for (long a = -plane; a <= plane; a += plane)
                for (long b = -line; b <= line; b += line)
                    sum += c[a + b + k - 1] + c[a + b + k] + c[a + b + k + 1];
            out[k] = 27 * c[k] - sum;
        }
    })
}

static void apply(double *x, double *y)
{
    region("exchange");
    begin(&halo, x);
    if (overlap) {
        region("inner");
        product(INNER, x, y);
    }
    region("wait");
    end(&halo);
    region(overlap ? "edge" : "product");
    product(overlap ? EDGE : ALL, x, y);
}

static double sum(double own)
{
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, cube);
    return all;
}

/* Of a vector without layers. */
static double norm2(const double *r)
{
    double own = 0;
    for (long i = 0; i < (long)cells[0] * cells[1] * cells[2]; i++)
        own += r[i] * r[i];
    return sum(own);
}

/* One that is smooth and does not end at 0. */
static double known(int i, int j, int k) { return sin(0.3 * (first[0] + i + 1)) * cos(0.2 * (first[1] + j)) + 0.01 * (first[2] + k); }

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    cut((int[3]){number(count, list, 1, 16), number(count, list, 2, 16), number(count, list, 3, 16)});
    int iterations = number(count, list, 4, 500), round = 0;
    overlap = number(count, list, 5, 0);
    halo = halo_of(3, 1, LAYERS, -1, MPI_DOUBLE);
    long own = (long)cells[0] * cells[1] * cells[2];
    double *p = room(room_of(LAYERS) * sizeof *p), *x = room(own * sizeof *x), *r = room(own * sizeof *r), *q = room(own * sizeof *q);
    EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) p[at(LAYERS, i, j, k)] = known(i, j, k);)
    apply(p, r);
    region("start");
    double begun = MPI_Wtime(), start = norm2(r), old = start;
    EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) p[at(LAYERS, i, j, k)] = r[((long)i * cells[1] + j) * cells[2] + k];)
    for (; round < iterations && old > 1e-24 * start; round++) {
        apply(p, q);
        region("vectors");
        double part = 0;
        EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) part += p[at(LAYERS, i, j, k)] * q[((long)i * cells[1] + j) * cells[2] + k];)
        double alpha = old / sum(part);
        EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) {
            long here = ((long)i * cells[1] + j) * cells[2] + k;
            x[here] += alpha * p[at(LAYERS, i, j, k)];
            r[here] -= alpha * q[here];
        })
        double now = norm2(r), beta = now / old;
        EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) {
            long here = at(LAYERS, i, j, k);
            p[here] = r[((long)i * cells[1] + j) * cells[2] + k] + beta * p[here];
        })
        old = now;
    }
    region("check");
    double worst = 0, worst_of_all, last = MPI_Wtime() - begun, longest;
    EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) worst = fmax(worst, fabs(x[((long)i * cells[1] + j) * cells[2] + k] - known(i, j, k)));)
    MPI_Reduce(&worst, &worst_of_all, 1, MPI_DOUBLE, MPI_MAX, 0, cube);
    MPI_Reduce(&last, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, cube);
    if (me == 0) {
        printf("%d iterations, residual below 1e-12: %s, error below 1e-8: %s\n", round, sqrt(old / start) < 1e-12 ? "yes" : "no",
               worst_of_all < 1e-8 ? "yes" : "no");
        if (getenv("PRINT_TIME"))
            printf("%.9f s\n", longest);
    }
    MPI_Finalize();
    return 0;
}
