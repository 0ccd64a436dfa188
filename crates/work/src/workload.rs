//! What the nodes do: message generators and small programs that react to deliveries.
//!
//! A generator is lazy: message `k` of a node is a function of (seed, node, k) and the previous birth, drawn when the interface
//! gets to it, so that a saturated source needs no queue in memory.

use crate::build_error::BuildError;
use crate::memory;
use crate::motif::{self, Order, given_graph, lent_program};
use crate::mpi::spec::{ONE_ROUTER, Ranks, Start};
use crate::placement::{UnplacedJob, place};
use crate::ranks::{Plan, Plans};
use crate::terms::{Starts, WorkTerms, own_seed};
use des::rng::{ln, unit};
use des::{Philox, Philox2, Table, mix};
use std::sync::Arc;
use study::{BitsPerSec, Family};
use topo::Topology;
use topo::subnet::engine::JobDemand;

mod births;
mod demand;
pub(crate) mod destinations;
mod listed;
pub mod pairs;
pub mod patterns;
mod source;
pub mod spec;
#[cfg(test)]
mod tests;
mod traffic;

pub use births::Process;
use births::{BirthRule, Births, Drawing};
pub use destinations::Destinations;
use listed::Listed;
use pairs::PairPlan;
pub use pairs::{Matching, PairMode, Pairs};
use patterns::JobNodes;
pub use patterns::Pattern;
pub use source::{DrawnAhead, Ledger, Source};
use spec::{JobSpec, Synthetic, Work, rails_of, without_rails};

/// The works that are synthetic traffic: `work.kind`.
pub static PATTERN: Family = Family {
    name: "pattern",
    key: "work.kind",
    by_name: false,
    groups: &[Pattern::ENTRIES],
};

/// Gaps between messages: `process`.
pub static PROCESS: Family = Family {
    name: "process",
    key: "process",
    by_name: false,
    groups: &[&Process::ENTRIES],
};

/// "No node."
pub const NOBODY: u32 = u32::MAX;

/// Lists of messages on their way to all nodes of a network of at most [`FEW_NODES`] whose sources never stop: 16 KiB, which the checks of a
/// rollback read again and again.
const OPEN_LISTS: usize = 1 << 12;
const FEW_NODES: usize = 64;

/// Births that would lie even later are here (ps), far beyond the end of simulated time.
const NEVER: u64 = 1 << 62;

/// Streams of random numbers, by purpose; 2 is [`crate::placement`]'s, 4 and 5 are those of [`crate::terms`].
mod stream {
    pub const TRAFFIC: u64 = 1;
    pub const PHASE: u64 = 3;
}

/// A message as a generator makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it is handed to the interface (ps).
    pub birth: u64,
    /// Its destination node.
    pub destination: u32,
    /// Its size.
    pub bytes: u64,
}

/// The work of all nodes.
#[derive(Debug)]
pub struct Workload {
    /// Job of each node, and its logical number there; `NOBODY` if it has none.
    members: Table<(u16, u32)>,
    jobs: Table<Job>,
    traffic: Philox2,
    phases: Philox,
    /// Some node acts on a delivery.
    reacts: bool,
    /// Some job is neither idle nor of endpoints: its nodes draw their messages themselves.
    draws: bool,
    /// Jobs of MPI ranks.
    ranks: Option<Plans>,
    /// The job of memory nodes.
    memory: Option<memory::Plan>,
    /// Endless sources make no message born at or after this time (ps).
    stop: u64,
}

#[derive(Debug)]
struct Job {
    /// Logical to physical node.
    nodes: Vec<u32>,
    kind: JobKind,
    /// When the nodes start that would start together.
    starts: Starts,
}

#[derive(Debug)]
enum JobKind {
    Synthetic {
        destinations: Destinations,
        spec: Synthetic,
        births: Births,
    },
    Pairs(PairPlan),
    Listed(Listed),
    /// MPI ranks or memory nodes: they say what they send when they send it.
    Endpoints,
    Idle,
}

/// What a node posts when something has happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    None,
    /// `count` data messages.
    Data {
        /// How many.
        count: u32,
        /// Each.
        message: Message,
    },
    /// An acknowledgement.
    Ack(Message),
    /// So many data messages, as [`Workload::next_of_window`] gives them.
    Window(u32),
}

