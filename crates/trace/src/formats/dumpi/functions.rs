//! The functions that a DUMPI file may tell of, by number, and what each is written with.
//!
//! Arguments are letters, in their order in the file:
//!
//! | | | | |
//! |---|---|---|---|
//! | `i` | `i32`: count, rank, tag, request | `I` | a list of these |
//! | `h` | `u16`: communicator, datatype, group, window, file | `H` | a list of these |
//! | `b` | `u8`: operator, level, order | `D` | a list of these |
//! | `l` | `u64`: place in a file, address | `S` | statuses, where the mask of the record has them |
//! | `C` | characters | `A`, `T` | a list of these, a list of `A` |
//! | `R` | a list of `I` | `V` | `A`, counted twice before version 0.6.2 |
//! | `J` | `I`, one `i` before version 0.6.9 | `K` | `I`, one `i` before version 0.6.8 |
//! | `?03(...)` | only where argument 0 is argument 3: on the root | | |
//!
//! Lists begin with their length (`u32`). Facts from sst-dumpi (BSD-3), `dumpi/common/dumpiio.c`.

/// The number of a function.
pub(super) type Function = u16;

pub(super) const SEND: Function = 0;
pub(super) const RECV: Function = 1;
pub(super) const BSEND: Function = 3;
pub(super) const SSEND: Function = 4;
pub(super) const RSEND: Function = 5;
pub(super) const ISEND: Function = 8;
pub(super) const IBSEND: Function = 9;
pub(super) const ISSEND: Function = 10;
pub(super) const IRSEND: Function = 11;
pub(super) const IRECV: Function = 12;
pub(super) const WAIT: Function = 13;
pub(super) const TEST: Function = 14;
pub(super) const REQUEST_FREE: Function = 15;
pub(super) const WAITANY: Function = 16;
pub(super) const TESTANY: Function = 17;
pub(super) const WAITALL: Function = 18;
pub(super) const TESTALL: Function = 19;
pub(super) const WAITSOME: Function = 20;
pub(super) const TESTSOME: Function = 21;
pub(super) const IPROBE: Function = 22;
pub(super) const PROBE: Function = 23;
pub(super) const CANCEL: Function = 24;
pub(super) const SEND_INIT: Function = 26;
pub(super) const BSEND_INIT: Function = 27;
pub(super) const SSEND_INIT: Function = 28;
pub(super) const RSEND_INIT: Function = 29;
pub(super) const RECV_INIT: Function = 30;
pub(super) const START: Function = 31;
pub(super) const STARTALL: Function = 32;
pub(super) const SENDRECV: Function = 33;
pub(super) const SENDRECV_REPLACE: Function = 34;
pub(super) const TYPE_CONTIGUOUS: Function = 35;
pub(super) const TYPE_VECTOR: Function = 36;
pub(super) const TYPE_HVECTOR: Function = 37;
pub(super) const TYPE_INDEXED: Function = 38;
pub(super) const TYPE_HINDEXED: Function = 39;
pub(super) const TYPE_STRUCT: Function = 40;
pub(super) const TYPE_SIZE: Function = 43;
pub(super) const TYPE_FREE: Function = 47;
pub(super) const BARRIER: Function = 52;
pub(super) const BCAST: Function = 53;
pub(super) const GATHER: Function = 54;
pub(super) const GATHERV: Function = 55;
pub(super) const SCATTER: Function = 56;
pub(super) const SCATTERV: Function = 57;
pub(super) const ALLGATHER: Function = 58;
pub(super) const ALLGATHERV: Function = 59;
pub(super) const ALLTOALL: Function = 60;
pub(super) const ALLTOALLV: Function = 61;
pub(super) const REDUCE: Function = 62;
pub(super) const ALLREDUCE: Function = 65;
pub(super) const REDUCE_SCATTER: Function = 66;
pub(super) const SCAN: Function = 67;
pub(super) const COMM_GROUP: Function = 72;
pub(super) const GROUP_UNION: Function = 73;
pub(super) const GROUP_INTERSECTION: Function = 74;
pub(super) const GROUP_DIFFERENCE: Function = 75;
pub(super) const GROUP_INCL: Function = 76;
pub(super) const GROUP_EXCL: Function = 77;
pub(super) const GROUP_RANGE_INCL: Function = 78;
pub(super) const GROUP_RANGE_EXCL: Function = 79;
pub(super) const COMM_SIZE: Function = 81;
pub(super) const COMM_RANK: Function = 82;
pub(super) const COMM_DUP: Function = 84;
pub(super) const COMM_CREATE: Function = 85;
pub(super) const COMM_SPLIT: Function = 86;
pub(super) const COMM_FREE: Function = 87;
pub(super) const COMM_REMOTE_GROUP: Function = 90;
pub(super) const INTERCOMM_CREATE: Function = 91;
pub(super) const INTERCOMM_MERGE: Function = 92;
pub(super) const CART_CREATE: Function = 99;
pub(super) const GRAPH_CREATE: Function = 101;
pub(super) const CART_SUB: Function = 111;
pub(super) const ABORT: Function = 127;
pub(super) const COMM_ACCEPT: Function = 130;
pub(super) const COMM_CONNECT: Function = 131;
pub(super) const COMM_DISCONNECT: Function = 132;
pub(super) const COMM_GET_PARENT: Function = 133;
pub(super) const COMM_JOIN: Function = 134;
pub(super) const COMM_SPAWN: Function = 135;
pub(super) const COMM_SPAWN_MULTIPLE: Function = 136;
pub(super) const ACCUMULATE: Function = 141;
pub(super) const GET: Function = 142;
pub(super) const PUT: Function = 143;
pub(super) const WIN_CREATE: Function = 145;
pub(super) const WIN_FENCE: Function = 146;
pub(super) const WIN_FREE: Function = 147;
pub(super) const WIN_GET_GROUP: Function = 148;
pub(super) const ALLTOALLW: Function = 155;
pub(super) const EXSCAN: Function = 156;
pub(super) const GREQUEST_START: Function = 170;
pub(super) const TYPE_DUP: Function = 178;
pub(super) const TYPE_CREATE_HINDEXED: Function = 218;
pub(super) const TYPE_CREATE_HVECTOR: Function = 219;
pub(super) const TYPE_CREATE_INDEXED_BLOCK: Function = 220;
pub(super) const TYPE_CREATE_RESIZED: Function = 221;
pub(super) const TYPE_CREATE_STRUCT: Function = 222;
pub(super) const TYPE_CREATE_SUBARRAY: Function = 223;
pub(super) const FUNCTION_ENTER: Function = 291;
pub(super) const FUNCTION_EXIT: Function = 292;
pub(super) const END_OF_STREAM: Function = 293;

