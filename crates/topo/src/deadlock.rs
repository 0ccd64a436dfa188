//! Freedom from deadlock, decided by the channel dependency graph (Dally & Seitz 1987).
//!
//! A channel is one direction of a cable on one virtual channel. A routing makes channel A depend on channel B if some packet can
//! hold A while it waits for B. If no cycle of dependencies exists, no set of packets can wait for each other for ever. The graph is
//! collected by following, for every destination, all packets from every router that has nodes along **all** alternatives that the
//! routing has, so for an adaptive routing the test is sufficient, not necessary. Links of nodes are left out: nodes consume what
//! arrives, so they end every chain.

use crate::hop::Came;
use crate::spec::{FieldError, TopologySpec};
use crate::topology::{Geometry, Topology};
use std::collections::HashMap;

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
        !matches!(self.topology.geometry, Geometry::Grouped(_))
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        !matches!(self.topology.geometry, Geometry::FatTree(_))
    }
}

/// One direction of a cable on one virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Sending router.
    pub router: u32,
    /// Its port.
    pub port: u16,
    /// Virtual channel.
    pub vc: u8,
}

impl Channel {
    /// For people: `(3,0) x+ vc0`.
    pub fn name(&self, topology: &Topology) -> String {
        format!(
            "{} {} vc{}",
            topology.router_name(self.router),
            topology.port_name(self.router, self.port),
            self.vc
        )
    }
}

/// What the check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No cycle: no deadlock can happen.
    Free {
        /// Channels that packets can hold.
        channels: u64,
        /// Dependencies between them.
        dependencies: u64,
    },
    /// Each channel waits for the next and the last for the first.
    Cycle(Vec<Channel>),
    /// The check was given up: it would take more memory or steps than allowed.
    TooLarge {
        /// Which limit was met.
        reason: String,
    },
    /// The rule asked for something that does not exist.
    Broken {
        /// What.
        reason: String,
    },
}

impl Verdict {
    /// True if freedom from deadlock was proved.
    pub fn is_free(&self) -> bool {
        matches!(self, Verdict::Free { .. })
    }

    /// A sentence for people, the cycle by names.
    pub fn describe(&self, topology: &Topology) -> String {
        match self {
            Verdict::Free { channels, dependencies } => {
                format!("free of deadlock: {channels} channels, {dependencies} dependencies, no cycle")
            }
            Verdict::Cycle(channels) => {
                let names: Vec<String> = channels
                    .iter()
                    .chain(channels.first())
                    .map(|c| c.name(topology))
                    .collect();
                format!(
                    "can deadlock, a cycle of {} channels: {}",
                    channels.len(),
                    names.join(" -> ")
                )
            }
            Verdict::TooLarge { reason } => format!("not decided: {reason}"),
            Verdict::Broken { reason } => format!("the routing is broken: {reason}"),
        }
    }
}

/// Steps that [`check`] takes before it gives up: some seconds of work.
pub const MOST_STEPS: u64 = 200_000_000;

/// Bits of dependencies and entries of the visited table that [`check`] allocates at most (256 MB and 1 GB).
const MOST_BITS: u64 = 1 << 31;
const MOST_VISITED: u64 = 1 << 28;

/// Decides whether a routing can deadlock on a topology, within [`MOST_STEPS`]. Deterministic, also in the cycle it shows.
pub fn check<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R) -> Verdict {
    check_within(topology, rule, MOST_STEPS)
}

/// [`check`] with a limit of its own on the steps taken.
pub fn check_within<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R, most_steps: u64) -> Verdict {
    match Dependencies::collect(topology, rule, most_steps) {
        Ok(dependencies) => dependencies.verdict(),
        Err(verdict) => verdict,
    }
}

/// A verdict and the network it was reached on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What was found.
    pub verdict: Verdict,
    /// The smaller network of the same family that stood for one too large to check; the argument is in docs/models/deadlock.md.
    pub reduced: Option<TopologySpec>,
    /// The verdict in words, with names of the network it was reached on.
    pub words: String,
}

