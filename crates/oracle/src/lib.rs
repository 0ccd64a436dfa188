//! A second implementation of packets on links, to check the simulator against: written from `docs/models/sculpin.md`, `credit.md` and
//! `nic.md`, with nothing of the simulator in it, to be read rather than to be fast.
//!
//! It takes links, the ways of packets and a list of messages, and says when each message leaves and arrives, in ps. It knows no
//! topology and no routing: ways are given. One event at a time, in total order, from one heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Which model the routers are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Packets wait for their link and for nothing else.
    Sculpin,
    /// Packets wait for room at the other end as well; channels in round robin.
    CreditRoundRobin,
    /// The same, oldest arrival at the port first.
    CreditFirstCome,
}

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// To an input port of a router: network ports in the order of the router's ports, then its nodes.
    Router {
        /// Number of that port.
        port: u32,
    },
    /// To a node.
    Node,
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectedLink {
    /// Bits per second.
    pub bandwidth: u64,
    /// ps.
    pub latency: u64,
    /// Room at the other end per virtual channel (bytes); `None`: without bound.
    pub buffer: Option<u64>,
    /// From the moment a packet's tail has started out of the buffer at the other end until the sender knows (ps).
    pub credit: u64,
    /// Where it leads.
    pub end: LinkEnd,
}

/// A step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayStep {
    /// Number of the link.
    pub link: usize,
    /// Virtual channel on it.
    pub channel: u8,
}

/// A message with the ways of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedMessage {
    /// When it is handed to the interface (ps).
    pub time: u64,
    /// Node that sends it.
    pub source: u32,
    /// Its size.
    pub bytes: u64,
    /// From the injection link to the ejection link; one way per packet, or one for all.
    pub ways: Vec<Vec<WayStep>>,
}

/// The interfaces and what all routers have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The model.
    pub model: Model,
    /// Seed of the run.
    pub seed: u64,
    /// Router traversal (ps).
    pub traversal: u64,
    /// A packet is handed on when its tail has come.
    pub store_and_forward: bool,
    /// A message has arrived with its head.
    pub head_delivery: bool,
    /// Largest packet (bytes).
    pub packet: u64,
    /// Before each message (ps).
    pub message_overhead: u64,
    /// Before each packet (ps).
    pub packet_overhead: u64,
    /// ps per byte of the first packet when the interface was idle.
    pub idle_delay: u64,
}

/// When a message left and arrived (ps); `None`: it did not, because nothing moved any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Journey {
    /// The start of its first packet.
    pub injected: Option<u64>,
    /// Its last byte, or head, at its node.
    pub arrived: Option<u64>,
}

/// The times of all messages, which leave their sources in the order of times, and of the list at one time.
pub fn run(rules: Rules, links: &[DirectedLink], messages: &[RoutedMessage]) -> Vec<Journey> {
    let nodes = messages.iter().map(|message| message.source + 1).max().unwrap_or(0);
    let mut interfaces: Vec<Interface> = (0..nodes).map(|_| Interface::default()).collect();
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|&i| messages[i].time);
    for i in order {
        interfaces[messages[i].source as usize].waiting.push_back(i);
    }
    let mut world = Simulation {
        rules,
        links,
        messages,
        interfaces,
        ports: links.iter().map(|_| LinkSender::default()).collect(),
        packets: Vec::new(),
        missing: messages.iter().map(|message| message.bytes).collect(),
        latest: vec![0; messages.len()],
        times: vec![Journey::default(); messages.len()],
        agenda: BinaryHeap::new(),
    };
    (0..nodes).for_each(|node| world.due(0, Occurrence::Interface(node)));
    while let Some(Reverse((at, event))) = world.agenda.pop() {
        world.happens(at.time, event);
    }
    world.times
}

/// When something happens. At one time credits come before packets, packets in the order of a hash, and what leaves comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    time: u64,
    class: u8,
    hash: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Occurrence {
    /// Room is back at a link and channel.
    Credit(usize, u8, u64),
    /// A packet's head is ready at the router before its next step.
    Head(usize),
    /// A link may be idle, with packets waiting for it.
    Port(usize),
    /// An interface may have something to send.
    Interface(u32),
}

