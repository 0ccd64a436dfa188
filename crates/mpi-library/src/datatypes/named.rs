//! The datatypes that MPI names: their sizes, what may be computed with them, and their numbers in both binary interfaces.

use crate::faces::{
    Face,
    constants::{Constants, MPICH, STANDARD},
};

/// What a named datatype is made of, as far as reductions and layouts ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// A binary floating-point number of 4 or 8 bytes.
    Float,
    /// C's `long double`.
    LongDouble,
    /// A floating-point number that this library moves but does not compute with: of 2 or 16 bytes in Fortran's sense.
    OtherFloat,
    /// Two floating-point numbers of 4 or 8 bytes.
    Complex,
    /// Two of C's `long double`.
    LongDoubleComplex,
    /// Two floating-point numbers that this library does not compute with.
    OtherComplex,
    /// A truth value.
    Logical,
    /// Bits without a meaning.
    Byte,
    /// Bytes that were packed.
    Packed,
    /// A wide character: only moved.
    Wide,
    /// A value and an index, `value` bytes at 0 and 4 bytes of the index at `index`.
    Pair {
        /// Bytes of the value.
        value: u8,
        /// Where the index starts.
        index: u8,
        /// What the value is.
        of: PairValue,
        /// From one pair to the next.
        extent: u8,
    },
}

/// Values of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairValue {
    /// An integer with a sign.
    Signed,
    /// A floating-point number of 4 or 8 bytes, with an index of C.
    Float,
    /// Two of the same floating-point number: Fortran's pairs.
    TwoFloats,
    /// C's `long double`.
    LongDouble,
}

/// A row of [`NAMED`].
#[derive(Debug)]
pub struct NamedType {
    /// Its name.
    pub name: &'static str,
    /// Bytes of data.
    pub size: u8,
    /// What they are.
    pub content: Content,
    /// Its number in the standard ABI.
    pub standard: i64,
    /// Its number in MPICH's.
    pub mpich: i64,
}

impl NamedType {
    /// The number of its handle.
    pub fn number<F: Face>(&self) -> i64 {
        if F::IS_STANDARD { self.standard } else { self.mpich }
    }

    /// From one element to the next.
    pub fn extent(&self) -> i64 {
        match self.content {
            Content::Pair { extent, .. } => i64::from(extent),
            _ => i64::from(self.size),
        }
    }

    /// What its address must be a multiple of.
    pub fn alignment(&self) -> i64 {
        match self.content {
            Content::Pair { value, .. } => i64::from(value.max(4)),
            Content::Complex | Content::LongDoubleComplex | Content::OtherComplex => i64::from(self.size) / 2,
            _ => i64::from(self.size),
        }
    }

    /// Basic elements in one of it, and their sizes.
    pub fn elements(&self) -> ([i64; 2], usize) {
        match self.content {
            Content::Pair { value, .. } => ([i64::from(value), i64::from(self.size - value)], 2),
            _ => ([i64::from(self.size), 0], 1),
        }
    }
}

/// A pair's content.
const fn pair(value: u8, index: u8, extent: u8, of: PairValue) -> Content {
    Content::Pair {
        value,
        index,
        of,
        extent,
    }
}

/// A floating-point number of two bytes that MPICH alone has a name for.
const fn half(name: &'static str, mpich: i64) -> NamedType {
    NamedType {
        name,
        size: 2,
        content: Content::OtherFloat,
        standard: 0,
        mpich,
    }
}

/// Declares the table from rows: field of the constants, name, size, content.
macro_rules! named {
    ($($field:ident $name:literal $size:literal $content:expr;)+) => {
        /// All named datatypes. A datatype's place in it is its index.
        pub const NAMED: &[NamedType] = &[$(NamedType {
            name: $name,
            size: $size,
            content: $content,
            standard: STANDARD.$field,
            mpich: MPICH.$field,
        },)+
            // What MPICH has beyond the standard.
            half("MPIX_C_FLOAT16", 0x4c00_0246),
            half("MPIX_BFLOAT16", 0x4c00_024c),
        ];
    };
}

