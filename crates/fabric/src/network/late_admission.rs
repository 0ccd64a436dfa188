//! What late admission asks of a network.

use super::model::ModelParameters;
use super::{BuildError, Class};
use crate::spec::RunSpec;

/// What the model cannot do with a specification.
pub(super) fn check(spec: &RunSpec) -> Result<(), BuildError> {
    let chunk = spec.nic.chunk.unwrap_or(spec.nic.packet);
    if chunk.0 == 0 || chunk > spec.nic.packet {
        let reason = format!("a chunk has 1 to {} bytes, those of a packet", spec.nic.packet.0);
        return Err(BuildError::field("nic.chunk", reason, None));
    }
    if spec.router.vcs.is_some_and(|vcs| vcs != 1) {
        let reason = "a late-admission router has one virtual channel";
        return Err(BuildError::field("router.vcs", reason, Some("take 1")));
    }
    let needed = chunk.0 * u64::from(spec.router.bubble.max(1));
    if spec.router.buffer.is_some_and(|buffer| buffer.0 < needed) {
        let reason = format!("{needed} bytes are needed to let a chunk turn");
        return Err(BuildError::field("router.buffer", reason, None));
    }
    Ok(())
}

/// Sets the delays of the link classes for chunks of `unit` bytes; class 0 belongs to the interfaces.
pub(super) fn set_delays(model: &ModelParameters, unit: u32, classes: &mut [Class]) {
    let Some((host, links)) = classes.split_first_mut() else {
        return;
    };
    for class in links {
        // From a turn to the arrival.
        class.hop = model.occupied + class.ser(unit) + class.latency + model.pipelined;
    }
    // From the hand-over of a message to its first packet at the router: to the interface, sequencer, packetizer.
    host.hop = model.sequence + 2 * model.local + host.latency;
    // From a chunk's arrival to the application.
    host.latency += model.local;
}
