//! Names of requests: OTF2's are numbers of 64 bits, or addresses; those of operations have 32.

use crate::operation::NONE;
use std::collections::HashMap;

/// Requests from here on get names that are used again when they are over; those below are their own names.
const LARGE: u32 = 1 << 31;

/// The requests of a rank that have begun and not ended.
#[derive(Debug, Default)]
pub struct OpenRequests {
    open: HashMap<u64, u32>,
    free: Vec<u32>,
    given: u32,
}

impl OpenRequests {
    /// A request begins: its name, and whether it had begun already and not ended.
    pub fn begin(&mut self, request: u64) -> (u32, bool) {
        if let Some(name) = self.open.get(&request) {
            return (*name, true);
        }
        let name = match u32::try_from(request) {
            Ok(name) if name < LARGE => name,
            _ => self.free.pop().unwrap_or_else(|| {
                self.given += 1;
                // Two billion requests are not open at once.
                LARGE.wrapping_add(self.given - 1)
            }),
        };
        self.open.insert(request, name);
        (name, false)
    }

    /// A request begins that no operation has: its name is [`NONE`].
    pub fn begin_without(&mut self, request: u64) {
        self.open.insert(request, NONE);
    }

    /// A request that is open.
    pub fn name(&self, request: u64) -> Option<u32> {
        self.open.get(&request).copied()
    }

    /// A request ends: its name, if it has begun.
    pub fn end(&mut self, request: u64) -> Option<u32> {
        let name = self.open.remove(&request)?;
        if (LARGE..NONE).contains(&name) {
            self.free.push(name);
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_requests_are_their_names_and_large_ones_take_turns() {
        let mut names = OpenRequests::default();
        assert_eq!(names.begin(7), (7, false));
        assert_eq!(names.begin(7), (7, true));
        let (a, b) = (0x7FFF_1234_5678, u64::MAX);
        assert_eq!((names.begin(a).0, names.begin(b).0), (LARGE, LARGE + 1));
        assert_eq!(names.end(a), Some(LARGE));
        assert_eq!(names.end(a), None);
        assert_eq!(names.begin(1 << 40), (LARGE, false));
        assert_eq!((names.name(7), names.name(8)), (Some(7), None));
        names.begin_without(9);
        assert_eq!((names.end(9), names.end(9)), (Some(NONE), None));
        assert_eq!(names.begin(1 << 41), (LARGE + 2, false));
    }
}
