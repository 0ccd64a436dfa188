//! Graphs for tests: what a run needs to play one, and a plain executor that says when everything ends.
#![allow(dead_code)]

use des::Time;
use fabric::spec::*;
use judge::run::{self, RunResult};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use topo::{SingleRouterSpec, TopologySpec};
use work::graph::{Doing, NO_LANE};
use work::motif::given_graph::{GivenOperation, motif};
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Collective};
use work::mpi::{CollectiveKind, Op, Transfer};

/// An operation as runs are given it.
pub type Operation = GivenOperation;

/// A send in the communicator of all ranks.
pub fn send(peer: u32, bytes: u64, tag: u16) -> Doing {
    Doing::Send {
        peer,
        bytes,
        tag,
        communicator: 0,
    }
}

/// A receive in the communicator of all ranks.
pub fn recv(peer: u32, bytes: u64, tag: u16) -> Doing {
    Doing::Recv {
        peer,
        bytes,
        tag,
        communicator: 0,
    }
}

/// A job of ranks.
fn job(topology: TopologySpec, per_node: u32, motif: Motif, iterations: u32) -> RunSpec {
    let mut spec = plain(topology);
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work: Work::Ranks(Ranks {
            parts: vec![Part { motif, iterations }],
            per_node,
            mapping: Mapping::Block,
            start: Start::InPhase,
            prelude: 0,
            mpi: MpiSpec::default(),
        }),
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.control.end = None;
    spec
}

/// A job of ranks that play a graph.
pub fn spec(topology: TopologySpec, per_node: u32, ranks: u32, operations: &[Operation]) -> RunSpec {
    job(topology, per_node, motif(ranks, &[], operations), 1)
}

/// What a study says of the ranks of a run.
pub fn ranks(spec: &mut RunSpec) -> &mut Ranks {
    match &mut spec.jobs[0].work {
        Work::Ranks(ranks) => ranks,
        _ => unreachable!("it has ranks"),
    }
}

/// A job of ranks that do what is listed.
pub fn program(topology: TopologySpec, per_node: u32, ops: &[Vec<Op>], iterations: u32) -> RunSpec {
    let mut table = String::from("rank,op,peer,bytes,tag,time_ps\n");
    let open = |value: u64, any: bool| if any { "any".to_owned() } else { value.to_string() };
    for (rank, ops) in ops.iter().enumerate() {
        for op in ops {
            let transfer = |name: &str, t: &Transfer| {
                let bytes = if t.bytes == ANY_SIZE {
                    String::new()
                } else {
                    t.bytes.to_string()
                };
                let (peer, tag) = (
                    open(t.peer.into(), t.peer == ANY_SOURCE),
                    open(t.tag.into(), t.tag == ANY_TAG),
                );
                format!("{name},{peer},{bytes},{tag},")
            };
            let cells = match op {
                Op::Compute { time } => format!("compute,,,,{time}"),
                Op::Send(t) => transfer("send", t),
                Op::Recv(t) => transfer("recv", t),
                Op::Collective(c) => {
                    let root = if c.kind.has_root() {
                        c.root.to_string()
                    } else {
                        String::new()
                    };
                    format!("{},{root},{},,", c.kind.name(), c.bytes)
                }
                other => unreachable!("{other:?} is not used here"),
            };
            table += &format!("{rank},{cells}\n");
        }
    }
    let values = [
        ("table", MotifValue::Text(table)),
        ("ranks", MotifValue::Integer(ops.len() as u64)),
    ];
    let motif = Motif {
        kind: "ops".into(),
        values: values.map(|(key, value)| (key.to_owned(), value)).into(),
    };
    job(topology, per_node, motif, iterations)
}

/// A program as a graph: each operation comes after the one before it.
pub fn chain(ops: &[Vec<Op>]) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (rank, ops) in (0..).zip(ops) {
        for (number, op) in (0u32..).zip(ops) {
            let doing = match *op {
                Op::Compute { time } => Doing::Compute(time),
                Op::Send(Transfer { peer, bytes, tag, .. }) => send(peer, bytes, tag),
                Op::Recv(Transfer { peer, bytes, tag, .. }) => recv(peer, bytes, tag),
                Op::Collective(collective) => Doing::Collective(collective),
                other => unreachable!("{other:?} is not used here"),
            };
            let after = Vec::from_iter(number.checked_sub(1));
            operations.push((rank, 0, doing, after, vec![]));
        }
    }
    operations
}

