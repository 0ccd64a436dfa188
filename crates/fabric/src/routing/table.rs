//! Static tables: which port a router sends to for every address, worked out before the run (InfiniBand's linear forwarding tables).
//!
//! A node has `2^lmc` addresses, each with a path of its own from every router. The router that a packet enters by chooses the address
//! for its message and reads the virtual lane of that path; from there on a packet keeps address (in its phase) and lane (its virtual
//! channel), and every router reads one entry of its table. An entry holds port and lane in one number of 1, 2 or 4 bytes, so that a
//! hop touches one cache line of the table. Where lanes are by a map ([`LevelMap`]) entries hold the levels of service, of which a router reads the packet's at
//! the router that it has come from first.

use super::in_common::shared;
use super::tables::PathChoice;
use super::{Routing, Way};
use crate::packet::Packet;
use crate::plant::{Plant, Site};
use des::mix;
use des::rng::below;
use memmap2::{Mmap, MmapMut, MmapOptions};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use topo::subnet::{End, LevelMap};
use topo::{RoutingRule, Step, Subnet, Tables, Topology};
use work::build_error::BuildError;

/// Most entries of a table, routers times addresses: 1 to 4 GiB.
pub const MOST_ENTRIES: u64 = 1 << 30;
/// Most addresses per node as a power of two: a packet carries which one it is sent to in four bits.
pub const MOST_LMC: u8 = 4;

/// Forwarding tables in the simulator's port numbers, verified: every node's packets arrive.
pub struct PathTable {
    /// Port and lane at `router * addresses + address`, in the least whole bytes: 1, 2 or 4.
    entries: Mmap,
    form: TableForm,
    choice: AddressChoice,
    /// A hash of all that the entries and their form are made of.
    name: String,
}

/// How entries are to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TableForm {
    /// Bytes of an entry.
    width: usize,
    n_routers: usize,
    /// Addresses of the network: entries per router.
    n_addresses: usize,
    lmc: u8,
    /// Bits of an entry's port; the lane is above them.
    port_bits: u32,
    n_lanes: u8,
    /// By which levels become lanes hop by hop, with ports as routers number them.
    map: Option<LevelMap>,
}

impl PartialEq for PathTable {
    fn eq(&self, other: &PathTable) -> bool {
        self.entries[..] == other.entries[..] && self.form == other.form && self.choice == other.choice
    }
}

impl Eq for PathTable {}

impl std::fmt::Debug for PathTable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths = (self.form.n_addresses, &self.choice);
        write!(out, "tables {} {paths:?}", self.name)
    }
}

/// Tables of one network that a process keeps: those of a campaign come again, with other choices of addresses too.
const MOST_KEPT: usize = 2;
/// Larger tables are not kept beside those of the run.
const MOST_BYTES_KEPT: usize = 64 << 20;
/// The tables that a process has used last, the latest at the end.
struct LastTables(Mutex<Vec<Arc<PathTable>>>);

static KEPT: LastTables = LastTables(Mutex::new(Vec::new()));

impl LastTables {
    fn find(&self, name: &str, choice: &AddressChoice) -> Option<Arc<PathTable>> {
        let mut kept = self.0.lock().ok()?;
        let place = kept
            .iter()
            .position(|table| table.name == name && table.choice == *choice)?;
        let table = kept.remove(place);
        kept.push(Arc::clone(&table));
        Some(table)
    }

    fn keep(&self, table: &Arc<PathTable>) {
        if table.entries.len() <= MOST_BYTES_KEPT
            && let Ok(mut kept) = self.0.lock()
        {
            if kept.len() == MOST_KEPT {
                kept.remove(0);
            }
            kept.push(Arc::clone(table));
        }
    }
}

/// What a file of tables begins with.
const MAGIC: [u8; 8] = *b"fstable1";
/// Entries begin behind a whole number of so many bytes, with which mapped memory begins anywhere.
const PAGE: usize = 1 << 16;

/// How a message's address is chosen among those of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AddressChoice {
    /// The first.
    First,
    /// A random one.
    Random,
    /// By the message's number at its source.
    RoundRobin,
    /// The same for the first packet, and the next one for the next.
    Striped,
    /// A random one of those that fit the size.
    BySize(BySize),
}

