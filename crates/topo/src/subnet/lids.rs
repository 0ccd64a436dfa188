//! Local identifiers (LIDs): the addresses by which forwarding tables of a real fabric name hosts and switches.

use super::Subnet;

/// LIDs above this are for multicast.
pub const HIGHEST_LID: u32 = 0xBFFF;

/// Base LIDs of a subnet's hosts and switches. A host has `2^lmc` LIDs from its base, a switch one; 0 is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lids {
    /// By host.
    pub hosts: Vec<u32>,
    /// By switch.
    pub switches: Vec<u32>,
}

/// Who has a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody.
    Nobody,
    /// A switch.
    Switch(u32),
    /// A host, by one of its addresses (see [`Subnet::n_addresses`]).
    Address(u32),
}

impl Lids {
    /// LIDs for a subnet that came without: switches from 1 in order, then hosts in order from the next multiple of `2^lmc`.
    pub fn sequential(subnet: &Subnet) -> Self {
        let (switches, paths) = (subnet.n_switches(), subnet.paths());
        let first = (switches + 1).next_multiple_of(paths);
        Self {
            switches: (1..=switches).collect(),
            hosts: (0..subnet.n_hosts()).map(|host| first + host * paths).collect(),
        }
    }

    /// LID of an address; 0 if the host has none.
    pub fn of_address(&self, subnet: &Subnet, address: u32) -> u32 {
        match self.hosts[(address >> subnet.lmc) as usize] {
            0 => 0,
            base => base + (address & (subnet.paths() - 1)),
        }
    }

    /// The highest LID in use.
    pub fn top(&self, subnet: &Subnet) -> u32 {
        let hosts = self.hosts.iter().map(|&base| base + subnet.paths() - 1).max();
        let switches = self.switches.iter().copied().max();
        hosts.unwrap_or(0).max(switches.unwrap_or(0))
    }

    /// Owners by LID, from 0 to [`Lids::top`].
    pub fn owners(&self, subnet: &Subnet) -> Vec<Owner> {
        let mut owners = vec![Owner::Nobody; self.top(subnet) as usize + 1];
        for (switch, &lid) in self.switches.iter().enumerate().filter(|(_, lid)| **lid > 0) {
            owners[lid as usize] = Owner::Switch(switch as u32);
        }
        for (host, &base) in self.hosts.iter().enumerate().filter(|(_, base)| **base > 0) {
            for path in 0..subnet.paths() {
                owners[(base + path) as usize] = Owner::Address(((host as u32) << subnet.lmc) + path);
            }
        }
        owners
    }
}
