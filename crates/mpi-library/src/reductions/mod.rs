//! The operations of reductions: those of the standard on the named datatypes, and what programs define.
//!
//! `combine` sets each element of `right` to `left op right`, which is how functions of programs do it too.

mod long_double;
mod numbers;

use crate::datatypes::named::{Content, NAMED, PairValue};
use numbers::{Arithmetic, Ordered};

/// Operations of the standard, in the order of their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BuiltIn {
    Sum,
    Min,
    Max,
    Product,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Xor,
    MinLocation,
    MaxLocation,
    Replace,
    Nothing,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Product,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::MinLocation,
        Self::MaxLocation,
        Self::Replace,
        Self::Nothing,
    ];
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub enum ReduceOperation {
    /// One of the standard.
    BuiltIn(BuiltIn),
    /// A function of the program, by its address.
    Own {
        /// `void (*)(void *in, void *inout, int *count, MPI_Datatype *)`, or with a large count.
        function: usize,
        /// Whether the count is large.
        large: bool,
        /// Whether the order of operands does not matter.
        commutes: bool,
    },
}

/// What combines elements of a named datatype: left operands, right operands and results, how many.
pub type Combine = unsafe fn(*const u8, *mut u8, usize);

/// Elements `T` one by one.
///
/// # Safety
/// Both addresses hold `count` elements, which need not be aligned, and do not overlap.
unsafe fn each<T: Copy>(left: *const u8, right: *mut u8, count: usize, operation: impl Fn(T, T) -> T) {
    for place in 0..count {
        // SAFETY: the place is one of `count` elements; unaligned access is what these functions are for.
        unsafe {
            let to = right.cast::<T>().add(place);
            to.write_unaligned(operation(
                left.cast::<T>().add(place).read_unaligned(),
                to.read_unaligned(),
            ));
        }
    }
}

/// A [`Combine`] of an expression on two elements.
macro_rules! combine {
    ($number:ty, $left:ident, $right:ident, $result:expr) => {{
        unsafe fn all(left: *const u8, right: *mut u8, count: usize) {
            // SAFETY: as the caller promises.
            unsafe { each::<$number>(left, right, count, |$left, $right| $result) }
        }
        Some(all as Combine)
    }};
}

/// Operations of integers.
macro_rules! integers {
    ($operation:expr, $number:ty) => {
        match $operation {
            BuiltIn::Sum => combine!($number, a, b, a.wrapping_add(b)),
            BuiltIn::Product => combine!($number, a, b, a.wrapping_mul(b)),
            BuiltIn::Min => combine!($number, a, b, a.min(b)),
            BuiltIn::Max => combine!($number, a, b, a.max(b)),
            BuiltIn::BitAnd => combine!($number, a, b, a & b),
            BuiltIn::BitOr => combine!($number, a, b, a | b),
            BuiltIn::BitXor => combine!($number, a, b, a ^ b),
            other => logical!(other, $number),
        }
    };
}

/// Operations of truth values.
macro_rules! logical {
    ($operation:expr, $number:ty) => {
        match $operation {
            BuiltIn::And => combine!($number, a, b, <$number>::from(a != 0 && b != 0)),
            BuiltIn::Or => combine!($number, a, b, <$number>::from(a != 0 || b != 0)),
            BuiltIn::Xor => combine!($number, a, b, <$number>::from((a != 0) != (b != 0))),
            _ => None,
        }
    };
}

/// Operations of floating-point numbers.
macro_rules! floats {
    ($operation:expr, $number:ty) => {
        match $operation {
            BuiltIn::Sum => combine!($number, a, b, a.plus(b)),
            BuiltIn::Product => combine!($number, a, b, a.times(b)),
            BuiltIn::Min => combine!($number, a, b, if a.below(b) { a } else { b }),
            BuiltIn::Max => combine!($number, a, b, if b.below(a) { a } else { b }),
            BuiltIn::And => combine!($number, a, b, <$number>::truth(a.is_true() && b.is_true())),
            BuiltIn::Or => combine!($number, a, b, <$number>::truth(a.is_true() || b.is_true())),
            BuiltIn::Xor => combine!($number, a, b, <$number>::truth(a.is_true() != b.is_true())),
            _ => None,
        }
    };
}