/// Sets of addresses (bit `i`: the node's `i`-th) by size of the message and by the classes of the routers that it goes from and to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BySize {
    /// A message of fewer bytes is small.
    pub below: u32,
    /// Class of every router.
    pub class_of: Vec<u8>,
    /// Number of classes.
    pub n_classes: u8,
    /// Sets for small messages at `from * n_classes + to`.
    pub small: Vec<u16>,
    /// Sets for the others.
    pub large: Vec<u16>,
}

impl BySize {
    /// Small messages take the first address, the others any but the first where there are several.
    pub(super) fn first_or_others(below: u32, n_routers: u32, lmc: u8) -> BySize {
        let all = ((1u32 << (1 << lmc)) - 1) as u16;
        BySize {
            below,
            class_of: vec![0; n_routers as usize],
            n_classes: 1,
            small: vec![1],
            large: vec![if lmc > 0 { all & !1 } else { 1 }],
        }
    }

    fn cell(&self, from: u32, to: u32) -> usize {
        let class = |router: u32| usize::from(self.class_of[router as usize]);
        class(from) * usize::from(self.n_classes) + class(to)
    }
}

impl AddressChoice {
    /// The choice of a study; `fit` says which addresses fit which messages.
    pub(super) fn new(path: PathChoice, fit: impl FnOnce() -> BySize) -> AddressChoice {
        match path {
            PathChoice::First => AddressChoice::First,
            PathChoice::Random => AddressChoice::Random,
            PathChoice::RoundRobin => AddressChoice::RoundRobin,
            PathChoice::Striped => AddressChoice::Striped,
            PathChoice::BySize => AddressChoice::BySize(fit()),
        }
    }
}

impl PathTable {
    /// The tables of this name with this choice: those that this process has kept, those of another process, or what `make` makes.
    pub(super) fn named(
        name: String,
        choice: AddressChoice,
        make: impl FnOnce() -> Result<PathTable, BuildError>,
    ) -> Result<Arc<PathTable>, BuildError> {
        if let Some(table) = KEPT.find(&name, &choice) {
            return Ok(table);
        }
        let (with_name, with_choice) = (name.clone(), choice.clone());
        let take = |path: &Path| PathTable::take(path, &with_name, &with_choice);
        let make = || {
            make().map(|made| PathTable {
                name: with_name.clone(),
                choice: with_choice.clone(),
                ..made
            })
        };
        let table = Arc::new(shared(&format!("tables-{name}"), take, make, PathTable::put)?);
        KEPT.keep(&table);
        Ok(table)
    }

    /// Tables that another process has put into a file.
    fn take(path: &Path, name: &str, choice: &AddressChoice) -> Option<PathTable> {
        let file = File::open(path).ok()?;
        let mut input = BufReader::new(&file);
        let mut head = [0; 16];
        input.read_exact(&mut head).ok()?;
        let (magic, length) = head.split_at(8);
        let length = u64::from_le_bytes(length.try_into().ok()?);
        if magic != MAGIC || length > file.metadata().ok()?.len() {
            return None;
        }
        let mut form = vec![0; length as usize];
        input.read_exact(&mut form).ok()?;
        let form: TableForm = serde_json::from_slice(&form).ok()?;
        let begin = (head.len() + length as usize).next_multiple_of(PAGE);
        let entries = map(&file, begin).ok()?;
        let bytes = form.width.checked_mul(form.n_addresses)?.checked_mul(form.n_routers)?;
        let whole = entries.len() == bytes.max(1) && matches!(form.width, 1 | 2 | 4);
        whole.then(|| PathTable {
            entries,
            form,
            choice: choice.clone(),
            name: name.to_owned(),
        })
    }

    /// Puts them into a file for others.
    fn put(&self, path: &Path) -> std::io::Result<()> {
        let form = serde_json::to_vec(&self.form).map_err(Error::other)?;
        let mut file = File::create(path)?;
        let mut head = MAGIC.to_vec();
        head.extend((form.len() as u64).to_le_bytes());
        head.extend(form);
        head.resize(head.len().next_multiple_of(PAGE), 0);
        file.write_all(&head)?;
        file.write_all(&self.entries)
    }

