//! What may fail in the network of a run, and what would come of what it says has failed: before anything is run.

use fabric::spec::RunSpec;
use serde_json::{Value, json};
use topo::bill::Floor;
use topo::{FailKind, Topology};
use work::build_error::BuildError;

/// Pairs of nodes that are named.
const NAMED: usize = 8;

/// What fails in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// A group, pod or plane.
    Group,
    /// A rack of `[cost.layout]`.
    Rack,
}

impl Shelf {
    /// The one that several of are called so.
    pub fn named(plural: &str) -> Option<Shelf> {
        match plural {
            "groups" => Some(Shelf::Group),
            "racks" => Some(Shelf::Rack),
            _ => None,
        }
    }
}

/// Everything of a kind in the whole network, by the names that `[fail]` takes: cables in the order of their first ends with their classes,
/// routers, or nodes.
pub fn candidates(run: &RunSpec, of: FailKind) -> Result<Value, BuildError> {
    let topology = run.topology.build().map_err(BuildError::Topology)?;
    let wiring = topology.wiring();
    Ok(match of {
        FailKind::Nodes => (0..topology.n_nodes()).collect(),
        FailKind::Routers => (0..topology.n_routers())
            .map(|router| topology.router_name(router))
            .collect(),
        FailKind::Cables => {
            let cable = |(r, p): (u32, u16)| {
                let class = &wiring.class_names[usize::from(wiring.class[wiring.port_index(r, p)])];
                json!([topology.cable_name(r, p), class])
            };
            wiring.cables().map(cable).collect()
        }
    })
}

/// The groups or racks of the whole network that have something in them, each with the names of its routers and with its nodes that are not
/// at one of those: `[number, routers, nodes]`.
pub fn shelves(run: &RunSpec, of: Shelf) -> Result<Value, BuildError> {
    let topology = run.topology.build().map_err(BuildError::Topology)?;
    let all: Vec<(Vec<u32>, Vec<u32>)> = match of {
        Shelf::Group => {
            let mut groups = vec![(Vec::new(), Vec::new()); topology.n_groups().unwrap_or(0) as usize];
            for router in 0..topology.n_routers() {
                if let Some(group) = topology
                    .group_of_router(router)
                    .and_then(|group| groups.get_mut(group as usize))
                {
                    group.0.push(router);
                }
            }
            groups
        }
        Shelf::Rack => {
            let told = run.cost.as_ref().map(|cost| cost.layout);
            let layout = told.unwrap_or_else(|| vocabulary::default_cost().layout);
            let floor = Floor::new(&topology, &layout);
            (0..floor.racks())
                .map(|rack| floor.contents(&topology, &[rack]))
                .collect()
        }
    };
    let names =
        |routers: &[u32]| -> Vec<String> { routers.iter().map(|&router| topology.router_name(router)).collect() };
    let filled = all
        .iter()
        .zip(0u32..)
        .filter(|((routers, nodes), _)| !routers.is_empty() || !nodes.is_empty());
    Ok(filled
        .map(|((routers, nodes), number)| json!([number, names(routers), nodes]))
        .collect())
}

/// What is dead, and which live nodes cannot reach each other any more: ordered pairs, how many there are and the first of them. Where the
/// run's routing keeps its ways they are pairs between which the topology would have another way as well.
pub fn fallout(run: &RunSpec) -> Result<Value, BuildError> {
    let whole = run.topology.build().map_err(BuildError::Topology)?;
    let left = run.shape()?;
    let Some(fallout) = left.fallout() else {
        return Ok(
            json!({ "cables": [], "impaired": [], "routers": [], "nodes": [], "parted": 0, "first_parted": [] }),
        );
    };
    let cables: Vec<String> = fallout.cables.iter().map(|&(r, p)| whole.cable_name(r, p)).collect();
    let impaired: Vec<String> = fallout.impaired.iter().map(|&(r, p)| whole.cable_name(r, p)).collect();
    let routers: Vec<String> = fallout
        .routers
        .iter()
        .map(|&router| whole.router_name(router))
        .collect();
    let (parted, first) = parted(&left);
    Ok(json!({
        "cables": cables,
        "impaired": impaired,
        "routers": routers,
        "nodes": fallout.nodes,
        "parted": parted,
        "first_parted": first,
    }))
}

