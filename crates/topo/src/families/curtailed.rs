//! What is left of a network after failures: the same routers, nodes and names, fewer cables, and ways that lead round what is missing.
//!
//! **Ports** are numbered anew at every router, so that a dead cable is no port: parallel cables that are left stay neighbours, and every
//! array over ports knows live ones alone. Names are those of before.
//!
//! **Ways.** A router is concerned by a failure for those targets towards which a dead bundle of cables led nearer. For these targets every
//! router has a level, which falls with every hop; for all others the family answers as before. On a dragonfly(+) the level counts hops so
//! that a group which still has a link to the target's group uses its own links, each as good as the others, and only a group without one
//! goes over a third group; on all other families it is the distance in what is left. Minimal routing keeps the family's hop where its cable
//! is there and leads to a lower level, and takes another cable of the bundle, or else another neighbour of a lower level, by target, where not.
//!
//! **Channels.** Ways of a family use ports in an order of stages ([`PortStage`]). A hop that keeps to the order stays in its round; one that does
//! not begins the next round, which has channels of its own (two per round where links wrap around, for the dateline of Dally & Seitz 1987).
//! So channels are taken in rising order along every way, and no cycle of waiting is possible. A network without failures needs one round
//! (a dragonfly two, as always); how many rounds what is left needs is counted over all ways.

use super::{CutOrder, Direct, Geometry, LatticeGeometry, MeanDistance, NetworkFamily};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::wiring::Wiring;
use std::collections::VecDeque;
use std::ops::Range;

/// Level of a router from which there is no way.
const CUT_OFF: u16 = u16::MAX;

/// What a hop to a third group costs beside itself on a dragonfly(+): more than any way within a group.
const THIRD_GROUP: u16 = 64;

/// Bytes that levels may take.
const MOST_BYTES: u64 = 1_500_000_000;

/// A port that is no more.
const GONE: u16 = u16::MAX;

/// Levels towards one target.
#[derive(Clone, Debug)]
struct Levels {
    /// By router; [`CUT_OFF`] where there is no way.
    levels: Box<[u16]>,
    /// Fewest hops, where levels count more than hops.
    nearest: Option<Box<[u16]>>,
}

/// A family after failures.
#[derive(Clone, Debug)]
pub(crate) struct Curtailed {
    family: Box<Geometry>,
    /// The cables of before.
    whole: Wiring,
    /// By port of before: its number now, or [`GONE`].
    now: Vec<u16>,
    /// By port of now: its number before.
    was: Vec<u16>,
    /// By port of now.
    stages: Vec<PortStage>,
    /// By target, where one is concerned, or all are taken as such.
    concerned: Vec<Option<Box<Levels>>>,
    /// Targets that no failure concerns, though they are taken as such: all hops that are minimal in the family are.
    as_before: Vec<bool>,
    /// Channels of a round.
    round: u8,
    /// Of packets that begin at nodes.
    vcs: u8,
    /// Of parts of ways that begin anywhere.
    vcs_from_anywhere: u8,
    /// Packets may come from ways of another network, on any channel.
    joins_others: bool,
    diameter: u32,
}

