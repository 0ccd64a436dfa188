//! Sleeping, and the host's clocks, as a program on a simulated network has them.
//!
//! The library stands before the C library with these names. Between `MPI_Init` and `MPI_Finalize` a sleep of the thread that calls MPI is
//! computing of that length, and returns at once; with `virtual_clock` the clocks show simulated time. Everything else goes on to the functions behind
//! ours: other threads, calls that our own code makes, programs without a simulator.

use crate::library::{Library, PROCESS, between_calls, is_inside};
use coupling::{
    RankEntry,
    entry::{NO_PAYLOAD, kind},
};
use std::{
    cell::Cell,
    ffi::{CStr, c_int, c_uint},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// What a clock of the calendar shows at the beginning of simulated time: 1 January 2000 (s since 1970).
const CALENDAR: u64 = 946_684_800;
const PS_OF_NS: u64 = 1_000;
const NS_OF_SECOND: u64 = 1_000_000_000;

/// Whether clocks show simulated time.
static SHOWS_SIMULATED: AtomicBool = AtomicBool::new(false);
thread_local! {
    /// What the clock of the calendar and the one that only goes on have shown this thread last (ns); 0 for nothing.
    static SHOWN: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
}

/// From now on clocks show simulated time, or the host's.
pub(crate) fn show_simulated(shows: bool) {
    SHOWS_SIMULATED.store(shows, Ordering::Relaxed);
}

/// The function of the C library with the name of one of ours.
struct BehindOurs {
    name: &'static CStr,
    address: AtomicUsize,
}

impl BehindOurs {
    const fn of(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicUsize::new(0),
        }
    }

    fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: the name is a text that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        if found == 0 {
            eprintln!("fabricsim: the C library has no {}", self.name.to_string_lossy());
            std::process::abort();
        }
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Calls the function behind ours.
macro_rules! behind {
    ($name:literal: fn($($kind:ty),*) -> $result:ty, $($argument:expr),*) => {{
        static BEHIND: BehindOurs = BehindOurs::of($name);
        // SAFETY: the C library's function of this name has these arguments.
        let function: unsafe extern "C" fn($($kind),*) -> $result = unsafe { std::mem::transmute(BEHIND.address()) };
        // SAFETY: they are those that the program has given.
        unsafe { function($($argument),*) }
    }};
}

/// Lets time go by (ps); `false` where the host has to.
fn passes(time: u64) -> bool {
    let sleeps = |library: &Library| {
        library.append(RankEntry {
            kind: kind::COMPUTE,
            bytes: time,
            payload: NO_PAYLOAD,
            ..RankEntry::default()
        });
    };
    time > 0 && between_calls(sleeps).is_some()
}

/// Simulated time (ps), where clocks show it to this thread.
fn simulated() -> Option<u64> {
    if !SHOWS_SIMULATED.load(Ordering::Relaxed) || is_inside() {
        return None;
    }
    let asked = between_calls(|library| {
        library.ask(RankEntry {
            kind: kind::CLOCK,
            payload: NO_PAYLOAD,
            ..RankEntry::default()
        });
        library.clock.get()
    });
    Some(asked.unwrap_or_else(|| PROCESS.known_time.load(Ordering::Relaxed)))
}

/// Which of two clocks a number of one means: that of the calendar, or the one that only goes on; `None` for others.
fn which(clock: libc::clockid_t) -> Option<usize> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(0),
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_BOOTTIME => {
            Some(1)
        }
        _ => None,
    }
}

/// What a clock that shows simulated time shows (ns).
fn shown(which: usize) -> Option<u64> {
    let time = simulated()? / PS_OF_NS;
    Some(time + [CALENDAR * NS_OF_SECOND, 0][which])
}

fn remember(which: usize, ns: u64) {
    let mut all = SHOWN.get();
    all[which] = ns;
    SHOWN.set(all);
}

/// A time of C (ns), if it is one.
fn ns_of(time: &libc::timespec) -> Option<u64> {
    let (seconds, ns) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (ns < NS_OF_SECOND).then(|| seconds.saturating_mul(NS_OF_SECOND).saturating_add(ns))
}

fn in_ps(ns: u64) -> u64 {
    ns.saturating_mul(PS_OF_NS)
}

/// `sleep`.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    match passes(in_ps(u64::from(seconds) * NS_OF_SECOND)) {
        true => 0,
        false => behind!(c"sleep": fn(c_uint) -> c_uint, seconds),
    }
}

/// `usleep`.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn usleep(microseconds: c_uint) -> c_int {
    match passes(in_ps(u64::from(microseconds) * 1_000)) {
        true => 0,
        false => behind!(c"usleep": fn(c_uint) -> c_int, microseconds),
    }
}

/// `nanosleep`.
///
/// # Safety
/// The pointers are what the C library's function asks for.
pub unsafe extern "C" fn nanosleep(wanted: *const libc::timespec, left: *mut libc::timespec) -> c_int {
    // SAFETY: the program's, or null.
    match unsafe { wanted.as_ref() }.and_then(ns_of) {
        Some(ns) if passes(in_ps(ns)) => 0,
        _ => behind!(c"nanosleep": fn(*const libc::timespec, *mut libc::timespec) -> c_int, wanted, left),
    }
}

