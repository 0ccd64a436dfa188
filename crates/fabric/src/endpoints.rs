//! What works at the nodes, whichever kind of work it is: ranks, memory nodes, pairs. Below are the network and its interfaces, which know
//! none of them; each kind has a module of its own.

use crate::memory;
use crate::mpi;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::nic::{AtInterface, post};
use crate::observe::Record;
use crate::packet::{ACK, EnvelopeWords, Kind, Packet};
use crate::state::State;
use des::{Event, Journal, Sink, Torn};
use std::ops::Range;
use work::workload::Reaction;
use work::{memory as nodes, ranks};

/// Makes the records of what works at the nodes of the routers at neighbouring places.
pub(crate) fn start(net: &Network, lps: &Range<u32>, part: &Part, st: &mut State) {
    mpi::start(net, lps, part, st);
    memory::start(net, part, st);
}

/// Appends what works at the node at `place`.
pub(crate) fn pack(net: &Network, st: &State, place: u32, out: &mut Vec<u8>) {
    if let Some(plans) = net.workload.ranks().filter(|plans| plans.begins_host(place)) {
        ranks::pack(plans, &st.mpi, place, out);
    }
    if let Some(plan) = net.workload.memory() {
        nodes::pack(plan, &st.memory, place, out);
    }
}

/// Sets what works at node `number`, which is at `place`, to what [`pack`] has written.
pub(crate) fn unpack(
    net: &Network,
    st: &mut State,
    (place, number): (u32, u32),
    input: &mut &[u8],
) -> Result<(), Torn> {
    if let Some(plans) = net.workload.ranks().filter(|plans| plans.begins_host(place)) {
        let ranks = net.workload.ranks_of(number).map_or(0, |(_, plan, _)| plan.ranks);
        ranks::unpack(plans, |rank| rank < ranks, &mut st.mpi, place, input)?;
    }
    if let Some(plan) = net.workload.memory() {
        nodes::unpack(plan, &mut st.memory, place, input)?;
    }
    Ok(())
}

/// Something has happened at a node: its start, a delivery, or an event of its own.
pub(crate) fn react<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    fabric: &Fabric<M>,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    sink: &mut S,
) {
    let net = &fabric.net;
    let site = net.sites[lp as usize];
    let now = event.time().0;
    let node = site.node + u32::from(event.port());
    let place = net.node_place(lp, node);
    let job = net.workload.ranks_of(node);
    // A rank may use all rails of its host, and looks at what they have yet to send.
    let rails = job.map_or(1, |(plans, ..)| plans.rails);
    for rail in 0..rails {
        let behind = node % rails;
        let (place, node) = (place - behind + rail, node - behind + rail);
        if *st.due.get(place) < now {
            let interface = AtInterface { place, node, end: now };
            fabric.advance(st, j, lp, interface, sink);
        }
    }
    if let Some(job) = job {
        return mpi::react::<M, J, S>(net, st, j, (lp, place, node), job, event, sink);
    }
    if let Some(job) = net.workload.memory_of(node) {
        return memory::react::<M, J, S>(net, st, j, (lp, place, node), job, event, sink);
    }
    let source = st.sources.edit(j, place);
    let acknowledged = event.kind() == Kind::Delivered && event.is_ack();
    if acknowledged && net.workload.window(node).is_none() {
        let batch = source.clock;
        sink.record(Record::Acknowledged { node, batch, time: now });
    }
    let reaction = match event.kind() {
        Kind::Start => net.workload.on_start(node, source, now),
        _ => net.workload.on_delivery(
            node,
            (source, st.ledgers.edit(j, place)),
            (event.source(), acknowledged),
            now,
        ),
    };
    match reaction {
        Reaction::None => {}
        Reaction::Data { count, message } => {
            for _ in 0..count {
                post(net, st, j, lp, place, message, (0, EnvelopeWords::default()));
            }
        }
        Reaction::Window(count) => {
            for _ in 0..count {
                let source = st.sources.edit(j, place);
                let Some(message) = net.workload.next_of_window(node, source, now) else {
                    break;
                };
                post(net, st, j, lp, place, message, (0, EnvelopeWords::default()));
            }
        }
        Reaction::Ack(message) => post(net, st, j, lp, place, message, (ACK, EnvelopeWords::default())),
    }
}
