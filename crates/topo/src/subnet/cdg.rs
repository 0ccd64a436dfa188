//! The channel dependency graph of forwarding tables, lane by lane: a plain check that tables cannot deadlock.
//!
//! A channel is one direction of a cable between two switches on one lane. Packets from the hosts of a switch to an address stay on
//! one lane, and hold a channel while they wait for the next one of their path. No cycle of such dependencies, no deadlock (Dally &
//! Seitz 1987). Cables of hosts are left out: hosts consume what arrives. The check looks at [`Tables`] alone, whichever engine made
//! them, and shares no code with the engines.

use super::channels::{Channels, NO_CHANNEL};
use super::tables::LevelMap;
use super::{End, Exit, Subnet, Tables};

/// Channels that can wait for each other for ever: each for the next and the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneCycle {
    /// The lane.
    pub lane: u8,
    /// The channels in order.
    pub channels: Vec<Exit>,
}

impl LaneCycle {
    /// For people: `lane 1: S00 port 3 -> S01 port 3 -> S00 port 3`.
    pub fn describe(&self, subnet: &Subnet) -> String {
        let channels = self.channels.iter().chain(self.channels.first());
        let names: Vec<String> = channels
            .map(|exit| format!("{} port {}", subnet.switches[exit.switch as usize].name, exit.port))
            .collect();
        format!("lane {}: {}", self.lane, names.join(" -> "))
    }
}

/// The first cycle of dependencies of any lane, `None` if every lane is free of them. Paths are those from every switch with hosts to
/// every address; one that never arrives is followed as far as it leads, and one in a loop is a cycle itself. Deterministic.
///
/// Time: switches times addresses. Memory: a bit for each pair of consecutive channels per lane.
pub fn find_cycle(subnet: &Subnet, tables: &Tables) -> Option<LaneCycle> {
    if let Some(map) = &tables.map {
        return find_cycle_by_hops(subnet, tables, map);
    }
    /// Addresses that are looked at together: their entries of a switch share cache lines.
    const BLOCK: u32 = 32;
    let channels = Channels::of(subnet);
    let n = channels.n_switches();
    let sources: Vec<u32> = (0..subnet.n_switches()).filter(|&s| has_hosts(subnet, s)).collect();
    let mut lanes: Vec<LaneDependencies> = Vec::new();
    // Next channels of all switches to the addresses of a block; lanes on which paths to an address have come through a switch, as bits.
    let mut next = vec![NO_CHANNEL; n * BLOCK as usize];
    let mut seen = vec![[0u64; 4]; n];
    for first in (0..tables.n_addresses).step_by(BLOCK as usize) {
        let last = tables.n_addresses.min(first + BLOCK);
        for s in 0..n {
            for address in first..last {
                let entry = (address - first) as usize * n + s;
                next[entry] = channels.at(s as u32, tables.port(s as u32, address));
            }
        }
        for (address, next) in (first..last).zip(next.chunks(n)) {
            seen.fill([0; 4]);
            for &s in &sources {
                let lane = tables.lane(s, address);
                while lanes.len() <= usize::from(lane) {
                    lanes.push(LaneDependencies::of(&channels));
                }
                lanes[usize::from(lane)].follow(&channels, next, s, |at| {
                    let (word, bit) = (&mut seen[at as usize][usize::from(lane / 64)], 1 << (lane % 64));
                    let old = *word & bit != 0;
                    *word |= bit;
                    old
                });
            }
        }
    }
    lanes.iter().enumerate().find_map(|(lane, dependencies)| {
        let channels = dependencies.cycle(&channels)?;
        Some(LaneCycle {
            lane: lane as u8,
            channels,
        })
    })
}

/// The same where lanes are those of hops: every path is followed by itself, and what it waits for is a channel on a lane.
///
/// Time: switches times addresses times hops.
fn find_cycle_by_hops(subnet: &Subnet, tables: &Tables, map: &LevelMap) -> Option<LaneCycle> {
    let channels = Channels::of(subnet);
    let n_lanes = u32::from(LevelMap::LANES);
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); channels.len() * n_lanes as usize];
    for source in (0..subnet.n_switches()).filter(|&s| has_hosts(subnet, s)) {
        for address in 0..tables.n_addresses {
            let level = tables.lane(source, address);
            let (mut at, mut came, mut held) = (source, None, None::<u32>);
            // Who is not there by then goes round, and has waited for itself.
            for _ in 0..=channels.n_switches() {
                let port = tables.port(at, address);
                let (channel, end) = (channels.at(at, port), subnet.end(at, port));
                let Some(End::Switch { switch, port: there }) = end.filter(|_| channel != NO_CHANNEL) else {
                    break;
                };
                let wanted = channel * n_lanes + u32::from(map.lane(level, at, came, port));
                if let Some(held) = held {
                    let known = &mut next[held as usize];
                    if !known.contains(&wanted) {
                        known.push(wanted);
                    }
                }
                (at, came, held) = (switch, Some(there), Some(wanted));
            }
        }
    }
    let cycle = first_cycle(next.len(), |held| next[held as usize].iter().copied())?;
    Some(LaneCycle {
        lane: (cycle[0] % n_lanes) as u8,
        channels: cycle.iter().map(|&place| channels.exit(place / n_lanes)).collect(),
    })
}