    /// Brings a subnet's tables into the simulator's form and follows every path of every node.
    ///
    /// Switches of the subnet are the topology's routers and hosts its nodes, by number; ports are matched by where cables lead. Time and
    /// memory are linear in routers times addresses.
    pub(super) fn new(
        topology: &Topology,
        subnet: &Subnet,
        tables: &Tables,
        choice: AddressChoice,
    ) -> Result<PathTable, BuildError> {
        let local = local_ports(topology, subnet)?;
        let (n_routers, n_addresses) = (topology.n_routers() as usize, subnet.n_addresses() as usize);
        let used = tables
            .lanes
            .iter()
            .copied()
            .max()
            .map_or(1, |last| last.saturating_add(1));
        let n_lanes = match tables.map {
            None => tables.n_lanes.max(used),
            Some(_) => tables.n_lanes,
        };
        let map = tables.map.as_ref().map(|map| {
            LevelMap::new(local.iter().zip(0..).map(|(ports, router)| {
                let mut dims = vec![LevelMap::NONE; topology.wiring().radix(router) as usize];
                for (port, own) in (0..).zip(ports) {
                    let place = own.and_then(|own| dims.get_mut(usize::from(own)));
                    place.into_iter().for_each(|dim| *dim = map.dimension(router, port));
                }
                dims
            }))
        });
        let ports = |r: u32| topology.wiring().radix(r) + topology.wiring().nodes_of(r).len() as u32;
        // One number is left for an address without a way.
        let most = (0..topology.n_routers()).map(ports).max().unwrap_or(0);
        let port_bits = u32::BITS - most.leading_zeros();
        let none = (1 << port_bits) - 1;
        let bits = port_bits + (u8::BITS - (n_lanes.max(used) - 1).leading_zeros());
        let entry = |i: usize| {
            let (router, address) = (i / n_addresses, (i % n_addresses) as u32);
            let port = local[router].get(usize::from(tables.port(router as u32, address)));
            let port = port.copied().flatten().map_or(none, u32::from);
            port | u32::from(tables.lane(router as u32, address)) << port_bits
        };
        let width = match bits {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        };
        let mut entries = memory(n_routers * n_addresses * width)?;
        for (i, bytes) in entries.chunks_exact_mut(width).enumerate() {
            bytes.copy_from_slice(&entry(i).to_le_bytes()[..width]);
        }
        let table = PathTable {
            entries: entries.make_read_only().map_err(no_memory)?,
            form: TableForm {
                width,
                n_routers,
                n_addresses,
                lmc: subnet.lmc,
                port_bits,
                n_lanes,
                map,
            },
            choice,
            name: String::new(),
        };
        table.verify(topology)?;
        Ok(table)
    }

    /// Whether it has a name, which tells all that it is made of.
    pub(super) fn is_named(&self) -> bool {
        !self.name.is_empty()
    }

    /// Virtual lanes that its paths use.
    pub fn n_lanes(&self) -> u8 {
        self.form.n_lanes
    }

    /// Addresses of a node.
    pub fn paths(&self) -> u32 {
        1 << self.form.lmc
    }

    /// Bytes of an entry; there is one for every router and address.
    pub fn entry_bytes(&self) -> u64 {
        self.form.width as u64
    }

    /// `true` if the choice of a path reads the number of a message.
    pub(super) fn numbers_messages(&self) -> bool {
        self.form.lmc > 0 && matches!(self.choice, AddressChoice::RoundRobin | AddressChoice::Striped)
    }

    /// `true` if the address that a message is sent to goes by its number, or is drawn from it.
    pub(super) fn draws_addresses(&self) -> bool {
        self.form.lmc > 0 && self.choice != AddressChoice::First
    }

    /// Local output port and lane at a router, for a node's address.
    #[inline(always)]
    pub fn way(&self, router: u32, node: u32, path: u8) -> (u32, u8) {
        let form = &self.form;
        let i = router as usize * form.n_addresses + ((node as usize) << form.lmc | usize::from(path));
        let entries = &self.entries;
        let entry = match form.width {
            1 => u32::from(entries[i]),
            2 => u32::from(entries.as_chunks::<2>().0[i][0]) | u32::from(entries.as_chunks::<2>().0[i][1]) << 8,
            _ => u32::from_le_bytes(entries.as_chunks::<4>().0[i]),
        };
        (entry & ((1 << form.port_bits) - 1), (entry >> form.port_bits) as u8)
    }

    /// The addresses that messages from one router to another may be sent to: bit `i` for the node's `i`-th.
    fn allowed(&self, from: u32, to: u32) -> u16 {
        match &self.choice {
            AddressChoice::First => 1,
            AddressChoice::Random | AddressChoice::RoundRobin | AddressChoice::Striped => {
                ((1u32 << self.paths()) - 1) as u16
            }
            AddressChoice::BySize(fit) => fit.small[fit.cell(from, to)] | fit.large[fit.cell(from, to)],
        }
    }

