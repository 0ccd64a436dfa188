//! `booksim-anca`: of two up ports of a fat-tree, drawn at random, the one with fewer used credits.

use crate::routing::prelude::*;
use crate::routing::scatter::{channels_of_ways_up, needs_fat_tree};
use topo::AnyMinimalRule;

/// `booksim-anca`.
pub struct BooksimAnca;

impl NamedRouting for BooksimAnca {
    const LINE: &'static str = "Of two random up ports, which may be the same, the one with fewer used credits, the first of equal ones; the way down is fixed.";
    const SOURCE: &'static str = "BookSim2, fattree_anca";
    const LIMITS: &'static str = "Sees the own router only.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = BetterOfTwo;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<BetterOfTwo, BuildError> {
        needs_fat_tree(topology)?;
        Ok(BetterOfTwo)
    }
}

/// The better of two ways up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BetterOfTwo;

impl ReadyRouting for BetterOfTwo {
    fn vcs(&self, topology: &Topology) -> u8 {
        channels_of_ways_up(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (routing, site, packet) = (here.routing, here.site, here.packet);
        let target = here.net.topology.router_of(packet.destination());
        let vc = routing.channel_of_hops(packet);
        HOPS.with_borrow_mut(|hops| {
            here.net.topology.minimal_hops(site.router, target, hops);
            let word = mix(routing.seed ^ routing.moment(packet, site.router) ^ routing.identity(packet));
            let drawn = |word: u64| {
                let place = below(word, hops.len() as u64) as usize;
                let hop = hops.get(place).copied().unwrap_or(NO_HOP);
                routing.cable(site, hop, packet)
            };
            let (one, other) = (drawn(word), drawn(mix(word)));
            let port = if wait(other, vc) < wait(one, vc) { other } else { one };
            Way::new(port, vc, 0)
        })
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}
