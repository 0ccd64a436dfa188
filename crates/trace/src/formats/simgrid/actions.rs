//! What each line becomes.

use super::arguments::{ACTIONS, Arguments, Partner, bytes, rank_of};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Lists, Operation, UNKNOWN_SIZE};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::{HashMap, VecDeque};

/// A message that was begun: from, to and tag.
type EndsAndTag = (u32, u32, u32);

/// A message that was begun, in the order of their begins.
#[derive(Clone, Copy, Debug)]
struct Begun {
    turn: u64,
    request: u32,
}

/// What is open at a rank.
#[derive(Default)]
struct OpenMessages {
    turns: u64,
    by_key: HashMap<EndsAndTag, VecDeque<Begun>>,
    /// The same in order, for waits without arguments.
    stack: Vec<u32>,
    /// Names of requests that are over, and how many have ever been given.
    free: Vec<u32>,
    names: u32,
}

impl OpenMessages {
    fn begin(&mut self, key: EndsAndTag, old: bool) -> u32 {
        let request = self.free.pop().unwrap_or_else(|| {
            self.names += 1;
            self.names - 1
        });
        self.turns += 1;
        if old {
            self.stack.push(request);
        } else {
            let turn = self.turns;
            self.by_key.entry(key).or_default().push_back(Begun { turn, request });
        }
        request
    }

    /// The key of the oldest message that matches: a receive may have been from anybody, or of any tag.
    fn find(&self, (from, to, tag): EndsAndTag) -> Option<(EndsAndTag, u32)> {
        let keys = [
            (from, to, tag),
            (ANY_SOURCE, to, tag),
            (from, to, ANY_TAG),
            (ANY_SOURCE, to, ANY_TAG),
        ];
        let found = keys
            .into_iter()
            .filter_map(|key| Some((self.by_key.get(&key)?.front()?, key)));
        let (begun, key) = found.min_by_key(|(begun, _)| begun.turn)?;
        Some((key, begun.request))
    }

    fn end(&mut self, key: EndsAndTag) {
        if let Some(queue) = self.by_key.get_mut(&key) {
            self.free.extend(queue.pop_front().map(|begun| begun.request));
            if queue.is_empty() {
                self.by_key.remove(&key);
            }
        }
    }

    /// Ends all; whether there were any.
    fn end_all(&mut self) -> bool {
        let any = !self.by_key.is_empty() || !self.stack.is_empty();
        self.by_key.clear();
        self.stack.clear();
        self.free.clear();
        self.names = 0;
        any
    }
}

/// A rank on its way.
#[derive(Default)]
struct RankState {
    open: OpenMessages,
    /// Size of a datatype that is not told (bytes).
    default: u64,
}

/// What lines become.
pub(super) struct Actions {
    ranks: u32,
    states: Vec<RankState>,
    /// The trace is without tags.
    old: bool,
}

/// An operation with its sizes, and instructions that follow it.
struct LineMeaning {
    operation: Option<Operation>,
    sizes: Vec<u64>,
    instructions: f64,
}

impl From<Operation> for LineMeaning {
    fn from(operation: Operation) -> LineMeaning {
        LineMeaning {
            operation: Some(operation),
            sizes: Vec::new(),
            instructions: 0.0,
        }
    }
}

impl LineMeaning {
    const NOTHING: LineMeaning = LineMeaning {
        operation: None,
        sizes: Vec::new(),
        instructions: 0.0,
    };
}

fn sum(sizes: &[u64]) -> u64 {
    sizes.iter().fold(0, |all, size| all.saturating_add(*size))
}

fn whole(counts: &[f64], size: u64) -> Vec<u64> {
    counts.iter().map(|count| bytes(*count, size)).collect()
}

impl Actions {
    pub(super) fn new(ranks: u32, old: bool) -> Actions {
        let state = || RankState {
            default: 1,
            ..RankState::default()
        };
        Actions {
            ranks,
            states: (0..ranks).map(|_| state()).collect(),
            old,
        }
    }

