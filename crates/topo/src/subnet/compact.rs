//! fabricsim's own file of forwarding tables: small, quick to read, and bound to the subnet that it was made for.
//!
//! A header of text lines, then bytes:
//! ```text
//! fabricsim tables 1
//! subnet 8f1c5d0e2b7a4c69        digest of switches, hosts, cables and LMC
//! switches 96
//! hosts 672
//! lmc 0
//! lanes 2
//! engine dfsssp
//! ports 64512 bytes              one byte per entry, or two (little-endian) where a switch has more than 255 ports
//! levels 64512 bytes             lanes, one byte per entry; 0 bytes where all are lane 0
//! dimensions 1152 bytes          left out but where levels become lanes hop by hop: of every port, port 0 among them, the dimension of a torus
//! check 1b0a5f3ce0d7782e         FNV-1a of all bytes that follow the empty line
//!
//! ```
//! Entries stand by switch, then by address, as in [`Tables`].

use super::{End, LevelMap, Mistakes, Subnet, Tables};
use std::io::{self, Write};

/// First line of a file.
pub const MAGIC: &str = "fabricsim tables 1";

/// Tables with the name of the engine that computed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTables {
    /// Name of the routing engine, or `import`.
    pub engine: String,
    /// The tables.
    pub tables: Tables,
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo 1991).
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Digest(0xCBF2_9CE4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }
}

/// A subnet's digest: of its identifiers, cables and LMC, not of names. Tables of one subnet are no tables of another.
pub fn digest(subnet: &Subnet) -> u64 {
    let mut digest = Digest::new();
    digest.word(u64::from(subnet.lmc));
    for switch in &subnet.switches {
        digest.word(switch.guid);
        digest.word(switch.ports.len() as u64);
        for end in &switch.ports {
            digest.word(match *end {
                None => 0,
                Some(End::Switch { switch, port }) => 1 << 62 | u64::from(switch) << 16 | u64::from(port),
                Some(End::Host(host)) => 1 << 63 | u64::from(host),
            });
        }
    }
    subnet.hosts.iter().for_each(|host| digest.word(host.guid));
    digest.0
}

/// Writes tables of a subnet.
///
/// # Errors
/// As `out` has them.
pub fn write(subnet: &Subnet, engine: &str, tables: &Tables, out: &mut impl Write) -> io::Result<()> {
    let wide = tables.ports.iter().any(|&port| port > 255);
    let ports: Vec<u8> = match wide {
        true => tables.ports.iter().flat_map(|port| port.to_le_bytes()).collect(),
        false => tables.ports.iter().map(|&port| port as u8).collect(),
    };
    let mut check = Digest::new();
    check.bytes(&ports);
    check.bytes(&tables.lanes);
    let dimensions = tables.map.as_ref().map_or(&[][..], LevelMap::dimensions);
    check.bytes(dimensions);
    let mapped = match &tables.map {
        Some(_) => format!("dimensions {} bytes\n", dimensions.len()),
        None => String::new(),
    };
    let engine = engine.replace(|c: char| c.is_whitespace(), "-");
    write!(
        out,
        "{MAGIC}\nsubnet {:016x}\nswitches {}\nhosts {}\nlmc {}\nlanes {}\nengine {engine}\nports {} bytes\nlevels {} bytes\n\
         {mapped}check {:016x}\n\n",
        digest(subnet),
        subnet.n_switches(),
        subnet.n_hosts(),
        subnet.lmc,
        tables.n_lanes,
        ports.len(),
        tables.lanes.len(),
        check.0,
    )?;
    out.write_all(&ports)?;
    out.write_all(&tables.lanes)?;
    out.write_all(dimensions)?;
    out.flush()
}

const AGAIN: &str = "write the tables again with `fabricsim routes ... --out DIR`";

