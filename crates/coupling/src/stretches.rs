//! How long a rank computes between its calls, and how long it is in them.
//!
//! A look at the CPU's clock is a call of the system of half a microsecond. Where computing is measured it is taken where the rank waits anyway; the stretches
//! between two such looks are told apart by a counter of the processor, which costs next to nothing, and share the CPU time that went by between the
//! looks as they share the counter's steps. Where computing is not measured, some calls are, for what calls cost (`sampled.rs`).

use crate::cpu_clock::cpu_time;
use crate::layout::{SharedTerms, cpu_of};
use crate::sampled::SampledCalls;

/// Time of a rank, in and between its calls.
#[derive(Debug)]
pub(crate) struct StretchWatch {
    /// The CPU clock that computing is measured by.
    clock: Option<libc::clockid_t>,
    /// What its time is divided by.
    threads: u64,
    /// At the last look at that clock: its time (ns) and the counter's step.
    looked: (u64, u64),
    /// The counter when the last call ended.
    left: u64,
    /// The counter when the call that it is in began.
    entered: u64,
    /// Steps that were computed since the last entry.
    pub computed: u64,
    /// Steps in calls that have ended since the last look.
    called: u64,
    /// Calls that are measured by themselves.
    sampled: SampledCalls,
}

impl StretchWatch {
    pub fn new(terms: &SharedTerms) -> StretchWatch {
        let clock = match terms.cpu_of {
            cpu_of::THREAD => Some(libc::CLOCK_THREAD_CPUTIME_ID),
            cpu_of::PROCESS => Some(libc::CLOCK_PROCESS_CPUTIME_ID),
            _ => None,
        };
        StretchWatch {
            clock,
            threads: terms.threads.max(1).into(),
            looked: (clock.map_or(0, cpu_time), steps()),
            left: steps(),
            entered: 0,
            computed: 0,
            called: 0,
            sampled: SampledCalls::new(),
        }
    }

    /// Whether stretches are measured.
    #[inline]
    pub fn measures(&self) -> bool {
        self.clock.is_some()
    }

    /// A call begins.
    #[inline]
    pub fn enter(&mut self) {
        if self.measures() {
            self.entered = steps();
            self.computed += self.entered.saturating_sub(self.left);
        } else {
            self.sampled.enter();
        }
    }

    /// A call ends; returns the CPU time (ns) that is known now to have gone by in calls.
    #[inline]
    pub fn leave(&mut self) -> u64 {
        if self.measures() {
            self.left = steps();
            self.called += self.left.saturating_sub(self.entered);
            return 0;
        }
        self.sampled.leave()
    }

    /// The rank is about to wait: looks at the clock. Returns what a step of the counter has taken since the last look (ps, as stretches are told), and the
    /// CPU time (ns) of the calls since then.
    pub fn look(&mut self) -> Option<(f64, u64)> {
        let clock = self.clock?;
        let (now, step) = (cpu_time(clock), steps());
        let before = std::mem::replace(&mut self.looked, (now, step));
        let passed = now.saturating_sub(before.0) / self.threads;
        let a_step = passed as f64 / step.saturating_sub(before.1).max(1) as f64;
        self.called += step.saturating_sub(self.entered);
        self.entered = step;
        let in_calls = (std::mem::take(&mut self.called) as f64 * a_step) as u64;
        Some((a_step * 1000.0, in_calls))
    }

    /// The rank has waited: what went by meanwhile was no computing. Returns what waiting itself has taken of the CPU (ns).
    pub fn go_on(&mut self) -> u64 {
        let Some(clock) = self.clock else { return 0 };
        let before = std::mem::replace(&mut self.looked, (cpu_time(clock), steps()));
        self.entered = self.looked.1;
        self.looked.0.saturating_sub(before.0) / self.threads
    }
}

/// A counter of the processor that goes on evenly.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn steps() -> u64 {
    // SAFETY: every processor of this kind has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// A counter of the processor that goes on evenly.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn steps() -> u64 {
    let step: u64;
    // SAFETY: programs may read it.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) step, options(nomem, nostack)) };
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_clock::compute;

    #[test]
    fn stretches_share_the_cpu_time_between_two_looks() {
        let mut watch = StretchWatch::new(&SharedTerms {
            cpu_of: cpu_of::THREAD,
            ..SharedTerms::plain(1, 0)
        });
        watch.enter();
        watch.look();
        watch.go_on();
        watch.leave();
        watch.computed = 0;
        let begun = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
        let mut parts = Vec::new();
        for ms in [1, 4] {
            compute(ms * 1_000_000);
            watch.enter();
            parts.push(std::mem::take(&mut watch.computed));
            watch.leave();
        }
        watch.enter();
        let (a_step, in_calls) = watch.look().expect("it measures");
        let all = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID) - begun;
        let told: f64 = parts.iter().map(|&steps| steps as f64 * a_step / 1000.0).sum();
        // The counter goes on while others have the processor: how the parts share is the machine's, their sum is not.
        assert!(
            told + in_calls as f64 <= all as f64 * 1.02,
            "{told} and {in_calls} of {all} ns"
        );
        assert!(told > 0.9 * 5e6, "{told} ns");
        assert!(parts.iter().all(|&steps| steps > 0), "{parts:?}");
    }
}
