//! `ibnetdiscover` files: the wiring of a real InfiniBand fabric, as its standard tool prints it, read and written.
//!
//! A file has a block per switch and per channel adapter: identifiers, a line with the node's name and a line per cabled port with the
//! far end, so every cable stands there twice. Both statements must agree; what contradicts itself, stands there twice, is cut off or
//! is no line of `ibnetdiscover` is refused, each mistake with its line. Ports without a line have no cable.
//!
//! Switches keep the order of the file; hosts are numbered by switch, then by its port. Every cabled port of an adapter is a host: an
//! adapter's only one has the adapter's name, several are `name/1`, `name/2`. Aggregation nodes inside switches (SHARP) and adapters
//! without a cable are left out with a note. Routers between subnets are refused.
//!
//! Format: `ibnetdiscover(8)` of infiniband-diags, with and without rates, port identifiers and grouping (`-g`).

mod line;
mod write;

pub use write::write;

use super::lids::{HIGHEST_LID, Lids};
use super::mistakes::{Mistakes, lines};
use super::{End, Host, Subnet, Switch};
use line::{DeviceKind, Head, ListedPort, ListingLine};
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovered {
    /// Switches, hosts and cables.
    pub subnet: Subnet,
    /// Their LIDs; 0 where none was given yet.
    pub lids: Lids,
    /// Rates of the ports.
    pub rates: Rates,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// Width and speed of every switch port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Those that occur, such as `4xEDR`, in the order of the file.
    pub names: Vec<String>,
    /// By switch and port number: an index into `names`, [`Rates::NONE`] where none is stated.
    pub of: Vec<Vec<u8>>,
}

impl Rates {
    /// Entry of a port without a stated rate.
    pub const NONE: u8 = u8::MAX;

    /// The rate of a switch's port.
    pub fn name(&self, switch: u32, port: u16) -> Option<&str> {
        let index = *self.of.get(switch as usize)?.get(usize::from(port))?;
        self.names.get(usize::from(index)).map(String::as_str)
    }

    fn index(&mut self, name: &str) -> u8 {
        let known = self.names.iter().position(|n| n == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        index.min(usize::from(Self::NONE)) as u8
    }
}

/// A block of the file.
struct DeviceBlock {
    line: usize,
    head: Head,
    ports: BTreeMap<u16, (usize, ListedPort)>,
}

impl DeviceBlock {
    fn is_switch(&self) -> bool {
        self.head.kind == DeviceKind::Switch
    }

    /// Aggregation nodes are adapters without a machine.
    fn is_aggregation(&self) -> bool {
        !self.is_switch() && self.head.name.contains("Aggregation Node")
    }

