//! Forwarding tables and virtual lanes of a subnet.

use super::{End, Subnet};

/// Linear forwarding tables of every switch, and the lane of every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Addresses in a row, [`Subnet::n_addresses`].
    pub n_addresses: u32,
    /// Output port at `switch * n_addresses + address`, as numbered on the switch; [`Tables::NONE`] where there is no way.
    pub ports: Vec<u16>,
    /// Virtual lane at `source switch * n_addresses + address` of paths that start at hosts of that switch; empty if all are lane 0.
    pub lanes: Vec<u8>,
    /// Lanes that are used: the highest and those below it.
    pub n_lanes: u8,
}

/// A step of a path: a switch and the port that it sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The switch.
    pub switch: u32,
    /// Its output port.
    pub port: u16,
}

impl Tables {
    /// Entry of an address that a switch cannot reach.
    pub const NONE: u16 = 0;

    /// Tables without a way, all on lane 0.
    pub fn empty(subnet: &Subnet) -> Self {
        let n_addresses = subnet.n_addresses();
        Self {
            n_addresses,
            ports: vec![Self::NONE; subnet.switches.len() * n_addresses as usize],
            lanes: Vec::new(),
            n_lanes: 1,
        }
    }

    /// Output port of a switch to an address.
    #[inline]
    pub fn port(&self, switch: u32, address: u32) -> u16 {
        self.ports[switch as usize * self.n_addresses as usize + address as usize]
    }

    /// Lane of the paths from hosts of a switch to an address.
    #[inline]
    pub fn lane(&self, switch: u32, address: u32) -> u8 {
        let i = switch as usize * self.n_addresses as usize + address as usize;
        self.lanes.get(i).copied().unwrap_or(0)
    }

    /// Walks from a switch to an address: the hops in order, the last one to the host. `Err` holds the hops up to a dead end, a
    /// wrong host or the first switch that came twice.
    pub fn walk(&self, subnet: &Subnet, from: u32, address: u32) -> Result<Vec<Exit>, Vec<Exit>> {
        let host = address >> subnet.lmc;
        let (mut at, mut way) = (from, Vec::new());
        loop {
            let port = self.port(at, address);
            way.push(Exit { switch: at, port });
            match subnet.end(at, port) {
                Some(End::Host(h)) if h == host => return Ok(way),
                Some(End::Switch { switch, .. }) if way.iter().all(|hop| hop.switch != switch) => at = switch,
                _ => return Err(way),
            }
        }
    }
}
