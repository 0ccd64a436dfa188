/* Sample sort: every rank draws keys, samples of all choose the borders, an all-to-all brings each key to the rank of its range.
 *
 *     samplesort [KEYS]
 *
 * KEYS 64-bit keys on each rank. The order over all ranks, the number of keys and their sum are checked. */
#include "grid.h"

#define SAMPLES 32

static int before(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int main(int count, char **list)
{
    MPI_Init(&count, &list);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int keys = number(count, list, 1, 10000);
    uint64_t state = me, sum = 0, all_sum, *own = room(keys * sizeof(uint64_t));
    for (int i = 0; i < keys; i++)
        sum += own[i] = draw(&state);
    qsort(own, keys, sizeof(uint64_t), before);

    uint64_t samples[SAMPLES], *all = room((size_t)SAMPLES * ranks * sizeof(uint64_t));
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = keys ? own[(long)keys * i / SAMPLES] : UINT64_MAX;
    MPI_Allgather(samples, SAMPLES, MPI_UINT64_T, all, SAMPLES, MPI_UINT64_T, MPI_COMM_WORLD);
    qsort(all, (size_t)SAMPLES * ranks, sizeof(uint64_t), before);

    int *out = room(4 * ranks * sizeof(int)), *from = out + ranks, *in = from + ranks, *to = in + ranks;
    for (int i = 0, k = 0; i < ranks; i++) {
        from[i] = k;
        while (k < keys && (i + 1 == ranks || own[k] < all[(long)SAMPLES * (i + 1)]))
            k++;
        out[i] = k - from[i];
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    int mine = 0;
    for (int i = 0; i < ranks; i++) {
        to[i] = mine;
        mine += in[i];
    }
    uint64_t *sorted = room(mine * sizeof(uint64_t));
    MPI_Alltoallv(own, out, from, MPI_UINT64_T, sorted, in, to, MPI_UINT64_T, MPI_COMM_WORLD);
    qsort(sorted, mine, sizeof(uint64_t), before);

    /* The greatest key before mine, from the ranks below. */
    uint64_t greatest = mine ? sorted[mine - 1] : 0, below = 0, totals[2] = {mine, 0}, sums[2];
    MPI_Exscan(&greatest, &below, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < mine; i++)
        totals[1] += sorted[i];
    int good = me == 0 || mine == 0 || below <= sorted[0], all_good;
    MPI_Reduce(&good, &all_good, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    MPI_Reduce(totals, sums, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &all_sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%llu keys, in order: %s, all there: %s\n", (unsigned long long)sums[0], all_good ? "yes" : "no",
               sums[0] == (uint64_t)keys * ranks && sums[1] == all_sum ? "yes" : "no");
    if (getenv("PRINT_TIME"))
        told("samplesort", 0);
    MPI_Finalize();
    return 0;
}
