//! The simulator against the oracle, arrival by arrival. Wiring comes from the topology, times of links from the study, ways from the
//! routing; what happens on them is for each of the two to say.

use super::Case;
use des::Time;
use fabric::network::{Network, Site};
use fabric::packet::{NUMBERS, Packet};
use fabric::spec::{Arbitration, DeliveryPoint, ListedMessage, RouterKind, RunSpec, Switching, Work};
use judge::run::run;
use oracle::{DirectedLink, LinkEnd, Model, RoutedMessage, Rules, WayStep};

/// What the oracle is told of a study.
#[derive(Clone, Debug)]
pub struct Told {
    pub rules: Rules,
    pub links: Vec<DirectedLink>,
    pub messages: Vec<RoutedMessage>,
}

/// A mistake that a simulator could have, made in what the oracle is told or says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Two messages of a node to another become one.
    Melted,
    /// Messages to the nodes of a router take one of its ways.
    NotSpread,
    /// Times of links are whole nanoseconds.
    Rounded,
    /// The last packet of a message is lost.
    PacketLost,
    /// A buffer has room for a packet less.
    CreditLost,
    /// Packets that come at one time go in the order of another hash.
    OtherTie,
}

/// How a study ends: the same, differently (in these words), or it is none that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Same { packets: usize },
    Different(String),
    Unfit(String),
}

/// The steps of the way of a packet as its interface makes it; `None` if they depend on when it gets where.
fn way(net: &Network, packet: Packet) -> Option<Vec<WayStep>> {
    let source = packet.source();
    let at = |time: u64| {
        let router = net.topology.router_of(source);
        let mut site = net.site_of(router);
        let input = site.net + (source - site.node) as u16;
        let mut packet = packet.at(Time(time), net.places[router as usize], input);
        let first = net.n_ports() + source;
        let mut steps = vec![WayStep {
            link: first as usize,
            channel: 0,
        }];
        loop {
            let way = net.route(site, &packet);
            let port = site.port + way.port();
            // Only routers with credits have channels.
            let channel = if net.vcs > 1 { way.vc() } else { 0 };
            steps.push(WayStep {
                link: port as usize,
                channel,
            });
            if way.port() >= u32::from(site.net) {
                return steps;
            }
            let peer = &net.peers[port as usize];
            packet.set_vc(channel);
            packet.set_phase(way.phase());
            packet.count_hop();
            packet = packet.at(Time(time), peer.lp(), peer.port());
            site = &net.sites[peer.lp() as usize];
        }
    };
    let first = at(0);
    // Of two cables a draw from the time takes the same one every other time: one in 2^32 is taken for no draw.
    let is_fixed = (1..=32).all(|k| at(des::mix(k) >> 24) == first);
    is_fixed.then_some(first)
}

/// The ways of the packets of listed messages, one for all packets of a message that take the same.
fn ways(net: &Network, list: &[ListedMessage]) -> Option<Vec<Vec<Vec<WayStep>>>> {
    let mut numbers = vec![0u32; net.n_nodes() as usize];
    let of = |message: &ListedMessage| {
        let (bytes, size) = (message.bytes.0, u64::from(net.packet));
        let single = bytes <= size;
        let mut number = 0;
        if !single || net.messages.bursts {
            let next = &mut numbers[message.source as usize];
            number = *next & (NUMBERS - 1);
            *next += 1;
        }
        let part = |k: u64| {
            let own = (bytes - k * size).min(size) as u32;
            let (source, destination, birth) = (message.source, message.destination, message.time.0);
            let packet = match (single, net.messages.bursts) {
                (true, false) => Packet::whole(source, destination, own, birth),
                (true, true) => Packet::whole_of_many(source, destination, number, own, birth),
                (false, _) => Packet::part(source, destination, number, own, k as u32),
            };
            way(net, packet)
        };
        let mut ways = (0..bytes.div_ceil(size)).map(part).collect::<Option<Vec<_>>>()?;
        if ways.windows(2).all(|pair| pair[0] == pair[1]) {
            ways.truncate(1);
        }
        Some(ways)
    };
    list.iter().map(of).collect()
}

/// What the oracle is told of a run.
pub fn told(spec: &RunSpec, net: &Network) -> Result<Told, String> {
    let Work::Messages(list) = &spec.jobs[0].work else {
        return Err("its work is no list".into());
    };
    let router = &spec.router;
    let model = match router.arbitration {
        _ if router.model == RouterKind::SCULPIN => Model::Sculpin,
        Arbitration::RoundRobin => Model::CreditRoundRobin,
        Arbitration::Fcfs => Model::CreditFirstCome,
    };
    let wiring = net.topology.wiring();
    let link = |class: usize, end: LinkEnd| {
        let link = spec
            .links
            .by_class
            .get(&wiring.class_names[class])
            .unwrap_or(&spec.links.default);
        let over_link = if router.credit_uses_link { link.latency.0 } else { 0 };
        DirectedLink {
            bandwidth: link.bandwidth.0,
            latency: link.latency.0,
            buffer: router.buffer.map(|bytes| bytes.0),
            credit: router.credit_delay.0 + over_link,
            end,
        }
    };
    let mut links = Vec::new();
    for site in &net.sites {
        let r = site.router as usize;
        for port in wiring.port_offset[r] as usize..wiring.port_offset[r + 1] as usize {
            links.push(link(
                wiring.class[port].into(),
                LinkEnd::Router {
                    port: wiring.peer_port[port].into(),
                },
            ));
        }
        links.extend((0..site.nodes).map(|_| link(0, LinkEnd::Node)));
    }
    for node in 0..net.n_nodes() {
        let site = net.site_of(net.topology.router_of(node));
        let port = u32::from(site.net) + node - site.node;
        let mut host = link(0, LinkEnd::Router { port });
        host.bandwidth = spec.nic.bandwidth.map_or(host.bandwidth, |own| own.0);
        host.buffer = spec.nic.buffer.or(router.buffer).map(|bytes| bytes.0);
        links.push(host);
    }
    let ways = ways(net, list).ok_or("ways depend on the time")?;
    let messages = list.iter().zip(ways).map(|(message, ways)| RoutedMessage {
        time: message.time.0,
        source: message.source,
        bytes: message.bytes.0,
        ways,
    });
    let messages = messages.collect();
    let rules = Rules {
        model,
        seed: spec.control.seed,
        traversal: router.traversal.0,
        store_and_forward: router.switching == Switching::StoreAndForward,
        head_delivery: router.delivery == DeliveryPoint::Head,
        packet: spec.nic.packet.0,
        message_overhead: spec.nic.message_overhead.0,
        packet_overhead: spec.nic.packet_overhead.0,
        idle_delay: spec.nic.idle_delay_per_byte.0,
    };
    Ok(Told { rules, links, messages })
}

