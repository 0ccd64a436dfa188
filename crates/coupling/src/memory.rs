//! Memory that several processes have in common: an anonymous file, mapped.

use std::cell::UnsafeCell;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// A page that a rank sets aside for its mailbox.
///
/// To a rank that wakes, not only the page itself is far: so is what says where it lies, a page of that for each two megabytes of addresses. A mailbox
/// beside what the library has of its own is found by the way that has just been gone.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct MailboxPage(UnsafeCell<[u8; 4096]>);

impl MailboxPage {
    /// One of zeros.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> MailboxPage {
        MailboxPage(UnsafeCell::new([0; 4096]))
    }

    /// The address of a place in it.
    pub(crate) fn at(&self, offset: u64) -> *const u8 {
        assert!(offset < size_of::<MailboxPage>() as u64, "a place beyond the page");
        // SAFETY: inside the page.
        unsafe { self.0.get().cast::<u8>().add(offset as usize) }
    }
}

// SAFETY: it is plain memory, in which mailboxes lie, which several threads may reach.
unsafe impl Sync for MailboxPage {}

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

    /// Maps a page of the file at a second place as well; whether that could be done: not where the pages of the system are larger.
    pub fn also_at(file: BorrowedFd<'_>, offset: u64, place: &MailboxPage) -> bool {
        let (start, bytes) = (place.0.get(), size_of::<MailboxPage>());
        // SAFETY: plain call.
        if unsafe { libc::sysconf(libc::_SC_PAGESIZE) } != bytes as libc::c_long {
            return false;
        }
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let how = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: a whole page of ours that nothing lies in yet.
        let mapped = unsafe {
            libc::mmap(
                start.cast(),
                bytes,
                rights,
                how,
                file.as_raw_fd(),
                offset as libc::off_t,
            )
        };
        mapped != libc::MAP_FAILED
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
