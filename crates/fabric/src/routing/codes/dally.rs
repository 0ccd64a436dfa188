//! CODES' dragonfly-dally: the ways of a packet by the place of its router, and the channel of each place.
//!
//! | origin router | second router of its group | third group | destination's group, to the node too | inside one group |
//! |---|---|---|---|---|
//! | 0 | 1 | 2 | 3 | hops so far |
//!
//! The third group of a packet is drawn when it comes from its node, and anew at a second router that has no link to it: among the groups
//! that this router is linked to. In its phase a packet keeps that it goes round.

use super::Preference;
use super::candidates::{Candidates, Picks, with_lists};
use crate::routing::group_links::{GroupLinks, WayStage};
use crate::routing::prelude::*;
use topo::{Came, Step};

/// Phase of a packet that goes over a third group.
const ROUND: u8 = 1;

/// Channels by place.
const AT_ORIGIN: u8 = 0;
const AT_SECOND: u8 = 1;
const IN_THIRD: u8 = 2;
const IN_LAST: u8 = 3;

/// Minimal or progressive routing, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dally {
    /// When it keeps a minimal link; `None`: always.
    preference: Option<Preference>,
    links: GroupLinks,
    picks: Picks,
}

/// A packet on its way.
struct DallyPacket<'a> {
    here: Here<'a>,
    dally: &'a Dally,
    injected: bool,
    from: u32,
    to: u32,
}

impl Dally {
    pub(super) fn new(
        preference: Option<Preference>,
        global_picks: u8,
        topology: &Topology,
    ) -> Result<Dally, BuildError> {
        let Some(links) = GroupLinks::numbers(topology.spec()) else {
            return refuse(
                "it needs a dragonfly with groups of one row, in which all routers are neighbours",
                "give routers_per_group one number, or take \"par\"",
            );
        };
        Ok(Dally {
            preference,
            links,
            picks: Picks::Distinct(global_picks.into()),
        })
    }
}

impl ReadyRouting for Dally {
    fn vcs(&self, topology: &Topology) -> u8 {
        match topology.n_groups() {
            Some(2..) => IN_LAST + 1,
            // At the destination's router a packet has made a hop.
            _ => 2,
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(DallySteps {
            goes_round: self.preference.is_some(),
            // A smaller network of the kind may stand for the run's.
            links: GroupLinks::numbers(topology.spec()).unwrap_or(self.links),
            topology,
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (topology, packet) = (&here.net.topology, here.packet);
        let going = DallyPacket {
            here,
            dally: self,
            injected: came(here.site, packet).port == Came::NONE,
            from: topology.router_of(packet.source()),
            to: topology.router_of(packet.destination()),
        };
        going.way(&mut |port| wait(port, 0))
    }

    fn asks_for_cables(&self) -> bool {
        true
    }

    fn leads_to_the_node(&self) -> bool {
        true
    }
}

/// The ports of the links of a router to a group: its own, or those to the routers that have some, once for each that they have.
fn exits(links: &GroupLinks, topology: &Topology, at: u32, group: u32, list: &mut Candidates) {
    let exits = || (0..links.links).map(|number| links.exit(topology, at, group, number));
    let own = exits().any(|exit| exit.own);
    list.clear(own);
    exits()
        .filter(|exit| exit.own == own)
        .for_each(|exit| list.add(exit.port..exit.port + exit.ports));
}

/// The global links of a router: port and group.
fn global_links<'t>(
    links: &GroupLinks,
    topology: &'t Topology,
    at: u32,
) -> impl Iterator<Item = (u32, u32)> + Clone + 't {
    let (links, wiring) = (*links, topology.wiring());
    let first = links.first_global();
    let degree = wiring.port_offset[at as usize + 1] - wiring.port_offset[at as usize];
    (first..degree).map(move |port| (port, links.group(wiring.peer(at, port as u16).0)))
}

impl DallyPacket<'_> {
    fn way(&self, score: &mut dyn FnMut(u32) -> u64) -> Way {
        let DallyPacket { here, from, to, .. } = *self;
        let links = &self.dally.links;
        let (at, came) = (here.site.router, came(here.site, here.packet));
        let (source, target) = (links.group(from), links.group(to));
        let vc = match links.group(at) {
            _ if source == target => here.packet.hops().min(u32::from(IN_LAST)) as u8,
            group if group == target => IN_LAST,
            group if group != source => IN_THIRD,
            _ if self.injected => AT_ORIGIN,
            _ => AT_SECOND,
        };
        let vc = vc.min(here.routing.last_vc);
        if at == to {
            return here.eject(vc);
        }
        let way = |port: Option<(u64, u32)>, phase| Way::new(port.map_or(0, |(_, port)| port), vc, phase);
        let phase = here.packet.phase();
        with_lists(|minimal, round| match links.stage(at, came, from, to) {
            WayStage::Inside | WayStage::Last => {
                let port = links.local(self.topology(), at, to);
                minimal.add(port..port + links.local);
                way(self.best(minimal, 1, score), phase)
            }
            WayStage::Entry | WayStage::Middle => {
                exits(links, self.topology(), at, target, minimal);
                way(self.best(minimal, 1, score), phase)
            }
            WayStage::Source => {
                if let Some(third) = self.third() {
                    exits(links, self.topology(), at, third, round);
                }
                exits(links, self.topology(), at, target, minimal);
                let (port, phase) = self.preferred(minimal, round, score);
                way(port, phase)
            }
            WayStage::Gateway if phase == ROUND => {
                self.third_from_here(round);
                way(self.best(round, 2, score), phase)
            }
            WayStage::Gateway => {
                exits(links, self.topology(), at, target, minimal);
                self.third_from_here(round);
                let (port, phase) = self.preferred(minimal, round, score);
                way(port, phase)
            }
        })
    }

