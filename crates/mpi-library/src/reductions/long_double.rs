//! C's `long double`: on x86-64 the 80 bits of the x87 unit in 16 bytes. On other machines reductions of it are not there.

use super::numbers::{Arithmetic, Ordered};

/// Whether reductions of `long double` are there.
pub const IS_THERE: bool = cfg!(target_arch = "x86_64");

/// A `long double` as it lies in memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub struct LongDouble([u8; 16]);

/// Sets the second operand to the first `operation` it.
#[cfg(target_arch = "x86_64")]
macro_rules! x87 {
    ($operation:literal, $left:expr, $right:expr) => {{
        let (left, mut right): (LongDouble, LongDouble) = ($left, $right);
        // SAFETY: both operands are 16 bytes of our own; the stack of the unit is as deep after as before, and all of it is declared lost.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{right}]",
                "fld tbyte ptr [{left}]",
                $operation,
                "fstp tbyte ptr [{right}]",
                left = in(reg) &left,
                right = in(reg) &mut right,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        right
    }};
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! x87 {
    ($operation:literal, $left:expr, $right:expr) => {{
        let _ = $left;
        $right
    }};
}

impl LongDouble {
    /// Exponent with sign, and significand.
    fn parts(self) -> (u16, u64) {
        let mut significand = [0; 8];
        significand.copy_from_slice(&self.0[..8]);
        (
            u16::from_le_bytes([self.0[8], self.0[9]]),
            u64::from_le_bytes(significand),
        )
    }

    /// A number that orders as the values do; `None` for no number.
    fn rank(self) -> Option<i128> {
        let (exponent, significand) = self.parts();
        let magnitude = i128::from(exponent & 0x7fff) << 64 | i128::from(significand);
        let is_number = exponent & 0x7fff != 0x7fff || significand << 1 == 0;
        is_number.then_some(if exponent & 0x8000 == 0 { magnitude } else { -magnitude })
    }
}

impl Ordered for LongDouble {
    fn below(self, other: Self) -> bool {
        matches!((self.rank(), other.rank()), (Some(a), Some(b)) if a < b)
    }
}

impl Arithmetic for LongDouble {
    fn plus(self, other: Self) -> Self {
        x87!("faddp st(1), st", self, other)
    }

    fn times(self, other: Self) -> Self {
        x87!("fmulp st(1), st", self, other)
    }

    fn minus(self) -> Self {
        let mut other = self;
        other.0[9] ^= 0x80;
        other
    }

    fn is_true(self) -> bool {
        let (exponent, significand) = self.parts();
        exponent & 0x7fff != 0 || significand != 0
    }

    fn truth(truth: bool) -> Self {
        let mut number = Self::default();
        if truth {
            number.0[7] = 0x80;
            number.0[8..10].copy_from_slice(&0x3fff_u16.to_le_bytes());
        }
        number
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn of(number: f64) -> LongDouble {
        let mut long = LongDouble::default();
        // SAFETY: reads eight bytes and writes ten of our own.
        unsafe {
            std::arch::asm!("fld qword ptr [{from}]", "fstp tbyte ptr [{to}]", from = in(reg) &number, to = in(reg) &mut long,
                out("st(0)") _, options(nostack));
        }
        long
    }

    fn back(long: LongDouble) -> f64 {
        let mut number = 0.0_f64;
        // SAFETY: reads ten bytes and writes eight of our own.
        unsafe {
            std::arch::asm!("fld tbyte ptr [{from}]", "fstp qword ptr [{to}]", from = in(reg) &long, to = in(reg) &mut number,
                out("st(0)") _, options(nostack));
        }
        number
    }

    #[test]
    fn sums_products_and_order_are_those_of_the_numbers() {
        let numbers = [0.0, -0.0, 1.0, -1.5, 3.25e300, -2e-300, f64::INFINITY, f64::NAN, 7.0];
        for a in numbers {
            for b in numbers {
                assert_eq!(
                    back(of(a).plus(of(b))).to_bits() << 1,
                    (a + b).to_bits() << 1,
                    "{a} + {b}"
                );
                assert_eq!(of(a).below(of(b)), a < b, "{a} < {b}");
            }
            assert_eq!(of(a).is_true(), a != 0.0);
            assert_eq!(back(of(a).minus()).to_bits() << 1, (-a).to_bits() << 1);
        }
        assert_eq!(back(of(-1.5).times(of(7.0))), -10.5);
        assert_eq!(
            (back(LongDouble::truth(true)), back(LongDouble::truth(false))),
            (1.0, 0.0)
        );
        // More bits than a double has.
        let tiny = of(2.0_f64.powi(-60));
        assert_eq!(back(of(1.0).plus(tiny).plus(of(-1.0))), 2.0_f64.powi(-60));
    }
}
