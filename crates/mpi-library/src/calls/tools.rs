//! What tools ask for: regions, control variables, which there are none of, and numbers that both interfaces share.

use crate::{
    arguments::{In, ResultPlace},
    faces::Face,
    fault::Answer,
    library::{Library, Stage},
};
use coupling::{
    RankEntry,
    entry::{NO_PAYLOAD, kind},
};
use std::{cell::Cell, ffi::c_int};

/// The pointer that says that edges have no weights: a constant of the standard ABI, and what MPICH's variable holds.
pub const UNWEIGHTED: usize = 10;
/// The pointer that says that there are no edges to have weights.
pub const WEIGHTS_EMPTY: usize = 11;

/// Longest name of a region.
const LONGEST: usize = 64;

/// The name that a program gave with a level, if it gave one: what stands there otherwise is whatever stood there before.
fn name_at(name: In<u8>) -> Option<String> {
    let path = name.0.cast();
    // SAFETY: the system reads the path, and says so where there is none.
    let unreadable = unsafe { libc::access(path, libc::F_OK) } < 0
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    if name.0.is_null() || unreadable {
        return None;
    }
    // SAFETY: the system has just read a text that ends with a zero there, or as many bytes as a path may have.
    let bytes = (0..LONGEST)
        .map(|place| unsafe { name.0.add(place).read() })
        .take_while(|byte| *byte != 0)
        .collect::<Vec<_>>();
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.:/()<>,".contains(byte);
    let is_name = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.len() < LONGEST && bytes.iter().all(fits);
    is_name.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

thread_local! {
    /// Regions that the program is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Begins a region with level 1 and a name, ends the innermost with level 0.
pub(super) fn region(library: &Library, level: c_int, name: In<u8>) -> Answer {
    if library.stage.get() != Stage::Running {
        return Ok(());
    }
    match level {
        1 => {
            let Some(name) = name_at(name) else { return Ok(()) };
            let bytes = name.len() as u64;
            // SAFETY: the block has room for the name.
            let block = library.block(bytes, |to| unsafe {
                std::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len())
            })?;
            library.append(RankEntry {
                kind: kind::REGION,
                bytes,
                payload: block,
                ..RankEntry::default()
            });
            library.until_read(block);
            DEPTH.set(DEPTH.get() + 1);
        }
        0 if DEPTH.get() > 0 => {
            library.append(RankEntry {
                kind: kind::END_REGION,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            });
            DEPTH.set(DEPTH.get() - 1);
        }
        _ => {}
    }
    Ok(())
}

/// MPICH's function that copies an attribute: programs name it, this library knows it by its address.
///
/// # Safety
/// The pointers are what MPI's page of copy functions asks for.
pub unsafe extern "C" fn dup_fn<F: Face>(
    _comm: F::Handle,
    _key: c_int,
    _state: usize,
    value: usize,
    copy: ResultPlace<usize>,
    flag: ResultPlace<c_int>,
) -> c_int {
    let _ = (copy.set(value), flag.set(1));
    F::C.success as c_int
}

/// Starts the interface for tools.
///
/// # Safety
/// The pointer is what MPI's page of the function asks for.
pub unsafe extern "C" fn t_init_thread<F: Face>(required: c_int, provided: ResultPlace<c_int>) -> c_int {
    let level = i64::from(required).clamp(F::C.thread_single, F::C.thread_serialized);
    let _ = provided.set(level as c_int);
    F::C.success as c_int
}

/// Ends the interface for tools.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn t_finalize<F: Face>() -> c_int {
    F::C.success as c_int
}

/// How many variables, categories, events or sources there are: none.
///
/// # Safety
/// The pointer is what MPI's page of the function asks for.
pub unsafe extern "C" fn t_none<F: Face>(number: ResultPlace<c_int>) -> c_int {
    let _ = number.set(0);
    F::C.success as c_int
}

/// What is asked about a variable that is not there.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn t_no_index<F: Face>() -> c_int {
    F::C.t_err_invalid_index as c_int
}

/// What is asked by a handle that nobody has.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn t_no_handle<F: Face>() -> c_int {
    F::C.t_err_invalid_handle as c_int
}

/// What is asked by a name that nothing has.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn t_no_name<F: Face>() -> c_int {
    F::C.t_err_invalid_name as c_int
}