/// Reads tables of a subnet from the bytes of a file.
///
/// # Errors
/// What is wrong first: another format or version, another subnet, cut or changed bytes, or entries that the subnet has no cables for.
pub fn read(bytes: &[u8], subnet: &Subnet) -> Result<NamedTables, Mistakes> {
    let end = bytes.windows(2).take(4096).position(|pair| pair == b"\n\n");
    let header = end
        .and_then(|end| std::str::from_utf8(&bytes[..end]).ok())
        .unwrap_or("");
    let mut lines = header.lines();
    match lines.next() {
        Some(MAGIC) => {}
        Some(other) if other.starts_with("fabricsim tables ") => {
            let reason = format!("the file is `{other}`, this fabricsim reads `{MAGIC}`");
            return Err(Mistakes::one(reason, AGAIN));
        }
        _ => return Err(Mistakes::one(format!("the file does not start with `{MAGIC}`"), AGAIN)),
    }
    let word = |key: &str| {
        let line = header
            .lines()
            .skip(1)
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.and_then(|rest| rest.split(' ').next())
            .ok_or_else(|| Mistakes::one(format!("its header has no `{key}`"), AGAIN))
    };
    let number = |key: &str, radix: u32| {
        let text = word(key)?;
        u64::from_str_radix(text, radix)
            .map_err(|_| Mistakes::one(format!("`{key} {text}` in its header is no number"), AGAIN))
    };
    let (switches, hosts, lmc) = (number("switches", 10)?, number("hosts", 10)?, number("lmc", 10)?);
    if number("subnet", 16)? != digest(subnet) {
        let here = (subnet.n_switches(), subnet.n_hosts(), subnet.lmc);
        let reason = format!(
            "the tables are of another fabric: {switches} switches, {hosts} hosts, LMC {lmc}, here {}, {}, {}, or other cables \
             between them",
            here.0, here.1, here.2
        );
        let hint = "removed cables and switches make another fabric too";
        return Err(Mistakes::one(reason, hint));
    }
    let entries = subnet.switches.len() * subnet.n_addresses() as usize;
    let (ports_size, levels_size) = (number("ports", 10)? as usize, number("levels", 10)? as usize);
    let lanes = number("lanes", 10)?;
    let is_mapped = header.lines().any(|line| line.starts_with("dimensions "));
    let mapped_size = if is_mapped {
        number("dimensions", 10)? as usize
    } else {
        0
    };
    let n_ports: usize = subnet.switches.iter().map(|switch| switch.ports.len()).sum();
    let body = end.map_or(&[][..], |end| &bytes[end + 2..]);
    let sizes_fit = (ports_size == entries || ports_size == 2 * entries)
        && (levels_size == 0 || levels_size == entries)
        && (1..=255).contains(&lanes)
        && mapped_size == if is_mapped { n_ports } else { 0 };
    if !sizes_fit || body.len() != ports_size + levels_size + mapped_size {
        let reason = format!(
            "{} bytes of entries where {} belong",
            body.len(),
            ports_size.saturating_add(levels_size).saturating_add(mapped_size)
        );
        return Err(Mistakes::one(reason, "the file was cut off or changed"));
    }
    let mut check = Digest::new();
    check.bytes(body);
    if number("check", 16)? != check.0 {
        return Err(Mistakes::one(
            "the check word does not fit the entries",
            "the file was changed",
        ));
    }
    let (ports, levels) = body.split_at(ports_size);
    let (levels, dimensions) = levels.split_at(levels_size);
    let tables = Tables {
        n_addresses: subnet.n_addresses(),
        ports: port_numbers(ports, entries),
        lanes: levels.to_vec(),
        n_lanes: lanes as u8,
        map: is_mapped.then(|| level_map(subnet, dimensions)),
    };
    sound(subnet, &tables)?;
    // Files are named after it.
    let engine = word("engine")?.to_owned();
    if engine.is_empty()
        || !engine
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    {
        return Err(Mistakes::one(format!("`{engine}` in its header is no engine"), AGAIN));
    }
    Ok(NamedTables { engine, tables })
}

/// So many port numbers, of a byte or two each.
fn port_numbers(bytes: &[u8], entries: usize) -> Vec<u16> {
    match bytes.len() == entries {
        true => bytes.iter().map(|&port| u16::from(port)).collect(),
        false => bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect(),
    }
}

/// The map of the dimensions of all ports of a subnet.
fn level_map(subnet: &Subnet, mut dimensions: &[u8]) -> LevelMap {
    LevelMap::new(subnet.switches.iter().map(|switch| {
        let (own, rest) = dimensions.split_at(switch.ports.len());
        dimensions = rest;
        own.to_vec()
    }))
}

/// Every entry must have a cable, every lane be one of those used.
fn sound(subnet: &Subnet, tables: &Tables) -> Result<(), Mistakes> {
    let n = tables.n_addresses as usize;
    for (i, &port) in tables
        .ports
        .iter()
        .enumerate()
        .filter(|(_, port)| **port != Tables::NONE)
    {
        let switch = (i / n) as u32;
        if subnet.end(switch, port).is_none() {
            let name = &subnet.switches[switch as usize].name;
            let reason = format!("`{name}` sends by port {port}, where nothing is plugged in");
            return Err(Mistakes::one(reason, AGAIN));
        }
    }
    if let Some(map) = &tables.map {
        let is_known = |dim: &u8| *dim < LevelMap::DIMENSIONS || *dim == LevelMap::NONE;
        let level = tables.lanes.iter().find(|&&level| level >> LevelMap::DIMENSIONS > 0);
        return match map.dimensions().iter().all(is_known) && level.is_none() && tables.n_lanes <= LevelMap::LANES {
            true => Ok(()),
            false => Err(Mistakes::one("dimensions or levels that no torus has", AGAIN)),
        };
    }
    match tables.lanes.iter().find(|&&lane| lane >= tables.n_lanes) {
        Some(lane) => Err(Mistakes::one(format!("lane {lane} of {} lanes", tables.n_lanes), AGAIN)),
        None => Ok(()),
    }
}
