//! What events will touch, asked for before they are handled.
//!
//! Where messages have records, what an event reads is all over the memory, one read telling where the next is. A number of events are walked
//! through together: memory answers their questions side by side, where their handlers would wait for each.

use crate::incoming::{self, TOGETHER};
use crate::mpi;
use crate::network::Network;
use crate::network::model::RouterModel;
use crate::packet::{Kind, Packet};
use crate::state::{NONE, State};
use des::Event;

/// Whether events tell which ports they will touch: where a router has few of them. Else all of its ports are asked for at once, which is
/// dear where most are not needed, and cheap where they are.
#[inline(always)]
pub(crate) fn tells_ports(net: &Network, each: usize) -> bool {
    each < net.few() && looks_ahead(net) && !net.routing.is_asked_first()
}

/// [`Network::few`] of routers so wide that events are worth a look for their ports alone.
const WIDE: usize = 16;

/// Whether events are looked at before they are handled: where messages have records, and where routers are wide.
#[inline(always)]
fn looks_ahead(net: &Network) -> bool {
    net.messages.keeps_records || net.few() >= WIDE
}

/// The same for as much as there is to be gained.
pub(crate) fn foresees(net: &Network) -> bool {
    looks_ahead(net) && (net.messages.keeps_records || net.is_large())
}

/// Asks the processor for what these events, of routers of one block with `each` of them on average, will touch.
pub(crate) fn foresee<M: RouterModel>(net: &Network, st: &State, events: &[Packet], each: usize) {
    let with_ports = tells_ports(net, each) && net.is_large();
    let with_ranks = net.workload.ranks().is_some();
    for events in events.chunks(TOGETHER) {
        if with_ports {
            events.iter().for_each(|event| foresee_port::<M>(net, st, event));
        }
        if !net.messages.keeps_records {
            continue;
        }
        let mut handed = [(0, 0); TOGETHER];
        let mut n = 0;
        incoming::foresee(net, st, events, |i, record| {
            if with_ranks && events[i].kind() == Kind::Delivered {
                handed[n] = (i, record);
                n += 1;
            }
        });
        if n > 0 {
            mpi::foresee(net, st, events, &handed[..n]);
        }
    }
}

/// Asks for the output port that a packet or a credit will touch.
#[inline(always)]
fn foresee_port<M: RouterModel>(net: &Network, st: &State, event: &Packet) {
    let site = &net.sites[event.lp() as usize];
    let (port, vc) = match event.kind() {
        Kind::Arrival => {
            let local = event.destination().wrapping_sub(site.node);
            if local < u32::from(site.nodes) {
                (u32::from(site.net) + local, 0)
            } else if M::PLAIN {
                (net.routing.next_minimal(net, site, event), 0)
            } else {
                let way = net.route(site, event);
                (way.port(), way.vc())
            }
        }
        Kind::Credit => (u32::from(event.port()), event.vc()),
        _ => return,
    };
    let port = site.port + port;
    if M::CHANNELS {
        st.channels.prefetch_one(port * net.vcs + u32::from(vc));
    }
    if M::CREDITS_KEEP_TO_CHANNELS && event.kind() == Kind::Credit {
        return;
    }
    st.ports.prefetch_one(port);
    net.peers.prefetch(port as usize, port as usize + 1);
}

/// Asks for the first posted messages of a router's nodes, whose interfaces are in the caches.
#[inline(always)]
pub(crate) fn prefetch_posts(net: &Network, st: &State, lp: u32) {
    for place in net.node_places(lp, &net.sites[lp as usize]) {
        let head = st.nics.get(place).post_head;
        if head != NONE {
            st.posts.prefetch_one(head);
        }
    }
}
