//! Routings of CAMINOS: they offer all ways that their rule allows, and a router with buffers per output channel asks for one of them anew in every
//! cycle until it is given.
//!
//! Distances are those of the whole graph, also on networks of groups, where two global links may be nearer than one. The channel counts the
//! hops, so that channels are taken in rising order alone.

mod omni;
mod polarized;
mod shortest;
mod ugal;
mod valiant;

pub(super) use omni::CaminosOmni;
pub use omni::OmniSpec;
pub(super) use polarized::CaminosPolarized;
pub(super) use shortest::CaminosShortest;
pub(super) use ugal::CaminosUgal;
pub(super) use valiant::CaminosValiant;
