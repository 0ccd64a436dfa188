/* Halo exchange in 3D with faces, edges and corners, all at once: all receives, all sends, one wait.
 *
 *     halo3d PX PY PZ [NX NY NZ [VARS [ITERATIONS]]]
 *
 * PX x PY x PZ ranks, each with a block of NX x NY x NZ cells of VARS doubles. What is sent when is that of the motif halo3d-26, so
 * that both take the same time on a network. */
#include "grid.h"

static const int FACES[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const int EDGES[12][3] = {{-1, -1, 0}, {0, -1, -1}, {1, -1, 0}, {0, -1, 1}, {-1, 0, 1}, {1, 0, 1},
                                 {-1, 0, -1}, {1, 0, -1}, {-1, 1, 0}, {0, 1, 1},   {1, 1, 0},  {0, 1, -1}};
static const int CORNERS[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                  {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sides[3] = {number(count, list, 1, ranks), number(count, list, 2, 1), number(count, list, 3, 1)};
    long cells[3] = {number(count, list, 4, 20), number(count, list, 5, 20), number(count, list, 6, 20)};
    long vars = number(count, list, 7, 1), iterations = number(count, list, 8, 1);
    if (sides[0] * sides[1] * sides[2] != ranks) {
        fprintf(stderr, "%d x %d x %d ranks are not %d\n", sides[0], sides[1], sides[2], ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int place[3] = {me % sides[0], me / sides[0] % sides[1], me / sides[0] / sides[1]};
    int peers[26], neighbours = 0;
    size_t bytes[26];
    char *out[26], *in[26];
    for (int i = 0; i < 26; i++) {
        const int *way = i < 6 ? FACES[i] : i < 18 ? EDGES[i - 6] : CORNERS[i - 18];
        int inside = 1;
        size_t values = vars;
        for (int d = 0; d < 3; d++) {
            inside &= place[d] + way[d] >= 0 && place[d] + way[d] < sides[d];
            values *= way[d] == 0 ? cells[d] : 1;
        }
        if (!inside)
            continue;
        peers[neighbours] = me + way[0] + sides[0] * (way[1] + sides[1] * way[2]);
        bytes[neighbours] = values * sizeof(double);
        out[neighbours] = room(bytes[neighbours]);
        in[neighbours] = room(bytes[neighbours]);
        neighbours++;
    }
    MPI_Request requests[52];
    for (int round = 0; round < iterations; round++) {
        for (int i = 0; i < neighbours; i++)
            MPI_Irecv(in[i], bytes[i], MPI_BYTE, peers[i], 0, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < neighbours; i++) {
            fill(out[i], bytes[i], me, peers[i], round);
            MPI_Isend(out[i], bytes[i], MPI_BYTE, peers[i], 0, MPI_COMM_WORLD, &requests[neighbours + i]);
        }
        MPI_Waitall(2 * neighbours, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < neighbours; i++)
            check(in[i], bytes[i], peers[i], me, round, "a halo");
    }
    if (getenv("PRINT_TIME"))
        told("halo3d", 0);
    MPI_Finalize();
    return 0;
}
