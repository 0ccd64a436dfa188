/* Data packed by hand, sent as one message, and read piece by piece; and in the format that all machines share. */
#include "tell.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char buffer[1000], text[20];
    int place = 0, numbers[3] = {rank, rank * 2, rank * 3}, got[3], next = (rank + 1) % size, before = (rank + size - 1) % size;
    double real = rank + 0.125, real_got;
    MPI_Datatype every;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    snprintf(text, sizeof text, "I am %d", rank);
    MPI_Pack(numbers, 3, MPI_INT, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
    MPI_Pack(&real, 1, MPI_DOUBLE, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
    MPI_Pack(text, sizeof text, MPI_CHAR, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
    MPI_Pack(numbers, 1, every, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
    tell("packed %d bytes", place);
    char other[1000];
    MPI_Status status;
    MPI_Sendrecv(buffer, place, MPI_PACKED, next, 0, other, sizeof other, MPI_PACKED, before, 0, MPI_COMM_WORLD, &status);
    int bytes;
    MPI_Get_count(&status, MPI_PACKED, &bytes);
    place = 0;
    MPI_Unpack(other, bytes, &place, got, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(other, bytes, &place, &real_got, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(other, bytes, &place, text, sizeof text, MPI_CHAR, MPI_COMM_WORLD);
    tell("%d bytes: %d %d %d, %.3f, %s", bytes, got[0], got[1], got[2], real_got, text);
    memset(got, -1, sizeof got);
    MPI_Unpack(other, bytes, &place, got, 1, every, MPI_COMM_WORLD);
    tell("every second: %d %d %d, %d left", got[0], got[1], got[2], bytes - place);
    /* Packed here, received there as numbers. */
    place = 0;
    MPI_Pack(numbers, 3, MPI_INT, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
    MPI_Sendrecv(buffer, place, MPI_PACKED, next, 1, got, 3, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell_list("as numbers:", got, 3);
    MPI_Aint far = 0, most;
    MPI_Pack_external_size("external32", 3, MPI_INT, &most);
    MPI_Pack_external("external32", numbers, 3, MPI_INT, buffer, sizeof buffer, &far);
    MPI_Pack_external("external32", &real, 1, MPI_DOUBLE, buffer, sizeof buffer, &far);
    tell("external: %ld of %ld bytes, sum %08x", (long)far, (long)most, sum_of(buffer, far));
    MPI_Aint end = far;
    far = 0;
    memset(got, 0, sizeof got), real_got = 0;
    MPI_Unpack_external("external32", buffer, end, &far, got, 3, MPI_INT);
    MPI_Unpack_external("external32", buffer, end, &far, &real_got, 1, MPI_DOUBLE);
    tell("back: %d %d %d %.3f", got[0], got[1], got[2], real_got);
    MPI_Type_free(&every);
    MPI_Finalize();
    return 0;
}
