//! Detours over a router for a proof on graphs: every leg by itself, in place of every pair of an intermediate router and a destination.
//!
//! On a graph a leg is the topology's minimal way to its end on channels of its own; which packet takes it changes nothing. So all
//! dependencies come about if, for every router, all legs towards it are followed, and where a packet may change legs the first
//! channels of all next legs are taken. That is a few more than packets have: a leg that ends where it begins or a packet that passes its
//! destination is not left out. No cycle among them is none among those of packets; a cycle says nothing.
//!
//! Steps: routers squared. [`DetourRule`](super::DetourRule) takes routers cubed.

use super::Detour;
use topo::{Came, Hop, RoutingRule, Step, Topology};

/// States of a packet.
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
    /// First hops of ways from each router to any router with nodes.
    exits: Vec<Vec<Hop>>,
}

impl<'t> LegsRule<'t> {
    /// UGAL, PAR and detours that every packet takes, over any router.
    pub(in crate::routing) fn of_detour(detour: Detour, topology: &'t Topology, vcs: u8) -> Self {
        let detour = detour.on(topology);
        let base = [0, detour.first, detour.second];
        Self::new(topology, vcs, base, &[MINIMAL, FIRST, SECOND], detour.progressive)
    }

    /// Valiant's detours, the second leg on the channels above those of minimal ways.
    pub(in crate::routing) fn of_valiant(topology: &'t Topology, vcs: u8) -> Self {
        Self::new(topology, vcs, [0, 0, topology.minimal_vcs()], &[FIRST, SECOND], false)
    }

    fn new(topology: &'t Topology, vcs: u8, base: [u8; 3], starts: &'static [u32], progressive: bool) -> Self {
        let ends: Vec<u32> = (0..topology.n_routers())
            .filter_map(|r| topology.wiring().nodes_of(r).next())
            .collect();
        let exits = |at: u32| {
            let hops = ends
                .iter()
                .filter(|&&end| topology.router_of(end) != at)
                .map(|&end| topology.minimal(at, end, Came::INJECTED, 0));
            let mut hops: Vec<Hop> = hops.collect();
            hops.sort_unstable_by_key(|hop| hop.port);
            hops.dedup_by_key(|hop| hop.port);
            hops
        };
        Self {
            topology,
            vcs,
            base,
            starts,
            progressive,
            exits: (0..topology.n_routers()).map(exits).collect(),
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

    /// On towards the end of a leg.
    fn along(&self, at: u32, end: u32, came: Came, leg: u32, out: &mut Vec<Step>) {
        let came = Came {
            vc: came.vc.saturating_sub(self.base[leg as usize]),
            ..came
        };
        self.push(self.topology.minimal(at, end, came, 0), leg, leg, out);
    }

    /// Whatever leg of a kind begins here.
    fn begin(&self, at: u32, leg: u32, out: &mut Vec<Step>) {
        self.exits[at as usize]
            .iter()
            .for_each(|&hop| self.push(hop, leg, NEXT, out));
    }
}

impl RoutingRule for LegsRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, end: u32, out: &mut Vec<Step>) {
        if self.topology.router_of(end) != at {
            self.starts
                .iter()
                .for_each(|&leg| self.along(at, end, Came::INJECTED, leg, out));
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, end: u32, out: &mut Vec<Step>) {
        let ends = self.topology.router_of(end) == at;
        if state == NEXT || (ends && state != FIRST) {
            return;
        }
        if ends {
            self.begin(at, SECOND, out);
            return;
        }
        self.along(at, end, Came { port, vc }, state, out);
        if state == MINIMAL && self.progressive {
            self.begin(at, FIRST, out);
        }
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }

    // Detours of PAR begin at routers without nodes, too.
    fn starts_anywhere(&self) -> bool {
        self.progressive
    }
}
