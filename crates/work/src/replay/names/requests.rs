//! Requests of a rank, named by the lowest number that is free.

use crate::mpi::op::{BLOCK, UNNAMED};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use trace::Problem;

/// Most requests of a rank that are open at a time.
pub const MOST: u16 = BLOCK;

const _: () = assert!(MOST < UNNAMED);

/// The open requests of a rank.
#[derive(Debug, Default)]
pub struct RequestNames {
    /// Names of open requests.
    open: BTreeMap<u32, u16>,
    /// Names below `next` that are free.
    free: BinaryHeap<Reverse<u16>>,
    next: u16,
}

impl RequestNames {
    /// Names a request that begins.
    ///
    /// # Errors
    /// It is open already, or too many are.
    pub fn open(&mut self, request: u32) -> Result<u16, Problem> {
        if self.open.contains_key(&request) {
            let reason = format!("request {request} is made again before it is over");
            return Err(Problem::new("", reason, "wait for it before, or take another number"));
        }
        let name = match self.free.pop() {
            Some(Reverse(name)) => name,
            None if self.next == MOST => {
                let reason = format!("more than {MOST} requests are open at a time");
                return Err(Problem::new("", reason, "wait for them earlier, or cut the trace"));
            }
            None => {
                self.next += 1;
                self.next - 1
            }
        };
        self.open.insert(request, name);
        Ok(name)
    }

    /// The name of an open request.
    pub fn get(&self, request: u32) -> Option<u16> {
        self.open.get(&request).copied()
    }

    /// A request is over; its name, which is free now, or `None` if it was not open.
    pub fn close(&mut self, request: u32) -> Option<u16> {
        let name = self.open.remove(&request)?;
        self.free.push(Reverse(name));
        Some(name)
    }

    /// All requests are over.
    pub fn close_all(&mut self) {
        self.open.clear();
        self.free.clear();
        self.next = 0;
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_lowest_that_no_open_request_has() {
        let mut names = RequestNames::default();
        // A model of a set of names beside it, with requests that come and go at random.
        let mut open: Vec<(u32, u16)> = Vec::new();
        let mut random = des::rng::SplitMix(11);
        for request in 0..20_000 {
            if random.next_word() % 100 < 48 && !open.is_empty() {
                let (request, name) = open.swap_remove((random.next_word() % open.len() as u64) as usize);
                assert_eq!(names.get(request), Some(name));
                assert_eq!(names.close(request), Some(name));
                assert_eq!((names.get(request), names.close(request)), (None, None));
            } else {
                let lowest = (0..).find(|name| open.iter().all(|(_, taken)| taken != name)).unwrap();
                assert_eq!(names.open(u32::MAX - request), Ok(lowest));
                open.push((u32::MAX - request, lowest));
            }
            assert_eq!(names.len(), open.len());
        }
        names.close_all();
        assert!(names.is_empty());
        assert_eq!(names.open(5), Ok(0));
        let again = names.open(5).unwrap_err();
        assert_eq!(again.reason, "request 5 is made again before it is over");
    }

    #[test]
    fn as_many_are_open_as_there_are_names_and_no_more() {
        let mut names = RequestNames::default();
        for request in 0..u32::from(MOST) {
            assert_eq!(names.open(request), Ok(request as u16));
        }
        let refused = names.open(1 << 20).unwrap_err();
        assert_eq!(refused.reason, "more than 65534 requests are open at a time");
        names.close(77);
        assert_eq!(names.open(1 << 20), Ok(77));
    }
}
