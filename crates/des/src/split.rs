//! Which of some times are before the end of a window, and the earliest of the others.

use crate::CHECKS;

/// Times that are split together.
const MOST: usize = u64::BITS as usize;

/// Of up to 64 times (ps) a bit for each that is before `end`, and the earliest of the others; `u64::MAX` if there is none.
///
/// No branch hangs on a time. Four at a time where the processor can, which is asked once in a process.
#[inline(never)]
pub fn split_at(times: &[u64], end: u64) -> (u64, u64) {
    if CHECKS {
        assert!(
            times.len() <= MOST,
            "{} times have more bits than there are",
            times.len()
        );
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function is compiled for.
        #[allow(unsafe_code)]
        return unsafe { four_at_a_time(times, end) };
    }
    one_at_a_time(times, end)
}

/// [`split_at`] for every processor.
#[inline(always)]
fn one_at_a_time(times: &[u64], end: u64) -> (u64, u64) {
    let (mut before, mut least) = (0, u64::MAX);
    for time in times.iter().rev() {
        // Of a time before `end` this is greater than that of any other.
        let (after, is_before) = time.overflowing_sub(end);
        before = before << 1 | u64::from(is_before);
        least = least.min(after);
    }
    (before, least.saturating_add(end))
}

/// [`split_at`] with vectors of four times.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
fn four_at_a_time(times: &[u64], end: u64) -> (u64, u64) {
    use std::arch::x86_64::*;
    let (fours, rest) = times.as_chunks::<4>();
    // Vectors are compared with a sign: with the highest bit turned over that is the order without.
    let sign = _mm256_set1_epi64x(i64::MIN);
    let bound = _mm256_set1_epi64x((end ^ 1 << 63) as i64);
    let (mut before, mut least) = (0, _mm256_set1_epi64x(i64::MAX));
    for (number, &[a, b, c, d]) in fours.iter().enumerate() {
        let four = _mm256_set_epi64x(d as i64, c as i64, b as i64, a as i64);
        let are_before = _mm256_cmpgt_epi64(bound, _mm256_xor_si256(four, sign));
        let bits = _mm256_movemask_pd(_mm256_castsi256_pd(are_before)) as u64;
        before |= bits << (4 * number);
        // One that is before counts as the latest time there is.
        let others = _mm256_xor_si256(_mm256_or_si256(four, are_before), sign);
        let are_less = _mm256_cmpgt_epi64(least, others);
        least = _mm256_blendv_epi8(least, others, are_less);
    }
    let least = [
        _mm256_extract_epi64::<0>(least),
        _mm256_extract_epi64::<1>(least),
        _mm256_extract_epi64::<2>(least),
        _mm256_extract_epi64::<3>(least),
    ];
    let [a, b, c, d] = least.map(|time| time as u64 ^ 1 << 63);
    let (after, of_rest) = one_at_a_time(rest, end);
    if !rest.is_empty() {
        before |= after << (4 * fours.len());
    }
    (before, a.min(b).min(c.min(d)).min(of_rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_split_at_the_end_of_a_window_however_many_are_looked_at_together() {
        let mut drawn = 1;
        let mut draw = || {
            drawn = crate::rng::mix(drawn);
            drawn
        };
        for round in 0..8_000 {
            let n = draw() as usize % (MOST + 1);
            let end = [1, 1_000, 1 << 63, u64::MAX, 0, (1 << 63) + 1_000][round % 6];
            let times: Vec<u64> = (0..n)
                .map(|_| match draw() % 6 {
                    0 => end.saturating_sub(1),
                    1 => end,
                    2 => u64::MAX,
                    3 => draw(),
                    4 => end.saturating_add(draw() % 3),
                    _ => draw() % 2_000,
                })
                .collect();
            let (before, earliest) = split_at(&times, end);
            for (i, &time) in times.iter().enumerate() {
                assert_eq!(before >> i & 1 == 1, time < end, "{time} and {end}");
            }
            assert_eq!(before.checked_shr(n as u32).unwrap_or(0), 0);
            let others = times.iter().copied().filter(|&time| time >= end);
            assert_eq!(earliest, others.min().unwrap_or(u64::MAX));
            assert_eq!(one_at_a_time(&times, end), (before, earliest), "{times:?} and {end}");
        }
    }
}
