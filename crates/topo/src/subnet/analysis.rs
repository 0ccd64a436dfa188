//! What forwarding tables are worth without a simulation: path lengths, loads of cables, and the bandwidth that patterns of traffic get.
//!
//! All loads are of **directed channels between switches**; cables of hosts are left out. Hosts and switches have links of one
//! bandwidth, and figures are fractions of it. The congestion of a path is the most paths of the pattern on any of its channels (1 at
//! least), and a pair of hosts gets 1 / congestion: what a fair share of its worst channel is, which is exact where flows have one
//! bottleneck and no less pessimistic than max-min fairness elsewhere (Hoefler, Schneider & Lumsdaine 2008: effective bisection
//! bandwidth). Hosts with several addresses use one of them, the same for all. A pair whose path does not arrive gets nothing: it
//! counts as 0 in every mean of bandwidths.
//!
//! Figures are functions of tables and seed: random matchings are drawn by counter, so threads do not change them.

mod demand;
mod lost;
mod patterns;
mod summary;

pub use demand::{Demand, DemandFigures, read_demand};
pub use lost::{Fate, LostPath};
pub use patterns::{EffectiveBisection, Shift, ShiftFigures};
pub use summary::{HotChannel, LaneVerdict, Loads, OneShift, Questions, Racks, Summary, lanes};

use super::channels::{Channels, NO_CHANNEL};
use super::{End, Subnet, Tables};
use serde::Serialize;

/// Hops entry of a path that does not arrive.
const BROKEN: u16 = u16::MAX;

/// The paths of tables, to ask for figures.
pub struct Paths<'a> {
    subnet: &'a Subnet,
    tables: &'a Tables,
    channels: Channels,
    /// Which of a host's addresses is used.
    path: u32,
    /// Channels on the way at `switch * hosts + host`, [`BROKEN`] where it does not arrive.
    hops: Vec<u16>,
}

/// Path lengths: channels between switches; 0 for hosts of one switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathLengths {
    /// Ordered pairs of different hosts by length.
    pub histogram: Vec<u64>,
    /// Mean over all pairs; `None` if one does not arrive or there is none.
    pub mean: Option<f64>,
    /// Ordered pairs that do not arrive: a dead end, a wrong host or a loop.
    pub broken: u64,
}

/// How paths are spread over channels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Most on a channel.
    pub max: f64,
    /// Mean over all channels.
    pub mean: f64,
    /// Fewest.
    pub min: f64,
    /// Standard deviation over all channels.
    pub std: f64,
    /// Channels without any.
    pub unused: u64,
}

impl Spread {
    /// Of loads in channel order; zeros where there is no channel.
    pub fn of(loads: &[f64]) -> Self {
        let n = loads.len().max(1) as f64;
        let mean = loads.iter().sum::<f64>() / n;
        let square = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / n;
        let min = loads.iter().copied().fold(f64::INFINITY, f64::min);
        Spread {
            max: loads.iter().copied().fold(0.0, f64::max),
            mean,
            min: if min.is_finite() { min } else { 0.0 },
            std: square.sqrt(),
            unused: loads.iter().filter(|load| **load == 0.0).count() as u64,
        }
    }
}

impl<'a> Paths<'a> {
    /// The paths to the `path`-th address of every host (below [`Subnet::paths`]).
    ///
    /// Time and memory: switches times hosts.
    pub fn new(subnet: &'a Subnet, tables: &'a Tables, path: u32) -> Self {
        let channels = Channels::of(subnet);
        let mut it = Paths {
            subnet,
            tables,
            channels,
            path: path.min(subnet.paths() - 1),
            hops: Vec::new(),
        };
        it.hops = it.count_hops();
        it
    }

    /// Hops from every switch to every host; a switch on a known way is not walked again.
    fn count_hops(&self) -> Vec<u16> {
        let (n, hosts) = (self.subnet.switches.len(), self.subnet.hosts.len());
        let mut hops = vec![BROKEN; n * hosts];
        // Per switch, the host that it was visited for, so that nothing has to be cleared.
        let mut visited = vec![u32::MAX; n];
        let mut way = Vec::new();
        for host in 0..hosts {
            let address = self.address(host as u32);
            for start in 0..n as u32 {
                let mut at = start;
                let mut far = loop {
                    if visited[at as usize] == host as u32 {
                        // Known, or on the way already: a loop, whose entry is still that of a broken path.
                        break hops[at as usize * hosts + host];
                    }
                    visited[at as usize] = host as u32;
                    way.push(at);
                    let port = self.tables.port(at, address);
                    match self.channels.at(at, port) {
                        NO_CHANNEL => {
                            let arrives = self.subnet.end(at, port) == Some(End::Host(host as u32));
                            if arrives {
                                way.pop();
                                hops[at as usize * hosts + host] = 0;
                            }
                            break if arrives { 0 } else { BROKEN };
                        }
                        channel => at = self.channels.to[channel as usize],
                    }
                };
                while let Some(at) = way.pop() {
                    far = if far >= BROKEN - 1 { BROKEN } else { far + 1 };
                    hops[at as usize * hosts + host] = far;
                }
            }
        }
        hops
    }

