//! Immutable tables of a world that are looked up once or more per event.

use crate::cache::{bring, bring_line};
use crate::{CHECKS, missing};
use std::ops::{Deref, Index};

/// A table whose entries are numbered by the world itself.
///
/// Indexing checks the number only in builds with debug assertions, as columns do ([`crate::Column::get`]): tables hold what a world has
/// worked out and verified when it was built, and are asked only for numbers that come out of such tables or columns. As a slice
/// (`table.get(i)`, `table.iter()`, `table[from..to]` after `&*table`) it is an ordinary one with checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table<T>(Vec<T>);

impl<T> Table<T> {
    /// A table of these entries.
    pub fn new(entries: Vec<T>) -> Self {
        Table(entries)
    }

    /// Asks the processor to bring an entry, no larger than a cache line, into its caches, whether there is such an entry or not.
    #[inline(always)]
    pub fn prefetch_one(&self, place: usize) {
        bring_line(self.0.as_ptr().wrapping_add(place).cast());
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(entries: Vec<T>) -> Self {
        Table(entries)
    }
}

impl<T> From<Table<T>> for Vec<T> {
    fn from(table: Table<T>) -> Self {
        table.0
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, place: usize) -> &T {
        if CHECKS && place >= self.0.len() {
            missing("entry", place, 0, self.0.len());
        }
        // SAFETY: the caller vouches for the number; see the type.
        #[allow(unsafe_code)]
        unsafe {
            self.0.get_unchecked(place)
        }
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A run of neighbouring entries of a table, by their numbers in the whole: what one process of several holds of it.
///
/// Indexing is that of [`Table`], with no subtraction: the address of entry 0, wherever that would lie, is kept.
#[derive(Debug)]
pub struct Run<T> {
    /// Where entry 0 would be.
    origin: *const T,
    first: usize,
    entries: Vec<T>,
}

// SAFETY: the address is that of the entries, which it owns.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Run<T> {}
// SAFETY: as above; it is only read.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Run<T> {}

impl<T> Run<T> {
    /// The entries from number `first` on.
    pub fn new(first: usize, entries: Vec<T>) -> Self {
        Run {
            origin: entries.as_ptr().wrapping_sub(first),
            first,
            entries,
        }
    }

    /// Asks the processor to bring entries `from..to` into its caches: a hint that changes nothing else.
    #[inline(always)]
    pub fn prefetch(&self, from: usize, to: usize) {
        bring(self.origin.wrapping_add(from).cast(), (to - from) * size_of::<T>());
    }

    /// [`Run::prefetch`] of one entry, no larger than a cache line, whether there is such an entry or not.
    #[inline(always)]
    pub fn prefetch_one(&self, place: usize) {
        bring_line(self.origin.wrapping_add(place).cast());
    }

    /// The entries held.
    pub fn entries(&self) -> &[T] {
        &self.entries
    }
}

impl<T> Index<usize> for Run<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, place: usize) -> &T {
        if CHECKS && place.wrapping_sub(self.first) >= self.entries.len() {
            missing("entry", place, self.first, self.entries.len());
        }
        // SAFETY: the caller vouches for the number; see `Table`.
        #[allow(unsafe_code)]
        unsafe {
            &*self.origin.wrapping_add(place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_gives_its_entries_by_their_numbers_in_the_whole() {
        let run = Run::new(100, vec![7u32, 8, 9]);
        let moved = Box::new(run);
        assert_eq!((moved[100], moved[102], moved.entries().len()), (7, 9, 3));
        assert_eq!(Run::new(0, vec![5u8])[0], 5);
    }

    #[test]
    fn a_table_gives_its_entries_by_number_and_in_order() {
        let table = Table::from(vec![3u8, 1, 4]);
        assert_eq!((table[0], table[2], table.len()), (3, 4, 3));
        assert_eq!(table.into_iter().copied().collect::<Vec<_>>(), [3, 1, 4]);
        assert_eq!(table.get(3), None);
    }
}
