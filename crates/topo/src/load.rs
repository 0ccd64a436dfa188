//! Expected load of every channel under a traffic matrix, and the throughput bound that follows.
//!
//! Every source splits its packets evenly over the alternatives of the routing at each step, and the expectation is summed exactly
//! (no sampling). The most loaded link gives the saturation bound: at a higher injection rate it would have to carry more than its
//! bandwidth (Dally & Towles 2004, section 3.3). Queues, credits and arbitration only make it lower.

use crate::rule::{RoutingRule, Step, destinations};
use crate::topology::Topology;
use std::collections::HashMap;

/// Who sends how much to whom; every node injects at most one unit.
#[derive(Clone, Debug, PartialEq)]
pub enum TrafficPattern {
    /// Every node sends one unit, spread evenly over all other nodes.
    Uniform,
    /// Node `i` sends one unit to node `self[i]`; a node that sends to itself does not load the network. One entry per node.
    Permutation(Vec<u32>),
    /// (source node, destination node, units).
    Matrix(Vec<(u32, u32, f64)>),
}

/// A traffic matrix that does not fit the network, or a routing that does not end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A permutation has the wrong number of entries.
    #[error("the permutation has {entries} entries, the network {nodes} nodes")]
    WrongLength {
        /// Entries given.
        entries: usize,
        /// Nodes of the network.
        nodes: u32,
    },
    /// A node number that does not exist.
    #[error("node {node} does not exist, the network has {nodes} nodes")]
    NoSuchNode {
        /// The number given.
        node: u32,
        /// Nodes of the network.
        nodes: u32,
    },
    /// An amount that is negative or not a number.
    #[error("{units} units from node {from} to node {to} is not an amount")]
    BadAmount {
        /// Source node.
        from: u32,
        /// Destination node.
        to: u32,
        /// The amount, as text.
        units: String,
    },
    /// A step that does not exist, or packets still under way after four diameters.
    #[error("the routing is broken on the way to node {to}: {reason}")]
    BrokenRule {
        /// Destination node.
        to: u32,
        /// What is wrong.
        reason: String,
    },
}

/// Units per directed network link, by flat port index ([`crate::Wiring::port_index`]), all virtual channels together.
///
/// # Errors
/// See [`LoadError`]. Deterministic: sums are taken in index order.
pub fn channel_load<R: RoutingRule + ?Sized>(
    topology: &Topology,
    rule: &R,
    traffic: &TrafficPattern,
) -> Result<Vec<f64>, LoadError> {
    let mut load = vec![0.0; topology.wiring().n_ports() as usize];
    for (dst, sources) in demands(topology, rule, traffic)? {
        spread(topology, rule, dst, &sources, &mut load)?;
    }
    Ok(load)
}

/// Highest fraction of the injection bandwidth at which no link exceeds its bandwidth, at most 1.
///
/// `load` is what [`channel_load`] gave; `capacity[c]` is the bandwidth of a link of class `c` divided by the injection bandwidth of a
/// node (missing entries count as 1).
pub fn saturation(topology: &Topology, load: &[f64], capacity: &[f64]) -> f64 {
    let class = &topology.wiring().class;
    let limit = |(i, &l): (usize, &f64)| {
        if l > 0.0 {
            capacity.get(usize::from(class[i])).unwrap_or(&1.0) / l
        } else {
            f64::INFINITY
        }
    };
    load.iter().enumerate().map(limit).fold(1.0, f64::min)
}

/// Per destination node, how much each router sends there.
type Demands = Vec<(u32, Vec<(u32, f64)>)>;

