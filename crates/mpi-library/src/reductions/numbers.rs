//! What floating-point numbers of all sizes can do, as far as reductions ask.

/// Numbers that have an order.
pub trait Ordered: Copy {
    /// Whether it is less.
    fn below(self, other: Self) -> bool;
}

/// Numbers that can be added and multiplied.
pub trait Arithmetic: Ordered {
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// The number with the other sign.
    fn minus(self) -> Self;
    /// Whether it counts as true.
    fn is_true(self) -> bool;
    /// One or zero.
    fn truth(truth: bool) -> Self;
}

macro_rules! ordered {
    ($($number:ty)+) => {$(
        impl Ordered for $number {
            fn below(self, other: Self) -> bool {
                self < other
            }
        }
    )+};
}

ordered!(i16 i32 i64 f32 f64);

macro_rules! arithmetic {
    ($($number:ty)+) => {$(
        impl Arithmetic for $number {
            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            fn minus(self) -> Self {
                -self
            }

            fn is_true(self) -> bool {
                self != 0.0
            }

            fn truth(truth: bool) -> Self {
                if truth { 1.0 } else { 0.0 }
            }
        }
    )+};
}

arithmetic!(f32 f64);
