/* Hints and names. */
#include "tell.h"

static void show(MPI_Info info)
{
    int count;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[100];
        int flag, length;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_valuelen(info, key, &length, &flag);
        MPI_Info_get(info, key, sizeof value - 1, value, &flag);
        tell("%d of %d: %s = %s, %d, %d", i, count, key, value, length, flag);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Info info, copy;
    MPI_Info_create(&info);
    show(info);
    MPI_Info_set(info, "colour", "green");
    MPI_Info_set(info, "size", "12");
    MPI_Info_set(info, "colour", "blue");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "colour");
    int count, flag, length;
    MPI_Info_get_nkeys(info, &count);
    char value[10] = "nothing";
    MPI_Info_get(info, "colour", 9, value, &flag);
    tell("left %d, deleted %d %s", count, flag, value);
    show(copy);
    length = sizeof value;
    MPI_Info_get_string(copy, "colour", &length, value, &flag);
    tell("string: %s %d %d", value, length, flag);
    MPI_Info_free(&info), MPI_Info_free(&copy);
    tell("freed %d", info == MPI_INFO_NULL);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    tell("%s, %d", name, length);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    tell("%s", name);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_name(comm, name, &length);
    tell("a duplicate has no name: %d", length);
    MPI_Comm_set_name(comm, "the other one");
    MPI_Comm_get_name(comm, name, &length);
    tell("%s, %d", name, length);
    MPI_Comm_free(&comm);
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_BYTE, MPI_PACKED, MPI_LONG_LONG, MPI_UINT64_T, MPI_DOUBLE_INT, MPI_2INT};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int bytes;
        MPI_Aint low, extent;
        MPI_Type_get_name(types[i], name, &length);
        MPI_Type_size(types[i], &bytes);
        MPI_Type_get_extent(types[i], &low, &extent);
        tell("%s, %d, size %d, extent %ld", name, length, bytes, (long)extent);
    }
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    tell("a type has no name: %d", length);
    MPI_Type_set_name(type, "two");
    MPI_Type_get_name(type, name, &length);
    tell("%s", name);
    MPI_Type_free(&type);
    int version, part, threads, main_thread;
    MPI_Get_version(&version, &part);
    MPI_Query_thread(&threads);
    MPI_Is_thread_main(&main_thread);
    tell("version %d, single or more %d, main %d", version >= 3, threads >= MPI_THREAD_SINGLE, main_thread);
    MPI_Finalize();
    return 0;
}
