//! Room for what messages say: blocks of powers of two, from any process to any other.
//!
//! A buddy system: a block that is given back joins its neighbour where that is free, so that room is never lost to an order of sizes.
//! The first 64 bytes of a block are its header; data begin at multiples of 64. Small blocks that are given back are kept at hand for the next
//! message, and join their neighbours when there is no other room: their lines are in the cache, and no other block's header is touched.

use crate::blocks::{ArenaState, BlockHeader, BlocksAtHand, LARGEST, SMALL_ORDERS, SMALLEST};
use crate::layout::SharedArea;
use std::sync::atomic::Ordering;

const HEADER: u64 = 64;
/// Blocks of this order and above give their memory back to the system.
const GIVEN_BACK: u32 = 23;
const NOWHERE: u64 = 0;
const FREE: u32 = 0x6672_6565;
const TAKEN: u32 = 0x7461_6b65;
const KEPT: u32 = 0x6b65_7074;

/// The arena of a shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Arena<'a> {
    area: &'a SharedArea,
}

impl<'a> Arena<'a> {
    /// That of a memory.
    pub fn of(area: &'a SharedArea) -> Arena<'a> {
        Arena { area }
    }

    fn state(&self) -> &'a ArenaState {
        &self.area.preface().arena_state
    }

    fn header(&self, place: u64) -> &'a BlockHeader {
        let (start, bytes) = self.area.arena_place();
        assert!(place < bytes, "a block beyond the arena");
        // SAFETY: inside the memory and aligned; its fields are atomic, and any bytes are values of them.
        unsafe { &*self.area.mapping.at(start + place).cast() }
    }

    /// A block for so many bytes, or `None` where there is no room. What is in it is whatever was.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".text.hot"))]
    pub fn allocate(&self, bytes: u64) -> Option<u64> {
        let order = order_of(bytes)?;
        let state = self.state();
        let guard = state.lock.lock();
        let place = match self.take_at_hand(order).or_else(|| self.find(order)) {
            Some(place) => place,
            None if self.join_all() => self.find(order)?,
            None => return None,
        };
        let header = self.header(place);
        header.state.store(TAKEN, Ordering::Relaxed);
        header.order.store(order, Ordering::Relaxed);
        header.bytes.store(bytes, Ordering::Relaxed);
        let taken = state.taken.load(Ordering::Relaxed) + (1 << order);
        state.taken.store(taken, Ordering::Relaxed);
        if taken > state.most.load(Ordering::Relaxed) {
            state.most.store(taken, Ordering::Relaxed);
        }
        drop(guard);
        Some(place)
    }

    /// Blocks of an order that are at hand, where some are kept.
    fn at_hand(&self, order: u32) -> Option<&'a BlocksAtHand> {
        self.state().at_hand.get((order - SMALLEST) as usize)
    }

    fn take_at_hand(&self, order: u32) -> Option<u64> {
        let blocks = self.at_hand(order)?;
        let last = blocks.count.load(Ordering::Relaxed).checked_sub(1)?;
        blocks.count.store(last, Ordering::Relaxed);
        Some(blocks.places[last as usize].load(Ordering::Relaxed))
    }

    /// Keeps a block at hand; `false` where there is no room for it.
    fn keep_at_hand(&self, place: u64, order: u32) -> bool {
        let Some(blocks) = self.at_hand(order) else {
            return false;
        };
        let count = blocks.count.load(Ordering::Relaxed);
        let Some(free) = blocks.places.get(count as usize) else {
            return false;
        };
        free.store(place, Ordering::Relaxed);
        blocks.count.store(count + 1, Ordering::Relaxed);
        self.header(place).state.store(KEPT, Ordering::Relaxed);
        true
    }

    /// Blocks that are at hand join their neighbours; returns whether there were any.
    #[cold]
    fn join_all(&self) -> bool {
        let mut any = false;
        for order in (SMALLEST..).take(SMALL_ORDERS) {
            while let Some(place) = self.take_at_hand(order) {
                self.join(place, order);
                any = true;
            }
        }
        any
    }

    /// The first block that is free, or new.
    fn find(&self, order: u32) -> Option<u64> {
        (order..=LARGEST)
            .find_map(|from| self.take_first(from).map(|place| self.split(place, from, order)))
            .or_else(|| self.extend(order))
    }

    /// A block that says so, or `None` where there is no room.
    pub fn say(&self, bytes: &[u8]) -> Option<u64> {
        let place = self.allocate(bytes.len() as u64)?;
        // SAFETY: the block is new, nobody else has it, and it has room for them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data(place), bytes.len()) };
        Some(place)
    }

    /// Gives a block back. Its data are gone.
    ///
    /// # Panics
    /// Nobody has the block.
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".text.hot"))]
    pub fn free(&self, place: u64) {
        let header = self.header(place);
        let order = header.order.load(Ordering::Relaxed);
        assert!(
            header.state.load(Ordering::Relaxed) == TAKEN && (SMALLEST..=LARGEST).contains(&order),
            "a block that nobody has is given back"
        );
        if order >= GIVEN_BACK {
            let (start, _) = self.area.arena_place();
            let page = 4096;
            self.area.mapping.give_back(start + place + page, (1 << order) - page);
        }
        let state = self.state();
        let _guard = state.lock.lock();
        let taken = state.taken.load(Ordering::Relaxed) - (1 << order);
        state.taken.store(taken, Ordering::Relaxed);
        if !self.keep_at_hand(place, order) {
            self.join(place, order);
        }
    }

    /// A block is free, as one with its neighbours that are.
    fn join(&self, mut place: u64, mut order: u32) {
        let state = self.state();
        while order < LARGEST {
            let buddy = place ^ (1 << order);
            if buddy >= state.used.load(Ordering::Relaxed) {
                break;
            }
            let header = self.header(buddy);
            let joins = header.state.load(Ordering::Relaxed) == FREE && header.order.load(Ordering::Relaxed) == order;
            if !joins {
                break;
            }
            self.unlink(buddy, order);
            self.header(place.max(buddy)).state.store(0, Ordering::Relaxed);
            place = place.min(buddy);
            order += 1;
        }
        self.link(place, order);
    }

    /// Bytes that a block was asked for.
    pub fn bytes(&self, place: u64) -> u64 {
        self.header(place).bytes.load(Ordering::Relaxed)
    }

    /// Where the data of a block are, in this process. They may be written by whoever took the block, until another is told of it, and read by those
    /// that are told, until it is given back.
    pub fn data(&self, place: u64) -> *mut u8 {
        let (start, bytes) = self.area.arena_place();
        assert!(place + HEADER < bytes, "a block beyond the arena");
        self.area.mapping.at(start + place + HEADER)
    }

    /// A copy of what a block says.
    pub fn copy(&self, place: u64) -> Vec<u8> {
        let bytes = self.bytes(place) as usize;
        let mut copy = vec![0; bytes];
        // SAFETY: the block has room for as many bytes as it was asked for, and who is told of it reads what was written before.
        unsafe { std::ptr::copy_nonoverlapping(self.data(place), copy.as_mut_ptr(), bytes) };
        copy
    }

    /// Bytes taken now, and the most that ever were.
    pub fn taken(&self) -> (u64, u64) {
        let state = self.state();
        (state.taken.load(Ordering::Relaxed), state.most.load(Ordering::Relaxed))
    }

    fn take_first(&self, order: u32) -> Option<u64> {
        let first = self.state().free[order as usize].load(Ordering::Relaxed);
        let place = first.checked_sub(1)?;
        self.unlink(place, order);
        Some(place)
    }

    /// Halves a block of one order until it is of another; its other halves are free.
    fn split(&self, place: u64, from: u32, to: u32) -> u64 {
        for order in (to..from).rev() {
            self.link(place + (1 << order), order);
        }
        place
    }

    /// A block that never was one.
    fn extend(&self, order: u32) -> Option<u64> {
        let (_, bytes) = self.area.arena_place();
        let state = self.state();
        let used = state.used.load(Ordering::Relaxed);
        let place = used.next_multiple_of(1 << order);
        let end = place.checked_add(1 << order).filter(|&end| end <= bytes)?;
        state.used.store(end, Ordering::Relaxed);
        // What was left out for the block to lie at a multiple of its size is free.
        let mut gap = used;
        while gap < place {
            let order = gap.trailing_zeros().min((place - gap).ilog2());
            self.link(gap, order);
            gap += 1 << order;
        }
        Some(place)
    }

    fn link(&self, place: u64, order: u32) {
        let first = &self.state().free[order as usize];
        let header = self.header(place);
        let next = first.load(Ordering::Relaxed);
        header.state.store(FREE, Ordering::Relaxed);
        header.order.store(order, Ordering::Relaxed);
        header.next.store(next, Ordering::Relaxed);
        header.previous.store(NOWHERE, Ordering::Relaxed);
        if let Some(next) = next.checked_sub(1) {
            self.header(next).previous.store(place + 1, Ordering::Relaxed);
        }
        first.store(place + 1, Ordering::Relaxed);
    }

    fn unlink(&self, place: u64, order: u32) {
        let header = self.header(place);
        let (next, previous) = (
            header.next.load(Ordering::Relaxed),
            header.previous.load(Ordering::Relaxed),
        );
        match previous.checked_sub(1) {
            Some(previous) => self.header(previous).next.store(next, Ordering::Relaxed),
            None => self.state().free[order as usize].store(next, Ordering::Relaxed),
        }
        if let Some(next) = next.checked_sub(1) {
            self.header(next).previous.store(previous, Ordering::Relaxed);
        }
        header.state.store(TAKEN, Ordering::Relaxed);
    }
}

