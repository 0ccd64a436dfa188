/* What the programs of this folder have in common: lines that say which rank they are of, and sums that notice a byte in a wrong place.
 *
 * A program prints the same under every MPI: a test runs each under MPICH and on a simulated network, and compares what they print. */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Starts MPI. */
static inline void begin(int *argc, char ***argv)
{
    /* A line is written at once, so that those of several ranks do not mix. */
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Prints a line of this rank. */
static inline void tell(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    char line[4096];
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    printf("%d: %s\n", rank, line);
}

/* Sums bytes so that their order counts. */
static inline unsigned sum_of(const void *bytes, size_t count)
{
    unsigned sum = 2166136261u;
    for (size_t at = 0; at < count; at++)
        sum = (sum ^ ((const unsigned char *)bytes)[at]) * 16777619u;
    return sum;
}

/* Prints integers after a name. */
static inline void tell_list(const char *name, const int *list, int count)
{
    char line[4000];
    int at = snprintf(line, sizeof line, "%s", name);
    for (int i = 0; i < count && at < (int)sizeof line - 16; i++)
        at += snprintf(line + at, sizeof line - at, " %d", list[i]);
    tell("%s", line);
}

/* The name of an error class that these programs meet: numbers differ between binary interfaces. */
static inline const char *class_of(int code)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {MPI_SUCCESS, "success"},         {MPI_ERR_BUFFER, "buffer"},     {MPI_ERR_COUNT, "count"},
        {MPI_ERR_TYPE, "type"},           {MPI_ERR_TAG, "tag"},           {MPI_ERR_COMM, "comm"},
        {MPI_ERR_RANK, "rank"},           {MPI_ERR_REQUEST, "request"},   {MPI_ERR_ROOT, "root"},
        {MPI_ERR_GROUP, "group"},         {MPI_ERR_OP, "op"},             {MPI_ERR_TOPOLOGY, "topology"},
        {MPI_ERR_DIMS, "dims"},           {MPI_ERR_ARG, "arg"},           {MPI_ERR_UNKNOWN, "unknown"},
        {MPI_ERR_TRUNCATE, "truncate"},   {MPI_ERR_OTHER, "other"},       {MPI_ERR_INTERN, "intern"},
        {MPI_ERR_IN_STATUS, "in status"}, {MPI_ERR_PENDING, "pending"},   {MPI_ERR_KEYVAL, "keyval"},
        {MPI_ERR_INFO, "info"},           {MPI_ERR_INFO_KEY, "info key"}, {MPI_ERR_INFO_NOKEY, "no such key"},
    };
    int class = 0;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == class)
            return names[i].name;
    return "another class";
}
