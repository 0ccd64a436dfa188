//! What a key may be: from a coordinate between 0 and 1 to a value as it could be written in the study.

use crate::document::{Node, Value};
use crate::units::Unit;
use des::rng::ln;

/// Values are rounded to this part of their range, or finer: more runs than this no study has.
const PARTS: f64 = 100_000.0;

/// The values of a sampled key.
#[derive(Clone, Debug)]
pub enum Range {
    /// Whole numbers: a plain integer has a step of 1, a quantity none unless it is given.
    Whole {
        from: u64,
        to: u64,
        step: Option<u64>,
        log: bool,
        form: NumberForm,
    },
    /// Numbers with a point.
    Number {
        from: f64,
        to: f64,
        step: Option<f64>,
        log: bool,
    },
    /// Any values, equally likely; a list for keys that are sampled together.
    Choice(Vec<Vec<Node>>),
}

/// How a whole number is written.
#[derive(Clone, Debug)]
pub enum NumberForm {
    Integer,
    /// In base units; printed in the unit of this text.
    Quantity(Unit, String),
}

impl Range {
    /// The values at coordinate `u` (at least 0, below 1), one per key.
    pub fn at(&self, u: f64, blank: impl Fn(Value) -> Node) -> Vec<Node> {
        match self {
            Range::Choice(rows) => rows[part(u, rows.len() as u64) as usize].clone(),
            Range::Whole { form, .. } => {
                let whole = self.whole(u);
                vec![blank(match form {
                    NumberForm::Integer => Value::Integer(i64::try_from(whole).unwrap_or(i64::MAX)),
                    NumberForm::Quantity(unit, like) => Value::Text(unit.print_like(whole, like)),
                })]
            }
            Range::Number { from, to, step, log } => vec![blank(Value::Number(number(*from, *to, *step, *log, u)))],
        }
    }

    fn whole(&self, u: f64) -> u64 {
        let Range::Whole {
            from,
            to,
            step,
            log,
            form,
        } = self
        else {
            return 0;
        };
        let (low, high) = (*from as f64, *to as f64);
        let exact = between(low, high, *log, u);
        if let Some(step) = *step {
            let levels = (to - from) / step + 1;
            let level = match log {
                // Equal shares, so that the ends are as likely as the others.
                false => part(u, levels),
                true => (((exact - low) / step as f64).round() as u64).min(levels - 1),
            };
            return from + level * step;
        }
        let round = match form {
            NumberForm::Quantity(unit, like) => unit.round_number(like, slope(low, high, *log, exact) / PARTS),
            NumberForm::Integer => 1,
        };
        let rounded = (exact / round as f64).round() * round as f64;
        (rounded as u64).clamp(*from, *to)
    }
}

/// The place of `u` among `n` equal parts.
fn part(u: f64, n: u64) -> u64 {
    ((u * n as f64) as u64).min(n - 1)
}

fn between(from: f64, to: f64, log: bool, u: f64) -> f64 {
    let value = if log {
        from * power(to / from, u)
    } else {
        from + u * (to - from)
    };
    value.clamp(from, to)
}

/// How fast the value grows with the coordinate.
fn slope(from: f64, to: f64, log: bool, value: f64) -> f64 {
    if log { value * ln(to / from) } else { to - from }
}

fn number(from: f64, to: f64, step: Option<f64>, log: bool, u: f64) -> f64 {
    let exact = between(from, to, log, u);
    let (value, round) = match step {
        Some(step) => {
            let levels = ((to - from) / step * (1.0 + 1e-12)) as u64 + 1;
            let level = match log {
                false => part(u, levels),
                true => (((exact - from) / step).round() as u64).min(levels - 1),
            };
            // Sums of decimals such as 0.1 + 2 * 0.1 are no decimals: twelve places of the step are.
            (from + level as f64 * step, step / 1e12)
        }
        None => (exact, slope(from, to, log, exact) / PARTS),
    };
    // Powers of ten up to 10^22 are exact, so that the quotient is the number that its decimal text names.
    let mut scale = 1.0;
    while scale < 1e22 && 1.0 / scale > round {
        scale *= 10.0;
    }
    ((value * scale).round() / scale).clamp(from, to)
}

