//! The routings of Merlin's dragonfly: minimal, over a third group, or whichever of the two their rules choose ([`Rule`]).
//!
//! A packet keeps in its phase which link its router has chosen for the group that it makes for, and whether that is the destination's; the third
//! group itself, and inside a group the router to go round by, follow from the packet. The channel is one further behind every global link,
//! on the way to the node too; inside a group it moves on at the router to go round by.

use super::Buffers;
use crate::packet::Packet;
use crate::routing::group_links::{GroupExit, GroupLinks, WayStage};
use crate::routing::least::Least;
use crate::routing::prelude::*;
use topo::Came;

mod steps;

use steps::Steps;

/// What `ugal` adds to a detour, in flits.
const BIAS: u64 = 50;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The direct one, by the packet's link.
    Minimal,
    /// The direct one, by the link with the least `h q + h`.
    MinA,
    /// Over a third group, by the packet's link.
    Valiant,
    /// The direct one, or over a third group where there is more than so many thousandths of its room.
    AdaptiveLocal(u64),
    /// The direct one, or over a third group if there twice as much and the bias is less.
    Ugal,
}

impl Rule {
    /// Whether some packets go over third groups.
    fn goes_round(self) -> bool {
        !matches!(self, Rule::Minimal | Rule::MinA)
    }

    /// Channels that a packet moves on by at the router by which it goes round inside a group.
    fn step_inside(self) -> u8 {
        match self {
            Rule::Ugal => 2,
            _ => 1,
        }
    }
}

/// One of them, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    rule: Rule,
    links: GroupLinks,
    /// Bytes of a flit.
    flit: u64,
    /// Bytes of an output buffer.
    whole: u64,
}

/// What a packet remembers until it has left its group: which way, and by which of the router's own links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeptLink {
    round: bool,
    place: u32,
}

impl KeptLink {
    fn phase(self) -> u8 {
        (1 + 2 * self.place + u32::from(self.round)) as u8
    }

    fn of(phase: u8) -> KeptLink {
        let word = u32::from(phase.saturating_sub(1));
        KeptLink {
            round: word & 1 != 0,
            place: word >> 1,
        }
    }
}

/// A packet on its way, in the dragonfly's words.
struct Going<'a> {
    here: Here<'a>,
    rule: Rule,
    dragonfly: &'a Dragonfly,
    came: Came,
    from: u32,
    to: u32,
}

impl Dragonfly {
    pub(super) fn new(rule: Rule, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dragonfly, BuildError> {
        let links = GroupLinks::of(topology)?;
        let buffers = Buffers::of(terms)?;
        let whole = match rule {
            Rule::AdaptiveLocal(_) => buffers.bounded()?,
            _ => 0,
        };
        Ok(Dragonfly {
            rule,
            links,
            flit: buffers.flit,
            whole,
        })
    }

    /// Whether there are third groups and packets that go over them.
    fn has_third_groups(&self, groups: u32) -> bool {
        self.rule.goes_round() && groups > 2
    }
}

impl ReadyRouting for Dragonfly {
    fn vcs(&self, topology: &Topology) -> u8 {
        let groups = topology.n_groups().unwrap_or(1);
        let outside = match self.has_third_groups(groups) {
            true => 3,
            false => 1 + u8::from(groups > 1),
        };
        let inside = match self.rule.goes_round() {
            true => 1 + self.rule.step_inside(),
            false => 1,
        };
        outside.max(inside)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(Steps::new(self, topology, vcs))
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (topology, packet) = (&here.net.topology, here.packet);
        let going = Going {
            here,
            rule: self.rule,
            dragonfly: self,
            came: came(here.site, packet),
            from: topology.router_of(packet.source()),
            to: topology.router_of(packet.destination()),
        };
        going.way(&mut wait)
    }

    fn asks_for_cables(&self) -> bool {
        true
    }

    fn leads_to_the_node(&self) -> bool {
        true
    }
}

impl Going<'_> {
    fn way(&self, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let Going { here, came, to, .. } = self;
        let links = self.links();
        let at = here.site.router;
        // The channel that it has from here on.
        let beyond = links.is_global(came.port) && came.port != Came::NONE;
        let vc = (came.vc + u8::from(beyond)).min(here.routing.last_vc);
        if at == *to {
            return here.eject(vc);
        }
        match links.stage(at, *came, self.from, *to) {
            WayStage::Source => self.at_source(wait),
            WayStage::Inside => self.inside(wait),
            WayStage::Gateway => self.at_gateway(wait),
            WayStage::Entry => self.at_entry(vc, wait),
            WayStage::Middle => self.by_link(self.target(), self.chosen(self.target()), vc),
            WayStage::Last if beyond => self.local(*to, vc),
            WayStage::Last => self.local(*to, vc + self.rule.step_inside()),
        }
    }

