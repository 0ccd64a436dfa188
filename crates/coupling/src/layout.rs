//! What lies where in the shared memory: terms, mailboxes, arena.

use crate::blocks::ArenaState;
use crate::call::{CallName, NAME_WORDS};
use crate::entry::{RankEntry, RankNews};
use crate::lock::SharedLock;
use crate::memory::{MailboxPage, Mapping};
use std::cell::UnsafeCell;
use std::io::{Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Both sides have to be of one version.
pub const VERSION: u32 = 4;
const MAGIC: u64 = u64::from_le_bytes(*b"fabricsm");
/// Entries of a ring, a power of two.
pub const RING: u32 = 1024;
/// News of one answer.
pub const MOST_NEWS: usize = 256;
/// Words that the library of the program may use as it likes, all zeros at first.
pub const LIBRARY_WORDS: usize = 1 << 14;
/// Counters of a rank, for the library.
pub const COUNTERS: usize = 16;
/// The counter of this side: CPU time within calls (ns).
pub const CPU_COUNTER: usize = COUNTERS - 1;
const PAGE: u64 = 4096;

/// What all processes have to know.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedTerms {
    /// Ranks of the program.
    pub ranks: u32,
    /// Whose CPU time stretches between calls take: one of [`cpu_of`].
    pub cpu_of: u32,
    /// What that is divided by.
    pub threads: u32,
    /// Whether the program's clocks show simulated time.
    pub virtual_clock: u32,
    /// Whether what large messages say is left out.
    pub drops_data: u32,
    /// The core that all ranks run on, or the number of none.
    pub core: u32,
    /// Room for what messages say (bytes).
    pub arena: u64,
}

/// The number of no core.
pub const NO_CORE: u32 = u32::MAX;

/// Whose CPU time is measured.
pub mod cpu_of {
    /// Nobody's.
    pub const NOTHING: u32 = 0;
    /// That of the thread that calls.
    pub const THREAD: u32 = 1;
    /// That of all threads of the process.
    pub const PROCESS: u32 = 2;
}

impl SharedTerms {
    /// Those of ranks that are measured by nothing and run anywhere.
    pub fn plain(ranks: u32, arena: u64) -> SharedTerms {
        SharedTerms {
            ranks,
            cpu_of: cpu_of::NOTHING,
            threads: 1,
            virtual_clock: 0,
            drops_data: 0,
            core: NO_CORE,
            arena,
        }
    }
}

/// The beginning of the shared memory.
#[repr(C)]
pub(crate) struct Preface {
    magic: u64,
    version: u32,
    /// The process that made it.
    launcher: u32,
    terms: SharedTerms,
    pub(crate) arena_state: ArenaState,
    library_lock: SharedLock,
    library: [AtomicU64; LIBRARY_WORDS],
}

/// News of an answer and entries after it that lie in the mailbox itself; more of them lie in what it has far away.
const NEAR_NEWS: usize = 6;
const NEAR_ENTRIES: usize = 10;

/// Between a rank and the simulator. Each group of fields has one writer.
///
/// What an ordinary wait needs lies side by side, in a dozen lines, and four ranks to a page: the first news are the last here, and entries after an answer
/// begin at the first place again. A page that is not at hand is what a call that waits costs most, on both sides.
#[repr(C, align(1024))]
#[derive(Debug)]
pub struct RankMailbox {
    news: [UnsafeCell<RankNews>; NEAR_NEWS],
    pub(crate) up: RankLine,
    pub(crate) down: HostLine,
    /// Of the library: calls, and whatever else it counts; the last is [`CPU_COUNTER`]. Written by the rank.
    pub counters: [AtomicU64; COUNTERS],
    entries: [UnsafeCell<RankEntry>; NEAR_ENTRIES],
}

const _: () = assert!(size_of::<RankMailbox>() == 1024);

