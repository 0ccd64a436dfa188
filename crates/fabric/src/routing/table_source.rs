//! Where forwarding tables come from: an engine of a subnet manager, or a file.

use super::table::{AddressChoice, BySize, MOST_ENTRIES, MOST_LMC, PathTable};
use super::{DemandsFrom, KnownFile, PathChoice, RoutingSpec, RoutingTerms, SumsIn, TableSource, TablesSpec};
use std::sync::Arc;
use study::user_file::hash_words;
use topo::subnet::engine::{DemandSums, PathDemands, Quadrants, choice, quadrant};
use topo::subnet::faults::{self, Remains};
use topo::subnet::torus::TorusConf;
use topo::subnet::{Lids, Mistakes, Options, RouteError, RoutingEngine, compact, ibnetdiscover, lft, route};
use topo::{GraphFormat, GraphSpec, Subnet, Tables, Topology, TopologySpec};
use work::build_error::BuildError;

/// The tables of a run.
pub(super) fn table(
    engine: Option<RoutingEngine>,
    tables: &TablesSpec,
    terms: &RoutingTerms<'_>,
    topology: &Topology,
) -> Result<Arc<PathTable>, BuildError> {
    if matches!(tables.path, PathChoice::BySize | PathChoice::Striped) {
        check_sizes(tables, terms)?;
    }
    if topology.is_curtailed() && is_of_a_manager(topology) {
        let reason = "a fabric's own file numbers its ports and addresses as a whole";
        let hint = "take what is dead out of the file, or compute tables without it: `fabricsim routes --remove`";
        return Err(BuildError::field("fail", reason, Some(hint)));
    }
    let (mut subnet, lids) = fabric(topology)?;
    let dims = topology.lattice_shape().unwrap_or_default();
    let fit = |lmc: u8| {
        let (below, routers) = (tables.small_below.0 as u32, topology.n_routers());
        match (engine, &dims[..]) {
            (Some(RoutingEngine::Parx), &[x, y]) => by_quadrant(below, [x, y], routers),
            _ => BySize::first_or_others(below, routers, lmc),
        }
    };
    let (lanes, roots, lmc, seed, demands, torus) = match &tables.source {
        TableSource::Engine {
            lanes,
            roots,
            lmc,
            seed,
            demands,
            torus,
        } => (*lanes, roots, *lmc, *seed, demands, torus),
        TableSource::File(file) => {
            let read = from_file(file, &mut subnet, &lids)?;
            let choice = AddressChoice::new(tables.path, || fit(subnet.lmc));
            return PathTable::new(topology, &subnet, &read, choice).map(Arc::new);
        }
    };
    subnet.lmc = lmc;
    bounded(&subnet)?;
    let Some(engine) = engine else {
        let reason = "there is no engine \"table\"";
        let hint = "tables of a file are of the kind \"table\"";
        return Err(BuildError::field("routing.kind", reason, Some(hint)));
    };
    let options = Options {
        roots: roots.clone(),
        lanes,
        seed,
        dims: dims.clone(),
        torus: torus.as_ref().map(torus_of).transpose()?,
        parted: topology.is_curtailed(),
        threads: 1,
        demands: match demands.map(|demands| demands.from) {
            Some(DemandsFrom::Jobs) => PathDemands::Jobs(terms.demands.to_vec()),
            Some(DemandsFrom::None) => PathDemands::None,
            Some(DemandsFrom::Even) | None => PathDemands::Even,
        },
        demand_sums: match demands.map(|demands| demands.sums) {
            Some(SumsIn::Numbers) => DemandSums::Exact,
            Some(SumsIn::EightBits) | None => DemandSums::Modulo256,
        },
        ..Options::default()
    };
    // All that the tables are made of.
    let dead = || (0..topology.n_nodes()).filter(|&node| !topology.is_alive(node));
    let name = hash_words(format_args!(
        "{} {engine:?} {options:?} {subnet:?} {:?} {:?}",
        env!("CARGO_PKG_VERSION"),
        topology.wiring(),
        dead().collect::<Vec<u32>>()
    ));
    let choice = AddressChoice::new(tables.path, || fit(lmc));
    PathTable::named(name, choice.clone(), || {
        let made = route_what_is_left(engine, &subnet, &options, topology)?;
        PathTable::new(topology, &subnet, &made, choice)
    })
}

