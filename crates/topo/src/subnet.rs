//! Subnets: a fabric as its subnet manager sees it, and the forwarding tables that it computes.
//!
//! A [`Subnet`] has switches with numbered ports, hosts with one port each, and cables between ports. Port numbers are those on the
//! switches' faces, from 1, with gaps where nothing is plugged in: routing engines break ties by them, so tables agree with those
//! of a real subnet manager only if the numbers do. Every host has `2^lmc` addresses (LIDs), every switch one.
//!
//! [`Tables`] say which port a switch sends to for each address of a host, and which virtual lane a path takes.

mod tables;

pub mod cdg;
mod channels;
pub mod engine;

// Files of real fabrics, and what tables are worth.
pub mod analysis;
pub mod compact;
pub mod faults;
pub mod ibnetdiscover;
pub mod lft;
mod lids;
mod mistakes;
pub mod torus;

pub use cdg::{LaneCycle, find_cycle};
pub use engine::{Options, Report, RouteError, RoutingEngine, route, route_with_report};
pub use lids::{HIGHEST_LID, Lids, Owner};
pub use mistakes::{FileMistake, Mistakes};
pub use tables::{Exit, LevelMap, Tables};

use crate::topology::Topology;

/// The far end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Port of a switch.
    Switch {
        /// The switch.
        switch: u32,
        /// Its port, from 1.
        port: u16,
    },
    /// A host, by its one port.
    Host(u32),
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name: the node description of `ibnetdiscover`, or `router N`.
    pub name: String,
    /// Its 64-bit identifier.
    pub guid: u64,
    /// Far ends by port number; entry 0 is the management port and always `None`.
    pub ports: Vec<Option<End>>,
}

/// A host's port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name: the node description of `ibnetdiscover`, or `node N`.
    pub name: String,
    /// The 64-bit identifier of its port.
    pub guid: u64,
    /// The switch that it hangs on.
    pub switch: u32,
    /// The port there, from 1.
    pub port: u16,
}

/// A fabric of switches, hosts and cables.
///
/// Switch and host numbers given to its methods must exist: a number out of range is a broken invariant of the caller and panics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subnet {
    /// The switches; a switch's number is its place here.
    pub switches: Vec<Switch>,
    /// The hosts; a host's number is its place here, and its node's number in a simulation.
    pub hosts: Vec<Host>,
    /// Each host has `2^lmc` addresses (LID mask control), 0 to 7.
    pub lmc: u8,
}

impl Subnet {
    /// The subnet of a topology: routers are switches with their nodes on ports 1..=n in node order, then their network ports in order.
    /// Identifiers rise with the numbers.
    pub fn of(topology: &Topology) -> Self {
        let wiring = topology.wiring();
        let first = |router: u32| wiring.nodes_of(router).len() as u16 + 1;
        let (mut switches, mut hosts) = (Vec::new(), Vec::new());
        for r in 0..wiring.n_routers() {
            let mut ports = vec![None];
            for node in wiring.nodes_of(r) {
                hosts.push(Host {
                    name: format!("node {node}"),
                    guid: HOST_GUID + u64::from(node),
                    switch: r,
                    port: ports.len() as u16,
                });
                ports.push(Some(End::Host(node)));
            }
            for p in 0..wiring.radix(r) as u16 {
                let (switch, back) = wiring.peer(r, p);
                ports.push(Some(End::Switch {
                    switch,
                    port: first(switch) + back,
                }));
            }
            switches.push(Switch {
                name: topology.router_name(r),
                guid: SWITCH_GUID + u64::from(r),
                ports,
            });
        }
        Self {
            switches,
            hosts,
            lmc: 0,
        }
    }

    /// Number of switches.
    pub fn n_switches(&self) -> u32 {
        self.switches.len() as u32
    }

    /// Number of hosts.
    pub fn n_hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Addresses per host, `2^lmc`.
    pub fn paths(&self) -> u32 {
        1 << self.lmc
    }

    /// Number of host addresses. Address `host * paths() + i` is the host's `i`-th.
    pub fn n_addresses(&self) -> u32 {
        self.n_hosts() << self.lmc
    }

    /// The far end of a switch's port; `None` if nothing is plugged in or there is no such port.
    pub fn end(&self, switch: u32, port: u16) -> Option<End> {
        *self.switches[switch as usize].ports.get(usize::from(port))?
    }

