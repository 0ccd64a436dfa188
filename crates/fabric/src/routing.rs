//! Routings: which output port and virtual channel a packet takes next.
//!
//! A routing reads the packet's head and the topology's questions; random choices are hashes of (seed, packet, place), so that they
//! are the same on every engine. [`Routing::next`] is called once per packet and router, except at the last one.
//!
//! All that is to be known of one routing is in the file of its name, as answers to the questions of `algorithm.rs`; the list below has a line
//! for each.

use crate::equipment::{RouterChannels, RouterSpec};
use crate::packet::{MAX_VCS, Packet};
use crate::plant::{Plant, Site};
use des::mix;
use des::rng::below;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::Path;
use study::diagnostic::Findings;
use study::owned::EntryKeys;
use study::reader::Values;
use study::{Entry, Family};
use topo::{Came, Hop, HopList, RoutingRule, Topology, TopologySpec};
use work::build_error::BuildError;

#[macro_use]
mod list;

mod adaptive_local;
mod adaptive_up;
mod algorithm;
mod booksim;
mod by_hops;
mod caminos;
mod choice;
mod classes;
mod codes;
mod d_mod_k;
mod dal;
mod deroute;
mod detour;
mod doal;
mod dor;
mod failures;
mod fits;
mod group_links;
mod in_common;
mod keys;
mod lattice_ways;
mod least;
mod least_hops;
mod merlin;
mod min_a;
mod min_adaptive;
mod min_random;
mod minimal;
pub(crate) mod news;
mod o1turn;
mod par;
mod polarized;
mod prelude;
mod proof;
mod rdr;
mod romm;
mod scatter;
mod sst_macro;
mod table;
mod table_source;
mod tables;
pub(crate) mod turns;
mod ugal;
mod valiant;
mod vdal;
mod weigh;

use algorithm::{Here, NamedRouting, ReadyRouting, entry};
pub use algorithm::{Offer, Way};
use classes::Classes;
use news::News;

pub use adaptive_local::RoomSpec;
pub use adaptive_up::SenseSpec;
pub use algorithm::{Detours, InTime, NoKeys, RoutingTerms, WithFailures};
pub use booksim::{BalanceSpec, OrderSpec};
pub use caminos::OmniSpec;
pub use choice::Equal;
use classes::of as networks_of;
pub use codes::{DallySpec, DfpSpec, PicksSpec};
pub use deroute::DerouteSpec;
pub use detour::{DetourSpec, Scope, Via};
pub use dor::{Tie, TieSpec};
pub use in_common::share_tables_in;
pub use keys::ALL as KEYS;
pub use least_hops::{TakeSpec, Taken};
pub use merlin::{KeepSpec, RatioSpec};
pub use min_a::EqualSpec;
pub use polarized::PenaltySpec;
pub use proof::Proof;
pub use sst_macro::{Draw, DrawSpec};
pub use table::PathTable;
pub use table_source::table_bytes;
pub use tables::{DemandsFrom, DemandsSpec, KnownFile, PathChoice, SumsIn, TableSource, TablesSpec};
pub use turns::COUNTER;
pub use valiant::ViaSpec;
pub use weigh::{Congestion, Per, Sense};

/// The routings: `routing.kind`.
pub static ROUTING: Family = Family {
    name: "routing",
    key: "routing.kind",
    by_name: false,
    groups: &[ENTRIES],
};

