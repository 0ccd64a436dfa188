//! Where the routers of a network lie for its workers: in blocks, each in the order of their numbers.
//!
//! The place of a router is the number of its logical process (see [`des::layout`]): it decides which worker simulates the router and
//! what lies beside it in memory, and shows in no result.

use des::Layout;
use std::ops::Range;
use topo::{Partition, Topology};

/// "No router": a place between two blocks.
pub const NO_ROUTER: u32 = u32::MAX;

/// A block for every router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Block of each router.
    of: Vec<u32>,
    n_blocks: usize,
    groups: usize,
    /// Blocks of this process.
    held: Range<usize>,
}

/// Routers by place, and what belongs to it.
pub(crate) struct Laid {
    /// The router at each place, [`NO_ROUTER`] if there is none.
    pub(crate) routers: Vec<u32>,
    /// The place of each router.
    pub(crate) places: Vec<u32>,
    /// How places lie in blocks; `None`: they are router numbers.
    pub(crate) layout: Option<Layout>,
    /// Places of this process.
    pub(crate) held: Range<u32>,
    /// Link classes by number that join routers of different groups; `None` if there are no blocks.
    pub(crate) crossed: Option<Vec<bool>>,
}

impl Blocks {
    /// Blocks `0..n_blocks` for `groups` workers, neighbouring blocks for the same worker; `of` says which is each router's.
    ///
    /// # Panics
    /// A router's block is none of them, there are more than the engine takes ([`des::layout::MAX_BLOCKS`]), or they do not make whole
    /// groups.
    pub fn new(of: Vec<u32>, n_blocks: usize, groups: usize) -> Blocks {
        assert!(
            of.iter().all(|&block| (block as usize) < n_blocks),
            "a block for every router"
        );
        assert!(n_blocks <= des::layout::MAX_BLOCKS, "{n_blocks} blocks");
        assert!(groups > 0 && n_blocks.is_multiple_of(groups), "blocks in whole groups");
        Blocks {
            of,
            n_blocks,
            groups,
            held: 0..n_blocks,
        }
    }

    /// The same in a process that simulates these blocks only.
    pub fn held(self, blocks: Range<usize>) -> Blocks {
        Blocks { held: blocks, ..self }
    }

    /// Number of routers.
    pub fn n_routers(&self) -> u32 {
        self.of.len() as u32
    }

    /// The block of each router, for other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.of.iter().flat_map(|&block| (block as u16).to_le_bytes()).collect()
    }

    /// [`Blocks::new`] of what [`Blocks::to_bytes`] gave, if it fits.
    pub fn from_bytes(of: &[u8], n_blocks: usize, groups: usize) -> Option<Blocks> {
        let (of, rest) = of.as_chunks::<2>();
        let of: Vec<u32> = of.iter().map(|&bytes| u16::from_le_bytes(bytes).into()).collect();
        let fits = rest.is_empty() && of.iter().all(|&block| (block as usize) < n_blocks);
        fits.then(|| Blocks::new(of, n_blocks, groups))
    }

    /// The blocks of a partition of the network.
    pub fn of_partition(partition: &Partition, n_routers: u32) -> Blocks {
        let of = (0..n_routers).map(|router| partition.block(router)).collect();
        Blocks::new(of, partition.n_blocks() as usize, partition.workers() as usize)
    }
}

