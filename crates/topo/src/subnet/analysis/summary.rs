//! All figures of tables at once.

use super::{Demand, DemandFigures, EffectiveBisection, PathLengths, Paths, Shift, ShiftFigures, Spread};
use crate::subnet::{Exit, Subnet, Tables, find_cycle};
use serde::Serialize;

/// What to find out.
#[derive(Clone, Debug)]
pub struct Questions {
    /// Random matchings of the effective bisection bandwidth.
    pub samples: u32,
    /// Their seed.
    pub seed: u64,
    /// A shift to look at closely.
    pub shift: Option<u32>,
    /// Consecutive hosts of a rack, for mpiGraph within racks.
    pub rack: Option<u32>,
    /// A demand to lay over the channels.
    pub demand: Option<Demand>,
    /// More shifts than this are not all looked at.
    pub most_shifts: u32,
    /// How many of the channels with the most paths are named.
    pub hottest: usize,
}

impl Default for Questions {
    fn default() -> Self {
        Self {
            samples: 1000,
            seed: 1,
            shift: None,
            rack: None,
            demand: None,
            most_shifts: 1024,
            hottest: 10,
        }
    }
}

/// Loads of all channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// Paths when every host sends to every other.
    pub all_to_all: Vec<u64>,
    /// Paths of the shift asked for.
    pub shift: Option<Vec<u64>>,
    /// Amounts of the demand asked for.
    pub demand: Option<Vec<f64>>,
}

/// A shift with its loads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OneShift {
    /// Its figures.
    #[serde(flatten)]
    pub shift: Shift,
    /// Paths per channel.
    pub load: Spread,
}

/// Bandwidths within racks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Racks {
    /// Consecutive hosts of a rack.
    pub size: u32,
    /// Mean over all racks; `None` if the hosts do not fill one.
    pub mean: Option<f64>,
    /// Mean of each rack.
    pub each: Vec<f64>,
}

/// A lane: how much it carries, and whether it can deadlock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaneVerdict {
    /// The lane.
    pub lane: u8,
    /// Ordered pairs of hosts whose path takes it; of several lanes that a path takes one after the other, each.
    pub pairs: u64,
    /// Whether its channels cannot wait for each other in a circle.
    pub free: bool,
    /// The circle by name otherwise: `leaf1 port 3 -> spine0 port 4 -> ...`.
    pub cycle: Vec<String>,
}

/// A channel with many paths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotChannel {
    /// The sending switch.
    pub from: String,
    /// Its port.
    pub port: u16,
    /// The receiving switch.
    pub to: String,
    /// Its port.
    pub peer_port: u16,
    /// Paths when every host sends to every other.
    pub paths: u64,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Hosts.
    pub hosts: u32,
    /// Switches.
    pub switches: u32,
    /// Directed channels between switches.
    pub channels: usize,
    /// Addresses per host.
    pub addresses_per_host: u32,
    /// Which of them was used.
    pub path: u32,
    /// Path lengths.
    pub lengths: PathLengths,
    /// Some paths that do not arrive.
    pub broken_examples: Vec<String>,
    /// Ordered pairs of different hosts that do not arrive at another of the receiver's addresses, over all of these.
    pub broken_elsewhere: u64,
    /// Paths per channel, all to all.
    pub all_to_all: Spread,
    /// Saturation of uniform traffic, a fraction of the injection bandwidth; `None` if a pair does not arrive.
    pub uniform_bound: Option<f64>,
    /// Effective bisection bandwidth, one half sending; `None` of fewer than two hosts.
    pub ebb: Option<EffectiveBisection>,
    /// The same with both halves sending.
    pub ebb_both_ways: Option<EffectiveBisection>,
    /// Over all shifts; `None` of fewer than two hosts.
    pub shifts: Option<ShiftFigures>,
    /// The shift asked for.
    pub shift: Option<OneShift>,
    /// mpiGraph within racks.
    pub racks: Option<Racks>,
    /// The demand asked for.
    pub demand: Option<DemandFigures>,
    /// Lanes in use.
    pub lanes: Vec<LaneVerdict>,
    /// Whether no lane can deadlock.
    pub deadlock_free: bool,
    /// Channels with the most paths, all to all; ties in channel order.
    pub hottest: Vec<HotChannel>,
}

