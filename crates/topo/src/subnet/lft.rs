//! Forwarding tables of real subnet managers: their dumps read and written, and the service levels of paths.
//!
//! Two ways of writing the same are read, also mixed:
//! ```text
//! Unicast lids [0x0-0x30] of switch Lid 6 guid 0x0002c90200404780 (sw01):      ibroute, dump_lfts.sh, dump_fts
//!   Lid  Out   Destination
//!        Port     Info
//! 0x0004 003 : (Channel Adapter portguid 0x0002c9030005f34b: 'host HCA-1')
//! 24 valid lids dumped
//!
//! Unicast lids [0-48] of switch Lid 6 guid 0x0002c90200404780 ('sw01'):        OpenSM's opensm-lfts.dump
//! 0x0004 003 # Channel Adapter portguid 0x0002c9030005f34b: 'host HCA-1'
//! 48 lids dumped
//! ```
//! Every switch of the subnet must have its table. LIDs that no host of the subnet has are passed over, those of switches too: tables
//! hold the addresses of hosts. [`read_levels`] reads the service levels of OpenSM's path record dump (`opensm-path-records.dump`,
//! plugin osmpathrecords): level n is taken for lane n, as the identity map of levels to lanes has it.

mod levels;
mod write;

pub use levels::{read_levels, write_levels};
pub use write::write;

use super::lids::{Lids, Owner};
use super::mistakes::Mistakes;
use super::{Subnet, Tables};
use std::collections::HashMap;
use std::io::BufRead;

const OTHER: &str = "the tables must be of the same fabric and time as its cables";
const CUT: &str = "the file may have been cut off or edited: dump the tables again";

/// Tables from a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Tables, all on lane 0.
    pub tables: Tables,
    /// What the dump lacks or has too much, in words.
    pub notes: Vec<String>,
}

/// The first line of a switch's table.
struct DumpHead {
    guid: u64,
    /// Highest LID as the line has it.
    top: u32,
    name: String,
}

fn head(line: &str) -> Option<DumpHead> {
    let (_, span) = line.split_once("lids [")?;
    let (span, rest) = span.split_once(']')?;
    let top = span.split_once('-')?.1;
    let top = match top.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => top.parse().ok()?,
    };
    let (_, guid) = rest.split_once("guid 0x")?;
    let (guid, name) = guid.split_at(guid.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(guid.len()));
    Some(DumpHead {
        guid: u64::from_str_radix(guid, 16).ok()?,
        top,
        name: name.trim().trim_matches([':', '(', ')', '\'']).to_owned(),
    })
}

/// `0x0004 003 ...`: LID, port, and the port GUID of the destination where it is told.
fn entry(line: &str) -> Option<(u32, u16, Option<u64>)> {
    let (lid, rest) = line.strip_prefix("0x")?.split_once(char::is_whitespace)?;
    let port = rest.split_whitespace().next()?;
    let guid = rest.split_once("portguid 0x").and_then(|(_, guid)| {
        let end = guid.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(guid.len());
        u64::from_str_radix(&guid[..end], 16).ok()
    });
    Some((u32::from_str_radix(lid, 16).ok()?, port.parse().ok()?, guid))
}

/// What is gathered while a dump is read.
struct DumpReading<'a> {
    subnet: &'a Subnet,
    lids: &'a Lids,
    owners: Vec<Owner>,
    switches: HashMap<u64, u32>,
    tables: Tables,
    /// Line of the table of each switch, 0 while there is none.
    seen: Vec<usize>,
    mistakes: Mistakes,
    unknown: u64,
}

/// Reads a dump of a subnet's forwarding tables line by line.
///
/// # Errors
/// All mistakes: unknown, missing, repeated and cut tables, ports without a cable, destinations that are not those of the subnet.
pub fn read(file: impl BufRead, subnet: &Subnet, lids: &Lids) -> Result<Imported, Mistakes> {
    let mut it = DumpReading {
        subnet,
        lids,
        owners: lids.owners(subnet),
        switches: (0u32..)
            .zip(&subnet.switches)
            .map(|(s, switch)| (switch.guid, s))
            .collect(),
        tables: Tables::empty(subnet),
        seen: vec![0; subnet.switches.len()],
        mistakes: Mistakes::default(),
        unknown: 0,
    };
    // The table that is being read: its switch if it is one of ours, its head, its entries so far.
    let mut now: Option<(Option<u32>, DumpHead, usize)> = None;
    let mut last = 0;
    for (number, line) in (1..).zip(super::mistakes::lines(file)) {
        last = number;
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                it.mistakes.add(number, format!("cannot read on: {error}"), "");
                break;
            }
        };
        let line = line.trim();
        if line.starts_with("Unicast lids") {
            it.close(now.take(), number);
            match head(line) {
                Some(head) => now = Some((it.open(&head, number), head, 0)),
                None => it
                    .mistakes
                    .add(number, "this head of a table names no LIDs or no guid", CUT),
            }
        } else if line.starts_with("0x") {
            match (entry(line), &mut now) {
                (None, _) => it.mistakes.add(number, format!("`{line}` is no LID with a port"), CUT),
                (_, None) => it
                    .mistakes
                    .add(number, "an entry without the head of its table above it", CUT),
                (Some((lid, port, guid)), Some((switch, head, entries))) => {
                    *entries += 1;
                    if let Some(switch) = *switch {
                        it.entry(number, switch, lid, port, guid);
                    }
                    if lid > head.top {
                        let reason = format!("LID {lid} is beyond the {} of the table's head", head.top);
                        it.mistakes.add(number, reason, CUT);
                    }
                }
            }
        } else if let Some((count, rest)) = line
            .split_once(' ')
            .filter(|(_, rest)| rest.trim_end().ends_with("lids dumped"))
        {
            let whole = match (&now, count.parse::<usize>()) {
                // OpenSM prints the highest LID instead of a count.
                (Some((_, head, _)), Ok(top)) if rest.starts_with("lids") => top == head.top as usize,
                (Some((_, _, entries)), Ok(count)) => count == *entries,
                _ => false,
            };
            if !whole {
                it.mistakes
                    .add(number, format!("`{line}` does not fit the table above it"), CUT);
            }
            now = None;
        } else if !(line.is_empty() || line.starts_with('#') || line.starts_with("Lid") || line.starts_with("Port")) {
            let hint = "give the output of dump_lfts.sh, dump_fts or ibroute, or opensm-lfts.dump";
            it.mistakes
                .add(number, "this is no line of a forwarding table dump", hint);
        }
    }
    it.close(now, last);
    it.finish()
}

