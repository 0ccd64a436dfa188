//! Collective operations: blocking, non-blocking and persistent ones are the same plan, carried out now, started, or kept.
//!
//! Data go through shared memory: a member puts in what it brings, tells the network of the operation, and when the network lets it go it
//! takes what is for it from what the others brought. What the operation costs is the network's model of it; nothing else is sent.

mod barrier;
mod combining;
mod moving;
mod neighbours;
mod reducing;

pub use barrier::*;
pub use moving::*;
pub use neighbours::*;
pub use reducing::*;

pub(super) use combining::{OperandCombiner, combine_places, combiner};

use crate::{
    arguments::ResultPlace,
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{
        Destination, Library,
        progress::WantedTrap,
        requests::{EndedRequest, Finish, LibraryRequest, MessagePartner, RequestKind, RequestPlace, RequestStart},
    },
    link::contributions::{Contributions, OperationName, Shared},
};
use coupling::{
    Arena, RankEntry,
    entry::{NO_PAYLOAD, collective, kind},
};
use std::{cell::RefCell, rc::Rc};

/// What a plan is to become.
pub(super) enum CollectiveWay<F: Face> {
    /// Carried out.
    Now,
    /// Started: the request goes here.
    RequestStart(ResultPlace<F::Handle>),
    /// Kept for later starts: the request goes here.
    Keep(ResultPlace<F::Handle>),
}

/// What the network is told.
pub(super) enum ToldCollective {
    /// A collective operation: kind, rank of the root, bytes, and the bytes to each member of an all-to-all of sizes of its own.
    Operation(u16, u32, u64, Option<Vec<u64>>),
    /// Messages of so many bytes between ranks that differ in one bit, bit by bit: how scans are done.
    Rounds(u64),
}

/// What a member brings: a block and its bytes.
pub(super) type Brought = (u64, u64);

/// Puts in what a member brings.
pub(super) type Bring = Box<dyn Fn(&Library) -> Answer<Brought>>;

/// Takes what is for a member from what the others brought.
pub(super) type Take = Box<dyn Fn(&Library, &CollectiveMeeting) -> Answer>;

/// A collective operation, ready to be carried out.
pub(super) struct CollectivePlan {
    pub comm: Rc<Comm>,
    /// Its name in messages.
    pub name: &'static str,
    /// What members must agree on besides the name: the root.
    pub root: u32,
    pub told: ToldCollective,
    pub bring: Bring,
    pub take: Take,
}

/// A collective operation that this process takes part in.
pub(super) struct CollectiveMeeting {
    comm: Rc<Comm>,
    operation: Contributions,
}

impl CollectiveMeeting {
    /// What a member brought.
    pub fn data(&self, library: &Library, member: u32) -> Answer<&[u8]> {
        let found =
            library.with_area(|area| self.operation.of(area, member).map(|data| (data.as_ptr(), data.len())))?;
        match found {
            // SAFETY: what members brought stays until all have left, and leaving consumes this.
            Some((data, bytes)) => Ok(unsafe { std::slice::from_raw_parts(data, bytes) }),
            None => fault(
                ErrorClass::Intern,
                format!("rank {member} has not come to a collective operation that is over"),
            ),
        }
    }

    /// The part for this process of what a member brought for each.
    pub fn part(&self, library: &Library, member: u32) -> Answer<&[u8]> {
        Ok(part(self.data(library, member)?, self.comm.rank as usize))
    }

    /// The common result, computed by whoever comes first.
    pub fn result(&self, library: &Library, compute: impl FnOnce() -> Answer<u64>) -> Answer<&[u8]> {
        let block = match library.with_area(|area| self.operation.result(area))? {
            Shared::There(block) => block,
            Shared::Mine => {
                let computed = compute();
                let block = *computed.as_ref().unwrap_or(&NO_PAYLOAD);
                library.with_area(|area| self.operation.computed(area, block))?;
                computed?
            }
        };
        if block == NO_PAYLOAD {
            return Ok(&[]);
        }
        let (data, bytes) = library.with_area(|area| (Arena::of(area).data(block), Arena::of(area).bytes(block)))?;
        // SAFETY: the result stays until all have left, and leaving consumes this.
        Ok(unsafe { std::slice::from_raw_parts(data, bytes as usize) })
    }

    /// Nothing of it is read any more.
    fn leave(self, library: &Library) -> Answer {
        library.with_area(|area| self.operation.leave(area))
    }
}

/// A part of data that begin with a table of ends.
fn part(data: &[u8], number: usize) -> &[u8] {
    let end = |number: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&data[number * 8..number * 8 + 8]);
        u64::from_le_bytes(bytes) as usize
    };
    if data.is_empty() {
        data
    } else {
        &data[end(number)..end(number + 1)]
    }
}