/// `clock_nanosleep`. A time that is not a length counts from what the clock has shown the thread last, so that it does not depend on the host.
///
/// # Safety
/// The pointers are what the C library's function asks for.
pub unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    wanted: *const libc::timespec,
    left: *mut libc::timespec,
) -> c_int {
    // SAFETY: the program's, or null.
    if let (Some(ns), Some(which)) = (unsafe { wanted.as_ref() }.and_then(ns_of), which(clock)) {
        let is_a_date = flags & libc::TIMER_ABSTIME != 0;
        let begin = match (is_a_date, shown(which), SHOWN.get()[which]) {
            (false, ..) => 0,
            (true, Some(simulated), _) => simulated,
            (true, None, 0) => ns,
            (true, None, shown) => shown,
        };
        if passes(in_ps(ns.saturating_sub(begin))) {
            if is_a_date {
                remember(which, ns);
            }
            return 0;
        }
    }
    behind!(
        c"clock_nanosleep": fn(libc::clockid_t, c_int, *const libc::timespec, *mut libc::timespec) -> c_int,
        clock, flags, wanted, left
    )
}

/// `poll`: without descriptors it sleeps.
///
/// # Safety
/// The pointers are what the C library's function asks for.
pub unsafe extern "C" fn poll(all: *mut libc::pollfd, count: libc::nfds_t, milliseconds: c_int) -> c_int {
    match u64::try_from(milliseconds) {
        Ok(milliseconds) if count == 0 && passes(in_ps(milliseconds * 1_000_000)) => 0,
        _ => behind!(c"poll": fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int, all, count, milliseconds),
    }
}

/// `select`: without descriptors it sleeps.
///
/// # Safety
/// The pointers are what the C library's function asks for.
pub unsafe extern "C" fn select(
    count: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    other: *mut libc::fd_set,
    most: *mut libc::timeval,
) -> c_int {
    let sets = [read, write, other];
    // SAFETY: the program's, or null.
    if let Some(time) = unsafe { most.as_mut() }.filter(|_| sets.iter().all(|set| set.is_null())) {
        let ns = ns_of(&libc::timespec {
            tv_sec: time.tv_sec,
            tv_nsec: time.tv_usec.saturating_mul(1_000),
        });
        if ns.is_some_and(|ns| passes(in_ps(ns))) {
            // As Linux does: what is left of it.
            (time.tv_sec, time.tv_usec) = (0, 0);
            return 0;
        }
    }
    behind!(
        c"select": fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *mut libc::timeval) -> c_int,
        count, read, write, other, most
    )
}

/// `clock_gettime`.
///
/// # Safety
/// The pointer is what the C library's function asks for.
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let which = which(clock);
    if let (Some(which), Some(ns)) = (which, which.and_then(shown))
        // SAFETY: the program's, or null.
        && let Some(time) = unsafe { time.as_mut() }
    {
        remember(which, ns);
        (time.tv_sec, time.tv_nsec) = ((ns / NS_OF_SECOND) as i64, (ns % NS_OF_SECOND) as i64);
        return 0;
    }
    let code = behind!(c"clock_gettime": fn(libc::clockid_t, *mut libc::timespec) -> c_int, clock, time);
    if let Some(which) = which
        && code == 0
        && !is_inside()
        // SAFETY: as above; the clock has been put there.
        && let Some(ns) = unsafe { time.as_ref() }.and_then(ns_of)
    {
        remember(which, ns);
    }
    code
}

/// `gettimeofday`.
///
/// # Safety
/// The pointers are what the C library's function asks for.
pub unsafe extern "C" fn gettimeofday(time: *mut libc::timeval, zone: *mut libc::c_void) -> c_int {
    // SAFETY: the program's, or null.
    if let (Some(place), Some(ns)) = (unsafe { time.as_mut() }, shown(0)) {
        (place.tv_sec, place.tv_usec) = ((ns / NS_OF_SECOND) as i64, (ns % NS_OF_SECOND / 1_000) as i64);
        return 0;
    }
    behind!(c"gettimeofday": fn(*mut libc::timeval, *mut libc::c_void) -> c_int, time, zone)
}

/// `time`.
///
/// # Safety
/// The pointer is what the C library's function asks for.
pub unsafe extern "C" fn time(place: *mut libc::time_t) -> libc::time_t {
    let Some(ns) = shown(0) else {
        return behind!(c"time": fn(*mut libc::time_t) -> libc::time_t, place);
    };
    let seconds = (ns / NS_OF_SECOND) as libc::time_t;
    // SAFETY: the program's, or null.
    if let Some(place) = unsafe { place.as_mut() } {
        *place = seconds;
    }
    seconds
}

/// Exports these functions under their names in C.
#[doc(hidden)]
#[macro_export]
macro_rules! export_host_time {
    ($name:literal $function:ident $jump:literal) => {
        ::core::arch::global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            concat!($jump, " {function}"),
            concat!(".size ", $name, ", . - ", $name),
            function = sym $crate::host_time::$function,
        );
    };
    () => {
        $crate::export_host_time!(
            "sleep" sleep, "usleep" usleep, "nanosleep" nanosleep, "clock_nanosleep" clock_nanosleep, "poll" poll, "select" select,
            "clock_gettime" clock_gettime, "gettimeofday" gettimeofday, "time" time
        );
    };
    ($($name:literal $function:ident),+) => {$(
        #[cfg(target_arch = "x86_64")]
        $crate::export_host_time!($name $function "jmp");
        #[cfg(target_arch = "aarch64")]
        $crate::export_host_time!($name $function "b");
    )+};
}
