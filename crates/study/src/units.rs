//! Quantities as text with units, read and printed exactly.
//!
//! A quantity is a decimal number and a unit: `"200 Gbit/s"`, `"16 KiB"`, `"1.5 us"`. Gbit and GB are decimal, GiB is
//! binary. The value is a whole number of the base unit (picoseconds, bytes, bits per second, millimetres, ...), computed in integers:
//! text that has no exact value (`"0.3 ps"`) is an error, never rounded. Printing and reading again gives the same value.

/// What a quantity measures, with its base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A span of time in picoseconds.
    Time,
    /// A size in bytes.
    Size,
    /// A bandwidth in bits per second.
    Bandwidth,
    /// A time per byte in picoseconds per byte.
    TimePerByte,
    /// A time per byte in femtoseconds per byte, for what costs a processor.
    FineTimePerByte,
    /// A length in millimetres.
    Length,
    /// A power in milliwatts.
    Power,
    /// A price in millionths of a dollar.
    Price,
}

/// All of them, the fine one aside, which is a time per byte as well.
const ALL: [Unit; 7] = [
    Unit::Time,
    Unit::Size,
    Unit::Bandwidth,
    Unit::TimePerByte,
    Unit::Length,
    Unit::Power,
    Unit::Price,
];

/// Why a text is not a quantity of the wanted unit, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong.
    pub reason: String,
    /// What to write instead.
    pub hint: String,
}

/// Unit names of times and their picoseconds, smallest first.
const TIMES: &[(&str, u128)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];

/// Unit names of short times and their femtoseconds, smallest first.
const FINE_TIMES: &[(&str, u128)] = &[("fs", 1), ("ps", 1_000), ("ns", 1_000_000), ("us", 1_000_000_000)];