/// The name of a function.
pub(super) fn name(function: Function) -> &'static str {
    FUNCTIONS
        .get(usize::from(function))
        .map_or("no function", |(name, _)| name)
}

/// What a function is written with; nothing for those of which it is not known.
pub(super) fn arguments(function: Function) -> Option<&'static str> {
    FUNCTIONS
        .get(usize::from(function))
        .and_then(|(_, arguments)| *arguments)
}

/// Name and arguments of each.
#[rustfmt::skip]
const FUNCTIONS: [(&str, Option<&str>); 293] = [
    ("MPI_Send", Some("ihiih")),
    ("MPI_Recv", Some("ihiihS")),
    ("MPI_Get_count", Some("Shi")),
    ("MPI_Bsend", Some("ihiih")),
    ("MPI_Ssend", Some("ihiih")),
    ("MPI_Rsend", Some("ihiih")),
    ("MPI_Buffer_attach", Some("i")),
    ("MPI_Buffer_detach", Some("i")),
    ("MPI_Isend", Some("ihiihi")),
    ("MPI_Ibsend", Some("ihiihi")),
    ("MPI_Issend", Some("ihiihi")),
    ("MPI_Irsend", Some("ihiihi")),
    ("MPI_Irecv", Some("ihiihi")),
    ("MPI_Wait", Some("iS")),
    ("MPI_Test", Some("iiS")),
    ("MPI_Request_free", Some("i")),
    ("MPI_Waitany", Some("iIiS")),
    ("MPI_Testany", Some("iIiiS")),
    ("MPI_Waitall", Some("iIS")),
    ("MPI_Testall", Some("iIiS")),
    ("MPI_Waitsome", Some("iIiIS")),
    ("MPI_Testsome", Some("iIiIS")),
    ("MPI_Iprobe", Some("iihiS")),
    ("MPI_Probe", Some("iihS")),
    ("MPI_Cancel", Some("i")),
    ("MPI_Test_cancelled", Some("Si")),
    ("MPI_Send_init", Some("ihiihi")),
    ("MPI_Bsend_init", Some("ihiihi")),
    ("MPI_Ssend_init", Some("ihiihi")),
    ("MPI_Rsend_init", Some("ihiihi")),
    ("MPI_Recv_init", Some("ihiihi")),
    ("MPI_Start", Some("i")),
    ("MPI_Startall", Some("iI")),
    ("MPI_Sendrecv", Some("ihiiihiihS")),
    ("MPI_Sendrecv_replace", Some("ihiiiihS")),
    ("MPI_Type_contiguous", Some("ihh")),
    ("MPI_Type_vector", Some("iiihh")),
    ("MPI_Type_hvector", Some("iiihh")),
    ("MPI_Type_indexed", Some("iIIhh")),
    ("MPI_Type_hindexed", Some("iIIhh")),
    ("MPI_Type_struct", Some("iIJHh")),
    ("MPI_Address", Some("i")),
    ("MPI_Type_extent", Some("hi")),
    ("MPI_Type_size", Some("hi")),
    ("MPI_Type_lb", Some("hi")),
    ("MPI_Type_ub", Some("hi")),
    ("MPI_Type_commit", Some("h")),
    ("MPI_Type_free", Some("h")),
    ("MPI_Get_elements", Some("Shi")),
    ("MPI_Pack", Some("ihiiih")),
    ("MPI_Unpack", Some("iiiihh")),
    ("MPI_Pack_size", Some("ihhi")),
    ("MPI_Barrier", Some("h")),
    ("MPI_Bcast", Some("ihih")),
    ("MPI_Gather", Some("iihih?03(ih)")),
    ("MPI_Gatherv", Some("iiihih?04(II)h")),
    ("MPI_Scatter", Some("iihih?03(ih)")),
    ("MPI_Scatterv", Some("iihihih?05(II)")),
    ("MPI_Allgather", Some("ihihh")),
    ("MPI_Allgatherv", Some("iihIIhh")),
    ("MPI_Alltoall", Some("ihihh")),
    ("MPI_Alltoallv", Some("iIIhIIhh")),
    ("MPI_Reduce", Some("ihbih")),
    ("MPI_Op_create", Some("ib")),
    ("MPI_Op_free", Some("b")),
    ("MPI_Allreduce", Some("ihbh")),
    ("MPI_Reduce_scatter", Some("iIhbh")),
    ("MPI_Scan", Some("ihbh")),
    ("MPI_Group_size", Some("hi")),
    ("MPI_Group_rank", Some("hi")),
    ("MPI_Group_translate_ranks", Some("hiIhI")),
    ("MPI_Group_compare", Some("hhb")),
    ("MPI_Comm_group", Some("hh")),
    ("MPI_Group_union", Some("hhh")),
    ("MPI_Group_intersection", Some("hhh")),
    ("MPI_Group_difference", Some("hhh")),
    ("MPI_Group_incl", Some("hiIh")),
    ("MPI_Group_excl", Some("hiIh")),
    ("MPI_Group_range_incl", Some("hiRh")),
    ("MPI_Group_range_excl", Some("hiRh")),
    ("MPI_Group_free", Some("h")),
    ("MPI_Comm_size", Some("hi")),
    ("MPI_Comm_rank", Some("hi")),
    ("MPI_Comm_compare", Some("hhb")),
    ("MPI_Comm_dup", Some("hh")),
    ("MPI_Comm_create", Some("hhh")),
    ("MPI_Comm_split", Some("hiih")),
    ("MPI_Comm_free", Some("h")),
    ("MPI_Comm_test_inter", Some("hi")),
    ("MPI_Comm_remote_size", Some("hi")),
    ("MPI_Comm_remote_group", Some("hh")),
    ("MPI_Intercomm_create", Some("hihiih")),
    ("MPI_Intercomm_merge", Some("hih")),
    ("MPI_Keyval_create", Some("h")),
    ("MPI_Keyval_free", Some("h")),
    ("MPI_Attr_put", Some("hi")),
    ("MPI_Attr_get", Some("hii")),
    ("MPI_Attr_delete", Some("hi")),
    ("MPI_Topo_test", Some("hb")),
    ("MPI_Cart_create", Some("hiIIih")),
    ("MPI_Dims_create", Some("iiII")),
    ("MPI_Graph_create", Some("ihiIIih")),
    ("MPI_Graphdims_get", Some("hii")),
    ("MPI_Graph_get", Some("iihiiII")),
    ("MPI_Cartdim_get", Some("hi")),
    ("MPI_Cart_get", Some("ihiIIK")),
    ("MPI_Cart_rank", Some("ihIi")),
    ("MPI_Cart_coords", Some("ihiiI")),
    ("MPI_Graph_neighbors_count", Some("hii")),
    ("MPI_Graph_neighbors", Some("ihiiI")),
    ("MPI_Cart_shift", Some("hiiii")),
    ("MPI_Cart_sub", Some("ihIh")),
    ("MPI_Cart_map", Some("hiIIi")),
    ("MPI_Graph_map", Some("ihiIIi")),
    ("MPI_Get_processor_name", Some("Ci")),
    ("MPI_Get_version", Some("ii")),
    ("MPI_Errhandler_create", Some("h")),
    ("MPI_Errhandler_set", Some("hh")),
    ("MPI_Errhandler_get", Some("hh")),
    ("MPI_Errhandler_free", Some("h")),
    ("MPI_Error_string", Some("iCi")),
    ("MPI_Error_class", Some("ii")),
    ("MPI_Wtime", Some("")),
    ("MPI_Wtick", Some("")),
    ("MPI_Init", Some("V")),
    ("MPI_Finalize", Some("")),
    ("MPI_Initialized", Some("i")),
    ("MPI_Abort", Some("hi")),
    ("MPI_Pcontrol", None),
    ("MPI_Close_port", Some("C")),
    ("MPI_Comm_accept", Some("Chihh")),
    ("MPI_Comm_connect", Some("Chihh")),
    ("MPI_Comm_disconnect", Some("h")),
    ("MPI_Comm_get_parent", Some("h")),
    ("MPI_Comm_join", Some("ih")),
    ("MPI_Comm_spawn", Some("iihh?01(CAihI)")),
    ("MPI_Comm_spawn_multiple", Some("iiihh?12(iATIHI)")),
    ("MPI_Lookup_name", Some("ChC")),
    ("MPI_Open_port", Some("hC")),
    ("MPI_Publish_name", Some("ChC")),
    ("MPI_Unpublish_name", Some("ChC")),
    ("MPI_Accumulate", Some("ihiiihbh")),
    ("MPI_Get", Some("ihiiihh")),
    ("MPI_Put", Some("ihiiihh")),
    ("MPI_Win_complete", Some("h")),
    ("MPI_Win_create", Some("iihhh")),
    ("MPI_Win_fence", Some("bh")),
    ("MPI_Win_free", Some("h")),
    ("MPI_Win_get_group", Some("hh")),
    ("MPI_Win_lock", Some("bibh")),
    ("MPI_Win_post", Some("hbh")),
    ("MPI_Win_start", Some("hbh")),
    ("MPI_Win_test", Some("hi")),
    ("MPI_Win_unlock", Some("ih")),
    ("MPI_Win_wait", Some("h")),
    ("MPI_Alltoallw", Some("iIIHIIHh")),
    ("MPI_Exscan", Some("ihbh")),
    ("MPI_Add_error_class", Some("i")),
    ("MPI_Add_error_code", Some("ii")),
    ("MPI_Add_error_string", Some("iC")),
    ("MPI_Comm_call_errhandler", Some("hi")),
    ("MPI_Comm_create_keyval", Some("h")),
    ("MPI_Comm_delete_attr", Some("hh")),
    ("MPI_Comm_free_keyval", Some("h")),
    ("MPI_Comm_get_attr", Some("hhi")),
    ("MPI_Comm_get_name", Some("hCi")),
    ("MPI_Comm_set_attr", Some("hh")),
    ("MPI_Comm_set_name", Some("hC")),
    ("MPI_File_call_errhandler", Some("hi")),
    ("MPI_Grequest_complete", Some("i")),
    ("MPI_Grequest_start", Some("i")),
    ("MPI_Init_thread", Some("Abb")),
    ("MPI_Is_thread_main", Some("i")),
    ("MPI_Query_thread", Some("b")),
    ("MPI_Status_set_cancelled", Some("Si")),
    ("MPI_Status_set_elements", Some("Shi")),
    ("MPI_Type_create_keyval", Some("h")),
    ("MPI_Type_delete_attr", Some("hh")),
    ("MPI_Type_dup", Some("hh")),
    ("MPI_Type_free_keyval", Some("h")),
    ("MPI_Type_get_attr", Some("hhi")),
    ("MPI_Type_get_contents", Some("iiihiiiIIH")),
    ("MPI_Type_get_envelope", Some("hiiib")),
    ("MPI_Type_get_name", Some("hCi")),
    ("MPI_Type_set_attr", Some("hh")),
    ("MPI_Type_set_name", Some("hC")),
    ("MPI_Type_match_size", Some("bih")),
    ("MPI_Win_call_errhandler", Some("hi")),
    ("MPI_Win_create_keyval", Some("h")),
    ("MPI_Win_delete_attr", Some("hh")),
    ("MPI_Win_free_keyval", Some("h")),
    ("MPI_Win_get_attr", Some("hhi")),
    ("MPI_Win_get_name", Some("hCi")),
    ("MPI_Win_set_attr", Some("hh")),
    ("MPI_Win_set_name", Some("hC")),
    ("MPI_Alloc_mem", Some("ih")),
    ("MPI_Comm_create_errhandler", Some("h")),
    ("MPI_Comm_get_errhandler", Some("hh")),
    ("MPI_Comm_set_errhandler", Some("hh")),
    ("MPI_File_create_errhandler", Some("h")),
    ("MPI_File_get_errhandler", Some("hh")),
    ("MPI_File_set_errhandler", Some("hh")),
    ("MPI_Finalized", Some("i")),
    ("MPI_Free_mem", Some("")),
    ("MPI_Get_address", Some("i")),
    ("MPI_Info_create", Some("h")),
    ("MPI_Info_delete", Some("hC")),
    ("MPI_Info_dup", Some("hh")),
    ("MPI_Info_free", Some("h")),
    ("MPI_Info_get", Some("hCiCi")),
    ("MPI_Info_get_nkeys", Some("hi")),
    ("MPI_Info_get_nthkey", Some("hiC")),
    ("MPI_Info_get_valuelen", Some("hCii")),
    ("MPI_Info_set", Some("hCC")),
    ("MPI_Pack_external", Some("Cihiii")),
    ("MPI_Pack_external_size", Some("Cihi")),
    ("MPI_Request_get_status", Some("iiS")),
    ("MPI_Type_create_darray", Some("iiiIDIIbhh")),
    ("MPI_Type_create_hindexed", Some("iIIhh")),
    ("MPI_Type_create_hvector", Some("iiihh")),
    ("MPI_Type_create_indexed_block", Some("iiIhh")),
    ("MPI_Type_create_resized", Some("hiih")),
    ("MPI_Type_create_struct", Some("iIIHh")),
    ("MPI_Type_create_subarray", Some("iIIIbhh")),
    ("MPI_Type_get_extent", Some("hii")),
    ("MPI_Type_get_true_extent", Some("hii")),
    ("MPI_Unpack_external", Some("Ciiiih")),
    ("MPI_Win_create_errhandler", Some("h")),
    ("MPI_Win_get_errhandler", Some("hh")),
    ("MPI_Win_set_errhandler", Some("hh")),
    ("MPI_File_open", Some("hCbhh")),
    ("MPI_File_close", Some("h")),
    ("MPI_File_delete", Some("Ch")),
    ("MPI_File_set_size", Some("hl")),
    ("MPI_File_preallocate", Some("hl")),
    ("MPI_File_get_size", Some("hl")),
    ("MPI_File_get_group", Some("hh")),
    ("MPI_File_get_amode", Some("hb")),
    ("MPI_File_set_info", Some("hh")),
    ("MPI_File_get_info", Some("hh")),
    ("MPI_File_set_view", Some("hlhhCh")),
    ("MPI_File_get_view", Some("hlhhC")),
    ("MPI_File_read_at", Some("hlihS")),
    ("MPI_File_read_at_all", Some("hlihS")),
    ("MPI_File_write_at", Some("hlihS")),
    ("MPI_File_write_at_all", Some("hlihS")),
    ("MPI_File_iread_at", Some("hlihi")),
    ("MPI_File_iwrite_at", Some("hlihi")),
    ("MPI_File_read", Some("hihS")),
    ("MPI_File_read_all", Some("hihS")),
    ("MPI_File_write", Some("hihS")),
    ("MPI_File_write_all", Some("hihS")),
    ("MPI_File_iread", Some("hihi")),
    ("MPI_File_iwrite", Some("hihi")),
    ("MPI_File_seek", Some("hlb")),
    ("MPI_File_get_position", Some("hl")),
    ("MPI_File_get_byte_offset", Some("hll")),
    ("MPI_File_read_shared", Some("hihS")),
    ("MPI_File_write_shared", Some("hihS")),
    ("MPI_File_iread_shared", Some("hihi")),
    ("MPI_File_iwrite_shared", Some("hihi")),
    ("MPI_File_read_ordered", Some("hihS")),
    ("MPI_File_write_ordered", Some("hihS")),
    ("MPI_File_seek_shared", Some("hlb")),
    ("MPI_File_get_position_shared", Some("hl")),
    ("MPI_File_read_at_all_begin", Some("hlih")),
    ("MPI_File_read_at_all_end", Some("hS")),
    ("MPI_File_write_at_all_begin", Some("hlih")),
    ("MPI_File_write_at_all_end", Some("hS")),
    ("MPI_File_read_all_begin", Some("hih")),
    ("MPI_File_read_all_end", Some("hS")),
    ("MPI_File_write_all_begin", Some("hih")),
    ("MPI_File_write_all_end", Some("hS")),
    ("MPI_File_read_ordered_begin", Some("hih")),
    ("MPI_File_read_ordered_end", Some("hS")),
    ("MPI_File_write_ordered_begin", Some("hih")),
    ("MPI_File_write_ordered_end", Some("hS")),
    ("MPI_File_get_type_extent", Some("hhi")),
    ("MPI_Register_datarep", Some("C")),
    ("MPI_File_set_atomicity", Some("hi")),
    ("MPI_File_get_atomicity", Some("hi")),
    ("MPI_File_sync", Some("h")),
    ("MPIO_Test", Some("iiS")),
    ("MPIO_Wait", Some("iS")),
    ("MPIO_Testall", Some("iIiS")),
    ("MPIO_Waitall", Some("iIS")),
    ("MPIO_Testany", Some("iIiiS")),
    ("MPIO_Waitany", Some("iIiS")),
    ("MPIO_Waitsome", Some("iIiIS")),
    ("MPIO_Testsome", Some("iIiIS")),
    ("no function", None),
    ("MPI_Function_enter", Some("l")),
    ("MPI_Function_exit", Some("l")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_letters_that_are_known_and_the_root_s_are_in_brackets() {
        for (name, arguments) in FUNCTIONS {
            let letters = arguments.unwrap_or_default();
            let plain = match letters.split_once('?') {
                None => letters.to_owned(),
                Some((all, root)) => {
                    let (which, root) = root.split_once('(').expect("a bracket");
                    let numbers = all.bytes().filter(|letter| b"ihbl".contains(letter)).count() as u32;
                    let known = |letter: char| letter.to_digit(10).is_some_and(|number| number < numbers);
                    assert!(which.len() == 2 && which.chars().all(known), "{name}");
                    format!("{all}{}", root.replacen(')', "", 1))
                }
            };
            assert!(
                plain.chars().all(|letter| "ihblIHDSCATRVJK".contains(letter)),
                "{name}: {plain}"
            );
        }
        assert_eq!(
            (name(SEND), name(FUNCTION_EXIT), name(777)),
            ("MPI_Send", "MPI_Function_exit", "no function")
        );
    }
}
