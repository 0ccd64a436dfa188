//! Waiting for a word of shared memory to change.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` is `value`, at most so long; wakes for no reason at times.
pub(crate) fn wait(word: &AtomicU32, value: u32, most: Option<Duration>) {
    let time = most.map(|most| libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(most.subsec_nanos()),
    });
    let time: *const libc::timespec = time.as_ref().map_or(std::ptr::null(), |time| time);
    // SAFETY: the word is live for the call, and the time is, or is null; the kernel only compares and sleeps.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, time) };
}

/// Wakes those that sleep for `word`, at most `count`.
pub(crate) fn wake(word: &AtomicU32, count: i32) {
    // SAFETY: the kernel takes the address as a name.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
}