/// What a mailbox has no room for.
#[repr(C, align(64))]
struct FarMailbox {
    news: [UnsafeCell<RankNews>; MOST_NEWS - NEAR_NEWS],
    entries: [UnsafeCell<RankEntry>; RING as usize - NEAR_ENTRIES],
}

/// Written by the rank.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct RankLine {
    /// Entries written so far, modulo 2^32: what the simulator sleeps for.
    pub written: AtomicU32,
    /// The rank is asleep until it is answered, or about to be.
    pub awaits_answer: AtomicU32,
    /// The rank is asleep until its ring has room, or about to be.
    pub awaits_room: AtomicU32,
    /// The number of its process.
    pub process: AtomicU32,
    /// Where it called last: an address.
    pub place: AtomicU64,
    /// What it called, as [`CallName::words`].
    pub call: [AtomicU64; NAME_WORDS],
    /// Whether it is in that call.
    pub inside: AtomicU32,
}

const _: () = assert!(size_of::<RankLine>() == 64);

/// A rank's call that was the last: what is told of one that has crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCall {
    /// Its name.
    pub name: String,
    /// Where it was called: an address.
    pub place: u64,
    /// Whether it has not returned.
    pub is_inside: bool,
}

/// Written by the simulator.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct HostLine {
    /// Entries read so far, modulo 2^32: what the rank sleeps for when its ring is full.
    pub read: AtomicU32,
    /// The simulator is asleep for this rank, or about to be.
    pub sleeps: AtomicU32,
    /// Answers given so far, modulo 2^32: what the rank sleeps for.
    pub answers: AtomicU32,
    /// News of the last answer.
    pub news: AtomicU32,
    /// Whether there are more.
    pub more: AtomicU32,
    /// Entries read when the last answer was given: the next lies at the first place.
    pub first: AtomicU32,
    /// Simulated time of the last answer (ps).
    pub clock: AtomicU64,
    /// Whether a rank has seen that the launcher is not there any longer: written by that rank.
    pub abandoned: AtomicU32,
}

// SAFETY: an entry is written by the rank before the count of written ones says so and read by the simulator after, and not written
// again before the count of read ones says so; news likewise with the count of answers.
unsafe impl Sync for RankMailbox {}
// SAFETY: as above.
unsafe impl Sync for FarMailbox {}

/// The shared memory as one side has it mapped, with what of its beginning does not change: a rank that waits has no other need of that page.
#[derive(Debug)]
pub struct SharedArea {
    pub(crate) mapping: Mapping,
    terms: SharedTerms,
    mailboxes: u64,
    far_mailboxes: u64,
    arena: u64,
}

