//! What lies where in the shared memory: terms, mailboxes, arena.

use crate::blocks::ArenaState;
use crate::call::{CallName, NAME_WORDS};
use crate::entry::{RankEntry, RankNews};
use crate::lock::SharedLock;
use crate::memory::Mapping;
use std::cell::UnsafeCell;
use std::io::{Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Both sides have to be of one version.
pub const VERSION: u32 = 3;
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
    mailboxes: u64,
    arena: u64,
    pub(crate) arena_state: ArenaState,
    library_lock: SharedLock,
    /// Whether a rank has seen that the launcher is not there any longer.
    abandoned: AtomicU32,
    library: [AtomicU64; LIBRARY_WORDS],
}

/// Between a rank and the simulator. Each group of fields has one writer.
///
/// What an ordinary wait needs lies side by side, in a dozen lines of one page or two: the first news are the last here, and entries after an
/// answer begin at the first place again.
#[repr(C, align(64))]
pub struct RankMailbox {
    news: [UnsafeCell<RankNews>; MOST_NEWS],
    pub(crate) up: RankLine,
    pub(crate) down: HostLine,
    /// Of the library: calls, and whatever else it counts; the last is [`CPU_COUNTER`]. Written by the rank.
    pub counters: [AtomicU64; COUNTERS],
    entries: [UnsafeCell<RankEntry>; RING as usize],
}

impl RankMailbox {
    /// The place of the entry with this number, where the first after the last answer has the number `first`.
    #[inline]
    pub(crate) fn entry(&self, number: u32, first: u32) -> *mut RankEntry {
        self.entries[(number.wrapping_sub(first) % RING) as usize].get()
    }

    /// The place of a piece of news of an answer.
    #[inline]
    pub(crate) fn piece(&self, number: usize) -> *mut RankNews {
        self.news[MOST_NEWS - 1 - number].get()
    }
}

/// Written by the rank.
#[repr(C, align(64))]
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
}

// SAFETY: an entry is written by the rank before the count of written ones says so and read by the simulator after, and not written
// again before the count of read ones says so; news likewise with the count of answers.
unsafe impl Sync for RankMailbox {}

/// The shared memory as one side has it mapped.
#[derive(Debug)]
pub struct SharedArea {
    pub(crate) mapping: Mapping,
}

impl SharedArea {
    /// Makes the memory for a program; with the file for its processes to map.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(terms: SharedTerms) -> Result<(SharedArea, OwnedFd)> {
        let (_, _, bytes) = places(&terms);
        let (mapping, file) = Mapping::create(bytes as usize)?;
        Ok((SharedArea::prepare(mapping, terms), file))
    }

    /// The memory of a program that has no simulator: one process, one rank.
    ///
    /// # Errors
    /// Those of the system.
    pub fn alone(terms: SharedTerms) -> Result<SharedArea> {
        let (_, _, bytes) = places(&terms);
        Ok(SharedArea::prepare(Mapping::alone(bytes as usize)?, terms))
    }

    fn prepare(mapping: Mapping, terms: SharedTerms) -> SharedArea {
        let (mailboxes, arena, _) = places(&terms);
        let preface: *mut Preface = mapping.at(0).cast();
        // SAFETY: the memory is new, large enough, aligned to pages, all zeros, and nobody else has it yet.
        unsafe {
            (*preface).magic = MAGIC;
            (*preface).version = VERSION;
            (*preface).launcher = std::process::id();
            (*preface).terms = terms;
            (*preface).mailboxes = mailboxes;
            (*preface).arena = arena;
        }
        SharedArea { mapping }
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
        let area = SharedArea { mapping };
        let preface = area.preface();
        match (preface.magic, preface.version) {
            (MAGIC, VERSION) => Ok(area),
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
        &self.preface().terms
    }

    /// Whether the process that made this still is: without it no rank is ever answered.
    pub(crate) fn has_launcher(&self) -> bool {
        let launcher = self.preface().launcher;
        // SAFETY: signal 0 asks, and does nothing.
        let is_there = unsafe { libc::kill(launcher as libc::pid_t, 0) } == 0
            || Error::last_os_error().raw_os_error() == Some(libc::EPERM);
        is_there && !has_ended(launcher)
    }

    /// Whether a rank has seen that the launcher has gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.preface().abandoned.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set_abandoned(&self) {
        self.preface().abandoned.store(1, Ordering::Relaxed);
    }

    /// The mailbox of a rank.
    pub fn mailbox(&self, rank: u32) -> &RankMailbox {
        let preface = self.preface();
        assert!(rank < preface.terms.ranks, "a rank that is not there");
        let place = preface.mailboxes + u64::from(rank) * size_of::<RankMailbox>() as u64;
        // SAFETY: inside the memory, aligned, and all zeros is a mailbox.
        unsafe { &*self.mapping.at(place).cast() }
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
        (self.preface().arena, self.preface().terms.arena)
    }
}

/// Whether a process has ended and nobody has asked yet how.
fn has_ended(process: u32) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name before the state is in brackets, and may have any characters.
    let state = about.rsplit(") ").next().and_then(|rest| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}

/// Where mailboxes and arena begin, and the size of all.
fn places(terms: &SharedTerms) -> (u64, u64, u64) {
    let mailboxes = (size_of::<Preface>() as u64).next_multiple_of(PAGE);
    let arena = (mailboxes + u64::from(terms.ranks) * size_of::<RankMailbox>() as u64).next_multiple_of(PAGE);
    (mailboxes, arena, arena + terms.arena.next_multiple_of(PAGE))
}
