//! Pairs of nodes that talk to each other: what studies may say of them, how they are drawn, and their plan for a run.
//!
//! The plan is worked out before the run; what nodes do by it, message by message, is in [`Workload`](super::Workload).

use super::{Message, NOBODY, Source, stream};
use crate::build_error::BuildError;
use des::rng::{SplitMix, below};
use des::{Philox, Time};
use serde::{Deserialize, Serialize};
use study::Bytes;
use study::diagnostic::Findings;
use study::reader::{Checked, Values};
use study::{Default, Entry, Named, Parameter, SECOND, SEED, TIB, Type, When, choice, key, size, time};

/// What a study may say of them.
pub const ENTRY: Entry = Entry::new(
    "pairs",
    "Pairs of nodes talk to each other: streams, ping-pong or batches.",
)
.keys(&[PAIRS])
.source("The random-pairs experiments of torus studies with CODES");

const RANDOM_MATCHING: &[When] = &[When {
    key: "matching",
    values: &["mutual", "senders-receivers"],
}];

const PAIRS: &[Parameter] = &[
    key(
        "matching",
        Type::Choice(MatchingWord::WORDS),
        Default::From("listed with `pairs`, else mutual"),
        "How nodes become pairs.",
    ),
    key(
        "pairs",
        Type::Pairs,
        Default::From("needed by matching \"listed\""),
        "Sender and receiver of every pair.",
    )
    .when(&[When {
        key: "matching",
        values: &["listed"],
    }]),
    key(
        "mode",
        Type::Choice(ModeWord::WORDS),
        Default::Text("stream"),
        "How a pair talks.",
    ),
    key(
        "batch",
        Type::Integer {
            min: 1,
            max: u32::MAX as u64,
        },
        Default::Text("10"),
        "Messages per acknowledgement.",
    )
    .when(&[When {
        key: "mode",
        values: &["batch"],
    }]),
    key(
        "messages",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::Text("1"),
        "Data messages per sender.",
    ),
    key("message", size(TIB), Default::Text("2 KiB"), "Size of a data message."),
    key("ack", size(TIB), Default::Text("8 B"), "Size of an acknowledgement.").when(&[When {
        key: "mode",
        values: &["ping-pong", "batch"],
    }]),
    key(
        "active",
        Type::Integer {
            min: 2,
            max: u32::MAX as u64,
        },
        Default::From("all nodes of the job"),
        "Number of nodes that are on, drawn at random.",
    )
    .when(RANDOM_MATCHING),
    key(
        "start_spread",
        time(SECOND),
        Default::Text("0 ns"),
        "Nodes start at a random time from 0 to this.",
    ),
    key(
        "seed",
        SEED,
        Default::From("the run's seed"),
        "Seed of the matching alone.",
    )
    .when(RANDOM_MATCHING),
];

choice! {
    /// The word of a [`Matching`].
    enum MatchingWord {
        Mutual = "mutual", "The nodes 0 and 1 of a random permutation are partners, 2 and 3, ...; both send.";
        SendersReceivers = "senders-receivers", "The first half of a random permutation sends to the second half.";
        Listed = "listed", "The pairs of `pairs`: sender and receiver.";
    }
}

choice! {
    /// The word of a [`PairMode`].
    enum ModeWord {
        Stream = "stream", "All messages are handed over at the start; no acknowledgements.";
        PingPong = "ping-pong", "A message, its acknowledgement, the next message.";
        Batch = "batch", "`batch` messages back to back, one acknowledgement, the next batch.";
    }
}

/// Pairs of nodes that talk to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    /// Who talks to whom.
    pub matching: Matching,
    /// How they talk.
    pub mode: PairMode,
    /// Data messages per sender.
    pub messages: u64,
    /// Size of a data message.
    pub message: Bytes,
    /// Size of an acknowledgement.
    pub ack: Bytes,
    /// Number of nodes that are on, drawn at random; `None` is all.
    pub active: Option<u32>,
    /// Nodes start at a random time in `0..=start_spread`.
    pub start_spread: Time,
    /// Seed of the matching alone; `None` is the run's seed.
    pub seed: Option<u64>,
}

/// How a random permutation `p` of the nodes becomes pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// `p[0]` and `p[1]` are partners, `p[2]` and `p[3]`, ...; both send.
    Mutual,
    /// `p[0..k/2]` send to `p[k/2..k]` for `k` active nodes; receivers only acknowledge.
    SendersReceivers,
    /// Pairs as given: logical sender and receiver.
    Listed(Vec<(u32, u32)>),
}

/// How a pair talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairMode {
    /// All messages are handed over at the start; no acknowledgements.
    Stream,
    /// A message, its acknowledgement, the next message.
    PingPong,
    /// `batch` messages back to back, one acknowledgement, the next batch.
    Batch {
        /// Messages per acknowledgement.
        batch: u32,
    },
}

