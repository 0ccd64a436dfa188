//! Freedom from deadlock, decided by the channel dependency graph (Dally & Seitz 1987).
//!
//! A channel is one direction of a cable on one virtual channel. A routing makes channel A depend on channel B if some packet can
//! hold A while it waits for B. If no cycle of dependencies exists, no set of packets can wait for each other for ever. The graph is
//! collected by following, for every destination, all packets from every router that has nodes along **all** alternatives that the
//! routing has, so for an adaptive routing the test is sufficient, not necessary. Links of nodes are left out: nodes consume what
//! arrives, so they end every chain.

use crate::families::TopologySpec;
use crate::problems::FieldError;
use crate::rule::{RoutingRule, Step, destinations};
use crate::topology::Topology;
use std::collections::HashMap;

/// One direction of a cable on one virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualChannel {
    /// Sending router.
    pub router: u32,
    /// Its port.
    pub port: u16,
    /// Virtual channel.
    pub vc: u8,
}

impl VirtualChannel {
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
    Cycle(Vec<VirtualChannel>),
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

/// [`check`] with a limit of its own on the steps taken. A cycle among what was found up to there is a verdict, too.
pub fn check_within<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R, most_steps: u64) -> Verdict {
    match Dependencies::collect(topology, rule, most_steps) {
        Ok((dependencies, None)) => dependencies.verdict(),
        Ok((dependencies, Some(too_large))) => match dependencies.verdict() {
            Verdict::Free { .. } => too_large,
            cycle => cycle,
        },
        Err(verdict) => verdict,
    }
}

/// How many virtual channels the packets of a rule take, counted up to the highest; with the verdict on those that the rule has.
///
/// # Errors
/// The verdict, where it is not known.
pub fn channels_used<R: RoutingRule + ?Sized>(
    topology: &Topology,
    rule: &R,
    most_steps: u64,
) -> Result<usize, Verdict> {
    match Dependencies::collect(topology, rule, most_steps)? {
        (dependencies, None) => {
            let used = dependencies.used.iter().enumerate().filter(|&(_, &used)| used);
            let highest = used.map(|(channel, _)| channel % dependencies.vcs).max();
            Ok(highest.map_or(1, |highest| highest + 1))
        }
        (_, Some(verdict)) => Err(verdict),
    }
}

/// [`check_within`] for a network that a smaller one can stand for: it does not look among a part of the dependencies.
fn check_whole<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R, most_steps: u64) -> Verdict {
    match Dependencies::collect(topology, rule, most_steps) {
        Ok((dependencies, None)) => dependencies.verdict(),
        Ok((_, Some(verdict))) | Err(verdict) => verdict,
    }
}

/// A verdict and the network it was reached on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockProof {
    /// What was found.
    pub verdict: Verdict,
    /// The smaller network of the same family that stood for one too large to check; the argument is in docs/models/deadlock.md.
    pub reduced: Option<TopologySpec>,
    /// The verdict in words, with names of the network it was reached on.
    pub words: String,
}

