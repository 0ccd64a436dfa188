//! Detours over a router for a proof on graphs and on networks that change: every leg by itself, in place of every pair of an intermediate router
//! and a destination.
//!
//! A leg is the topology's minimal way to its end on channels of its own; which packet takes it changes nothing. So all dependencies come
//! about if, for every router, all legs towards it are followed, and where a packet may change legs the first channels of all next legs are
//! taken. That is a few more than packets have: a leg that ends where it begins or a packet that passes its destination is not left out. No
//! cycle among them is none among those of packets; a cycle says nothing.
//!
//! Where a network changes, legs begin anywhere: a packet whose intermediate router is cut off goes on to its destination from where it is.
//!
//! Steps: routers squared. [`DetourRule`](super::DetourRule) takes routers cubed.

use super::Detour;
use std::cell::OnceCell;
use topo::{Came, Hop, MOST_STATES, RoutingRule, Step, Topology};

/// The legs, in the states of packets beside the class of the key.
const MINIMAL: u32 = 0;
const FIRST: u32 = 1;
const SECOND: u32 = 2;
/// On the first channel of a next leg, which is followed from its own start.
const NEXT: u32 = 3;

/// All legs towards a router.
pub struct LegsRule<'t> {
    topology: &'t Topology,
    vcs: u8,
    /// Lowest channel of minimal ways, first legs and second legs.
    base: [u8; 3],
    /// Which of them packets start on.
    starts: &'static [u32],
    /// Detours begin anywhere on a minimal way.
    progressive: bool,
    /// The network changes: legs begin anywhere, and end where there is no way.
    changes: bool,
    /// What detours lead over and which hops they compare; `None` where that is nothing.
    detour: Option<Detour>,
    keys: Vec<u32>,
    /// First hops of ways from each router to any router with nodes; found when a leg begins behind another, which is never where one stands for all.
    exits: OnceCell<Vec<Vec<Hop>>>,
}

impl<'t> LegsRule<'t> {
    /// UGAL, PAR and detours that every packet takes, over any router.
    pub(in crate::routing) fn of_detour(detour: Detour, topology: &'t Topology, vcs: u8) -> Self {
        let detour = detour.on(topology);
        let rule = Self::new(
            topology,
            vcs,
            [0, detour.first, detour.second],
            &[MINIMAL, FIRST, SECOND],
        );
        Self {
            progressive: detour.progressive,
            detour: Some(detour),
            ..rule
        }
    }

    /// Valiant's detours, the second leg on the channels above those of minimal ways.
    pub(in crate::routing) fn of_valiant(topology: &'t Topology, vcs: u8) -> Self {
        Self::new(topology, vcs, [0, 0, topology.minimal_vcs()], &[FIRST, SECOND])
    }

    fn new(topology: &'t Topology, vcs: u8, base: [u8; 3], starts: &'static [u32]) -> Self {
        Self {
            topology,
            vcs,
            base,
            starts,
            progressive: false,
            changes: false,
            detour: None,
            keys: topology.key_classes(),
            exits: OnceCell::new(),
        }
    }

    fn find_exits(&self) -> Vec<Vec<Hop>> {
        let (topology, wiring) = (self.topology, self.topology.wiring());
        let are_alike = topology.treats_nodes_of_a_router_alike();
        let most = if are_alike { 1 } else { usize::MAX };
        let ends: Vec<u32> = (0..topology.n_routers())
            .flat_map(|router| wiring.nodes_of(router).take(most))
            .collect();
        // Where nodes are alike first legs lead as the others do.
        let legs: &[u32] = if are_alike { &[SECOND] } else { &[FIRST, SECOND] };
        let exits = |at: u32| {
            let ends = ends.iter().filter(|&&end| {
                let router = topology.router_of(end);
                router != at && topology.are_joined(at, router)
            });
            let mut hops: Vec<Hop> = Vec::new();
            for (&end, &leg) in ends.flat_map(|end| legs.iter().map(move |leg| (end, leg))) {
                hops.extend(self.keys.iter().map(|&key| self.hop(at, end, Came::INJECTED, leg, key)));
            }
            hops.sort_unstable_by_key(|hop| (hop.port, hop.vc));
            hops.dedup_by_key(|hop| (hop.port, hop.vc));
            hops
        };
        (0..topology.n_routers()).map(exits).collect()
    }

