//! The parameters of the LogGOPS model: keys of `[router]` with the values of LogGOPSim.

use study::units::Unit;
use study::{Default, Parameter, SECOND, Type, When, key, size_or_none, time};
use work::mpi::LARGEST;

/// The name of the preset that they are of.
pub(crate) const NAME: &str = "loggops";

const WHEN: &[When] = &[When {
    key: "preset",
    values: &[NAME],
}];

/// Time per byte, from so much (ps).
const fn per_byte(min: u64) -> Type {
    Type::Quantity {
        unit: Unit::TimePerByte,
        min,
        max: 1_000_000,
    }
}

pub(super) const LATENCY: Parameter = key(
    "L",
    time(SECOND),
    Default::Text("2500 ns"),
    "LogGOPS: latency of a message of one byte between two processors.",
)
.when(WHEN);
pub(super) const OVERHEAD: Parameter = key(
    "o",
    time(SECOND),
    Default::Text("1500 ns"),
    "LogGOPS: overhead of a message of one byte at either end.",
)
.when(WHEN);
pub(super) const GAP: Parameter = key(
    "g",
    time(SECOND),
    Default::Text("1000 ns"),
    "LogGOPS: gap between the starts of two messages of one byte.",
)
.when(WHEN);
pub(super) const GAP_PER_BYTE: Parameter =
    key("G", per_byte(1), Default::Text("6 ns/B"), "LogGOPS: gap per byte.").when(WHEN);
pub(super) const OVERHEAD_PER_BYTE: Parameter =
    key("O", per_byte(0), Default::Text("0 ns/B"), "LogGOPS: overhead per byte.").when(WHEN);
pub(super) const EAGER: Parameter = key(
    "S",
    size_or_none(LARGEST),
    Default::Text("65535 B"),
    "LogGOPS: largest message that is sent without asking.",
)
.when(WHEN);

/// All of them.
pub(crate) static KEYS: [&Parameter; 6] = [&LATENCY, &OVERHEAD, &GAP, &GAP_PER_BYTE, &OVERHEAD_PER_BYTE, &EAGER];
