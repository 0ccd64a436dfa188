//! What the routers of a group tell each other: until when their global links have work (`scope = "group"`).
//!
//! UGAL-G (Kim, Dally, Scott & Abts 2008) knows the queues of all global links of the source group as they are. Here a router tells the others
//! of its group, and they know it when the word has come over the links between them, as with the broadcasts and the piggybacking
//! of Jiang, Kim & Dally (2009). What is told is a time: until then the link has work. It needs no second word when the work is done.

use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::packet::Packet;
use crate::state::State;
use des::{Event, Journal, Sink, Time};
use topo::Topology;
use work::build_error::BuildError;

/// Local ports from here on stand for what has been told of ports of the group, by [`News::slot`].
pub(crate) const TOLD: u32 = 1 << 31;

/// Who tells whom, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// Routers of a group.
    routers: u32,
    /// Network ports of a router, of the one that has most.
    ports: u32,
    /// Work that came or went and is not worth a word (bytes).
    step: u64,
}

impl News {
    /// Checks that the network has groups of a size for which events have room.
    pub(super) fn new(topology: &Topology, step: u64) -> Result<News, BuildError> {
        let refuse = |reason: String| {
            let hint = "take \"local\", or routing.kind = \"par\", which decides again where the global links are";
            Err(BuildError::field("routing.scope", reason, Some(hint)))
        };
        let Some(routers) = topology.group_size() else {
            return refuse("routers tell each other what waits within groups: of a dragonfly or dragonfly+".into());
        };
        let wiring = topology.wiring();
        let ports = (0..topology.n_routers()).map(|router| wiring.radix(router));
        let ports = ports.max().unwrap_or(0);
        if u64::from(routers) * u64::from(ports) > 1 << 16 {
            return refuse(format!(
                "{routers} routers of {ports} ports are more than 65,536 ports in a group"
            ));
        }
        Ok(News { routers, ports, step })
    }

    /// Ports of a group.
    pub fn slots(&self) -> u32 {
        self.routers * self.ports
    }

    /// The number of a router's port among those of its group.
    pub(super) fn slot(&self, router: u32, port: u32) -> u32 {
        router % self.routers * self.ports + port
    }

    /// The routers of the group of one.
    fn group(&self, router: u32) -> std::ops::Range<u32> {
        let first = router / self.routers * self.routers;
        first..first + self.routers
    }
}

/// For how long a port of the group has work after `now`, as far as a router has been told (ps).
pub(crate) fn told(st: &State, lp: u32, news: News, slot: u32, now: u64) -> u64 {
    st.told.get(lp * news.slots() + slot).saturating_sub(now)
}

/// A router has been told. What it has decided before, it has decided without that.
#[inline(never)]
pub(crate) fn hear<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    event: &Packet,
    sink: &mut S,
) {
    if let Some(news) = net.routing.news() {
        M::close(net, st, j, lp, &net.sites[lp as usize], event.time().0, sink);
        let slot = u32::from(event.port()).min(news.slots() - 1);
        st.told.set(j, lp * news.slots() + slot, event.value());
    }
}

/// A packet is about to take an output: tells the group if that is a global link whose work has changed by more than a step and a quarter.
#[inline(never)]
pub(crate) fn tell<M: RouterModel, J: Journal, S: Sink<Fabric<M>>>(
    net: &Network,
    (st, j): (&mut State, &mut J),
    (lp, site): (u32, &Site),
    (news, local): (News, u32),
    (packet, now): (&Packet, u64),
    sink: &mut S,
) {
    let port = site.port + local;
    let peer = net.peers[port as usize];
    let (topology, own) = (&net.topology, site.router);
    if local >= u32::from(site.net) || topology.group(net.sites[peer.lp() as usize].router) == topology.group(own) {
        return;
    }
    M::backlog(net, st, j, lp, site, port, packet.vc(), now, sink);
    let class = &net.classes[usize::from(peer.class())];
    let work = M::waiting(net, st, port, None, now) + class.ser(packet.size());
    let place = lp * news.slots() + news.slot(own, local);
    let before = st.told.get(place).saturating_sub(now);
    if before.abs_diff(work) <= class.time_of(news.step).max(work / 4) {
        return;
    }
    let until = now + work;
    st.told.set(j, place, until);
    let inside = |port: &u32| {
        let peer = &net.peers[(site.port + port) as usize];
        topology.group(net.sites[peer.lp() as usize].router) == topology.group(own)
    };
    let Some(near) = (0..u32::from(site.net)).find(inside) else {
        return;
    };
    let near = &net.peers[(site.port + near) as usize];
    let hop = net.classes[usize::from(near.class())].hop;
    for other in news.group(own).filter(|&other| other != own) {
        let at = Time(now + hop * u64::from(topology.distance(own, other).max(1)));
        let slot = news.slot(own, local) as u16;
        let event = Packet::news(at, net.places[other as usize], slot);
        sink.send_at(at, event.with_value(until));
    }
}