    fn words(&self) -> String {
        format!(
            "`{}` ({}-{:016x})",
            self.head.name,
            self.head.kind.letter(),
            self.head.guid
        )
    }
}

const CUT: &str = "the file may have been cut off or edited: run ibnetdiscover again";
const FOREIGN: &str = "keep only what ibnetdiscover writes to its standard output";

/// Reads a file line by line.
///
/// # Errors
/// All mistakes, each with its line, a reason and a hint; reading errors count as such.
pub fn read(file: impl BufRead) -> Result<Discovered, Mistakes> {
    let mut mistakes = Mistakes::default();
    let nodes = blocks(file, &mut mistakes);
    // Cables of a file with foreign or broken lines would be judged on half of what it says.
    mistakes.done()?;
    Assembly::new(&nodes, mistakes).finish()
}

fn blocks(file: impl BufRead, mistakes: &mut Mistakes) -> Vec<DeviceBlock> {
    let mut nodes: Vec<DeviceBlock> = Vec::new();
    let mut by_guid: HashMap<u64, usize> = HashMap::new();
    // Identifiers that wait for their node: the line and the node's GUID.
    let mut waiting: Option<(usize, Option<u64>)> = None;
    // Whether port lines belong to the last node.
    let mut open = false;
    for (number, line) in (1..).zip(lines(file)) {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                mistakes.add(number, format!("cannot read on: {error}"), "");
                return nodes;
            }
        };
        match line::read(&line) {
            Err(reason) => {
                let foreign = reason.starts_with("this is not");
                mistakes.add(number, reason, if foreign { FOREIGN } else { CUT });
            }
            Ok(ListingLine::Nothing) => {}
            Ok(ListingLine::Detail) => {
                open = false;
                waiting.get_or_insert((number, None));
            }
            Ok(ListingLine::Guid(guid)) => {
                open = false;
                waiting.get_or_insert((number, None)).1 = Some(guid);
            }
            Ok(ListingLine::Head(head)) => {
                open = true;
                if let Some((at, Some(guid))) = waiting.take().filter(|w| w.1.is_some_and(|guid| guid != head.guid)) {
                    let reason = format!("the node is {:016x} here and {guid:016x} in line {at}", head.guid);
                    mistakes.add(number, reason, CUT);
                }
                if head.kind == DeviceKind::Router {
                    let reason = format!("`{}` is a router between subnets, which is not modelled", head.name);
                    mistakes.add(
                        number,
                        reason,
                        "take its block and the lines of ports that lead to it out of the file",
                    );
                }
                if let Some(&first) = by_guid.get(&head.guid) {
                    let reason = format!("{} stands in line {} already", nodes[first].words(), nodes[first].line);
                    mistakes.add(number, reason, "one file holds one run of ibnetdiscover");
                }
                by_guid.entry(head.guid).or_insert(nodes.len());
                nodes.push(DeviceBlock {
                    line: number,
                    head,
                    ports: BTreeMap::new(),
                });
            }
            Ok(ListingLine::Port(port)) => match nodes.last_mut().filter(|_| open) {
                None => mistakes.add(number, "a port without a node above it", CUT),
                Some(node) => {
                    if port.number > node.head.ports {
                        let reason = format!("port {} of a node with {} ports", port.number, node.head.ports);
                        mistakes.add(number, reason, CUT);
                    }
                    if let Some((first, _)) = node.ports.get(&port.number) {
                        let reason = format!("port {} stands in line {first} already", port.number);
                        mistakes.add(number, reason, "take one of the lines out");
                    }
                    node.ports.entry(port.number).or_insert((number, port));
                }
            },
        }
    }
    if let Some((at, _)) = waiting {
        mistakes.add(at, "the file ends before the node of these identifiers", CUT);
    }
    if nodes.is_empty() && mistakes.list.is_empty() {
        let hint = "give the output of ibnetdiscover without options, or with -g";
        mistakes.add(0, "there is no switch in the file", hint);
    }
    nodes
}

/// From blocks to a subnet.
struct Assembly<'a> {
    nodes: &'a [DeviceBlock],
    by_guid: HashMap<u64, usize>,
    mistakes: Mistakes,
}

impl<'a> Assembly<'a> {
    fn new(nodes: &'a [DeviceBlock], mistakes: Mistakes) -> Self {
        let by_guid = nodes.iter().enumerate().map(|(i, node)| (node.head.guid, i)).collect();
        Self {
            nodes,
            by_guid,
            mistakes,
        }
    }

