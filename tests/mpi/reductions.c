/* Every operation of the standard with every kind of number, also as scans and as parts. */
#include "tell.h"
#include <complex.h>
#include <stdbool.h>

static MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
static const char *names[] = {"max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor"};

#define WHOLE(type, datatype)                                                                                                      \
    do {                                                                                                                           \
        type mine[3] = {(type)(rank + 1), (type)(rank * 3 % 4), (type)(7 - rank)}, all[3], part[3] = {0, 0, 0};                    \
        for (int i = 0; i < 10; i++) {                                                                                             \
            MPI_Allreduce(mine, all, 3, datatype, ops[i], MPI_COMM_WORLD);                                                         \
            MPI_Scan(mine, part, 3, datatype, ops[i], MPI_COMM_WORLD);                                                             \
            tell(#datatype " %s: %lld %lld %lld, so far %lld %lld %lld", names[i], (long long)all[0], (long long)all[1],          \
                 (long long)all[2], (long long)part[0], (long long)part[1], (long long)part[2]);                                   \
        }                                                                                                                          \
    } while (0)

#define REAL(type, datatype)                                                                                                       \
    do {                                                                                                                           \
        type mine[2] = {(type)1.5 + rank, (type)(0.25 * rank - 1)}, all[2];                                                        \
        for (int i = 0; i < 4; i++) {                                                                                              \
            MPI_Allreduce(mine, all, 2, datatype, ops[i], MPI_COMM_WORLD);                                                         \
            tell(#datatype " %s: %.6g %.6g", names[i], (double)all[0], (double)all[1]);                                            \
        }                                                                                                                          \
    } while (0)

#define COMPLEX(type, datatype)                                                                                                    \
    do {                                                                                                                           \
        type mine = (type)(1 + rank + I * (0.5 - rank)), all;                                                                      \
        for (int i = 2; i < 4; i++) {                                                                                              \
            MPI_Allreduce(&mine, &all, 1, datatype, ops[i], MPI_COMM_WORLD);                                                       \
            tell(#datatype " %s: %.6g %.6g", names[i], (double)creal(all), (double)cimag(all));                                    \
        }                                                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    WHOLE(signed char, MPI_SIGNED_CHAR);
    WHOLE(unsigned char, MPI_UNSIGNED_CHAR);
    WHOLE(short, MPI_SHORT);
    WHOLE(unsigned short, MPI_UNSIGNED_SHORT);
    WHOLE(int, MPI_INT);
    WHOLE(unsigned, MPI_UNSIGNED);
    WHOLE(long, MPI_LONG);
    WHOLE(unsigned long, MPI_UNSIGNED_LONG);
    WHOLE(long long, MPI_LONG_LONG);
    WHOLE(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    WHOLE(int8_t, MPI_INT8_T);
    WHOLE(int16_t, MPI_INT16_T);
    WHOLE(int32_t, MPI_INT32_T);
    WHOLE(int64_t, MPI_INT64_T);
    WHOLE(uint8_t, MPI_UINT8_T);
    WHOLE(uint16_t, MPI_UINT16_T);
    WHOLE(uint32_t, MPI_UINT32_T);
    WHOLE(uint64_t, MPI_UINT64_T);
    WHOLE(MPI_Aint, MPI_AINT);
    WHOLE(MPI_Offset, MPI_OFFSET);
    WHOLE(MPI_Count, MPI_COUNT);
    REAL(float, MPI_FLOAT);
    REAL(double, MPI_DOUBLE);
    REAL(long double, MPI_LONG_DOUBLE);
    COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
    COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    bool yes = rank % 2, all;
    for (int i = 4; i < 10; i += 2) {
        MPI_Allreduce(&yes, &all, 1, MPI_C_BOOL, ops[i], MPI_COMM_WORLD);
        tell("MPI_C_BOOL %s: %d", names[i], all);
    }
    unsigned char byte = (unsigned char)(1 << rank % 8), bits;
    for (int i = 5; i < 10; i += 2) {
        MPI_Allreduce(&byte, &bits, 1, MPI_BYTE, ops[i], MPI_COMM_WORLD);
        tell("MPI_BYTE %s: %02x", names[i], bits);
    }
    MPI_Finalize();
    return 0;
}