fn demands<R: RoutingRule + ?Sized>(
    topology: &Topology,
    rule: &R,
    traffic: &TrafficPattern,
) -> Result<Demands, LoadError> {
    let (wiring, nodes) = (topology.wiring(), topology.n_nodes());
    let by_pairs = |pairs: &mut dyn Iterator<Item = (u32, u32, f64)>| -> Result<Demands, LoadError> {
        let mut all = Vec::new();
        for (from, to, units) in pairs {
            if let Some(node) = [from, to].into_iter().find(|&n| n >= nodes) {
                return Err(LoadError::NoSuchNode { node, nodes });
            }
            if !units.is_finite() || units < 0.0 {
                return Err(LoadError::BadAmount {
                    from,
                    to,
                    units: units.to_string(),
                });
            }
            all.push((to, topology.router_of(from), units));
        }
        all.sort_by_key(|d| (d.0, d.1));
        let merged = |of_one: &[(u32, u32, f64)]| {
            let sources = of_one
                .chunk_by(|a, b| a.1 == b.1)
                .map(|s| (s[0].1, s.iter().map(|d| d.2).sum()))
                .collect();
            (of_one[0].0, sources)
        };
        Ok(all.chunk_by(|a, b| a.0 == b.0).map(merged).collect())
    };
    match traffic {
        TrafficPattern::Uniform => {
            let together = rule.same_for_all_nodes_of_a_router();
            let with_nodes: Vec<u32> = (0..topology.n_routers())
                .filter(|&r| !wiring.nodes_of(r).is_empty())
                .collect();
            let to_one = |dst: u32| {
                let home = topology.router_of(dst);
                let stands_for = if together {
                    wiring.nodes_of(home).len() as f64
                } else {
                    1.0
                };
                let each = stands_for / f64::from(nodes.max(2) - 1);
                let far = with_nodes.iter().filter(|&&r| r != home);
                (dst, far.map(|&r| (r, each * wiring.nodes_of(r).len() as f64)).collect())
            };
            Ok(destinations(topology, rule).into_iter().map(to_one).collect())
        }
        TrafficPattern::Permutation(to) if to.len() != nodes as usize => Err(LoadError::WrongLength {
            entries: to.len(),
            nodes,
        }),
        TrafficPattern::Permutation(to) => {
            by_pairs(&mut to.iter().enumerate().map(|(from, &to)| (from as u32, to, 1.0)))
        }
        TrafficPattern::Matrix(entries) => by_pairs(&mut entries.iter().copied()),
    }
}

/// Sends the demands to one destination through the network, one hop of all packets at a time.
fn spread<R: RoutingRule + ?Sized>(
    topology: &Topology,
    rule: &R,
    dst: u32,
    sources: &[(u32, f64)],
    load: &mut [f64],
) -> Result<(), LoadError> {
    let wiring = topology.wiring();
    let broken = |reason: String| Err(LoadError::BrokenRule { to: dst, reason });
    let (mut steps, mut flows): (Vec<Step>, Vec<(u32, Step, f64)>) = (Vec::new(), Vec::new());
    for &(at, units) in sources.iter().filter(|s| s.1 > 0.0) {
        steps.clear();
        rule.start(at, dst, &mut steps);
        let share = units / steps.len() as f64;
        flows.extend(steps.iter().map(|&s| (at, s, share)));
    }
    let most_hops = 4 * topology.diameter() + 4;
    let mut hops = 0;
    while !flows.is_empty() {
        if hops == most_hops {
            return broken(format!("packets are under way after {hops} hops"));
        }
        hops += 1;
        let mut place: HashMap<(usize, u8, u32), usize> = HashMap::new();
        let mut merged: Vec<(usize, Step, f64)> = Vec::new();
        for &(at, step, units) in &flows {
            if u32::from(step.port) >= wiring.radix(at) {
                return broken(format!("router {} has no port {}", topology.router_name(at), step.port));
            }
            let port = wiring.port_index(at, step.port);
            load[port] += units;
            match place.get(&(port, step.vc, step.state)) {
                Some(&i) => merged[i].2 += units,
                None => {
                    place.insert((port, step.vc, step.state), merged.len());
                    merged.push((port, step, units));
                }
            }
        }
        flows.clear();
        for &(port, step, units) in &merged {
            let at = wiring.peer_router[port];
            steps.clear();
            rule.next(at, wiring.peer_port[port], step.vc, step.state, dst, &mut steps);
            let share = units / steps.len() as f64;
            flows.extend(steps.iter().map(|&s| (at, s, share)));
        }
    }
    Ok(())
}
