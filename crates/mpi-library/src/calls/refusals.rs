//! Functions that are exported and not there: each says so by its name, and leaves the rest to an error handler.

use crate::{
    faces::Face,
    fault::{ErrorClass, fault},
    library::{Stage, enter},
};
use std::ffi::c_int;

/// What a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chapter {
    /// Windows.
    OneSided,
    /// Files.
    Files,
    /// Sessions.
    Sessions,
    /// Processes that are started, or found, by others.
    Processes,
    /// Communicators of two groups.
    TwoGroups,
    /// Messages in parts.
    Partitioned,
    /// Buffers of a communicator or a session.
    Buffers,
    /// Fortran.
    Fortran,
    /// What MPICH has beyond the standard.
    Extensions,
}

impl Chapter {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OneSided => "one-sided communication",
            Self::Files => "file input and output",
            Self::Sessions => "sessions",
            Self::Processes => "dynamic processes",
            Self::TwoGroups => "communicators of two groups",
            Self::Partitioned => "partitioned messages",
            Self::Buffers => "buffers of a communicator or a session",
            Self::Fortran => "Fortran",
            Self::Extensions => "extensions of MPICH",
        }
    }
}

/// A function that is refused.
#[derive(Debug)]
pub struct CallRefusal {
    /// Its name.
    pub name: &'static str,
    /// What it belongs to.
    pub chapter: Chapter,
    /// Which of its first six arguments, of integers and pointers, is a communicator.
    pub comm: Option<u8>,
}

/// Declares the table.
macro_rules! refusals {
    ($($chapter:ident { $($name:literal $($comm:literal)?),+ $(,)? })+) => {
        /// All functions that are refused.
        pub const REFUSALS: &[CallRefusal] = &[$($(
            CallRefusal { name: $name, chapter: Chapter::$chapter, comm: refusals!(@ $($comm)?) },
        )+)+];
    };
    (@) => { None };
    (@ $comm:literal) => { Some($comm) };
}

