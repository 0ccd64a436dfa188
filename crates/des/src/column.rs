//! State columns: flat vectors of plain values whose every change goes through a journal.
//!
//! The journal is a generic parameter. [`NoJournal`] compiles to nothing; [`Log`] keeps the old value of each changed element, so that
//! any model can be rolled back without a line of its own.

use crate::cache::{LINE, bring, bring_line};
use crate::{CHECKS, missing};
use bytemuck::Pod;

/// Takes the old value of a column's element before it changes.
pub trait Journal {
    /// `false` lets the compiler drop every trace of journalling.
    const ACTIVE: bool;
    /// Saves `old`, the content of element `index` of column `column`.
    fn save(&mut self, column: u16, index: u32, old: &[u8]);
    /// Notes that element `index` of column `column` comes into use.
    fn grown(&mut self, column: u16, index: u32);
    /// An element of column `column` that an undo has put out of use, to be used instead of a new one.
    #[inline(always)]
    fn reuse(&mut self, _column: u16) -> Option<u32> {
        None
    }
    /// How much is held.
    #[inline(always)]
    fn mark(&self) -> Mark {
        Mark::default()
    }
}

/// A place in an undo log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Changes before it.
    pub entries: u32,
    /// Saved bytes before it.
    pub bytes: u32,
}

/// No journal: exactly zero cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    const ACTIVE: bool = false;
    #[inline(always)]
    fn save(&mut self, _column: u16, _index: u32, _old: &[u8]) {}
    #[inline(always)]
    fn grown(&mut self, _column: u16, _index: u32) {}
}

/// One undo entry; the bytes of a saved element follow in [`Log::bytes`].
#[derive(Clone, Copy, Debug)]
struct UndoEntry {
    column: u16,
    /// Bytes saved; `GROWN` marks an element that came into use.
    len: u16,
    index: u32,
}

const GROWN: u16 = u16::MAX;

/// An undo log, newest entry last.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<UndoEntry>,
    bytes: Vec<u8>,
}

impl Log {
    /// Number of changes held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// `true` if nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets everything: the changes are committed.
    pub fn commit(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }

    /// Undoes every change of `state` since the last commit, newest first.
    pub fn undo<C: Columns>(&mut self, state: &mut C) {
        while let Some(entry) = self.entries.pop() {
            if entry.len == GROWN {
                state.truncate(entry.column, entry.index);
            } else {
                let from = self.bytes.len() - usize::from(entry.len);
                state.restore(entry.column, entry.index, &self.bytes[from..]);
                self.bytes.truncate(from);
            }
        }
    }

    /// Undoes the changes of `state` between two places, newest first, and leaves the log as it is. The changes of others in between
    /// times stay, so that elements that came into use are not taken off the end of their column but shown to `free`.
    pub fn undo_part<C: Columns>(&self, from: Mark, to: Mark, state: &mut C, mut free: impl FnMut(u16, u32)) {
        let mut end = to.bytes as usize;
        for entry in self.entries[from.entries as usize..to.entries as usize].iter().rev() {
            if entry.len == GROWN {
                free(entry.column, entry.index);
            } else {
                let start = end - usize::from(entry.len);
                state.restore(entry.column, entry.index, &self.bytes[start..end]);
                end = start;
            }
        }
    }

    /// Appends the changes that `other` has between two places.
    pub fn append_part(&mut self, other: &Log, from: Mark, to: Mark) {
        self.entries
            .extend_from_slice(&other.entries[from.entries as usize..to.entries as usize]);
        self.bytes
            .extend_from_slice(&other.bytes[from.bytes as usize..to.bytes as usize]);
    }

    /// Bytes that are held between two places.
    pub fn size(from: Mark, to: Mark) -> usize {
        (to.entries - from.entries) as usize * size_of::<UndoEntry>() + (to.bytes - from.bytes) as usize
    }
}

impl Journal for Log {
    const ACTIVE: bool = true;