    fn links(&self) -> &GroupLinks {
        &self.dragonfly.links
    }

    fn packet(&self) -> &Packet {
        self.here.packet
    }

    fn topology(&self) -> &Topology {
        &self.here.net.topology
    }

    fn at(&self) -> u32 {
        self.here.site.router
    }

    /// The destination's group.
    fn target(&self) -> u32 {
        self.links().group(self.to)
    }

    /// A word that stays with the packet.
    fn word(&self) -> u64 {
        mix(self.here.routing.seed ^ self.here.routing.identity(self.packet()))
    }

    /// A word of its own for this router and time.
    fn draw(&self) -> u64 {
        mix(self.here.routing.seed
            ^ self.here.routing.moment(self.packet(), self.at())
            ^ self.here.routing.identity(self.packet()))
    }

    /// The third group of a packet between two groups, if it may go over one.
    fn third(&self) -> Option<u32> {
        let links = self.links();
        if !self.dragonfly.has_third_groups(links.groups) {
            return None;
        }
        links.third(self.word(), links.group(self.from), self.target())
    }

    /// The router by which a packet goes round inside its group: any but the source's, and so perhaps the destination's.
    fn router_inside(&self) -> u32 {
        let links = self.links();
        let first = links.group(self.from) * links.routers;
        let own = self.from - first;
        let drawn = below(self.word(), u64::from(links.routers - 1)) as u32;
        first + drawn + u32::from(drawn >= own)
    }

    fn way_on(&self, port: u32, vc: u8, phase: u8) -> Way {
        Way::new(port, vc.min(self.here.routing.last_vc), phase)
    }

    /// To another router of the group, by the packet's local link.
    fn local(&self, router: u32, vc: u8) -> Way {
        let port = self.links().local(self.topology(), self.at(), router);
        self.way_on(port + self.links().local_number(self.packet()), vc, 0)
    }

    fn exit(&self, group: u32, number: u32) -> GroupExit {
        self.links().exit(self.topology(), self.at(), group, number)
    }

    /// The port of an exit that the packet takes without a choice.
    fn port(&self, exit: GroupExit) -> u32 {
        exit.port + self.links().local_number(self.packet()) % exit.ports
    }

    /// To a group by a link, whose number no packet has to remember.
    fn by_link(&self, group: u32, number: u32, vc: u8) -> Way {
        self.way_on(self.port(self.exit(group, number)), vc, 0)
    }

    /// What a packet that chose a link remembers of it.
    fn phase(&self, group: u32, number: u32, round: bool) -> u8 {
        let place = self.links().place(self.topology(), self.at(), group, number);
        KeptLink { round, place }.phase()
    }

    /// The number of the link that a packet has chosen, at the router that has it.
    fn chosen(&self, group: u32) -> u32 {
        match self.rule {
            Rule::Minimal | Rule::Valiant => self.links().number(self.packet()),
            _ => {
                let KeptLink { place, .. } = KeptLink::of(self.packet().phase());
                self.links().number_of(self.topology(), self.at(), group, place)
            }
        }
    }

    fn at_source(&self, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let (target, third) = (self.target(), self.third());
        match (self.rule, third) {
            (Rule::Minimal, _) | (Rule::Valiant, None) => self.by_link(target, self.chosen(target), 0),
            (Rule::Valiant, Some(third)) => self.by_link(third, self.chosen(third), 0),
            (Rule::MinA, _) => self.least_of_all_links(
                |exit, held| {
                    let hops = 1 + u64::from(!exit.own) + u64::from(exit.peer != self.to);
                    hops * held + hops * self.dragonfly.flit
                },
                wait,
            ),
            (Rule::AdaptiveLocal(ratio), _) => {
                let direct = self.better_of_two(target, 0, wait);
                let round = third.map(|third| (third, self.better_of_two(third, 0, wait)));
                match round {
                    Some((third, round)) if self.has_more_room(round.0, direct.0, ratio) => {
                        self.to_link(third, round, true)
                    }
                    _ => self.to_link(target, direct, false),
                }
            }
            (Rule::Ugal, third) => {
                let mut least = Least::new(self.draw());
                self.offer_links(&mut least, target, false, 0, |_, held| held, wait);
                if let Some(third) = third {
                    let bias = BIAS * self.dragonfly.flit;
                    self.offer_links(&mut least, third, true, 0, |_, held| 2 * held + bias, wait);
                }
                self.taken(least)
            }
        }
    }

