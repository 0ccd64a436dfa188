//! The routings by forwarding tables: `minhop`, `updn`, `ftree`, `sssp`, `dfsssp`, `lash`, `nue`, `parx` and `torus-2qos`, whose tables an engine of a
//! subnet manager makes, and `table`, whose tables are in a file.
//!
//! All read the same keys and run as a [`PathTable`]; each is one item here.

use super::keys::{DEMAND_SUMS, DEMANDS, FILE, LANES, LMC, PATH, ROOTS, SEED, SMALL_BELOW};
use super::prelude::*;
use super::table::{PathTable, TableRule};
use super::table_source;
use std::sync::Arc;
use study::choice;
use study::user_file::hash_bytes;
use study::user_file::read_bytes;
use study::{Bytes, Default, Type, key};
use topo::subnet::torus::TorusConf;
use topo::subnet::{LevelMap, RoutingEngine};

/// What is known of a routing by tables.
trait ByTables {
    const LINE: &'static str;
    const SOURCE: &'static str = "";
    const LIMITS: &'static str = "";
    const FITS: Fits = Fits::ALL;
    const KEYS: &'static [Parameter];
    /// What makes the tables; `None`: they are in a file.
    const ENGINE: Option<RoutingEngine>;
    /// Addresses of a node, as a power of two, without the key.
    const OWN_LMC: u8 = 0;
    /// Whether a packet can go on by the tables of another network: its way depends on nothing but router, address and lane.
    const GOES_ON: bool = Self::ENGINE.is_some();
}

/// `minhop`.
pub struct MinHop;

impl ByTables for MinHop {
    const LINE: &'static str =
        "Minimal hops; among minimal ports the one with the fewest addresses so far, lowest number first.";
    const SOURCE: &'static str = "OpenSM, minhop";
    const LIMITS: &'static str =
        "Balances each router for itself: whole levels may be left idle. Can deadlock on rings and HyperX.";
    const KEYS: &'static [Parameter] = &[LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::MinHop);
}

/// `updn`.
pub struct UpDown;

impl ByTables for UpDown {
    const LINE: &'static str =
        "Up*/down*: up towards the roots, then down, never up again; among legal minimal ports as minhop.";
    const SOURCE: &'static str = "Schroeder et al. 1991; OpenSM, updn";
    const LIMITS: &'static str = "Traffic gathers around the roots.";
    const KEYS: &'static [Parameter] = &[ROOTS, LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::UpDown);
}

/// `dnup`.
pub struct DownUp;

impl ByTables for DownUp {
    const LINE: &'static str =
        "As updn with ranks that count from the routers with nodes: no way towards nodes, then away from them.";
    const SOURCE: &'static str = "OpenSM, dnup";
    const LIMITS: &'static str =
        "Can deadlock where routers of equal rank are joined; where all routers have nodes it is minhop.";
    const KEYS: &'static [Parameter] = &[LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::DownUp);
}

/// `ftree`.
pub struct Ftree;

impl ByTables for Ftree {
    const LINE: &'static str =
        "Fat-tree routing: hosts dealt over the ways up so that shifts of all nodes meet little.";
    const SOURCE: &'static str = "Zahavi, Johnson, Kerbyson and Lang 2010; OpenSM, ftree";
    const LIMITS: &'static str = "; one address per node.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]).or_graphs("s, also of files");
    const KEYS: &'static [Parameter] = &[ROOTS, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Ftree);
}

/// `sssp`.
pub struct Sssp;

impl ByTables for Sssp {
    const LINE: &'static str =
        "Shortest paths by Dijkstra, each destination adding the paths it takes to the weights of their cables.";
    const SOURCE: &'static str = "Hoefler, Schneider and Lumsdaine 2009; OpenSM, sssp";
    const LIMITS: &'static str = "Can deadlock on rings and HyperX.";
    const KEYS: &'static [Parameter] = &[LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Sssp);
}

/// `dfsssp`.
pub struct Dfsssp;

impl ByTables for Dfsssp {
    const LINE: &'static str = "SSSP, its paths spread over virtual lanes without a cycle in any.";
    const SOURCE: &'static str = "Domke, Hoefler and Nagel 2011; OpenSM, dfsssp";
    const KEYS: &'static [Parameter] = &[LANES, LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Dfsssp);
}

