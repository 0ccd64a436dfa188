//! Communicators.

use super::{
    attributes::{copies_of_comm, delete_all},
    collectives::{CollectivePlan, CollectiveWay, ToldCollective},
};
use crate::{
    arguments::{ResultPlace, TextIn, TextOut},
    attributes::AttributeTable,
    communicators::{Comm, Hints},
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    groups::{Comparison, ProcessGroup},
    library::{
        Destination, Library, SELF, WORLD, calls,
        progress::WantedTrap,
        requests::{MessagePartner, RequestPlace},
    },
    topologies::CommTopology,
};
use coupling::{
    RankEntry,
    entry::{NO_PAYLOAD, collective, kind},
};
use std::{cell::RefCell, ffi::c_int, rc::Rc};

/// A comparison as the program reads it.
pub(super) fn comparison<F: Face>(comparison: Comparison) -> c_int {
    (match comparison {
        Comparison::Identical => F::C.ident,
        Comparison::Congruent => F::C.congruent,
        Comparison::Similar => F::C.similar,
        Comparison::Unequal => F::C.unequal,
    }) as c_int
}

/// The number of no communicator: of one that is not agreed on yet.
const NOT_YET: u32 = u32::MAX - 1;

/// What members tell each other: eight bytes.
fn eight(library: &Library, words: [u32; 2]) -> Answer<(u64, u64)> {
    // SAFETY: the block has eight bytes.
    let block = library.block(8, |to| unsafe { to.cast::<[u32; 2]>().write(words) })?;
    Ok((block, 8))
}

