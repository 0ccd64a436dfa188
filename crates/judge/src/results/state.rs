//! Whether a network kept up with sources that never stop.
//!
//! What tells is how old the oldest message is that is not there yet, time after time: waiting at its source or under way, it makes no
//! difference where. A network that keeps up has an oldest age that wanders about one level; one that does not has one that grows with the
//! time, by at least the share of some messages that it cannot take. Accepted loads tell the same only where all messages suffer alike.
//! Buffers of bounded size can fill for as long as a run lasts and then be full of a load that the network carries: there, what grows counts
//! only once it has reached the sources.
//! Ages need not grow as long as a run lasts: a load that is little too high leaves an early level for ever, but slowly. So nothing is said to
//! keep up of which, in the second half, clearly less was delivered than offered.
//! Nothing that happens behind the end of the measured span is looked at, so drains do not matter.

use super::figure::Figures;
use super::latency::half_width;
use crate::harvest::Harvest;
use des::Time;
use fabric::network::Network;
use fabric::observe::{Bin, Track};
use fabric::spec::RunSpec;
use serde::Serialize;

/// What a run with sources without end has shown of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// It keeps up with the load; also of work that ends and has ended.
    Ok,
    /// The run is too short to tell, or ended before its work.
    Unsettled,
    /// It does not keep up: what waits grows for as long as the run lasts.
    Saturated,
}

impl Figures for LoadState {}

/// A state, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub state: LoadState,
    /// In words; empty if there is nothing to say.
    pub because: String,
    /// How long a run would have to be to tell (ps), where this one is too short.
    pub settles: Option<u64>,
}

impl Judgement {
    /// The network keeps up.
    pub const KEPT_UP: Judgement = Judgement {
        state: LoadState::Ok,
        because: String::new(),
        settles: None,
    };
}

/// What a judgement needs to know besides the messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// Slices are `1 << shift` ps long.
    pub shift: u32,
    /// End of the measured span (ps).
    pub end: u64,
    /// What a message takes over the longest way without waiting (ps).
    pub crossing: u64,
    /// What the largest message takes for the slowest link (ps).
    pub message: u64,
    /// Part of the time that the busiest link was busy.
    pub busiest: f64,
    /// Routers hold no more than fits their buffers.
    pub bounded: bool,
}

impl Scales {
    /// Those of a run whose measured messages were all born before `span_end` (ps), and whose sources never stop before `end` if they never stop.
    pub fn new(spec: &RunSpec, net: &Network, harvest: &Harvest, span_end: u64, end: Time) -> Scales {
        let busy_until = match net.workload.endless() && !spec.control.drain_sources {
            // All that has been sent was born before the end.
            true => span_end,
            false => span_end.max(harvest.stats.latest),
        };
        Scales {
            shift: harvest.stats.shift,
            end: end.0,
            crossing: net.longest_crossing(),
            message: net.time_on_slowest(net.workload.most_endless_bytes()),
            busiest: (harvest.busiest.0 as f64 / busy_until.max(1) as f64).min(1.0),
            bounded: spec.router.has_bounded_buffers(),
        }
    }
}

/// Whether none of the jobs of a run that stands at the `end` of its measured span could be served.
pub(crate) fn is_saturated(spec: &RunSpec, net: &Network, mut so_far: Harvest, end: Time) -> bool {
    so_far.stats.look_back();
    let scales = Scales::new(spec, net, &so_far, end.0, end);
    let is = |track: &Track| judge(track, &scales).state == LoadState::Saturated;
    let tracks = &so_far.stats.tracks;
    is(&so_far.stats.whole()) && tracks.iter().filter(|track| !track.bins.is_empty()).all(is)
}

/// Crossings that a run must last before it can show that it does not keep up: routers have to learn of their neighbours' queues first.
const CROSSINGS: u64 = 20;
/// Loads that exceed what a link or interface can carry by less than this share need not be told from those that do not.
const LEAST_EXCESS: f64 = 0.09;
/// Random sums that are told from nothing: standard deviations.
const SURE: f64 = 3.5;
/// The same where likely is enough.
const LIKELY: f64 = 2.5;
/// The oldest age grows by at least this factor between the parts of the run compared: 1.4 if it grows with the time, 1.18 with its root.
const GROWS: f64 = 1.25;
/// A share of the time below which an age is no matter, however it grows.
const SMALL: f64 = 0.02;

/// Part of the growth that must be seen at the sources of a network with bounded buffers.
const AT_SOURCE: f64 = 0.5;

/// Last parts of the run in each of which the first third is compared with the last: a level that is reached late shows in the short ones.
const WINDOWS: [f64; 3] = [0.4, 0.25, 1.0 / 6.0];