/// Checks the network itself within `most_steps`, or its [`TopologySpec::reduced`] form if that is too much; a network that has no smaller
/// form is checked itself within [`MOST_STEPS`]. `rule` is asked for the routing on the network that is looked at.
///
/// # Errors
/// Those of building the reduced network; none for a specification that was built already, unless its graph file has gone.
pub fn check_or_reduced<F>(topology: &Topology, most_steps: u64, rule: F) -> Result<DeadlockProof, Vec<FieldError>>
where
    F: for<'t> Fn(&'t Topology) -> Box<dyn RoutingRule + 't>,
{
    let mut verdict = check_whole(topology, &*rule(topology), most_steps);
    let spec = topology.spec().reduced();
    let whole = spec == *topology.spec();
    if whole && most_steps < MOST_STEPS && matches!(verdict, Verdict::TooLarge { .. }) {
        verdict = check(topology, &*rule(topology));
    }
    if whole || !matches!(verdict, Verdict::TooLarge { .. }) {
        let words = verdict.describe(topology);
        return Ok(DeadlockProof {
            verdict,
            reduced: None,
            words,
        });
    }
    let small = spec.build()?.with_ties(topology.tie());
    let verdict = check(&small, &*rule(&small));
    let words = format!("on a smaller network of the same kind: {}", verdict.describe(&small));
    Ok(DeadlockProof {
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
    /// The dependencies of all packets, or of some and the limit of steps that was met. Other limits and broken rules are errors.
    fn collect<R: RoutingRule + ?Sized>(
        topology: &'a Topology,
        rule: &R,
        most_steps: u64,
    ) -> Result<(Self, Option<Verdict>), Verdict> {
        // What is too large is not laid out first.
        let vcs = rule.vcs();
        let (mut n_channels, mut needed) = (0, 0);
        for r in 0..topology.n_routers() {
            n_channels += topology.radix(r) as usize * vcs;
            topology.see_cables(r, |peer, _, _| {
                needed += u64::from(topology.radix(peer)) * (vcs * vcs) as u64
            });
        }
        if needed > MOST_BITS || n_channels as u64 > MOST_VISITED {
            return Err(Verdict::TooLarge {
                reason: format!("{n_channels} channels with {needed} possible dependencies"),
            });
        }
        let targets = destinations(topology, rule);
        let sources: Vec<u32> = (0..topology.n_routers())
            .filter(|&r| rule.starts_anywhere() || !topology.nodes_of(r).is_empty())
            .collect();
        let least_steps = sources.len() as u64 * targets.len() as u64;
        if least_steps > most_steps {
            return Err(Verdict::TooLarge {
                reason: format!("at least {least_steps} steps, more than {most_steps}"),
            });
        }
        let wiring = topology.wiring();
        let mut first_bit = Vec::with_capacity(n_channels);
        let mut n_bits = 0u64;
        for &r in &wiring.peer_router {
            for _ in 0..vcs {
                first_bit.push(n_bits);
                n_bits += u64::from(wiring.radix(r)) * vcs as u64;
            }
        }
        let mut it = Self {
            topology,
            vcs,
            first_bit,
            bits: vec![0; n_bits.div_ceil(64) as usize],
            used: vec![false; n_channels],
        };
        let mut visited = Visited::new(n_channels);
        let (mut steps, mut work, mut taken) = (Vec::new(), Vec::new(), 0u64);
        let mut stamp = 0;
        for dst in targets {
            stamp += 1;
            // Between whom failures have parted nothing is sent.
            let home = topology.router_of(dst);
            for &at in sources.iter().filter(|&&at| topology.are_joined(at, home)) {
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
                    let reason = format!("more than {most_steps} steps");
                    return Ok((it, Some(Verdict::TooLarge { reason })));
                }
            }
        }
        Ok((it, None))
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

    fn name(&self, channel: usize) -> VirtualChannel {
        let (router, port) = self.topology.wiring().port_at(channel / self.vcs);
        VirtualChannel {
            router,
            port,
            vc: (channel % self.vcs) as u8,
        }
    }
}

/// Which (channel, state) the search for one destination has seen: a stamp per channel for each state that occurs.
struct Visited {
    stamps: Vec<Vec<u32>>,
    /// Places of low states in `stamps`, plus one; zero of those that have not occurred.
    low: Vec<u32>,
    /// Places of other states.
    high: HashMap<u32, usize>,
    n_channels: usize,
}

/// States up to here are looked up by their numbers.
const MOST_LOW: u32 = 1 << 16;

impl Visited {
    fn new(n_channels: usize) -> Visited {
        Visited {
            stamps: Vec::new(),
            low: Vec::new(),
            high: HashMap::new(),
            n_channels,
        }
    }

    /// Where the stamps of a state are.
    fn place(&mut self, state: u32) -> Result<usize, Verdict> {
        let known = match state < MOST_LOW {
            true => self
                .low
                .get(state as usize)
                .and_then(|&place| place.checked_sub(1))
                .map(|place| place as usize),
            false => self.high.get(&state).copied(),
        };
        if let Some(place) = known {
            return Ok(place);
        }
        let place = self.stamps.len();
        if (place as u64 + 1) * self.n_channels as u64 > MOST_VISITED {
            return Err(Verdict::TooLarge {
                reason: format!("more than {MOST_VISITED} channels times packet states"),
            });
        }
        self.stamps.push(vec![0; self.n_channels]);
        if state < MOST_LOW {
            let least = self.low.len().max(state as usize + 1);
            self.low.resize(least, 0);
            self.low[state as usize] = place as u32 + 1;
        } else {
            self.high.insert(state, place);
        }
        Ok(place)
    }

    fn visit(&mut self, channel: usize, state: u32, stamp: u32, work: &mut Vec<(usize, u32)>) -> Result<(), Verdict> {
        let slot = self.place(state)?;
        if std::mem::replace(&mut self.stamps[slot][channel], stamp) != stamp {
            work.push((channel, state));
        }
        Ok(())
    }
}
