//! A small network of the same family in which every kind of channel dependency of the large one occurs.
//!
//! The argument per family is in docs/models/deadlock.md: a routing of a regular family treats all routers of a kind alike, so its
//! dependencies are told by link class, direction, place relative to the border or dateline, and VC; sizes only repeat them.

use crate::families::Geometry;
use crate::families::TopologySpec;

impl TopologySpec {
    /// A small network of the same family with the same order of channels; the specification itself where it is small already or
    /// where no smaller one can stand for it (a graph from a file).
    pub fn reduced(&self) -> TopologySpec {
        let mut spec = self.clone();
        Geometry::reduce(&mut spec);
        spec
    }
}
