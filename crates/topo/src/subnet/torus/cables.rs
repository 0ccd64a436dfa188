//! What joins switches to switches, parallel cables as one, and the rings of four of them.

use super::super::Subnet;
use super::{MOST_FACTORS, OTHER_ENGINE, TorusMisfit};

/// The joined pairs of switches, each in both directions: an arc leads from one switch to another.
pub(super) struct SwitchCables {
    /// Arcs of switch `s` are `first[s]..first[s + 1]`, in the order of their lowest ports.
    first: Vec<u32>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    /// The same pair the other way.
    pub back: Vec<u32>,
    /// Of each arc the arcs of the same switch that are the second side of a ring of four, a bit each.
    pub at_corner: Vec<u8>,
}

impl SwitchCables {
    /// The cables of a subnet whose joined switches hang together and have few neighbours each. Switches without a cable may be among them.
    pub fn of(subnet: &Subnet) -> Result<SwitchCables, TorusMisfit> {
        let name = |switch: u32| subnet.switch_names()[switch as usize].clone();
        let pieces = subnet.pieces(|_, _| true);
        let mut joined = pieces.iter().filter(|piece| piece.len() > 1).map(|piece| piece[0]);
        let Some(one) = joined.next() else {
            return Err(TorusMisfit::new("no cable joins two switches", OTHER_ENGINE));
        };
        if let Some(other) = joined.next() {
            let reason = format!(
                "no way from `{}` to `{}`: these are two networks",
                name(one),
                name(other)
            );
            return Err(TorusMisfit::new(reason, "route each for itself"));
        }
        let mut it = SwitchCables {
            first: vec![0],
            from: Vec::new(),
            to: Vec::new(),
            back: Vec::new(),
            at_corner: Vec::new(),
        };
        for from in 0..subnet.n_switches() {
            let mut peers: Vec<u32> = Vec::new();
            for (_, to, _) in subnet.cables(from).filter(|cable| cable.1 != from) {
                if !peers.contains(&to) {
                    peers.push(to);
                }
            }
            if peers.len() > MOST_FACTORS {
                let reason = format!(
                    "`{}` has cables to {} other switches, on a torus of three dimensions it is {MOST_FACTORS} at most",
                    name(from),
                    peers.len()
                );
                return Err(TorusMisfit::new(reason, OTHER_ENGINE));
            }
            it.from.extend(peers.iter().map(|_| from));
            it.to.extend(peers);
            it.first.push(it.to.len() as u32);
        }
        let back = |arc: usize| it.arc(it.to[arc], it.from[arc]);
        it.back = (0..it.to.len()).filter_map(back).collect();
        it.at_corner = vec![0; it.to.len()];
        for [a, b, ..] in it.squares() {
            let corner = it.first[it.from[a as usize] as usize];
            it.at_corner[a as usize] |= 1 << (b - corner);
            it.at_corner[b as usize] |= 1 << (a - corner);
        }
        Ok(it)
    }

    pub fn n_switches(&self) -> usize {
        self.first.len() - 1
    }

    /// Arcs that leave a switch.
    pub fn of_switch(&self, switch: u32) -> std::ops::Range<u32> {
        self.first[switch as usize]..self.first[switch as usize + 1]
    }

    /// The arc between two switches.
    pub fn arc(&self, from: u32, to: u32) -> Option<u32> {
        self.of_switch(from).find(|&arc| self.to[arc as usize] == to)
    }

    /// Whether two arcs of a switch are sides of a ring of four.
    pub fn are_sides(&self, a: u32, b: u32) -> bool {
        self.at_corner[a as usize] >> (b - self.first[self.from[a as usize] as usize]) & 1 == 1
    }

    /// All rings of four, from each of their corners: the two arcs that leave the corner, then the two that lead on to the opposite corner, from the end of
    /// the second and from the end of the first. The first of these points as the first arc does, the second as the second.
    pub fn squares(&self) -> Vec<[u32; 4]> {
        let mut found = Vec::new();
        for corner in 0..self.n_switches() as u32 {
            let arcs = self.of_switch(corner);
            for a in arcs.clone() {
                let (one, arcs) = (self.to[a as usize], arcs.clone());
                for b in arcs.filter(|&b| b > a) {
                    let other = self.to[b as usize];
                    for second in self.of_switch(one) {
                        let opposite = self.to[second as usize];
                        if opposite == corner {
                            continue;
                        }
                        if let Some(first) = self.arc(other, opposite) {
                            found.push([a, b, first, second]);
                        }
                    }
                }
            }
        }
        found
    }

    /// Of the arcs of a switch as many as possible of which each two are sides of a ring of four, as bits.
    pub fn most_sides(&self, switch: u32) -> u8 {
        let arcs = self.of_switch(switch);
        let is_set = |set: u8| {
            (0..arcs.len())
                .all(|i| set >> i & 1 == 0 || self.at_corner[arcs.start as usize + i] & set == set & !(1 << i))
        };
        let sets = (0..1u16 << arcs.len()).map(|set| set as u8);
        sets.filter(|&set| is_set(set))
            .max_by_key(|set| (set.count_ones(), std::cmp::Reverse(*set)))
            .unwrap_or(0)
    }

    /// That a cable has no direction.
    pub fn refuse(&self, subnet: &Subnet, arc: u32, why: &str) -> TorusMisfit {
        let names = subnet.switch_names();
        let name = |switch: u32| &names[switch as usize];
        let (from, to) = (self.from[arc as usize], self.to[arc as usize]);
        let reason = format!("the cable from `{}` to `{}` fits no torus: {why}", name(from), name(to));
        TorusMisfit::new(reason, OTHER_ENGINE)
    }
}