impl Curtailed {
    /// Takes the ports of dead cables, both ends of each, out of a family with the wiring that is given; the wiring of what is left comes with it.
    /// `everywhere`: all targets are taken as concerned.
    ///
    /// # Errors
    /// How many bytes the levels would take, if they are too many.
    pub(crate) fn new(
        family: Geometry,
        whole: Wiring,
        dead: &[bool],
        everywhere: bool,
    ) -> Result<(Curtailed, Wiring), u64> {
        let (wiring, now, was) = without(&whole, dead);
        let stage = |port: usize| {
            let (router, port) = wiring.port_at(port);
            let before = was[wiring.port_index(router, port)];
            family.family().stage(&whole, router, before)
        };
        let stages: Vec<PortStage> = (0..wiring.n_ports() as usize).map(stage).collect();
        let n = whole.n_routers() as usize;
        let grouped = family.routers_per_group().is_some();
        let mut left = Curtailed {
            round: if stages.iter().any(|stage| stage.wraps) { 2 } else { 1 },
            vcs: 1,
            vcs_from_anywhere: 1,
            joins_others: false,
            diameter: family.family().diameter(),
            concerned: vec![None; n],
            as_before: vec![false; n],
            family: Box::new(family),
            whole,
            now,
            was,
            stages,
        };
        let mut concerned = left.concerned_targets(dead);
        if everywhere {
            left.as_before = vec![true; n];
            concerned.iter().for_each(|&to| left.as_before[to as usize] = false);
            concerned = (0..n as u32).collect();
        }
        let bytes = concerned.len() as u64 * n as u64 * if grouped { 4 } else { 2 };
        if bytes > MOST_BYTES {
            return Err(bytes);
        }
        // Ways over one global link begin a second round behind it.
        left.vcs = left.round.max(left.family.family().minimal_vcs());
        for to in concerned {
            let levels = left.levels_towards(&wiring, to);
            // Nothing is sent to a router without nodes.
            if !wiring.nodes_of(to).is_empty() {
                let (vcs, hops) = left.longest(&wiring, to, &levels.levels, false);
                left.vcs = left.vcs.max(vcs);
                left.diameter = left.diameter.max(hops);
                let (vcs, _) = left.longest(&wiring, to, &levels.levels, true);
                left.vcs_from_anywhere = left.vcs_from_anywhere.max(vcs);
            }
            left.concerned[to as usize] = Some(Box::new(levels));
        }
        left.vcs_from_anywhere = left.vcs_from_anywhere.max(left.vcs);
        Ok((left, wiring))
    }

    /// The targets towards which a bundle of cables led nearer that is dead.
    fn concerned_targets(&self, dead: &[bool]) -> Vec<u32> {
        let (n, whole) = (self.whole.n_routers(), &self.whole);
        if self.family.family().is_irregular() {
            return (0..n).collect();
        }
        let mut concerned = vec![false; n as usize];
        let mut hops = HopList::new();
        let is_dead = |router: u32, ports: Range<u16>| ports.clone().all(|port| dead[whole.port_index(router, port)]);
        for router in 0..n {
            for run in whole.runs(router) {
                if !is_dead(router, run.port..run.port + run.links) {
                    continue;
                }
                let Some(per_group) = self.family.routers_per_group() else {
                    for to in (0..n).filter(|&to| to != router) {
                        hops.clear();
                        self.family.minimal_hops(whole, router, to, &mut hops);
                        concerned[to as usize] |= hops
                            .iter()
                            .any(|hop| (hop.port..hop.port + hop.links).contains(&run.port));
                    }
                    continue;
                };
                let (group, other) = (per_group.div(router), per_group.div(run.peer));
                if group == other {
                    // Whatever leaves the group or comes to it may have gone this way.
                    return (0..n).collect();
                }
                let size = per_group.divisor() as usize;
                for group in [group, other] {
                    concerned[group as usize * size..][..size].fill(true);
                }
            }
        }
        (0..n).filter(|&to| concerned[to as usize]).collect()
    }

    /// What a hop adds to the level: one, and more to a third group.
    fn cost(&self, from: u32, peer: u32, to: u32) -> u16 {
        let Some(per_group) = self.family.routers_per_group() else {
            return 1;
        };
        let (here, there) = (per_group.div(from), per_group.div(peer));
        match here == there || there == per_group.div(to) {
            true => 1,
            false => 1 + THIRD_GROUP,
        }
    }

