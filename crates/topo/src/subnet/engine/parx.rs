//! PARX: four addresses per host on a two-dimensional HyperX, of which some lead around the direct links of a half of it.
//!
//! The routing of the HyperX of TSUBAME2 (Domke et al., HyperX topology: first at-scale implementation and comparison to the fat-tree, 2019), by
//! the rules of its program, the DFSSSP engine of OpenSM 3.3.21 with two patches (commits 3130f6c7 and b1177167, 2019).
//!
//! * LMC 2: every host has addresses 0 to 3.
//! * The switches fall in halves along each dimension, left and right along the longer one (the first of two equal ones), top and bottom along the
//!   other; where a dimension is odd, the first half is the larger one. Paths to address 0 (1, 2, 3) take no link that lies wholly inside the left (right, top,
//!   bottom) half. So what stays inside that half goes out to the other one and comes back; everything else stays minimal. A switch that
//!   cannot be reached so has no entry for that address.
//! * Trees are laid as by SSSP, address by address: the first addresses of all hosts, then of all switches, then the second addresses, and so on. Hosts of
//!   jobs come first, in the order of their ranks, job after job, then the others switch by switch, those with the most hosts first.
//! * A path to a host of no job weighs as in DFSSSP. To a host of a job only those weigh that have something to send to it, and as much as they have: a
//!   number of 1 to 255 for each pair of hosts of the job, and for a switch the sum of its hosts, modulo 256 ([`JobDemand`], [`DemandSums`]). A job's
//!   numbers are what it sends if that is at most 255, else rounded down, at least 1, of 255 for the most. Each of the four addresses counts in full.
//! * All links begin at the square of 255 times all addresses, so that no path gets longer than its links allow.
//! * Without demands all of this is off: DFSSSP, four equal addresses ([`PathDemands`]).
//! * Lanes are those of DFSSSP over all paths. Where those that are allowed do not suffice, the program goes on with cycles on the last one; here the
//!   tables are refused.
//! * Which address a message takes is the business of its sender. [`choice`] goes by the quadrants of both ends: small messages take an address without a
//!   detour, large ones one with; where no address has a detour, large messages have all four. By size is how the talk has it; the size of 512 bytes and the
//!   table are ours, and the program of the other side, a patch of Open MPI, is not to be had.

use super::super::Tables;
use super::fabric::PreparedSubnet;
use super::sssp::{self, PathTree};
use super::trees::Trees;
use super::{DemandSums, JobDemand, PathDemands, Report, RouteError, RoutingEngine, dfsssp::with_lanes};
use std::collections::BTreeMap;

/// The addresses of a destination that messages may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quadrants {
    /// For small messages: those whose ways are minimal.
    pub small: [bool; 4],
    /// For large messages: those whose ways are detours, all where there are none.
    pub large: [bool; 4],
}

/// The quadrant of a switch of a HyperX of `dims`: 0 left top, 1 left bottom, 2 right bottom, 3 right top.
pub fn quadrant(dims: [u32; 2], switch: u32) -> u8 {
    let first = switch % dims[0] >= dims[0].div_ceil(2);
    let second = switch / dims[0] >= dims[1].div_ceil(2);
    let (right, bottom) = if dims[1] > dims[0] {
        (second, first)
    } else {
        (first, second)
    };
    match (right, bottom) {
        (false, false) => 0,
        (false, true) => 1,
        (true, true) => 2,
        (true, false) => 3,
    }
}

/// The addresses to choose from, by the quadrants of source and destination.
///
/// Inside a quadrant two addresses are detours; between quadrants that share a half, one; between opposite ones, none.
pub fn choice(source: u8, destination: u8) -> Quadrants {
    let detour = [0, 1, 2, 3].map(|address| lies_in(address, source) && lies_in(address, destination));
    let none = detour == [false; 4];
    Quadrants {
        small: detour.map(|detour| !detour),
        large: detour.map(|detour| detour || none),
    }
}

/// Whether a quadrant lies in the half whose links an address does not take.
fn lies_in(address: usize, quadrant: u8) -> bool {
    let (right, bottom) = (quadrant >= 2, quadrant == 1 || quadrant == 2);
    [!right, right, !bottom, bottom][address]
}

/// Time and memory: those of DFSSSP with four times the addresses.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let dims = shape(fabric)?;
    let demands = match &fabric.options.demands {
        PathDemands::Jobs(jobs) => jobs.as_slice(),
        PathDemands::Even => &[],
        PathDemands::None => return with_lanes(fabric, RoutingEngine::Parx, &sssp::lay(fabric)),
    };
    if fabric.options.demands != PathDemands::Even && demands.iter().all(|job| job.pairs.is_empty()) {
        return with_lanes(fabric, RoutingEngine::Parx, &sssp::lay(fabric));
    }
    let subnet = fabric.subnet;
    let sent = DemandWeights::of(fabric, demands)?;
    let quadrants: Vec<u8> = (0..subnet.n_switches()).map(|s| quadrant(dims, s)).collect();
    let lids: Vec<u64> = (0..subnet.n_switches()).map(|s| fabric.lids_of(s)).collect();
    let total = 255 * lids.iter().sum::<u64>();
    let mut trees = Trees::new(fabric);
    trees.order = order(fabric, demands);
    let mut paths = PathTree::new(fabric, total * total);
    for destination in trees.order.clone() {
        let is_host = destination < subnet.n_addresses();
        // Switches have one address, which is routed with the first ones of hosts.
        let address = if is_host { (destination & 3) as usize } else { 0 };
        let inside = |s: u32| lies_in(address, quadrants[s as usize]);
        paths.grow(fabric, trees.target(fabric, destination), is_host, |c| {
            !(inside(fabric.channels.from[c]) && inside(fabric.channels.to[c]))
        });
        trees.set(fabric, destination, paths.via());
        match sent.to(destination >> 2).filter(|_| is_host) {
            Some(sent) => paths.load(fabric, |s| sent.get(&s).copied().unwrap_or(0)),
            None => paths.load(fabric, |s| lids[s as usize]),
        }
    }
    with_lanes(fabric, RoutingEngine::Parx, &trees)
}

