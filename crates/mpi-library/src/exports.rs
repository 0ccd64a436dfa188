//! The names that programs find, each with the function behind it.
//!
//! `PMPI_X` is the name, `MPI_X` another, weak one of the same address, so that a tool can stand in front. Both are a few instructions
//! that keep where they were called from and go on to the function. A test compares the names with the headers.

/// Exports a function under both of its names.
#[doc(hidden)]
#[macro_export]
macro_rules! export {
    // Of what programs call all the time the names lie beside the functions: to a rank that wakes their pages would be as many more.
    (hot $name:literal, $($function:tt)+) => {
        $crate::export!(in ".text.hot,\"ax\",@progbits", $name, $($function)+);
    };
    ($name:literal, $($function:tt)+) => {
        $crate::export!(in ".text,\"ax\",@progbits", $name, $($function)+);
    };
    (in $section:literal, $name:literal, $($function:tt)+) => {
        #[cfg(target_arch = "x86_64")]
        ::core::arch::global_asm!(
            concat!(".pushsection ", $section),
            concat!(".globl P", $name),
            concat!(".type P", $name, ", @function"),
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!("P", $name, ":"),
            concat!($name, ":"),
            "mov r11, qword ptr [rsp]",
            "mov qword ptr [rip + {place}], r11",
            "jmp {function}",
            concat!(".size P", $name, ", . - P", $name),
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            place = sym $crate::library::PROCESS,
            function = sym $($function)+,
        );
        #[cfg(target_arch = "aarch64")]
        ::core::arch::global_asm!(
            concat!(".pushsection ", $section),
            concat!(".globl P", $name),
            concat!(".type P", $name, ", %function"),
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            concat!("P", $name, ":"),
            concat!($name, ":"),
            "adrp x16, :got:{place}",
            "ldr x16, [x16, :got_lo12:{place}]",
            "str x30, [x16]",
            "b {function}",
            concat!(".size P", $name, ", . - P", $name),
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            place = sym $crate::library::PROCESS,
            function = sym $($function)+,
        );
    };
}

/// Exports a variable of eight bytes with this value.
#[doc(hidden)]
#[macro_export]
macro_rules! export_variable {
    ($name:literal, $value:literal) => {
        ::core::arch::global_asm!(
            ".pushsection .data",
            ".balign 8",
            concat!(".globl ", $name),
            concat!(".type ", $name, ", %object"),
            concat!(".size ", $name, ", 8"),
            concat!($name, ":"),
            concat!(".quad ", $value),
            ".popsection",
        );
    };
}

/// The variables of MPICH's ABI.
#[doc(hidden)]
#[macro_export]
macro_rules! export_variables {
    () => {
        $crate::export_variable!("MPI_UNWEIGHTED", 10);
        $crate::export_variable!("MPI_WEIGHTS_EMPTY", 11);
        $crate::export_variable!("MPI_F_STATUS_IGNORE", 1);
        $crate::export_variable!("MPI_F_STATUSES_IGNORE", 1);
        $crate::export_variable!("MPI_F08_STATUS_IGNORE", 1);
        $crate::export_variable!("MPI_F08_STATUSES_IGNORE", 1);
        $crate::export_variable!("MPI_T_PVAR_ALL_HANDLES", 1);
    };
}

