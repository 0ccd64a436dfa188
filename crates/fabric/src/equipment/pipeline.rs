//! What a study says of the inside of a `vc-router`: its clock, its stages, its allocators.

use des::Time;
use serde::{Deserialize, Serialize};
use study::{Bytes, choice};

choice! {
    /// How an allocator matches those who ask with what they ask for.
    #[derive(Default)]
    pub enum Allocator {
        #[default]
        Islip = "islip", "Every output grants, every input accepts, both in round robin; pointers move with what is accepted in the first round.";
        Pim = "pim", "As islip from random starts in every round (parallel iterative matching).";
        SeparableInputFirst = "separable-input-first", "Every input picks one output, every output one of the picks.";
        SeparableOutputFirst = "separable-output-first", "Every output picks one input, every input one of the picks.";
        Wavefront = "wavefront", "Diagonals one after the other, from one that moves on.";
        MaxSize = "max-size", "As many at once as can be (augmenting paths).";
        Loa = "loa", "Every input asks the output that fewest ask for (lonely output).";
        RandomGreedy = "random-greedy", "One after the other in random order.";
    }
}

choice! {
    /// How flits come from inputs to outputs.
    #[derive(Default)]
    pub enum Crossing {
        #[default]
        Staged = "staged", "In stages of a cycle each, one flit per port and cycle, into a queue per port.";
        PerChannel = "per-channel", "Within a cycle, one flit per virtual channel, into a buffer per output channel.";
    }
}

choice! {
    /// Which of its output channels a packet asks for, in routers with buffers per output channel.
    #[derive(Default)]
    pub enum RequestRule {
        #[default]
        Random = "random", "Any of those that would take it now.";
        LeastOccupied = "least-occupied", "Of those that would take it now one with the least label times `label_weight` plus flits waiting.";
        LeastWeight = "least-weight", "One with the least product of hops left and flits waiting plus `extra_congestion`, when that would take it.";
    }
}

/// Outputs with a buffer per virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputsSpec {
    /// Buffer per port and virtual channel.
    pub buffer: Bytes,
    /// Room that the head of a packet must find in that buffer, and at the other end of the link; `None` is that of the largest packet.
    pub head_room: Option<Bytes>,
    /// Which channel packets ask for.
    pub request: RequestRule,
    /// What a step of a label counts for in [`RequestRule::LeastOccupied`] (flits).
    pub label_weight: u32,
    /// What is added to the flits that wait in [`RequestRule::LeastWeight`].
    pub extra_congestion: u32,
}

/// An allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matcher {
    /// The rule.
    pub rule: Allocator,
    /// Rounds of `islip` and `pim`, at least 1.
    pub rounds: u8,
}

impl Default for Matcher {
    fn default() -> Matcher {
        Matcher {
            rule: Allocator::Islip,
            rounds: 1,
        }
    }
}

/// The inside of a `vc-router`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineSpec {
    /// Period of the clock.
    pub clock: Time,
    /// Cycles of the stages: routing (0: known on arrival), allocation of a channel, of the switch, the crossbar.
    pub stages: [u8; 4],
    /// Allocator of virtual channels.
    pub vc: Matcher,
    /// Allocator of the switch.
    pub switch: Matcher,
    /// Steps of the inside per cycle of the clock.
    pub internal_speedup: u8,
    /// Ports of the switch per input port.
    pub input_speedup: u8,
    /// Ports of the switch per output port.
    pub output_speedup: u8,
    /// Output queue per port; `None` is unbounded.
    pub output_queue: Option<Bytes>,
    /// A channel is given to the next packet when the buffer behind it is empty again, not when the tail has won the switch.
    pub wait_for_tail_credit: bool,
    /// Buffers per output channel in place of stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<OutputsSpec>,
}

impl OutputsSpec {
    /// Room for a head where the largest packet has so many bytes.
    pub fn room(&self, packet: Bytes) -> u64 {
        self.head_room.unwrap_or(packet).0
    }
}

impl PipelineSpec {
    /// Cycles from the arrival of a flit at an idle router to its start on the next link: a step for each stage there is, and what
    /// stages take beyond one cycle.
    pub fn cycles(&self) -> u64 {
        let stages = self.stages.iter().filter(|&&cycles| cycles > 0);
        let steps = stages.clone().count() as u64;
        let longer: u64 = stages.map(|&cycles| u64::from(cycles) - 1).sum();
        steps.saturating_sub(1) / u64::from(self.internal_speedup.max(1)) + longer
    }
}

impl Default for PipelineSpec {
    fn default() -> PipelineSpec {
        PipelineSpec {
            clock: Time::from_ns(1),
            stages: [1; 4],
            vc: Matcher::default(),
            switch: Matcher::default(),
            internal_speedup: 1,
            input_speedup: 1,
            output_speedup: 1,
            output_queue: None,
            wait_for_tail_credit: false,
            outputs: None,
        }
    }
}
