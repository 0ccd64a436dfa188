//! CODES' dragonfly-plus, progressive adaptive: the ways of a packet by the place of its router.
//!
//! | at | minimal | round |
//! |---|---|---|
//! | the source's leaf | to spines with links to the destination's group, once for each link | the same to the third group |
//! | a spine of the source's group | own links to the destination's group | own links to the third group; without such to another one, drawn of those it is linked to |
//! | the spine by which a third group is entered | own links to the destination's group | every leaf |
//! | a leaf of a third group | as at the source's leaf, on the second channel from here on | |
//! | the destination's group | up to any spine, down to the leaf | |
//!
//! Every router of the source's group decides afresh. A packet is on the second channel once it has turned to the destination's group in a
//! third one. Spines of a third group send packets down unless `spines_go_on`.

use super::Preference;
use super::candidates::{Candidates, Picks, with_lists};
use super::dfp_par::DfpSpec;
use crate::routing::prelude::*;
use topo::Step;

/// The numbers of a dragonfly+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DfpGroups {
    groups: u32,
    leaves: u32,
    spines: u32,
    /// Links between two groups.
    links: u32,
    /// Parallel links between a leaf and a spine.
    local: u32,
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DfpPlace {
    SourceLeaf,
    SourceSpine,
    ThirdSpine,
    ThirdLeaf,
    LastLeaf,
    LastSpine,
}

impl DfpGroups {
    fn of(topology: &TopologySpec) -> Option<DfpGroups> {
        match topology {
            TopologySpec::DragonflyPlus(spec) => Some(DfpGroups {
                groups: spec.groups,
                leaves: spec.leaves,
                spines: spec.spines,
                links: spec.links_per_pair,
                local: spec.local_width,
            }),
            _ => None,
        }
    }

    /// Group and place in it.
    fn split(&self, router: u32) -> (u32, u32) {
        let size = self.leaves + self.spines;
        (router / size, router % size)
    }

    fn group(&self, router: u32) -> u32 {
        self.split(router).0
    }

    fn place(&self, at: u32, from: u32, to: u32) -> DfpPlace {
        let (group, i) = self.split(at);
        let is_leaf = i < self.leaves;
        match (group == self.group(to), group == self.group(from)) {
            (true, _) if is_leaf => DfpPlace::LastLeaf,
            (true, _) => DfpPlace::LastSpine,
            (_, true) if is_leaf => DfpPlace::SourceLeaf,
            (_, true) => DfpPlace::SourceSpine,
            _ if is_leaf => DfpPlace::ThirdLeaf,
            _ => DfpPlace::ThirdSpine,
        }
    }

    /// The ports of a leaf to a spine.
    fn up(&self, spine: u32) -> std::ops::Range<u32> {
        let line = self.split(spine).1 - self.leaves;
        line * self.local..(line + 1) * self.local
    }

    /// The ports of a spine to a leaf.
    fn down(&self, leaf: u32) -> std::ops::Range<u32> {
        let line = self.split(leaf).1;
        line * self.local..(line + 1) * self.local
    }

    /// The ports of a leaf to the spines with links to a group, once for each link.
    fn ways_up(&self, topology: &Topology, at: u32, group: u32) -> impl Iterator<Item = std::ops::Range<u32>> {
        let links = (0..self.links).filter_map(move |number| topology.global_link(self.group(at), group, number));
        links.map(|link| self.up(link.router)).collect::<Vec<_>>().into_iter()
    }

    /// The global links of a spine: port and group.
    fn global_links<'t>(&self, topology: &'t Topology, at: u32) -> impl Iterator<Item = (u32, u32)> + Clone + 't {
        let (own, wiring) = (*self, topology.wiring());
        let degree = wiring.port_offset[at as usize + 1] - wiring.port_offset[at as usize];
        let first = own.leaves * own.local;
        (first..degree).map(move |port| (port, own.group(wiring.peer(at, port as u16).0)))
    }

    /// Any group but two, drawn; `None` if there is none.
    fn third(&self, word: u64, source: u32, target: u32) -> Option<u32> {
        if self.groups < 3 || source == target {
            return None;
        }
        let drawn = below(word, u64::from(self.groups - 2)) as u32;
        let mut others = (0..self.groups).filter(|&group| group != source && group != target);
        others.nth(drawn as usize)
    }
}