named! {
    char "MPI_CHAR" 1 Content::Signed;
    signed_char "MPI_SIGNED_CHAR" 1 Content::Signed;
    unsigned_char "MPI_UNSIGNED_CHAR" 1 Content::Unsigned;
    byte "MPI_BYTE" 1 Content::Byte;
    packed "MPI_PACKED" 1 Content::Packed;
    wchar "MPI_WCHAR" 4 Content::Wide;
    short "MPI_SHORT" 2 Content::Signed;
    unsigned_short "MPI_UNSIGNED_SHORT" 2 Content::Unsigned;
    int "MPI_INT" 4 Content::Signed;
    unsigned "MPI_UNSIGNED" 4 Content::Unsigned;
    long "MPI_LONG" 8 Content::Signed;
    unsigned_long "MPI_UNSIGNED_LONG" 8 Content::Unsigned;
    long_long_int "MPI_LONG_LONG_INT" 8 Content::Signed;
    unsigned_long_long "MPI_UNSIGNED_LONG_LONG" 8 Content::Unsigned;
    float "MPI_FLOAT" 4 Content::Float;
    double "MPI_DOUBLE" 8 Content::Float;
    long_double "MPI_LONG_DOUBLE" 16 Content::LongDouble;
    int8_t "MPI_INT8_T" 1 Content::Signed;
    int16_t "MPI_INT16_T" 2 Content::Signed;
    int32_t "MPI_INT32_T" 4 Content::Signed;
    int64_t "MPI_INT64_T" 8 Content::Signed;
    uint8_t "MPI_UINT8_T" 1 Content::Unsigned;
    uint16_t "MPI_UINT16_T" 2 Content::Unsigned;
    uint32_t "MPI_UINT32_T" 4 Content::Unsigned;
    uint64_t "MPI_UINT64_T" 8 Content::Unsigned;
    aint "MPI_AINT" 8 Content::Signed;
    count "MPI_COUNT" 8 Content::Signed;
    offset "MPI_OFFSET" 8 Content::Signed;
    c_bool "MPI_C_BOOL" 1 Content::Logical;
    cxx_bool "MPI_CXX_BOOL" 1 Content::Logical;
    c_float_complex "MPI_C_FLOAT_COMPLEX" 8 Content::Complex;
    c_double_complex "MPI_C_DOUBLE_COMPLEX" 16 Content::Complex;
    c_long_double_complex "MPI_C_LONG_DOUBLE_COMPLEX" 32 Content::LongDoubleComplex;
    cxx_float_complex "MPI_CXX_FLOAT_COMPLEX" 8 Content::Complex;
    cxx_double_complex "MPI_CXX_DOUBLE_COMPLEX" 16 Content::Complex;
    cxx_long_double_complex "MPI_CXX_LONG_DOUBLE_COMPLEX" 32 Content::LongDoubleComplex;
    float_int "MPI_FLOAT_INT" 8 pair(4, 4, 8, PairValue::Float);
    double_int "MPI_DOUBLE_INT" 12 pair(8, 8, 16, PairValue::Float);
    long_int "MPI_LONG_INT" 12 pair(8, 8, 16, PairValue::Signed);
    two_int "MPI_2INT" 8 pair(4, 4, 8, PairValue::Signed);
    short_int "MPI_SHORT_INT" 6 pair(2, 4, 8, PairValue::Signed);
    long_double_int "MPI_LONG_DOUBLE_INT" 20 pair(16, 16, 32, PairValue::LongDouble);
    character "MPI_CHARACTER" 1 Content::Signed;
    logical "MPI_LOGICAL" 4 Content::Logical;
    integer "MPI_INTEGER" 4 Content::Signed;
    real "MPI_REAL" 4 Content::Float;
    double_precision "MPI_DOUBLE_PRECISION" 8 Content::Float;
    complex "MPI_COMPLEX" 8 Content::Complex;
    double_complex "MPI_DOUBLE_COMPLEX" 16 Content::Complex;
    two_integer "MPI_2INTEGER" 8 pair(4, 4, 8, PairValue::Signed);
    two_real "MPI_2REAL" 8 pair(4, 4, 8, PairValue::TwoFloats);
    two_double_precision "MPI_2DOUBLE_PRECISION" 16 pair(8, 8, 16, PairValue::TwoFloats);
    logical1 "MPI_LOGICAL1" 1 Content::Logical;
    logical2 "MPI_LOGICAL2" 2 Content::Logical;
    logical4 "MPI_LOGICAL4" 4 Content::Logical;
    logical8 "MPI_LOGICAL8" 8 Content::Logical;
    logical16 "MPI_LOGICAL16" 16 Content::Logical;
    integer1 "MPI_INTEGER1" 1 Content::Signed;
    integer2 "MPI_INTEGER2" 2 Content::Signed;
    integer4 "MPI_INTEGER4" 4 Content::Signed;
    integer8 "MPI_INTEGER8" 8 Content::Signed;
    integer16 "MPI_INTEGER16" 16 Content::Signed;
    real2 "MPI_REAL2" 2 Content::OtherFloat;
    real4 "MPI_REAL4" 4 Content::Float;
    real8 "MPI_REAL8" 8 Content::Float;
    real16 "MPI_REAL16" 16 Content::OtherFloat;
    complex4 "MPI_COMPLEX4" 4 Content::OtherComplex;
    complex8 "MPI_COMPLEX8" 8 Content::Complex;
    complex16 "MPI_COMPLEX16" 16 Content::Complex;
    complex32 "MPI_COMPLEX32" 32 Content::OtherComplex;
}

