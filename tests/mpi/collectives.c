/* Every collective operation that moves data, with equal parts and with sizes of their own, from every root, and in place. */
#include "tell.h"

enum { MOST = 8 };

static void fill(int *list, int count, int with)
{
    for (int i = 0; i < count; i++)
        list[i] = with + i;
}

static void equal(int root)
{
    int mine[4], *all = malloc(sizeof(int) * 4 * size), *other = malloc(sizeof(int) * 4 * size);
    fill(mine, 4, rank == root ? 500 + root : -1);
    MPI_Bcast(mine, 4, MPI_INT, root, MPI_COMM_WORLD);
    tell_list("bcast:", mine, 4);
    fill(mine, 4, rank * 10);
    fill(all, 4 * size, 0);
    MPI_Gather(mine, 4, MPI_INT, all, 4, MPI_INT, root, MPI_COMM_WORLD);
    if (rank == root)
        tell_list("gather:", all, 4 * size);
    fill(all, 4 * size, 1000 * rank);
    MPI_Scatter(all, 4, MPI_INT, mine, 4, MPI_INT, root, MPI_COMM_WORLD);
    tell_list("scatter:", mine, 4);
    MPI_Allgather(mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
    tell_list("allgather:", all, 4 * size);
    fill(other, 4 * size, rank * 100);
    MPI_Alltoall(other, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
    tell_list("alltoall:", all, 4 * size);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, 4, MPI_INT, MPI_COMM_WORLD);
    tell_list("alltoall in place:", other, 4 * size);
    fill(all, 4 * size, rank * 7);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 4, MPI_INT, MPI_COMM_WORLD);
    tell_list("allgather in place:", all, 4 * size);
    fill(all, 4 * size, rank * 9);
    if (rank == root)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 4, MPI_INT, root, MPI_COMM_WORLD);
    else
        MPI_Gather(all, 4, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
    tell_list("gather in place:", all, 4 * size);
    if (rank == root)
        MPI_Scatter(all, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    else
        MPI_Scatter(NULL, 0, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD);
    tell_list("scatter in place:", all, 4 * size);
    free(all), free(other);
}

static void own(int root)
{
    int counts[MOST], places[MOST], sent[MOST], from[MOST], mine[64], all[256], total = 0, out = 0, in = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3 + 1, places[i] = total, total += counts[i] + 1;
    }
    fill(mine, 64, rank * 100);
    memset(all, 0, sizeof all);
    MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    tell_list("gatherv:", all, total);
    fill(all, 256, rank * 1000);
    MPI_Scatterv(all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    tell_list("scatterv:", mine, 5);
    memset(all, 0, sizeof all);
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    tell_list("allgatherv:", all, total);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    tell_list("allgatherv in place:", all, total);
    int starts[MOST], ends[MOST];
    for (int i = 0; i < size; i++) {
        sent[i] = (rank + 2 * i) % 4, starts[i] = out, out += sent[i];
        from[i] = (i + 2 * rank) % 4, ends[i] = in, in += from[i] + 1;
    }
    fill(mine, 64, rank * 100);
    memset(all, 0, sizeof all);
    MPI_Alltoallv(mine, sent, starts, MPI_INT, all, from, ends, MPI_INT, MPI_COMM_WORLD);
    tell_list("alltoallv:", all, in);
    MPI_Datatype sends[MOST], receives[MOST], gaps;
    MPI_Type_vector(1, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < size; i++)
        sends[i] = MPI_INT, receives[i] = i % 2 ? gaps : MPI_INT, starts[i] *= sizeof(int), ends[i] *= sizeof(int);
    memset(all, 0, sizeof all);
    MPI_Alltoallw(mine, sent, starts, sends, all, from, ends, receives, MPI_COMM_WORLD);
    tell_list("alltoallw:", all, in);
    MPI_Type_free(&gaps);
    for (int i = 0; i < size; i++)
        counts[i] = 1 + (rank + i) % 2, places[i] = 3 * i;
    fill(all, 3 * size, rank * 50);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    tell_list("alltoallv in place:", all, 3 * size);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int root = 0; root < size; root++) {
        equal(root);
        own(root);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
