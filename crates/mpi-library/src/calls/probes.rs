//! Looking at messages before they are received, and taking one out for its own receive.

use super::{place, set_status, wanted};
use crate::{
    arguments::{BufferAddress, ResultPlace},
    communicators::Comm,
    faces::{Face, HandleKind},
    fault::{Answer, ErrorClass, fault},
    library::{
        HeardArrival, Library, TimeDependent, calls,
        progress::{WantedTrap, fault_of},
        requests::{EndedRequest, LibraryRequest, MessagePartner, RequestKind, RequestPlace},
    },
};
use std::{ffi::c_int, rc::Rc};

impl Library {
    /// The first message of a communicator that a receive would get.
    fn arrived(&self, comm: &Comm, wanted: WantedTrap) -> Option<HeardArrival> {
        let source = match wanted.source {
            MessagePartner::Rank(rank) => Some(comm.member(rank)),
            _ => None,
        };
        let fits = |arrival: &&HeardArrival| {
            arrival.context == comm.context.get()
                && source.is_none_or(|source| arrival.source == source)
                && wanted.tag.is_none_or(|tag| arrival.tag == tag)
        };
        self.arrivals.borrow().iter().find(fits).copied()
    }
}

/// What a probe says of a message.
fn seen(comm: &Comm, arrival: &HeardArrival) -> EndedRequest {
    let source = comm
        .group
        .rank_of(arrival.source)
        .map_or(MessagePartner::Anybody, MessagePartner::Rank);
    EndedRequest {
        source,
        tag: Some(arrival.tag),
        bytes: arrival.bytes,
        ..EndedRequest::EMPTY
    }
}

/// Waits for a message, or looks for it once.
fn probe(library: &Library, comm: &Comm, wanted: WantedTrap, waits: bool) -> Answer<Option<EndedRequest>> {
    if wanted.source == MessagePartner::Nobody {
        return Ok(Some(EndedRequest::NOBODY));
    }
    library.introduce(comm)?;
    if wanted.source == MessagePartner::Anybody {
        library.count(TimeDependent::AnySource);
    }
    if waits {
        let arrival = library.wait_until(|| Ok(library.arrived(comm, wanted)))?;
        return Ok(Some(seen(comm, &arrival)));
    }
    if library.arrived(comm, wanted).is_none() {
        library.poll();
    }
    Ok(library.arrived(comm, wanted).map(|arrival| seen(comm, &arrival)))
}

/// Takes a message that a probe has seen out of the queue; returns the handle.
fn take<F: Face>(library: &Library, comm: &Rc<Comm>, ended: &EndedRequest) -> Answer<F::Handle> {
    if ended.source == MessagePartner::Nobody {
        return Ok(F::handle(F::C.message_no_proc));
    }
    let index = library.post_receive(
        comm,
        None,
        WantedTrap {
            source: ended.source,
            tag: ended.tag,
        },
    )?;
    // It is no arrival any more: a receive has been posted for it.
    let arrival = library.arrived(
        comm,
        WantedTrap {
            source: ended.source,
            tag: ended.tag,
        },
    );
    if let Some(arrival) = arrival {
        let mut arrivals = library.arrivals.borrow_mut();
        if let Some(place) = arrivals.iter().position(|other| *other == arrival) {
            arrivals.remove(place);
        }
    }
    let message = library.messages.borrow_mut().insert(index);
    Ok(F::handle(F::ours(HandleKind::Message, message)))
}

/// The receive of a message; none for a message from nobody.
fn receive_of<F: Face>(library: &Library, message: ResultPlace<F::Handle>) -> Answer<Option<u32>> {
    library.running()?;
    let number = F::number(message.get()?);
    if number == F::C.message_no_proc {
        message.set(F::handle(F::C.message_null))?;
        return Ok(None);
    }
    let index = F::index(HandleKind::Message, number).and_then(|index| library.messages.borrow_mut().remove(index));
    let Some(index) = index else {
        return fault(ErrorClass::Request, "the message is none that a probe has taken");
    };
    message.set(F::handle(F::C.message_null))?;
    Ok(Some(index))
}

