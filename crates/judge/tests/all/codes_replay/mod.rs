//! A plain replay of the CODES runs of `validation/codes-torus.json`, random delays and random routes included.
//!
//! The rules are those of `docs/models/late-admission.md`, one event each, in ns. Every random number is drawn where CODES draws it, from
//! the generator that CODES draws it from: each logical process (a node's server, and its interface with router) has three streams of
//! CLCG4, of which the first and the last are in use. With state 0 it gives the digits of those runs; with other states it gives
//! more samples of the same distribution.

mod clcg4;

use clcg4::Stream;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// The engine's lookahead, part of every local step.
const LOOKAHEAD: f64 = 0.005;
/// Time between two messages at an interface.
const SEQUENCE: f64 = 10.0;
const PACKET: u64 = 512;
const BUFFER: u64 = 16_384;
const LINK_BYTES_PER_NS: f64 = (1u64 << 31) as f64 / 1e9;
const CREDIT: f64 = 8.0 / LINK_BYTES_PER_NS;

/// A case.
pub struct Case {
    /// Routers along each of the three dimensions.
    pub side: u32,
    /// Bytes of a chunk.
    pub chunk: u64,
    /// Time of a router per chunk.
    pub traversal: f64,
    /// It leaves the link to the next chunk.
    pub pipelined: bool,
    /// Time per byte of the first packet of an idle queue.
    pub idle_delay: f64,
    /// Random dimensions instead of dimension order.
    pub random: bool,
    /// Delivery by the cumulative rule instead of by the last-numbered chunk alone.
    pub cumulative: bool,
    /// Bytes of a message and of an acknowledgement.
    pub sizes: [u64; 2],
    /// Messages of a sender, and of a batch.
    pub messages: u64,
    pub batch: u64,
    /// Sender and receiver of each pair, and whether the receiver sends as well.
    pub pairs: Vec<(u32, u32)>,
    pub mutual: bool,
}

/// What comes out.
#[derive(Default)]
pub struct Outcome {
    /// Bytes over the time from the first send to the last acknowledgement, MiB/s, per sender.
    pub rates: Vec<f64>,
    /// Mean one-way time in us, per receiver.
    pub one_way: Vec<f64>,
    /// Mean round trip in us, per sender.
    pub round_trips: Vec<f64>,
    /// Mean over all messages, ns.
    pub one_way_mean: f64,
    /// Mean links of a packet.
    pub hops: f64,
    /// Longest time of a packet from the cut to its last chunk, us.
    pub slowest_packet: f64,
    pub events: u64,
}

/// The streams of a logical process.
struct Streams {
    /// Start times, credits, routes.
    general: Stream,
    /// Local steps.
    local: Stream,
}

impl Streams {
    fn new(lp: u64) -> Streams {
        let [general, local] = [0, 2].map(|which| Stream::new(3 * lp + which));
        Streams { general, local }
    }

    fn step(&mut self) -> f64 {
        LOOKAHEAD + 0.5 + 0.5 * self.local.unit()
    }
}

#[derive(Clone, Copy)]
struct Chunk {
    message: u32,
    /// Number and count within the packet, and the bytes.
    number: u64,
    count: u64,
    bytes: u64,
    last_packet: bool,
    cut: f64,
    hops: u32,
    /// The node and queue it came from, and the node it goes to.
    from: (u32, usize),
    next: u32,
}

#[derive(Clone, Copy)]
enum Event {
    Start(u32),
    /// A message at the interface, before and behind its sequencer.
    Handed(u32, u32),
    Sequenced(u32, u32),
    Packetizer(u32),
    Generated(u32, Chunk),
    Turn(u32, usize),
    Arrival(u32, Chunk),
    Credit(u32, usize),
    Delivered(u32),
}

struct Entry(f64, u64, Event);

