//! What members bring to a collective operation: data in shared memory, found by communicator and number of the operation.
//!
//! A member enters before it tells the simulator of the operation, so whoever is released by others finds what they brought. The last
//! member that leaves gives all of it back. Where one result is for several, the first that asks computes it and the others read it.

use coupling::{Arena, SharedArea, entry::NO_PAYLOAD};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Words of the library that hold the first operation of each chain: its block in the arena, plus one.
const CHAINS: u64 = 1 << 13;

/// An operation in shared memory, followed by a [`MemberPart`] for each member.
#[repr(C)]
struct OperationHeader {
    next: AtomicU64,
    communicator: AtomicU64,
    /// What the first member said it is.
    what: AtomicU64,
    members: AtomicU32,
    left: AtomicU32,
    result: AtomicU32,
    number: AtomicU32,
    result_block: AtomicU64,
}

/// What a member brought.
#[repr(C)]
struct MemberPart {
    block: AtomicU64,
    bytes: AtomicU64,
    entered: AtomicU64,
}

const NOT_COMPUTED: u32 = 0;
const BEING_COMPUTED: u32 = 1;
const COMPUTED: u32 = 2;

/// Which operation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationName {
    /// Which communicator: its number, and its first member ([`Comm::identity`](crate::communicators::Comm::identity)).
    pub communicator: u64,
    /// How many were started on it before.
    pub number: u32,
    /// How many members take part.
    pub members: u32,
}

/// An operation that this process takes part in.
#[derive(Clone, Copy, Debug)]
pub struct Contributions {
    name: OperationName,
    place: u64,
}

/// The result of an operation.
#[derive(Debug)]
pub enum Shared {
    /// This process is to compute it.
    Mine,
    /// It lies in this block.
    There(u64),
}

impl Contributions {
    /// Enters an operation as a member with a block, or without. `what` is the same for all members of a correct program.
    ///
    /// # Errors
    /// The memory is full (`None`), or what others said it is.
    pub fn enter(
        area: &SharedArea,
        name: OperationName,
        member: u32,
        (block, bytes): (u64, u64),
        what: u64,
    ) -> Result<Self, Option<u64>> {
        let (lock, words) = area.library();
        let arena = Arena::of(area);
        let chain = &words[chain_of(name) as usize];
        let guard = lock.lock();
        let mut place = chain.load(Ordering::Relaxed);
        while let Some(block) = place.checked_sub(1) {
            let header = header(&arena, block);
            let same = header.communicator.load(Ordering::Relaxed) == name.communicator
                && header.number.load(Ordering::Relaxed) == name.number;
            if same {
                break;
            }
            place = header.next.load(Ordering::Relaxed);
        }
        if place == 0 {
            let bytes = size_of::<OperationHeader>() + name.members as usize * size_of::<MemberPart>();
            let block = arena.allocate(bytes as u64).ok_or(None)?;
            // SAFETY: the block is ours, has room for them, and begins at a multiple of 64.
            unsafe { std::ptr::write_bytes(arena.data(block), 0, bytes) };
            let header = header(&arena, block);
            header.communicator.store(name.communicator, Ordering::Relaxed);
            header.number.store(name.number, Ordering::Relaxed);
            header.members.store(name.members, Ordering::Relaxed);
            header.what.store(what, Ordering::Relaxed);
            header.result_block.store(NO_PAYLOAD, Ordering::Relaxed);
            header.next.store(chain.load(Ordering::Relaxed), Ordering::Relaxed);
            place = block + 1;
            chain.store(place, Ordering::Relaxed);
        }
        drop(guard);
        let operation = Self { name, place: place - 1 };
        let said = header(&arena, operation.place).what.load(Ordering::Relaxed);
        if said != what {
            return Err(Some(said));
        }
        let part = operation.part(&arena, member);
        part.block.store(block, Ordering::Relaxed);
        part.bytes.store(bytes, Ordering::Relaxed);
        part.entered.store(1, Ordering::Release);
        Ok(operation)
    }

