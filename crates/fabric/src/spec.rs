//! The typed, complete description of one run. A result is a function of this value alone.
//!
//! Downstream code trusts a [`RunSpec`]: quantities are typed, defaults filled in, presets expanded. It is composed of what equipment,
//! routings and works say of themselves; how it is read from a study is the affair of the crate `vocabulary`.

mod outage;
mod plain;

pub use crate::routing::RoutingTerms;
use des::Time;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use study::choice;
use topo::bill::CostSpec;
use topo::{FailSpec, Failed, FieldError, Topology, TopologySpec};
use work::build_error::BuildError;
use work::terms::WorkTerms;
use work::workload::spec::rails_of;

pub use crate::equipment::*;
pub use crate::routing::{
    Congestion, DallySpec, DemandsFrom, DemandsSpec, DerouteSpec, DetourSpec, DfpSpec, Draw, DrawSpec, Equal,
    EqualSpec, InTime, KeepSpec, KnownFile, NoKeys, OmniSpec, PathChoice, PenaltySpec, Per, PicksSpec, RatioSpec,
    RoomSpec, RoutingSpec, Scope, SenseSpec, SumsIn, TableSource, TablesSpec, TakeSpec, Taken, Tie, TieSpec, Via,
    ViaSpec,
};
pub use outage::{Outage, OutagesSpec, Reroute, in_outage};
pub use plain::plain;
pub use study::{BitsPerSec, Bytes};
pub use work::memory::spec::{
    AccessPattern, CleanWritebacks, Evict, Instructions, InterfaceUse, ListedAccess, MOST_ACCESSES, Memory,
    NodeArrangement, OwnNode, Pages, Split, Trace, TraceFile, WritebackAnswers,
};
pub use work::mpi::spec::{Mapping, Motif, MotifValue, MpiSpec, Part, RailPolicy, Rails, Ranks, Rendezvous, Start};
pub use work::placement::Placement;
pub use work::workload::spec::{JobSpec, ListedMessage, Synthetic, Work};
pub use work::workload::{Matching, PairMode, Pairs, Pattern, Process};

/// One run: a point of the study's sweep with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Name of the study.
    pub study: String,
    /// Name of the experiment within the study; empty if the study has only one.
    pub experiment: String,
    /// The swept keys of this run and their values as written in the study, in sweep order.
    pub sweep: Vec<(String, String)>,
    /// The network's shape.
    pub topology: TopologySpec,
    /// Bandwidth and latency per link class.
    pub links: Links,
    /// The router model and its timing.
    pub router: RouterSpec,
    /// How packets find their way.
    pub routing: RoutingSpec,
    /// The network interface of every node.
    pub nic: NicSpec,
    /// What has failed; a canonical text leaves it out where nothing has.
    #[serde(default, skip_serializing_if = "FailSpec::is_empty")]
    pub fail: FailSpec,
    /// What fails while it goes on; a canonical text leaves it out where nothing does.
    #[serde(default, skip_serializing_if = "OutagesSpec::is_empty")]
    pub outages: OutagesSpec,
    /// The work: at least one job.
    pub jobs: Vec<JobSpec>,
    /// What is recorded beside the summary.
    pub observe: ObserveSpec,
    /// Prices, powers and racks; without them nothing is reckoned, and a canonical text leaves them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostSpec>,
    /// Seed, length and engine.
    pub control: RunControl,
}

/// What is recorded beside the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserveSpec {
    /// Per-link loads.
    pub links: bool,
    /// How much of every message is kept.
    pub messages: MessageDetail,
    /// Timeline of accepted load and latency.
    pub timeline: bool,
    /// A row per MPI rank; left out of the canonical text where it is off, as in runs without ranks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ranks: bool,
    /// A row per operation of every MPI rank, and one for each of its waits; left out of the canonical text where it is off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operations: bool,
    /// How long every link was busy in windows of this length; left out of the canonical text where it is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_every: Option<Time>,
}

