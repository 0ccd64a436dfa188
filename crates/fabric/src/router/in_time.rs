//! Routers on a network that changes while the run goes on: the way that a packet takes at this time, and packets that are lost.
//!
//! A packet on a link that dies is lost as a whole, and so is one whose turn comes while its link is dark; it takes its time on the link, and
//! its buffer is free when it would have been, so that no credit is ever lost. A packet is lost at a router that has no way for it, or that
//! it has come to by a cable which the router holds for dead.

use crate::envelope;
use crate::network::changes::{InStage, TimedChanges};
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::network::{Network, Peer};
use crate::observe::{Loss, Lost, Record};
use crate::packet::{Address, Packet};
use crate::plant::Site;
use crate::routing::Way;
use des::{Journal, Sink, Time};

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// The next output of a packet at `now`; where lost packets are sent again, its phase says how often this one was.
    #[inline(never)]
    pub(crate) fn route_in_time(mut self, changes: &TimedChanges, packet: &Packet, now: u64) -> Way {
        let way = self.way_in_time(changes, packet, now);
        match self.net.retransmit.is_some() && !way.is_lost() {
            true => Way::new(way.port(), way.vc(), packet.phase()),
            false => way,
        }
    }

    fn way_in_time(&mut self, changes: &TimedChanges, packet: &Packet, now: u64) -> Way {
        let AtRouter { net, site, .. } = *self;
        let local = packet.destination().wrapping_sub(site.node);
        let here = local < u32::from(site.nodes);
        if packet.port() >= site.net && lost_on_injection(net, changes, site.port, packet, now).is_some() {
            return Way::LOST;
        }
        let Some(stage) = changes.stage(site.router, now) else {
            return match net.routing.is_adaptive() && !here {
                true => self.lent().route_by_what_waits::<false>(packet, now),
                false => net.route(site, packet),
            };
        };
        let Some(input) = stage.input(site.net, packet.port()) else {
            return Way::LOST;
        };
        if here {
            return Way::new(u32::from(site.net) + local, 0, 0);
        }
        let topology = &stage.plant.topology;
        if !topology.are_joined(site.router, topology.router_of(packet.destination())) {
            return Way::LOST;
        }
        let seen = packet.at(Time(now), self.lp, input);
        let way = match stage.routing.is_adaptive() {
            true => self.by_what_waits_in(&stage, &seen, now),
            false => stage.routing.next(stage.plant, stage.site, &seen),
        };
        if way.port() >= u32::from(stage.site.net) {
            // Tables need not lead on from where a packet was led by others.
            return Way::LOST;
        }
        Way::new(stage.in_network(way.port()), way.vc(), way.phase())
    }

    /// The way of an adaptive routing in a stage.
    fn by_what_waits_in(&mut self, stage: &InStage<'_>, packet: &Packet, now: u64) -> Way {
        let AtRouter { net, site, .. } = *self;
        let sense = net.routing.sense();
        let mut backlog = |local: u32, vc: u8| {
            let port = site.port + stage.in_network(local);
            let caught_up = M::backlog(self.lent(), port, vc, now);
            match sense {
                None => caught_up,
                Some(sense) => self.congestion(port, vc, packet.size(), now, sense),
            }
        };
        stage.routing.adaptive_by(stage.plant, stage.site, packet, &mut backlog)
    }

    /// A packet at this router is lost: what it holds is free when its tail has come.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose_here(&mut self, packet: &Packet, now: u64) {
        let AtRouter { net, site, .. } = *self;
        let input = packet.port();
        let tail = now + net.class_before(site, packet).ser(packet.size());
        if M::HOST_CREDITS {
            self.return_credit(packet, tail);
        }
        let on_injection = net
            .changes
            .as_ref()
            .filter(|_| input >= site.net)
            .and_then(|changes| lost_on_injection(net, changes, site.port, packet, now));
        let port = on_injection.map_or(Loss::NO_WAY, |_| input.into());
        self.lose(packet, port, on_injection.unwrap_or(now).max(now));
    }

    /// Whether a packet that starts on a link (`start`, for `serialisation`; its head could leave the next router `at`) is lost on it; if so it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_lost_on(&mut self, peer: &Peer, packet: &Packet, vc: u8, times: (u64, u64, u64)) -> bool {
        let (start, serialisation, at) = times;
        let AtRouter { net, site, lp, .. } = *self;
        let Some(changes) = &net.changes else { return false };
        let (to, class) = (peer.address(), &net.classes[peer.class() as usize]);
        // A cable dies in both directions: the port at its other end is dark as this one is.
        let other_end = net.sites[to.lp() as usize].port + u32::from(to.port());
        let until = at.max(start + serialisation + class.latency);
        let Some(time) = changes.lost_on(other_end, start, until) else {
            return false;
        };
        let leads_there = |port: &u32| net.peers[(site.port + port) as usize].address() == to;
        let port = (0..u32::from(site.net)).find(leads_there).unwrap_or(Loss::NO_WAY);
        if M::HOST_CREDITS {
            let room = u64::from(self.model.room(packet.size()));
            let back = Time(start + serialisation + class.hop + class.credit);
            let credit = Packet::credit(back, Address::new(lp, port as u16));
            self.sink.send_at(back, credit.with_vc(vc).with_value(room));
        }
        self.lose(packet, port, time);
        true
    }

    /// Whether a packet on the link to its node from `start` to `time` is lost on it; if so it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_lost_at_the_node(&mut self, packet: &Packet, (start, time): (u64, u64)) -> bool {
        let AtRouter { net, site, .. } = *self;
        let port = u32::from(site.net) + (packet.destination() - site.node);
        let lost = net.changes.as_ref();
        let Some(time) = lost.and_then(|changes| changes.lost_on(site.port + port, start, time)) else {
            return false;
        };
        self.lose(packet, port, time);
        true
    }

    /// Counts a lost packet, and tells the destination of a message of several, which has a record of it.
    fn lose(&mut self, packet: &Packet, port: u32, time: u64) {
        let AtRouter { net, site, .. } = *self;
        let many = net.messages.bursts;
        let loss = Loss {
            time,
            source: packet.source(),
            destination: packet.destination(),
            router: site.router,
            port,
            number: packet.name(many),
            bytes: packet.size(),
        };
        let again = net.retransmit.filter(|retransmit| packet.phase() < retransmit.retries);
        self.sink.record(Record::Lost(Lost::Packet {
            loss,
            whole: (packet.single() && again.is_none()).then(|| packet.birth(time, many)),
            again: again.is_some(),
            share: packet.share(time, many),
        }));
        if let Some(retransmit) = again {
            let to = net.place_of_node(packet.source());
            let local = (packet.source() - net.sites[to as usize].node) as u16;
            let at = Time(time) + retransmit.after;
            self.sink.send(packet.to_be_sent_again(at, to, local));
        } else if !packet.single() {
            let to = net.place_of_node(packet.destination());
            let local = (packet.destination() - net.sites[to as usize].node) as u16;
            let at = Time(time) + net.lookahead;
            let notice = envelope::lost(packet.size(), at, to, local);
            self.sink.send(notice.about(packet.source(), packet.label(), 0));
        }
    }
}