    /// The address that a packet's message is sent to, from one router to another.
    fn choose(&self, seed: u64, packet: &Packet, from: u32, to: u32) -> u8 {
        let word = || mix(seed ^ packet.message_identity());
        match &self.choice {
            AddressChoice::First => 0,
            AddressChoice::Random => below(word(), u64::from(self.paths())) as u8,
            AddressChoice::RoundRobin => (packet.number() & (self.paths() - 1)) as u8,
            AddressChoice::Striped => {
                let part = if packet.is_whole() { 0 } else { packet.part_number() };
                (packet.number().wrapping_add(part) & (self.paths() - 1)) as u8
            }
            AddressChoice::BySize(fit) => {
                let small = packet.is_whole() && packet.size() < fit.below;
                let sets = if small { &fit.small } else { &fit.large };
                let mut set = sets[fit.cell(from, to)];
                for _ in 0..below(word(), u64::from(set.count_ones())) {
                    set &= set - 1;
                }
                set.trailing_zeros() as u8
            }
        }
    }

    /// Follows every path from every router with nodes; the first that does not end at its node is the error.
    fn verify(&self, topology: &Topology) -> Result<(), BuildError> {
        let wiring = topology.wiring();
        let sources: Vec<u32> = (0..topology.n_routers())
            .filter(|&r| !wiring.nodes_of(r).is_empty())
            .collect();
        // The last address that a router is known to lead to, plus one.
        let mut leads = vec![0; topology.n_routers() as usize];
        let mut way = Vec::new();
        for address in 0..self.form.n_addresses {
            let (node, path) = (
                (address >> self.form.lmc) as u32,
                (address & ((1 << self.form.lmc) - 1)) as u8,
            );
            if !topology.is_alive(node) {
                continue;
            }
            let end = topology.router_of(node);
            let eject = wiring.radix(end) + (node - wiring.nodes_of(end).start);
            // Jobs are on nodes that can reach each other: the others of what failures have parted have no way.
            let joined = |&&source: &&u32| topology.are_joined(source, end);
            for &source in sources.iter().filter(joined) {
                let mut at = source;
                way.clear();
                while leads[at as usize] != address + 1 {
                    let port = self.way(at, node, path).0;
                    way.push(at);
                    if at == end && port == eject {
                        break;
                    }
                    let next = (port < wiring.radix(at)).then(|| wiring.peer(at, port as u16).0);
                    match next {
                        Some(next) if way.len() <= leads.len() => at = next,
                        _ => return Err(astray(topology, node, path, &way, next.is_some())),
                    }
                }
                way.iter().for_each(|&r| leads[r as usize] = address + 1);
            }
        }
        Ok(())
    }
}

/// The error of a path that does not end at its node, from the routers passed.
fn astray(topology: &Topology, node: u32, path: u8, way: &[u32], turns: bool) -> BuildError {
    let name = |router: u32| topology.router_name(router);
    let (from, last) = (way[0], way[way.len() - 1]);
    let how = match turns {
        true => format!("goes round in a circle through router {}", name(last)),
        false => format!("ends at router {}", name(last)),
    };
    let reason = format!("path {path} to node {node} from router {} {how}", name(from));
    let hint = "the tables must be made for this network, with all of its cables";
    BuildError::field("routing", reason, Some(hint))
}

/// Memory that is 0, in large pages where there are any.
fn memory(bytes: usize) -> Result<MmapMut, BuildError> {
    let memory = MmapMut::map_anon(bytes.max(1)).map_err(no_memory)?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Ok(memory)
}

fn no_memory(error: Error) -> BuildError {
    let hint = "take a smaller routing.lmc or network, or a routing without tables, such as \"minimal\"";
    BuildError::field("routing.kind", format!("no memory for its tables: {error}"), Some(hint))
}

/// Maps a file from `begin` on.
#[allow(unsafe_code)]
fn map(file: &File, begin: usize) -> std::io::Result<Mmap> {
    if file.metadata()?.len() <= begin as u64 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: the file has got its name when it was whole, lies in a folder of these processes alone, and none of them changes it or makes it shorter.
    unsafe { MmapOptions::new().offset(begin as u64).map(file) }
}

