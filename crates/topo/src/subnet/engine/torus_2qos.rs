//! torus-2QoS: dimension order on tori and meshes of up to three dimensions, with datelines, that goes round broken rings and one dead switch.
//!
//! The rules of OpenSM's engine of that name, by its manual page (torus-2QoS(8), 2010):
//!
//! * Dimensions are finished in order, each the shorter way round; half-way round a ring by the side that does not cross the dateline, which lies between
//!   the last switch of a ring and its first.
//! * A ring that is interrupted, by the last cable between two of its switches or by a dead switch, is gone round the other way. One that falls in two pieces
//!   is refused.
//! * Where the switch at the corner is dead at which a path would turn, it turns at the switch before it, by a hop of the next dimension, and goes on in the
//!   former one behind that: a turn from a later dimension to an earlier one, which dimension order does not have.
//! * The service level of a path has a bit for each dimension whose dateline its way on the whole torus crosses. On the way the lane of a hop is that bit
//!   of its dimension, and two more for a hop behind such a turn ([`LevelMap`]). So whole tori take two lanes, and those with dead switches four.
//! * Of parallel cables the hosts of a switch take one after the other, in port order.
//!
//! One dead switch, or several that are neighbours in the last dimension, cannot deadlock; for any others the check decides. The second pair of lanes, for
//! quality of service, is left out: paths of both levels are the same.

use super::super::tables::LevelMap;
use super::super::{Tables, find_cycle};
use super::fabric::PreparedSubnet;
use super::{Report, RouteError, RoutingEngine};

/// Most dimensions that levels have bits for.
const MOST_DIMENSIONS: usize = LevelMap::DIMENSIONS as usize;

/// Time: switches x addresses x hops.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let torus = TorusOfSwitches::of(fabric)?;
    let mut tables = fabric.tables();
    let (n, paths) = (fabric.n_switches() as u32, fabric.subnet.paths());
    let width = tables.n_addresses as usize;
    tables.lanes = vec![0; tables.ports.len()];
    for to in (0..n).filter(|&to| !fabric.hosts_of(to).is_empty() && torus.is_alive(to)) {
        for from in (0..n).filter(|&from| from != to && torus.is_alive(from)) {
            let cables = torus.cables_on(from, to)?;
            let level = torus.level(from, to);
            for (number, &host) in fabric.hosts_of(to).iter().enumerate() {
                for path in 0..paths {
                    let entry = from as usize * width + (host * paths + path) as usize;
                    let cable = cables[(number + path as usize) % cables.len()];
                    tables.ports[entry] = fabric.channels.port[cable as usize];
                    tables.lanes[entry] = level;
                }
            }
        }
    }
    let map = torus.map();
    tables.n_lanes = match torus.is_whole() {
        // Every path arrives, without a turn against the order.
        true => 1 + u8::from(tables.lanes.iter().any(|&level| level > 0)),
        false => torus.lanes_used(&tables, &map)?,
    };
    tables.map = Some(map);
    if tables.n_lanes > fabric.options.lanes {
        let reason = format!("{} lanes are needed, {} allowed", tables.n_lanes, fabric.options.lanes);
        return Err(refuse(fabric, reason, "allow 4 lanes"));
    }
    let has_dead = (0..n).any(|switch| !torus.is_alive(switch));
    if let Some(cycle) = has_dead.then(|| find_cycle(fabric.subnet, &tables)).flatten() {
        let reason = format!(
            "paths round the dead switches can deadlock, {}",
            cycle.describe(fabric.subnet)
        );
        let hint = "several dead switches must be neighbours in the last dimension; take `nue` or `dfsssp`, which have no such bounds";
        return Err(refuse(fabric, reason, hint));
    }
    let report = Report {
        lanes_needed: tables.n_lanes,
        ..Report::default()
    };
    Ok((tables, report))
}

fn refuse(fabric: &PreparedSubnet, reason: String, hint: &str) -> RouteError {
    fabric.refuse(RoutingEngine::Torus2Qos, reason, hint)
}

/// A way along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RingSide {
    Up,
    Down,
}

impl RingSide {
    fn other(self) -> RingSide {
        match self {
            RingSide::Up => RingSide::Down,
            RingSide::Down => RingSide::Up,
        }
    }
}

/// The subnet as a torus: switch `x + dims[0] * (y + dims[1] * z)` has coordinates (x, y, z).
struct TorusOfSwitches<'a> {
    fabric: &'a PreparedSubnet<'a>,
    dims: Vec<u32>,
    /// Whether the first and the last switch of a line are joined anywhere.
    wraps: Vec<bool>,
}

