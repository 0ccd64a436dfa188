//! The plant of a network: routers at their places, what their ports are wired to, and how long links take. How packets find their way
//! over it, and what they wait for, is not known here.

use crate::equipment::LinkDelays;
use crate::packet::{Address, Packet};
use des::{Layout, Run, Table};
use std::ops::Range;
use std::sync::Arc;
use study::BitsPerSec;
use topo::{Coordinates, Topology};

/// Timing of one link class; all in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Bits per second.
    bandwidth: u64,
    /// Size of a full packet in bytes and its serialisation time, which nearly all packets have.
    full: (u32, u64),
    /// Propagation delay.
    pub latency: u64,
    /// From the start of a packet on the link until its head can leave the next router: latency + traversal.
    pub hop: u64,
    /// Extra time of a credit after the tail has left the buffer.
    pub credit: u64,
    /// From the wake-up of an idle port to its next start (input-queued routers).
    pub wake: u64,
    /// Bytes in which packets occupy the link: 1, or a flit.
    unit: u32,
    /// Time (ps) of a byte where that is a whole number and packets occupy single ones: no division is needed then. Else 0.
    of_byte: u64,
}

/// Time (ps) of a byte at a bit per second.
const BYTE: u64 = 8_000_000_000_000;

impl Class {
    /// A class with the given bandwidth and delays for packets of `packet` bytes, which occupy the link in whole flits of `flit` bytes; an
    /// idle port takes `wake` ps to start.
    pub(crate) fn new(bandwidth: BitsPerSec, packet: u32, delays: LinkDelays, flit: u32, wake: u64) -> Class {
        Class {
            bandwidth: bandwidth.0,
            full: (packet, serialisation(packet.next_multiple_of(flit), bandwidth.0)),
            latency: delays.latency,
            hop: delays.hop,
            credit: delays.credit,
            wake,
            unit: flit,
            of_byte: match flit == 1 && BYTE.is_multiple_of(bandwidth.0) {
                true => BYTE / bandwidth.0,
                false => 0,
            },
        }
    }

    /// Time (ps) that `size` bytes occupy the link: `ceil(8 size / bandwidth)`.
    #[inline(always)]
    pub fn ser(&self, size: u32) -> u64 {
        if size == self.full.0 {
            self.full.1
        } else if self.of_byte != 0 {
            u64::from(size) * self.of_byte
        } else {
            serialisation(size.next_multiple_of(self.unit), self.bandwidth)
        }
    }

    /// [`Class::ser`] of a link that has kept this share of its bandwidth.
    pub fn ser_at(&self, size: u32, share: f64) -> u64 {
        let bandwidth = ((self.bandwidth as f64 * share) as u64).max(1);
        serialisation(size.next_multiple_of(self.unit), bandwidth)
    }

    /// The bytes in which packets occupy the link are single ones.
    pub fn is_in_bytes(&self) -> bool {
        self.unit == 1
    }

    /// How much longer packets of `size` bytes take than they would if times were no whole picoseconds, as a fraction.
    pub fn rounding(&self, size: u32) -> f64 {
        let exact = f64::from(size.next_multiple_of(self.unit)) * BYTE as f64 / self.bandwidth as f64;
        self.ser(size) as f64 / exact - 1.0
    }

    /// Time (ps) that `bytes` take on the link, whatever they are parts of.
    #[inline]
    pub fn time_of(&self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(BYTE);
        u64::try_from(scaled / u128::from(self.bandwidth)).unwrap_or(u64::MAX)
    }

    /// Bits per second.
    pub fn bandwidth(&self) -> BitsPerSec {
        BitsPerSec(self.bandwidth)
    }
}

/// `ceil(8 size / bandwidth)` in ps.
pub(crate) fn serialisation(size: u32, bandwidth: u64) -> u64 {
    (u64::from(size) * BYTE).div_ceil(bandwidth)
}

