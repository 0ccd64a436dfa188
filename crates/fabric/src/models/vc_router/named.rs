//! `credit` with `architecture = "vc-router"` before a run.

use crate::equipment::{
    Allocator, Architecture, DeliveryPoint, HopCost, LinkDelays, LinkSpec, NamedModel, NicSpec, PipelineSpec,
    RouterChannels, RouterSpec, Switching,
};
use study::{BitsPerSec, Bytes};
use work::build_error::BuildError;

impl Architecture {
    /// Flits in input queues per virtual channel; channels and switch are allocated in every cycle of a clock.
    pub const VC_ROUTER: Architecture = Architecture {
        choice: (
            "vc-router",
            "Flits in input queues per virtual channel; channels and switch are allocated in every cycle of a clock.",
        ),
        named: &NamedVcRouter,
    };
}

/// The model.
#[derive(Debug)]
struct NamedVcRouter;

/// Most channels of a router, and ports of its switch: the sets of a step have as many places.
const MOST_CHANNELS: u64 = 4_096;
const MOST_SWITCH_PORTS: u64 = 256;

/// Most flits of a packet, and of a buffer.
const MOST_FLITS: u64 = u16::MAX as u64;

/// What the study says of the inside.
fn pipeline(router: &RouterSpec) -> PipelineSpec {
    router.pipeline.unwrap_or_default()
}

/// Time (ps) of a flit on a link.
fn flit_time(router: &RouterSpec, bandwidth: BitsPerSec) -> u64 {
    (u64::from(NamedVcRouter.flit(router)) * 8_000_000_000_000).div_ceil(bandwidth.0.max(1))
}

/// What a link takes without the router at its end: a flit is there when all of it is, and so is a credit, which takes a cycle.
fn link_alone(router: &RouterSpec, latency: u64, flit: u64) -> LinkDelays {
    LinkDelays {
        latency,
        hop: latency + flit,
        credit: latency + pipeline(router).clock.0 + router.credit_delay.0,
    }
}

