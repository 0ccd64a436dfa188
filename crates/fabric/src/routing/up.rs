//! `scatter` and `adaptive-up`: the ways up a fat-tree that D-mod-k leaves unused.
//!
//! Below the level where the destination is found every up port leads there, from where the way down is fixed but for parallel
//! cables. `scatter` takes a random one for every packet; `adaptive-up` the one with the least waiting before it, random among equal
//! ones ([`Choice`]). Up, then down: one channel keeps both free of deadlock.

use super::{Choice, HOPS, Routing};
use crate::network::{Network, Site};
use crate::packet::Packet;
use des::mix;
use des::rng::below;

impl Routing {
    /// A random way up, the way down.
    #[inline(never)]
    pub(super) fn scatter(&self, net: &Network, site: &Site, packet: &Packet) -> (u32, u8, u8) {
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let word = mix(self.seed ^ packet.moment(site.router) ^ packet.identity());
            match hops.get(below(word, hops.len() as u64) as usize) {
                Some(&hop) => (self.cable(site, hop, packet), 0, 0),
                // The packet would be at its target, which the caller has excluded.
                None => (0, 0, 0),
            }
        })
    }

    /// The way up with the least wait, the way down; each of several parallel cables is a candidate.
    pub(super) fn adaptive_up(
        &self,
        choice: &Choice,
        net: &Network,
        site: &Site,
        packet: &Packet,
        wait: impl FnMut(u32, u8) -> u64,
    ) -> (u32, u8, u8) {
        self.least_of_minimal(choice, net, site, packet, 0, wait)
    }
}
