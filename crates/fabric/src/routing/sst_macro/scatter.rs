//! `macro-scatter`: a fat-tree's ways up in turn, whatever the destination; parallel cables down in turn for each child.

use crate::routing::prelude::*;
use crate::routing::scatter::{channels_of_ways_up, needs_fat_tree};
use crate::routing::turns::{COUNTER, MOST_COUNTERS, turn};
use topo::AnyMinimalRule;

/// `macro-scatter`.
pub struct MacroScatter;

impl NamedRouting for MacroScatter {
    const LINE: &'static str = "`scatter` as in SST/macro's fat-tree: each router deals its packets over the ways up in turn, and over parallel cables down.";
    const SOURCE: &'static str = "SST/macro, fat-tree";
    const LIMITS: &'static str = "Blind to load.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    // It asks the router for its counters.
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = TurnsUp;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<TurnsUp, BuildError> {
        needs_fat_tree(topology)?;
        let wiring = topology.wiring();
        let most = (0..topology.n_routers()).map(|router| wiring.radix(router)).max();
        Ok(TurnsUp {
            counters: (1 + most.unwrap_or(0)).min(MOST_COUNTERS),
        })
    }
}

/// Ways up in turn. Counter 0 is that of the ways up, the others are those of children, by the port that leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnsUp {
    counters: u32,
}

impl ReadyRouting for TurnsUp {
    fn vcs(&self, topology: &Topology) -> u8 {
        channels_of_ways_up(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let target = net.topology.router_of(packet.destination());
        let vc = routing.channel_of_hops(packet);
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let counter = match hops.first() {
                Some(hop) if hop.dim == 1 => 1 + u32::from(hop.port),
                _ => 0,
            };
            let counter = counter.min(self.counters - 1);
            let mut ports = hops.iter().flat_map(|hop| hop.port..hop.port + hop.links);
            let many = hops.iter().map(|hop| u32::from(hop.links)).sum();
            let place = turn(site.router, wait(COUNTER + counter, 0), many);
            // Without a port the packet would be at its target, which the caller has excluded.
            let port = ports.nth(place as usize).unwrap_or(0);
            Way::new(port.into(), vc, 0).in_turn(counter)
        })
    }

    fn counters(&self) -> u32 {
        self.counters
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}
