//! `min-a`, minimal adaptive: at every router the minimal port with the least waiting before it.
//!
//! The choice is local and greedy (MIN-A of SST Merlin): the router model says how much waits for each
//! candidate, ties go to the first in port order. The virtual channel counts the hops, so that channels are used in rising order and
//! as many as the diameter keep it free of deadlock.

use super::{HOPS, Kind, Routing};
use crate::network::{Network, Site};
use crate::packet::Packet;

impl Routing {
    /// `true` if the routing wants to see what waits in the router: it is asked by [`Routing::adaptive`].
    #[inline(always)]
    pub fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    /// The next output of a packet that is not at its last router, (local port, virtual channel, phase), by what waits:
    /// `backlog(local port, virtual channel)`, in the units of [`Routing::sense`].
    #[inline(always)]
    pub fn adaptive(
        &self,
        net: &Network,
        site: &Site,
        packet: &Packet,
        mut backlog: impl FnMut(u32, u8) -> u64,
    ) -> (u32, u8, u8) {
        match &self.kind {
            Kind::Classes(classes) => classes.adaptive(net, site, packet, &mut backlog),
            Kind::Ugal(ugal) => self.ugal(ugal, net, site, packet, backlog),
            Kind::AdaptiveUp(_) => self.adaptive_up(net, site, packet, backlog),
            Kind::Deroute(deroute) => self.deroute(deroute, net, site, packet, backlog),
            _ => self.min_a(net, site, packet, backlog),
        }
    }

    /// The first of the minimal ports with the least `backlog`. Each of several parallel cables is a candidate.
    fn min_a(
        &self,
        net: &Network,
        site: &Site,
        packet: &Packet,
        mut backlog: impl FnMut(u32, u8) -> u64,
    ) -> (u32, u8, u8) {
        let target = net.topology.router_of(packet.destination());
        let vc = packet.hops().min(u32::from(self.last_vc)) as u8;
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let mut best = (u64::MAX, 0);
            for hop in hops.iter() {
                for port in hop.port..hop.port + hop.links {
                    let load = backlog(u32::from(port), vc);
                    if load < best.0 {
                        best = (load, u32::from(port));
                    }
                }
            }
            (best.1, vc, 0)
        })
    }
}
