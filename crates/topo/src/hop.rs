//! The next step of a packet, and how it came here.

/// A step from one router to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// First port that leads there.
    pub port: u16,
    /// Parallel cables to the same neighbour that may be used: ports `port..port + links`. 0 only in [`Hop::EJECT`].
    pub links: u16,
    /// Dimension of a lattice; 0 row or up, 1 column or down, 2 global of a dragonfly(+); 0 up and 1 down of a fat-tree; else 0.
    pub dim: u8,
    /// Virtual channel to use on that link.
    pub vc: u8,
}

impl Hop {
    /// The packet is at its router already: hand it to the node.
    pub const EJECT: Hop = Hop {
        port: u16::MAX,
        links: 0,
        dim: 0,
        vc: 0,
    };

    /// True if there is no further router hop.
    #[inline]
    pub fn is_eject(self) -> bool {
        self.links == 0
    }
}

/// How a packet got to the router it is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Port of this router through which it came, [`Came::NONE`] when it was injected here.
    pub port: u16,
    /// Virtual channel it came on; 0 when injected.
    pub vc: u8,
}

impl Came {
    /// Port number that means "injected here"; no router has that many ports.
    pub const NONE: u16 = u16::MAX;

    /// Injected here.
    pub const INJECTED: Came = Came {
        port: Came::NONE,
        vc: 0,
    };
}

/// An end of a global link of a dragonfly(+), and the router at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalLink {
    /// The router that owns this end.
    pub router: u32,
    /// Its port.
    pub port: u16,
    /// The router at the other end.
    pub peer: u32,
}

/// Where a port stands in the order in which the ways of its family use ports.
///
/// Ways go from lower stages to higher ones. Ports of one stage follow each other only along a line, where there is one, and then
/// never round it: a link that wraps around is met once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortStage {
    /// Its place in the order.
    pub number: u8,
    /// The direction of the line: ports of a stage with the same one may follow each other.
    pub line: Option<u8>,
    /// The link leads from the end of the line to its beginning.
    pub wraps: bool,
    /// [`Hop::dim`] of its hops.
    pub dim: u8,
}

impl PortStage {
    /// A stage whose ports do not follow each other.
    pub(crate) fn single(number: u8) -> PortStage {
        PortStage {
            number,
            line: None,
            wraps: false,
            dim: number,
        }
    }

    /// A stage whose ports of a direction follow each other.
    pub(crate) fn line(number: u8, direction: u8) -> PortStage {
        PortStage {
            line: Some(direction),
            ..PortStage::single(number)
        }
    }
}

/// The ports of a HyperX router along one dimension: the same at every router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimensionPorts {
    /// First port.
    pub first: u16,
    /// Parallel cables to each neighbour.
    pub links: u16,
    /// Neighbours: one less than the dimension has routers.
    pub neighbours: u16,
    /// The dimension.
    pub dim: u8,
}

impl DimensionPorts {
    /// `true` for a port of this dimension.
    #[inline]
    pub fn has(self, port: u16) -> bool {
        port.wrapping_sub(self.first) < self.neighbours * self.links
    }

    /// A hop to each neighbour, in port order.
    pub fn hops(self) -> impl Iterator<Item = Hop> {
        (0..self.neighbours).map(move |neighbour| Hop {
            port: self.first + neighbour * self.links,
            links: self.links,
            dim: self.dim,
            vc: 0,
        })
    }
}

/// Hops in port order, in memory that the caller keeps and reuses: it grows to the largest radix once and then allocates no more.
#[derive(Clone, Debug, Default)]
pub struct HopList {
    hops: Vec<Hop>,
}

impl HopList {
    /// An empty list with room for a usual radix.
    pub fn new() -> Self {
        Self {
            hops: Vec::with_capacity(64),
        }
    }

    /// Forgets all hops and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.hops.clear();
    }

    /// Adds a hop.
    #[inline]
    pub fn push(&mut self, hop: Hop) {
        self.hops.push(hop);
    }

    /// Adds a hop unless one with the same first port is there.
    pub(crate) fn push_new(&mut self, hop: Hop) {
        if !self.hops.iter().any(|h| h.port == hop.port) {
            self.hops.push(hop);
        }
    }

    /// Puts the hops into port order.
    pub(crate) fn sort(&mut self) {
        self.hops.sort_unstable_by_key(|h| h.port);
    }
}

impl std::ops::Deref for HopList {
    type Target = [Hop];

    #[inline]
    fn deref(&self) -> &[Hop] {
        &self.hops
    }
}
