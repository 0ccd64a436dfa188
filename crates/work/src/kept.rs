//! Flat records, however many: in memory while they are few, else in a mapped file.
//!
//! The file is in the folder for temporary files and has no name. Any core can ask for any record at any time, and memory is the system's to give
//! and to take.

mod in_turn;

use bytemuck::Pod;
use memmap2::Mmap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result, Write};
use std::marker::PhantomData;

pub use in_turn::{Records, RecordsInTurn};

/// Takes records, one after the other.
#[derive(Debug)]
pub struct RecordKeeper<T> {
    /// So many stay in memory.
    keep: usize,
    here: Vec<T>,
    there: Option<BufWriter<File>>,
    count: u64,
}

impl<T: Pod> RecordKeeper<T> {
    /// Keeps fewer than `keep` records in memory.
    pub fn new(keep: usize) -> RecordKeeper<T> {
        RecordKeeper {
            keep,
            here: Vec::new(),
            there: None,
            count: 0,
        }
    }

    /// How many records there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// The file cannot be made, or the disk is full.
    #[inline(always)]
    pub fn push(&mut self, record: T) -> Result<()> {
        self.here.push(record);
        self.count += 1;
        match self.here.len() == self.keep {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Takes the next records.
    ///
    /// # Errors
    /// As of [`push`](Self::push).
    pub fn extend(&mut self, records: &[T]) -> Result<()> {
        self.here.extend_from_slice(records);
        self.count += records.len() as u64;
        match self.here.len() >= self.keep {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Moves records to the file.
    #[cold]
    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.there {
            Some(file) => file,
            None => self.there.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        file.write_all(bytemuck::cast_slice(&self.here))?;
        self.here.clear();
        Ok(())
    }

    /// All records, to look at.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be mapped.
    pub fn finish(mut self) -> Result<KeptRecords<T>> {
        if self.there.is_none() {
            self.here.shrink_to_fit();
            return Ok(KeptRecords::Here(self.here));
        }
        self.spill()?;
        Ok(KeptRecords::There(map(self.there)?, PhantomData))
    }
}

/// Records that stay as they are.
#[derive(Debug)]
pub enum KeptRecords<T> {
    /// In memory.
    Here(Vec<T>),
    /// In a mapped file.
    There(Mmap, PhantomData<T>),
}

impl<T: Pod> KeptRecords<T> {
    /// A record by its number.
    ///
    /// # Panics
    /// There is no such record.
    #[inline(always)]
    pub fn get(&self, index: u64) -> T {
        self.all()[index as usize]
    }

    /// All of them.
    #[inline(always)]
    pub fn all(&self) -> &[T] {
        match self {
            KeptRecords::Here(records) => records,
            KeptRecords::There(map, _) => bytemuck::cast_slice(map),
        }
    }
}

/// Maps the file.
#[allow(unsafe_code)]
fn map(file: Option<BufWriter<File>>) -> Result<Mmap> {
    let file = file.ok_or(ErrorKind::NotFound)?.into_inner()?;
    // SAFETY: the file has no name, and this was its only handle: nobody can change or shorten it while it is mapped.
    unsafe { Mmap::map(&file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_the_same_in_memory_and_in_a_file() {
        for (n, keep) in [(0, 10), (9, 10), (10, 10), (11, 10), (1_000, 7), (1_000, 1_001)] {
            let mut one_by_one = RecordKeeper::new(keep);
            let mut in_blocks = RecordKeeper::new(keep);
            let all: Vec<u64> = (0..n).map(|k| k * k).collect();
            all.iter().for_each(|&record| one_by_one.push(record).unwrap());
            all.chunks(3).for_each(|some| in_blocks.extend(some).unwrap());
            assert_eq!((one_by_one.count(), in_blocks.count()), (n, n));
            for kept in [one_by_one, in_blocks].map(|keeper| keeper.finish().unwrap()) {
                assert_eq!(matches!(kept, KeptRecords::There(..)), n as usize >= keep, "{n} {keep}");
                assert_eq!(kept.all(), all);
                assert!((0..n).all(|k| kept.get(k) == k * k));
            }
        }
    }
}
