//! `macro-minimal` and `macro-par` on a dragonfly+ with links from every spine to every group: leaves deal packets over the spines in turn, whatever
//! the destination; spines over their links to a group. `macro-par` at a spine of the source's group holds one link of its own to a third group, drawn,
//! against the minimal one, and a third group is left by the spine where it was entered.

use super::draw::ClockDraws;
use super::queue::PacketQueue;
use crate::routing::prelude::*;
use crate::routing::turns::{COUNTER, turn};
use des::Event;
use topo::Step;

/// The routing, ready to run. Counter 0 is that of the spines; counter `group` that of the links there, at spines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpineTurns {
    progressive: bool,
    queue: PacketQueue,
    numbers: SpineNumbers,
    /// What links to third groups are drawn by in place of hashes.
    clock: Option<ClockDraws>,
}

/// The numbers of a dragonfly+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpineNumbers {
    groups: u32,
    leaves: u32,
    spines: u32,
    /// Links of a spine to a group.
    links: u32,
    /// Parallel links between a leaf and a spine.
    local: u32,
}

/// Whether it is a dragonfly+ whose spines have links to every group, all as many.
pub(super) fn is_even(topology: &TopologySpec) -> bool {
    SpineNumbers::of(topology).is_some()
}

impl SpineNumbers {
    /// Those of a dragonfly+ whose spines have links to every group.
    fn of(topology: &TopologySpec) -> Option<SpineNumbers> {
        match topology {
            TopologySpec::DragonflyPlus(spec) if spec.links_per_pair % spec.spines == 0 => Some(SpineNumbers {
                groups: spec.groups,
                leaves: spec.leaves,
                spines: spec.spines,
                links: spec.links_per_pair / spec.spines,
                local: spec.local_width,
            }),
            _ => None,
        }
    }

    fn group(&self, router: u32) -> u32 {
        router / (self.leaves + self.spines)
    }

    fn place(&self, router: u32) -> u32 {
        router % (self.leaves + self.spines)
    }

    /// The first global port of a spine; links to a group follow each other, groups in order without the own one.
    fn first_global(&self) -> u32 {
        self.leaves * self.local
    }

    fn first_to(&self, own: u32, group: u32) -> u32 {
        self.first_global() + (group - u32::from(group > own)) * self.links
    }
}

impl SpineTurns {
    pub(super) fn new(
        (progressive, clock): (bool, Option<ClockDraws>),
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<SpineTurns, BuildError> {
        let Some(numbers) = SpineNumbers::of(topology.spec()) else {
            return refuse(
                "every spine needs as many links to every other group",
                "take links_per_pair = the spines of a group, or a multiple of it",
            );
        };
        Ok(SpineTurns {
            progressive,
            queue: PacketQueue::of(terms),
            numbers,
            clock,
        })
    }
}

impl ReadyRouting for SpineTurns {
    fn draws_by_time(&self) -> bool {
        self.clock.is_some()
    }

    fn vcs(&self, topology: &Topology) -> u8 {
        1 + u8::from(self.progressive && topology.n_groups().is_some_and(|groups| groups > 2))
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(SpineSteps {
            progressive: self.progressive,
            // A smaller network of the kind may stand for the run's.
            numbers: SpineNumbers::of(topology.spec()).unwrap_or(self.numbers),
            topology,
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let (numbers, topology) = (&self.numbers, &net.topology);
        let at = site.router;
        let (from, to) = (
            topology.router_of(packet.source()),
            topology.router_of(packet.destination()),
        );
        let (own, source, target) = (numbers.group(at), numbers.group(from), numbers.group(to));
        let word = mix(routing.seed ^ routing.moment(packet, at) ^ routing.identity(packet));
        let cable = |line: u32| line * numbers.local + below(word, numbers.local.into()) as u32;
        let vc = packet.phase();
        let way = |port: u32, vc: u8| Way::new(port, vc.min(routing.last_vc), vc);
        let place = numbers.place(at);
        if place < numbers.leaves {
            let first = if self.progressive { 0 } else { at };
            let spine = turn(first, wait(COUNTER, 0), numbers.spines);
            return way(cable(spine), vc).in_turn(0);
        }
        if own == target {
            return way(cable(numbers.place(to)), vc);
        }
        let mut seen = self.queue.seen(&here, &mut wait);
        let minimal = numbers.first_to(own, target) + turn(0, seen.count(target), numbers.links);
        if own != source {
            return way(minimal, 1).in_turn(target);
        }
        let thirds = (numbers.groups - 2) * numbers.links;
        if self.progressive && thirds > 0 {
            let to_target = numbers.first_to(own, target) - numbers.first_global();
            let round = match self.clock {
                // Of as many as if there were links to the own group, too.
                Some(clock) => {
                    let group = |link: u32| link / numbers.links;
                    let is_third = |link: u32| group(link) != own && group(link) != target;
                    let drawn = clock.first(packet.time().0, numbers.groups * numbers.links, is_third);
                    drawn.map(|link| numbers.first_to(own, group(link)) + link % numbers.links)
                }
                None => {
                    let drawn = below(mix(word), thirds.into()) as u32;
                    let behind = if drawn >= to_target { numbers.links } else { 0 };
                    Some(numbers.first_global() + drawn + behind)
                }
            };
            if let Some(round) = round.filter(|&round| seen.at(minimal) > 2 * seen.at(round)) {
                return way(round, vc);
            }
        }
        way(minimal, vc).in_turn(target)
    }

    fn sense(&self) -> Option<Sense> {
        self.progressive.then(|| self.queue.sense())
    }

    fn counters(&self) -> u32 {
        self.numbers.groups
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

/// All steps, for the proof. State: the channel, and above it the group of the source.
struct SpineSteps<'t> {
    progressive: bool,
    numbers: SpineNumbers,
    topology: &'t Topology,
    vcs: u8,
}

impl SpineSteps<'_> {
    fn steps(&self, at: u32, to: u32, state: u32, out: &mut Vec<Step>) {
        let numbers = &self.numbers;
        let (own, target, source) = (numbers.group(at), numbers.group(to), state >> 1);
        let mut push = |ports: std::ops::Range<u32>, state: u32| {
            out.extend(ports.map(|port| Step {
                port: port as u16,
                vc: ((state & 1) as u8).min(self.vcs - 1),
                state,
            }));
        };
        if numbers.place(at) < numbers.leaves {
            return push(0..numbers.spines * numbers.local, state);
        }
        if own == target {
            let first = numbers.place(to) * numbers.local;
            return push(first..first + numbers.local, state);
        }
        let minimal = numbers.first_to(own, target);
        if own != source {
            return push(minimal..minimal + numbers.links, state | 1);
        }
        if self.progressive {
            let first = numbers.first_global();
            return push(first..first + (numbers.groups - 1) * numbers.links, state);
        }
        push(minimal..minimal + numbers.links, state);
    }
}

impl RoutingRule for SpineSteps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.steps(at, to, self.numbers.group(at) << 1, out);
        }
    }

    fn next(&self, at: u32, _port: u16, _vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.steps(at, to, state, out);
        }
    }

    /// Up, over, over, down.
    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(4)
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