impl Ord for Entry {
    /// The earliest first.
    fn cmp(&self, other: &Entry) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[derive(Default)]
struct Queue {
    on: bool,
    idle: f64,
    used: u64,
    admitted: VecDeque<Chunk>,
    own: VecDeque<Chunk>,
    straight: VecDeque<Chunk>,
    turning: VecDeque<Chunk>,
}

struct Message {
    source: u32,
    destination: u32,
    bytes: u64,
    /// Bytes of its source's messages up to its end.
    until: u64,
    birth: f64,
    /// The last of its batch.
    last: bool,
    ack: bool,
}

/// A node: its server, interface and router.
struct Node {
    server: Streams,
    router: Streams,
    queues: [Queue; 6],
    sequenced: f64,
    /// Messages to be cut, with the bytes left.
    waiting: VecDeque<(u32, u64)>,
    cutting: bool,
    partner: u32,
    /// What it has sent in all, what has come from it, and its messages whose last-numbered chunk has come.
    posted: u64,
    come: u64,
    ended: Vec<u32>,
    sent: u64,
    first: f64,
    last: f64,
    batch_sent: f64,
    trips: (f64, u64),
    one_way: (f64, u64),
}

struct Replay<'a> {
    case: &'a Case,
    now: f64,
    sequence: u64,
    heap: BinaryHeap<Entry>,
    nodes: Vec<Node>,
    messages: Vec<Message>,
    outcome: Outcome,
    packets: (f64, f64),
}

/// Runs a case with the generator's state number `state`: state 0 is the seed as shipped, others shift the streams by whole networks.
pub fn replay(case: &Case, state: u64) -> Outcome {
    let n = u64::from(case.side).pow(3);
    let node = |i: u64| Node {
        server: Streams::new(2 * (n * state + i)),
        router: Streams::new(2 * (n * state + i) + 1),
        queues: Default::default(),
        sequenced: 0.0,
        waiting: VecDeque::new(),
        cutting: false,
        partner: u32::MAX,
        posted: 0,
        come: 0,
        ended: Vec::new(),
        sent: 0,
        first: 0.0,
        last: 0.0,
        batch_sent: 0.0,
        trips: (0.0, 0),
        one_way: (0.0, 0),
    };
    let mut replay = Replay {
        case,
        now: 0.0,
        sequence: 0,
        heap: BinaryHeap::new(),
        nodes: (0..n).map(node).collect(),
        messages: Vec::new(),
        outcome: Outcome::default(),
        packets: (0.0, 0.0),
    };
    let back = case.pairs.iter().map(|&(a, b)| (b, a)).filter(|_| case.mutual);
    let mut senders: Vec<(u32, u32)> = case.pairs.iter().copied().chain(back).collect();
    senders.sort_unstable();
    for &(sender, receiver) in &senders {
        replay.nodes[sender as usize].partner = receiver;
        let start = LOOKAHEAD + replay.nodes[sender as usize].server.general.unit();
        replay.after(start, Event::Start(sender));
    }
    while let Some(Entry(time, _, event)) = replay.heap.pop() {
        replay.now = time;
        replay.outcome.events += 1;
        replay.handle(event);
    }
    replay.conclude(&senders)
}

