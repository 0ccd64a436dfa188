//! A run that repeats itself, many periods later, without running them.
//!
//! Handlers know no time but differences of times. So if the state of a run at two moments differs by nothing but the time between them, and
//! by counters that no handler asks, what has happened between the two happens again, and again: the state any number of periods later is
//! known ([`leap`]). A world says which fields of its records are times, counters or neither ([`Recurring`]).
//!
//! Digests of pasts are polynomials of what events [fold](crate::Event::fold) to, modulo 2^64, and of an event and the same one a period
//! later these differ by what depends on the period alone. A digest goes from border to border by `D' = A D + F + n G`, with the same odd `A`
//! and the same `G` for every period: its second differences are a geometric sequence. Five digests tell it, with one to spare as a check.

use crate::checkpoint::{OpenedCheckpoint, Taken, all_lps};
use crate::engine::Outcome;
use crate::pack::Torn;
use crate::time::{HORIZON, Time};
use crate::world::{Event, World};

/// Why a run is not known to repeat itself: the text says what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differs(pub &'static str);

impl From<Torn> for Differs {
    fn from(_: Torn) -> Differs {
        Differs("a state that cannot be read")
    }
}

/// Two moments of a run, and how many periods after the second the wanted one is.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    /// The first moment (ps).
    pub from: u64,
    /// From the first moment to the second (ps).
    pub period: u64,
    /// From the second moment to the wanted one, in periods.
    pub times: u64,
}

impl Leap {
    /// Times beyond which nothing leaps: folds of births have no room for more.
    const END: u64 = HORIZON.0 / 8;

    /// How far the wanted moment is behind the second (ps).
    pub fn distance(&self) -> u64 {
        self.period * self.times
    }

    /// A time: it moves with the run. The last one there is stands for none.
    pub fn time(&self, first: u64, second: u64) -> Result<u64, Differs> {
        match (first, second) {
            (u64::MAX, u64::MAX) => Ok(u64::MAX),
            _ if first.checked_add(self.period) == Some(second) => self.later(second),
            _ => Err(Differs("a time")),
        }
    }

    /// A time until which something was busy: one that is over at both moments may stay.
    pub fn until(&self, first: u64, second: u64) -> Result<u64, Differs> {
        match first == second && second <= self.from {
            true => Ok(second),
            false => self.time(first, second),
        }
    }

    /// Whether what acts at multiples of `clock` (ps) alone acts at the same times in every period.
    pub fn keeps_to(&self, clock: u64) -> Result<(), Differs> {
        match self.period.is_multiple_of(clock) {
            true => Ok(()),
            false => Err(Differs("the time to the next tick of a clock")),
        }
    }

    /// A time at the second moment, at the wanted one.
    pub fn later(&self, second: u64) -> Result<u64, Differs> {
        let later = second.checked_add(self.distance()).filter(|&time| time < Self::END);
        later.ok_or(Differs("a time that is too far"))
    }

    /// What does not change.
    pub fn same<T: PartialEq>(&self, first: T, second: T) -> Result<T, Differs> {
        match first == second {
            true => Ok(second),
            false => Err(Differs("what handlers ask for")),
        }
    }

    /// A sum that no handler asks for.
    pub fn sum(&self, first: u64, second: u64) -> Result<u64, Differs> {
        let more = second.checked_sub(first).ok_or(Differs("a sum that falls"))?;
        let more = more.checked_mul(self.times).and_then(|more| second.checked_add(more));
        more.ok_or(Differs("a sum that is too large"))
    }

    /// A counter of 32 bits that no handler asks for but to compare it with others that grow alike.
    pub fn count(&self, first: u32, second: u32) -> Result<u32, Differs> {
        let count = self.sum(first.into(), second.into())?;
        u32::try_from(count).map_err(|_| Differs("a counter that is too large"))
    }

    /// A number that goes round, and grows as it has from the first moment to the second.
    pub fn number(&self, first: u32, second: u32) -> u32 {
        second.wrapping_add(second.wrapping_sub(first).wrapping_mul(self.times as u32))
    }
}

/// A run that goes on as it has on the average: from what happened between two moments follows what is counted some time behind the second, and not
/// what happens.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// How far the run is moved behind the second moment (ps).
    pub by: u64,
    /// Sums grow by so many times as much as they have between the moments.
    pub times: u64,
}