impl<'a> TorusOfSwitches<'a> {
    fn of(fabric: &'a PreparedSubnet<'a>) -> Result<Self, RouteError> {
        let dims = fabric.options.dims.clone();
        let n = fabric.n_switches() as u64;
        let long = dims.iter().filter(|&&size| size > 1).count();
        if dims.iter().map(|&size| u64::from(size)).product::<u64>() != n || dims.is_empty() || long > MOST_DIMENSIONS {
            let reason = format!(
                "the shape {dims:?} is not that of a torus of at most {MOST_DIMENSIONS} dimensions with {n} switches in all"
            );
            return Err(refuse(fabric, reason, "give the switches along each dimension"));
        }
        let mut torus = TorusOfSwitches {
            wraps: vec![false; dims.len()],
            fabric,
            dims,
        };
        for (&from, &to) in fabric.channels.from.iter().zip(&fabric.channels.to) {
            let Some(dim) = torus.dimension(from, to) else {
                let reason = format!(
                    "a cable joins `{}` and `{}`, which are no neighbours on a torus of shape {:?}",
                    fabric.name(from),
                    fabric.name(to),
                    torus.dims
                );
                let hint = "number switches so that switch x + dims[0] * (y + dims[1] * z) has coordinates (x, y, z)";
                return Err(refuse(fabric, reason, hint));
            };
            let (a, b) = (torus.coordinate(from, dim), torus.coordinate(to, dim));
            torus.wraps[dim] |= torus.dims[dim] > 2 && a.abs_diff(b) > 1;
        }
        Ok(torus)
    }

    fn stride(&self, dim: usize) -> u32 {
        self.dims[..dim].iter().product()
    }

    fn coordinate(&self, switch: u32, dim: usize) -> u32 {
        switch / self.stride(dim) % self.dims[dim]
    }

    /// The switch with another coordinate.
    fn with(&self, switch: u32, dim: usize, coordinate: u32) -> u32 {
        switch - self.coordinate(switch, dim) * self.stride(dim) + coordinate * self.stride(dim)
    }

    /// The next switch along a dimension, round the end.
    fn neighbour(&self, switch: u32, dim: usize, side: RingSide) -> u32 {
        let (at, size) = (self.coordinate(switch, dim), self.dims[dim]);
        let next = match side {
            RingSide::Up => (at + 1) % size,
            RingSide::Down => (at + size - 1) % size,
        };
        self.with(switch, dim, next)
    }

    /// The dimension in which two switches are neighbours.
    fn dimension(&self, a: u32, b: u32) -> Option<usize> {
        let sides = [RingSide::Up, RingSide::Down];
        (0..self.dims.len()).find(|&dim| a != b && sides.iter().any(|&side| self.neighbour(a, dim, side) == b))
    }

    /// Whether a switch has cables; one that stands alone needs none.
    fn is_alive(&self, switch: u32) -> bool {
        !self.fabric.channels.of_switch(switch).is_empty() || self.fabric.n_switches() == 1
    }

    fn are_joined(&self, a: u32, b: u32) -> bool {
        let channels = &self.fabric.channels;
        channels.of_switch(a).any(|c| channels.to[c] == b)
    }

    /// Whether all neighbours are joined, round the end where anywhere.
    fn is_whole(&self) -> bool {
        let is_last = |switch: u32, dim: usize| self.coordinate(switch, dim) + 1 == self.dims[dim];
        (0..self.fabric.n_switches() as u32).all(|switch| {
            self.long_dimensions().all(|dim| {
                let ends = is_last(switch, dim) && (!self.wraps[dim] || self.dims[dim] == 2);
                ends || self.are_joined(switch, self.neighbour(switch, dim, RingSide::Up))
            })
        })
    }

    /// The side by which a whole ring is gone, and whether that crosses its dateline.
    fn shorter(&self, from: u32, dim: usize, to: u32) -> (RingSide, bool) {
        let (at, size) = (self.coordinate(from, dim), self.dims[dim]);
        let up = (to + size - at) % size;
        let direct = if to > at { RingSide::Up } else { RingSide::Down };
        // Half-way round: not over the dateline.
        let side = match (2 * up).cmp(&size) {
            _ if !self.wraps[dim] => direct,
            std::cmp::Ordering::Equal => direct,
            std::cmp::Ordering::Less => RingSide::Up,
            std::cmp::Ordering::Greater => RingSide::Down,
        };
        (side, side != direct)
    }

