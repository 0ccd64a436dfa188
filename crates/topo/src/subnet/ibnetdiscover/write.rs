//! Writing a subnet as `ibnetdiscover` would print it.

use super::{Lids, Rates};
use crate::subnet::{End, Subnet};
use std::io::{self, Write};

/// Writes a subnet; ports without a rate get `4xEDR`. Every host becomes an adapter with one port, so that reading gives the same subnet
/// if its hosts are in the order of switches and ports.
///
/// # Errors
/// As `out` has them.
pub fn write(subnet: &Subnet, lids: &Lids, rates: &Rates, out: &mut impl Write) -> io::Result<()> {
    let rate = |switch: u32, port: u16| rates.name(switch, port).unwrap_or("4xEDR");
    writeln!(out, "#\n# Topology file: written by fabricsim\n#")?;
    for (s, switch) in subnet.switches.iter().enumerate() {
        let guid = switch.guid;
        writeln!(
            out,
            "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x{guid:x}\nswitchguid=0x{guid:x}({guid:x})"
        )?;
        let (ports, lid) = (switch.ports.len().saturating_sub(1), lids.switches[s]);
        let name = plain(&switch.name);
        writeln!(
            out,
            "Switch\t{ports} \"S-{guid:016x}\"\t\t# \"{name}\" base port 0 lid {lid} lmc 0"
        )?;
        for (p, end) in switch.ports.iter().enumerate().skip(1) {
            let rate = rate(s as u32, p as u16);
            match *end {
                None => {}
                Some(End::Switch { switch, port }) => {
                    let peer = &subnet.switches[switch as usize];
                    let (guid, name, lid) = (peer.guid, plain(&peer.name), lids.switches[switch as usize]);
                    writeln!(out, "[{p}]\t\"S-{guid:016x}\"[{port}]\t\t# \"{name}\" lid {lid} {rate}")?;
                }
                Some(End::Host(host)) => {
                    let peer = &subnet.hosts[host as usize];
                    let (guid, name, lid) = (peer.guid, plain(&peer.name), lids.hosts[host as usize]);
                    writeln!(
                        out,
                        "[{p}]\t\"H-{guid:016x}\"[1]({guid:x}) \t\t# \"{name}\" lid {lid} {rate}"
                    )?;
                }
            }
        }
    }
    for (h, host) in subnet.hosts.iter().enumerate() {
        let (guid, name, lid) = (host.guid, plain(&host.name), lids.hosts[h]);
        let switch = &subnet.switches[host.switch as usize];
        writeln!(out, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x{guid:x}\ncaguid=0x{guid:x}")?;
        writeln!(out, "Ca\t1 \"H-{guid:016x}\"\t\t# \"{name}\"")?;
        writeln!(
            out,
            "[1]({guid:x}) \t\"S-{:016x}\"[{}]\t\t# lid {lid} lmc {} \"{}\" lid {} {}",
            switch.guid,
            host.port,
            subnet.lmc,
            plain(&switch.name),
            lids.switches[host.switch as usize],
            rate(host.switch, host.port),
        )?;
    }
    out.flush()
}

/// A name on one line.
fn plain(name: &str) -> String {
    name.replace(|c: char| c.is_control(), " ")
}
