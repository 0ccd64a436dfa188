//! Calls of the system that a rank makes when it waits.
//!
//! A rank that wakes has none of its pages at hand, and each that it touches costs it up to a microsecond where there are a thousand ranks: so not by way of
//! the C library, which lies in pages of its own, and whose clocks have been ours since the library stands before it.

use libc::c_long;

/// Calls the system; what it returns, the negative number of an error included.
///
/// # Safety
/// The arguments are what this call asks for.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn call(number: c_long, arguments: [c_long; 4]) -> c_long {
    let result: c_long;
    // SAFETY: the caller promises the arguments; the kernel changes these registers and what it is asked to write.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// As above, but for an error it returns -1.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) unsafe fn call(number: c_long, [a, b, c, d]: [c_long; 4]) -> c_long {
    // SAFETY: the caller promises the arguments.
    unsafe { libc::syscall(number, a, b, c, d) }
}
