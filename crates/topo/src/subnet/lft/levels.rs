//! Service levels of paths in the form of OpenSM's `opensm-path-records.dump`:
//! ```text
//! Channel Adapter 0x0002c9030005f34b, base LID 4, "host HCA-1", port 1
//! # LID  : SL : MTU : RATE
//! 0x0006 : 1  : 4   : 7
//! 0x0009 : UNREACHABLE
//! ```

use super::{CUT, OTHER};
use crate::subnet::{Lids, Mistakes, Owner, Subnet, Tables};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

/// Entry of a path whose level is not known yet.
const UNKNOWN: u8 = u8::MAX;

/// Reads the levels of all paths into the lanes of the tables; returns notes.
///
/// Tables have one lane per source switch and address. Where hosts of one switch have several levels to the same address, as OpenSM's
/// DFSSSP draws them from a range without meaning, the lowest is kept and a note tells how often.
///
/// # Errors
/// All mistakes: unknown ports, levels above 15, broken lines, and hosts without records.
pub fn read_levels(
    file: impl BufRead,
    subnet: &Subnet,
    lids: &Lids,
    tables: &mut Tables,
) -> Result<Vec<String>, Mistakes> {
    let mut mistakes = Mistakes::default();
    let owners = lids.owners(subnet);
    let hosts: HashMap<u64, usize> = subnet
        .hosts
        .iter()
        .enumerate()
        .map(|(h, host)| (host.guid, h))
        .collect();
    let n = tables.n_addresses as usize;
    let mut lanes = vec![UNKNOWN; tables.ports.len()];
    let mut several = vec![false; subnet.switches.len() * n];
    let mut has_records = vec![false; subnet.hosts.len()];
    // Whose records follow: nobody before the first head, a host, or something else that is passed over.
    let mut source: Option<Option<usize>> = None;
    for (number, line) in (1..).zip(crate::subnet::mistakes::lines(file)) {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                mistakes.add(number, format!("cannot read on: {error}"), "");
                break;
            }
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with("Switch ") || line.starts_with("Router ") {
            source = Some(None);
        } else if let Some(rest) = line.strip_prefix("Channel Adapter 0x") {
            let guid = rest
                .split(',')
                .next()
                .and_then(|guid| u64::from_str_radix(guid, 16).ok());
            let host = guid.and_then(|guid| hosts.get(&guid).copied());
            match host {
                Some(host) => has_records[host] = true,
                None => mistakes.add(number, "no host of the fabric has this port", OTHER),
            }
            source = Some(host);
        } else {
            let mut fields = line.split(':').map(str::trim);
            let lid = fields
                .next()
                .and_then(|lid| u32::from_str_radix(lid.strip_prefix("0x")?, 16).ok());
            let level = fields.next().unwrap_or("");
            match (lid, level.parse::<u8>(), source) {
                (_, _, None) => mistakes.add(number, "a record without its source above it", CUT),
                (Some(_), Err(_), _) if level == "UNREACHABLE" => {}
                (Some(lid), Ok(level), Some(host)) if level < 16 => {
                    let Some(Owner::Address(address)) = owners.get(lid as usize) else {
                        continue;
                    };
                    let Some(host) = host else { continue };
                    let i = subnet.hosts[host].switch as usize * n + *address as usize;
                    if lanes[i] != UNKNOWN && lanes[i] != level {
                        several[i] = true;
                    }
                    lanes[i] = lanes[i].min(level);
                }
                _ => mistakes.add(
                    number,
                    format!("`{line}` is no LID with a service level from 0 to 15"),
                    CUT,
                ),
            }
        }
    }
    if let Some(host) = has_records.iter().position(|has| !has) {
        let without = has_records.iter().filter(|has| !**has).count();
        let reason = format!(
            "{without} hosts have no records, among them `{}`",
            subnet.hosts[host].name
        );
        mistakes.add(
            0,
            reason,
            "set DUMP_FULL_PATH_RECORDS=1 for OpenSM's plugin osmpathrecords",
        );
    }
    mistakes.done()?;
    lanes
        .iter_mut()
        .filter(|lane| **lane == UNKNOWN)
        .for_each(|lane| *lane = 0);
    tables.n_lanes = lanes.iter().max().map_or(1, |&highest| highest + 1);
    tables.lanes = if tables.n_lanes > 1 { lanes } else { Vec::new() };
    let several = several.iter().filter(|several| **several).count();
    let note = || {
        format!("{several} pairs of a source switch and a LID have several service levels: the lowest stands for them")
    };
    Ok(if several > 0 { vec![note()] } else { Vec::new() })
}

/// Writes the lanes of all paths between hosts as service levels.
///
/// # Errors
/// As `out` has them.
pub fn write_levels(subnet: &Subnet, lids: &Lids, tables: &Tables, out: &mut impl Write) -> io::Result<()> {
    for (h, host) in subnet.hosts.iter().enumerate() {
        let (guid, lid, name) = (host.guid, lids.hosts[h], &host.name);
        writeln!(
            out,
            "Channel Adapter 0x{guid:016x}, base LID {lid}, \"{name}\", port 1\n# LID  : SL : MTU : RATE"
        )?;
        for address in 0..tables.n_addresses {
            let (lid, lane) = (lids.of_address(subnet, address), tables.lane(host.switch, address));
            writeln!(out, "0x{lid:04X} : {lane:<2} : 4   : 7   ")?;
        }
        writeln!(out)?;
    }
    out.flush()
}