/// The routing, ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dfp {
    preference: Preference,
    picks: Picks,
    leaves_go_round: bool,
    spines_go_on: bool,
    groups: DfpGroups,
}

impl Dfp {
    pub(super) fn new(preference: Preference, spec: &DfpSpec, topology: &Topology) -> Result<Dfp, BuildError> {
        let Some(groups) = DfpGroups::of(topology.spec()) else {
            return refuse("it needs a dragonfly+", "take \"par\", which every topology has");
        };
        Ok(Dfp {
            preference,
            picks: Picks::Offset(spec.global_picks.into()),
            leaves_go_round: spec.leaves_go_round,
            spines_go_on: spec.spines_go_on,
            groups,
        })
    }
}

impl ReadyRouting for Dfp {
    fn vcs(&self, topology: &Topology) -> u8 {
        1 + u8::from(topology.n_groups().is_some_and(|groups| groups > 2))
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(DfpSteps {
            // A smaller network of the kind may stand for the run's.
            dfp: Dfp {
                groups: DfpGroups::of(topology.spec()).unwrap_or(self.groups),
                ..*self
            },
            topology,
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (topology, packet) = (&here.net.topology, here.packet);
        let going = DfpPacket {
            here,
            dfp: self,
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

/// A packet on its way. Its phase is its channel: 1 once it has turned to the destination's group in a third one.
struct DfpPacket<'a> {
    here: Here<'a>,
    dfp: &'a Dfp,
    from: u32,
    to: u32,
}

impl DfpPacket<'_> {
    fn way(&self, score: &mut dyn FnMut(u32) -> u64) -> Way {
        let DfpPacket { here, from, to, .. } = *self;
        let groups = &self.dfp.groups;
        let at = here.site.router;
        let turned = here.packet.phase();
        let last_vc = here.routing.last_vc;
        if at == to {
            return here.eject(turned);
        }
        let place = groups.place(at, from, to);
        with_lists(|minimal, round| {
            self.minimal_links(place, minimal);
            self.links_round(place, turned, round);
            let minimal = minimal.best(self.dfp.picks, self.draw(1), &mut *score);
            let round = round.best(self.dfp.picks, self.draw(2), &mut *score);
            let of = |best: Option<(u64, u32)>| best.map(|(score, _)| score);
            let keeps = match place {
                // Down, whatever the scores are.
                DfpPlace::ThirdSpine if !self.dfp.spines_go_on => round.is_none(),
                _ => self.dfp.preference.keeps(of(minimal), of(round)),
            };
            let in_third = matches!(place, DfpPlace::ThirdSpine | DfpPlace::ThirdLeaf);
            let turned = if in_third && keeps { 1 } else { turned };
            let port = if keeps { minimal } else { round };
            Way::new(port.map_or(0, |(_, port)| port), turned.min(last_vc), turned)
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

    fn minimal_links(&self, place: DfpPlace, list: &mut Candidates) {
        let (groups, at) = (&self.dfp.groups, self.here.site.router);
        let target = groups.group(self.to);
        match place {
            DfpPlace::SourceLeaf | DfpPlace::ThirdLeaf => groups
                .ways_up(self.topology(), at, target)
                .for_each(|ports| list.add(ports)),
            DfpPlace::SourceSpine | DfpPlace::ThirdSpine => self.own_links(target, list),
            DfpPlace::LastLeaf => list.add(0..groups.spines * groups.local),
            DfpPlace::LastSpine => list.add(groups.down(self.to)),
        }
    }

    fn links_round(&self, place: DfpPlace, turned: u8, list: &mut Candidates) {
        let DfpPacket {
            here, dfp, from, to, ..
        } = *self;
        let groups = &dfp.groups;
        let at = here.site.router;
        let third = || {
            let word = mix(here.routing.seed ^ here.routing.identity(here.packet));
            groups.third(word, groups.group(from), groups.group(to))
        };
        match place {
            DfpPlace::SourceLeaf if dfp.leaves_go_round => {
                let ways = third().map(|third| groups.ways_up(self.topology(), at, third));
                ways.into_iter().flatten().for_each(|ports| list.add(ports));
            }
            DfpPlace::SourceSpine => {
                let Some(third) = third() else {
                    return;
                };
                self.own_links(third, list);
                if list.is_empty()
                    && let Some(drawn) = self.linked_group()
                {
                    self.own_links(drawn, list);
                }
            }
            DfpPlace::ThirdSpine if turned == 0 => list.add(0..groups.leaves * groups.local),
            DfpPlace::SourceLeaf
            | DfpPlace::ThirdSpine
            | DfpPlace::ThirdLeaf
            | DfpPlace::LastLeaf
            | DfpPlace::LastSpine => {}
        }
    }

    /// The own links of a spine to a group.
    fn own_links(&self, group: u32, list: &mut Candidates) {
        list.clear(true);
        let own = self.dfp.groups.global_links(self.topology(), self.here.site.router);
        own.filter(|&(_, other)| other == group)
            .for_each(|(port, _)| list.add(port..port + 1));
    }

    /// A third group, drawn of those that the spine has links to.
    fn linked_group(&self) -> Option<u32> {
        let groups = &self.dfp.groups;
        let not_these = [groups.group(self.from), groups.group(self.to)];
        // Ports are in the order of groups.
        let mut before = u32::MAX;
        let own = groups.global_links(self.topology(), self.here.site.router);
        let linked = own.map(|(_, group)| group).filter(move |&group| {
            let new = group != before;
            before = group;
            new && !not_these.contains(&group)
        });
        let many = linked.clone().count() as u64;
        if many == 0 {
            return None;
        }
        linked.clone().nth(below(self.draw(3), many) as usize)
    }
}

/// All steps, for the proof. State: that the packet has turned to the destination's group in a third one, and its source's group.
struct DfpSteps<'t> {
    dfp: Dfp,
    topology: &'t Topology,
    vcs: u8,
}

impl DfpSteps<'_> {
    fn push(&self, ports: std::ops::Range<u32>, state: u32, out: &mut Vec<Step>) {
        let turned = (state & 1) as u8;
        out.extend(ports.map(|port| Step {
            port: port as u16,
            vc: turned.min(self.vcs - 1),
            state,
        }));
    }

    /// DfpSteps over own links of a spine to groups.
    fn over(&self, at: u32, goes_there: impl Fn(u32) -> bool, state: u32, out: &mut Vec<Step>) {
        for (port, group) in self.dfp.groups.global_links(self.topology, at) {
            if goes_there(group) {
                self.push(port..port + 1, state, out);
            }
        }
    }

    fn steps(&self, at: u32, to: u32, state: u32, out: &mut Vec<Step>) {
        let groups = &self.dfp.groups;
        let ((source, turned), target) = ((state >> 1, state & 1), groups.group(to));
        let (group, i) = groups.split(at);
        let has_turned = state | 1;
        let up = |group: u32, state: u32, out: &mut Vec<Step>| {
            let ways = groups.ways_up(self.topology, at, group);
            ways.for_each(|ports| self.push(ports, state, out));
        };
        match (i < groups.leaves, group) {
            (true, _) if group == target => self.push(0..groups.spines * groups.local, state, out),
            (false, _) if group == target => self.push(groups.down(to), state, out),
            (true, _) if group == source => {
                up(target, state, out);
                if self.dfp.leaves_go_round {
                    let thirds = (0..groups.groups).filter(|&third| third != source && third != target);
                    thirds.for_each(|third| up(third, state, out));
                }
            }
            (false, _) if group == source => self.over(at, |_| true, state, out),
            (true, _) => up(target, has_turned, out),
            (false, _) => {
                if turned == 1 || self.dfp.spines_go_on {
                    self.over(at, |group| group == target, has_turned, out);
                }
                if turned == 0 {
                    self.push(0..groups.leaves * groups.local, state, out);
                }
            }
        }
    }
}

impl RoutingRule for DfpSteps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.steps(at, to, self.dfp.groups.group(at) << 1, out);
        }
    }

    fn next(&self, at: u32, _port: u16, _vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.steps(at, to, state, out);
        }
    }

    /// A hop up, a link, down, up, a link, down.
    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(6)
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
