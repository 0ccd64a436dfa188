//! Patterns of pairs that send at the same time: shifts, random matchings, all pairs of a group in turn.

use super::Paths;
use crate::random::split_mix;
use serde::Serialize;
use std::ops::Range;

/// One shift: host `i` sends to host `(i + by) mod hosts`, all at the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The distance.
    pub by: u32,
    /// Highest congestion of a path that arrives.
    pub max_congestion: u32,
    /// Mean of 1 / congestion over the pairs; 0 for one that does not arrive.
    pub mean: f64,
    /// Pairs that do not arrive.
    pub lost: u32,
}

/// Figures over shifts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShiftFigures {
    /// Shifts looked at: all from 1 to hosts - 1, or evenly chosen ones.
    pub shifts: u32,
    /// Mean over shifts of the highest congestion of a path that arrives.
    pub mean_of_max_congestion: f64,
    /// Highest congestion of any.
    pub max: u32,
    /// Shifts without congestion in which all pairs arrive.
    pub without_congestion: u32,
    /// Mean of 1 / congestion over shifts and pairs; 0 for a pair that does not arrive.
    pub mean_inverse_congestion: f64,
    /// Pairs that do not arrive, over all these shifts.
    pub lost: u64,
}

impl ShiftFigures {
    /// Of these shifts.
    pub fn of(shifts: &[Shift]) -> Self {
        let n = shifts.len().max(1) as f64;
        ShiftFigures {
            shifts: shifts.len() as u32,
            mean_of_max_congestion: shifts.iter().map(|s| f64::from(s.max_congestion)).sum::<f64>() / n,
            max: shifts.iter().map(|s| s.max_congestion).max().unwrap_or(0),
            without_congestion: shifts.iter().filter(|s| s.max_congestion <= 1 && s.lost == 0).count() as u32,
            mean_inverse_congestion: shifts.iter().map(|s| s.mean).sum::<f64>() / n,
            lost: shifts.iter().map(|s| u64::from(s.lost)).sum(),
        }
    }
}

/// Effective bisection bandwidth: the mean of 1 / congestion over random perfect matchings of the hosts; 0 for a pair that does not
/// arrive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectiveBisection {
    /// Matchings drawn.
    pub samples: u32,
    /// Mean over matchings.
    pub mean: f64,
    /// Half width of its 95 % confidence interval: 1.96 standard errors.
    pub ci95: f64,
    /// Standard deviation over matchings.
    pub std: f64,
    /// Lowest of a matching.
    pub min: f64,
    /// Highest of a matching.
    pub max: f64,
    /// Mean over matchings of the highest congestion of a path that arrives.
    pub mean_of_max_congestion: f64,
    /// Pairs that do not arrive, over all matchings.
    pub lost: u64,
}

/// What a pattern comes to.
struct Congestion {
    /// Sum of 1 / congestion over the pairs that arrive.
    sum: f64,
    /// All pairs.
    pairs: u32,
    /// Those that do not arrive.
    lost: u32,
    /// Highest congestion of those that do.
    max: u32,
}

impl Congestion {
    fn mean(&self) -> f64 {
        if self.pairs > 0 {
            self.sum / f64::from(self.pairs)
        } else {
            0.0
        }
    }
}

/// Shares `0..n` among threads; the parts' answers come in order, so that they do not depend on the number of threads.
pub(super) fn in_parallel<T: Send>(n: usize, part: impl Fn(Range<usize>) -> Vec<T> + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism()
        .map_or(1, |n| n.get())
        .clamp(1, n.max(1));
    if threads == 1 || n < 16 {
        return part(0..n);
    }
    let part = &part;
    std::thread::scope(|scope| {
        let cut = |i: usize| n * i / threads;
        let handles: Vec<_> = (0..threads)
            .map(|i| scope.spawn(move || part(cut(i)..cut(i + 1))))
            .collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Vec<T>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().flat_map(join).collect()
    })
}