/// Unit names of sizes and their bytes; the binary ones first, so that printing prefers them.
const SIZES: &[(&str, u128)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Unit names of bandwidths and their bits per second; printing prefers them in the order of [`print_bandwidth`].
const BANDWIDTHS: &[(&str, u128)] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
    ("B/s", 8),
    ("KB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
    ("TB/s", 8_000_000_000_000),
    ("KiB/s", 8 << 10),
    ("MiB/s", 8 << 20),
    ("GiB/s", 8 << 30),
    ("TiB/s", 8 << 40),
];

/// Unit names of lengths and their millimetres, smallest first.
const LENGTHS: &[(&str, u128)] = &[("mm", 1), ("cm", 10), ("m", 1_000), ("km", 1_000_000)];

/// Unit names of powers and their milliwatts, smallest first.
const POWERS: &[(&str, u128)] = &[("mW", 1), ("W", 1_000), ("kW", 1_000_000), ("MW", 1_000_000_000)];

/// Unit names of prices and their millionths of a dollar, smallest first.
const PRICES: &[(&str, u128)] = &[
    ("uUSD", 1),
    ("mUSD", 1_000),
    ("USD", 1_000_000),
    ("kUSD", 1_000_000_000),
    ("MUSD", 1_000_000_000_000),
];

/// Other spellings that mean exactly one unit and are read as such.
const ALIASES: &[(&str, &str)] = &[
    ("µs", "us"),
    ("μs", "us"),
    ("kB", "KB"),
    ("kB/s", "KB/s"),
    ("Kbit/s", "kbit/s"),
];

impl Unit {
    /// The kind of quantity in words: "a time".
    pub fn noun(self) -> &'static str {
        match self {
            Unit::Time => "a time",
            Unit::Size => "a size",
            Unit::Bandwidth => "a bandwidth",
            Unit::TimePerByte | Unit::FineTimePerByte => "a time per byte",
            Unit::Length => "a length",
            Unit::Power => "a power",
            Unit::Price => "a price",
        }
    }

    /// The base unit in words: "picoseconds".
    pub fn base(self) -> &'static str {
        match self {
            Unit::Time => "picoseconds",
            Unit::Size => "bytes",
            Unit::Bandwidth => "bits per second",
            Unit::TimePerByte => "picoseconds per byte",
            Unit::FineTimePerByte => "femtoseconds per byte",
            Unit::Length => "millimetres",
            Unit::Power => "milliwatts",
            Unit::Price => "millionths of a dollar",
        }
    }

    /// Texts that show how to write such a quantity.
    pub fn example(self) -> &'static str {
        match self {
            Unit::Time => "\"90 ns\" or \"1.5 us\"",
            Unit::Size => "\"2 KiB\" or \"8192 B\"",
            Unit::Bandwidth => "\"200 Gbit/s\" or \"25 GB/s\"",
            Unit::TimePerByte => "\"10 ns/B\"",
            Unit::FineTimePerByte => "\"0.05 ns/B\"",
            Unit::Length => "\"2 m\" or \"57 cm\"",
            Unit::Power => "\"2.8 W\" or \"250 mW\"",
            Unit::Price => "\"350.4 USD\" or \"12 kUSD\"",
        }
    }

    /// The names of the units, smallest first.
    pub fn names(self) -> Vec<String> {
        match self {
            Unit::TimePerByte | Unit::FineTimePerByte => {
                self.table().iter().map(|(name, _)| format!("{name}/B")).collect()
            }
            _ => self.table().iter().map(|(name, _)| (*name).to_owned()).collect(),
        }
    }

    fn table(self) -> &'static [(&'static str, u128)] {
        match self {
            Unit::Time | Unit::TimePerByte => TIMES,
            Unit::FineTimePerByte => FINE_TIMES,
            Unit::Size => SIZES,
            Unit::Bandwidth => BANDWIDTHS,
            Unit::Length => LENGTHS,
            Unit::Power => POWERS,
            Unit::Price => PRICES,
        }
    }

    fn scale(self, name: &str) -> Option<u128> {
        let name = match self {
            Unit::TimePerByte | Unit::FineTimePerByte => name.strip_suffix("/B")?,
            _ => name,
        };
        let name = ALIASES
            .iter()
            .find(|(alias, _)| *alias == name)
            .map_or(name, |(_, unit)| unit);
        self.table()
            .iter()
            .find(|(unit, _)| *unit == name)
            .map(|(_, scale)| *scale)
    }

    /// The value of `text` in the base unit.
    ///
    /// # Errors
    /// No number, no unit, a unit of another kind, a negative number, a value that is not a whole number of the base
    /// unit or does not fit 64 bits.
    pub fn parse(self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let error = |reason: String, hint: String| Err(UnitError { reason, hint });
        let example = || format!("write {} such as {}", self.noun(), self.example());
        if trimmed.is_empty() {
            return error("an empty text".to_owned(), example());
        }
        if trimmed.starts_with('-') {
            return error(
                format!("{trimmed:?} is negative"),
                format!("{} is zero or more", self.noun()),
            );
        }
        let end = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(trimmed.len());
        let (number, name) = (&trimmed[..end], trimmed[end..].trim());
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || (number.contains('.') && !digits(fraction)) {
            return error(format!("{trimmed:?} does not start with a decimal number"), example());
        }
        if name.is_empty() {
            return error(
                format!("{trimmed:?} has no unit"),
                format!("add one of {}", self.names().join(", ")),
            );
        }
        let Some(scale) = self.scale(name) else {
            return Err(self.wrong_unit(number, name));
        };
        let too_large = || UnitError {
            reason: format!("{trimmed:?} is too large: {} must fit 64 bits", self.base()),
            hint: example(),
        };
        let fraction = fraction.trim_end_matches('0');
        let mantissa: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
        let Some(divisor) = u32::try_from(fraction.len())
            .ok()
            .and_then(|places| 10u128.checked_pow(places))
        else {
            return error(
                format!("{trimmed:?} is not a whole number of {}", self.base()),
                "use fewer decimal places".to_owned(),
            );
        };
        let scaled = mantissa.checked_mul(scale).ok_or_else(too_large)?;
        if scaled % divisor != 0 {
            return error(
                format!("{trimmed:?} is not a whole number of {}", self.base()),
                format!(
                    "the nearest below is {:?}",
                    self.print(u64::try_from(scaled / divisor).unwrap_or(u64::MAX))
                ),
            );
        }
        u64::try_from(scaled / divisor).map_err(|_| too_large())
    }

    /// The error for a unit name that this kind does not have: another kind's, another spelling, or none at all.
    fn wrong_unit(self, number: &str, name: &str) -> UnitError {
        for other in ALL {
            if other != self && other.scale(name).is_some() {
                return UnitError {
                    reason: format!("\"{number} {name}\" is {}, not {}", other.noun(), self.noun()),
                    hint: format!("write {} such as {}", self.noun(), self.example()),
                };
            }
        }
        let fold = |unit: &str| {
            let mut folded = unit.to_lowercase().replace(' ', "");
            for (from, to) in [
                ("bps", "bit/s"),
                ("bits/s", "bit/s"),
                ("bytes", "b"),
                ("byte", "b"),
                ("sec", "s"),
            ] {
                folded = folded.replace(from, to);
            }
            folded
        };
        let close: Vec<String> = self
            .names()
            .into_iter()
            .filter(|unit| fold(unit) == fold(name))
            .collect();
        // `b` alone is a bit to some and a byte to others.
        let bits = name.ends_with("b/s") && self == Unit::Bandwidth;
        let hint = if bits {
            let prefix = &name[..name.len() - 3];
            format!("write \"{number} {prefix}bit/s\" for bits or \"{number} {prefix}B/s\" for bytes")
        } else if let [only] = close.as_slice() {
            format!("write \"{number} {only}\"")
        } else {
            format!("use one of {}", self.names().join(", "))
        };
        UnitError {
            reason: format!("unknown unit {name:?} for {}", self.noun()),
            hint,
        }
    }

    /// Text that [`Unit::parse`] reads back as the same value, in the largest unit that needs at most three decimals.
    pub fn print(self, value: u64) -> String {
        match self {
            Unit::Time | Unit::Length | Unit::Power | Unit::Price => {
                print_largest(value, self.table().iter().rev().copied())
            }
            Unit::TimePerByte | Unit::FineTimePerByte => {
                print_largest(value, self.table().iter().rev().copied()) + "/B"
            }
            Unit::Size => print_size(value),
            Unit::Bandwidth => print_bandwidth(value),
        }
    }

    /// Name and scale of the unit of a quantity.
    fn unit_of(self, text: &str) -> Option<(&str, u128)> {
        let name = text
            .trim()
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            .trim();
        self.scale(name).map(|scale| (name, scale))
    }

    /// [`Unit::print`] in the unit of the quantity `like` where that is decimal and needs at most nine decimals.
    pub fn print_like(self, value: u64, like: &str) -> String {
        const PLACES: u128 = 1_000_000_000;
        match self.unit_of(like) {
            Some((name, scale)) if is_decimal(scale) && (u128::from(value) * PLACES).is_multiple_of(scale) => {
                let (whole, rest) = (u128::from(value) / scale, u128::from(value) % scale * PLACES / scale);
                let fraction = format!("{rest:09}");
                let fraction = fraction.trim_end_matches('0');
                let dot = if fraction.is_empty() { "" } else { "." };
                format!("{whole}{dot}{fraction} {name}")
            }
            _ => self.print(value),
        }
    }

    /// The largest round number of base units that is at most `most`, at least 1: the unit of the quantity `like` times or
    /// divided by a power of ten, or of two where the unit is binary.
    pub fn round_number(self, like: &str, most: f64) -> u64 {
        let scale = self.unit_of(like).map_or(1, |(_, scale)| scale);
        let base = if is_decimal(scale) { 10 } else { 2 };
        let mut round = scale;
        while round as f64 > most && round.is_multiple_of(base) {
            round /= base;
        }
        if round as f64 > most {
            return 1;
        }
        while (round * base) as f64 <= most {
            round *= base;
        }
        u64::try_from(round).unwrap_or(1)
    }
}

