//! From what packets draw.

use super::MacroPar;
use crate::routing::keys::defaults;
use crate::routing::prelude::*;
use study::{Named, Type, choice, key};

choice! {
    /// From what a packet draws the way round.
    pub enum Draw {
        Packet = "packet", "A hash of seed, packet and router.";
        Clock = "sst-macro", "SST/macro's generator, which is seeded anew from the clock and `run.seed` (its `router.seed`) before each draw: all packets that are routed at one time draw alike. Dragonflies with one link between two groups and at most 13 of a router, and dragonfly+.";
    }
}

pub(super) const DRAW: Parameter = key(
    "draw",
    Type::Choice(Draw::WORDS),
    study::Default::Text("packet"),
    "From what a packet draws the way round.",
);

/// What a routing with detours of SST/macro is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawSpec {
    /// From what it draws; a canonical study leaves packets out.
    #[serde(default = "of_packets", skip_serializing_if = "is_of_packets")]
    pub draw: Draw,
}

impl Default for DrawSpec {
    fn default() -> Self {
        defaults::<MacroPar>()
    }
}

fn of_packets() -> Draw {
    Draw::Packet
}

fn is_of_packets(draw: &Draw) -> bool {
    *draw == Draw::Packet
}

impl DrawSpec {
    pub(super) fn read(keys: &OwnValues) -> DrawSpec {
        DrawSpec {
            draw: keys.choice("draw"),
        }
    }
}

/// SST/macro's generator as a router uses it: one step of two multiply-with-carry sequences whose states are made from the time of the draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockDraws {
    /// `router.seed`.
    seed: u32,
}

/// Draws after which nothing has come that would do. There a search goes on for ever.
const MOST_ATTEMPTS: u32 = 64;

impl ClockDraws {
    /// The generator, if that is what is asked for.
    pub fn of(spec: &DrawSpec, terms: &RoutingTerms<'_>) -> Option<ClockDraws> {
        (spec.draw == Draw::Clock).then_some(ClockDraws {
            seed: terms.seed as u32,
        })
    }

    /// What is drawn of `range` numbers at a time (ps) at the first attempt, the second and so on.
    pub fn draw(self, time: u64, attempt: u32, range: u32) -> u32 {
        // Ticks of 100 as, and words of 32 bits: shifts of 32 and more are those of the machine.
        let ticks = time.wrapping_mul(10_000) as u32;
        let low = self.seed.wrapping_mul(ticks.wrapping_add(31)).wrapping_shl(attempt + 5);
        let high = ticks.wrapping_add(5).wrapping_mul(7).wrapping_add(3);
        let step = |factor: u32, state: u32| factor.wrapping_mul(state & 0xFFFF).wrapping_add(state >> 16);
        let (high, low) = (step(36_969, high), step(18_000, low));
        (high << 16).wrapping_add(low & 0xFFFF) % range.max(1)
    }

    /// The first number drawn that will do.
    pub fn first(self, time: u64, range: u32, will_do: impl Fn(u32) -> bool) -> Option<u32> {
        let mut drawn = (0..MOST_ATTEMPTS).map(|attempt| self.draw(time, attempt, range));
        drawn.find(|&number| will_do(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 2,048 B at 25 GB/s are 81.92 ns apart.
    fn stream(first: u64, range: u32) -> Vec<u32> {
        let draws = ClockDraws { seed: 14 };
        (0..8)
            .map(|packet| draws.draw(first + 81_920 * packet, 0, range))
            .collect()
    }

    #[test]
    fn a_stream_draws_one_number_of_a_power_of_two_and_several_of_others() {
        // As SST/macro 15d5cd25 draws with router.seed = 14.
        for (first, drawn) in [(100_000, 33), (200_000, 3), (300_000, 36), (400_000, 6)] {
            assert_eq!(stream(first, 64), [drawn; 8]);
        }
        for (first, drawn) in [(100_000, 1), (200_000, 3), (300_000, 4), (400_000, 6)] {
            assert_eq!(stream(first, 16), [drawn; 8]);
        }
        assert_eq!(stream(100_000, 9), [4, 8, 1, 1, 3, 7, 5, 7]);
    }

    #[test]
    fn a_draw_that_nothing_fits_ends() {
        let draws = ClockDraws { seed: 14 };
        assert_eq!(draws.first(100_000, 64, |_| false), None);
        assert_eq!(draws.first(100_000, 64, |number| number == 33), Some(33));
    }
}
