//! A run in words and figures before it is run: metrics, drawing, deadlock proof, memory.

use crate::bill;
use crate::check;
use crate::failures;
use crate::predict::Prediction;
use fabric::network::Network;
use fabric::spec::{JobSpec, Perturbation, Placement, RunSpec};
use serde_json::{Value, json};
use topo::bisection::BisectionMethod;
use topo::{Partition, Topology};
use vocabulary::{canonical, run_hash};
use work::build_error::BuildError;
use work::workload::places;

/// Networks with more routers than this are described without a list of them.
const MOST_DRAWN: u32 = 5_000;

/// Metrics, routers with places in the unit square, links between routers and classes of a run's network; of the links those given by router and
/// port, all where none are given.
pub fn describe(run: &RunSpec, links: Option<&[(u32, u16)]>) -> Result<Value, BuildError> {
    let net = Network::build(run)?;
    let topology = &net.topology;
    let metrics = topology.metrics();
    let wiring = topology.wiring();
    let proof = net.prove(&run.router);
    let cables: serde_json::Map<String, Value> = metrics
        .cables
        .iter()
        .map(|(class, count)| (class.clone(), json!(count)))
        .collect();
    let mut value = json!({
        "name": run.study,
        "topology": run.topology,
        "metrics": {
            "routers": metrics.routers,
            "nodes": metrics.nodes,
            "cables": cables,
            "radix": metrics.radix,
            "diameter": metrics.diameter,
            "mean_distance": metrics.mean_distance,
            "mean_distance_sampled_sources": metrics.sampled_sources,
            "bisection_links": metrics.bisection.cables,
            "bisection_method": match metrics.bisection.method {
                BisectionMethod::Formula(source) => source,
                BisectionMethod::Heuristic => "heuristic search, an upper bound",
            },
            "virtual_channels": net.vcs,
            "lookahead_ns": net.lookahead.as_ns(),
        },
        "fallout": topology.fallout().map(|_| failures::fallout(run)).transpose()?,
        "deadlock": { "free": proof.free, "words": proof.words },
        "classes": wiring.class_names,
        "jobs": jobs(run, topology)?,
        // A bill is for what was bought.
        "bill": match topology.is_curtailed() {
            true => bill::of_network(run)?,
            false => bill::of_topology(run, topology),
        },
        "prices": bill::whose_prices(run),
    });
    if topology.n_routers() <= MOST_DRAWN {
        let routers: Vec<Value> = (0..topology.n_routers())
            .map(|r| {
                let (x, y) = topology.layout(r);
                json!({"id": r, "name": topology.router_name(r), "x": x, "y": y, "nodes": net.site_of(r).nodes})
            })
            .collect();
        let between_routers =
            |&(router, port): &(u32, u16)| router < topology.n_routers() && u32::from(port) < wiring.radix(router);
        let links: Vec<Value> = match links {
            Some(given) => given
                .iter()
                .copied()
                .filter(between_routers)
                .map(|at| link(topology, at))
                .collect(),
            None => (0..wiring.n_ports() as usize)
                .map(|place| link(topology, wiring.port_at(place)))
                .collect(),
        };
        value["routers"] = json!(routers);
        value["links"] = json!(links);
    }
    Ok(value)
}

/// A link between routers: its router, port and peer, its class, and the name of the port.
fn link(topology: &Topology, (router, port): (u32, u16)) -> Value {
    let wiring = topology.wiring();
    let class = &wiring.class_names[usize::from(wiring.class[wiring.port_index(router, port)])];
    json!([
        router,
        port,
        wiring.peer(router, port).0,
        class,
        topology.port_name(router, port)
    ])
}

/// Where the jobs of a run are: nodes of each in each group that has some of them.
fn jobs(run: &RunSpec, topology: &Topology) -> Result<Vec<Value>, BuildError> {
    let rails = run.rails();
    let places = places(&run.jobs, topology, rails, run.control.seed)?;
    let one = |(job, nodes): (&JobSpec, &Vec<u32>)| {
        let mut in_group = vec![0u32; topology.n_groups().unwrap_or(0) as usize];
        for &node in nodes {
            if let Some(count) = in_group.get_mut(topology.group_of(node * rails) as usize) {
                *count += 1;
            }
        }
        let groups: Vec<Value> = (0..)
            .zip(in_group)
            .filter(|(_, count)| *count > 0)
            .map(|(group, count)| json!([topology.group_name(group), count]))
            .collect();
        let placement = match &job.placement {
            // The nodes themselves are in the run.
            Placement::File(_) => json!("file"),
            placement => json!(placement),
        };
        json!({ "name": job.name, "placement": placement, "nodes": nodes.len(), "groups": groups })
    };
    Ok(run.jobs.iter().zip(&places).map(one).collect())
}

/// How `workers` would share out the routers of a run: evenness, cables cut by class, and the worker of each router of a network
/// that can be drawn.
pub fn partition(run: &RunSpec, workers: u32) -> Result<Value, BuildError> {
    let topology = run.shape()?;
    let partition =
        Partition::new(&topology, &run.control.partition.method(), workers, 1).map_err(|error| BuildError::Field {
            key: "run.partition".into(),
            reason: error.to_string(),
            hint: Some(error.hint()),
        })?;
    let mut value = json!(partition.quality(&topology));
    if topology.n_routers() <= MOST_DRAWN {
        let workers: Vec<u32> = (0..topology.n_routers()).map(|r| partition.worker(r)).collect();
        value["worker_of_router"] = json!(workers);
    }
    Ok(value)
}

/// A run as an object of `expand`.
pub fn run_entry(run: &RunSpec, estimate: &Prediction) -> Value {
    let text = canonical(run);
    let hash = run_hash(run);
    let mut entry = json!({
        "id": hash[..12],
        "hash": hash,
        "canonical": text,
        "study": run.study,
        "experiment": run.experiment,
        "sweep": run.sweep,
        "seed": run.control.seed,
        "engine": run.control.engine,
        "topology": run.topology,
        "estimate": estimate,
    });
    if let Some(Perturbation { number, spread }) = run.control.perturbation {
        entry["perturbation"] = json!({"number": number, "spread_ns": spread.as_ns()});
    }
    entry
}

/// The verdict on deadlock of a run, refusing what can deadlock and what is too fine for the times of a run, and virtual channels that
/// stay empty, in words.
pub fn deadlock(run: &RunSpec) -> Result<(String, Option<String>), BuildError> {
    let net = Network::build(run)?;
    check::rounding(run, &net)?;
    Ok((check::deadlock(run, &net)?, net.idle_channels(run.router.vcs)))
}