impl Told {
    /// The same with a defect; unchanged where the study has no place for it.
    fn with(mut self, defect: Defect, net: &Network) -> Told {
        let packet = self.rules.packet;
        match defect {
            Defect::Melted => {
                let pair = |m: &RoutedMessage| (m.source, m.ways[0].last().copied());
                let all = &self.messages;
                let twice = (0..all.len()).find_map(|i| {
                    let other = (i + 1..all.len()).find(|&k| pair(&all[k]) == pair(&all[i]))?;
                    Some((i, other))
                });
                if let Some((first, second)) = twice {
                    let bytes = std::mem::replace(&mut self.messages[second].bytes, 1);
                    self.messages[first].bytes += bytes;
                    self.messages[first].ways.truncate(1);
                }
            }
            Defect::NotSpread => {
                // All packets of a message go where the first goes, and messages to the nodes of a router where those to its first node go.
                for message in &mut self.messages {
                    message.ways.truncate(1);
                    let Some(ejection) = message.ways[0].last().map(|step| step.link) else {
                        continue;
                    };
                    let is_there = |site: &&Site| (site.port..site.port + site.ports()).contains(&(ejection as u32));
                    if let Some(site) = net.sites.iter().find(is_there)
                        && site.node != message.source
                        && let packet = Packet::part(message.source, site.node, 0, 1, 0)
                        && let Some(mut steps) = way(net, packet)
                    {
                        let last = steps.len() - 1;
                        steps[last].link = ejection;
                        message.ways = vec![steps];
                    }
                }
            }
            Defect::Rounded => {
                for link in &mut self.links {
                    link.latency = link.latency.next_multiple_of(1_000);
                }
            }
            Defect::PacketLost => {
                if let Some(message) = self.messages.iter_mut().find(|m| m.bytes > packet) {
                    message.bytes = (message.bytes - 1) / packet * packet;
                }
            }
            Defect::CreditLost => {
                for link in &mut self.links {
                    link.buffer = link
                        .buffer
                        .map(|bytes| if bytes >= 2 * packet { bytes - packet } else { bytes });
                }
            }
            Defect::OtherTie => self.rules.seed ^= 1 << 63,
        }
        self
    }
}

/// Runs a case on both, the oracle with a defect if there is one.
pub fn compare(case: &Case, defect: Option<Defect>) -> Outcome {
    let spec = match case.spec() {
        Ok(spec) => spec,
        Err(reason) => return Outcome::Unfit(reason),
    };
    let told = match Network::build(&spec).map_err(|error| error.to_string()) {
        Ok(net) => told(&spec, &net).map(|told| match defect {
            None => told,
            Some(defect) => told.with(defect, &net),
        }),
        Err(reason) => Err(reason),
    };
    let told = match told {
        Ok(told) => told,
        Err(reason) => return Outcome::Unfit(reason),
    };
    let rows = match run(&spec, &mut |_| true) {
        Ok(result) => result.messages.unwrap_or_default(),
        Err(error @ judge::run::RunError::Build(_)) => return Outcome::Unfit(error.to_string()),
        Err(error) => return Outcome::Different(format!("the run fails: {error}")),
    };
    let times = oracle::run(told.rules, &told.links, &told.messages);
    if rows.len() != times.len() {
        return Outcome::Different(format!("{} messages of {}", rows.len(), times.len()));
    }
    let mut packets = 0;
    let mut sent = vec![0; 1 + case.messages.iter().map(|m| m.1 as usize).max().unwrap_or(0)];
    for (&(born, source, destination, bytes), times) in case.messages.iter().zip(times) {
        let number = sent[source as usize];
        sent[source as usize] += 1;
        let Some(row) = rows.iter().find(|row| (row.source, row.number) == (source, number)) else {
            return Outcome::Different(format!("message {number} of node {source} is not told"));
        };
        let named = (row.born, row.destination, row.bytes) == (born, destination, bytes);
        if !named || (row.injected, row.arrived) != (times.injected, times.arrived) {
            return Outcome::Different(format!(
                "message {number} of node {source} to {destination}, {bytes} B at {born} ps: the run says {row:?}, the oracle {times:?}"
            ));
        }
        packets += bytes.div_ceil(spec.nic.packet.0) as usize;
    }
    Outcome::Same { packets }
}
