//! Finite fields, by which slim flies and orthogonal fat-trees are made.

/// A finite field; elements are polynomials over the prime's numbers, written as digits to the base of the prime.
pub(super) struct Field {
    prime: u32,
    pub(super) q: u32,
    /// Powers of an element that all but 0 are powers of.
    pub(super) powers: Vec<u32>,
    /// The power that each element but 0 is.
    logs: Vec<u32>,
}

impl Field {
    /// That of `q` elements; `None` if there is none.
    pub(super) fn new(q: u32) -> Option<Field> {
        let prime = (2..=q).find(|&n| q.is_multiple_of(n))?;
        let mut digits = 0;
        let mut rest = q;
        while rest.is_multiple_of(prime) {
            (rest, digits) = (rest / prime, digits + 1);
        }
        if rest != 1 {
            return None;
        }
        // Of one digit: a number whose powers are all others. Of several: the powers of x modulo a polynomial, by its lower coefficients.
        let powers = (1..q)
            .map(|rule| powers(prime, digits, q, rule))
            .find(|powers| powers.len() as u32 == q - 1)?;
        let mut logs = vec![0; q as usize];
        for (k, &element) in powers.iter().enumerate() {
            logs[element as usize] = k as u32;
        }
        Some(Field { prime, q, powers, logs })
    }

    pub(super) fn plus(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b, mut place, mut sum) = (a, b, 1, 0);
        while a > 0 || b > 0 {
            sum += (a % self.prime + b % self.prime) % self.prime * place;
            (a, b, place) = (a / self.prime, b / self.prime, place * self.prime);
        }
        sum
    }

    pub(super) fn times(&self, a: u32, b: u32) -> u32 {
        match a == 0 || b == 0 {
            true => 0,
            false => self.powers[((self.logs[a as usize] + self.logs[b as usize]) % (self.q - 1)) as usize],
        }
    }

    /// The powers of primes next below and above a number, from `least` on, as a hint.
    pub(super) fn near(n: u32, least: u32) -> String {
        let is_power = |n: &u32| Field::new(*n).is_some();
        let (below, above) = (
            (least..n.min(200)).rev().find(is_power),
            ((n + 1).max(least)..200).find(is_power),
        );
        let words: Vec<String> = [below, above].into_iter().flatten().map(|n| n.to_string()).collect();
        format!("take {}", words.join(" or "))
    }
}

/// The powers of an element, from 1 until they begin again or end in 0.
fn powers(prime: u32, digits: u32, q: u32, rule: u32) -> Vec<u32> {
    let next = |element: u32| match digits {
        1 => (u64::from(element) * u64::from(rule) % u64::from(prime)) as u32,
        _ => {
            // Times x: the digits move up, and the uppermost one stands for so many times the rule.
            let (top, mut rest) = (element / (q / prime), element % (q / prime) * prime);
            let (mut rule, mut place, mut sum) = (rule, 1, 0);
            while place < q {
                sum += (rest % prime + top * (rule % prime)) % prime * place;
                (rest, rule, place) = (rest / prime, rule / prime, place * prime);
            }
            sum
        }
    };
    let mut found = vec![1];
    let mut element = next(1);
    while element > 1 && found.len() < q as usize {
        found.push(element);
        element = next(element);
    }
    match element {
        1 => found,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_powers_of_primes() {
        let sizes: Vec<u32> = (2..=64).filter(|&q| Field::new(q).is_some()).collect();
        assert_eq!(
            sizes,
            [
                2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49, 53, 59, 61, 64
            ]
        );
        for q in [4, 7, 8, 9, 25, 27] {
            let field = Field::new(q).unwrap();
            for a in 0..q {
                // Rows of sums have every element once, and so have those of products.
                let mut sums: Vec<u32> = (0..q).map(|b| field.plus(a, b)).collect();
                sums.sort_unstable();
                assert_eq!(sums, (0..q).collect::<Vec<_>>());
                for (b, c) in [(1, q - 1), (q / 2, 2), (3, q - 2)] {
                    let times = |a, b| field.times(a, b);
                    assert_eq!(
                        times(a, field.plus(b, c)),
                        field.plus(times(a, b), times(a, c)),
                        "{a} {b} {c} of {q}"
                    );
                    assert_eq!(times(a, times(b, c)), times(times(a, b), c));
                }
            }
        }
    }
}