/// A block of the data of places, with a table of ends at its beginning.
pub(super) fn bring_many(library: &Library, places: &[RequestPlace]) -> Answer<Brought> {
    let table = (places.len() as u64 + 1) * 8;
    let bytes = table + places.iter().map(RequestPlace::bytes).sum::<u64>();
    if bytes == table || library.with_area(|area| area.terms().drops_data != 0)? && bytes - table > 64 {
        return Ok((NO_PAYLOAD, 0));
    }
    let block = library.block(bytes, |to| {
        let mut at = table;
        for (number, place) in places.iter().enumerate() {
            // SAFETY: the block has room for the table and all data, which the program promised.
            unsafe {
                to.cast::<u64>().add(number).write(at);
                place.cursor().pack(to.add(at as usize));
            }
            at += place.bytes();
        }
        // SAFETY: the last entry of the table.
        unsafe { to.cast::<u64>().add(places.len()).write(at) };
    })?;
    Ok((block, bytes))
}

/// The data of a place.
pub(super) fn bring(library: &Library, place: &RequestPlace) -> Answer<Brought> {
    let block = library.packed(place)?;
    Ok((block, if block == NO_PAYLOAD { 0 } else { place.bytes() }))
}

/// Nothing.
pub(super) fn bring_nothing(_library: &Library) -> Answer<Brought> {
    Ok((NO_PAYLOAD, 0))
}

/// Copies data to a place.
pub(super) fn put(place: &RequestPlace, data: &[u8]) -> Answer {
    if data.len() as u64 > place.bytes() {
        let text = format!(
            "{} bytes of a collective operation do not fit into {}",
            data.len(),
            place.bytes()
        );
        return fault(ErrorClass::Truncate, text);
    }
    // SAFETY: the program promised the place until the operation is over.
    unsafe { place.cursor().unpack(data.as_ptr(), data.len() as i64) };
    Ok(())
}

/// Copies from one place of the program to another.
pub(super) fn copy(from: &RequestPlace, to: &RequestPlace) -> Answer {
    let mut packed = vec![0; from.bytes() as usize];
    // SAFETY: the program promised the data.
    unsafe { from.cursor().pack(packed.as_mut_ptr()) };
    put(to, &packed)
}

impl CollectivePlan {
    /// Does with the plan what is wanted.
    pub fn go<F: Face>(self, library: &Library, way: CollectiveWay<F>) -> Answer {
        match way {
            CollectiveWay::Now => self.run(library),
            CollectiveWay::RequestStart(request) => {
                let index = Rc::new(self).start(library)?;
                request.set(library.request_handle::<F>(index))
            }
            CollectiveWay::Keep(request) => {
                let plan = Rc::new(self);
                let on = plan.comm.clone();
                let start: RequestStart = Box::new(move |library| plan.clone().start(library));
                keep::<F>(library, &on, start, request)
            }
        }
    }

    /// Brings what is to be brought.
    fn meet(&self, library: &Library) -> Answer<CollectiveMeeting> {
        let brought = (self.bring)(library)?;
        let name = OperationName {
            communicator: self.comm.identity(),
            number: self.comm.next_collective(),
            members: self.comm.size(),
        };
        let what = code_of(self.name) << 32 | u64::from(self.root);
        match library.with_area(|area| Contributions::enter(area, name, self.comm.rank, brought, what))? {
            Ok(operation) => Ok(CollectiveMeeting {
                comm: self.comm.clone(),
                operation,
            }),
            Err(Some(other)) => {
                let (theirs, root) = (name_of(other >> 32), other as u32);
                let text = format!(
                    "{} with root {} is this process' collective operation number {} on the communicator, and {theirs} with root {root} that of others",
                    self.name, self.root, name.number
                );
                fault(ErrorClass::NotSame, text)
            }
            Err(None) => fault(
                ErrorClass::NoMem,
                "the memory for messages is full: give the program a larger arena",
            ),
        }
    }

    /// The entry of the operation.
    fn entry(
        &self,
        library: &Library,
        kind: u8,
        (tag, root, bytes): (u16, u32, u64),
        sizes: Option<&Vec<u64>>,
    ) -> Answer<RankEntry> {
        library.introduce(&self.comm)?;
        let payload = match sizes {
            None => NO_PAYLOAD,
            Some(sizes) => library.block(sizes.len() as u64 * 8, |to| {
                for (place, size) in sizes.iter().enumerate() {
                    // SAFETY: the block has eight bytes for each size.
                    unsafe { to.cast::<u64>().add(place).write(*size) };
                }
            })?,
        };
        library.until_read(payload);
        Ok(RankEntry {
            kind,
            tag,
            communicator: self.comm.context.get(),
            peer: root,
            bytes,
            payload,
            ..RankEntry::default()
        })
    }

