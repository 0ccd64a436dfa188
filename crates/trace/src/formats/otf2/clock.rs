//! Clocks of locations, brought to one time by what was measured between them; and that time in picoseconds.

/// Picoseconds in a second.
const SECOND: u64 = 1_000_000_000_000;

/// Offsets of a location's clock from the one of the archive, with lines between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockCorrection {
    /// Time of the location (ticks) and what is added then, in the order of the file.
    points: Vec<(u64, i64)>,
    /// The interval of the time before.
    interval: usize,
}

impl ClockCorrection {
    /// One more offset, measured at a time.
    pub fn add(&mut self, time: u64, offset: i64) {
        self.points.push((time, offset));
    }

    /// A time of the location (ticks) in the time of the archive. The last interval goes on for ever, the first one also backwards; with fewer
    /// than two offsets nothing is corrected.
    #[inline]
    pub fn correct(&mut self, time: u64) -> u64 {
        match self.points.len() {
            0 | 1 => time,
            _ => self.between(time),
        }
    }

    fn between(&mut self, time: u64) -> u64 {
        // It is the first interval that ends at the time or later.
        if self.interval > 0 && time <= self.points[self.interval].0 {
            self.interval = 0;
        }
        while self.interval + 2 < self.points.len() && time > self.points[self.interval + 1].0 {
            self.interval += 1;
        }
        let ((begin, first), (end, last)) = (self.points[self.interval], self.points[self.interval + 1]);
        let apart = i128::from(end) - i128::from(begin);
        let slope = match apart {
            0 => 0.0,
            _ => (i128::from(last) - i128::from(first)) as f64 / apart as f64,
        };
        let since = (i128::from(time) - i128::from(begin)) as f64;
        let more = (slope * since).round_ties_even() as i64;
        let corrected = i128::from(time) + i128::from(first) + i128::from(more);
        corrected.clamp(0, u64::MAX.into()) as u64
    }
}

/// Ticks of an archive in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickScale {
    begin: u64,
    resolution: u64,
    /// Picoseconds of a tick, where they are whole.
    whole: Option<u64>,
}

impl TickScale {
    /// Ticks since `begin`, of which `resolution` are a second; at least one is.
    pub fn new(begin: u64, resolution: u64) -> TickScale {
        let resolution = resolution.max(1);
        TickScale {
            begin,
            resolution,
            whole: SECOND.is_multiple_of(resolution).then_some(SECOND / resolution),
        }
    }

    /// A time in picoseconds from the begin, to the nearest one; earlier times are 0.
    #[inline]
    pub fn picoseconds(&self, time: u64) -> u64 {
        let ticks = time.saturating_sub(self.begin);
        match self.whole {
            Some(picoseconds) => ticks.saturating_mul(picoseconds),
            None => {
                let half = u128::from(self.resolution / 2);
                let rounded = (u128::from(ticks) * u128::from(SECOND) + half) / u128::from(self.resolution);
                rounded.min(u64::MAX.into()) as u64
            }
        }
    }

    /// Whether a time is before the begin by more than a second, which no correction of clocks explains.
    pub fn is_before(&self, time: u64) -> bool {
        self.begin.saturating_sub(time) > self.resolution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(points: &[(u64, i64)]) -> ClockCorrection {
        let mut clock = ClockCorrection::default();
        points.iter().for_each(|(time, offset)| clock.add(*time, *offset));
        clock
    }

    #[test]
    fn one_offset_corrects_nothing() {
        assert_eq!(clock(&[]).correct(77), 77);
        assert_eq!(clock(&[(10, 1000)]).correct(77), 77);
    }

    #[test]
    fn offsets_are_joined_by_lines_that_go_on_at_both_ends() {
        let mut clock = clock(&[(100, 10), (200, 30), (300, -10)]);
        // Forwards, at the joints, and back again.
        let cases = [
            (0, 0),
            (50, 50),
            (100, 110),
            (150, 170),
            (200, 230),
            (201, 231),
            (300, 290),
            (400, 350),
            (150, 170),
            (100, 110),
        ];
        for (time, corrected) in cases {
            assert_eq!(clock.correct(time), corrected, "at {time}");
        }
    }

    #[test]
    fn halves_of_ticks_are_rounded_to_the_even_one() {
        // As the OTF2 library does.
        let (mut up, mut down) = (clock(&[(0, 0), (2, 1)]), clock(&[(10, 0), (12, -1)]));
        assert_eq!([1, 3, 5, 7].map(|time| up.correct(time)), [1, 5, 7, 11]);
        assert_eq!([11, 13, 15, 9, 7].map(|time| down.correct(time)), [11, 11, 13, 9, 9]);
    }

    #[test]
    fn times_at_the_edges_stay_times() {
        let mut clock = clock(&[(5, i64::MIN), (5, i64::MAX), (6, i64::MIN)]);
        for time in [0, 5, 6, u64::MAX] {
            clock.correct(time);
        }
        assert_eq!(TickScale::new(0, 0).picoseconds(u64::MAX), u64::MAX);
    }

    #[test]
    fn ticks_are_picoseconds_to_the_nearest_one() {
        assert_eq!(TickScale::new(10, 1_000_000_000).picoseconds(13), 3000);
        assert_eq!(TickScale::new(10, 3).picoseconds(12), 666_666_666_667);
        assert_eq!(TickScale::new(10, 3).picoseconds(9), 0);
        // An hour of a clock of 2 GHz and a little.
        let scale = TickScale::new(3_588_073_803_233_221, 2_000_000_653);
        assert_eq!(
            scale.picoseconds(3_588_073_803_233_221 + 2_000_000_653 * 3600),
            3600 * SECOND
        );
    }
}
