//! The rank's side: it tells what it does, and waits only where it has to know what came of it.

use crate::arena::Arena;
use crate::call::NAME_WORDS;
use crate::entry::{RankEntry, RankNews, flag, kind};
use crate::environment::{RankSeat, VARIABLE, WAIT_VARIABLE};
use crate::futex;
use crate::layout::{CPU_COUNTER, NO_CORE, RING, RankMailbox, SharedArea, SharedTerms};
use crate::memory::MailboxPage;
use crate::stretches::StretchWatch;
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

/// Sleeps between looks at whether the launcher still is, of the ranks that look: one of so many. The others sleep until they are woken, since a sleep
/// that ends by itself costs a timer each.
const SLICE: Duration = Duration::from_secs(1);
const LOOKS: u32 = 16;
/// How often a rank that has seen the launcher gone wakes the others, who may just have been about to sleep.
const CALLS: u32 = 10;

/// What a rank speaks through. One thread at a time.
#[derive(Debug)]
pub struct RankSide {
    area: SharedArea,
    rank: u32,
    /// Its mailbox where it has set a page aside for it.
    near: Option<&'static RankMailbox>,
    watch: StretchWatch,
    /// Entries written so far, modulo 2^32, of which the simulator is told when the rank waits.
    written: u32,
    /// The same when it was told last.
    told: u32,
    /// The same when it was answered last: the next entry lies at the first place.
    first: u32,
    /// The mark of the next entry: that of the first of its call, or none.
    mark: u8,
}

impl RankSide {
    /// That of this process, as its launcher has said, its mailbox in the page that is set aside for it; `None` where no launcher of fabricsim has started it.
    ///
    /// # Errors
    /// What the launcher has said cannot be used, and why.
    pub fn of_process(page: Option<&'static MailboxPage>) -> Result<Option<RankSide>> {
        let Some(value) = std::env::var_os(VARIABLE) else {
            return Ok(None);
        };
        let seat = RankSeat::of(&value.to_string_lossy()).map_err(Error::other)?;
        only_one_library()?;
        // SAFETY: the launcher has opened the file for us, and only this call takes it.
        let file = unsafe { OwnedFd::from_raw_fd(seat.file) };
        let area = SharedArea::attach(file.as_fd())?;
        if area.terms().ranks != seat.ranks {
            return Err(Error::other("the shared memory is of another program"));
        }
        if std::env::var_os(WAIT_VARIABLE).is_some() {
            wait_for_debugger(seat.rank);
        }
        let side = RankSide::new(area, seat.rank);
        Ok(Some(match page {
            Some(page) => side.beside(file.as_fd(), page),
            None => side,
        }))
    }

    /// That of a rank of a memory.
    pub fn new(area: SharedArea, rank: u32) -> RankSide {
        let mailbox = area.mailbox(rank);
        mailbox.up.process.store(std::process::id(), Ordering::Release);
        let written = mailbox.up.written.load(Ordering::Relaxed);
        let first = mailbox.down.first.load(Ordering::Acquire);
        let watch = StretchWatch::new(area.terms());
        RankSide {
            area,
            rank,
            near: None,
            watch,
            written,
            told: written,
            first,
            mark: 0,
        }
    }

    /// With its mailbox in a page that is set aside for it, where the system can do that; `file` is that of the memory.
    #[must_use]
    pub fn beside(mut self, file: BorrowedFd<'_>, page: &'static MailboxPage) -> RankSide {
        self.near = self.area.mailbox_at(self.rank, file, page);
        self
    }

    /// Goes where the launcher wants all ranks to run.
    pub fn settle(&self) {
        let core = self.area.terms().core;
        if core != NO_CORE {
            crate::processes::stay_on(core);
        }
    }

    /// Its number.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// What all ranks know.
    pub fn terms(&self) -> &SharedTerms {
        self.area.terms()
    }

    /// The shared memory.
    pub fn area(&self) -> &SharedArea {
        &self.area
    }

