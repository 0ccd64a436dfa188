//! MPI ranks on a network: matching, eager and rendezvous messages. What they do, and what they remember, is in the crate `work`.

pub mod account;
mod endpoint;

pub use account::RankRow;

use crate::envelope::{Envelope, SENT};
use crate::incoming;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::nic::ask_for_endpoint;
use crate::observe::{NO_MESSAGE, Record};
use crate::packet::{Kind, Packet};
use crate::state::{Incoming, NONE, State};
use des::{Event, FORESEEN, Journal, Sink};
use endpoint::Endpoint;
pub(crate) use endpoint::{items, peer_places};
use std::marker::PhantomData;
use std::ops::Range;
use work::graph::state::{EMPTY, GraphProgress, RankLane};
use work::ranks::state::Rank;
use work::ranks::{GraphNeeds, Plan, Plans};

/// Channel number of an event that wakes a rank for an operation of its graph.
const OPERATION: u8 = 2;
/// Channel number of an event that ends a collective that a program has begun.
const BEGUN: u8 = 3;
/// Channel number of an event by which something in the inbox of a rank can be seen.
const HEARD: u8 = 4;

/// Makes the records of the ranks of the routers at neighbouring places.
pub(crate) fn start(net: &Network, lps: &Range<u32>, part: &Part, st: &mut State) {
    let Some(plans) = net.workload.ranks() else {
        return;
    };
    let ranks = plans.first_slot(part.nodes.start)..plans.first_slot(part.nodes.end);
    st.mpi.ranks.fill(ranks.start, vec![Rank::new(); ranks.len()]);
    st.mpi.peer_heads.fill(
        ranks.start << plans.list_bits,
        vec![NONE; ranks.len() << plans.list_bits],
    );
    st.mpi.free_items.fill(lps.start, vec![NONE; lps.len()]);
    if plans.jobs.iter().flatten().any(|plan| plan.has_graphs) {
        start_graphs(net, lps, ranks, st);
    }
}

/// Makes the records of ranks that play graphs.
fn start_graphs(net: &Network, lps: &Range<u32>, ranks: Range<u32>, st: &mut State) {
    let mut progress = vec![GraphProgress::default(); ranks.len()];
    let (mut words, mut lanes, mut lists) = (0, 0, 0);
    let mut see = |slot: u32, needs: GraphNeeds| {
        let own = GraphProgress {
            words,
            lanes,
            lists,
            list_bits: needs.list_bits,
            wild: needs.wild.into(),
            n_lanes: needs.lanes,
            n_words: needs.words,
            ..GraphProgress::default()
        };
        words += needs.words;
        lanes += needs.lanes;
        lists += own.n_lists();
        progress[(slot - ranks.start) as usize] = own;
    };
    for lp in lps.clone() {
        for (slot, plan, number) in account::ranks_at(net, lp) {
            if plan.has_graphs {
                see(slot, plan.graph_needs(number));
            }
        }
    }
    let free = RankLane {
        holder: NONE,
        first: NONE,
    };
    st.mpi.graph.progress.fill(ranks.start, progress);
    st.mpi.graph.words.fill(0, vec![0; words as usize]);
    st.mpi.graph.lanes.fill(0, vec![free; lanes as usize]);
    st.mpi.graph.lists.fill(0, vec![EMPTY; lists as usize]);
    st.mpi.graph.free_tasks.fill(lps.start, vec![NONE; lps.len()]);
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
    let mut outlet = Outlet {
        sink,
        model: PhantomData,
    };
    run(net, st, j, at, job, event, &mut outlet);
}

/// Where events go, and what is shown, without a word of which engine and router model there are.
trait Out {
    fn send(&mut self, event: Packet);
    fn show(&mut self, record: Record);
}

struct Outlet<'a, M, S> {
    sink: &'a mut S,
    model: PhantomData<M>,
}

impl<M: RouterModel, S: Sink<Fabric<M>>> Out for Outlet<'_, M, S> {
    fn send(&mut self, event: Packet) {
        self.sink.send(event);
    }

    fn show(&mut self, record: Record) {
        self.sink.record(record);
    }
}

/// The envelope of a rank's message to a host, all of which has come, and the numbers of the ranks that it is from and for.
fn between(net: &Network, (plan, logical): (&Plan, u32), message: &Incoming) -> Option<(Envelope, u32, u32)> {
    let envelope = Envelope::from_words(message.envelope())?;
    let (.., from) = net.workload.ranks_of(message.source)?;
    let from = plan.rank(from, envelope.from.into())?;
    let to = plan.rank(logical, envelope.to.into())?;
    Some((envelope, from, to))
}

