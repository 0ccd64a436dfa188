//! `min-a`, minimal adaptive: at every router the minimal port with the least waiting before it.
//!
//! The choice is local and greedy (MIN-A of SST Merlin): the router model says how much waits for each
//! candidate, and [`Choice`] which of them are as good as each other. The virtual channel counts the hops, so that channels are used in
//! rising order and as many as the diameter keep it free of deadlock.

use super::{Kind, Routing};
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
            Kind::AdaptiveUp(_, choice) => self.adaptive_up(choice, net, site, packet, backlog),
            Kind::Deroute(deroute) => self.deroute(deroute, net, site, packet, backlog),
            Kind::MinA(choice) => {
                let vc = packet.hops().min(u32::from(self.last_vc)) as u8;
                self.least_of_minimal(choice, net, site, packet, vc, backlog)
            }
            // They look at nothing.
            Kind::Minimal | Kind::Rdr { .. } | Kind::MinRandom | Kind::Valiant | Kind::Scatter | Kind::Table(_) => {
                self.detour(net, site, packet)
            }
        }
    }
}
