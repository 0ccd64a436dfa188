//! Item number k of a list that is told but never stored: programs and collectives are written as plain loops, and asked for one item.

/// Looks for one item among those that it is shown.
#[derive(Debug)]
pub(crate) struct Nth<T> {
    /// How many items come before the wanted one.
    before: u32,
    found: Option<T>,
}

impl<T> Nth<T> {
    /// Looks for item `index`, from 0.
    pub(crate) fn new(index: u32) -> Nth<T> {
        Nth {
            before: index,
            found: None,
        }
    }

    /// Shows the next item.
    #[inline]
    pub(crate) fn put(&mut self, item: T) {
        if self.before == 0 && self.found.is_none() {
            self.found = Some(item);
        } else {
            self.before = self.before.saturating_sub(1);
        }
    }

    /// Shows `count` rounds of `each` items, of which `round` shows one; takes no longer for many rounds than for one.
    #[inline]
    pub(crate) fn rounds(&mut self, count: u32, each: u32, round: impl FnOnce(&mut Self, u32)) {
        if self.found.is_some() || count == 0 || each == 0 {
            return;
        }
        let all = u64::from(count) * u64::from(each);
        if u64::from(self.before) >= all {
            self.before -= all as u32;
            return;
        }
        let number = self.before / each;
        self.before %= each;
        round(self, number);
        debug_assert!(self.found.is_some(), "a round has fewer than {each} items");
    }

    /// Whether the item was shown: the rest need not be.
    #[inline]
    pub(crate) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// The item, if there were so many.
    pub(crate) fn found(self) -> Option<T> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::Nth;

    /// 9, then 10, 11 | 20, 21 | 30, 31, then 99.
    fn told(index: u32) -> Option<u32> {
        let mut nth = Nth::new(index);
        nth.put(9);
        nth.rounds(3, 2, |nth, round| {
            nth.put(10 * (round + 1));
            nth.put(10 * (round + 1) + 1);
        });
        nth.rounds(0, 5, |nth, _| nth.put(77));
        nth.put(99);
        nth.found()
    }

    #[test]
    fn rounds_are_told_as_if_one_by_one() {
        let all: Vec<u32> = (0..).map_while(told).collect();
        assert_eq!(all, [9, 10, 11, 20, 21, 30, 31, 99]);
        assert_eq!(told(1_000), None);
    }
}