/// Destinations in the order of their trees.
fn order(fabric: &PreparedSubnet, jobs: &[JobDemand]) -> Vec<u32> {
    let n_addresses = fabric.subnet.n_addresses();
    let mut known = vec![false; fabric.subnet.hosts.len()];
    let of_jobs = jobs.iter().flat_map(|job| job.hosts.iter().copied());
    let hosts: Vec<u32> = (of_jobs.chain(fabric.host_order()))
        .filter(|&host| !std::mem::replace(&mut known[host as usize], true))
        .collect();
    let mut order = Vec::with_capacity(n_addresses as usize + fabric.n_switches());
    for address in 0..4 {
        order.extend(hosts.iter().map(|host| host << 2 | address));
        if address == 0 {
            order.extend(fabric.by_load().into_iter().map(|s| n_addresses + s));
        }
    }
    order
}

/// Checks that the subnet is what [`Options::dims`](super::Options::dims) says.
fn shape(fabric: &PreparedSubnet) -> Result<[u32; 2], RouteError> {
    let subnet = fabric.subnet;
    let refuse = |reason: String, hint: &str| Err(fabric.refuse(RoutingEngine::Parx, reason, hint));
    if subnet.lmc != 2 {
        return refuse(
            format!("LMC is {}, four addresses per host are asked for", subnet.lmc),
            "set LMC 2",
        );
    }
    let n = subnet.n_switches();
    let dims = match fabric.options.dims[..] {
        [x, y] if x >= 2 && y >= 2 && u64::from(x) * u64::from(y) == u64::from(n) => [x, y],
        ref dims => {
            let reason = format!(
                "the shape {dims:?} is not one of two dimensions, 2 switches each at least, with {n} switches in all"
            );
            return refuse(
                reason,
                "give the switches along each of the two dimensions of the HyperX",
            );
        }
    };
    let at = |s: u32| (s % dims[0], s / dims[0]);
    for (&from, &to) in fabric.channels.from.iter().zip(&fabric.channels.to) {
        let ((x, y), (u, v)) = (at(from), at(to));
        if x != u && y != v {
            let reason = format!(
                "a cable joins `{}` at ({x}, {y}) and `{}` at ({u}, {v}): not a HyperX of {} x {}",
                fabric.name(from),
                fabric.name(to),
                dims[0],
                dims[1]
            );
            return refuse(
                reason,
                "number switches so that switch x + dims[0] * y has coordinates (x, y)",
            );
        }
    }
    Ok(dims)
}

/// What switches send to hosts of jobs, as weights of paths.
struct DemandWeights(Vec<Option<BTreeMap<u32, u64>>>);

impl DemandWeights {
    fn of(fabric: &PreparedSubnet, jobs: &[JobDemand]) -> Result<Self, RouteError> {
        let hosts = &fabric.subnet.hosts;
        let refuse = |reason: String, hint: &str| Err(fabric.refuse(RoutingEngine::Parx, reason, hint));
        let mut sent = vec![None; hosts.len()];
        for job in jobs {
            let strange = job.hosts.iter().find(|&&host| host as usize >= hosts.len());
            if let Some(host) = strange {
                let reason = format!("a job has host {host}, of {}", hosts.len());
                return refuse(reason, "number hosts as the subnet does");
            }
            let n = job.hosts.len() as u32;
            if let Some(&(from, to, _)) = job.pairs.iter().find(|&&(from, to, _)| from.max(to) >= n) {
                let reason = format!("a job of {n} hosts has a demand from {from} to {to}");
                return refuse(reason, "count the hosts of a job from 0");
            }
            let name = |host: u32| &hosts[job.hosts[host as usize] as usize].name;
            if let Some(&(from, to, amount)) = job.pairs.iter().find(|pair| !pair.2.is_finite() || pair.2 < 0.0) {
                let reason = format!("the demand from `{}` to `{}` is {amount}", name(from), name(to));
                return refuse(reason, "give finite numbers that are not negative");
            }
            job.hosts
                .iter()
                .for_each(|&host| sent[host as usize] = Some(sent[host as usize].take().unwrap_or_default()));
            let largest = job.pairs.iter().map(|pair| pair.2).fold(0.0, f64::max);
            for &(from, to, amount) in job.pairs.iter().filter(|pair| pair.2 > 0.0) {
                let scaled = if largest > 255.0 {
                    255.0 * amount / largest
                } else {
                    amount
                };
                let (from, to) = (job.hosts[from as usize], job.hosts[to as usize]);
                let sums: &mut BTreeMap<u32, u64> = sent[to as usize].get_or_insert_default();
                *sums.entry(hosts[from as usize].switch).or_default() += (scaled as u64).max(1);
            }
        }
        if fabric.options.demand_sums == DemandSums::Modulo256 {
            let sums = sent.iter_mut().flatten().flat_map(BTreeMap::values_mut);
            sums.for_each(|sum| *sum %= 256);
        }
        Ok(Self(sent))
    }

    /// What each switch sends to a host, if that belongs to a job.
    fn to(&self, host: u32) -> Option<&BTreeMap<u32, u64>> {
        self.0.get(host as usize)?.as_ref()
    }
}