/// When (ps) a packet of `size` bytes that starts on the link of an output port at `start` starts to come without an error, and for how long it is on
/// the link then. The router behind the link sees the error when the tail has come, and asks for the packet again, which nothing overtakes.
#[inline(never)]
pub(crate) fn comes_through<M: RouterModel, S: Sink<Fabric<M>>>(
    net: &Network,
    changes: &TimedChanges,
    sink: &mut S,
    (site, port): (&Site, u32),
    size: u32,
    start: u64,
) -> (u64, u64) {
    let class = &net.classes[net.peers[port as usize].class() as usize];
    let serialisation = changes.ser(port, class, size, start);
    let tries = changes.failed_tries(net.seed, site, port, size, start);
    if tries == 0 {
        return (start, serialisation);
    }
    let lost = u64::from(tries) * (serialisation + 2 * class.latency);
    sink.record(Record::Repeated { tries, lost, start });
    (start + lost, serialisation)
}

/// When (ps) a packet that has come from its node, ready at `now`, was lost on the way to its router, if it was.
fn lost_on_injection(net: &Network, changes: &TimedChanges, first: u32, packet: &Packet, now: u64) -> Option<u64> {
    let (link, size) = (&net.injection, packet.size());
    let behind = match net.store_and_forward {
        true => link.hop + link.ser(size),
        false => link.hop,
    };
    let start = now - behind;
    let until = now.max(start + link.ser(size) + link.latency);
    changes.lost_on(first + u32::from(packet.port()), start, until)
}
