//! How far workers run ahead: counted where it is clear, measured where it is not.
//!
//! All workers take the same decision from what all have reported. The answer of the run does not depend on it.

use std::time::Duration;

/// Most windows that may be run ahead: what lies within half a ring is in its window's bucket (see [`crate::ring::EventRing::draw_near`]).
pub const MAX_DEPTH: u32 = 64;

/// How far workers may run ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speculation {
    /// Fewest windows of a round. One: nothing beyond the window that is safe, unless it pays.
    pub least: u32,
    /// Windows of the first rounds.
    pub first: u32,
    /// Most windows of a round, at most [`MAX_DEPTH`].
    pub most: u32,
    /// Bytes of inputs, undo logs and sent events that all workers together may keep; with more they run one window a round.
    pub kept: usize,
}

impl Default for Speculation {
    /// Up to 16 windows, as many as pay, and a quarter of a GiB.
    fn default() -> Self {
        Speculation {
            least: 1,
            first: 1,
            most: 16,
            kept: 1 << 28,
        }
    }
}

impl Speculation {
    /// Always `depth` windows a round.
    pub fn fixed(depth: u32) -> Self {
        Speculation {
            least: depth,
            first: depth,
            most: depth,
            ..Self::default()
        }
    }
}

/// The present depth of speculation: doubled after quiet rounds that hold few events, halved when much is run in vain or when rounds
/// hold more events than a barrier needs to be cheap, which only costs memory. Whether any of it pays depends on what a barrier costs on
/// this machine at this time: stretches of rounds ahead are timed against stretches with one window a round, again from time to time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    least: u64,
    most: u64,
    pub(crate) depth: u64,
    /// Events that make a round long enough.
    enough: u64,
    /// Rounds without a halving.
    quiet: u32,
    /// Rounds that have to be quiet for a doubling; more of them after each halving, or every other round would be one.
    patience: u32,
    /// Events of a stretch.
    stretch: u64,
    phase: PacePhase,
    /// Events and wall time of this stretch.
    events: u64,
    wall: Duration,
    /// Wall time per event (ns) of the last stretch ahead, and of the last one with the least depth.
    ahead: f64,
    near: f64,
    /// Stretches until the other way is tried again.
    settled: u32,
}

/// What a stretch of rounds is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacePhase {
    /// The depth grows; not measured.
    Growing,
    /// Rounds ahead on trial.
    Ahead,
    /// The least depth on trial.
    Near,
    /// The better way, so many stretches from the next trial.
    Settled(u32),
}

/// Of so many events that were run one may be rolled back.
const RATIO: u64 = 4;
const PATIENT: u32 = 1 << 10;
/// Events of a worker that make a round long enough: a barrier costs as much as some tens of them.
const ENOUGH: u64 = 1 << 11;
/// Events of a stretch, per worker.
const STRETCH: u64 = 1 << 13;
/// Rounds ahead must save this part of the time to be kept.
const GAIN: f64 = 0.05;
/// Stretches until the other way is tried again: at first, and at most.
const SETTLED: (u32, u32) = (16, 512);

impl Pace {
    pub(crate) fn new(speculation: Speculation, workers: usize) -> Self {
        // One worker waits for nobody.
        let most = if workers == 1 { 1 } else { speculation.most };
        let most = u64::from(most.clamp(1, MAX_DEPTH));
        let least = u64::from(speculation.least).clamp(1, most);
        Pace {
            least,
            most,
            depth: u64::from(speculation.first).clamp(least, most),
            enough: ENOUGH * workers as u64,
            quiet: 0,
            patience: 4,
            stretch: STRETCH * workers as u64,
            phase: PacePhase::Growing,
            events: 0,
            wall: Duration::ZERO,
            ahead: 0.0,
            near: f64::MAX,
            settled: SETTLED.0,
        }
    }

    /// Takes note of a round in which so many events were run and rolled back, and of its wall time.
    pub(crate) fn note(&mut self, executed: u64, rolled_back: u64, wall: Duration) {
        self.measure(executed.saturating_sub(rolled_back), wall);
        let pays = self.ahead < self.near * (1.0 - GAIN);
        if self.phase == PacePhase::Near || matches!(self.phase, PacePhase::Settled(_)) && !pays {
            self.depth = self.least;
            self.quiet = 0;
            return;
        }
        if rolled_back * RATIO > executed {
            self.depth = (self.depth / 2).max(self.least);
            self.patience = (self.patience * 2).min(PATIENT);
            self.quiet = 0;
            return;
        }
        if executed > 2 * self.enough {
            self.depth = (self.depth / 2).max(self.least);
        }
        if executed > self.enough {
            self.quiet = 0;
            return;
        }
        self.quiet += 1;
        if self.quiet >= self.patience {
            if self.depth == self.most {
                self.patience = (self.patience / 2).max(4);
            }
            self.depth = (self.depth * 2).min(self.most);
            self.quiet = 0;
        }
    }

