//! Lost packets that are sent again.
//!
//! A source hears of a packet that was lost some time after it was, as its timer for what nobody has acknowledged tells a real one; acknowledgements
//! themselves are not sent. The packet takes the interface again, before what waits there, with all that a packet costs.

use super::AtInterface;
use crate::network::model::{Fabric, RouterModel};
use crate::observe::Departures;
use crate::packet::Packet;
use crate::state::State;
use des::{Event, Journal, Sink, Time};

impl<M: RouterModel> Fabric<M> {
    /// Sends a lost packet again as soon as its interface's link is idle; where the router has no room for it, asks again when one as large could have left.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_again<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        event: &Packet,
        sink: &mut S,
    ) {
        let net = &self.net;
        let now = event.time().0;
        let node = net.sites[lp as usize].node + u32::from(event.port());
        let place = net.node_place(lp, node);
        if *st.due.get(place) < now {
            let interface = AtInterface { place, node, end: now };
            self.advance(st, j, lp, interface, sink);
        }
        let size = event.size();
        let occupied = net.injection.ser(size);
        let nic = st.nics.edit(j, place);
        if M::HOST_CREDITS {
            let room = self.model.room(size) as i32;
            if nic.credit < room {
                let later = Time(now + occupied.max(net.lookahead.0));
                return sink.send(event.at(later, lp, event.port()));
            }
            nic.credit -= room;
        }
        let start = now.max(nic.free) + net.interface.packet_overhead;
        nic.free = start + occupied;
        nic.packets += 1;
        let packet = event.again();
        let mut departures = Departures::new(&net.span);
        departures.count(size, 1, packet.share(now, net.messages.bursts));
        departures.tell(|record| sink.record(record));
        self.at(st, j, lp, sink).set_out(node, packet, start);
    }
}