/// Plays a run.
pub fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Work of ranks that does all that graphs can: lanes, none, receives of any, messages with and without asking, collectives of several
/// communicators at once, starts, and some work of a program after it.
pub fn mixed(ranks: u32, per_node: u32, (start, eager, put): (Start, u64, bool)) -> Work {
    let mut lists: Vec<Vec<Operation>> = vec![Vec::new(); ranks as usize];
    let mut last: BTreeMap<(u32, u32, u16), (u32, u32)> = BTreeMap::new();
    let mut on_lane: Vec<Option<u32>> = vec![None; ranks as usize];
    let halves: Vec<Vec<u32>> = (0..2)
        .map(|half| (0..ranks).filter(|rank| rank % 2 == half).collect())
        .collect();
    for k in 0..u64::from(ranks) * 12 {
        let (one, two, three) = (des::mix(k), des::mix(k ^ 1 << 40), des::mix(k ^ 2 << 40));
        let rank = (one % u64::from(ranks)) as u32;
        let other = ((one >> 20) % u64::from(ranks)) as u32;
        let lane = |word: u64| [0, 1, NO_LANE][(word % 3) as usize];
        let after = |list: &Vec<Operation>, word: u64| match list.len() {
            0 => vec![],
            len => vec![(word % len as u64) as u32],
        };
        if k % 60 == 59 {
            // A collective of everybody or of halves, with whatever else there is.
            let kinds = CollectiveKind::ALL;
            let collective = Collective {
                kind: kinds[(two % 9) as usize],
                communicator: (k / 60 % 2) as u16,
                bytes: 200 + two % 4_000,
                root: (three % 3) as u32,
            };
            // A lane that collectives share with what others wait for may be held for ever.
            let lane = [2, 3, NO_LANE][(k / 60 % 3) as usize];
            for (rank, own) in (0..ranks).zip(&mut lists) {
                let mut after = after(own, three ^ u64::from(rank));
                if lane != NO_LANE {
                    // Those that hold a lane come in one order everywhere: they would wait for each other.
                    after.extend(on_lane[rank as usize].replace(own.len() as u32));
                }
                own.push((rank, lane, Doing::Collective(collective), after, vec![]));
            }
            continue;
        }
        let before = after(&lists[rank as usize], two >> 8);
        if two & 3 == 0 || rank == other {
            let start = after(&lists[rank as usize], two >> 30);
            lists[rank as usize].push((rank, lane(two >> 4), Doing::Compute(three % 700_000), before, start));
            continue;
        }
        // Of any rank with a tag, and of one with any tag.
        let (tag, wild) = ((three & 3) as u16, three & 3 == 3);
        let bytes = if wild {
            (two >> 33) % eager.max(1)
        } else {
            (two >> 33) % 9_000
        };
        let pair = if wild { (ranks, other, tag) } else { (rank, other, tag) };
        let places = (lists[rank as usize].len() as u32, lists[other as usize].len() as u32);
        let earlier = last.insert(pair, places);
        let mut own = before;
        own.extend(earlier.filter(|_| !wild).map(|(send, _)| send));
        let (lanes, posted) = (
            (lane(two >> 4), lane(three >> 9)),
            Vec::from_iter(earlier.map(|(_, posted)| posted)),
        );
        lists[rank as usize].push((rank, lanes.0, send(other, bytes, tag), own, vec![]));
        let later = after(&lists[other as usize], three >> 20);
        let from = if wild { ANY_SOURCE } else { rank };
        lists[other as usize].push((other, lanes.1, recv(from, ANY_SIZE, tag), later, posted));
    }
    let operations: Vec<Operation> = lists.into_iter().flatten().collect();
    let ring = Motif {
        kind: "ring".into(),
        values: [("message", 1_500), ("ranks", ranks.into())]
            .map(|(key, value)| (key.to_owned(), MotifValue::Integer(value)))
            .into(),
    };
    Work::Ranks(Ranks {
        parts: vec![
            Part {
                motif: motif(ranks, &[halves], &operations),
                iterations: 2,
            },
            Part {
                motif: ring,
                iterations: 1,
            },
        ],
        per_node,
        mapping: Mapping::RoundRobin,
        start,
        prelude: 0,
        mpi: MpiSpec {
            eager: Bytes(eager),
            rendezvous: if put { Rendezvous::Put } else { Rendezvous::Get },
            ..MpiSpec::default()
        },
    })
}

