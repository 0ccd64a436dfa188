//! A routing on a network that changes: cables go and come back, and packets that set out before a change go on behind it.
//!
//! What the network is at one stage or another is a network of its own, with ports numbered among those that are left there. All of them
//! are parts of one network, the common one, by whose ports dependencies are counted. A packet may be at any router when a stage ends, and
//! may stay there for any number of stages: every step is one of the stage in which the packet came, or of a later one.

use crate::rule::{RoutingRule, Step};
use crate::topology::Topology;

/// A port that is not there.
const GONE: u16 = u16::MAX;

/// The ports of a part of a network by their numbers in the network, and the other way round.
#[derive(Clone, Debug)]
pub struct Renumbered {
    /// First port of each router in the network, and in the part.
    first: Vec<u32>,
    first_in_part: Vec<u32>,
    now: Vec<u16>,
    was: Vec<u16>,
}

impl Renumbered {
    /// Those of `part`; it and `common` are what is left of the same whole network, the part of less.
    pub fn new(common: &Topology, part: &Topology) -> Renumbered {
        let wiring = common.wiring();
        let mut now = vec![GONE; wiring.n_ports() as usize];
        let mut was = vec![GONE; part.wiring().n_ports() as usize];
        for router in 0..common.n_routers() {
            for port in 0..wiring.radix(router) as u16 {
                if let Some(there) = part.port_now(router, common.port_before(router, port)) {
                    now[wiring.port_index(router, port)] = there;
                    was[part.wiring().port_index(router, there)] = port;
                }
            }
        }
        Renumbered {
            first: wiring.port_offset.clone(),
            first_in_part: part.wiring().port_offset.clone(),
            now,
            was,
        }
    }

    /// The number in the part of a network port, if it is there.
    #[inline]
    pub fn in_part(&self, router: u32, port: u16) -> Option<u16> {
        let port = self.now[self.first[router as usize] as usize + usize::from(port)];
        (port != GONE).then_some(port)
    }

    /// The number in the network of a network port of the part.
    #[inline]
    pub fn in_network(&self, router: u32, port: u16) -> u16 {
        self.was[self.first_in_part[router as usize] as usize + usize::from(port)]
    }

    /// Network ports of a router in the part.
    #[inline]
    pub fn radix(&self, router: u32) -> u32 {
        self.first_in_part[router as usize + 1] - self.first_in_part[router as usize]
    }
}

/// A stage of a changing network: what is left in it, the routing there, and how its ports are numbered.
pub type StageRule<'t> = (&'t Topology, Box<dyn RoutingRule + 't>, &'t Renumbered);

/// The rule of packets on a network that passes through stages, one after the other; its ports are those of the common network.
pub struct ChangingRule<'t> {
    stages: Vec<StageRule<'t>>,
    /// The last stage before each that is the same network, if there is one.
    same_before: Vec<Option<usize>>,
}

/// Where the stage is in a packet's state.
const STAGE: u32 = 22;

/// Numbers that a rule may give to the states of its packets where a network changes.
pub const MOST_STATES: u32 = 1 << STAGE;

