//! Forwarding tables and virtual lanes of a subnet.

use super::{End, Subnet};
use serde::{Deserialize, Serialize};

/// Linear forwarding tables of every switch, and the lane of every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Addresses in a row, [`Subnet::n_addresses`].
    pub n_addresses: u32,
    /// Output port at `switch * n_addresses + address`, as numbered on the switch; [`Tables::NONE`] where there is no way.
    pub ports: Vec<u16>,
    /// Virtual lane at `source switch * n_addresses + address` of paths that start at hosts of that switch; empty if all are lane 0. With a map these are
    /// service levels.
    pub lanes: Vec<u8>,
    /// Lanes that are used: the highest and those below it.
    pub n_lanes: u8,
    /// How levels become lanes from port to port; `None`: a path keeps its lane.
    pub map: Option<LevelMap>,
}

/// How the service level of a path becomes the lane of a hop, where it has a bit for each dimension of a torus: by the dimensions in which the ports point
/// that a packet comes by and leaves by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMap {
    /// First port of each switch in `dims`, and the end.
    first: Vec<u32>,
    /// Dimension of each port, [`LevelMap::NONE`] for ports of hosts and empty ones.
    dims: Vec<u8>,
}

impl LevelMap {
    /// No dimension.
    pub const NONE: u8 = u8::MAX;
    /// Lanes at most.
    pub const LANES: u8 = 4;
    /// Dimensions at most: bits of a level.
    pub const DIMENSIONS: u8 = 3;

    /// That of the dimensions of the ports of each switch.
    pub fn new(switches: impl Iterator<Item = Vec<u8>>) -> LevelMap {
        let mut map = LevelMap {
            first: vec![0],
            dims: Vec::new(),
        };
        for dims in switches {
            map.dims.extend(dims);
            map.first.push(map.dims.len() as u32);
        }
        map
    }

    /// The dimension in which a port points.
    #[inline]
    pub fn dimension(&self, switch: u32, port: u16) -> u8 {
        let place = self.first[switch as usize] + u32::from(port);
        self.dims.get(place as usize).copied().unwrap_or(Self::NONE)
    }

    /// The lane of a hop that leaves a switch by a port, of a packet that has come by another one, or from a host: the bit of its dimension, and 2 behind a
    /// turn from a later dimension to an earlier one.
    #[inline]
    pub fn lane(&self, level: u8, switch: u32, came: Option<u16>, port: u16) -> u8 {
        let dim = self.dimension(switch, port);
        if dim == Self::NONE {
            return 0;
        }
        let before = came.map_or(Self::NONE, |came| self.dimension(switch, came));
        let is_against_order = before != Self::NONE && before > dim;
        level >> dim & 1 | u8::from(is_against_order) << 1
    }

    /// The lanes of the hops of a way, but the last one to the host.
    pub fn lanes<'a>(&'a self, subnet: &'a Subnet, level: u8, way: &'a [Exit]) -> impl Iterator<Item = u8> + 'a {
        let mut came = None;
        way.iter()
            .filter_map(move |exit| match subnet.end(exit.switch, exit.port) {
                Some(End::Switch { port, .. }) => {
                    let lane = self.lane(level, exit.switch, came, exit.port);
                    came = Some(port);
                    Some(lane)
                }
                _ => None,
            })
    }

    /// The dimensions of all ports, switch by switch.
    pub fn dimensions(&self) -> &[u8] {
        &self.dims
    }
}

/// A step of a path: a switch and the port that it sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The switch.
    pub switch: u32,
    /// Its output port.
    pub port: u16,
}

impl Tables {
    /// Entry of an address that a switch cannot reach.
    pub const NONE: u16 = 0;

    /// Tables without a way, all on lane 0.
    pub fn empty(subnet: &Subnet) -> Self {
        let n_addresses = subnet.n_addresses();
        Self {
            n_addresses,
            ports: vec![Self::NONE; subnet.switches.len() * n_addresses as usize],
            lanes: Vec::new(),
            n_lanes: 1,
            map: None,
        }
    }

    /// Output port of a switch to an address.
    #[inline]
    pub fn port(&self, switch: u32, address: u32) -> u16 {
        self.ports[switch as usize * self.n_addresses as usize + address as usize]
    }

    /// Lane of the paths from hosts of a switch to an address; their level where lanes are by a map.
    #[inline]
    pub fn lane(&self, switch: u32, address: u32) -> u8 {
        let i = switch as usize * self.n_addresses as usize + address as usize;
        self.lanes.get(i).copied().unwrap_or(0)
    }

    /// Walks from a switch to an address: the hops in order, the last one to the host. `Err` holds the hops up to a dead end, a
    /// wrong host or the first switch that came twice.
    pub fn walk(&self, subnet: &Subnet, from: u32, address: u32) -> Result<Vec<Exit>, Vec<Exit>> {
        let host = address >> subnet.lmc;
        let (mut at, mut way) = (from, Vec::new());
        loop {
            let port = self.port(at, address);
            way.push(Exit { switch: at, port });
            match subnet.end(at, port) {
                Some(End::Host(h)) if h == host => return Ok(way),
                Some(End::Switch { switch, .. }) if way.iter().all(|hop| hop.switch != switch) => at = switch,
                _ => return Err(way),
            }
        }
    }
}
