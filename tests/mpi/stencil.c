/* Heat on a square that is cut into strips: halos by messages that do not wait, and the change by a reduction. */
#include "tell.h"
#include <math.h>

enum { WIDTH = 24, STEPS = 40 };

static void exchange(double *rows, int count)
{
    int up = rank == 0 ? MPI_PROC_NULL : rank - 1, down = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Request requests[4];
    MPI_Irecv(rows, WIDTH, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(rows + (count + 1) * WIDTH, WIDTH, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(rows + WIDTH, WIDTH, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(rows + count * WIDTH, WIDTH, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int first = rank * WIDTH / size, count = (rank + 1) * WIDTH / size - first;
    double *now = calloc((count + 2) * WIDTH, sizeof *now), *next = calloc((count + 2) * WIDTH, sizeof *next);
    for (int row = 1; row <= count; row++)
        for (int column = 0; column < WIDTH; column++)
            now[row * WIDTH + column] = (first + row - 1) * 0.5 + column % 5;
    double change = 0;
    for (int step = 0; step < STEPS; step++) {
        exchange(now, count);
        double most = 0;
        for (int row = 1; row <= count; row++)
            for (int column = 0; column < WIDTH; column++) {
                int at = row * WIDTH + column;
                double left = column ? now[at - 1] : 0, right = column < WIDTH - 1 ? now[at + 1] : 0;
                next[at] = 0.25 * (left + right + now[at - WIDTH] + now[at + WIDTH]);
                most = fmax(most, fabs(next[at] - now[at]));
            }
        MPI_Allreduce(&most, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        double *swap = now;
        now = next, next = swap;
    }
    double mine = 0, all = 0;
    for (int at = WIDTH; at < (count + 1) * WIDTH; at++)
        mine += now[at];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
    tell("mine %.15g, change %.15g", mine, change);
    if (rank == size - 1)
        tell("all %.15g", all);
    MPI_Finalize();
    return 0;
}
