//! What calls cost a rank whose computing is not measured: some are timed, each for those around it.
//!
//! A look at the CPU's clock takes as long as a call that does not wait, so what a look costs is taken off again: it is looked twice when a
//! call begins. What is told is never more than the process has taken in all since it was watched.

use crate::cpu_clock::cpu_time;

/// How many calls one that is timed stands for, after so many: the first for themselves alone. Primes, which loops of calls have no part with.
fn gap(calls: u64) -> u64 {
    match calls {
        0..32 => 1,
        32..1_000 => 31,
        1_000..10_000 => 127,
        10_000.. => 509,
    }
}

/// Calls of a rank, some of them timed.
#[derive(Debug)]
pub(crate) struct SampledCalls {
    /// The number of the next call that is timed, how far it is, and how many it stands for.
    next: u64,
    left: u64,
    stands_for: u64,
    /// CPU time of the thread (ns) when the call that is timed began, and what a look at it took.
    begun: Option<(u64, u64)>,
    /// CPU time of the process (ns) when this began.
    since: u64,
    /// CPU time of all calls (ns), as far as is known, and what has been told of it.
    all: u64,
    told: u64,
}

impl SampledCalls {
    /// Begins within a call, which counts.
    pub fn new() -> SampledCalls {
        SampledCalls {
            next: 0,
            left: 1,
            stands_for: 1,
            begun: Some((cpu_time(libc::CLOCK_THREAD_CPUTIME_ID), 0)),
            since: cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID),
            all: 0,
            told: 0,
        }
    }

    /// A call begins.
    #[inline]
    pub fn enter(&mut self) {
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 {
            self.begin();
        }
    }

    /// A call ends; returns the CPU time of calls (ns) that is known now and was not before.
    #[inline]
    pub fn leave(&mut self) -> u64 {
        match self.begun {
            Some((begun, a_look)) => self.end(begun + a_look),
            None => 0,
        }
    }

    #[cold]
    fn begin(&mut self) {
        let looked = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
        let begun = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
        self.begun = Some((begun, begun.saturating_sub(looked)));
    }

    #[cold]
    fn end(&mut self, begun: u64) -> u64 {
        self.begun = None;
        self.all += cpu_time(libc::CLOCK_THREAD_CPUTIME_ID).saturating_sub(begun) * self.stands_for;
        // It stands for as many calls before it as behind it, and so does the next.
        let next = gap(self.next);
        self.left = self.stands_for.midpoint(next);
        self.next += self.left;
        self.stands_for = next;
        let most = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(self.since);
        let known = self.all.min(most).max(self.told);
        known - std::mem::replace(&mut self.told, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_clock::compute;

    /// What is told of so many calls and of computing between them, each of a length (ns).
    fn told(calls: u64, call: u64, between: u64) -> u64 {
        let mut sampled = SampledCalls::new();
        let mut told = sampled.leave();
        for _ in 0..calls {
            sampled.enter();
            compute(call);
            told += sampled.leave();
            compute(between);
        }
        told
    }

    #[test]
    fn calls_that_are_timed_stand_for_all() {
        // Whatever disturbs a call that is timed stands for others, too.
        let before = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID);
        let told = told(3_000, 20_000, 20_000);
        let all = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID) - before;
        let expected = 3_000 * 20_000;
        assert!(
            (expected * 3 / 4..all).contains(&told),
            "{told} of {expected} ns, {all} in all"
        );
    }

    #[test]
    fn what_a_look_costs_is_no_part_of_a_call_and_all_is_less_than_the_process_took() {
        let before = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID);
        let mut sampled = SampledCalls::new();
        let mut told = sampled.leave();
        for _ in 0..200_000 {
            sampled.enter();
            told += sampled.leave();
        }
        let all = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID) - before;
        assert!(told <= all, "{told} of {all} ns");
        // A call of nothing, where a look is a few hundred ns.
        assert!(told < 200_000 * 100, "{told} ns");
    }

    #[test]
    fn each_call_is_stood_for_once() {
        let mut sampled = SampledCalls::new();
        sampled.leave();
        let mut covered = 0;
        for _ in 0..50_000 {
            sampled.enter();
            if sampled.begun.is_some() {
                covered += sampled.stands_for;
            }
            sampled.leave();
        }
        assert!((49_500..50_500).contains(&covered), "{covered}");
    }
}
