//! Which routers have met: those between which packets have gone, if over others, and those of one job.
//!
//! Nothing is asked of topology or routing: a link that has been used has counted its packets.

use crate::network::Network;
use crate::state::Parts;

/// By name, the routers that those of a job have met so far, its own among them.
pub fn met_by(net: &Network, parts: &Parts<'_>, job: usize) -> Vec<bool> {
    let mut sets = RouterSets((0..net.sites.len() as u32).collect());
    for state in parts.iter() {
        for lp in state.routers.range() {
            let site = &net.sites[lp as usize];
            for port in site.port..site.port + u32::from(site.net) {
                if state.link_of(port).packets > 0 {
                    sets.join(lp, net.peers[port as usize].lp());
                }
            }
        }
    }
    let n_jobs = net.workload.ranks().map_or(0, |plans| plans.jobs.len());
    let at = |job: usize| net.workload.nodes_of(job).iter().map(|&node| net.place_of_node(node));
    for one in 0..n_jobs {
        if let Some(first) = at(one).next() {
            at(one).for_each(|lp| sets.join(first, lp));
        }
    }
    let mut met = vec![false; net.n_routers() as usize];
    if let Some(home) = at(job).next() {
        let of_job = sets.first(home);
        for (lp, site) in (0..).zip(net.sites.iter()) {
            // Numbers that are not in use have no name.
            if let Some(met) = met.get_mut(site.router as usize) {
                *met = sets.first(lp) == of_job;
            }
        }
    }
    met
}

/// Disjoint sets of LPs: of each LP one that is in the same set, of the first one itself.
struct RouterSets(Vec<u32>);

impl RouterSets {
    /// The first LP of the set that an LP is in.
    fn first(&mut self, mut lp: u32) -> u32 {
        while self.0[lp as usize] != lp {
            let next = self.0[lp as usize];
            self.0[lp as usize] = self.0[next as usize];
            lp = next;
        }
        lp
    }

    /// Makes one set of those that two LPs are in.
    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_are_joined_are_one() {
        let mut sets = RouterSets((0..10).collect());
        for (one, other) in [(3, 4), (8, 9), (4, 8), (1, 0), (4, 3)] {
            sets.join(one, other);
        }
        let firsts: Vec<u32> = (0..10).map(|lp| sets.first(lp)).collect();
        assert_eq!(firsts, [0, 0, 2, 3, 3, 5, 6, 7, 3, 3]);
    }
}
