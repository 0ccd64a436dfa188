//! `sculpin`: packets wait for their output link in unbounded queues; no credits, no crossbar, virtual channels ignored.
//!
//! Stands for SST/macro's SCULPIN. A packet whose head is ready at time t starts on its output at `max(t, link idle)`, first come,
//! first served; so its departure is known on arrival and one event per hop is all there is.

use super::{launch, route};
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Site};
use crate::nic;
use crate::packet::Packet;
use crate::state::State;
use des::{Event, Journal, Sink};

/// The model.
#[derive(Debug)]
pub struct Sculpin<const PLAIN: bool = false>;

impl<const PLAIN: bool> RouterModel for Sculpin<PLAIN> {
    const PLAIN: bool = PLAIN;
    const HOST_CREDITS: bool = false;

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(
        net: &Network,
        st: &mut State,
        j: &mut J,
        lp: u32,
        mut packet: Packet,
        sink: &mut S,
    ) {
        let site = &net.sites[lp as usize];
        let now = packet.time().0;
        let way = route::<Self, J, S>(net, st, j, lp, site, &packet, now, sink);
        let (local, vc) = (way.port(), way.vc());
        if !PLAIN {
            packet.set_phase(way.phase());
        }
        let port = site.port + local;
        let size = packet.size();
        let record = st.ports.edit(j, port);
        let peer = &net.peers[port as usize];
        let class = &net.classes[peer.class() as usize];
        let (serialisation, hop) = (class.ser(size), class.hop);
        let mut ready = now;
        if !PLAIN && net.mixed_speeds {
            ready += net.overtaking_delay(site, &packet, serialisation);
        }
        let start = ready.max(record.free);
        record.free = start + serialisation;
        record.busy += serialisation;
        record.packets += 1;
        record.bytes += u64::from(size);
        if local < u32::from(site.net) {
            launch::<Self, S>(net, peer, hop, packet, vc, start, serialisation, sink);
        } else {
            // A packet of its own, so that only this way keeps one in memory.
            let landed = packet.with_lp(lp);
            nic::deliver::<Self, J, S>(net, st, j, site, &landed, start, sink);
        }
    }

    fn credit<J: Journal, S: Sink<Fabric<Self>>>(_: &Network, _: &mut State, _: &mut J, _: u32, _: &Packet, _: &mut S) {
        debug_assert!(false, "sculpin routers send no credits");
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(
        _: &Network,
        _: &mut State,
        _: &mut J,
        _: u32,
        _: &Site,
        _: u64,
        _: &mut S,
    ) -> u64 {
        u64::MAX
    }

    /// Time (ps) until the link is idle.
    #[inline(always)]
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(
        _: &Network,
        st: &mut State,
        _: &mut J,
        _: u32,
        _: &Site,
        port: u32,
        _: u8,
        now: u64,
        _: &mut S,
    ) -> u64 {
        st.ports.get(port).free.saturating_sub(now)
    }

    #[inline(always)]
    fn waiting(_: &Network, st: &State, port: u32, _: Option<u8>, now: u64) -> u64 {
        st.ports.get(port).free.saturating_sub(now)
    }
}