/// Checks the network itself, or its [`TopologySpec::reduced`] form if it is too large.
///
/// # Errors
/// Those of building the reduced network; none for a specification that was built already, unless its graph file has gone.
pub fn check_or_reduced<F>(topology: &Topology, rule: F) -> Result<Proof, Vec<FieldError>>
where
    F: for<'t> Fn(&'t Topology) -> Box<dyn RoutingRule + 't>,
{
    let verdict = check(topology, &rule(topology));
    let spec = topology.spec().reduced();
    if !matches!(verdict, Verdict::TooLarge { .. }) || spec == *topology.spec() {
        let words = verdict.describe(topology);
        return Ok(Proof {
            verdict,
            reduced: None,
            words,
        });
    }
    let small = spec.build()?;
    let verdict = check(&small, &rule(&small));
    let words = format!("on a smaller network of the same kind: {}", verdict.describe(&small));
    Ok(Proof {
        verdict,
        reduced: Some(spec),
        words,
    })
}

/// The channel dependency graph. Channel = flat port index * vcs + vc; the channels after it are bits, one for each port and VC
/// of the router it leads to.
struct Dependencies<'a> {
    topology: &'a Topology,
    vcs: usize,
    first_bit: Vec<u64>,
    bits: Vec<u64>,
    used: Vec<bool>,
}

impl<'a> Dependencies<'a> {
    fn collect<R: RoutingRule + ?Sized>(topology: &'a Topology, rule: &R, most_steps: u64) -> Result<Self, Verdict> {
        let (wiring, vcs) = (topology.wiring(), rule.vcs());
        let n_channels = wiring.n_ports() as usize * vcs;
        let mut first_bit = Vec::new();
        let mut n_bits = 0u64;
        let needed: u64 = wiring
            .peer_router
            .iter()
            .map(|&r| u64::from(wiring.radix(r)) * (vcs * vcs) as u64)
            .sum();
        if needed > MOST_BITS || n_channels as u64 > MOST_VISITED {
            return Err(Verdict::TooLarge {
                reason: format!("{n_channels} channels with {needed} possible dependencies"),
            });
        }
        for &r in &wiring.peer_router {
            for _ in 0..vcs {
                first_bit.push(n_bits);
                n_bits += u64::from(wiring.radix(r)) * vcs as u64;
            }
        }
        let targets = destinations(topology, rule);
        let sources: Vec<u32> = (0..topology.n_routers())
            .filter(|&r| !wiring.nodes_of(r).is_empty())
            .collect();
        let least_steps = sources.len() as u64 * targets.len() as u64;
        if least_steps > most_steps {
            return Err(Verdict::TooLarge {
                reason: format!("at least {least_steps} steps, more than {most_steps}"),
            });
        }
        let mut it = Self {
            topology,
            vcs,
            first_bit,
            bits: vec![0; n_bits.div_ceil(64) as usize],
            used: vec![false; n_channels],
        };
        let mut visited = Visited {
            stamps: Vec::new(),
            index: HashMap::new(),
            n_channels,
        };
        let (mut steps, mut work, mut taken) = (Vec::new(), Vec::new(), 0u64);
        let mut stamp = 0;
        for dst in targets {
            stamp += 1;
            for &at in &sources {
                steps.clear();
                rule.start(at, dst, &mut steps);
                taken += 1 + steps.len() as u64;
                for step in &steps {
                    let channel = it.channel(at, *step)?;
                    visited.visit(channel, step.state, stamp, &mut work)?;
                }
            }
            while let Some((channel, state)) = work.pop() {
                it.used[channel] = true;
                let port = channel / vcs;
                let (at, came) = (wiring.peer_router[port], wiring.peer_port[port]);
                steps.clear();
                rule.next(at, came, (channel % vcs) as u8, state, dst, &mut steps);
                taken += 1 + steps.len() as u64;
                for step in &steps {
                    let next = it.channel(at, *step)?;
                    it.depend(channel, *step);
                    visited.visit(next, step.state, stamp, &mut work)?;
                }
                if taken > most_steps {
                    return Err(Verdict::TooLarge {
                        reason: format!("more than {most_steps} steps"),
                    });
                }
            }
        }
        Ok(it)
    }