    /// The same on a stage of a network that changes; `None` where the kinds of ways are too many.
    ///
    /// Where each leg has channels of its own, what one depends on within itself all do, a number of channels higher or lower, and from leg to leg
    /// channels only rise: one stands for all. First legs lead to routers, the others to nodes, which may be something else.
    pub(in crate::routing) fn in_time(self) -> Option<Self> {
        let states = (u64::from(NEXT) + 1) * self.keys.len() as u64;
        let are_apart = self.vcs >= self.base[SECOND as usize].saturating_add(self.topology.minimal_vcs());
        let starts: &[u32] = match (are_apart, self.same_for_all_nodes_of_a_router()) {
            (true, true) => &[SECOND],
            (true, false) => &[FIRST, SECOND],
            (false, _) => self.starts,
        };
        (states <= MOST_STATES.into()).then_some(Self {
            changes: true,
            starts,
            ..self
        })
    }

    /// The hop of a leg, on channels counted from its own lowest.
    fn hop(&self, at: u32, end: u32, came: Came, leg: u32, key: u32) -> Hop {
        match leg {
            FIRST => self.topology.minimal_to(at, self.topology.router_of(end), came, key),
            _ => self.topology.minimal(at, end, came, key),
        }
    }

    fn push(&self, hop: Hop, leg: u32, state: u32, out: &mut Vec<Step>) {
        let vc = hop.vc.saturating_add(self.base[leg as usize]).min(self.vcs - 1);
        out.extend((0..hop.links).map(|k| Step {
            port: hop.port + k,
            vc,
            state,
        }));
    }

    /// On towards the end of a leg, with a key of a class.
    fn along(&self, at: u32, end: u32, came: Came, (leg, class): (u32, u32), out: &mut Vec<Step>) {
        let came = Came {
            vc: came.vc.saturating_sub(self.base[leg as usize]),
            ..came
        };
        let (key, state) = (self.keys[class as usize], self.state(leg, class));
        let hop = self.hop(at, end, came, leg, key);
        self.push(hop, leg, state, out);
        let again = |key| Some(self.hop(at, end, came, leg, key));
        if let Some(other) = self.detour.and_then(|detour| detour.other(hop, key, again)) {
            self.push(other, leg, state, out);
        }
    }

    /// Whatever leg of a kind begins here.
    fn begin(&self, at: u32, leg: u32, out: &mut Vec<Step>) {
        let next = self.state(NEXT, 0);
        let exits = self.exits.get_or_init(|| self.find_exits());
        exits[at as usize]
            .iter()
            .for_each(|&hop| self.push(hop, leg, next, out));
    }

    fn state(&self, leg: u32, class: u32) -> u32 {
        leg * self.keys.len() as u32 + class
    }

    /// Whether first legs towards a router may end here: in its group, where detours lead over groups.
    fn may_turn(&self, at: u32, end: u32) -> bool {
        let group = |router| self.topology.group(router);
        self.detour.is_some_and(|detour| detour.to_group) && group(at) == group(self.topology.router_of(end))
    }
}

impl RoutingRule for LegsRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, end: u32, out: &mut Vec<Step>) {
        if self.topology.router_of(end) == at {
            return;
        }
        for &leg in self.starts {
            (0..self.keys.len() as u32).for_each(|class| self.along(at, end, Came::INJECTED, (leg, class), out));
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, end: u32, out: &mut Vec<Step>) {
        let classes = self.keys.len() as u32;
        let (leg, class) = (state / classes, state % classes);
        let ends = self.topology.router_of(end) == at;
        if leg == NEXT || (ends && leg != FIRST) {
            return;
        }
        if ends {
            self.begin(at, SECOND, out);
            return;
        }
        self.along(at, end, Came { port, vc }, (leg, class), out);
        if leg == MINIMAL && self.progressive {
            self.begin(at, FIRST, out);
        }
        if leg == FIRST && self.may_turn(at, end) {
            self.begin(at, SECOND, out);
        }
    }

    fn without_way(&self, at: u32, state: u32, out: &mut Vec<Step>) {
        if state / self.keys.len() as u32 == FIRST {
            self.begin(at, SECOND, out);
        }
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        self.topology.treats_nodes_of_a_router_alike()
    }

    // Detours of PAR begin at routers without nodes, too.
    fn starts_anywhere(&self) -> bool {
        self.progressive || self.changes
    }
}
