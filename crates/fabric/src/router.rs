//! Router models: what happens between a packet's arrival at a router and its start on the next link.
//!
//! A model is a type without a value; the world is generic over it, so that nothing is decided per event. All models share the
//! columns of [`State`] and the helpers below.

use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Peer, Site};
use crate::packet::{Kind, Packet};
use crate::routing::news::TOLD;
use crate::routing::{Sense, Way};
use crate::state::{Link, NONE, State};
use des::{Journal, Sink, Time};

pub mod credit;
pub mod input_queued;
pub mod late_admission;
pub(crate) mod news;
pub mod sculpin;

pub use credit::Credit;
pub use input_queued::InputQueued;
pub use late_admission::LateAdmission;
pub use sculpin::Sculpin;

/// What waits for a network port at `now`, as `sense` says, in ps of its link, for a packet of `size` bytes; the port has been caught up.
fn congestion<M: RouterModel>(net: &Network, st: &State, port: u32, vc: u8, size: u32, now: u64, sense: Sense) -> u64 {
    if sense.reserve && !net.routing.is_first(vc) {
        let credit = st.channels.get(port * net.vcs + u32::from(vc)).credit;
        if credit < M::queued(net, st, port, vc) + i64::from(size) {
            return u64::MAX;
        }
    }
    let one = sense.per_vc.then_some(vc);
    let mut wait = 0;
    if sense.output {
        wait += M::waiting(net, st, port, one, now);
    }
    if sense.credits {
        let held = |vc: u32| (net.buffer - st.channels.get(port * net.vcs + vc).credit).max(0) as u64;
        let bytes = match one {
            Some(vc) => held(u32::from(vc)),
            None => (0..net.vcs).map(held).sum(),
        };
        wait += net.classes[net.peers[port as usize].class() as usize].time_of(bytes);
    }
    wait
}

/// Chooses the next output of a packet at `now`: (local port, virtual channel, phase).
#[inline(always)]
pub(crate) fn route<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    packet: &Packet,
    now: u64,
    sink: &mut S,
) -> Way {
    if M::PLAIN {
        let local = packet.destination().wrapping_sub(site.node);
        if local < u32::from(site.nodes) {
            return Way::new(u32::from(site.net) + local, 0, 0);
        }
        return Way::new(net.routing.next_minimal(net, site, packet), 0, 0);
    }
    if net.routing.is_adaptive() && packet.destination().wrapping_sub(site.node) >= u32::from(site.nodes) {
        let sense = net.routing.sense();
        let news = net.routing.news();
        let mut backlog = |local: u32, vc: u8| {
            if let Some(news) = news.filter(|_| local >= TOLD) {
                return news::told(st, lp, news, local - TOLD, now);
            }
            let port = site.port + local;
            let caught_up = M::backlog(net, st, j, lp, site, port, vc, now, sink);
            match sense {
                None => caught_up,
                Some(sense) => congestion::<M>(net, st, port, vc, packet.size(), now, sense),
            }
        };
        // Lent, not given: copied in wide words right behind the stores of its parts, it had to wait until these and all before them were done.
        let way = net.routing.adaptive(net, site, packet, &mut backlog);
        if let Some(news) = news {
            news::tell::<M, J, S>(net, (st, j), (lp, site), (news, way.port()), (packet, now), sink);
        }
        return way;
    }
    net.route(site, packet)
}

/// Puts a packet at the end of a channel's queue.
#[inline(always)]
pub(crate) fn enqueue<J: Journal>(st: &mut State, j: &mut J, lp: u32, port: u32, channel: u32, vc: u8, packet: Packet) {
    let router = st.routers.edit(j, lp);
    router.queued += 1;
    let record = st.ports.edit(j, port);
    let link = Link {
        next: NONE,
        sequence: record.sequence,
    };
    record.sequence = record.sequence.wrapping_add(1);
    record.waiting += 1;
    record.channels |= 1 << vc;
    let slot = router.free_slot;
    let slot = if slot == NONE {
        st.links.push(j, link);
        st.slots.push(j, packet)
    } else {
        router.free_slot = st.links.get(slot).next;
        st.slots.set(j, slot, packet);
        st.links.set(j, slot, link);
        slot
    };
    let queue = st.channels.edit(j, channel);
    if queue.head == NONE {
        queue.head = slot;
    } else {
        st.links.edit(j, queue.tail).next = slot;
    }
    queue.tail = slot;
}

/// Takes the first packet of a channel's queue, which must not be empty.
#[inline(always)]
pub(crate) fn dequeue<J: Journal>(st: &mut State, j: &mut J, lp: u32, port: u32, channel: u32, vc: u8) -> Packet {
    let queue = st.channels.edit(j, channel);
    let slot = queue.head;
    queue.head = st.links.get(slot).next;
    let record = st.ports.edit(j, port);
    record.waiting -= 1;
    if queue.head == NONE {
        record.channels &= !(1 << vc);
    }
    let router = st.routers.edit(j, lp);
    router.queued -= 1;
    st.links.edit(j, slot).next = router.free_slot;
    router.free_slot = slot;
    *st.slots.get(slot)
}

/// Sends a packet over the network link of output `port` at `start`, on channel `vc`; for models that have not looked the link up.
#[inline(always)]
pub(crate) fn transmit<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    port: u32,
    packet: Packet,
    vc: u8,
    start: u64,
    serialisation: u64,
    sink: &mut S,
) {
    let peer = net.peers[port as usize];
    let hop = net.classes[peer.class() as usize].hop;
    launch(net, &peer, hop, packet, vc, start, serialisation, sink);
}

/// [`transmit`] for callers that know the link: `peer` at its end, `hop` ps until its head can leave there.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(crate) fn launch<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    peer: &Peer,
    hop: u64,
    mut packet: Packet,
    vc: u8,
    start: u64,
    serialisation: u64,
    sink: &mut S,
) {
    let mut at = start + hop;
    if !M::PLAIN && net.store_and_forward {
        at += serialisation;
    }
    if !M::PLAIN {
        packet.set_vc(vc);
        packet.count_hop();
    } else {
        packet.count_one_of_few_hops();
    }
    let packet = match M::PLAIN {
        true => packet.plainly_to(Time(at), peer.address()),
        false => packet.to(Time(at), peer.address()),
    };
    sink.send_at(Time(at), packet);
}

/// Gives the buffer that `packet` held back to the sender at the other end of its input port, `when` the space is free.
#[inline(always)]
pub(crate) fn return_credit<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    lp: u32,
    site: &Site,
    packet: &Packet,
    when: u64,
    sink: &mut S,
) {
    let size = u64::from(M::room(net, packet.size()));
    let input = packet.port();
    if input < site.net {
        let peer = &net.peers[(site.port + u32::from(input)) as usize];
        let at = Time(when + net.classes[peer.class() as usize].credit);
        sink.send_at(
            at,
            Packet::credit(at, peer.address())
                .with_vc(if M::PLAIN { 0 } else { packet.vc() })
                .with_value(size),
        );
    } else {
        let at = Time(when + net.injection.credit);
        sink.send_at(
            at,
            Packet::new(Kind::HostCredit, at, lp, input - site.net).with_value(size),
        );
    }
}
