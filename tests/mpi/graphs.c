/* Graphs of ranks, and operations among neighbours. */
#include "tell.h"

static void neighbours(MPI_Comm comm, int ins, int outs)
{
    int mine[32] = {rank * 100}, all[64];
    for (int i = 0; i < outs; i++)
        mine[i] = rank * 100 + i;
    memset(all, -1, sizeof all);
    MPI_Neighbor_allgather(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    tell_list("gathered:", all, ins);
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    tell_list("exchanged:", all, ins);
    int counts[32], places[32], froms[32], ends[32];
    for (int i = 0; i < outs; i++)
        counts[i] = 1, places[i] = i;
    for (int i = 0; i < ins; i++)
        froms[i] = 1, ends[i] = 2 * i;
    memset(all, -1, sizeof all);
    MPI_Neighbor_alltoallv(mine, counts, places, MPI_INT, all, froms, ends, MPI_INT, comm);
    tell_list("with sizes:", all, 2 * ins);
    memset(all, -1, sizeof all);
    MPI_Neighbor_allgatherv(mine, 1, MPI_INT, all, froms, ends, MPI_INT, comm);
    tell_list("gathered with places:", all, 2 * ins);
}

static void graph(void)
{
    int index[64], edges[128], at = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0)
            edges[at++] = i - 1;
        if (i < size - 1)
            edges[at++] = i + 1;
        index[i] = at;
    }
    MPI_Comm line;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &line);
    int nodes, ends, kind, count, near[4], read_index[64], read_edges[128];
    MPI_Topo_test(line, &kind);
    MPI_Graphdims_get(line, &nodes, &ends);
    MPI_Graph_neighbors_count(line, rank, &count);
    MPI_Graph_neighbors(line, rank, count, near);
    tell("graph %d: %d nodes, %d edges", kind == MPI_GRAPH, nodes, ends);
    tell_list("neighbours:", near, count);
    MPI_Graph_get(line, nodes, ends, read_index, read_edges);
    tell("read again: %08x %08x", sum_of(read_index, nodes * sizeof(int)), sum_of(read_edges, ends * sizeof(int)));
    if (size > 1)
        neighbours(line, count, count);
    MPI_Comm_free(&line);
}

static void adjacent(void)
{
    int from[2] = {(rank + size - 1) % size, (rank + size - 2 % size) % size}, to[2] = {(rank + 1) % size, (rank + 2) % size};
    int weights[2] = {3, 4};
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &comm);
    int ins, outs, weighted, sources[2], source_weights[2], targets[2], target_weights[2];
    MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    MPI_Dist_graph_neighbors(comm, 2, sources, source_weights, 2, targets, target_weights);
    tell("adjacent: %d in, %d out, weighted %d: %d*%d %d*%d, %d*%d %d*%d", ins, outs, weighted, sources[0], source_weights[0],
         sources[1], source_weights[1], targets[0], target_weights[0], targets[1], target_weights[1]);
    neighbours(comm, 2, 2);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    tell("without weights: %d %d %d", ins, outs, weighted);
    MPI_Comm_free(&comm);
}

/* Rank 0 says all edges: from everybody to the rank after it. */
static void told(void)
{
    int sources[64], degrees[64], targets[64], count = rank == 0 ? size : 0;
    for (int i = 0; i < count; i++)
        sources[i] = i, degrees[i] = 1, targets[i] = (i + 1) % size;
    MPI_Comm comm;
    MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    int ins, outs, weighted, kind;
    MPI_Topo_test(comm, &kind);
    MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    tell("told: %d, %d in, %d out", kind == MPI_DIST_GRAPH, ins, outs);
    neighbours(comm, 1, 1);
    MPI_Comm_free(&comm);
}

static void grid(void)
{
    int dims[] = {0, 0}, periods[] = {1, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    if (dims[0] > 2 || dims[0] == 1)
        neighbours(comm, 4, 4);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    graph();
    adjacent();
    told();
    grid();
    MPI_Finalize();
    return 0;
}