impl Workload {
    /// Plans the jobs of a run.
    pub fn build(
        specs: &[JobSpec],
        terms: &WorkTerms,
        topology: &Topology,
        injection: BitsPerSec,
    ) -> Result<Workload, BuildError> {
        let n_nodes = topology.n_nodes();
        let mut members = vec![(0, NOBODY); n_nodes as usize];
        let mut jobs = Vec::new();
        let mut plans = Vec::new();
        let mut memory = None;
        let rails = hosts(specs, topology)?;
        let places = places(specs, topology, rails, terms.seed)?;
        for (j, (job, mut nodes)) in specs.iter().zip(places).enumerate() {
            let key = |name: &str| format!("job.{j}.{name}");
            for (logical, node) in nodes.iter_mut().enumerate() {
                *node *= rails;
                let logical = if job.work == Work::Idle { NOBODY } else { logical as u32 };
                members[*node as usize..(*node + rails) as usize].fill((j as u16, logical));
            }
            let mut plan = None;
            let kind = match &job.work {
                Work::Ranks(work) => {
                    plan = Some(ranks(work, &nodes, (terms, j), &key("work"))?);
                    JobKind::Endpoints
                }
                Work::Synthetic(work) => {
                    let seed = mix(terms.seed ^ j as u64);
                    let job_nodes = JobNodes {
                        nodes: &nodes,
                        topology,
                        seed,
                        message: work.message,
                        to_itself: work.to_itself,
                    };
                    let destinations = work
                        .pattern
                        .destinations(&job_nodes)
                        .map_err(|reason| BuildError::field(&key("work.kind"), reason, None))?;
                    let births = Births::new(work, &destinations, &nodes, injection).map_err(|reason| {
                        BuildError::field(
                            &key("work.slot"),
                            reason,
                            Some("take a shorter slot, or a smaller load"),
                        )
                    })?;
                    JobKind::Synthetic {
                        destinations,
                        spec: work.clone(),
                        births,
                    }
                }
                Work::Pairs(work) => JobKind::Pairs(PairPlan::new(work, &nodes, terms.seed, &key("work"))?),
                Work::Memory(work) => {
                    let plan = memory::Plan::new(work, j as u32, &nodes, n_nodes, terms.seed)
                        .map_err(|reason| BuildError::field(&key("work"), reason, None))?;
                    if memory.replace(plan).is_some() {
                        let hint = "give all their nodes to one job";
                        let reason = "there is another job of memory nodes";
                        return Err(BuildError::field(&key("work.kind"), reason, Some(hint)));
                    }
                    JobKind::Endpoints
                }
                Work::Messages(list) => JobKind::Listed(Listed::new(list, &nodes).map_err(|(i, reason)| {
                    let message = list[i];
                    let reason = format!("message at {} from node {}: {reason}", message.time, message.source);
                    BuildError::field(&key("work"), reason, None)
                })?),
                Work::Idle => JobKind::Idle,
            };
            let starts = Starts::new(terms, j, Start::InPhase);
            jobs.push(Job { nodes, kind, starts });
            plans.push(plan);
        }
        let reacts = jobs.iter().any(|job: &Job| job.kind.reacts());
        let draws = |job: &Job| !matches!(job.kind, JobKind::Endpoints | JobKind::Idle);
        let draws = jobs.iter().any(draws);
        Ok(Workload {
            members: members.into(),
            jobs: jobs.into(),
            traffic: Philox2::new(terms.seed, stream::TRAFFIC),
            phases: Philox::new(terms.seed, stream::TRAFFIC),
            reacts,
            draws,
            ranks: Plans::new(plans, rails),
            memory,
            stop: terms.stop,
        })
    }

