//! What is told to the network, and what it tells.

use super::{
    HeardArrival, Library, TimeDependent,
    requests::{EndedRequest, LibraryRequest, MessagePartner, RequestKind, RequestPlace},
};
use crate::{
    communicators::Comm,
    datatypes::{Datatype, named::index_of},
    fault::{Answer, CallFault, ErrorClass, ErrorCode, fault},
};
use coupling::{
    Arena, RankEntry, RankNews, SharedArea,
    entry::{ANY_SOURCE, ANY_TAG, BLOCKING, MOST_REQUESTS, NO_PAYLOAD, flag, kind, news},
};
use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering, time::Duration};

/// Messages up to this size say something even where large ones do not.
const ALWAYS_SAID: u64 = 64;
/// Messages of so many bytes or fewer, and more than none, are said where the block of others is named: most of them are one number, and a block would
/// be three pages more to a rank that wakes.
const IN_A_WORD: u64 = 8;
/// How long a sender waits for room before it gives up.
const PATIENCE: u32 = 5_000;

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere: `MPI_PROC_NULL`.
    Nobody,
    /// To this rank of the communicator.
    Rank(u32),
}

/// What a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedTrap {
    /// From whom.
    pub source: MessagePartner,
    /// With which tag; `None` for any.
    pub tag: Option<u16>,
}

impl Library {
    /// Does something with the shared memory.
    pub fn with_area<T>(&self, what: impl FnOnce(&SharedArea) -> T) -> Answer<T> {
        match self.link.borrow().as_ref() {
            Some(link) => Ok(what(link.area())),
            None => fault(ErrorClass::Other, "MPI is not running"),
        }
    }

    /// An entry of the current call.
    fn placed(entry: RankEntry) -> RankEntry {
        RankEntry {
            place: super::PROCESS.place.load(Ordering::Relaxed),
            ..entry
        }
    }

    /// Tells the network, and goes on.
    #[unsafe(link_section = ".text.hot")]
    pub fn append(&self, entry: RankEntry) {
        if let Some(link) = self.link.borrow_mut().as_mut() {
            link.append(Self::placed(entry));
        }
    }

    /// Tells the network and waits for its answer; returns the message of a blocking receive, if it was one.
    #[unsafe(link_section = ".text.hot")]
    pub fn ask(&self, entry: RankEntry) -> Option<RankNews> {
        let mut told = self.told.take();
        if let Some(link) = self.link.borrow_mut().as_mut() {
            self.tell_counts(link);
            let clock = link.trap(Self::placed(entry), &mut told);
            self.clock.set(clock);
            super::PROCESS.known_time.store(clock, Ordering::Relaxed);
            // What was read before the answer is not needed any more.
            let arena = Arena::of(link.area());
            self.read_soon
                .borrow_mut()
                .drain(..)
                .for_each(|block| arena.free(block));
        }
        let mut blocking = None;
        for piece in told.drain(..) {
            match piece.kind {
                news::COMPLETED if piece.request == BLOCKING => {
                    self.forget_arrival(&piece);
                    blocking = Some(piece);
                }
                news::COMPLETED => self.completed(piece),
                _ => self.arrivals.borrow_mut().push(HeardArrival {
                    source: piece.source,
                    context: piece.communicator,
                    tag: piece.tag,
                    bytes: piece.bytes,
                    payload: piece.payload,
                }),
            }
        }
        self.told.replace(told);
        blocking
    }

    /// A message that a receive has is no arrival any more.
    fn forget_arrival(&self, piece: &RankNews) {
        if piece.had_arrived == 0 {
            return;
        }
        let mut arrivals = self.arrivals.borrow_mut();
        let same = |arrival: &HeardArrival| {
            arrival.source == piece.source && arrival.context == piece.communicator && arrival.tag == piece.tag
        };
        if let Some(place) = arrivals.iter().position(same) {
            arrivals.remove(place);
        }
    }