    /// The far end of a port if both ends say so.
    fn peer(&mut self, at: usize, number: u16) -> Option<(usize, &'a ListedPort)> {
        let (line, port) = &self.nodes[at].ports[&number];
        let here = &self.nodes[at];
        let Some(&far) = self.by_guid.get(&port.peer_guid) else {
            let letter = port.peer_kind.letter();
            let reason = format!(
                "port {number} leads to {letter}-{:016x}, which is not in the file",
                port.peer_guid
            );
            self.mistakes.add(*line, reason, CUT);
            return None;
        };
        let node = &self.nodes[far];
        let back = node.ports.get(&port.peer_port);
        let fits = node.head.kind == port.peer_kind
            && back.is_some_and(|(_, back)| (back.peer_guid, back.peer_port) == (here.head.guid, number));
        if !fits {
            let says = match back {
                Some((line, back)) => {
                    let kind = back.peer_kind.letter();
                    format!(
                        "line {line} says it leads to {kind}-{:016x} port {}",
                        back.peer_guid, back.peer_port
                    )
                }
                None => "the file gives that port no cable".into(),
            };
            let reason = format!(
                "port {number} leads to port {} of {}, but {says}",
                port.peer_port,
                node.words()
            );
            self.mistakes.add(*line, reason, CUT);
            return None;
        }
        Some((far, &node.ports[&port.peer_port].1))
    }

    /// What both ends of a cable say of each other must agree.
    fn agree(&mut self, at: usize, number: u16, far: usize, back: &ListedPort) {
        let (line, port) = &self.nodes[at].ports[&number];
        let far = &self.nodes[far];
        let told = far.ports[&back.number].0;
        if port.rate.is_some() && back.rate.is_some() && port.rate != back.rate {
            let rate = |port: &ListedPort| port.rate.clone().unwrap_or_default();
            let reason = format!(
                "the cable runs at {} here and at {} in line {told}",
                rate(port),
                rate(back)
            );
            self.mistakes.add(*line, reason, CUT);
        }
        let lid = if far.is_switch() {
            far.head.lid
        } else {
            back.lid.map(|l| l.0)
        };
        if let (Some(here), Some(there)) = (port.peer_lid, lid).filter_different() {
            let told = if far.is_switch() { far.line } else { told };
            let reason = format!("the far end has LID {here} here and {there} in line {told}");
            self.mistakes.add(*line, reason, CUT);
        }
        if let (Some(here), Some(there)) = (port.peer_port_guid, back.guid).filter_different() {
            let reason = format!("the far port is {here:016x} here and {there:016x} in line {told}");
            self.mistakes.add(*line, reason, CUT);
        }
    }

