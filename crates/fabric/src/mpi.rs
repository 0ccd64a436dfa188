//! MPI ranks: programs of operations, matching, eager and rendezvous messages, collectives as algorithms.

pub mod account;
pub mod collective;
mod endpoint;
pub mod envelope;
pub(crate) mod nth;
pub mod op;
mod packing;
pub mod plan;
pub mod spec;
pub mod state;
mod traffic;

pub use account::RankRow;
pub use op::{Action, Collective, CollectiveKind, Op, Transfer};
pub(crate) use packing::{pack, unpack};
pub use plan::{Plan, Plans};

use crate::incoming;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::packet::{Kind, Packet};
use crate::state::{NONE, Post, State};
use des::{Event, Journal, Sink};
use endpoint::{Endpoint, SENT};
use envelope::Envelope;
use state::Rank;
use std::ops::Range;

/// Most bytes that every message may have besides the rank's.
pub const HEADER: u64 = 1 << 16;
/// Largest message of a rank (bytes): with any header it fits the 40 bits that a notice has for sizes.
pub const LARGEST: u64 = (1 << 40) - 1 - HEADER;
/// Most interfaces of a host.
pub const MAX_RAILS: u32 = 64;

/// What the ranks of a job do, made up as they get there: a pure function of (rank, iteration, index).
pub trait Program: std::fmt::Debug + Send + Sync {
    /// Number of ranks.
    fn ranks(&self) -> u32 {
        self.communicators()[0].size(0)
    }

    /// Operation `index` of a rank in an iteration, `None` when the iteration is over. Time and memory do not grow with the number
    /// of ranks.
    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op>;

    /// Values of `iteration` that make up one iteration of the motif: those of a program that changes as it goes count on.
    fn rounds(&self) -> u32 {
        1
    }

    /// Communicators: the first has all ranks.
    fn communicators(&self) -> &[Communicator];

    /// Bytes from one rank of a communicator to another, both ranks of the job, in a [`CollectiveKind::Alltoallv`].
    fn pair_bytes(&self, communicator: u8, from: u32, to: u32) -> u64 {
        let _ = (communicator, from, to);
        0
    }

    /// About how many other ranks a rank talks to, for the size of its tables.
    fn peers(&self) -> u32;
}

/// A family of disjoint groups of ranks that cover the job; a rank's own communicator is the group it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Communicator {
    /// All ranks.
    World(u32),
    /// Lines of a grid: `size` ranks, `stride` apart. The ranks `base..base + stride * size`, `base` a multiple of that product,
    /// make up `stride` lines.
    Lines {
        /// Ranks of a line.
        size: u32,
        /// Distance of two neighbours on it.
        stride: u32,
    },
    /// Listed: group of each rank and its number there, and the ranks of each group.
    Listed {
        /// (group, number in it) of every rank.
        of: Vec<(u32, u32)>,
        /// Ranks of each group in order.
        groups: Vec<Vec<u32>>,
    },
}

impl Communicator {
    /// Size of the group of `rank`.
    pub fn size(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(n) => *n,
            Communicator::Lines { size, .. } => *size,
            Communicator::Listed { of, groups } => groups[of[rank as usize].0 as usize].len() as u32,
        }
    }

    /// Number of `rank` in its group.
    pub fn number(&self, rank: u32) -> u32 {
        match self {
            Communicator::World(_) => rank,
            Communicator::Lines { size, stride } => rank / stride % size,
            Communicator::Listed { of, .. } => of[rank as usize].1,
        }
    }

    /// The rank of the job with a number in the group of `rank`.
    pub fn rank(&self, rank: u32, number: u32) -> u32 {
        match self {
            Communicator::World(_) => number,
            Communicator::Lines { size, stride } => {
                let own = rank / stride % size;
                rank - own * stride + number * stride
            }
            Communicator::Listed { of, groups } => groups[of[rank as usize].0 as usize][number as usize],
        }
    }
}

/// Makes the records of the ranks of the routers at neighbouring places.
pub(crate) fn start(net: &Network, lps: &Range<u32>, part: &Part, st: &mut State) {
    let Some(plans) = net.workload.ranks() else {
        return;
    };
    let ranks = plans.first_slot(part.nodes.start)..plans.first_slot(part.nodes.end);
    st.ranks.fill(ranks.start, vec![Rank::new(); ranks.len()]);
    st.peer_heads.fill(
        ranks.start << plans.bucket_bits,
        vec![NONE; ranks.len() << plans.bucket_bits],
    );
    st.free_items.fill(lps.start, vec![NONE; lps.len()]);
}

/// What a rank hears when the bytes of a posted message have left, if it waits for that.
#[inline(never)]
pub(crate) fn sent(net: &Network, post: &Post) -> Option<Packet> {
    let envelope = Envelope::from_word(post.envelope)?;
    let (_, plan, _) = net.workload.ranks_of(post.destination)?;
    endpoint::sent(envelope, post.destination, plan.costs.rendezvous)
}

/// An event for the ranks of a host at one of its rails: (place of its router, its place, its number).
#[inline(never)]
pub(crate) fn react<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    at: (u32, u32, u32),
    job: (&Plans, &Plan, u32),
    event: &Packet,
    sink: &mut S,
) {
    let mut send_event = |event| sink.send(event);
    run(net, st, j, at, job, event, &mut send_event);
}

/// The same for every router model and engine.
fn run<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    (lp, place, node): (u32, u32, u32),
    (plans, plan, logical): (&Plans, &Plan, u32),
    event: &Packet,
    send_event: &mut dyn FnMut(Packet),
) {
    let now = event.time().0;
    // Ranks are at the host's first rail, whichever of them has heard of something.
    let rail = node % plans.rails;
    let (place, home) = (place - rail, node - rail);
    let mut endpoint = Endpoint {
        net,
        st,
        j,
        send_event,
        plans,
        plan,
        lp,
        place,
        first: plans.first_slot(place),
        node: home,
        local: 0,
        number: 0,
        now,
    };
    match event.kind() {
        Kind::Start => {
            for local in 0..plan.per_node {
                if let Some(number) = plan.rank(logical, local) {
                    (endpoint.local, endpoint.number) = (local as u8, number);
                    endpoint.start();
                }
            }
        }
        Kind::Delivered => {
            let key = (event.source(), node, event.label());
            let entry = incoming::take(net, endpoint.st, endpoint.j, lp, key);
            let Some(envelope) = Envelope::from_word(entry.about) else {
                return;
            };
            let Some((_, _, from)) = net.workload.ranks_of(entry.source) else {
                return;
            };
            let ranks = (
                plan.rank(from, envelope.from.into()),
                plan.rank(logical, envelope.to.into()),
            );
            let (Some(from), Some(number)) = ranks else {
                return;
            };
            (endpoint.local, endpoint.number) = (envelope.to, number);
            if endpoint.arrive(from, &envelope, entry.bytes) {
                endpoint.run();
            }
        }
        _ => {
            let value = event.value();
            let Some(number) = plan.rank(logical, (value & 0xFF) as u32) else {
                return;
            };
            (endpoint.local, endpoint.number) = (value as u8, number);
            if event.vc() != SENT {
                return endpoint.run();
            }
            let Some((_, _, to)) = net.workload.ranks_of(event.destination()) else {
                return;
            };
            let Some(to) = plan.rank(to, (value >> 8 & 0xFF) as u32) else {
                return;
            };
            if endpoint.sent(to, value) {
                endpoint.run();
            }
        }
    }
}
