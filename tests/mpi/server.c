/* A server that takes work from anybody and answers by tag; the answers are the same in whatever order the requests come. */
#include "tell.h"

enum { REQUESTS = 20, ASK = 1, ASK_TWICE = 2, STOP = 3, ANSWER = 10 };

static void serve(void)
{
    int open = size - 1, asked = 0, total = 0;
    while (open > 0) {
        int numbers[2] = {0, 0}, count;
        MPI_Status status;
        MPI_Recv(numbers, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        if (status.MPI_TAG == STOP) {
            open--;
            continue;
        }
        int answer = status.MPI_TAG == ASK ? numbers[0] * numbers[0] : numbers[0] * numbers[1];
        asked++;
        total += count;
        MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, ANSWER + status.MPI_TAG, MPI_COMM_WORLD);
    }
    tell("%d requests of %d numbers", asked, total);
}

static void ask(void)
{
    int sum = 0;
    for (int i = 0; i < REQUESTS; i++) {
        int numbers[2] = {rank * 100 + i, i}, answer, tag = i % 3 ? ASK : ASK_TWICE;
        MPI_Send(numbers, tag, MPI_INT, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += answer;
    }
    MPI_Send(NULL, 0, MPI_INT, 0, STOP, MPI_COMM_WORLD);
    tell("answers %d", sum);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0)
        serve();
    else
        ask();
    MPI_Barrier(MPI_COMM_WORLD);
    /* Messages of one sender do not overtake each other, also with any source and any tag. */
    if (rank == 0) {
        for (int from = 1; from < size; from++) {
            int last = -1, numbers[5];
            for (int i = 0; i < 5; i++) {
                MPI_Recv(&numbers[i], 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (numbers[i] != last + 1)
                    tell("%d came after %d", numbers[i], last);
                last = numbers[i];
            }
        }
    } else {
        for (int i = 0; i < 5; i++)
            MPI_Send(&i, 1, MPI_INT, 0, 100 - i, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
