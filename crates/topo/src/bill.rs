//! What a network is made of, and what that costs and draws: routers, interfaces and cables by length, as they stand in racks.
//!
//! Lengths are whole millimetres, powers milliwatts, prices millionths of a dollar, so that a bill is counted and not rounded; it is
//! multiplied out only where it is told. Models and sources of the defaults: `docs/models/cost.md`.

mod floor;

pub use floor::Floor;

use crate::Topology;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use study::{BitsPerSec, choice};

/// Prices, powers and racks of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSpec {
    /// Price of a router besides its ports.
    pub router_price: u64,
    /// Taken off the price of a router, at most all of it.
    pub router_rebate: u64,
    /// Price of a port of a router.
    pub port_price: u64,
    /// Price of an interface.
    pub interface_price: u64,
    /// Power of a router besides its ports.
    pub router_power: u64,
    /// Power of a port of a router, whatever it does.
    pub port_power: u64,
    /// Further power of a port of a router while it sends.
    pub port_send_power: u64,
    /// Power of an interface, whatever it does.
    pub interface_power: u64,
    /// Further power of an interface while it sends.
    pub interface_send_power: u64,
    /// Electrical cables.
    pub electrical: CableSpec,
    /// The longest electrical cable.
    pub reach: u64,
    /// Optical cables.
    pub optical: CableSpec,
    /// Racks and where they stand.
    pub layout: LayoutSpec,
}

/// Cables of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CableSpec {
    /// Price of its ends.
    pub price: u64,
    /// Further price of a metre.
    pub price_per_metre: u64,
    /// What both prices are of.
    pub per: PriceBase,
    /// Power of a cable, both ends.
    pub power: u64,
}

choice! {
    /// What the prices of cables are of.
    pub enum PriceBase {
        Bandwidth = "bandwidth", "Each Gbit/s of the cable, in one direction.";
        Cable = "cable", "The cable, whatever its bandwidth.";
    }
}

/// Racks and where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutSpec {
    /// Most nodes of a rack.
    pub nodes_per_rack: u32,
    /// Most routers of a rack.
    pub routers_per_rack: u32,
    /// Rows of racks; `None`: as many as make the room nearest to a square of racks.
    pub rows: Option<u32>,
    /// From a rack to the next one in its row.
    pub rack_pitch: u64,
    /// From a row to the next one.
    pub row_pitch: u64,
    /// Length of a cable within a rack.
    pub in_rack: u64,
    /// Length of a cable between racks besides the way between their places.
    pub slack: u64,
}

/// Electrical or optical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CableKind {
    /// Copper.
    Electrical,
    /// Fibre with its transceivers.
    Optical,
}

/// The cables of one link class and kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BilledCables {
    /// Link class.
    pub class: String,
    /// Electrical or optical.
    pub kind: CableKind,
    /// How many.
    pub cables: u64,
    /// All their lengths together.
    pub metres: f64,
    /// The longest of them.
    pub longest_m: f64,
    /// What they cost.
    pub price_usd: f64,
    /// What they draw.
    pub power_w: f64,
}

/// What a network is made of, and what that costs and draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// Racks.
    pub racks: u32,
    /// Rows in which they stand.
    pub rows: u32,
    /// Routers.
    pub routers: u32,
    /// Ports of routers that have a cable.
    pub ports: u64,
    /// Interfaces: a node has one.
    pub interfaces: u32,
    /// Cables, by link class and kind; nodes' first.
    pub cables: Vec<BilledCables>,
    /// What routers cost.
    pub routers_usd: f64,
    /// What interfaces cost.
    pub interfaces_usd: f64,
    /// What cables cost.
    pub cables_usd: f64,
    /// All of it.
    pub price_usd: f64,
    /// What routers draw when nothing is sent.
    pub routers_w: f64,
    /// What interfaces draw when nothing is sent.
    pub interfaces_w: f64,
    /// What cables draw.
    pub cables_w: f64,
    /// All of it.
    pub power_w: f64,
    /// What would be drawn besides if every port and interface sent all the time.
    pub sending_w: f64,
}

const DOLLAR: f64 = 1e6;
const WATT: f64 = 1e3;
const METRE: f64 = 1e3;

impl CableSpec {
    /// Dollars of a cable of this length (mm).
    fn price(&self, length: u64, bandwidth: BitsPerSec) -> f64 {
        let of = match self.per {
            PriceBase::Bandwidth => bandwidth.0 as f64 / 1e9,
            PriceBase::Cable => 1.0,
        };
        of * (self.price as f64 + self.price_per_metre as f64 * length as f64 / METRE) / DOLLAR
    }
}

