//! `negative-first` on meshes (Glass & Ni 1992): negative directions first, then positive ones, at random within each.

use super::prelude::*;
use topo::{Hop, HopList, Step};

/// `negative-first`.
pub struct NegativeFirst;

impl NamedRouting for NegativeFirst {
    const LINE: &'static str =
        "A random minimal step in a negative direction while there is one, then in a positive one.";
    const SOURCE: &'static str = "Glass and Ni 1992";
    const FITS: Fits = Fits::only(&[TopologyKind::Mesh]);
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = Negative;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<Negative, BuildError> {
        match topology.spec().kind() {
            TopologyKind::Mesh => Ok(Negative),
            _ => refuse(
                "negative-first needs a mesh",
                "take \"min-random\", which every topology has",
            ),
        }
    }
}

/// The steps that negative-first allows among minimal ones: the negative ones while there are any.
fn allowed(topology: &Topology, at: u32, hops: &[Hop]) -> impl Iterator<Item = Hop> {
    let negative = move |hop: &Hop| topology.wiring().peer(at, hop.port).0 < at;
    let some = hops.iter().any(negative);
    hops.iter().copied().filter(move |hop| !some || negative(hop))
}

/// Negative-first in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negative;

impl ReadyRouting for Negative {
    fn vcs(&self, _: &Topology) -> u8 {
        1
    }

    fn rule<'t>(&self, topology: &'t Topology, _: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(NegativeRule { topology })
    }

    fn next(&self, here: Here<'_>, _: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let all = || allowed(&net.topology, site.router, hops);
            let word = mix(routing.seed ^ packet.moment(site.router) ^ packet.identity());
            let pick = below(word, all().count() as u64) as usize;
            Way::new(routing.cable(site, all().nth(pick).unwrap_or(NO_HOP), packet), 0, 0)
        })
    }

    fn asks_for_cables(&self) -> bool {
        true
    }
}

/// All steps: no state, one channel.
struct NegativeRule<'t> {
    topology: &'t Topology,
}

impl RoutingRule for NegativeRule<'_> {
    fn vcs(&self) -> usize {
        1
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let mut hops = HopList::new();
        self.topology.minimal_hops(at, self.topology.router_of(dst), &mut hops);
        for hop in allowed(self.topology, at, &hops) {
            out.extend((0..hop.links).map(|k| Step {
                port: hop.port + k,
                vc: 0,
                state: 0,
            }));
        }
    }

    fn next(&self, at: u32, _: u16, _: u8, _: u32, dst: u32, out: &mut Vec<Step>) {
        self.start(at, dst, out);
    }

    fn is_minimal(&self) -> bool {
        true
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topo::{Lattice, Verdict, check, verify_routes};

    #[test]
    fn every_packet_arrives_on_a_minimal_way_and_one_channel_is_free_of_deadlock() {
        let mesh = Lattice {
            shape: vec![4, 3, 2],
            width: vec![1, 2, 1],
            nodes_per_router: 1,
        };
        let topology = TopologySpec::Mesh(mesh).build().unwrap();
        let rule = Negative.rule(&topology, 1);
        let report = verify_routes(&topology, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(report.all_pairs);
        assert_eq!(report.longest, topology.diameter());
        assert!(matches!(check(&topology, &*rule), Verdict::Free { .. }));
    }
}
