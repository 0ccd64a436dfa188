//! How often the program calls, and how often in a way that may make it do something else at other times.
//!
//! Counts are kept here and go to the mailbox, where the simulator reads them, with each entry that waits for an answer.

use super::Library;
use crate::link::NetworkLink;
use std::sync::atomic::Ordering;

/// Calls after which what a program does may depend on time, by the place of their count in the mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum TimeDependent {
    /// `MPI_Test`, `MPI_Testall`, `MPI_Testany`.
    Test = 1,
    /// `MPI_Iprobe`.
    Iprobe = 2,
    /// `MPI_Improbe`.
    Improbe = 3,
    /// `MPI_Request_get_status` and its forms for several.
    GetStatus = 4,
    /// `MPI_Waitany`.
    Waitany = 5,
    /// `MPI_Waitsome`.
    Waitsome = 6,
    /// `MPI_Testsome`.
    Testsome = 7,
    /// Receives and probes of messages from any source.
    AnySource = 8,
}

impl TimeDependent {
    /// How many kinds there are.
    pub const KINDS: usize = Self::AnySource as usize;
}

impl Library {
    /// Counts a call.
    #[inline]
    pub(super) fn count_call(&self) {
        self.counts[0].set(self.counts[0].get() + 1);
    }

    /// Counts a call of this kind.
    #[inline]
    pub fn count(&self, kind: TimeDependent) {
        let count = &self.counts[kind as usize];
        count.set(count.get() + 1);
        self.counts_by_kind.set(true);
    }

    /// Puts the counts where the simulator reads them.
    pub(super) fn tell_counts(&self, link: &NetworkLink) {
        let counters = &link.mailbox().counters;
        let changed = if self.counts_by_kind.take() {
            self.counts.len()
        } else {
            1
        };
        for (counter, count) in counters.iter().zip(&self.counts).take(changed) {
            counter.store(count.get(), Ordering::Relaxed);
        }
    }
}
