/* How datatypes were made, read back. */
#include "tell.h"

static void show(const char *name, MPI_Datatype type, int expected)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    tell("%s: %d integers, %d addresses, %d types, as made %d", name, integers, addresses, types, combiner == expected);
    if (combiner == MPI_COMBINER_NAMED)
        return;
    int numbers[64];
    MPI_Aint places[64];
    MPI_Datatype parts[64];
    MPI_Type_get_contents(type, integers, addresses, types, numbers, places, parts);
    tell_list("integers:", numbers, expected == MPI_COMBINER_SUBARRAY ? integers - 1 : integers);
    for (int i = 0; i < addresses; i++)
        tell("address %ld", (long)places[i]);
    for (int i = 0; i < types; i++) {
        int a, b, c, kind;
        MPI_Type_get_envelope(parts[i], &a, &b, &c, &kind);
        tell("type %d: int %d, named %d", i, parts[i] == MPI_INT, kind == MPI_COMBINER_NAMED);
        if (kind != MPI_COMBINER_NAMED)
            MPI_Type_free(&parts[i]);
    }
}

#define SHOW(made, combiner)                                                                                                       \
    do {                                                                                                                           \
        made;                                                                                                                      \
        show(#combiner, type, combiner);                                                                                           \
        MPI_Type_free(&type);                                                                                                      \
    } while (0)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int lengths[] = {1, 2, 3}, places[] = {0, 4, 9}, sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 1};
    MPI_Aint bytes[] = {0, 16, 48};
    MPI_Datatype type, types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, pair;
    show("MPI_INT", MPI_INT, MPI_COMBINER_NAMED);
    show("MPI_DOUBLE_INT", MPI_DOUBLE_INT, MPI_COMBINER_NAMED);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    SHOW(MPI_Type_dup(pair, &type), MPI_COMBINER_DUP);
    SHOW(MPI_Type_contiguous(7, pair, &type), MPI_COMBINER_CONTIGUOUS);
    SHOW(MPI_Type_vector(3, 2, 5, MPI_INT, &type), MPI_COMBINER_VECTOR);
    SHOW(MPI_Type_create_hvector(3, 2, 40, MPI_INT, &type), MPI_COMBINER_HVECTOR);
    SHOW(MPI_Type_indexed(3, lengths, places, MPI_INT, &type), MPI_COMBINER_INDEXED);
    SHOW(MPI_Type_create_hindexed(3, lengths, bytes, pair, &type), MPI_COMBINER_HINDEXED);
    SHOW(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type), MPI_COMBINER_INDEXED_BLOCK);
    SHOW(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type), MPI_COMBINER_HINDEXED_BLOCK);
    SHOW(MPI_Type_create_struct(3, lengths, bytes, types, &type), MPI_COMBINER_STRUCT);
    SHOW(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type), MPI_COMBINER_SUBARRAY);
    SHOW(MPI_Type_create_resized(MPI_INT, -4, 16, &type), MPI_COMBINER_RESIZED);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
