//! How a call of the program enters and leaves.

use super::{Library, Stage};
use crate::{
    faces::Face,
    fault::{Answer, ErrorClass},
    link::NetworkLink,
    nearby::{LibraryMemory, Nearby},
};
use coupling::{CallName, MailboxPage};
use std::{
    ffi::c_int,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// What a process has once, side by side: a rank that wakes has no page at hand, and each takes it a microsecond where there are a thousand ranks.
#[repr(C, align(4096))]
pub struct ProcessState {
    /// Where the program called from last: set by the exported names, which find it at the beginning; an address.
    pub place: AtomicU64,
    /// Simulated time as it was told last (ps), for threads that cannot ask.
    pub known_time: AtomicU64,
    /// The thread that is in a call; 0 for none.
    inside: AtomicU64,
    /// The thread that called last.
    caller: AtomicU64,
    /// Whether programs may read the register that a thread's own variables are found by.
    reads_register: AtomicBool,
    library: OnceLock<OneThreadAtATime>,
    /// What the library takes of memory while it starts.
    pub nearby: Nearby,
    /// For the rank's mailbox.
    pub mailbox: MailboxPage,
}

const _: () = assert!(std::mem::offset_of!(ProcessState, place) == 0);
const _: () = assert!(std::mem::offset_of!(ProcessState, mailbox) == 4096 && size_of::<ProcessState>() == 2 * 4096);

/// That of this process.
pub static PROCESS: ProcessState = ProcessState {
    place: AtomicU64::new(0),
    known_time: AtomicU64::new(0),
    inside: AtomicU64::new(0),
    caller: AtomicU64::new(0),
    reads_register: AtomicBool::new(false),
    library: OnceLock::new(),
    nearby: Nearby::new(),
    mailbox: MailboxPage::new(),
};

#[global_allocator]
static MEMORY: LibraryMemory = LibraryMemory(&PROCESS.nearby);

/// Finds out what this machine has.
pub fn know_machine() {
    #[cfg(target_arch = "x86_64")]
    {
        /// The bit of the system's word for it.
        const FSGSBASE: libc::c_ulong = 1 << 1;
        // SAFETY: asks the C library for a word of the system.
        let is_allowed = unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE != 0;
        PROCESS.reads_register.store(is_allowed, Ordering::Relaxed);
    }
}

/// The library, which one thread at a time may use.
struct OneThreadAtATime(Library);

// SAFETY: `enter` lets one thread in at a time, and hands what it has written to the next by acquire and release of `inside`.
unsafe impl Sync for OneThreadAtATime {}
// SAFETY: as above.
unsafe impl Send for OneThreadAtATime {}

/// The library of this process. Only for calls that have entered.
pub fn library() -> &'static Library {
    &PROCESS.library.get_or_init(|| OneThreadAtATime(Library::new())).0
}

/// A number of this thread that is not 0: the register that its own variables are found by. What Rust has for such variables is a call of the loader in
/// a shared library.
#[inline]
pub fn thread_number() -> u64 {
    let number: u64;
    #[cfg(target_arch = "x86_64")]
    if PROCESS.reads_register.load(Ordering::Relaxed) {
        // SAFETY: the system allows it.
        unsafe {
            core::arch::asm!("rdfsbase {}", out(reg) number, options(nomem, nostack, preserves_flags));
        }
    } else {
        // SAFETY: the first word there is its own address, as the interface of this system says.
        unsafe {
            core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) number, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: programs may read it.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) number, options(nomem, nostack, preserves_flags));
    }
    number
}

/// Whether this thread is in a call.
pub fn is_inside() -> bool {
    PROCESS.inside.load(Ordering::Relaxed) == thread_number()
}