/// `lash`.
pub struct Lash;

impl ByTables for Lash {
    const LINE: &'static str =
        "One minimal path per pair of routers, pairs put on the first lane where no cycle arises.";
    const SOURCE: &'static str = "Lysne et al. 2006; OpenSM, lash";
    const LIMITS: &'static str = "All nodes of a router share their path.";
    const KEYS: &'static [Parameter] = &[LANES, LMC, SEED, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Lash);
}

/// `nue`.
pub struct Nue;

impl ByTables for Nue {
    const LINE: &'static str =
        "Few hops on the lanes that there are, from one: a path is laid only where it closes no cycle.";
    const SOURCE: &'static str = "Domke, Hoefler and Matsuoka 2016";
    const LIMITS: &'static str = "Detours where lanes are few.";
    const KEYS: &'static [Parameter] = &[LANES, LMC, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Nue);
}

/// `parx`.
pub struct Parx;

impl ByTables for Parx {
    const LINE: &'static str =
        "Four addresses per node with paths that leave out one half of the network each; messages choose by size.";
    const SOURCE: &'static str = "Domke et al. 2019, PARX; OpenSM 3.3.21 with its patches (2019)";
    const LIMITS: &'static str = "Demands are those of MPI ranks; jobs without any count as none. As many lanes as freedom from deadlock needs, where the program has four.";
    const FITS: Fits = Fits::only(&[TopologyKind::HyperX]).which(" of two dimensions", has_quadrants);
    const KEYS: &'static [Parameter] = &[LANES, PATH.or("by-size"), SMALL_BELOW, DEMANDS, DEMAND_SUMS];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Parx);
    const OWN_LMC: u8 = 2;
    /// Not every address has a way everywhere.
    const GOES_ON: bool = false;
}

/// OpenSM's file for `torus-2qos`.
const TORUS: Parameter = key(
    "torus",
    Type::Text,
    Default::From("none: by the numbers of the routers of a torus or mesh, by the cables of a graph"),
    "Path of a torus-2QoS.conf, relative to the study's folder: which routers have which coordinates, by their GUIDs.",
);

/// `torus-2qos`.
pub struct Torus2Qos;

impl ByTables for Torus2Qos {
    const LINE: &'static str = "Dimension order on two lanes, by whether a path crosses a dateline; round broken rings, and one dead router on four lanes.";
    const SOURCE: &'static str = "OpenSM, torus-2QoS(8)";
    const LIMITS: &'static str = "One level of service. Rings that fall in pieces are refused, and dead routers side by side in another dimension than the last.";
    const FITS: Fits = Fits::only(&[TopologyKind::Torus, TopologyKind::Mesh])
        .which(" of at most three dimensions", has_few_dimensions)
        .or_graphs(", also as graphs of files");
    const KEYS: &'static [Parameter] = &[LANES, LMC, PATH, SMALL_BELOW, TORUS];
    const ENGINE: Option<RoutingEngine> = Some(RoutingEngine::Torus2Qos);
    /// Lanes are by the router that a packet has come from first.
    const GOES_ON: bool = false;
}

/// Whether levels of service have a bit for every dimension.
fn has_few_dimensions(topology: &TopologySpec) -> bool {
    match topology {
        TopologySpec::Torus(lattice) | TopologySpec::Mesh(lattice) => {
            lattice.shape.iter().filter(|&&size| size > 1).count() <= usize::from(LevelMap::DIMENSIONS)
        }
        _ => false,
    }
}

/// `table`.
pub struct Table;

impl ByTables for Table {
    const LINE: &'static str = "Forwarding tables from a file.";
    const LIMITS: &'static str = "Read for one network, refused for others.";
    const KEYS: &'static [Parameter] = &[FILE, PATH, SMALL_BELOW];
    const ENGINE: Option<RoutingEngine> = None;
}

/// Whether a HyperX falls into quadrants.
fn has_quadrants(topology: &TopologySpec) -> bool {
    match topology {
        TopologySpec::HyperX(lattice) => lattice.shape.len() == 2 && lattice.shape.iter().all(|&extent| extent >= 2),
        _ => false,
    }
}

