//! The ranks of a run: which programs they have, where they are, what their messages cost.

mod packing;
mod peers;
pub mod state;
mod traffic;

pub use packing::{pack, unpack};
pub use state::RankColumns;

use crate::motif::{CollectiveLoop, CollectiveLoopParameters, Compute, Misfit};
pub use crate::mpi::MAX_CONTEXTS;
use crate::mpi::collective::{Algorithm, Call, ChosenAlgorithm, CollectiveRules};
use crate::mpi::graph::OperationGraph;
use crate::mpi::graph::state::{GraphProgress, ItemList, RankLane};
use crate::mpi::op::{Collective, CollectiveKind, Op};
use crate::mpi::spec::{Beside, CallCosts, CostPiece, Handling, Mapping, MpiSpec, Rails, Ranks, Rendezvous, Start};
use crate::mpi::{Communicator, Program};
use crate::rate::Rate;
use crate::terms::Starts;
use des::Table;
use state::{Item, PEERS, PeerGroup, Rank};
use std::sync::Arc;

/// Most ranks of a node.
pub const MAX_PER_NODE: u32 = 256;

/// A part of a job: a program, some number of times.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What every rank does in an iteration.
    pub program: Arc<dyn Program>,
    /// How often: iterations times the rounds of each.
    pub iterations: u32,
    /// Context of its first communicator.
    pub first_context: u16,
    /// Whether its operations form a graph.
    pub is_graph: bool,
}

impl Phase {
    /// The graph that its operations form.
    #[inline(always)]
    pub fn graph(&self) -> Option<&OperationGraph> {
        if self.is_graph { self.program.graph() } else { None }
    }
}

/// What the records of a rank that plays graphs need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphNeeds {
    /// Words of operations.
    pub words: u32,
    /// Lanes, that of operations without one among them.
    pub lanes: u32,
    /// Lists of what waits for its counterpart, as a power of two.
    pub list_bits: u32,
    /// Some receive may be from any rank, or take any tag.
    pub wild: bool,
}

/// The ranks of a job.
#[derive(Debug)]
pub struct Plan {
    /// How many.
    pub ranks: u32,
    /// Most of them on one node.
    pub per_node: u32,
    /// How they are dealt to the logical nodes.
    pub mapping: Mapping,
    /// What they do, one after the other.
    pub phases: Vec<Phase>,
    /// Whether some of it hears of what becomes of its operations: [`Program::is_live`].
    pub is_live: bool,
    /// Whether some of it are graphs.
    pub has_graphs: bool,
    /// Phases before the work: a barrier, what is not timed, or none.
    prelude: u32,
    /// Of those the barrier that nobody asked for.
    barriers: u32,
    starts: Starts,
    /// Physical nodes by logical ones; of hosts with several rails the first.
    pub nodes: Vec<u32>,
    /// Times, sizes and rates.
    pub costs: Costs,
    /// Algorithms of collectives that are not chosen by size.
    algorithms: Vec<(CollectiveKind, Algorithm)>,
    /// Whose rules choose those.
    rules: CollectiveRules,
}

impl Plan {
    /// Plans a job; the reason if that cannot be.
    pub fn new(
        mut phases: Vec<(Arc<dyn Program>, u32)>,
        spec: &Ranks,
        nodes: &[u32],
        starts: Starts,
    ) -> Result<Plan, String> {
        let per_node = spec.per_node;
        let ranks = phases.first().map_or(0, |(program, _)| program.ranks());
        let barriers = u32::from(spec.start == Start::AfterBarrier && ranks > 0);
        if barriers == 1 {
            let barrier = barrier(ranks).map_err(|misfit| misfit.reason)?;
            phases.insert(0, (Arc::new(barrier), 1));
        }
        let mut context = 0;
        let mut planned = Vec::new();
        for (program, iterations) in phases {
            if program.ranks() != ranks {
                return Err(format!(
                    "one part of the work is for {ranks} ranks, another for {}",
                    program.ranks()
                ));
            }
            let first_context = context as u16;
            context += program.n_contexts();
            if context > MAX_CONTEXTS {
                return Err(format!("there are more than {MAX_CONTEXTS} communicators"));
            }
            let rounds = iterations.checked_mul(program.rounds()).ok_or_else(|| {
                let rounds = program.rounds();
                format!("{iterations} iterations of {rounds} rounds are more than 2^32 - 1")
            })?;
            planned.push(Phase {
                iterations: rounds,
                first_context,
                is_graph: program.graph().is_some(),
                program,
            });
        }
        let room = nodes.len() as u64 * u64::from(per_node);
        if ranks == 0 || u64::from(ranks) > room {
            return Err(format!(
                "{ranks} ranks do not fit on {} nodes with {per_node} on each",
                nodes.len()
            ));
        }
        let is_live = planned.iter().any(|phase| phase.program.is_live());
        let has_graphs = planned.iter().any(|phase| phase.is_graph);
        if spec.mpi.progress != Handling::Always && (is_live || has_graphs) {
            let who = if is_live {
                "processes as they go"
            } else {
                "graphs of operations"
            };
            return Err(format!(
                "{who} have no calls that messages could be handled in: leave mpi.progress at \"always\""
            ));
        }
        Ok(Plan {
            ranks,
            per_node: per_node.min(ranks),
            mapping: spec.mapping,
            is_live,
            has_graphs,
            phases: planned,
            prelude: barriers + spec.prelude,
            barriers,
            starts,
            nodes: nodes.to_vec(),
            costs: Costs::new(&spec.mpi),
            algorithms: spec.mpi.algorithms.clone(),
            rules: spec.mpi.collectives,
        })
    }

