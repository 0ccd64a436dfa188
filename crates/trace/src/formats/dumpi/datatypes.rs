//! Sizes of datatypes: those of MPI, those of the file's table, and those that the program makes.

use super::functions as f;
use super::record::CallRecord;
use crate::operation::UNKNOWN_SIZE;
use std::collections::HashMap;

/// Sizes of the datatypes of MPI by number (bytes), as most machines have them: for files that do not tell.
const USUAL: [u32; 28] = [
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
];

/// Sizes of the datatypes of a rank.
pub(super) struct Datatypes {
    table: Vec<u32>,
    /// Those that the program made, by number.
    made: HashMap<i64, u64>,
}

impl Datatypes {
    /// Those of a file's table.
    pub(super) fn new(table: Vec<u32>) -> Datatypes {
        Datatypes {
            table,
            made: HashMap::new(),
        }
    }

    /// Size of a datatype (bytes); nothing where it is not told.
    #[inline]
    pub(super) fn size(&self, number: i64) -> Option<u64> {
        let place = usize::try_from(number).ok()?;
        let told = self.table.get(place).copied().unwrap_or_default();
        match USUAL.get(place) {
            Some(&usual) if told == 0 => Some(usual.into()),
            Some(_) => Some(told.into()),
            // A table has the last datatype of a number, which may be another one than now.
            None => self.made.get(&number).copied().or((told > 0).then_some(told.into())),
        }
    }

    /// Bytes of so many of a datatype.
    #[inline]
    pub(super) fn bytes(&self, count: i64, number: i64) -> u64 {
        let size = self.size(number);
        size.map_or(UNKNOWN_SIZE, |size| size.saturating_mul(count.max(0) as u64))
    }

    /// Takes note of a call, if it makes a datatype.
    pub(super) fn note(&mut self, record: &CallRecord) {
        let value = |i| record.value(i);
        let old = |number: i64, count: u64| self.size(number).map(|size| size.saturating_mul(count));
        let positive = |count: i64| count.max(0) as u64;
        let sum = |counts: &[i32]| counts.iter().map(|count| positive((*count).into())).sum::<u64>();
        let (number, size) = match record.function {
            f::TYPE_CONTIGUOUS => (value(2), old(value(1), positive(value(0)))),
            f::TYPE_VECTOR | f::TYPE_HVECTOR | f::TYPE_CREATE_HVECTOR => {
                (value(4), old(value(3), positive(value(0)) * positive(value(1))))
            }
            f::TYPE_INDEXED | f::TYPE_HINDEXED | f::TYPE_CREATE_HINDEXED => {
                (value(2), old(value(1), sum(record.list(0))))
            }
            f::TYPE_CREATE_INDEXED_BLOCK => {
                let count = record.list(0).len() as u64;
                (value(3), old(value(2), count * positive(value(1))))
            }
            f::TYPE_STRUCT | f::TYPE_CREATE_STRUCT => {
                let parts = record.list(0).iter().zip(record.list(2));
                let mut sizes = parts.map(|(&count, &part)| old(part.into(), positive(count.into())));
                let size = sizes.try_fold(0u64, |all, size| Some(all.saturating_add(size?)));
                (value(1), size)
            }
            f::TYPE_CREATE_SUBARRAY => {
                let counts = record.list(1).iter().map(|count| positive((*count).into()));
                (value(3), old(value(2), counts.fold(1, u64::saturating_mul)))
            }
            f::TYPE_CREATE_RESIZED => (value(3), self.size(value(0))),
            f::TYPE_DUP => (value(1), self.size(value(0))),
            f::TYPE_SIZE => (value(0), u64::try_from(value(1)).ok()),
            f::TYPE_FREE => (value(0), None),
            _ => return,
        };
        match size {
            Some(size) => self.made.insert(number, size),
            None => self.made.remove(&number),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_the_table_goes_before_the_usual_one_and_none_is_a_usual_one() {
        let mut table = vec![0; 30];
        (table[11], table[28]) = (4, 24);
        let types = Datatypes::new(table);
        assert_eq!(
            (types.size(11), types.size(12), types.size(14)),
            (Some(4), Some(8), Some(8))
        );
        assert_eq!((types.size(28), types.size(29), types.size(99)), (Some(24), None, None));
        assert_eq!(
            (types.bytes(3, 28), types.bytes(-1, 9), types.bytes(1, 29)),
            (72, 0, UNKNOWN_SIZE)
        );
    }

    #[test]
    fn a_datatype_that_the_program_makes_has_the_size_of_its_parts() {
        let mut types = Datatypes::new(Vec::new());
        let mut make = |function, values: &[i64], lists: &[&[i32]], number| {
            let mut record = CallRecord::default();
            record.set(function, values, lists);
            types.note(&record);
            types.size(number)
        };
        assert_eq!(make(f::TYPE_CONTIGUOUS, &[3, 14, 28], &[], 28), Some(24));
        assert_eq!(make(f::TYPE_VECTOR, &[2, 3, 100, 28, 29], &[], 29), Some(144));
        assert_eq!(make(f::TYPE_INDEXED, &[2, 9, 30], &[&[1, 4], &[0, 9]], 30), Some(20));
        assert_eq!(
            make(f::TYPE_STRUCT, &[2, 31], &[&[1, 2], &[0, 8], &[14, 28]], 31),
            Some(56)
        );
        assert_eq!(
            make(f::TYPE_CREATE_INDEXED_BLOCK, &[3, 2, 9, 32], &[&[0, 4, 8]], 32),
            Some(24)
        );
        assert_eq!(
            make(
                f::TYPE_CREATE_SUBARRAY,
                &[2, 0, 14, 33],
                &[&[9, 9], &[2, 3], &[0, 0]],
                33
            ),
            Some(48)
        );
        assert_eq!(make(f::TYPE_CREATE_RESIZED, &[31, 0, 64, 34], &[], 34), Some(56));
        assert_eq!(make(f::TYPE_DUP, &[31, 35], &[], 35), Some(56));
        assert_eq!(make(f::TYPE_FREE, &[35], &[], 35), None);
        assert_eq!(make(f::TYPE_CONTIGUOUS, &[3, 99, 36], &[], 36), None);
    }
}