/// Mean ages of the oldest message (ps) in two parts of the run, the middle of the first, and how far the parts are apart (ps).
struct Compared {
    early: f64,
    late: f64,
    at: f64,
    apart: f64,
}

impl Compared {
    /// Whether the age has grown by less than this share of what it would have if it grew with the time since the start, and whether so many standard
    /// deviations would be needed to explain the difference.
    fn falls_short(&self, share: f64, deviations: f64, end: f64, message: f64) -> bool {
        let (grown, with_the_time) = (self.late - self.early, self.early * self.apart / (end - self.apart));
        grown <= share * with_the_time && with_the_time - grown >= deviations * noise(self.apart, message)
    }

    /// The age has stopped growing.
    fn stays(&self, end: f64, message: f64) -> bool {
        self.falls_short(0.3, SURE, end, message)
    }

    /// It grows, but less than it has until then.
    fn slows(&self, end: f64, message: f64) -> bool {
        self.falls_short(0.6, LIKELY, end, message)
    }
}

/// How old the oldest message was (ps) that waited at its source at the end of the measured span, up to a slice more.
fn at_source(track: &Track, scales: &Scales) -> f64 {
    let start = |j: usize| (j as u64) << scales.shift;
    let waits = |&(j, bin): &(usize, &Bin)| bin.kept > 0 || start(j + 1) + bin.begun.max > scales.end;
    let mut bins = track.bins.iter().enumerate();
    let oldest = bins.find(waits).map_or(scales.end, |(j, _)| start(j));
    scales.end.saturating_sub(oldest) as f64
}

/// Arrivals at a link are counts: n of them differ by the root of n from what is expected.
fn noise(time: f64, message: f64) -> f64 {
    (time * message).sqrt()
}

/// `true` if figures of the messages born in `bins` are worth telling: the network kept up, or has not been seen not to and its latencies do
/// not go up or down.
pub fn tells(state: LoadState, bins: &[Bin]) -> bool {
    let mean = |bins: &[Bin]| {
        let (sum, count) = bins
            .iter()
            .fold((0, 0), |(sum, count), bin| (sum + bin.born.sum, count + bin.born.count));
        sum as f64 / count.max(1) as f64
    };
    let (early, late) = bins.split_at(bins.len() / 2);
    let (early, late) = (mean(early), mean(late));
    match state {
        LoadState::Ok => true,
        LoadState::Unsettled => late > 0.0 && (early - late).abs() <= DRIFT * late,
        LoadState::Saturated => false,
    }
}

/// What mean latencies of two halves of the measured time may differ by where a run was too short to tell more.
const DRIFT: f64 = 0.1;

/// Judges work that ends: where the end of the run came first, nobody can tell what it would have taken.
pub fn of_work_that_ends(measured: u64, arrived: u64) -> Judgement {
    let missing = measured.saturating_sub(arrived);
    if missing == 0 {
        return Judgement::KEPT_UP;
    }
    Judgement {
        state: LoadState::Unsettled,
        because: "the run ended before its work: a later run.end, or none, shows what that takes".into(),
        settles: None,
    }
}

/// Judges sources without end: `pushed` says whether some of them send whatever arrives. Where all wait for answers, there is nothing to keep
/// up with.
pub fn of_sources_without_end(pushed: bool, track: &Track, scales: &Scales) -> Judgement {
    match pushed {
        true => judge(track, scales),
        false => Judgement::KEPT_UP,
    }
}

/// Parts in which deliveries are compared, and by which share they may stay behind what is offered whatever their spread.
const BATCHES: usize = 10;
pub const BEHIND: f64 = 0.02;
/// Deliveries stay behind if they do by so many times half their 95 % interval, 3.9 standard errors.
const CLEARLY: f64 = 1.75;

/// The share by which what was delivered in each of some slices stays behind the bytes that are offered in one, if it clearly does.
pub fn stays_behind(delivered: &[u64], offered: f64) -> Option<f64> {
    let length = delivered.len() / BATCHES;
    if length == 0 || offered <= 0.0 {
        return None;
    }
    let batches = delivered.chunks_exact(length);
    let shares: Vec<f64> = batches
        .map(|batch| batch.iter().sum::<u64>() as f64 / (offered * length as f64))
        .collect();
    let behind = 1.0 - shares.iter().sum::<f64>() / shares.len() as f64;
    (behind > BEHIND.max(CLEARLY * half_width(&shares)?)).then_some(behind)
}

