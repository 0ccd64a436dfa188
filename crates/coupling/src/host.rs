//! The simulator's side: what ranks do comes when it is asked for, and ranks go on when they are told.

use crate::arena::Arena;
use crate::entry::{RankEntry, RankNews};
use crate::futex;
use crate::layout::{MOST_NEWS, NO_CORE, RING, SharedArea};
use std::collections::VecDeque;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// How often the core is left to others before the simulator goes to sleep for a rank on its core: who only leaves it need not be woken, which is
/// a third of what a call that waits costs.
const LEAVES: u32 = 3;
/// Sleeps between looks at whether the processes still are.
const SLICE: Duration = Duration::from_millis(100);

/// What a simulator speaks through. Different ranks may be served by different threads, each rank by one at a time.
#[derive(Debug)]
pub struct HostSide {
    area: SharedArea,
}

impl HostSide {
    /// The side of the memory's maker.
    pub fn new(area: SharedArea) -> HostSide {
        HostSide { area }
    }

    /// The memory.
    pub fn area(&self) -> &SharedArea {
        &self.area
    }

    /// Room for what messages say.
    pub fn arena(&self) -> Arena<'_> {
        Arena::of(&self.area)
    }

    /// The next entry of a rank, waited for while `goes_on` says so, a few times a second; `None` when it does not any longer.
    pub fn next(&self, rank: u32, goes_on: &mut dyn FnMut() -> bool) -> Option<RankEntry> {
        let mailbox = self.area.mailbox(rank);
        let read = mailbox.down.read.load(Ordering::Relaxed);
        let is_here = self.area.terms().core != NO_CORE;
        for _ in 0..if is_here { LEAVES } else { 0 } {
            if mailbox.up.written.load(Ordering::Acquire) != read {
                break;
            }
            std::thread::yield_now();
        }
        while mailbox.up.written.load(Ordering::Acquire) == read {
            mailbox.down.sleeps.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if mailbox.up.written.load(Ordering::Acquire) != read {
                mailbox.down.sleeps.store(0, Ordering::Relaxed);
                break;
            }
            futex::wait(&mailbox.up.written, read, Some(SLICE));
            // Looking after the processes is for when none has come: it costs more than all else here.
            let has_come = mailbox.up.written.load(Ordering::Acquire) != read;
            if !has_come && !goes_on() {
                return None;
            }
        }
        Some(self.take(rank, read))
    }

    /// The next entry of a rank if it is there.
    pub fn peek(&self, rank: u32) -> Option<RankEntry> {
        let mailbox = self.area.mailbox(rank);
        let read = mailbox.down.read.load(Ordering::Relaxed);
        let there = mailbox.up.written.load(Ordering::Acquire) != read;
        // SAFETY: it was written before the count said so.
        there.then(|| unsafe {
            *self
                .area
                .entry(rank, mailbox, read, mailbox.down.first.load(Ordering::Relaxed))
        })
    }

    fn take(&self, rank: u32, read: u32) -> RankEntry {
        let mailbox = self.area.mailbox(rank);
        // SAFETY: it was written before the count said so, and stays until we have counted it as read.
        let entry = unsafe {
            *self
                .area
                .entry(rank, mailbox, read, mailbox.down.first.load(Ordering::Relaxed))
        };
        mailbox.down.read.store(read.wrapping_add(1), Ordering::Release);
        let written = mailbox.up.written.load(Ordering::Relaxed);
        // A rank that waits for room goes on when half of it is free.
        if written.wrapping_sub(read) == RING / 2 {
            fence(Ordering::SeqCst);
            if mailbox.up.awaits_room.swap(0, Ordering::Relaxed) != 0 {
                futex::wake(&mailbox.down.read, 1);
            }
        }
        entry
    }

    /// Answers a rank that waits: the simulated time (ps), and as many of the news as there is room for, which are taken away.
    pub fn answer(&self, rank: u32, clock: u64, news: &mut VecDeque<RankNews>) {
        let mailbox = self.area.mailbox(rank);
        let count = news.len().min(MOST_NEWS);
        for (number, piece) in news.drain(..count).enumerate() {
            // SAFETY: the rank waits, and reads them after the answer.
            unsafe { *self.area.piece(rank, mailbox, number) = piece };
        }
        let down = &mailbox.down;
        // The rank has told nothing after what it waits for.
        down.first.store(down.read.load(Ordering::Relaxed), Ordering::Relaxed);
        down.clock.store(clock, Ordering::Relaxed);
        down.news.store(count as u32, Ordering::Relaxed);
        down.more.store(u32::from(!news.is_empty()), Ordering::Relaxed);
        down.answers.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if mailbox.up.awaits_answer.swap(0, Ordering::Relaxed) != 0 {
            futex::wake(&down.answers, 1);
        }
    }
}
