/* Programs that do something wrong, named by their argument: what is said of it, and how they end. */
#include "tell.h"
#include <pthread.h>
#include <unistd.h>

static int number;
static volatile int calls;

static void *call(void *request)
{
    (void)request;
    calls = 1;
    MPI_Recv(&number, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void refused(const char *name, int code)
{
    int class;
    MPI_Error_class(code, &class);
    tell("%s: unsupported %d", name, class == MPI_ERR_UNSUPPORTED_OPERATION);
}

/* Every chapter that is not there, through a communicator that returns codes. */
static void unsupported(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win window;
    MPI_File file;
    MPI_Session session;
    MPI_Comm comm;
    int codes[1];
    refused("window", MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    refused("shared window", MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window));
    refused("file", MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    refused("session", MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    refused("spawn", MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes));
    refused("two groups", MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, (rank + 1) % size, 3, &comm));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "before"))
        MPI_Barrier(MPI_COMM_WORLD);
    begin(&argc, &argv);
    int numbers[4] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    pthread_t thread;
    if (!strcmp(what, "truncation")) {
        if (rank == 0)
            MPI_Send(numbers, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(numbers, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "tag")) {
        MPI_Send(numbers, 1, MPI_INT, 0, 100000, MPI_COMM_WORLD);
    } else if (!strcmp(what, "communicator")) {
        MPI_Send(numbers, 1, MPI_INT, 0, 0, MPI_COMM_NULL);
    } else if (!strcmp(what, "rank")) {
        MPI_Send(numbers, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "datatype")) {
        MPI_Datatype type;
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Send(numbers, 1, type, 0, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "count")) {
        MPI_Send(numbers, -3, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "request")) {
        MPI_Request_free(&request);
    } else if (!strcmp(what, "root")) {
        MPI_Bcast(numbers, 1, MPI_INT, 7, MPI_COMM_WORLD);
    } else if (!strcmp(what, "mismatch")) {
        if (rank == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Bcast(numbers, 1, MPI_INT, 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "unsupported")) {
        unsupported();
    } else if (!strcmp(what, "file")) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    } else if (!strcmp(what, "abort")) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 42);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "threads") && rank == 0) {
        pthread_create(&thread, NULL, call, NULL);
        while (!calls)
            usleep(1000);
        usleep(200000);
        MPI_Send(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (!strcmp(what, "threads")) {
        sleep(20);
    }
    MPI_Finalize();
    if (!strcmp(what, "after"))
        MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
