//! Calls, one after the other, with what they are written with.

use super::file::{DumpiFile, EndOfReading, FileBytes};
use super::functions::{END_OF_STREAM, Function, arguments};

/// Times of the processor are told.
const CPU_TIMES: u8 = 4;
/// Times of the wall are told.
const WALL_TIMES: u8 = 8;
/// Statuses are told.
const STATUSES: u8 = 3;
/// The thread is told.
const THREAD: u8 = 64;
/// Counters of the processor are told.
const COUNTERS: u8 = 128;
/// Seconds by which a time may be before the last one; more is the next turn of its 16 bits.
const MOST_BACK: u16 = 60;

/// What a receive got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) bytes: i32,
    /// Number of the sender in the communicator.
    pub(super) source: i32,
    pub(super) cancelled: bool,
    /// Not told before version 0.6.3.
    pub(super) tag: Option<i32>,
}

/// A call. It is read into again and again.
#[derive(Default)]
pub(super) struct CallRecord {
    pub(super) function: Function,
    pub(super) thread: u16,
    /// Entry and return (ns): of the wall, or of the processor where those of the wall are not told.
    pub(super) times: Option<(u64, u64)>,
    /// Arguments that are numbers, in order.
    pub(super) values: Vec<i64>,
    pub(super) statuses: Vec<Status>,
    items: Vec<i32>,
    /// Where lists end in `items`.
    ends: Vec<usize>,
}

impl CallRecord {
    /// An argument that is a number.
    #[inline]
    pub(super) fn value(&self, i: usize) -> i64 {
        self.values.get(i).copied().unwrap_or_default()
    }

    /// An argument that is a list.
    #[inline]
    pub(super) fn list(&self, i: usize) -> &[i32] {
        let begin = match i {
            0 => 0,
            _ => self.ends.get(i - 1).copied().unwrap_or_default(),
        };
        self.ends.get(i).map_or(&[], |&end| &self.items[begin..end])
    }

    /// The status, where there is one.
    pub(super) fn status(&self) -> Option<Status> {
        self.statuses.first().copied()
    }
}

/// Seconds of 16 bits that turn over every 18 hours.
struct TurningClock(u64);

impl TurningClock {
    /// Nanoseconds of a time.
    fn at(&mut self, seconds: u16, nanoseconds: u32) -> u64 {
        let on = seconds.wrapping_sub(self.0 as u16);
        self.0 = match on.wrapping_neg() {
            back if (1..=MOST_BACK).contains(&back) => self.0.saturating_sub(back.into()),
            _ => self.0.saturating_add(on.into()),
        };
        let nanoseconds = u64::from(nanoseconds);
        self.0.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    }

    /// Entry and return.
    fn pair(&mut self, bias: u64, bytes: &mut FileBytes) -> Result<(u64, u64), EndOfReading> {
        let entry = self.at(bytes.u16()?, bytes.u32()?);
        let end = self.at(bytes.u16()?, bytes.u32()?);
        Ok((entry.saturating_add(bias), end.saturating_add(bias)))
    }
}

/// The calls of a rank.
pub(super) struct Calls {
    bytes: FileBytes,
    cpu: TurningClock,
    wall: TurningClock,
    /// What seconds of the wall are counted from (ns).
    bias: u64,
    /// The file keeps tags in statuses.
    tags: bool,
    /// The call has statuses where it may have them.
    with_statuses: bool,
    /// Versions in which arguments were written otherwise.
    old: Old,
    size: u64,
}

/// What older versions wrote otherwise.
struct Old {
    arguments_twice: bool,
    one_coordinate: bool,
    one_index: bool,
}

impl Calls {
    pub(super) fn of(file: &DumpiFile) -> Result<Calls, EndOfReading> {
        let mut bytes = file.body()?;
        let (_, wall) = (bytes.u32()?, bytes.u32()?);
        Ok(Calls {
            bytes,
            cpu: TurningClock(0),
            wall: TurningClock(0),
            bias: u64::from(wall) * 1_000_000_000,
            tags: file.since([0, 6, 3]),
            with_statuses: false,
            old: Old {
                arguments_twice: !file.since([0, 6, 2]),
                one_coordinate: !file.since([0, 6, 8]),
                one_index: !file.since([0, 6, 9]),
            },
            size: file.size,
        })
    }

    /// Bytes of the file that have been read.
    pub(super) fn read(&self) -> u64 {
        self.size - self.bytes.left()
    }

