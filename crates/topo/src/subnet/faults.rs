//! Broken fabrics: switches and cables taken out of a subnet before it is routed.
//!
//! Removals have a text form, on the command line and in a file (one per line, `#` starts a comment):
//! ```text
//! switch NAME              the switch, its cables and its hosts
//! cable NAME PORT          the cable on that port, to a switch or to a host
//! random COUNT [SEED]      that many cables between switches; the fabric may fall apart, which is refused
//! ```
//! A name is the switch's or host's own (`cable` also takes a host's name, without a port), or its 64-bit identifier as `0x...`.

use super::lids::Lids;
use super::mistakes::Mistakes;
use super::{End, Subnet, Switch, Tables};
use crate::random::split_mix;

/// What is to be taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// A switch by name.
    Switch(String),
    /// The cable on a port of a switch by name; on a host's only port without a number.
    Cable(String, Option<u16>),
    /// So many cables between switches by a seed.
    Random(u32, u64),
}

/// A subnet after removals, and which switches and hosts of the former one it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// What is left, numbered anew in the former order.
    pub subnet: Subnet,
    /// Former numbers of its switches.
    pub switches: Vec<u32>,
    /// Former numbers of its hosts.
    pub hosts: Vec<u32>,
    /// What was taken out, in words.
    pub removed: Vec<String>,
}

impl Remains {
    /// Enters tables of what is left into those of the former subnet, which may have lanes of other parts of it.
    pub fn add_to(&self, tables: &Tables, former: &Subnet, wide: &mut Tables) {
        wide.n_lanes = wide.n_lanes.max(tables.n_lanes);
        if !tables.lanes.is_empty() && wide.lanes.is_empty() {
            wide.lanes = vec![0; wide.ports.len()];
        }
        let paths = former.paths();
        for (s, &switch) in (0..).zip(&self.switches) {
            for (h, &host) in (0..).zip(&self.hosts) {
                for path in 0..paths {
                    let to = switch as usize * wide.n_addresses as usize + (host * paths + path) as usize;
                    let address = h * paths + path;
                    wide.ports[to] = tables.port(s, address);
                    if let Some(lane) = wide.lanes.get_mut(to) {
                        *lane = tables.lane(s, address);
                    }
                }
            }
        }
    }

    /// LIDs of what is left.
    pub fn lids(&self, former: &Lids) -> Lids {
        let of = |numbers: &[u32], lids: &[u32]| numbers.iter().map(|&i| lids[i as usize]).collect();
        Lids {
            hosts: of(&self.hosts, &former.hosts),
            switches: of(&self.switches, &former.switches),
        }
    }
}

const FORMS: &str = "write `switch NAME`, `cable NAME PORT` or `random COUNT [SEED]`";

impl Removal {
    /// Reads the text form; `None` for a comment or blank line.
    ///
    /// # Errors
    /// Why it is none, for the end of a sentence.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let text = text.split(" #").next().unwrap_or("").trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let number = |text: &str, what: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no {what}"));
        match word {
            "switch" | "cable" if rest.is_empty() => Err(format!("`{text}` names nothing")),
            "switch" => Ok(Some(Removal::Switch(rest.into()))),
            // Names may have blanks: the port is the last word if it is a number.
            "cable" => Ok(Some(
                match rest
                    .rsplit_once(char::is_whitespace)
                    .map(|(name, port)| (name, port.parse()))
                {
                    Some((name, Ok(port))) => Removal::Cable(name.trim().into(), Some(port)),
                    _ => Removal::Cable(rest.into(), None),
                },
            )),
            "random" => {
                let mut words = rest.split_whitespace();
                let count = number(words.next().unwrap_or(""), "number of cables")?;
                let seed = words.next().map_or(Ok(1), |word| number(word, "seed"))?;
                match (u32::try_from(count), words.next()) {
                    (Ok(count), None) => Ok(Some(Removal::Random(count, seed))),
                    _ => Err(format!("`{text}` is no number of cables and a seed")),
                }
            }
            _ => Err(format!("`{word}` is nothing that can be removed")),
        }
    }

    /// Reads a file of removals.
    ///
    /// # Errors
    /// All mistakes with their lines.
    pub fn parse_file(text: &str) -> Result<Vec<Self>, Mistakes> {
        let (mut found, mut mistakes) = (Vec::new(), Mistakes::default());
        for (line, text) in (1..).zip(text.lines()) {
            match Self::parse(text) {
                Ok(removal) => found.extend(removal),
                Err(reason) => mistakes.add(line, reason, FORMS),
            }
        }
        mistakes.done().map(|()| found)
    }
}