impl Paths<'_> {
    /// Congestion of a pattern; `load` has a zero per channel, before and after. `tell` hears 1 / congestion of each pair, 0 if it does
    /// not arrive.
    fn congestion(&self, pairs: &[(u32, u32)], load: &mut [u32], mut tell: impl FnMut(usize, f64)) -> Congestion {
        for &(from, to) in pairs {
            self.each(from, to, |channel| load[channel as usize] += 1);
        }
        let mut found = Congestion {
            sum: 0.0,
            pairs: pairs.len() as u32,
            lost: 0,
            max: 0,
        };
        for (i, &(from, to)) in pairs.iter().enumerate() {
            let mut worst = 1;
            if self.each(from, to, |channel| worst = worst.max(load[channel as usize])) {
                let share = 1.0 / f64::from(worst);
                found.sum += share;
                found.max = found.max.max(worst);
                tell(i, share);
            } else {
                found.lost += 1;
                tell(i, 0.0);
            }
        }
        for &(from, to) in pairs {
            self.each(from, to, |channel| load[channel as usize] = 0);
        }
        found
    }

    /// The shifts by these distances.
    pub fn shifts(&self, by: &[u32]) -> Vec<Shift> {
        let n = self.subnet.n_hosts();
        in_parallel(by.len(), |range| {
            let mut load = vec![0; self.channels.len()];
            let mut pairs = Vec::with_capacity(n as usize);
            let mut one = |by: u32| {
                pairs.clear();
                pairs.extend((0..n).map(|i| (i, (i + by) % n)));
                let found = self.congestion(&pairs, &mut load, |_, _| ());
                Shift {
                    by,
                    max_congestion: found.max,
                    mean: found.mean(),
                    lost: found.lost,
                }
            };
            by[range].iter().map(|&by| one(by)).collect()
        })
    }

    /// All distances from 1 to hosts - 1, or `most` of them, evenly chosen.
    pub fn shift_distances(&self, most: u32) -> Vec<u32> {
        let all = self.subnet.n_hosts().saturating_sub(1);
        match all <= most {
            true => (1..=all).collect(),
            false => (0..most)
                .map(|i| 1 + (u64::from(i) * u64::from(all) / u64::from(most)) as u32)
                .collect(),
        }
    }

    /// Paths over each channel of one shift.
    pub fn shift_load(&self, by: u32) -> Vec<u64> {
        let n = self.subnet.n_hosts();
        let mut load = vec![0; self.channels.len()];
        for i in 0..n {
            self.each(
                i,
                ((u64::from(i) + u64::from(by)) % u64::from(n.max(1))) as u32,
                |channel| load[channel as usize] += 1,
            );
        }
        load
    }

    /// Effective bisection bandwidth over `samples` matchings: hosts are shuffled and the first half sends to the second half; with
    /// `both_ways` the second half answers at the same time. Of an odd number of hosts one is left out.
    pub fn bisection(&self, samples: u32, seed: u64, both_ways: bool) -> EffectiveBisection {
        let half = self.subnet.hosts.len() / 2;
        let found: Vec<(f64, u32, u32)> = in_parallel(samples as usize, |range| {
            let mut load = vec![0; self.channels.len()];
            let (mut order, mut pairs) = (Vec::new(), Vec::with_capacity(2 * half));
            let mut one = |sample: usize| {
                shuffled(self.subnet.n_hosts(), seed, sample as u64, &mut order);
                pairs.clear();
                pairs.extend((0..half).map(|i| (order[i], order[half + i])));
                if both_ways {
                    pairs.extend((0..half).map(|i| (order[half + i], order[i])));
                }
                let found = self.congestion(&pairs, &mut load, |_, _| ());
                (found.mean(), found.max, found.lost)
            };
            range.map(&mut one).collect()
        });
        let n = found.len().max(1) as f64;
        let mean = found.iter().map(|f| f.0).sum::<f64>() / n;
        let square: f64 = found.iter().map(|f| (f.0 - mean).powi(2)).sum();
        let std = (square / (n - 1.0).max(1.0)).sqrt();
        EffectiveBisection {
            samples,
            mean,
            ci95: 1.96 * std / n.sqrt(),
            std,
            min: found.iter().map(|f| f.0).fold(1.0, f64::min),
            max: found.iter().map(|f| f.0).fold(0.0, f64::max),
            mean_of_max_congestion: found.iter().map(|f| f64::from(f.1)).sum::<f64>() / n,
            lost: found.iter().map(|f| u64::from(f.2)).sum(),
        }
    }

    /// What mpiGraph measures: the bandwidth of every ordered pair of these hosts, shift by shift within them. Entry
    /// `i * hosts + j` is that from the `i`-th to the `j`-th; 0 where the path does not arrive, NaN on the diagonal.
    pub fn mpi_graph(&self, hosts: &[u32]) -> Vec<f32> {
        let n = hosts.len();
        let rows = in_parallel(n.saturating_sub(1), |range| {
            let mut load = vec![0; self.channels.len()];
            let mut one = |by: usize| {
                let pairs: Vec<(u32, u32)> = (0..n).map(|i| (hosts[i], hosts[(i + by) % n])).collect();
                let mut row = vec![f32::NAN; n];
                self.congestion(&pairs, &mut load, |i, share| row[i] = share as f32);
                row
            };
            range.map(|i| one(i + 1)).collect()
        });
        let mut graph = vec![f32::NAN; n * n];
        for (row, by) in rows.iter().zip(1..) {
            for (i, &share) in row.iter().enumerate() {
                graph[i * n + (i + by) % n] = share;
            }
        }
        graph
    }

    /// Means of mpiGraph within each run of `size` consecutive hosts; an incomplete last one is left out.
    pub fn racks(&self, size: u32) -> Vec<f64> {
        let all: Vec<u32> = (0..self.subnet.n_hosts()).collect();
        let mean = |rack: &[u32]| {
            let graph = self.mpi_graph(rack);
            let told = graph.iter().filter(|share| !share.is_nan());
            told.clone().map(|&share| f64::from(share)).sum::<f64>() / told.count().max(1) as f64
        };
        all.chunks_exact(size.max(2) as usize).map(mean).collect()
    }
}

/// The hosts in the order of a sample (Fisher-Yates from the end; every word is a function of seed, sample and place).
fn shuffled(n: u32, seed: u64, sample: u64, order: &mut Vec<u32>) {
    order.clear();
    order.extend(0..n);
    let mut key = seed;
    let mut state = split_mix(&mut key) ^ sample.wrapping_mul(0xD2B7_4407_B1CE_6E93);
    state = split_mix(&mut state);
    for i in (1..order.len()).rev() {
        let j = (u128::from(split_mix(&mut state)) * (i as u128 + 1)) >> 64;
        order.swap(i, j as usize);
    }
}