impl SharedArea {
    /// Makes the memory for a program; with the file for its processes to map.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(terms: SharedTerms) -> Result<(SharedArea, OwnedFd)> {
        let AreaPlaces { bytes, .. } = places(&terms);
        let (mapping, file) = Mapping::create(bytes as usize)?;
        Ok((SharedArea::prepare(mapping, terms), file))
    }

    /// The memory of a program that has no simulator: one process, one rank.
    ///
    /// # Errors
    /// Those of the system.
    pub fn alone(terms: SharedTerms) -> Result<SharedArea> {
        let AreaPlaces { bytes, .. } = places(&terms);
        Ok(SharedArea::prepare(Mapping::alone(bytes as usize)?, terms))
    }

    fn prepare(mapping: Mapping, terms: SharedTerms) -> SharedArea {
        let preface: *mut Preface = mapping.at(0).cast();
        // SAFETY: the memory is new, large enough, aligned to pages, all zeros, and nobody else has it yet.
        unsafe {
            (*preface).magic = MAGIC;
            (*preface).version = VERSION;
            (*preface).launcher = std::process::id();
            (*preface).terms = terms;
        }
        SharedArea::of(mapping, terms)
    }

    fn of(mapping: Mapping, terms: SharedTerms) -> SharedArea {
        let places = places(&terms);
        SharedArea {
            mapping,
            terms,
            mailboxes: places.mailboxes,
            far_mailboxes: places.far_mailboxes,
            arena: places.arena,
        }
    }

    /// Maps the mailbox of a rank at a second place, for that rank itself; where it is found by that rank then.
    pub(crate) fn mailbox_at(
        &self,
        rank: u32,
        file: BorrowedFd<'_>,
        page: &'static MailboxPage,
    ) -> Option<&'static RankMailbox> {
        let place = self.mailbox_place(rank);
        let (start, inside) = (place / PAGE * PAGE, place % PAGE);
        // SAFETY: the page is that of the mailbox now, and stays; a mailbox crosses no border of pages.
        Mapping::also_at(file, start, page).then(|| unsafe { &*page.at(inside).cast() })
    }

    /// Maps the memory that a launcher has made.
    ///
    /// # Errors
    /// Those of the system; the file is none of ours, or of another version.
    pub fn attach(file: BorrowedFd<'_>) -> Result<SharedArea> {
        let mapping = Mapping::attach(file)?;
        if mapping.bytes() < size_of::<Preface>() {
            return Err(Error::other("the file is none of fabricsim's"));
        }
        // SAFETY: there is room for it, and any bytes are one; it was prepared before anybody attaches.
        let preface: &Preface = unsafe { &*mapping.at(0).cast() };
        let terms = preface.terms;
        match (preface.magic, preface.version) {
            (MAGIC, VERSION) => Ok(SharedArea::of(mapping, terms)),
            (MAGIC, version) => Err(Error::other(format!(
                "the launcher speaks version {version}, this library version {VERSION}"
            ))),
            _ => Err(Error::other("the file is none of fabricsim's")),
        }
    }

    pub(crate) fn preface(&self) -> &Preface {
        // SAFETY: prepared before anybody attaches; what changes in it is atomic, or under a lock.
        unsafe { &*self.mapping.at(0).cast() }
    }

    /// What all have to know.
    pub fn terms(&self) -> &SharedTerms {
        &self.terms
    }

    /// Whether the process that made this still is: without it no rank is ever answered.
    pub(crate) fn has_launcher(&self) -> bool {
        let launcher = self.preface().launcher;
        // SAFETY: signal 0 asks, and does nothing.
        let is_there = unsafe { libc::kill(launcher as libc::pid_t, 0) } == 0
            || Error::last_os_error().raw_os_error() == Some(libc::EPERM);
        is_there && !has_ended(launcher)
    }

    /// The mailbox of a rank.
    pub fn mailbox(&self, rank: u32) -> &RankMailbox {
        // SAFETY: inside the memory, aligned, and all zeros is a mailbox.
        unsafe { &*self.mapping.at(self.mailbox_place(rank)).cast() }
    }

    fn mailbox_place(&self, rank: u32) -> u64 {
        assert!(rank < self.terms.ranks, "a rank that is not there");
        self.mailboxes + u64::from(rank) * size_of::<RankMailbox>() as u64
    }

    fn far(&self, rank: u32) -> &FarMailbox {
        assert!(rank < self.terms.ranks, "a rank that is not there");
        let place = self.far_mailboxes + u64::from(rank) * size_of::<FarMailbox>() as u64;
        // SAFETY: inside the memory, aligned, and all zeros is one.
        unsafe { &*self.mapping.at(place).cast() }
    }

    /// The place of a rank's entry with this number, where the first after the last answer has the number `first`; `mailbox` is the rank's.
    #[inline]
    pub(crate) fn entry(&self, rank: u32, mailbox: &RankMailbox, number: u32, first: u32) -> *mut RankEntry {
        let place = (number.wrapping_sub(first) % RING) as usize;
        match mailbox.entries.get(place) {
            Some(near) => near.get(),
            None => self.far(rank).entries[place - NEAR_ENTRIES].get(),
        }
    }

    /// The place of a piece of news of an answer to a rank, whose mailbox this is.
    #[inline]
    pub(crate) fn piece(&self, rank: u32, mailbox: &RankMailbox, number: usize) -> *mut RankNews {
        match number.checked_sub(NEAR_NEWS) {
            None => mailbox.news[NEAR_NEWS - 1 - number].get(),
            Some(far) => self.far(rank).news[far].get(),
        }
    }

    /// The last call of a rank, if it has called.
    pub fn last_call(&self, rank: u32) -> Option<LastCall> {
        let line = &self.mailbox(rank).up;
        let words = line.call.each_ref().map(|word| word.load(Ordering::Relaxed));
        (words[0] != 0).then(|| LastCall {
            name: CallName::text(words),
            place: line.place.load(Ordering::Relaxed),
            is_inside: line.inside.load(Ordering::Relaxed) != 0,
        })
    }

    /// The number of a rank's process, 0 before it has come.
    pub fn process(&self, rank: u32) -> u32 {
        self.mailbox(rank).up.process.load(Ordering::Acquire)
    }

    /// Words for the library to use as it likes, and the lock for them.
    pub fn library(&self) -> (&SharedLock, &[AtomicU64; LIBRARY_WORDS]) {
        let preface = self.preface();
        (&preface.library_lock, &preface.library)
    }

    /// Where the arena begins, and its size.
    pub(crate) fn arena_place(&self) -> (u64, u64) {
        (self.arena, self.terms.arena)
    }
}

