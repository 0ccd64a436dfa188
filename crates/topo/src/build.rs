//! From a specification to a topology: every limit and rule is checked before anything is allocated, and all mistakes come at once.

use crate::families::TopologySpec;
use crate::families::{Geometry, GraphFile};
use crate::graph_text::read;
use crate::problems::FieldError;
use crate::topology::Topology;

impl TopologySpec {
    /// Checks the specification and builds the network.
    ///
    /// Linear in routers, ports and nodes; a graph takes n * (n + cables) time and 3 n^2 bytes for n routers and reads its file.
    ///
    /// # Errors
    /// Everything that is wrong with the specification, each with its key, a reason and, where there is one, a hint. Sizes are
    /// estimated before memory is taken: more than 2^26 routers or nodes, 2^28 network ports, 65,535 network ports on one router, or 20,001 routers
    /// of a graph are refused.
    pub fn build(&self) -> Result<Topology, Vec<FieldError>> {
        self.build_of(None)
    }

    /// [`TopologySpec::build`], with `text` in place of what the file of a graph holds; other families take no notice of it.
    ///
    /// # Errors
    /// As [`TopologySpec::build`].
    pub fn build_with_text(&self, text: &str) -> Result<Topology, Vec<FieldError>> {
        self.build_of(Some(text))
    }

    fn build_of(&self, text: Option<&str>) -> Result<Topology, Vec<FieldError>> {
        let (geometry, wiring) = Geometry::build(self, &GraphFile { text, read })?;
        Ok(Topology::assemble(self, wiring, geometry))
    }
}
