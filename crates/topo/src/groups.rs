//! Groups of nodes: what people call group, pod or plane, the largest unit below the whole network.

use crate::families::Geometry;
use crate::families::TopologySpec;
use crate::topology::Topology;

impl TopologySpec {
    /// Whether [`Topology::n_groups`] of the built network is not `None`.
    pub fn has_groups(&self) -> bool {
        Geometry::has_groups(self)
    }
}

impl Topology {
    /// Number of groups: groups of a dragonfly or dragonfly+, pods of a fat-tree (subtrees below the top routers; one if its routers are
    /// of one level), planes of a lattice across its first dimension. `None` on families without.
    pub fn n_groups(&self) -> Option<u32> {
        self.geometry.family().n_groups()
    }

    /// Group of a node, below [`Topology::n_groups`]; 0 on families without groups.
    pub fn group_of(&self, node: u32) -> u32 {
        self.geometry.family().group_of(self.router_of(node))
    }

    /// Group that a router is in, with nodes or without; `None` on families without groups, and of the top routers of a fat-tree, which are in
    /// no pod.
    pub fn group_of_router(&self, router: u32) -> Option<u32> {
        let (family, n) = (self.geometry.family(), self.n_groups()?);
        // In a fat-tree only leaves are counted by pods; all that stands in a pod is a shelf.
        let of = [family.group_of(router), family.shelf(router)];
        of.into_iter().find(|&group| group < n)
    }

    /// A group's name: `g2` of a dragonfly, `pod 2` of a fat-tree, `x=2` of a lattice; empty on families without groups.
    pub fn group_name(&self, group: u32) -> String {
        self.geometry.family().group_name(group)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Arrangement, DragonflyPlusSpec, DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec, Topology, TopologySpec,
    };

    fn groups(spec: TopologySpec) -> (Option<u32>, Vec<u32>, Topology) {
        let topology = spec.build().expect("a network");
        assert_eq!(spec.has_groups(), topology.n_groups().is_some());
        let of = (0..topology.n_nodes()).map(|node| topology.group_of(node)).collect();
        (topology.n_groups(), of, topology)
    }

    #[test]
    fn a_lattice_falls_into_planes_across_its_first_dimension() {
        let lattice = |shape: &[u32]| Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router: 2,
        };
        let (n, of, topology) = groups(TopologySpec::Torus(lattice(&[3, 2])));
        assert_eq!((n, of), (Some(3), vec![0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]));
        assert_eq!(topology.group_name(2), "x=2");
        let (n, of, _) = groups(TopologySpec::HyperX(lattice(&[2, 2])));
        assert_eq!((n, of), (Some(2), vec![0, 0, 1, 1, 0, 0, 1, 1]));
    }

    #[test]
    fn a_dragonfly_falls_into_its_groups() {
        let (n, of, topology) = groups(TopologySpec::Dragonfly(DragonflySpec {
            groups: 3,
            routers_per_group: vec![2],
            nodes_per_router: 2,
            links_per_pair: 1,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 0,
        }));
        assert_eq!((n, of), (Some(3), vec![0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]));
        assert_eq!(topology.group_name(1), "g1");
        let (n, of, _) = groups(TopologySpec::DragonflyPlus(DragonflyPlusSpec {
            groups: 2,
            leaves: 2,
            spines: 3,
            nodes_per_leaf: 2,
            links_per_pair: 1,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 0,
        }));
        assert_eq!((n, of), (Some(2), vec![0, 0, 0, 0, 1, 1, 1, 1]));
    }

    #[test]
    fn a_fat_tree_falls_into_pods_below_the_top() {
        let tree = |down: &[u32], up: &[u32]| {
            TopologySpec::FatTree(FatTreeSpec {
                down: down.to_vec(),
                up: up.to_vec(),
                up_width: vec![],
            })
        };
        let (n, of, topology) = groups(tree(&[2, 2, 3], &[2, 2]));
        assert_eq!((n, of), (Some(3), vec![0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]));
        assert_eq!(topology.group_name(0), "pod 0");
        // Four leaves and four routers above them are in pods, the top routers in none.
        let routers = |topology: &Topology| -> Vec<_> {
            let all = 0..topology.n_routers();
            all.map(|router| topology.group_of_router(router)).collect()
        };
        let in_pods = [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2].map(Some);
        assert_eq!(routers(&topology)[..12], in_pods);
        assert!(routers(&topology)[12..].iter().all(Option::is_none) && topology.n_routers() == 16);
        let (n, of, _) = groups(tree(&[2, 3], &[2]));
        assert_eq!((n, of), (Some(3), vec![0, 0, 1, 1, 2, 2]));
        let (n, of, _) = groups(tree(&[3], &[]));
        assert_eq!((n, of), (Some(1), vec![0, 0, 0]));
    }

    #[test]
    fn one_router_has_no_groups() {
        let (n, of, topology) = groups(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }));
        assert_eq!((n, of, topology.group_name(0)), (None, vec![0, 0], String::new()));
    }
}