    fn save(&mut self, column: u16, index: u32, old: &[u8]) {
        self.entries.push(UndoEntry {
            column,
            len: old.len() as u16,
            index,
        });
        self.bytes.extend_from_slice(old);
    }

    fn grown(&mut self, column: u16, index: u32) {
        self.entries.push(UndoEntry {
            column,
            len: GROWN,
            index,
        });
    }

    #[inline(always)]
    fn mark(&self) -> Mark {
        Mark {
            entries: self.entries.len() as u32,
            bytes: self.bytes.len() as u32,
        }
    }
}

/// A column of plain values, those of one block: numbered as in the whole world, from the block's first on.
///
/// The buffer is held by hand so that an element is found without subtracting the first number: `origin` points where element 0 would be.
pub struct Column<T> {
    /// Where element 0 of the whole world would be; only `first..first + len` of it may be touched.
    origin: *mut T,
    first: u32,
    len: u32,
    capacity: usize,
    id: u16,
}

// SAFETY: a column owns its elements as a vector does.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Column<T> {}
// SAFETY: the same.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Column<T> {}

impl<T> Column<T> {
    /// Takes over a buffer.
    fn hold(&mut self, first: u32, data: Vec<T>) {
        let mut data = std::mem::ManuallyDrop::new(data);
        self.first = first;
        self.len = data.len() as u32;
        self.capacity = data.capacity();
        self.origin = data.as_mut_ptr().wrapping_sub(first as usize);
    }

    /// Gives the buffer back and leaves an empty one.
    fn release(&mut self) -> Vec<T> {
        let start = self.origin.wrapping_add(self.first as usize);
        let (len, capacity) = (self.len as usize, self.capacity);
        self.hold(self.first, Vec::new());
        // SAFETY: pointer, length and capacity are those of the vector that was taken over.
        #[allow(unsafe_code)]
        unsafe {
            Vec::from_raw_parts(start, len, capacity)
        }
    }
}

impl<T> Drop for Column<T> {
    fn drop(&mut self) {
        drop(self.release());
    }
}

impl<T: Pod> Clone for Column<T> {
    fn clone(&self) -> Self {
        let mut clone = Column::new(self.id, Vec::new());
        clone.hold(self.first, self.as_slice().to_vec());
        clone
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column")
            .field("id", &self.id)
            .field("first", &self.first)
            .field("data", &self.as_slice())
            .finish()
    }
}

impl<T: Pod> Column<T> {
    /// A column with number `id` within its state.
    pub fn new(id: u16, data: Vec<T>) -> Self {
        const {
            assert!(
                size_of::<T>() < GROWN as usize,
                "a column's element must fit an undo entry"
            )
        };
        let mut column = Column {
            origin: std::ptr::null_mut(),
            first: 0,
            len: 0,
            capacity: 0,
            id,
        };
        column.hold(0, data);
        column
    }

    /// Replaces the content by elements that are numbered from `first` on; for building only, before the first event.
    pub fn fill(&mut self, first: u32, data: Vec<T>) {
        drop(self.release());
        self.hold(first, data);
    }

