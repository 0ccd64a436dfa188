//! Pairs of hosts whose path does not arrive, and where it ends instead.

use super::{BROKEN, Paths};
use crate::subnet::{End, Tables};
use serde::Serialize;

/// What becomes of a path that does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A switch has no entry for the address, or one for a port without a cable: a black hole.
    DeadEnd,
    /// It ends at another host.
    WrongHost,
    /// It comes back to a switch that it has passed.
    Loop,
}

impl Fate {
    /// The word that files have for it.
    pub fn name(self) -> &'static str {
        match self {
            Fate::DeadEnd => "dead-end",
            Fate::WrongHost => "wrong-host",
            Fate::Loop => "loop",
        }
    }
}

/// A path that does not arrive: that of all hosts of a switch to one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPath {
    /// Switch of the senders.
    pub switch: u32,
    /// Host that they do not reach.
    pub host: u32,
    /// Hosts of the switch that send to it, itself left out.
    pub senders: u32,
    /// How the path ends.
    pub fate: Fate,
    /// The switch where it ends; of a loop the one that comes first again.
    pub at: u32,
}

impl Paths<'_> {
    /// All paths that do not arrive, by switch, then by host.
    ///
    /// Time: switches times hosts, and each such path once.
    pub fn lost(&self) -> Vec<LostPath> {
        self.each_lost().collect()
    }

    fn each_lost(&self) -> impl Iterator<Item = LostPath> + '_ {
        let hosts = self.subnet.hosts.len();
        let per_switch = self.hosts_per_switch();
        let pairs = (0u32..).zip(per_switch).filter(|&(_, senders)| senders > 0);
        pairs.flat_map(move |(switch, senders)| {
            (0u32..).zip(&self.subnet.hosts).filter_map(move |(to, host)| {
                // Nobody sends to itself.
                let senders = senders - u32::from(host.switch == switch);
                let is_lost = senders > 0 && self.hops[switch as usize * hosts + to as usize] == BROKEN;
                is_lost.then(|| {
                    let (fate, at, _) = self.end_of(switch, to);
                    LostPath {
                        switch,
                        host: to,
                        senders,
                        fate,
                        at,
                    }
                })
            })
        })
    }

    /// How the path from a switch ends that does not arrive at a host, at which switch, and the switches that it passes.
    fn end_of(&self, switch: u32, host: u32) -> (Fate, u32, Vec<u32>) {
        let way = self.tables.walk(self.subnet, switch, self.address(host)).err();
        let way = way.unwrap_or_default();
        let (at, port) = way
            .last()
            .map_or((switch, Tables::NONE), |exit| (exit.switch, exit.port));
        let passed = way.iter().map(|exit| exit.switch).collect();
        match self.subnet.end(at, port) {
            None => (Fate::DeadEnd, at, passed),
            Some(End::Host(_)) => (Fate::WrongHost, at, passed),
            Some(End::Switch { switch, .. }) => (Fate::Loop, switch, passed),
        }
    }

    /// Some of the pairs that do not arrive, by name, with the switches that they pass and how they end.
    pub fn broken_examples(&self, most: usize) -> Vec<String> {
        /// Switches of a way that are named.
        const NAMED: usize = 8;
        let name = |switch: u32| self.subnet.switches[switch as usize].name.as_str();
        let tell = |lost: LostPath| {
            let (_, _, passed) = self.end_of(lost.switch, lost.host);
            let named: Vec<&str> = passed.iter().take(NAMED).map(|&switch| name(switch)).collect();
            let more = if passed.len() > NAMED { " -> ..." } else { "" };
            let port = self.tables.port(lost.at, self.address(lost.host));
            let end = match lost.fate {
                Fate::DeadEnd if port == Tables::NONE => format!("`{}` has no entry", name(lost.at)),
                Fate::DeadEnd => format!("nothing is plugged in at port {port} of `{}`", name(lost.at)),
                Fate::WrongHost => match self.subnet.end(lost.at, port) {
                    Some(End::Host(other)) => format!("ends at `{}`", self.subnet.hosts[other as usize].name),
                    _ => "ends at another host".into(),
                },
                Fate::Loop => format!("comes back to `{}`", name(lost.at)),
            };
            let mut senders = (0u32..).zip(&self.subnet.hosts);
            let from = senders.find(|&(h, host)| host.switch == lost.switch && h != lost.host);
            let from = from.map_or("", |(_, host)| host.name.as_str());
            let to = &self.subnet.hosts[lost.host as usize].name;
            format!("{from} to {to}: {}{more}: {end}", named.join(" -> "))
        };
        self.each_lost().take(most).map(tell).collect()
    }
}
