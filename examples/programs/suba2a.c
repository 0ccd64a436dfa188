/* All-to-alls along the lines of a 3D grid of ranks: x, then y, then z.
 *
 *     suba2a PX PY PZ [BX BY BZ [ITERATIONS]]
 *
 * BX, BY, BZ bytes from each rank to each other of its line. What is sent is that of the motif suba2a, after the communicators of the
 * lines have been made. */
#include "grid.h"

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sides[3] = {number(count, list, 1, ranks), number(count, list, 2, 1), number(count, list, 3, 1)};
    long bytes[3] = {number(count, list, 4, 32768), number(count, list, 5, 32768), number(count, list, 6, 32768)};
    long iterations = number(count, list, 7, 1);
    if (sides[0] * sides[1] * sides[2] != ranks) {
        fprintf(stderr, "%d x %d x %d ranks are not %d\n", sides[0], sides[1], sides[2], ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int place[3] = {me % sides[0], me / sides[0] % sides[1], me / sides[0] / sides[1]};
    int strides[3] = {1, sides[0], sides[0] * sides[1]};
    MPI_Comm lines[3];
    for (int d = 0; d < 3; d++)
        MPI_Comm_split(MPI_COMM_WORLD, me - place[d] * strides[d], place[d], &lines[d]);
    double begin = MPI_Wtime();
    for (int round = 0; round < iterations; round++)
        for (int d = 0; d < 3; d++) {
            if (bytes[d] == 0 || sides[d] < 2)
                continue;
            char *out = room(bytes[d] * sides[d]), *in = room(bytes[d] * sides[d]);
            for (int i = 0; i < sides[d]; i++)
                fill(out + i * bytes[d], bytes[d], me, me + (i - place[d]) * strides[d], round);
            MPI_Alltoall(out, bytes[d], MPI_BYTE, in, bytes[d], MPI_BYTE, lines[d]);
            for (int i = 0; i < sides[d]; i++)
                check(in + i * bytes[d], bytes[d], me + (i - place[d]) * strides[d], me, round, "an all-to-all");
            free(out);
            free(in);
        }
    if (getenv("PRINT_TIME"))
        told("suba2a", begin);
    for (int d = 0; d < 3; d++)
        MPI_Comm_free(&lines[d]);
    MPI_Finalize();
    return 0;
}