    /// Smallest packet of any message.
    pub fn least_packet(&self, packet: u32) -> u32 {
        let size = |bytes: u64| match bytes % u64::from(packet) {
            0 => packet,
            rest => rest as u32,
        };
        let sizes = self.jobs.iter().enumerate().flat_map(|(j, job)| match &job.kind {
            JobKind::Synthetic { .. } => job.kind.sizes(),
            JobKind::Pairs(plan) => vec![plan.spec.message.0, plan.spec.ack.0],
            JobKind::Listed(listed) => listed.sizes().to_vec(),
            JobKind::Endpoints => match self.plan_of(j) {
                Some(_) => vec![1],
                None => self.memory.iter().flat_map(memory::Plan::sizes).collect(),
            },
            JobKind::Idle => Vec::new(),
        });
        sizes.map(size).min().unwrap_or(packet)
    }

    /// Sizes of the packets that carry most of the data, cut at `unit` bytes: what is known of them before the run.
    pub fn usual_packets(&self, unit: u32) -> Vec<u32> {
        let cut = |bytes: u64| bytes.clamp(1, u64::from(unit)) as u32;
        let sizes = self.jobs.iter().enumerate().flat_map(|(j, job)| match &job.kind {
            JobKind::Synthetic { spec, destinations, .. } => {
                destinations.sizes(spec.message.0).into_iter().map(cut).collect()
            }
            JobKind::Pairs(plan) => vec![cut(plan.spec.message.0)],
            JobKind::Listed(listed) => listed.usual_size().map(cut).into_iter().collect(),
            JobKind::Endpoints => match self.plan_of(j) {
                Some(_) => vec![unit],
                None => self.memory.iter().flat_map(memory::Plan::sizes).map(cut).collect(),
            },
            JobKind::Idle => Vec::new(),
        });
        sizes.collect()
    }

    /// Size of the largest message.
    pub fn most_bytes(&self) -> u64 {
        let sizes = self.jobs.iter().map(|job| match &job.kind {
            JobKind::Synthetic { .. } => job.kind.sizes().into_iter().max().unwrap_or(0),
            JobKind::Pairs(plan) => plan.spec.message.0.max(plan.spec.ack.0),
            JobKind::Listed(listed) => listed.sizes().last().copied().unwrap_or(0),
            // Every message is announced, with what it says.
            JobKind::Endpoints => u64::MAX,
            JobKind::Idle => 0,
        });
        sizes.max().unwrap_or(0)
    }

    /// `true` if a node may make several messages at one time.
    pub fn bursts(&self) -> bool {
        self.jobs.iter().any(|job| match &job.kind {
            JobKind::Synthetic { spec, .. } => spec.load.is_none(),
            JobKind::Pairs(_) | JobKind::Endpoints => true,
            JobKind::Listed(listed) => listed.bursts(),
            JobKind::Idle => false,
        })
    }

    /// `true` if some node acts on a delivery.
    #[inline(always)]
    pub fn reacts(&self) -> bool {
        self.reacts
    }

    /// `true` if the sources of some job draw their messages themselves.
    #[inline(always)]
    pub fn has_sources(&self) -> bool {
        self.draws
    }

    /// `true` if deliveries at `node` have to be told to it.
    #[inline(always)]
    pub fn reacts_at(&self, node: u32) -> bool {
        let (job, logical) = self.members[node as usize];
        logical != NOBODY && self.jobs[job as usize].kind.reacts()
    }

    /// The jobs of MPI ranks, if there are any.
    #[inline(always)]
    pub fn ranks(&self) -> Option<&Plans> {
        self.ranks.as_ref()
    }

    /// The job of MPI ranks that `node` is in, and its logical number there.
    pub fn ranks_of(&self, node: u32) -> Option<(&Plans, &Plan, u32)> {
        let plans = self.ranks.as_ref()?;
        let (job, logical) = self.members[node as usize];
        let plan = plans.jobs[job as usize].as_ref().filter(|_| logical != NOBODY)?;
        Some((plans, plan, logical))
    }

    /// Asks the processor for what is known of a node, whether there is such a node or not.
    #[inline(always)]
    pub fn ask_for_member(&self, node: u32) {
        self.members.prefetch_one(node as usize);
    }

    /// The job of memory nodes, if there is one.
    #[inline(always)]
    pub fn memory(&self) -> Option<&memory::Plan> {
        self.memory.as_ref()
    }