    fn levels_towards(&self, wiring: &Wiring, to: u32) -> Levels {
        let nearest = distances(wiring, to, |_, _| true);
        let Some(per_group) = self.family.routers_per_group() else {
            return Levels {
                levels: nearest.into(),
                nearest: None,
            };
        };
        let home = per_group.div(to);
        let at_home = |router: u32| per_group.div(router) == home;
        let mut levels = distances(wiring, to, |_, peer| at_home(peer));
        let inside = |levels: &[u16], router: u32| at_home(router) && levels[router as usize] != CUT_OFF;
        let entry = 1
            + (home * per_group.divisor()..(home + 1) * per_group.divisor())
                .filter_map(|router| Some(levels[router as usize]).filter(|&level| level != CUT_OFF))
                .max()
                .unwrap_or(0);
        // By rising level, from the routers that have a link to the target's group.
        let doors = (0..wiring.n_routers())
            .filter(|&router| !at_home(router) && wiring.runs(router).any(|run| inside(&levels, run.peer)));
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); usize::from(entry)];
        waiting.push(doors.collect());
        let mut level = usize::from(entry);
        while level < waiting.len() {
            for router in std::mem::take(&mut waiting[level]) {
                if levels[router as usize] != CUT_OFF {
                    continue;
                }
                levels[router as usize] = level as u16;
                for run in wiring.runs(router).filter(|run| levels[run.peer as usize] == CUT_OFF) {
                    // The hop goes the other way: from the neighbour to here.
                    let behind = level + usize::from(self.cost(run.peer, router, to));
                    if behind >= usize::from(CUT_OFF) {
                        continue;
                    }
                    if waiting.len() <= behind {
                        waiting.resize(behind + 1, Vec::new());
                    }
                    waiting[behind].push(run.peer);
                }
            }
            level += 1;
        }
        Levels {
            levels: levels.into(),
            nearest: Some(nearest.into()),
        }
    }

    /// Whether a hop from one router to a neighbour leads on towards a target.
    #[inline]
    fn leads_on(&self, levels: &[u16], from: u32, peer: u32, to: u32) -> bool {
        let (here, there) = (levels[from as usize], levels[peer as usize]);
        there != CUT_OFF && u32::from(there) + u32::from(self.cost(from, peer, to)) <= u32::from(here)
    }

    /// Virtual channels and hops of the longest ways to a target from any router with nodes, or from anywhere.
    fn longest(&self, wiring: &Wiring, to: u32, levels: &[u16], from_anywhere: bool) -> (u8, u32) {
        let n = wiring.n_routers() as usize;
        let mut routers: Vec<u32> = (0..n as u32)
            .filter(|&r| levels[r as usize] != CUT_OFF && r != to)
            .collect();
        routers.sort_unstable_by_key(|&r| std::cmp::Reverse(levels[r as usize]));
        // The highest channel with which a router is reached, by the stage of the last hop.
        let mut reached: Vec<Vec<(PortStage, u8)>> = vec![Vec::new(); n];
        let mut hops = vec![0u32; n];
        let (mut vcs, mut most) = (1, 0);
        for router in routers {
            let came = std::mem::take(&mut reached[router as usize]);
            let injects = from_anywhere || !wiring.nodes_of(router).is_empty();
            if came.is_empty() && !injects {
                continue;
            }
            for run in wiring
                .runs(router)
                .filter(|run| self.leads_on(levels, router, run.peer, to))
            {
                let first = wiring.port_index(router, run.port);
                for &stage in &self.stages[first..first + usize::from(run.links)] {
                    let behind = came.iter().map(|&(before, vc)| self.channel(Some((before, vc)), stage));
                    let first = injects.then(|| self.channel(None, stage));
                    let vc = behind.chain(first).max().unwrap_or(0);
                    vcs = vcs.max(vc.saturating_add(1));
                    let there = &mut reached[run.peer as usize];
                    match there.iter_mut().find(|(known, _)| *known == stage) {
                        Some((_, highest)) => *highest = vc.max(*highest),
                        None => there.push((stage, vc)),
                    }
                }
                let there = hops[run.peer as usize].max(hops[router as usize] + 1);
                hops[run.peer as usize] = there;
                most = most.max(there);
            }
        }
        (vcs, most)
    }

    /// The channel of a hop at a stage behind one at another stage on its channel; injected without one.
    fn channel(&self, before: Option<(PortStage, u8)>, next: PortStage) -> u8 {
        let behind_the_wrap = u8::from(next.wraps);
        let Some((stage, vc)) = before else {
            return behind_the_wrap;
        };
        let round = vc / self.round * self.round;
        let straight = stage.number == next.number && next.line.is_some() && stage.line == next.line;
        if straight && !(next.wraps && vc % self.round == 1) {
            return vc.max(round + behind_the_wrap);
        }
        match next.number > stage.number {
            true => round + behind_the_wrap,
            false => round.saturating_add(self.round).saturating_add(behind_the_wrap),
        }
    }

    /// Virtual channels of ways that begin at any router, where those of packets begin at routers with nodes.
    pub(crate) fn vcs_from_anywhere(&self) -> u8 {
        self.vcs_from_anywhere
    }

    /// Has so many channels, for packets that may come from ways of another network.
    pub(crate) fn take_channels(&mut self, vcs: u8) {
        (self.vcs, self.vcs_from_anywhere, self.joins_others) = (vcs, vcs, true);
    }

    /// The number before of a port.
    pub(crate) fn port_before(&self, wiring: &Wiring, router: u32, now: u16) -> u16 {
        self.was[wiring.port_index(router, now)]
    }

    /// The number of a port of before, if it is left.
    pub(crate) fn port_now(&self, router: u32, before: u16) -> Option<u16> {
        Some(self.now[self.whole.port_index(router, before)]).filter(|&port| port != GONE)
    }

    /// Ports of now that are left of a hop of before; none if all are gone.
    #[inline]
    fn left_of(&self, at: u32, hop: Hop) -> Option<Hop> {
        let first = self.whole.port_index(at, hop.port);
        let mut live = self.now[first..first + usize::from(hop.links)]
            .iter()
            .filter(|&&port| port != GONE);
        let port = *live.next()?;
        Some(Hop {
            port,
            links: 1 + live.count() as u16,
            ..hop
        })
    }

    /// Ports of now to one neighbour and of one stage, in port order.
    fn bundles<'a>(&'a self, wiring: &'a Wiring, at: u32) -> impl Iterator<Item = (u32, Hop)> + 'a {
        let first = wiring.port_offset[at as usize] as usize;
        let ports = first..wiring.port_offset[at as usize + 1] as usize;
        let mut port = ports.start;
        std::iter::from_fn(move || {
            let (start, peer, stage) = (
                port,
                *wiring.peer_router.get(port).filter(|_| port < ports.end)?,
                self.stages[port],
            );
            while port < ports.end && wiring.peer_router[port] == peer && self.stages[port] == stage {
                port += 1;
            }
            let hop = Hop {
                port: (start - first) as u16,
                links: (port - start) as u16,
                dim: stage.dim,
                vc: 0,
            };
            Some((peer, hop))
        })
    }

    /// The hop instead of the family's one, `word` telling those who get another one apart; none where there is no way.
    fn step(&self, wiring: &Wiring, at: u32, to: u32, family: Hop, came: Came, word: u32) -> Hop {
        if at == to {
            return Hop::EJECT;
        }
        let levels = self.concerned[to as usize].as_deref();
        if levels.is_some_and(|levels| levels.levels[at as usize] == CUT_OFF) {
            return Hop::EJECT;
        }
        let own = self.left_of(at, family);
        let kept = own.filter(|hop| {
            let peer = wiring.peer(at, hop.port).0;
            levels.is_none_or(|levels| self.leads_on(&levels.levels, at, peer, to))
        });
        let mut hop = kept.unwrap_or_else(|| {
            let towards = self.whole.peer(at, family.port).0;
            let good = |peer: u32| match levels {
                Some(levels) => self.leads_on(&levels.levels, at, peer, to),
                None => peer == towards,
            };
            let bundles = || self.bundles(wiring, at).filter(|&(peer, _)| good(peer));
            let ports = bundles().map(|(_, hop)| u32::from(hop.links)).sum::<u32>();
            debug_assert!(ports > 0, "a packet at router {at} has no way to router {to}");
            // One cable among all that are good: by target and by the port that is missing.
            let mut chosen = (word.wrapping_add(u32::from(family.port))) % ports.max(1);
            let found = bundles().find(|(_, hop)| {
                let here = chosen < u32::from(hop.links);
                chosen -= if here { 0 } else { u32::from(hop.links) };
                here
            });
            found.map_or(Hop::EJECT, |(_, hop)| hop)
        });
        let before = (came.port != Came::NONE).then(|| {
            let (peer, back) = wiring.peer(at, came.port);
            (self.stages[wiring.port_index(peer, back)], came.vc)
        });
        let vc = self.channel(before, self.stages[wiring.port_index(at, hop.port)]);
        debug_assert!(
            vc < self.vcs_from_anywhere || self.joins_others || wiring.nodes_of(to).is_empty(),
            "channel {vc} of {} at router {at} for router {to}",
            self.vcs_from_anywhere
        );
        hop.vc = vc.min(self.vcs_from_anywhere - 1);
        hop
    }

    /// The pairs of routers with nodes between which the family's own way crosses a dead bundle: how many of them there are, and the first `most`.
    pub(crate) fn lost_ways(&self, wiring: &Wiring, most: usize) -> (u64, Vec<(u32, u32)>) {
        let n = wiring.n_routers();
        let (mut lost, mut first) = (0, Vec::new());
        let has_nodes = |router: &u32| !wiring.nodes_of(*router).is_empty();
        for to in (0..n).filter(has_nodes) {
            // Not known, kept, lost.
            let mut state = vec![0u8; n as usize];
            state[to as usize] = 1;
            for from in (0..n).filter(has_nodes) {
                let (mut at, mut passed) = (from, Vec::new());
                let end = loop {
                    if state[at as usize] != 0 {
                        break state[at as usize];
                    }
                    let hop = self.family.minimal_to(&self.whole, at, to, Came::INJECTED, 0);
                    passed.push(at);
                    if hop.is_eject() || self.left_of(at, hop).is_none() {
                        break 2;
                    }
                    at = self.whole.peer(at, hop.port).0;
                };
                passed.iter().for_each(|&at| state[at as usize] = end);
                if end == 2 {
                    lost += 1;
                    if first.len() < most {
                        first.push((from, to));
                    }
                }
            }
        }
        (lost, first)
    }
}