    /// All elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the buffer holds `len` elements from the first on.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.origin.wrapping_add(self.first as usize), self.len as usize)
        }
    }

    /// The elements of these numbers, which must exist.
    #[inline(always)]
    pub fn part(&self, numbers: std::ops::Range<u32>) -> &[T] {
        &self.as_slice()[(numbers.start - self.first) as usize..(numbers.end - self.first) as usize]
    }

    /// All elements, for changes that no journal needs to know: before the first event only.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and the column is borrowed for changing.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts_mut(self.origin.wrapping_add(self.first as usize), self.len as usize)
        }
    }

    /// The numbers of the elements.
    pub fn range(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.len
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// `true` if there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads element `index`, which must exist: only builds with debug assertions check that.
    #[inline(always)]
    pub fn get(&self, index: u32) -> &T {
        let place = self.place(index);
        // SAFETY: `place` vouches for the index.
        #[allow(unsafe_code)]
        unsafe {
            &*place
        }
    }

    /// The address of an element that the caller vouches for: handlers use indices that come out of the world itself, which checks
    /// its wiring when it is built, or out of the column's own list links. Builds with debug assertions check every one of them; the
    /// others do not, because these checks were a twelfth of all instructions of a packet-hop.
    #[inline(always)]
    fn place(&self, index: u32) -> *mut T {
        if CHECKS && index.wrapping_sub(self.first) >= self.len {
            missing("element", index as usize, self.first as usize, self.len as usize);
        }
        self.origin.wrapping_add(index as usize)
    }

    /// Asks the processor to bring elements `from..to` into its caches: a hint that changes nothing else.
    #[inline(always)]
    pub fn prefetch(&self, from: u32, to: u32) {
        bring(
            self.origin.wrapping_add(from as usize).cast(),
            (to - from) as usize * size_of::<T>(),
        );
    }

    /// [`Column::prefetch`] of the first `bytes` bytes of an element that begins with a cache line.
    #[inline(always)]
    pub fn prefetch_front(&self, index: u32, bytes: usize) {
        const { assert!(align_of::<T>() >= LINE) }
        bring(self.origin.wrapping_add(index as usize).cast(), bytes);
    }

    /// [`Column::prefetch`] of one element, no larger than a cache line, whether there is such an element or not: of both lines that it may lie in, and no
    /// other.
    #[inline(always)]
    pub fn prefetch_one(&self, index: u32) {
        const { assert!(size_of::<T>() <= LINE) }
        let first: *const u8 = self.origin.wrapping_add(index as usize).cast();
        bring_line(first);
        if !LINE.is_multiple_of(size_of::<T>()) {
            bring_line(first.wrapping_add(size_of::<T>() - 1));
        }
    }

    /// Gives element `index`, which must exist (see [`Column::get`]), for changing, after the journal has saved it.
    #[inline(always)]
    pub fn edit<J: Journal>(&mut self, journal: &mut J, index: u32) -> &mut T {
        let place = self.place(index);
        // SAFETY: `place` vouches for the index.
        #[allow(unsafe_code)]
        let element = unsafe { &mut *place };
        if J::ACTIVE {
            journal.save(self.id, index, bytemuck::bytes_of(element));
        }
        element
    }

    /// Reads the `N` elements from `first` on, which must exist as for [`Column::get`].
    #[inline(always)]
    pub fn get_run<const N: usize>(&self, first: u32) -> &[T; N] {
        let place = self.run_place::<N>(first);
        // SAFETY: `run_place` vouches for the elements.
        #[allow(unsafe_code)]
        unsafe {
            &*place
        }
    }

    /// Gives the `N` elements from `first` on for changing, after the journal has saved each of them.
    #[inline(always)]
    pub fn edit_run<J: Journal, const N: usize>(&mut self, journal: &mut J, first: u32) -> &mut [T; N] {
        let place = self.run_place::<N>(first);
        // SAFETY: `run_place` vouches for the elements.
        #[allow(unsafe_code)]
        let elements = unsafe { &mut *place };
        if J::ACTIVE {
            for (index, element) in (first..).zip(&*elements) {
                journal.save(self.id, index, bytemuck::bytes_of(element));
            }
        }
        elements
    }

    /// [`Column::place`] of elements that stand side by side.
    #[inline(always)]
    fn run_place<const N: usize>(&self, first: u32) -> *mut [T; N] {
        if CHECKS && N > 0 {
            self.place(first + (N as u32 - 1));
        }
        self.place(first).cast()
    }

    /// Overwrites element `index`.
    #[inline(always)]
    pub fn set<J: Journal>(&mut self, journal: &mut J, index: u32, value: T) {
        *self.edit(journal, index) = value;
    }

    /// Brings an element into use, most often by appending it, and returns its index.
    #[inline]
    pub fn push<J: Journal>(&mut self, journal: &mut J, value: T) -> u32 {
        if J::ACTIVE
            && let Some(index) = journal.reuse(self.id)
        {
            journal.grown(self.id, index);
            let place = self.place(index);
            // SAFETY: the element exists, or it could not have been put out of use.
            #[allow(unsafe_code)]
            unsafe {
                place.write(value);
            }
            return index;
        }
        let index = self.first + self.len;
        if J::ACTIVE {
            journal.grown(self.id, index);
        }
        if self.len as usize == self.capacity {
            self.grow();
        }
        // SAFETY: there is room for one more element.
        #[allow(unsafe_code)]
        unsafe {
            self.origin.wrapping_add(index as usize).write(value);
        }
        self.len += 1;
        index
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.first;
        let mut data = self.release();
        data.reserve(1);
        self.hold(first, data);
    }

    /// Puts back saved bytes.
    pub fn restore(&mut self, index: u32, bytes: &[u8]) {
        let at = (index - self.first) as usize;
        bytemuck::bytes_of_mut(&mut self.as_mut_slice()[at]).copy_from_slice(bytes);
    }

    /// Takes back pushes: `end` is the number behind the last element that stays.
    pub fn truncate(&mut self, end: u32) {
        self.len = self.len.min(end - self.first);
    }

    /// Folds the content into a digest; order matters.
    pub fn digest(&self, digest: u64) -> u64 {
        fold(digest, bytemuck::cast_slice(self.as_slice()))
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.capacity * size_of::<T>()
    }
}