/// Tables of an engine by what is left: each piece by itself, since a subnet manager knows nothing of switches that no cables join to its own. Where
/// dimensions count all stay, since switches have their coordinates by number.
fn route_what_is_left(
    engine: RoutingEngine,
    subnet: &Subnet,
    options: &Options,
    topology: &Topology,
) -> Result<Tables, BuildError> {
    let routed = |subnet: &Subnet, options: &Options| {
        let refused = |error: RouteError| BuildError::field("routing.kind", error.reason, Some(&error.hint));
        route(engine, subnet, options).map_err(refused)
    };
    if !topology.is_curtailed() || matches!(engine, RoutingEngine::Parx | RoutingEngine::Torus2Qos) {
        return routed(subnet, options);
    }
    let mut pieces = faults::pieces(subnet);
    pieces.retain(|piece| piece.hosts.iter().any(|&host| topology.is_alive(host)));
    let place_of = |piece: &Remains, root| piece.switches.binary_search(root).ok().map(|place| place as u32);
    let is_alive = |root| pieces.iter().any(|piece| place_of(piece, root).is_some());
    if !options.roots.is_empty() && !options.roots.iter().any(is_alive) {
        let hint = "give some that are alive, or none";
        return Err(BuildError::field("routing.roots", "all of them are dead", Some(hint)));
    }
    let mut tables = Tables::empty(subnet);
    for piece in &pieces {
        let own = Options {
            roots: options.roots.iter().filter_map(|root| place_of(piece, root)).collect(),
            ..options.clone()
        };
        piece.add_to(&routed(&piece.subnet, &own)?, subnet, &mut tables);
    }
    Ok(tables)
}

/// Whether a network is read as a subnet manager has written it.
fn is_of_a_manager(topology: &Topology) -> bool {
    matches!(
        topology.spec(),
        TopologySpec::Graph(GraphSpec {
            format: GraphFormat::Ibnetdiscover,
            ..
        })
    )
}

/// The topology as a subnet manager sees it: with the ports and addresses of its file if that is `ibnetdiscover`'s.
fn fabric(topology: &Topology) -> Result<(Subnet, Lids), BuildError> {
    let TopologySpec::Graph(GraphSpec {
        file,
        format: GraphFormat::Ibnetdiscover,
        ..
    }) = topology.spec()
    else {
        let subnet = Subnet::of(topology);
        let lids = Lids::sequential(&subnet);
        return Ok((subnet, lids));
    };
    let refuse = |reason: String| BuildError::field("topology.file", format!("{file}: {reason}"), None);
    let text = std::fs::File::open(file).map_err(|error| refuse(error.to_string()))?;
    let found = ibnetdiscover::read(std::io::BufReader::new(text)).map_err(|mistakes| refuse(mistakes.to_string()))?;
    Ok((found.subnet, found.lids))
}

/// Bytes that a run's forwarding tables take while they are made, which is more than they take later: as an engine has them, 2 bytes for
/// the port of every router and address and 1 for the lane, and the form of the simulation beside them, 2 bytes.
pub fn table_bytes(routing: &RoutingSpec, topology: &Topology) -> f64 {
    let Some((_, tables)) = routing.tables() else {
        return 0.0;
    };
    let lmc = match tables.source {
        TableSource::Engine { lmc, .. } => lmc,
        TableSource::File(_) => 0,
    };
    f64::from(topology.n_routers()) * f64::from(topology.n_nodes()) * f64::from(1u32 << lmc) * 5.0
}