/// What a member told.
fn words(data: &[u8]) -> [u32; 2] {
    let word = |at: usize| {
        data.get(at..at + 4)
            .map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    [word(0), word(4)]
}

/// All members tell each other eight bytes; what each told.
fn tell_all(
    library: &Library,
    comm: &Rc<Comm>,
    name: &'static str,
    told: [u32; 2],
    operation: u16,
) -> Answer<Vec<[u32; 2]>> {
    let answers = Rc::new(RefCell::new(Vec::new()));
    let (to, members) = (answers.clone(), comm.size());
    let plan = CollectivePlan {
        comm: comm.clone(),
        name,
        root: 0,
        told: ToldCollective::Operation(operation, 0, 8, None),
        bring: Box::new(move |library| eight(library, told)),
        take: Box::new(move |library, meeting| {
            for member in 0..members {
                to.borrow_mut().push(words(meeting.data(library, member)?));
            }
            Ok(())
        }),
    };
    plan.go(library, CollectiveWay::<crate::faces::Standard>::Now)?;
    Ok(answers.take())
}

/// The number of a new communicator with these members of another, the least that none of them has in use. Members that are in none have no group.
fn agree(library: &Library, comm: &Rc<Comm>, name: &'static str, group: Option<&ProcessGroup>) -> Answer<u32> {
    let told = tell_all(library, comm, name, [library.next_comm.get(), 0], collective::ALLREDUCE)?;
    let me = comm.member(comm.rank);
    let Some(group) = group.filter(|group| group.rank_of(me).is_some()) else {
        return Ok(0);
    };
    let ranks = group.members.iter().filter_map(|member| comm.group.rank_of(*member));
    let first = ranks.map(|rank| told[rank as usize][0]).max();
    library.take_number(first.unwrap_or(0))
}

/// A new communicator; returns its handle, that of none for processes that are not in it.
pub(super) fn make<F: Face>(
    library: &Library,
    old: &Comm,
    number: u32,
    group: Option<Rc<ProcessGroup>>,
    with: impl FnOnce(&mut Comm),
) -> F::Handle {
    let me = old.member(old.rank);
    let Some((group, rank)) =
        group.and_then(|group| Some((group.rank_of(me)?, group)).map(|(rank, group)| (group, rank)))
    else {
        return F::handle(F::C.comm_null);
    };
    let mut comm = Comm::new(number, group, rank, old.handler.get());
    with(&mut comm);
    F::handle(library.comm_number::<F>(library.keep_comm(comm)))
}

/// A new communicator with these members of another, which all of its members call for.
pub(super) fn create<F: Face>(
    library: &Library,
    old: &Rc<Comm>,
    group: Option<Rc<ProcessGroup>>,
    topology: Option<CommTopology>,
) -> Answer<F::Handle> {
    let number = agree(library, old, "MPI_Comm_create", group.as_deref())?;
    Ok(make::<F>(library, old, number, group, |comm| comm.topology = topology))
}

/// A duplicate, with other hints or the same.
fn duplicate<F: Face>(library: &Library, old: &Rc<Comm>, hints: Option<Hints>, to: ResultPlace<F::Handle>) -> Answer {
    let attributes = copies_of_comm::<F>(library, old)?;
    let number = agree(library, old, "MPI_Comm_dup", Some(&old.group))?;
    to.set(make::<F>(
        library,
        old,
        number,
        Some(old.group.clone()),
        copied(old, attributes, hints),
    ))
}

fn copied(old: &Rc<Comm>, attributes: AttributeTable, hints: Option<Hints>) -> impl FnOnce(&mut Comm) + use<> {
    let old = old.clone();
    move |comm| {
        comm.topology.clone_from(&old.topology);
        comm.attributes = RefCell::new(attributes);
        comm.hints = RefCell::new(hints.unwrap_or_else(|| old.hints.borrow().clone()));
    }
}

/// Starts a duplicate: the handle is there at once, the number when the operation is over.
fn start_duplicate<F: Face>(
    library: &Library,
    old: &Rc<Comm>,
    hints: Option<Hints>,
    to: (ResultPlace<F::Handle>, ResultPlace<F::Handle>),
) -> Answer {
    let attributes = copies_of_comm::<F>(library, old)?;
    let handle = make::<F>(
        library,
        old,
        NOT_YET,
        Some(old.group.clone()),
        copied(old, attributes, hints),
    );
    let new = library.comm::<F>(handle)?;
    let number = if old.rank == 0 { library.number_duplicate()? } else { 0 };
    let plan = CollectivePlan {
        comm: old.clone(),
        name: "MPI_Comm_dup",
        root: 0,
        told: ToldCollective::Operation(collective::ALLREDUCE, 0, 8, None),
        bring: Box::new(move |library| eight(library, [number, 0])),
        take: Box::new(move |library, meeting| {
            new.context.set(words(meeting.data(library, 0)?)[0]);
            new.told.set(false);
            Ok(())
        }),
    };
    to.0.set(handle)?;
    plan.go::<F>(library, CollectiveWay::RequestStart(to.1))
}

/// Splits by colour, members in the order of their keys.
pub(super) fn split(
    library: &Library,
    old: &Rc<Comm>,
    colour: Option<u32>,
    key: c_int,
) -> Answer<Option<Rc<ProcessGroup>>> {
    // A colour is not negative, so the upper half is free for those without one.
    let told = tell_all(
        library,
        old,
        "MPI_Comm_split",
        [colour.unwrap_or(u32::MAX), key as u32],
        collective::ALLGATHER,
    )?;
    let Some(colour) = colour else { return Ok(None) };
    let mut members: Vec<(i32, u32)> = told
        .iter()
        .zip(0..)
        .filter(|(told, _)| told[0] == colour)
        .map(|(told, rank)| (told[1] as i32, rank))
        .collect();
    members.sort_unstable();
    Ok(Some(Rc::new(ProcessGroup::new(
        members.into_iter().map(|(_, rank)| old.member(rank)).collect(),
    ))))
}

/// Splits and makes the communicators.
fn split_and_make<F: Face>(
    library: &Library,
    old: &Rc<Comm>,
    (colour, key): (Option<u32>, c_int),
    to: ResultPlace<F::Handle>,
) -> Answer {
    let group = split(library, old, colour, key)?;
    to.set(create::<F>(library, old, group, None)?)
}

/// Only the members of the new communicator call: their first collects the least number that each can have, and tells the greatest of these, by messages.
fn create_of_group<F: Face>(library: &Library, old: &Rc<Comm>, group: Rc<ProcessGroup>, tag: u16) -> Answer<F::Handle> {
    let me = old.member(old.rank);
    let inner = old.inner();
    let Some(rank) = group.rank_of(me) else {
        return Ok(F::handle(F::C.comm_null));
    };
    let mut number = [library.next_comm.get()];
    let four = |words: &mut [u32]| RequestPlace {
        address: words.as_mut_ptr().cast(),
        count: words.len() as i64 * 4,
        of: library.byte(),
    };
    let rank_in_old = |member: u32| {
        let rank = old.group.rank_of(member);
        rank.map_or_else(
            || fault(ErrorClass::Group, "the group is no part of the communicator"),
            Ok,
        )
    };
    if rank == 0 {
        for member in &group.members[1..] {
            let from = WantedTrap {
                source: MessagePartner::Rank(rank_in_old(*member)?),
                tag: Some(tag),
            };
            let mut other = [0_u32];
            library.receive_now(inner, &four(&mut other), from)?;
            number[0] = number[0].max(other[0]);
        }
        for member in &group.members[1..] {
            library.send(
                inner,
                &four(&mut number),
                (Destination::Rank(rank_in_old(*member)?), tag),
                false,
            )?;
        }
    } else {
        let leader = rank_in_old(group.members[0])?;
        library.send(inner, &four(&mut number), (Destination::Rank(leader), tag), false)?;
        library.receive_now(
            inner,
            &four(&mut number),
            WantedTrap {
                source: MessagePartner::Rank(leader),
                tag: Some(tag),
            },
        )?;
    }
    let number = library.take_number(number[0])?;
    Ok(make::<F>(library, old, number, Some(group), |_| ()))
}

/// Checks that a group is part of a communicator.
fn part_of(comm: &Comm, group: &ProcessGroup) -> Answer {
    if group.members.iter().any(|member| comm.group.rank_of(*member).is_none()) {
        return fault(ErrorClass::Group, "the group is no part of the communicator");
    }
    Ok(())
}

/// Frees a communicator.
fn free<F: Face>(library: &Library, handle: ResultPlace<F::Handle>) -> Answer {
    let comm = library.comm::<F>(handle.get()?)?;
    let index = comm.index.get();
    if index == WORLD || index == SELF {
        return fault(ErrorClass::Comm, "a communicator of the standard cannot be freed");
    }
    delete_all::<F>(library, index)?;
    library.comms.borrow_mut().remove(index);
    for comm in [Some(&comm), comm.inner_if_there()].into_iter().flatten() {
        if comm.told.get() {
            let entry = RankEntry {
                kind: kind::FREE_COMMUNICATOR,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            };
            library.append(RankEntry {
                communicator: comm.context.get(),
                ..entry
            });
        }
    }
    handle.set(F::handle(F::C.comm_null))
}

/// The colour of a kind of split: processes with the same part of the machine have the same.
fn colour_of_type<F: Face>(library: &Library, comm: &Comm, split_type: c_int, hints: &Hints) -> Answer<Option<u32>> {
    match i64::from(split_type) {
        number if number == F::C.undefined => Ok(None),
        // What is known of the machine: each process has a part of it for itself.
        number if number == F::C.comm_type_shared => Ok(Some(library.node_of(comm.member(comm.rank)))),
        number if number == F::C.comm_type_hw_guided || number == F::C.comm_type_resource_guided => {
            let shared = hints
                .get("mpi_hw_resource_type")
                .is_some_and(|kind| kind == "mpi_shared_memory");
            Ok(shared.then(|| library.node_of(comm.member(comm.rank))))
        }
        number if number == F::C.comm_type_hw_unguided => Ok(None),
        _ => fault(ErrorClass::Arg, format!("{split_type} is no kind of split")),
    }
}

impl Library {
    /// The node that a rank of the job is on, as far as the library is told: one of its own.
    pub fn node_of(&self, rank: u32) -> u32 {
        rank
    }
}

calls! {
    /// How many members.
    comm_size = "MPI_Comm_size"(comm: F::Handle, size: ResultPlace<c_int>) |library| size.set(library.comm::<F>(comm)?.size() as c_int);

    /// This process' rank.
    comm_rank = "MPI_Comm_rank"(comm: F::Handle, rank: ResultPlace<c_int>) |library| rank.set(library.comm::<F>(comm)?.rank as c_int);

    /// Whether it has two groups: none has.
    comm_test_inter = "MPI_Comm_test_inter"(comm: F::Handle, flag: ResultPlace<c_int>) |library| {
        library.comm::<F>(comm)?;
        flag.set(0)
    };

    /// The group of a communicator.
    comm_group = "MPI_Comm_group"(comm: F::Handle, group: ResultPlace<F::Handle>) |library| {
        let members = library.comm::<F>(comm)?.group.clone();
        group.set(library.keep_group::<F>(members))
    };

    /// The other group of a communicator with two: none has.
    comm_remote_group = "MPI_Comm_remote_group"(comm: F::Handle, _group: ResultPlace<F::Handle>) |library| {
        library.comm::<F>(comm)?;
        fault(ErrorClass::Comm, "the communicator has one group")
    };

    /// The size of that group.
    comm_remote_size = "MPI_Comm_remote_size"(comm: F::Handle, _size: ResultPlace<c_int>) |library| {
        library.comm::<F>(comm)?;
        fault(ErrorClass::Comm, "the communicator has one group")
    };

    /// The processes that started this one: there are none.
    comm_get_parent = "MPI_Comm_get_parent"(parent: ResultPlace<F::Handle>) |library| {
        library.running()?;
        parent.set(F::handle(F::C.comm_null))
    };

    /// How two communicators compare.
    comm_compare = "MPI_Comm_compare"(one: F::Handle, other: F::Handle, result: ResultPlace<c_int>) |library| {
        let (one, other) = (library.comm::<F>(one)?, library.comm::<F>(other)?);
        result.set(comparison::<F>(match one.group.compare(&other.group) {
            Comparison::Identical if one.index.get() != other.index.get() => Comparison::Congruent,
            compared => compared,
        }))
    };

    /// A duplicate.
    comm_dup = "MPI_Comm_dup"(comm: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        duplicate::<F>(library, &comm, None, new)
    };

    /// A duplicate with other hints.
    comm_dup_with_info = "MPI_Comm_dup_with_info"(comm: F::Handle, info: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        let hints = library.some_hints::<F>(info)?;
        duplicate::<F>(library, &comm, Some(hints), new)
    };

    /// Starts a duplicate.
    comm_idup = "MPI_Comm_idup"(comm: F::Handle, new: ResultPlace<F::Handle>, request: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        start_duplicate::<F>(library, &comm, None, (new, request))
    };

    /// Starts a duplicate with other hints.
    comm_idup_with_info = "MPI_Comm_idup_with_info"(
        comm: F::Handle, info: F::Handle, new: ResultPlace<F::Handle>, request: ResultPlace<F::Handle>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let hints = library.some_hints::<F>(info)?;
        start_duplicate::<F>(library, &comm, Some(hints), (new, request))
    };

    /// A communicator of a group; all members of the old one call.
    comm_create = "MPI_Comm_create"(comm: F::Handle, group: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        let group = library.group::<F>(group)?;
        part_of(&comm, &group)?;
        let inside = group.rank_of(comm.member(comm.rank)).map(|_| group);
        new.set(create::<F>(library, &comm, inside, None)?)
    };

    /// A communicator of a group; its members call.
    comm_create_group = "MPI_Comm_create_group"(comm: F::Handle, group: F::Handle, tag: c_int, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        let group = library.group::<F>(group)?;
        part_of(&comm, &group)?;
        new.set(create_of_group::<F>(library, &comm, group, super::tag(tag)?)?)
    };

    /// Communicators by colour.
    comm_split = "MPI_Comm_split"(comm: F::Handle, colour: c_int, key: c_int, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        let colour = match i64::from(colour) {
            number if number == F::C.undefined => None,
            0.. => Some(colour as u32),
            _ => return fault(ErrorClass::Arg, format!("colour {colour} is negative")),
        };
        split_and_make::<F>(library, &comm, (colour, key), new)
    };

    /// Communicators by parts of the machine.
    comm_split_type = "MPI_Comm_split_type"(comm: F::Handle, split_type: c_int, key: c_int, info: F::Handle, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        let colour = colour_of_type::<F>(library, &comm, split_type, &library.some_hints::<F>(info)?)?;
        split_and_make::<F>(library, &comm, (colour, key), new)
    };

    /// Frees a communicator.
    comm_free = "MPI_Comm_free"(comm: ResultPlace<F::Handle>) |library| free::<F>(library, comm);

    /// Waits for what is open on a communicator and frees it.
    comm_disconnect = "MPI_Comm_disconnect"(comm: ResultPlace<F::Handle>) |library| {
        let old = library.comm::<F>(comm.get()?)?;
        tell_all(library, &old, "MPI_Barrier", [0, 0], collective::BARRIER)?;
        free::<F>(library, comm)
    };

    /// Names a communicator.
    comm_set_name = "MPI_Comm_set_name"(comm: F::Handle, name: TextIn) |library| {
        let mut name = name.get()?;
        shorten(&mut name, F::C.max_object_name);
        *library.comm::<F>(comm)?.name.borrow_mut() = name;
        Ok(())
    };

    /// The name of a communicator.
    comm_get_name = "MPI_Comm_get_name"(comm: F::Handle, name: TextOut, length: ResultPlace<c_int>) |library| {
        if F::number(comm) == F::C.comm_null {
            return length.set(name.set("MPI_COMM_NULL", F::C.max_object_name)?);
        }
        let comm = library.comm::<F>(comm)?;
        length.set(name.set(&comm.name.borrow(), F::C.max_object_name)?)
    };

    /// Gives a communicator hints.
    comm_set_info = "MPI_Comm_set_info"(comm: F::Handle, info: F::Handle) |library| {
        let hints = library.some_hints::<F>(info)?;
        library.comm::<F>(comm)?.hints.borrow_mut().extend(hints);
        Ok(())
    };

    /// The hints of a communicator.
    comm_get_info = "MPI_Comm_get_info"(comm: F::Handle, info: ResultPlace<F::Handle>) |library| {
        let hints = library.comm::<F>(comm)?.hints.borrow().clone();
        info.set(library.keep_hints::<F>(hints))
    };
}

/// Cuts a text to what fits with a zero behind it.
pub(super) fn shorten(text: &mut String, most: i64) {
    let mut length = text.len().min((most - 1).max(0) as usize);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
}