    /// The service level of paths between two switches.
    fn level(&self, from: u32, to: u32) -> u8 {
        let crosses = |dim: usize| {
            let end = self.coordinate(to, dim);
            end != self.coordinate(from, dim) && self.shorter(from, dim, end).1
        };
        self.long_dimensions()
            .enumerate()
            .map(|(bit, dim)| u8::from(crosses(dim)) << bit)
            .sum()
    }

    /// Dimensions that have more than a switch, in order: the bits of levels.
    fn long_dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dims.len()).filter(|&dim| self.dims[dim] > 1)
    }

    /// Whether cables lead along a side from a switch to the one with this coordinate; if that is dead, up to one before a dead one.
    fn leads(&self, from: u32, dim: usize, side: RingSide, to: u32) -> bool {
        let (mut at, end) = (from, self.with(from, dim, to));
        let is_dead = !self.is_alive(end);
        for _ in 0..self.dims[dim] {
            let next = self.neighbour(at, dim, side);
            if is_dead && !self.is_alive(next) {
                return true;
            }
            if !self.are_joined(at, next) {
                return false;
            }
            if next == end {
                return true;
            }
            at = next;
        }
        false
    }

    /// The cables that a switch may send on towards another one.
    fn cables_on(&self, from: u32, to: u32) -> Result<Vec<u32>, RouteError> {
        for dim in self.long_dimensions() {
            let end = self.coordinate(to, dim);
            if self.coordinate(from, dim) == end {
                continue;
            }
            let side = self.shorter(from, dim, end).0;
            let sides = [side, side.other()];
            let Some(side) = sides.into_iter().find(|&side| self.leads(from, dim, side, end)) else {
                let reason = format!(
                    "failures have parted the line of `{}` in dimension {dim}: no way to `{}`",
                    self.fabric.name(from),
                    self.fabric.name(self.with(from, dim, end))
                );
                return Err(refuse(
                    self.fabric,
                    reason,
                    "mend a cable of that line, or take `nue` or `dfsssp`",
                ));
            };
            let next = self.neighbour(from, dim, side);
            if !self.is_alive(next) {
                // The corner is dead: the turn comes early.
                continue;
            }
            let channels = &self.fabric.channels;
            let cables = channels.of_switch(from).filter(|&c| channels.to[c] == next);
            return Ok(cables.map(|c| c as u32).collect());
        }
        Err(self.no_way(from, self.fabric.name(to)))
    }

    fn no_way(&self, from: u32, to: &str) -> RouteError {
        let from = self.fabric.name(from);
        let reason = format!("no way from `{from}` to `{to}` round what is dead between them");
        refuse(self.fabric, reason, "take `nue` or `dfsssp`")
    }

    /// The dimension of every port.
    fn map(&self) -> LevelMap {
        let bit = |dim: usize| self.long_dimensions().take_while(|&other| other != dim).count() as u8;
        let channels = &self.fabric.channels;
        LevelMap::new(self.fabric.subnet.switches.iter().enumerate().map(|(s, switch)| {
            let dims = (0..switch.ports.len() as u16).map(|port| {
                let channel = channels.at(s as u32, port);
                let to = channels.to.get(channel as usize);
                let dim = to.and_then(|&to| self.dimension(s as u32, to));
                dim.map_or(LevelMap::NONE, bit)
            });
            dims.collect()
        }))
    }

    /// Lanes up to the highest that a path takes; every one of them arrives. All hosts of a switch are reached over the same switches.
    fn lanes_used(&self, tables: &Tables, map: &LevelMap) -> Result<u8, RouteError> {
        let (subnet, mut highest) = (self.fabric.subnet, 0);
        let ends = |s: &u32| !self.fabric.hosts_of(*s).is_empty() && self.is_alive(*s);
        let switches = || (0..self.fabric.n_switches() as u32).filter(ends);
        for from in switches() {
            for address in switches().map(|to| self.fabric.hosts_of(to)[0] << subnet.lmc) {
                let host = &subnet.hosts[(address >> subnet.lmc) as usize].name;
                let way = tables
                    .walk(subnet, from, address)
                    .map_err(|_| self.no_way(from, host))?;
                let level = tables.lane(from, address);
                let lanes = map.lanes(subnet, level, &way);
                highest = lanes.fold(highest, u8::max);
            }
        }
        Ok(highest + 1)
    }
}