    /// Tells what a line becomes.
    pub(super) fn line(
        &mut self,
        reader: &mut TraceReader<'_>,
        file: &str,
        number: u64,
        line: &str,
    ) -> Result<(), ReadStop> {
        reader.progress.records += 1;
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let Some(rank) = rank_of(first).filter(|rank| *rank < self.ranks) else {
            let problem = Problem::new(
                file,
                format!("`{first}` is no rank"),
                "a line is to be as `0 init`: the line is left out",
            );
            reader.problem(problem.at(number));
            return Ok(());
        };
        let action = words.next().unwrap_or_default().to_ascii_lowercase();
        let mut arguments = Arguments::new(words);
        let told = self.action(rank, &action, &mut arguments);
        let told = told.and_then(|told| arguments.end().map(|()| told));
        let told = match told {
            Ok(told) => told,
            Err(wrong) => {
                let reason = match action.is_empty() {
                    true => wrong,
                    false => format!("{action}: {wrong}"),
                };
                let problem = Problem::new(file, reason, "the line is left out");
                reader.problem(problem.of_rank(rank).at(number));
                return Ok(());
            }
        };
        if let Some(operation) = &told.operation {
            let lists = Lists {
                values: &told.sizes,
                ..Lists::default()
            };
            reader.operation(rank, number, operation, &lists)?;
        }
        if told.instructions > 0.0 {
            let work = Operation::compute(bytes(told.instructions, 1));
            reader.operation(rank, number, &work, &Lists::default())?;
        }
        Ok(())
    }

    fn action(&mut self, rank: u32, action: &str, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        match action {
            "init" => {
                // With an argument it is of those that count in doubles.
                let doubles = arguments.left() > 0;
                if doubles {
                    arguments.float("kind")?;
                }
                self.states[rank as usize].default = if doubles { 8 } else { 1 };
                Ok(LineMeaning::NOTHING)
            }
            "comm_size" | "comm_split" | "comm_dup" | "location" => {
                arguments.skip();
                Ok(LineMeaning::NOTHING)
            }
            "compute" => {
                let instructions = arguments.amount("number of instructions")?;
                Ok(LineMeaning {
                    instructions,
                    ..LineMeaning::NOTHING
                })
            }
            "sleep" => {
                let time = bytes(arguments.amount("time")?, 1_000_000_000_000);
                let sleep = Operation {
                    time,
                    ..Operation::new(Kind::Sleep)
                };
                Ok(sleep.into())
            }
            "send" | "isend" | "recv" | "irecv" => self.message(rank, action, arguments),
            "sendrecv" => self.sendrecv(rank, arguments),
            "wait" | "test" => self.wait(rank, action, arguments),
            "waitall" | "finalize" => Ok(match self.states[rank as usize].open.end_all() {
                true => Operation::new(Kind::Waitall).into(),
                false => LineMeaning::NOTHING,
            }),
            _ => self.collective(rank, action, arguments),
        }
    }

    fn message(&mut self, rank: u32, action: &str, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        let (kind, sends) = match action {
            "send" => (Kind::Send, true),
            "isend" => (Kind::Isend, true),
            "recv" => (Kind::Recv, false),
            _ => (Kind::Irecv, false),
        };
        let partner = arguments.partner(if sends { "destination" } else { "source" }, self.ranks, !sends)?;
        let tag = if self.old { 0 } else { arguments.tag(!sends)? };
        // A receive may leave to its message how long it is.
        let size = match sends {
            true => arguments.amount("size")?,
            false if arguments.left() == 0 => -1.0,
            false => arguments.float("size")?,
        };
        let state = &mut self.states[rank as usize];
        let each = arguments.datatype(state.default)?;
        arguments.end()?;
        let Partner::Rank(peer) = partner else {
            return Ok(LineMeaning::NOTHING);
        };
        let bytes = if !sends && size <= 0.0 {
            UNKNOWN_SIZE
        } else {
            bytes(size, each)
        };
        let mut operation = Operation::message(kind, peer, bytes, tag);
        if matches!(kind, Kind::Isend | Kind::Irecv) {
            let key = if sends { (rank, peer, tag) } else { (peer, rank, tag) };
            operation.request = state.open.begin(key, self.old);
        }
        Ok(operation.into())
    }

