//! A process that ends all ranks, with what they have started, when the launcher is killed and can do so no more.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The guard of the processes of a program. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    process: libc::pid_t,
    /// Its other end is told which processes to guard, and that all is well.
    line: OwnedFd,
}

/// What the guard is told in place of a process when all is well.
const ALL_WELL: u32 = 0;

impl Guard {
    /// Guards nothing yet, and so many groups at most.
    pub fn new(groups: u32) -> Result<Guard> {
        // The child may not ask for memory.
        let guarded = Vec::with_capacity(groups as usize);
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
            0 => watch(heard.as_raw_fd(), line.as_raw_fd(), guarded),
            process => Ok(Guard { process, line }),
        }
    }

    /// Guards the group of a process as well.
    pub fn take(&mut self, process: u32) -> Result<()> {
        self.say(process)
    }

    fn say(&self, word: u32) -> Result<()> {
        let bytes = word.to_ne_bytes();
        // SAFETY: four bytes of ours into our pipe, which takes them whole.
        match unsafe { libc::write(self.line.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) } {
            4 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }
}

/// What the guard does: hears of groups until all is well, or until those who could say so have ended.
fn watch(heard: i32, line: i32, mut guarded: Vec<u32>) -> ! {
    let mut word = [0_u8; 4];
    // SAFETY: plain calls of the system with numbers and four bytes of ours.
    unsafe {
        // Signals of the terminal are for the launcher.
        libc::setsid();
        libc::close(line);
        keep_only(heard);
        loop {
            match libc::read(heard, word.as_mut_ptr().cast(), word.len()) {
                4 => match u32::from_ne_bytes(word) {
                    ALL_WELL => libc::_exit(0),
                    group if guarded.len() < guarded.capacity() => guarded.push(group),
                    _ => {}
                },
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        for &group in &guarded {
            libc::kill(-(group as libc::pid_t), libc::SIGKILL);
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
        // Where it cannot be told it has ended.
        let _ = self.say(ALL_WELL);
        // SAFETY: our child is waited for.
        unsafe { libc::waitpid(self.process, std::ptr::null_mut(), 0) };
    }
}
