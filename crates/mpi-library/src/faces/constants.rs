//! The numbers behind the names of MPI, in both binary interfaces, as one table.
//!
//! A row is a name and its value in the standard ABI and in MPICH's. Handles stand as the number that a program passes, pointers as their
//! address. A test compiles a C file against both headers and compares every row.

/// Declares the fields of [`Constants`], its two tables, and the list of rows that the test reads.
macro_rules! constants {
    ($($field:ident $name:literal: $standard:expr, $mpich:expr;)+) => {
        /// The constants of one binary interface, by their MPI name in lower case without `MPI_`.
        #[allow(missing_docs)]
        pub struct Constants { $(pub $field: i64,)+ }

        /// Those of the standard ABI (`libmpi_abi.so.1`).
        pub const STANDARD: Constants = Constants { $($field: $standard,)+ };

        /// Those of MPICH's (`libmpi.so.12`).
        pub const MPICH: Constants = Constants { $($field: $mpich,)+ };

        /// Every name with its value in the standard ABI and in MPICH's.
        pub const CONSTANTS: &[(&str, i64, i64)] = &[$(($name, $standard, $mpich),)+];
    };
}

constants! {
    version "MPI_VERSION": 5, 5;
    subversion "MPI_SUBVERSION": 0, 0;
    op_null "MPI_OP_NULL": 0x20, 0x18000000;
    sum "MPI_SUM": 0x21, 0x58000003;
    min "MPI_MIN": 0x22, 0x58000002;
    max "MPI_MAX": 0x23, 0x58000001;
    prod "MPI_PROD": 0x24, 0x58000004;
    band "MPI_BAND": 0x28, 0x58000006;
    bor "MPI_BOR": 0x29, 0x58000008;
    bxor "MPI_BXOR": 0x2a, 0x5800000a;
    land "MPI_LAND": 0x30, 0x58000005;
    lor "MPI_LOR": 0x31, 0x58000007;
    lxor "MPI_LXOR": 0x32, 0x58000009;
    minloc "MPI_MINLOC": 0x38, 0x5800000b;
    maxloc "MPI_MAXLOC": 0x39, 0x5800000c;
    replace "MPI_REPLACE": 0x3c, 0x5800000d;
    no_op "MPI_NO_OP": 0x3d, 0x5800000e;
    comm_null "MPI_COMM_NULL": 0x100, 0x4000000;
    comm_world "MPI_COMM_WORLD": 0x101, 0x44000000;
    comm_self "MPI_COMM_SELF": 0x102, 0x44000001;
    group_null "MPI_GROUP_NULL": 0x108, 0x8000000;
    group_empty "MPI_GROUP_EMPTY": 0x109, 0x48000000;
    win_null "MPI_WIN_NULL": 0x110, 0x20000000;
    file_null "MPI_FILE_NULL": 0x118, 0;
    session_null "MPI_SESSION_NULL": 0x120, 0x38000000;
    message_null "MPI_MESSAGE_NULL": 0x128, 0x2c000000;
    message_no_proc "MPI_MESSAGE_NO_PROC": 0x129, 0x6c000000;
    info_null "MPI_INFO_NULL": 0x130, 0x1c000000;
    info_env "MPI_INFO_ENV": 0x131, 0x5c000001;
    errhandler_null "MPI_ERRHANDLER_NULL": 0x140, 0x14000000;
    errors_are_fatal "MPI_ERRORS_ARE_FATAL": 0x141, 0x54000000;
    errors_abort "MPI_ERRORS_ABORT": 0x142, 0x54000003;
    errors_return "MPI_ERRORS_RETURN": 0x143, 0x54000001;
    request_null "MPI_REQUEST_NULL": 0x180, 0x2c000000;
    datatype_null "MPI_DATATYPE_NULL": 0x200, 0xc000000;
    aint "MPI_AINT": 0x201, 0x4c000843;
    count "MPI_COUNT": 0x202, 0x4c000845;
    offset "MPI_OFFSET": 0x203, 0x4c000844;
    packed "MPI_PACKED": 0x207, 0x4c00010f;
    short "MPI_SHORT": 0x208, 0x4c000203;
    int "MPI_INT": 0x209, 0x4c000405;
    long "MPI_LONG": 0x20a, 0x4c000807;
    long_long "MPI_LONG_LONG": 0x20b, 0x4c000809;
    long_long_int "MPI_LONG_LONG_INT": 0x20b, 0x4c000809;
    unsigned_short "MPI_UNSIGNED_SHORT": 0x20c, 0x4c000204;
    unsigned "MPI_UNSIGNED": 0x20d, 0x4c000406;
    unsigned_long "MPI_UNSIGNED_LONG": 0x20e, 0x4c000808;
    unsigned_long_long "MPI_UNSIGNED_LONG_LONG": 0x20f, 0x4c000819;
    float "MPI_FLOAT": 0x210, 0x4c00040a;
    c_float_complex "MPI_C_FLOAT_COMPLEX": 0x212, 0x4c000840;
    c_complex "MPI_C_COMPLEX": 0x212, 0x4c000840;
    cxx_float_complex "MPI_CXX_FLOAT_COMPLEX": 0x213, 0x4c000834;
    double "MPI_DOUBLE": 0x214, 0x4c00080b;
    c_double_complex "MPI_C_DOUBLE_COMPLEX": 0x216, 0x4c001041;
    cxx_double_complex "MPI_CXX_DOUBLE_COMPLEX": 0x217, 0x4c001035;
    logical "MPI_LOGICAL": 0x218, 0x4c00041d;
    integer "MPI_INTEGER": 0x219, 0x4c00041b;
    real "MPI_REAL": 0x21a, 0x4c00041c;
    complex "MPI_COMPLEX": 0x21b, 0x4c00081e;
    double_precision "MPI_DOUBLE_PRECISION": 0x21c, 0x4c00081f;
    double_complex "MPI_DOUBLE_COMPLEX": 0x21d, 0x4c001022;
    character "MPI_CHARACTER": 0x21e, 0x4c00011a;
    long_double "MPI_LONG_DOUBLE": 0x220, 0x4c00100c;
    c_long_double_complex "MPI_C_LONG_DOUBLE_COMPLEX": 0x224, 0x4c002042;
    cxx_long_double_complex "MPI_CXX_LONG_DOUBLE_COMPLEX": 0x225, 0x4c002036;
    float_int "MPI_FLOAT_INT": 0x228, 0x8c000000_u32 as i32 as i64;
    double_int "MPI_DOUBLE_INT": 0x229, 0x8c000001_u32 as i32 as i64;
    long_int "MPI_LONG_INT": 0x22a, 0x8c000002_u32 as i32 as i64;
    two_int "MPI_2INT": 0x22b, 0x4c000816;
    short_int "MPI_SHORT_INT": 0x22c, 0x8c000003_u32 as i32 as i64;
    long_double_int "MPI_LONG_DOUBLE_INT": 0x22d, 0x8c000004_u32 as i32 as i64;
    two_real "MPI_2REAL": 0x230, 0x4c000821;
    two_double_precision "MPI_2DOUBLE_PRECISION": 0x231, 0x4c001023;
    two_integer "MPI_2INTEGER": 0x232, 0x4c000820;
    c_bool "MPI_C_BOOL": 0x238, 0x4c00013f;
    cxx_bool "MPI_CXX_BOOL": 0x239, 0x4c000133;
    wchar "MPI_WCHAR": 0x23c, 0x4c00040e;
    int8_t "MPI_INT8_T": 0x240, 0x4c000137;
    uint8_t "MPI_UINT8_T": 0x241, 0x4c00013b;
    char "MPI_CHAR": 0x243, 0x4c000101;
    signed_char "MPI_SIGNED_CHAR": 0x244, 0x4c000118;
    unsigned_char "MPI_UNSIGNED_CHAR": 0x245, 0x4c000102;
    byte "MPI_BYTE": 0x247, 0x4c00010d;
    int16_t "MPI_INT16_T": 0x248, 0x4c000238;
    uint16_t "MPI_UINT16_T": 0x249, 0x4c00023c;
    int32_t "MPI_INT32_T": 0x250, 0x4c000439;
    uint32_t "MPI_UINT32_T": 0x251, 0x4c00043d;
    int64_t "MPI_INT64_T": 0x258, 0x4c00083a;
    uint64_t "MPI_UINT64_T": 0x259, 0x4c00083e;
    logical1 "MPI_LOGICAL1": 0x2c0, 0x4c000147;
    integer1 "MPI_INTEGER1": 0x2c1, 0x4c00012d;
    logical2 "MPI_LOGICAL2": 0x2c8, 0x4c000248;
    integer2 "MPI_INTEGER2": 0x2c9, 0x4c00022f;
    real2 "MPI_REAL2": 0x2ca, 0x4c000226;
    logical4 "MPI_LOGICAL4": 0x2d0, 0x4c000449;
    integer4 "MPI_INTEGER4": 0x2d1, 0x4c000430;
    real4 "MPI_REAL4": 0x2d2, 0x4c000427;
    complex4 "MPI_COMPLEX4": 0x2d3, 0x4c00042e;
    logical8 "MPI_LOGICAL8": 0x2d8, 0x4c00084a;
    integer8 "MPI_INTEGER8": 0x2d9, 0x4c000831;
    real8 "MPI_REAL8": 0x2da, 0x4c000829;
    complex8 "MPI_COMPLEX8": 0x2db, 0x4c000828;
    logical16 "MPI_LOGICAL16": 0x2e0, 0x4c00104b;
    integer16 "MPI_INTEGER16": 0x2e1, 0x4c001032;
    real16 "MPI_REAL16": 0x2e2, 0x4c00102b;
    complex16 "MPI_COMPLEX16": 0x2e3, 0x4c00102a;
    complex32 "MPI_COMPLEX32": 0x2eb, 0x4c00202c;
    f_status_size "MPI_F_STATUS_SIZE": 8, 5;
    f_source "MPI_F_SOURCE": 0, 2;
    f_tag "MPI_F_TAG": 1, 3;
    f_error "MPI_F_ERROR": 2, 4;
    success "MPI_SUCCESS": 0, 0;
    err_buffer "MPI_ERR_BUFFER": 1, 1;
    err_count "MPI_ERR_COUNT": 2, 2;
    err_type "MPI_ERR_TYPE": 3, 3;
    err_tag "MPI_ERR_TAG": 4, 4;
    err_comm "MPI_ERR_COMM": 5, 5;
    err_rank "MPI_ERR_RANK": 6, 6;
    err_request "MPI_ERR_REQUEST": 7, 19;
    err_root "MPI_ERR_ROOT": 8, 7;
    err_group "MPI_ERR_GROUP": 9, 8;
    err_op "MPI_ERR_OP": 10, 9;
    err_topology "MPI_ERR_TOPOLOGY": 11, 10;
    err_dims "MPI_ERR_DIMS": 12, 11;
    err_arg "MPI_ERR_ARG": 13, 12;
    err_unknown "MPI_ERR_UNKNOWN": 14, 13;
    err_truncate "MPI_ERR_TRUNCATE": 15, 14;
    err_other "MPI_ERR_OTHER": 16, 15;
    err_intern "MPI_ERR_INTERN": 17, 16;
    err_pending "MPI_ERR_PENDING": 18, 18;
    err_in_status "MPI_ERR_IN_STATUS": 19, 17;
    err_access "MPI_ERR_ACCESS": 20, 20;
    err_amode "MPI_ERR_AMODE": 21, 21;
    err_assert "MPI_ERR_ASSERT": 22, 53;
    err_bad_file "MPI_ERR_BAD_FILE": 23, 22;
    err_base "MPI_ERR_BASE": 24, 46;
    err_conversion "MPI_ERR_CONVERSION": 25, 23;
    err_disp "MPI_ERR_DISP": 26, 52;
    err_dup_datarep "MPI_ERR_DUP_DATAREP": 27, 24;
    err_file_exists "MPI_ERR_FILE_EXISTS": 28, 25;
    err_file_in_use "MPI_ERR_FILE_IN_USE": 29, 26;
    err_file "MPI_ERR_FILE": 30, 27;
    err_info_key "MPI_ERR_INFO_KEY": 31, 29;
    err_info_nokey "MPI_ERR_INFO_NOKEY": 32, 31;
    err_info_value "MPI_ERR_INFO_VALUE": 33, 30;
    err_info "MPI_ERR_INFO": 34, 28;
    err_io "MPI_ERR_IO": 35, 32;
    err_keyval "MPI_ERR_KEYVAL": 36, 48;
    err_locktype "MPI_ERR_LOCKTYPE": 37, 47;
    err_name "MPI_ERR_NAME": 38, 33;
    err_no_mem "MPI_ERR_NO_MEM": 39, 34;
    err_not_same "MPI_ERR_NOT_SAME": 40, 35;
    err_no_space "MPI_ERR_NO_SPACE": 41, 36;
    err_no_such_file "MPI_ERR_NO_SUCH_FILE": 42, 37;
    err_port "MPI_ERR_PORT": 43, 38;
    err_quota "MPI_ERR_QUOTA": 44, 39;
    err_read_only "MPI_ERR_READ_ONLY": 45, 40;
    err_rma_attach "MPI_ERR_RMA_ATTACH": 46, 56;
    err_rma_conflict "MPI_ERR_RMA_CONFLICT": 47, 49;
    err_rma_range "MPI_ERR_RMA_RANGE": 48, 55;
    err_rma_shared "MPI_ERR_RMA_SHARED": 49, 57;
    err_rma_sync "MPI_ERR_RMA_SYNC": 50, 50;
    err_service "MPI_ERR_SERVICE": 51, 41;
    err_size "MPI_ERR_SIZE": 52, 51;
    err_spawn "MPI_ERR_SPAWN": 53, 42;
    err_unsupported_datarep "MPI_ERR_UNSUPPORTED_DATAREP": 54, 43;
    err_unsupported_operation "MPI_ERR_UNSUPPORTED_OPERATION": 55, 44;
    err_win "MPI_ERR_WIN": 56, 45;
    err_rma_flavor "MPI_ERR_RMA_FLAVOR": 57, 58;
    err_proc_aborted "MPI_ERR_PROC_ABORTED": 58, 76;
    err_value_too_large "MPI_ERR_VALUE_TOO_LARGE": 59, 77;
    err_session "MPI_ERR_SESSION": 60, 75;
    err_errhandler "MPI_ERR_ERRHANDLER": 61, 80;
    err_abi "MPI_ERR_ABI": 62, 81;
    t_err_cannot_init "MPI_T_ERR_CANNOT_INIT": 1001, 61;
    t_err_not_accessible "MPI_T_ERR_NOT_ACCESSIBLE": 1002, 79;
    t_err_not_initialized "MPI_T_ERR_NOT_INITIALIZED": 1003, 60;
    t_err_not_supported "MPI_T_ERR_NOT_SUPPORTED": 1004, 78;
    t_err_memory "MPI_T_ERR_MEMORY": 1005, 59;
    t_err_invalid "MPI_T_ERR_INVALID": 1006, 74;
    t_err_invalid_index "MPI_T_ERR_INVALID_INDEX": 1007, 62;
    t_err_invalid_item "MPI_T_ERR_INVALID_ITEM": 1008, 63;
    t_err_invalid_session "MPI_T_ERR_INVALID_SESSION": 1009, 67;
    t_err_invalid_handle "MPI_T_ERR_INVALID_HANDLE": 1010, 64;
    t_err_invalid_name "MPI_T_ERR_INVALID_NAME": 1011, 73;
    t_err_out_of_handles "MPI_T_ERR_OUT_OF_HANDLES": 1012, 65;
    t_err_out_of_sessions "MPI_T_ERR_OUT_OF_SESSIONS": 1013, 66;
    t_err_cvar_set_not_now "MPI_T_ERR_CVAR_SET_NOT_NOW": 1014, 68;
    t_err_cvar_set_never "MPI_T_ERR_CVAR_SET_NEVER": 1015, 69;
    t_err_pvar_no_write "MPI_T_ERR_PVAR_NO_WRITE": 1016, 71;
    t_err_pvar_no_startstop "MPI_T_ERR_PVAR_NO_STARTSTOP": 1017, 70;
    t_err_pvar_no_atomic "MPI_T_ERR_PVAR_NO_ATOMIC": 1018, 72;
    err_lastcode "MPI_ERR_LASTCODE": 0x3fff, 0x3fffffff;
    bottom "MPI_BOTTOM": 0, 0;
    in_place "MPI_IN_PLACE": 1, -1;
    buffer_automatic "MPI_BUFFER_AUTOMATIC": 2, -2;
    argv_null "MPI_ARGV_NULL": 0, 0;
    argvs_null "MPI_ARGVS_NULL": 0, 0;
    errcodes_ignore "MPI_ERRCODES_IGNORE": 0, 0;
    status_ignore "MPI_STATUS_IGNORE": 0, 1;
    statuses_ignore "MPI_STATUSES_IGNORE": 0, 1;
    max_datarep_string "MPI_MAX_DATAREP_STRING": 128, 128;
    max_error_string "MPI_MAX_ERROR_STRING": 512, 512;
    max_info_key "MPI_MAX_INFO_KEY": 256, 255;
    max_info_val "MPI_MAX_INFO_VAL": 1024, 1024;
    max_library_version_string "MPI_MAX_LIBRARY_VERSION_STRING": 8192, 8192;
    max_object_name "MPI_MAX_OBJECT_NAME": 128, 128;
    max_port_name "MPI_MAX_PORT_NAME": 1024, 256;
    max_processor_name "MPI_MAX_PROCESSOR_NAME": 256, 128;
    max_stringtag_len "MPI_MAX_STRINGTAG_LEN": 1024, 256;
    max_pset_name_len "MPI_MAX_PSET_NAME_LEN": 1024, 256;
    bsend_overhead "MPI_BSEND_OVERHEAD": 512, 96;
    mode_append "MPI_MODE_APPEND": 1, 128;
    mode_create "MPI_MODE_CREATE": 2, 1;
    mode_delete_on_close "MPI_MODE_DELETE_ON_CLOSE": 4, 16;
    mode_excl "MPI_MODE_EXCL": 8, 64;
    mode_rdonly "MPI_MODE_RDONLY": 16, 2;
    mode_rdwr "MPI_MODE_RDWR": 32, 8;
    mode_sequential "MPI_MODE_SEQUENTIAL": 64, 256;
    mode_unique_open "MPI_MODE_UNIQUE_OPEN": 128, 32;
    mode_wronly "MPI_MODE_WRONLY": 256, 4;
    mode_nocheck "MPI_MODE_NOCHECK": 1024, 1024;
    mode_noprecede "MPI_MODE_NOPRECEDE": 2048, 8192;
    mode_noput "MPI_MODE_NOPUT": 4096, 4096;
    mode_nostore "MPI_MODE_NOSTORE": 8192, 2048;
    mode_nosucceed "MPI_MODE_NOSUCCEED": 0x4000, 0x4000;
    any_source "MPI_ANY_SOURCE": -1, -2;
    any_tag "MPI_ANY_TAG": -2, -1;
    proc_null "MPI_PROC_NULL": -3, -1;
    root "MPI_ROOT": -4, -3;
    undefined "MPI_UNDEFINED": -32766, -32766;
    thread_single "MPI_THREAD_SINGLE": 0, 0;
    thread_funneled "MPI_THREAD_FUNNELED": 1024, 1;
    thread_serialized "MPI_THREAD_SERIALIZED": 2048, 2;
    thread_multiple "MPI_THREAD_MULTIPLE": 4096, 3;
    order_c "MPI_ORDER_C": 12, 56;
    order_fortran "MPI_ORDER_FORTRAN": 15, 57;
    distribute_none "MPI_DISTRIBUTE_NONE": 16, 123;
    distribute_block "MPI_DISTRIBUTE_BLOCK": 17, 121;
    distribute_cyclic "MPI_DISTRIBUTE_CYCLIC": 18, 122;
    distribute_dflt_darg "MPI_DISTRIBUTE_DFLT_DARG": 19, -49767;
    combiner_named "MPI_COMBINER_NAMED": 101, 1;
    combiner_dup "MPI_COMBINER_DUP": 102, 2;
    combiner_contiguous "MPI_COMBINER_CONTIGUOUS": 103, 3;
    combiner_vector "MPI_COMBINER_VECTOR": 104, 4;
    combiner_hvector "MPI_COMBINER_HVECTOR": 105, 6;
    combiner_indexed "MPI_COMBINER_INDEXED": 106, 7;
    combiner_hindexed "MPI_COMBINER_HINDEXED": 107, 9;
    combiner_indexed_block "MPI_COMBINER_INDEXED_BLOCK": 108, 10;
    combiner_hindexed_block "MPI_COMBINER_HINDEXED_BLOCK": 109, 19;
    combiner_struct "MPI_COMBINER_STRUCT": 110, 12;
    combiner_subarray "MPI_COMBINER_SUBARRAY": 111, 13;
    combiner_darray "MPI_COMBINER_DARRAY": 112, 14;
    combiner_f90_real "MPI_COMBINER_F90_REAL": 113, 15;
    combiner_f90_complex "MPI_COMBINER_F90_COMPLEX": 114, 16;
    combiner_f90_integer "MPI_COMBINER_F90_INTEGER": 115, 17;
    combiner_resized "MPI_COMBINER_RESIZED": 116, 18;
    combiner_value_index "MPI_COMBINER_VALUE_INDEX": 117, 20;
    typeclass_integer "MPI_TYPECLASS_INTEGER": 192, 2;
    typeclass_real "MPI_TYPECLASS_REAL": 193, 1;
    typeclass_complex "MPI_TYPECLASS_COMPLEX": 194, 3;
    ident "MPI_IDENT": 201, 0;
    congruent "MPI_CONGRUENT": 202, 1;
    similar "MPI_SIMILAR": 203, 2;
    unequal "MPI_UNEQUAL": 204, 3;
    cart "MPI_CART": 211, 2;
    graph "MPI_GRAPH": 212, 1;
    dist_graph "MPI_DIST_GRAPH": 213, 3;
    comm_type_shared "MPI_COMM_TYPE_SHARED": 221, 1;
    comm_type_hw_unguided "MPI_COMM_TYPE_HW_UNGUIDED": 222, 3;
    comm_type_hw_guided "MPI_COMM_TYPE_HW_GUIDED": 223, 2;
    comm_type_resource_guided "MPI_COMM_TYPE_RESOURCE_GUIDED": 224, 4;
    lock_exclusive "MPI_LOCK_EXCLUSIVE": 301, 234;
    lock_shared "MPI_LOCK_SHARED": 302, 235;
    win_flavor_create "MPI_WIN_FLAVOR_CREATE": 311, 1;
    win_flavor_allocate "MPI_WIN_FLAVOR_ALLOCATE": 312, 2;
    win_flavor_dynamic "MPI_WIN_FLAVOR_DYNAMIC": 313, 3;
    win_flavor_shared "MPI_WIN_FLAVOR_SHARED": 314, 4;
    win_unified "MPI_WIN_UNIFIED": 321, 2;
    win_separate "MPI_WIN_SEPARATE": 322, 1;
    seek_cur "MPI_SEEK_CUR": 401, 602;
    seek_end "MPI_SEEK_END": 402, 604;
    seek_set "MPI_SEEK_SET": 403, 600;
    displacement_current "MPI_DISPLACEMENT_CURRENT": -1, 0xfcc3c77a_u32 as i32 as i64;
    keyval_invalid "MPI_KEYVAL_INVALID": 0, 0x24000000;
    tag_ub "MPI_TAG_UB": 0x1f5, 0x64400001;
    io "MPI_IO": 0x1f6, 0x64400005;
    host "MPI_HOST": 0x1f7, 0x64400003;
    wtime_is_global "MPI_WTIME_IS_GLOBAL": 0x1f8, 0x64400007;
    appnum "MPI_APPNUM": 0x1f9, 0x6440000d;
    lastusedcode "MPI_LASTUSEDCODE": 0x1fa, 0x6440000b;
    universe_size "MPI_UNIVERSE_SIZE": 0x1fb, 0x64400009;
    win_base "MPI_WIN_BASE": 0x259, 0x66000001;
    win_disp_unit "MPI_WIN_DISP_UNIT": 0x25a, 0x66000005;
    win_size "MPI_WIN_SIZE": 0x25b, 0x66000003;
    win_create_flavor "MPI_WIN_CREATE_FLAVOR": 0x25c, 0x66000007;
    win_model "MPI_WIN_MODEL": 0x25d, 0x66000009;
    t_enum_null "MPI_T_ENUM_NULL": 0, 0;
    t_cvar_handle_null "MPI_T_CVAR_HANDLE_NULL": 0, 0;
    t_pvar_session_null "MPI_T_PVAR_SESSION_NULL": 0, 0;
    t_pvar_handle_null "MPI_T_PVAR_HANDLE_NULL": 0, 0;
    t_cb_require_none "MPI_T_CB_REQUIRE_NONE": 0, 0;
    t_cb_require_mpi_restricted "MPI_T_CB_REQUIRE_MPI_RESTRICTED": 3, 1;
    t_cb_require_thread_safe "MPI_T_CB_REQUIRE_THREAD_SAFE": 15, 2;
    t_cb_require_async_signal_safe "MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE": 63, 3;
    t_source_ordered "MPI_T_SOURCE_ORDERED": 1, 0;
    t_source_unordered "MPI_T_SOURCE_UNORDERED": 2, 1;
    t_verbosity_user_basic "MPI_T_VERBOSITY_USER_BASIC": 9, 221;
    t_verbosity_user_detail "MPI_T_VERBOSITY_USER_DETAIL": 10, 222;
    t_verbosity_user_all "MPI_T_VERBOSITY_USER_ALL": 12, 223;
    t_verbosity_tuner_basic "MPI_T_VERBOSITY_TUNER_BASIC": 17, 224;
    t_verbosity_tuner_detail "MPI_T_VERBOSITY_TUNER_DETAIL": 18, 225;
    t_verbosity_tuner_all "MPI_T_VERBOSITY_TUNER_ALL": 20, 226;
    t_verbosity_mpidev_basic "MPI_T_VERBOSITY_MPIDEV_BASIC": 33, 227;
    t_verbosity_mpidev_detail "MPI_T_VERBOSITY_MPIDEV_DETAIL": 34, 228;
    t_verbosity_mpidev_all "MPI_T_VERBOSITY_MPIDEV_ALL": 36, 229;
    t_bind_no_object "MPI_T_BIND_NO_OBJECT": 1, 0x25e4;
    t_bind_mpi_comm "MPI_T_BIND_MPI_COMM": 2, 0x25e5;
    t_bind_mpi_datatype "MPI_T_BIND_MPI_DATATYPE": 3, 0x25e6;
    t_bind_mpi_errhandler "MPI_T_BIND_MPI_ERRHANDLER": 4, 0x25e7;
    t_bind_mpi_file "MPI_T_BIND_MPI_FILE": 5, 0x25e8;
    t_bind_mpi_group "MPI_T_BIND_MPI_GROUP": 6, 0x25e9;
    t_bind_mpi_op "MPI_T_BIND_MPI_OP": 7, 0x25ea;
    t_bind_mpi_request "MPI_T_BIND_MPI_REQUEST": 8, 0x25eb;
    t_bind_mpi_win "MPI_T_BIND_MPI_WIN": 9, 0x25ec;
    t_bind_mpi_message "MPI_T_BIND_MPI_MESSAGE": 10, 0x25ed;
    t_bind_mpi_info "MPI_T_BIND_MPI_INFO": 11, 0x25ee;
    t_bind_mpi_session "MPI_T_BIND_MPI_SESSION": 12, 0x25ef;
    t_scope_constant "MPI_T_SCOPE_CONSTANT": 1, 0xec16;
    t_scope_readonly "MPI_T_SCOPE_READONLY": 2, 0xec17;
    t_scope_local "MPI_T_SCOPE_LOCAL": 3, 0xec18;
    t_scope_group "MPI_T_SCOPE_GROUP": 4, 0xec19;
    t_scope_group_eq "MPI_T_SCOPE_GROUP_EQ": 5, 0xec1a;
    t_scope_all "MPI_T_SCOPE_ALL": 6, 0xec1b;
    t_scope_all_eq "MPI_T_SCOPE_ALL_EQ": 7, 0xec1c;
    t_pvar_class_state "MPI_T_PVAR_CLASS_STATE": 1, 240;
    t_pvar_class_level "MPI_T_PVAR_CLASS_LEVEL": 2, 241;
    t_pvar_class_size "MPI_T_PVAR_CLASS_SIZE": 3, 242;
    t_pvar_class_percentage "MPI_T_PVAR_CLASS_PERCENTAGE": 4, 243;
    t_pvar_class_highwatermark "MPI_T_PVAR_CLASS_HIGHWATERMARK": 5, 244;
    t_pvar_class_lowwatermark "MPI_T_PVAR_CLASS_LOWWATERMARK": 6, 245;
    t_pvar_class_counter "MPI_T_PVAR_CLASS_COUNTER": 7, 246;
    t_pvar_class_aggregate "MPI_T_PVAR_CLASS_AGGREGATE": 8, 247;
    t_pvar_class_timer "MPI_T_PVAR_CLASS_TIMER": 9, 248;
    t_pvar_class_generic "MPI_T_PVAR_CLASS_GENERIC": 10, 249;
}