/// Whether a process has ended and nobody has asked yet how.
fn has_ended(process: u32) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name before the state is in brackets, and may have any characters.
    let state = about.rsplit(") ").next().and_then(|rest| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

/// Where the parts behind the preface begin, and the size of all (bytes).
struct AreaPlaces {
    mailboxes: u64,
    far_mailboxes: u64,
    arena: u64,
    bytes: u64,
}

fn places(terms: &SharedTerms) -> AreaPlaces {
    let behind = |start: u64, of_one: usize| (start + u64::from(terms.ranks) * of_one as u64).next_multiple_of(PAGE);
    let mailboxes = (size_of::<Preface>() as u64).next_multiple_of(PAGE);
    let far_mailboxes = behind(mailboxes, size_of::<RankMailbox>());
    let arena = behind(far_mailboxes, size_of::<FarMailbox>());
    AreaPlaces {
        mailboxes,
        far_mailboxes,
        arena,
        bytes: arena + terms.arena.next_multiple_of(PAGE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_entries_or_pieces_of_news_share_a_place_and_all_lie_between_preface_and_arena() {
        let area = SharedArea::alone(SharedTerms::plain(5, 1 << 20)).unwrap();
        let start = area.mapping.at(0) as u64;
        let (arena, _) = area.arena_place();
        let mut taken = HashSet::new();
        let mut take = |place: u64, bytes: usize| {
            assert!(place.is_multiple_of(8) && place >= start + size_of::<Preface>() as u64);
            assert!(place + bytes as u64 <= start + arena);
            assert!((place..place + bytes as u64).step_by(8).all(|word| taken.insert(word)));
        };
        for rank in 0..5 {
            let mailbox = area.mailbox(rank);
            take(&raw const mailbox.up as u64, size_of::<RankLine>());
            take(&raw const mailbox.down as u64, size_of::<HostLine>());
            take(&raw const mailbox.counters as u64, size_of_val(&mailbox.counters));
            // Whatever number is the first after an answer.
            let first = u32::MAX - 3 - rank;
            for number in 0..RING {
                let place = area.entry(rank, mailbox, first.wrapping_add(number), first);
                take(place as u64, size_of::<RankEntry>());
            }
            for number in 0..MOST_NEWS {
                take(area.piece(rank, mailbox, number) as u64, size_of::<RankNews>());
            }
        }
    }
}