    /// Room for what messages say.
    pub fn arena(&self) -> Arena<'_> {
        Arena::of(&self.area)
    }

    /// A call of the program begins, of the name that [`CallName::words`](crate::CallName::words) spell, from this address: what the rank has
    /// computed since the last is told with the next entry.
    #[inline]
    pub fn enter(&mut self, call: [u64; NAME_WORDS], place: u64) {
        self.mark = flag::CALL;
        let up = &self.mailbox().up;
        for (there, word) in up.call.iter().zip(call) {
            there.store(word, Ordering::Relaxed);
        }
        up.place.store(place, Ordering::Relaxed);
        up.inside.store(1, Ordering::Relaxed);
        self.watch.enter();
    }

    /// A call of the program ends.
    #[inline]
    pub fn leave(&mut self) {
        let in_calls = self.watch.leave();
        self.count_cpu(in_calls);
        self.mailbox().up.inside.store(0, Ordering::Relaxed);
    }

    fn count_cpu(&self, ns: u64) {
        if ns > 0 {
            let counter = &self.mailbox().counters[CPU_COUNTER];
            // Nobody else writes it.
            counter.store(counter.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
        }
    }

    /// Tells what the rank does, and goes on.
    #[inline]
    pub fn append(&mut self, mut entry: RankEntry) {
        entry.compute = std::mem::take(&mut self.watch.computed);
        entry.flags |= std::mem::take(&mut self.mark);
        self.put(entry);
    }

    /// Lets the simulator know of all that was told, without waiting: the rank may not come again.
    pub fn flush(&mut self) {
        self.tell();
        self.wake_host();
    }

    /// Tells what the rank does and waits for what comes of it; returns the simulated time (ps). Every piece of news goes to `take`, in
    /// the order in which it happened.
    #[inline]
    pub fn trap(&mut self, mut entry: RankEntry, mut take: impl FnMut(RankNews)) -> u64 {
        entry.flags |= flag::TRAP | std::mem::take(&mut self.mark);
        entry.compute = std::mem::take(&mut self.watch.computed);
        loop {
            let seen = self.mailbox().down.answers.load(Ordering::Acquire);
            self.put(entry);
            self.tell();
            self.wait_for_answer(seen);
            // The simulator has read all of it.
            self.first = self.written;
            let mailbox = self.mailbox();
            let down = &mailbox.down;
            let clock = down.clock.load(Ordering::Relaxed);
            for number in 0..down.news.load(Ordering::Relaxed) as usize {
                // SAFETY: the answer was given after they were written, and the next is not before we ask again.
                take(unsafe { *self.area.piece(self.rank, mailbox, number) });
            }
            if down.more.load(Ordering::Relaxed) == 0 {
                let waiting = self.watch.go_on();
                self.count_cpu(waiting);
                return clock;
            }
            entry = RankEntry {
                kind: kind::MORE,
                flags: flag::TRAP,
                ..RankEntry::default()
            };
        }
    }

    /// Its mailbox.
    #[inline]
    pub fn mailbox(&self) -> &RankMailbox {
        self.near.unwrap_or_else(|| self.area.mailbox(self.rank))
    }

    #[inline]
    fn put(&mut self, entry: RankEntry) {
        if self
            .written
            .wrapping_sub(self.mailbox().down.read.load(Ordering::Acquire))
            >= RING
        {
            self.wait_for_room();
        }
        // SAFETY: the simulator has read what was here before, and reads this when it has been told.
        unsafe { *self.area.entry(self.rank, self.mailbox(), self.written, self.first) = entry };
        self.written = self.written.wrapping_add(1);
    }

    /// Lets the simulator read what has been written. Up to here stretches are told in steps of the processor's counter.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".text.hot"))]
    fn tell(&mut self) {
        if let Some((a_step, in_calls)) = self.watch.look() {
            self.count_cpu(in_calls);
            let mut place = self.told;
            while place != self.written {
                // SAFETY: the simulator does not read it before the count says so.
                let entry = unsafe { &mut *self.area.entry(self.rank, self.mailbox(), place, self.first) };
                entry.compute = (entry.compute as f64 * a_step) as u64;
                place = place.wrapping_add(1);
            }
        }
        self.told = self.written;
        self.mailbox().up.written.store(self.written, Ordering::Release);
    }

    #[cold]
    fn wait_for_room(&mut self) {
        self.tell();
        loop {
            let mailbox = self.mailbox();
            let read = mailbox.down.read.load(Ordering::Acquire);
            if self.written.wrapping_sub(read) < RING {
                break;
            }
            // The simulator reads on when it is this rank's turn; it may be asleep for these very entries.
            self.wake_host();
            mailbox.up.awaits_room.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.sleep(&mailbox.down.read, read);
        }
        let waiting = self.watch.go_on();
        self.count_cpu(waiting);
    }

    fn wake_host(&self) {
        let mailbox = self.mailbox();
        fence(Ordering::SeqCst);
        if mailbox.down.sleeps.swap(0, Ordering::Relaxed) != 0 {
            futex::wake(&mailbox.up.written, 1);
        }
    }

    /// Sleeps while `word` is `value`. A rank whose launcher has gone ends: one that another program has started would stay for ever.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".text.hot"))]
    fn sleep(&self, word: &AtomicU32, value: u32) {
        if self.mailbox().down.abandoned.load(Ordering::Relaxed) == 0 {
            // Until the first answer the launcher may not have told its guard of this rank.
            let looks = self.first == 0 || self.rank.is_multiple_of(LOOKS);
            futex::wait(word, value, looks.then_some(SLICE));
        }
        if word.load(Ordering::Acquire) == value && !self.area.has_launcher() {
            self.abandon();
        }
    }

    /// Ends with all that sleep.
    #[cold]
    fn abandon(&self) -> ! {
        if self.mailbox().down.abandoned.load(Ordering::Relaxed) == 0 {
            for _ in 0..CALLS {
                for rank in 0..self.terms().ranks {
                    let down = &self.area.mailbox(rank).down;
                    down.abandoned.store(1, Ordering::Relaxed);
                    futex::wake(&down.answers, 1);
                    futex::wake(&down.read, 1);
                }
                std::thread::sleep(SLICE / CALLS);
            }
        }
        // SAFETY: ends the process; what it would do at its end speaks of a simulation that is not there.
        unsafe { libc::_exit(128 + libc::SIGKILL) }
    }

    #[cfg_attr(target_os = "linux", unsafe(link_section = ".text.hot"))]
    fn wait_for_answer(&self, seen: u32) {
        let mailbox = self.mailbox();
        self.wake_host();
        while mailbox.down.answers.load(Ordering::Acquire) == seen {
            mailbox.up.awaits_answer.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.sleep(&mailbox.down.answers, seen);
        }
        mailbox.up.awaits_answer.store(0, Ordering::Relaxed);
    }
}

/// Refuses a process that has both libraries: its calls would reach the one, with the numbers of the other.
fn only_one_library() -> Result<()> {
    let loaded = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let has = |name: &str| loaded.lines().any(|line| line.ends_with(name));
    match has("/libmpi.so.12") && has("/libmpi_abi.so.1") {
        true => Err(Error::other(
            "this process has loaded libmpi.so.12 and libmpi_abi.so.1: say which it is built for by fabricsim mpirun --abi mpich or --abi standard",
        )),
        false => Ok(()),
    }
}

/// Says who waits, until a debugger has come.
fn wait_for_debugger(rank: u32) {
    let process = std::process::id();
    eprintln!("fabricsim: rank {rank} waits for a debugger: gdb -p {process}, then continue");
    let is_traced = || {
        let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let tracer = about.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        tracer.is_none_or(|tracer| tracer.trim() != "0")
    };
    while !is_traced() {
        std::thread::sleep(Duration::from_millis(100));
    }
}