    fn address(&self, host: u32) -> u32 {
        (host << self.subnet.lmc) + self.path
    }

    /// Number of directed channels between switches.
    pub fn n_channels(&self) -> usize {
        self.channels.len()
    }

    /// Sending switch, port, receiving switch, its port, of a channel.
    pub fn channel(&self, channel: u32) -> (u32, u16, u32, u16) {
        let c = &self.channels;
        let (i, back) = (channel as usize, c.back[channel as usize] as usize);
        (c.from[i], c.port[i], c.to[i], c.port[back])
    }

    /// Channels on the way from a host to another; `None` if it does not arrive.
    pub fn hops(&self, from: u32, to: u32) -> Option<u32> {
        let switch = self.subnet.hosts[from as usize].switch as usize;
        let hops = self.hops[switch * self.subnet.hosts.len() + to as usize];
        (hops != BROKEN).then_some(u32::from(hops))
    }

    /// Calls `f` with every channel on the way from a host to another, if the path arrives; says whether it does.
    #[inline]
    fn each(&self, from: u32, to: u32, mut f: impl FnMut(u32)) -> bool {
        let Some(hops) = self.hops(from, to) else { return false };
        let (mut at, address) = (self.subnet.hosts[from as usize].switch, self.address(to));
        for _ in 0..hops {
            let channel = self.channels.at(at, self.tables.port(at, address));
            f(channel);
            at = self.channels.to[channel as usize];
        }
        true
    }

    /// Path lengths of all ordered pairs of different hosts.
    pub fn lengths(&self) -> PathLengths {
        let hosts = self.subnet.hosts.len();
        let per_switch = self.hosts_per_switch();
        let (mut histogram, mut broken) = (Vec::new(), 0);
        for (s, &senders) in per_switch.iter().enumerate().filter(|(_, n)| **n > 0) {
            for (to, host) in self.subnet.hosts.iter().enumerate() {
                // Nobody sends to itself.
                let pairs = u64::from(senders) - u64::from(host.switch as usize == s);
                match self.hops[s * hosts + to] {
                    BROKEN => broken += pairs,
                    hops => {
                        let hops = usize::from(hops);
                        if histogram.len() <= hops {
                            histogram.resize(hops + 1, 0);
                        }
                        histogram[hops] += pairs;
                    }
                }
            }
        }
        let pairs: u64 = histogram.iter().sum();
        let sum: u64 = (0u64..).zip(&histogram).map(|(hops, &pairs)| hops * pairs).sum();
        PathLengths {
            mean: (pairs > 0 && broken == 0).then(|| sum as f64 / pairs as f64),
            histogram,
            broken,
        }
    }

    fn hosts_per_switch(&self) -> Vec<u32> {
        let mut count = vec![0; self.subnet.switches.len()];
        self.subnet
            .hosts
            .iter()
            .for_each(|host| count[host.switch as usize] += 1);
        count
    }

    /// Paths over each channel when every host sends to every other host. The same for any number of threads.
    pub fn all_to_all(&self) -> Vec<u64> {
        let per_switch = self.hosts_per_switch();
        let hosts = self.subnet.hosts.len();
        let sources: Vec<(u32, u64)> = (0u32..)
            .zip(&per_switch)
            .filter(|(_, n)| **n > 0)
            .map(|(s, &n)| (s, u64::from(n)))
            .collect();
        let parts = patterns::in_parallel(hosts, |range| {
            let mut load = vec![0u64; self.channels.len()];
            for to in range {
                let address = self.address(to as u32);
                for &(s, senders) in &sources {
                    let hops = self.hops[s as usize * hosts + to];
                    if hops == BROKEN {
                        continue;
                    }
                    let mut at = s;
                    for _ in 0..hops {
                        let channel = self.channels.at(at, self.tables.port(at, address)) as usize;
                        load[channel] += senders;
                        at = self.channels.to[channel];
                    }
                }
            }
            vec![load]
        });
        let mut load = vec![0; self.channels.len()];
        for part in parts {
            load.iter_mut().zip(part).for_each(|(sum, paths)| *sum += paths);
        }
        load
    }

    /// Saturation of uniform traffic as a fraction of the injection bandwidth: (hosts - 1) / most paths on a channel, at most 1.
    pub fn uniform_bound(&self, all_to_all: &[u64]) -> f64 {
        match all_to_all.iter().max() {
            None | Some(0) => 1.0,
            Some(&most) => ((self.subnet.hosts.len() as f64 - 1.0) / most as f64).min(1.0),
        }
    }
}
