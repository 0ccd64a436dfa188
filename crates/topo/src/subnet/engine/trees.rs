//! The paths to every destination: a tree of switches each, kept destination by destination as engines lay them.

use super::super::Tables;
use super::fabric::PreparedSubnet;

/// Next channels of all switches to all destinations. Destinations are the addresses of hosts, then those of switches: destination
/// `n_addresses + s` is switch `s` itself. 2 bytes per (switch, destination).
pub(super) struct Trees {
    n_switches: usize,
    n_addresses: u32,
    /// Destinations in the order in which they are routed: hosts switch by switch, then switches.
    pub order: Vec<u32>,
    /// At `destination * n_switches + switch`: the channel among those of the switch.
    next: Vec<u16>,
}

/// A switch that is not reached, or is the destination's own.
pub(super) const NO_EDGE: u32 = u32::MAX;

/// No next channel: at the destination's switch and where there is no way.
const NO_NEXT: u16 = u16::MAX;

impl Trees {
    /// Trees without paths.
    pub fn new(fabric: &PreparedSubnet) -> Self {
        let (n_switches, n_addresses, lmc) = (fabric.n_switches(), fabric.subnet.n_addresses(), fabric.subnet.lmc);
        let addresses = fabric
            .host_order()
            .into_iter()
            .flat_map(|host| (host << lmc)..((host + 1) << lmc));
        let switches = fabric.by_load().into_iter().map(|s| n_addresses + s);
        Self {
            n_switches,
            n_addresses,
            order: addresses.chain(switches).collect(),
            next: vec![NO_NEXT; n_switches * (n_addresses as usize + n_switches)],
        }
    }

    pub fn n_destinations(&self) -> u32 {
        self.n_addresses + self.n_switches as u32
    }

    /// The switch of a destination.
    pub fn target(&self, fabric: &PreparedSubnet, destination: u32) -> u32 {
        match destination.checked_sub(self.n_addresses) {
            Some(switch) => switch,
            None => fabric.subnet.hosts[(destination >> fabric.subnet.lmc) as usize].switch,
        }
    }

    /// The tree of a destination, by switch.
    pub fn tree(&self, destination: u32) -> Tree<'_> {
        let first = destination as usize * self.n_switches;
        Tree(&self.next[first..first + self.n_switches])
    }

    /// Sets a destination's tree: traffic of switch `s` flows against channel `via[s]`.
    pub fn set(&mut self, fabric: &PreparedSubnet, destination: u32, via: &[u32]) {
        let first = destination as usize * self.n_switches;
        let row = &mut self.next[first..first + self.n_switches];
        for ((next, &c), s) in row.iter_mut().zip(via).zip(0u32..) {
            *next = match c {
                NO_EDGE => NO_NEXT,
                c => (fabric.channels.back[c as usize] - fabric.channels.first[s as usize]) as u16,
            };
        }
    }

    /// The forwarding tables: the same by switch, as ports.
    pub fn tables(&self, fabric: &PreparedSubnet) -> Tables {
        /// Addresses that are turned round together: their entries of a switch share cache lines.
        const BLOCK: usize = 64;
        let mut tables = fabric.tables();
        let (channels, width) = (&fabric.channels, self.n_addresses as usize);
        for first in (0..width).step_by(BLOCK) {
            for s in 0..self.n_switches {
                for address in first..(first + BLOCK).min(width) {
                    let next = self.next[address * self.n_switches + s];
                    if next != NO_NEXT {
                        let channel = channels.first[s] as usize + usize::from(next);
                        tables.ports[s * width + address] = channels.port[channel];
                    }
                }
            }
        }
        tables
    }
}

/// The paths of all switches to one destination.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a>(&'a [u16]);

impl Tree<'_> {
    /// The channel that a switch sends on.
    #[inline]
    pub fn next(self, fabric: &PreparedSubnet, switch: u32) -> Option<u32> {
        match self.0[switch as usize] {
            NO_NEXT => None,
            next => Some(fabric.channels.first[switch as usize] + u32::from(next)),
        }
    }
}