impl CostSpec {
    /// The kind of a cable of this length (mm).
    pub fn kind(&self, length: u64) -> CableKind {
        match length <= self.reach {
            true => CableKind::Electrical,
            false => CableKind::Optical,
        }
    }

    fn cable(&self, kind: CableKind) -> &CableSpec {
        match kind {
            CableKind::Electrical => &self.electrical,
            CableKind::Optical => &self.optical,
        }
    }

    /// Millionths of a dollar of a router with so many ports.
    fn router(&self, ports: u64) -> f64 {
        let whole = self.router_price as f64 + self.port_price as f64 * ports as f64;
        (whole - self.router_rebate as f64).max(0.0)
    }
}

impl Bill {
    /// The bill of a network, whose wiring must be there; `bandwidth` gives that of a link class.
    pub fn new(topology: &Topology, cost: &CostSpec, bandwidth: impl Fn(&str) -> BitsPerSec) -> Bill {
        let wiring = topology.wiring();
        let floor = Floor::new(topology, &cost.layout);
        let ports_of = |router| u64::from(wiring.radix(router)) + wiring.nodes_of(router).len() as u64;
        let cables = cable_lines(&lengths(topology, &floor), &wiring.class_names, cost, bandwidth);
        let (routers, interfaces) = (topology.n_routers(), topology.n_nodes());
        let ports: u64 = (0..routers).map(ports_of).sum();
        let routers_usd = (0..routers).map(|router| cost.router(ports_of(router))).sum::<f64>() / DOLLAR;
        let interfaces_usd = f64::from(interfaces) * cost.interface_price as f64 / DOLLAR;
        let cables_usd = cables.iter().map(|line| line.price_usd).sum();
        let all = |routers_mw: f64, ports_mw: u64, interfaces_mw: u64| {
            let of_ports = routers_mw + ports as f64 * ports_mw as f64;
            (of_ports / WATT, f64::from(interfaces) * interfaces_mw as f64 / WATT)
        };
        let of_routers = f64::from(routers) * cost.router_power as f64;
        let (routers_w, interfaces_w) = all(of_routers, cost.port_power, cost.interface_power);
        let (sending_ports, sending_interfaces) = all(0.0, cost.port_send_power, cost.interface_send_power);
        let cables_w = cables.iter().map(|line| line.power_w).sum();
        Bill {
            racks: floor.racks(),
            rows: floor.rows(),
            routers,
            ports,
            interfaces,
            cables,
            routers_usd,
            interfaces_usd,
            cables_usd,
            price_usd: routers_usd + interfaces_usd + cables_usd,
            routers_w,
            interfaces_w,
            cables_w,
            power_w: routers_w + interfaces_w + cables_w,
            sending_w: sending_ports + sending_interfaces,
        }
    }
}

/// Cables by link class and length (mm).
fn lengths(topology: &Topology, floor: &Floor) -> BTreeMap<(u8, u64), u64> {
    let wiring = topology.wiring();
    let mut count = BTreeMap::new();
    for router in 0..topology.n_routers() {
        for (place, _) in wiring.nodes_of(router).enumerate() {
            *count.entry((0, floor.to_node(router, place as u32))).or_insert(0) += 1;
        }
        for port in 0..wiring.radix(router) as u16 {
            let (peer, peer_port) = wiring.peer(router, port);
            if (router, port) < (peer, peer_port) {
                let class = wiring.class[wiring.port_index(router, port)];
                *count.entry((class, floor.between(router, peer))).or_insert(0) += 1;
            }
        }
    }
    count
}

fn cable_lines(
    lengths: &BTreeMap<(u8, u64), u64>,
    classes: &[String],
    cost: &CostSpec,
    bandwidth: impl Fn(&str) -> BitsPerSec,
) -> Vec<BilledCables> {
    let mut lines: BTreeMap<(u8, CableKind), BilledCables> = BTreeMap::new();
    for (&(class, length), &count) in lengths {
        let kind = cost.kind(length);
        let name = &classes[usize::from(class)];
        let line = lines.entry((class, kind)).or_insert_with(|| BilledCables {
            class: name.clone(),
            kind,
            cables: 0,
            metres: 0.0,
            longest_m: 0.0,
            price_usd: 0.0,
            power_w: 0.0,
        });
        let (spec, n) = (cost.cable(kind), count as f64);
        line.cables += count;
        line.metres += n * length as f64 / METRE;
        line.longest_m = line.longest_m.max(length as f64 / METRE);
        line.price_usd += n * spec.price(length, bandwidth(name));
        line.power_w += n * spec.power as f64 / WATT;
    }
    lines.into_values().collect()
}

#[cfg(test)]
mod tests;
