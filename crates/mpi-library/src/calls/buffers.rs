//! The buffer for buffered sends: this library keeps messages elsewhere, but holds programs to the room they gave.

use super::environment::fitting;
use crate::{
    arguments::{BufferAddress, Count, ResultPlace},
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{
        Library, calls,
        requests::{EndedRequest, LibraryRequest, RequestPlace},
    },
};
use std::{cell::Cell, ffi::c_void};

/// Refuses a buffered send that is larger than the buffer: that of the communicator, or of the process.
pub(super) fn check_room<F: Face>(library: &Library, comm: &Comm, place: &RequestPlace) -> Answer {
    let needed = place.bytes() as i64 + F::C.bsend_overhead;
    match comm.buffer.get().or(library.buffer.get()) {
        None => fault(
            ErrorClass::Buffer,
            "there is no buffer for buffered sends: MPI_Buffer_attach gives one",
        ),
        // The automatic buffer is as large as it has to be.
        Some((_, bytes)) if bytes >= 0 && bytes < needed => fault(
            ErrorClass::Buffer,
            format!("a buffered send of {needed} bytes, overhead included, and a buffer of {bytes}"),
        ),
        Some(_) => Ok(()),
    }
}

/// Where a buffer is kept.
type KeptBuffer = Cell<Option<(usize, i64)>>;

fn attach<F: Face>(kept: &KeptBuffer, buffer: BufferAddress, size: i64) -> Answer {
    if size < 0 {
        return fault(ErrorClass::Arg, format!("a buffer of {size} bytes"));
    }
    if kept.get().is_some() {
        return fault(ErrorClass::Buffer, "there is a buffer already");
    }
    let automatic = buffer.number() == F::C.buffer_automatic;
    kept.set(Some((buffer.0 as usize, if automatic { -1 } else { size })));
    Ok(())
}

/// The address and size of the buffer that is taken away.
fn detach<N: Count>(kept: &KeptBuffer, address: BufferAddress, size: ResultPlace<N>) -> Answer {
    let Some((buffer, bytes)) = kept.take() else {
        return fault(ErrorClass::Buffer, "there is no buffer");
    };
    address.set(buffer as *mut c_void)?;
    size.set(fitting::<N>(bytes.max(0))?)
}

/// A request that is over: buffers are always empty, since messages lie elsewhere.
fn empty<F: Face>(library: &Library, request: ResultPlace<F::Handle>) -> Answer {
    let index = library.keep_request(LibraryRequest::done(None, EndedRequest::EMPTY));
    request.set(library.request_handle::<F>(index))
}

calls! {
    /// Gives a buffer for buffered sends.
    buffer_attach<N> = "MPI_Buffer_attach"(buffer: BufferAddress, size: N) |library| {
        library.running()?;
        attach::<F>(&library.buffer, buffer, size.get())
    };

    /// Takes the buffer away.
    buffer_detach<N> = "MPI_Buffer_detach"(address: BufferAddress, size: ResultPlace<N>) |library| {
        library.running()?;
        detach::<N>(&library.buffer, address, size)
    };

    /// Waits until the buffer is empty: it always is, since messages lie elsewhere.
    buffer_flush = "MPI_Buffer_flush"() |library| library.running();

    /// The same without waiting.
    buffer_iflush = "MPI_Buffer_iflush"(request: ResultPlace<F::Handle>) |library| {
        library.running()?;
        empty::<F>(library, request)
    };

    /// Gives a buffer for buffered sends on a communicator.
    comm_attach_buffer<N> = "MPI_Comm_attach_buffer"(comm: F::Handle, buffer: BufferAddress, size: N) |library| {
        attach::<F>(&library.comm::<F>(comm)?.buffer, buffer, size.get())
    };

    /// Takes the buffer of a communicator away.
    comm_detach_buffer<N> = "MPI_Comm_detach_buffer"(comm: F::Handle, address: BufferAddress, size: ResultPlace<N>) |library| {
        detach::<N>(&library.comm::<F>(comm)?.buffer, address, size)
    };

    /// Waits until the buffer of a communicator is empty.
    comm_flush_buffer = "MPI_Comm_flush_buffer"(comm: F::Handle) |library| library.comm::<F>(comm).map(|_| ());

    /// The same without waiting.
    comm_iflush_buffer = "MPI_Comm_iflush_buffer"(comm: F::Handle, request: ResultPlace<F::Handle>) |library| {
        library.comm::<F>(comm)?;
        empty::<F>(library, request)
    };
}