/// Whether a unit is a power of ten of the base unit, or of bytes per second.
fn is_decimal(scale: u128) -> bool {
    scale < 1 << 10 || !scale.is_power_of_two()
}

/// Prints in the first unit of `units` with a value of at least one and at most three decimals.
fn print_largest(value: u64, units: impl Iterator<Item = (&'static str, u128)>) -> String {
    let value = u128::from(value);
    let mut smallest = "";
    for (name, scale) in units {
        smallest = name;
        if value >= scale && (value % scale) * 1_000 % scale == 0 {
            let thousandths = (value % scale) * 1_000 / scale;
            let fraction = format!("{thousandths:03}");
            let fraction = fraction.trim_end_matches('0');
            let dot = if fraction.is_empty() { "" } else { "." };
            return format!("{}{dot}{fraction} {name}", value / scale);
        }
    }
    format!("{value} {smallest}")
}

fn print_size(value: u64) -> String {
    let exact = |(_, scale): &&(&str, u128)| value != 0 && u128::from(value) % scale == 0;
    // The unit that leaves the smallest whole number; `B` always does.
    let best = SIZES
        .iter()
        .filter(exact)
        .min_by_key(|(_, scale)| u128::from(value) / scale);
    let (name, scale) = best.copied().unwrap_or(("B", 1));
    format!("{} {name}", u128::from(value) / scale)
}

fn print_bandwidth(value: u64) -> String {
    let exact = |(_, scale): &&(&str, u128)| value != 0 && u128::from(value) % scale == 0;
    let best = BANDWIDTHS
        .iter()
        .filter(exact)
        .min_by_key(|(_, scale)| u128::from(value) / scale);
    let (name, scale) = best.copied().unwrap_or(("bit/s", 1));
    format!("{} {name}", u128::from(value) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_exact_value() {
        let cases = [
            (Unit::Bandwidth, "200 Gbit/s", 200_000_000_000),
            (Unit::Bandwidth, "25 GB/s", 200_000_000_000),
            (Unit::Bandwidth, "2 GiB/s", 17_179_869_184),
            (Unit::Bandwidth, "800 Mbit/s", 800_000_000),
            (Unit::Bandwidth, "12.5GB/s", 100_000_000_000),
            (Unit::Bandwidth, "0.1 Tbit/s", 100_000_000_000),
            (Unit::Size, "16 KiB", 16_384),
            (Unit::Size, "2 KB", 2_000),
            (Unit::Size, "2 kB", 2_000),
            (Unit::Size, "8192 B", 8_192),
            (Unit::Size, "0.5 KiB", 512),
            (Unit::Time, "90 ns", 90_000),
            (Unit::Time, "1.5 us", 1_500_000),
            (Unit::Time, "1.5 µs", 1_500_000),
            (Unit::Time, "10 ps", 10),
            (Unit::Time, "2 ms", 2_000_000_000),
            (Unit::Time, "0.0000001 s", 100_000),
            (Unit::Time, "0 ns", 0),
            (Unit::Time, "18446744073709551615 ps", u64::MAX),
            (Unit::TimePerByte, "10 ns/B", 10_000),
            (Unit::FineTimePerByte, "0.2275 ns/B", 227_500),
            (Unit::FineTimePerByte, "3 fs/B", 3),
            (Unit::Length, "1.5 m", 1_500),
            (Unit::Length, "57 cm", 570),
            (Unit::Power, "2.8 W", 2_800),
            (Unit::Power, "3 MW", 3_000_000_000),
            (Unit::Price, "0.4079 USD", 407_900),
            (Unit::Price, "12 kUSD", 12_000_000_000),
        ];
        for (unit, text, value) in cases {
            assert_eq!(unit.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_with_reason_and_hint() {
        let cases = [
            (Unit::Time, "25 GB/s", "a bandwidth, not a time", "90 ns"),
            (Unit::Bandwidth, "90 ns", "a time, not a bandwidth", "Gbit/s"),
            (Unit::Bandwidth, "25", "no unit", "Gbit/s"),
            (Unit::Bandwidth, "25 GB", "a size, not a bandwidth", "25 GB/s"),
            (Unit::Bandwidth, "100 Gb/s", "unknown unit", "\"100 Gbit/s\" for bits"),
            (Unit::Bandwidth, "100 Gbps", "unknown unit", "\"100 Gbit/s\""),
            (Unit::Time, "5 NS", "unknown unit", "\"5 ns\""),
            (Unit::Time, "-5 ns", "negative", "zero or more"),
            (Unit::Time, "0.3 ps", "whole number of picoseconds", "0 ps"),
            (Unit::Time, "1e3 ns", "unknown unit", "ns"),
            (Unit::Time, "", "empty", "ns"),
            (Unit::Time, "ns", "decimal number", "ns"),
            (Unit::Time, "1..5 ns", "decimal number", "ns"),
            (Unit::Time, "5. ns", "decimal number", "ns"),
            (Unit::Time, ".5 ns", "decimal number", "ns"),
            (Unit::Time, "30000000 s", "too large", "ns"),
            (
                Unit::Time,
                "99999999999999999999999999999999999999999999 s",
                "too large",
                "ns",
            ),
            (Unit::Size, "0.1 KiB", "whole number of bytes", "102 B"),
            (Unit::Size, "4 parsecs", "unknown unit", "KiB"),
            (Unit::TimePerByte, "10 ns", "a time, not a time per byte", "10 ns/B"),
            (Unit::Length, "5 ns", "a time, not a length", "2 m"),
            (Unit::Length, "0.5 mm", "whole number of millimetres", "0 mm"),
            (Unit::Power, "5", "no unit", "W"),
            (Unit::Price, "5 EUR", "unknown unit", "USD"),
            (Unit::Price, "-892.3 USD", "negative", "zero or more"),
        ];
        for (unit, text, reason, hint) in cases {
            let error = unit.parse(text).expect_err(text);
            assert!(error.reason.contains(reason), "{text}: {}", error.reason);
            assert!(error.hint.contains(hint), "{text}: {}", error.hint);
        }
    }

    #[test]
    fn prints_in_the_unit_people_use() {
        assert_eq!(Unit::Time.print(1_500_000), "1.5 us");
        assert_eq!(Unit::Time.print(1_234_567), "1234.567 ns");
        assert_eq!(Unit::Time.print(0), "0 ps");
        assert_eq!(Unit::Size.print(16_384), "16 KiB");
        assert_eq!(Unit::Size.print(2_000), "2 KB");
        assert_eq!(Unit::Size.print(0), "0 B");
        assert_eq!(Unit::Bandwidth.print(200_000_000_000), "25 GB/s");
        assert_eq!(Unit::Bandwidth.print(17_179_869_184), "2 GiB/s");
        assert_eq!(Unit::TimePerByte.print(10_000), "10 ns/B");
        assert_eq!(Unit::FineTimePerByte.print(227_500), "227.5 ps/B");
        assert_eq!(Unit::Length.print(2_000), "2 m");
        assert_eq!(Unit::Power.print(2_800), "2.8 W");
        assert_eq!(Unit::Price.print(350_400_000), "350.4 USD");
        assert_eq!(Unit::Price.print(0), "0 uUSD");
    }

    proptest! {
        #[test]
        fn printing_and_reading_gives_the_same_value(value in any::<u64>(), shift in 0u32..64, unit in 0usize..ALL.len()) {
            let value = value >> shift;
            prop_assert_eq!(ALL[unit].parse(&ALL[unit].print(value)), Ok(value));
        }

        #[test]
        fn round_values_survive_too(count in 0u64..100_000, power in 0u32..12, unit in 0usize..ALL.len()) {
            for value in [count.checked_mul(10u64.pow(power)), count.checked_mul(1 << (3 * power))].into_iter().flatten() {
                prop_assert_eq!(ALL[unit].parse(&ALL[unit].print(value)), Ok(value));
            }
        }

        #[test]
        fn decimals_are_never_rounded(whole in 0u64..1_000_000, thousandths in 0u64..1_000) {
            let text = format!("{whole}.{thousandths:03} us");
            prop_assert_eq!(Unit::Time.parse(&text), Ok(whole * 1_000_000 + thousandths * 1_000));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}", unit in 0usize..ALL.len()) {
            let _ = ALL[unit].parse(&text);
        }

        #[test]
        fn number_and_any_unit_never_panics(number in "[-0-9.]{0,60}", name in "[a-zA-Zµ/ ]{0,8}", unit in 0usize..ALL.len()) {
            if let Err(error) = ALL[unit].parse(&format!("{number}{name}")) {
                prop_assert!(!error.reason.is_empty() && !error.hint.is_empty());
            }
        }
    }
}