/// The wiring without dead ports, each port's number in it, and the number before of each that is left.
fn without(whole: &Wiring, dead: &[bool]) -> (Wiring, Vec<u16>, Vec<u16>) {
    let mut now = vec![GONE; dead.len()];
    for router in 0..whole.n_routers() {
        let ports = (0..whole.radix(router) as u16).filter(|&port| !dead[whole.port_index(router, port)]);
        for (number, port) in (0..).zip(ports) {
            now[whole.port_index(router, port)] = number;
        }
    }
    let live = dead.iter().filter(|&&dead| !dead).count();
    let (n, nodes) = (whole.n_routers() as usize, whole.n_nodes() as usize);
    let mut wiring = Wiring::start(whole.class_names.clone(), n, live, nodes);
    let mut was = Vec::with_capacity(live);
    for router in 0..whole.n_routers() {
        for port in 0..whole.radix(router) as u16 {
            let i = whole.port_index(router, port);
            if now[i] != GONE {
                let (peer, back) = whole.peer(router, port);
                wiring.push_port(peer, now[whole.port_index(peer, back)], whole.class[i]);
                was.push(port);
            }
        }
        wiring.finish_router(whole.nodes_of(router).len() as u32);
    }
    (wiring, now, was)
}

/// Hops to a router from all others over links that a search backwards from it may take (from a router to its neighbour).
fn distances(wiring: &Wiring, to: u32, may: impl Fn(u32, u32) -> bool) -> Vec<u16> {
    let mut hops = vec![CUT_OFF; wiring.n_routers() as usize];
    hops[to as usize] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(router) = queue.pop_front() {
        let behind = hops[router as usize].saturating_add(1).min(CUT_OFF - 1);
        for run in wiring.runs(router) {
            if hops[run.peer as usize] == CUT_OFF && may(router, run.peer) {
                hops[run.peer as usize] = behind;
                queue.push_back(run.peer);
            }
        }
    }
    hops
}