/// Forwarding tables and how a message chooses among a node's addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesSpec {
    /// Where the tables come from.
    pub source: TableSource,
    /// Which of the addresses of its destination a message is sent to.
    pub path: PathChoice,
    /// Messages of fewer bytes are small; `by-size` only.
    pub small_below: Bytes,
}

/// Where forwarding tables come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableSource {
    /// An engine computes them from the topology.
    Engine {
        /// Virtual lanes that it may use, 1 to 15.
        lanes: u8,
        /// Root routers of up/down and fat-tree routing; empty: found from the topology.
        roots: Vec<u32>,
        /// Each node has `2^lmc` addresses, 0 to 4.
        lmc: u8,
        /// Seed of the engine's own random choices.
        seed: u64,
        /// By what paths weigh that is sent, for engines that ask for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        demands: Option<DemandsSpec>,
        /// What tells the coordinates of routers, for `torus-2qos`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torus: Option<KnownFile>,
    },
    /// A file: compact tables, or a dump of linear forwarding tables.
    File(KnownFile),
}

/// A file that a run knows again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Its path, as resolved against the study's folder.
    pub path: String,
    /// SHA-256 of its bytes when the study was read.
    pub sha256: String,
}

impl KnownFile {
    /// What it holds. `Err`: a reason and a hint.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, (String, &'static str)> {
        let read = std::fs::read(&self.path);
        let bytes = read.map_err(|error| (error.to_string(), "give a file that can be read"))?;
        match hash_bytes(&bytes) == self.sha256 {
            true => Ok(bytes),
            false => Err((
                "it is not what it was when the study was read".to_owned(),
                "read the study again",
            )),
        }
    }
}

/// By what paths weigh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemandsSpec {
    /// What tells who sends to whom.
    pub from: DemandsFrom,
    /// How demands of the nodes of a router add up.
    pub sums: SumsIn,
}

choice! {
    /// What tells who sends to whom.
    pub enum DemandsFrom {
        Jobs = "jobs", "The messages of the jobs' MPI ranks, those of collectives among them; where nothing is sent parx is plain dfsssp.";
        Even = "even", "Nothing: the rules of parx hold, and all paths count alike.";
        None = "none", "Nothing: parx is plain dfsssp with four equal addresses.";
    }
}

choice! {
    /// How demands of the nodes of a router add up.
    pub enum SumsIn {
        EightBits = "modulo-256", "In eight bits, as in the program: 255 and 1 are 0.";
        Numbers = "exact", "As numbers do.";
    }
}

choice! {
    /// Which of several paths to its destination a message takes; all its packets take the same, but those of striped ones.
    pub enum PathChoice {
        First = "first", "That of its destination's first address.";
        Random = "random", "A random one.";
        RoundRobin = "round-robin", "One after the other, by the message's number at its source.";
        Striped = "striped", "One after the other, by the message's number at its source; packets of a message of several go over all of them in turn, so that each has an equal share.";
        BySize = "by-size", "Short messages the first, long ones a random other; parx: by the quadrants of source and destination.";
    }
}

impl<T: ByTables> NamedRouting for T {
    const LINE: &'static str = <T as ByTables>::LINE;
    const SOURCE: &'static str = <T as ByTables>::SOURCE;
    const LIMITS: &'static str = <T as ByTables>::LIMITS;
    const FITS: Fits = <T as ByTables>::FITS;
    const KEYS: &'static [Parameter] = <T as ByTables>::KEYS;
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = true;
    /// An engine has what is left before it, a file the ports of all.
    const WITH_FAILURES: WithFailures = match T::ENGINE {
        Some(_) => WithFailures::GoesRound,
        None => WithFailures::NeedsAll,
    };

    type Parameters = TablesSpec;
    type Ready = Arc<PathTable>;