    /// When a rank starts (ps).
    pub fn start(&self, rank: u32) -> u64 {
        self.starts.of(rank)
    }

    /// Whether ranks start one by one, or do something before their work.
    pub fn has_own_starts(&self) -> bool {
        self.prelude > 0 || self.starts.spread > 0
    }

    /// Whether a rank that enters a phase begins its work with it.
    #[inline(always)]
    pub fn begins_work(&self, phase: u32) -> bool {
        self.prelude > 0 && phase == self.prelude
    }

    /// What the records of a rank need, of a plan that has graphs.
    pub fn graph_needs(&self, rank: u32) -> GraphNeeds {
        let programs = self.phases.iter().skip(self.barriers as usize);
        let mut needs = GraphNeeds {
            lanes: 1,
            // What programs receive is not known beforehand.
            wild: programs.clone().any(|phase| !phase.is_graph),
            ..GraphNeeds::default()
        };
        for graph in programs.filter_map(Phase::graph) {
            let own = graph.rank(rank);
            needs.words = needs.words.max(own.operations.len() as u32);
            needs.lanes = needs.lanes.max(own.lanes + 1);
            needs.list_bits = needs.list_bits.max(own.list_bits);
            needs.wild |= own.wild;
        }
        needs
    }

    /// Logical nodes that have ranks.
    fn used(&self) -> u32 {
        self.ranks.div_ceil(self.per_node)
    }

    /// Node of a rank, of several rails the first, and its number there.
    #[inline(always)]
    pub fn locate(&self, rank: u32) -> (u32, u8) {
        let (logical, local) = match self.mapping {
            Mapping::Block => (rank / self.per_node, rank % self.per_node),
            Mapping::RoundRobin => (rank % self.used(), rank / self.used()),
        };
        (self.nodes[logical as usize], local as u8)
    }

    /// The rank with a number on a logical node, if there is one.
    #[inline(always)]
    pub fn rank(&self, logical: u32, local: u32) -> Option<u32> {
        if local >= self.per_node || logical >= self.used() {
            return None;
        }
        let rank = match self.mapping {
            Mapping::Block => logical * self.per_node + local,
            Mapping::RoundRobin => local * self.used() + logical,
        };
        (rank < self.ranks).then_some(rank)
    }

    /// An operation of a rank that was done: part, iteration and index.
    pub fn op(&self, rank: u32, [phase, iteration, index]: [u32; 3]) -> Option<Op> {
        let phase = self.phases.get(phase as usize)?;
        phase.program.again(rank, iteration, index)
    }

    /// The parts that are the job's work, by number: without the barrier before it.
    pub fn work(&self) -> impl Iterator<Item = (u32, &Phase)> {
        (0..).zip(&self.phases).skip(self.prelude as usize)
    }

    /// How a collective is done: as the study says, where that serves so many ranks and bytes, else by size.
    pub fn algorithm(&self, kind: CollectiveKind, size: u32, bytes: u64) -> ChosenAlgorithm {
        let given = self.algorithms.iter().find(|(given, _)| *given == kind);
        let given = given.map(|(_, algorithm)| *algorithm);
        given
            .filter(|algorithm| algorithm.check(kind, size).is_ok() && algorithm.fits(kind, size, bytes))
            .map_or_else(
                || self.rules.choose(kind, size, bytes),
                |algorithm| algorithm.chosen(kind),
            )
    }