/// `base` to the power of `exponent` in 0..1 from square roots, which are rounded in one way only, unlike `exp` and `ln` of
/// different machines.
fn power(base: f64, exponent: f64) -> f64 {
    let (mut root, mut rest, mut product) = (base, exponent, 1.0);
    for _ in 0..53 {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            product *= root;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;
    use proptest::prelude::*;

    fn quantity(unit: Unit, from: &str, to: &str, step: Option<&str>, log: bool) -> Range {
        let parse = |text: &str| unit.parse(text).expect("a quantity");
        Range::Whole {
            from: parse(from),
            to: parse(to),
            step: step.map(parse),
            log,
            form: NumberForm::Quantity(unit, from.to_owned()),
        }
    }

    fn integers(from: u64, to: u64, log: bool) -> Range {
        Range::Whole {
            from,
            to,
            step: Some(1),
            log,
            form: NumberForm::Integer,
        }
    }

    fn at(range: &Range, u: f64) -> String {
        let place = Place::default();
        match &range.at(u, |value| Node { value, place })[0].value {
            Value::Text(text) => text.clone(),
            Value::Integer(integer) => integer.to_string(),
            Value::Number(number) => number.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_middle_of_a_log_range_is_the_geometric_mean() {
        let bandwidth = quantity(Unit::Bandwidth, "1 GB/s", "64 GB/s", None, true);
        assert_eq!(at(&bandwidth, 0.5), "8 GB/s");
        assert_eq!(at(&bandwidth, 1.0 / 6.0), "2 GB/s");
        assert_eq!(at(&integers(1, 64, true), 0.5), "8");
        assert_eq!(number(0.01, 1.0, None, true, 0.5), 0.1);
        let linear = quantity(Unit::Bandwidth, "1 GB/s", "64 GB/s", None, false);
        assert_eq!(at(&linear, 0.5), "32.5 GB/s");
    }

    #[test]
    fn values_are_round_in_the_unit_of_the_range() {
        assert_eq!(
            at(&quantity(Unit::Time, "100 ns", "10 us", None, false), 0.123_456),
            "1322.21 ns"
        );
        assert_eq!(
            at(&quantity(Unit::Size, "8 KiB", "256 KiB", Some("2 KiB"), false), 0.3),
            "82 KiB"
        );
        assert_eq!(
            at(&quantity(Unit::Size, "1 MiB", "1 GiB", None, false), 0.3),
            "315288 KiB"
        );
        assert_eq!(
            at(
                &quantity(Unit::Bandwidth, "100 Gbit/s", "400 Gbit/s", None, false),
                1.0 / 3.0
            ),
            "200 Gbit/s"
        );
        assert_eq!(number(0.1, 0.9, None, false, 0.3333), 0.36664);
        assert_eq!(number(0.1, 0.9, Some(0.1), false, 0.3), 0.3);
    }

    #[test]
    fn whole_numbers_have_equal_shares_on_a_linear_scale() {
        let range = integers(3, 6, false);
        let found: Vec<String> = (0..8).map(|i| at(&range, (f64::from(i) + 0.5) / 8.0)).collect();
        assert_eq!(found, ["3", "3", "4", "4", "5", "5", "6", "6"]);
        // 10 to 35 in steps of 10: the last step lies beyond the end.
        let steps = quantity(Unit::Size, "10 B", "35 B", Some("10 B"), false);
        assert_eq!(["10 B", "20 B", "30 B"], [0.0, 0.5, 0.99].map(|u| at(&steps, u)));
    }

    proptest! {
        #[test]
        fn every_value_lies_in_its_range_and_grows_with_the_coordinate(
            from in 1u64..1 << 40, width in 1u64..1 << 40, u in 0.0..1.0f64, v in 0.0..1.0f64, log: bool, step in 0u64..100,
        ) {
            // Without a step two neighbours may be rounded past each other.
            let round = if step > 0 { 0 } else { width / 10_000 + 1 };
            let to = from + width;
            let step = (step > 0).then(|| (width / step).max(1));
            let range = Range::Whole { from, to, step, log, form: NumberForm::Quantity(Unit::Bandwidth, "1 GB/s".to_owned()) };
            let (low, high) = (range.whole(u.min(v)), range.whole(u.max(v)));
            prop_assert!(from <= low && low <= high + round && low.max(high) <= to);
            let text = at(&range, u);
            prop_assert_eq!(Unit::Bandwidth.parse(&text), Ok(range.whole(u)));
            let (from, to) = (from as f64 / 1e6, to as f64 / 1e6);
            let found = number(from, to, None, log, u);
            prop_assert!(from <= found && found <= to);
        }
    }

    #[test]
    fn powers_from_square_roots_are_those_of_the_library() {
        for i in 0..1000 {
            let (base, exponent) = (1.0 + f64::from(i * i), f64::from(i) / 1000.0);
            assert!(
                (power(base, exponent) / base.powf(exponent) - 1.0).abs() < 1e-14,
                "{base} to the power of {exponent}"
            );
        }
    }
}
