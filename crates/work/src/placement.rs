//! Where jobs are: logical node -> physical node of every job.
//!
//! Jobs are placed one after the other, each on nodes that those before it leave free. Random draws depend on (seed, number of the
//! job) alone: two runs with as many nodes and the same jobs before this one place it alike, whatever else differs.
//!
//! Which kinds matter and why: Jain et al. 2014 (random nodes, routers and groups on a dragonfly), Yang et al. 2016 (jobs that disturb
//! each other). Nothing here knows what a job does.
//!
//! A placement is a file and a line of the list.

mod clustered;
mod file;
mod linear;
mod per_group;
mod rail_optimised;
mod random;
mod spread;
mod strided;

use crate::build_error::BuildError;
use des::mix;
use des::rng::SplitMix;
pub use file::Placements;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use study::Family;
use study::diagnostic::Findings;
use study::kinds;
use study::reader::Values;
use topo::Topology;

/// Which nodes a job gets: `job.placement`.
pub static PLACEMENT: Family = Family {
    name: "placement",
    key: "placement",
    by_name: true,
    groups: &[Placement::ENTRIES],
};

kinds! {
    /// Logical node -> physical node, among the nodes that earlier jobs leave free.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Placement: PlacementKind(PlacementKeys<'_, '_>) {
        /// In index order.
        Linear;
        /// A seeded random permutation.
        Random;
        /// Chunks of consecutive nodes, the chunks in random order.
        Clustered {
            /// Nodes of a chunk, at least 1 and at most those of the network.
            chunk: u32
        };
        /// Every `stride`-th node, then those after them.
        Strided {
            /// Distance, at least 1 and less than the nodes of the network.
            stride: u32
        };
        /// Group after group, the groups in random order.
        PerGroup;
        /// One node of each group in turn, the groups in random order.
        Spread;
        /// Hosts of several interfaces, each of these at a router of its own.
        RailOptimised {
            /// Interfaces of a host, at least 2 and at most as many as routers with nodes are side by side.
            rails: u32
        };
        /// Node `[i]` for logical node `i`; as many as the job has nodes, each once.
        File(listed: Arc<[u32]>);
    }
}

/// What is asked of a placement.
pub trait PlacementKind {
    /// Reads its own keys; `None` after errors.
    fn read(keys: PlacementKeys<'_, '_>) -> Option<Self>
    where
        Self: Sized;

    /// Why a network of so many nodes cannot have it; what a file lists is looked at when nodes are given out.
    fn misfit(&self, _n_nodes: u32, _has_groups: bool) -> Option<PlacementMisfit> {
        None
    }

    /// Whether it begins with the order in which the job before has left the free nodes, not with that of their numbers.
    fn takes_what_is_left(&self) -> bool {
        false
    }

    /// The free nodes in the order in which the job takes them. Errors are a reason and a hint.
    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)>;
}

/// What a study says of a placement, and what is known of the network.
pub struct PlacementKeys<'a, 'b> {
    /// Its keys.
    pub values: &'a Values,
    /// Nodes of the job, if known.
    pub nodes: Option<u64>,
    /// Nodes of the network, if known.
    pub n_nodes: Option<u64>,
    /// The study's folder.
    pub base: &'a Path,
    /// Files already read.
    pub known: &'b mut Placements,
    /// What is wrong with it.
    pub findings: &'b mut Findings,
}

/// Why a network cannot have a placement.
pub struct PlacementMisfit {
    /// The key that asks for too much; `None`: all of it.
    pub key: Option<&'static str>,
    /// Why not.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl PlacementMisfit {
    /// Groups, where there are none.
    fn without_groups(has_groups: bool) -> Option<PlacementMisfit> {
        let misfit = || PlacementMisfit {
            key: None,
            reason: "this network has no groups".into(),
            hint:
                "take a dragonfly, dragonfly+, fat-tree or lattice, or placement = { kind = \"clustered\", chunk = 4 }"
                    .into(),
        };
        (!has_groups).then(misfit)
    }
}

/// What groups are.
const GROUPS: &str = "Groups are those of a dragonfly or dragonfly+, pods of a fat-tree, planes across the first dimension of a lattice.";

