//! All steps of the dragonfly's routings, for the proof: every link of which a packet could have the number, every third group, every router to
//! go round by. What a packet remembers is its third group, the number of its link and whether it makes for the one or the other.

use super::{Dragonfly, GroupLinks, Rule, WayStage};
use crate::routing::prelude::*;
use topo::{Came, Step};

/// State of a packet that takes no more decisions.
const DECIDED: u32 = 0;

/// What a packet remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownWay {
    /// The third group, if it may go over one.
    third: Option<u32>,
    /// The number of the link it makes for.
    number: u32,
    /// It makes for the third group.
    round: bool,
}

/// The rule.
pub(super) struct Steps<'t> {
    rule: Rule,
    links: GroupLinks,
    topology: &'t Topology,
    vcs: u8,
    step_inside: u8,
}

impl<'t> Steps<'t> {
    pub(super) fn new(dragonfly: &Dragonfly, topology: &'t Topology, vcs: u8) -> Self {
        // A smaller network of the kind may stand for the run's.
        let links = GroupLinks::numbers(topology.spec()).unwrap_or(dragonfly.links);
        Steps {
            rule: dragonfly.rule,
            links,
            topology,
            vcs,
            step_inside: dragonfly.rule.step_inside(),
        }
    }

    fn state(&self, memory: KnownWay) -> u32 {
        let third = memory.third.map_or(0, |group| group + 1);
        1 + (third * self.links.links + memory.number) * 2 + u32::from(memory.round)
    }

    fn memory(&self, state: u32) -> KnownWay {
        let word = state.saturating_sub(1);
        let (third, number) = (word / 2 / self.links.links, word / 2 % self.links.links);
        KnownWay {
            third: third.checked_sub(1),
            number,
            round: word & 1 != 0,
        }
    }

    fn push(&self, ports: std::ops::Range<u32>, vc: u8, state: u32, out: &mut Vec<Step>) {
        out.extend(ports.map(|port| Step {
            port: port as u16,
            vc: vc.min(self.vcs - 1),
            state,
        }));
    }

    fn local(&self, (at, to): (u32, u32), vc: u8, out: &mut Vec<Step>) {
        let port = self.links.local(self.topology, at, to);
        self.push(port..port + self.links.local, vc, DECIDED, out);
    }

    fn exit(&self, at: u32, to: u32, memory: KnownWay, vc: u8, out: &mut Vec<Step>) {
        let exit = self.links.exit(self.topology, at, to, memory.number);
        self.push(exit.port..exit.port + exit.ports, vc, self.state(memory), out);
    }

    /// The third groups of a packet between two groups.
    fn thirds(&self, source: u32, target: u32) -> impl Iterator<Item = u32> {
        let groups = if self.rule.goes_round() { self.links.groups } else { 0 };
        (0..groups).filter(move |&group| group != source && group != target)
    }

    fn at_source(&self, at: u32, to: u32, out: &mut Vec<Step>) {
        let (source, target) = (self.links.group(at), self.links.group(to));
        let only_round = self.rule == Rule::Valiant && self.links.groups > 2;
        for number in 0..self.links.links {
            let memory = |third, round| KnownWay { third, number, round };
            if !only_round {
                self.exit(at, target, memory(None, false), 0, out);
            }
            for third in self.thirds(source, target) {
                if !only_round {
                    self.exit(at, target, memory(Some(third), false), 0, out);
                }
                self.exit(at, third, memory(Some(third), true), 0, out);
            }
        }
    }

    fn inside(&self, at: u32, to: u32, out: &mut Vec<Step>) {
        self.local((at, to), 0, out);
        if self.rule.goes_round() {
            let first = self.links.group(at) * self.links.routers;
            let others = (first..first + self.links.routers).filter(|&other| other != at && other != to);
            others.for_each(|other| self.local((at, other), 0, out));
        }
    }

    fn at_gateway(&self, at: u32, target: u32, memory: KnownWay, out: &mut Vec<Step>) {
        let made_for = memory.third.filter(|_| memory.round).unwrap_or(target);
        self.exit(at, made_for, memory, 0, out);
        let Some(third) = memory.third.filter(|_| self.rule == Rule::Ugal) else {
            return;
        };
        let other = if memory.round { target } else { third };
        if self.links.exit(self.topology, at, other, memory.number).own {
            let round = !memory.round;
            self.exit(at, other, KnownWay { round, ..memory }, 0, out);
        }
    }

    fn at_entry(&self, at: u32, target: u32, memory: KnownWay, vc: u8, out: &mut Vec<Step>) {
        let same = self.rule == Rule::Valiant;
        for number in (0..self.links.links).filter(|&number| !same || number == memory.number) {
            let memory = KnownWay {
                third: None,
                number,
                round: false,
            };
            self.exit(at, target, memory, vc, out);
        }
    }
}

impl RoutingRule for Steps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        match self.links.stage(at, Came::INJECTED, at, to) {
            _ if at == to => {}
            WayStage::Inside => self.inside(at, to, out),
            _ => self.at_source(at, to, out),
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let (target, memory) = (self.links.group(to), self.memory(state));
        let beyond = self.links.is_global(port);
        let vc = vc + u8::from(beyond);
        if self.links.group(at) == target {
            let vc = if beyond { vc } else { vc + self.step_inside };
            return self.local((at, to), vc, out);
        }
        match (beyond, vc) {
            (true, _) => self.at_entry(at, target, memory, vc, out),
            // No packet has left its group on channel 0.
            (false, 0) => self.at_gateway(at, target, memory, out),
            (false, _) => self.exit(at, target, memory, vc, out),
        }
    }

    /// A hop, a link, a hop, and as much again behind a third group, but a hop less.
    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(if self.rule.goes_round() { 5 } else { 3 })
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