    /// The job of memory nodes if `node` is in it, and its logical number there.
    pub fn memory_of(&self, node: u32) -> Option<(&memory::Plan, u32)> {
        let plan = self.memory.as_ref()?;
        let (job, logical) = self.members[node as usize];
        (u32::from(job) == plan.job && logical != NOBODY).then_some((plan, logical))
    }

    /// The plan of a job of MPI ranks.
    pub fn plan_of(&self, job: usize) -> Option<&Plan> {
        self.ranks.as_ref()?.jobs.get(job)?.as_ref()
    }

    /// What jobs of MPI ranks send, job by job.
    pub fn job_demands(&self) -> Vec<JobDemand> {
        let plans = self.ranks.iter().flat_map(|plans| plans.jobs.iter().flatten());
        plans.map(Plan::demand).collect()
    }

    /// The job of MPI ranks that `node` is in: its number, its plan, and the node's logical number there.
    pub fn job_of_ranks(&self, node: u32) -> Option<(u32, &Plan, u32)> {
        let (_, plan, logical) = self.ranks_of(node)?;
        Some((self.members[node as usize].0.into(), plan, logical))
    }

    /// Lists of incoming messages per node, as a power of two. Sources that never stop may have any number of messages on their way: the
    /// smallest networks have some thousands in all.
    pub fn bucket_bits(&self) -> u32 {
        let many = |plans: &Plans| (plans.bucket_bits + plans.per_node.ilog2() + 1).min(8);
        let accesses = |plan: &memory::Plan| (plan.shape.accesses().ilog2() + 1).min(8);
        let memory = self.memory.as_ref().map_or(0, accesses);
        let nodes = self.members.len();
        let endless = match self.endless() && nodes <= FEW_NODES {
            true => (OPEN_LISTS / nodes.max(1)).ilog2().min(8),
            false => 0,
        };
        self.ranks.as_ref().map_or(0, many).max(memory).max(endless)
    }

    /// `true` if sources are endless: the run needs an end.
    pub fn endless(&self) -> bool {
        self.jobs
            .iter()
            .any(|job| matches!(&job.kind, JobKind::Synthetic { spec, .. } if spec.count.is_none()))
    }

    /// `true` if some job is a set of pairs, whose senders are reported one by one.
    pub fn has_pairs(&self) -> bool {
        self.jobs.iter().any(|job| matches!(job.kind, JobKind::Pairs(_)))
    }

    /// Mean offered load of the synthetic jobs as a fraction of the injection bandwidth, over all nodes.
    pub fn offered_load(&self, n_nodes: u32) -> Option<f64> {
        let mut sum = 0.0;
        let mut any = false;
        for job in &self.jobs {
            if let JobKind::Synthetic { spec, destinations, .. } = &job.kind
                && let Some(load) = spec.load
            {
                any = true;
                sum += load
                    * destinations
                        .rates(job.nodes.len() as u32)
                        .map(|(_, rate)| rate)
                        .sum::<f64>();
            }
        }
        any.then(|| sum / f64::from(n_nodes))
    }

    /// Messages that finite jobs will deliver in all, acknowledgements included; `None` if a job is endless.
    pub fn total_messages(&self) -> Option<u64> {
        self.jobs.iter().try_fold(0u64, |sum, job| {
            let n = match &job.kind {
                JobKind::Synthetic { spec, destinations, .. } => {
                    // With a window each has an answer.
                    let each = spec.count?.saturating_mul(if spec.window.is_some() { 2 } else { 1 });
                    each.saturating_mul(u64::from(destinations.senders(job.nodes.len() as u32)))
                }
                JobKind::Pairs(plan) => {
                    let senders = plan.sends.iter().filter(|&&sends| sends).count() as u64;
                    let acks = match plan.spec.mode {
                        PairMode::Stream => 0,
                        PairMode::PingPong => plan.spec.messages,
                        PairMode::Batch { batch } => plan.spec.messages.div_ceil(u64::from(batch)),
                    };
                    senders * (plan.spec.messages + acks)
                }
                JobKind::Listed(listed) => listed.before(self.stop),
                JobKind::Endpoints => return None,
                JobKind::Idle => 0,
            };
            Some(sum.saturating_add(n))
        })
    }