impl Drift {
    /// A time, over or not, moves with the run. The last one there is stands for none.
    pub fn time(&self, second: u64) -> Result<u64, Differs> {
        let later = || second.checked_add(self.by).filter(|&time| time < Leap::END);
        match second {
            u64::MAX => Ok(u64::MAX),
            _ => later().ok_or(Differs("a time that is too far")),
        }
    }

    /// A sum that no handler asks for.
    pub fn sum(&self, first: u64, second: u64) -> Result<u64, Differs> {
        let more = second.checked_sub(first).and_then(|more| more.checked_mul(self.times));
        let more = more.and_then(|more| second.checked_add(more));
        more.ok_or(Differs("a sum that falls, or is too large"))
    }
}

/// A world whose runs may repeat themselves.
pub trait Recurring: World {
    /// How the numbers that its states and events have in them grow from period to period.
    type Strides;

    /// How numbers grow between two states of all LPs.
    fn strides(&self, first: &Self::State, second: &Self::State) -> Result<Self::Strides, Differs>;

    /// Most periods for which all goes on as these say.
    fn most(&self, strides: &Self::Strides) -> u64;

    /// Turns the state of all LPs at the second moment into that at the wanted one, if it is that at the first moment but for what passes
    /// and what is counted.
    fn recur(
        &self,
        first: &Self::State,
        second: &mut Self::State,
        strides: &Self::Strides,
        leap: &Leap,
    ) -> Result<(), Differs>;

    /// The same of a pending event.
    fn recur_event(
        &self,
        first: &Self::Event,
        second: &Self::Event,
        strides: &Self::Strides,
        leap: &Leap,
    ) -> Result<Self::Event, Differs>;
}

/// The borders of periods whose digests [`leap`] needs.
pub const BORDERS: usize = 5;

/// Where a run is when it has leapt.
pub struct Landing<'a, W: World> {
    /// Periods that were left out.
    pub times: u64,
    /// The state of all LPs.
    pub state: &'a W::State,
    /// What is pending.
    pub events: &'a [W::Event],
}