    fn finish(mut self) -> Result<Discovered, Mistakes> {
        let nodes = self.nodes;
        let mut found = Discovered::default();
        let switches: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].is_switch()).collect();
        let number_of: HashMap<usize, u32> = (0u32..).zip(&switches).map(|(number, &i)| (i, number)).collect();
        let mut lmc: Option<(u8, usize)> = None;
        let mut aggregation = 0;
        for &at in &switches {
            let node = &nodes[at];
            let mut ports = vec![None; usize::from(node.head.ports) + 1];
            let mut rates = vec![Rates::NONE; ports.len()];
            for (&number, (line, port)) in &node.ports {
                let Some((far, back)) = self.peer(at, number) else {
                    continue;
                };
                self.agree(at, number, far, back);
                let peer = &nodes[far];
                if peer.is_aggregation() {
                    aggregation += 1;
                    continue;
                }
                if let Some(rate) = &port.rate {
                    rates[usize::from(number)] = found.rates.index(rate);
                }
                if let Some(&switch) = number_of.get(&far) {
                    if far == at {
                        let reason = format!("a cable from {} to itself", node.words());
                        self.mistakes.add(*line, reason, "take both lines out");
                    }
                    let port = back.number;
                    ports[usize::from(number)] = Some(End::Switch { switch, port });
                    continue;
                }
                let told = peer.ports[&back.number].0;
                if let Some((lid, host_lmc)) = back.lid {
                    match lmc {
                        Some((value, first)) if value != host_lmc => {
                            let reason = format!("LMC {host_lmc} here and {value} in line {first}");
                            self.mistakes.add(told, reason, "all hosts have one LMC here");
                        }
                        _ => lmc = lmc.or(Some((host_lmc, told))),
                    }
                    found.lids.hosts.push(lid);
                } else {
                    let reason = "an adapter's port without its LID and LMC";
                    self.mistakes.add(told, reason, CUT);
                    found.lids.hosts.push(0);
                }
                let several = peer.ports.len() > 1;
                let name = &peer.head.name;
                found.subnet.hosts.push(Host {
                    name: if several {
                        format!("{name}/{}", back.number)
                    } else {
                        name.clone()
                    },
                    guid: back.guid.unwrap_or(peer.head.guid),
                    switch: number_of[&at],
                    port: number,
                });
                ports[usize::from(number)] = Some(End::Host(found.subnet.hosts.len() as u32 - 1));
            }
            found.lids.switches.push(node.head.lid.unwrap_or(0));
            found.rates.of.push(rates);
            found.subnet.switches.push(Switch {
                name: node.head.name.clone(),
                guid: node.head.guid,
                ports,
            });
        }
        found.subnet.lmc = lmc.map_or(0, |(lmc, _)| lmc);
        self.adapters(&mut found, aggregation);
        self.lids(&found);
        self.mistakes.done().map(|()| found)
    }

    /// Adapters' own port lines, and adapters that hang on no switch.
    fn adapters(&mut self, found: &mut Discovered, aggregation: usize) {
        let mut lost = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_switch()) {
            for (&number, (line, port)) in &node.ports {
                if port.guid.is_none() {
                    self.mistakes
                        .add(*line, "an adapter's port without its identifier in brackets", CUT);
                }
                let Some((far, back)) = self.peer(at, number) else {
                    continue;
                };
                self.agree(at, number, far, back);
                if !self.nodes[far].is_switch() {
                    let reason = format!("{} hangs on another adapter instead of a switch", node.words());
                    self.mistakes
                        .add(*line, reason, "hosts need a switch: take both blocks out");
                }
            }
            if node.ports.is_empty() {
                lost.push(node.head.name.clone());
            }
        }
        if aggregation > 0 {
            found.notes.push(format!(
                "{aggregation} aggregation nodes of switches left out: they are no hosts"
            ));
        }
        if !lost.is_empty() {
            let more = if lost.len() > 8 { ", ..." } else { "" };
            let names = lost[..lost.len().min(8)].join(", ");
            found.notes.push(format!(
                "{} adapters without a cable left out: {names}{more}",
                lost.len()
            ));
        }
        if self.mistakes.list.is_empty() && found.subnet.hosts.is_empty() {
            self.mistakes.add(0, "no switch in the file has a host", CUT);
        }
    }

    /// No LID may have two owners.
    fn lids(&mut self, found: &Discovered) {
        let paths = found.subnet.paths();
        let switches = found.lids.switches.iter().zip(&found.subnet.switches);
        let hosts = found.lids.hosts.iter().zip(&found.subnet.hosts);
        let mut spans: Vec<(u32, u32, &str)> = switches.map(|(&lid, switch)| (lid, 1, switch.name.as_str())).collect();
        spans.extend(hosts.map(|(&lid, host)| (lid, paths, host.name.as_str())));
        spans.retain(|span| span.0 > 0);
        spans.sort_unstable();
        for (lid, _, name) in spans.iter().filter(|span| span.1 > 1 && span.0 % span.1 > 0) {
            let reason = format!("LID {lid} of `{name}` is no multiple of {paths}, as its LMC wants");
            self.mistakes.add(0, reason, CUT);
        }
        for pair in spans.windows(2).filter(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
            let reason = format!("`{}` and `{}` both have LID {}", pair[0].2, pair[1].2, pair[1].0);
            self.mistakes.add(
                0,
                reason,
                "let the subnet manager assign LIDs anew, then run ibnetdiscover again",
            );
        }
    }
}

/// Two stated values that differ.
trait FilterDifferent {
    fn filter_different(self) -> Self;
}

impl<T: PartialEq> FilterDifferent for (Option<T>, Option<T>) {
    fn filter_different(self) -> Self {
        match self {
            (Some(a), Some(b)) if a != b => (Some(a), Some(b)),
            _ => (None, None),
        }
    }
}
