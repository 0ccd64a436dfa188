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
//! * Of parallel cables the hosts of a switch take one after the other, in port order or in that of the file.
//!
//! Which switch has which coordinates is told by numbers, by cables, or by cables and OpenSM's file: [`torus`].
//!
//! One dead switch, or several that are neighbours in the last dimension, cannot deadlock; for any others the check decides. The second pair of lanes, for
//! quality of service, is left out: paths of both levels are the same.

use super::super::tables::LevelMap;
use super::super::torus::{self, RingSide, TorusPlaces};
use super::super::{Tables, find_cycle};
use super::fabric::PreparedSubnet;
use super::{Report, RouteError, RoutingEngine};

/// Time: switches x addresses x hops.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let found = torus::places(fabric.subnet, fabric.options);
    let found = found.map_err(|misfit| refuse(fabric, misfit.reason, &misfit.hint))?;
    let torus = TorusOfSwitches {
        fabric,
        places: &found.places,
    };
    let mut tables = fabric.tables();
    let paths = fabric.subnet.paths();
    let width = tables.n_addresses as usize;
    tables.lanes = vec![0; tables.ports.len()];
    let alive = torus.all_alive();
    for &(to, end) in alive.iter().filter(|&&(to, _)| !fabric.hosts_of(to).is_empty()) {
        let hosts = torus.hosts_in_order(to);
        for &(from, start) in alive.iter().filter(|&&(from, _)| from != to) {
            let cables = torus.cables_on(start, end)?;
            let level = torus.level(start, end);
            for (number, &host) in hosts.iter().enumerate() {
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
    let has_dead = found.places.lacking(fabric.subnet).next().is_some();
    tables.n_lanes = match !has_dead && found.places.broken(fabric.subnet).next().is_none() {
        // Every path arrives, without a turn against the order.
        true => 1 + u8::from(tables.lanes.iter().any(|&level| level > 0)),
        false => torus.lanes_used(&tables, &map)?,
    };
    tables.map = Some(map);
    if tables.n_lanes > fabric.options.lanes {
        let reason = format!("{} lanes are needed, {} allowed", tables.n_lanes, fabric.options.lanes);
        return Err(refuse(fabric, reason, "allow 4 lanes"));
    }
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
        torus: Some(found),
        ..Report::default()
    };
    Ok((tables, report))
}

fn refuse(fabric: &PreparedSubnet, reason: String, hint: &str) -> RouteError {
    fabric.refuse(RoutingEngine::Torus2Qos, reason, hint)
}

/// A torus with what is left of its cables. Its methods take places.
struct TorusOfSwitches<'a> {
    fabric: &'a PreparedSubnet<'a>,
    places: &'a TorusPlaces,
}

