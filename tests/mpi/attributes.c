/* Values that hang on communicators and datatypes, and the functions that are called for them. */
#include "tell.h"

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)key;
    copies += *(int *)state;
    *(void **)copied = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value;
    deletions += *(int *)state;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)key, (void)state, (void)value, (void)copied;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *state, void *value, void *copied, int *flag)
{
    (void)type, (void)key, (void)state;
    *(void **)copied = (char *)value + 5;
    *flag = 1;
    return MPI_SUCCESS;
}

static long value_of(MPI_Comm comm, int key)
{
    void *value;
    int flag;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    return flag ? (long)(intptr_t)value : -1;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int state = 10, mine, none, same, key, flag;
    MPI_Comm_create_keyval(copy, forget, &mine, &state);
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &none, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm one, two, three;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    tell("nothing yet: %ld", value_of(one, mine));
    MPI_Comm_set_attr(one, mine, (void *)100L);
    MPI_Comm_set_attr(one, none, (void *)200L);
    MPI_Comm_set_attr(one, same, (void *)300L);
    MPI_Comm_set_attr(one, key, (void *)400L);
    MPI_Comm_set_attr(one, mine, (void *)110L);
    tell("set twice: %ld, deletions %d", value_of(one, mine), deletions);
    MPI_Comm_dup(one, &two);
    tell("duplicate: %ld %ld %ld %ld, copies %d", value_of(two, mine), value_of(two, none), value_of(two, same),
         value_of(two, key), copies);
    MPI_Comm_dup(two, &three);
    tell("of a duplicate: %ld %ld, copies %d", value_of(three, mine), value_of(three, same), copies);
    MPI_Comm_delete_attr(three, mine);
    tell("deleted: %ld, deletions %d", value_of(three, mine), deletions);
    int kept = mine;
    MPI_Comm_free_keyval(&mine);
    tell("key freed %d, value still %ld", mine == MPI_KEYVAL_INVALID, value_of(two, kept));
    MPI_Comm_free(&one), MPI_Comm_free(&two), MPI_Comm_free(&three);
    tell("all freed: copies %d, deletions %d", copies, deletions);
    MPI_Comm_free_keyval(&none), MPI_Comm_free_keyval(&same), MPI_Comm_free_keyval(&key);
    int *number;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    tell("greatest tag: %d, enough %d", flag, *number >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag);
    tell("time is known %d", flag);
    MPI_Datatype type, other;
    MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, (void *)7L);
    MPI_Type_dup(type, &other);
    void *value;
    MPI_Type_get_attr(other, key, &value, &flag);
    tell("of a type: %d %ld", flag, (long)(intptr_t)value);
    MPI_Type_delete_attr(other, key);
    MPI_Type_get_attr(other, key, &value, &flag);
    tell("deleted: %d", flag);
    MPI_Type_free(&type), MPI_Type_free(&other);
    MPI_Type_free_keyval(&key);
    /* Values of the process' own communicator are deleted by MPI_Finalize. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &mine, &state);
    MPI_Comm_set_attr(MPI_COMM_SELF, mine, NULL);
    MPI_Finalize();
    tell("after the end: deletions %d", deletions);
    return 0;
}