/// Asks the processor for what ranks will look up when messages are handed to them: of these events, by their places, with the messages'
/// records.
pub(crate) fn foresee(net: &Network, st: &State, events: &[Packet], handed: &[(usize, u32)]) {
    let mut sought = [(NONE, NONE); FORESEEN];
    let mut n = 0;
    for &(_, record) in handed {
        net.workload.ask_for_member(st.incoming.get(record).source);
    }
    for &(i, record) in handed {
        let (event, entry) = (&events[i], st.incoming.get(record));
        // What was found may be the record of another message, of which not all has come.
        if (entry.source, entry.label) != (event.source(), event.label()) {
            continue;
        }
        let lp = event.lp();
        let arrives = event.is_arrival();
        let node = match arrives {
            true => event.destination(),
            false => net.sites[lp as usize].node + u32::from(event.port()),
        };
        let place = net.node_place(lp, node);
        if arrives {
            let before = u64::from(event.part_number()) * u64::from(net.packet);
            if before + u64::from(event.size()) < entry.bytes {
                continue;
            }
            ask_for_endpoint(net, st, lp, place);
            ask_for_item(st, lp);
        }
        let Some((plans, plan, logical)) = net.workload.ranks_of(node) else {
            continue;
        };
        let Some((envelope, from, _)) = between(net, (plan, logical), entry) else {
            continue;
        };
        if net.interface.control_first && envelope.purpose.is_answered() {
            st.controls.prefetch_one(place);
        }
        let slot = plans.first_slot(place) + u32::from(envelope.to);
        let list = plans.list_of(slot, from);
        st.mpi.ranks.prefetch_front(slot, Rank::AT_HAND);
        st.mpi.peer_heads.prefetch_one(list);
        sought[n] = (list, from);
        n += 1;
    }
    for &(list, _) in &sought[..n] {
        ask_for_peers(st, list);
    }
    for &(list, from) in &sought[..n] {
        if let Some(peer) = st.mpi.find_peer(list, from) {
            ask_for_items(st, st.mpi.peer(peer).posted);
        }
        // A rank that goes on posts receives from others, whose messages may be there.
        let head = *st.mpi.peer_heads.get(list);
        if head != NONE {
            for peer in &st.mpi.peers.get(head).peers {
                ask_for_items(st, peer.arrived);
            }
        }
    }
}

/// Asks for the first item of a list.
#[inline(always)]
fn ask_for_items(st: &State, head: u32) {
    if head != NONE {
        st.mpi.items.prefetch_one(head);
    }
}

/// Asks for the first peers of a list.
#[inline(always)]
fn ask_for_peers(st: &State, list: u32) {
    let head = *st.mpi.peer_heads.get(list);
    if head != NONE {
        st.mpi.peers.prefetch(head, head + 1);
    }
}

/// Asks for the item that the next receive of a router will be.
#[inline(always)]
fn ask_for_item(st: &State, lp: u32) {
    ask_for_items(st, *st.mpi.free_items.get(lp));
}

/// Asks for what a rank will look up that hears of something, as far as the event tells which rank it is.
#[inline(always)]
pub(crate) fn foresee_rank(net: &Network, st: &State, place: u32, event: &Packet) {
    let Some(plans) = net.workload.ranks() else {
        return;
    };
    ask_for_item(st, event.lp());
    if event.kind() != Kind::Rank {
        return;
    }
    let slot = plans.first_slot(place) + (event.value() & 0xFF) as u32;
    st.mpi.ranks.prefetch_front(slot, Rank::AT_HAND);
    if plans.list_bits == 0 {
        ask_for_peers(st, slot);
    }
}

/// The same for every router model and engine.
fn run<J: Journal>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    (lp, place, node): (u32, u32, u32),
    (plans, plan, logical): (&Plans, &Plan, u32),
    event: &Packet,
    out: &mut dyn Out,
) {
    let now = event.time().0;
    // Ranks are at the host's first rail, whichever of them has heard of something.
    let rail = node % plans.rails;
    let (place, home) = (place - rail, node - rail);
    let mut endpoint = Endpoint {
        net,
        st,
        j,
        out,
        plans,
        plan,
        lp,
        place,
        first: plans.first_slot(place),
        node: home,
        local: 0,
        number: 0,
        now,
        birth: 0,
        message: [NO_MESSAGE; 3],
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
            let Some((envelope, from, number)) = between(net, (plan, logical), &entry) else {
                return;
            };
            (endpoint.local, endpoint.number, endpoint.birth) = (envelope.to, number, entry.birth);
            endpoint.message = [event.source(), node, event.label()];
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
                return match event.vc() {
                    OPERATION => endpoint.woken((value >> 8) as u32),
                    BEGUN if !endpoint.begun_ends((value >> 8) as u32) => {}
                    HEARD => endpoint.see_inbox(),
                    _ => endpoint.run(),
                };
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