/// The functions that both interfaces have.
#[doc(hidden)]
#[macro_export]
macro_rules! export_both {
    ($face:ty) => {
        $crate::export!("MPI_Abi_get_fortran_booleans", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Abi_get_fortran_booleans") }>);
        $crate::export!("MPI_Abi_get_fortran_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Abi_get_fortran_info") }>);
        $crate::export!("MPI_Abi_get_info", $crate::calls::environment::abi_get_info::<$face>);
        $crate::export!("MPI_Abi_get_version", $crate::calls::environment::abi_get_version::<$face>);
        $crate::export!("MPI_Abi_set_fortran_booleans", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Abi_set_fortran_booleans") }>);
        $crate::export!("MPI_Abi_set_fortran_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Abi_set_fortran_info") }>);
        $crate::export!("MPI_Abort", $crate::calls::environment::abort::<$face>);
        $crate::export!("MPI_Accumulate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Accumulate") }>);
        $crate::export!("MPI_Accumulate_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Accumulate_c") }>);
        $crate::export!("MPI_Add_error_class", $crate::calls::errors::add_error_class::<$face>);
        $crate::export!("MPI_Add_error_code", $crate::calls::errors::add_error_code::<$face>);
        $crate::export!("MPI_Add_error_string", $crate::calls::errors::add_error_string::<$face>);
        $crate::export!("MPI_Aint_add", $crate::calls::environment::aint_add::<$face>);
        $crate::export!("MPI_Aint_diff", $crate::calls::environment::aint_diff::<$face>);
        $crate::export!("MPI_Allgather", $crate::calls::collectives::allgather::<$face, i32>);
        $crate::export!("MPI_Allgather_c", $crate::calls::collectives::allgather::<$face, i64>);
        $crate::export!("MPI_Allgather_init", $crate::calls::collectives::allgather_init::<$face, i32>);
        $crate::export!("MPI_Allgather_init_c", $crate::calls::collectives::allgather_init::<$face, i64>);
        $crate::export!("MPI_Allgatherv", $crate::calls::collectives::allgatherv::<$face, i32>);
        $crate::export!("MPI_Allgatherv_c", $crate::calls::collectives::allgatherv::<$face, i64>);
        $crate::export!("MPI_Allgatherv_init", $crate::calls::collectives::allgatherv_init::<$face, i32>);
        $crate::export!("MPI_Allgatherv_init_c", $crate::calls::collectives::allgatherv_init::<$face, i64>);
        $crate::export!("MPI_Alloc_mem", $crate::calls::environment::alloc_mem::<$face>);
        $crate::export!("MPI_Allreduce", $crate::calls::collectives::allreduce::<$face, i32>);
        $crate::export!("MPI_Allreduce_c", $crate::calls::collectives::allreduce::<$face, i64>);
        $crate::export!("MPI_Allreduce_init", $crate::calls::collectives::allreduce_init::<$face, i32>);
        $crate::export!("MPI_Allreduce_init_c", $crate::calls::collectives::allreduce_init::<$face, i64>);
        $crate::export!("MPI_Alltoall", $crate::calls::collectives::alltoall::<$face, i32>);
        $crate::export!("MPI_Alltoall_c", $crate::calls::collectives::alltoall::<$face, i64>);
        $crate::export!("MPI_Alltoall_init", $crate::calls::collectives::alltoall_init::<$face, i32>);
        $crate::export!("MPI_Alltoall_init_c", $crate::calls::collectives::alltoall_init::<$face, i64>);
        $crate::export!("MPI_Alltoallv", $crate::calls::collectives::alltoallv::<$face, i32>);
        $crate::export!("MPI_Alltoallv_c", $crate::calls::collectives::alltoallv::<$face, i64>);
        $crate::export!("MPI_Alltoallv_init", $crate::calls::collectives::alltoallv_init::<$face, i32>);
        $crate::export!("MPI_Alltoallv_init_c", $crate::calls::collectives::alltoallv_init::<$face, i64>);
        $crate::export!("MPI_Alltoallw", $crate::calls::collectives::alltoallw::<$face, i32>);
        $crate::export!("MPI_Alltoallw_c", $crate::calls::collectives::alltoallw::<$face, i64>);
        $crate::export!("MPI_Alltoallw_init", $crate::calls::collectives::alltoallw_init::<$face, i32>);
        $crate::export!("MPI_Alltoallw_init_c", $crate::calls::collectives::alltoallw_init::<$face, i64>);
        $crate::export!("MPI_Attr_delete", $crate::calls::attributes::comm_delete_attr::<$face>);
        $crate::export!("MPI_Attr_get", $crate::calls::attributes::comm_get_attr::<$face>);
        $crate::export!("MPI_Attr_put", $crate::calls::attributes::comm_set_attr::<$face>);
        $crate::export!("MPI_Barrier", $crate::calls::collectives::barrier::<$face>);
        $crate::export!("MPI_Barrier_init", $crate::calls::collectives::barrier_init::<$face>);
        $crate::export!("MPI_Bcast", $crate::calls::collectives::bcast::<$face, i32>);
        $crate::export!("MPI_Bcast_c", $crate::calls::collectives::bcast::<$face, i64>);
        $crate::export!("MPI_Bcast_init", $crate::calls::collectives::bcast_init::<$face, i32>);
        $crate::export!("MPI_Bcast_init_c", $crate::calls::collectives::bcast_init::<$face, i64>);
        $crate::export!("MPI_Bsend", $crate::calls::point_to_point::bsend::<$face, i32>);
        $crate::export!("MPI_Bsend_c", $crate::calls::point_to_point::bsend::<$face, i64>);
        $crate::export!("MPI_Bsend_init", $crate::calls::persistent::bsend_init::<$face, i32>);
        $crate::export!("MPI_Bsend_init_c", $crate::calls::persistent::bsend_init::<$face, i64>);
        $crate::export!("MPI_Buffer_attach", $crate::calls::buffers::buffer_attach::<$face, i32>);
        $crate::export!("MPI_Buffer_attach_c", $crate::calls::buffers::buffer_attach::<$face, i64>);
        $crate::export!("MPI_Buffer_detach", $crate::calls::buffers::buffer_detach::<$face, i32>);
        $crate::export!("MPI_Buffer_detach_c", $crate::calls::buffers::buffer_detach::<$face, i64>);
        $crate::export!("MPI_Buffer_flush", $crate::calls::buffers::buffer_flush::<$face>);
        $crate::export!("MPI_Buffer_iflush", $crate::calls::buffers::buffer_iflush::<$face>);
        $crate::export!("MPI_Cancel", $crate::calls::requests::cancel::<$face>);
        $crate::export!("MPI_Cart_coords", $crate::calls::topologies::cart_coords::<$face>);
        $crate::export!("MPI_Cart_create", $crate::calls::topologies::cart_create::<$face>);
        $crate::export!("MPI_Cart_get", $crate::calls::topologies::cart_get::<$face>);
        $crate::export!("MPI_Cart_map", $crate::calls::topologies::cart_map::<$face>);
        $crate::export!("MPI_Cart_rank", $crate::calls::topologies::cart_rank::<$face>);
        $crate::export!("MPI_Cart_shift", $crate::calls::topologies::cart_shift::<$face>);
        $crate::export!("MPI_Cart_sub", $crate::calls::topologies::cart_sub::<$face>);
        $crate::export!("MPI_Cartdim_get", $crate::calls::topologies::cartdim_get::<$face>);
        $crate::export!("MPI_Close_port", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Close_port") }>);
        $crate::export!("MPI_Comm_accept", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_accept") }>);
        $crate::export!("MPI_Comm_attach_buffer", $crate::calls::buffers::comm_attach_buffer::<$face, i32>);
        $crate::export!("MPI_Comm_attach_buffer_c", $crate::calls::buffers::comm_attach_buffer::<$face, i64>);
        $crate::export!("MPI_Comm_call_errhandler", $crate::calls::errors::comm_call_errhandler::<$face>);
        $crate::export!("MPI_Comm_compare", $crate::calls::communicators::comm_compare::<$face>);
        $crate::export!("MPI_Comm_connect", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_connect") }>);
        $crate::export!("MPI_Comm_create", $crate::calls::communicators::comm_create::<$face>);
        $crate::export!("MPI_Comm_create_errhandler", $crate::calls::errors::comm_create_errhandler::<$face>);
        $crate::export!("MPI_Comm_create_from_group", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_create_from_group") }>);
        $crate::export!("MPI_Comm_create_group", $crate::calls::communicators::comm_create_group::<$face>);
        $crate::export!("MPI_Comm_create_keyval", $crate::calls::attributes::comm_create_keyval::<$face>);
        $crate::export!("MPI_Comm_delete_attr", $crate::calls::attributes::comm_delete_attr::<$face>);
        $crate::export!("MPI_Comm_detach_buffer", $crate::calls::buffers::comm_detach_buffer::<$face, i32>);
        $crate::export!("MPI_Comm_detach_buffer_c", $crate::calls::buffers::comm_detach_buffer::<$face, i64>);
        $crate::export!("MPI_Comm_disconnect", $crate::calls::communicators::comm_disconnect::<$face>);
        $crate::export!("MPI_Comm_dup", $crate::calls::communicators::comm_dup::<$face>);
        $crate::export!("MPI_Comm_dup_with_info", $crate::calls::communicators::comm_dup_with_info::<$face>);
        $crate::export!("MPI_Comm_flush_buffer", $crate::calls::buffers::comm_flush_buffer::<$face>);
        $crate::export!("MPI_Comm_free", $crate::calls::communicators::comm_free::<$face>);
        $crate::export!("MPI_Comm_free_keyval", $crate::calls::attributes::comm_free_keyval::<$face>);
        $crate::export!("MPI_Comm_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Comm_get_attr", $crate::calls::attributes::comm_get_attr::<$face>);
        $crate::export!("MPI_Comm_get_errhandler", $crate::calls::errors::comm_get_errhandler::<$face>);
        $crate::export!("MPI_Comm_get_info", $crate::calls::communicators::comm_get_info::<$face>);
        $crate::export!("MPI_Comm_get_name", $crate::calls::communicators::comm_get_name::<$face>);
        $crate::export!("MPI_Comm_get_parent", $crate::calls::communicators::comm_get_parent::<$face>);
        $crate::export!("MPI_Comm_group", $crate::calls::communicators::comm_group::<$face>);
        $crate::export!("MPI_Comm_idup", $crate::calls::communicators::comm_idup::<$face>);
        $crate::export!("MPI_Comm_idup_with_info", $crate::calls::communicators::comm_idup_with_info::<$face>);
        $crate::export!("MPI_Comm_iflush_buffer", $crate::calls::buffers::comm_iflush_buffer::<$face>);
        $crate::export!("MPI_Comm_join", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_join") }>);
        $crate::export!("MPI_Comm_rank", $crate::calls::communicators::comm_rank::<$face>);
        $crate::export!("MPI_Comm_remote_group", $crate::calls::communicators::comm_remote_group::<$face>);
        $crate::export!("MPI_Comm_remote_size", $crate::calls::communicators::comm_remote_size::<$face>);
        $crate::export!("MPI_Comm_set_attr", $crate::calls::attributes::comm_set_attr::<$face>);
        $crate::export!("MPI_Comm_set_errhandler", $crate::calls::errors::comm_set_errhandler::<$face>);
        $crate::export!("MPI_Comm_set_info", $crate::calls::communicators::comm_set_info::<$face>);
        $crate::export!("MPI_Comm_set_name", $crate::calls::communicators::comm_set_name::<$face>);
        $crate::export!("MPI_Comm_size", $crate::calls::communicators::comm_size::<$face>);
        $crate::export!("MPI_Comm_spawn", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_spawn") }>);
        $crate::export!("MPI_Comm_spawn_multiple", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Comm_spawn_multiple") }>);
        $crate::export!("MPI_Comm_split", $crate::calls::communicators::comm_split::<$face>);
        $crate::export!("MPI_Comm_split_type", $crate::calls::communicators::comm_split_type::<$face>);
        $crate::export!("MPI_Comm_test_inter", $crate::calls::communicators::comm_test_inter::<$face>);
        $crate::export!("MPI_Comm_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Compare_and_swap", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Compare_and_swap") }>);
        $crate::export!("MPI_Dims_create", $crate::calls::topologies::dims_create::<$face>);
        $crate::export!("MPI_Dist_graph_create", $crate::calls::topologies::dist_graph_create::<$face>);
        $crate::export!("MPI_Dist_graph_create_adjacent", $crate::calls::topologies::dist_graph_create_adjacent::<$face>);
        $crate::export!("MPI_Dist_graph_neighbors", $crate::calls::topologies::dist_graph_neighbors::<$face>);
        $crate::export!("MPI_Dist_graph_neighbors_count", $crate::calls::topologies::dist_graph_neighbors_count::<$face>);
        $crate::export!("MPI_Errhandler_free", $crate::calls::errors::errhandler_free::<$face>);
        $crate::export!("MPI_Errhandler_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Errhandler_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Error_class", $crate::calls::errors::error_class::<$face>);
        $crate::export!("MPI_Error_string", $crate::calls::errors::error_string::<$face>);
        $crate::export!("MPI_Exscan", $crate::calls::collectives::exscan::<$face, i32>);
        $crate::export!("MPI_Exscan_c", $crate::calls::collectives::exscan::<$face, i64>);
        $crate::export!("MPI_Exscan_init", $crate::calls::collectives::exscan_init::<$face, i32>);
        $crate::export!("MPI_Exscan_init_c", $crate::calls::collectives::exscan_init::<$face, i64>);
        $crate::export!("MPI_Fetch_and_op", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Fetch_and_op") }>);
        $crate::export!("MPI_File_call_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_call_errhandler") }>);
        $crate::export!("MPI_File_close", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_close") }>);
        $crate::export!("MPI_File_create_errhandler", $crate::calls::errors::other_create_errhandler::<$face>);
        $crate::export!("MPI_File_delete", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_delete") }>);
        $crate::export!("MPI_File_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_File_get_amode", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_amode") }>);
        $crate::export!("MPI_File_get_atomicity", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_atomicity") }>);
        $crate::export!("MPI_File_get_byte_offset", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_byte_offset") }>);
        $crate::export!("MPI_File_get_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_errhandler") }>);
        $crate::export!("MPI_File_get_group", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_group") }>);
        $crate::export!("MPI_File_get_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_info") }>);
        $crate::export!("MPI_File_get_position", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_position") }>);
        $crate::export!("MPI_File_get_position_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_position_shared") }>);
        $crate::export!("MPI_File_get_size", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_size") }>);
        $crate::export!("MPI_File_get_type_extent", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_type_extent") }>);
        $crate::export!("MPI_File_get_type_extent_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_type_extent_c") }>);
        $crate::export!("MPI_File_get_view", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_get_view") }>);
        $crate::export!("MPI_File_iread", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread") }>);
        $crate::export!("MPI_File_iread_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_all") }>);
        $crate::export!("MPI_File_iread_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_all_c") }>);
        $crate::export!("MPI_File_iread_at", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_at") }>);
        $crate::export!("MPI_File_iread_at_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_at_all") }>);
        $crate::export!("MPI_File_iread_at_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_at_all_c") }>);
        $crate::export!("MPI_File_iread_at_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_at_c") }>);
        $crate::export!("MPI_File_iread_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_c") }>);
        $crate::export!("MPI_File_iread_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_shared") }>);
        $crate::export!("MPI_File_iread_shared_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iread_shared_c") }>);
        $crate::export!("MPI_File_iwrite", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite") }>);
        $crate::export!("MPI_File_iwrite_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_all") }>);
        $crate::export!("MPI_File_iwrite_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_all_c") }>);
        $crate::export!("MPI_File_iwrite_at", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_at") }>);
        $crate::export!("MPI_File_iwrite_at_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_at_all") }>);
        $crate::export!("MPI_File_iwrite_at_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_at_all_c") }>);
        $crate::export!("MPI_File_iwrite_at_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_at_c") }>);
        $crate::export!("MPI_File_iwrite_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_c") }>);
        $crate::export!("MPI_File_iwrite_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_shared") }>);
        $crate::export!("MPI_File_iwrite_shared_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_iwrite_shared_c") }>);
        $crate::export!("MPI_File_open", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_open") }>);
        $crate::export!("MPI_File_preallocate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_preallocate") }>);
        $crate::export!("MPI_File_read", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read") }>);
        $crate::export!("MPI_File_read_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_all") }>);
        $crate::export!("MPI_File_read_all_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_all_begin") }>);
        $crate::export!("MPI_File_read_all_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_all_begin_c") }>);
        $crate::export!("MPI_File_read_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_all_c") }>);
        $crate::export!("MPI_File_read_all_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_all_end") }>);
        $crate::export!("MPI_File_read_at", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at") }>);
        $crate::export!("MPI_File_read_at_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_all") }>);
        $crate::export!("MPI_File_read_at_all_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_all_begin") }>);
        $crate::export!("MPI_File_read_at_all_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_all_begin_c") }>);
        $crate::export!("MPI_File_read_at_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_all_c") }>);
        $crate::export!("MPI_File_read_at_all_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_all_end") }>);
        $crate::export!("MPI_File_read_at_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_at_c") }>);
        $crate::export!("MPI_File_read_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_c") }>);
        $crate::export!("MPI_File_read_ordered", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_ordered") }>);
        $crate::export!("MPI_File_read_ordered_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_ordered_begin") }>);
        $crate::export!("MPI_File_read_ordered_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_ordered_begin_c") }>);
        $crate::export!("MPI_File_read_ordered_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_ordered_c") }>);
        $crate::export!("MPI_File_read_ordered_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_ordered_end") }>);
        $crate::export!("MPI_File_read_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_shared") }>);
        $crate::export!("MPI_File_read_shared_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_read_shared_c") }>);
        $crate::export!("MPI_File_seek", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_seek") }>);
        $crate::export!("MPI_File_seek_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_seek_shared") }>);
        $crate::export!("MPI_File_set_atomicity", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_set_atomicity") }>);
        $crate::export!("MPI_File_set_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_set_errhandler") }>);
        $crate::export!("MPI_File_set_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_set_info") }>);
        $crate::export!("MPI_File_set_size", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_set_size") }>);
        $crate::export!("MPI_File_set_view", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_set_view") }>);
        $crate::export!("MPI_File_sync", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_sync") }>);
        $crate::export!("MPI_File_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_File_write", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write") }>);
        $crate::export!("MPI_File_write_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_all") }>);
        $crate::export!("MPI_File_write_all_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_all_begin") }>);
        $crate::export!("MPI_File_write_all_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_all_begin_c") }>);
        $crate::export!("MPI_File_write_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_all_c") }>);
        $crate::export!("MPI_File_write_all_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_all_end") }>);
        $crate::export!("MPI_File_write_at", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at") }>);
        $crate::export!("MPI_File_write_at_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_all") }>);
        $crate::export!("MPI_File_write_at_all_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_all_begin") }>);
        $crate::export!("MPI_File_write_at_all_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_all_begin_c") }>);
        $crate::export!("MPI_File_write_at_all_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_all_c") }>);
        $crate::export!("MPI_File_write_at_all_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_all_end") }>);
        $crate::export!("MPI_File_write_at_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_at_c") }>);
        $crate::export!("MPI_File_write_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_c") }>);
        $crate::export!("MPI_File_write_ordered", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_ordered") }>);
        $crate::export!("MPI_File_write_ordered_begin", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_ordered_begin") }>);
        $crate::export!("MPI_File_write_ordered_begin_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_ordered_begin_c") }>);
        $crate::export!("MPI_File_write_ordered_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_ordered_c") }>);
        $crate::export!("MPI_File_write_ordered_end", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_ordered_end") }>);
        $crate::export!("MPI_File_write_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_shared") }>);
        $crate::export!("MPI_File_write_shared_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_File_write_shared_c") }>);
        $crate::export!("MPI_Finalize", $crate::calls::environment::finalize::<$face>);
        $crate::export!("MPI_Finalized", $crate::calls::environment::finalized::<$face>);
        $crate::export!("MPI_Free_mem", $crate::calls::environment::free_mem::<$face>);
        $crate::export!("MPI_Gather", $crate::calls::collectives::gather::<$face, i32>);
        $crate::export!("MPI_Gather_c", $crate::calls::collectives::gather::<$face, i64>);
        $crate::export!("MPI_Gather_init", $crate::calls::collectives::gather_init::<$face, i32>);
        $crate::export!("MPI_Gather_init_c", $crate::calls::collectives::gather_init::<$face, i64>);
        $crate::export!("MPI_Gatherv", $crate::calls::collectives::gatherv::<$face, i32>);
        $crate::export!("MPI_Gatherv_c", $crate::calls::collectives::gatherv::<$face, i64>);
        $crate::export!("MPI_Gatherv_init", $crate::calls::collectives::gatherv_init::<$face, i32>);
        $crate::export!("MPI_Gatherv_init_c", $crate::calls::collectives::gatherv_init::<$face, i64>);
        $crate::export!("MPI_Get", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Get") }>);
        $crate::export!("MPI_Get_accumulate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Get_accumulate") }>);
        $crate::export!("MPI_Get_accumulate_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Get_accumulate_c") }>);
        $crate::export!("MPI_Get_address", $crate::calls::environment::get_address::<$face>);
        $crate::export!("MPI_Get_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Get_c") }>);
        $crate::export!("MPI_Get_count", $crate::calls::statuses::get_count::<$face, i32>);
        $crate::export!("MPI_Get_count_c", $crate::calls::statuses::get_count::<$face, i64>);
        $crate::export!("MPI_Get_elements", $crate::calls::statuses::get_elements::<$face, i32>);
        $crate::export!("MPI_Get_elements_c", $crate::calls::statuses::get_elements::<$face, i64>);
        $crate::export!("MPI_Get_elements_x", $crate::calls::statuses::get_elements::<$face, i64>);
        $crate::export!("MPI_Get_hw_resource_info", $crate::calls::environment::get_hw_resource_info::<$face>);
        $crate::export!("MPI_Get_library_version", $crate::calls::environment::get_library_version::<$face>);
        $crate::export!("MPI_Get_processor_name", $crate::calls::environment::get_processor_name::<$face>);
        $crate::export!("MPI_Get_version", $crate::calls::environment::get_version::<$face>);
        $crate::export!("MPI_Graph_create", $crate::calls::topologies::graph_create::<$face>);
        $crate::export!("MPI_Graph_get", $crate::calls::topologies::graph_get::<$face>);
        $crate::export!("MPI_Graph_map", $crate::calls::topologies::graph_map::<$face>);
        $crate::export!("MPI_Graph_neighbors", $crate::calls::topologies::graph_neighbors::<$face>);
        $crate::export!("MPI_Graph_neighbors_count", $crate::calls::topologies::graph_neighbors_count::<$face>);
        $crate::export!("MPI_Graphdims_get", $crate::calls::topologies::graphdims_get::<$face>);
        $crate::export!("MPI_Grequest_complete", $crate::calls::requests::grequest_complete::<$face>);
        $crate::export!("MPI_Grequest_start", $crate::calls::requests::grequest_start::<$face>);
        $crate::export!("MPI_Group_compare", $crate::calls::groups::group_compare::<$face>);
        $crate::export!("MPI_Group_difference", $crate::calls::groups::group_difference::<$face>);
        $crate::export!("MPI_Group_excl", $crate::calls::groups::group_excl::<$face>);
        $crate::export!("MPI_Group_free", $crate::calls::groups::group_free::<$face>);
        $crate::export!("MPI_Group_from_session_pset", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Group_from_session_pset") }>);
        $crate::export!("MPI_Group_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Group_incl", $crate::calls::groups::group_incl::<$face>);
        $crate::export!("MPI_Group_intersection", $crate::calls::groups::group_intersection::<$face>);
        $crate::export!("MPI_Group_range_excl", $crate::calls::groups::group_range_excl::<$face>);
        $crate::export!("MPI_Group_range_incl", $crate::calls::groups::group_range_incl::<$face>);
        $crate::export!("MPI_Group_rank", $crate::calls::groups::group_rank::<$face>);
        $crate::export!("MPI_Group_size", $crate::calls::groups::group_size::<$face>);
        $crate::export!("MPI_Group_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Group_translate_ranks", $crate::calls::groups::group_translate_ranks::<$face>);
        $crate::export!("MPI_Group_union", $crate::calls::groups::group_union::<$face>);
        $crate::export!("MPI_Iallgather", $crate::calls::collectives::iallgather::<$face, i32>);
        $crate::export!("MPI_Iallgather_c", $crate::calls::collectives::iallgather::<$face, i64>);
        $crate::export!("MPI_Iallgatherv", $crate::calls::collectives::iallgatherv::<$face, i32>);
        $crate::export!("MPI_Iallgatherv_c", $crate::calls::collectives::iallgatherv::<$face, i64>);
        $crate::export!("MPI_Iallreduce", $crate::calls::collectives::iallreduce::<$face, i32>);
        $crate::export!("MPI_Iallreduce_c", $crate::calls::collectives::iallreduce::<$face, i64>);
        $crate::export!("MPI_Ialltoall", $crate::calls::collectives::ialltoall::<$face, i32>);
        $crate::export!("MPI_Ialltoall_c", $crate::calls::collectives::ialltoall::<$face, i64>);
        $crate::export!("MPI_Ialltoallv", $crate::calls::collectives::ialltoallv::<$face, i32>);
        $crate::export!("MPI_Ialltoallv_c", $crate::calls::collectives::ialltoallv::<$face, i64>);
        $crate::export!("MPI_Ialltoallw", $crate::calls::collectives::ialltoallw::<$face, i32>);
        $crate::export!("MPI_Ialltoallw_c", $crate::calls::collectives::ialltoallw::<$face, i64>);
        $crate::export!("MPI_Ibarrier", $crate::calls::collectives::ibarrier::<$face>);
        $crate::export!("MPI_Ibcast", $crate::calls::collectives::ibcast::<$face, i32>);
        $crate::export!("MPI_Ibcast_c", $crate::calls::collectives::ibcast::<$face, i64>);
        $crate::export!("MPI_Ibsend", $crate::calls::point_to_point::ibsend::<$face, i32>);
        $crate::export!("MPI_Ibsend_c", $crate::calls::point_to_point::ibsend::<$face, i64>);
        $crate::export!("MPI_Iexscan", $crate::calls::collectives::iexscan::<$face, i32>);
        $crate::export!("MPI_Iexscan_c", $crate::calls::collectives::iexscan::<$face, i64>);
        $crate::export!("MPI_Igather", $crate::calls::collectives::igather::<$face, i32>);
        $crate::export!("MPI_Igather_c", $crate::calls::collectives::igather::<$face, i64>);
        $crate::export!("MPI_Igatherv", $crate::calls::collectives::igatherv::<$face, i32>);
        $crate::export!("MPI_Igatherv_c", $crate::calls::collectives::igatherv::<$face, i64>);
        $crate::export!("MPI_Improbe", $crate::calls::probes::improbe::<$face>);
        $crate::export!("MPI_Imrecv", $crate::calls::probes::imrecv::<$face, i32>);
        $crate::export!("MPI_Imrecv_c", $crate::calls::probes::imrecv::<$face, i64>);
        $crate::export!("MPI_Ineighbor_allgather", $crate::calls::collectives::ineighbor_allgather::<$face, i32>);
        $crate::export!("MPI_Ineighbor_allgather_c", $crate::calls::collectives::ineighbor_allgather::<$face, i64>);
        $crate::export!("MPI_Ineighbor_allgatherv", $crate::calls::collectives::ineighbor_allgatherv::<$face, i32>);
        $crate::export!("MPI_Ineighbor_allgatherv_c", $crate::calls::collectives::ineighbor_allgatherv::<$face, i64>);
        $crate::export!("MPI_Ineighbor_alltoall", $crate::calls::collectives::ineighbor_alltoall::<$face, i32>);
        $crate::export!("MPI_Ineighbor_alltoall_c", $crate::calls::collectives::ineighbor_alltoall::<$face, i64>);
        $crate::export!("MPI_Ineighbor_alltoallv", $crate::calls::collectives::ineighbor_alltoallv::<$face, i32>);
        $crate::export!("MPI_Ineighbor_alltoallv_c", $crate::calls::collectives::ineighbor_alltoallv::<$face, i64>);
        $crate::export!("MPI_Ineighbor_alltoallw", $crate::calls::collectives::ineighbor_alltoallw::<$face, i32>);
        $crate::export!("MPI_Ineighbor_alltoallw_c", $crate::calls::collectives::ineighbor_alltoallw::<$face, i64>);
        $crate::export!("MPI_Info_create", $crate::calls::infos::info_create::<$face>);
        $crate::export!("MPI_Info_create_env", $crate::calls::infos::info_create_env::<$face>);
        $crate::export!("MPI_Info_delete", $crate::calls::infos::info_delete::<$face>);
        $crate::export!("MPI_Info_dup", $crate::calls::infos::info_dup::<$face>);
        $crate::export!("MPI_Info_free", $crate::calls::infos::info_free::<$face>);
        $crate::export!("MPI_Info_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Info_get", $crate::calls::infos::info_get::<$face>);
        $crate::export!("MPI_Info_get_nkeys", $crate::calls::infos::info_get_nkeys::<$face>);
        $crate::export!("MPI_Info_get_nthkey", $crate::calls::infos::info_get_nthkey::<$face>);
        $crate::export!("MPI_Info_get_string", $crate::calls::infos::info_get_string::<$face>);
        $crate::export!("MPI_Info_get_valuelen", $crate::calls::infos::info_get_valuelen::<$face>);
        $crate::export!("MPI_Info_set", $crate::calls::infos::info_set::<$face>);
        $crate::export!("MPI_Info_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Init", $crate::calls::environment::init::<$face>);
        $crate::export!("MPI_Init_thread", $crate::calls::environment::init_thread::<$face>);
        $crate::export!("MPI_Initialized", $crate::calls::environment::initialized::<$face>);
        $crate::export!("MPI_Intercomm_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Intercomm_create") }>);
        $crate::export!("MPI_Intercomm_create_from_groups", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Intercomm_create_from_groups") }>);
        $crate::export!("MPI_Intercomm_merge", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Intercomm_merge") }>);
        $crate::export!("MPI_Iprobe", $crate::calls::probes::iprobe::<$face>);
        $crate::export!(hot "MPI_Irecv", $crate::calls::point_to_point::irecv::<$face, i32>);
        $crate::export!("MPI_Irecv_c", $crate::calls::point_to_point::irecv::<$face, i64>);
        $crate::export!("MPI_Ireduce", $crate::calls::collectives::ireduce::<$face, i32>);
        $crate::export!("MPI_Ireduce_c", $crate::calls::collectives::ireduce::<$face, i64>);
        $crate::export!("MPI_Ireduce_scatter", $crate::calls::collectives::ireduce_scatter::<$face, i32>);
        $crate::export!("MPI_Ireduce_scatter_block", $crate::calls::collectives::ireduce_scatter_block::<$face, i32>);
        $crate::export!("MPI_Ireduce_scatter_block_c", $crate::calls::collectives::ireduce_scatter_block::<$face, i64>);
        $crate::export!("MPI_Ireduce_scatter_c", $crate::calls::collectives::ireduce_scatter::<$face, i64>);
        $crate::export!(hot "MPI_Irsend", $crate::calls::point_to_point::irsend::<$face, i32>);
        $crate::export!("MPI_Irsend_c", $crate::calls::point_to_point::irsend::<$face, i64>);
        $crate::export!("MPI_Is_thread_main", $crate::calls::environment::is_thread_main::<$face>);
        $crate::export!("MPI_Iscan", $crate::calls::collectives::iscan::<$face, i32>);
        $crate::export!("MPI_Iscan_c", $crate::calls::collectives::iscan::<$face, i64>);
        $crate::export!("MPI_Iscatter", $crate::calls::collectives::iscatter::<$face, i32>);
        $crate::export!("MPI_Iscatter_c", $crate::calls::collectives::iscatter::<$face, i64>);
        $crate::export!("MPI_Iscatterv", $crate::calls::collectives::iscatterv::<$face, i32>);
        $crate::export!("MPI_Iscatterv_c", $crate::calls::collectives::iscatterv::<$face, i64>);
        $crate::export!(hot "MPI_Isend", $crate::calls::point_to_point::isend::<$face, i32>);
        $crate::export!("MPI_Isend_c", $crate::calls::point_to_point::isend::<$face, i64>);
        $crate::export!("MPI_Isendrecv", $crate::calls::point_to_point::isendrecv::<$face, i32>);
        $crate::export!("MPI_Isendrecv_c", $crate::calls::point_to_point::isendrecv::<$face, i64>);
        $crate::export!("MPI_Isendrecv_replace", $crate::calls::point_to_point::isendrecv_replace::<$face, i32>);
        $crate::export!("MPI_Isendrecv_replace_c", $crate::calls::point_to_point::isendrecv_replace::<$face, i64>);
        $crate::export!(hot "MPI_Issend", $crate::calls::point_to_point::issend::<$face, i32>);
        $crate::export!("MPI_Issend_c", $crate::calls::point_to_point::issend::<$face, i64>);
        $crate::export!("MPI_Keyval_create", $crate::calls::attributes::comm_create_keyval::<$face>);
        $crate::export!("MPI_Keyval_free", $crate::calls::attributes::comm_free_keyval::<$face>);
        $crate::export!("MPI_Lookup_name", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Lookup_name") }>);
        $crate::export!("MPI_Message_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Message_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Mprobe", $crate::calls::probes::mprobe::<$face>);
        $crate::export!("MPI_Mrecv", $crate::calls::probes::mrecv::<$face, i32>);
        $crate::export!("MPI_Mrecv_c", $crate::calls::probes::mrecv::<$face, i64>);
        $crate::export!("MPI_Neighbor_allgather", $crate::calls::collectives::neighbor_allgather::<$face, i32>);
        $crate::export!("MPI_Neighbor_allgather_c", $crate::calls::collectives::neighbor_allgather::<$face, i64>);
        $crate::export!("MPI_Neighbor_allgather_init", $crate::calls::collectives::neighbor_allgather_init::<$face, i32>);
        $crate::export!("MPI_Neighbor_allgather_init_c", $crate::calls::collectives::neighbor_allgather_init::<$face, i64>);
        $crate::export!("MPI_Neighbor_allgatherv", $crate::calls::collectives::neighbor_allgatherv::<$face, i32>);
        $crate::export!("MPI_Neighbor_allgatherv_c", $crate::calls::collectives::neighbor_allgatherv::<$face, i64>);
        $crate::export!("MPI_Neighbor_allgatherv_init", $crate::calls::collectives::neighbor_allgatherv_init::<$face, i32>);
        $crate::export!("MPI_Neighbor_allgatherv_init_c", $crate::calls::collectives::neighbor_allgatherv_init::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoall", $crate::calls::collectives::neighbor_alltoall::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoall_c", $crate::calls::collectives::neighbor_alltoall::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoall_init", $crate::calls::collectives::neighbor_alltoall_init::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoall_init_c", $crate::calls::collectives::neighbor_alltoall_init::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoallv", $crate::calls::collectives::neighbor_alltoallv::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoallv_c", $crate::calls::collectives::neighbor_alltoallv::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoallv_init", $crate::calls::collectives::neighbor_alltoallv_init::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoallv_init_c", $crate::calls::collectives::neighbor_alltoallv_init::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoallw", $crate::calls::collectives::neighbor_alltoallw::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoallw_c", $crate::calls::collectives::neighbor_alltoallw::<$face, i64>);
        $crate::export!("MPI_Neighbor_alltoallw_init", $crate::calls::collectives::neighbor_alltoallw_init::<$face, i32>);
        $crate::export!("MPI_Neighbor_alltoallw_init_c", $crate::calls::collectives::neighbor_alltoallw_init::<$face, i64>);
        $crate::export!("MPI_Op_commutative", $crate::calls::operations::op_commutative::<$face>);
        $crate::export!("MPI_Op_create", $crate::calls::operations::op_create::<$face>);
        $crate::export!("MPI_Op_create_c", $crate::calls::operations::op_create_c::<$face>);
        $crate::export!("MPI_Op_free", $crate::calls::operations::op_free::<$face>);
        $crate::export!("MPI_Op_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Op_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Open_port", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Open_port") }>);
        $crate::export!("MPI_Pack", $crate::calls::packing::pack_data::<$face, i32>);
        $crate::export!("MPI_Pack_c", $crate::calls::packing::pack_data::<$face, i64>);
        $crate::export!("MPI_Pack_external", $crate::calls::packing::pack_external::<$face, i32>);
        $crate::export!("MPI_Pack_external_c", $crate::calls::packing::pack_external::<$face, i64>);
        $crate::export!("MPI_Pack_external_size", $crate::calls::packing::pack_external_size::<$face, i32>);
        $crate::export!("MPI_Pack_external_size_c", $crate::calls::packing::pack_external_size::<$face, i64>);
        $crate::export!("MPI_Pack_size", $crate::calls::packing::pack_size::<$face, i32>);
        $crate::export!("MPI_Pack_size_c", $crate::calls::packing::pack_size::<$face, i64>);
        $crate::export!("MPI_Parrived", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Parrived") }>);
        $crate::export!("MPI_Pcontrol", $crate::calls::environment::pcontrol::<$face>);
        $crate::export!("MPI_Pready", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Pready") }>);
        $crate::export!("MPI_Pready_list", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Pready_list") }>);
        $crate::export!("MPI_Pready_range", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Pready_range") }>);
        $crate::export!("MPI_Precv_init", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Precv_init") }>);
        $crate::export!("MPI_Probe", $crate::calls::probes::probe_message::<$face>);
        $crate::export!("MPI_Psend_init", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Psend_init") }>);
        $crate::export!("MPI_Publish_name", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Publish_name") }>);
        $crate::export!("MPI_Put", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Put") }>);
        $crate::export!("MPI_Put_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Put_c") }>);
        $crate::export!("MPI_Query_thread", $crate::calls::environment::query_thread::<$face>);
        $crate::export!("MPI_Raccumulate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Raccumulate") }>);
        $crate::export!("MPI_Raccumulate_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Raccumulate_c") }>);
        $crate::export!(hot "MPI_Recv", $crate::calls::point_to_point::recv::<$face, i32>);
        $crate::export!("MPI_Recv_c", $crate::calls::point_to_point::recv::<$face, i64>);
        $crate::export!("MPI_Recv_init", $crate::calls::persistent::recv_init::<$face, i32>);
        $crate::export!("MPI_Recv_init_c", $crate::calls::persistent::recv_init::<$face, i64>);
        $crate::export!("MPI_Reduce", $crate::calls::collectives::reduce::<$face, i32>);
        $crate::export!("MPI_Reduce_c", $crate::calls::collectives::reduce::<$face, i64>);
        $crate::export!("MPI_Reduce_init", $crate::calls::collectives::reduce_init::<$face, i32>);
        $crate::export!("MPI_Reduce_init_c", $crate::calls::collectives::reduce_init::<$face, i64>);
        $crate::export!("MPI_Reduce_local", $crate::calls::collectives::reduce_local::<$face, i32>);
        $crate::export!("MPI_Reduce_local_c", $crate::calls::collectives::reduce_local::<$face, i64>);
        $crate::export!("MPI_Reduce_scatter", $crate::calls::collectives::reduce_scatter::<$face, i32>);
        $crate::export!("MPI_Reduce_scatter_block", $crate::calls::collectives::reduce_scatter_block::<$face, i32>);
        $crate::export!("MPI_Reduce_scatter_block_c", $crate::calls::collectives::reduce_scatter_block::<$face, i64>);
        $crate::export!("MPI_Reduce_scatter_block_init", $crate::calls::collectives::reduce_scatter_block_init::<$face, i32>);
        $crate::export!("MPI_Reduce_scatter_block_init_c", $crate::calls::collectives::reduce_scatter_block_init::<$face, i64>);
        $crate::export!("MPI_Reduce_scatter_c", $crate::calls::collectives::reduce_scatter::<$face, i64>);
        $crate::export!("MPI_Reduce_scatter_init", $crate::calls::collectives::reduce_scatter_init::<$face, i32>);
        $crate::export!("MPI_Reduce_scatter_init_c", $crate::calls::collectives::reduce_scatter_init::<$face, i64>);
        $crate::export!("MPI_Register_datarep", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Register_datarep") }>);
        $crate::export!("MPI_Register_datarep_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Register_datarep_c") }>);
        $crate::export!("MPI_Remove_error_class", $crate::calls::errors::remove_error_class::<$face>);
        $crate::export!("MPI_Remove_error_code", $crate::calls::errors::remove_error_code::<$face>);
        $crate::export!("MPI_Remove_error_string", $crate::calls::errors::remove_error_string::<$face>);
        $crate::export!("MPI_Request_free", $crate::calls::requests::request_free::<$face>);
        $crate::export!("MPI_Request_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Request_get_status", $crate::calls::requests::request_get_status::<$face>);
        $crate::export!("MPI_Request_get_status_all", $crate::calls::requests::request_get_status_all::<$face>);
        $crate::export!("MPI_Request_get_status_any", $crate::calls::requests::request_get_status_any::<$face>);
        $crate::export!("MPI_Request_get_status_some", $crate::calls::requests::request_get_status_some::<$face>);
        $crate::export!("MPI_Request_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Rget", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rget") }>);
        $crate::export!("MPI_Rget_accumulate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rget_accumulate") }>);
        $crate::export!("MPI_Rget_accumulate_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rget_accumulate_c") }>);
        $crate::export!("MPI_Rget_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rget_c") }>);
        $crate::export!("MPI_Rput", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rput") }>);
        $crate::export!("MPI_Rput_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Rput_c") }>);
        $crate::export!(hot "MPI_Rsend", $crate::calls::point_to_point::rsend::<$face, i32>);
        $crate::export!("MPI_Rsend_c", $crate::calls::point_to_point::rsend::<$face, i64>);
        $crate::export!("MPI_Rsend_init", $crate::calls::persistent::rsend_init::<$face, i32>);
        $crate::export!("MPI_Rsend_init_c", $crate::calls::persistent::rsend_init::<$face, i64>);
        $crate::export!("MPI_Scan", $crate::calls::collectives::scan::<$face, i32>);
        $crate::export!("MPI_Scan_c", $crate::calls::collectives::scan::<$face, i64>);
        $crate::export!("MPI_Scan_init", $crate::calls::collectives::scan_init::<$face, i32>);
        $crate::export!("MPI_Scan_init_c", $crate::calls::collectives::scan_init::<$face, i64>);
        $crate::export!("MPI_Scatter", $crate::calls::collectives::scatter::<$face, i32>);
        $crate::export!("MPI_Scatter_c", $crate::calls::collectives::scatter::<$face, i64>);
        $crate::export!("MPI_Scatter_init", $crate::calls::collectives::scatter_init::<$face, i32>);
        $crate::export!("MPI_Scatter_init_c", $crate::calls::collectives::scatter_init::<$face, i64>);
        $crate::export!("MPI_Scatterv", $crate::calls::collectives::scatterv::<$face, i32>);
        $crate::export!("MPI_Scatterv_c", $crate::calls::collectives::scatterv::<$face, i64>);
        $crate::export!("MPI_Scatterv_init", $crate::calls::collectives::scatterv_init::<$face, i32>);
        $crate::export!("MPI_Scatterv_init_c", $crate::calls::collectives::scatterv_init::<$face, i64>);
        $crate::export!(hot "MPI_Send", $crate::calls::point_to_point::send::<$face, i32>);
        $crate::export!("MPI_Send_c", $crate::calls::point_to_point::send::<$face, i64>);
        $crate::export!("MPI_Send_init", $crate::calls::persistent::send_init::<$face, i32>);
        $crate::export!("MPI_Send_init_c", $crate::calls::persistent::send_init::<$face, i64>);
        $crate::export!(hot "MPI_Sendrecv", $crate::calls::point_to_point::sendrecv::<$face, i32>);
        $crate::export!("MPI_Sendrecv_c", $crate::calls::point_to_point::sendrecv::<$face, i64>);
        $crate::export!("MPI_Sendrecv_replace", $crate::calls::point_to_point::sendrecv_replace::<$face, i32>);
        $crate::export!("MPI_Sendrecv_replace_c", $crate::calls::point_to_point::sendrecv_replace::<$face, i64>);
        $crate::export!("MPI_Session_attach_buffer", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_attach_buffer") }>);
        $crate::export!("MPI_Session_attach_buffer_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_attach_buffer_c") }>);
        $crate::export!("MPI_Session_call_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_call_errhandler") }>);
        $crate::export!("MPI_Session_create_errhandler", $crate::calls::errors::other_create_errhandler::<$face>);
        $crate::export!("MPI_Session_detach_buffer", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_detach_buffer") }>);
        $crate::export!("MPI_Session_detach_buffer_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_detach_buffer_c") }>);
        $crate::export!("MPI_Session_finalize", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_finalize") }>);
        $crate::export!("MPI_Session_flush_buffer", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_flush_buffer") }>);
        $crate::export!("MPI_Session_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Session_get_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_get_errhandler") }>);
        $crate::export!("MPI_Session_get_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_get_info") }>);
        $crate::export!("MPI_Session_get_nth_pset", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_get_nth_pset") }>);
        $crate::export!("MPI_Session_get_num_psets", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_get_num_psets") }>);
        $crate::export!("MPI_Session_get_pset_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_get_pset_info") }>);
        $crate::export!("MPI_Session_iflush_buffer", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_iflush_buffer") }>);
        $crate::export!("MPI_Session_init", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_init") }>);
        $crate::export!("MPI_Session_set_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Session_set_errhandler") }>);
        $crate::export!("MPI_Session_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!(hot "MPI_Ssend", $crate::calls::point_to_point::ssend::<$face, i32>);
        $crate::export!("MPI_Ssend_c", $crate::calls::point_to_point::ssend::<$face, i64>);
        $crate::export!("MPI_Ssend_init", $crate::calls::persistent::ssend_init::<$face, i32>);
        $crate::export!("MPI_Ssend_init_c", $crate::calls::persistent::ssend_init::<$face, i64>);
        $crate::export!("MPI_Start", $crate::calls::persistent::start::<$face>);
        $crate::export!("MPI_Startall", $crate::calls::persistent::startall::<$face>);
        $crate::export!("MPI_Status_get_error", $crate::calls::statuses::status_get_error::<$face>);
        $crate::export!("MPI_Status_get_source", $crate::calls::statuses::status_get_source::<$face>);
        $crate::export!("MPI_Status_get_tag", $crate::calls::statuses::status_get_tag::<$face>);
        $crate::export!("MPI_Status_set_cancelled", $crate::calls::statuses::status_set_cancelled::<$face>);
        $crate::export!("MPI_Status_set_elements", $crate::calls::statuses::status_set_elements::<$face, i32>);
        $crate::export!("MPI_Status_set_elements_c", $crate::calls::statuses::status_set_elements::<$face, i64>);
        $crate::export!("MPI_Status_set_elements_x", $crate::calls::statuses::status_set_elements::<$face, i64>);
        $crate::export!("MPI_Status_set_error", $crate::calls::statuses::status_set_error::<$face>);
        $crate::export!("MPI_Status_set_source", $crate::calls::statuses::status_set_source::<$face>);
        $crate::export!("MPI_Status_set_tag", $crate::calls::statuses::status_set_tag::<$face>);
        $crate::export!("MPI_T_category_changed", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_category_get_categories", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_category_get_cvars", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_category_get_events", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_category_get_index", $crate::calls::tools::t_no_name::<$face>);
        $crate::export!("MPI_T_category_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_category_get_num", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_category_get_num_events", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_category_get_pvars", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_cvar_get_index", $crate::calls::tools::t_no_name::<$face>);
        $crate::export!("MPI_T_cvar_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_cvar_get_num", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_cvar_handle_alloc", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_cvar_handle_free", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_cvar_read", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_cvar_write", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_enum_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_enum_get_item", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_event_callback_get_info", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_callback_set_info", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_copy", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_get_index", $crate::calls::tools::t_no_name::<$face>);
        $crate::export!("MPI_T_event_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_event_get_num", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_event_get_source", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_get_timestamp", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_handle_alloc", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_event_handle_free", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_handle_get_info", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_handle_set_info", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_read", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_register_callback", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_event_set_dropped_handler", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_finalize", $crate::calls::tools::t_finalize::<$face>);
        $crate::export!("MPI_T_init_thread", $crate::calls::tools::t_init_thread::<$face>);
        $crate::export!("MPI_T_pvar_get_index", $crate::calls::tools::t_no_name::<$face>);
        $crate::export!("MPI_T_pvar_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_pvar_get_num", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_pvar_handle_alloc", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_pvar_handle_free", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_read", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_readreset", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_reset", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_session_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_T_pvar_session_create") }>);
        $crate::export!("MPI_T_pvar_session_free", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_start", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_stop", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_pvar_write", $crate::calls::tools::t_no_handle::<$face>);
        $crate::export!("MPI_T_source_get_info", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_T_source_get_num", $crate::calls::tools::t_none::<$face>);
        $crate::export!("MPI_T_source_get_timestamp", $crate::calls::tools::t_no_index::<$face>);
        $crate::export!("MPI_Test", $crate::calls::requests::test::<$face>);
        $crate::export!("MPI_Test_cancelled", $crate::calls::statuses::test_cancelled::<$face>);
        $crate::export!("MPI_Testall", $crate::calls::requests::testall::<$face>);
        $crate::export!("MPI_Testany", $crate::calls::requests::testany::<$face>);
        $crate::export!("MPI_Testsome", $crate::calls::requests::testsome::<$face>);
        $crate::export!("MPI_Topo_test", $crate::calls::topologies::topo_test::<$face>);
        $crate::export!("MPI_Type_commit", $crate::calls::datatypes::type_commit::<$face>);
        $crate::export!("MPI_Type_contiguous", $crate::calls::datatypes::type_contiguous::<$face, i32>);
        $crate::export!("MPI_Type_contiguous_c", $crate::calls::datatypes::type_contiguous::<$face, i64>);
        $crate::export!("MPI_Type_create_darray", $crate::calls::datatypes::type_create_darray::<$face, i32>);
        $crate::export!("MPI_Type_create_darray_c", $crate::calls::datatypes::type_create_darray::<$face, i64>);
        $crate::export!("MPI_Type_create_f90_complex", $crate::calls::datatypes::type_create_f90_complex::<$face>);
        $crate::export!("MPI_Type_create_f90_integer", $crate::calls::datatypes::type_create_f90_integer::<$face>);
        $crate::export!("MPI_Type_create_f90_real", $crate::calls::datatypes::type_create_f90_real::<$face>);
        $crate::export!("MPI_Type_create_hindexed", $crate::calls::datatypes::type_create_hindexed::<$face, i32>);
        $crate::export!("MPI_Type_create_hindexed_block", $crate::calls::datatypes::type_create_hindexed_block::<$face, i32>);
        $crate::export!("MPI_Type_create_hindexed_block_c", $crate::calls::datatypes::type_create_hindexed_block::<$face, i64>);
        $crate::export!("MPI_Type_create_hindexed_c", $crate::calls::datatypes::type_create_hindexed::<$face, i64>);
        $crate::export!("MPI_Type_create_hvector", $crate::calls::datatypes::type_create_hvector::<$face, i32>);
        $crate::export!("MPI_Type_create_hvector_c", $crate::calls::datatypes::type_create_hvector::<$face, i64>);
        $crate::export!("MPI_Type_create_indexed_block", $crate::calls::datatypes::type_create_indexed_block::<$face, i32>);
        $crate::export!("MPI_Type_create_indexed_block_c", $crate::calls::datatypes::type_create_indexed_block::<$face, i64>);
        $crate::export!("MPI_Type_create_keyval", $crate::calls::attributes::type_create_keyval::<$face>);
        $crate::export!("MPI_Type_create_resized", $crate::calls::datatypes::type_create_resized::<$face>);
        $crate::export!("MPI_Type_create_resized_c", $crate::calls::datatypes::type_create_resized_c::<$face>);
        $crate::export!("MPI_Type_create_struct", $crate::calls::datatypes::type_create_struct::<$face, i32>);
        $crate::export!("MPI_Type_create_struct_c", $crate::calls::datatypes::type_create_struct::<$face, i64>);
        $crate::export!("MPI_Type_create_subarray", $crate::calls::datatypes::type_create_subarray::<$face, i32>);
        $crate::export!("MPI_Type_create_subarray_c", $crate::calls::datatypes::type_create_subarray::<$face, i64>);
        $crate::export!("MPI_Type_delete_attr", $crate::calls::attributes::type_delete_attr::<$face>);
        $crate::export!("MPI_Type_dup", $crate::calls::datatypes::type_dup::<$face>);
        $crate::export!("MPI_Type_free", $crate::calls::datatypes::type_free::<$face>);
        $crate::export!("MPI_Type_free_keyval", $crate::calls::attributes::type_free_keyval::<$face>);
        $crate::export!("MPI_Type_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Type_get_attr", $crate::calls::attributes::type_get_attr::<$face>);
        $crate::export!("MPI_Type_get_contents", $crate::calls::datatypes::type_get_contents::<$face>);
        $crate::export!("MPI_Type_get_contents_c", $crate::calls::datatypes::type_get_contents_c::<$face>);
        $crate::export!("MPI_Type_get_envelope", $crate::calls::datatypes::type_get_envelope::<$face>);
        $crate::export!("MPI_Type_get_envelope_c", $crate::calls::datatypes::type_get_envelope_c::<$face>);
        $crate::export!("MPI_Type_get_extent", $crate::calls::datatypes::type_get_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_extent_c", $crate::calls::datatypes::type_get_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_extent_x", $crate::calls::datatypes::type_get_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_name", $crate::calls::datatypes::type_get_name::<$face>);
        $crate::export!("MPI_Type_get_true_extent", $crate::calls::datatypes::type_get_true_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_true_extent_c", $crate::calls::datatypes::type_get_true_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_true_extent_x", $crate::calls::datatypes::type_get_true_extent::<$face, i64>);
        $crate::export!("MPI_Type_get_value_index", $crate::calls::datatypes::type_get_value_index::<$face>);
        $crate::export!("MPI_Type_indexed", $crate::calls::datatypes::type_indexed::<$face, i32>);
        $crate::export!("MPI_Type_indexed_c", $crate::calls::datatypes::type_indexed::<$face, i64>);
        $crate::export!("MPI_Type_match_size", $crate::calls::datatypes::type_match_size::<$face>);
        $crate::export!("MPI_Type_set_attr", $crate::calls::attributes::type_set_attr::<$face>);
        $crate::export!("MPI_Type_set_name", $crate::calls::datatypes::type_set_name::<$face>);
        $crate::export!("MPI_Type_size", $crate::calls::datatypes::type_size::<$face, i32>);
        $crate::export!("MPI_Type_size_c", $crate::calls::datatypes::type_size::<$face, i64>);
        $crate::export!("MPI_Type_size_x", $crate::calls::datatypes::type_size::<$face, i64>);
        $crate::export!("MPI_Type_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Type_vector", $crate::calls::datatypes::type_vector::<$face, i32>);
        $crate::export!("MPI_Type_vector_c", $crate::calls::datatypes::type_vector::<$face, i64>);
        $crate::export!("MPI_Unpack", $crate::calls::packing::unpack_data::<$face, i32>);
        $crate::export!("MPI_Unpack_c", $crate::calls::packing::unpack_data::<$face, i64>);
        $crate::export!("MPI_Unpack_external", $crate::calls::packing::unpack_external::<$face, i32>);
        $crate::export!("MPI_Unpack_external_c", $crate::calls::packing::unpack_external::<$face, i64>);
        $crate::export!("MPI_Unpublish_name", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Unpublish_name") }>);
        $crate::export!(hot "MPI_Wait", $crate::calls::requests::wait::<$face>);
        $crate::export!(hot "MPI_Waitall", $crate::calls::requests::waitall::<$face>);
        $crate::export!("MPI_Waitany", $crate::calls::requests::waitany::<$face>);
        $crate::export!("MPI_Waitsome", $crate::calls::requests::waitsome::<$face>);
        $crate::export!("MPI_Win_allocate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_allocate") }>);
        $crate::export!("MPI_Win_allocate_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_allocate_c") }>);
        $crate::export!("MPI_Win_allocate_shared", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_allocate_shared") }>);
        $crate::export!("MPI_Win_allocate_shared_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_allocate_shared_c") }>);
        $crate::export!("MPI_Win_attach", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_attach") }>);
        $crate::export!("MPI_Win_call_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_call_errhandler") }>);
        $crate::export!("MPI_Win_complete", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_complete") }>);
        $crate::export!("MPI_Win_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_create") }>);
        $crate::export!("MPI_Win_create_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_create_c") }>);
        $crate::export!("MPI_Win_create_dynamic", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_create_dynamic") }>);
        $crate::export!("MPI_Win_create_errhandler", $crate::calls::errors::other_create_errhandler::<$face>);
        $crate::export!("MPI_Win_create_keyval", $crate::calls::attributes::win_create_keyval::<$face>);
        $crate::export!("MPI_Win_delete_attr", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_delete_attr") }>);
        $crate::export!("MPI_Win_detach", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_detach") }>);
        $crate::export!("MPI_Win_fence", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_fence") }>);
        $crate::export!("MPI_Win_flush", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_flush") }>);
        $crate::export!("MPI_Win_flush_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_flush_all") }>);
        $crate::export!("MPI_Win_flush_local", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_flush_local") }>);
        $crate::export!("MPI_Win_flush_local_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_flush_local_all") }>);
        $crate::export!("MPI_Win_free", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_free") }>);
        $crate::export!("MPI_Win_free_keyval", $crate::calls::attributes::win_free_keyval::<$face>);
        $crate::export!("MPI_Win_fromint", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Win_get_attr", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_get_attr") }>);
        $crate::export!("MPI_Win_get_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_get_errhandler") }>);
        $crate::export!("MPI_Win_get_group", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_get_group") }>);
        $crate::export!("MPI_Win_get_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_get_info") }>);
        $crate::export!("MPI_Win_get_name", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_get_name") }>);
        $crate::export!("MPI_Win_lock", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_lock") }>);
        $crate::export!("MPI_Win_lock_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_lock_all") }>);
        $crate::export!("MPI_Win_post", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_post") }>);
        $crate::export!("MPI_Win_set_attr", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_set_attr") }>);
        $crate::export!("MPI_Win_set_errhandler", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_set_errhandler") }>);
        $crate::export!("MPI_Win_set_info", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_set_info") }>);
        $crate::export!("MPI_Win_set_name", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_set_name") }>);
        $crate::export!("MPI_Win_shared_query", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_shared_query") }>);
        $crate::export!("MPI_Win_shared_query_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_shared_query_c") }>);
        $crate::export!("MPI_Win_start", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_start") }>);
        $crate::export!("MPI_Win_sync", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_sync") }>);
        $crate::export!("MPI_Win_test", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_test") }>);
        $crate::export!("MPI_Win_toint", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Win_unlock", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_unlock") }>);
        $crate::export!("MPI_Win_unlock_all", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_unlock_all") }>);
        $crate::export!("MPI_Win_wait", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPI_Win_wait") }>);
        $crate::export!("MPI_Wtick", $crate::calls::environment::wtick::<$face>);
        $crate::export!("MPI_Wtime", $crate::calls::environment::wtime::<$face>);
        $crate::export!("MPIX_Comm_create_errhandler_x", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_create_errhandler_x") }>);
        $crate::export!("MPIX_File_create_errhandler_x", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_File_create_errhandler_x") }>);
        $crate::export!("MPIX_Op_create_x", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Op_create_x") }>);
        $crate::export!("MPIX_Session_create_errhandler_x", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Session_create_errhandler_x") }>);
        $crate::export!("MPIX_Win_create_errhandler_x", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Win_create_errhandler_x") }>);
    };
}

/// The shared library of the standard ABI.
#[macro_export]
macro_rules! export_standard {
    () => {
        $crate::export_both!($crate::faces::Standard);
        $crate::export_standard_alone!($crate::faces::Standard);
    };
}

/// The functions that the standard ABI has alone.
#[doc(hidden)]
#[macro_export]
macro_rules! export_standard_alone {
    ($face:ty) => {};
}

/// The shared library of MPICH's ABI.
#[macro_export]
macro_rules! export_mpich {
    () => {
        $crate::export_both!($crate::faces::Mpich);
        $crate::export_mpich_alone!($crate::faces::Mpich);
        $crate::export_variables!();
    };
}

/// The functions that MPICH's ABI has alone.
#[doc(hidden)]
#[macro_export]
macro_rules! export_mpich_alone {
    ($face:ty) => {
        $crate::export!("MPIR_Dup_fn", $crate::calls::tools::dup_fn::<$face>);
        $crate::export!("MPIX_Allreduce_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Allreduce_enqueue") }>);
        $crate::export!("MPIX_Allreduce_enqueue_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Allreduce_enqueue_c") }>);
        $crate::export!("MPIX_Async_get_state", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Async_get_state") }>);
        $crate::export!("MPIX_Async_spawn", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Async_spawn") }>);
        $crate::export!("MPIX_Async_start", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Async_start") }>);
        $crate::export!("MPIX_Comm_agree", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_agree") }>);
        $crate::export!("MPIX_Comm_failure_ack", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_failure_ack") }>);
        $crate::export!("MPIX_Comm_failure_get_acked", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_failure_get_acked") }>);
        $crate::export!("MPIX_Comm_get_failed", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_get_failed") }>);
        $crate::export!("MPIX_Comm_get_stream", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_get_stream") }>);
        $crate::export!("MPIX_Comm_revoke", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_revoke") }>);
        $crate::export!("MPIX_Comm_shrink", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_shrink") }>);
        $crate::export!("MPIX_Comm_test_threadcomm", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Comm_test_threadcomm") }>);
        $crate::export!("MPIX_GPU_query_support", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_GPU_query_support") }>);
        $crate::export!("MPIX_Grequest_class_allocate", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Grequest_class_allocate") }>);
        $crate::export!("MPIX_Grequest_class_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Grequest_class_create") }>);
        $crate::export!("MPIX_Grequest_start", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Grequest_start") }>);
        $crate::export!("MPIX_Info_set_hex", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Info_set_hex") }>);
        $crate::export!("MPIX_Irecv_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Irecv_enqueue") }>);
        $crate::export!("MPIX_Irecv_enqueue_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Irecv_enqueue_c") }>);
        $crate::export!("MPIX_Isend_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Isend_enqueue") }>);
        $crate::export!("MPIX_Isend_enqueue_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Isend_enqueue_c") }>);
        $crate::export!("MPIX_Query_cuda_support", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Query_cuda_support") }>);
        $crate::export!("MPIX_Query_hip_support", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Query_hip_support") }>);
        $crate::export!("MPIX_Query_ze_support", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Query_ze_support") }>);
        $crate::export!("MPIX_Recv_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Recv_enqueue") }>);
        $crate::export!("MPIX_Recv_enqueue_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Recv_enqueue_c") }>);
        $crate::export!("MPIX_Request_is_complete", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Request_is_complete") }>);
        $crate::export!("MPIX_Send_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Send_enqueue") }>);
        $crate::export!("MPIX_Send_enqueue_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Send_enqueue_c") }>);
        $crate::export!("MPIX_Start_progress_thread", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Start_progress_thread") }>);
        $crate::export!("MPIX_Stop_progress_thread", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stop_progress_thread") }>);
        $crate::export!("MPIX_Stream_comm_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_comm_create") }>);
        $crate::export!("MPIX_Stream_comm_create_multiplex", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_comm_create_multiplex") }>);
        $crate::export!("MPIX_Stream_create", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_create") }>);
        $crate::export!("MPIX_Stream_free", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_free") }>);
        $crate::export!("MPIX_Stream_irecv", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_irecv") }>);
        $crate::export!("MPIX_Stream_irecv_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_irecv_c") }>);
        $crate::export!("MPIX_Stream_isend", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_isend") }>);
        $crate::export!("MPIX_Stream_isend_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_isend_c") }>);
        $crate::export!("MPIX_Stream_progress", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_progress") }>);
        $crate::export!("MPIX_Stream_recv", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_recv") }>);
        $crate::export!("MPIX_Stream_recv_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_recv_c") }>);
        $crate::export!("MPIX_Stream_send", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_send") }>);
        $crate::export!("MPIX_Stream_send_c", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Stream_send_c") }>);
        $crate::export!("MPIX_Threadcomm_finish", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Threadcomm_finish") }>);
        $crate::export!("MPIX_Threadcomm_free", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Threadcomm_free") }>);
        $crate::export!("MPIX_Threadcomm_init", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Threadcomm_init") }>);
        $crate::export!("MPIX_Threadcomm_start", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Threadcomm_start") }>);
        $crate::export!("MPIX_Type_iov", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Type_iov") }>);
        $crate::export!("MPIX_Type_iov_len", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Type_iov_len") }>);
        $crate::export!("MPIX_Wait_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Wait_enqueue") }>);
        $crate::export!("MPIX_Waitall_enqueue", $crate::calls::refusals::refused::<$face, { $crate::calls::refusals::refusal("MPIX_Waitall_enqueue") }>);
        $crate::export!("MPI_Address", $crate::calls::environment::get_address::<$face>);
        $crate::export!("MPI_Comm_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Comm_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Errhandler_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Errhandler_create", $crate::calls::errors::comm_create_errhandler::<$face>);
        $crate::export!("MPI_Errhandler_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Errhandler_get", $crate::calls::errors::comm_get_errhandler::<$face>);
        $crate::export!("MPI_Errhandler_set", $crate::calls::errors::comm_set_errhandler::<$face>);
        $crate::export!("MPI_File_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_File_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Group_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Group_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Info_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Info_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Message_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Message_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Op_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Op_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Request_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Request_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Session_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Session_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Status_c2f", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Status_c2f08", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Status_f082c", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Status_f082f", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Status_f2c", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Status_f2f08", $crate::calls::statuses::status_c2f::<$face>);
        $crate::export!("MPI_Type_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Type_extent", $crate::calls::datatypes::type_extent::<$face>);
        $crate::export!("MPI_Type_f2c", $crate::calls::environment::from_integer::<$face>);
        $crate::export!("MPI_Type_hindexed", $crate::calls::datatypes::type_create_hindexed::<$face, i32>);
        $crate::export!("MPI_Type_hvector", $crate::calls::datatypes::type_create_hvector::<$face, i32>);
        $crate::export!("MPI_Type_lb", $crate::calls::datatypes::type_lb::<$face>);
        $crate::export!("MPI_Type_struct", $crate::calls::datatypes::type_create_struct::<$face, i32>);
        $crate::export!("MPI_Type_ub", $crate::calls::datatypes::type_ub::<$face>);
        $crate::export!("MPI_Win_c2f", $crate::calls::environment::to_integer::<$face>);
        $crate::export!("MPI_Win_f2c", $crate::calls::environment::from_integer::<$face>);
    };
}
