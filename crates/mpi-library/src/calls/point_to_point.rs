//! Messages from one process to another.

use super::{destination, place, set_status, tag, wanted};
use crate::{
    arguments::{BufferAddress, ResultPlace},
    communicators::Comm,
    faces::Face,
    fault::Answer,
    library::{
        Destination, Library, calls,
        progress::fault_of,
        requests::{EndedRequest, LibraryRequest, MessagePartner, RequestPlace},
    },
};
use std::{ffi::c_int, rc::Rc};

/// The arguments of a send.
#[derive(Clone, Copy)]
struct SentMessage<F: Face> {
    buffer: BufferAddress,
    count: i64,
    datatype: F::Handle,
    to: c_int,
    tag: c_int,
    comm: F::Handle,
}

/// How a send goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SendMode {
    /// When its buffer may be used again is up to the network.
    Standard,
    /// It is over when its receive has been found.
    Synchronous,
    /// It is over at once: the message lies in the program's buffer for such sends.
    Buffered,
}

/// Sends and waits.
#[unsafe(link_section = ".text.hot")]
fn send_now<F: Face>(library: &Library, sent: SentMessage<F>, mode: SendMode) -> Answer {
    let comm = library.comm::<F>(sent.comm)?;
    let to = (destination::<F>(&comm, sent.to)?, tag(sent.tag)?);
    let place = place::<F>(library, sent.buffer, sent.count, sent.datatype)?;
    if mode == SendMode::Buffered {
        super::buffers::check_room::<F>(library, &comm, &place)?;
        let index = library.post_send(&comm, &place, to, false)?;
        return library.give_up(index);
    }
    library.send(&comm, &place, to, mode == SendMode::Synchronous)
}

/// Starts a send; returns the index of its request.
#[unsafe(link_section = ".text.hot")]
pub(super) fn start_send<F: Face>(
    library: &Library,
    comm: &Rc<Comm>,
    place: &RequestPlace,
    to: (Destination, u16),
    mode: SendMode,
) -> Answer<u32> {
    if mode == SendMode::Buffered {
        super::buffers::check_room::<F>(library, comm, place)?;
        let index = library.post_send(comm, place, to, false)?;
        library.give_up(index)?;
        return Ok(library.keep_request(LibraryRequest::done(Some(comm.clone()), EndedRequest::EMPTY)));
    }
    library.post_send(comm, place, to, mode == SendMode::Synchronous)
}

/// Starts the send of these arguments.
#[unsafe(link_section = ".text.hot")]
fn start<F: Face>(library: &Library, sent: SentMessage<F>, mode: SendMode) -> Answer<u32> {
    let comm = library.comm::<F>(sent.comm)?;
    let to = (destination::<F>(&comm, sent.to)?, tag(sent.tag)?);
    let place = place::<F>(library, sent.buffer, sent.count, sent.datatype)?;
    start_send::<F>(library, &comm, &place, to, mode)
}

/// Starts a receive; returns the index of its request.
#[unsafe(link_section = ".text.hot")]
fn start_receive<F: Face>(library: &Library, from: SentMessage<F>) -> Answer<u32> {
    let comm = library.comm::<F>(from.comm)?;
    let wanted = wanted::<F>(&comm, from.to, from.tag)?;
    let place = place::<F>(library, from.buffer, from.count, from.datatype)?;
    library.post_receive(&comm, Some(place), wanted)
}

/// Sends one message and receives another.
#[unsafe(link_section = ".text.hot")]
fn both<F: Face>(
    library: &Library,
    sent: SentMessage<F>,
    got: SentMessage<F>,
    status: ResultPlace<F::Status>,
) -> Answer {
    let comm = library.comm::<F>(sent.comm)?;
    let to = (destination::<F>(&comm, sent.to)?, tag(sent.tag)?);
    let wanted = wanted::<F>(&comm, got.to, got.tag)?;
    let send = place::<F>(library, sent.buffer, sent.count, sent.datatype)?;
    let receive = place::<F>(library, got.buffer, got.count, got.datatype)?;
    let ended = match to.0 {
        Destination::Rank(rank) if wanted.source != MessagePartner::Nobody => {
            library.send_and_receive(&comm, (&send, rank, to.1), &receive, wanted)?
        }
        _ => {
            library.send(&comm, &send, to, false)?;
            library.receive_now(&comm, &receive, wanted)?
        }
    };
    set_status::<F>(status, 0, &ended, false)?;
    fault_of(&ended)
}

/// Starts a send and a receive that end together.
fn start_both<F: Face>(library: &Library, sent: SentMessage<F>, got: SentMessage<F>) -> Answer<u32> {
    let comm = library.comm::<F>(sent.comm)?;
    let receive = start_receive::<F>(library, got)?;
    let send = start::<F>(library, sent, SendMode::Standard)?;
    Ok(library.keep_several(&comm, vec![receive, send], Some(0), None))
}

/// A copy of what is to be sent from a buffer that the answer goes to, and a buffer for the answer: the program's own, since all data are
/// packed before anything is received.
fn replaced<F: Face>(sent: SentMessage<F>, source: (c_int, c_int)) -> (SentMessage<F>, SentMessage<F>) {
    let got = SentMessage {
        buffer: sent.buffer,
        count: sent.count,
        datatype: sent.datatype,
        to: source.0,
        tag: source.1,
        comm: sent.comm,
    };
    (sent, got)
}