    fn sendrecv(&mut self, rank: u32, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        let sent = arguments.amount("size to send")?;
        let to = arguments.partner("destination", self.ranks, false)?;
        let received = arguments.amount("size to receive")?;
        let from = arguments.partner("source", self.ranks, true)?;
        let default = self.states[rank as usize].default;
        let [sent_type, received_type] = [arguments.datatype(default)?, arguments.datatype(default)?];
        let (sent, received) = (bytes(sent, sent_type), bytes(received, received_type));
        Ok(match (to, from) {
            (Partner::Rank(to), Partner::Rank(source)) => Operation {
                source,
                received,
                ..Operation::message(Kind::Sendrecv, to, sent, 0)
            }
            .into(),
            (Partner::Rank(to), Partner::Nobody) => Operation::message(Kind::Send, to, sent, 0).into(),
            (Partner::Nobody, Partner::Rank(from)) => Operation::message(Kind::Recv, from, received, 0).into(),
            (Partner::Nobody, Partner::Nobody) => LineMeaning::NOTHING,
        })
    }

    fn wait(&mut self, rank: u32, action: &str, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        let open = &mut self.states[rank as usize].open;
        let of = |kind: Kind, request: u32| Operation {
            request,
            ..Operation::new(kind)
        };
        if arguments.left() == 0 && self.old {
            let request = open.stack.pop().ok_or("there is nothing to wait for")?;
            open.free.push(request);
            return Ok(of(Kind::Wait, request).into());
        }
        let ends = [
            arguments.partner("source", self.ranks, true)?,
            arguments.partner("destination", self.ranks, true)?,
        ];
        let tag = arguments.tag(true)?;
        arguments.end()?;
        let [Partner::Rank(from), Partner::Rank(to)] = ends else {
            return Ok(LineMeaning::NOTHING);
        };
        match (open.find((from, to, tag)), action) {
            (Some((_, request)), "test") => Ok(of(Kind::Test, request).into()),
            (Some((key, request)), _) => {
                open.end(key);
                Ok(of(Kind::Wait, request).into())
            }
            // What was there has been waited for: a program tests more often than it has to.
            (None, "test") => Ok(LineMeaning::NOTHING),
            (None, _) => Err(format!("there is no open message from {from} to {to} with tag {tag}")),
        }
    }