impl Replay<'_> {
    fn after(&mut self, delay: f64, event: Event) {
        self.sequence += 1;
        self.heap.push(Entry(self.now + delay, self.sequence, event));
    }

    fn router_step(&mut self, node: u32) -> f64 {
        self.nodes[node as usize].router.step()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start(node) => {
                self.nodes[node as usize].first = self.now;
                self.send_batch(node);
            }
            Event::Handed(node, message) => {
                let step = self.router_step(node);
                let record = &mut self.nodes[node as usize];
                record.sequenced = record.sequenced.max(self.now) + SEQUENCE + step;
                let delay = record.sequenced - self.now;
                self.after(delay, Event::Sequenced(node, message));
            }
            Event::Sequenced(node, message) => {
                let bytes = self.messages[message as usize].bytes;
                let record = &mut self.nodes[node as usize];
                record.waiting.push_back((message, bytes));
                if !std::mem::replace(&mut record.cutting, true) {
                    self.cut(node);
                }
            }
            Event::Packetizer(node) => self.cut(node),
            Event::Generated(node, packet) => self.generate(node, packet),
            Event::Turn(node, queue) => self.turn(node, queue),
            Event::Arrival(node, chunk) => self.arrive(node, chunk),
            Event::Credit(node, queue) => self.credit(node, queue),
            Event::Delivered(message) => self.react(message),
        }
    }

    /// Hands the next batch of a sender over, message by message; each but the first costs an event of its own.
    fn send_batch(&mut self, node: u32) {
        let count = self.case.batch;
        let partner = self.nodes[node as usize].partner;
        self.nodes[node as usize].batch_sent = self.now;
        self.nodes[node as usize].sent += count;
        self.outcome.events += count - 1;
        let mut delay = 0.0;
        for k in 1..=count {
            delay += self.nodes[node as usize].server.step();
            self.post(node, partner, false, k == count, delay);
        }
    }

    fn post(&mut self, source: u32, destination: u32, ack: bool, last: bool, delay: f64) {
        let bytes = self.case.sizes[usize::from(ack)];
        let record = &mut self.nodes[source as usize];
        record.posted += bytes;
        let message = Message {
            source,
            destination,
            bytes,
            until: record.posted,
            birth: self.now,
            last,
            ack,
        };
        self.messages.push(message);
        self.after(delay, Event::Handed(source, self.messages.len() as u32 - 1));
    }

    /// Cuts the next packet.
    fn cut(&mut self, node: u32) {
        let record = &mut self.nodes[node as usize];
        let Some((message, left)) = record.waiting.front_mut() else {
            record.cutting = false;
            return;
        };
        let bytes = PACKET.min(*left);
        let packet = Chunk {
            message: *message,
            number: 0,
            count: 0,
            bytes,
            last_packet: *left == bytes,
            cut: self.now,
            hops: 0,
            from: (node, 0),
            next: 0,
        };
        *left -= bytes;
        if packet.last_packet {
            record.waiting.pop_front();
        }
        let ready = self.router_step(node);
        self.after(ready, Event::Generated(node, packet));
        let next = ready + self.router_step(node);
        self.after(next, Event::Packetizer(node));
    }

    /// Takes a packet of the own node apart and puts it into its queue.
    fn generate(&mut self, node: u32, packet: Chunk) {
        let (queue, next) = self.route(node, &packet);
        let count = packet.bytes.div_ceil(self.case.chunk).max(1);
        for number in 0..count {
            let bytes = self.case.chunk.min(packet.bytes - number * self.case.chunk);
            self.nodes[node as usize].queues[queue].own.push_back(Chunk {
                number,
                count,
                bytes,
                next,
                ..packet
            });
        }
        self.switch_on(node, queue, self.case.idle_delay * packet.bytes as f64);
    }

    fn switch_on(&mut self, node: u32, queue: usize, extra: f64) {
        if !std::mem::replace(&mut self.nodes[node as usize].queues[queue].on, true) {
            let step = self.router_step(node);
            self.after(step + extra, Event::Turn(node, queue));
        }
    }

    fn turn(&mut self, node: u32, queue: usize) {
        let chunk = self.case.chunk;
        let record = &mut self.nodes[node as usize].queues[queue];
        let mut sent = record.admitted.pop_front();
        if sent.is_none() && record.used + 2 * chunk <= BUFFER {
            sent = record.own.pop_front();
            record.used += if sent.is_some() { chunk } else { 0 };
        }
        let Some(mut sent) = sent else {
            record.on = false;
            return;
        };
        let more = !record.admitted.is_empty() || !record.own.is_empty();
        record.on = more;
        let (occupied, after) = match self.case.pipelined {
            true => (0.0, self.case.traversal),
            false => (self.case.traversal, 0.0),
        };
        let busy = self.router_step(node) + chunk as f64 / LINK_BYTES_PER_NS + occupied;
        let record = &mut self.nodes[node as usize].queues[queue];
        record.idle = record.idle.max(self.now) + busy;
        let delay = record.idle - self.now;
        sent.from = (node, queue);
        self.after(delay + after, Event::Arrival(sent.next, sent));
        if more {
            let next = delay + self.router_step(node);
            self.after(next, Event::Turn(node, queue));
        }
    }

    fn arrive(&mut self, node: u32, mut chunk: Chunk) {
        let step = self.router_step(node);
        chunk.hops += 1;
        if node == self.messages[chunk.message as usize].destination {
            self.give_credit(node, chunk.from);
            self.receive(&chunk, step);
            return;
        }
        let (queue, next) = self.route(node, &chunk);
        chunk.next = next;
        let straight = chunk.from.1 / 2 == queue / 2;
        let size = self.case.chunk;
        let record = &mut self.nodes[node as usize].queues[queue];
        if record.used + if straight { size } else { 2 * size } <= BUFFER {
            record.used += size;
            record.admitted.push_back(chunk);
            self.give_credit(node, chunk.from);
        } else if straight {
            record.straight.push_back(chunk);
        } else {
            record.turning.push_back(chunk);
        }
        self.switch_on(node, queue, 0.0);
    }

    fn give_credit(&mut self, node: u32, (to, queue): (u32, usize)) {
        let delay = 1.1 * LOOKAHEAD + CREDIT + self.nodes[node as usize].router.general.unit();
        self.after(delay, Event::Credit(to, queue));
    }

    fn credit(&mut self, node: u32, queue: usize) {
        let size = self.case.chunk;
        let record = &mut self.nodes[node as usize].queues[queue];
        record.used -= size;
        let mut admitted = record.straight.pop_front();
        if admitted.is_none() && record.used + 2 * size <= BUFFER {
            admitted = record.turning.pop_front();
        }
        if let Some(chunk) = admitted {
            record.used += size;
            record.admitted.push_back(chunk);
            self.give_credit(node, chunk.from);
        }
        self.switch_on(node, queue, 0.0);
    }

    /// Counts a chunk at its destination.
    fn receive(&mut self, chunk: &Chunk, step: f64) {
        let ends = chunk.number + 1 == chunk.count;
        if ends {
            let time = self.now - chunk.cut;
            self.packets.0 += 1.0;
            self.packets.1 += f64::from(chunk.hops);
            self.outcome.slowest_packet = self.outcome.slowest_packet.max(time / 1e3);
        }
        let last = ends && chunk.last_packet;
        if !self.case.cumulative {
            if last {
                self.after(step, Event::Delivered(chunk.message));
            }
            return;
        }
        let source = self.messages[chunk.message as usize].source as usize;
        let record = &mut self.nodes[source];
        record.come += chunk.bytes;
        if last {
            record.ended.push(chunk.message);
        }
        let (come, messages) = (record.come, &self.messages);
        let due: Vec<u32> = record
            .ended
            .extract_if(.., |message| messages[*message as usize].until <= come)
            .collect();
        for message in due {
            self.after(step, Event::Delivered(message));
        }
    }

    /// What a server does with a message that is delivered.
    fn react(&mut self, message: u32) {
        let &Message {
            source,
            destination,
            birth,
            last,
            ack,
            ..
        } = &self.messages[message as usize];
        let record = &mut self.nodes[destination as usize];
        if !ack {
            record.one_way.0 += self.now - birth;
            record.one_way.1 += 1;
            if last {
                let delay = record.server.step();
                self.post(destination, source, true, true, delay);
            }
            return;
        }
        record.last = self.now;
        record.trips.0 += self.now - record.batch_sent;
        record.trips.1 += 1;
        if record.sent < self.case.messages {
            self.send_batch(destination);
        }
    }

    /// Queue and next node of a chunk at `node`: half-way round a ring, the way that does not cross the wrap-around link.
    fn route(&mut self, node: u32, chunk: &Chunk) -> (usize, u32) {
        let side = self.case.side as i32;
        let to = self.messages[chunk.message as usize].destination;
        let mut ways = Vec::with_capacity(3);
        for dimension in 0..3 {
            let stride = side.pow(dimension);
            let [here, there] = [node, to].map(|node| node as i32 / stride % side);
            let away = here - there;
            if away == 0 {
                continue;
            }
            let up = away > side / 2 || (-side / 2..0).contains(&away);
            let next = (here + if up { 1 } else { side - 1 }) % side;
            ways.push((
                2 * dimension as usize + usize::from(up),
                (node as i32 + (next - here) * stride) as u32,
            ));
        }
        let mut choice = 0;
        if self.case.random && ways.len() > 1 {
            let unit = self.nodes[node as usize].router.general.unit();
            choice = (unit * ways.len() as f64) as usize;
        }
        ways[choice]
    }

    fn conclude(mut self, senders: &[(u32, u32)]) -> Outcome {
        let mean = |(sum, n): (f64, u64)| sum / n as f64;
        let mut all = (0.0, 0);
        for &(sender, receiver) in senders {
            let (from, to) = (&self.nodes[sender as usize], &self.nodes[receiver as usize]);
            assert_eq!(to.one_way.1, self.case.messages, "everything is delivered");
            let bytes = (self.case.messages * self.case.sizes[0]) as f64;
            self.outcome
                .rates
                .push(bytes / (from.last - from.first) * 1e9 / f64::from(1 << 20));
            self.outcome.round_trips.push(mean(from.trips) / 1e3);
            self.outcome.one_way.push(mean(to.one_way) / 1e3);
            all = (all.0 + to.one_way.0, all.1 + to.one_way.1);
        }
        self.outcome.one_way_mean = mean(all);
        self.outcome.hops = self.packets.1 / self.packets.0;
        self.outcome
    }
}