/// The job that gets nodes.
pub struct PlacedJob<'a> {
    /// Number of its nodes.
    n: usize,
    /// Nodes of the network; hosts, where they have several.
    n_hosts: u32,
    topology: &'a Topology,
    rails: u32,
    random: SplitMix,
    /// The name of the job that has a node.
    holder: &'a dyn Fn(u32) -> &'a str,
}

impl PlacedJob<'_> {
    /// The free nodes of every group in index order, the groups in random order; empty ones are among them.
    fn groups(&mut self, free: &[u32]) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); self.topology.n_groups().unwrap_or(1) as usize];
        for &host in free {
            groups[self.topology.group_of(host * self.rails) as usize].push(host);
        }
        self.random.shuffle(&mut groups);
        groups
    }
}

/// The stream of random numbers of placements.
const STREAM: u64 = 2;

/// What a job asks of the network's nodes.
#[derive(Clone, Copy, Debug)]
pub struct UnplacedJob<'a> {
    /// The job's name.
    pub name: &'a str,
    /// How many nodes; `None`: all that are left.
    pub nodes: Option<u32>,
    /// Which.
    pub placement: &'a Placement,
}

/// Two of a job's nodes that cannot reach each other, if failures have parted any.
fn parted(nodes: &[u32], topology: &Topology, rails: u32) -> Option<(u32, u32)> {
    if !topology.is_curtailed() {
        return None;
    }
    let mut all = nodes.iter().flat_map(|&host| host * rails..(host + 1) * rails);
    let first = all.next()?;
    let router = topology.router_of(first);
    all.find(|&node| !topology.are_joined(router, topology.router_of(node)))
        .map(|node| (first, node))
}

/// The physical nodes of every job by logical node, dead ones not among them.
///
/// With several `rails` they are hosts, host `h` the nodes `h * rails` and following. Linear in nodes times jobs. Errors say which job asks for what is not there: too many nodes, a chunk or stride that the network has
/// no room for, groups where there are none, listed nodes that are missing, taken or given twice.
pub fn place(
    jobs: &[UnplacedJob<'_>],
    topology: &Topology,
    rails: u32,
    seed: u64,
) -> Result<Vec<Vec<u32>>, BuildError> {
    let n_hosts = topology.n_nodes() / rails;
    let is_alive = |host: &u32| (host * rails..(host + 1) * rails).all(|node| topology.is_alive(node));
    let mut free: Vec<u32> = (0..n_hosts).filter(is_alive).collect();
    let mut places: Vec<Vec<u32>> = Vec::with_capacity(jobs.len());
    for (j, job) in jobs.iter().enumerate() {
        let n = job.nodes.unwrap_or(free.len() as u32) as usize;
        if n > free.len() || n == 0 {
            let reason = format!("{n} nodes are asked for, {} are free", free.len());
            let hint = Some("take fewer nodes or a larger network");
            return Err(BuildError::field(&format!("job.{j}.nodes"), reason, hint));
        }
        let refuse = |reason: String, hint: &str| BuildError::field(&format!("job.{j}.placement"), reason, Some(hint));
        let kind = job.placement.kind();
        if let Some(misfit) = kind.misfit(n_hosts, topology.n_groups().is_some()) {
            return Err(refuse(misfit.reason, &misfit.hint));
        }
        if !kind.takes_what_is_left() {
            free.sort_unstable();
        }
        let holder = |node| {
            let owner = places.iter().position(|nodes| nodes.contains(&node));
            owner.map_or("", |owner| jobs[owner].name)
        };
        let mut job = PlacedJob {
            n,
            n_hosts,
            topology,
            rails,
            random: SplitMix(mix(seed ^ STREAM << 32 ^ j as u64)),
            holder: &holder,
        };
        free = kind
            .order(free, &mut job)
            .map_err(|(reason, hint)| refuse(reason, hint))?;
        let nodes: Vec<u32> = free.drain(..n).collect();
        if let Some((a, b)) = parted(&nodes, topology, rails) {
            let reason = format!("failures have parted its nodes: {a} cannot reach {b}");
            return Err(refuse(
                reason,
                "place it on nodes of one piece, or let the others fail in fail.nodes",
            ));
        }
        places.push(nodes);
    }
    Ok(places)
}