/// Names that the header of the standard ABI has alone.
pub const STANDARD_ALONE: &[(&str, i64)] = &[
    ("MPI_ABI_VERSION", 1),
    ("MPI_ABI_SUBVERSION", 0),
    ("MPIX_TYPECLASS_LOGICAL", 191),
];

/// Names that the header of MPICH has alone.
pub const MPICH_ALONE: &[(&str, i64)] = &[
    ("MPIX_STREAM_NULL", 0x3c000000),
    ("MPI_LB", 0x4c000010),
    ("MPI_UB", 0x4c000011),
    ("MPIX_C_FLOAT16", 0x4c000246),
    ("MPIX_BFLOAT16", 0x4c00024c),
    ("MPIX_EQUAL", 0x5800000f),
    ("MPI_COMBINER_HVECTOR_INTEGER", 5),
    ("MPI_COMBINER_HINDEXED_INTEGER", 8),
    ("MPI_COMBINER_STRUCT_INTEGER", 11),
    ("MPIX_COMM_TYPE_NEIGHBORHOOD", 5),
    ("MPIX_ERR_PROC_FAILED", 101),
    ("MPIX_ERR_PROC_FAILED_PENDING", 102),
    ("MPIX_ERR_REVOKED", 103),
    ("MPIX_ERR_EAGAIN", 104),
    ("MPIX_ERR_NOREQ", 105),
    ("MPIX_ERR_STREAM", 106),
    ("MPIX_ERR_TIMEOUT", 107),
    ("MPIX_GPU_SUPPORT_CUDA", 0),
    ("MPIX_GPU_SUPPORT_ZE", 1),
    ("MPIX_GPU_SUPPORT_HIP", 2),
    ("MPIX_ASYNC_NOPROGRESS", 0),
    ("MPIX_ASYNC_DONE", 1),
    ("MPI_T_VERBOSITY_INVALID", 0),
    ("MPI_T_BIND_INVALID", 0),
    ("MPI_T_SCOPE_INVALID", 0),
    ("MPI_T_PVAR_CLASS_INVALID", 0),
];
