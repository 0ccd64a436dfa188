/* Steps of an incompressible flow in a box whose lid moves, on a grid of cells: fractional steps with red-black over-relaxation for the
 * pressure, the communication of FFV-C.
 *
 *     flow NX NY NZ [STEPS [OVERLAP]]
 *
 * NX x NY x NZ cells over all ranks, 4-byte values. A step: two layers of three velocities from 6 neighbours, one of those that are
 * not yet free of divergence, then 20 sweeps with half a layer of pressures after each colour and a sum. With OVERLAP = 1 what needs no
 * neighbour is computed while layers are under way; pressures at the edge of a block go first for it. What comes out is the same to the
 * last bit on any number of ranks, with and without: it is printed as a sum. */
#include "blocks.h"
#include <math.h>

#define SWEEPS 20
#define LAYERS 2

typedef struct {
    float x, y, z;
} velocity;

static const float STEP = 0.2F, VISCOSITY = 0.1F, OVER = 1.5F;
static struct halo wide, narrow, of_colour[2];
static int overlap;
/* How far neighbours are in memory. */
static long far[3];

/* Moves a value with the stream (second order, upwind: two cells on either side) and lets it spread. */
static inline float moved(const float *v, const float *speed)
{
    float change = 0;
    for (int d = 0; d < 3; d++) {
        long n = 3 * far[d];
        float s = speed[d], up = 1.5F * v[0] - 2 * v[-n] + 0.5F * v[-2 * n], down = -1.5F * v[0] + 2 * v[n] - 0.5F * v[2 * n];
        change += VISCOSITY * (v[n] - 2 * v[0] + v[-n]) - (s > 0 ? s * up : s * down);
    }
    return v[0] + STEP * change;
}

static void transport(enum part part, const velocity *now, velocity *next)
{
    EACH_LINE(part, 2, for (int k = k0; k < k1; k++) {
        const velocity *c = now + at(LAYERS, i, j, k);
        next[at(LAYERS, i, j, k)] = (velocity){moved(&c->x, &c->x), moved(&c->y, &c->x), moved(&c->z, &c->x)};
    })
}

static void divergence(enum part part, const velocity *v, float *right)
{
    EACH_LINE(part, 1, for (int k = k0; k < k1; k++) {
        long c = at(LAYERS, i, j, k);
        right[c] = (v[c + far[0]].x - v[c - far[0]].x + v[c + far[1]].y - v[c - far[1]].y + v[c + far[2]].z - v[c - far[2]].z) / (2 * STEP);
    })
}

/* Half a sweep; its share of the squares of what was changed. */
static double relax(enum part part, int colour, float *p, const float *right)
{
    double change = 0;
    EACH_LINE(part, 1, for (int k = k0 + (colour_of(i, j, k0) != colour); k < k1; k += 2) {
        long c = at(LAYERS, i, j, k);
        float sum = p[c - far[0]] + p[c + far[0]] + p[c - far[1]] + p[c + far[1]] + p[c - far[2]] + p[c + far[2]];
        float step = OVER * ((sum - right[c]) / 6 - p[c]);
        p[c] += step;
        change += (double)step * step;
    })
    return change;
}

static double sweep(float *p, const float *right)
{
    double own = 0, all;
    for (int colour = 0; colour < 2; colour++) {
        region(overlap ? "edge" : "sweep");
        own += relax(overlap ? EDGE : ALL, colour, p, right);
        region("exchange");
        begin(&of_colour[colour], p);
        if (overlap) {
            region("inner");
            own += relax(INNER, colour, p, right);
        }
        region("wait");
        end(&of_colour[colour]);
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, cube);
    return sqrt(all);
}

static void correct(velocity *v, const velocity *next, const float *p)
{
    EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) {
        long c = at(LAYERS, i, j, k);
        v[c].x = next[c].x - STEP * 0.5F * (p[c + far[0]] - p[c - far[0]]);
        v[c].y = next[c].y - STEP * 0.5F * (p[c + far[1]] - p[c - far[1]]);
        v[c].z = next[c].z - STEP * 0.5F * (p[c + far[2]] - p[c - far[2]]);
    })
}

/* The bits of all values, each with the number of its cell. */
static uint64_t bits(const int box[3], const float *p, const velocity *v)
{
    uint64_t own = 0, all;
    EACH_LINE(ALL, 0, for (int k = k0; k < k1; k++) {
        long c = at(LAYERS, i, j, k);
        uint64_t cell = ((uint64_t)(first[0] + i) * box[1] + first[1] + j) * box[2] + first[2] + k;
        float four[4] = {p[c], v[c].x, v[c].y, v[c].z};
        for (int n = 0; n < 4; n++) {
            uint32_t word;
            memcpy(&word, &four[n], sizeof word);
            own += (word + 1) * (4 * cell + n + 1) * UINT64_C(0x9E3779B97F4A7C15);
        }
    })
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, cube);
    return all;
}

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    int box[3] = {number(count, list, 1, 16), number(count, list, 2, 16), number(count, list, 3, 16)};
    cut(box);
    int steps = number(count, list, 4, 2);
    overlap = number(count, list, 5, 0);
    far[2] = 1;
    far[1] = cells[2] + 2 * LAYERS;
    far[0] = far[1] * (cells[1] + 2 * LAYERS);
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_FLOAT, &three);
    wide = halo_of(1, 2, LAYERS, -1, three);
    narrow = halo_of(1, 1, LAYERS, -1, three);
    for (int colour = 0; colour < 2; colour++)
        of_colour[colour] = halo_of(1, 1, LAYERS, colour, MPI_FLOAT);
    long all = room_of(LAYERS);
    velocity *now = room(all * sizeof *now), *next = room(all * sizeof *next);
    float *p = room(all * sizeof *p), *right = room(all * sizeof *right);
    /* Outside of the box all is at rest, but for the lid. */
    if (place[2] == sides[2] - 1)
        for (int i = 0; i < cells[0]; i++)
            for (int j = 0; j < cells[1]; j++)
                now[at(LAYERS, i, j, cells[2])].x = next[at(LAYERS, i, j, cells[2])].x = 1;
    double begun = MPI_Wtime(), changed = 0;
    for (int step = 0; step < steps; step++) {
        region("exchange");
        begin(&wide, now);
        if (overlap) {
            region("inner transport");
            transport(INNER, now, next);
        }
        region("wait");
        end(&wide);
        region(overlap ? "edge transport" : "transport");
        transport(overlap ? EDGE : ALL, now, next);
        region("exchange");
        begin(&narrow, next);
        if (overlap) {
            region("inner divergence");
            divergence(INNER, next, right);
        }
        region("wait");
        end(&narrow);
        region(overlap ? "edge divergence" : "divergence");
        divergence(overlap ? EDGE : ALL, next, right);
        for (int round = 0; round < SWEEPS; round++)
            changed = sweep(p, right);
        region("correct");
        correct(now, next, p);
    }
    region("check");
    double last = MPI_Wtime() - begun, longest;
    MPI_Reduce(&last, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, cube);
    uint64_t sum = bits(box, p, now);
    if (me == 0) {
        printf("%d steps, pressures changed by %.5f in the last sweep, bits %016llx\n", steps, changed, (unsigned long long)sum);
        if (getenv("PRINT_TIME"))
            printf("%.9f s\n", longest);
    }
    MPI_Finalize();
    return 0;
}