#[derive(Clone, Copy, Debug)]
struct PacketOnWay {
    message: usize,
    /// Its number within its message.
    part: u64,
    bytes: u64,
    /// Steps taken; the next one is this.
    step: usize,
    /// When its head was ready at the router it is in.
    ready: u64,
    /// Its place among the arrivals at its output.
    arrival: u64,
}

/// The sending side of a link between a router and what comes next.
#[derive(Debug, Default)]
struct LinkSender {
    free: u64,
    /// Packets by channel.
    queues: Vec<VecDeque<usize>>,
    /// Bytes at the other end that are taken or under way, by channel.
    taken: Vec<u64>,
    waiting: usize,
    arrivals: u64,
    served: usize,
}

#[derive(Debug, Default)]
struct Interface {
    waiting: VecDeque<usize>,
    free: u64,
    /// The message at its head: number, bytes left, packets sent, when the next packet is ready.
    head: Option<(usize, u64, u64, u64)>,
    /// Bytes of the router's host buffer that are taken or under way.
    taken: u64,
    blocked: bool,
}

struct Simulation<'a> {
    rules: Rules,
    links: &'a [DirectedLink],
    messages: &'a [RoutedMessage],
    interfaces: Vec<Interface>,
    ports: Vec<LinkSender>,
    packets: Vec<PacketOnWay>,
    /// Bytes of each message that have not arrived.
    missing: Vec<u64>,
    /// Latest arrival of a packet of each message.
    latest: Vec<u64>,
    times: Vec<Journey>,
    agenda: BinaryHeap<Reverse<(Moment, Occurrence)>>,
}

