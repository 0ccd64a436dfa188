//! Writing forwarding tables as `ibroute` prints them, which OpenSM's `file` engine (`-R file -U FILE`) takes.

use crate::subnet::{End, Lids, Owner, Subnet, Tables};
use std::io::{self, Write};

/// Writes the tables of all switches.
///
/// Tables hold hosts' addresses; entries of the switches' own LIDs, which management packets follow, are filled in: the fewest hops,
/// by the lowest port.
///
/// # Errors
/// As `out` has them.
pub fn write(subnet: &Subnet, lids: &Lids, tables: &Tables, out: &mut impl Write) -> io::Result<()> {
    let owners = lids.owners(subnet);
    let to_switches: Vec<Vec<u16>> = (0..subnet.n_switches()).map(|to| ways_to(subnet, to)).collect();
    let top = owners.len() - 1;
    for (s, switch) in subnet.switches.iter().enumerate() {
        let (lid, guid, name) = (lids.switches[s], switch.guid, &switch.name);
        writeln!(
            out,
            "Unicast lids [0x0-0x{top:x}] of switch Lid {lid} guid 0x{guid:016x} ({name}):"
        )?;
        writeln!(out, "  Lid  Out   Destination\n       Port     Info ")?;
        let mut valid = 0;
        for (lid, owner) in owners.iter().enumerate() {
            let (port, kind, guid, name) = match *owner {
                Owner::Nobody => continue,
                Owner::Switch(to) => {
                    let peer = &subnet.switches[to as usize];
                    (to_switches[to as usize][s], "Switch", peer.guid, &peer.name)
                }
                Owner::Address(address) => {
                    let host = &subnet.hosts[(address >> subnet.lmc) as usize];
                    let port = match tables.port(s as u32, address) {
                        Tables::NONE => 255,
                        port => port,
                    };
                    (port, "Channel Adapter", host.guid, &host.name)
                }
            };
            if port == 255 {
                continue;
            }
            valid += 1;
            writeln!(out, "0x{lid:04x} {port:03} : ({kind} portguid 0x{guid:016x}: '{name}')")?;
        }
        writeln!(out, "{valid} valid lids dumped ")?;
    }
    out.flush()
}

/// Port of every switch towards one of them by breadth-first search; 0 at home, 255 where there is no way.
fn ways_to(subnet: &Subnet, to: u32) -> Vec<u16> {
    let n = subnet.switches.len();
    let (mut hops, mut queue) = (vec![u32::MAX; n], vec![to]);
    hops[to as usize] = 0;
    let mut head = 0;
    while let Some(&at) = queue.get(head) {
        head += 1;
        for (_, peer, _) in subnet.cables(at) {
            if hops[peer as usize] == u32::MAX {
                hops[peer as usize] = hops[at as usize] + 1;
                queue.push(peer);
            }
        }
    }
    let way = |s: u32| match hops[s as usize] {
        0 => 0,
        u32::MAX => 255,
        here => {
            let ports = &subnet.switches[s as usize].ports;
            let is_nearer =
                |end: &Option<End>| matches!(end, Some(End::Switch { switch, .. }) if hops[*switch as usize] < here);
            ports.iter().position(is_nearer).unwrap_or(255) as u16
        }
    };
    (0..n as u32).map(way).collect()
}