impl ObserveSpec {
    /// Whether what happens is recorded by when it does, and not in sums alone.
    pub fn over_time(&self) -> bool {
        self.messages == MessageDetail::Full || self.links_every.is_some()
    }
}

/// How much of every message is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageDetail {
    /// Only sums and the latency histogram.
    Summary,
    /// A row per message.
    Full,
}

/// Seed, length and engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunControl {
    /// Seed of every random draw.
    pub seed: u64,
    /// Sources stop here; `None`: run until the work is done (only without endless sources).
    pub end: Option<Time>,
    /// Messages born before this time do not count; `None`: found by measurement (open loop) or zero.
    pub warmup: Option<Time>,
    /// After `end`, measured messages may take this much longer to arrive; `None` is as long again as `end`, or
    /// not at all if the network has kept up with none of its jobs and their sources would go on.
    pub drain: Option<Time>,
    /// Sources without end go on through the drain; a canonical study leaves it out where they do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain_sources: bool,
    /// Which engine executes the run; never changes the result.
    pub engine: Engine,
    /// Worker threads, 0 for as many as the caller has to give; never changes the result.
    pub workers: u16,
    /// How several workers share out the routers; never changes the result.
    #[serde(default, skip_serializing_if = "PartitionSpec::is_auto")]
    pub partition: PartitionSpec,
    /// Whether iterations that repeat are run; never changes the result, unless the rest is estimated.
    #[serde(default, skip_serializing_if = "FastForward::is_exact")]
    pub fast_forward: FastForward,
    /// Where the rest is estimated: half the width of the 95 % interval of the mean time of an iteration for that, in millionths of it; else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub precision: u32,
    /// Draws of the routing begin again after so many messages of a node; 0: never.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub draw_cycle: u32,
    /// Progress-free time in simulated time after which packets in flight count as stalled.
    pub stall_after: Time,
    /// How the run differs from the one that it stands beside, in what no machine keeps up; `None`: it is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<Perturbation>,
}

impl RunSpec {
    /// The same, perturbed; of it counts what it takes, so that nothing more is recorded.
    #[must_use]
    pub fn beside(&self, perturbation: Perturbation) -> RunSpec {
        let mut run = self.clone();
        run.control.perturbation = Some(perturbation);
        run.observe = ObserveSpec {
            links: false,
            messages: MessageDetail::Summary,
            timeline: false,
            ranks: false,
            operations: false,
            links_every: None,
        };
        run
    }
}

impl RunSpec {
    /// Whether periods that repeat, or that can be estimated, need not be run: it is not switched off, and no more is recorded than sums.
    pub fn may_leave_periods_out(&self) -> bool {
        self.control.fast_forward != FastForward::Off && !self.observe.over_time()
    }

    /// The network's shape as its packets meet it: without what has failed from the start.
    pub fn shape(&self) -> Result<Topology, BuildError> {
        let (whole, failed) = self.whole()?;
        match failed {
            None => Ok(whole),
            Some(failed) => whole.left_of(failed, false).map_err(first_mistake),
        }
    }

    /// The network with all of its parts, and what of them has failed from the start, if anything has.
    pub fn whole(&self) -> Result<(Topology, Option<Failed>), BuildError> {
        let whole = self
            .topology
            .build()
            .map_err(BuildError::Topology)?
            .with_ties(self.routing.tie());
        if self.fail.is_empty() && !self.outages.list.iter().any(Outage::is_for_good) {
            return Ok((whole, None));
        }
        let failed = self.outages.dead_at_the_start(&whole, &self.fail);
        let failed = failed.map_err(first_mistake)?;
        Ok((whole, Some(failed)))
    }

    /// What the routing depends on besides its own keys and the topology.
    pub fn routing_terms(&self) -> RoutingTerms<'_> {
        let networks = self.jobs.iter().map(|job| match &job.work {
            Work::Memory(memory) => memory.networks(),
            _ => 1,
        });
        RoutingTerms {
            router: &self.router,
            nic: &self.nic,
            networks: networks.max().unwrap_or(1),
            seed: self.control.fine_seed(),
            draw_cycle: self.control.draw_cycle,
            demands: &[],
        }
    }

    /// Rails of a host: those of the first job of ranks or interfaces of a memory node, 1 without any.
    pub fn rails(&self) -> u32 {
        rails_of(&self.jobs)
    }
}