impl Simulation<'_> {
    fn due(&mut self, time: u64, event: Occurrence) {
        let (class, hash) = match event {
            Occurrence::Credit(..) => (0, 0),
            Occurrence::Head(packet) => (1, self.hash(packet)),
            Occurrence::Port(_) | Occurrence::Interface(_) => (2, 0),
        };
        self.agenda.push(Reverse((Moment { time, class, hash }, event)));
    }

    fn happens(&mut self, time: u64, event: Occurrence) {
        match event {
            Occurrence::Credit(link, channel, bytes) => self.credit(time, link, channel, bytes),
            Occurrence::Head(packet) => self.head(time, packet),
            Occurrence::Port(link) => self.port(time, link),
            Occurrence::Interface(node) => self.interface(time, node),
        }
    }

    /// Orders the packets that are ready at one router at one time.
    fn hash(&self, packet: usize) -> u64 {
        let PacketOnWay {
            message, part, step, ..
        } = self.packets[packet];
        let before = self.links[self.way(packet)[step - 1].link];
        let port = match before.end {
            LinkEnd::Router { port } => u64::from(port),
            LinkEnd::Node => 0,
        };
        let source = u64::from(self.messages[message].source);
        mix(self.rules.seed ^ (source * 65_536 + port) ^ mix(part))
    }

    fn way(&self, packet: usize) -> &[WayStep] {
        let PacketOnWay { message, part, .. } = self.packets[packet];
        let ways = &self.messages[message].ways;
        if ways.len() == 1 {
            &ways[0]
        } else {
            &ways[part as usize]
        }
    }

    /// How long a packet occupies a link: `ceil(8 B / b)`.
    fn serialisation(&self, link: usize, bytes: u64) -> u64 {
        let bits = u128::from(bytes) * 8_000_000_000_000;
        bits.div_ceil(u128::from(self.links[link].bandwidth)) as u64
    }

    /// How long a head waits so that its tail, which comes over a slower link, does not fall behind.
    fn behind(&self, packet: usize) -> u64 {
        if self.rules.store_and_forward {
            return 0;
        }
        let PacketOnWay { bytes, step, .. } = self.packets[packet];
        let way = self.way(packet);
        let slower = self.serialisation(way[step - 1].link, bytes);
        slower.saturating_sub(self.serialisation(way[step].link, bytes))
    }

    /// A packet has started on the link of its step at `start`.
    fn forward(&mut self, packet: usize, start: u64) {
        let PacketOnWay {
            message, bytes, step, ..
        } = self.packets[packet];
        let number = self.way(packet)[step].link;
        let (link, serialisation) = (self.links[number], self.serialisation(number, bytes));
        if link.end != LinkEnd::Node {
            let tail = if self.rules.store_and_forward { serialisation } else { 0 };
            let ready = start + link.latency + self.rules.traversal + tail;
            (self.packets[packet].step, self.packets[packet].ready) = (step + 1, ready);
            return self.due(ready, Occurrence::Head(packet));
        }
        let tail = if self.rules.head_delivery { 0 } else { serialisation };
        self.latest[message] = self.latest[message].max(start + link.latency + tail);
        self.missing[message] -= bytes;
        if self.missing[message] == 0 {
            self.times[message].arrived = Some(self.latest[message]);
        }
    }

    fn head(&mut self, time: u64, packet: usize) {
        let PacketOnWay { bytes, step, .. } = self.packets[packet];
        let WayStep { link, channel } = self.way(packet)[step];
        let wait = self.behind(packet);
        if self.rules.model == Model::Sculpin {
            let start = (time + wait).max(self.ports[link].free);
            self.ports[link].free = start + self.serialisation(link, bytes);
            return self.forward(packet, start);
        }
        let has_room = self.has_room(link, channel, bytes);
        let port = &mut self.ports[link];
        let alone = port.waiting == 0;
        if alone && port.free <= time && wait == 0 && has_room {
            return self.depart(time, link, packet);
        }
        if port.free <= time {
            // The link is kept for a packet that finds it idle, until its tail is near.
            port.free = time + if alone { wait } else { 0 };
        }
        port.queues
            .resize_with(port.queues.len().max(usize::from(channel) + 1), VecDeque::new);
        port.queues[usize::from(channel)].push_back(packet);
        port.waiting += 1;
        self.packets[packet].arrival = port.arrivals;
        port.arrivals += 1;
        let free = port.free;
        self.due(free, Occurrence::Port(link));
    }

    fn has_room(&self, link: usize, channel: u8, bytes: u64) -> bool {
        let taken = self.ports[link].taken.get(usize::from(channel)).copied().unwrap_or(0);
        self.links[link].buffer.is_none_or(|buffer| taken + bytes <= buffer)
    }

    fn depart(&mut self, start: u64, link: usize, packet: usize) {
        let PacketOnWay { bytes, step, .. } = self.packets[packet];
        let way = self.way(packet);
        let (before, channel) = (way[step - 1], way[step].channel);
        let serialisation = self.serialisation(link, bytes);
        let port = &mut self.ports[link];
        port.free = start + serialisation;
        port.served = usize::from(channel);
        if self.links[link].end != LinkEnd::Node {
            port.taken.resize(port.taken.len().max(usize::from(channel) + 1), 0);
            port.taken[usize::from(channel)] += bytes;
        }
        let back = start + serialisation + self.links[before.link].credit;
        // Room for what an interface has injected is told under the node's number.
        let credit = match step {
            1 => Occurrence::Credit(
                usize::MAX - self.messages[self.packets[packet].message].source as usize,
                0,
                bytes,
            ),
            _ => Occurrence::Credit(before.link, before.channel, bytes),
        };
        self.due(back, credit);
        self.forward(packet, start);
    }

    fn credit(&mut self, time: u64, link: usize, channel: u8, bytes: u64) {
        if link >= self.ports.len() {
            let node = (usize::MAX - link) as u32;
            let interface = &mut self.interfaces[node as usize];
            interface.taken -= bytes;
            if interface.blocked {
                interface.blocked = false;
                interface.free = interface.free.max(time);
                self.due(time, Occurrence::Interface(node));
            }
            return;
        }
        let port = &mut self.ports[link];
        port.taken[usize::from(channel)] -= bytes;
        if port.waiting > 0 {
            port.free = port.free.max(time);
            let free = port.free;
            self.due(free, Occurrence::Port(link));
        }
    }

    /// What waits for a link starts, if it is idle now and there is room for one of them.
    fn port(&mut self, time: u64, link: usize) {
        if self.ports[link].waiting == 0 || self.ports[link].free != time {
            return;
        }
        let Some(channel) = self.choose(link) else {
            return;
        };
        let packet = self.ports[link].queues[channel][0];
        let ready = self.packets[packet].ready + self.behind(packet);
        if ready > time {
            self.ports[link].free = ready;
        } else {
            self.ports[link].queues[channel].pop_front();
            self.ports[link].waiting -= 1;
            self.depart(time, link, packet);
        }
        if self.ports[link].waiting > 0 {
            let free = self.ports[link].free;
            self.due(free, Occurrence::Port(link));
        }
    }

    /// The channel whose turn it is among those whose first packet has room.
    fn choose(&self, link: usize) -> Option<usize> {
        let port = &self.ports[link];
        let n = port.queues.len();
        let first = |channel: usize| port.queues[channel].front().map(|&packet| self.packets[packet]);
        let fits =
            |&channel: &usize| first(channel).is_some_and(|packet| self.has_room(link, channel as u8, packet.bytes));
        match self.rules.model {
            Model::CreditFirstCome => (0..n)
                .filter(fits)
                .min_by_key(|&channel| first(channel).map(|p| p.arrival)),
            _ => (port.served + 1..n).chain(0..n.min(port.served + 1)).find(fits),
        }
    }

    fn interface(&mut self, time: u64, node: u32) {
        let rules = self.rules;
        let interface = &mut self.interfaces[node as usize];
        if interface.blocked {
            return;
        }
        let (message, left, part, ready) = match interface.head {
            Some(head) => head,
            None => {
                let Some(next) = interface.waiting.pop_front() else {
                    return;
                };
                let RoutedMessage { time: born, bytes, .. } = self.messages[next];
                let idle = match born >= interface.free {
                    true => rules.idle_delay * bytes.min(rules.packet),
                    false => 0,
                };
                let ready = born.max(interface.free) + rules.message_overhead + rules.packet_overhead + idle;
                (next, bytes, 0, ready)
            }
        };
        interface.head = Some((message, left, part, ready));
        let start = ready.max(interface.free);
        if start > time {
            return self.due(start, Occurrence::Interface(node));
        }
        let bytes = left.min(rules.packet);
        let link = self.messages[message].ways[0][0].link;
        if rules.model != Model::Sculpin {
            if self.links[link]
                .buffer
                .is_some_and(|buffer| interface.taken + bytes > buffer)
            {
                interface.blocked = true;
                return;
            }
            interface.taken += bytes;
        }
        let serialisation = self.serialisation(link, bytes);
        let interface = &mut self.interfaces[node as usize];
        interface.free = start + serialisation;
        let free = interface.free;
        let rest = (message, left - bytes, part + 1, free + rules.packet_overhead);
        interface.head = (left > bytes).then_some(rest);
        if part == 0 {
            self.times[message].injected = Some(start);
        }
        self.packets.push(PacketOnWay {
            message,
            part,
            bytes,
            step: 0,
            ready: start,
            arrival: 0,
        });
        self.forward(self.packets.len() - 1, start);
        self.due(free, Occurrence::Interface(node));
    }
}

