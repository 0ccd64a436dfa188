//! A dragonfly with groups of one row, by its links: `n` between two groups, of which a packet takes that of its number at every global hop.
//! Merlin calls the number a slice; it is that of the source node modulo `n`, unless a routing chooses another.

use crate::packet::Packet;
use crate::routing::prelude::*;
use topo::{Came, GlobalLink};

/// GroupLinks of a router to one group that a packet's phase can tell apart.
const MOST_OWN: u32 = 7;

/// The numbers of a dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupLinks {
    /// Groups.
    pub groups: u32,
    /// Routers of a group.
    pub routers: u32,
    /// GroupLinks between two groups.
    pub links: u32,
    /// Parallel links between two routers of a group.
    pub local: u32,
}

/// The next hop on the way to a group by one of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupExit {
    /// First port.
    pub port: u32,
    /// Ports: one of a global link, the parallel ones to the router that has it.
    pub ports: u32,
    /// The router has the link itself.
    pub own: bool,
    /// The router behind the link.
    pub peer: u32,
}

/// Where a packet is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WayStage {
    /// At its source's router, on its way to another group.
    Source,
    /// At its source's router, which is in the destination's group.
    Inside,
    /// At another router of its group, on its way to another one.
    Gateway,
    /// At the router of a third group where it came in.
    Entry,
    /// At another router of a third group.
    Middle,
    /// In the destination's group, where it came in or went round.
    Last,
}

/// Whether a dragonfly's groups are of one row.
pub(super) fn one_row(topology: &TopologySpec) -> bool {
    match topology {
        TopologySpec::Dragonfly(spec) => spec.routers_per_group.iter().filter(|&&size| size > 1).count() < 2,
        _ => false,
    }
}

impl GroupLinks {
    /// The topologies for which it is, as they are told.
    pub(super) const FITS: Fits = Fits::only(&[TopologyKind::Dragonfly]).which(" with groups of one row", one_row);

    /// Those of a dragonfly with groups of one row.
    pub(super) fn numbers(topology: &TopologySpec) -> Option<GroupLinks> {
        match topology {
            TopologySpec::Dragonfly(spec) if one_row(topology) => Some(GroupLinks {
                groups: spec.groups,
                routers: spec.routers_per_group.iter().product(),
                links: spec.links_per_pair,
                local: spec.local_width,
            }),
            _ => None,
        }
    }

    /// Those of a run's network, if its packets can tell its links apart.
    pub(super) fn of(topology: &Topology) -> Result<GroupLinks, BuildError> {
        let Some(links) = GroupLinks::numbers(topology.spec()) else {
            return refuse(
                "it needs a dragonfly with groups of one row, in which all routers are neighbours",
                "give routers_per_group one number, or take \"ugal\"",
            );
        };
        // GroupLinks are dealt in turns over all groups: a router has at most one link more to one of them than the mean.
        if links.links.div_ceil(links.routers) >= MOST_OWN {
            return refuse(
                &format!("a packet can tell {MOST_OWN} links of a router to one group apart, and there may be more"),
                "take \"ugal\", or fewer links per pair",
            );
        }
        Ok(links)
    }

    /// One of the groups but two, drawn; `None` if there is none.
    pub(super) fn third(&self, word: u64, source: u32, target: u32) -> Option<u32> {
        if self.groups < 3 {
            return None;
        }
        let drawn = below(word, u64::from(self.groups - 2)) as u32;
        Some(Self::but(drawn, source, target))
    }

    /// The group at a place among all but two, which differ.
    pub(super) fn but(place: u32, one: u32, other: u32) -> u32 {
        let (low, high) = (one.min(other), one.max(other));
        let behind = place + u32::from(place >= low);
        behind + u32::from(behind >= high)
    }

    /// Most global links of a router.
    pub(super) fn most_own(&self) -> u32 {
        ((self.groups - 1) * self.links).div_ceil(self.routers)
    }

    /// The first global port of a router.
    pub(super) fn first_global(&self) -> u32 {
        (self.routers - 1) * self.local
    }

    /// The router of its group that lies as many places down from `router` as `by` lies up in its own.
    pub(super) fn shifted(&self, router: u32, by: u32) -> u32 {
        let place = router % self.routers + self.routers - by % self.routers;
        self.group(router) * self.routers + place % self.routers
    }

    /// Group of a router.
    #[inline]
    pub(super) fn group(&self, router: u32) -> u32 {
        router / self.routers
    }

    /// The number of the link that a packet takes at every global hop, unless a routing chooses another.
    #[inline]
    pub(super) fn number(&self, packet: &Packet) -> u32 {
        packet.source() % self.links.max(1)
    }

    /// The number of the link that a packet takes at every local hop, unless a routing chooses another.
    #[inline]
    pub(super) fn local_number(&self, packet: &Packet) -> u32 {
        (packet.source() + packet.destination()) % self.local
    }

    /// The end of a link to a group in the group of a router.
    fn end(&self, topology: &Topology, at: u32, to: u32, number: u32) -> GlobalLink {
        let link = topology.global_link(self.group(at), to, number);
        // Two groups of a whole dragonfly have all their links.
        link.unwrap_or(GlobalLink {
            router: at,
            port: 0,
            peer: at,
        })
    }

    /// Towards another group by a link.
    pub(super) fn exit(&self, topology: &Topology, at: u32, to: u32, number: u32) -> GroupExit {
        let link = self.end(topology, at, to, number);
        if link.router == at {
            return GroupExit {
                port: link.port.into(),
                ports: 1,
                own: true,
                peer: link.peer,
            };
        }
        GroupExit {
            port: self.local(topology, at, link.router),
            ports: self.local,
            own: false,
            peer: link.peer,
        }
    }

    /// First port to another router of the group.
    pub(super) fn local(&self, topology: &Topology, at: u32, to: u32) -> u32 {
        topology.minimal_to(at, to, Came::INJECTED, 0).port.into()
    }

    /// The place of a link among those to its group that its router has.
    pub(super) fn place(&self, topology: &Topology, at: u32, to: u32, number: u32) -> u32 {
        number - self.first(topology, self.end(topology, at, to, number).router, to)
    }

    /// The number of a router's own link to a group, by its place among them.
    pub(super) fn number_of(&self, topology: &Topology, at: u32, to: u32, place: u32) -> u32 {
        (self.first(topology, at, to) + place).min(self.links - 1)
    }

    /// The first of a router's own links to a group. They follow each other.
    fn first(&self, topology: &Topology, router: u32, to: u32) -> u32 {
        let own = |&number: &u32| self.end(topology, router, to, number).router == router;
        (0..self.links).find(own).unwrap_or(0)
    }

    /// Whether a port of a router leads out of its group.
    #[inline]
    pub(super) fn is_global(&self, port: u16) -> bool {
        u32::from(port) >= self.first_global()
    }

    /// Where a packet is that goes from one router to another.
    pub(super) fn stage(&self, at: u32, came: Came, from: u32, to: u32) -> WayStage {
        let (here, source, target) = (self.group(at), self.group(from), self.group(to));
        let injected = came.port == Came::NONE;
        match here {
            _ if here == target && injected => WayStage::Inside,
            _ if here == target => WayStage::Last,
            _ if injected => WayStage::Source,
            _ if here == source => WayStage::Gateway,
            _ if self.is_global(came.port) => WayStage::Entry,
            _ => WayStage::Middle,
        }
    }
}
