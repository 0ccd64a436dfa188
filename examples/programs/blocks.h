/* A box of cells cut into blocks, one per rank, with layers of its neighbours' cells around each. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "grid.h"

/* What ranks have: the grid of ranks and the place in it, then the cells of the own block and the first of them in the box. */
static MPI_Comm cube;
static int sides[3], place[3], cells[3], first[3];

static void cut(const int box[3])
{
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 3, sides, (int[3]){0, 0, 0}, 0, &cube);
    MPI_Comm_rank(cube, &me);
    MPI_Cart_coords(cube, me, 3, place);
    for (int d = 0; d < 3; d++) {
        first[d] = (int)((long)box[d] * place[d] / sides[d]);
        cells[d] = (int)((long)box[d] * (place[d] + 1) / sides[d]) - first[d];
        if (cells[d] < 4) {
            fprintf(stderr, "a box of %d x %d x %d cells is too small for %d x %d x %d ranks\n", box[0], box[1], box[2], sides[0], sides[1],
                    sides[2]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
}

/* Where cell i, j, k of the own block is in memory, with so many layers around it; the first own cell is 0, 0, 0. */
static inline long at(int layers, int i, int j, int k)
{
    return ((long)(i + layers) * (cells[1] + 2 * layers) + j + layers) * (cells[2] + 2 * layers) + k + layers;
}

static long room_of(int layers) { return (long)(cells[0] + 2 * layers) * (cells[1] + 2 * layers) * (cells[2] + 2 * layers); }

/* 0 or 1, like the squares of a chess board, the same for a cell on whatever rank. */
static inline int colour_of(int i, int j, int k) { return (first[0] + first[1] + first[2] + i + j + k) & 1; }

/* An exchange of layers with neighbours. */
struct halo {
    int count;
    int peers[26];
    MPI_Datatype out[26], in[26];
    MPI_Request open[52];
};

/* Cells that go towards a neighbour, or come from it: of a colour, or all. */
static MPI_Datatype layer(const int way[3], int outside, int depth, int layers, int colour, MPI_Datatype element)
{
    int from[3], to[3];
    for (int d = 0; d < 3; d++) {
        from[d] = way[d] <= 0 ? 0 : cells[d] - depth;
        to[d] = way[d] >= 0 ? cells[d] : depth;
        from[d] += outside * way[d] * depth;
        to[d] += outside * way[d] * depth;
    }
    int *list = room(sizeof(int) * (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2])), count = 0;
    for (int i = from[0]; i < to[0]; i++)
        for (int j = from[1]; j < to[1]; j++)
            for (int k = from[2]; k < to[2]; k++)
                if (colour < 0 || colour_of(i, j, k) == colour)
                    list[count++] = (int)at(layers, i, j, k);
    MPI_Datatype type;
    MPI_Type_create_indexed_block(count, 1, list, element, &type);
    MPI_Type_commit(&type);
    free(list);
    return type;
}

/* Faces alone, or faces, edges and corners (`most` = 1 or 3 steps to a neighbour). */
static struct halo halo_of(int most, int depth, int layers, int colour, MPI_Datatype element)
{
    struct halo halo = {0};
    for (int which = 0; which < 27; which++) {
        int way[3] = {which / 9 - 1, which / 3 % 3 - 1, which % 3 - 1}, steps = 0, inside = 1, there[3];
        for (int d = 0; d < 3; d++) {
            there[d] = place[d] + way[d];
            steps += way[d] != 0;
            inside &= there[d] >= 0 && there[d] < sides[d];
        }
        if (!inside || steps == 0 || steps > most)
            continue;
        MPI_Cart_rank(cube, there, &halo.peers[halo.count]);
        halo.out[halo.count] = layer(way, 0, depth, layers, colour, element);
        halo.in[halo.count++] = layer(way, 1, depth, layers, colour, element);
    }
    return halo;
}

static void begin(struct halo *halo, void *data)
{
    for (int i = 0; i < halo->count; i++)
        MPI_Irecv(data, 1, halo->in[i], halo->peers[i], 0, cube, &halo->open[i]);
    for (int i = 0; i < halo->count; i++)
        MPI_Isend(data, 1, halo->out[i], halo->peers[i], 0, cube, &halo->open[halo->count + i]);
}

static void end(struct halo *halo) { MPI_Waitall(2 * halo->count, halo->open, MPI_STATUSES_IGNORE); }

/* Own cells in the order of memory: all of them, those with a neighbour outside the block at most `depth` cells away, or the others. */
enum part { ALL, EDGE, INNER };

/* What a part of a line along the last dimension has: one piece, or both of its ends. */
static inline int pieces(enum part part, int depth, int i, int j, int piece[2][2])
{
    int last = cells[2], rim = i < depth || j < depth || i >= cells[0] - depth || j >= cells[1] - depth;
    int whole = part == ALL || (part == EDGE && rim);
    piece[0][0] = part == INNER ? depth : 0;
    piece[0][1] = whole ? last : part == INNER ? last - depth : depth;
    piece[1][0] = last - depth;
    piece[1][1] = last;
    return whole ? 1 : part == EDGE ? 2 : !rim;
}

/* Runs a statement for pieces of lines i, j from k0 to k1. */
#define EACH_LINE(part, depth, ...)                                                                                                      \
    for (int i = 0; i < cells[0]; i++)                                                                                                   \
        for (int j = 0; j < cells[1]; j++) {                                                                                             \
            int piece_[2][2];                                                                                                            \
            for (int p_ = pieces(part, depth, i, j, piece_) - 1; p_ >= 0; p_--) {                                                        \
                int k0 = piece_[p_][0], k1 = piece_[p_][1];                                                                              \
                __VA_ARGS__                                                                                                              \
            }                                                                                                                            \
        }

/* Computing between two of these has a name in the tables and reports of fabricsim; another MPI does nothing. */
static inline void region(const char *name) { MPI_Pcontrol(1, name); }

#endif
