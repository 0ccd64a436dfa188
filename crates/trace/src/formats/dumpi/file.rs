//! A file of one rank: where its parts are, and its bytes, all big-endian.

use crate::problem::{Problem, hint_of};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The first bytes of a file, and the first of its index.
pub(super) const MAGIC: [u8; 8] = *b"\xFF\xAA\xDDDUMPI";
/// What a footer begins with.
const FOOTER: u64 = 0xF007_FEE7;
/// Functions that a footer counts.
const COUNTED: usize = 291;
/// Bytes of calls that are read at a time.
const BLOCK: usize = 1 << 17;
/// Bytes of smaller parts that are read at a time.
const SMALL_BLOCK: usize = 1 << 10;
/// Entries of an index that are known, from the last.
const ENTRIES: usize = 7;
/// Entries that an index may have at most: later versions put more before the known ones.
const MOST_ENTRIES: u64 = 32;

/// Why a file cannot be read on.
#[derive(Debug)]
pub(super) enum EndOfReading {
    /// It ends too early.
    Cut,
    /// The system says so.
    System(Error),
    /// A function that there is not.
    NoFunction(u16),
    /// A function whose arguments are not known.
    Unknown(u16),
}

impl EndOfReading {
    /// What is wrong, and what to do.
    pub(super) fn words(&self) -> (String, String) {
        match self {
            EndOfReading::Cut => (
                "it ends within a call".to_owned(),
                "it is cut or damaged: record it again, or copy it again".to_owned(),
            ),
            EndOfReading::System(error) => (format!("it cannot be read: {error}"), hint_of(error).to_owned()),
            EndOfReading::NoFunction(number) => (
                format!("there is no function {number}: this is no call"),
                "the file is damaged, or of a version that is not known".to_owned(),
            ),
            EndOfReading::Unknown(function) => (
                format!(
                    "what {} is written with is not known, and the rank cannot be read on",
                    super::functions::name(*function)
                ),
                "record without this call".to_owned(),
            ),
        }
    }
}

/// Bytes of a file from a place on.
pub(super) struct FileBytes {
    file: File,
    buffer: Vec<u8>,
    /// Place in the buffer.
    at: usize,
    /// Bytes of the file that have not been put into the buffer.
    more: u64,
    /// Bytes that are read at a time.
    block: usize,
}

impl FileBytes {
    fn open(path: &Path, place: u64, size: u64, block: usize) -> Result<FileBytes, EndOfReading> {
        let mut file = File::open(path).map_err(EndOfReading::System)?;
        file.seek(SeekFrom::Start(place)).map_err(EndOfReading::System)?;
        Ok(FileBytes {
            file,
            buffer: Vec::new(),
            at: 0,
            more: size.checked_sub(place).ok_or(EndOfReading::Cut)?,
            block,
        })
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        self.more + (self.buffer.len() - self.at) as u64
    }

