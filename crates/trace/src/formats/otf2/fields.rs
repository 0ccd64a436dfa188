//! Numbers and texts as OTF2 writes them: whole ones in the byte order of their chunk, short ones behind a byte that tells their length.

/// What is wrong with bytes, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldFault(pub &'static str);

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant one.
    Little,
    /// The most significant one.
    Big,
}

/// The byte that every file and every chunk begins with.
pub const BEGIN: u8 = 0x03;
/// The byte that stands for little endian.
pub const LITTLE: u8 = 0x42;
/// The byte that stands for big endian.
pub const BIG: u8 = 0x23;

/// Reads fields one after the other.
#[derive(Clone, Copy, Debug)]
pub struct FieldReader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> FieldReader<'a> {
    /// Reads bytes from a place on.
    pub fn new(bytes: &'a [u8], at: usize, order: ByteOrder) -> FieldReader<'a> {
        FieldReader { bytes, at, order }
    }

    /// Reads a file or a chunk, which tells its byte order first.
    ///
    /// # Errors
    /// Bytes that do not begin so.
    pub fn begin(bytes: &'a [u8]) -> Result<FieldReader<'a>, FieldFault> {
        let order = match bytes {
            [BEGIN, LITTLE, ..] => ByteOrder::Little,
            [BEGIN, BIG, ..] => ByteOrder::Big,
            _ => return Err(FieldFault("no chunk of OTF2 begins here")),
        };
        Ok(FieldReader::new(bytes, 2, order))
    }

    /// Where the next field is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The byte order.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether fields are left.
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], FieldFault> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let taken = left.get(..n).ok_or(FieldFault("it ends within a record"))?;
        self.at += n;
        Ok(taken)
    }

    /// A byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, FieldFault> {
        let byte = *self.bytes.get(self.at).ok_or(FieldFault("it ends within a record"))?;
        self.at += 1;
        Ok(byte)
    }

    fn whole<const N: usize>(&mut self) -> Result<[u8; N], FieldFault> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N)?);
        Ok(number)
    }

    /// Four bytes.
    pub fn u32_whole(&mut self) -> Result<u32, FieldFault> {
        let bytes = self.whole()?;
        Ok(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Eight bytes.
    #[inline]
    pub fn u64_whole(&mut self) -> Result<u64, FieldFault> {
        let bytes = self.whole()?;
        Ok(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// A number of at most `most` bytes, `None` where it is undefined.
    #[inline]
    fn short(&mut self, most: usize) -> Result<Option<u64>, FieldFault> {
        let n = usize::from(self.u8()?);
        if n == 0xFF {
            return Ok(None);
        }
        if n > most {
            return Err(FieldFault("a number has too many bytes"));
        }
        let bytes = self.take(n)?;
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Ok(Some(match self.order {
            ByteOrder::Little => bytes.iter().rev().fold(0, join),
            ByteOrder::Big => bytes.iter().fold(0, join),
        }))
    }

    /// A short number; undefined is `u32::MAX`.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, FieldFault> {
        Ok(self.short(4)?.map_or(u32::MAX, |number| number as u32))
    }

    /// A short number; undefined is `u64::MAX`.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, FieldFault> {
        Ok(self.short(8)?.unwrap_or(u64::MAX))
    }

    /// A short number with a sign.
    pub fn i64(&mut self) -> Result<i64, FieldFault> {
        Ok(self.u64()?.cast_signed())
    }

    /// A text up to its zero byte; what is no UTF-8 in it is replaced.
    pub fn text(&mut self) -> Result<String, FieldFault> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let end = left.iter().position(|byte| *byte == 0);
        let text = &left[..end.ok_or(FieldFault("a text has no end"))?];
        self.at += text.len() + 1;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// The fields of a record that tells its length. They may be more than are known.
    #[inline]
    pub fn record(&mut self) -> Result<FieldReader<'a>, FieldFault> {
        let length = match self.u8()? {
            0xFF => self.u64_whole()?,
            length => length.into(),
        };
        let length = usize::try_from(length).map_err(|_| FieldFault("a record is longer than its file"))?;
        let bytes = self.take(length)?;
        Ok(FieldReader::new(bytes, 0, self.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8], order: ByteOrder) -> FieldReader<'_> {
        FieldReader::new(bytes, 0, order)
    }

    #[test]
    fn short_numbers_are_those_of_their_bytes_in_either_order() {
        let cases: [(&[u8], u64); 4] = [
            (&[0], 0),
            (&[1, 7], 7),
            (&[0xFF], u64::MAX),
            (&[8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], u64::MAX - 1),
        ];
        for (bytes, number) in cases {
            assert_eq!(of(bytes, ByteOrder::Big).u64(), Ok(number));
        }
        assert_eq!(of(&[2, 1, 2], ByteOrder::Big).u32(), Ok(0x102));
        assert_eq!(of(&[2, 1, 2], ByteOrder::Little).u32(), Ok(0x201));
        assert_eq!(of(&[0xFF], ByteOrder::Little).u32(), Ok(u32::MAX));
        assert_eq!(of(&[0xFF], ByteOrder::Little).i64(), Ok(-1));
        assert_eq!(
            of(&[5, 1, 2, 3, 4, 5], ByteOrder::Big).u32(),
            Err(FieldFault("a number has too many bytes"))
        );
        assert_eq!(
            of(&[3, 1, 2], ByteOrder::Big).u64(),
            Err(FieldFault("it ends within a record"))
        );
    }

    #[test]
    fn a_record_is_left_behind_whatever_is_read_of_it() {
        let mut bytes = vec![3, 1, 7, 99, 0xFF];
        bytes.extend(2_u64.to_be_bytes());
        bytes.extend([1, 8, 42]);
        let mut fields = of(&bytes, ByteOrder::Big);
        assert_eq!(fields.record().and_then(|mut record| record.u32()), Ok(7));
        let mut long = fields.record().expect("a long one");
        assert_eq!((long.u32(), long.is_empty()), (Ok(8), true));
        assert_eq!(fields.u8(), Ok(42));
        assert_eq!(
            of(&[9, 1], ByteOrder::Big).record().map(|_| ()),
            Err(FieldFault("it ends within a record"))
        );
    }

    #[test]
    fn texts_end_with_a_zero() {
        let mut fields = of(b"ab\0c", ByteOrder::Little);
        assert_eq!(fields.text(), Ok("ab".to_owned()));
        assert_eq!(fields.text(), Err(FieldFault("a text has no end")));
    }
}