/// Pairs of hosts on the way to the `path`-th address, and verdict over all addresses, of each lane.
///
/// Time: a dependency check of all paths, and one more per lane if there is a cycle.
pub fn lanes(subnet: &Subnet, tables: &Tables, path: u32) -> Vec<LaneVerdict> {
    let mut senders = vec![0u64; subnet.switches.len()];
    subnet.hosts.iter().for_each(|host| senders[host.switch as usize] += 1);
    let mut pairs = vec![0; usize::from(tables.n_lanes.max(1))];
    for (s, &senders) in senders.iter().enumerate().filter(|(_, n)| **n > 0) {
        for (h, host) in subnet.hosts.iter().enumerate() {
            let own = u64::from(host.switch as usize == s);
            let address = ((h as u32) << subnet.lmc) + path;
            let level = tables.lane(s as u32, address);
            let Some(map) = &tables.map else {
                pairs[usize::from(level)] += senders - own;
                continue;
            };
            let way = tables.walk(subnet, s as u32, address).unwrap_or_else(|way| way);
            let taken = map
                .lanes(subnet, level, &way)
                .fold(0u8, |taken, lane| taken | 1 << lane);
            for (lane, pairs) in pairs.iter_mut().enumerate() {
                *pairs += (senders - own) * u64::from(taken >> lane & 1);
            }
        }
    }
    let any = find_cycle(subnet, tables);
    let names = subnet.switch_names();
    let cycle_of = |lane: u8| -> Vec<Exit> {
        match &any {
            None => Vec::new(),
            // The first cycle that was found is that of the lowest lane that has one; where paths change lanes it tells for all.
            Some(cycle) if cycle.lane >= lane || tables.map.is_some() => {
                if cycle.lane == lane {
                    cycle.channels.clone()
                } else {
                    Vec::new()
                }
            }
            Some(_) => {
                let mut alone = tables.clone();
                alone.lanes.iter_mut().for_each(|of| *of = u8::from(*of != lane));
                let found = find_cycle(subnet, &alone);
                found
                    .filter(|cycle| cycle.lane == 0)
                    .map(|cycle| cycle.channels)
                    .unwrap_or_default()
            }
        }
    };
    let told = |exit: &Exit| format!("{} port {}", names[exit.switch as usize], exit.port);
    (0u8..)
        .zip(pairs)
        .map(|(lane, pairs)| {
            let cycle: Vec<String> = cycle_of(lane).iter().map(told).collect();
            LaneVerdict {
                lane,
                pairs,
                free: cycle.is_empty(),
                cycle,
            }
        })
        .collect()
}

impl Paths<'_> {
    /// Answers all questions.
    pub fn summary(&self, questions: &Questions) -> (Summary, Loads, Vec<Shift>) {
        let all_to_all = self.all_to_all();
        let floats = |load: &[u64]| load.iter().map(|&paths| paths as f64).collect::<Vec<_>>();
        let shifts = self.shifts(&self.shift_distances(questions.most_shifts));
        let by = questions.shift.map(|by| by % self.subnet.n_hosts().max(1));
        let shift_load = by.map(|by| self.shift_load(by));
        let shift = by.zip(shift_load.as_ref()).map(|(by, load)| OneShift {
            shift: self.shifts(&[by]).remove(0),
            load: Spread::of(&floats(load)),
        });
        let racks = questions.rack.map(|size| {
            let each = self.racks(size);
            Racks {
                size,
                mean: (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64),
                each,
            }
        });
        let (demand_load, demand) = questions.demand.as_ref().map(|demand| self.demand(demand)).unzip();
        let lengths = self.lengths();
        let (whole, several) = (lengths.broken == 0, self.subnet.n_hosts() > 1);
        let lanes = lanes(self.subnet, self.tables, self.path);
        let summary = Summary {
            hosts: self.subnet.n_hosts(),
            switches: self.subnet.n_switches(),
            channels: self.channels.len(),
            addresses_per_host: self.subnet.paths(),
            path: self.path,
            broken_examples: match whole {
                true => Vec::new(),
                false => self.broken_examples(5),
            },
            broken_elsewhere: self.broken_elsewhere(),
            lengths,
            all_to_all: Spread::of(&floats(&all_to_all)),
            uniform_bound: whole.then(|| self.uniform_bound(&all_to_all)),
            ebb: several.then(|| self.bisection(questions.samples, questions.seed, false)),
            ebb_both_ways: several.then(|| self.bisection(questions.samples, questions.seed, true)),
            shifts: several.then(|| ShiftFigures::of(&shifts)),
            shift,
            racks,
            demand,
            deadlock_free: lanes.iter().all(|lane| lane.free),
            lanes,
            hottest: self.hottest(&all_to_all, questions.hottest),
        };
        let loads = Loads {
            all_to_all,
            shift: shift_load,
            demand: demand_load,
        };
        (summary, loads, shifts)
    }

    /// Pairs that do not arrive at the addresses that figures are not of.
    fn broken_elsewhere(&self) -> u64 {
        let others = (0..self.subnet.paths()).filter(|&path| path != self.path);
        let of = |path| Paths::new(self.subnet, self.tables, path).lengths().broken;
        others.map(of).sum()
    }

    /// The channels with the most paths.
    fn hottest(&self, load: &[u64], most: usize) -> Vec<HotChannel> {
        let names = self.subnet.switch_names();
        let mut order: Vec<u32> = (0..load.len() as u32).collect();
        order.sort_by_key(|&channel| std::cmp::Reverse(load[channel as usize]));
        let tell = |&channel: &u32| {
            let (from, port, to, peer_port) = self.channel(channel);
            HotChannel {
                from: names[from as usize].clone(),
                port,
                to: names[to as usize].clone(),
                peer_port,
                paths: load[channel as usize],
            }
        };
        order.iter().take(most).map(tell).collect()
    }
}
