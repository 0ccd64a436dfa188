//! What a network costs, and the energy that a run of it takes.

use super::{Concluded, figures};

figures! {
    /// What the network costs, and what it draws and takes for the run.
    pub struct CostSummary {
        price_usd: f64 = Dollars, "price", "What routers, interfaces and cables cost.";
        routers_usd: f64 = Dollars, "price of the routers", "What routers and their ports cost.";
        interfaces_usd: f64 = Dollars, "price of the interfaces", "What the interfaces of the nodes cost.";
        cables_usd: f64 = Dollars, "price of the cables", "What cables cost.";
        power_w: f64 = Watts, "idle power", "What routers, interfaces and cables draw when nothing is sent.";
        energy_j: f64 = Joules, "energy", "What the network takes over the simulated time: idle, and besides while ports and interfaces send.";
        energy_idle_j: f64 = Joules, "idle energy", "The idle power over the simulated time.";
        energy_sending_j: f64 = Joules, "energy of sending", "What ports of routers and interfaces take besides while they send.";
    }
}

/// Seconds of a picosecond.
const PICOSECOND: f64 = 1e-12;
/// Watts of a milliwatt.
const MILLIWATT: f64 = 1e-3;

/// Of a run whose study has prices.
pub(super) fn of(run: &Concluded<'_>) -> Option<CostSummary> {
    let (bill, cost) = (run.bill.as_ref()?, run.spec.cost.as_ref()?);
    let energy_idle_j = bill.power_w * run.reached as f64 * PICOSECOND;
    // Loads are there only where ports draw more while they send.
    let loads = run
        .harvest
        .loads
        .iter()
        .map(|load| u128::from(load.busy_until(run.reached)));
    let ports_s = match cost.port_send_power {
        0 => 0.0,
        _ => loads.sum::<u128>() as f64 * PICOSECOND,
    };
    let bits = run.harvest.stats.injected_bytes as f64 * 8.0;
    let interfaces_s = bits / run.net.injection.bandwidth().0 as f64;
    let sending = ports_s * cost.port_send_power as f64 + interfaces_s * cost.interface_send_power as f64;
    let energy_sending_j = sending * MILLIWATT;
    Some(CostSummary {
        price_usd: bill.price_usd,
        routers_usd: bill.routers_usd,
        interfaces_usd: bill.interfaces_usd,
        cables_usd: bill.cables_usd,
        power_w: bill.power_w,
        energy_j: energy_idle_j + energy_sending_j,
        energy_idle_j,
        energy_sending_j,
    })
}