// The routings that a study can name, in the order of the documentation.
routings! {
    "dor" = dor::Dor,
    "minimal" = minimal::Minimal,
    "rdr" = rdr::Rdr,
    "min-random" = min_random::MinRandom,
    "min-a" = min_a::MinA,
    "valiant" = valiant::Valiant,
    "ugal" = ugal::Ugal,
    "par" = par::Par,
    "adaptive-local" = adaptive_local::AdaptiveLocal,
    "d-mod-k" = d_mod_k::DModK,
    "scatter" = scatter::Scatter,
    "adaptive-up" = adaptive_up::AdaptiveUp,
    "doal" = doal::Doal,
    "dal" = dal::Dal,
    "vdal" = vdal::Vdal,
    "minhop" = tables::MinHop,
    "updn" = tables::UpDown,
    "ftree" = tables::Ftree,
    "sssp" = tables::Sssp,
    "dfsssp" = tables::Dfsssp,
    "lash" = tables::Lash,
    "nue" = tables::Nue,
    "parx" = tables::Parx,
    "torus-2qos" = tables::Torus2Qos,
    "table" = tables::Table,
    "merlin-doal" = merlin::MerlinDoal,
    "merlin-vdal" = merlin::MerlinVdal,
    "merlin-valiant" = merlin::MerlinValiant,
    "merlin-minimal" = merlin::MerlinMinimal,
    "merlin-min-a" = merlin::MerlinMinA,
    "merlin-adaptive-local" = merlin::MerlinAdaptiveLocal,
    "merlin-ugal" = merlin::MerlinUgal,
    "merlin-adaptive-up" = merlin::MerlinAdaptiveUp,
    "codes-dally-minimal" = codes::CodesDallyMinimal,
    "codes-dally-par" = codes::CodesDallyPar,
    "codes-dfp-par" = codes::CodesDfpPar,
    "codes-fat-tree" = codes::CodesFatTree,
    "macro-scatter" = sst_macro::MacroScatter,
    "macro-minimal" = sst_macro::MacroMinimal,
    "macro-valiant" = sst_macro::MacroValiant,
    "macro-ugal" = sst_macro::MacroUgal,
    "macro-par" = sst_macro::MacroPar,
    "booksim-dim-order" = booksim::BooksimDimOrder,
    "booksim-valiant" = booksim::BooksimValiant,
    "booksim-romm" = booksim::BooksimRomm,
    "booksim-xy-yx" = booksim::BooksimXyYx,
    "booksim-anca" = booksim::BooksimAnca,
    "booksim-minimal" = booksim::BooksimMinimal,
    "booksim-ugal" = booksim::BooksimUgal,
    "caminos-shortest" = caminos::CaminosShortest,
    "caminos-valiant" = caminos::CaminosValiant,
    "caminos-omni" = caminos::CaminosOmni,
    "caminos-ugal" = caminos::CaminosUgal,
    "caminos-polarized" = caminos::CaminosPolarized,
    "romm" = romm::Romm,
    "o1turn" = o1turn::O1Turn,
    "least-hops" = least_hops::LeastHops,
    "polarized" = polarized::Polarized,
    "min-adaptive" = min_adaptive::MinAdaptive,
    "dnup" = tables::DownUp,
}

/// A routing, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    kind: Kind,
    /// Virtual channels that it needs for freedom from deadlock.
    needed: u8,
    /// The last virtual channel there is; higher ones are merged into it.
    last_vc: u8,
    /// It is the topology's own minimal routing.
    minimal: bool,
    /// It leads packets to the port of their node.
    to_the_node: bool,
    /// Sources draw a channel for each packet.
    draws_channels: bool,
    /// It wants to see what waits in the router.
    adaptive: bool,
    /// Something is to be looked at before its way is taken: what waits in the router, or what has changed in the network.
    asked_first: bool,
    /// Where packets look first can be told without that.
    looks_at_minimal: bool,
    /// What of it beside [`RouterModel::backlog`](crate::network::model::RouterModel::backlog).
    sense: Option<Sense>,
    /// What routers tell each other for it.
    news: Option<News>,
    /// Counters of a router.
    counters: u32,
    /// Virtual channels of the topology's own minimal routing.
    minimal_vcs: u8,
    /// Local output ports by router and destination node, on small networks where these alone decide; else empty.
    ways: Box<[u8]>,
    /// Destination nodes of them.
    nodes: u32,
    seed: u64,
    /// Messages of a node after which draws begin again; 0: never.
    draw_cycle: u32,
}

/// Most pairs of router and node whose ways are kept: they stay in a cache.
const MOST_WAYS: u64 = 1 << 16;

/// [`Routing::ways`] of the topology's own minimal routing on one channel.
fn ways_by_place(topology: &Topology) -> Box<[u8]> {
    let (routers, nodes) = (topology.n_routers(), topology.n_nodes());
    if !topology.has_one_port_by_place() || u64::from(routers) * u64::from(nodes) > MOST_WAYS {
        return Box::default();
    }
    let ways = (0..routers).flat_map(|router| {
        (0..nodes).map(move |node| match topology.minimal(router, node, Came::INJECTED, 0) {
            // Nobody asks.
            hop if hop.is_eject() => Some(0),
            hop => u8::try_from(hop.port).ok(),
        })
    });
    ways.collect::<Option<_>>().unwrap_or_default()
}

thread_local! {
    /// Candidates of the random routings; kept to spare allocations.
    static HOPS: RefCell<HopList> = RefCell::new(HopList::new());
}

