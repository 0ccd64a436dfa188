//! The CPU's clocks, each look at which is a call of the system.

use crate::system;

/// A clock of the CPU's time (ns).
pub(crate) fn cpu_time(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the record is ours.
    unsafe {
        system::call(
            libc::SYS_clock_gettime,
            [clock.into(), &raw mut time as libc::c_long, 0, 0],
        )
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Keeps the CPU busy for so long (ns).
#[cfg(test)]
pub(crate) fn compute(ns: u64) {
    let begun = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
    while cpu_time(libc::CLOCK_THREAD_CPUTIME_ID) - begun < ns {
        std::hint::black_box(begun);
    }
}