/// What the messages of one node cost (ps).
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Overhead of a send.
    pub send: u64,
    /// Overhead of a receive.
    pub receive: u64,
    /// Copies, per byte, of messages without asking.
    pub copy: u64,
    /// Latency.
    pub latency: u64,
    /// Largest message without asking.
    pub eager: u64,
    /// Whether the sender writes.
    pub put: bool,
}

/// When each operation ends in the simulator, all ranks on one node. Every operation tells a rank of its own when it has ended, by a message
/// that takes no lane.
pub fn observed(ranks: u32, operations: &[Operation], kept: &Kept) -> Vec<Vec<u64>> {
    let mut all = operations.to_vec();
    let mut numbers = vec![0; ranks as usize];
    let mut observers = Vec::new();
    for (rank, ..) in operations {
        let number = numbers[*rank as usize];
        numbers[*rank as usize] += 1;
        observers.push((*rank, number));
    }
    for (observer, (rank, number)) in (ranks..).zip(&observers) {
        all.push((*rank, NO_LANE, send(observer, 0, 9), vec![*number], vec![]));
        all.push((observer, NO_LANE, recv(*rank, 0, 9), vec![], vec![]));
    }
    let total = ranks + observers.len() as u32;
    let mut spec = spec(
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }),
        total,
        total,
        &all,
    );
    let mpi = &mut self::ranks(&mut spec).mpi;
    mpi.send_overhead = Time(kept.send);
    mpi.receive_overhead = Time(kept.receive);
    mpi.copy = (kept.copy > 0).then(|| BitsPerSec(8_000_000_000_000 / kept.copy));
    mpi.local_latency = Time(kept.latency);
    mpi.local_bandwidth = None;
    mpi.eager = Bytes(kept.eager);
    mpi.rendezvous = if kept.put { Rendezvous::Put } else { Rendezvous::Get };
    let rows = go(&spec).ranks;
    let mut ends = vec![Vec::new(); ranks as usize];
    for (row, (rank, _)) in rows[ranks as usize..].iter().zip(&observers) {
        ends[*rank as usize].push(row.finished - kept.send - kept.latency - kept.receive);
    }
    ends
}

/// A message on its way, or a receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Who sends, and with which operation.
    pub from: (usize, usize),
    /// Who receives.
    pub to: usize,
    /// Tag.
    pub tag: u16,
    /// Size.
    pub bytes: u64,
    /// Its number among those of the pair, in the order in which they set out.
    pub number: u64,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A rank begins.
    Begin,
    /// A processor is done with an operation, which ends or not.
    Free { operation: usize, ends: bool },
    /// The bytes of an operation's message have left, which ends it.
    Left { operation: usize, message: Message },
    /// An operation ends since its receiver has the message.
    Done { operation: usize },
    /// A message or the announcement of one is there.
    Comes(Message),
    /// A receiver lets a sender go on; its operation is the second.
    Clear(Message, usize),
    /// The bytes of a message that was announced are there.
    Data(Message, usize),
}

/// Whose turn it is at one time: messages come in the order in which they set out; after them operations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// A rank begins, or hears from another one; with its number among what has happened.
    Hears(u64),
    /// Operations end by number, those of the lowest rank first; sends that hear that their bytes have left, by the number of the message
    /// among those to its receiver in place of the operation's, in the units of receivers.
    Ends(u64),
}

/// What a plain executor has played: an event at a time, with lists that it looks through.
pub struct Played {
    /// When each operation of each rank has ended.
    pub ends: Vec<Vec<u64>>,
    kept: Kept,
    ranks: Vec<Vec<Own>>,
    events: BinaryHeap<Reverse<(u64, Turn, usize, Event)>>,
    number: u64,
    /// By rank: operations that wait for a lane, with the time since when, and whether their message is there, and what it costs.
    waiting: Vec<Vec<(u64, usize, Option<u64>)>>,
    busy: Vec<BTreeMap<u16, usize>>,
    posted: Vec<Vec<usize>>,
    arrived: Vec<Vec<Message>>,
    /// By pair: messages sent, messages whose turn has come, and those whose turn has not.
    pairs: BTreeMap<(usize, usize), (u64, u64, Vec<Message>)>,
}