impl NamedModel for NamedVcRouter {
    fn limits(&self) -> Option<&'static str> {
        Some(
            "A packet's output is chosen once per router, when it is routed; interfaces give the router a flit per cycle.",
        )
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.4e-6,
            with_ranks: 0.4e-6,
        }
    }

    fn check(&self, router: &RouterSpec, nic: &NicSpec) -> Result<(), BuildError> {
        let flit = u64::from(self.flit(router));
        let refuse = |key: &str, reason: &str, hint: &str| Err(BuildError::field(key, reason, Some(hint)));
        let pipeline = pipeline(router);
        if pipeline.clock.0 == 0 {
            return refuse("router.clock", "the clock has a period", "take \"1 ns\"");
        }
        if let Some(outputs) = &pipeline.outputs {
            if !matches!(pipeline.vc.rule, Allocator::Islip | Allocator::RandomGreedy) {
                let reason = "packets that ask for one channel each are drawn, or take turns";
                return refuse("router.vc_allocator", reason, "take \"random-greedy\" or \"islip\"");
            }
            let packets = u64::from(router.bubble.max(1)) * nic.packet.0.div_ceil(flit) * flit;
            let needed = outputs
                .room(nic.packet)
                .max(if router.bubble > 1 { packets } else { 0 });
            for (key, size) in [
                ("router.buffer", router.buffer.map_or(u64::MAX, |buffer| buffer.0)),
                ("router.output_channel_buffer", outputs.buffer.0),
            ] {
                if size < needed {
                    let reason = format!("a head must find room for {needed} B");
                    return refuse(key, &reason, "give more, or take a smaller router.head_room");
                }
            }
        } else if pipeline.stages[1..3].contains(&0) {
            let reason = "a channel and the switch are allocated one after the other, each in a cycle at least";
            return refuse("router.vc_stage", reason, "take 1");
        }
        if router.switching == Switching::StoreAndForward {
            let reason = "flits of a vc-router go on without those behind them";
            return refuse("router.switching", reason, "take \"cut-through\"");
        }
        if router.delivery == DeliveryPoint::Head {
            let reason = "a packet of flits is there with its tail";
            return refuse("router.delivery", reason, "take \"tail\"");
        }
        if !router.credit_uses_link {
            return refuse(
                "router.credit_uses_link",
                "credits of a vc-router take the link",
                "take true",
            );
        }
        if nic.packet.0.div_ceil(flit) > MOST_FLITS {
            let reason = "a packet has at most 65,535 flits";
            return refuse("nic.packet", reason, "take smaller packets or larger flits");
        }
        match router.buffer.map(|buffer| buffer.0 / flit) {
            None => refuse("router.buffer", "buffers of a vc-router are bounded", "give a size"),
            Some(0) => refuse("router.buffer", "a buffer holds a flit at least", "give more"),
            Some(flits) if flits > MOST_FLITS => {
                let reason = "a buffer holds at most 65,535 flits";
                refuse("router.buffer", reason, "take less, or larger flits")
            }
            Some(_) => Ok(()),
        }
    }

    fn check_size(&self, router: &RouterSpec, ports: u32, vcs: u32) -> Result<(), BuildError> {
        let pipeline = pipeline(router);
        let speedup = u32::from(pipeline.input_speedup.max(pipeline.output_speedup)).max(1);
        // Channels of a port stand at powers of two.
        let channels = u64::from(ports) * u64::from(vcs.next_power_of_two());
        if channels > MOST_CHANNELS || u64::from(ports) * u64::from(speedup) > MOST_SWITCH_PORTS {
            let reason = format!(
                "a vc-router has at most {MOST_CHANNELS} channels and {MOST_SWITCH_PORTS} ports of its switch: not {ports} ports with {vcs} channels (counted as a power \
                 of two) and a speed-up of {speedup}"
            );
            let hint = "take fewer channels, smaller routers, or architecture = \"voq\"";
            return Err(BuildError::field("router.vcs", reason, Some(hint)));
        }
        Ok(())
    }

    fn keeps_rings_moving(&self, router: &RouterSpec) -> bool {
        pipeline(router).outputs.is_some() && router.bubble > 1
    }

    fn channels(&self) -> RouterChannels {
        RouterChannels::InClasses
    }

    fn commits_before_room(&self) -> bool {
        true
    }

    fn reorders(&self) -> bool {
        true
    }

    fn flit(&self, router: &RouterSpec) -> u32 {
        router.flit.0.clamp(1, 1 << 16) as u32
    }

    /// Flits of a packet may be in several routers.
    fn unit_in_buffers(&self, router: &RouterSpec, _: &NicSpec) -> Bytes {
        Bytes(self.flit(router).into())
    }

    fn waits_for_tails(&self, _: &RouterSpec) -> bool {
        false
    }

    fn delivers_heads(&self, _: &RouterSpec) -> bool {
        false
    }

    fn link(&self, router: &RouterSpec, link: &LinkSpec, _: u64) -> LinkDelays {
        let alone = link_alone(router, link.latency.0, flit_time(router, link.bandwidth));
        LinkDelays {
            hop: alone.hop + self.behind_the_link(router),
            ..alone
        }
    }

    fn injection(&self, router: &RouterSpec, nic: &NicSpec, link: &LinkSpec) -> LinkDelays {
        let bandwidth = nic.bandwidth.unwrap_or(link.bandwidth);
        LinkDelays {
            credit: link.latency.0 + pipeline(router).clock.0,
            ..link_alone(router, link.latency.0, flit_time(router, bandwidth))
        }
    }

    fn ejection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> u64 {
        link.latency.0 + self.behind_the_link(router)
    }

    fn behind_the_link(&self, router: &RouterSpec) -> u64 {
        let pipeline = pipeline(router);
        pipeline.cycles() * pipeline.clock.0
    }

    /// A packet that leaves, one behind it, and what sets out before the interface hears of new room.
    fn interface_room(&self, router: &RouterSpec, nic: &NicSpec, loop_time: u64, flit: u64) -> Option<u64> {
        let bytes = u64::from(self.flit(router));
        let under_way = loop_time.div_ceil(flit.max(1)) + 2;
        Some((2 * nic.packet.0.div_ceil(bytes) + under_way) * bytes)
    }
}