/// The order of a block for so many bytes.
fn order_of(bytes: u64) -> Option<u32> {
    let whole = bytes.checked_add(HEADER)?.checked_next_power_of_two()?;
    let order = whole.trailing_zeros().max(SMALLEST);
    (order <= LARGEST).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SharedTerms;

    fn area(arena: u64) -> SharedArea {
        SharedArea::alone(SharedTerms::plain(1, arena)).unwrap()
    }

    /// Numbers as they come.
    fn next(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *seed >> 33
    }

    #[test]
    fn blocks_never_overlap_and_all_room_comes_back() {
        let area = area(1 << 24);
        let arena = Arena::of(&area);
        let mut held: Vec<(u64, u64, u8)> = Vec::new();
        let mut seed = 7;
        for turn in 0..20_000_u64 {
            if !next(&mut seed).is_multiple_of(3) || held.is_empty() {
                let bytes = next(&mut seed) % [40, 3_000, 300_000][(turn % 3) as usize];
                let Some(place) = arena.allocate(bytes) else { continue };
                let value = turn as u8;
                // SAFETY: the block is ours and has room for them.
                unsafe { std::ptr::write_bytes(arena.data(place), value, bytes as usize) };
                held.push((place, bytes, value));
            } else {
                let (place, bytes, value) = held.swap_remove(next(&mut seed) as usize % held.len());
                assert_eq!(arena.bytes(place), bytes);
                assert!(arena.copy(place).iter().all(|&byte| byte == value));
                arena.free(place);
            }
        }
        for (place, _, value) in held.drain(..) {
            assert!(arena.copy(place).iter().all(|&byte| byte == value));
            arena.free(place);
        }
        assert_eq!(arena.taken().0, 0);
        // All of it is one block again.
        let all = arena.allocate((1 << 24) - HEADER).expect("room for one block of all");
        assert!(arena.allocate(0).is_none());
        arena.free(all);
    }

    #[test]
    fn a_block_of_any_size_has_room_for_its_bytes() {
        for bytes in [0, 1, 63, 64, 65, 4_031, 4_032, 4_033, 1 << 20] {
            let order = order_of(bytes).unwrap();
            assert!(
                (1_u64 << order) >= bytes + HEADER && (order == SMALLEST || (1_u64 << (order - 1)) < bytes + HEADER)
            );
        }
        assert_eq!(order_of(u64::MAX), None);
        assert_eq!(order_of(1 << 40), None);
    }
}