    /// When `node` starts by an event, if it does.
    pub fn start(&self, node: u32) -> Option<u64> {
        let (job, logical) = self.members[node as usize];
        if logical == NOBODY {
            return None;
        }
        let job = &self.jobs[job as usize];
        let start = job.starts.of(logical);
        match &job.kind {
            JobKind::Pairs(plan) if plan.spec.mode != PairMode::Stream => {
                plan.sends[logical as usize].then(|| plan.start[logical as usize] + start)
            }
            JobKind::Synthetic {
                destinations, births, ..
            } if births.rule == BirthRule::Answered => destinations.sends(logical).then_some(start),
            JobKind::Endpoints => match self.ranks_of(node) {
                Some((plans, ..)) => plans.begins_host(node).then_some(0),
                None => self.memory().filter(|plan| plan.is_first(node)).map(|_| start),
            },
            _ => None,
        }
    }

    /// `true` if `node` has a generator.
    pub fn generates(&self, node: u32) -> bool {
        let (job, logical) = self.members[node as usize];
        logical != NOBODY
            && match &self.jobs[job as usize].kind {
                JobKind::Synthetic { births, .. } => births.rule != BirthRule::Answered,
                JobKind::Listed(_) => true,
                JobKind::Pairs(plan) => plan.spec.mode == PairMode::Stream && plan.sends[logical as usize],
                JobKind::Endpoints | JobKind::Idle => false,
            }
    }

    /// The messages of the generator of `node` that are born before `end` and that it has not made yet, as far as it can be told: with how
    /// many there are that are born together. Where not `each` is asked for, the first of those that are born at the start stands for all.
    pub fn to_come(&self, node: u32, source: &Source, (end, each): (u64, bool), mut see: impl FnMut(Message, u64)) {
        let (job, logical) = self.members[node as usize];
        if logical == NOBODY {
            return;
        }
        let mut source = *source;
        let job = &self.jobs[job as usize];
        match &job.kind {
            // What sets out hangs on what arrives.
            JobKind::Synthetic { births, .. } if births.rule == BirthRule::Answered => {}
            JobKind::Synthetic { births, .. } if births.rule == BirthRule::AtOnce && !each => {
                // All at the start; without end if they are not counted.
                let left = births.count.saturating_sub(source.made);
                if let Some(message) = self.generate(node, &mut source).filter(|_| left != u64::MAX) {
                    see(message, left);
                }
            }
            JobKind::Synthetic { .. } => {
                while let Some(message) = self.generate(node, &mut source).filter(|message| message.birth < end) {
                    see(message, 1);
                }
            }
            JobKind::Pairs(plan) => {
                let left = plan.spec.messages - source.made;
                if let Some(message) = self.generate(node, &mut source) {
                    see(message, left);
                }
            }
            JobKind::Listed(listed) => {
                while let Some(message) = listed.next(logical, &mut source, end) {
                    see(message, 1);
                }
            }
            JobKind::Endpoints | JobKind::Idle => {}
        }
    }

    /// How many jobs there are.
    #[inline(always)]
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The job of every node where there are several; and how many there are.
    pub fn jobs_of_nodes(&self) -> (Arc<[u16]>, usize) {
        match self.jobs.len() {
            0 | 1 => (Arc::default(), 1),
            n => (self.members.iter().map(|&(job, _)| job).collect(), n),
        }
    }

    /// Nodes of a job.
    pub fn nodes_of(&self, job: usize) -> &[u32] {
        &self.jobs[job].nodes
    }

    /// Size of the largest message of endless sources.
    pub fn most_endless_bytes(&self) -> u64 {
        let sizes = self.jobs.iter().filter_map(|job| match &job.kind {
            kind @ JobKind::Synthetic { spec, .. } if spec.count.is_none() => kind.sizes().into_iter().max(),
            _ => None,
        });
        sizes.max().unwrap_or(0)
    }

    /// `true` for a job whose sources are endless.
    pub fn is_endless(&self, job: usize) -> bool {
        matches!(&self.jobs[job].kind, JobKind::Synthetic { spec, .. } if spec.count.is_none())
    }