/// Does something for the program between its calls of MPI; `None` where that cannot be: MPI does not run on a simulated network, another thread has
/// called last, or somebody is in a call.
pub fn between_calls<T>(body: impl FnOnce(&Library) -> T) -> Option<T> {
    let me = thread_number();
    if PROCESS.caller.load(Ordering::Relaxed) != me
        || PROCESS
            .inside
            .compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
    {
        return None;
    }
    let library = library();
    let is_simulated =
        library.stage.get() == Stage::Running && library.link.borrow().as_ref().is_some_and(|link| link.is_simulated());
    let done = is_simulated.then(|| {
        let with_link = |what: &mut dyn FnMut(&mut NetworkLink)| {
            if let Some(link) = library.link.borrow_mut().as_mut() {
                what(link);
            }
        };
        // What is told of a crash stays the last call of MPI.
        let last = CallName::of(library.call.get());
        with_link(&mut |link| link.enter(&last, PROCESS.place.load(Ordering::Relaxed)));
        let done = body(library);
        with_link(&mut |link| link.leave());
        done
    });
    PROCESS.inside.store(0, Ordering::Release);
    done
}

/// Runs a call and returns its error code. Functions of the program that the call runs may call again.
pub fn enter<F: Face>(call: &CallName, body: impl FnOnce(&Library) -> Answer) -> c_int {
    let me = thread_number();
    let outer = PROCESS.inside.load(Ordering::Relaxed) == me;
    if !outer
        && PROCESS
            .inside
            .compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
    {
        eprintln!(
            "fabricsim: {} is called while another thread is in a call of MPI: the library promises MPI_THREAD_SERIALIZED",
            call.text
        );
        std::process::abort();
    }
    let library = library();
    let outside = outer.then(|| (library.call.get(), library.scope.borrow().clone()));
    if !outer {
        PROCESS.caller.store(me, Ordering::Relaxed);
        library.count_call();
        if let Some(link) = library.link.borrow_mut().as_mut() {
            link.enter(call, PROCESS.place.load(Ordering::Relaxed));
        }
    }
    // In one place: what a call does then lies where its function does.
    let code = run::<F>(library, call, body);
    match outside {
        Some((call_outside, scope)) => {
            library.call.set(call_outside);
            *library.scope.borrow_mut() = scope;
        }
        None => {
            if let Some(link) = library.link.borrow_mut().as_mut() {
                link.leave();
            }
            PROCESS.inside.store(0, Ordering::Release);
        }
    }
    code
}

#[inline(always)]
fn run<F: Face>(library: &Library, call: &CallName, body: impl FnOnce(&Library) -> Answer) -> c_int {
    library.call.set(call.text);
    if library.scope.borrow().is_some() {
        *library.scope.borrow_mut() = None;
    }
    match body(library) {
        Ok(()) => ErrorClass::Success.code::<F>(),
        Err(fault) => library.raise::<F>(fault),
    }
}

impl Library {
    /// Refuses calls before `MPI_Init` and after `MPI_Finalize`.
    pub fn running(&self) -> Answer {
        match self.stage.get() {
            Stage::Running => Ok(()),
            Stage::Before => crate::fault::fault(ErrorClass::Other, "MPI_Init has not been called"),
            Stage::Finalized => crate::fault::fault(ErrorClass::Other, "MPI_Finalize has been called"),
        }
    }
}

/// Declares functions of MPI: `name = "MPI_Name"(arguments) closure;`, generic over the binary interface `F`, and over counts where named.
///
/// The closure takes the library and says what comes of the call.
macro_rules! calls {
    ($(
        $(#[$about:meta])*
        $name:ident $(<$($count:ident),*>)? = $label:literal ($($argument:ident: $kind:ty),* $(,)?) $body:expr;
    )+) => {$(
        $(#[$about])*
        ///
        /// # Safety
        /// The pointers are what MPI's page of the function asks for.
        pub unsafe extern "C" fn $name<F: $crate::faces::Face $($(, $count: $crate::arguments::Count)*)?>(
            $($argument: $kind),*
        ) -> std::ffi::c_int {
            $crate::library::enter::<F>(const { &coupling::CallName::of($label) }, $body)
        }
    )+};
}

pub(crate) use calls;