/// Takes switches and cables out, the random ones last.
///
/// Switches without hosts that are cut off go too, with a word in `removed`.
///
/// # Errors
/// Every name that nobody or several have and every port without a cable; or the pieces by name if hosts cannot reach each other.
pub fn remove(subnet: &Subnet, removals: &[Removal]) -> Result<Remains, Mistakes> {
    let mut cut = Cut {
        subnet,
        dead: vec![false; subnet.switches.len()],
        // A cable is out if either end is.
        out: subnet
            .switches
            .iter()
            .map(|switch| vec![false; switch.ports.len()])
            .collect(),
        removed: Vec::new(),
    };
    let mut mistakes = Mistakes::default();
    for removal in removals {
        let done = match removal {
            Removal::Switch(name) => cut.switch(name),
            Removal::Cable(name, port) => cut.cable(name, *port),
            Removal::Random(..) => Ok(()),
        };
        if let Err((reason, hint)) = done {
            mistakes.add(0, reason, hint);
        }
    }
    for removal in removals {
        if let Removal::Random(count, seed) = *removal
            && let Err((reason, hint)) = cut.random(count, seed)
        {
            mistakes.add(0, reason, hint);
        }
    }
    mistakes.done()?;
    cut.drop_empty_pieces()?;
    Ok(cut.finish())
}

/// The pieces of a subnet that no cables join, as subnets of their own; those with hosts, by their first switches.
pub fn pieces(subnet: &Subnet) -> Vec<Remains> {
    let alone = |members: &Vec<u32>| {
        let mut dead = vec![true; subnet.switches.len()];
        members.iter().for_each(|&s| dead[s as usize] = false);
        let out = |(switch, &is_dead): (&Switch, &bool)| vec![is_dead; switch.ports.len()];
        let cut = Cut {
            subnet,
            out: subnet.switches.iter().zip(&dead).map(out).collect(),
            dead,
            removed: Vec::new(),
        };
        cut.finish()
    };
    let pieces = subnet.pieces(|_, _| true);
    let with_hosts = pieces
        .iter()
        .filter(|members| members.iter().any(|&s| subnet.hosts_at(s).next().is_some()));
    with_hosts.map(alone).collect()
}

struct Cut<'a> {
    subnet: &'a Subnet,
    dead: Vec<bool>,
    out: Vec<Vec<bool>>,
    removed: Vec<String>,
}

