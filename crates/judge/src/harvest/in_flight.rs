//! What is under way: packets and messages that have set out and not arrived.

use des::Event;
use fabric::envelope::{self, Notice};
use fabric::network::Network;
use fabric::observe::{share_of_birth, share_of_size};
use fabric::packet::{Kind, Packet, ends};

/// Packets and their bytes, in pending events or in queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their [shares](fabric::packet::Packet::share).
    pub flow: u64,
    /// Sum of the [shares](fabric::observe::share_of_message) of messages under way.
    pub message_flow: u64,
}

impl InFlight {
    /// Counts an event if it is a packet.
    pub fn count(&mut self, event: &Packet, net: &Network) {
        if event.is_news() {
            return;
        }
        match event.kind() {
            Kind::Arrival => self.add(net, event),
            Kind::Notice => {
                let node = net.sites[event.lp() as usize].node + u32::from(event.port());
                let (ends, label) = (ends(event.noticed_source(), node), event.noticed());
                match envelope::read(event) {
                    Notice::Birth(birth, _) | Notice::Only(birth, _) => {
                        self.add_message(share_of_birth(ends, label, birth))
                    }
                    Notice::Size(bytes, ..) => self.add_message(share_of_size(ends, label, bytes)),
                    Notice::Lost(_) => {}
                }
            }
            _ => {}
        }
    }

    /// Counts a packet.
    pub(super) fn add(&mut self, net: &Network, packet: &Packet) {
        self.packets += u64::from(net.parts(packet.size()));
        self.bytes += u64::from(packet.size());
        let share = packet.share(packet.time().0, net.messages.bursts);
        self.flow = self.flow.wrapping_add(share);
    }

    /// Counts a message, or a part of what is known of it.
    pub(super) fn add_message(&mut self, share: u64) {
        self.message_flow = self.message_flow.wrapping_add(share);
    }

    /// Adds what another has counted.
    pub(crate) fn merge(&mut self, other: InFlight) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.flow = self.flow.wrapping_add(other.flow);
        self.message_flow = self.message_flow.wrapping_add(other.message_flow);
    }
}
