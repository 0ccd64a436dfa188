//! Waiting for a word of shared memory to change.

use crate::system;
use libc::c_long;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` is `value`, at most so long; wakes for no reason at times.
#[inline]
pub(crate) fn wait(word: &AtomicU32, value: u32, most: Option<Duration>) {
    let time = most.map(|most| libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: c_long::from(most.subsec_nanos()),
    });
    let time: *const libc::timespec = time.as_ref().map_or(std::ptr::null(), |time| time);
    // SAFETY: the time is live for the call, or is null.
    unsafe { futex(word, libc::FUTEX_WAIT, value, time) };
}

/// Wakes those that sleep for `word`, at most `count`.
#[inline]
pub(crate) fn wake(word: &AtomicU32, count: u32) {
    // SAFETY: no time is given.
    unsafe { futex(word, libc::FUTEX_WAKE, count, std::ptr::null()) };
}

/// What comes of it is not asked for: who waits looks at the word again.
///
/// # Safety
/// The time is null, or can be read.
#[inline(always)]
unsafe fn futex(word: &AtomicU32, what: libc::c_int, value: u32, time: *const libc::timespec) {
    let arguments = [word.as_ptr() as c_long, what.into(), value.into(), time as c_long];
    // SAFETY: the word is live for the call, the caller promises the time, and the kernel only compares, sleeps and wakes.
    unsafe { system::call(libc::SYS_futex, arguments) };
}
