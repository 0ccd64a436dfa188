//! PARX: four addresses per host on a two-dimensional HyperX, of which some lead around the direct links.
//!
//! The routing of the HyperX of TSUBAME2 (Domke et al., HyperX topology: first at-scale implementation and comparison to the fat-tree, 2019),
//! held against its program, the DFSSSP engine of OpenSM 3.3.21 with two patches (commits 3130f6c7 and b1177167, 2019). The halves, the
//! cables left out and the addresses are those of the program. It differs in five rules:
//!
//! | | here | the program |
//! |---|---|---|
//! | without demands | detours all the same | plain DFSSSP with four equal addresses |
//! | order of trees | the four addresses of a host one after another | all hosts' first addresses, then all second ones and so on; hosts of jobs first, in the order of their ranks |
//! | demands | of the whole machine, rounded up, summed exactly | of every job, rounded down, those of a switch summed modulo 256; destinations of no job count as in DFSSSP |
//! | a switch that cannot be reached | the tree is laid over all cables | has no entry for that address |
//! | lanes | as many as are needed and allowed | four; the last may hold cycles |
//!
//! * LMC 2: every host has addresses 0 to 3.
//! * The switches fall in halves along each dimension, left and right along the longer one (the first of two equal ones), top and bottom along the
//!   other; where a dimension is odd, the first half is the larger one. Paths to address 0 (1, 2, 3) take no link that lies wholly inside the left (right, top,
//!   bottom) half. So what stays inside that half goes out to the other one and comes back; everything else stays minimal.
//! * Trees are laid as by SSSP, all four addresses of a host one after another. With a demand matrix a path adds its demand, normalised
//!   to 0..=255 by the largest and rounded up, in place of one pair per address. A tree that the missing links would leave incomplete is laid
//!   over all links.
//! * Lanes are those of DFSSSP over all paths.
//! * The address is chosen per message by the quadrants of both ends ([`choice`]): small messages take an address without a detour, large ones one
//!   with. Where no address has a detour, large messages have all four. By size is how the talk has it; the size of 512 bytes and the table are ours, and
//!   the program of the other side, a patch of Open MPI, is not to be had.

use super::super::Tables;
use super::fabric::PreparedSubnet;
use super::sssp::PathTree;
use super::trees::Trees;
use super::{DemandMatrix, Report, RouteError, RoutingEngine, dfsssp::with_lanes};

/// The addresses of a destination that messages may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quadrants {
    /// For small messages: those whose ways are minimal.
    pub small: [bool; 4],
    /// For large messages: those whose ways are detours, all where there are none.
    pub large: [bool; 4],
}

/// The quadrant of a switch of a HyperX of `dims`: 0 left top, 1 right top, 2 left bottom, 3 right bottom.
pub fn quadrant(dims: [u32; 2], switch: u32) -> u8 {
    let first = u8::from(switch % dims[0] >= dims[0].div_ceil(2));
    let second = u8::from(switch / dims[0] >= dims[1].div_ceil(2));
    match dims[1] > dims[0] {
        true => second + 2 * first,
        false => first + 2 * second,
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
    let (right, bottom) = (quadrant & 1 == 1, quadrant & 2 == 2);
    [!right, right, !bottom, bottom][address]
}

/// Time and memory: those of DFSSSP with four times the addresses.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let dims = shape(fabric)?;
    let subnet = fabric.subnet;
    let demand = match &fabric.options.demand {
        Some(demand) => Some(Increments::of(fabric, demand)?),
        None => None,
    };
    let quadrants: Vec<u8> = (0..subnet.n_switches()).map(|s| quadrant(dims, s)).collect();
    let lids: Vec<u64> = (0..subnet.n_switches()).map(|s| fabric.lids_of(s)).collect();
    let total: u64 = lids.iter().sum();
    let mut trees = Trees::new(fabric);
    // Above all that can be laid over a link, so that every path stays as short as its links allow.
    let mut paths = PathTree::new(fabric, total * total * if demand.is_some() { 255 } else { 1 });
    for destination in trees.order.clone() {
        let target = trees.target(fabric, destination);
        if destination >= subnet.n_addresses() {
            paths.grow(fabric, target, false, |_| true);
            trees.set(fabric, destination, paths.via());
            paths.load(fabric, |s| lids[s as usize]);
            continue;
        }
        let address = (destination & 3) as usize;
        let inside = |s: u32| lies_in(address, quadrants[s as usize]);
        paths.grow(fabric, target, true, |c| {
            !(inside(fabric.channels.from[c]) && inside(fabric.channels.to[c]))
        });
        if paths.n_reached() < fabric.n_switches() {
            paths.grow(fabric, target, true, |_| true);
        }
        trees.set(fabric, destination, paths.via());
        match &demand {
            None => paths.load(fabric, |s| lids[s as usize]),
            Some(demand) => paths.load(fabric, |s| demand.sent_by(s, destination >> 2)),
        }
    }
    with_lanes(fabric, RoutingEngine::Parx, &trees)
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

/// A demand matrix as weights of paths.
struct Increments {
    n_hosts: usize,
    /// From host `i` to host `j` at `j * n_hosts + i`.
    to: Vec<u8>,
    hosts_of: Vec<Vec<u32>>,
}

impl Increments {
    fn of(fabric: &PreparedSubnet, demand: &DemandMatrix) -> Result<Self, RouteError> {
        let n_hosts = fabric.subnet.hosts.len();
        let refuse = |reason: String, hint: &str| Err(fabric.refuse(RoutingEngine::Parx, reason, hint));
        if demand.traffic.len() != n_hosts * n_hosts {
            let reason = format!(
                "the demand matrix has {} entries, {n_hosts} hosts need {}",
                demand.traffic.len(),
                n_hosts * n_hosts
            );
            return refuse(reason, "give an entry for every pair of hosts");
        }
        if let Some(k) = demand
            .traffic
            .iter()
            .position(|&traffic| !traffic.is_finite() || traffic < 0.0)
        {
            let name = |host: usize| &fabric.subnet.hosts[host].name;
            let reason = format!(
                "the demand from `{}` to `{}` is {}",
                name(k / n_hosts),
                name(k % n_hosts),
                demand.traffic[k]
            );
            return refuse(reason, "give finite numbers that are not negative");
        }
        let largest = demand.traffic.iter().copied().fold(0.0, f64::max);
        let mut to = vec![0; n_hosts * n_hosts];
        for (k, &traffic) in demand.traffic.iter().enumerate().filter(|&(_, &traffic)| traffic > 0.0) {
            to[(k % n_hosts) * n_hosts + k / n_hosts] = (255.0 * (traffic / largest)).ceil().clamp(1.0, 255.0) as u8;
        }
        Ok(Self {
            n_hosts,
            to,
            hosts_of: (0..fabric.subnet.n_switches())
                .map(|s| fabric.hosts_of(s).to_vec())
                .collect(),
        })
    }

    /// What the hosts of a switch send to a host.
    fn sent_by(&self, switch: u32, host: u32) -> u64 {
        let row = &self.to[host as usize * self.n_hosts..][..self.n_hosts];
        self.hosts_of[switch as usize]
            .iter()
            .map(|&from| u64::from(row[from as usize]))
            .sum()
    }
}
