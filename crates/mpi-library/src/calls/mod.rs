//! The functions of MPI, by chapter.
//!
//! Each is generic over the binary interface, and over its counts where there is a form for large ones. What they have in common is how
//! their arguments become things of ours.

pub mod attributes;
pub mod buffers;
pub mod collectives;
pub mod communicators;
pub mod datatypes;
pub mod environment;
pub mod errors;
pub mod groups;
pub mod infos;
pub mod operations;
pub mod packing;
pub mod persistent;
pub mod point_to_point;
pub mod probes;
pub mod refusals;
pub mod requests;
pub mod statuses;
pub mod tools;
pub mod topologies;

use crate::{
    arguments::{BufferAddress, ResultPlace},
    communicators::Comm,
    faces::{Face, StatusFields},
    fault::{Answer, ErrorClass, fault},
    library::{
        Destination, Library,
        progress::WantedTrap,
        requests::{EndedRequest, MessagePartner, RequestPlace},
    },
};
use coupling::entry::LARGEST_TAG;
use std::ffi::c_int;

/// A count that is not negative.
fn count(count: i64) -> Answer<i64> {
    if count < 0 {
        return fault(ErrorClass::Count, format!("count {count} is negative"));
    }
    Ok(count)
}

/// A buffer of a message.
#[unsafe(link_section = ".text.hot")]
fn place<F: Face>(
    library: &Library,
    address: BufferAddress,
    elements: i64,
    datatype: F::Handle,
) -> Answer<RequestPlace> {
    let place = part_of_buffer::<F>(library, address, elements, datatype)?;
    followed(&place)?;
    Ok(place)
}

/// A part of a buffer whose address has still to be added to.
#[unsafe(link_section = ".text.hot")]
fn part_of_buffer<F: Face>(
    library: &Library,
    address: BufferAddress,
    elements: i64,
    datatype: F::Handle,
) -> Answer<RequestPlace> {
    let count = count(elements)?;
    let of = library.committed::<F>(datatype)?;
    if count.checked_mul(of.size.max(of.extent().abs()).max(1)).is_none() {
        return fault(
            ErrorClass::Count,
            format!("{count} elements of {} bytes are more than there is memory", of.size),
        );
    }
    if count > 0 && address.is_in_place::<F>() {
        return fault(ErrorClass::Buffer, "the buffer is MPI_IN_PLACE");
    }
    Ok(RequestPlace {
        address: address.bytes(),
        count,
        of,
    })
}

/// Refuses a buffer at no address. A type with absolute displacements goes with MPI_BOTTOM, which is null.
fn followed(place: &RequestPlace) -> Answer {
    if place.address.is_null() && place.bytes() > 0 && (place.of.is_named() || place.of.is_dense()) {
        return fault(ErrorClass::Buffer, "the buffer is null");
    }
    Ok(())
}

/// A rank of a communicator, for this purpose.
fn rank_in(comm: &Comm, rank: c_int, class: ErrorClass) -> Answer<u32> {
    match u32::try_from(rank) {
        Ok(inside) if inside < comm.size() => Ok(inside),
        _ => fault(
            class,
            format!("rank {rank} is not in a communicator of {}", comm.size()),
        ),
    }
}

/// Where a message goes.
#[unsafe(link_section = ".text.hot")]
fn destination<F: Face>(comm: &Comm, rank: c_int) -> Answer<Destination> {
    if i64::from(rank) == F::C.proc_null {
        return Ok(Destination::Nobody);
    }
    rank_in(comm, rank, ErrorClass::Rank).map(Destination::Rank)
}

/// The tag of a message.
fn tag(tag: c_int) -> Answer<u16> {
    match u16::try_from(tag) {
        Ok(small) if small <= LARGEST_TAG => Ok(small),
        _ => fault(ErrorClass::Tag, format!("tag {tag} is not between 0 and {LARGEST_TAG}")),
    }
}

/// What a receive or a probe takes.
#[unsafe(link_section = ".text.hot")]
fn wanted<F: Face>(comm: &Comm, source: c_int, with: c_int) -> Answer<WantedTrap> {
    let source = match i64::from(source) {
        number if number == F::C.any_source => MessagePartner::Anybody,
        number if number == F::C.proc_null => MessagePartner::Nobody,
        _ => MessagePartner::Rank(rank_in(comm, source, ErrorClass::Rank)?),
    };
    let tag = if i64::from(with) == F::C.any_tag {
        None
    } else {
        Some(tag(with)?)
    };
    Ok(WantedTrap { source, tag })
}

/// How an operation ended, as a status says it.
fn fields<F: Face>(ended: &EndedRequest) -> StatusFields {
    StatusFields {
        source: match ended.source {
            MessagePartner::Rank(rank) => rank as c_int,
            MessagePartner::Nobody => F::C.proc_null as c_int,
            MessagePartner::Anybody => F::C.any_source as c_int,
        },
        tag: ended.tag.map_or(F::C.any_tag as c_int, c_int::from),
        error: ended
            .code
            .map_or(ErrorClass::Success.code::<F>(), |code| code.number::<F>()),
        bytes: ended.bytes,
        cancelled: ended.cancelled,
    }
}

/// Whether a status is wanted.
fn wants_status<F: Face>(status: ResultPlace<F::Status>) -> bool {
    status.0 as i64 != F::C.status_ignore
}

/// Fills one of many statuses, if they are wanted; with the error where a call completes several.
#[unsafe(link_section = ".text.hot")]
fn set_status<F: Face>(statuses: ResultPlace<F::Status>, place: usize, ended: &EndedRequest, error: bool) -> Answer {
    if !wants_status::<F>(statuses) {
        return Ok(());
    }
    let mut status = statuses.get_at(place)?;
    F::write(&mut status, &fields::<F>(ended), error);
    statuses.set_at(place, status)
}