/// A router must see from a packet whether its message has others, and where that matters whether it is small.
fn check_sizes(tables: &TablesSpec, terms: &RoutingTerms<'_>) -> Result<(), BuildError> {
    let model = terms.router.named();
    if !model.tells_whole_messages(terms.router) {
        let reason = "with cumulative completion packets do not tell whether they are a whole message";
        let hint = "take path = \"round-robin\" or router.completion = \"whole\"";
        return Err(BuildError::field("routing.path", reason, Some(hint)));
    }
    let unit = model.unit(terms.nic).0;
    if tables.path == PathChoice::Striped || tables.small_below.0 <= unit + 1 {
        return Ok(());
    }
    let reason = format!(
        "messages of more than {unit} B travel in several packets, which do not tell the size of their message"
    );
    Err(BuildError::field(
        "routing.small_below",
        reason,
        Some("give at most a packet"),
    ))
}

/// Refuses tables that would not fit in memory.
fn bounded(subnet: &Subnet) -> Result<(), BuildError> {
    let (routers, addresses) = (
        u64::from(subnet.n_switches()),
        u64::from(subnet.n_hosts()) << subnet.lmc,
    );
    if routers * addresses <= MOST_ENTRIES {
        return Ok(());
    }
    let reason = format!(
        "tables of {routers} routers for {addresses} addresses have {} entries of 1 to 4 bytes, at most {MOST_ENTRIES} are kept",
        routers * addresses
    );
    let hint = "take a smaller routing.lmc or network, or a routing without tables, such as \"minimal\"";
    Err(BuildError::field("routing.kind", reason, Some(hint)))
}

/// PARX chooses addresses by the quadrants of source and destination.
fn by_quadrant(below: u32, dims: [u32; 2], n_routers: u32) -> BySize {
    let sets = |set: fn(Quadrants) -> [bool; 4]| {
        let pairs = (0..4).flat_map(|from| (0..4).map(move |to| choice(from, to)));
        pairs
            .map(|fit| (0..4).map(|path| u16::from(set(fit)[path]) << path).sum())
            .collect()
    };
    BySize {
        below,
        class_of: (0..n_routers).map(|router| quadrant(dims, router)).collect(),
        n_classes: 4,
        small: sets(|fit| fit.small),
        large: sets(|fit| fit.large),
    }
}

/// Tables of a file for the subnet, which gets the file's number of addresses.
fn from_file(file: &KnownFile, subnet: &mut Subnet, lids: &Lids) -> Result<Tables, BuildError> {
    let refuse = |reason: String, hint: &str| refuse_file("routing.file", file, &reason, hint);
    let bytes = file.bytes().map_err(|(reason, hint)| refuse(reason, hint))?;
    let mistakes = |mistakes: Mistakes| {
        refuse(
            mistakes.to_string(),
            "the tables must be made for this network, with all of its cables",
        )
    };
    if !bytes.starts_with(compact::MAGIC.as_bytes()) {
        bounded(subnet)?;
        let read = lft::read(bytes.as_slice(), subnet, lids);
        return Ok(read.map_err(mistakes)?.tables);
    }
    subnet.lmc = compact_lmc(&bytes).unwrap_or(0);
    if subnet.lmc > MOST_LMC {
        let reason = format!("its nodes have 2^{} addresses", subnet.lmc);
        return Err(refuse(reason, "at most 2^4 are simulated"));
    }
    bounded(subnet)?;
    Ok(compact::read(&bytes, subnet).map_err(mistakes)?.tables)
}

fn refuse_file(key: &str, file: &KnownFile, reason: &str, hint: &str) -> BuildError {
    BuildError::field(key, format!("{}: {reason}", file.path), Some(hint))
}

/// What a file says of a torus.
fn torus_of(file: &KnownFile) -> Result<TorusConf, BuildError> {
    let refuse = |reason: String, hint: &str| refuse_file("routing.torus", file, &reason, hint);
    let bytes = file.bytes().map_err(|(reason, hint)| refuse(reason, hint))?;
    let read = TorusConf::read(bytes.as_slice());
    read.map_err(|mistakes| refuse(mistakes.to_string(), "see torus-2QoS.conf(5)"))
}

/// The addresses per host that compact tables are for, as a power of two.
fn compact_lmc(bytes: &[u8]) -> Option<u8> {
    let header = bytes.split(|&byte| byte == b'\n').take(16);
    let line = header.filter_map(|line| line.strip_prefix(b"lmc ")).next()?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}