/// Says where the data of a message go.
pub(super) fn claim(request: &LibraryRequest, library: &Library, into: RequestPlace) {
    if let RequestKind::Receive { place, held, .. } = &request.kind {
        match (held.take(), request.ended.get()) {
            (Some(block), Some(ended)) => request.ended.set(Some(library.put(&into, block, ended))),
            _ => *place.borrow_mut() = Some(into),
        }
    }
}

calls! {
    /// Waits until there is a message.
    probe_message = "MPI_Probe"(source: c_int, tag: c_int, comm: F::Handle, status: ResultPlace<F::Status>) |library| {
        let comm = library.comm::<F>(comm)?;
        let wanted = wanted::<F>(&comm, source, tag)?;
        let ended = probe(library, &comm, wanted, true)?;
        ended.map_or(Ok(()), |ended| set_status::<F>(status, 0, &ended, false))
    };

    /// Whether there is a message.
    iprobe = "MPI_Iprobe"(source: c_int, tag: c_int, comm: F::Handle, flag: ResultPlace<c_int>, status: ResultPlace<F::Status>) |library| {
        library.count(TimeDependent::Iprobe);
        let comm = library.comm::<F>(comm)?;
        let wanted = wanted::<F>(&comm, source, tag)?;
        let ended = probe(library, &comm, wanted, false)?;
        flag.set(c_int::from(ended.is_some()))?;
        ended.map_or(Ok(()), |ended| set_status::<F>(status, 0, &ended, false))
    };

    /// Waits until there is a message, and takes it.
    mprobe = "MPI_Mprobe"(source: c_int, tag: c_int, comm: F::Handle, message: ResultPlace<F::Handle>, status: ResultPlace<F::Status>) |library| {
        let comm = library.comm::<F>(comm)?;
        let wanted = wanted::<F>(&comm, source, tag)?;
        let Some(ended) = probe(library, &comm, wanted, true)? else { return Ok(()) };
        message.set(take::<F>(library, &comm, &ended)?)?;
        set_status::<F>(status, 0, &ended, false)
    };

    /// Takes a message if there is one.
    improbe = "MPI_Improbe"(
        source: c_int, tag: c_int, comm: F::Handle, flag: ResultPlace<c_int>, message: ResultPlace<F::Handle>, status: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::Improbe);
        let comm = library.comm::<F>(comm)?;
        let wanted = wanted::<F>(&comm, source, tag)?;
        let ended = probe(library, &comm, wanted, false)?;
        flag.set(c_int::from(ended.is_some()))?;
        let Some(ended) = ended else { return Ok(()) };
        message.set(take::<F>(library, &comm, &ended)?)?;
        set_status::<F>(status, 0, &ended, false)
    };

    /// Receives a message that was taken.
    mrecv<N> = "MPI_Mrecv"(buffer: BufferAddress, count: N, datatype: F::Handle, message: ResultPlace<F::Handle>, status: ResultPlace<F::Status>) |library| {
        let place = place::<F>(library, buffer, count.get(), datatype)?;
        let Some(index) = receive_of::<F>(library, message)? else {
            return set_status::<F>(status, 0, &EndedRequest::NOBODY, false);
        };
        let request = library.request(index)?;
        library.scope.borrow_mut().clone_from(&request.comm);
        claim(&request, library, place);
        library.wait_for(&[index])?;
        let ended = library.ended(&request)?.unwrap_or(EndedRequest::EMPTY);
        library.let_go(index)?;
        set_status::<F>(status, 0, &ended, false)?;
        fault_of(&ended)
    };

    /// Starts to receive a message that was taken.
    imrecv<N> = "MPI_Imrecv"(buffer: BufferAddress, count: N, datatype: F::Handle, message: ResultPlace<F::Handle>, request: ResultPlace<F::Handle>) |library| {
        let place = place::<F>(library, buffer, count.get(), datatype)?;
        let index = match receive_of::<F>(library, message)? {
            Some(index) => {
                claim(&*library.request(index)?, library, place);
                index
            }
            None => library.keep_request(LibraryRequest::done(None, EndedRequest::NOBODY)),
        };
        request.set(library.request_handle::<F>(index))
    };
}
