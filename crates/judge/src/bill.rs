//! What the network of a run is made of and costs: its study's prices, or those that hold where nobody says anything.

use fabric::spec::RunSpec;
use serde_json::{Value, json};
use topo::Topology;
use topo::bill::{Bill, CostSpec};
use work::build_error::BuildError;

/// The bill of a run's network, by default prices where its study has none.
pub fn of_network(run: &RunSpec) -> Result<Bill, BuildError> {
    Ok(of_topology(run, &built(run)?))
}

/// The same where the network's topology is there.
pub(crate) fn of_topology(run: &RunSpec, topology: &Topology) -> Bill {
    match &run.cost {
        Some(cost) => bill(run, topology, cost),
        None => bill(run, topology, &vocabulary::default_cost()),
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
    let topology = built(run)?;
    Ok(json!({
        "nodes": topology.n_nodes(),
        "bisection_links": topology.bisection().cables,
        "prices": whose_prices(run),
        "bill": of_topology(run, &topology),
    }))
}

/// The bill of a run whose study has prices. The network is built for it once more: a run may have given up its wiring.
pub(crate) fn of_run(run: &RunSpec) -> Result<Option<Bill>, BuildError> {
    run.cost
        .as_ref()
        .map(|cost| Ok(bill(run, &built(run)?, cost)))
        .transpose()
}

/// Whether the energy of a run depends on the load of each link.
pub(crate) fn needs_loads(run: &RunSpec) -> bool {
    run.cost.as_ref().is_some_and(|cost| cost.port_send_power > 0)
}

fn built(run: &RunSpec) -> Result<Topology, BuildError> {
    run.topology.build().map_err(BuildError::Topology)
}

fn bill(run: &RunSpec, topology: &Topology, cost: &CostSpec) -> Bill {
    Bill::new(topology, cost, |class| run.links.of(class).bandwidth)
}