struct Own {
    doing: Doing,
    lane: u16,
    left: usize,
    after_end: Vec<usize>,
    after_start: Vec<usize>,
}

impl Played {
    /// Plays a graph of point-to-point messages between ranks of one node.
    pub fn of(ranks: usize, operations: &[Operation], kept: &Kept) -> Played {
        let mut lists: Vec<Vec<Own>> = (0..ranks).map(|_| Vec::new()).collect();
        let mut edges = Vec::new();
        for (rank, lane, doing, after, after_start) in operations {
            let own = &mut lists[*rank as usize];
            let distinct = |list: &[u32]| list.iter().copied().collect::<std::collections::BTreeSet<u32>>();
            let (after, after_start) = (distinct(after), distinct(after_start));
            for before in &after {
                edges.push((*rank as usize, *before as usize, own.len(), false));
            }
            for before in &after_start {
                edges.push((*rank as usize, *before as usize, own.len(), true));
            }
            own.push(Own {
                doing: *doing,
                lane: *lane,
                left: after.len() + after_start.len(),
                after_end: vec![],
                after_start: vec![],
            });
        }
        for (rank, before, operation, start) in edges {
            let own = &mut lists[rank][before];
            if start {
                &mut own.after_start
            } else {
                &mut own.after_end
            }
            .push(operation);
        }
        let mut played = Played {
            ends: lists.iter().map(|list| vec![u64::MAX; list.len()]).collect(),
            kept: *kept,
            waiting: vec![vec![]; ranks],
            busy: vec![BTreeMap::new(); ranks],
            posted: vec![vec![]; ranks],
            arrived: vec![vec![]; ranks],
            pairs: BTreeMap::new(),
            ranks: lists,
            events: BinaryHeap::new(),
            number: 0,
        };
        (0..ranks).for_each(|rank| played.at(0, rank, Event::Begin));
        while let Some(Reverse((now, _, rank, event))) = played.events.pop() {
            played.happens(now, rank, event);
            played.starts(now, rank);
        }
        played
    }

    fn at(&mut self, time: u64, rank: usize, event: Event) {
        self.number += 1;
        let turn = match event {
            Event::Free { operation, .. } => Turn::Ends((operation << 8 | rank) as u64),
            Event::Left { message, .. } => Turn::Ends(message.number << 16 | (message.to << 8 | rank) as u64),
            Event::Begin | Event::Done { .. } | Event::Comes(_) | Event::Clear(..) | Event::Data(..) => {
                Turn::Hears(self.number)
            }
        };
        self.events.push(Reverse((time, turn, rank, event)));
    }

    fn happens(&mut self, now: u64, rank: usize, event: Event) {
        match event {
            Event::Begin => {
                let roots = (0..self.ranks[rank].len()).filter(|&i| self.ranks[rank][i].left == 0);
                let roots: Vec<_> = roots.map(|operation| (now, operation, None)).collect();
                self.waiting[rank].extend(roots);
            }
            Event::Free { operation, ends } => {
                let lane = self.ranks[rank][operation].lane;
                if self.busy[rank].get(&lane) == Some(&operation) {
                    self.busy[rank].remove(&lane);
                }
                self.launches(now, rank, operation);
                if ends {
                    self.ends(now, rank, operation);
                }
            }
            Event::Left { operation, .. } | Event::Done { operation } => self.ends(now, rank, operation),
            Event::Comes(message) => {
                // As in MPI none of a pair is met before one that set out earlier.
                let pair = (message.from.0, rank);
                self.pairs.entry(pair).or_default().2.push(message);
                loop {
                    let (_, expected, early) = self.pairs.entry(pair).or_default();
                    let Some(place) = early.iter().position(|early| early.number == *expected) else {
                        break;
                    };
                    *expected += 1;
                    let next = early.remove(place);
                    self.meets(now, rank, next);
                }
            }
            Event::Clear(message, receive) => {
                self.at(now + self.kept.latency, message.to, Event::Data(message, receive));
                if self.kept.put {
                    let operation = message.from.1;
                    self.at(now, rank, Event::Left { operation, message });
                }
            }
            Event::Data(message, receive) => {
                self.waiting[rank].push((now, receive, Some(self.kept.receive)));
                if !self.kept.put {
                    let operation = message.from.1;
                    self.at(now + self.kept.latency, message.from.0, Event::Done { operation });
                }
            }
        }
    }