impl Pairs {
    /// Reads their keys for a job of so many nodes, if known; `None` after errors.
    pub fn read(values: &Values, n_nodes: Option<u64>, findings: &mut Findings) -> Option<Pairs> {
        let key = |key: &str| format!("{}.{key}", values.path);
        let matching = match (values.choice("matching")?, values.get("pairs")) {
            (MatchingWord::Mutual, _) => Matching::Mutual,
            (MatchingWord::SendersReceivers, _) => Matching::SendersReceivers,
            (MatchingWord::Listed, Some(Checked::Pairs(pairs))) if !pairs.is_empty() => {
                let beyond = pairs
                    .iter()
                    .position(|(a, b)| n_nodes.is_some_and(|n| u64::from(*a.max(b)) >= n));
                if let Some(index) = beyond {
                    let n = n_nodes.unwrap_or(0);
                    let reason = format!(
                        "node {} is not one of the {n} nodes",
                        pairs[index].0.max(pairs[index].1)
                    );
                    let hint = format!("nodes are 0 to {}", n.saturating_sub(1));
                    findings.error(
                        values.place("pairs"),
                        &format!("{}.pairs[{index}]", values.path),
                        reason,
                        hint,
                    );
                }
                Matching::Listed(pairs.clone())
            }
            (MatchingWord::Listed, _) if values.failed("pairs") => return None,
            (MatchingWord::Listed, _) => {
                let hint = "add pairs = [[0, 1]]";
                findings.error(values.place("pairs"), &key("pairs"), "there is no pair", hint);
                return None;
            }
        };
        let active = values.integer_u32("active");
        if let (Some(active), Some(n)) = (active, n_nodes)
            && u64::from(active) > n
        {
            let reason = format!("{active} is too large for {n} nodes");
            findings.error(
                values.place("active"),
                &key("active"),
                reason,
                format!("there are at most {n}"),
            );
        }
        let mode = match values.choice("mode")? {
            ModeWord::Stream => PairMode::Stream,
            ModeWord::PingPong => PairMode::PingPong,
            ModeWord::Batch => PairMode::Batch {
                batch: values.integer_u32("batch")?,
            },
        };
        Some(Pairs {
            matching,
            mode,
            messages: values.integer("messages")?,
            message: Bytes(values.quantity("message")?),
            // A stream has no acknowledgements; their size is then that of the default.
            ack: Bytes(values.quantity_or_default("ack")),
            active,
            start_spread: Time(values.quantity("start_spread")?),
            seed: values.integer("seed"),
        })
    }
}

/// Who talks to whom in a job of pairs.
#[derive(Debug)]
pub(super) struct PairPlan {
    pub spec: Pairs,
    /// Physical partner of each logical node, `NOBODY` if it is off.
    pub partner: Vec<u32>,
    /// Whether the logical node sends data.
    pub sends: Vec<bool>,
    /// Start time of each logical node (ps).
    pub start: Vec<u64>,
    seed: u64,
}

impl PairPlan {
    pub(super) fn new(spec: &Pairs, nodes: &[u32], seed: u64, key: &str) -> Result<PairPlan, BuildError> {
        let n = nodes.len();
        let mut plan = PairPlan {
            spec: spec.clone(),
            partner: vec![NOBODY; n],
            sends: vec![false; n],
            start: vec![0; n],
            seed: spec.seed.unwrap_or(seed),
        };
        let active = spec.active.map_or(n, |active| active as usize);
        if active > n {
            let reason = format!("{active} nodes are to be on, the job has {n}");
            return Err(BuildError::field(&format!("{key}.active"), reason, None));
        }
        let mut order: Vec<u32> = (0..n as u32).collect();
        SplitMix(plan.seed).shuffle(&mut order);
        let order = &order[..active];
        match &spec.matching {
            Matching::Mutual => {
                for pair in order.chunks_exact(2) {
                    plan.join(pair[0], pair[1], nodes);
                    plan.join(pair[1], pair[0], nodes);
                }
            }
            Matching::SendersReceivers => {
                let half = active / 2;
                for i in 0..half {
                    plan.join(order[i], order[half + i], nodes);
                    plan.partner[order[half + i] as usize] = nodes[order[i] as usize];
                }
            }
            Matching::Listed(pairs) => {
                for (i, &(from, to)) in pairs.iter().enumerate() {
                    let at = |reason: String| BuildError::field(&format!("{key}.pairs[{i}]"), reason, None);
                    if from as usize >= n || to as usize >= n {
                        return Err(at(format!("the job has nodes 0 to {}", n - 1)));
                    }
                    if from == to {
                        return Err(at("a node cannot be its own partner".into()));
                    }
                    if plan.sends[from as usize] {
                        return Err(at(format!("node {from} sends in an earlier pair already")));
                    }
                    if plan.partner[from as usize] != NOBODY && plan.partner[from as usize] != nodes[to as usize] {
                        return Err(at(format!("node {from} has another partner already")));
                    }
                    if plan.partner[to as usize] != NOBODY && plan.partner[to as usize] != nodes[from as usize] {
                        return Err(at(format!("node {to} has another partner already")));
                    }
                    plan.join(from, to, nodes);
                    plan.partner[to as usize] = nodes[from as usize];
                }
            }
        }
        let draws = Philox::new(plan.seed, stream::PHASE);
        for (l, start) in plan.start.iter_mut().enumerate() {
            *start = below(draws.draw(l as u64, 0)[0], spec.start_spread.0 + 1);
        }
        Ok(plan)
    }

    /// The next message of a stream, if there is one.
    pub(super) fn stream(&self, l: usize, source: &mut Source) -> Option<Message> {
        if self.spec.mode != PairMode::Stream || !self.sends[l] || source.made >= self.spec.messages {
            return None;
        }
        source.made += 1;
        Some(Message {
            birth: self.start[l],
            destination: self.partner[l],
            bytes: self.spec.message.0,
        })
    }

    fn join(&mut self, from: u32, to: u32, nodes: &[u32]) {
        self.partner[from as usize] = nodes[to as usize];
        self.sends[from as usize] = true;
    }
}