/// Operations of complex numbers.
macro_rules! complex {
    ($operation:expr, $number:ty) => {
        match $operation {
            BuiltIn::Sum => combine!([$number; 2], a, b, [a[0].plus(b[0]), a[1].plus(b[1])]),
            BuiltIn::Product => combine!(
                [$number; 2],
                a,
                b,
                [
                    a[0].times(b[0]).plus(a[1].times(b[1]).minus()),
                    a[0].times(b[1]).plus(a[1].times(b[0]))
                ]
            ),
            _ => None,
        }
    };
}

/// A value and its place as they lie in memory.
#[derive(Clone, Copy)]
#[repr(C)]
struct Located<V, I>(V, I);

/// The smaller value, of equal ones the one with the smaller index; or the larger value.
fn located<V: Ordered, I: Ordered>(a: Located<V, I>, b: Located<V, I>, largest: bool) -> Located<V, I> {
    let (before, behind) = if largest {
        (b.0.below(a.0), a.0.below(b.0))
    } else {
        (a.0.below(b.0), b.0.below(a.0))
    };
    match (before, behind) {
        (true, _) => a,
        (_, true) => b,
        _ if a.1.below(b.1) => a,
        _ => b,
    }
}

/// Operations of pairs.
macro_rules! pairs {
    ($operation:expr, $value:ty, $index:ty) => {
        match $operation {
            BuiltIn::MinLocation => combine!(Located<$value, $index>, a, b, located(a, b, false)),
            BuiltIn::MaxLocation => combine!(Located<$value, $index>, a, b, located(a, b, true)),
            _ => None,
        }
    };
}

