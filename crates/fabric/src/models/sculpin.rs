//! `sculpin`: packets wait for their output link in unbounded queues; no credits, no crossbar, virtual channels ignored.
//!
//! Stands for SST/macro's SCULPIN. A packet whose head is ready at time t starts on its output at `max(t, link idle)`, first come,
//! first served; so its departure is known on arrival and one event per hop is all there is.

use crate::equipment::{HopCost, NamedModel, RouterChannels, RouterKind};
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::packet::Packet;
use crate::routing::Way;
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

impl<const PLAIN: bool> Sculpin<PLAIN> {
    /// A packet passes on by an output port, to a node if it is at its `LAST` router.
    #[inline(always)]
    fn pass<const LAST: bool, J: Journal, S: Sink<Fabric<Self>>>(
        mut at: AtRouter<'_, Self, J, S>,
        packet: &Packet,
        way: Way,
    ) {
        let AtRouter { net, site, .. } = at;
        let port = site.port + way.port();
        let size = packet.size();
        let peer = &net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let (serialisation, hop) = (class.ser(size), class.hop);
        let mut ready = packet.time().0;
        if !PLAIN && net.mixed_speeds {
            ready += net.overtaking_delay(site, packet, serialisation);
        }
        let begun = ready.max(at.st.out_links.get(port).free);
        let (start, serialisation) = at.take_link(port, size, begun, serialisation);
        if LAST {
            at.deliver(packet, start);
        } else {
            at.launch(peer, hop, *packet, way.vc(), start, serialisation);
        }
    }
}

impl<const PLAIN: bool> RouterModel for Sculpin<PLAIN> {
    const PLAIN: bool = PLAIN;
    const HOST_CREDITS: bool = false;
    const QUEUES: bool = false;

    fn new(_: &RunSpec, _: &Network) -> Self {
        Sculpin
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let AtRouter { net, site, .. } = at;
        if PLAIN {
            // Code for each way, so that which one it is need be asked once: of all branches it is the one that is told wrong most often.
            return match site.ejection(event) {
                Some(local) => Self::pass::<true, J, S>(at, event, Way::new(local, 0, 0)),
                None => {
                    let way = at.plain_route(event);
                    Self::pass::<false, J, S>(at, event, way);
                }
            };
        }
        let mut packet = *event;
        if let Some(inputs) = &net.inputs {
            packet = inputs.taken(site, &packet);
        }
        let now = packet.time().0;
        let way = at.route(&packet, now);
        if way.is_lost() {
            return at.lose_here(&packet, now);
        }
        packet.set_phase(way.phase());
        if way.port() < u32::from(site.net) {
            return Self::pass::<false, J, S>(at, &packet, way);
        }
        // A packet of its own, so that only this way keeps one in memory.
        let landed = packet.with_lp(at.lp);
        Self::pass::<true, J, S>(at, &landed, way);
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
