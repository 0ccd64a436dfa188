//! `sculpin`: packets wait for their output link in unbounded queues; no credits, no crossbar, virtual channels ignored.
//!
//! Stands for SST/macro's SCULPIN. A packet whose head is ready at time t starts on its output at `max(t, link idle)`, first come,
//! first served; so its departure is known on arrival and one event per hop is all there is.

use crate::equipment::{HopCost, NamedModel, RouterChannels, RouterKind};
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::packet::Packet;
use crate::spec::RunSpec;
use crate::state::State;
use des::{Event, Journal, Sink};
use study::Entry;

impl RouterKind {
    /// Unbounded output queues, no credits.
    pub const SCULPIN: RouterKind = RouterKind {
        entry: Entry {
            name: "sculpin",
            line: "Packets wait for the output port in unbounded queues; no credits.",
            groups: &[],
            source: "The SCULPIN model of SST/macro",
            limits: "No back-pressure: congestion never spreads upstream.",
        },
        named: |_| &NamedSculpin,
    };
}

/// What is known of it before a run.
#[derive(Debug)]
struct NamedSculpin;

impl NamedModel for NamedSculpin {
    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.08e-6,
            with_ranks: 0.075e-6,
        }
    }

    fn channels(&self) -> RouterChannels {
        RouterChannels::Names
    }

    fn gives_credits(&self) -> bool {
        false
    }

    fn takes_by_links(&self) -> bool {
        true
    }

    fn delivers_at_arrival(&self) -> bool {
        true
    }

    fn loses_packets(&self) -> bool {
        true
    }
}

/// The model.
#[derive(Debug)]
pub struct Sculpin<const PLAIN: bool = false>;

impl<const PLAIN: bool> RouterModel for Sculpin<PLAIN> {
    const PLAIN: bool = PLAIN;
    const HOST_CREDITS: bool = false;
    const QUEUES: bool = false;

    fn new(_: &RunSpec, _: &Network) -> Self {
        Sculpin
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, mut packet: Packet) {
        let AtRouter { net, site, .. } = at;
        if !PLAIN && let Some(inputs) = &net.inputs {
            packet = inputs.taken(site, &packet);
        }
        let now = packet.time().0;
        let way = at.route(&packet, now);
        if !PLAIN && way.is_lost() {
            return at.lose_here(&packet, now);
        }
        let (local, vc) = (way.port(), way.vc());
        if !PLAIN {
            packet.set_phase(way.phase());
        }
        let port = site.port + local;
        let size = packet.size();
        let peer = &net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let (serialisation, hop) = (class.ser(size), class.hop);
        let mut ready = now;
        if !PLAIN && net.mixed_speeds {
            ready += net.overtaking_delay(site, &packet, serialisation);
        }
        let begun = ready.max(at.st.out_links.get(port).free);
        let (start, serialisation) = at.take_link(port, size, begun, serialisation);
        if local < u32::from(site.net) {
            at.launch(peer, hop, packet, vc, start, serialisation);
        } else {
            // A packet of its own, so that only this way keeps one in memory.
            let landed = packet.with_lp(at.lp);
            at.deliver(&landed, start);
        }
    }

    fn credit<J: Journal, S: Sink<Fabric<Self>>>(_: AtRouter<'_, Self, J, S>, _: &Packet) {
        if des::CHECKS {
            unreachable!("sculpin routers send no credits");
        }
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(_: AtRouter<'_, Self, J, S>, _: u64) -> u64 {
        u64::MAX
    }

    /// Time (ps) until the link is idle.
    #[inline(always)]
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, _: u8, now: u64) -> u64 {
        at.model.waiting(at.net, at.st, port, None, now)
    }

    #[inline(always)]
    fn waiting(&self, _: &Network, st: &State, port: u32, _: Option<u8>, now: u64) -> u64 {
        st.out_links.get(port).free.saturating_sub(now)
    }
}