/// Tells the keys of packets from the other numbers that are drawn from their identities.
const KEY: u64 = 0x6B65_795F_6F66_5F70;

/// Routing phase of a Valiant packet on its second leg.
const SECOND_LEG: u8 = 1;

impl Routing {
    /// Prepares the routing of a run.
    pub fn new(spec: &RoutingSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Routing, BuildError> {
        let one = Self::of_one_network(spec, terms, topology)?;
        match networks_of(terms) {
            1 => Ok(one),
            n => one.on_networks(n),
        }
    }

    fn of_one_network(
        spec: &RoutingSpec,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<Routing, BuildError> {
        let model = terms.router.named();
        if spec.is_adaptive()
            && let Some((reason, hint)) = model.refuses_adaptive_routing()
        {
            return algorithm::refuse(reason, hint);
        }
        failures::check(spec, topology)?;
        let kind = spec.ready(terms, topology)?;
        let asks = terms.router.pipeline.is_some_and(|pipeline| pipeline.outputs.is_some());
        if asks && (spec.is_adaptive() && !kind.ready().leaves_the_choice() || kind.ready().counters() > 0) {
            let reason = "routers with buffers per output channel choose among the ways that a routing offers, not by what it sees";
            let hint = "take a routing whose name begins with caminos-, or one that is blind to load";
            return Err(BuildError::field("routing.kind", reason, Some(hint)));
        }
        let of_messages = kind.ready().table().is_some_and(|table| table.draws_addresses());
        if terms.draw_cycle != 0 && (kind.ready().draws_by_time() || of_messages) {
            let reason = "this routing draws by the time, or an address for each message: its draws do not begin again";
            let hint = "leave run.draw_cycle out, or take another routing";
            return Err(BuildError::field("run.draw_cycle", reason, Some(hint)));
        }
        let needed = match proof::rings_move(terms.router, topology, kind.ready()) {
            true => 1,
            false => kind.ready().vcs(topology),
        };
        let kind_is_minimal = kind.ready().is_minimal();
        let one_channel = match model.channels() {
            RouterChannels::One => true,
            // Where no way depends on the name of a channel, packets need not carry one.
            RouterChannels::Names => kind_is_minimal && topology.has_one_port_by_place(),
            RouterChannels::AsNeeded | RouterChannels::InClasses => false,
        };
        let bounded = terms.router.has_bounded_buffers() && !one_channel;
        if needed > MAX_VCS && bounded && terms.router.vcs.is_none() {
            let reason =
                format!("freedom from deadlock takes {needed} virtual channels here, a port has at most {MAX_VCS}");
            let hint = "take a smaller network, or set router.vcs together with router.allow_deadlock = true";
            return Err(BuildError::field("routing.kind", reason, Some(hint)));
        }
        let shares = model.channels() == RouterChannels::InClasses && !kind.ready().takes_all_channels();
        let vcs = match terms.router.vcs {
            _ if one_channel => 1,
            Some(vcs) if shares => vcs.min(needed.max(1)),
            Some(vcs) => vcs,
            None => needed.min(MAX_VCS),
        };
        Ok(Routing {
            needed,
            last_vc: vcs - 1,
            minimal: kind_is_minimal,
            to_the_node: kind.ready().leads_to_the_node(),
            draws_channels: kind.ready().draws_channels(),
            adaptive: spec.is_adaptive(),
            asked_first: spec.is_adaptive(),
            looks_at_minimal: kind.ready().looks_at_the_minimal_way(),
            sense: kind.ready().sense(),
            news: kind.ready().news(),
            counters: kind.ready().counters(),
            kind,
            minimal_vcs: topology.minimal_vcs(),
            ways: match kind_is_minimal && vcs == 1 {
                true => ways_by_place(topology),
                false => Box::default(),
            },
            nodes: topology.n_nodes(),
            seed: mix(terms.seed ^ 0x526F_7574),
            draw_cycle: terms.draw_cycle,
        })
    }

    /// Virtual channels per port of a run, without the work of an engine: as many as its lanes where only the tables would tell.
    pub fn vcs_of(spec: &RoutingSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<u8, BuildError> {
        match spec.tables().map(|(_, tables)| &tables.source) {
            Some(TableSource::Engine { lanes, .. }) => {
                Ok(terms.router.vcs.unwrap_or(*lanes).saturating_mul(networks_of(terms)))
            }
            _ => {
                let routing = Routing::new(spec, terms, topology)?;
                Ok(match terms.router.named().channels() {
                    RouterChannels::InClasses => routing.channels(terms.router),
                    RouterChannels::AsNeeded | RouterChannels::One | RouterChannels::Names => routing.vcs(),
                })
            }
        }
    }

    /// Decides whether the run can deadlock.
    pub fn prove(&self, router: &RouterSpec, topology: &Topology) -> Proof {
        let (one, networks) = self.of_one();
        let kind = one.kind.ready();
        // What files hold and what has failed is not in these words, but in the names of tables.
        let is_told = match kind.table() {
            Some(table) => table.is_named(),
            None => !topology.spec().is_graph() && !topology.is_curtailed(),
        };
        let told = || {
            format!(
                "{router:?} {:?} {:?} {:?} {}",
                topology.spec(),
                topology.tie(),
                one.kind,
                one.needed
            )
        };
        let prove = || proof::prove(router, topology, kind, one.needed);
        let mut proof = match is_told {
            true => proof::remembered(told(), prove),
            false => prove(),
        };
        if networks > 1 {
            proof.words += &format!("; {networks} virtual networks with as many channels each");
        }
        proof
    }

    /// All ways that a packet may take, each step as likely as the others there are; `None` where the routing's rule is not about whole
    /// ways of packets: parts of detours, or an escape channel.
    pub fn rule<'t>(&self, topology: &'t Topology) -> Option<Box<dyn RoutingRule + 't>> {
        let (one, _) = self.of_one();
        let kind = one.kind.ready();
        let rule = kind.rule(topology, one.vcs());
        (!rule.starts_anywhere() && !kind.escapes()).then_some(rule)
    }

    /// `true` if it looks at the topology's wiring, also where the family answers by arithmetic.
    pub fn asks_for_cables(&self) -> bool {
        self.kind.ready().asks_for_cables()
    }

    /// `true` for the topology's own minimal routing.
    pub fn is_minimal(&self) -> bool {
        self.minimal
    }

    /// `true` if its ways may depend on the time or on the numbers of messages.
    pub fn draws(&self, topology: &Topology) -> bool {
        self.kind.ready().draws(topology)
    }

    /// After how many messages of a node its draws begin again; `None` if never.
    pub fn draw_cycle(&self) -> Option<u32> {
        (self.draw_cycle != 0).then_some(self.draw_cycle)
    }

    /// `true` if the routing wants to see what waits in the router: it is asked by [`Routing::adaptive`].
    #[inline(always)]
    pub fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    /// `true` if it is adaptive, or the network changes while the run goes on.
    #[inline(always)]
    pub fn is_asked_first(&self) -> bool {
        self.asked_first
    }

    /// The same for a network that changes, if it does.
    #[must_use]
    pub(crate) fn asked_first(self, changes: bool) -> Routing {
        Routing {
            asked_first: self.asked_first || changes,
            looks_at_minimal: self.looks_at_minimal && !changes,
            ..self
        }
    }

    /// `true` if nobody can tell without asking where a packet looks first.
    #[inline(always)]
    pub(crate) fn is_beyond_telling(&self) -> bool {
        self.asked_first && !self.looks_at_minimal
    }

    /// The ports (first, how many) that a packet looks at first which is not at its last router, of a routing that is asked first; none where that takes long to tell.
    #[inline(always)]
    pub(crate) fn first_look(&self, topology: &Topology, site: &Site, packet: &Packet) -> (u32, u32) {
        if packet.phase() > SECOND_LEG {
            return (0, 0);
        }
        let hop = topology.minimal_by(site.router, packet.destination(), came(site, packet), || {
            self.key(packet)
        });
        (hop.port.into(), hop.links.into())
    }

    /// Virtual channels that keep a routing free of deadlock on a network.
    pub(crate) fn needed_on(
        spec: &RoutingSpec,
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<u8, BuildError> {
        Self::of_one_network(spec, terms, topology).map(|routing| routing.needed)
    }

    /// All that a packet of one virtual network may do, on the network that it was made for.
    pub(crate) fn rule_on<'t>(&self, topology: &'t Topology) -> Box<dyn RoutingRule + 't> {
        let (one, _) = self.of_one();
        one.kind.ready().rule(topology, one.vcs())
    }

