//! `credit` with `architecture = "output-buffered"` before a run.

use crate::equipment::{Architecture, HopCost, NamedModel, RouterSpec};
use study::Bytes;

impl Architecture {
    /// Output buffers per virtual channel behind an ideal crossbar; what has no room there waits in the input buffer.
    pub const OUTPUT_BUFFERED: Architecture = Architecture {
        choice: (
            "output-buffered",
            "Output buffers per virtual channel behind an ideal crossbar; what has no room there waits in the input buffer.",
        ),
        named: &NamedOutputBuffered,
    };
}

/// The model.
#[derive(Debug)]
struct NamedOutputBuffered;

impl NamedModel for NamedOutputBuffered {
    fn limits(&self) -> Option<&'static str> {
        Some(
            "Packet granularity: flits of a packet are never apart. The crossbar is ideal, and a packet keeps its place in the line for a link.",
        )
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.35e-6,
            with_ranks: 0.25e-6,
        }
    }

    fn commits_before_room(&self) -> bool {
        true
    }

    fn loses_packets(&self) -> bool {
        true
    }

    fn takes_by_links(&self) -> bool {
        true
    }

    fn output_buffer(&self, router: &RouterSpec) -> Option<Bytes> {
        router.output_buffer
    }
}