    /// What a member brought: its bytes, none where it brought no data; `None` if it has not come.
    pub fn of<'a>(&self, area: &'a SharedArea, member: u32) -> Option<&'a [u8]> {
        let arena = Arena::of(area);
        let part = self.part(&arena, member);
        if part.entered.load(Ordering::Acquire) == 0 {
            return None;
        }
        let (block, bytes) = (part.block.load(Ordering::Relaxed), part.bytes.load(Ordering::Relaxed));
        if block == NO_PAYLOAD {
            return Some(&[]);
        }
        // SAFETY: the member wrote the block before it entered, nobody writes it since, and it is given back after this process has left.
        Some(unsafe { std::slice::from_raw_parts(arena.data(block), bytes as usize) })
    }

    /// The common result: to be computed by this process, or there; waits while another computes it.
    pub fn result(&self, area: &SharedArea) -> Shared {
        let arena = Arena::of(area);
        let header = header(&arena, self.place);
        loop {
            match header
                .result
                .compare_exchange(NOT_COMPUTED, BEING_COMPUTED, Ordering::Acquire, Ordering::Acquire)
            {
                Ok(_) => return Shared::Mine,
                Err(COMPUTED) => return Shared::There(header.result_block.load(Ordering::Relaxed)),
                Err(_) => std::thread::yield_now(),
            }
        }
    }

    /// Tells the others that the result, which this process was to compute, lies in this block.
    pub fn computed(&self, area: &SharedArea, block: u64) {
        let arena = Arena::of(area);
        let header = header(&arena, self.place);
        header.result_block.store(block, Ordering::Relaxed);
        header.result.store(COMPUTED, Ordering::Release);
    }

    /// Leaves the operation: nothing of it may be read any more.
    pub fn leave(self, area: &SharedArea) {
        let arena = Arena::of(area);
        let operation = header(&arena, self.place);
        if operation.left.fetch_add(1, Ordering::AcqRel) + 1 < self.name.members {
            return;
        }
        let (lock, words) = area.library();
        let guard = lock.lock();
        let chain = &words[chain_of(self.name) as usize];
        let mut before = chain;
        while before.load(Ordering::Relaxed) != self.place + 1 {
            before = &header(&arena, before.load(Ordering::Relaxed) - 1).next;
        }
        before.store(operation.next.load(Ordering::Relaxed), Ordering::Relaxed);
        drop(guard);
        for member in 0..self.name.members {
            let block = self.part(&arena, member).block.load(Ordering::Relaxed);
            if block != NO_PAYLOAD {
                arena.free(block);
            }
        }
        let result = operation.result_block.load(Ordering::Relaxed);
        if result != NO_PAYLOAD {
            arena.free(result);
        }
        arena.free(self.place);
    }

    fn part<'a>(&self, arena: &Arena<'a>, member: u32) -> &'a MemberPart {
        assert!(member < self.name.members, "a member that is not there");
        let at = size_of::<OperationHeader>() + member as usize * size_of::<MemberPart>();
        // SAFETY: the block of the operation has a part for each member, aligned to 8; its fields are atomic.
        unsafe { &*arena.data(self.place).add(at).cast() }
    }
}

fn header<'a>(arena: &Arena<'a>, place: u64) -> &'a OperationHeader {
    // SAFETY: the place is that of an operation that has not been given back; the fields are atomic.
    unsafe { &*arena.data(place).cast() }
}

fn chain_of(name: OperationName) -> u64 {
    let mixed = (name.communicator.rotate_left(16) ^ u64::from(name.number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> 51 & (CHAINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coupling::SharedTerms;

    #[test]
    fn the_last_to_leave_gives_everything_back_and_one_computes() {
        let area = SharedArea::alone(SharedTerms::plain(4, 1 << 24)).unwrap();
        let arena = Arena::of(&area);
        let computed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for member in 0..4_u32 {
                let (area, arena, computed) = (&area, arena, &computed);
                scope.spawn(move || {
                    for number in 0..2000 {
                        let name = OperationName {
                            communicator: 3,
                            number,
                            members: 4,
                        };
                        let block = arena.allocate(4).unwrap();
                        // SAFETY: the block is ours and has four bytes.
                        unsafe { arena.data(block).cast::<u32>().write(member + number) };
                        let operation = Contributions::enter(area, name, member, (block, 4), 1).unwrap();
                        while (0..4).any(|other| operation.of(area, other).is_none()) {
                            std::thread::yield_now();
                        }
                        let sum = match operation.result(area) {
                            Shared::There(block) => arena.copy(block),
                            Shared::Mine => {
                                computed.fetch_add(1, Ordering::Relaxed);
                                let numbers = (0..4).map(|other| operation.of(area, other).unwrap());
                                let sum: u32 = numbers.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).sum();
                                let block = arena.allocate(4).unwrap();
                                // SAFETY: the block is ours and has four bytes.
                                unsafe { arena.data(block).cast::<u32>().write(sum) };
                                operation.computed(area, block);
                                sum.to_le_bytes().to_vec()
                            }
                        };
                        assert_eq!(sum, (6 + 4 * number).to_le_bytes());
                        operation.leave(area);
                    }
                });
            }
        });
        assert_eq!((computed.into_inner(), arena.taken().0), (2000, 0));
        let name = OperationName {
            communicator: 1,
            number: 0,
            members: 2,
        };
        Contributions::enter(&area, name, 0, (NO_PAYLOAD, 0), 5).unwrap();
        assert_eq!(
            Contributions::enter(&area, name, 1, (NO_PAYLOAD, 0), 6).err(),
            Some(Some(5))
        );
    }
}
