use super::*;
use crate::{DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec, TopologySpec};
use proptest::prelude::*;

fn layout(nodes: u32, routers: u32) -> LayoutSpec {
    LayoutSpec {
        nodes_per_rack: nodes,
        routers_per_rack: routers,
        rows: None,
        rack_pitch: 1_000,
        row_pitch: 10_000,
        in_rack: 500,
        slack: 2_000,
    }
}

fn racks(spec: &TopologySpec, layout: LayoutSpec) -> (Vec<u32>, Floor) {
    let topology = spec.build().expect("a network");
    let floor = Floor::new(&topology, &layout);
    ((0..topology.n_routers()).map(|r| floor.rack_of(r)).collect(), floor)
}

fn hyperx(shape: &[u32], nodes: u32) -> TopologySpec {
    TopologySpec::HyperX(Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router: nodes,
    })
}

#[test]
fn lines_of_a_lattice_stay_together_where_a_rack_can_hold_them() {
    let lines = |routers| racks(&hyperx(&[3, 4], 1), layout(100, routers)).0;
    assert_eq!(lines(12), [0; 12]);
    // Two lines fit, a third would be cut.
    assert_eq!(lines(8), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    // A line that is too long for a rack takes a new one, and as many as it needs.
    assert_eq!(lines(2), [0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7]);
    assert_eq!(
        racks(&hyperx(&[3, 4], 5), layout(10, 8)).0,
        lines(2),
        "nodes fill racks too"
    );
}

#[test]
fn pods_of_a_fat_tree_stand_before_its_top_routers() {
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![2, 2, 2],
        up: vec![2, 2],
        up_width: vec![],
    });
    // Leaves 0 to 3, middle routers 4 to 7, top routers 8 to 11.
    assert_eq!(racks(&tree, layout(100, 4)).0, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn groups_of_a_dragonfly_are_whole() {
    let dragonfly = TopologySpec::Dragonfly(DragonflySpec {
        groups: 3,
        routers_per_group: vec![2],
        nodes_per_router: 2,
        links_per_pair: 1,
        local_width: 1,
        arrangement: crate::Arrangement::Absolute,
        arrangement_seed: 0,
    });
    assert_eq!(racks(&dragonfly, layout(8, 3)).0, [0, 0, 1, 1, 2, 2]);
    assert_eq!(racks(&dragonfly, layout(8, 32)).0, [0, 0, 0, 0, 1, 1]);
}

#[test]
fn a_router_with_more_nodes_than_a_rack_has_racks_of_its_own() {
    let spec = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 10 });
    let (_, floor) = racks(&spec, layout(4, 4));
    assert_eq!((floor.racks(), floor.rows()), (3, 1));
    let lengths: Vec<u64> = (0..10).map(|place| floor.to_node(0, place)).collect();
    assert_eq!(lengths, [500, 500, 500, 500, 3_000, 3_000, 3_000, 3_000, 4_000, 4_000]);
    let (of, floor) = racks(&hyperx(&[2, 1], 9), layout(4, 4));
    assert_eq!((of, floor.racks()), (vec![0, 3], 6));
}

#[test]
fn cables_go_along_rows_and_across_them() {
    let rows = |rows| LayoutSpec {
        rows: Some(rows),
        ..layout(1, 1)
    };
    let (_, floor) = racks(&hyperx(&[6], 1), rows(2));
    assert_eq!((floor.racks(), floor.rows()), (6, 2));
    assert_eq!(floor.between(0, 0), 500);
    assert_eq!(floor.between(0, 2), 4_000);
    assert_eq!(floor.between(0, 3), 12_000);
    assert_eq!(floor.between(2, 3), 14_000);
    // No more rows than racks, and no empty one.
    assert_eq!(racks(&hyperx(&[6], 1), rows(99)).1.rows(), 6);
    assert_eq!(racks(&hyperx(&[6], 1), rows(4)).1.rows(), 3);
    assert_eq!(racks(&hyperx(&[6], 1), layout(1, 1)).1.rows(), 2);
}

proptest! {
    #[test]
    fn no_rack_has_more_than_it_holds_and_none_is_empty(
        x in 1u32..9, y in 1u32..6, nodes in 1u32..5, most_nodes in 1u32..12, most_routers in 1u32..12,
    ) {
        let spec = hyperx(&[x, y], nodes);
        let (of, floor) = racks(&spec, layout(most_nodes, most_routers));
        let mut routers = vec![0u32; floor.racks() as usize];
        let mut here = vec![0u32; floor.racks() as usize];
        for rack in of {
            routers[rack as usize] += 1;
            for node in 0..nodes {
                here[(rack + node / most_nodes) as usize] += 1;
            }
        }
        prop_assert!(routers.iter().all(|&n| n <= most_routers));
        prop_assert!(here.iter().all(|&n| n <= most_nodes && n > 0));
        prop_assert!(floor.rows() <= floor.racks());
    }
}
