//! Virtual networks: every class of messages has the routing's channels for itself.

use super::algorithm::{Here, Offer, Way};
use super::{Kind, Routing, RoutingTerms};
use crate::equipment::RouterChannels;
use crate::packet::{MAX_VCS, Packet};
use crate::plant::{Plant, Site};
use work::build_error::BuildError;

/// A routing on several virtual networks: class `c` has channels `c * own` to `(c + 1) * own - 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The routing of each virtual network.
    pub(super) inner: Routing,
    /// Virtual networks.
    n: u8,
}

/// Virtual networks of a run: as many as the work asks for where routers have channels, else 1.
pub(super) fn of(terms: &RoutingTerms<'_>) -> u8 {
    match terms.router.named().channels() {
        RouterChannels::AsNeeded | RouterChannels::InClasses => terms.networks,
        RouterChannels::One | RouterChannels::Names => 1,
    }
}

impl Routing {
    /// The same on `n` virtual networks.
    pub(super) fn on_networks(self, n: u8) -> Result<Routing, BuildError> {
        let (own, needed) = (self.vcs(), self.needed);
        let all = own.checked_mul(n).filter(|&all| all <= MAX_VCS).ok_or_else(|| {
            let reason = format!("{n} virtual networks of {own} channels are more than the {MAX_VCS} that a port has");
            let hint = "set work.virtual_networks = \"one\", or take a routing that needs fewer";
            BuildError::field("routing.kind", reason, Some(hint))
        })?;
        Ok(Routing {
            needed,
            last_vc: all - 1,
            adaptive: self.adaptive,
            asked_first: self.asked_first,
            looks_at_minimal: self.looks_at_minimal,
            minimal: false,
            to_the_node: self.to_the_node,
            draws_channels: self.draws_channels,
            sense: self.sense,
            news: self.news,
            counters: self.counters,
            minimal_vcs: self.minimal_vcs,
            ways: Box::default(),
            nodes: self.nodes,
            seed: self.seed,
            draw_cycle: self.draw_cycle,
            kind: Kind::Classes(Box::new(Classes { inner: self, n })),
        })
    }

    /// The routing of one virtual network, and how many there are.
    pub(super) fn of_one(&self) -> (&Routing, u8) {
        match &self.kind {
            Kind::Classes(classes) => (&classes.inner, classes.n),
            _ => (self, 1),
        }
    }
}

impl Classes {
    /// The packet as its own virtual network sees it, and the first channel of that.
    fn strip(&self, packet: &Packet) -> (Packet, u8) {
        let class = packet.class();
        let first = class.min(self.n - 1) * self.inner.vcs();
        let mut own = *packet;
        own.set_vc(packet.vc().saturating_sub(first));
        (own, first)
    }

    /// [`Routing::next`].
    pub(super) fn blindly(&self, net: &Plant, site: &Site, packet: &Packet) -> Way {
        let (own, first) = self.strip(packet);
        self.inner.next(net, site, &own).behind(first)
    }

    /// [`Routing::offers`].
    pub(super) fn offers(&self, here: Here<'_>, out: &mut Vec<Offer>) {
        let (own, first) = self.strip(here.packet);
        let before = out.len();
        self.inner.offers(here.net, here.site, &own, out);
        for offer in &mut out[before..] {
            offer.way = offer.way.behind(first);
        }
    }

    /// [`Routing::adaptive`].
    pub(super) fn by_what_waits(&self, here: Here<'_>, wait: &mut dyn FnMut(u32, u8) -> u64) -> Way {
        let (own, first) = self.strip(here.packet);
        let mut seen = |port, vc| wait(port, first + vc);
        self.inner
            .adaptive_by(here.net, here.site, &own, &mut seen)
            .behind(first)
    }
}