    /// A request with a name is complete.
    #[unsafe(link_section = ".text.hot")]
    fn completed(&self, piece: RankNews) {
        let Some(index) = self.names.borrow().get(piece.request).copied() else {
            return;
        };
        let Some(request) = self.requests.borrow().get(index).cloned() else {
            return;
        };
        if let RequestKind::Send = &request.kind {
            request.ended.set(Some(EndedRequest::EMPTY));
        } else if let RequestKind::Receive { place, held, probed } = &request.kind {
            let comm = request.comm.as_ref();
            let place = place.borrow();
            if !probed {
                self.forget_arrival(&piece);
            }
            match place.as_ref() {
                Some(place) => request.ended.set(comm.map(|comm| self.receive(comm, place, &piece))),
                None => {
                    held.set(Some((piece.payload, piece.bytes)));
                    request.ended.set(comm.map(|comm| Self::received(comm, &piece)));
                }
            }
        } else {
            self.completed_rarely(&request, &piece);
        }
        if request.given_up.get() {
            self.forget(index, &request);
        }
    }

    /// What is neither a send nor a receive is complete. In a function of its own, so that those two are told by comparisons: a table of jumps is one
    /// more page to a rank that wakes.
    #[cold]
    fn completed_rarely(&self, request: &LibraryRequest, piece: &RankNews) {
        match &request.kind {
            RequestKind::Collective(finish) => {
                let finish = finish.borrow_mut().take();
                let code = finish
                    .map_or(Ok(()), |finish| finish(self))
                    .err()
                    .map(|fault| fault.code);
                request.ended.set(Some(EndedRequest {
                    code,
                    ..EndedRequest::EMPTY
                }));
            }
            RequestKind::TakenBack => {
                eprintln!(
                    "fabricsim: {}a message from rank {} with tag {} came for a receive that MPI_Cancel had ended: on a simulated network \
                     the receives after it do not get it",
                    self.who(),
                    piece.source,
                    piece.tag
                );
                self.end_all(1);
            }
            _ => request.ended.set(Some(EndedRequest::EMPTY)),
        }
    }

    /// The name of a receive that is cancelled stays with the network, under a request of its own.
    pub fn give_back(&self, request: &LibraryRequest) -> Answer {
        let Some(name) = request.name.take() else { return Ok(()) };
        let index = self.keep_request(LibraryRequest::new(request.comm.clone(), RequestKind::TakenBack));
        if let Some(of_name) = self.names.borrow_mut().get_mut(name) {
            *of_name = index;
        }
        self.request(index)?.name.set(Some(name));
        Ok(())
    }

    /// Takes a request that has ended out of all tables.
    #[unsafe(link_section = ".text.hot")]
    pub fn forget(&self, index: u32, request: &LibraryRequest) {
        if let Some(name) = request.name.take() {
            self.names.borrow_mut().remove(name);
        }
        self.remove_request(index);
    }

    /// How a receive ended with this message.
    #[unsafe(link_section = ".text.hot")]
    fn received(comm: &Comm, piece: &RankNews) -> EndedRequest {
        let source = comm
            .group
            .rank_of(piece.source)
            .map_or(MessagePartner::Anybody, MessagePartner::Rank);
        EndedRequest {
            source,
            tag: Some(piece.tag),
            bytes: piece.bytes,
            code: None,
            cancelled: false,
        }
    }

    /// Puts a message into its place; says how the receive ended.
    #[unsafe(link_section = ".text.hot")]
    fn receive(&self, comm: &Comm, place: &RequestPlace, piece: &RankNews) -> EndedRequest {
        self.put(place, (piece.payload, piece.bytes), Self::received(comm, piece))
    }