/// What an operation of the standard does to a named datatype; `None` where it is not defined, or not there on this machine.
pub fn built_in(operation: BuiltIn, named: u32) -> Option<Combine> {
    let row = &NAMED[named as usize];
    match operation {
        BuiltIn::Replace | BuiltIn::Nothing => return None,
        _ => {}
    }
    match (row.content, row.size) {
        (Content::Signed, 1) => integers!(operation, i8),
        (Content::Signed, 2) => integers!(operation, i16),
        (Content::Signed, 4) => integers!(operation, i32),
        (Content::Signed, 8) => integers!(operation, i64),
        (Content::Signed, 16) => integers!(operation, i128),
        (Content::Unsigned, 1) => integers!(operation, u8),
        (Content::Unsigned, 2) => integers!(operation, u16),
        (Content::Unsigned, 4) => integers!(operation, u32),
        (Content::Unsigned, 8) => integers!(operation, u64),
        (Content::Logical, 1) => logical!(operation, u8),
        (Content::Logical, 2) => logical!(operation, u16),
        (Content::Logical, 4) => logical!(operation, u32),
        (Content::Logical, 8) => logical!(operation, u64),
        (Content::Logical, 16) => logical!(operation, u128),
        (Content::Byte, _) if matches!(operation, BuiltIn::BitAnd | BuiltIn::BitOr | BuiltIn::BitXor) => {
            integers!(operation, u8)
        }
        (Content::Float, 4) => floats!(operation, f32),
        (Content::Float, _) => floats!(operation, f64),
        (Content::Complex, 8) => complex!(operation, f32),
        (Content::Complex, _) => complex!(operation, f64),
        (Content::LongDouble, _) if long_double::IS_THERE => floats!(operation, long_double::LongDouble),
        (Content::LongDoubleComplex, _) if long_double::IS_THERE => complex!(operation, long_double::LongDouble),
        (Content::Pair { of, value, .. }, _) => match (of, value) {
            (PairValue::Signed, 2) => pairs!(operation, i16, i32),
            (PairValue::Signed, 4) => pairs!(operation, i32, i32),
            (PairValue::Signed, _) => pairs!(operation, i64, i32),
            (PairValue::Float, 4) => pairs!(operation, f32, i32),
            (PairValue::Float, _) => pairs!(operation, f64, i32),
            (PairValue::TwoFloats, 4) => pairs!(operation, f32, f32),
            (PairValue::TwoFloats, _) => pairs!(operation, f64, f64),
            (PairValue::LongDouble, _) if long_double::IS_THERE => pairs!(operation, long_double::LongDouble, i32),
            (PairValue::LongDouble, _) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatypes::named::NAMED;

    fn run<T: Copy + Default + PartialEq + std::fmt::Debug>(
        operation: BuiltIn,
        name: &str,
        left: T,
        right: T,
    ) -> Option<T> {
        let named = NAMED.iter().position(|row| row.name == name).expect(name) as u32;
        let mut result = [right; 3];
        // SAFETY: three elements on either side.
        unsafe { built_in(operation, named)?([left; 3].as_ptr().cast(), result.as_mut_ptr().cast(), 3) };
        assert!(result.iter().all(|value| *value == result[0]));
        Some(result[0])
    }

    #[test]
    fn numbers_are_combined_as_the_standard_says() {
        assert_eq!(run(BuiltIn::Sum, "MPI_INT", 5_i32, -7), Some(-2));
        assert_eq!(run(BuiltIn::Product, "MPI_DOUBLE", 1.5_f64, 4.0), Some(6.0));
        assert_eq!(run(BuiltIn::Min, "MPI_UNSIGNED", 5_u32, u32::MAX), Some(5));
        assert_eq!(run(BuiltIn::Max, "MPI_INT8_T", -5_i8, -7), Some(-5));
        assert_eq!(run(BuiltIn::BitXor, "MPI_BYTE", 0b1100_u8, 0b1010), Some(0b0110));
        assert_eq!(run(BuiltIn::And, "MPI_LONG", 8_i64, 2), Some(1));
        assert_eq!(run(BuiltIn::Xor, "MPI_C_BOOL", 1_u8, 1), Some(0));
        assert_eq!(
            run(BuiltIn::Sum, "MPI_C_DOUBLE_COMPLEX", [1.0, 2.0], [3.0, -5.0]),
            Some([4.0, -3.0])
        );
        assert_eq!(
            run(BuiltIn::Product, "MPI_COMPLEX", [1.0_f32, 2.0], [3.0, -5.0]),
            Some([13.0, 1.0])
        );
        for (operation, name) in [
            (BuiltIn::BitAnd, "MPI_DOUBLE"),
            (BuiltIn::Sum, "MPI_BYTE"),
            (BuiltIn::Max, "MPI_C_FLOAT_COMPLEX"),
            (BuiltIn::Sum, "MPI_C_BOOL"),
            (BuiltIn::MinLocation, "MPI_INT"),
            (BuiltIn::Sum, "MPI_2INT"),
            (BuiltIn::Sum, "MPI_REAL16"),
            (BuiltIn::Replace, "MPI_INT"),
        ] {
            assert_eq!(run(operation, name, [0_u64; 4], [0; 4]), None, "{name}");
        }
    }

    #[test]
    fn of_equal_values_the_smaller_index_wins() {
        assert_eq!(run(BuiltIn::MinLocation, "MPI_2INT", [3, 9], [3, 4]), Some([3, 4]));
        assert_eq!(run(BuiltIn::MaxLocation, "MPI_2INT", [3, 2], [3, 4]), Some([3, 2]));
        assert_eq!(run(BuiltIn::MaxLocation, "MPI_2INT", [8, 9], [3, 4]), Some([8, 9]));
        assert_eq!(
            run(BuiltIn::MinLocation, "MPI_2DOUBLE_PRECISION", [8.0, 9.0], [3.0, 4.0]),
            Some([3.0, 4.0])
        );
    }
}
