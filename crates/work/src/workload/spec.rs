//! What a study says of the work of a run: its jobs, and what all of them are drawn from.

use super::{Pairs, Pattern, Process};
use crate::memory::spec::Memory;
use crate::mpi::spec::Ranks;
use crate::placement::Placement;
use des::Time;
use serde::{Deserialize, Serialize};
use study::Bytes;

/// One job: work on some nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Name for reports; unique within the run.
    pub name: String,
    /// What the nodes do.
    pub work: Work,
    /// How many nodes take part; `None` is all of them.
    pub nodes: Option<u32>,
    /// Which physical nodes.
    pub placement: Placement,
}

/// What the nodes of a job do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Every node sends messages to destinations drawn from a pattern.
    Synthetic(Synthetic),
    /// Pairs of nodes talk to each other.
    Pairs(Pairs),
    /// MPI ranks run programs.
    Ranks(Ranks),
    /// Cores access memory that is spread over the nodes.
    Memory(Memory),
    /// Nodes send what is listed, in the order of times and sources.
    Messages(Vec<ListedMessage>),
    /// The nodes are taken and do nothing.
    Idle,
}

/// Open-loop (or counted) traffic of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Synthetic {
    /// Where messages go.
    pub pattern: Pattern,
    /// Size of every message.
    pub message: Bytes,
    /// Offered load as a fraction of the injection bandwidth; `None`: all messages are handed over at the start.
    pub load: Option<f64>,
    /// Messages per node; `None`: without end (then `load` is set and `control.end` bounds the run).
    pub count: Option<u64>,
    /// Gaps between messages of a node.
    pub process: Process,
    /// Length of a slot of process `bernoulli`; `None` is the time that a message takes at the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Time>,
    /// Mean number of messages of a burst of process `on-off`, and the load within bursts; `None` is [`BURST`] and [`PEAK`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<f64>,
    /// See [`Synthetic::burst`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<f64>,
    /// Nodes may send to themselves.
    #[serde(default, skip_serializing_if = "is_not")]
    pub to_itself: bool,
    /// Messages of a node that have not been answered yet, at most; each arrival is answered, and the next message waits for it. `None`:
    /// nobody waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Size of an answer; `None` is [`REPLY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Bytes>,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// Mean number of messages of a burst.
pub const BURST: f64 = 16.0;
/// Load within a burst.
pub const PEAK: f64 = 1.0;
/// Size of an answer.
pub const REPLY: Bytes = Bytes(64);

impl Synthetic {
    /// Traffic of a pattern as it is without other keys: half of what can be injected, without end.
    pub fn of(pattern: Pattern, message: Bytes) -> Synthetic {
        Synthetic {
            pattern,
            message,
            load: Some(0.5),
            count: None,
            process: Process::Poisson,
            slot: None,
            to_itself: false,
            burst: None,
            peak: None,
            window: None,
            reply: None,
        }
    }

    /// Mean number of messages of a burst.
    pub fn burst(&self) -> f64 {
        self.burst.unwrap_or(BURST)
    }

    /// The load within a burst.
    pub fn peak(&self) -> f64 {
        self.peak.unwrap_or(PEAK)
    }

    /// Size of an answer.
    pub fn reply(&self) -> Bytes {
        self.reply.unwrap_or(REPLY)
    }

    /// Mean size of the messages of a node.
    pub fn mean_message(&self) -> f64 {
        self.pattern.mean_size(self.message.0)
    }
}

/// A message that is told beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, u32, u32, u64)", into = "(u64, u32, u32, u64)")]
pub struct ListedMessage {
    /// When it is handed to the interface.
    pub time: Time,
    /// The node that sends it, counted in the job.
    pub source: u32,
    /// The node that it is for, counted in the job; another one.
    pub destination: u32,
    /// Its size, at least 1 byte.
    pub bytes: Bytes,
}

impl From<(u64, u32, u32, u64)> for ListedMessage {
    fn from((time, source, destination, bytes): (u64, u32, u32, u64)) -> Self {
        ListedMessage {
            time: Time(time),
            source,
            destination,
            bytes: Bytes(bytes),
        }
    }
}

impl From<ListedMessage> for (u64, u32, u32, u64) {
    fn from(message: ListedMessage) -> Self {
        (message.time.0, message.source, message.destination, message.bytes.0)
    }
}

/// Rails of a host: those of the first job of ranks or interfaces of a memory node, 1 without any.
pub fn rails_of(jobs: &[JobSpec]) -> u32 {
    jobs.iter().find_map(|job| job.work.rails()).unwrap_or(1)
}

/// The first job that has other rails than that, if there is one.
pub fn without_rails(jobs: &[JobSpec]) -> Option<usize> {
    let rails = rails_of(jobs);
    jobs.iter()
        .position(|job| job.work != Work::Idle && job.work.rails().unwrap_or(1) != rails)
}

impl Work {
    /// Interfaces of a node, where the work says how many.
    fn rails(&self) -> Option<u32> {
        match self {
            Work::Ranks(ranks) => Some(ranks.mpi.rails.count.max(1)),
            Work::Memory(memory) => Some(memory.interfaces.max(1)),
            Work::Synthetic(_) | Work::Pairs(_) | Work::Messages(_) | Work::Idle => None,
        }
    }
}
