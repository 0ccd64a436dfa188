//! `framed`: as `sculpin`, but every packet takes its link for 20 bytes more, the preamble and the gap between packets of Ethernet
//! (IEEE 802.3).
//!
//! A packet whose head is ready at t starts at max(t, link idle); the link is idle again at start + (size + 20 B) / bandwidth.

use crate::equipment::{HopCost, NamedModel, RouterChannels, RouterKind};
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::packet::Packet;
use crate::spec::RunSpec;
use crate::state::State;
use des::{Event, Journal, Sink};
use study::Entry;

/// What a packet takes on a link besides its own bytes.
const FRAME: u32 = 20;

impl RouterKind {
    /// As `SCULPIN`, with what Ethernet sends besides packets.
    pub const FRAMED: RouterKind = RouterKind {
        entry: Entry {
            name: "framed",
            line: "As sculpin, with the preamble and the gap between packets of Ethernet.",
            groups: &[],
            source: "IEEE 802.3",
            limits: "No back-pressure: congestion never spreads upstream.",
        },
        named: |_| &NamedFramed,
    };
}

/// What is known of it before a run.
#[derive(Debug)]
struct NamedFramed;

impl NamedModel for NamedFramed {
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
}

/// The model.
#[derive(Debug)]
pub struct Framed;

impl RouterModel for Framed {
    const HOST_CREDITS: bool = false;

    fn new(_: &RunSpec, _: &Network) -> Self {
        Framed
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let mut packet = *event;
        let AtRouter { net, site, .. } = at;
        let now = packet.time().0;
        let way = at.route(&packet, now);
        packet.set_phase(way.phase());
        let port = site.port + way.port();
        let size = packet.size();
        let peer = &net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let serialisation = class.ser(size);
        let mut ready = now;
        if net.mixed_speeds {
            ready += net.overtaking_delay(site, &packet, serialisation);
        }
        let record = at.st.ports.edit(at.j, port);
        let start = ready.max(record.free);
        let framed = class.ser(size + FRAME);
        record.book(size, framed, start + framed);
        if way.port() < u32::from(site.net) {
            at.launch(peer, class.hop, packet, way.vc(), start, serialisation);
        } else {
            let landed = packet.with_lp(at.lp);
            at.deliver(&landed, start);
        }
    }

    fn credit<J: Journal, S: Sink<Fabric<Self>>>(_: AtRouter<'_, Self, J, S>, _: &Packet) {
        if des::CHECKS {
            unreachable!("routers without credits send none");
        }
    }

    fn close<J: Journal, S: Sink<Fabric<Self>>>(_: AtRouter<'_, Self, J, S>, _: u64) -> u64 {
        u64::MAX
    }

    /// Time (ps) until the link is idle.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, _: u8, now: u64) -> u64 {
        at.model.waiting(at.net, at.st, port, None, now)
    }

    fn waiting(&self, _: &Network, st: &State, port: u32, _: Option<u8>, now: u64) -> u64 {
        st.ports.get(port).free.saturating_sub(now)
    }
}
