//! A routing as a set of possible steps: what proofs, the route verifier and load estimates ask.

use crate::hop::Came;
use crate::topology::Topology;

/// One way on for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Port to leave by: one cable.
    pub port: u16,
    /// Virtual channel on that cable.
    pub vc: u8,
    /// What the packet remembers from here on, in the rule's own code; small numbers keep a check small.
    pub state: u32,
}

/// A routing as a set of possible steps, for proofs and load estimates. It must be a pure function of its arguments.
pub trait RoutingRule {
    /// Number of virtual channels it uses.
    fn vcs(&self) -> usize;

    /// Adds every first step of a packet injected at router `at` for node `dst`; none if the node is here.
    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>);

    /// Adds every step of a packet that came to router `at` by its port `came_port` on `vc` with `state`; none means it is handed to
    /// its node, which is right only at the node's router.
    fn next(&self, at: u32, came_port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>);

    /// Most router hops from a router to a node, if the rule promises a number; twice the diameter is assumed otherwise.
    fn hop_bound(&self, _at: u32, _dst: u32) -> Option<u32> {
        None
    }

    /// Whether every packet takes exactly [`Topology::distance`] hops.
    fn is_minimal(&self) -> bool {
        false
    }

    /// Whether a check also has to start packets at routers without nodes, because the rule's packets stand for parts of ways.
    fn starts_anywhere(&self) -> bool {
        false
    }

    /// Whether all nodes of a router are reached in the same way, so that one of them stands for all.
    fn same_for_all_nodes_of_a_router(&self) -> bool {
        false
    }
}

impl<R: RoutingRule + ?Sized> RoutingRule for Box<R> {
    fn vcs(&self) -> usize {
        (**self).vcs()
    }
    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        (**self).start(at, dst, out);
    }
    fn next(&self, at: u32, came_port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        (**self).next(at, came_port, vc, state, dst, out);
    }
    fn hop_bound(&self, at: u32, dst: u32) -> Option<u32> {
        (**self).hop_bound(at, dst)
    }
    fn is_minimal(&self) -> bool {
        (**self).is_minimal()
    }
    fn starts_anywhere(&self) -> bool {
        (**self).starts_anywhere()
    }
    fn same_for_all_nodes_of_a_router(&self) -> bool {
        (**self).same_for_all_nodes_of_a_router()
    }
}

/// [`Topology::minimal`] as a rule: every parallel cable and every key is an alternative.
#[derive(Clone, Debug)]
pub struct MinimalRule<'a> {
    topology: &'a Topology,
    keys: Vec<u32>,
    vcs: u8,
}

impl<'a> MinimalRule<'a> {
    /// The topology's own routing on the VCs that it asks for.
    pub fn new(topology: &'a Topology) -> Self {
        Self {
            topology,
            keys: topology.key_classes(),
            vcs: topology.minimal_vcs(),
        }
    }

    /// The same with fewer VCs: higher ones are merged into the last. At least 1 is kept.
    pub fn limited_to(self, vcs: u8) -> Self {
        Self {
            vcs: vcs.clamp(1, self.vcs),
            ..self
        }
    }

    fn push(&self, at: u32, dst: u32, came: Came, state: u32, out: &mut Vec<Step>) {
        let hop = self.topology.minimal(at, dst, came, self.keys[state as usize]);
        let vc = hop.vc.min(self.vcs - 1);
        out.extend((0..hop.links).map(|k| Step {
            port: hop.port + k,
            vc,
            state,
        }));
    }
}

impl RoutingRule for MinimalRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        (0..self.keys.len() as u32).for_each(|state| self.push(at, dst, Came::INJECTED, state, out));
    }

    fn next(&self, at: u32, came_port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, Came { port: came_port, vc }, state, out);
    }

    fn hop_bound(&self, at: u32, dst: u32) -> Option<u32> {
        Some(self.topology.minimal_bound(at, self.topology.router_of(dst)))
    }

    fn is_minimal(&self) -> bool {
        self.topology.geometry.family().keeps_to_distance()
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        self.topology.geometry.family().treats_nodes_of_a_router_alike()
    }
}

/// The nodes that stand for all destinations of a rule, rising.
pub(crate) fn destinations<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R) -> Vec<u32> {
    if rule.same_for_all_nodes_of_a_router() {
        (0..topology.n_routers())
            .filter_map(|r| topology.wiring().nodes_of(r).next())
            .collect()
    } else {
        (0..topology.n_nodes()).collect()
    }
}