macro_rules! sent {
    ($buffer:ident $count:ident $datatype:ident $to:ident $tag:ident $comm:ident) => {
        SentMessage::<F> {
            buffer: $buffer,
            count: $count.get(),
            datatype: $datatype,
            to: $to,
            tag: $tag,
            comm: $comm,
        }
    };
}

/// Declares the blocking and the non-blocking form of a mode.
macro_rules! sends {
    ($($(#[$about:meta])* $now:ident $now_label:literal $start:ident $start_label:literal $mode:ident;)+) => {$(
        calls! {
            $(#[$about])*
            $now<N> = $now_label(buffer: BufferAddress, count: N, datatype: F::Handle, to: c_int, tag: c_int, comm: F::Handle) |library| {
                send_now::<F>(library, sent!(buffer count datatype to tag comm), SendMode::$mode)
            };

            $(#[$about])*
            /// Returns at once.
            $start<N> = $start_label(
                buffer: BufferAddress, count: N, datatype: F::Handle, to: c_int, tag: c_int, comm: F::Handle, request: ResultPlace<F::Handle>,
            ) |library| {
                let index = start::<F>(library, sent!(buffer count datatype to tag comm), SendMode::$mode)?;
                request.set(library.request_handle::<F>(index))
            };
        }
    )+};
}

sends! {
    /// Sends.
    #[unsafe(link_section = ".text.hot")]
    send "MPI_Send" isend "MPI_Isend" Standard;
    /// Sends, and is over when the receive has been found.
    ssend "MPI_Ssend" issend "MPI_Issend" Synchronous;
    /// Sends to a receive that is there already.
    rsend "MPI_Rsend" irsend "MPI_Irsend" Standard;
    /// Sends from the buffer for such messages.
    bsend "MPI_Bsend" ibsend "MPI_Ibsend" Buffered;
}

calls! {
    /// Receives.
    #[unsafe(link_section = ".text.hot")]
    recv<N> = "MPI_Recv"(
        buffer: BufferAddress, count: N, datatype: F::Handle, source: c_int, tag: c_int, comm: F::Handle, status: ResultPlace<F::Status>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let wanted = wanted::<F>(&comm, source, tag)?;
        let place = place::<F>(library, buffer, count.get(), datatype)?;
        let ended = library.receive_now(&comm, &place, wanted)?;
        set_status::<F>(status, 0, &ended, false)?;
        fault_of(&ended)
    };

    /// Starts a receive.
    #[unsafe(link_section = ".text.hot")]
    irecv<N> = "MPI_Irecv"(
        buffer: BufferAddress, count: N, datatype: F::Handle, source: c_int, tag: c_int, comm: F::Handle, request: ResultPlace<F::Handle>,
    ) |library| {
        let index = start_receive::<F>(library, sent!(buffer count datatype source tag comm))?;
        request.set(library.request_handle::<F>(index))
    };

    /// Sends and receives.
    #[unsafe(link_section = ".text.hot")]
    sendrecv<N> = "MPI_Sendrecv"(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, to: c_int, sent_tag: c_int,
        got: BufferAddress, got_count: N, got_type: F::Handle, source: c_int, got_tag: c_int, comm: F::Handle, status: ResultPlace<F::Status>,
    ) |library| {
        let sent = sent!(sent sent_count sent_type to sent_tag comm);
        both::<F>(library, sent, sent!(got got_count got_type source got_tag comm), status)
    };

    /// Sends from a buffer and receives into it.
    sendrecv_replace<N> = "MPI_Sendrecv_replace"(
        buffer: BufferAddress, count: N, datatype: F::Handle, to: c_int, sent_tag: c_int, source: c_int, got_tag: c_int,
        comm: F::Handle, status: ResultPlace<F::Status>,
    ) |library| {
        let (sent, got) = replaced(sent!(buffer count datatype to sent_tag comm), (source, got_tag));
        both::<F>(library, sent, got, status)
    };

    /// Starts a send and a receive.
    isendrecv<N> = "MPI_Isendrecv"(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, to: c_int, sent_tag: c_int,
        got: BufferAddress, got_count: N, got_type: F::Handle, source: c_int, got_tag: c_int, comm: F::Handle, request: ResultPlace<F::Handle>,
    ) |library| {
        let sent = sent!(sent sent_count sent_type to sent_tag comm);
        let index = start_both::<F>(library, sent, sent!(got got_count got_type source got_tag comm))?;
        request.set(library.request_handle::<F>(index))
    };

    /// Starts a send from a buffer and a receive into it.
    isendrecv_replace<N> = "MPI_Isendrecv_replace"(
        buffer: BufferAddress, count: N, datatype: F::Handle, to: c_int, sent_tag: c_int, source: c_int, got_tag: c_int,
        comm: F::Handle, request: ResultPlace<F::Handle>,
    ) |library| {
        let (sent, got) = replaced(sent!(buffer count datatype to sent_tag comm), (source, got_tag));
        let index = start_both::<F>(library, sent, got)?;
        request.set(library.request_handle::<F>(index))
    };
}