    /// A send whose overhead is over puts its message on its way.
    fn launches(&mut self, now: u64, rank: usize, operation: usize) {
        let Doing::Send { peer, bytes, tag, .. } = self.ranks[rank][operation].doing else {
            return;
        };
        let sent = &mut self.pairs.entry((rank, peer as usize)).or_default().0;
        let number = *sent;
        *sent += 1;
        let message = Message {
            number,
            from: (rank, operation),
            to: peer as usize,
            tag,
            bytes,
        };
        self.at(now + self.kept.latency, peer as usize, Event::Comes(message));
    }

    fn meets(&mut self, now: u64, rank: usize, message: Message) {
        let takes = |&&operation: &&usize| self.takes(rank, operation, &message);
        match self.posted[rank].iter().find(takes).copied() {
            Some(operation) => {
                self.posted[rank].retain(|other| *other != operation);
                self.met(now, rank, operation, message);
            }
            None => self.arrived[rank].push(message),
        }
    }

    fn takes(&self, rank: usize, operation: usize, message: &Message) -> bool {
        match self.ranks[rank][operation].doing {
            Doing::Recv { peer, tag, .. } => {
                (peer == ANY_SOURCE || peer as usize == message.from.0) && (tag == ANY_TAG || tag == message.tag)
            }
            _ => false,
        }
    }

    fn met(&mut self, now: u64, rank: usize, operation: usize, message: Message) {
        if message.bytes <= self.kept.eager {
            let cost = self.kept.receive + self.kept.copy * message.bytes;
            self.waiting[rank].push((now, operation, Some(cost)));
        } else {
            let clear = Event::Clear(message, operation);
            self.at(now + self.kept.latency, message.from.0, clear);
        }
    }

    fn ends(&mut self, now: u64, rank: usize, operation: usize) {
        self.ends[rank][operation] = now;
        for after in self.ranks[rank][operation].after_end.clone() {
            self.released(now, rank, after);
        }
    }

    fn released(&mut self, now: u64, rank: usize, operation: usize) {
        let own = &mut self.ranks[rank][operation];
        own.left -= 1;
        if own.left == 0 {
            self.waiting[rank].push((now, operation, None));
        }
    }

    /// Starts what may start, the first by time and number each time.
    fn starts(&mut self, now: u64, rank: usize) {
        loop {
            let may = |&(_, operation, message): &(u64, usize, Option<u64>)| {
                let own = &self.ranks[rank][operation];
                let posts = matches!(own.doing, Doing::Recv { .. }) && message.is_none();
                posts || own.lane == NO_LANE || !self.busy[rank].contains_key(&own.lane)
            };
            let Some(next) = self.waiting[rank].iter().copied().filter(|turn| may(turn)).min() else {
                return;
            };
            self.waiting[rank].retain(|other| *other != next);
            let (_, operation, message) = next;
            if message.is_none() {
                for after in self.ranks[rank][operation].after_start.clone() {
                    self.released(now, rank, after);
                }
            }
            self.start(now, rank, operation, message);
        }
    }

    fn start(&mut self, now: u64, rank: usize, operation: usize, message: Option<u64>) {
        let Kept { send, copy, eager, .. } = self.kept;
        let Own { doing, lane, .. } = self.ranks[rank][operation];
        let (cost, ends) = match (doing, message) {
            (_, Some(cost)) => (cost, true),
            (Doing::Compute(time), _) => (time, true),
            (Doing::Send { bytes, .. }, _) => {
                let at_once = bytes <= eager;
                let cost = send + if at_once { copy * bytes } else { 0 };
                (cost, at_once)
            }
            (Doing::Recv { .. }, None) => {
                let there = self.arrived[rank].iter().copied();
                match { there }.find(|message| self.takes(rank, operation, message)) {
                    Some(message) => {
                        self.arrived[rank].retain(|other| *other != message);
                        self.met(now, rank, operation, message);
                    }
                    None => self.posted[rank].push(operation),
                }
                return;
            }
            (Doing::Collective(_), _) => unreachable!("it plays none"),
        };
        if cost == 0 {
            self.launches(now, rank, operation);
            if ends {
                self.ends(now, rank, operation);
            }
            return;
        }
        if lane != NO_LANE {
            self.busy[rank].insert(lane, operation);
        }
        self.at(now + cost, rank, Event::Free { operation, ends });
    }
}