/// For every switch of a subnet, the simulator's output port by port of the switch.
///
/// Parallel cables between two routers are matched in port order.
fn local_ports(topology: &Topology, subnet: &Subnet) -> Result<Vec<Vec<Option<u16>>>, BuildError> {
    let wiring = topology.wiring();
    let refuse = |reason: String| {
        let hint = "the tables must be made for this network";
        Err(BuildError::field("routing", reason, Some(hint)))
    };
    let sizes = (subnet.n_switches(), subnet.n_hosts());
    if sizes != (topology.n_routers(), topology.n_nodes()) {
        let reason = format!(
            "the tables are for {} routers and {} nodes, the network has {} and {}",
            sizes.0,
            sizes.1,
            topology.n_routers(),
            topology.n_nodes()
        );
        return refuse(reason);
    }
    let mut all = Vec::with_capacity(subnet.switches.len());
    for (switch, r) in subnet.switches.iter().zip(0..) {
        let mut taken = vec![false; wiring.radix(r) as usize];
        let mut ports = Vec::with_capacity(switch.ports.len());
        for (p, end) in switch.ports.iter().enumerate() {
            let local = match *end {
                None => None,
                Some(End::Host(node)) if wiring.nodes_of(r).contains(&node) => {
                    Some(wiring.radix(r) as u16 + (node - wiring.nodes_of(r).start) as u16)
                }
                Some(End::Host(node)) => {
                    return refuse(format!("node {node} is not on router {}", topology.router_name(r)));
                }
                Some(End::Switch { switch, .. }) => {
                    let free = (0..taken.len()).find(|&k| !taken[k] && wiring.peer(r, k as u16).0 == switch);
                    let Some(free) = free else {
                        let name = topology.router_name(r);
                        return refuse(format!("port {p} of router {name} leads where no cable does"));
                    };
                    taken[free] = true;
                    Some(free as u16)
                }
            };
            ports.push(local);
        }
        all.push(ports);
    }
    Ok(all)
}

impl Routing {
    /// The next output by the tables: (local port, lane, address of the node).
    #[inline(never)]
    pub(super) fn by_table(&self, table: &PathTable, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let (router, node) = (site.router, packet.destination());
        if packet.port() < site.net {
            let path = if table.form.lmc == 0 { 0 } else { packet.phase() };
            let port = table.way(router, node, path).0;
            let lane = match &table.form.map {
                None => packet.vc(),
                Some(map) => {
                    let level = table.way(net.topology.router_of(packet.source()), node, path).1;
                    map.lane(level, router, Some(packet.port()), port as u16)
                        .min(self.last_vc)
                }
            };
            return Way::new(port, lane, path);
        }
        let path = match table.form.lmc {
            0 => 0,
            _ => table.choose(self.seed, packet, router, net.topology.router_of(node)),
        };
        let (port, lane) = table.way(router, node, path);
        let lane = match &table.form.map {
            None => lane,
            Some(map) => map.lane(lane, router, None, port as u16),
        };
        Way::new(port, lane.min(self.last_vc), path)
    }
}

/// The tables as a rule: the lane of a path's source at every hop, or what a map makes of its level, path and level as state. Fewer channels than lanes:
/// higher lanes are merged into the last channel.
pub(super) struct TableRule<'t> {
    topology: &'t Topology,
    table: Arc<PathTable>,
    vcs: u8,
}

impl<'t> TableRule<'t> {
    pub(super) fn new(topology: &'t Topology, table: Arc<PathTable>, vcs: u8) -> Self {
        Self { topology, table, vcs }
    }

    /// The step of a packet that has come by a port, on a channel, with a state.
    fn push(&self, at: u32, dst: u32, path: u8, came: Option<(u16, u8, u8)>, out: &mut Vec<Step>) {
        let end = self.topology.router_of(dst);
        if end == at || !self.topology.are_joined(at, end) {
            return;
        }
        let (port, own) = self.table.way(at, dst, path);
        if port >= self.topology.wiring().radix(at) {
            // Where the network has changed on the way, a router need not have one.
            return;
        }
        let level = came.map_or(own, |(_, _, level)| level);
        let vc = match (&self.table.form.map, came) {
            (Some(map), _) => map.lane(level, at, came.map(|(port, ..)| port), port as u16),
            (None, Some((_, vc, _))) => vc,
            (None, None) => own,
        };
        out.push(Step {
            port: port as u16,
            vc: vc.min(self.vcs - 1),
            state: match self.table.form.map {
                None => u32::from(path),
                Some(_) => u32::from(path) | u32::from(level) << MOST_LMC,
            },
        });
    }
}

