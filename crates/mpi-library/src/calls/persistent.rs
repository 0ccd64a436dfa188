//! Persistent messages: what a send or a receive is asked for again and again.

use super::{
    collectives::keep,
    count,
    point_to_point::{SendMode, start_send},
};
use crate::{
    arguments::{BufferAddress, ResultPlace},
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls, requests::RequestKind},
};
use std::ffi::c_int;

/// The arguments of a kept message.
#[derive(Clone, Copy)]
struct KeptCall<F: Face> {
    buffer: BufferAddress,
    count: i64,
    datatype: F::Handle,
    with: c_int,
    tag: c_int,
    comm: F::Handle,
}

/// Keeps a send: what its handles name is looked up now, and stays.
fn keep_send<F: Face>(library: &Library, kept: KeptCall<F>, mode: SendMode, request: ResultPlace<F::Handle>) -> Answer {
    let comm = library.comm::<F>(kept.comm)?;
    let to = (super::destination::<F>(&comm, kept.with)?, super::tag(kept.tag)?);
    let place = super::place::<F>(library, kept.buffer, kept.count, kept.datatype)?;
    let on = comm.clone();
    keep::<F>(
        library,
        &on,
        Box::new(move |library| start_send::<F>(library, &comm, &place, to, mode)),
        request,
    )
}

/// Keeps a receive.
fn keep_receive<F: Face>(library: &Library, kept: KeptCall<F>, request: ResultPlace<F::Handle>) -> Answer {
    let comm = library.comm::<F>(kept.comm)?;
    let wanted = super::wanted::<F>(&comm, kept.with, kept.tag)?;
    let place = super::place::<F>(library, kept.buffer, kept.count, kept.datatype)?;
    let on = comm.clone();
    keep::<F>(
        library,
        &on,
        Box::new(move |library| library.post_receive(&comm, Some(place.clone()), wanted)),
        request,
    )
}

/// Starts a persistent request.
fn start_one<F: Face>(library: &Library, handle: F::Handle) -> Answer {
    library.running()?;
    let Some(index) = library.request_index::<F>(handle)? else {
        return fault(ErrorClass::Request, "the request is MPI_REQUEST_NULL");
    };
    let request = library.request(index)?;
    let RequestKind::Persistent { start, active } = &request.kind else {
        return fault(ErrorClass::Request, "the request is not persistent");
    };
    library.scope.borrow_mut().clone_from(&request.comm);
    if active.get().is_some() {
        return fault(ErrorClass::Request, "the request is started already");
    }
    active.set(Some(start(library)?));
    Ok(())
}

/// Declares the persistent form of a mode.
macro_rules! kept {
    ($($(#[$about:meta])* $name:ident $label:literal $mode:ident;)+) => {$(
        calls! {
            $(#[$about])*
            $name<N> = $label(
                buffer: BufferAddress, count: N, datatype: F::Handle, to: c_int, tag: c_int, comm: F::Handle, request: ResultPlace<F::Handle>,
            ) |library| {
                let kept = KeptCall::<F> { buffer, count: count.get(), datatype, with: to, tag, comm };
                keep_send::<F>(library, kept, SendMode::$mode, request)
            };
        }
    )+};
}

kept! {
    /// Keeps a send.
    send_init "MPI_Send_init" Standard;
    /// Keeps a synchronous send.
    ssend_init "MPI_Ssend_init" Synchronous;
    /// Keeps a send to a receive that is there.
    rsend_init "MPI_Rsend_init" Standard;
    /// Keeps a buffered send.
    bsend_init "MPI_Bsend_init" Buffered;
}

calls! {
    /// Keeps a receive.
    recv_init<N> = "MPI_Recv_init"(
        buffer: BufferAddress, count: N, datatype: F::Handle, source: c_int, tag: c_int, comm: F::Handle, request: ResultPlace<F::Handle>,
    ) |library| {
        let kept = KeptCall::<F> { buffer, count: count.get(), datatype, with: source, tag, comm };
        keep_receive::<F>(library, kept, request)
    };

    /// Starts what was kept.
    start = "MPI_Start"(request: ResultPlace<F::Handle>) |library| start_one::<F>(library, request.get()?);

    /// Starts all of what was kept.
    startall = "MPI_Startall"(number: c_int, requests: ResultPlace<F::Handle>) |library| {
        let number = count(number.into())?;
        (0..number as usize).try_for_each(|place| start_one::<F>(library, requests.get_at(place)?))
    };
}
