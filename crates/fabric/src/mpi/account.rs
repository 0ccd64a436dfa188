//! What ranks have done, told at the end of a run or on the way.

use super::endpoint::{hashed_items, items, peer_places};
use crate::network::Network;
use crate::state::{NONE, State};
use bytemuck::{Pod, Zeroable};
use des::Time;
use std::iter::once;
use work::graph::state::FIRST_OPERATION;
use work::mpi::op::{ANY_SOURCE, ANY_TAG};
use work::ranks::state::{Fault, Item, Rank, fault, item, waiting};
use work::ranks::{Plan, Plans};

/// A rank at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct RankRow {
    /// Its job.
    pub job: u32,
    /// Its number there.
    pub rank: u32,
    /// Its node, of several rails the first.
    pub node: u32,
    /// What it waits for: one of [`waiting`]. A rank that computes waits for nothing.
    pub waiting: u32,
    /// When its work began (ps).
    pub begun: u64,
    /// When its program was over (ps), `u64::MAX` if it was not.
    pub finished: u64,
    /// Time spent computing (ps).
    pub computed: u64,
    /// Time spent waiting (ps).
    pub waited: u64,
    /// Time spent in overheads and copies (ps).
    pub worked: u64,
    /// Messages to ranks of other nodes.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages to ranks of its own node.
    pub local_messages: u64,
    /// Their bytes.
    pub local_bytes: u64,
    /// Iterations of its motifs that it has behind it.
    pub iterations: u64,
    /// What its program has done wrong.
    pub fault: Fault,
    /// Where it is in its program: part, iteration, operation, step of a collective.
    pub at: [u32; 4],
    /// Its first open request: one of [`item`], the other rank, and the tag; the other rank is its own number if there is none.
    pub stuck: [u32; 4],
}

impl RankRow {
    /// Whether its program is over.
    pub fn is_done(&self) -> bool {
        self.finished != u64::MAX
    }

    /// What its program has done wrong, in words.
    pub fn fault(&self) -> Option<String> {
        let Fault { kind, who, bytes, room } = self.fault;
        let [_, iteration, operation, _] = self.at;
        let what = match kind {
            fault::NONE => return None,
            fault::TRUNCATED => format!("a message of {bytes} B from rank {who} has come to a receive of {room} B"),
            fault::BEGUN => "a collective is begun, which mpi.progress = \"in-calls\" has no place for".to_owned(),
            _ => format!("request {who} is made again while it is pending"),
        };
        Some(format!(
            "rank {} at operation {operation} of iteration {iteration}: {what}",
            self.rank
        ))
    }

    /// What it waits for, in words.
    pub fn words(&self) -> String {
        if self.waiting == waiting::NEWS {
            let what = "a message that it has no receive for, or the end of one of its requests";
            return format!("rank {} waits for news: {what}", self.rank);
        }
        let [kind, peer, tag, context] = self.stuck;
        let peer = match peer {
            ANY_SOURCE => "any rank".to_owned(),
            peer => format!("rank {peer}"),
        };
        let tag = match tag as u16 {
            _ if context & 1 << 7 != 0 => " in a collective".to_owned(),
            ANY_TAG => " with any tag".to_owned(),
            tag => format!(" with tag {tag}"),
        };
        let what = match kind as u8 {
            _ if kind == NONE => return format!("rank {} has not come to its end", self.rank),
            item::SEND => format!("a receive at {peer} for its message{tag}"),
            item::SENDING | item::MATCHED => format!("the bytes of a message between it and {peer}{tag}"),
            _ => format!("a message from {peer}{tag}"),
        };
        match self.waiting {
            waiting::GRAPH => format!("rank {} at operation {} waits for {what}", self.rank, self.at[2]),
            _ => format!("rank {} waits for {what}", self.rank),
        }
    }
}

/// The ranks of a router: the places of their records, their plans and numbers.
pub(crate) fn ranks_at(net: &Network, lp: u32) -> impl Iterator<Item = (u32, &Plan, u32)> {
    ranks_of_jobs_at(net, lp).map(|(slot, _, plan, number)| (slot, plan, number))
}