/// What an engine would save some periods, `most` at most, after the last of moments at equal distances at which it was `saved`, and how many
/// periods; `observe` makes of what was recorded until the last moment what will be recorded.
pub fn leap<W: Recurring>(
    world: &W,
    saved: [&[u8]; BORDERS],
    most: u64,
    observe: impl FnOnce(W::Observer, &Landing<'_, W>) -> W::Observer,
) -> Result<(Vec<u8>, u64), Differs> {
    let open = |saved| OpenedCheckpoint::read(world, saved);
    let [a, b, c, d, e] = saved;
    let borders = [open(a)?, open(b)?, open(c)?, open(d)?, open(e)?];
    let at = |border: usize| borders[border].take_all(world);
    let period = borders[1].time.0 - borders[0].time.0;
    let even = borders.windows(2).all(|pair| pair[1].time.0 - pair[0].time.0 == period);
    if !even || period == 0 {
        return Err(Differs("the length of a period"));
    }
    // That the second border follows the first says that all do; that the last does says where it goes on.
    let from = |border: usize, times: u64| Leap {
        from: borders[border].time.0,
        period,
        times,
    };
    between(world, at(0)?, at(1)?, &mut from(0, 0))?;
    let mut leap = from(BORDERS - 2, most);
    let (state, wakes, events) = between(world, at(BORDERS - 2)?, at(BORDERS - 1)?, &mut leap)?;
    let times = leap.times;
    let outcomes = borders.each_ref().map(|border| border.outcome);
    let last = outcomes[BORDERS - 1];
    let grown = |of: fn(&Outcome) -> u64| of(&last) + times * (of(&last) - of(&outcomes[BORDERS - 2]));
    let outcome = Outcome {
        events: grown(|outcome| outcome.events),
        windows: grown(|outcome| outcome.windows),
    };
    let pasts = borders.each_ref().map(OpenedCheckpoint::digests);
    let mut digests = Vec::new();
    for lp in all_lps(world) {
        let of = |past: &Vec<u64>| past.get(world.name(lp) as usize).copied().unwrap_or(0);
        digests.push(digest_later(pasts.each_ref().map(of), times)?);
    }
    let time = Time(borders[BORDERS - 1].time.0 + period * times);
    let [.., last] = borders;
    let landing = Landing {
        times,
        state: &state,
        events: &events,
    };
    let observer = observe(last.observer, &landing);
    let landed = Taken {
        state,
        wakes,
        digests,
        events,
    };
    Ok((landed.save(world, (time, outcome), &observer), times))
}

/// What an engine is to go on from where a run that was saved at two moments has drifted on, see [`Drift`]: `state` moves all LPs from the state at the
/// second of them, given the first, `event` moves what is pending, and `observe` makes of what was recorded what is recorded then.
///
/// Events, windows and the digests of pasts stay those of what was run.
///
/// # Errors
/// The run cannot be moved, and why.
pub fn drift<W: World>(
    world: &W,
    [first, second]: [&[u8]; 2],
    drift: &Drift,
    state: impl FnOnce(&W::State, &mut W::State) -> Result<(), Differs>,
    event: impl Fn(&W::Event) -> Result<W::Event, Differs>,
    observe: impl FnOnce(W::Observer, &Landing<'_, W>) -> W::Observer,
) -> Result<Vec<u8>, Differs> {
    let first = OpenedCheckpoint::read(world, first)?;
    let second = OpenedCheckpoint::read(world, second)?;
    let mut taken = second.take_all(world)?;
    state(&first.take_all(world)?.state, &mut taken.state)?;
    taken.events = taken.events.iter().map(event).collect::<Result<_, _>>()?;
    taken.wakes = taken
        .wakes
        .iter()
        .map(|&wake| drift.time(wake))
        .collect::<Result<_, _>>()?;
    let landing = Landing {
        times: drift.times,
        state: &taken.state,
        events: &taken.events,
    };
    let observer = observe(second.observer, &landing);
    let time = Time(drift.time(second.time.0)?);
    Ok(taken.save(world, (time, second.outcome), &observer))
}

/// Whether the second of two moments at which a run was saved is the first again, for the LPs of these names.
pub fn same_again<W: Recurring>(
    world: &W,
    first: &[u8],
    second: &[u8],
    of: &dyn Fn(u32) -> bool,
) -> Result<(), Differs> {
    let first = OpenedCheckpoint::read(world, first)?;
    let second = OpenedCheckpoint::read(world, second)?;
    let mut leap = Leap {
        from: first.time.0,
        period: second.time.0 - first.time.0,
        times: 0,
    };
    between(world, first.take_of(world, of)?, second.take_of(world, of)?, &mut leap).map(|_| ())
}

/// What an engine has saved, with what was recorded changed.
///
/// # Errors
/// It is not of a run of this world.
pub fn observed<W: World>(world: &W, saved: &[u8], change: impl FnOnce(&mut W::Observer)) -> Result<Vec<u8>, Torn> {
    let mut opened = OpenedCheckpoint::read(world, saved)?;
    change(&mut opened.observer);
    let taken = opened.take_all(world)?;
    Ok(taken.save(world, (opened.time, opened.outcome), &opened.observer))
}

type LaterState<W> = (<W as World>::State, Vec<u64>, Vec<<W as World>::Event>);

/// State, wake times and pending events some periods after the second of two moments.
fn between<W: Recurring>(
    world: &W,
    first: Taken<W>,
    mut second: Taken<W>,
    leap: &mut Leap,
) -> Result<LaterState<W>, Differs> {
    let strides = world.strides(&first.state, &second.state)?;
    let room = Leap::END.saturating_sub(leap.from) / leap.period;
    leap.times = leap.times.min(world.most(&strides)).min(room.saturating_sub(2));
    let leap = &*leap;
    if first.events.len() != second.events.len() {
        return Err(Differs("how many events are pending"));
    }
    let pairs = first.events.iter().zip(&second.events);
    let events = pairs.map(|(first, second)| {
        leap.same(first.lp(), second.lp())?;
        world.recur_event(first, second, &strides, leap)
    });
    let events = events.collect::<Result<Vec<_>, _>>()?;
    let wakes = first.wakes.iter().zip(&second.wakes);
    let wakes = wakes
        .map(|(&first, &second)| leap.time(first, second))
        .collect::<Result<Vec<_>, _>>()?;
    world.recur(&first.state, &mut second.state, &strides, leap)?;
    Ok((second.state, wakes, events))
}

/// The digest `times` periods after the last of five borders.
fn digest_later(at: [u64; BORDERS], times: u64) -> Result<u64, Differs> {
    let differs = Err(Differs("what has happened"));
    let [e0, e1, e2, e3] = [0, 1, 2, 3].map(|i| at[i + 1].wrapping_sub(at[i]));
    let [h0, h1, h2] = [e1.wrapping_sub(e0), e2.wrapping_sub(e1), e3.wrapping_sub(e2)];
    // Second differences are multiples of the power of two in the first, so that the factor need not be known beyond the rest.
    let ratio = match h0 {
        0 if h1 | h2 == 0 => 1,
        0 => return differs,
        _ => {
            let twos = h0.trailing_zeros();
            if h1.trailing_zeros() < twos {
                return differs;
            }
            (h1 >> twos).wrapping_mul(inverse(h0 >> twos))
        }
    };
    if ratio.wrapping_mul(h1) != h2 {
        return differs;
    }
    let h3 = ratio.wrapping_mul(h2);
    let (e4, h4) = (e3.wrapping_add(h3), ratio.wrapping_mul(h3));
    // One period: the digest grows by its difference, that by its own, and that by the factor.
    let step = [[1, 1, 0], [0, 1, 1], [0, 0, ratio]];
    let [row, ..] = power(step, times);
    let sum = row.iter().zip([at[BORDERS - 1], e4, h4]);
    Ok(sum.fold(0u64, |sum, (&factor, term)| sum.wrapping_add(factor.wrapping_mul(term))))
}

/// The number whose product with an odd one is 1, modulo 2^64 (Newton: each step doubles the bits that are right).
fn inverse(odd: u64) -> u64 {
    let step = |x: u64| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
    (0..5).fold(odd.wrapping_mul(3) ^ 2, |x, _| step(x))
}

type StepMatrix = [[u64; 3]; 3];

fn product(a: &StepMatrix, b: &StepMatrix) -> StepMatrix {
    let entry = |i: usize, j: usize| (0..3).fold(0u64, |sum, k| sum.wrapping_add(a[i][k].wrapping_mul(b[k][j])));
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
}

fn power(mut base: StepMatrix, mut exponent: u64) -> StepMatrix {
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    while exponent > 0 {
        if exponent & 1 != 0 {
            result = product(&result, &base);
        }
        base = product(&base, &base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::mix;

    /// Digests at the borders of periods of some events, whose folds grow by `grow(i)` from period to period.
    fn borders(events: u64, grow: impl Fn(u64) -> u64, n: u64) -> Vec<u64> {
        let mut digest = 12_345u64;
        let mut borders = vec![digest];
        for period in 0..n {
            for i in 0..events {
                let fold = mix(i).wrapping_add(period.wrapping_mul(grow(i)));
                digest = digest.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(fold);
            }
            borders.push(digest);
        }
        borders
    }

    #[test]
    fn digests_of_pasts_that_repeat_are_known_beforehand() {
        for events in [0, 1, 2, 3, 8, 64, 1_000] {
            for grow in [|_: u64| 0, |_: u64| 128 << 20, |i: u64| i << 40 | 7 << 7, mix] {
                let all = borders(events, grow, 300);
                let first: [u64; BORDERS] = all[..BORDERS].try_into().unwrap();
                for times in [0, 1, 2, 17, 295] {
                    let later = digest_later(first, times);
                    assert_eq!(later, Ok(all[BORDERS - 1 + times as usize]), "{events} {times}");
                }
            }
        }
    }

    #[test]
    fn a_past_that_differs_once_shows() {
        for wrong in 1..BORDERS {
            let mut all = borders(37, |i| i << 30, 5);
            all[wrong] = all[wrong].wrapping_add(1 << 13);
            let first: [u64; BORDERS] = all[..BORDERS].try_into().unwrap();
            assert_eq!(digest_later(first, 3), Err(Differs("what has happened")), "{wrong}");
        }
    }

    #[test]
    fn times_move_and_what_is_asked_for_stays() {
        let leap = Leap {
            from: 1_000,
            period: 100,
            times: 7,
        };
        assert_eq!(leap.time(1_050, 1_150), Ok(1_850));
        assert_eq!(leap.time(u64::MAX, u64::MAX), Ok(u64::MAX));
        assert!(leap.time(1_050, 1_149).is_err() && leap.time(900, 900).is_err());
        assert_eq!((leap.until(900, 900), leap.until(1_001, 1_101)), (Ok(900), Ok(1_801)));
        assert!(leap.until(1_001, 1_001).is_err());
        assert_eq!((leap.sum(10, 13), leap.count(10, 13)), (Ok(34), Ok(34)));
        assert_eq!((leap.number(10, 13), leap.number(10, 9)), (34, 2));
        assert!(leap.sum(13, 10).is_err() && leap.count(0, u32::MAX).is_err());
        assert!(leap.same(1, 2).is_err() && leap.later(Leap::END).is_err());
    }
}
