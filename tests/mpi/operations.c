/* Operations of the program: one that does not commute, one on records, and what the standard has for pairs. */
#include "tell.h"

/* Products of 2 x 2 matrices of integers modulo a prime do not commute. */
static void product(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    int(*a)[4] = left, (*b)[4] = right;
    for (int i = 0; i < *count; i++) {
        int c[4] = {a[i][0] * b[i][0] + a[i][1] * b[i][2], a[i][0] * b[i][1] + a[i][1] * b[i][3],
                    a[i][2] * b[i][0] + a[i][3] * b[i][2], a[i][2] * b[i][1] + a[i][3] * b[i][3]};
        for (int k = 0; k < 4; k++)
            b[i][k] = c[k] % 10007;
    }
}

static void longest(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    double *a = left, *b = right;
    for (int i = 0; i < *count; i++)
        if (a[i] * a[i] > b[i] * b[i])
            b[i] = a[i];
}

static void matrices(void)
{
    MPI_Datatype matrix;
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(product, 0, &op);
    int commutes;
    MPI_Op_commutative(op, &commutes);
    tell("commutes %d", commutes);
    int mine[3][4], result[3][4];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            mine[i][k] = (rank + 2) * (k + 1) + i, result[i][k] = 0;
    MPI_Allreduce(mine, result, 3, matrix, op, MPI_COMM_WORLD);
    tell_list("all:", &result[0][0], 12);
    MPI_Reduce(mine, result, 3, matrix, op, size / 2, MPI_COMM_WORLD);
    if (rank == size / 2)
        tell_list("one:", &result[0][0], 12);
    MPI_Scan(mine, result, 3, matrix, op, MPI_COMM_WORLD);
    tell_list("up to me:", &result[0][0], 12);
    memset(result, 0, sizeof result);
    MPI_Exscan(mine, result, 3, matrix, op, MPI_COMM_WORLD);
    if (rank > 0)
        tell_list("before me:", &result[0][0], 12);
    memcpy(result, mine, sizeof mine);
    MPI_Allreduce(MPI_IN_PLACE, result, 3, matrix, op, MPI_COMM_WORLD);
    tell_list("in place:", &result[0][0], 12);
    MPI_Reduce_local(mine, result, 3, matrix, op);
    tell_list("local:", &result[0][0], 12);
    MPI_Op_free(&op);
    tell("freed %d", op == MPI_OP_NULL);
    MPI_Type_free(&matrix);
}

static void pairs(void)
{
    struct {
        double value;
        int at;
    } mine[3], best[3];
    for (int i = 0; i < 3; i++)
        mine[i].value = (rank * 7 + i * 3) % 5, mine[i].at = rank;
    MPI_Allreduce(mine, best, 3, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        tell("greatest %g at %d", best[i].value, best[i].at);
    MPI_Allreduce(mine, best, 3, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        tell("least %g at %d", best[i].value, best[i].at);
    int two[2] = {rank % 2, rank}, most[2];
    MPI_Reduce(two, most, 1, MPI_2INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tell_list("pair:", most, 2);
    struct {
        short value;
        int at;
    } small = {(short)(5 - rank), rank}, least;
    MPI_Allreduce(&small, &least, 1, MPI_SHORT_INT, MPI_MINLOC, MPI_COMM_WORLD);
    tell("short %d at %d", least.value, least.at);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    matrices();
    pairs();
    MPI_Op op;
    MPI_Op_create(longest, 1, &op);
    double mine[2] = {rank % 2 ? -rank : rank, 0.25 - rank}, result[2];
    MPI_Allreduce(mine, result, 2, MPI_DOUBLE, op, MPI_COMM_WORLD);
    tell("longest %g %g", result[0], result[1]);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
