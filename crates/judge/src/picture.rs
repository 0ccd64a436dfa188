//! What a picture of a run is drawn from: places and groups of its routers, its links by router and port, what is dead, and where its jobs are.
//!
//! [`describe`](crate::describe::describe) tells of a network what takes time to find out; this is only what is seen, of networks of any size,
//! as lists with an entry for each router or link.

use fabric::network::Network;
use fabric::spec::RunSpec;
use serde_json::{Value, json};
use topo::Topology;
use work::build_error::BuildError;
use work::workload::places;

/// Routers, links in the order of routers and ports, dead and impaired cables by their ends, groups and jobs.
pub fn picture(run: &RunSpec) -> Result<Value, BuildError> {
    let net = Network::build(run)?;
    let topology = &net.topology;
    let wiring = topology.wiring();
    let all = || 0..topology.n_routers();
    let (x, y): (Vec<f64>, Vec<f64>) = all().map(|router| topology.layout(router)).unzip();
    let mut ports = PictureNames::default();
    let (mut router, mut port, mut name) = (Vec::new(), Vec::new(), Vec::new());
    for r in all() {
        let from = wiring.port_offset[r as usize];
        for g in from..wiring.port_offset[r as usize + 1] {
            router.push(r);
            port.push(g - from);
            name.push(ports.number(topology.port_name(r, (g - from) as u16)));
        }
    }
    Ok(json!({
        "routers": {
            "name": all().map(|router| topology.router_name(router)).collect::<Vec<_>>(),
            "x": x,
            "y": y,
            "group": all().map(|router| topology.group_of_router(router)).collect::<Vec<_>>(),
            "nodes": all().map(|router| net.site_of(router).nodes).collect::<Vec<_>>(),
            "first_node": all().map(|router| net.site_of(router).node).collect::<Vec<_>>(),
        },
        "groups": (0..topology.n_groups().unwrap_or(0)).map(|group| topology.group_name(group)).collect::<Vec<_>>(),
        "links": { "router": router, "port": port, "peer": wiring.peer_router, "class": wiring.class, "name": name },
        "port_names": ports.names,
        "classes": wiring.class_names,
        "failed": failed(run, topology)?,
        "rails": run.rails(),
        "jobs": jobs(run, topology)?,
    }))
}

/// Words that many links have in common, each once.
#[derive(Default)]
struct PictureNames {
    names: Vec<String>,
    numbers: std::collections::HashMap<String, usize>,
}

impl PictureNames {
    fn number(&mut self, name: String) -> usize {
        let names = &mut self.names;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() - 1
        })
    }
}

/// What has failed from the start: cables by their two ends and their name, routers and nodes.
fn failed(run: &RunSpec, topology: &Topology) -> Result<Value, BuildError> {
    let Some(fallout) = topology.fallout() else {
        return Ok(json!({ "cables": [], "impaired": [], "routers": [], "nodes": [] }));
    };
    // Ports have the numbers of the whole network.
    let whole = run.topology.build().map_err(BuildError::Topology)?;
    let cable = |&(router, port): &(u32, u16)| {
        let peer = whole.wiring().peer_router[whole.wiring().port_index(router, port)];
        json!([router, peer, whole.cable_name(router, port)])
    };
    Ok(json!({
        "cables": fallout.cables.iter().map(cable).collect::<Vec<_>>(),
        "impaired": fallout.impaired.iter().map(cable).collect::<Vec<_>>(),
        "routers": fallout.routers,
        "nodes": fallout.nodes,
    }))
}

/// The nodes of every job in the order of its own, and their routers.
fn jobs(run: &RunSpec, topology: &Topology) -> Result<Vec<Value>, BuildError> {
    let rails = run.rails();
    let places = places(&run.jobs, topology, rails, run.control.seed)?;
    let one = |(job, nodes): (&fabric::spec::JobSpec, &Vec<u32>)| {
        let routers: Vec<u32> = nodes.iter().map(|&node| topology.router_of(node * rails)).collect();
        json!({ "name": job.name, "nodes": nodes, "routers": routers })
    };
    Ok(run.jobs.iter().zip(&places).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::spec::plain;
    use topo::{FailSpec, Lattice, TopologySpec};

    #[test]
    fn a_picture_has_every_link_and_what_is_dead_beside_it() {
        let mut run = plain(TopologySpec::Mesh(Lattice {
            shape: vec![3, 2],
            width: vec![1, 1],
            nodes_per_router: 2,
        }));
        let whole = picture(&run).unwrap();
        assert_eq!(whole["links"]["router"].as_array().unwrap().len(), 14);
        assert_eq!(whole["routers"]["group"], json!([0, 1, 2, 0, 1, 2]));
        assert_eq!(whole["routers"]["first_node"], json!([0, 2, 4, 6, 8, 10]));
        assert_eq!(whole["groups"], json!(["x=0", "x=1", "x=2"]));
        assert_eq!(whole["failed"]["cables"], json!([]));
        assert_eq!(whole["jobs"][0]["routers"], json!([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]));
        run.fail = FailSpec {
            cables: vec!["(1,0) y+".into()],
            ..FailSpec::default()
        };
        let left = picture(&run).unwrap();
        assert_eq!(left["links"]["router"].as_array().unwrap().len(), 12);
        assert_eq!(left["failed"]["cables"], json!([[1, 4, "(1,0) y+"]]));
    }
}