impl Judgement {
    /// The same, unless it is that the network keeps up and clearly less was delivered than offered in the second half of a run of so many ps.
    #[must_use]
    pub fn unless_behind(self, behind: Option<f64>, end: u64) -> Judgement {
        match (self.state, behind) {
            (LoadState::Ok, Some(share)) => Judgement {
                state: LoadState::Unsettled,
                because: format!(
                    "in the second half {:.1} % less was delivered than offered, though the oldest message that had not arrived did not get older; {:.0} us may do",
                    100.0 * share,
                    2.0 * end as f64 / 1e6
                ),
                settles: Some(end.saturating_mul(2)),
            },
            _ => self,
        }
    }
}

/// Judges the messages of a run or of one of its jobs.
pub fn judge(track: &Track, scales: &Scales) -> Judgement {
    let Scales {
        shift,
        end,
        crossing,
        message,
        busiest,
        bounded,
    } = *scales;
    let last = (end >> shift) as usize;
    let age = |j: usize| match track.bins.get(j).map_or(u64::MAX, |bin| bin.oldest) {
        u64::MAX => 0.0,
        birth => ((j as u64) << shift) as f64 - birth as f64,
    };
    let (end, message) = (end as f64, message.max(1) as f64);
    let mean = |from: usize, to: usize| (from..to).map(age).sum::<f64>() / (to - from).max(1) as f64;
    let compare = |share: f64| {
        let length = ((last as f64 * share) as usize).max(3);
        let part = (length / 3).max(1);
        let from = last.saturating_sub(length);
        Compared {
            early: mean(from, from + part),
            late: mean(last + 1 - part, last + 1),
            at: (from as f64 + part as f64 / 2.0) * (1u64 << shift) as f64,
            apart: (length - part) as f64 / last.max(1) as f64 * end,
        }
    };
    let parts = WINDOWS.map(compare);
    let Compared { early, late, at, apart } = parts[0];
    let (n, level) = (end / message, late / end);
    // A link that has more to carry than it can and is busy for a part of the time only leaves the rest of the time undone.
    let excess = (1.0 - busiest).max(LEAST_EXCESS);
    let small = level < 0.5 * excess && level < excess - SURE / n.sqrt();
    let stays = parts.iter().any(|part| part.stays(end, message));
    let grows = late >= GROWS * early && level >= SMALL && late - early >= SURE * noise(apart, message);
    // Where the growth has slowed down lately it may end.
    let grows = grows && !parts.iter().any(|part| part.slows(end, message));
    let reaches_sources = !bounded || at_source(track, scales) >= AT_SOURCE * (late - early);
    let us = |ps: f64| ps / 1e6;
    if grows && reaches_sources && end >= (CROSSINGS * crossing) as f64 {
        return Judgement {
            state: LoadState::Saturated,
            because: format!(
                "the oldest message that had not arrived was {:.1} us old at {:.1} us and {:.1} us at the end: what waits grows with the time",
                us(early),
                us(at),
                us(late)
            ),
            settles: None,
        };
    }
    if last >= 8 && (small && !grows || stays) {
        return Judgement::KEPT_UP;
    }
    let least = (CROSSINGS * crossing) as f64;
    let resolved = (2.0 * SURE / excess).powi(2) * message;
    let settles = match least.max(resolved) {
        enough if enough > 1.2 * end => enough,
        _ => 2.0 * end,
    };
    // Two digits are what such a guess is good for.
    let unit = 10f64.powi(settles.log10().floor() as i32 - 1);
    let settles = (settles / unit).ceil() * unit;
    Judgement {
        state: LoadState::Unsettled,
        because: format!(
            "{:.1} us are too short to tell whether what waits grows: the oldest message that had not arrived was {:.1} us old; {:.0} us may do",
            us(end),
            us(late),
            us(settles)
        ),
        settles: Some(settles as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALES: Scales = Scales {
        shift: 20,
        end: 100 << 20,
        crossing: 1 << 20,
        message: 1 << 16,
        busiest: 1.0,
        bounded: false,
    };

    /// A run whose oldest message was so old (in slices) when each slice began.
    fn ages(age: impl Fn(f64) -> f64) -> Track {
        let bin = |j: u32| Bin {
            oldest: ((f64::from(j) - age(j.into())).max(0.0) * f64::from(1 << 20)) as u64,
            ..Bin::default()
        };
        Track {
            bins: (0..=100).map(bin).collect(),
            ..Track::default()
        }
    }

    fn state(age: impl Fn(f64) -> f64, scales: Scales) -> LoadState {
        judge(&ages(age), &scales).state
    }

    #[test]
    fn what_grows_with_the_time_is_saturated_and_a_level_is_not() {
        assert_eq!(state(|t| 0.3 * t, SCALES), LoadState::Saturated);
        assert_eq!(state(|t| 0.95 * t, SCALES), LoadState::Saturated);
        assert_eq!(state(|_| 1.0, SCALES), LoadState::Unsettled, "a link without a pause");
        let pauses = Scales { busiest: 0.8, ..SCALES };
        assert_eq!(state(|_| 1.0, pauses), LoadState::Ok);
        assert_eq!(
            state(|t| t.min(40.0), SCALES),
            LoadState::Ok,
            "a level that was reached late"
        );
    }

    #[test]
    fn less_delivered_than_offered_is_not_keeping_up() {
        // 5 % less, with a spread of 1 % from part to part, and of 10 %.
        let slices = |part: f64, spread: f64| -> Vec<u64> {
            let of = |k: u64| part * (1.0 + spread * (f64::from((k / 10 % 2) as u32) * 2.0 - 1.0));
            (0..100).map(|k| (1e6 * of(k)) as u64).collect()
        };
        assert!((stays_behind(&slices(0.95, 0.01), 1e6).unwrap() - 0.05).abs() < 1e-6);
        assert_eq!(stays_behind(&slices(0.95, 0.1), 1e6), None, "may be chance");
        assert_eq!(stays_behind(&slices(0.99, 0.0), 1e6), None, "too little to matter");
        assert_eq!(stays_behind(&slices(1.05, 0.01), 1e6), None);
        assert_eq!(stays_behind(&slices(0.5, 0.0)[..9], 1e6), None, "too few slices");
        let kept_up = |behind| Judgement::KEPT_UP.unless_behind(behind, 50_000_000);
        assert_eq!(kept_up(None), Judgement::KEPT_UP);
        let found = kept_up(Some(0.059));
        assert_eq!((found.state, found.settles), (LoadState::Unsettled, Some(100_000_000)));
        assert!(found.because.contains("5.9 % less was delivered"), "{}", found.because);
        let saturated = Judgement {
            state: LoadState::Saturated,
            ..Judgement::KEPT_UP
        };
        assert_eq!(saturated.clone().unless_behind(Some(0.5), 1), saturated);
    }

    #[test]
    fn work_that_was_cut_off_is_unsettled() {
        assert_eq!(of_work_that_ends(12, 12).state, LoadState::Ok);
        let cut = of_work_that_ends(12, 11);
        assert_eq!((cut.state, cut.settles), (LoadState::Unsettled, None));
        assert!(cut.because.contains("before its work"));
    }

    #[test]
    fn what_cannot_be_told_is_unsettled_with_a_length() {
        // As long as a few crossings.
        let short = Scales {
            crossing: 10 << 20,
            ..SCALES
        };
        let judged = judge(&ages(|t| 0.9 * t), &short);
        assert_eq!(judged.state, LoadState::Unsettled);
        assert!(judged.settles.unwrap() >= 200 << 20, "{judged:?}");
        // Few messages: what differs is chance.
        let few = Scales {
            message: 1 << 20,
            ..SCALES
        };
        assert_eq!(state(|t| 0.1 * t, few), LoadState::Unsettled);
        assert_eq!(state(|_| 5.0, few), LoadState::Unsettled);
        // Links that have room to spare tell more.
        let idle = Scales { busiest: 0.2, ..few };
        assert_eq!(state(|_| 5.0, idle), LoadState::Ok);
        assert!(
            judge(&Track::default(), &Scales { end: 1 << 22, ..SCALES })
                .settles
                .is_some()
        );
    }

    #[test]
    fn what_grows_in_bounded_buffers_alone_may_end() {
        let bounded = Scales {
            bounded: true,
            ..SCALES
        };
        let judged = |wait: fn(f64) -> f64| {
            let mut track = ages(|t| 0.7 * t);
            for (j, bin) in track.bins.iter_mut().enumerate() {
                (bin.begun.count, bin.begun.max) = (1, (wait(j as f64) * f64::from(1 << 20)) as u64);
            }
            judge(&track, &bounded).state
        };
        assert_eq!(judged(|_| 0.3), LoadState::Unsettled);
        assert_eq!(judged(|t| 0.5 * t), LoadState::Saturated);
        // What has not set out has waited, however long others did.
        let mut track = ages(|t| 0.7 * t);
        track.bins[50].kept = 1;
        assert_eq!(judge(&track, &bounded).state, LoadState::Saturated);
    }

    #[test]
    fn a_longer_run_never_takes_a_verdict_back() {
        for share in [0.1, 0.2, 0.5, 0.9] {
            let mut worst = LoadState::Ok;
            for length in 1..200 {
                let scales = Scales {
                    // The same slices of a longer run.
                    message: (1 << 20) / length,
                    crossing: (4 << 20) / length,
                    ..SCALES
                };
                let state = state(|t| share * t, scales);
                assert!(
                    state != LoadState::Ok && state >= worst,
                    "{share} at {length}: {state:?}"
                );
                worst = state;
            }
            assert_eq!(worst, LoadState::Saturated);
        }
    }
}