impl<'t> ChangingRule<'t> {
    /// These stages in their order; `None` where there are more than a state tells apart.
    pub fn new(stages: Vec<StageRule<'t>>) -> Option<ChangingRule<'t>> {
        let same_before = |stage: usize| (0..stage).rfind(|&before| std::ptr::eq(stages[before].0, stages[stage].0));
        let same_before = (0..stages.len()).map(same_before).collect();
        (stages.len() < 1 << (u32::BITS - STAGE)).then_some(ChangingRule { stages, same_before })
    }

    /// The stages in which a packet may be from a stage on, each network once: whoever is in one for the first time may come to all that follow.
    fn from(&self, since: usize) -> impl Iterator<Item = (usize, &StageRule<'t>)> {
        let is_first = move |(stage, _): &(usize, _)| self.same_before[*stage].is_none_or(|before| before < since);
        self.stages.iter().enumerate().skip(since).filter(is_first)
    }

    fn push(&self, stage: usize, at: u32, steps: &mut Vec<Step>, out: &mut Vec<Step>) {
        let ports = self.stages[stage].2;
        out.extend(steps.drain(..).map(|step| Step {
            port: ports.in_network(at, step.port),
            state: (stage as u32) << STAGE | step.state,
            ..step
        }));
    }
}

impl RoutingRule for ChangingRule<'_> {
    fn vcs(&self) -> usize {
        self.stages.iter().map(|(_, rule, _)| rule.vcs()).max().unwrap_or(1)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let mut steps = Vec::new();
        for (stage, (topology, rule, _)) in self.from(0) {
            if topology.are_joined(at, topology.router_of(dst)) {
                rule.start(at, dst, &mut steps);
                self.push(stage, at, &mut steps, out);
            }
        }
    }

    /// Where a stage has not the cable that the packet came by, the packet is lost.
    fn next(&self, at: u32, came_port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let (since, state) = ((state >> STAGE) as usize, state & ((1 << STAGE) - 1));
        let mut steps = Vec::new();
        for (stage, (topology, rule, ports)) in self.from(since) {
            let Some(came) = ports.in_part(at, came_port) else {
                continue;
            };
            match topology.are_joined(at, topology.router_of(dst)) {
                true => rule.next(at, came, vc, state, dst, &mut steps),
                false => rule.without_way(at, state, &mut steps),
            }
            self.push(stage, at, &mut steps, out);
        }
    }

    fn starts_anywhere(&self) -> bool {
        self.stages.iter().any(|(_, rule, _)| rule.starts_anywhere())
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        self.stages
            .iter()
            .all(|(_, rule, _)| rule.same_for_all_nodes_of_a_router())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadlock::check;
    use crate::{FailKind, FailSpec, Lattice, MinimalRule, TopologySpec};

    #[test]
    fn a_network_that_comes_back_is_followed_once_and_leaves_nothing_out() {
        let torus = TopologySpec::Torus(Lattice {
            shape: vec![4, 3],
            width: Vec::new(),
            nodes_per_router: 1,
        });
        let whole = torus.build().unwrap();
        let stage = |count, seed| {
            let cables = match count {
                0 => FailSpec::default(),
                _ => FailSpec::random(FailKind::Cables, count, seed),
            };
            let failed = whole.failed(&cables, None).unwrap();
            whole.clone().left_of(failed, true).unwrap().with_channels(9)
        };
        for seed in 0..8 {
            let stages = [stage(0, seed), stage(2, seed), stage(1, seed + 100)];
            let again = stages.clone();
            let ports = stages.each_ref().map(|stage| Renumbered::new(&whole, stage));
            let verdict = |order: &[&'_ Topology]| {
                let number = |topology: &Topology| {
                    let all = stages.iter().chain(&again);
                    all.map(std::ptr::from_ref)
                        .position(|one| std::ptr::eq(one, topology))
                        .unwrap()
                        % stages.len()
                };
                let rules = order.iter().map(|&topology| {
                    let rule: Box<dyn RoutingRule> = Box::new(MinimalRule::new(topology));
                    (topology, rule, &ports[number(topology)])
                });
                check(&whole, &ChangingRule::new(rules.collect()).unwrap())
            };
            // The same network twice, or another one that is like it.
            let [a, b, c] = stages.each_ref();
            for (order, apart) in [
                ([a, b, a, c], [a, b, &again[0], c]),
                ([a, b, c, b], [a, b, c, &again[1]]),
                ([a, b, a, b], [a, b, &again[0], &again[1]]),
            ] {
                let found = verdict(&order);
                assert!(found.is_free());
                assert_eq!(found, verdict(&apart), "seed {seed}");
            }
        }
    }
}