    /// Makes sure that so many bytes are in the buffer.
    #[cold]
    fn fill(&mut self, wanted: usize) -> Result<(), EndOfReading> {
        if self.left() < wanted as u64 {
            return Err(EndOfReading::Cut);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let kept = self.buffer.len();
        let room = self.more.min(self.block.max(wanted) as u64) as usize;
        self.buffer.resize(kept + room, 0);
        let read = self.file.read_exact(&mut self.buffer[kept..]);
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => EndOfReading::Cut,
            _ => EndOfReading::System(error),
        })?;
        self.more -= room as u64;
        Ok(())
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], EndOfReading> {
        loop {
            if let Some(bytes) = self.buffer[self.at..].first_chunk::<N>() {
                self.at += N;
                return Ok(*bytes);
            }
            self.fill(N)?;
        }
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, EndOfReading> {
        self.array::<1>().map(|bytes| bytes[0])
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, EndOfReading> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, EndOfReading> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub(super) fn i32(&mut self) -> Result<i32, EndOfReading> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, EndOfReading> {
        self.array().map(u64::from_be_bytes)
    }

    /// The length of a list of things of at least so many bytes each, of which the file has that many left.
    #[inline]
    pub(super) fn length(&mut self, each: u64) -> Result<u32, EndOfReading> {
        let n = self.u32()?;
        match u64::from(n) * each <= self.left() {
            true => Ok(n),
            false => Err(EndOfReading::Cut),
        }
    }

    /// Goes over bytes.
    pub(super) fn skip(&mut self, mut n: u64) -> Result<(), EndOfReading> {
        if n > self.left() {
            return Err(EndOfReading::Cut);
        }
        while n > 0 {
            let here = ((self.buffer.len() - self.at) as u64).min(n);
            self.at += here as usize;
            n -= here;
            if n > 0 {
                self.fill(1)?;
            }
        }
        Ok(())
    }

    /// Text with a length of 16 bits before it.
    fn text(&mut self) -> Result<String, EndOfReading> {
        let n = self.u16()?;
        let bytes: Result<Vec<u8>, EndOfReading> = (0..n).map(|_| self.u8()).collect();
        Ok(String::from_utf8_lossy(&bytes?).into_owned())
    }
}

/// A file of one rank.
pub(super) struct DumpiFile {
    path: std::path::PathBuf,
    /// As messages name it.
    pub(super) name: String,
    /// Its bytes.
    pub(super) size: u64,
    /// Major, minor and subminor version of what wrote it.
    pub(super) version: [u8; 3],
    /// Size of datatypes by number (bytes); none before version 0.6.6.
    pub(super) sizes: Vec<u32>,
    body: u64,
    footer: u64,
    addresses: u64,
}

impl DumpiFile {
    /// Reads where its parts are, its version and the sizes of datatypes.
    pub(super) fn open(path: &Path) -> Result<DumpiFile, Problem> {
        let name = path.display().to_string();
        DumpiFile::parts(path, &name).map_err(|problem| Problem { file: name, ..problem })
    }

    fn parts(path: &Path, name: &str) -> Result<DumpiFile, Problem> {
        let say = |fault: EndOfReading| match fault {
            EndOfReading::Cut => Problem::new(
                "",
                "one of its parts is not where its index says",
                "it is cut or damaged",
            ),
            other => {
                let (reason, hint) = other.words();
                Problem::new("", reason, hint)
            }
        };
        let about = std::fs::metadata(path).map_err(|error| say(EndOfReading::System(error)))?;
        if !about.is_file() {
            return Err(Problem::new("", "it is not a file", ""));
        }
        let size = about.len();
        let mut start = FileBytes::open(path, 0, size, SMALL_BLOCK).map_err(say)?;
        if start.u64().map(u64::to_be_bytes).ok() != Some(MAGIC) {
            return Err(Problem::new(
                "",
                "it does not begin as a file of DUMPI does",
                "give files as they were recorded, unpacked",
            ));
        }
        let index = index(path, size).map_err(say)?.ok_or_else(|| {
            Problem::new(
                "",
                "it does not end with an index",
                "the program was ended before MPI_Finalize, or the file is cut: record it again",
            )
        })?;
        let [_, footer, body, header, _, addresses, sizes] = index;
        let mut file = DumpiFile {
            path: path.to_owned(),
            name: name.to_owned(),
            size,
            version: [0; 3],
            sizes: Vec::new(),
            body,
            footer,
            addresses,
        };
        if header > 0 {
            let mut bytes = file.bytes(header).map_err(say)?;
            for part in &mut file.version {
                *part = bytes.u8().map_err(say)?;
            }
        }
        let [major, minor, _] = file.version;
        if major > 1 {
            return Err(Problem::new(
                "",
                format!("it is of version {major}.{minor} of DUMPI"),
                "versions up to 1 are known",
            ));
        }
        if body < MAGIC.len() as u64 {
            return Err(Problem::new("", "its index tells of no calls", "it is damaged"));
        }
        if sizes > 0 {
            file.sizes = file.list_of_sizes(sizes).map_err(say)?;
        }
        Ok(file)
    }

    fn bytes(&self, place: u64) -> Result<FileBytes, EndOfReading> {
        FileBytes::open(&self.path, place, self.size, SMALL_BLOCK)
    }

    fn list_of_sizes(&self, place: u64) -> Result<Vec<u32>, EndOfReading> {
        let mut bytes = self.bytes(place)?;
        let n = bytes.length(4)?;
        // A size below 0 is none.
        (0..n).map(|_| bytes.i32().map(|size| size.max(0) as u32)).collect()
    }

    /// Its calls, with what stands before them.
    pub(super) fn body(&self) -> Result<FileBytes, EndOfReading> {
        FileBytes::open(&self.path, self.body, self.size, BLOCK)
    }

    /// How often each function was called, by its number; nothing where the file does not tell.
    pub(super) fn counts(&self) -> Option<Vec<u32>> {
        if self.footer == 0 {
            return None;
        }
        let mut bytes = self.bytes(self.footer).ok()?;
        if bytes.u64().ok()? != FOOTER {
            return None;
        }
        (0..COUNTED).map(|_| bytes.u32().ok()).collect()
    }

    /// Names of the functions of the program, with their addresses.
    pub(super) fn names(&self) -> Result<Vec<(u64, String)>, EndOfReading> {
        if self.addresses == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = self.bytes(self.addresses)?;
        let n = bytes.length(10)?;
        (0..n).map(|_| Ok((bytes.u64()?, bytes.text()?))).collect()
    }

    /// Whether it was written by a version or a later one.
    pub(super) fn since(&self, version: [u8; 3]) -> bool {
        self.version >= version
    }
}

/// The index at the end of a file, from its last entry; entries that an older file does not have are 0.
fn index(path: &Path, size: u64) -> Result<Option<[u64; ENTRIES]>, EndOfReading> {
    let mut found = [0; ENTRIES];
    let most = (size / 8).min(MOST_ENTRIES);
    let mut bytes = FileBytes::open(path, size - 8 * most, size, SMALL_BLOCK)?;
    let words: Result<Vec<u64>, EndOfReading> = (0..most).map(|_| bytes.u64()).collect();
    for (i, &word) in words?.iter().rev().enumerate() {
        if word == u64::from_be_bytes(MAGIC) {
            return Ok((i >= 4).then_some(found));
        }
        if let Some(entry) = found.get_mut(i) {
            *entry = word;
        }
    }
    Ok(None)
}
