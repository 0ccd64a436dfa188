//! Where the routers of a network lie for its workers: in blocks, each in the order of their numbers.
//!
//! The place of a router is the number of its logical process (see [`des::layout`]): it decides which worker simulates the router and
//! what lies beside it in memory, and shows in no result.

use des::Layout;
use topo::Wiring;

/// "No router": a place between two blocks.
pub const NO_ROUTER: u32 = u32::MAX;

/// A block for every router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Block of each router.
    of: Vec<u32>,
    n_blocks: usize,
    groups: usize,
}

/// Routers by place, and what belongs to it.
pub(crate) struct Laid {
    /// The router at each place, [`NO_ROUTER`] if there is none.
    pub(crate) routers: Vec<u32>,
    /// The place of each router.
    pub(crate) places: Vec<u32>,
    /// How places lie in blocks; `None`: they are router numbers.
    pub(crate) layout: Option<Layout>,
}

impl Blocks {
    /// Blocks `0..n_blocks` for `groups` workers, neighbouring blocks for the same worker; `of` says which is each router's.
    ///
    /// # Panics
    /// A router's block is none of them, or they do not make whole groups.
    pub fn new(of: Vec<u32>, n_blocks: usize, groups: usize) -> Blocks {
        assert!(
            of.iter().all(|&block| (block as usize) < n_blocks),
            "a block for every router"
        );
        assert!(groups > 0 && n_blocks.is_multiple_of(groups), "blocks in whole groups");
        Blocks { of, n_blocks, groups }
    }
}

/// Places for all routers: in `blocks`, or by number.
pub(crate) fn lay_out(blocks: Option<Blocks>, wiring: &Wiring) -> Laid {
    let n_routers = wiring.port_offset.len() - 1;
    let Some(Blocks { of, n_blocks, groups }) = blocks else {
        let numbers = || (0..n_routers as u32).collect();
        return Laid {
            routers: numbers(),
            places: numbers(),
            layout: None,
        };
    };
    assert_eq!(of.len(), n_routers, "a block for every router");
    let (mut sizes, mut weights) = (vec![0; n_blocks], vec![0; n_blocks]);
    for (router, &block) in of.iter().enumerate() {
        sizes[block as usize] += 1;
        weights[block as usize] += weight(wiring, router);
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
    Laid {
        routers,
        places,
        layout: Some(layout),
    }
}

/// What the simulation of a router costs, roughly: a packet is handled at every port it takes, and made and taken in at nodes.
fn weight(wiring: &Wiring, router: usize) -> u64 {
    let count = |offset: &[u32]| u64::from(offset[router + 1] - offset[router]);
    count(&wiring.port_offset) + 2 * count(&wiring.node_offset)
}
