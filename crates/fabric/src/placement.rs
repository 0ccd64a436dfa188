//! Where jobs are: logical node -> physical node of every job.
//!
//! Jobs are placed one after the other, each on nodes that those before it leave free. Random draws depend on (seed, number of the
//! job) alone: two runs with as many nodes and the same jobs before this one place it alike, whatever else differs.
//!
//! Which kinds matter and why: Jain et al. 2014 (random nodes, routers and groups on a dragonfly), Yang et al. 2016 (jobs that disturb
//! each other). Nothing here knows what a job does.

use crate::network::BuildError;
use crate::spec::{JobSpec, Placement};
use des::mix;
use des::rng::SplitMix;
use topo::Topology;

/// The stream of random numbers of placements.
const STREAM: u64 = 2;

/// The physical nodes of every job by logical node.
///
/// With several `rails` they are hosts, host `h` the nodes `h * rails` and following. Linear in nodes times jobs. Errors say which job asks for what is not there: too many nodes, a chunk or stride that the network has
/// no room for, groups where there are none, listed nodes that are missing, taken or given twice.
pub fn place(jobs: &[JobSpec], topology: &Topology, rails: u32, seed: u64) -> Result<Vec<Vec<u32>>, BuildError> {
    let n_hosts = topology.n_nodes() / rails;
    let group_of = |host: u32| topology.group_of(host * rails) as usize;
    let mut free: Vec<u32> = (0..n_hosts).collect();
    let mut places: Vec<Vec<u32>> = Vec::with_capacity(jobs.len());
    for (j, job) in jobs.iter().enumerate() {
        let n = job.nodes.unwrap_or(free.len() as u32) as usize;
        if n > free.len() || n == 0 {
            let reason = format!("{n} nodes are asked for, {} are free", free.len());
            let hint = Some("take fewer nodes or a larger network");
            return Err(BuildError::field(&format!("job.{j}.nodes"), reason, hint));
        }
        let refuse =
            |reason: String, hint: &str| Err(BuildError::field(&format!("job.{j}.placement"), reason, Some(hint)));
        if let Some((reason, hint)) = misfit(&job.placement, n_hosts, topology.n_groups().is_some()) {
            return refuse(reason, &hint);
        }
        let mut random = SplitMix(mix(seed ^ STREAM << 32 ^ j as u64));
        if job.placement != Placement::Random {
            free.sort_unstable();
        }
        match &job.placement {
            Placement::Linear => {}
            // From the order that the job before has left, as it always was.
            Placement::Random => random.shuffle(&mut free),
            Placement::Clustered { chunk } => {
                let mut chunks: Vec<&[u32]> = free.chunks(*chunk as usize).collect();
                random.shuffle(&mut chunks);
                free = chunks.concat();
            }
            Placement::Strided { stride } => {
                let stride = *stride as usize;
                let from = |first: usize| free.iter().skip(first).step_by(stride).copied();
                free = (0..stride).flat_map(from).collect();
            }
            // The nodes of every group in index order, the groups in random order; empty ones are among them.
            Placement::PerGroup | Placement::Spread => {
                let mut groups = vec![Vec::new(); topology.n_groups().unwrap_or(1) as usize];
                free.iter().for_each(|&host| groups[group_of(host)].push(host));
                random.shuffle(&mut groups);
                free = match job.placement {
                    Placement::PerGroup => groups.concat(),
                    _ => in_turn(&groups, free.len()),
                };
            }
            Placement::File(listed) => {
                let holder = |node| places.iter().position(|nodes| nodes.contains(&node));
                let holder = |node| holder(node).map_or("", |owner| &jobs[owner].name);
                match listed_first(listed, n, n_hosts, &free, holder) {
                    Ok(order) => free = order,
                    Err((reason, hint)) => return refuse(reason, hint),
                }
            }
        }
        places.push(free.drain(..n).collect());
    }
    Ok(places)
}

/// Why a network of so many nodes cannot have a placement, with a hint; what a file lists is looked at elsewhere.
pub(crate) fn misfit(placement: &Placement, n_nodes: u32, has_groups: bool) -> Option<(String, String)> {
    match *placement {
        Placement::Clustered { chunk } if chunk == 0 || chunk > n_nodes => Some((
            format!("chunks of {chunk} nodes do not fit, the network has {n_nodes}"),
            format!("give chunk = 1 to {n_nodes}"),
        )),
        Placement::Strided { stride } if stride == 0 || stride >= n_nodes.max(2) => Some((
            format!("a stride of {stride} leads nowhere, the network has {n_nodes} nodes"),
            format!("give stride = 1 to {}", n_nodes.max(2) - 1),
        )),
        Placement::PerGroup | Placement::Spread if !has_groups => Some((
            "this network has no groups".into(),
            "take a dragonfly, dragonfly+, fat-tree or lattice, or placement = { kind = \"clustered\", chunk = 4 }"
                .into(),
        )),
        _ => None,
    }
}

/// One node of each group after the other, round and round.
fn in_turn(groups: &[Vec<u32>], n: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(n);
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..longest {
        order.extend(groups.iter().filter_map(|group| group.get(round)));
    }
    order
}

/// The listed nodes, then the other free ones in index order. Errors are a reason and a hint; `holder` names the job that has a node.
fn listed_first<'a>(
    listed: &[u32],
    n: usize,
    n_nodes: u32,
    free: &[u32],
    holder: impl Fn(u32) -> &'a str,
) -> Result<Vec<u32>, (String, &'static str)> {
    if listed.len() != n {
        let reason = format!("{} nodes are listed, the job has {n}", listed.len());
        return Err((reason, "list every logical node once"));
    }
    let mut seen = vec![false; n_nodes as usize];
    for (logical, &node) in listed.iter().enumerate() {
        match seen.get_mut(node as usize) {
            None => {
                let reason = format!("there is no node {node}, the network has {n_nodes}");
                return Err((reason, "list nodes of the network"));
            }
            Some(true) => {
                let reason = format!("node {node} of logical node {logical} is listed before");
                return Err((reason, "list every node once"));
            }
            Some(_) if free.binary_search(&node).is_err() => {
                let reason = format!(
                    "node {node} of logical node {logical} is taken by job {:?}",
                    holder(node)
                );
                return Err((reason, "list nodes that are free, or put this job first"));
            }
            Some(seen) => *seen = true,
        }
    }
    let rest = free.iter().copied().filter(|&node| !seen[node as usize]);
    Ok(listed.iter().copied().chain(rest).collect())
}