impl NetworkFamily for Curtailed {
    fn has_groups() -> bool {
        false
    }

    #[inline]
    fn router_of(&self, _wiring: &Wiring, node: u32) -> u32 {
        self.family.router_of(&self.whole, node)
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, a: u32, b: u32) -> u32 {
        match &self.concerned[b as usize] {
            Some(towards) => u32::from(towards.nearest.as_ref().unwrap_or(&towards.levels)[a as usize]),
            None => self.family.distance(&self.whole, a, b),
        }
    }

    #[inline]
    fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, key: impl Fn() -> u32) -> Hop {
        let to = self.family.router_of(&self.whole, node);
        if at == to {
            return Hop::EJECT;
        }
        // How the packet came tells a family its virtual channel alone, and those of what is left follow rules of their own.
        let hop = self.family.minimal(&self.whole, at, node, Came::INJECTED, key);
        let word = if self.treats_nodes_of_a_router_alike() {
            to
        } else {
            node
        };
        self.step(wiring, at, to, hop, came, word)
    }

    #[inline]
    fn minimal_to(&self, wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop {
        if at == to {
            return Hop::EJECT;
        }
        let hop = self.family.minimal_to(&self.whole, at, to, Came::INJECTED, key);
        self.step(wiring, at, to, hop, came, to)
    }

    fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        let levels = self.concerned[to as usize].as_ref();
        let Some(levels) = levels.filter(|_| !self.as_before[to as usize]) else {
            self.family.minimal_hops(&self.whole, at, to, out);
            let left: Vec<Hop> = out.iter().filter_map(|&hop| self.left_of(at, hop)).collect();
            out.clear();
            left.into_iter().for_each(|hop| out.push(hop));
            return;
        };
        for (peer, hop) in self.bundles(wiring, at) {
            if self.leads_on(&levels.levels, at, peer, to) {
                out.push(hop);
            }
        }
    }

    fn lattice(&self) -> Option<&LatticeGeometry> {
        self.family.lattice()
    }

    fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
        self.family.lattice_mut()
    }

    fn routers_per_group(&self) -> Option<FastDiv> {
        self.family.routers_per_group()
    }

    fn direct(&self) -> Option<Direct> {
        None
    }

    fn diameter(&self) -> u32 {
        self.diameter
    }

    fn minimal_vcs(&self) -> u8 {
        self.vcs
    }

    fn minimal_bound(&self, _wiring: &Wiring, from: u32, to: u32) -> u32 {
        match &self.concerned[to as usize] {
            Some(towards) if towards.nearest.is_none() => u32::from(towards.levels[from as usize]),
            Some(_) => self.diameter,
            None => self.family.family().minimal_bound(&self.whole, from, to),
        }
    }

    fn keeps_to_distance(&self) -> bool {
        self.family.family().keeps_to_distance()
    }

    fn treats_nodes_of_a_router_alike(&self) -> bool {
        self.family.family().treats_nodes_of_a_router_alike()
    }

    fn choices(&self) -> [Vec<u32>; 2] {
        self.family.family().choices()
    }

    fn stage(&self, wiring: &Wiring, router: u32, port: u16) -> PortStage {
        self.stages[wiring.port_index(router, port)]
    }

    fn is_irregular(&self) -> bool {
        self.family.family().is_irregular()
    }

    fn router_name(&self, router: u32) -> String {
        self.family.family().router_name(router)
    }

    /// As before.
    fn port_name(&self, wiring: &Wiring, router: u32, port: u16) -> Option<(String, u16)> {
        let before = self.was[wiring.port_index(router, port)];
        let family = self.family.family();
        family.port_name(&self.whole, router, before).or_else(|| {
            let mut runs = self.whole.runs(router);
            let run = runs.find(|run| (run.port..run.port + run.links).contains(&before))?;
            Some((format!("to {}", family.router_name(run.peer)), before - run.port))
        })
    }

    fn place(&self, router: u32) -> (f64, f64) {
        self.family.family().place(router)
    }

    fn n_groups(&self) -> Option<u32> {
        self.family.family().n_groups()
    }

    fn group_of(&self, router: u32) -> u32 {
        self.family.family().group_of(router)
    }

    fn group_name(&self, group: u32) -> String {
        self.family.family().group_name(group)
    }

    fn shelf(&self, router: u32) -> u32 {
        self.family.family().shelf(router)
    }

    /// Formulas are for whole networks.
    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        None
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::Unknown
    }

    fn orders(&self) -> Vec<CutOrder<'_>> {
        self.family.family().orders()
    }
}