    /// The cables of a switch to other switches in port order: (port, peer switch, peer port).
    pub fn cables(&self, switch: u32) -> impl Iterator<Item = (u16, u32, u16)> + '_ {
        let ports = &self.switches[switch as usize].ports;
        ports.iter().enumerate().filter_map(|(p, end)| match end {
            Some(End::Switch { switch, port }) => Some((p as u16, *switch, *port)),
            _ => None,
        })
    }

    /// The ports of a switch that have hosts, in port order, with these.
    pub fn hosts_at(&self, switch: u32) -> impl Iterator<Item = (u16, u32)> + '_ {
        let ports = &self.switches[switch as usize].ports;
        ports.iter().enumerate().filter_map(|(p, end)| match end {
            Some(End::Host(host)) => Some((p as u16, *host)),
            _ => None,
        })
    }

    /// The switches that cables join to each other, of those cables that are there by both ends: pieces by their first switch, the switches of each in the
    /// order in which a search from that one comes to them.
    pub fn pieces(&self, is_there: impl Fn(u32, u16) -> bool) -> Vec<Vec<u32>> {
        let mut is_found = vec![false; self.switches.len()];
        let mut pieces = Vec::new();
        for first in 0..self.n_switches() {
            if std::mem::replace(&mut is_found[first as usize], true) {
                continue;
            }
            let mut members = vec![first];
            let mut head = 0;
            while let Some(&at) = members.get(head) {
                head += 1;
                let there = self
                    .cables(at)
                    .filter(|&(port, to, back)| is_there(at, port) && is_there(to, back));
                for (_, to, _) in there {
                    if !std::mem::replace(&mut is_found[to as usize], true) {
                        members.push(to);
                    }
                }
            }
            pieces.push(members);
        }
        pieces
    }

    /// Names of the switches for people; those that several have get their identifier too: `MT47396 [0x0002c90200404780]`.
    pub fn switch_names(&self) -> Vec<String> {
        mistakes::distinct(self.switches.iter().map(|switch| (switch.name.as_str(), switch.guid)))
    }

    /// Names of the hosts for people, as [`Subnet::switch_names`].
    pub fn host_names(&self) -> Vec<String> {
        mistakes::distinct(self.hosts.iter().map(|host| (host.name.as_str(), host.guid)))
    }

    /// Checks every invariant stated above; `Err` names the first that is broken.
    pub fn verify(&self) -> Result<(), String> {
        if self.lmc > 7 {
            return Err(format!("LMC {} is beyond 7", self.lmc));
        }
        for (s, switch) in self.switches.iter().enumerate() {
            if switch.ports.first().is_some_and(Option::is_some) {
                return Err(format!("port 0 of `{}` has a cable", switch.name));
            }
            for (p, end) in switch.ports.iter().enumerate() {
                let here = End::Switch {
                    switch: s as u32,
                    port: p as u16,
                };
                let fits = match *end {
                    None => true,
                    Some(End::Host(h)) => (self.hosts.get(h as usize))
                        .is_some_and(|host| (host.switch, host.port) == (s as u32, p as u16)),
                    Some(End::Switch { switch, port }) => {
                        (switch as usize) < self.switches.len() && self.end(switch, port) == Some(here)
                    }
                };
                if !fits {
                    return Err(format!("the cable of port {p} of `{}` does not lead back", switch.name));
                }
            }
        }
        for (h, host) in self.hosts.iter().enumerate() {
            let there = (host.switch as usize) < self.switches.len()
                && self.end(host.switch, host.port) == Some(End::Host(h as u32));
            if !there {
                return Err(format!("`{}` is not on the port that it names", host.name));
            }
        }
        Ok(())
    }
}

/// Identifiers of a topology's routers start here.
const SWITCH_GUID: u64 = 0x0000_5157_0000_0000;
/// Identifiers of a topology's nodes start here.
const HOST_GUID: u64 = 0x0000_4057_0000_0000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset;

    #[test]
    fn a_topology_s_subnet_keeps_its_cables_and_nodes() {
        for name in ["ecp-8k-dragonfly", "ecp-8k-fat-tree", "ecp-8k-hyperx"] {
            let topology = preset(name).unwrap().build().unwrap();
            let subnet = Subnet::of(&topology);
            assert_eq!(subnet.verify(), Ok(()), "{name}");
            assert_eq!(
                (subnet.n_switches(), subnet.n_hosts()),
                (topology.n_routers(), topology.n_nodes())
            );
            let cables: usize = (0..subnet.n_switches()).map(|s| subnet.cables(s).count()).sum();
            assert_eq!(cables, topology.wiring().n_ports() as usize, "{name}");
        }
    }

    #[test]
    fn a_cable_that_does_not_lead_back_is_named() {
        let topology = preset("ecp-8k-hyperx").unwrap().build().unwrap();
        let mut subnet = Subnet::of(&topology);
        let (port, _, _) = subnet.cables(3).next().unwrap();
        subnet.switches[3].ports[usize::from(port)] = None;
        let name = &subnet.switches[0].name;
        assert!(subnet.verify().is_err_and(|reason| reason.contains(name)));
    }
}
