//! Flatbuffers, as far as Arrow's metadata need them: tables of numbers, texts, tables and lists, written forwards and read with every
//! place checked.
//!
//! A table begins with the distance back to its list of fields, which says where in the table each field is. What has no fixed size is
//! elsewhere, by its distance forwards from the place that names it.

use std::collections::VecDeque;

/// What a field of a table has.
#[derive(Clone, Debug)]
pub enum FlatValue {
    /// A byte, or whether.
    U8(u8),
    /// Two bytes.
    I16(i16),
    /// Four bytes.
    I32(i32),
    /// Eight bytes.
    I64(i64),
    /// Text.
    Text(String),
    /// A table.
    Table(Fields),
    /// A list of tables.
    Tables(Vec<Fields>),
    /// A list of so many records, each aligned to eight bytes.
    Records(u32, Vec<u8>),
}

/// The fields of a table by number.
pub type Fields = Vec<(usize, FlatValue)>;

impl FlatValue {
    /// Its bytes within the table; those of a distance are written later.
    fn inline(&self) -> Vec<u8> {
        match self {
            FlatValue::U8(value) => value.to_le_bytes().to_vec(),
            FlatValue::I16(value) => value.to_le_bytes().to_vec(),
            FlatValue::I32(value) => value.to_le_bytes().to_vec(),
            FlatValue::I64(value) => value.to_le_bytes().to_vec(),
            FlatValue::Text(_) | FlatValue::Table(_) | FlatValue::Tables(_) | FlatValue::Records(..) => vec![0; 4],
        }
    }
}