/// Folds bytes into a digest. Each step is one to one in what was there and in what comes, so that another word always gives another
/// lane; there are four, since one would wait for its multiplications. The last step tells them apart by their order.
fn fold(digest: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [crate::rng::mix(digest ^ bytes.len() as u64); 4];
    let mut take = |words: &[u8; 32]| {
        for (lane, word) in lanes.iter_mut().zip(words.as_chunks::<8>().0) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(ODD).rotate_left(29);
        }
    };
    let (whole, rest) = bytes.as_chunks::<32>();
    whole.iter().for_each(&mut take);
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    take(&last);
    lanes
        .into_iter()
        .fold(digest, |digest, lane| crate::rng::mix(digest ^ lane))
}

/// A state made of columns. Use [`columns!`](crate::columns) to implement it.
pub trait Columns: Sized {
    /// How many columns there are, those of parts among them.
    const COUNT: u16;
    /// Empty columns, which the journal knows by the numbers from `first` on.
    fn numbered_from(first: u16) -> Self;
    /// Puts back the saved bytes of one element.
    fn restore(&mut self, column: u16, index: u32, bytes: &[u8]);
    /// Takes back the growth of one column.
    fn truncate(&mut self, column: u16, len: u32);
    /// A digest of the whole content.
    fn digest(&self) -> u64;
    /// Bytes of memory held.
    fn memory(&self) -> usize;
}