/// A router: its number, and where its ports and nodes begin.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Site {
    /// First output port in the port columns.
    pub port: u32,
    /// First node.
    pub node: u32,
    /// Network ports; the ejection ports of the nodes follow them.
    pub net: u16,
    /// Nodes.
    pub nodes: u16,
    /// Its number; [`NO_ROUTER`](crate::blocks::NO_ROUTER) for a place without a router.
    pub router: u32,
    /// Where its router is.
    pub coordinates: Coordinates,
}

const _: () = assert!(size_of::<Site>() == 32, "two sites are one cache line");

impl Site {
    /// The local port to the node that a packet is for, if it is one of this router.
    #[inline(always)]
    pub fn ejection(&self, packet: &Packet) -> Option<u32> {
        let node = packet.destination().wrapping_sub(self.node);
        (node < u32::from(self.nodes)).then(|| u32::from(self.net) + node)
    }

    /// Its nodes.
    #[inline(always)]
    pub fn node_numbers(&self) -> Range<u32> {
        self.node..self.node + u32::from(self.nodes)
    }

    /// All output ports.
    #[inline(always)]
    pub fn ports(&self) -> u32 {
        u32::from(self.net) + u32::from(self.nodes)
    }
}

/// What an output port is wired to, and the class of the link to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(u64);

impl Peer {
    /// Input port `port` of the router at place `lp`, the own router for ejection ports.
    pub fn new(lp: u32, port: u16, class: u8) -> Peer {
        const { assert!(Address::SPARE >= u8::MAX as u64, "a class has room beside an address") };
        Peer(Address::new(lp, port).word() | u64::from(class))
    }

    /// Where packets arrive.
    #[inline(always)]
    pub fn address(self) -> Address {
        Address::within(self.0)
    }

    /// Place of the router at the other end.
    #[inline(always)]
    pub fn lp(self) -> u32 {
        self.address().lp()
    }

    /// Its input port.
    #[inline(always)]
    pub fn port(self) -> u16 {
        self.address().port()
    }

    /// Link class.
    #[inline(always)]
    pub fn class(self) -> u8 {
        self.0 as u8
    }
}

/// Why a router cannot have the ports and nodes that it has, with a hint.
pub fn too_many_ports(topology: &Topology, router: u32) -> Option<(String, &'static str)> {
    let (ports, nodes) = (topology.radix(router), topology.nodes_of(router).len());
    (u64::from(ports) + nodes as u64 > u16::MAX.into()).then(|| {
        let name = topology.router_name(router);
        let reason = format!("router {name} has {ports} ports to routers and {nodes} nodes");
        (reason, "a router takes at most 65,535 of both together")
    })
}

/// What belongs to neighbouring routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Their output ports.
    pub ports: Range<u32>,
    /// Their nodes, by place in the columns.
    pub nodes: Range<u32>,
}

/// What lies where.
#[derive(Debug)]
pub struct Plant {
    /// The shape.
    pub topology: Topology,
    /// The network of which this one is a stage, if it is one: what packets draw there is what they draw in all stages.
    pub(crate) common: Option<Arc<Topology>>,
    /// Per router, by its place: where its logical process lies among those of all blocks.
    pub sites: Table<Site>,
    /// Per place: where the nodes of its router begin in the node columns.
    pub(crate) first_places: Table<u32>,
    /// Place of each router.
    pub places: Table<u32>,
    /// How places lie in blocks; `None`: places are router numbers, and blocks are the engine's affair.
    pub layout: Option<Layout>,
    /// Per output port of the routers that this process simulates.
    pub peers: Run<Peer>,
    /// Output ports of all routers.
    pub(crate) n_ports: u32,
    /// Per link class; class 0 is the host link.
    pub classes: Table<Class>,
    /// Nodes of all routers.
    pub(crate) n_nodes: u32,
}

impl Plant {
    /// The network on which packets draw what they lead over.
    #[inline]
    pub(crate) fn drawn_on(&self) -> &Topology {
        self.common.as_deref().unwrap_or(&self.topology)
    }