    /// Reads the next call; `false` at the end.
    pub(super) fn next(&mut self, record: &mut CallRecord) -> Result<bool, EndOfReading> {
        record.values.clear();
        record.statuses.clear();
        record.items.clear();
        record.ends.clear();
        record.function = self.bytes.u16()?;
        if record.function == END_OF_STREAM {
            return Ok(false);
        }
        if record.function > END_OF_STREAM {
            return Err(EndOfReading::NoFunction(record.function));
        }
        let Some(arguments) = arguments(record.function) else {
            return Err(EndOfReading::Unknown(record.function));
        };
        let mask = self.bytes.u8()?;
        record.thread = if mask & THREAD != 0 { self.bytes.u16()? } else { 0 };
        record.times = None;
        if mask & CPU_TIMES != 0 {
            record.times = Some(self.cpu.pair(0, &mut self.bytes)?);
        }
        if mask & WALL_TIMES != 0 {
            record.times = Some(self.wall.pair(self.bias, &mut self.bytes)?);
        }
        if mask & COUNTERS != 0 {
            let counters = self.bytes.u8()?;
            self.bytes.skip(16 * u64::from(counters))?;
        }
        self.with_statuses = mask & STATUSES != 0;
        self.arguments(arguments.as_bytes(), record)?;
        Ok(true)
    }

    fn arguments(&mut self, mut letters: &[u8], record: &mut CallRecord) -> Result<(), EndOfReading> {
        while let [letter, rest @ ..] = letters {
            letters = rest;
            match letter {
                b'i' => record.values.push(self.bytes.i32()?.into()),
                b'h' => record.values.push(self.bytes.u16()?.into()),
                b'b' => record.values.push(self.bytes.u8()?.into()),
                b'l' => record.values.push(self.bytes.u64()? as i64),
                b'?' => {
                    let value = |i: usize| record.value(usize::from(letters[i] - b'0'));
                    letters = match value(0) == value(1) {
                        true => &letters[2..],
                        // After what only the root has comes what all have.
                        false => letters
                            .iter()
                            .position(|letter| *letter == b')')
                            .map_or(&[], |end| &letters[end..]),
                    };
                }
                b'(' | b')' => {}
                _ => self.list(*letter, record)?,
            }
        }
        Ok(())
    }

    /// An argument that is more than a number.
    fn list(&mut self, letter: u8, record: &mut CallRecord) -> Result<(), EndOfReading> {
        match letter {
            b'I' => self.integers(record)?,
            b'H' => {
                for _ in 0..self.bytes.length(2)? {
                    record.items.push(self.bytes.u16()?.into());
                }
            }
            b'R' => {
                for _ in 0..self.bytes.length(4)? {
                    self.integers(record)?;
                }
            }
            b'K' if !self.old.one_coordinate => self.integers(record)?,
            b'J' if !self.old.one_index => self.integers(record)?,
            b'K' | b'J' => record.items.push(self.bytes.i32()?),
            b'S' => return self.statuses(record),
            _ => return self.text(letter),
        }
        record.ends.push(record.items.len());
        Ok(())
    }

    fn integers(&mut self, record: &mut CallRecord) -> Result<(), EndOfReading> {
        for _ in 0..self.bytes.length(4)? {
            record.items.push(self.bytes.i32()?);
        }
        Ok(())
    }

    fn statuses(&mut self, record: &mut CallRecord) -> Result<(), EndOfReading> {
        if !self.with_statuses {
            return Ok(());
        }
        for _ in 0..self.bytes.length(if self.tags { 14 } else { 10 })? {
            let status = Status {
                bytes: self.bytes.i32()?,
                source: self.bytes.i32()?,
                cancelled: self.bytes.u8()? != 0,
                tag: None,
            };
            let _error = self.bytes.u8()?;
            let tag = if self.tags { Some(self.bytes.i32()?) } else { None };
            record.statuses.push(Status { tag, ..status });
        }
        Ok(())
    }

    /// Goes over what is not needed.
    fn text(&mut self, letter: u8) -> Result<(), EndOfReading> {
        match letter {
            b'D' => {
                let n = self.bytes.length(1)?;
                self.bytes.skip(n.into())
            }
            b'C' => {
                let n = self.bytes.length(1)?;
                self.bytes.skip(n.into())
            }
            b'T' => {
                for _ in 0..self.bytes.length(4)? {
                    self.text(b'A')?;
                }
                Ok(())
            }
            _ => {
                let n = self.bytes.u32()?;
                if letter == b'V' && self.old.arguments_twice {
                    self.bytes.u32()?;
                }
                for _ in 0..n {
                    self.text(b'C')?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
impl CallRecord {
    /// A call with these arguments.
    pub(super) fn set(&mut self, function: Function, values: &[i64], lists: &[&[i32]]) {
        self.function = function;
        self.values = values.to_vec();
        for list in lists {
            self.items.extend_from_slice(list);
            self.ends.push(self.items.len());
        }
    }
}
