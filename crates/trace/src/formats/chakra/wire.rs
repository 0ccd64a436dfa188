//! The wire of protocol buffers: fields of a message, and messages of a file by their lengths.

use std::io::{self, BufRead, BufReader, Read};

/// Bytes of a file that are looked at together.
const BLOCK: usize = 1 << 16;
/// Most bytes of the length before a message: 32 bits.
const MOST_OF_LENGTH: usize = 5;

/// A value as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wire<'a> {
    /// A number of variable length.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// A message, a text or a packed list.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    /// Its bytes, if it has any number of them.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Wire::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Its value, if it is of variable length.
    pub fn varint(self) -> Option<u64> {
        match self {
            Wire::Varint(value) => Some(value),
            _ => None,
        }
    }
}

/// A message that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Garbled;

/// WireFields of a message: number and value.
pub(crate) struct WireFields<'a>(pub &'a [u8]);

impl<'a> Iterator for WireFields<'a> {
    type Item = Result<(u64, Wire<'a>), Garbled>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| {
            let field = self.field();
            if field.is_err() {
                self.0 = &[];
            }
            field
        })
    }
}

impl<'a> WireFields<'a> {
    #[inline(always)]
    fn field(&mut self) -> Result<(u64, Wire<'a>), Garbled> {
        let key = take_varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Wire::Varint(take_varint(&mut self.0)?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.take_array()?)),
            2 => {
                let length = take_varint(&mut self.0)?;
                let length = usize::try_from(length).map_err(|_| Garbled)?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or(Garbled)?;
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.take_array()?)),
            _ => return Err(Garbled),
        };
        match key >> 3 {
            0 => Err(Garbled),
            number => Ok((number, value)),
        }
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Garbled)?;
        self.0 = rest;
        Ok(*array)
    }
}

/// Takes a number of variable length from the begin of some bytes.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Result<u64, Garbled> {
    if let [byte, rest @ ..] = bytes
        && *byte < 0x80
    {
        let value = u64::from(*byte);
        *bytes = rest;
        return Ok(value);
    }
    let mut value = 0;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            *bytes = &bytes[i + 1..];
            return Ok(value);
        }
    }
    Err(Garbled)
}

/// The number that the zigzag of a signed one is.
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The messages of a file, each of which has its length before it.
pub(crate) struct WireMessages<R> {
    source: BufReader<R>,
    /// Bytes of the block that are those of the message that was given last.
    given: usize,
    /// A message that is in no block as a whole.
    message: Vec<u8>,
}

impl<R: Read> WireMessages<R> {
    pub fn new(source: R) -> WireMessages<R> {
        WireMessages {
            source: BufReader::with_capacity(BLOCK, source),
            given: 0,
            message: Vec::new(),
        }
    }

    /// The bytes that come next, before the first message is asked for; none at the end.
    pub fn start(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    /// All bytes, if no message has been asked for.
    pub fn into_source(self) -> BufReader<R> {
        self.source
    }

    /// The next message; `None` at the end.
    pub fn message(&mut self) -> io::Result<Option<&[u8]>> {
        self.source.consume(std::mem::take(&mut self.given));
        let block = self.source.fill_buf()?;
        if let Some((begin, end)) = first_message(block) {
            self.given = end;
            return Ok(Some(&self.source.buffer()[begin..end]));
        }
        let whole = self.put_together()?;
        Ok(whole.then_some(&self.message))
    }

    /// Takes a message over the end of a block; `false` at the end of all.
    fn put_together(&mut self) -> io::Result<bool> {
        let mut length = 0_u64;
        let mut bytes = 0;
        loop {
            let Some(&byte) = self.source.fill_buf()?.first() else {
                return match bytes {
                    0 => Ok(false),
                    _ => Err(io::Error::other("it ends within the length of a message")),
                };
            };
            self.source.consume(1);
            length |= u64::from(byte & 0x7f) << (7 * bytes);
            bytes += 1;
            if byte & 0x80 == 0 {
                break;
            }
            if bytes >= MOST_OF_LENGTH {
                return Err(io::Error::other("the length of a message is no number of 32 bits"));
            }
        }
        self.message.clear();
        // It grows with what is there: a length by itself takes no memory.
        let read = (&mut self.source).take(length).read_to_end(&mut self.message)?;
        match read as u64 == length {
            true => Ok(true),
            false => Err(io::Error::other(format!(
                "it ends after {read} bytes of a message of {length}"
            ))),
        }
    }
}

/// Where the first message of a block begins and ends, if all of it is there.
fn first_message(block: &[u8]) -> Option<(usize, usize)> {
    let mut rest = block.get(..block.len().min(MOST_OF_LENGTH))?;
    let length = usize::try_from(take_varint(&mut rest).ok()?).ok()?;
    let begin = block.len().min(MOST_OF_LENGTH) - rest.len();
    let end = begin.checked_add(length)?;
    (end <= block.len()).then_some((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length_are_read_to_their_edges() {
        let mut most = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 7][..];
        assert_eq!((take_varint(&mut most), most), (Ok(u64::MAX), &[7][..]));
        assert_eq!(take_varint(&mut &[0x80; 11][..]), Err(Garbled));
        assert_eq!(take_varint(&mut &[0x80][..]), Err(Garbled));
        assert_eq!([0, 1, 2, u64::MAX].map(unzigzag), [0, -1, 1, i64::MIN]);
    }

    #[test]
    fn fields_of_every_kind_are_read_and_garbled_ones_end_it() {
        let message = [8, 5, 0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0x1a, 1, 9, 0x25, 2, 0, 0, 0];
        let fields: Vec<_> = WireFields(&message).map(|field| field.expect("it is sound")).collect();
        let expected = [
            (1, Wire::Varint(5)),
            (2, Wire::Fixed64(1)),
            (3, Wire::Bytes(&[9])),
            (4, Wire::Fixed32(2)),
        ];
        assert_eq!(fields, expected);
        for garbled in [&[0x1a, 2, 9][..], &[0x0b], &[0x00, 1], &[0x25, 1], &[0x08]] {
            assert_eq!(WireFields(garbled).collect::<Vec<_>>(), [Err(Garbled)], "{garbled:?}");
        }
    }
}