    fn channel(&self, at: u32, step: Step) -> Result<usize, Verdict> {
        let wiring = self.topology.wiring();
        if u32::from(step.port) >= wiring.radix(at) || usize::from(step.vc) >= self.vcs {
            let name = self.topology.router_name(at);
            let reason = format!(
                "router {name} has no port {} with virtual channel {}",
                step.port, step.vc
            );
            return Err(Verdict::Broken { reason });
        }
        Ok(wiring.port_index(at, step.port) * self.vcs + usize::from(step.vc))
    }

    fn depend(&mut self, channel: usize, step: Step) {
        let bit = self.first_bit[channel] + (usize::from(step.port) * self.vcs + usize::from(step.vc)) as u64;
        self.bits[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// The first channel after `channel` whose place at the next router is `place` or higher, and its place.
    fn after(&self, channel: usize, place: u64) -> Option<(usize, u64)> {
        let wiring = self.topology.wiring();
        let peer = wiring.peer_router[channel / self.vcs];
        let (first, count) = (self.first_bit[channel], u64::from(wiring.radix(peer)) * self.vcs as u64);
        let set = |p: &u64| self.bits[((first + p) / 64) as usize] >> ((first + p) % 64) & 1 == 1;
        let place = (place..count).find(set)?;
        Some((
            wiring.port_offset[peer as usize] as usize * self.vcs + place as usize,
            place,
        ))
    }

    /// Depth-first search in index order; a channel met again on the path closes a cycle.
    fn verdict(&self) -> Verdict {
        const NEW: u8 = 0;
        const ON_PATH: u8 = 1;
        const DONE: u8 = 2;
        let mut colour = vec![NEW; self.used.len()];
        let mut path: Vec<(usize, u64)> = Vec::new();
        for root in (0..self.used.len()).filter(|&c| self.used[c]) {
            if colour[root] != NEW {
                continue;
            }
            colour[root] = ON_PATH;
            path.push((root, 0));
            while let Some((channel, place)) = path.last().copied() {
                match self.after(channel, place) {
                    None => {
                        colour[channel] = DONE;
                        path.pop();
                    }
                    Some((next, place)) => {
                        if let Some(top) = path.last_mut() {
                            top.1 = place + 1;
                        }
                        if colour[next] == ON_PATH {
                            let from = path.iter().position(|p| p.0 == next).unwrap_or(0);
                            return Verdict::Cycle(path[from..].iter().map(|p| self.name(p.0)).collect());
                        }
                        if colour[next] == NEW {
                            colour[next] = ON_PATH;
                            path.push((next, 0));
                        }
                    }
                }
            }
        }
        Verdict::Free {
            channels: self.used.iter().filter(|&&u| u).count() as u64,
            dependencies: self.bits.iter().map(|b| u64::from(b.count_ones())).sum(),
        }
    }

    fn name(&self, channel: usize) -> Channel {
        let (router, port) = self.topology.wiring().port_at(channel / self.vcs);
        Channel {
            router,
            port,
            vc: (channel % self.vcs) as u8,
        }
    }
}

/// Which (channel, state) the search for one destination has seen: a stamp per channel for each state that occurs.
struct Visited {
    stamps: Vec<Vec<u32>>,
    index: HashMap<u32, usize>,
    n_channels: usize,
}

impl Visited {
    fn visit(&mut self, channel: usize, state: u32, stamp: u32, work: &mut Vec<(usize, u32)>) -> Result<(), Verdict> {
        let slot = match self.index.get(&state) {
            Some(&slot) => slot,
            None => {
                if (self.stamps.len() as u64 + 1) * self.n_channels as u64 > MOST_VISITED {
                    return Err(Verdict::TooLarge {
                        reason: format!("more than {MOST_VISITED} channels times packet states"),
                    });
                }
                self.stamps.push(vec![0; self.n_channels]);
                self.index.insert(state, self.stamps.len() - 1);
                self.stamps.len() - 1
            }
        };
        if std::mem::replace(&mut self.stamps[slot][channel], stamp) != stamp {
            work.push((channel, state));
        }
        Ok(())
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
