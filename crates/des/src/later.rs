//! The later of two times where nobody can tell which it is.

/// The later of two times (ps), without a branch.
///
/// What `max` becomes in a loop is the compiler's choice: where one of the two is known late it takes a branch, which runs ahead of the time that is
/// not known yet. Where either is as likely as the other it is told wrong every second or third time, and has all behind it done again, once the time is
/// known at last.
#[inline(always)]
pub fn later(a: u64, b: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut latest = a;
        // SAFETY: two instructions between registers, which write one of them and the flags.
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!(
                "cmp {latest}, {other}",
                "cmovb {latest}, {other}",
                latest = inout(reg) latest,
                other = in(reg) b,
                options(pure, nomem, nostack),
            );
        }
        latest
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    a.max(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_maximum() {
        let times = [0, 1, 2, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX];
        for (a, b) in times.iter().flat_map(|&a| times.map(|b| (a, b))) {
            assert_eq!(later(a, b), a.max(b), "{a} {b}");
        }
    }
}
