//! The candidate with the least wait, a random one of equal ones.

use super::Way;
use des::mix;
use des::rng::below;
use topo::Hop;

/// The best of the candidates offered so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    wait: u64,
    way: Way,
    equal: u64,
    word: u64,
}

impl Least {
    /// None yet; `word` is the draw among equal ones.
    pub(super) fn new(word: u64) -> Least {
        Least {
            wait: u64::MAX,
            way: Way::new(0, 0, 0),
            equal: 0,
            word,
        }
    }

    /// Looks at an output (local port, channel, phase); one with a wait of [`u64::MAX`] cannot be taken.
    pub(super) fn offer(&mut self, wait: u64, way: Way) {
        if wait > self.wait || wait == u64::MAX {
            return;
        }
        self.equal = if wait < self.wait { 1 } else { self.equal + 1 };
        // Each of n equal ones is kept with probability 1 / n when it comes: all are equally likely in the end.
        if self.equal == 1 || below(mix(self.word ^ self.equal), self.equal) == 0 {
            (self.wait, self.way) = (wait, way);
        }
    }

    /// Looks at all cables of a hop.
    pub(super) fn offer_cables(&mut self, hop: Hop, phase: u8, mut wait: impl FnMut(u32, u8) -> u64) {
        for port in (hop.port..hop.port + hop.links).map(u32::from) {
            self.offer(wait(port, hop.vc), Way::new(port, hop.vc, phase));
        }
    }

    /// The best one and its wait.
    pub(super) fn best(&self) -> Option<(u64, Way)> {
        (self.equal > 0).then_some((self.wait, self.way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_are_equally_likely_and_a_smaller_wait_wins() {
        let mut taken = [0u32; 5];
        for draw in 0..10_000 {
            let mut least = Least::new(mix(draw));
            assert_eq!(least.best(), None);
            least.offer(u64::MAX, Way::new(9, 0, 0));
            assert_eq!(least.best(), None);
            for (port, wait) in [(0, 7), (1, 3), (2, 4), (3, 3), (4, 3)] {
                least.offer(wait, Way::new(port, 1, 2));
            }
            let (wait, way) = least.best().unwrap();
            assert_eq!((wait, way.vc(), way.phase()), (3, 1, 2));
            taken[way.port() as usize] += 1;
        }
        assert_eq!((taken[0], taken[2]), (0, 0));
        // A third of 10,000 draws each; four standard deviations are 189.
        for port in [1, 3, 4] {
            assert!(taken[port].abs_diff(3_333) < 189, "{taken:?}");
        }
    }
}
