//! UGAL, PAR and Valiant's detours as a set of steps, for the proof.

use super::Detour;
use topo::{Came, Hop, RoutingRule, Step, Topology};

/// UGAL or PAR with all draws. State: zero on the second leg, the intermediate's number plus one on the first, then minimal in the
/// source group (or anywhere where there are none), then minimal behind it; each with the key's class beside it.
pub(in crate::routing) struct DetourRule<'t> {
    detour: Detour,
    topology: &'t Topology,
    keys: Vec<u32>,
    vcs: u8,
    intermediates: Vec<u32>,
}

impl<'t> DetourRule<'t> {
    pub(in crate::routing) fn new(detour: Detour, topology: &'t Topology, vcs: u8) -> Self {
        DetourRule {
            detour: detour.on(topology),
            topology,
            keys: topology.key_classes(),
            vcs,
            intermediates: (0..topology.n_routers())
                .filter(|&r| !topology.wiring().nodes_of(r).is_empty())
                .collect(),
        }
    }

    fn minimal_state(&self) -> u32 {
        self.intermediates.len() as u32 + 1
    }

    fn push(&self, at: u32, dst: u32, came: Came, state: u32, out: &mut Vec<Step>) {
        let (topology, detour) = (self.topology, &self.detour);
        let (leg, class) = (state / self.keys.len() as u32, state % self.keys.len() as u32);
        let key = self.keys[class as usize];
        let to = topology.router_of(dst);
        let mut add = |hop: Hop, leg: u32| {
            out.extend((0..hop.links).map(|k| Step {
                port: hop.port + k,
                vc: hop.vc.min(self.vcs - 1),
                state: leg * self.keys.len() as u32 + class,
            }));
        };
        let both = |way: &dyn Fn(u32) -> Hop, leg: u32, add: &mut dyn FnMut(Hop, u32)| {
            add(way(key), leg);
            if let Some(other) = detour.other(way(key), key, |key| Some(way(key))) {
                add(other, leg);
            }
        };
        let via = leg.checked_sub(1).and_then(|i| self.intermediates.get(i as usize));
        match via {
            Some(&via) if !detour.turns(topology, at, via, to) => {
                both(&|key| detour.first_leg(topology, at, via, came, key), leg, &mut add);
            }
            Some(_) => both(
                &|key| detour.second_leg(topology, at, dst, Came::INJECTED, key),
                0,
                &mut add,
            ),
            None if leg == 0 => both(&|key| detour.second_leg(topology, at, dst, came, key), 0, &mut add),
            None => both(&|key| topology.minimal(at, dst, came, key), leg, &mut |hop, leg| {
                let left = topology.group(topology.wiring().peer(at, hop.port).0) != topology.group(at);
                add(hop, leg.max(self.minimal_state() + u32::from(left)));
            }),
        }
    }

    /// All detours that a packet may begin at a router.
    fn detours(&self, at: u32, dst: u32, class: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        for (i, &via) in (1..).zip(&self.intermediates) {
            let key = self.keys[class as usize];
            if self.detour.fits(self.topology, via, at, to)
                && self.detour.begin(self.topology, at, via, to, key).is_some()
            {
                self.push(at, dst, Came::INJECTED, i * self.keys.len() as u32 + class, out);
            }
        }
    }
}

impl RoutingRule for DetourRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        if self.topology.router_of(dst) == at {
            return;
        }
        let n_keys = self.keys.len() as u32;
        for class in 0..n_keys {
            self.push(at, dst, Came::INJECTED, self.minimal_state() * n_keys + class, out);
            self.detours(at, dst, class, out);
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        // A packet is handed over where its node is, also on its first leg.
        if self.topology.router_of(dst) == at {
            return;
        }
        self.push(at, dst, Came { port, vc }, state, out);
        let n_keys = self.keys.len() as u32;
        if self.detour.progressive && state / n_keys == self.minimal_state() {
            self.detours(at, dst, state % n_keys, out);
        }
    }
}
