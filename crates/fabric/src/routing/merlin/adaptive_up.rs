//! `merlin-adaptive-up` on a fat-tree: the D-mod-k port as long as a share of its output buffer is free, else the up port with most room.

use super::Buffers;
use crate::routing::prelude::*;
use crate::routing::scatter::{channels_of_ways_up, needs_fat_tree};
use study::{Type, key};
use topo::AnyMinimalRule;

/// `merlin-adaptive-up`.
pub struct MerlinAdaptiveUp;

const KEEP: Parameter = key(
    "keep",
    Type::Number { above: 0.0, max: 1.0 },
    study::Default::Text("0.5"),
    "Share of an output buffer that must be free for a packet to keep the way of d-mod-k, to a thousandth (adaptive_threshold of Merlin).",
);

/// When `merlin-adaptive-up` leaves the way of `d-mod-k`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeepSpec {
    /// While so much of an output buffer is free it does not.
    pub keep: f64,
}

impl Default for KeepSpec {
    fn default() -> Self {
        crate::routing::keys::defaults::<MerlinAdaptiveUp>()
    }
}

impl NamedRouting for MerlinAdaptiveUp {
    const LINE: &'static str = "Up by D-mod-k while `keep` of that output buffer is free, else by the up port with most room; the way down is fixed.";
    const SOURCE: &'static str = "SST Merlin, fat-tree, adaptive";
    const LIMITS: &'static str = "Sees the own router only; needs input-queued routers with bounded output buffers.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const KEYS: &'static [Parameter] = &[KEEP];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = KeepSpec;
    type Ready = MostRoomUp;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<KeepSpec> {
        let keep = keys.number("keep");
        Some(KeepSpec { keep })
    }

    fn ready(parameters: &KeepSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<MostRoomUp, BuildError> {
        needs_fat_tree(topology)?;
        let buffers = Buffers::of(terms)?;
        let whole = buffers.bounded()?;
        let thousandths = (parameters.keep * 1_000.0).round() as u64;
        Ok(MostRoomUp {
            whole,
            enough: whole / buffers.flit * thousandths / 1_000 * buffers.flit,
        })
    }
}

/// The way of D-mod-k, or the up port with most room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostRoomUp {
    /// Bytes of an output buffer.
    whole: u64,
    /// Bytes of it that must be free for the way to be kept.
    enough: u64,
}

/// Dimension of hops down.
const DOWN: u8 = 1;

impl MostRoomUp {
    /// Of up ports in port order, with what their buffers hold, the one to take, whose `natural` one is among them: the natural one with enough room,
    /// or if none has more; else the first of those with most.
    fn choose(&self, natural: (u32, u64), ports: impl Iterator<Item = (u32, u64)>) -> u32 {
        let room = |held: u64| self.whole.saturating_sub(held);
        if room(natural.1) >= self.enough {
            return natural.0;
        }
        let most = ports.min_by_key(|&(port, held)| (held, port));
        most.filter(|most| most.1 < natural.1).map_or(natural.0, |most| most.0)
    }
}

impl ReadyRouting for MostRoomUp {
    fn vcs(&self, topology: &Topology) -> u8 {
        channels_of_ways_up(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here { net, site, packet, .. } = here;
        let natural = net
            .topology
            .minimal(site.router, packet.destination(), came(site, packet), 0);
        let port = u32::from(natural.port);
        if natural.dim == DOWN {
            return Way::new(port, 0, 0);
        }
        let target = net.topology.router_of(packet.destination());
        let held = wait(port, 0);
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            let ports = hops
                .iter()
                .flat_map(|hop| hop.port..hop.port + hop.links)
                .map(u32::from);
            let chosen = self.choose((port, held), ports.map(|port| (port, wait(port, 0))));
            Way::new(chosen, 0, 0)
        })
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers of 250 flits of 64 B of which half must be free; a packet has 32.
    const HALF: MostRoomUp = MostRoomUp {
        whole: 16_000,
        enough: 8_000,
    };

    fn taken(held: [u64; 4]) -> u32 {
        let ports = held.map(|packets| packets * 2_048);
        HALF.choose((2, ports[2]), (0..).zip(ports))
    }

    #[test]
    fn three_waiting_packets_stay_and_four_move_if_another_port_has_more_room() {
        assert_eq!(taken([0, 0, 3, 0]), 2);
        assert_eq!(taken([3, 2, 4, 2]), 1);
        assert_eq!(taken([4, 5, 4, 4]), 2);
        assert_eq!(taken([0, 0, 4, 0]), 0);
        assert_eq!(taken([5, 5, 5, 4]), 3);
    }
}