refusals! {
    OneSided {
        "MPI_Accumulate",
        "MPI_Accumulate_c",
        "MPI_Compare_and_swap",
        "MPI_Fetch_and_op",
        "MPI_Get",
        "MPI_Get_accumulate",
        "MPI_Get_accumulate_c",
        "MPI_Get_c",
        "MPI_Put",
        "MPI_Put_c",
        "MPI_Raccumulate",
        "MPI_Raccumulate_c",
        "MPI_Rget",
        "MPI_Rget_accumulate",
        "MPI_Rget_accumulate_c",
        "MPI_Rget_c",
        "MPI_Rput",
        "MPI_Rput_c",
        "MPI_Win_allocate" 3,
        "MPI_Win_allocate_c" 3,
        "MPI_Win_allocate_shared" 3,
        "MPI_Win_allocate_shared_c" 3,
        "MPI_Win_attach",
        "MPI_Win_call_errhandler",
        "MPI_Win_complete",
        "MPI_Win_create" 4,
        "MPI_Win_create_c" 4,
        "MPI_Win_create_dynamic" 1,
        "MPI_Win_delete_attr",
        "MPI_Win_detach",
        "MPI_Win_fence",
        "MPI_Win_flush",
        "MPI_Win_flush_all",
        "MPI_Win_flush_local",
        "MPI_Win_flush_local_all",
        "MPI_Win_free",
        "MPI_Win_get_attr",
        "MPI_Win_get_errhandler",
        "MPI_Win_get_group",
        "MPI_Win_get_info",
        "MPI_Win_get_name",
        "MPI_Win_lock",
        "MPI_Win_lock_all",
        "MPI_Win_post",
        "MPI_Win_set_attr",
        "MPI_Win_set_errhandler",
        "MPI_Win_set_info",
        "MPI_Win_set_name",
        "MPI_Win_shared_query",
        "MPI_Win_shared_query_c",
        "MPI_Win_start",
        "MPI_Win_sync",
        "MPI_Win_test",
        "MPI_Win_unlock",
        "MPI_Win_unlock_all",
        "MPI_Win_wait",
    }
    Files {
        "MPI_File_call_errhandler",
        "MPI_File_close",
        "MPI_File_delete",
        "MPI_File_get_amode",
        "MPI_File_get_atomicity",
        "MPI_File_get_byte_offset",
        "MPI_File_get_errhandler",
        "MPI_File_get_group",
        "MPI_File_get_info",
        "MPI_File_get_position",
        "MPI_File_get_position_shared",
        "MPI_File_get_size",
        "MPI_File_get_type_extent",
        "MPI_File_get_type_extent_c",
        "MPI_File_get_view",
        "MPI_File_iread",
        "MPI_File_iread_all",
        "MPI_File_iread_all_c",
        "MPI_File_iread_at",
        "MPI_File_iread_at_all",
        "MPI_File_iread_at_all_c",
        "MPI_File_iread_at_c",
        "MPI_File_iread_c",
        "MPI_File_iread_shared",
        "MPI_File_iread_shared_c",
        "MPI_File_iwrite",
        "MPI_File_iwrite_all",
        "MPI_File_iwrite_all_c",
        "MPI_File_iwrite_at",
        "MPI_File_iwrite_at_all",
        "MPI_File_iwrite_at_all_c",
        "MPI_File_iwrite_at_c",
        "MPI_File_iwrite_c",
        "MPI_File_iwrite_shared",
        "MPI_File_iwrite_shared_c",
        "MPI_File_open" 0,
        "MPI_File_preallocate",
        "MPI_File_read",
        "MPI_File_read_all",
        "MPI_File_read_all_begin",
        "MPI_File_read_all_begin_c",
        "MPI_File_read_all_c",
        "MPI_File_read_all_end",
        "MPI_File_read_at",
        "MPI_File_read_at_all",
        "MPI_File_read_at_all_begin",
        "MPI_File_read_at_all_begin_c",
        "MPI_File_read_at_all_c",
        "MPI_File_read_at_all_end",
        "MPI_File_read_at_c",
        "MPI_File_read_c",
        "MPI_File_read_ordered",
        "MPI_File_read_ordered_begin",
        "MPI_File_read_ordered_begin_c",
        "MPI_File_read_ordered_c",
        "MPI_File_read_ordered_end",
        "MPI_File_read_shared",
        "MPI_File_read_shared_c",
        "MPI_File_seek",
        "MPI_File_seek_shared",
        "MPI_File_set_atomicity",
        "MPI_File_set_errhandler",
        "MPI_File_set_info",
        "MPI_File_set_size",
        "MPI_File_set_view",
        "MPI_File_sync",
        "MPI_File_write",
        "MPI_File_write_all",
        "MPI_File_write_all_begin",
        "MPI_File_write_all_begin_c",
        "MPI_File_write_all_c",
        "MPI_File_write_all_end",
        "MPI_File_write_at",
        "MPI_File_write_at_all",
        "MPI_File_write_at_all_begin",
        "MPI_File_write_at_all_begin_c",
        "MPI_File_write_at_all_c",
        "MPI_File_write_at_all_end",
        "MPI_File_write_at_c",
        "MPI_File_write_c",
        "MPI_File_write_ordered",
        "MPI_File_write_ordered_begin",
        "MPI_File_write_ordered_begin_c",
        "MPI_File_write_ordered_c",
        "MPI_File_write_ordered_end",
        "MPI_File_write_shared",
        "MPI_File_write_shared_c",
        "MPI_Register_datarep",
        "MPI_Register_datarep_c",
    }
    Sessions {
        "MPI_Comm_create_from_group",
        "MPI_Group_from_session_pset",
        "MPI_Intercomm_create_from_groups",
        "MPI_Session_call_errhandler",
        "MPI_Session_finalize",
        "MPI_Session_get_errhandler",
        "MPI_Session_get_info",
        "MPI_Session_get_nth_pset",
        "MPI_Session_get_num_psets",
        "MPI_Session_get_pset_info",
        "MPI_Session_init",
        "MPI_Session_set_errhandler",
    }
    Processes {
        "MPI_Close_port",
        "MPI_Comm_accept" 3,
        "MPI_Comm_connect" 3,
        "MPI_Comm_join",
        "MPI_Comm_spawn" 5,
        "MPI_Comm_spawn_multiple",
        "MPI_Lookup_name",
        "MPI_Open_port",
        "MPI_Publish_name",
        "MPI_Unpublish_name",
    }
    TwoGroups {
        "MPI_Intercomm_create" 0,
        "MPI_Intercomm_merge" 0,
    }
    Partitioned {
        "MPI_Parrived",
        "MPI_Pready",
        "MPI_Pready_list",
        "MPI_Pready_range",
        "MPI_Precv_init",
        "MPI_Psend_init",
    }
    Buffers {
        "MPI_Session_attach_buffer",
        "MPI_Session_attach_buffer_c",
        "MPI_Session_detach_buffer",
        "MPI_Session_detach_buffer_c",
        "MPI_Session_flush_buffer",
        "MPI_Session_iflush_buffer",
    }
    Fortran {
        "MPI_Abi_get_fortran_booleans",
        "MPI_Abi_get_fortran_info",
        "MPI_Abi_set_fortran_booleans",
        "MPI_Abi_set_fortran_info",
    }
    Extensions {
        "MPIX_Allreduce_enqueue",
        "MPIX_Allreduce_enqueue_c",
        "MPIX_Async_get_state",
        "MPIX_Async_spawn",
        "MPIX_Async_start",
        "MPIX_Comm_agree",
        "MPIX_Comm_create_errhandler_x",
        "MPIX_Comm_failure_ack",
        "MPIX_Comm_failure_get_acked",
        "MPIX_Comm_get_failed",
        "MPIX_Comm_get_stream",
        "MPIX_Comm_revoke",
        "MPIX_Comm_shrink",
        "MPIX_Comm_test_threadcomm",
        "MPIX_File_create_errhandler_x",
        "MPIX_GPU_query_support",
        "MPIX_Grequest_class_allocate",
        "MPIX_Grequest_class_create",
        "MPIX_Grequest_start",
        "MPIX_Info_set_hex",
        "MPIX_Irecv_enqueue",
        "MPIX_Irecv_enqueue_c",
        "MPIX_Isend_enqueue",
        "MPIX_Isend_enqueue_c",
        "MPIX_Op_create_x",
        "MPIX_Query_cuda_support",
        "MPIX_Query_hip_support",
        "MPIX_Query_ze_support",
        "MPIX_Recv_enqueue",
        "MPIX_Recv_enqueue_c",
        "MPIX_Request_is_complete",
        "MPIX_Send_enqueue",
        "MPIX_Send_enqueue_c",
        "MPIX_Session_create_errhandler_x",
        "MPIX_Start_progress_thread",
        "MPIX_Stop_progress_thread",
        "MPIX_Stream_comm_create",
        "MPIX_Stream_comm_create_multiplex",
        "MPIX_Stream_create",
        "MPIX_Stream_free",
        "MPIX_Stream_irecv",
        "MPIX_Stream_irecv_c",
        "MPIX_Stream_isend",
        "MPIX_Stream_isend_c",
        "MPIX_Stream_progress",
        "MPIX_Stream_recv",
        "MPIX_Stream_recv_c",
        "MPIX_Stream_send",
        "MPIX_Stream_send_c",
        "MPIX_Threadcomm_finish",
        "MPIX_Threadcomm_free",
        "MPIX_Threadcomm_init",
        "MPIX_Threadcomm_start",
        "MPIX_Type_iov",
        "MPIX_Type_iov_len",
        "MPIX_Wait_enqueue",
        "MPIX_Waitall_enqueue",
        "MPIX_Win_create_errhandler_x",
        "MPI_T_pvar_session_create",
    }
}

