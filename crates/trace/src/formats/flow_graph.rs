//! Flows that start at times and after each other, as a graph of sends and receives: for formats that list flows.
//!
//! A flow is a send at its source and a receive at its destination, with a tag of its own. Times are a row of computations at the
//! source that works as its clock, on a lane of its own: each takes the time from the start before it to the next. What waits for a
//! flow waits for its send or its receive; where that ends on another rank, an empty message tells of it, as nothing else could.

use crate::graph::RankGraph;
use crate::operation::{ANY_TAG, Kind, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceReader;
use std::collections::BTreeMap;

/// The lane of computations that wait for a time.
pub(super) const CLOCK: u8 = 1;
/// The lane of computations without length that wait for several.
pub(super) const JOIN: u8 = 2;

/// What formats of flows say of their limits.
macro_rules! flow_limits {
    ($more:literal) => {
        concat!(
            "a flow is a send and a receive, its start a computation on lane 1 of its source; that a flow on another rank may start is \
             told by an empty message, which takes its time (two, where flows of several ranks wait for flows of several); \
             all flows are in memory; ",
            $more
        )
    };
}
pub(super) use flow_limits;

/// A flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkFlow {
    /// The rank that sends.
    pub(super) source: u32,
    /// The rank that receives.
    pub(super) destination: u32,
    /// What it sends.
    pub(super) bytes: u64,
    /// When it starts at the earliest (ps).
    pub(super) time: u64,
    /// Its record.
    pub(super) record: u64,
}

/// An end of a flow, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEnd {
    /// Its send is over, at its source.
    Sent(u32),
    /// It has been received, at its destination.
    Received(u32),
}

impl FlowEnd {
    fn flow(self) -> u32 {
        match self {
            FlowEnd::Sent(flow) | FlowEnd::Received(flow) => flow,
        }
    }
}

/// Flows that wait until all of some ends have come. A flow waits at one gate at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// What has to have come; something.
    pub(super) ends: Vec<FlowEnd>,
    /// The flows that wait.
    pub(super) flows: Vec<u32>,
    /// Its record.
    pub(super) record: u64,
}

/// All flows, and what they wait for.
#[derive(Default)]
pub(super) struct FlowGraph {
    /// By number.
    pub(super) flows: Vec<NetworkFlow>,
    /// In any order.
    pub(super) gates: Vec<Gate>,
}

impl FlowGraph {
    /// A flow that never starts, because it waits for itself on some way.
    pub(super) fn never_starts(&self) -> Option<u32> {
        const NO_GATE: usize = usize::MAX;
        let mut gate_of = vec![NO_GATE; self.flows.len()];
        let mut opens: Vec<Vec<u32>> = vec![Vec::new(); self.flows.len()];
        for (number, gate) in self.gates.iter().enumerate() {
            gate.flows.iter().for_each(|flow| gate_of[*flow as usize] = number);
            gate.ends
                .iter()
                .for_each(|end| opens[end.flow() as usize].push(number as u32));
        }
        let mut missing: Vec<usize> = self.gates.iter().map(|gate| gate.ends.len()).collect();
        let mut ready: Vec<usize> = (0..gate_of.len()).filter(|flow| gate_of[*flow] == NO_GATE).collect();
        let mut started = vec![false; self.flows.len()];
        while let Some(flow) = ready.pop() {
            started[flow] = true;
            for gate in std::mem::take(&mut opens[flow]) {
                missing[gate as usize] -= 1;
                if missing[gate as usize] == 0 {
                    ready.extend(self.gates[gate as usize].flows.iter().map(|flow| *flow as usize));
                }
            }
        }
        started.iter().position(|started| !started).map(|flow| flow as u32)
    }

    /// Tells all operations, rank by rank.
    ///
    /// # Errors
    /// The sink's, and more flows than have tags.
    pub(super) fn tell(&self, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut building = Building {
            ranks: BTreeMap::new(),
            ends: Vec::with_capacity(self.flows.len()),
            tags: 0,
        };
        for flow in &self.flows {
            let tag = building.tag()?;
            let send = building.message(Kind::Send, flow.source, flow.destination, flow.bytes, tag, flow.record)?;
            let receive = building.message(Kind::Recv, flow.destination, flow.source, flow.bytes, tag, flow.record)?;
            building.ends.push((send, receive));
        }
        self.tell_times(&mut building)?;
        for gate in &self.gates {
            self.open(gate, &mut building)?;
        }
        for (told, (rank, mut graph)) in building.ranks.into_iter().enumerate() {
            graph.tell(rank, reader)?;
            if told.is_multiple_of(1 << 10) {
                reader.tick()?;
            }
        }
        Ok(())
    }