type FaultRefusal = (String, &'static str);

impl Cut<'_> {
    fn find<T>(
        &self,
        name: &str,
        all: &[T],
        of: impl Fn(&T) -> (&str, u64),
        what: &str,
    ) -> Result<Option<u32>, FaultRefusal> {
        let guid = name
            .strip_prefix("0x")
            .and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let fits = |item: &&T| of(item).0 == name || Some(of(item).1) == guid;
        let mut found = (0u32..).zip(all).filter(|(_, item)| fits(item));
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((i, _)), None) => Ok(Some(i)),
            (Some((_, a)), Some((_, b))) => Err((
                format!(
                    "several {what} are called `{name}`: 0x{:016x}, 0x{:016x}, ...",
                    of(a).1,
                    of(b).1
                ),
                "give the identifier instead of the name",
            )),
        }
    }

    fn find_switch(&self, name: &str) -> Result<Option<u32>, FaultRefusal> {
        self.find(
            name,
            &self.subnet.switches,
            |switch| (&switch.name, switch.guid),
            "switches",
        )
    }

    fn switch(&mut self, name: &str) -> Result<(), FaultRefusal> {
        let hint = "names stand in the fabric's file; `fabricsim routes --json` lists them";
        let s = self
            .find_switch(name)?
            .ok_or_else(|| (format!("no switch is called `{name}`"), hint))?;
        self.dead[s as usize] = true;
        self.removed.push(match self.subnet.hosts_at(s).count() {
            0 => format!("switch {name}"),
            hosts => format!("switch {name} with its {hosts} hosts"),
        });
        Ok(())
    }

    fn cable(&mut self, name: &str, port: Option<u16>) -> Result<(), FaultRefusal> {
        let hint = "write `cable NAME PORT` with a switch, or `cable HOST`";
        let (switch, port) = match (self.find_switch(name)?, port) {
            (Some(switch), Some(port)) => (switch, port),
            (Some(_), None) => return Err((format!("which port of `{name}`?"), hint)),
            (None, port) => {
                let hosts = &self.subnet.hosts;
                // A host's name may end in a number.
                let whole = port.map_or(name.to_owned(), |port| format!("{name} {port}"));
                let found = self.find(&whole, hosts, |host| (&host.name, host.guid), "hosts")?;
                let host = match (found, port) {
                    (None, Some(1)) => self.find(name, hosts, |host| (&host.name, host.guid), "hosts")?,
                    _ => found,
                };
                let host = host.ok_or_else(|| (format!("no switch and no host is called `{name}`"), hint))?;
                (hosts[host as usize].switch, hosts[host as usize].port)
            }
        };
        match self.subnet.end(switch, port) {
            None => return Err((format!("nothing is plugged into port {port} of `{name}`"), hint)),
            Some(End::Switch { switch: far, port }) => self.out[far as usize][usize::from(port)] = true,
            Some(End::Host(_)) => {}
        }
        self.out[switch as usize][usize::from(port)] = true;
        self.removed.push(format!("cable {}", self.cable_name(switch, port)));
        Ok(())
    }

    fn cable_name(&self, switch: u32, port: u16) -> String {
        let name = |s: u32| &self.subnet.switches[s as usize].name;
        match self.subnet.end(switch, port) {
            Some(End::Switch {
                switch: far,
                port: back,
            }) => {
                format!("{} port {port} - {} port {back}", name(switch), name(far))
            }
            Some(End::Host(host)) => {
                format!(
                    "{} port {port} - {}",
                    name(switch),
                    self.subnet.hosts[host as usize].name
                )
            }
            None => format!("{} port {port}", name(switch)),
        }
    }

    fn is_out(&self, switch: u32, port: u16) -> bool {
        self.dead[switch as usize] || self.out[switch as usize][usize::from(port)]
    }

    /// Cables between switches that are still there, each once.
    fn cables(&self) -> Vec<(u32, u16, u32, u16)> {
        let mut cables = Vec::new();
        for s in 0..self.subnet.n_switches() {
            for (port, peer, back) in self
                .subnet
                .cables(s)
                .filter(|&(port, peer, back)| (s, port) < (peer, back))
            {
                if !self.is_out(s, port) && !self.is_out(peer, back) {
                    cables.push((s, port, peer, back));
                }
            }
        }
        cables
    }

    /// A seeded choice without replacement: the first of a shuffle.
    fn random(&mut self, count: u32, seed: u64) -> Result<(), FaultRefusal> {
        let mut cables = self.cables();
        if count as usize > cables.len() {
            let reason = format!("{count} random cables of {} between switches", cables.len());
            return Err((reason, "remove fewer"));
        }
        let mut state = seed;
        for i in 0..count as usize {
            let j = i + (split_mix(&mut state) % (cables.len() - i) as u64) as usize;
            cables.swap(i, j);
            let (s, port, peer, back) = cables[i];
            self.out[s as usize][usize::from(port)] = true;
            self.out[peer as usize][usize::from(back)] = true;
            self.removed.push(format!("cable {}", self.cable_name(s, port)));
        }
        Ok(())
    }

    /// Takes out pieces without hosts; `Err` names the pieces if several have hosts.
    fn drop_empty_pieces(&mut self) -> Result<(), Mistakes> {
        let mut pieces = self.subnet.pieces(|switch, port| !self.is_out(switch, port));
        pieces.retain(|members| !self.dead[members[0] as usize]);
        let hosts_of = |members: &Vec<u32>| {
            let hosts = members
                .iter()
                .flat_map(|&s| self.subnet.hosts_at(s).map(move |(port, _)| (s, port)));
            hosts.filter(|&(s, port)| !self.is_out(s, port)).count()
        };
        let pieces: Vec<(usize, Vec<u32>)> = pieces.into_iter().map(|piece| (hosts_of(&piece), piece)).collect();
        let names = |members: &[u32]| {
            let list: Vec<&str> = members
                .iter()
                .take(6)
                .map(|&s| self.subnet.switches[s as usize].name.as_str())
                .collect();
            format!("{}{}", list.join(", "), if members.len() > 6 { ", ..." } else { "" })
        };
        let mut with_hosts: Vec<&(usize, Vec<u32>)> = pieces.iter().filter(|piece| piece.0 > 0).collect();
        with_hosts.sort_by_key(|piece| std::cmp::Reverse(piece.0));
        if with_hosts.len() > 1 {
            let mut mistakes = Mistakes::default();
            let count = with_hosts.len();
            mistakes.add(
                0,
                format!("the fabric falls into {count} pieces"),
                "remove fewer switches and cables",
            );
            for (hosts, members) in with_hosts {
                let reason = format!(
                    "a piece of {hosts} hosts and {} switches: {}",
                    members.len(),
                    names(members)
                );
                mistakes.add(0, reason, "");
            }
            return Err(mistakes);
        }
        if with_hosts.is_empty() {
            return Err(Mistakes::one("no host is left", "remove fewer switches and cables"));
        }
        let empty: Vec<u32> = pieces
            .iter()
            .filter(|piece| piece.0 == 0)
            .flat_map(|piece| piece.1.clone())
            .collect();
        if !empty.is_empty() {
            self.removed
                .push(format!("{} switches that are cut off: {}", empty.len(), names(&empty)));
            empty.iter().for_each(|&s| self.dead[s as usize] = true);
        }
        Ok(())
    }

    fn finish(self) -> Remains {
        let old = self.subnet;
        let switches: Vec<u32> = (0..old.n_switches()).filter(|&s| !self.dead[s as usize]).collect();
        let hosts: Vec<u32> = (0u32..)
            .zip(&old.hosts)
            .filter(|(_, host)| !self.is_out(host.switch, host.port))
            .map(|(h, _)| h)
            .collect();
        let places = |kept: &[u32], n: usize| {
            let mut places = vec![u32::MAX; n];
            (0u32..).zip(kept).for_each(|(new, &was)| places[was as usize] = new);
            places
        };
        let (new_switch, new_host) = (places(&switches, old.switches.len()), places(&hosts, old.hosts.len()));
        let mut subnet = Subnet {
            lmc: old.lmc,
            ..Subnet::default()
        };
        for &s in &switches {
            let mut switch = old.switches[s as usize].clone();
            for (port, end) in switch.ports.iter_mut().enumerate() {
                *end = match *end {
                    _ if self.is_out(s, port as u16) => None,
                    Some(End::Host(host)) => Some(End::Host(new_host[host as usize])),
                    Some(End::Switch { switch, port }) if !self.is_out(switch, port) => Some(End::Switch {
                        switch: new_switch[switch as usize],
                        port,
                    }),
                    _ => None,
                };
            }
            subnet.switches.push(switch);
        }
        for &h in &hosts {
            let mut host = old.hosts[h as usize].clone();
            host.switch = new_switch[host.switch as usize];
            subnet.hosts.push(host);
        }
        Remains {
            subnet,
            switches,
            hosts,
            removed: self.removed,
        }
    }
}