    fn run(&self, library: &Library) -> Answer {
        let meeting = self.meet(library)?;
        if self.comm.size() > 1 {
            match &self.told {
                ToldCollective::Operation(tag, root, bytes, sizes) => {
                    library.ask(self.entry(library, kind::COLLECTIVE, (*tag, *root, *bytes), sizes.as_ref())?);
                }
                ToldCollective::Rounds(bytes) => rounds(library, &self.comm, *bytes)?,
            }
        }
        let taken = (self.take)(library, &meeting);
        meeting.leave(library)?;
        taken
    }

    /// Starts it; returns the index of its request.
    fn start(self: Rc<Self>, library: &Library) -> Answer<u32> {
        let meeting = self.meet(library)?;
        let comm = self.comm.clone();
        if comm.size() == 1 {
            let taken = (self.take)(library, &meeting);
            meeting.leave(library)?;
            taken?;
            return Ok(library.keep_request(LibraryRequest::done(Some(comm), EndedRequest::EMPTY)));
        }
        // Without a process that goes on by itself there are no rounds: a scan that does not wait costs what combining everywhere does.
        let (tag, root, bytes, sizes) = match &self.told {
            ToldCollective::Operation(tag, root, bytes, sizes) => (*tag, *root, *bytes, sizes.as_ref()),
            ToldCollective::Rounds(bytes) => (collective::ALLREDUCE, 0, *bytes, None),
        };
        let entry = self.entry(library, kind::ICOLLECTIVE, (tag, root, bytes), sizes)?;
        let plan = self.clone();
        let finish: Finish = Box::new(move |library| {
            let taken = (plan.take)(library, &meeting);
            meeting.leave(library)?;
            taken
        });
        let kind = RequestKind::Collective(RefCell::new(Some(finish)));
        let index = library.keep_request(LibraryRequest::new(Some(comm), kind));
        library.append(RankEntry {
            request: library.name(index)?,
            ..entry
        });
        Ok(index)
    }
}

/// Names of operations, as members compare them.
const NAMES: [&str; 20] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_create",
];

fn code_of(name: &str) -> u64 {
    NAMES
        .iter()
        .position(|known| *known == name)
        .map_or(NAMES.len() as u64, |place| place as u64)
}

fn name_of(code: u64) -> &'static str {
    NAMES.get(code as usize).copied().unwrap_or("another operation")
}

/// Keeps a persistent operation; its request goes to `request`.
pub(super) fn keep<F: Face>(
    library: &Library,
    comm: &Rc<Comm>,
    start: RequestStart,
    request: ResultPlace<F::Handle>,
) -> Answer {
    let kind = RequestKind::Persistent {
        start,
        active: None.into(),
    };
    let index = library.keep_request(LibraryRequest::new(Some(comm.clone()), kind));
    request.set(library.request_handle::<F>(index))
}

/// The tag of the messages of scans: none that operations of neighbours have.
const ROUNDS: u16 = 60_001;

/// Exchanges messages of so many bytes with the ranks whose number differs in one bit, bit by bit.
fn rounds(library: &Library, comm: &Rc<Comm>, bytes: u64) -> Answer {
    let inner = comm.inner();
    let nothing = RequestPlace {
        address: std::ptr::null_mut(),
        count: 0,
        of: library.byte(),
    };
    let mut bit = 1;
    while bit < comm.size() {
        let other = comm.rank ^ bit;
        if other < comm.size() {
            let wanted = WantedTrap {
                source: MessagePartner::Rank(other),
                tag: Some(ROUNDS),
            };
            let receive = library.post_receive(inner, Some(nothing.clone()), wanted)?;
            let send = library.post_size(inner, bytes, (Destination::Rank(other), ROUNDS))?;
            library.wait_for(&[receive, send])?;
            library.let_go(receive)?;
            library.let_go(send)?;
        }
        bit <<= 1;
    }
    Ok(())
}

/// Declares the three ways of an operation: now, started, kept.
macro_rules! three_ways {
    ($(
        $(#[$about:meta])*
        $now:ident $now_label:literal, $start:ident $start_label:literal, $keep:ident $keep_label:literal
        <$($count:ident),*> ($($argument:ident: $kind:ty),* $(,)?) $plan:expr;
    )+) => {$(
        $crate::library::calls! {
            $(#[$about])*
            $now<$($count),*> = $now_label($($argument: $kind),*) |library| {
                $plan(library, $crate::calls::collectives::CollectiveWay::<F>::Now)
            };

            $(#[$about])*
            /// Returns at once.
            $start<$($count),*> = $start_label($($argument: $kind,)* request: $crate::arguments::ResultPlace<F::Handle>) |library| {
                $plan(library, $crate::calls::collectives::CollectiveWay::<F>::RequestStart(request))
            };

            $(#[$about])*
            /// Once for each time that its request is started.
            $keep<$($count),*> = $keep_label(
                $($argument: $kind,)* _info: F::Handle, request: $crate::arguments::ResultPlace<F::Handle>,
            ) |library| {
                $plan(library, $crate::calls::collectives::CollectiveWay::<F>::Keep(request))
            };
        }
    )+};
}

pub(crate) use three_ways;