    /// Makes the clock of each source.
    fn tell_times(&self, building: &mut Building) -> Result<(), ReadStop> {
        let mut later: Vec<(u32, u64, usize)> = (self.flows.iter().enumerate())
            .filter(|(_, flow)| flow.time > 0)
            .map(|(number, flow)| (flow.source, flow.time, number))
            .collect();
        later.sort_unstable();
        // The rank, the time and the operation of the last tick.
        let mut last: Option<(u32, u64, u32)> = None;
        for (_, _, number) in later {
            let flow = &self.flows[number];
            let before = last.filter(|last| last.0 == flow.source);
            let tick = match before {
                Some((_, time, tick)) if time == flow.time => tick,
                _ => {
                    let wait = flow.time - before.map_or(0, |last| last.1);
                    let tick = building.compute(flow.source, wait, CLOCK, flow.record)?;
                    if let Some((_, _, before)) = before {
                        building.rank(flow.source).after(tick, before);
                    }
                    tick
                }
            };
            last = Some((flow.source, flow.time, tick));
            let send = building.ends[number].0;
            building.rank(flow.source).after(send, tick);
        }
        Ok(())
    }

    /// Makes what lies between the ends that a gate waits for and the flows that wait there.
    fn open(&self, gate: &Gate, building: &mut Building) -> Result<(), ReadStop> {
        let place = |end: FlowEnd, building: &Building| {
            let flow = &self.flows[end.flow() as usize];
            let (send, receive) = building.ends[end.flow() as usize];
            match end {
                FlowEnd::Sent(_) => (flow.source, send),
                FlowEnd::Received(_) => (flow.destination, receive),
            }
        };
        // Most gates are of one flow for one other.
        if let (&[end], &[flow]) = (&gate.ends[..], &gate.flows[..]) {
            let (from, mut told) = place(end, building);
            let (to, send) = (self.flows[flow as usize].source, building.ends[flow as usize].0);
            if from != to {
                told = building.notify(from, &[told], to, gate.record)?;
            }
            building.rank(to).after(send, told);
            return Ok(());
        }
        let mut ends: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for end in &gate.ends {
            let (rank, operation) = place(*end, building);
            ends.entry(rank).or_default().push(operation);
        }
        let mut waiting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &flow in &gate.flows {
            let rank = self.flows[flow as usize].source;
            waiting.entry(rank).or_default().push(building.ends[flow as usize].0);
        }
        // All meet where all flows start, or else where the first end is.
        let meeting = match waiting.len() {
            0 => return Ok(()),
            1 => waiting.keys().next(),
            _ => ends.keys().next(),
        };
        let meeting = meeting.copied().unwrap_or_default();
        let mut met = ends.remove(&meeting).unwrap_or_default();
        for (rank, operations) in ends {
            let all = building.join(rank, operations, 1, gate.record)?;
            met.push(building.notify(rank, &all, meeting, gate.record)?);
        }
        let n_waiting =
            waiting.get(&meeting).map_or(0, Vec::len) + waiting.keys().filter(|rank| **rank != meeting).count();
        let met = building.join(meeting, met, n_waiting, gate.record)?;
        for (rank, sends) in waiting {
            let told = match rank == meeting {
                true => met.clone(),
                false => vec![building.notify(meeting, &met, rank, gate.record)?],
            };
            for send in sends {
                told.iter().for_each(|end| building.rank(rank).after(send, *end));
            }
        }
        Ok(())
    }
}

/// The operations of all ranks that do something, as they are made.
struct Building {
    ranks: BTreeMap<u32, RankGraph>,
    /// Send and receive of each flow.
    ends: Vec<(u32, u32)>,
    /// Tags that are taken.
    tags: u32,
}

impl Building {
    fn tag(&mut self) -> Result<u32, ReadStop> {
        let tag = self.tags;
        if tag == ANY_TAG {
            return Err(ReadStop::Refused(format!("there are more than {tag} flows")));
        }
        self.tags += 1;
        Ok(tag)
    }

    fn rank(&mut self, rank: u32) -> &mut RankGraph {
        self.ranks.entry(rank).or_default()
    }

    fn message(
        &mut self,
        kind: Kind,
        rank: u32,
        peer: u32,
        bytes: u64,
        tag: u32,
        record: u64,
    ) -> Result<u32, ReadStop> {
        self.rank(rank).push(Operation::message(kind, peer, bytes, tag), record)
    }

    fn compute(&mut self, rank: u32, time: u64, lane: u8, record: u64) -> Result<u32, ReadStop> {
        let operation = Operation {
            lane,
            ..Operation::compute(time)
        };
        self.rank(rank).push(operation, record)
    }

    /// The same operations, or one that waits for all of them where that makes fewer dependencies.
    fn join(&mut self, rank: u32, operations: Vec<u32>, n_waiting: usize, record: u64) -> Result<Vec<u32>, ReadStop> {
        if operations.len() < 2 || n_waiting < 2 {
            return Ok(operations);
        }
        let join = self.compute(rank, 0, JOIN, record)?;
        operations
            .into_iter()
            .for_each(|operation| self.rank(rank).after(join, operation));
        Ok(vec![join])
    }

    /// An empty message after some operations; its receive.
    fn notify(&mut self, from: u32, after: &[u32], to: u32, record: u64) -> Result<u32, ReadStop> {
        let tag = self.tag()?;
        let send = self.message(Kind::Send, from, to, 0, tag, record)?;
        after
            .iter()
            .for_each(|operation| self.rank(from).after(send, *operation));
        self.message(Kind::Recv, to, from, 0, tag, record)
    }
}