    /// Whether a router that packets drew is there for one at router `at`: what was drawn in another stage may be cut off.
    #[inline]
    pub(crate) fn can_reach(&self, at: u32, drawn: u32) -> bool {
        self.common.is_none() || self.topology.are_joined(at, drawn)
    }

    /// Router hops of the least path between two nodes.
    pub fn distance(&self, source: u32, destination: u32) -> u32 {
        self.topology
            .distance(self.topology.router_of(source), self.topology.router_of(destination))
    }

    /// The ports and nodes of the routers at neighbouring places.
    pub fn part(&self, places: &Range<u32>) -> Part {
        let begin = |place: u32| match self.sites.get(place as usize) {
            Some(site) => (site.port, self.first_places[place as usize]),
            None => (self.n_ports, self.n_nodes()),
        };
        let (from, to) = (begin(places.start), begin(places.end));
        Part {
            ports: from.0..to.0,
            nodes: from.1..to.1,
        }
    }

    /// Number of routers.
    pub fn n_routers(&self) -> u32 {
        self.places.len() as u32
    }

    /// Number of output ports of all routers, those to nodes included.
    pub fn n_ports(&self) -> u32 {
        self.n_ports
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> u32 {
        self.n_nodes
    }

    /// A router by its number.
    pub fn site_of(&self, router: u32) -> &Site {
        &self.sites[self.places[router as usize] as usize]
    }

    /// The router at a place.
    pub fn router_at(&self, lp: u32) -> u32 {
        self.sites[lp as usize].router
    }

    /// Where a node of the router at place `lp` is in the node columns.
    #[inline(always)]
    pub fn node_place(&self, lp: u32, node: u32) -> u32 {
        self.first_places[lp as usize] + (node - self.sites[lp as usize].node)
    }

    /// Where the nodes of the router at place `lp`, which is `site`, are in the node columns.
    #[inline(always)]
    pub fn node_places(&self, lp: u32, site: &Site) -> Range<u32> {
        let first = self.first_places[lp as usize];
        first..first + u32::from(site.nodes)
    }

    /// Place of a node's router.
    #[inline(always)]
    pub fn place_of_node(&self, node: u32) -> u32 {
        self.places[self.topology.router_of(node) as usize]
    }

    /// Name of an output port by its place in the columns.
    pub fn name_of_port(&self, port: u32) -> String {
        let lp = self.sites.partition_point(|site| site.port <= port) - 1;
        self.port_name(lp as u32, port - self.sites[lp].port)
    }

    /// A port's name with its router: `(0,1,0) x+`.
    pub fn port_name(&self, lp: u32, port: u32) -> String {
        let site = &self.sites[lp as usize];
        let router = self.topology.router_name(site.router);
        if port < u32::from(site.net) {
            format!("{router} {}", self.topology.port_name(site.router, port as u16))
        } else {
            format!("{router} to node {}", site.node + port - u32::from(site.net))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_on_links_are_the_ceiling_of_eight_bits_a_byte_by_the_bandwidth() {
        let delays = LinkDelays {
            latency: 0,
            hop: 0,
            credit: 0,
        };
        // 40, 10 and 1 ps a byte, 80 by a tenth of a bit per second more or less, less than a ps, and links that no byte divides.
        for bandwidth in [
            200_000_000_000,
            800_000_000_000,
            8_000_000_000_000,
            100_000_000_000,
            100_000_000_001,
            99_999_999_999,
            16_000_000_000_000,
            54_540_000_000,
            7,
        ] {
            for flit in [1, 8, 48] {
                let class = Class::new(BitsPerSec(bandwidth), 4_096, delays, flit, 0);
                for size in (1u32..2_000).chain([4_095, 4_096, 4_097, 65_535, 65_536]) {
                    let bits = 8 * u128::from(size.div_ceil(flit) * flit);
                    let exact = (bits * 1_000_000_000_000).div_ceil(u128::from(bandwidth));
                    assert_eq!(u128::from(class.ser(size)), exact, "{size} B by {flit} at {bandwidth}");
                }
            }
        }
    }
}