    /// To the destination's router of the own group, or round by another one.
    fn inside(&self, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let direct = self.local(self.to, 0);
        if !self.rule.goes_round() {
            return direct;
        }
        let round = self.local(self.router_inside(), 0);
        let mut held = |way: Way| wait(way.port(), 0);
        let goes_round = match self.rule {
            Rule::AdaptiveLocal(ratio) => self.has_more_room(held(round), held(direct), ratio),
            Rule::Ugal => !self.keeps(held(direct), held(round)),
            _ => true,
        };
        if goes_round { round } else { direct }
    }

    /// At another router of the source's group: out of it, by the link that was chosen or, if it has both of that number, by the one
    /// that the rule prefers here.
    fn at_gateway(&self, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let (target, third) = (self.target(), self.third());
        let round = match self.rule {
            Rule::Valiant => true,
            _ => KeptLink::of(self.packet().phase()).round,
        };
        let group = third.filter(|_| round).unwrap_or(target);
        let number = self.chosen(group);
        let (Rule::Ugal, Some(third)) = (self.rule, third) else {
            return self.by_link(group, number, 0);
        };
        let (direct, over) = (self.exit(target, number), self.exit(third, number));
        let takes_direct = match (direct.own, over.own) {
            (true, true) => self.keeps(wait(direct.port, 0), wait(over.port, 0)),
            (direct, _) => direct,
        };
        self.way_on(if takes_direct { direct.port } else { over.port }, 0, 0)
    }

    /// At the router of a third group where it came in: on to the destination's group.
    fn at_entry(&self, vc: u8, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let target = self.target();
        match self.rule {
            Rule::AdaptiveLocal(_) => {
                // It looks at the channel that it came on.
                let better = self.better_of_two(target, self.came.vc, wait);
                let way = self.to_link(target, better, false);
                self.way_on(way.port(), vc, way.phase())
            }
            Rule::Ugal => {
                let mut least = Least::new(self.draw());
                let weight = |exit: GroupExit, held: u64| if exit.own { held } else { 2 * held };
                self.offer_links(&mut least, target, false, vc, weight, wait);
                self.taken(least)
            }
            _ => self.by_link(target, self.links().number(self.packet()), vc),
        }
    }

    /// Offers all links to a group, and all parallel ones to their routers.
    fn offer_links(
        &self,
        least: &mut Least,
        group: u32,
        round: bool,
        vc: u8,
        weight: impl Fn(GroupExit, u64) -> u64,
        wait: &mut dyn FnMut(u32, u8) -> u64,
    ) {
        for number in 0..self.links().links {
            let exit = self.exit(group, number);
            let phase = self.phase(group, number, round);
            for port in exit.port..exit.port + exit.ports {
                least.offer(weight(exit, wait(port, vc)), self.way_on(port, vc, phase));
            }
        }
    }

    /// By one of all links to the destination's group, on the packet's own of parallel ones.
    fn least_of_all_links(&self, weight: impl Fn(GroupExit, u64) -> u64, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let mut least = Least::new(self.draw());
        let target = self.target();
        for number in 0..self.links().links {
            let exit = self.exit(target, number);
            let port = self.port(exit);
            let way = self.way_on(port, 0, self.phase(target, number, false));
            least.offer(weight(exit, wait(port, 0)), way);
        }
        self.taken(least)
    }

    fn taken(&self, least: Least) -> Way {
        // Two groups have at least one link.
        least.best().map_or(Way::new(0, 0, 0), |(_, way)| way)
    }

    /// Of the packet's link to a group and the next one: what the buffer before it holds, and its number. The second if they are equal.
    fn better_of_two(&self, group: u32, vc: u8, wait: &mut dyn FnMut(u32, u8) -> u64) -> (u64, u32) {
        let own = self.links().number(self.packet());
        let next = (own + 1) % self.links().links;
        let mut held = |number: u32| (wait(self.port(self.exit(group, number)), vc), number);
        let (first, second) = (held(own), held(next));
        if first.0 < second.0 { first } else { second }
    }

    fn to_link(&self, group: u32, (_, number): (u64, u32), round: bool) -> Way {
        self.way_on(self.port(self.exit(group, number)), 0, self.phase(group, number, round))
    }

    /// Whether the room beside what a detour's buffer holds is more than that of the direct one times a ratio in thousandths, in whole flits.
    fn has_more_room(&self, round: u64, direct: u64, ratio: u64) -> bool {
        let Dragonfly { whole, flit, .. } = *self.dragonfly;
        let room = |held: u64| whole.saturating_sub(held) / flit;
        room(round) > room(direct) * ratio / 1_000
    }

    /// Whether `ugal` keeps the direct way.
    fn keeps(&self, direct: u64, round: u64) -> bool {
        direct <= 2 * round + BIAS * self.dragonfly.flit
    }
}
