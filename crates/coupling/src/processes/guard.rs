//! A process that ends all ranks, with what they have started, when the launcher is killed and can do so no more.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The guard of the processes of a program. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    process: libc::pid_t,
    /// Its other end tells the guard that we have gone.
    line: OwnedFd,
}

impl Guard {
    /// Guards groups of processes, by the numbers of their first ones.
    pub fn of(groups: &[u32]) -> Result<Guard> {
        let mut ends = [0; 2];
        // SAFETY: room for two.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else has them.
        let (heard, line) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        // SAFETY: the child calls nothing but the system, and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(Error::last_os_error()),
            0 => watch(heard.as_raw_fd(), line.as_raw_fd(), groups),
            process => Ok(Guard { process, line }),
        }
    }
}

/// What the guard does: waits for a word, or for the end of those who could say one.
fn watch(heard: i32, line: i32, groups: &[u32]) -> ! {
    let mut word = 0_u8;
    // SAFETY: plain calls of the system with numbers and one byte of ours.
    unsafe {
        // Signals of the terminal are for the launcher.
        libc::setsid();
        libc::close(line);
        keep_only(heard);
        let got = loop {
            let got = libc::read(heard, (&raw mut word).cast(), 1);
            if got >= 0 || *libc::__errno_location() != libc::EINTR {
                break got;
            }
        };
        if got == 0 {
            for &group in groups {
                libc::kill(-(group as libc::pid_t), libc::SIGKILL);
            }
        }
        libc::_exit(0)
    }
}

/// Closes all files but one: whoever reads what we print would wait for us.
fn keep_only(file: i32) {
    // SAFETY: only the guard's own copies are closed.
    unsafe {
        if file > 0 {
            libc::syscall(libc::SYS_close_range, 0, file - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, file + 1, u32::MAX, 0);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: one byte of ours into our pipe, and our child is waited for.
        unsafe {
            libc::write(self.line.as_raw_fd(), c"!".as_ptr().cast(), 1);
            libc::waitpid(self.process, std::ptr::null_mut(), 0);
        }
    }
}