    /// `true` for a job whose sources are endless and wait for nobody, so that the network may fail to keep up with them.
    pub fn is_open_loop(&self, job: usize) -> bool {
        matches!(&self.jobs[job].kind, JobKind::Synthetic { spec, .. } if spec.count.is_none() && spec.window.is_none())
    }

    /// The nodes of a job that send, each with the load that it offers as a fraction of its injection bandwidth; `None` for a job without a
    /// load.
    pub fn offers(&self, job: usize) -> Option<Vec<(u32, f64)>> {
        let job = &self.jobs[job];
        let JobKind::Synthetic { spec, destinations, .. } = &job.kind else {
            return None;
        };
        let load = spec.load?;
        let rates = destinations.rates(job.nodes.len() as u32);
        Some(rates.map(|(i, rate)| (job.nodes[i as usize], load * rate)).collect())
    }

    /// The next message of the generator of `node`, if there is one; births never go back.
    #[inline(always)]
    pub fn generate(&self, node: u32, source: &mut Source) -> Option<Message> {
        let (job, logical) = self.members[node as usize];
        if logical == NOBODY {
            return None;
        }
        let job = &self.jobs[job as usize];
        let JobKind::Synthetic { births, spec, .. } = &job.kind else {
            return self.planned(job, logical, source);
        };
        let k = source.made;
        if k >= births.count {
            return None;
        }
        if births.draws_ahead {
            let drawn = match source.drawn.tag == DrawnAhead::tag(k) {
                true => source.drawn,
                false => self.draw_now(job, (node, logical), k),
            };
            let birth = source.clock + drawn.gap;
            if birth >= self.stop {
                return None;
            }
            // When a message is born decides much that nobody can tell before: it is known already, and what takes long is drawn for the one behind it.
            *source = Source {
                made: k + 1,
                clock: birth,
                drawn: self.draw_one(job, births, (node, logical), k + 1),
            };
            return Some(Message {
                birth,
                destination: drawn.destination,
                bytes: spec.message.0,
            });
        }
        let words = self.traffic.draw(u64::from(node), k);
        let (destination, bytes) = self.drawn(job, logical, k, words)?;
        let birth = if births.rule == BirthRule::Poisson {
            source.clock + births::whole_ps(0.5 - ln(unit(words[0])) * births.gap_of(logical))
        } else {
            self.timed(job, (node, logical), k, (words[0], source.clock))?
        };
        if birth >= self.stop {
            return None;
        }
        source.made += 1;
        source.clock = birth;
        Some(Message {
            birth,
            destination,
            bytes,
        })
    }

    /// Gap and destination of message `k` of a node of uniform traffic with exponential gaps.
    #[inline(always)]
    fn draw_one(&self, job: &Job, births: &Births, (node, logical): (u32, u32), k: u64) -> DrawnAhead {
        let words = self.traffic.draw(u64::from(node), k);
        let to = Destinations::one_of_the_others(job.nodes.len(), logical, words[1]);
        DrawnAhead {
            gap: births::whole_ps(0.5 - ln(unit(words[0])) * births.gap),
            destination: births.first.map_or_else(|| job.nodes[to as usize], |first| first + to),
            tag: DrawnAhead::tag(k),
        }
    }

    /// [`Self::draw_one`] of a message that has not been drawn ahead: the first one, or the first behind a checkpoint or a leap.
    #[cold]
    #[inline(never)]
    fn draw_now(&self, job: &Job, node: (u32, u32), k: u64) -> DrawnAhead {
        match &job.kind {
            JobKind::Synthetic { births, .. } => self.draw_one(job, births, node, k),
            _ => DrawnAhead::default(),
        }
    }

    /// [`Self::generate`] of a job whose messages are planned.
    #[inline(never)]
    fn planned(&self, job: &Job, logical: u32, source: &mut Source) -> Option<Message> {
        match &job.kind {
            JobKind::Pairs(plan) => {
                let message = plan.stream(logical as usize, source)?;
                let birth = message.birth + job.starts.of(logical);
                Some(Message { birth, ..message })
            }
            JobKind::Listed(listed) => listed.next(logical, source, self.stop),
            JobKind::Synthetic { .. } | JobKind::Endpoints | JobKind::Idle => None,
        }
    }

