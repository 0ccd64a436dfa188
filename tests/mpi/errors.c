/* What goes wrong comes back as a class, or goes to a function of the program. */
#include "tell.h"

static int handled;
static const char *last = "nothing";

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled++;
    last = class_of(*code);
}

#define TRY(call) tell(#call ": %s", class_of(call))

static void arguments(void)
{
    int number = 0, flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Status status;
    TRY(MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&number, 1, MPI_INT, -17, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&number, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    TRY(MPI_Send(&number, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Isend(&number, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Recv(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Recv(&number, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &status));
    TRY(MPI_Irecv(&number, -2, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Bcast(&number, 1, MPI_INT, size, MPI_COMM_WORLD));
    TRY(MPI_Reduce(&number, &flag, 1, MPI_INT, MPI_SUM, -1, MPI_COMM_WORLD));
    TRY(MPI_Reduce_local(&number, &flag, 1, MPI_FLOAT, MPI_BAND));
    TRY(MPI_Type_contiguous(-1, MPI_INT, &type));
    TRY(MPI_Type_commit(&type));
    TRY(MPI_Type_free(&type));
    TRY(MPI_Request_free(&request));
    TRY(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, &number));
    int dims[] = {0}, periods[] = {0};
    dims[0] = size + 1;
    MPI_Comm grid;
    TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid));
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    int ranks[] = {size};
    MPI_Group part;
    TRY(MPI_Group_incl(group, 1, ranks, &part));
    MPI_Group_free(&group);
    TRY(MPI_Comm_size(MPI_COMM_NULL, &number));
    TRY(MPI_Comm_rank(MPI_COMM_NULL, &number));
}

static void too_long(void)
{
    int numbers[4] = {1, 2, 3, 4}, got[2] = {0, 0};
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(numbers, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    TRY(MPI_Recv(got, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, &status));
    MPI_Wait(&request, &status);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(got, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(numbers, 4, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(numbers, 4, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Send(got, 2, MPI_INT, rank, 2, MPI_COMM_WORLD);
    int code = MPI_Waitall(2, requests, statuses);
    int other = statuses[1].MPI_ERROR;
    tell("of two: %s, %s, fine %d", class_of(code), class_of(statuses[0].MPI_ERROR), other == MPI_SUCCESS || other == MPI_ERR_PENDING);
}

static void own(void)
{
    MPI_Errhandler mine, before;
    MPI_Comm comm;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_errhandler(comm, &before);
    tell("a duplicate returns: %d", before == MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    int number = 0;
    MPI_Send(&number, 1, MPI_INT, size, 0, comm);
    tell("handled %d: %s", handled, last);
    MPI_Bcast(&number, 1, MPI_INT, -4, comm);
    tell("handled %d: %s", handled, last);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    tell("handled %d: %s", handled, last);
    MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    tell("the other communicator returns: %d", handled);
    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the cat is on the keyboard");
    MPI_Error_string(code, text, &length);
    int back;
    MPI_Error_class(code, &back);
    tell("own code: %s, %d, class %d", text, length, back == class);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    arguments();
    too_long();
    own();
    MPI_Finalize();
    return 0;
}
