//! Follows packets along every alternative of a routing and checks what it promises: steps exist, packets arrive, soon enough.

use crate::rule::{RoutingRule, Step, destinations};
use crate::topology::Topology;
use std::collections::HashSet;
use thiserror::Error;

/// What was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteReport {
    /// Pairs of a source router and a destination node.
    pub pairs: u64,
    /// Most hops of any packet.
    pub longest: u32,
    /// False if only a part of all pairs was followed.
    pub all_pairs: bool,
}

/// A promise that a routing breaks, with the names of source and destination routers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RouteFault {
    /// A step uses a port or VC that does not exist.
    #[error("from {from} to node {to}: router {at} has no port {port} with virtual channel {vc}")]
    NoSuchChannel {
        /// Source router.
        from: String,
        /// Destination node.
        to: u32,
        /// Where the step starts.
        at: String,
        /// Port asked for.
        port: u16,
        /// VC asked for.
        vc: u8,
    },
    /// The routing has no step for a packet that is not at its destination.
    #[error("from {from} to node {to}: the packet stops at router {at}")]
    Stopped {
        /// Source router.
        from: String,
        /// Destination node.
        to: u32,
        /// Where it stops.
        at: String,
    },
    /// Still on the way after as many hops as promised.
    #[error("from {from} to node {to}: still at router {at} after {hops} hops")]
    TooLong {
        /// Source router.
        from: String,
        /// Destination node.
        to: u32,
        /// Where it is.
        at: String,
        /// The promised bound.
        hops: u32,
    },
    /// Arrived, but not in the least number of hops although the routing claims to be minimal.
    #[error("from {from} to node {to}: {hops} hops, the distance is {distance}")]
    NotMinimal {
        /// Source router.
        from: String,
        /// Destination node.
        to: u32,
        /// Hops taken.
        hops: u32,
        /// Least number of hops.
        distance: u32,
    },
}

/// Follows up to `max_pairs` pairs, evenly spread over all (source router with nodes, destination node), along every alternative.
/// Pairs that failures have parted are passed over.
///
/// # Errors
/// The first promise found broken, in index order.
pub fn verify_routes<R: RoutingRule + ?Sized>(
    topology: &Topology,
    rule: &R,
    max_pairs: u64,
) -> Result<RouteReport, RouteFault> {
    let sources: Vec<u32> = (0..topology.n_routers())
        .filter(|&r| !topology.wiring().nodes_of(r).is_empty())
        .collect();
    let targets = destinations(topology, rule);
    let total = sources.len() as u64 * targets.len() as u64;
    let pairs = total.min(max_pairs);
    let mut longest = 0;
    for k in 0..pairs {
        let pair = (u128::from(k) * u128::from(total) / u128::from(pairs)) as u64;
        let from = sources[(pair % sources.len() as u64) as usize];
        let to = targets[(pair / sources.len() as u64) as usize];
        if !topology.are_joined(from, topology.router_of(to)) {
            continue;
        }
        longest = longest.max(follow(topology, rule, from, to)?);
    }
    Ok(RouteReport {
        pairs,
        longest,
        all_pairs: pairs == total,
    })
}

/// Follows all packets of one pair, one hop of all at a time, and gives the most hops taken.
fn follow<R: RoutingRule + ?Sized>(topology: &Topology, rule: &R, from: u32, to: u32) -> Result<u32, RouteFault> {
    let (home, wiring) = (topology.router_of(to), topology.wiring());
    let name = |r: u32| topology.router_name(r);
    let bound = rule.hop_bound(from, to).unwrap_or(2 * topology.diameter());
    let distance = topology.distance(from, home);
    let mut steps: Vec<Step> = Vec::new();
    rule.start(from, to, &mut steps);
    if steps.is_empty() && from != home {
        return Err(RouteFault::Stopped {
            from: name(from),
            to,
            at: name(from),
        });
    }
    let mut on_the_way: Vec<(u32, Step)> = steps.iter().map(|&s| (from, s)).collect();
    let (mut hops, mut seen) = (0, HashSet::new());
    while let Some(&(at, _)) = on_the_way.first() {
        if hops == bound {
            return Err(RouteFault::TooLong {
                from: name(from),
                to,
                at: name(at),
                hops,
            });
        }
        hops += 1;
        seen.clear();
        let mut next = Vec::new();
        for &(at, step) in &on_the_way {
            if u32::from(step.port) >= wiring.radix(at) || usize::from(step.vc) >= rule.vcs() {
                return Err(RouteFault::NoSuchChannel {
                    from: name(from),
                    to,
                    at: name(at),
                    port: step.port,
                    vc: step.vc,
                });
            }
            let (there, back) = wiring.peer(at, step.port);
            if !seen.insert((there, back, step.vc, step.state)) {
                continue;
            }
            steps.clear();
            rule.next(there, back, step.vc, step.state, to, &mut steps);
            next.extend(steps.iter().map(|&s| (there, s)));
            if steps.is_empty() {
                if there != home {
                    return Err(RouteFault::Stopped {
                        from: name(from),
                        to,
                        at: name(there),
                    });
                }
                if rule.is_minimal() && hops != distance {
                    return Err(RouteFault::NotMinimal {
                        from: name(from),
                        to,
                        hops,
                        distance,
                    });
                }
            }
        }
        on_the_way = next;
    }
    Ok(hops)
}