impl DumpReading<'_> {
    fn open(&mut self, head: &DumpHead, line: usize) -> Option<u32> {
        let Some(&switch) = self.switches.get(&head.guid) else {
            let reason = format!(
                "no switch of the fabric has guid 0x{:016x} (`{}`)",
                head.guid, head.name
            );
            self.mistakes.add(line, reason, OTHER);
            return None;
        };
        match std::mem::replace(&mut self.seen[switch as usize], line) {
            0 => Some(switch),
            first => {
                let name = &self.subnet.switches[switch as usize].name;
                let reason = format!("the table of `{name}` stands in line {first} already");
                self.mistakes.add(line, reason, "one file holds one dump");
                None
            }
        }
    }

    fn close(&mut self, table: Option<(Option<u32>, DumpHead, usize)>, line: usize) {
        if let Some((_, head, _)) = table {
            let reason = format!("the table of `{}` ends without `lids dumped`", head.name);
            self.mistakes.add(line, reason, CUT);
        }
    }

    fn entry(&mut self, line: usize, switch: u32, lid: u32, port: u16, guid: Option<u64>) {
        let owner = self.owners.get(lid as usize).copied().unwrap_or(Owner::Nobody);
        let (address, expected) = match owner {
            Owner::Nobody => {
                self.unknown += 1;
                return;
            }
            Owner::Switch(s) => (None, self.subnet.switches[s as usize].guid),
            Owner::Address(a) => (Some(a), self.subnet.hosts[(a >> self.subnet.lmc) as usize].guid),
        };
        if let Some(guid) = guid.filter(|&guid| guid != expected && address.is_some()) {
            let reason = format!("LID {lid} is of port 0x{guid:016x} here and of 0x{expected:016x} in the fabric");
            self.mistakes.add(line, reason, OTHER);
        }
        // 255 and 0 are no ways to a host.
        let Some(address) = address.filter(|_| port != 255) else {
            return;
        };
        if self.subnet.end(switch, port).is_none() {
            let name = &self.subnet.switches[switch as usize].name;
            let reason = format!("LID {lid} leaves `{name}` by port {port}, where nothing is plugged in");
            self.mistakes.add(line, reason, OTHER);
            return;
        }
        let i = switch as usize * self.tables.n_addresses as usize + address as usize;
        let slot = &mut self.tables.ports[i];
        if *slot != Tables::NONE {
            self.mistakes.add(
                line,
                format!("LID {lid} stands in this table twice"),
                "take one of the lines out",
            );
        }
        *slot = port;
    }

    fn finish(mut self) -> Result<Imported, Mistakes> {
        for (host, &lid) in self.subnet.hosts.iter().zip(&self.lids.hosts) {
            if lid == 0 {
                let reason = format!("`{}` has no LID yet, so no table can name it", host.name);
                self.mistakes
                    .add(0, reason, "run ibnetdiscover after the subnet manager");
            }
        }
        let missing: Vec<&str> = (self.subnet.switches.iter().zip(&self.seen))
            .filter(|(_, line)| **line == 0)
            .map(|(switch, _)| switch.name.as_str())
            .collect();
        if !missing.is_empty() {
            let names = missing[..missing.len().min(5)].join("`, `");
            let more = if missing.len() > 5 { ", ..." } else { "" };
            let reason = format!("{} switches have no table: `{names}`{more}", missing.len());
            self.mistakes.add(0, reason, CUT);
        }
        self.mistakes.done()?;
        let holes = self.tables.ports.iter().filter(|&&port| port == Tables::NONE).count();
        let mut notes = Vec::new();
        if holes > 0 {
            notes.push(format!(
                "{holes} entries of hosts' addresses are missing: some paths lead nowhere"
            ));
        }
        if self.unknown > 0 {
            notes.push(format!("{} entries of LIDs that nobody has passed over", self.unknown));
        }
        Ok(Imported {
            tables: self.tables,
            notes,
        })
    }
}
