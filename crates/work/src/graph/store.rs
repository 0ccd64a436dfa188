//! Plain values in a row, in memory or, where they are many, in a file without a name in the folder for temporary files, which is mapped.

use bytemuck::Pod;
use memmap2::Mmap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result, Write};
use std::marker::PhantomData;

/// Bytes up to here stay in memory: 64 MiB.
pub(super) const MOST_IN_MEMORY: usize = 1 << 26;

/// Values in a row.
#[derive(Debug)]
pub(super) struct Words<T> {
    place: Place<T>,
    len: u64,
}

#[derive(Debug)]
enum Place<T> {
    Here(Vec<T>),
    There(Mmap),
}

impl<T: Pod> Words<T> {
    /// `count` values from `first` on.
    #[inline]
    pub(super) fn part(&self, first: u64, count: u32) -> &[T] {
        let all: &[T] = match &self.place {
            Place::Here(words) => words,
            Place::There(map) => bytemuck::cast_slice(map),
        };
        &all[first as usize..][..count as usize]
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.len
    }
}

/// Puts values in a row.
#[derive(Debug)]
pub(super) struct Writer<T> {
    here: Vec<T>,
    there: Option<BufWriter<File>>,
    most: usize,
    len: u64,
    kind: PhantomData<T>,
}

impl<T: Pod> Writer<T> {
    /// Of `most` bytes in memory.
    pub(super) fn new(most: usize) -> Self {
        Writer {
            here: Vec::new(),
            there: None,
            most,
            len: 0,
            kind: PhantomData,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends values.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn append(&mut self, values: &[T]) -> Result<()> {
        self.here.extend_from_slice(values);
        self.len += values.len() as u64;
        if size_of_val(self.here.as_slice()) >= self.most {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.there {
            Some(file) => file,
            None => self.there.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        file.write_all(bytemuck::cast_slice(&self.here))?;
        self.here.clear();
        Ok(())
    }

    /// All of them.
    ///
    /// # Errors
    /// The file cannot be written or mapped.
    pub(super) fn finish(mut self) -> Result<Words<T>> {
        let len = self.len;
        let place = match self.there {
            None => {
                self.here.shrink_to_fit();
                Place::Here(self.here)
            }
            Some(_) => {
                self.spill()?;
                Place::There(map(self.there)?)
            }
        };
        Ok(Words { place, len })
    }
}

/// Maps a file.
#[allow(unsafe_code)]
fn map(file: Option<BufWriter<File>>) -> Result<Mmap> {
    let file = file.ok_or(ErrorKind::NotFound)?.into_inner()?;
    // SAFETY: the file has no name, and this was its only handle: nobody can change or shorten it while it is mapped.
    unsafe { Mmap::map(&file) }
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn values_are_the_same_in_memory_and_in_a_file() {
        for most in [8, 64, 1 << 20] {
            let mut writer = Writer::new(most);
            (0..100u32).for_each(|i| writer.append(&[i, i * i]).expect("it can be written"));
            let words = writer.finish().expect("it can be mapped");
            assert_eq!(words.len(), 200);
            assert_eq!(words.part(2, 4), [1, 1, 2, 4]);
            assert!(words.part(200, 0).is_empty());
        }
    }
}
