//! Fields as OTF2 has them, in little endian.

use super::super::chunks::{END_OF_BUFFER, END_OF_FILE};
use super::super::fields::{BEGIN, LITTLE};

/// Bytes at the begin of a chunk: its mark and two numbers of records.
pub const CHUNK_HEAD: usize = 18;

/// Writes fields one after the other.
#[derive(Clone, Debug, Default)]
pub struct FieldWriter {
    /// What has been written.
    pub bytes: Vec<u8>,
}

impl FieldWriter {
    /// The begin of a file.
    pub fn begin() -> FieldWriter {
        FieldWriter {
            bytes: vec![BEGIN, LITTLE],
        }
    }

    /// A byte.
    pub fn byte(&mut self, byte: u8) -> &mut FieldWriter {
        self.bytes.push(byte);
        self
    }

    /// Eight bytes.
    pub fn whole(&mut self, number: u64) -> &mut FieldWriter {
        self.bytes.extend(number.to_le_bytes());
        self
    }

    /// Four bytes.
    pub fn half(&mut self, number: u32) -> &mut FieldWriter {
        self.bytes.extend(number.to_le_bytes());
        self
    }

    /// A short number of 64 bits.
    pub fn long(&mut self, number: u64) -> &mut FieldWriter {
        if number == u64::MAX {
            return self.byte(0xFF);
        }
        let n = 8 - number.leading_zeros() as usize / 8;
        self.bytes.push(n as u8);
        self.bytes.extend(&number.to_le_bytes()[..n]);
        self
    }

    /// A short number of 32 bits.
    pub fn number(&mut self, number: u32) -> &mut FieldWriter {
        match number {
            u32::MAX => self.byte(0xFF),
            _ => self.long(number.into()),
        }
    }

    /// A text, up to its first zero byte.
    pub fn text(&mut self, text: &str) -> &mut FieldWriter {
        let text = text.split('\0').next().unwrap_or_default();
        self.bytes.extend(text.as_bytes());
        self.byte(0)
    }

    /// A record of some fields, with their length.
    pub fn record(&mut self, id: u8, fields: &FieldWriter) -> &mut FieldWriter {
        self.byte(id);
        match u8::try_from(fields.bytes.len()) {
            Ok(length) if length < 0xFF => self.byte(length),
            _ => self.byte(0xFF).whole(fields.bytes.len() as u64),
        };
        self.bytes.extend(&fields.bytes);
        self
    }

    /// The begin of a chunk.
    pub fn chunk(&mut self, first: u64, last: u64) -> &mut FieldWriter {
        self.byte(BEGIN).byte(LITTLE).whole(first).whole(last)
    }

    /// The end of a file.
    pub fn end(&mut self) -> &mut FieldWriter {
        self.byte(END_OF_FILE).byte(END_OF_BUFFER)
    }
}