    fn collective(&mut self, rank: u32, action: &str, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        let default = self.states[rank as usize].default;
        let of = |kind: Kind, bytes: u64| Operation::collective(kind, 0, bytes);
        let rooted = |kind: Kind, bytes: u64, peer: u32| Operation {
            peer,
            ..of(kind, bytes)
        };
        let combined = |kind: Kind, arguments: &mut Arguments<'_>| {
            let (size, instructions) = (arguments.amount("size")?, arguments.amount("number of instructions")?);
            let each = arguments.datatype(default)?;
            Ok(LineMeaning {
                instructions,
                ..of(kind, bytes(size, each)).into()
            })
        };
        match action {
            "barrier" => Ok(of(Kind::Barrier, 0).into()),
            "bcast" => {
                let (size, root) = (arguments.amount("size")?, arguments.root(self.ranks)?);
                Ok(rooted(Kind::Bcast, bytes(size, arguments.datatype(default)?), root).into())
            }
            "reduce" => {
                let (size, instructions) = (arguments.amount("size")?, arguments.amount("number of instructions")?);
                let root = arguments.root(self.ranks)?;
                let bytes = bytes(size, arguments.datatype(default)?);
                Ok(LineMeaning {
                    instructions,
                    ..rooted(Kind::Reduce, bytes, root).into()
                })
            }
            "allreduce" => combined(Kind::Allreduce, arguments),
            "scan" => combined(Kind::Scan, arguments),
            "exscan" => combined(Kind::Exscan, arguments),
            "alltoall" | "allgather" | "gather" | "scatter" => {
                let [sent, received] = [arguments.amount("size to send")?, arguments.amount("size to receive")?];
                let root = match action {
                    "gather" | "scatter" => Some(arguments.root(self.ranks)?),
                    _ => None,
                };
                let [sent_type, received_type] = [arguments.datatype(default)?, arguments.datatype(default)?];
                let (sent, received) = (bytes(sent, sent_type), bytes(received, received_type));
                Ok(match (action, root) {
                    ("gather", Some(root)) => rooted(Kind::Gather, sent, root),
                    // What the root sends to each is what each receives.
                    (_, Some(root)) => rooted(Kind::Scatter, if root == rank { sent } else { received }, root),
                    ("alltoall", None) => of(Kind::Alltoall, sent),
                    (_, None) => of(Kind::Allgather, sent),
                }
                .into())
            }
            "alltoallv" | "gatherv" | "allgatherv" | "scatterv" | "reducescatter" => {
                self.uneven(rank, action, arguments)
            }
            _ => {
                let known = ACTIONS.join(", ");
                Err(format!("this is no action; actions are {known}"))
            }
        }
    }

    /// Collectives whose sizes differ between ranks.
    fn uneven(&mut self, rank: u32, action: &str, arguments: &mut Arguments<'_>) -> Result<LineMeaning, String> {
        let (ranks, default) = (self.ranks, self.states[rank as usize].default);
        let of = |kind: Kind, bytes: u64, received: u64| Operation {
            received,
            ..Operation::collective(kind, 0, bytes)
        };
        let own = |sizes: &[u64]| sizes.get(rank as usize).copied().unwrap_or_default();
        let (operation, sizes, instructions) = match action {
            "alltoallv" => {
                arguments.amount("size of the buffer to send from")?;
                let sent = arguments.list("sizes to send", ranks)?;
                arguments.amount("size of the buffer to receive into")?;
                let received = arguments.list("sizes to receive", ranks)?;
                let [sent_type, received_type] = [arguments.datatype(default)?, arguments.datatype(default)?];
                let (sent, received) = (whole(&sent, sent_type), whole(&received, received_type));
                (of(Kind::Alltoallv, sum(&sent), sum(&received)), sent, 0.0)
            }
            "gatherv" => {
                let (size, received) = (
                    arguments.amount("size to send")?,
                    arguments.list("sizes to receive", ranks)?,
                );
                let root = arguments.root(ranks)?;
                let [sent_type, received_type] = [arguments.datatype(default)?, arguments.datatype(default)?];
                let gatherv = Operation {
                    peer: root,
                    ..of(Kind::Gatherv, bytes(size, sent_type), 0)
                };
                let sizes = if root == rank {
                    whole(&received, received_type)
                } else {
                    Vec::new()
                };
                (gatherv, sizes, 0.0)
            }
            "allgatherv" => {
                let (size, received) = (
                    arguments.amount("size to send")?,
                    arguments.list("sizes to receive", ranks)?,
                );
                let [sent_type, received_type] = arguments.datatypes_and_places(default, ranks)?;
                let sizes = whole(&received, received_type);
                (of(Kind::Allgatherv, bytes(size, sent_type), 0), sizes, 0.0)
            }
            "scatterv" => {
                let (sent, size) = (
                    arguments.list("sizes to send", ranks)?,
                    arguments.amount("size to receive")?,
                );
                let root = arguments.root(ranks)?;
                let [sent_type, received_type] = [arguments.datatype(default)?, arguments.datatype(default)?];
                let scatterv = Operation {
                    peer: root,
                    ..of(Kind::Scatterv, 0, bytes(size, received_type))
                };
                let sizes = if root == rank {
                    whole(&sent, sent_type)
                } else {
                    Vec::new()
                };
                (scatterv, sizes, 0.0)
            }
            _ => {
                let parts = arguments.list("sizes", ranks)?;
                let instructions = arguments.amount("number of instructions")?;
                let sizes = whole(&parts, arguments.datatype(default)?);
                (of(Kind::ReduceScatter, 0, own(&sizes)), sizes, instructions)
            }
        };
        Ok(LineMeaning {
            operation: Some(operation),
            sizes,
            instructions,
        })
    }
}
