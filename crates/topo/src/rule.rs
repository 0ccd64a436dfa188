//! A routing as a set of possible steps: what proofs, the route verifier and load estimates ask.

use crate::hop::{Came, HopList};
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

    /// Adds every step of such a packet where the network has changed so that no way leads to `dst` from here: none but where that is not what the
    /// packet is for.
    fn without_way(&self, _at: u32, _state: u32, _out: &mut Vec<Step>) {}

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
    fn without_way(&self, at: u32, state: u32, out: &mut Vec<Step>) {
        (**self).without_way(at, state, out);
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
        self.topology.treats_nodes_of_a_router_alike()
    }
}

/// The nodes that stand for all destinations of a rule, rising.
pub(crate) fn destinations<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R) -> Vec<u32> {
    if rule.same_for_all_nodes_of_a_router() {
        (0..topology.n_routers())
            .filter_map(|r| topology.nodes_of(r).next())
            .collect()
    } else {
        (0..topology.n_nodes()).collect()
    }
}

/// Any minimal neighbour at every router, on the channel that counts the hops passed; the state is that number.
pub struct AnyMinimalRule<'t> {
    /// Where.
    pub topology: &'t Topology,
    /// Virtual channels.
    pub vcs: u8,
}

impl AnyMinimalRule<'_> {
    /// Virtual channels that are used in rising order alone, and so keep it free of deadlock: as many as the hops of the longest way.
    pub fn vcs_of(topology: &Topology) -> u8 {
        topology.diameter().clamp(1, 255) as u8
    }

    fn push(&self, at: u32, dst: u32, hops: u32, out: &mut Vec<Step>) {
        let mut list = HopList::new();
        self.topology.minimal_hops(at, self.topology.router_of(dst), &mut list);
        let vc = hops.min(u32::from(self.vcs) - 1) as u8;
        for hop in list.iter() {
            out.extend((0..hop.links).map(|k| Step {
                port: hop.port + k,
                vc,
                state: hops + 1,
            }));
        }
    }
}

impl RoutingRule for AnyMinimalRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, 0, out);
    }

    fn next(&self, at: u32, _: u16, _: u8, hops: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, hops, out);
    }

    /// Levels of what failures have left of groups may count more than hops.
    fn is_minimal(&self) -> bool {
        !self.topology.is_curtailed()
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}

/// Two minimal legs over the router of any node (Valiant 1982): the state is the intermediate's number plus one on the first leg, zero on the second, with the key's class beside it.
pub struct ValiantRule<'t> {
    topology: &'t Topology,
    keys: Vec<u32>,
    vcs: u8,
    intermediates: Vec<u32>,
}

impl<'t> ValiantRule<'t> {
    /// On so many virtual channels, at least 1: the second leg is on those above the minimal ones, higher ones are merged into the last.
    pub fn new(topology: &'t Topology, vcs: u8) -> Self {
        let has_nodes = |&router: &u32| !topology.nodes_of(router).is_empty();
        Self {
            topology,
            keys: topology.key_classes(),
            vcs,
            intermediates: (0..topology.n_routers()).filter(has_nodes).collect(),
        }
    }

    fn push(&self, at: u32, dst: u32, came: Came, state: u32, out: &mut Vec<Step>) {
        let n_keys = self.keys.len() as u32;
        let (leg, class) = (state / n_keys, state % n_keys);
        let key = self.keys[class as usize];
        let own = self.topology.minimal_vcs();
        let mut came = came;
        if leg > 0 {
            let via = self.intermediates[leg as usize - 1];
            if via != at {
                let hop = self.topology.minimal_to(at, via, came, key);
                let vc = hop.vc.min(self.vcs - 1);
                out.extend((0..hop.links).map(|k| Step {
                    port: hop.port + k,
                    vc,
                    state,
                }));
                return;
            }
            came = Came::INJECTED;
        } else {
            came.vc = came.vc.saturating_sub(own);
        }
        if self.topology.router_of(dst) == at {
            return;
        }
        let hop = self.topology.minimal(at, dst, came, key);
        let vc = (hop.vc + own).min(self.vcs - 1);
        out.extend((0..hop.links).map(|k| Step {
            port: hop.port + k,
            vc,
            state: class,
        }));
    }
}

impl RoutingRule for ValiantRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let n_keys = self.keys.len() as u32;
        for leg in 1..=self.intermediates.len() as u32 {
            (0..n_keys).for_each(|class| self.push(at, dst, Came::INJECTED, leg * n_keys + class, out));
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        // A packet is handed over where its node is, also on its first leg.
        if self.topology.router_of(dst) != at {
            self.push(at, dst, Came { port, vc }, state, out);
        }
    }
}