impl TorusOfSwitches<'_> {
    /// The switches that have places and cables, with these, by number.
    fn all_alive(&self) -> Vec<(u32, u32)> {
        let switches = 0..self.fabric.n_switches() as u32;
        let placed = switches.filter_map(|switch| Some((switch, self.places.place(switch)?)));
        placed.filter(|&(_, place)| self.alive(place).is_some()).collect()
    }

    /// The switch at a place if it has cables; one that stands alone needs none.
    fn alive(&self, place: u32) -> Option<u32> {
        let has_cables = |switch: &u32| !self.fabric.channels.of_switch(*switch).is_empty();
        let is_alone = self.places.len() == 1;
        self.places
            .switch(place)
            .filter(|switch| has_cables(switch) || is_alone)
    }

    /// Hosts of a switch in the order in which they are dealt over parallel cables.
    fn hosts_in_order(&self, switch: u32) -> Vec<u32> {
        let mut hosts = self.fabric.hosts_of(switch).to_vec();
        if let Some(conf) = &self.fabric.options.torus {
            hosts.sort_by_key(|&host| conf.place_in_order(self.fabric.subnet.hosts[host as usize].port));
        }
        hosts
    }

    fn are_joined(&self, a: u32, b: u32) -> bool {
        let channels = &self.fabric.channels;
        let (Some(a), Some(b)) = (self.places.switch(a), self.places.switch(b)) else {
            return false;
        };
        channels.of_switch(a).any(|c| channels.to[c] == b)
    }

    /// The name of the switch at a place, or its coordinates.
    fn name(&self, place: u32) -> String {
        match self.places.switch(place) {
            Some(switch) => self.fabric.name(switch).to_owned(),
            None => format!("the place {:?}", self.places.coordinates(place)),
        }
    }

    /// The side by which a whole ring is gone, and whether that crosses its dateline.
    fn shorter(&self, from: u32, dim: usize, to: u32) -> (RingSide, bool) {
        let (at, size) = (self.places.coordinate(from, dim), self.places.dims[dim]);
        let up = (to + size - at) % size;
        let direct = if to > at { RingSide::Up } else { RingSide::Down };
        // Half-way round: not over the dateline.
        let side = match (2 * up).cmp(&size) {
            _ if !self.places.loops[dim] => direct,
            std::cmp::Ordering::Equal => direct,
            std::cmp::Ordering::Less => RingSide::Up,
            std::cmp::Ordering::Greater => RingSide::Down,
        };
        (side, side != direct)
    }

    /// The service level of paths between the switches at two places.
    fn level(&self, from: u32, to: u32) -> u8 {
        let crosses = |dim: usize| {
            let end = self.places.coordinate(to, dim);
            end != self.places.coordinate(from, dim) && self.shorter(from, dim, end).1
        };
        let long = self.places.long_dimensions();
        long.map(|dim| u8::from(crosses(dim)) << self.places.bits[dim]).sum()
    }

    /// Whether cables lead along a side from a place to the one with this coordinate; if that is dead, up to one before a dead one.
    fn leads(&self, from: u32, dim: usize, side: RingSide, to: u32) -> bool {
        let (mut at, end) = (from, self.places.with(from, dim, to));
        let is_dead = self.alive(end).is_none();
        for _ in 0..self.places.dims[dim] {
            let next = self.places.neighbour(at, dim, side);
            if is_dead && self.alive(next).is_none() {
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

    /// The cables that the switch at a place may send on towards that at another one.
    fn cables_on(&self, from: u32, to: u32) -> Result<Vec<u32>, RouteError> {
        for dim in self.places.long_dimensions() {
            let end = self.places.coordinate(to, dim);
            if self.places.coordinate(from, dim) == end {
                continue;
            }
            let side = self.shorter(from, dim, end).0;
            let sides = [side, side.other()];
            let Some(side) = sides.into_iter().find(|&side| self.leads(from, dim, side, end)) else {
                let reason = format!(
                    "failures have parted the line of `{}` in dimension {dim}: no way to `{}`",
                    self.name(from),
                    self.name(self.places.with(from, dim, end))
                );
                return Err(refuse(
                    self.fabric,
                    reason,
                    "mend a cable of that line, or take `nue` or `dfsssp`",
                ));
            };
            let (Some(switch), Some(next)) = (self.alive(from), self.alive(self.places.neighbour(from, dim, side)))
            else {
                // The corner is dead: the turn comes early.
                continue;
            };
            let channels = &self.fabric.channels;
            let cables = channels.of_switch(switch).filter(|&c| channels.to[c] == next);
            return Ok(cables.map(|c| c as u32).collect());
        }
        Err(self.no_way(from, &self.name(to)))
    }

    fn no_way(&self, from: u32, to: &str) -> RouteError {
        let from = self.name(from);
        let reason = format!("no way from `{from}` to `{to}` round what is dead between them");
        refuse(self.fabric, reason, "take `nue` or `dfsssp`")
    }

    /// The bit of the dimension of every port.
    fn map(&self) -> LevelMap {
        let channels = &self.fabric.channels;
        LevelMap::new(self.fabric.subnet.switches.iter().enumerate().map(|(s, switch)| {
            let dims = (0..switch.ports.len() as u16).map(|port| {
                let channel = channels.at(s as u32, port);
                let to = channels.to.get(channel as usize).and_then(|&to| self.places.place(to));
                let ends = self.places.place(s as u32).zip(to);
                let dim = ends.and_then(|(from, to)| self.places.dimension(from, to));
                dim.map_or(LevelMap::NONE, |dim| self.places.bits[dim])
            });
            dims.collect()
        }))
    }

    /// Lanes up to the highest that a path takes; every one of them arrives. All hosts of a switch are reached over the same switches.
    fn lanes_used(&self, tables: &Tables, map: &LevelMap) -> Result<u8, RouteError> {
        let (subnet, mut highest) = (self.fabric.subnet, 0);
        let alive = self.all_alive();
        let ends = || alive.iter().filter(|end| !self.fabric.hosts_of(end.0).is_empty());
        for &(from, place) in ends() {
            for address in ends().map(|&(to, _)| self.fabric.hosts_of(to)[0] << subnet.lmc) {
                let host = &subnet.hosts[(address >> subnet.lmc) as usize].name;
                let way = tables
                    .walk(subnet, from, address)
                    .map_err(|_| self.no_way(place, host))?;
                let level = tables.lane(from, address);
                let lanes = map.lanes(subnet, level, &way);
                highest = lanes.fold(highest, u8::max);
            }
        }
        Ok(highest + 1)
    }
}