/// Ordered pairs of live nodes without a way between them: how many, and the first.
fn parted(left: &Topology) -> (u64, Vec<(u32, u32)>) {
    let alive: Vec<u32> = (0..left.n_nodes()).filter(|&node| left.is_alive(node)).collect();
    let mut pieces = std::collections::BTreeMap::new();
    for &node in &alive {
        *pieces.entry(left.piece(left.router_of(node))).or_insert(0u64) += 1;
    }
    let all = alive.len() as u64;
    let pairs = pieces.values().map(|&here| here * (all - here)).sum();
    if pairs == 0 {
        return (0, Vec::new());
    }
    let of = |&from: &u32| {
        let others = alive
            .iter()
            .filter(move |&&to| !left.are_joined(left.router_of(from), left.router_of(to)));
        others.map(move |&to| (from, to))
    };
    (pairs, alive.iter().flat_map(of).take(NAMED).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::spec::plain;
    use topo::{Arrangement, DragonflySpec, FailSpec, Lattice, SingleRouterSpec, TopologySpec};

    fn mesh(fail: FailSpec) -> RunSpec {
        let mut run = plain(TopologySpec::Mesh(Lattice {
            shape: vec![3, 2],
            width: vec![1, 1],
            nodes_per_router: 1,
        }));
        run.fail = fail;
        run
    }

    #[test]
    fn every_cable_is_named_once_as_failures_take_it() {
        let whole = mesh(FailSpec::default());
        let cables = candidates(&whole, FailKind::Cables).unwrap();
        let names: Vec<&str> = cables
            .as_array()
            .unwrap()
            .iter()
            .map(|cable| cable[0].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "(0,0) x+", "(0,0) y+", "(1,0) x+", "(1,0) y+", "(2,0) y+", "(0,1) x+", "(1,1) x+"
            ]
        );
        for name in names {
            let run = mesh(FailSpec {
                cables: vec![name.into()],
                ..FailSpec::default()
            });
            assert_eq!(fallout(&run).unwrap()["cables"], json!([name]));
        }
        assert_eq!(candidates(&whole, FailKind::Routers).unwrap()[5], json!("(2,1)"));
        assert_eq!(candidates(&whole, FailKind::Nodes).unwrap(), json!([0, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn racks_and_groups_are_what_is_in_them() {
        let mut run = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 5 }));
        assert_eq!(shelves(&run, Shelf::Group).unwrap(), json!([]));
        let mut cost = vocabulary::default_cost();
        cost.layout.nodes_per_rack = 2;
        run.cost = Some(cost);
        // The router stands with the first two.
        let racks = json!([[0, ["router"], []], [1, [], [2, 3]], [2, [], [4]]]);
        assert_eq!(shelves(&run, Shelf::Rack).unwrap(), racks);
        let dragonfly = plain(TopologySpec::Dragonfly(DragonflySpec {
            groups: 3,
            routers_per_group: vec![2],
            nodes_per_router: 1,
            links_per_pair: 1,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 1,
        }));
        let groups = shelves(&dragonfly, Shelf::Group).unwrap();
        let routers = candidates(&dragonfly, FailKind::Routers).unwrap();
        for group in 0..3 {
            assert_eq!(
                groups[group],
                json!([group, [routers[2 * group], routers[2 * group + 1]], []])
            );
        }
    }

    #[test]
    fn who_is_parted_is_counted_and_named() {
        // The corner (2,0) with node 2 hangs on two cables; (1,1) takes its node 4 with it.
        let run = mesh(FailSpec {
            cables: vec!["(1,0) x+".into(), "(2,0) y+".into()],
            routers: vec!["(1,1)".into()],
            ..FailSpec::default()
        });
        let found = fallout(&run).unwrap();
        assert_eq!(found["nodes"], json!([4]));
        // Alive: 0, 1, 3 | 2 | 5.
        assert_eq!(found["parted"], json!(3 * 2 + 4 + 4));
        assert_eq!(found["first_parted"][0], json!([0, 2]));
        assert_eq!(found["first_parted"].as_array().unwrap().len(), NAMED);
    }
}
