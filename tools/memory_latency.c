/* What a line of memory takes that is in no cache of the core's own: `memory_latency MEGABYTES` walks through as many at random, in pages of 4 KiB and in large
   ones, one line behind the other and sixteen side by side, and prints ns per line. See misses.sh. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST = 16, LINES = 4000000 };

typedef struct {
    uint64_t next;
    uint64_t rest[7];
} line;

static double cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All lines in one ring, in random order (Fisher and Yates). */
static void tie(line *lines, uint32_t *order, size_t n)
{
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)(state >> 33) % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < n; i++)
        lines[order[i]].next = order[(i + 1) % n];
}

static double walk(const line *lines, const uint32_t *order, size_t n, size_t walkers)
{
    uint64_t at[MOST], sum = 0;
    for (size_t i = 0; i < walkers; i++)
        at[i] = order[n / walkers * i];
    double begun = cpu_time();
    for (size_t step = 0; step < LINES / walkers; step++)
        for (size_t i = 0; i < walkers; i++)
            at[i] = lines[at[i]].next;
    double taken = cpu_time() - begun;
    for (size_t i = 0; i < walkers; i++)
        sum += at[i];
    /* So that the walk is not left out. */
    return sum == UINT64_MAX ? 0 : taken * 1e9 / LINES;
}

int main(int count, char **words)
{
    size_t bytes = (size_t)(count > 1 ? atoi(words[1]) : 320) << 20, n = bytes / sizeof(line);
    uint32_t *order = malloc(n * sizeof *order);
    for (int large = 0; large < 2; large++) {
        line *lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (order == NULL || lines == MAP_FAILED)
            return 1;
        if (large)
            madvise(lines, bytes, MADV_HUGEPAGE);
        tie(lines, order, n);
        printf("%s pages: %.0f ns a line, %.1f ns side by side\n", large ? "large" : "small", walk(lines, order, n, 1), walk(lines, order, n, MOST));
        munmap(lines, bytes);
    }
    return 0;
}