    fn read(keys: &OwnValues, findings: &mut Findings) -> Option<TablesSpec> {
        let source = match T::ENGINE {
            None => file(keys, findings)?,
            Some(_) => TableSource::Engine {
                lanes: if keys.has("lanes") { keys.small("lanes") } else { 1 },
                roots: keys.values.integers_u32("roots"),
                lmc: if keys.has("lmc") { keys.small("lmc") } else { T::OWN_LMC },
                seed: keys.values.integer_or_default("seed"),
                demands: keys.has("demands").then(|| DemandsSpec {
                    from: keys.choice("demands"),
                    sums: keys.choice("demand_sums"),
                }),
                torus: keys.has("torus").then(|| torus(keys, findings)).flatten(),
            },
        };
        let path = keys.choice("path");
        if keys.values.given("small_below") && path != PathChoice::BySize {
            let hint = "remove the key, or set routing.path = \"by-size\"";
            findings.error(
                keys.values.place("small_below"),
                "routing.small_below",
                "has a meaning with routing.path = \"by-size\" only",
                hint,
            );
            return None;
        }
        Some(TablesSpec {
            source,
            path,
            small_below: Bytes(keys.quantity("small_below")),
        })
    }

    fn ready(
        parameters: &TablesSpec,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Arc<PathTable>, BuildError> {
        table_source::table(T::ENGINE, parameters, terms, topology)
    }

    /// With several addresses its phase says which one a packet is sent to.
    fn in_time(parameters: &TablesSpec) -> InTime {
        match parameters.source {
            TableSource::Engine { lmc: 0, .. } if T::GOES_ON => InTime::GoOn,
            TableSource::Engine { .. } if T::GOES_ON => InTime::GoOnInLegs(1),
            _ => InTime::KeepTheirWays,
        }
    }

    fn tables(parameters: &TablesSpec) -> Option<&TablesSpec> {
        Some(parameters)
    }

    fn by_tables(tables: TablesSpec) -> Option<TablesSpec> {
        Some(tables)
    }
}

impl ReadyRouting for Arc<PathTable> {
    fn vcs(&self, _: &Topology) -> u8 {
        self.n_lanes()
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(TableRule::new(topology, self.clone(), vcs))
    }

    #[inline]
    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        here.routing.by_table(self, here.net, here.site, here.packet)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }

    fn table(&self) -> Option<&Arc<PathTable>> {
        Some(self)
    }

    fn draws(&self, _: &Topology) -> bool {
        self.draws_addresses()
    }
}

/// The tables' file.
fn file(keys: &OwnValues, findings: &mut Findings) -> Option<TableSource> {
    if keys.values.text("file").is_none() {
        let hint = "give a file that `fabricsim routes ... --out DIR` has written, or a dump of forwarding tables";
        findings.error(keys.values.place("file"), "routing.file", "is missing", hint);
        return None;
    }
    known_file("file", keys, findings).map(|(file, _)| TableSource::File(file))
}

/// The file that tells a torus, if there is one.
fn torus(keys: &OwnValues, findings: &mut Findings) -> Option<KnownFile> {
    keys.values.text("torus")?;
    let (file, bytes) = known_file("torus", keys, findings)?;
    let place = keys.values.place("torus");
    match TorusConf::read(bytes.as_slice()) {
        Ok(conf) => {
            for note in conf.notes {
                findings.warning(place, "routing.torus", note, "see torus-2QoS.conf(5)");
            }
        }
        Err(mistakes) => {
            for mistake in mistakes.list {
                let reason = format!("{}, line {}: {}", file.path, mistake.line, mistake.reason);
                findings.error(place, "routing.torus", reason, mistake.hint);
            }
        }
    }
    Some(file)
}

/// A file's place and what it has now, so that a run knows it again, with its bytes.
fn known_file(key: &str, keys: &OwnValues, findings: &mut Findings) -> Option<(KnownFile, Vec<u8>)> {
    let mut refuse = |reason: String, hint: &str| {
        findings.error(keys.values.place(key), &format!("routing.{key}"), reason, hint);
        None
    };
    let file = keys.values.text(key)?;
    let bytes = match read_bytes(keys.base, file) {
        Ok(bytes) => bytes,
        Err((reason, hint)) => return refuse(reason, &hint),
    };
    match keys.base.join(file).to_str() {
        Some(path) => {
            let known = KnownFile {
                path: path.to_owned(),
                sha256: hash_bytes(&bytes),
            };
            Some((known, bytes))
        }
        None => refuse(
            "the folder's name is not UTF-8 text".to_owned(),
            "use folder names of printable text",
        ),
    }
}
