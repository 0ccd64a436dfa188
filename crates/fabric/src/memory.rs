//! Memory nodes: cores with caches, a directory and memory at every node, one address space over all of them.

pub mod account;
pub mod caches;
pub mod directory;
mod endpoint;
pub mod message;
pub mod misses;
mod packing;
pub mod patterns;
pub mod plan;
pub mod protocol;
pub mod shape;
pub mod spec;
pub mod state;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod word;

pub use account::MemoryRow;
pub(crate) use packing::{pack, unpack};
pub use plan::Plan;

use crate::incoming;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::packet::{Kind, Packet};
use crate::state::{NONE, State};
use des::{Event, Journal, Sink};
use endpoint::{Around, Endpoint};
use message::Message;
use shape::Shape;
use state::{Access, Beyond, Core, Line, Node};

/// Who performed an access, and so how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The core's own cache.
    L1,
    /// The node's shared cache.
    L2,
    /// The cache of another core of the node.
    Neighbour,
    /// What has come from beyond the node's caches.
    Message,
}

/// What a node's controllers cause outside its caches and directory.
pub trait Effects<J> {
    /// A message sets out, to the own node as well; where the home sends a line, it is read from memory first.
    fn send(&mut self, st: &mut State, j: &mut J, message: Message, from_memory: bool);

    /// An access has been performed: its place, and how often the line had been written before it.
    fn performed(&mut self, st: &mut State, j: &mut J, access: u32, version: u32, by: By);

    /// The version of a line in memory, by its entry.
    fn load(&mut self, st: &State, entry: u32) -> u32;

    /// A line is written to memory.
    fn store(&mut self, st: &mut State, j: &mut J, entry: u32, version: u32);

    /// A cell of a table has been used; for tests of the tables.
    #[inline(always)]
    fn used_copy(&mut self, _: protocol::Held, _: protocol::CopyEvent) {}

    /// A cell of a table has been used; for tests of the tables.
    #[inline(always)]
    fn used_home(&mut self, _: protocol::Home, _: protocol::HomeEvent) {}
}

/// A node with everything around it.
pub struct Controller<'a, J, E> {
    /// Sizes.
    pub shape: &'a Shape,
    /// All columns.
    pub st: &'a mut State,
    /// Their journal.
    pub j: &'a mut J,
    /// What it causes outside.
    pub fx: &'a mut E,
    /// The node, by its number among memory nodes.
    pub node: u32,
    /// Its place in the columns.
    pub place: u32,
}

/// Makes the records of the nodes of neighbouring routers.
pub(crate) fn start(net: &Network, part: &Part, st: &mut State) {
    let Some(plan) = net.workload.memory() else {
        return;
    };
    let (first, n, shape) = (part.nodes.start, part.nodes.len(), &plan.shape);
    let cores = n * shape.cores as usize;
    st.memory_nodes.fill(first, vec![Node::default(); n]);
    st.beyond.fill(first, vec![Beyond::default(); n]);
    st.cores.fill(first * shape.cores, vec![Core::default(); cores]);
    let lines = |cache: shape::CacheShape, caches: u32| vec![Line::EMPTY; (cache.lines() * caches) as usize];
    st.l1_lines
        .fill(first * shape.cores * shape.l1.lines(), lines(shape.l1, cores as u32));
    st.l2_lines.fill(first * shape.l2.lines(), lines(shape.l2, n as u32));
    st.directory_lines
        .fill(first * shape.directory.lines(), lines(shape.directory, n as u32));
    st.banks.fill(first * shape.banks, vec![0; n * shape.banks as usize]);
    let accesses = shape.accesses();
    st.accesses
        .fill(first * accesses, vec![Access::NONE; n * accesses as usize]);
    let bits = shape.bucket_bits;
    st.entry_heads.fill(first << bits, vec![NONE; n << bits]);
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
        net,
        plan,
        send_event: &mut send_event,
        lp,
        place: place - interface,
        port: event.port() - interface as u16,
        node: logical,
        now: event.time().0,
        delay: 0,
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
    let mut endpoint = Endpoint { net, st, j, around };
    match event.kind() {
        Kind::Start => endpoint.start(),
        Kind::Delivered => {
            let key = (event.source(), node, event.label());
            let entry = incoming::take(net, endpoint.st, endpoint.j, lp, key);
            if let Some((_, from)) = net.workload.memory_of(entry.source) {
                endpoint.arrive(from, entry.about, entry.birth, entry.bytes);
            }
        }
        _ => endpoint.step(event),
    }
}
