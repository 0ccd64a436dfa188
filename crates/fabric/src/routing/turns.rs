//! Counters of routers by which a routing deals packets out in turn.

/// Local ports from here on, below [`TOLD`](super::news::TOLD), stand for counters of the router, by their numbers.
pub const COUNTER: u32 = 1 << 30;

/// Counters that a router may have: a [`Way`](super::Way) has room for their numbers.
pub(super) const MOST_COUNTERS: u32 = u16::MAX as u32;

/// The place in a list of `length` at which a packet's turn is, for a router whose first turn is that of its number.
pub(super) fn turn(router: u32, count: u64, length: u32) -> u32 {
    let length = u64::from(length.max(1));
    ((u64::from(router) % length + count % length) % length) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_begin_with_the_number_of_the_router() {
        // Leaf 5 with four ways up: 1, 2, 3, 0, 1.
        let taken: Vec<u32> = (0..5).map(|count| turn(5, count, 4)).collect();
        assert_eq!(taken, [1, 2, 3, 0, 1]);
        assert_eq!(turn(7, u64::from(u32::MAX), 1), 0);
    }
}
