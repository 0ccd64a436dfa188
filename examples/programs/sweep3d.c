/* Wavefront sweeps from the four corners of a 2D grid of ranks, twice, pipelined along z (KBA: Koch, Baker, Alcouffe 1992).
 *
 *     sweep3d PX PY [NX NY NZ [KBA [VARS [ITERATIONS]]]]
 *
 * PX x PY ranks, each with a block of NX x NY x NZ cells of VARS doubles, KBA planes a step; all messages wait. What is sent when is that
 * of the motif sweep3d. */
#include "grid.h"

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sides[2] = {number(count, list, 1, ranks), number(count, list, 2, 1)};
    long cells[3] = {number(count, list, 3, 50), number(count, list, 4, 50), number(count, list, 5, 100)};
    long kba = number(count, list, 6, 10), vars = number(count, list, 7, 1), iterations = number(count, list, 8, 1);
    if (sides[0] * sides[1] != ranks || cells[2] % kba != 0) {
        fprintf(stderr, "%d x %d ranks are not %d, or %ld planes no steps of %ld\n", sides[0], sides[1], ranks, cells[2], kba);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int place[2] = {me % sides[0], me / sides[0]}, strides[2] = {1, sides[0]};
    size_t bytes[2] = {cells[0] * kba * vars * sizeof(double), cells[1] * kba * vars * sizeof(double)};
    char *data = room(bytes[0] > bytes[1] ? bytes[0] : bytes[1]);
    static const int UP[4][2] = {{1, 1}, {0, 1}, {0, 0}, {1, 0}};
    for (int round = 0; round < iterations; round++) {
        for (int sweep = 0; sweep < 8; sweep++) {
            int from[2], to[2];
            for (int d = 0; d < 2; d++) {
                int up = UP[sweep % 4][d], low = place[d] > 0, high = place[d] + 1 < sides[d];
                from[d] = (up ? low : high) ? me + (up ? -strides[d] : strides[d]) : MPI_PROC_NULL;
                to[d] = (up ? high : low) ? me + (up ? strides[d] : -strides[d]) : MPI_PROC_NULL;
            }
            for (long step = 0; step < cells[2] / kba; step++) {
                for (int d = 0; d < 2; d++)
                    if (from[d] != MPI_PROC_NULL) {
                        MPI_Recv(data, bytes[d], MPI_BYTE, from[d], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                        check(data, bytes[d], from[d], me, step, "a sweep");
                    }
                for (int d = 0; d < 2; d++)
                    if (to[d] != MPI_PROC_NULL) {
                        fill(data, bytes[d], me, to[d], step);
                        MPI_Send(data, bytes[d], MPI_BYTE, to[d], 0, MPI_COMM_WORLD);
                    }
            }
        }
    }
    if (getenv("PRINT_TIME"))
        told("sweep3d", 0);
    MPI_Finalize();
    return 0;
}