/// The first of the mistakes in what has failed.
pub(crate) fn first_mistake(mistakes: Vec<FieldError>) -> BuildError {
    let mistake = mistakes.into_iter().next();
    let (field, reason, hint) = mistake.map_or_else(Default::default, |m| (m.field, m.reason, m.hint));
    let field = if field.is_empty() {
        "fail"
    } else {
        field.trim_end_matches('.')
    };
    BuildError::field(field, reason, hint.as_deref())
}

impl RunControl {
    /// What the work depends on: endless sources go on through the drain unless they are not to.
    pub fn work_terms(&self) -> WorkTerms {
        WorkTerms {
            seed: self.seed,
            fine_seed: self.fine_seed(),
            perturbed: self.perturbation.map(|perturbation| perturbation.spread),
            stop: match (self.end, self.drain_sources) {
                (None, _) => u64::MAX,
                (Some(end), false) => end.0,
                (Some(end), true) => end.0.saturating_add(self.drain.unwrap_or(end).0),
            },
        }
    }

    /// The seed of what no machine keeps up: ties, starts, orders of neighbours, and draws of routings. Traffic, matchings and
    /// placements are drawn from `seed`.
    pub fn fine_seed(&self) -> u64 {
        let number = |perturbation: Perturbation| des::mix(u64::from(perturbation.number) << 32 ^ 0x5065_7274);
        self.seed ^ self.perturbation.map_or(0, number)
    }
}

/// A run beside another one: other ties, ranks and nodes that do not start in phase, neighbours in orders of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perturbation {
    /// Which of them, from 1.
    pub number: u32,
    /// Starts differ by up to this.
    pub spread: Time,
}

choice! {
    /// What sources without end do while measured messages are awaited.
    pub enum DrainSources {
        On = "on", "They go on, unmeasured.";
        Off = "off", "They stop at `end`.";
    }
}

choice! {
    /// Whether iterations that repeat are run.
    #[derive(Default)]
    pub enum FastForward {
        #[default]
        Exact = "exact", "Iterations of ranks that repeat to the picosecond are counted, not run; the result is that of all of them.";
        Statistical = "statistical", "As `exact`, and where nothing repeats the rest is estimated, once the mean of an iteration is known as well as `precision` asks for: another result, which says so, with a 95 % interval.";
        Off = "off", "All are run.";
    }
}

/// Most messages of [`RunControl::draw_cycle`]: so many iterations may be one period.
pub const LONGEST_DRAW_CYCLE: u32 = 16;

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl FastForward {
    /// Whether those that repeat are left out.
    pub fn is_exact(&self) -> bool {
        *self == FastForward::Exact
    }
}

/// How the workers of a run share out the routers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionSpec {
    /// What suits the network.
    #[default]
    Auto,
    /// By the order of the network's family.
    Blocks,
    /// By METIS.
    Metis,
    /// A part for every router, as the user's file says.
    Map(Arc<[u32]>),
}

impl PartitionSpec {
    /// Whether it is what holds when nothing is said.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    /// The same for [`topo::Partition::new`].
    pub fn method(&self) -> topo::Method {
        match self {
            Self::Auto => topo::Method::Auto,
            Self::Blocks => topo::Method::Blocks,
            Self::Metis => topo::Method::Metis,
            Self::Map(parts) => topo::Method::Map(parts.to_vec()),
        }
    }
}

/// Which engine executes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Picked from size, lookahead and cores.
    Auto,
    /// The window engine on one worker.
    Sequential,
    /// The window engine on several workers, which meet after every window.
    Conservative,
    /// Workers that run windows ahead of the safe one and go back where that was wrong.
    Optimistic,
    /// The plain binary-heap engine, written to be read.
    Reference,
    /// The window engine, every window run forward, back and forward again.
    RollbackCheck,
}