/// A cycle of a graph of `n` places, of each of which `next` tells what it waits for, by depth-first search from each place in order.
fn first_cycle<I: Iterator<Item = u32>>(n: usize, next: impl Fn(u32) -> I) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Place {
        New,
        Open,
        Done,
    }
    let mut state = vec![Place::New; n];
    // Open places in order, each with what is to be looked at.
    let mut stack: Vec<(u32, I)> = Vec::new();
    for start in 0..n as u32 {
        if state[start as usize] == Place::New {
            state[start as usize] = Place::Open;
            stack.push((start, next(start)));
        }
        while let Some((held, left)) = stack.last_mut() {
            let Some(wanted) = left.next() else {
                state[*held as usize] = Place::Done;
                stack.pop();
                continue;
            };
            match state[wanted as usize] {
                Place::New => {
                    state[wanted as usize] = Place::Open;
                    stack.push((wanted, next(wanted)));
                }
                Place::Open => {
                    let open = stack.iter().map(|&(place, _)| place);
                    return Some(open.skip_while(|&place| place != wanted).collect());
                }
                Place::Done => {}
            }
        }
    }
    None
}

fn has_hosts(subnet: &Subnet, switch: u32) -> bool {
    subnet.hosts_at(switch).next().is_some()
}

/// Dependencies of a lane: of every channel a row of bits, one for each channel that leaves the switch that it leads to.
struct LaneDependencies {
    /// First bit of each channel's row.
    row: Vec<u64>,
    bits: Vec<u64>,
}

impl LaneDependencies {
    fn of(channels: &Channels) -> Self {
        let (mut row, mut n_bits) = (Vec::with_capacity(channels.len()), 0);
        for &to in &channels.to {
            row.push(n_bits);
            n_bits += channels.of_switch(to).len() as u64;
        }
        Self {
            row,
            bits: vec![0; n_bits.div_ceil(64) as usize],
        }
    }

    fn bit(&self, channels: &Channels, from: u32, to: u32) -> u64 {
        self.row[from as usize] + u64::from(to - channels.first[channels.to[from as usize] as usize])
    }

    /// Adds the dependencies of the path from a switch on, up to a switch that paths on this lane have come through before.
    fn follow(&mut self, channels: &Channels, next: &[u32], from: u32, mut seen: impl FnMut(u32) -> bool) {
        let (mut held, mut at) = (NO_CHANNEL, from);
        loop {
            let wanted = next[at as usize];
            if wanted == NO_CHANNEL {
                return;
            }
            if held != NO_CHANNEL {
                let bit = self.bit(channels, held, wanted);
                self.bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            if seen(at) {
                return;
            }
            (held, at) = (wanted, channels.to[wanted as usize]);
        }
    }

    /// A cycle, if there is one.
    fn cycle(&self, channels: &Channels) -> Option<Vec<Exit>> {
        let is_there = |held: u32, wanted: u32| {
            let bit = self.bit(channels, held, wanted);
            self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
        };
        let is_there = &is_there;
        let next = |held: u32| {
            let onward = channels.of_switch(channels.to[held as usize]);
            onward
                .map(|wanted| wanted as u32)
                .filter(move |&wanted| is_there(held, wanted))
        };
        let cycle = first_cycle(channels.len(), next)?;
        Some(cycle.iter().map(|&channel| channels.exit(channel)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lattice, TopologySpec};

    /// A ring of four switches with a host each, and tables that always go the same way round.
    fn one_way_ring() -> (Subnet, Tables) {
        let ring = TopologySpec::Torus(Lattice {
            shape: vec![4],
            width: vec![1],
            nodes_per_router: 1,
        });
        let subnet = Subnet::of(&ring.build().unwrap());
        let mut tables = Tables::empty(&subnet);
        for s in 0..4u32 {
            let onward = subnet.cables(s).find(|&(_, to, _)| to == (s + 1) % 4).unwrap().0;
            for a in 0..4u32 {
                tables.ports[(s * 4 + a) as usize] = if a == s { 1 } else { onward };
            }
        }
        (subnet, tables)
    }

    #[test]
    fn one_way_round_a_ring_is_a_cycle_of_all_its_cables() {
        let (subnet, tables) = one_way_ring();
        let cycle = find_cycle(&subnet, &tables).unwrap();
        assert_eq!((cycle.lane, cycle.channels.len()), (0, 4));
        for (here, next) in cycle.channels.iter().zip(cycle.channels.iter().cycle().skip(1)) {
            assert!(
                matches!(subnet.end(here.switch, here.port), Some(End::Switch { switch, .. }) if switch == next.switch)
            );
        }
        let words = cycle.describe(&subnet);
        assert!(words.starts_with("lane 0: (0) port "), "{words}");
    }

    #[test]
    fn a_second_lane_for_the_paths_over_one_switch_breaks_the_cycle() {
        let (subnet, mut tables) = one_way_ring();
        tables.lanes = vec![0; 16];
        tables.n_lanes = 2;
        // The three paths that go on over switch 0, from the last cable to the first.
        for (s, a) in [(2, 1), (3, 1), (3, 2)] {
            tables.lanes[s * 4 + a] = 1;
        }
        assert_eq!(find_cycle(&subnet, &tables), None);
        // With the path from switch 1 to 0 their lane has every dependency of the ring.
        tables.lanes[4] = 1;
        let cycle = find_cycle(&subnet, &tables).unwrap();
        assert_eq!((cycle.lane, cycle.channels.len()), (1, 4));
    }

    #[test]
    fn a_loop_of_the_tables_is_a_cycle() {
        let (subnet, mut tables) = one_way_ring();
        // No switch keeps what is for the host of switch 2: it goes round and round.
        tables.ports[2 * 4 + 2] = tables.ports[2 * 4 + 3];
        assert!(find_cycle(&subnet, &tables).is_some_and(|cycle| cycle.channels.len() == 4));
    }
}