/// Declares a state struct whose fields are columns.
///
/// ```
/// des::columns! {
///     /// Counters of some LPs.
///     pub struct Counters {
///         /// Events seen per LP.
///         pub seen: u64,
///         /// Last port per LP.
///         pub port: u32,
///     }
/// }
/// use des::{Columns, Log, NoJournal};
/// let mut state = Counters::default();
/// state.seen.fill(0, vec![0; 4]);
/// let before = state.digest();
/// let mut log = Log::default();
/// *state.seen.edit(&mut log, 2) += 1;
/// state.port.push(&mut log, 7);
/// assert_ne!(state.digest(), before);
/// log.undo(&mut state);
/// assert_eq!(state.digest(), before);
/// state.seen.set(&mut NoJournal, 0, 5);
/// ```
///
/// A state may have parts, which are declared as states of their own. Its own columns are numbered first, then those of its parts, so that
/// one journal serves all of them and a part's column costs what an own one does.
///
/// ```
/// # des::columns! {
/// #     /// Counters of some LPs.
/// #     pub struct Counters {
/// #         /// Events seen per LP.
/// #         pub seen: u64,
/// #     }
/// # }
/// des::columns! {
///     /// A lamp per LP, and the counters.
///     pub struct Lamps {
///         /// Whether it is on.
///         pub on: u8,
///     } with {
///         /// How often it was switched.
///         pub counters: Counters,
///     }
/// }
/// use des::{Columns, Log};
/// let mut state = Lamps::default();
/// state.counters.seen.fill(0, vec![0; 4]);
/// let mut log = Log::default();
/// *state.counters.seen.edit(&mut log, 2) += 1;
/// log.undo(&mut state);
/// assert_eq!(state.counters.seen.get(2), &0);
/// ```
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)? }
        $(with { $($(#[$part_meta:meta])* $part_vis:vis $part:ident : $part_type:ty),* $(,)? })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $crate::Column<$type>,)*
            $($($(#[$part_meta])* $part_vis $part: $part_type,)*)?
        }

        const _: () = {
            #[allow(non_camel_case_types)]
            #[repr(u16)]
            enum Id { $($field,)* End }

            impl Default for $name {
                fn default() -> Self {
                    $crate::Columns::numbered_from(0)
                }
            }

            impl $crate::Columns for $name {
                const COUNT: u16 = Id::End as u16 $($(+ <$part_type as $crate::Columns>::COUNT)*)?;

                fn numbered_from(first: u16) -> Self {
                    let _next = first + Id::End as u16;
                    $($(
                        let $part = <$part_type as $crate::Columns>::numbered_from(_next);
                        let _next = _next + <$part_type as $crate::Columns>::COUNT;
                    )*)?
                    $name {
                        $($field: $crate::Column::new(first + Id::$field as u16, Vec::new()),)*
                        $($($part,)*)?
                    }
                }
                fn restore(&mut self, column: u16, index: u32, bytes: &[u8]) {
                    $(if column == Id::$field as u16 { return self.$field.restore(index, bytes); })*
                    let _column = column - Id::End as u16;
                    $($(
                        if _column < <$part_type as $crate::Columns>::COUNT {
                            return self.$part.restore(_column, index, bytes);
                        }
                        let _column = _column - <$part_type as $crate::Columns>::COUNT;
                    )*)?
                    unreachable!("an undo entry names a column that does not exist");
                }
                fn truncate(&mut self, column: u16, len: u32) {
                    $(if column == Id::$field as u16 { return self.$field.truncate(len); })*
                    let _column = column - Id::End as u16;
                    $($(
                        if _column < <$part_type as $crate::Columns>::COUNT {
                            return self.$part.truncate(_column, len);
                        }
                        let _column = _column - <$part_type as $crate::Columns>::COUNT;
                    )*)?
                    unreachable!("an undo entry names a column that does not exist");
                }
                fn digest(&self) -> u64 {
                    let mut digest = 0;
                    $(digest = self.$field.digest(digest);)*
                    $($(digest = $crate::mix(digest ^ self.$part.digest());)*)?
                    digest
                }
                fn memory(&self) -> usize {
                    0 $(+ self.$field.memory())* $($(+ self.$part.memory())*)?
                }
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::columns! {
        struct Pair {
            small: u16,
            large: [u64; 8],
        }
    }

    #[test]
    fn undo_takes_back_edits_and_growth_in_reverse_order() {
        let mut state = Pair::default();
        state.small.fill(0, vec![1, 2, 3]);
        state.large.fill(0, vec![[0; 8]; 2]);
        let before = state.digest();
        let mut log = Log::default();
        *state.small.edit(&mut log, 1) = 9;
        *state.small.edit(&mut log, 1) = 10;
        let grown = state.large.push(&mut log, [4; 8]);
        state.large.edit(&mut log, grown)[3] = 5;
        state.large.edit(&mut log, 0)[7] = 1;
        assert_eq!(log.len(), 5);
        assert_ne!(state.digest(), before);
        log.undo(&mut state);
        assert!(log.is_empty());
        assert_eq!(state.digest(), before);
        assert_eq!(state.small.as_slice(), [1, 2, 3]);
        assert_eq!(state.large.len(), 2);
    }

    #[test]
    fn elements_side_by_side_are_saved_each() {
        let mut state = Pair::default();
        state.small.fill(5, vec![1, 2, 3, 4]);
        let before = state.digest();
        let mut log = Log::default();
        *state.small.edit_run::<_, 3>(&mut log, 6) = [7, 8, 9];
        assert_eq!(state.small.get_run(5), &[1, 7, 8, 9]);
        assert_eq!(log.len(), 3);
        log.undo(&mut state);
        assert_eq!(state.digest(), before);
    }

    crate::columns! {
        struct Whole {
            own: u32,
        } with {
            left: Pair,
            right: Pair,
        }
    }

    #[test]
    fn parts_of_a_state_are_undone_with_it_and_seen_by_its_digest() {
        assert_eq!(Whole::COUNT, 5);
        let mut state = Whole::default();
        state.own.fill(0, vec![7; 2]);
        state.left.small.fill(0, vec![1, 2]);
        state.right.small.fill(0, vec![1, 2]);
        let before = state.digest();
        let mut log = Log::default();
        state.right.small.set(&mut log, 1, 9);
        assert_ne!(state.digest(), before);
        state.left.large.push(&mut log, [3; 8]);
        state.own.set(&mut log, 0, 8);
        let grown = state.right.large.push(&mut log, [4; 8]);
        state.right.large.edit(&mut log, grown)[0] = 5;
        state.left.small.set(&mut log, 0, 6);
        log.undo(&mut state);
        assert_eq!(state.digest(), before);
        assert_eq!(state.left.small.as_slice(), [1, 2]);
        assert_eq!(state.right.small.as_slice(), [1, 2]);
        assert!(state.left.large.is_empty() && state.right.large.is_empty());
    }

    #[test]
    fn digest_sees_every_byte_and_the_length() {
        let mut state = Pair::default();
        state.small.fill(0, vec![0, 0, 0]);
        let base = state.digest();
        state.small.fill(0, vec![0, 0, 1]);
        assert_ne!(state.digest(), base);
        state.small.fill(0, vec![0, 0]);
        assert_ne!(state.digest(), base);
    }

    #[test]
    fn a_part_is_undone_without_the_parts_of_others_around_it() {
        let mut state = Pair::default();
        state.small.fill(0, vec![1, 2, 3]);
        let mut log = Log::default();
        state.small.set(&mut log, 0, 10);
        let from = log.mark();
        state.small.set(&mut log, 1, 20);
        let mine = state.large.push(&mut log, [4; 8]);
        state.small.set(&mut log, 1, 21);
        let to = log.mark();
        let theirs = state.large.push(&mut log, [5; 8]);
        state.small.set(&mut log, 2, 30);
        let mut freed = Vec::new();
        log.undo_part(from, to, &mut state, |column, index| freed.push((column, index)));
        assert_eq!(state.small.as_slice(), [10, 2, 30]);
        assert_eq!(
            freed,
            [(1, mine)],
            "it is not the last element: another came into use after it"
        );
        assert_eq!(state.large.get(theirs), &[5; 8]);
        let mut copy = Log::default();
        copy.append_part(&log, to, log.mark());
        assert_eq!(Log::size(Mark::default(), copy.mark()), Log::size(to, log.mark()));
        copy.undo_part(Mark::default(), copy.mark(), &mut state, |_, index| {
            assert_eq!(index, theirs)
        });
        assert_eq!(state.small.as_slice(), [10, 2, 3]);
    }
}