/// The same with the job of each.
pub(crate) fn ranks_of_jobs_at(net: &Network, lp: u32) -> impl Iterator<Item = (u32, u32, &Plan, u32)> {
    hosts_at(net, lp).flat_map(|(slot, _, (job, plan, logical))| {
        (0..plan.per_node).filter_map(move |local| Some((slot + local, job, plan, plan.rank(logical, local)?)))
    })
}

/// The hosts with ranks of a router: the place of their first rank's record, their first node, and the job.
fn hosts_at(net: &Network, lp: u32) -> impl Iterator<Item = (u32, u32, (u32, &Plan, u32))> {
    let site = &net.sites[lp as usize];
    let nodes = net.node_places(lp, site).zip(site.node_numbers());
    let plans = net.workload.ranks();
    let rails = plans.map_or(1, |plans| plans.rails);
    nodes.step_by(rails as usize).filter_map(move |(place, node)| {
        let job = net.workload.job_of_ranks(node)?;
        Some((plans?.first_slot(place), node, job))
    })
}

/// The ranks of a part of the network.
pub fn see(net: &Network, state: &State, rows: &mut Vec<RankRow>) {
    let Some(plans) = net.workload.ranks() else {
        return;
    };
    for lp in state.routers.range() {
        for (first, node, (job, plan, logical)) in hosts_at(net, lp) {
            for local in 0..plan.per_node {
                let Some(number) = plan.rank(logical, local) else {
                    continue;
                };
                let slot = first + local;
                let rank = *state.mpi.ranks.get(slot);
                rows.push(RankRow {
                    iterations: plan.iterations_done(&rank),
                    ..row((plans, plan), state, slot, rank, [job, number, node])
                });
            }
        }
    }
}

fn row((plans, plan): (&Plans, &Plan), state: &State, slot: u32, rank: Rank, [job, number, node]: [u32; 3]) -> RankRow {
    let phase = plan.phases.get(rank.phase as usize);
    let in_graph = phase.is_some_and(|phase| phase.is_graph) && rank.fault.kind == fault::NONE;
    let stuck = match rank.waiting {
        waiting::NOTHING if !in_graph => None,
        _ if plan.has_graphs => first_of(hashed_items(state, slot)),
        _ => stuck(plans, state, slot, &rank),
    };
    let operation = stuck
        .filter(|_| in_graph)
        .map(|item| item.name.wrapping_sub(FIRST_OPERATION));
    RankRow {
        job,
        rank: number,
        node,
        waiting: if in_graph { waiting::GRAPH } else { rank.waiting },
        begun: rank.begun,
        finished: rank.finished,
        computed: rank.computed,
        waited: rank.waited,
        worked: rank.worked,
        messages: rank.messages,
        bytes: rank.bytes,
        local_messages: rank.local_messages,
        local_bytes: rank.local_bytes,
        iterations: 0,
        fault: rank.fault,
        at: [
            rank.phase,
            rank.iteration,
            operation.unwrap_or(rank.index.saturating_sub(1)),
            rank.step,
        ],
        stuck: stuck.map_or([NONE; 4], |item| {
            [item.kind.into(), item.rank, item.tag.into(), item.context.into()]
        }),
    }
}

/// The open request of a waiting rank that tells most: a receive if there is one, the one from the lowest rank.
fn stuck(plans: &Plans, state: &State, slot: u32, rank: &Rank) -> Option<Item> {
    let peers = peer_places(plans, state, slot).map(|place| state.mpi.peer(place));
    let heads = peers.flat_map(|peer| [peer.posted, peer.pending]);
    first_of(once(rank.wild).chain(heads).flat_map(|head| items(state, head)))
}

/// The open request among items that tells most.
fn first_of<'a>(items: impl Iterator<Item = (u32, &'a Item)>) -> Option<Item> {
    let requests = items
        .map(|(_, item)| *item)
        .filter(|item| matches!(item.kind, item::RECEIVE | item::SEND | item::SENDING | item::MATCHED));
    requests.min_by_key(|item| (item.kind != item::RECEIVE, item.rank, item.tag, item.sequence))
}

/// When the last rank of a set was done; `None` if one was not, or there is none.
pub fn span<'a>(rows: impl Iterator<Item = &'a RankRow>) -> Option<Time> {
    let last = rows.map(|row| row.finished).max()?;
    (last != u64::MAX).then_some(Time(last))
}