    /// Goes on to the next phase at the end of a stretch.
    fn measure(&mut self, events: u64, wall: Duration) {
        self.events += events;
        self.wall += wall;
        if self.events < self.stretch {
            return;
        }
        let cost = self.wall.as_nanos() as f64 / self.events as f64;
        (self.events, self.wall) = (0, Duration::ZERO);
        self.phase = match self.phase {
            PacePhase::Growing => PacePhase::Ahead,
            PacePhase::Ahead => {
                self.ahead = cost;
                PacePhase::Near
            }
            PacePhase::Near => {
                self.near = cost;
                PacePhase::Settled(self.settled)
            }
            PacePhase::Settled(0) => {
                self.settled = (self.settled * 2).min(SETTLED.1);
                PacePhase::Growing
            }
            PacePhase::Settled(left) => PacePhase::Settled(left - 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_nanos(1);

    #[test]
    fn the_depth_grows_while_it_is_quiet_and_falls_when_much_is_in_vain() {
        let mut pace = Pace::new(Speculation::default(), 8);
        assert_eq!(pace.depth, 1, "nothing is run ahead before it is known to be quiet");
        for _ in 0..8 {
            pace.note(100, 10, SHORT);
        }
        assert_eq!(pace.depth, 4, "doubled twice");
        for _ in 0..100 {
            pace.note(100, 0, SHORT);
        }
        assert_eq!(pace.depth, 16, "never beyond the most");
        for _ in 0..5 {
            pace.note(100, 30, SHORT);
        }
        assert_eq!(pace.depth, 1, "never below one");
        // The next trial comes later than the first one did.
        let rounds = (1..).find(|_| {
            pace.note(100, 0, SHORT);
            pace.depth > 1
        });
        assert!(rounds.is_some_and(|rounds| rounds >= 64));
    }

    #[test]
    fn rounds_that_are_long_enough_do_not_grow() {
        let four = Speculation {
            first: 4,
            ..Speculation::default()
        };
        let mut pace = Pace::new(four, 2);
        for _ in 0..3 {
            pace.note(ENOUGH * 2 + 1, 0, SHORT);
        }
        assert_eq!(pace.depth, 4);
        pace.note(ENOUGH * 4 + 1, 0, SHORT);
        assert_eq!(pace.depth, 2);
        // Where single windows are long enough nothing is ever run ahead.
        let mut pace = Pace::new(Speculation::default(), 2);
        for _ in 0..10_000 {
            pace.note(ENOUGH * 2 + 1, 0, SHORT);
            assert_eq!(pace.depth, 1);
        }
    }

    #[test]
    fn one_worker_waits_for_nobody() {
        let mut pace = Pace::new(Speculation::fixed(16), 1);
        pace.note(1, 1, SHORT);
        assert_eq!((pace.depth, pace.most), (1, 1));
    }

    #[test]
    fn a_fixed_depth_stays_and_none_is_beyond_half_a_ring() {
        let mut pace = Pace::new(Speculation::fixed(7), 2);
        for _ in 0..100_000 {
            pace.note(7, 7, SHORT);
            pace.note(700, 0, SHORT);
            assert_eq!(pace.depth, 7);
        }
        assert_eq!(Pace::new(Speculation::fixed(1_000), 2).depth, u64::from(MAX_DEPTH));
        assert_eq!(Pace::new(Speculation::fixed(0), 2).depth, 1);
        assert!(MAX_DEPTH as usize <= crate::ring::SLOTS / 2);
    }

    /// Events at depth one and at others, where a window holds `window` events, a barrier costs `barrier` ns, an event 100 ns and its
    /// journal 25 ns.
    fn events(window: u64, barrier: u64, rounds: u32) -> (u64, u64) {
        let mut pace = Pace::new(Speculation::default(), 2);
        let (mut near, mut ahead) = (0, 0);
        for _ in 0..rounds {
            let events = window * pace.depth;
            let journalled = events - window;
            *(if pace.depth == 1 { &mut near } else { &mut ahead }) += events;
            pace.note(
                events,
                0,
                Duration::from_nanos(barrier + events * 100 + journalled * 25),
            );
        }
        (near, ahead)
    }

    #[test]
    fn windows_are_run_ahead_where_barriers_cost_more_than_journals() {
        // A barrier of a quarter of a microsecond and one of a busy machine.
        for (window, barrier) in [(4, 250), (500, 50_000)] {
            let (near, ahead) = events(window, barrier, 500_000);
            assert!(near * 20 < ahead, "{window} events, {barrier} ns: {near} {ahead}");
        }
        for (window, barrier) in [(60, 250), (500, 250), (1_000, 10_000)] {
            let (near, ahead) = events(window, barrier, 500_000);
            assert!(ahead * 20 < near, "{window} events, {barrier} ns: {near} {ahead}");
        }
    }
}
