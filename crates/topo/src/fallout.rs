//! What is dead in a network, and in which pieces the rest is.

/// What failures have left of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallout {
    /// Dead nodes, rising.
    pub nodes: Vec<u32>,
    /// Dead routers, rising.
    pub routers: Vec<u32>,
    /// Dead cables: router and port of before, and the name, one end of each, in port order. Those of dead routers are among them.
    pub cables: Vec<(u32, u16)>,
    /// Cables that live on with less bandwidth or with errors, likewise.
    pub impaired: Vec<(u32, u16)>,
    /// The share of their bandwidth that they have kept, if it is not all, and the number of link classes without theirs.
    pub(crate) kept: Option<(f64, usize)>,
    /// The piece that each router is in; dead routers are pieces of their own.
    pub(crate) pieces: Vec<u32>,
}