    /// Destination and size of message `k` of a node of synthetic traffic, if it has one.
    #[inline(never)]
    fn drawn(&self, job: &Job, logical: u32, k: u64, words: [u64; 2]) -> Option<(u32, u64)> {
        let JobKind::Synthetic { destinations, spec, .. } = &job.kind else {
            return None;
        };
        let (destination, bytes) = destinations.pick_sized(&job.nodes, logical, k, words, spec.message.0);
        (destination != NOBODY).then_some((destination, bytes))
    }

    /// The birth of message `k` of a node whose gaps are not exponential, by a word of its own and the birth before; none of one that waits for
    /// an answer.
    #[inline(never)]
    fn timed(&self, job: &Job, (node, logical): (u32, u32), k: u64, (word, last): (u64, u64)) -> Option<u64> {
        let JobKind::Synthetic { births, .. } = &job.kind else {
            return None;
        };
        let drawing = Drawing {
            k,
            word,
            last,
            start: job.starts.of(logical),
            phases: (&self.phases, [u64::from(node), 0, 0, stream::PHASE]),
        };
        births.at(logical, &drawing)
    }

    /// What `node` does at its start.
    pub fn on_start(&self, node: u32, source: &mut Source, now: u64) -> Reaction {
        match self.window(node) {
            Some(window) => Reaction::Window(window),
            None => self.next_batch(node, source, now),
        }
    }

    /// What `node` does when a message of `from` is complete; `ack` says whether it is an acknowledgement.
    pub fn on_delivery(
        &self,
        node: u32,
        (source, ledger): (&mut Source, &mut Ledger),
        (from, ack): (u32, bool),
        now: u64,
    ) -> Reaction {
        let (job, logical) = self.members[node as usize];
        if let JobKind::Synthetic { spec, .. } = &self.jobs[job as usize].kind {
            return match ack && logical != NOBODY {
                true => Reaction::Window(1),
                false => Reaction::Ack(Message {
                    birth: now,
                    destination: from,
                    bytes: spec.reply().0,
                }),
            };
        }
        if ack {
            return self.next_batch(node, source, now);
        }
        let Some((plan, l)) = self.plan(node) else {
            return Reaction::None;
        };
        ledger.received += 1;
        let batch = match plan.spec.mode {
            PairMode::Batch { batch } => batch,
            _ => 1,
        };
        // The last batch may be short: it ends with the last message.
        ledger.taken += 1;
        let done = ledger.taken.is_multiple_of(plan.spec.messages);
        if ledger.received < batch && !done {
            return Reaction::None;
        }
        ledger.received = 0;
        Reaction::Ack(Message {
            birth: now,
            destination: plan.partner[l],
            bytes: plan.spec.ack.0,
        })
    }

    /// Messages of `node` that have not been answered yet, at most, if others wait for answers.
    #[inline(always)]
    pub fn window(&self, node: u32) -> Option<u32> {
        let (job, logical) = self.members[node as usize];
        match &self.jobs[job as usize].kind {
            JobKind::Synthetic { spec, .. } if logical != NOBODY => spec.window,
            _ => None,
        }
    }

    /// The next message of a [window](Reaction::Window) of `node`, if there is one.
    pub fn next_of_window(&self, node: u32, source: &mut Source, now: u64) -> Option<Message> {
        if now >= self.stop {
            return None;
        }
        let (job, logical) = self.members[node as usize];
        let job = &self.jobs[job as usize];
        let k = source.made;
        if !matches!(&job.kind, JobKind::Synthetic { births, .. } if k < births.count) {
            return None;
        }
        let (destination, bytes) = self.drawn(job, logical, k, self.traffic.draw(u64::from(node), k))?;
        source.made += 1;
        source.clock = now;
        Some(Message {
            birth: now,
            destination,
            bytes,
        })
    }

    fn plan(&self, node: u32) -> Option<(&PairPlan, usize)> {
        let (job, logical) = self.members[node as usize];
        match &self.jobs.get(job as usize)?.kind {
            JobKind::Pairs(plan) if logical != NOBODY => Some((plan, logical as usize)),
            _ => None,
        }
    }