/// SplitMix64's finaliser (Steele et al. 2014).
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        model: Model::Sculpin,
        seed: 1,
        traversal: 100,
        store_and_forward: false,
        head_delivery: false,
        packet: 1_000,
        message_overhead: 0,
        packet_overhead: 0,
        idle_delay: 0,
    };

    /// Nodes 0 and 1 at a router, and the link from there to node 2: 1 ps per byte (the last one as said), 10 ps long.
    fn links(last: u64, buffer: Option<u64>) -> Vec<DirectedLink> {
        let link = |bandwidth, end| DirectedLink {
            bandwidth,
            latency: 10,
            buffer,
            credit: 10,
            end,
        };
        let fast = 8_000_000_000_000;
        vec![
            link(fast, LinkEnd::Router { port: 0 }),
            link(fast, LinkEnd::Router { port: 1 }),
            link(last, LinkEnd::Node),
        ]
    }

    fn message(time: u64, source: u32, bytes: u64) -> RoutedMessage {
        let step = |link| WayStep { link, channel: 0 };
        let ways = vec![vec![step(source as usize), step(2)]];
        RoutedMessage {
            time,
            source,
            bytes,
            ways,
        }
    }

    fn arrivals(rules: Rules, links: &[DirectedLink], messages: &[RoutedMessage]) -> Vec<u64> {
        let times = run(rules, links, messages);
        times.iter().map(|times| times.arrived.unwrap()).collect()
    }

    /// By hand from the tables of sculpin.md: `sum L + (n + 1) T + S` and its relatives.
    #[test]
    fn an_idle_way_takes_what_the_tables_say() {
        let (equal, slow, fast) = (
            links(8_000_000_000_000, None),
            links(4_000_000_000_000, None),
            links(16_000_000_000_000, None),
        );
        let one = [message(5, 0, 600)];
        assert_eq!(arrivals(RULES, &equal, &one), [5 + 20 + 100 + 600]);
        assert_eq!(arrivals(RULES, &slow, &one), [5 + 20 + 100 + 1_200]);
        // The faster last link waits for the tail.
        assert_eq!(arrivals(RULES, &fast, &one), [5 + 20 + 100 + 300 + 300]);
        let stored = Rules {
            store_and_forward: true,
            ..RULES
        };
        assert_eq!(arrivals(stored, &equal, &one), [5 + 20 + 100 + 1_200]);
        let head = Rules {
            head_delivery: true,
            ..RULES
        };
        assert_eq!(arrivals(head, &equal, &one), [5 + 20 + 100]);
        // Three packets, the last of 1 byte.
        let long = [message(5, 0, 2_001)];
        assert_eq!(arrivals(RULES, &equal, &long), [5 + 20 + 100 + 2_001]);
        let costly = Rules {
            message_overhead: 7,
            packet_overhead: 3,
            idle_delay: 2,
            ..RULES
        };
        assert_eq!(
            arrivals(costly, &equal, &long),
            [5 + 7 + 3 + 2_000 + 20 + 100 + 2_001 + 2 * 3]
        );
    }

    #[test]
    fn packets_wait_for_the_link_and_with_credits_for_room() {
        let equal = links(8_000_000_000_000, None);
        let two = [message(0, 0, 500), message(100, 1, 400)];
        assert_eq!(arrivals(RULES, &equal, &two), [620, 1_020]);
        // A host buffer for one packet: the second starts when the first has started out of it and the credit is back.
        let credit = Rules {
            model: Model::CreditRoundRobin,
            ..RULES
        };
        let small = links(8_000_000_000_000, Some(1_000));
        let long = [message(0, 0, 2_000)];
        let start = 110 + 1_000 + 10;
        assert_eq!(arrivals(credit, &small, &long), [start + 120 + 1_000]);
        let times = run(credit, &small, &[message(0, 0, 1_000), message(0, 0, 1)]);
        assert_eq!(
            times[1],
            Journey {
                injected: Some(start),
                arrived: Some(start + 121)
            }
        );
    }

    #[test]
    fn without_bounds_credits_change_nothing() {
        let equal = links(6_000_000_000_000, None);
        let many: Vec<RoutedMessage> = (0..60)
            .map(|k| message(k * 37 % 900, (k % 2) as u32, 1 + k * k * 7 % 2_500))
            .collect();
        let credit = Rules {
            model: Model::CreditFirstCome,
            ..RULES
        };
        assert_eq!(run(credit, &equal, &many), run(RULES, &equal, &many));
    }
}