/// Where a handle's number may stand in a table of all that both interfaces have.
fn slot(number: i64) -> Option<usize> {
    match number as u64 {
        0x200..0x300 => Some(number as usize - 0x200),
        0x4c00_0000..0x4c01_0000 => Some(0x100 + (number as usize & 0xff)),
        _ if (0x8c00_0000..0x8c00_0008).contains(&(number as u32)) => Some(0x200 + (number as usize & 7)),
        _ => None,
    }
}

/// Index + 1 of the named datatype by the slot of its number; 0 where none is.
static SLOTS: [u8; 0x208] = slots();

const fn slots() -> [u8; 0x208] {
    let mut slots = [0; 0x208];
    let mut index = 0;
    while index < NAMED.len() {
        let row = &NAMED[index];
        if row.standard != 0 {
            slots[row.standard as usize - 0x200] = index as u8 + 1;
        }
        let at = if row.mpich < 0 {
            0x200 + (row.mpich & 7)
        } else {
            0x100 + (row.mpich & 0xff)
        };
        slots[at as usize] = index as u8 + 1;
        index += 1;
    }
    slots
}

/// The index of the named datatype with this number.
pub fn named_index<F: Face>(number: i64) -> Option<u32> {
    let index = u32::from(SLOTS[slot(number)?].checked_sub(1)?);
    (NAMED[index as usize].number::<F>() == number).then_some(index)
}

/// The index of the named datatype with this field of the constants.
pub fn index_of(field: impl Fn(&Constants) -> i64) -> u32 {
    let number = field(&STANDARD);
    NAMED
        .iter()
        .position(|row| row.standard == number)
        .map_or(0, |place| place as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faces::{Mpich, Standard};

    #[test]
    fn every_name_is_found_by_its_number_and_by_nothing_else() {
        for (index, row) in NAMED.iter().enumerate() {
            let in_standard = (row.standard != 0).then_some(index as u32);
            assert_eq!(named_index::<Standard>(row.standard), in_standard, "{}", row.name);
            assert_eq!(named_index::<Mpich>(row.mpich), Some(index as u32), "{}", row.name);
            assert_eq!(named_index::<Mpich>(row.standard), None, "{}", row.name);
            assert_eq!(named_index::<Standard>(row.mpich), None, "{}", row.name);
        }
        for number in [
            STANDARD.datatype_null,
            MPICH.datatype_null,
            0,
            -1,
            0x4c00_0010,
            0x4c00_0405 + 0x100,
        ] {
            assert_eq!(
                named_index::<Standard>(number).or(named_index::<Mpich>(number)),
                None,
                "{number:#x}"
            );
        }
    }

    #[test]
    fn sizes_are_those_that_the_numbers_tell() {
        for row in NAMED {
            if row.mpich > 0 {
                assert_eq!(i64::from(row.size), row.mpich >> 8 & 0xff, "{}", row.name);
            }
            if (0x240..0x280).contains(&row.standard) || row.standard >= 0x2c0 {
                assert_eq!(i64::from(row.size), 1 << (row.standard >> 3 & 7), "{}", row.name);
            }
        }
    }

    #[test]
    fn pairs_lie_as_structs_of_c_do() {
        #[repr(C)]
        struct Of<A, B>(A, B);
        let rows = [
            (
                "MPI_FLOAT_INT",
                size_of::<Of<f32, i32>>(),
                std::mem::offset_of!(Of<f32, i32>, 1),
            ),
            (
                "MPI_DOUBLE_INT",
                size_of::<Of<f64, i32>>(),
                std::mem::offset_of!(Of<f64, i32>, 1),
            ),
            (
                "MPI_LONG_INT",
                size_of::<Of<i64, i32>>(),
                std::mem::offset_of!(Of<i64, i32>, 1),
            ),
            (
                "MPI_SHORT_INT",
                size_of::<Of<i16, i32>>(),
                std::mem::offset_of!(Of<i16, i32>, 1),
            ),
            (
                "MPI_LONG_DOUBLE_INT",
                size_of::<Of<u128, i32>>(),
                std::mem::offset_of!(Of<u128, i32>, 1),
            ),
        ];
        for (name, size, offset) in rows {
            let row = NAMED.iter().find(|row| row.name == name).unwrap();
            let Content::Pair { index, .. } = row.content else {
                panic!("{name} is a pair")
            };
            assert_eq!((row.extent(), usize::from(index)), (size as i64, offset), "{name}");
        }
    }
}
