/* Sets of ranks. */
#include "tell.h"

static void show(const char *name, MPI_Group group)
{
    int count, mine, ranks[64], in_world[64];
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &count);
    MPI_Group_rank(group, &mine);
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(group, count, ranks, world, in_world);
    char line[100];
    snprintf(line, sizeof line, "%s, I am %d:", name, mine == MPI_UNDEFINED ? -9 : mine);
    tell_list(line, in_world, count);
    MPI_Group_free(&world);
}

static const char *compared(MPI_Group one, MPI_Group other)
{
    int result;
    MPI_Group_compare(one, other, &result);
    return result == MPI_IDENT ? "identical" : result == MPI_SIMILAR ? "similar" : "unequal";
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Group world, odd, high, both, either, only, rest, reversed, none;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int odds[64], count = 0, all[64];
    for (int i = 1; i < size; i += 2)
        odds[count++] = i;
    for (int i = 0; i < size; i++)
        all[i] = size - 1 - i;
    MPI_Group_incl(world, count, odds, &odd);
    int range[1][3] = {{size / 2, size - 1, 1}}, back[1][3] = {{size - 1, 0, -1}};
    MPI_Group_range_incl(world, 1, range, &high);
    MPI_Group_intersection(odd, high, &both);
    MPI_Group_union(high, odd, &either);
    MPI_Group_difference(odd, high, &only);
    MPI_Group_excl(world, count, odds, &rest);
    MPI_Group_range_incl(world, 1, back, &reversed);
    MPI_Group_range_excl(world, 1, back, &none);
    show("odd", odd), show("high", high), show("both", both), show("either", either), show("only", only), show("rest", rest);
    show("reversed", reversed);
    MPI_Group again;
    MPI_Group_incl(world, size, all, &again);
    tell("reversed twice: %s, with world: %s, odd with rest: %s", compared(reversed, again), compared(world, reversed),
         compared(odd, rest));
    int size_of_none;
    MPI_Group_size(none, &size_of_none);
    tell("none: %d, empty %d", size_of_none, none == MPI_GROUP_EMPTY);
    int asked[2] = {0, MPI_PROC_NULL}, answers[2];
    MPI_Group_translate_ranks(world, 2, asked, odd, answers);
    tell("rank 0 among the odd: %d, nobody: %d", answers[0] == MPI_UNDEFINED, answers[1] == MPI_PROC_NULL);
    MPI_Group *groups[] = {&world, &odd, &high, &both, &either, &only, &rest, &reversed, &again};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (*groups[i] != MPI_GROUP_EMPTY)
            MPI_Group_free(groups[i]);
    MPI_Finalize();
    return 0;
}