/// What is written once its place is known, and where its distance stands.
enum Later<'a> {
    Value(&'a FlatValue),
    Table(&'a Fields),
}

/// The bytes of a table and all that is in it; as long as a multiple of eight.
pub fn build(root: &Fields) -> Vec<u8> {
    let mut out = vec![0; 4];
    let mut later = VecDeque::from([(0, Later::Table(root))]);
    while let Some((place, what)) = later.pop_front() {
        let target = match what {
            Later::Table(fields) | Later::Value(FlatValue::Table(fields)) => put_table(&mut out, fields, &mut later),
            Later::Value(FlatValue::Text(text)) => {
                pad(&mut out, 0, 4);
                let target = out.len();
                out.extend((text.len() as u32).to_le_bytes());
                out.extend(text.as_bytes());
                out.push(0);
                target
            }
            Later::Value(FlatValue::Tables(tables)) => {
                pad(&mut out, 0, 4);
                let target = out.len();
                out.extend((tables.len() as u32).to_le_bytes());
                for table in tables {
                    later.push_back((out.len(), Later::Table(table)));
                    out.extend([0; 4]);
                }
                target
            }
            Later::Value(FlatValue::Records(count, bytes)) => {
                pad(&mut out, 4, 8);
                let target = out.len();
                out.extend(count.to_le_bytes());
                out.extend(bytes);
                target
            }
            Later::Value(_) => continue,
        };
        let distance = (target - place) as u32;
        out[place..place + 4].copy_from_slice(&distance.to_le_bytes());
    }
    pad(&mut out, 0, 8);
    out
}

/// Fills up so that what begins so many bytes later is at a multiple of `to`.
fn pad(out: &mut Vec<u8>, before: usize, to: usize) {
    while !(out.len() + before).is_multiple_of(to) {
        out.push(0);
    }
}

fn put_table<'a>(out: &mut Vec<u8>, fields: &'a Fields, later: &mut VecDeque<(usize, Later<'a>)>) -> usize {
    let slots = fields.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
    let (mut list, mut body) = (vec![0_u16; slots], vec![0; 4]);
    let mut distances = Vec::new();
    for (number, value) in fields {
        let bytes = value.inline();
        pad(&mut body, 0, bytes.len());
        list[*number] = body.len() as u16;
        if matches!(
            value,
            FlatValue::Text(_) | FlatValue::Table(_) | FlatValue::Tables(_) | FlatValue::Records(..)
        ) {
            distances.push((body.len(), Later::Value(value)));
        }
        body.extend(bytes);
    }
    let size = 4 + 2 * slots;
    pad(out, size, 8);
    out.extend((size as u16).to_le_bytes());
    out.extend((body.len() as u16).to_le_bytes());
    list.iter().for_each(|offset| out.extend(offset.to_le_bytes()));
    let target = out.len();
    body[..4].copy_from_slice(&(size as i32).to_le_bytes());
    out.extend(body);
    later.extend(distances.into_iter().map(|(offset, what)| (target + offset, what)));
    target
}

/// A place or length that is not within the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// A table within bytes.
#[derive(Clone, Copy)]
pub struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
    list: &'a [u8],
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Damaged> {
    let end = at.checked_add(N).ok_or(Damaged)?;
    let found = bytes.get(at..end).ok_or(Damaged)?;
    found.try_into().map_err(|_| Damaged)
}

/// Where the distance at a place leads.
fn follow(bytes: &[u8], at: usize) -> Result<usize, Damaged> {
    let distance = u32::from_le_bytes(number(bytes, at)?) as usize;
    at.checked_add(distance).ok_or(Damaged)
}

impl<'a> FlatTable<'a> {
    /// The table that the bytes are of.
    pub fn root(bytes: &'a [u8]) -> Result<FlatTable<'a>, Damaged> {
        FlatTable::at(bytes, follow(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<FlatTable<'a>, Damaged> {
        let back = i64::from(i32::from_le_bytes(number(bytes, at)?));
        let list = usize::try_from(at as i64 - back).map_err(|_| Damaged)?;
        let size = usize::from(u16::from_le_bytes(number(bytes, list)?));
        let list = bytes.get(list..list.saturating_add(size)).ok_or(Damaged)?;
        Ok(FlatTable { bytes, at, list })
    }

    /// The place of a field.
    fn place(&self, field: usize) -> Result<Option<usize>, Damaged> {
        let at = 4 + 2 * field;
        if at + 2 > self.list.len() {
            return Ok(None);
        }
        let offset = usize::from(u16::from_le_bytes(number(self.list, at)?));
        Ok((offset > 0).then_some(self.at + offset))
    }

    fn scalar<const N: usize>(&self, field: usize) -> Result<[u8; N], Damaged> {
        match self.place(field)? {
            Some(place) => number(self.bytes, place),
            None => Ok([0; N]),
        }
    }

    /// A byte; 0 where it is not told.
    pub fn u8(&self, field: usize) -> Result<u8, Damaged> {
        self.scalar::<1>(field).map(|[byte]| byte)
    }

    /// A number of two bytes; 0 where it is not told.
    pub fn i16(&self, field: usize) -> Result<i16, Damaged> {
        self.scalar(field).map(i16::from_le_bytes)
    }

    /// A number of four bytes; 0 where it is not told.
    pub fn i32(&self, field: usize) -> Result<i32, Damaged> {
        self.scalar(field).map(i32::from_le_bytes)
    }

    /// A number of eight bytes; 0 where it is not told.
    pub fn i64(&self, field: usize) -> Result<i64, Damaged> {
        self.scalar(field).map(i64::from_le_bytes)
    }

    /// A table.
    pub fn table(&self, field: usize) -> Result<Option<FlatTable<'a>>, Damaged> {
        let Some(place) = self.place(field)? else {
            return Ok(None);
        };
        FlatTable::at(self.bytes, follow(self.bytes, place)?).map(Some)
    }

    /// What a list has: its first byte, and how many bytes its records of `size` take.
    fn list(&self, field: usize, size: usize) -> Result<Option<(usize, &'a [u8])>, Damaged> {
        let Some(place) = self.place(field)? else {
            return Ok(None);
        };
        let begin = follow(self.bytes, place)?;
        let count = u32::from_le_bytes(number(self.bytes, begin)?) as usize;
        let end = count.checked_mul(size).and_then(|all| all.checked_add(begin + 4));
        let records = self.bytes.get(begin + 4..end.ok_or(Damaged)?).ok_or(Damaged)?;
        Ok(Some((begin + 4, records)))
    }

    /// The bytes of a list of records; none where it is not told.
    pub fn records(&self, field: usize, size: usize) -> Result<&'a [u8], Damaged> {
        Ok(self.list(field, size)?.map_or(&[], |(_, records)| records))
    }

    /// A text with the place of its first byte; empty where it is not told.
    pub fn text(&self, field: usize) -> Result<(usize, &'a str), Damaged> {
        let (place, bytes) = self.list(field, 1)?.unwrap_or((0, &[]));
        Ok((place, std::str::from_utf8(bytes).map_err(|_| Damaged)?))
    }

    /// The tables of a list.
    pub fn tables(&self, field: usize) -> Result<Vec<FlatTable<'a>>, Damaged> {
        let Some((begin, places)) = self.list(field, 4)? else {
            return Ok(Vec::new());
        };
        let each = (0..places.len() / 4).map(|i| {
            let place = begin + 4 * i;
            FlatTable::at(self.bytes, follow(self.bytes, place)?)
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = |n| vec![(0, FlatValue::Text(format!("name {n}"))), (1, FlatValue::U8(n))];
        let bytes = build(&vec![
            (0, FlatValue::I16(4)),
            (2, FlatValue::Tables(vec![inner(1), inner(2)])),
            (3, FlatValue::I64(-7)),
            (4, FlatValue::Records(2, vec![9; 16])),
            (5, FlatValue::Table(vec![(0, FlatValue::I32(1 << 20))])),
        ]);
        let root = FlatTable::root(&bytes).expect("it is a table");
        assert_eq!(bytes.len() % 8, 0);
        assert_eq!((root.i16(0), root.i64(3), root.i64(1)), (Ok(4), Ok(-7), Ok(0)));
        assert_eq!(root.records(4, 8), Ok(&[9; 16][..]));
        let tables = root.tables(2).expect("they are tables");
        let told: Vec<_> = tables
            .iter()
            .map(|table| (table.text(0).expect("a text").1, table.u8(1)))
            .collect();
        assert_eq!(told, [("name 1", Ok(1)), ("name 2", Ok(2))]);
        let inner = root.table(5).expect("it is whole").expect("it is there");
        assert_eq!(inner.i32(0), Ok(1 << 20));
        assert!(root.table(9).expect("it is whole").is_none());
    }

    #[test]
    fn no_place_is_believed() {
        let bytes = build(&vec![(
            0,
            FlatValue::Tables(vec![vec![(0, FlatValue::Text("abc".into()))], Vec::new()]),
        )]);
        let read = |bytes: &[u8]| -> Result<usize, Damaged> {
            let tables = FlatTable::root(bytes)?.tables(0)?;
            tables.iter().map(|table| Ok(table.text(0)?.1.len())).sum()
        };
        assert_eq!(read(&bytes), Ok(3));
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                // Whatever comes, it is no panic.
                let _ = read(&damaged);
            }
            assert!(read(&bytes[..at]).is_err() || at >= bytes.len() - 8);
        }
    }
}
