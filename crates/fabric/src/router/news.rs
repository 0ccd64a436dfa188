//! What a router does when it tells those of its group until when its global links have work, and when it is told (`scope = "group"`).

use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::packet::Packet;
use crate::routing::news::News;
use crate::state::State;
use des::{Event, Journal, Sink, Time};

/// For how long a port of the group has work after `now`, as far as a router has been told (ps).
pub(crate) fn told(st: &State, lp: u32, news: News, slot: u32, now: u64) -> u64 {
    st.told.get(lp * news.slots() + slot).saturating_sub(now)
}

/// A router has been told. What it has decided before, it has decided without that.
#[inline(never)]
pub(crate) fn hear<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    fabric: &Fabric<M>,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    sink: &mut S,
) {
    if let Some(news) = fabric.net.routing.news() {
        let mut at = fabric.at(st, j, lp, sink);
        M::close(at.lent(), event.time().0);
        let slot = u32::from(event.port()).min(news.slots() - 1);
        at.st.told.set(at.j, at.lp * news.slots() + slot, event.value());
    }
}

/// A packet is about to take the output `local`: tells the group if that is a global link whose work has changed by more than a step and a
/// quarter.
#[inline(never)]
pub(crate) fn tell<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    mut at: AtRouter<'_, M, J, S>,
    news: News,
    local: u32,
    packet: &Packet,
    now: u64,
) {
    let AtRouter { net, site, .. } = at;
    let port = site.port + local;
    let peer = net.peers[port as usize];
    let (topology, own) = (&net.topology, site.router);
    if local >= u32::from(site.net) || topology.group(net.sites[peer.lp() as usize].router) == topology.group(own) {
        return;
    }
    M::backlog(at.lent(), port, packet.vc(), now);
    let class = &net.classes[usize::from(peer.class())];
    let work = at.model.waiting(net, at.st, port, None, now) + class.ser(packet.size());
    let place = at.lp * news.slots() + news.slot(own, local);
    let before = at.st.told.get(place).saturating_sub(now);
    if before.abs_diff(work) <= class.time_of(news.step).max(work / 4) {
        return;
    }
    let until = now + work;
    at.st.told.set(at.j, place, until);
    let inside = |port: &u32| {
        let peer = &net.peers[(site.port + port) as usize];
        topology.group(net.sites[peer.lp() as usize].router) == topology.group(own)
    };
    let Some(near) = (0..u32::from(site.net)).find(inside) else {
        return;
    };
    let near = &net.peers[(site.port + near) as usize];
    let hop = net.classes[usize::from(near.class())].hop;
    let others = news
        .group(own)
        .filter(|&other| other != own && topology.are_joined(own, other));
    for other in others {
        let time = Time(now + hop * u64::from(topology.distance(own, other).max(1)));
        let slot = news.slot(own, local) as u16;
        let event = Packet::news(time, net.places[other as usize], slot);
        at.sink.send_at(time, event.with_value(until));
    }
}