    /// Copies what a message says to its place, and gives its block back.
    #[unsafe(link_section = ".text.hot")]
    pub fn put(&self, place: &RequestPlace, (said, bytes): (u64, u64), mut ended: EndedRequest) -> EndedRequest {
        let room = place.bytes();
        if bytes > room {
            ended.code = Some(ErrorCode::Class(ErrorClass::Truncate));
            ended.bytes = room;
        }
        if is_in_a_word(bytes) {
            let said = said.to_ne_bytes();
            // SAFETY: the program promised the place until the receive is over; the word has that many bytes.
            unsafe { place.cursor().unpack(said.as_ptr(), bytes as i64) };
        } else if said != NO_PAYLOAD {
            let _ = self.with_area(|area| {
                let arena = Arena::of(area);
                // SAFETY: the program promised the place until the receive is over; the block is ours with that many bytes.
                unsafe { place.cursor().unpack(arena.data(said), bytes as i64) };
                arena.free(said);
            });
        }
        ended
    }

    /// A message that was taken back is no arrival any more, and its block is free.
    pub fn taken_back(&self, entry: &RankEntry) -> Answer {
        let same = |arrival: &HeardArrival| {
            (arrival.context, arrival.tag, arrival.bytes, arrival.payload)
                == (entry.communicator, entry.tag, entry.bytes, entry.payload)
        };
        let place = self.arrivals.borrow().iter().position(same);
        if let Some(place) = place.filter(|_| entry.kind == kind::ISEND) {
            self.arrivals.borrow_mut().remove(place);
        }
        if entry.payload == NO_PAYLOAD || entry.kind != kind::ISEND || is_in_a_word(entry.bytes) {
            return Ok(());
        }
        self.with_area(|area| Arena::of(area).free(entry.payload))
    }

