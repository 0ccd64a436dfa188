//! What the network of a run is made of and costs: its study's prices, or those that hold where nobody says anything.

use fabric::spec::RunSpec;
use serde_json::{Value, json};
use topo::bill::{Bill, CostSpec};
use work::build_error::BuildError;

/// The bill of a run's network, by default prices where its study has none.
pub fn of_network(run: &RunSpec) -> Result<Bill, BuildError> {
    match &run.cost {
        Some(cost) => bill(run, cost),
        None => bill(run, &vocabulary::default_cost()),
    }
}

/// Whose prices they are, in words.
pub(crate) fn whose_prices(run: &RunSpec) -> &'static str {
    match run.cost {
        Some(_) => "of the study",
        None => "default",
    }
}

/// The bill of a run's network with its size and its bisection, for comparisons.
pub fn of_point(run: &RunSpec) -> Result<Value, BuildError> {
    let topology = run.topology.build().map_err(BuildError::Topology)?;
    Ok(json!({
        "nodes": topology.n_nodes(),
        "bisection_links": topology.bisection().cables,
        "prices": whose_prices(run),
        "bill": of_network(run)?,
    }))
}

/// The bill of a run whose study has prices.
pub(crate) fn of_run(run: &RunSpec) -> Result<Option<Bill>, BuildError> {
    run.cost.as_ref().map(|cost| bill(run, cost)).transpose()
}

/// Whether the energy of a run depends on the load of each link.
pub(crate) fn needs_loads(run: &RunSpec) -> bool {
    run.cost.as_ref().is_some_and(|cost| cost.port_send_power > 0)
}

/// The network is built for it once more: a run may have given up its wiring.
fn bill(run: &RunSpec, cost: &CostSpec) -> Result<Bill, BuildError> {
    let topology = run.topology.build().map_err(BuildError::Topology)?;
    Ok(Bill::new(&topology, cost, |class| run.links.of(class).bandwidth))
}
