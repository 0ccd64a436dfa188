//! Memory nodes at work: times, events, and messages on the network. What caches and directories do is in the crate `work`.

pub mod account;
mod endpoint;

pub use account::MemoryRow;

use crate::incoming;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::packet::{Kind, Packet};
use crate::state::{NONE, State};
use des::{Event, Journal, Sink};
use endpoint::{Around, MemoryEndpoint, outbox};
use work::memory::Plan;
use work::memory::shape::CacheShape;
use work::memory::state::{Access, Beyond, Core, Line, MemoryNode};

/// Makes the records of the nodes of neighbouring routers.
pub(crate) fn start(net: &Network, part: &Part, st: &mut State) {
    let Some(plan) = net.workload.memory() else {
        return;
    };
    let (first, n, shape) = (part.nodes.start, part.nodes.len(), &plan.shape);
    let cores = n * shape.cores as usize;
    st.memory.nodes.fill(first, vec![MemoryNode::default(); n]);
    st.memory.beyond.fill(first, vec![Beyond::default(); n]);
    st.memory.cores.fill(first * shape.cores, vec![Core::default(); cores]);
    let lines = |cache: CacheShape, caches: u32| vec![Line::EMPTY; (cache.lines() * caches) as usize];
    st.memory
        .l1_lines
        .fill(first * shape.cores * shape.l1.lines(), lines(shape.l1, cores as u32));
    st.memory
        .l2_lines
        .fill(first * shape.l2.lines(), lines(shape.l2, n as u32));
    st.memory
        .directory_lines
        .fill(first * shape.directory.lines(), lines(shape.directory, n as u32));
    st.memory
        .banks
        .fill(first * shape.banks, vec![0; n * shape.banks as usize]);
    let accesses = shape.accesses();
    st.memory
        .accesses
        .fill(first * accesses, vec![Access::NONE; n * accesses as usize]);
    let bits = shape.bucket_bits;
    st.memory.entry_heads.fill(first << bits, vec![NONE; n << bits]);
}

/// An event for a memory node: (place of its router, its place, its number, its number among memory nodes).
#[inline(never)]
pub(crate) fn react<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    (lp, place, node): (u32, u32, u32),
    (plan, logical): (&Plan, u32),
    event: &Packet,
    sink: &mut S,
) {
    let mut send_event = |event| sink.send(event);
    // All of the node is with its first interface.
    let interface = node % plan.shape.interfaces;
    let around = Around {
        plan,
        outbox: outbox(),
        send_event: &mut send_event,
        lp,
        place: place - interface,
        port: event.port() - interface as u16,
        node: logical,
        now: event.time().0,
        delay: 0,
        fetch: 0,
    };
    run(net, st, j, around, node, event);
}

/// The same for every router model.
fn run<'a, J: Journal>(
    net: &'a Network,
    st: &'a mut State,
    j: &'a mut J,
    around: Around<'a>,
    node: u32,
    event: &Packet,
) {
    let lp = around.lp;
    let mut endpoint = MemoryEndpoint { net, st, j, around };
    match event.kind() {
        Kind::Start => endpoint.start(),
        Kind::Delivered => {
            let key = (event.source(), node, event.label());
            let entry = incoming::take(net, endpoint.st, endpoint.j, lp, key);
            if let Some((_, from)) = net.workload.memory_of(entry.source) {
                endpoint.arrive((entry.source, from), node, (entry.about, entry.birth, entry.bytes));
            }
        }
        _ => endpoint.step(event),
    }
    endpoint.hand_over();
}