    /// Iterations of all motifs that a rank has behind it.
    pub fn iterations_done(&self, rank: &Rank) -> u64 {
        let of = |phase: &Phase, rounds: u32| u64::from(rounds / phase.program.rounds());
        let (over, now) = self.phases.split_at(self.phases.len().min(rank.phase as usize));
        let over: u64 = over
            .iter()
            .skip(self.prelude as usize)
            .map(|phase| of(phase, phase.iterations))
            .sum();
        if rank.phase < self.prelude {
            return 0;
        }
        over + now.first().map_or(0, |phase| of(phase, rank.iteration))
    }

    /// Bytes that travel for a message of a rank of `bytes`.
    #[inline(always)]
    pub fn wire(&self, bytes: u64) -> u64 {
        (bytes + self.costs.header).max(1)
    }
}

impl Plan {
    /// The part of a rank in a collective.
    pub fn call<'a>(
        &self,
        collective: Collective,
        communicator: &Communicator,
        rank: u32,
        pair_bytes: &'a dyn Fn(u32, u32) -> u64,
    ) -> Call<'a> {
        let size = communicator.size(rank);
        let ChosenAlgorithm { algorithm, segment } = self.algorithm(collective.kind, size, collective.bytes);
        Call {
            kind: collective.kind,
            algorithm,
            segment,
            size,
            me: communicator.number(rank),
            root: collective.root,
            bytes: collective.bytes,
            pair_bytes,
        }
    }
}

/// Bytes of the records of a rank that plays a graph, on average.
fn graph_bytes(graph: &OperationGraph) -> f64 {
    let per_rank = size_of::<GraphProgress>() + 2 * size_of::<RankLane>() + 3 * size_of::<ItemList>();
    // A word for each operation, and a list for every eight messages.
    per_rank as f64 + 5.0 * graph.operations() as f64 / f64::from(graph.ranks().max(1))
}

/// The barrier before the work of a job.
fn barrier(ranks: u32) -> Result<CollectiveLoop, Misfit> {
    CollectiveLoop::new(&CollectiveLoopParameters {
        ranks,
        kind: CollectiveKind::Barrier,
        bytes: 0,
        root: 0,
        groups: None,
        compute: Compute::Time(0),
    })
}

/// The ranks of all jobs, and what their messages cost.
#[derive(Debug)]
pub struct Plans {
    /// By job; `None` for jobs without ranks.
    pub jobs: Table<Option<Plan>>,
    /// Rank records per host.
    pub per_node: u32,
    /// Nodes per host.
    pub rails: u32,
    /// Peers per rank, as a power of two.
    pub bucket_bits: u32,
    /// Lists of peers per rank, as a power of two.
    pub list_bits: u32,
}

/// What the messages of ranks cost.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Processor time of a send (ps), where no piece says it.
    send: u64,
    /// Processor time of a receive (ps), where no piece says it.
    receive: u64,
    /// What messages take at both ends, by their size; none: the overheads and the copies say it.
    pieces: Box<[CostPiece]>,
    /// Messages up to this many bytes are sent without asking.
    pub eager: u64,
    /// Bytes that every message has besides the rank's.
    pub header: u64,
    /// Bytes of a control message.
    pub control: u64,
    /// When a send that asked is complete.
    pub rendezvous: Rendezvous,
    /// Interfaces of a host.
    pub rails: Rails,
    /// Copies of eager messages.
    pub copy: Rate,
    /// Combination of operands.
    pub combine: Rate,
    /// Latency inside a node (ps).
    pub local_latency: u64,
    /// Messages inside a node.
    pub local: Rate,
    /// What ranks pay that handle messages in their calls only; `None`: they handle them always.
    pub in_calls: Option<CallCosts>,
    /// Eager messages of more bytes are fetched by their receiver.
    pub fetch_above: u64,
    /// Messages that go beside the network.
    pub beside: Option<Beside>,
}

impl Costs {
    /// Control messages that a message of a rank takes to another host; a `synchronous` one asks whatever its size.
    pub fn controls(&self, bytes: u64, synchronous: bool) -> f64 {
        match self.rendezvous {
            _ if self.fetches(bytes) && !synchronous => 2.0,
            _ if bytes <= self.eager && !synchronous => 0.0,
            Rendezvous::Put => 2.0,
            Rendezvous::Get => 3.0,
        }
    }