/// The place of a function in the table, for constants: the compiler says so where there is none.
pub const fn refusal(name: &str) -> usize {
    let mut place = 0;
    while place < REFUSALS.len() {
        if same(REFUSALS[place].name.as_bytes(), name.as_bytes()) {
            return place;
        }
        place += 1;
    }
    panic!("a function that is refused is in no table")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut place = 0;
    while place < a.len() && place < b.len() {
        if a[place] != b[place] {
            return false;
        }
        place += 1;
    }
    a.len() == b.len()
}

/// Refuses the function at this place of the table. Whatever it takes, the first six integers and pointers come as here; what it has less of is not
/// looked at.
///
/// # Safety
/// A communicator is where the table says.
pub unsafe extern "C" fn refused<F: Face, const PLACE: usize>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_int {
    let refusal = &REFUSALS[PLACE];
    enter::<F>(const { &coupling::CallName::of(REFUSALS[PLACE].name) }, |library| {
        eprintln!(
            "fabricsim: {}{} ({}) is not there yet: see docs/models/programs.md",
            library.who(),
            refusal.name,
            refusal.chapter.words()
        );
        if let Some(comm) = refusal.comm
            && library.stage.get() == Stage::Running
        {
            library.comm::<F>(F::handle([a, b, c, d, e, f][usize::from(comm)] as i64))?;
        }
        fault(ErrorClass::UnsupportedOperation, "")
    })
}