    /// The same for packets whose ways change; `None` where their states are too many.
    pub(crate) fn rule_in_time<'t>(&self, topology: &'t Topology) -> Option<Box<dyn RoutingRule + 't>> {
        let (one, _) = self.of_one();
        match one.kind.ready().legs(topology, one.vcs()) {
            Some(legs) => Some(Box::new(legs.in_time()?)),
            None => Some(self.rule_on(topology)),
        }
    }

    /// `true` if it leads packets to the very port of their node: it is asked at their last router, too, and says when they are there.
    #[inline(always)]
    pub fn leads_to_the_node(&self) -> bool {
        self.to_the_node
    }

    /// What the routing wants to see of a port beside [`RouterModel::backlog`](crate::network::model::RouterModel::backlog); `None`: just that.
    #[inline(always)]
    pub fn sense(&self) -> Option<Sense> {
        self.sense
    }

    /// What routers tell each other for it, if they do.
    #[inline(always)]
    pub fn news(&self) -> Option<News> {
        self.news
    }

    /// Counters that each router has for it.
    #[inline(always)]
    pub fn counters(&self) -> u32 {
        self.counters
    }

    /// The forwarding tables, if it has such.
    pub fn table(&self) -> Option<&PathTable> {
        self.kind.ready().table().map(|table| &**table)
    }

    /// `true` if it reads the number of a message, so that also messages of one packet must have one.
    pub fn numbers_messages(&self) -> bool {
        self.draw_cycle != 0 || self.table().is_some_and(PathTable::numbers_messages)
    }

    /// The next output port of a packet that is not at its last router, by minimal routing on one virtual channel.
    #[inline(always)]
    pub fn next_minimal(&self, net: &Plant, site: &Site, packet: &Packet) -> u32 {
        if let Some((port, links)) = net.topology.direct(site.coordinates, packet.destination()) {
            return self.one_of(site, port, links, packet);
        }
        self.minimal_by_way(net, site, *packet).port()
    }

    /// `true` for the first channel of a virtual network.
    pub fn is_first(&self, vc: u8) -> bool {
        vc.is_multiple_of(self.of_one().0.vcs())
    }

    /// Virtual channels per port.
    pub fn vcs(&self) -> u8 {
        self.last_vc + 1
    }

    /// Virtual channels per port of a router where those that the routing needs are classes of channels.
    pub fn channels(&self, router: &RouterSpec) -> u8 {
        let (one, networks) = self.of_one();
        let own = router.vcs.unwrap_or(1).max(one.vcs());
        own.saturating_mul(networks).min(MAX_VCS)
    }

    /// The channel that the source of a packet draws among so many, if it waits for one whatever is free.
    pub fn drawn_channel(&self, packet: &Packet, channels: u32) -> Option<u32> {
        let draw = || below(mix(self.seed ^ mix(self.identity(packet))), channels.into()) as u32;
        self.draws_channels.then(draw)
    }

    /// Virtual networks.
    pub fn networks(&self) -> u8 {
        self.of_one().1
    }

    /// Virtual channels of a virtual network that packets use; `None` where that is all of them.
    pub fn acting_vcs(&self) -> Option<u8> {
        let one = self.of_one().0;
        (!one.kind.ready().takes_all_channels() && one.vcs() > one.needed).then_some(one.needed)
    }

    /// The next output of a packet that is not at its last router: (local port, virtual channel, phase).
    #[inline(always)]
    pub fn next(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        if self.minimal {
            return self.minimal(net, site, packet);
        }
        self.blindly(net, site, packet)
    }

    #[inline(always)]
    fn here<'a>(&'a self, net: &'a Plant, site: &'a Site, packet: &'a Packet) -> Here<'a> {
        let routing = self;
        Here {
            routing,
            net,
            site,
            packet,
        }
    }

    /// The same for all but minimal routing; an adaptive one is as on an idle router.
    #[inline(never)]
    fn blindly(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        match &self.kind {
            Kind::Classes(classes) => classes.blindly(net, site, packet),
            // Nothing waits, and turns are as likely as each other.
            kind => kind.next(self.here(net, site, packet), |local, _| match local >= COUNTER {
                true => mix(self.seed ^ self.moment(packet, site.router) ^ self.identity(packet)) >> 32,
                false => 0,
            }),
        }
    }

    /// The next output of a packet that is not at its last router, (local port, virtual channel, phase), by what waits:
    /// `backlog(local port, virtual channel)`, in the units of [`Routing::sense`].
    #[inline(always)]
    pub fn adaptive(&self, net: &Plant, site: &Site, packet: &Packet, backlog: impl FnMut(u32, u8) -> u64) -> Way {
        self.kind.next(self.here(net, site, packet), backlog)
    }

    /// [`Routing::adaptive`], compiled once for all that ask so.
    #[inline(never)]
    pub fn adaptive_by(
        &self,
        net: &Plant,
        site: &Site,
        packet: &Packet,
        backlog: &mut dyn FnMut(u32, u8) -> u64,
    ) -> Way {
        self.adaptive(net, site, packet, backlog)
    }

    /// All ways that a packet which is not at its last router may ask for, added to `out`, where routers let it ask for several.
    pub fn offers(&self, net: &Plant, site: &Site, packet: &Packet, out: &mut Vec<Offer>) {
        self.kind.offers(self.here(net, site, packet), out);
    }

    /// The topology's own minimal routing.
    #[inline(always)]
    fn minimal(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        if let Some((port, links)) = net.topology.direct(site.coordinates, packet.destination()) {
            return Way::new(self.one_of(site, port, links, packet), 0, 0);
        }
        self.minimal_by_way(net, site, *packet)
    }

    /// The same where the next hop depends on how the packet came or on its identity.
    ///
    /// Takes the packet by value: a reference would keep it in memory on the way of [`Topology::direct`] too.
    #[inline(never)]
    fn minimal_by_way(&self, net: &Plant, site: &Site, packet: Packet) -> Way {
        let packet = &packet;
        let hop = net
            .topology
            .over_spines(site.router, packet.destination(), || self.key(packet));
        if let Some((port, links)) = hop {
            return Way::new(self.one_of(site, port, links, packet), 0, 0);
        }
        let place = site.router as usize * self.nodes as usize + packet.destination() as usize;
        if let Some(&port) = self.ways.get(place) {
            return Way::new(port.into(), 0, 0);
        }
        let hop = net
            .topology
            .minimal_by(site.router, packet.destination(), came(site, packet), || {
                self.key(packet)
            });
        Way::new(self.cable(site, hop, packet), hop.vc.min(self.last_vc), 0)
    }

    /// What a packet's draws go by that are the same on all of its way: of all packets another number, or of those that a cycle begins again with the
    /// same; to be mixed before any bits of it are chosen.
    #[inline(always)]
    fn identity(&self, packet: &Packet) -> u64 {
        match self.draw_cycle {
            0 => packet.identity(),
            cycle => packet.identity_in_turn(cycle),
        }
    }

    /// What its draws go by that are others at every router, and without a cycle every time.
    #[inline(always)]
    fn moment(&self, packet: &Packet, router: u32) -> u64 {
        match self.draw_cycle {
            0 => packet.moment(router),
            // Draws go by the exclusive-or of both, or by this alone.
            cycle => mix(packet.identity_in_turn(cycle) ^ u64::from(packet.hops())) ^ u64::from(router) << 32,
        }
    }

    /// By what the topology chooses among ways that are as good as each other: the same at every router, all 32 bits random from packet
    /// to packet.
    #[inline(always)]
    fn key(&self, packet: &Packet) -> u32 {
        (mix(self.seed ^ KEY ^ self.identity(packet)) >> 32) as u32
    }

    /// The channel that counts the hops.
    #[inline(always)]
    fn channel_of_hops(&self, packet: &Packet) -> u8 {
        packet.hops().min(u32::from(self.last_vc)) as u8
    }

    /// One of the parallel cables of a hop, drawn anew for every packet, router and time.
    #[inline(always)]
    fn cable(&self, site: &Site, hop: Hop, packet: &Packet) -> u32 {
        self.one_of(site, u32::from(hop.port), u32::from(hop.links), packet)
    }

    #[inline(always)]
    fn one_of(&self, site: &Site, first: u32, links: u32, packet: &Packet) -> u32 {
        if links == 1 {
            return first;
        }
        first + below(mix(self.seed ^ self.moment(packet, site.router)), u64::from(links)) as u32
    }
}

/// No hop: the packet would be at its target, which the caller of a routing has excluded.
const NO_HOP: Hop = Hop {
    port: 0,
    links: 1,
    dim: 0,
    vc: 0,
};

/// How a packet came to its router, in the topology's words.
#[inline(always)]
fn came(site: &Site, packet: &Packet) -> Came {
    let port = packet.port();
    if port < site.net {
        Came { port, vc: packet.vc() }
    } else {
        Came::INJECTED
    }
}