    fn topology(&self) -> &Topology {
        &self.here.net.topology
    }

    /// A word of its own for this router and time, and a number.
    fn draw(&self, number: u64) -> u64 {
        let Here {
            routing, site, packet, ..
        } = self.here;
        mix(routing.seed ^ routing.moment(packet, site.router) ^ routing.identity(packet) ^ number)
    }

    fn best(&self, list: &Candidates, number: u64, score: &mut dyn FnMut(u32) -> u64) -> Option<(u64, u32)> {
        list.best(self.dally.picks, self.draw(number), score)
    }

    /// The better of the best of both lists, and the phase of a packet that takes it.
    fn preferred(
        &self,
        minimal: &Candidates,
        round: &Candidates,
        score: &mut dyn FnMut(u32) -> u64,
    ) -> (Option<(u64, u32)>, u8) {
        let (minimal, round) = (self.best(minimal, 1, score), self.best(round, 2, score));
        let of = |best: Option<(u64, u32)>| best.map(|(score, _)| score);
        match self.dally.preference {
            Some(preference) if !preference.keeps(of(minimal), of(round)) => (round, ROUND),
            _ => (minimal, 0),
        }
    }

    /// The third group that was drawn for a packet which may go round.
    fn third(&self) -> Option<u32> {
        let DallyPacket {
            dally, here, from, to, ..
        } = self;
        dally.preference?;
        let word = mix(here.routing.seed ^ here.routing.identity(here.packet));
        dally
            .links
            .third(word, dally.links.group(*from), dally.links.group(*to))
    }

    /// The own links to the third group; to another one, drawn of those that there are links to, if there is none.
    fn third_from_here(&self, list: &mut Candidates) {
        list.clear(true);
        let Some(third) = self.third() else {
            return;
        };
        let (links, at) = (&self.dally.links, self.here.site.router);
        let own = global_links(links, self.topology(), at);
        let mut add = |wanted: u32| {
            let to_it = own.clone().filter(|&(_, group)| group == wanted);
            to_it.for_each(|(port, _)| list.add(port..port + 1));
        };
        add(third);
        if !list.is_empty() {
            return;
        }
        let not_these = [links.group(self.from), links.group(self.to)];
        // Ports are in the order of groups.
        let mut before = u32::MAX;
        let groups = own.clone().map(|(_, group)| group).filter(move |&group| {
            let new = group != before;
            before = group;
            new && !not_these.contains(&group)
        });
        let many = groups.clone().count() as u64;
        if many > 0
            && let Some(drawn) = groups.clone().nth(below(self.draw(3), many) as usize)
        {
            let to_it = own.clone().filter(|&(_, group)| group == drawn);
            to_it.for_each(|(port, _)| list.add(port..port + 1));
        }
    }
}

/// All steps, for the proof. State of a packet in its group: the third group plus one if it goes round, else zero; then [`AWAY`].
struct DallySteps<'t> {
    goes_round: bool,
    links: GroupLinks,
    topology: &'t Topology,
    vcs: u8,
}

/// State of a packet in a third group.
const AWAY: u32 = u32::MAX;

impl DallySteps<'_> {
    fn push(&self, ports: std::ops::Range<u32>, vc: u8, state: u32, out: &mut Vec<Step>) {
        out.extend(ports.map(|port| Step {
            port: port as u16,
            vc: vc.min(self.vcs - 1),
            state,
        }));
    }

    fn local(&self, at: u32, to: u32, vc: u8, out: &mut Vec<Step>) {
        let port = self.links.local(self.topology, at, to);
        self.push(port..port + self.links.local, vc, 0, out);
    }

    fn exits(&self, at: u32, group: u32, vc: u8, state: u32, out: &mut Vec<Step>) {
        let exits = || (0..self.links.links).map(|number| self.links.exit(self.topology, at, group, number));
        let own = exits().any(|exit| exit.own);
        exits()
            .filter(|exit| exit.own == own)
            .for_each(|exit| self.push(exit.port..exit.port + exit.ports, vc, state, out));
    }
}

impl RoutingRule for DallySteps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let (source, target) = (self.links.group(at), self.links.group(to));
        if source == target {
            return self.local(at, to, AT_ORIGIN, out);
        }
        self.exits(at, target, AT_ORIGIN, 0, out);
        let groups = if self.goes_round { self.links.groups } else { 0 };
        for third in (0..groups).filter(|&group| group != source && group != target) {
            self.exits(at, third, AT_ORIGIN, third + 1, out);
        }
    }

    fn next(&self, at: u32, port: u16, _vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let (own, target) = (self.links.group(at), self.links.group(to));
        if own == target {
            return self.local(at, to, IN_LAST, out);
        }
        if self.links.is_global(port) || state == AWAY {
            return self.exits(at, target, IN_THIRD, AWAY, out);
        }
        let third = state.checked_sub(1);
        if third.is_none() {
            self.exits(at, target, AT_SECOND, 0, out);
        }
        if self.goes_round {
            for (port, group) in global_links(&self.links, self.topology, at) {
                let goes_there = third.map_or(group != target, |third| group == third);
                if goes_there {
                    self.push(port..port + 1, AT_SECOND, 0, out);
                }
            }
        }
    }

    /// A hop to the second router, a link, a hop, a link, a hop.
    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(if self.goes_round { 5 } else { 3 })
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