    /// What a message takes of its sender's processor (ps), copied if it is eager and not fetched from where it is.
    #[inline]
    pub fn sending(&self, bytes: u64, eager: bool) -> u64 {
        self.of_message(self.send, bytes, eager && !self.fetches(bytes))
    }

    /// What a message takes of its receiver's processor (ps), copied if it is eager.
    #[inline]
    pub fn receiving(&self, bytes: u64, eager: bool) -> u64 {
        self.of_message(self.receive, bytes, eager)
    }

    fn of_message(&self, overhead: u64, bytes: u64, eager: bool) -> u64 {
        match self.pieces.last() {
            None if eager => overhead.saturating_add(self.copy.time(bytes)),
            None => overhead,
            Some(last) => {
                let own = self.pieces.iter().find(|piece| bytes <= piece.upto.0);
                own.unwrap_or(last).time(bytes)
            }
        }
    }

    /// Whether the receiver of a message that need not ask fetches it.
    pub fn fetches(&self, bytes: u64) -> bool {
        bytes > self.fetch_above && bytes <= self.eager
    }

    fn new(spec: &MpiSpec) -> Costs {
        Costs {
            pieces: spec.costs.as_slice().into(),
            send: spec.send_overhead.0,
            receive: spec.receive_overhead.0,
            eager: spec.eager.0,
            header: spec.header.0,
            control: spec.control.0.max(1),
            rendezvous: spec.rendezvous,
            rails: spec.rails,
            copy: Rate::new(spec.copy),
            combine: Rate::new(spec.combine),
            local_latency: spec.local_latency.0,
            local: Rate::new(spec.local_bandwidth),
            in_calls: match spec.progress {
                Handling::Always => None,
                Handling::InCalls(costs) => Some(costs),
            },
            fetch_above: spec.fetch_above.map_or(u64::MAX, |bytes| bytes.0),
            beside: spec.beside,
        }
    }
}

impl Plans {
    /// Puts the jobs of a run together; `None` if none has ranks.
    pub fn new(jobs: Vec<Option<Plan>>, rails: u32) -> Option<Plans> {
        let plans = || jobs.iter().flatten();
        let per_node = plans().map(|plan| plan.per_node).max()?;
        let phases = plans().flat_map(|plan| &plan.phases);
        let peers = phases.map(|phase| phase.program.peers()).max().unwrap_or(1);
        Some(Plans {
            per_node,
            rails,
            bucket_bits: peers.clamp(1, 1024).ilog2(),
            // One to two groups a list, if ranks meet all of up to 12,288.
            list_bits: (peers / PEERS as u32).clamp(1, 1024).ilog2(),
            jobs: jobs.into(),
        })
    }

    /// Whether a node, by number or place, is the first of its host.
    #[inline(always)]
    pub fn begins_host(&self, node: u32) -> bool {
        node.is_multiple_of(self.rails)
    }

    /// The record of the first rank of the host whose first rail is at a place of the node columns.
    #[inline(always)]
    pub fn first_slot(&self, place: u32) -> u32 {
        place / self.rails * self.per_node
    }

    /// What a message beside the network takes at least to a node of another router (ps), if any goes there.
    pub fn least_beside(&self) -> Option<u64> {
        let all = self.jobs.iter().flatten().filter_map(|plan| plan.costs.beside);
        all.map(|beside| beside.latency.0 + beside.hop.0).min()
    }

    /// Bytes of the records of a host's ranks when they have met all their peers, and wait for all of them.
    pub fn bytes_per_host(&self) -> f64 {
        let phases = self.jobs.iter().flatten().flat_map(|plan| &plan.phases);
        let peers = phases.map(|phase| phase.program.peers()).max().unwrap_or(0) as usize;
        let groups = peers.div_ceil(PEERS) * size_of::<PeerGroup>();
        let rank = size_of::<Rank>() + (4 << self.list_bits) + groups + peers * size_of::<Item>();
        let plans = self.jobs.iter().flatten();
        let graphs = plans.map(|plan| {
            plan.phases
                .iter()
                .filter_map(Phase::graph)
                .map(graph_bytes)
                .fold(0.0, f64::max)
        });
        self.per_node as f64 * (rank as f64 + graphs.fold(0.0, f64::max))
    }
}