    fn next_batch(&self, node: u32, source: &mut Source, now: u64) -> Reaction {
        let Some((plan, l)) = self.plan(node) else {
            return Reaction::None;
        };
        let left = plan.spec.messages - source.made;
        let count = match plan.spec.mode {
            PairMode::Batch { batch } => left.min(u64::from(batch)) as u32,
            _ => left.min(1) as u32,
        };
        if count == 0 {
            return Reaction::None;
        }
        source.made += u64::from(count);
        source.clock = now;
        let message = Message {
            birth: now,
            destination: plan.partner[l],
            bytes: plan.spec.message.0,
        };
        Reaction::Data { count, message }
    }
}

/// The physical nodes of every job by logical node, see [`place`].
pub fn places(jobs: &[JobSpec], topology: &Topology, rails: u32, seed: u64) -> Result<Vec<Vec<u32>>, BuildError> {
    let unplaced = jobs.iter().map(|job| UnplacedJob {
        name: &job.name,
        nodes: job.nodes,
        placement: &job.placement,
    });
    place(&unplaced.collect::<Vec<_>>(), topology, rails, seed)
}

/// Nodes per host, if the network has hosts of so many.
fn hosts(jobs: &[JobSpec], topology: &Topology) -> Result<u32, BuildError> {
    let rails = rails_of(jobs);
    if let Some(job) = without_rails(jobs) {
        let reason = format!("{:?} has no hosts of {rails} rails", jobs[job].name);
        let hint = Some("with several rails all jobs have ranks, and as many rails");
        return Err(BuildError::field(&format!("job.{job}.work"), reason, hint));
    }
    let nodes = |router: u32| topology.nodes_of(router).len() as u32;
    if let Some(router) = (0..topology.n_routers()).find(|&router| !nodes(router).is_multiple_of(rails)) {
        let nodes = nodes(router);
        let name = topology.router_name(router);
        let reason = format!("the {nodes} nodes of router {name} are no whole number of hosts with {rails} rails");
        return Err(BuildError::field("mpi.rails", reason, Some(ONE_ROUTER)));
    }
    Ok(rails)
}

/// Plans the ranks of a job.
fn ranks(work: &Ranks, nodes: &[u32], (terms, job): (&WorkTerms, usize), key: &str) -> Result<Plan, BuildError> {
    let room = (nodes.len() as u64 * u64::from(work.per_node)).min(1 << 28) as u32;
    let order = (Order::Shuffled(own_seed(terms, job)), terms.perturbed.is_some());
    let mut parts = Vec::new();
    for (i, part) in work.parts.iter().enumerate() {
        let at = |field: &str| match work.parts.len() {
            1 => format!("{key}.{field}"),
            _ => format!("{key}.{i}.{field}"),
        };
        let program = match part.motif.kind.as_str() {
            given_graph::KIND => given_graph::read(&part.motif),
            lent_program::KIND => lent_program::read(&part.motif),
            _ => motif::program(&part.motif, room, order),
        };
        let program =
            program.map_err(|misfit| BuildError::field(&at(misfit.field), misfit.reason, Some(&misfit.hint)))?;
        parts.push((program, part.iterations));
    }
    Plan::new(parts, work, nodes, Starts::new(terms, job, work.start))
        .map_err(|reason| BuildError::field(key, reason, None))
}

impl JobKind {
    /// Every size of synthetic messages, and of their answers.
    fn sizes(&self) -> Vec<u64> {
        let JobKind::Synthetic { spec, destinations, .. } = self else {
            return Vec::new();
        };
        let answers = spec.window.map(|_| spec.reply().0);
        destinations.sizes(spec.message.0).into_iter().chain(answers).collect()
    }

    /// `true` if its nodes act on deliveries.
    fn reacts(&self) -> bool {
        match self {
            JobKind::Synthetic { spec, .. } => spec.window.is_some(),
            JobKind::Listed(_) | JobKind::Idle => false,
            JobKind::Pairs(plan) => plan.spec.mode != PairMode::Stream,
            JobKind::Endpoints => true,
        }
    }
}