impl RoutingRule for TableRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let allowed = self.table.allowed(at, self.topology.router_of(dst));
        for path in (0..16).filter(|path| allowed >> path & 1 == 1) {
            self.push(at, dst, path, None, out);
        }
    }

    fn next(&self, at: u32, came_port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let (path, level) = (state & ((1 << MOST_LMC) - 1), state >> MOST_LMC);
        self.push(at, dst, path as u8, Some((came_port, vc, level as u8)), out);
    }

    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(self.topology.n_routers())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topo::{SingleRouterSpec, TopologySpec};

    /// Tables of one router whose lanes are `node % lanes`.
    fn one_router(nodes: u32, lanes: u8) -> PathTable {
        let topology = TopologySpec::SingleRouter(SingleRouterSpec { nodes }).build().unwrap();
        let subnet = Subnet::of(&topology);
        let mut tables = Tables::empty(&subnet);
        tables.ports = (1..=nodes as u16).collect();
        tables.lanes = (0..nodes).map(|node| (node % u32::from(lanes)) as u8).collect();
        tables.n_lanes = lanes;
        PathTable::new(&topology, &subnet, &tables, AddressChoice::First).unwrap()
    }

    #[test]
    fn tables_are_the_same_behind_a_file_and_a_torn_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tables");
        for (nodes, lanes) in [(1, 1), (63, 4), (8_000, 8), (40_000, 2)] {
            let mut table = one_router(nodes, lanes);
            if lanes == 8 {
                table.form.map = Some(LevelMap::new([vec![LevelMap::NONE, 0, 1], vec![2]].into_iter()));
            }
            table.put(&path).unwrap();
            let read = PathTable::take(&path, "a name", &AddressChoice::Random).unwrap();
            assert_eq!(
                (&read.entries[..], &read.form),
                (&table.entries[..], &table.form),
                "{nodes}"
            );
            assert_eq!((&read.name[..], &read.choice), ("a name", &AddressChoice::Random));
            drop(read);
            let whole = std::fs::read(&path).unwrap();
            for length in [0, 7, 15, 20, whole.len() - table.entries.len(), whole.len() - 1] {
                std::fs::write(&path, &whole[..length]).unwrap();
                assert!(
                    PathTable::take(&path, "a name", &AddressChoice::First).is_none(),
                    "{length}"
                );
            }
            for (at, byte) in [(0, b'F'), (8, 255), (16, b'[')] {
                let mut other = whole.clone();
                other[at] = byte;
                std::fs::write(&path, other).unwrap();
                assert!(
                    PathTable::take(&path, "a name", &AddressChoice::First).is_none(),
                    "{at}"
                );
            }
        }
    }

    #[test]
    fn a_process_keeps_the_tables_that_it_has_used_last() {
        let kept = LastTables(Mutex::new(Vec::new()));
        let (first, random) = (AddressChoice::First, AddressChoice::Random);
        let keep = |name: &str, choice: &AddressChoice| {
            assert!(kept.find(name, choice).is_none(), "{name} {choice:?}");
            let table = Arc::new(PathTable {
                name: name.to_owned(),
                choice: choice.clone(),
                ..one_router(63, 4)
            });
            kept.keep(&table);
            table
        };
        let has = |table: &Arc<PathTable>| {
            let found = kept.find(&table.name, &table.choice);
            found.is_some_and(|found| Arc::ptr_eq(&found, table))
        };
        let one = keep("one", &first);
        let other = keep("one", &random);
        assert!(has(&other) && has(&one));
        // The other was used before: it goes first.
        let two = keep("two", &first);
        assert!(!has(&other) && has(&one) && has(&two));
    }

    #[test]
    fn an_entry_takes_the_least_bytes_that_hold_port_and_lane() {
        // 64 nodes and the number of no port: 7 bits.
        for (nodes, lanes, bytes) in [
            (63, 4, 1),
            (64, 2, 1),
            (64, 3, 2),
            (8_000, 8, 2),
            (8_191, 9, 4),
            (40_000, 2, 4),
        ] {
            let table = one_router(nodes, lanes);
            assert_eq!(table.entry_bytes(), bytes, "{nodes} nodes, {lanes} lanes");
            for node in [0, 1, nodes / 2, nodes - 1] {
                let lane = (node % u32::from(lanes)) as u8;
                assert_eq!(table.way(0, node, 0), (node, lane), "{nodes} nodes, {lanes} lanes");
            }
        }
    }
}
