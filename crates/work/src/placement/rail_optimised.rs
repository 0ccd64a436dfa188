//! Hosts whose interfaces are at routers of their own.

use super::{PlacedJob, PlacementKeys, PlacementKind, PlacementMisfit, RailOptimised};
use study::{Default, Described, Entry, Parameter, Type, key};

const RAILS: &[Parameter] = &[key(
    "rails",
    Type::Integer { min: 2, max: 256 },
    Default::Required,
    "Interfaces of a host: so many logical nodes that follow each other are one, each at a router of its own.",
)];

impl Described for RailOptimised {
    const ENTRY: Entry = Entry::new(
        "rail-optimised",
        "Hosts of several interfaces: the r-th of every host of a pod is at the pod's r-th leaf, or at the r-th of each further set of as many leaves.",
    )
    .keys(&[RAILS])
    .limits("Logical nodes are interfaces, so a rank on each. What those of a host say to each other goes through the network.");
}

impl PlacementKind for RailOptimised {
    fn read(keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(RailOptimised {
            rails: keys.values.integer_u32("rails")?,
        })
    }

    fn misfit(&self, n_nodes: u32, _has_groups: bool) -> Option<PlacementMisfit> {
        (self.rails == 0 || self.rails > n_nodes).then(|| PlacementMisfit {
            key: Some("rails"),
            reason: format!("{} interfaces a host, the network has {n_nodes} nodes", self.rails),
            hint: "give as many as routers with nodes are side by side, 8 say".into(),
        })
    }

    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        let rails = self.rails as usize;
        let hosts = whole_hosts(rails, &free, job)?;
        if hosts.len() < job.n {
            let reason = format!(
                "{} nodes are asked for, {} hosts of {rails} interfaces each are whole and free",
                job.n,
                hosts.len() / rails
            );
            return Err((reason, "take fewer nodes, or place this job before the others"));
        }
        let mut is_given = vec![false; job.n_hosts as usize];
        hosts.iter().for_each(|&node| is_given[node as usize] = true);
        let left = free.into_iter().filter(|&node| !is_given[node as usize]);
        Ok(hosts.iter().copied().chain(left).collect())
    }
}

/// The interfaces of all hosts that are whole and free, host by host.
fn whole_hosts(rails: usize, free: &[u32], job: &PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
    let topology = job.topology;
    let router_of = |node: u32| topology.router_of(node * job.rails);
    let mut is_free = vec![false; job.n_hosts as usize];
    free.iter().for_each(|&node| is_free[node as usize] = true);
    // Of every router with nodes these, dead and taken ones among them: what others have does not move a host's rails.
    let all: Vec<u32> = (0..job.n_hosts).collect();
    let nodes_of: Vec<&[u32]> = all.chunk_by(|&a, &b| router_of(a) == router_of(b)).collect();
    let group = |nodes: &[u32]| topology.group_of(nodes[0] * job.rails);
    // Below a top router of two levels is a leaf: pods of one leaf each are no bounds of a set.
    let has_pods = topology
        .n_groups()
        .is_some_and(|groups| (groups as usize) < nodes_of.len());
    let mut hosts = Vec::with_capacity(free.len());
    for set in nodes_of.chunks(rails) {
        let is_split = has_pods && set.iter().any(|nodes| group(nodes) != group(set[0]));
        if set.len() < rails || is_split {
            let reason = match has_pods {
                true => format!("the leaves of a pod, or routers of a group, are no sets of {rails}"),
                false => format!("the routers with nodes ({}) are no sets of {rails}", nodes_of.len()),
            };
            return Err((reason, "give rails that divide their number"));
        }
        let slots = set.iter().map(|nodes| nodes.len()).min().unwrap_or(0);
        for slot in 0..slots {
            let host = set.iter().map(|nodes| nodes[slot]);
            if host.clone().all(|node| is_free[node as usize]) {
                hosts.extend(host);
            }
        }
    }
    Ok(hosts)
}