/// Places for all routers: in `blocks`, or by number.
pub(crate) fn lay_out(blocks: Option<Blocks>, topology: &Topology) -> Laid {
    let n_routers = topology.n_routers() as usize;
    let Some(Blocks {
        of,
        n_blocks,
        groups,
        held,
    }) = blocks
    else {
        let numbers = || (0..n_routers as u32).collect();
        return Laid {
            routers: numbers(),
            places: numbers(),
            layout: None,
            held: 0..n_routers as u32,
            crossed: None,
        };
    };
    assert_eq!(of.len(), n_routers, "a block for every router");
    let (mut sizes, mut weights) = (vec![0; n_blocks], vec![0; n_blocks]);
    for (router, &block) in of.iter().enumerate() {
        sizes[block as usize] += 1;
        weights[block as usize] += u64::from(topo::partition::weight(topology, router as u32));
    }
    let layout = Layout::grouped(sizes, weights, groups);
    let mut free: Vec<u32> = (0..n_blocks).map(|block| layout.lps(block).start).collect();
    let mut routers = vec![NO_ROUTER; layout.end() as usize];
    let mut places = vec![0; n_routers];
    for (router, &block) in (0..).zip(&of) {
        let place = &mut free[block as usize];
        routers[*place as usize] = router;
        places[router as usize] = *place;
        *place += 1;
    }
    let held = match held.is_empty() {
        true => 0..0,
        false => layout.lps(held.start).start..layout.lps(held.end - 1).end,
    };
    let group = |router: u32| of[router as usize] as usize / (n_blocks / groups);
    let mut crossed = vec![false; topology.class_names().len()];
    for router in 0..n_routers as u32 {
        let here = group(router);
        topology.see_cables(router, |peer, _, class| {
            crossed[usize::from(class)] |= group(peer) != here
        });
    }
    Laid {
        routers,
        places,
        layout: Some(layout),
        held,
        crossed: Some(crossed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::spec::plain;
    use topo::{Lattice, TopologySpec};
    use work::build_error::BuildError;

    #[test]
    fn other_ranks_get_the_blocks_of_all_routers() {
        let blocks = |n_blocks: u32| {
            Blocks::new(
                (0..3_000).map(|router| router * 7 % n_blocks).collect(),
                n_blocks as usize,
                4,
            )
        };
        for n_blocks in [4, 256, 260, 1_024] {
            let told = blocks(n_blocks).to_bytes();
            let read = Blocks::from_bytes(&told, n_blocks as usize, 4).unwrap();
            assert_eq!(read.of, blocks(n_blocks).of);
            assert!(Blocks::from_bytes(&told[1..], n_blocks as usize, 4).is_none());
            assert!(Blocks::from_bytes(&told, n_blocks as usize - 4, 4).is_none());
        }
    }

    #[test]
    fn a_process_has_the_ports_of_its_own_routers_only() {
        let spec = plain(TopologySpec::Torus(Lattice {
            shape: vec![4, 6],
            width: vec![],
            nodes_per_router: 2,
        }));
        let blocks = Blocks::new((0..24).map(|router| router % 4).collect(), 4, 2);
        let build = |blocks: &Blocks| {
            let blocks = Some(blocks.clone());
            Network::build_apart(&spec, |_| Ok::<_, BuildError>(blocks)).unwrap()
        };
        let whole = build(&blocks);
        assert_eq!(whole.peers.entries().len(), 24 * (4 + 2));
        let mut held = 0;
        for mine in [0..2, 2..2, 2..4] {
            let part = build(&blocks.clone().held(mine.clone()));
            held += part.peers.entries().len();
            assert!(!part.topology.has_cables(), "those of others are made nowhere");
            assert_eq!(part.n_ports(), whole.n_ports());
            let Some(layout) = &part.layout else {
                panic!("blocks have a layout")
            };
            for lp in mine.flat_map(|block| layout.lps(block)) {
                let site = part.sites[lp as usize];
                for port in site.port..site.port + site.ports() {
                    let (one, other) = (part.peers[port as usize], whole.peers[port as usize]);
                    assert_eq!(one, other);
                }
            }
            // What workers can reach of each other is known without the others' ports.
            let owner = |lp: u32| (lp >> layout.shift()) as usize / 2;
            assert_eq!(part.lookahead_across(&owner), whole.lookahead_across(&owner));
        }
        assert_eq!(held, whole.peers.entries().len());
    }

    /// Nothing that a run does before it begins lays out the cables of a large lattice.
    #[test]
    fn all_cables_of_a_large_lattice_are_never_together() {
        let lattice = |shape: &[u32]| Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router: 1,
        };
        let hyperx = TopologySpec::HyperX(lattice(&[16, 16, 16]));
        for spec in [plain(TopologySpec::Torus(lattice(&[64, 64, 8]))), plain(hyperx)] {
            let partition = |topology: &Topology| {
                let made = Partition::new(topology, &Default::default(), 4, 8).unwrap();
                let quality = made.quality(topology);
                assert!(quality.classes.iter().any(|class| class.cut > 0));
                Ok::<_, BuildError>(Some(Blocks::of_partition(&made, topology.n_routers()).held(8..16)))
            };
            let part = Network::build_apart(&spec, partition).unwrap();
            assert!(part.prove(&spec.router).words.contains("on a smaller network"));
            let _ = crate::recurrence::may_repeat(&part);
            assert!(!part.topology.has_cables());
        }
    }
}
