//! Memory that several processes have in common: an anonymous file, mapped.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// A mapped file of memory. Pages that nobody has touched take no memory.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is plain memory; what lies in it is reached by atomics, or by the rules of its owners (see the layout).
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// A new file of so many zeros, mapped; with the file, for others to map.
    pub fn create(bytes: usize) -> Result<(Mapping, OwnedFd)> {
        // SAFETY: the name is a string that ends with a zero.
        let fd = unsafe { libc::memfd_create(c"fabricsim-mpi".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: it has just been made, and nobody else has it.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: plain call on an open file.
        if unsafe { libc::ftruncate(fd, bytes as libc::off_t) } < 0 {
            return Err(Error::last_os_error());
        }
        Ok((Mapping::of(Some(file.as_raw_fd()), bytes)?, file))
    }

    /// Zeros that only this process has.
    pub fn alone(bytes: usize) -> Result<Mapping> {
        Mapping::of(None, bytes)
    }

    /// Maps a file that another process has made.
    pub fn attach(file: BorrowedFd<'_>) -> Result<Mapping> {
        // SAFETY: all zeros is a value of this record of numbers.
        let mut about: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the file is open and the record is ours.
        if unsafe { libc::fstat(file.as_raw_fd(), &mut about) } < 0 {
            return Err(Error::last_os_error());
        }
        Mapping::of(Some(file.as_raw_fd()), about.st_size as usize)
    }

    fn of(file: Option<i32>, bytes: usize) -> Result<Mapping> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let how = match file {
            Some(_) => libc::MAP_SHARED | libc::MAP_NORESERVE,
            None => libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        };
        // SAFETY: a new mapping at a place of the kernel's choice touches nothing that is there.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, rights, how, file.unwrap_or(-1), 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| Error::other("memory was mapped at address 0"))?;
        Ok(Mapping { start, bytes })
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of a place.
    pub fn at(&self, offset: u64) -> *mut u8 {
        assert!(offset as usize <= self.bytes, "a place beyond the shared memory");
        // SAFETY: inside the mapping, or its end.
        unsafe { self.start.as_ptr().add(offset as usize) }
    }

    /// Gives the memory of whole pages back; they are zeros then.
    pub fn give_back(&self, offset: u64, bytes: u64) {
        // SAFETY: the pages are of this mapping; only blocks that nobody has are given back.
        unsafe { libc::madvise(self.at(offset).cast(), bytes as usize, libc::MADV_REMOVE) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nobody has references into it any longer: all borrow from this.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