    /// Room in the shared memory; waits while there is none.
    #[unsafe(link_section = ".text.hot")]
    pub fn room(&self, bytes: u64) -> Answer<u64> {
        for _ in 0..PATIENCE {
            if let Some(block) = self.with_area(|area| Arena::of(area).allocate(bytes))? {
                return Ok(block);
            }
            if self.with_area(|area| bytes >= area.terms().arena)? {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        fault(
            ErrorClass::NoMem,
            format!("the memory for messages has no room for {bytes} bytes: give the program a larger arena"),
        )
    }

    /// A block with bytes that `write` puts there; none for no bytes.
    pub fn block(&self, bytes: u64, write: impl FnOnce(*mut u8)) -> Answer<u64> {
        if bytes == 0 {
            return Ok(NO_PAYLOAD);
        }
        let block = self.room(bytes)?;
        self.with_area(|area| write(Arena::of(area).data(block)))?;
        Ok(block)
    }

    /// A block with the data of a place; none where they are not said.
    #[unsafe(link_section = ".text.hot")]
    pub fn packed(&self, place: &RequestPlace) -> Answer<u64> {
        let bytes = place.bytes();
        if bytes > ALWAYS_SAID && self.with_area(|area| area.terms().drops_data != 0)? {
            return Ok(NO_PAYLOAD);
        }
        // SAFETY: the program promises the data until the call is over; the block has room for them.
        self.block(bytes, |to| unsafe { place.cursor().pack(to) })
    }

    /// What a message says: its bytes themselves, or a block with them; none where they are not said.
    #[unsafe(link_section = ".text.hot")]
    fn said(&self, place: &RequestPlace) -> Answer<u64> {
        let bytes = place.bytes();
        if !is_in_a_word(bytes) {
            return self.packed(place);
        }
        let mut said = [0; IN_A_WORD as usize];
        // SAFETY: the program promises the data until the call is over; the word has room for them.
        unsafe { place.cursor().pack(said.as_mut_ptr()) };
        Ok(u64::from_ne_bytes(said))
    }

    /// A block that goes with the next answer, when everything told before it has been read.
    pub fn until_read(&self, block: u64) {
        if block != NO_PAYLOAD {
            self.read_soon.borrow_mut().push(block);
        }
    }

    /// Tells the network who the members are, the first time.
    #[unsafe(link_section = ".text.hot")]
    pub fn introduce(&self, comm: &Comm) -> Answer {
        if comm.told.replace(true) {
            return Ok(());
        }
        let bytes = comm.group.members.len() as u64 * 4;
        let block = self.block(bytes, |to| {
            for (place, member) in comm.group.members.iter().enumerate() {
                // SAFETY: the block has four bytes for each member.
                unsafe { to.cast::<u32>().add(place).write(*member) };
            }
        })?;
        self.append(RankEntry {
            kind: kind::COMMUNICATOR,
            communicator: comm.context.get(),
            bytes,
            payload: block,
            ..RankEntry::default()
        });
        self.until_read(block);
        Ok(())
    }

    /// Gives a request a name on the network.
    #[unsafe(link_section = ".text.hot")]
    pub fn name(&self, index: u32) -> Answer<u32> {
        let name = self.names.borrow_mut().insert(index);
        if name >= MOST_REQUESTS {
            self.names.borrow_mut().remove(name);
            return fault(
                ErrorClass::Other,
                format!("more than {MOST_REQUESTS} requests are open"),
            );
        }
        self.request(index)?.name.set(Some(name));
        Ok(name)
    }

    /// Starts a send; returns the index of its request.
    #[unsafe(link_section = ".text.hot")]
    pub fn post_send(
        &self,
        comm: &Rc<Comm>,
        place: &RequestPlace,
        to: (Destination, u16),
        synchronous: bool,
    ) -> Answer<u32> {
        let Destination::Rank(rank) = to.0 else {
            return Ok(self.keep_request(LibraryRequest::done(Some(comm.clone()), EndedRequest::NOBODY)));
        };
        let entry = self.sending(comm, place, (rank, to.1), synchronous)?;
        let index = self.keep_request(LibraryRequest::new(Some(comm.clone()), RequestKind::Send));
        self.append(RankEntry {
            kind: kind::ISEND,
            request: self.name(index)?,
            ..entry
        });
        Ok(index)
    }

    /// Sends and waits.
    #[unsafe(link_section = ".text.hot")]
    pub fn send(&self, comm: &Rc<Comm>, place: &RequestPlace, to: (Destination, u16), synchronous: bool) -> Answer {
        if let Destination::Rank(rank) = to.0 {
            let entry = self.sending(comm, place, (rank, to.1), synchronous)?;
            self.ask(RankEntry {
                kind: kind::SEND,
                ..entry
            });
        }
        Ok(())
    }

    /// Starts a send of so many bytes that say nothing; returns the index of its request.
    pub fn post_size(&self, comm: &Rc<Comm>, bytes: u64, to: (Destination, u16)) -> Answer<u32> {
        let nothing = RequestPlace {
            address: std::ptr::null_mut(),
            count: 0,
            of: self.byte(),
        };
        let Destination::Rank(rank) = to.0 else {
            return self.post_send(comm, &nothing, to, false);
        };
        let entry = self.sending(comm, &nothing, (rank, to.1), false)?;
        let index = self.keep_request(LibraryRequest::new(Some(comm.clone()), RequestKind::Send));
        self.append(RankEntry {
            kind: kind::ISEND,
            request: self.name(index)?,
            bytes,
            ..entry
        });
        Ok(index)
    }

    /// The datatype of bytes.
    pub fn byte(&self) -> Rc<Datatype> {
        let index = index_of(|constants| constants.byte);
        self.type_at(index).unwrap_or_else(|| Rc::new(Datatype::of_name(index)))
    }

    /// The entry of a send.
    #[unsafe(link_section = ".text.hot")]
    fn sending(
        &self,
        comm: &Comm,
        place: &RequestPlace,
        (rank, tag): (u32, u16),
        synchronous: bool,
    ) -> Answer<RankEntry> {
        self.introduce(comm)?;
        Ok(RankEntry {
            flags: if synchronous { flag::SYNCHRONOUS } else { 0 },
            tag,
            communicator: comm.context.get(),
            peer: comm.member(rank),
            request: BLOCKING,
            bytes: place.bytes(),
            payload: self.said(place)?,
            ..RankEntry::default()
        })
    }

    /// The entry of a receive.
    #[unsafe(link_section = ".text.hot")]
    fn receiving(&self, comm: &Comm, room: u64, wanted: WantedTrap) -> Answer<RankEntry> {
        self.introduce(comm)?;
        Ok(RankEntry {
            tag: wanted.tag.unwrap_or(ANY_TAG),
            communicator: comm.context.get(),
            peer: if let MessagePartner::Rank(rank) = wanted.source {
                comm.member(rank)
            } else {
                self.count(TimeDependent::AnySource);
                ANY_SOURCE
            },
            request: BLOCKING,
            bytes: room,
            payload: NO_PAYLOAD,
            ..RankEntry::default()
        })
    }

    /// Starts a receive, into a place or until somebody asks for the message; returns the index of its request.
    #[unsafe(link_section = ".text.hot")]
    pub fn post_receive(&self, comm: &Rc<Comm>, place: Option<RequestPlace>, wanted: WantedTrap) -> Answer<u32> {
        if wanted.source == MessagePartner::Nobody {
            return Ok(self.keep_request(LibraryRequest::done(Some(comm.clone()), EndedRequest::NOBODY)));
        }
        // A receive for a message that a probe has taken gets its room later.
        let entry = self.receiving(comm, place.as_ref().map_or(0, RequestPlace::bytes), wanted)?;
        let kind = RequestKind::Receive {
            probed: place.is_none(),
            place: RefCell::new(place),
            held: None.into(),
        };
        let index = self.keep_request(LibraryRequest::new(Some(comm.clone()), kind));
        self.append(RankEntry {
            kind: kind::IRECV,
            request: self.name(index)?,
            ..entry
        });
        Ok(index)
    }

    /// Receives and waits.
    #[unsafe(link_section = ".text.hot")]
    pub fn receive_now(&self, comm: &Rc<Comm>, place: &RequestPlace, wanted: WantedTrap) -> Answer<EndedRequest> {
        if wanted.source == MessagePartner::Nobody {
            return Ok(EndedRequest::NOBODY);
        }
        let entry = self.receiving(comm, place.bytes(), wanted)?;
        let told = self.ask(RankEntry {
            kind: kind::RECV,
            ..entry
        });
        self.got(comm, place, told)
    }

    /// Sends and receives at once, and waits for both.
    #[unsafe(link_section = ".text.hot")]
    pub fn send_and_receive(
        &self,
        comm: &Rc<Comm>,
        sent: (&RequestPlace, u32, u16),
        place: &RequestPlace,
        wanted: WantedTrap,
    ) -> Answer<EndedRequest> {
        let send = self.sending(comm, sent.0, (sent.1, sent.2), false)?;
        let receive = self.receiving(comm, place.bytes(), wanted)?;
        self.append(RankEntry {
            kind: kind::SENDRECV,
            ..send
        });
        let told = self.ask(RankEntry {
            kind: kind::RECV,
            ..receive
        });
        self.got(comm, place, told)
    }

    #[unsafe(link_section = ".text.hot")]
    fn got(&self, comm: &Comm, place: &RequestPlace, told: Option<RankNews>) -> Answer<EndedRequest> {
        match told {
            Some(piece) => Ok(self.receive(comm, place, &piece)),
            None => fault(ErrorClass::Intern, "a receive is over and has no message"),
        }
    }
}

/// Whether what a message says stands in place of its block.
#[inline]
fn is_in_a_word(bytes: u64) -> bool {
    (1..=IN_A_WORD).contains(&bytes)
}

/// The fault of an operation that ended badly.
pub fn fault_of(ended: &EndedRequest) -> Answer {
    match ended.code {
        None => Ok(()),
        Some(code) => Err(CallFault {
            code,
            text: match code {
                ErrorCode::Class(ErrorClass::Truncate) => {
                    format!("a message did not fit into the {} bytes of its receive", ended.bytes)
                }
                _ => String::new(),
            },
            quiet: false,
        }),
    }
}
