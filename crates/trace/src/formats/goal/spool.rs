//! Bytes of many lists that grow in turns, put together list by list: for what has to be written rank by rank and comes as it likes.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};

/// Bytes that are held in memory before they go to a file.
const HELD: usize = 1 << 26;

/// Lists of bytes; what does not fit into memory is in a file without a name.
pub(super) struct Spool {
    lists: Vec<SpooledList>,
    held: usize,
    most: usize,
    file: Option<File>,
    written: u64,
}

/// A list: its pieces in the file, then what is still in memory.
#[derive(Default)]
struct SpooledList {
    pieces: Vec<(u64, usize)>,
    last: Vec<u8>,
}

impl Spool {
    /// So many empty lists.
    pub(super) fn new(lists: usize) -> Spool {
        Spool {
            lists: std::iter::repeat_with(SpooledList::default).take(lists).collect(),
            held: 0,
            most: HELD,
            file: None,
            written: 0,
        }
    }

    /// Adds bytes to a list.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn add(&mut self, list: usize, bytes: &[u8]) -> Result<()> {
        self.lists[list].last.extend_from_slice(bytes);
        self.held += bytes.len();
        match self.held > self.most {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// All to the file.
    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let mut out = std::io::BufWriter::with_capacity(1 << 18, file);
        for list in &mut self.lists {
            if !list.last.is_empty() {
                out.write_all(&list.last)?;
                list.pieces.push((self.written, list.last.len()));
                self.written += list.last.len() as u64;
                list.last = Vec::new();
            }
        }
        self.held = 0;
        out.flush()
    }

    /// Takes a list as a whole.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn take(&mut self, list: usize) -> Result<Vec<u8>> {
        let SpooledList { pieces, last } = std::mem::take(&mut self.lists[list]);
        self.held -= last.len();
        let (Some(file), false) = (&mut self.file, pieces.is_empty()) else {
            return Ok(last);
        };
        let mut all = Vec::with_capacity(pieces.iter().map(|piece| piece.1).sum::<usize>() + last.len());
        for (begin, length) in pieces {
            let at = all.len();
            all.resize(at + length, 0);
            file.seek(SeekFrom::Start(begin))?;
            file.read_exact(&mut all[at..])?;
        }
        // What comes later is written behind all.
        file.seek(SeekFrom::Start(self.written))?;
        all.extend_from_slice(&last);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_were_whatever_fits_into_memory() {
        for most in [0, 1, 7, 1 << 20] {
            let mut spool = Spool::new(3);
            spool.most = most;
            let mut lists = vec![Vec::new(); 3];
            for i in 0..200_u8 {
                let list = (usize::from(i) * 7 % 5).min(2);
                let bytes = vec![i; usize::from(i % 4)];
                spool.add(list, &bytes).unwrap();
                lists[list].extend(bytes);
                if i == 120 {
                    assert_eq!(spool.take(1).unwrap(), std::mem::take(&mut lists[1]));
                }
            }
            for (i, list) in lists.iter().enumerate() {
                assert_eq!(&spool.take(i).unwrap(), list, "most {most}");
            }
        }
    }
}
