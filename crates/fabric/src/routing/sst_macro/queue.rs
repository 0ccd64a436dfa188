//! What waits at a port, in packets.

use crate::plant::{Plant, Site};
use crate::routing::RoutingTerms;
use crate::routing::prelude::*;
use crate::routing::turns::COUNTER;

/// How the packets at a port are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketQueue {
    /// Bytes of a packet.
    packet: u32,
    /// Those that have left and whose credit is not back; else those that wait for the link.
    sent: bool,
}

/// What a decision looks at: queues and counters.
pub(super) struct SeenQueues<'a> {
    queue: PacketQueue,
    net: &'a Plant,
    site: &'a Site,
    wait: &'a mut dyn FnMut(u32, u8) -> u64,
}

impl PacketQueue {
    pub fn of(terms: &RoutingTerms<'_>) -> PacketQueue {
        PacketQueue {
            packet: terms.nic.packet.0.min(1 << 16) as u32,
            sent: terms.router.has_bounded_buffers(),
        }
    }

    /// What the router is asked for.
    pub fn sense(self) -> Sense {
        Sense {
            output: !self.sent,
            credits: self.sent,
            per_vc: false,
            reserve: false,
        }
    }

    pub fn seen<'a>(self, here: &Here<'a>, wait: &'a mut dyn FnMut(u32, u8) -> u64) -> SeenQueues<'a> {
        SeenQueues {
            queue: self,
            net: here.net,
            site: here.site,
            wait,
        }
    }

    /// Packets in the time (ps) that a link needs for what is at a port, `one` for each.
    fn packets(self, time: u64, one: u64) -> u64 {
        match self.sent {
            true => time / one,
            // Without the one that the link sends.
            false => time.saturating_sub(1) / one,
        }
    }
}

impl SeenQueues<'_> {
    /// Packets at a port.
    pub fn at(&mut self, port: u32) -> u64 {
        let class = &self.net.classes[usize::from(self.net.peers[(self.site.port + port) as usize].class())];
        let one = class.ser(self.queue.packet).max(1);
        self.queue.packets((self.wait)(port, 0), one)
    }

    /// How often a packet has taken its turn of a counter.
    pub fn count(&mut self, counter: u32) -> u64 {
        (self.wait)(COUNTER + counter, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_on_the_link_does_not_wait_and_credits_count_in_whole_packets() {
        let waiting = PacketQueue {
            packet: 2_048,
            sent: false,
        };
        // Idle; one on the link; it and one behind it, at the begin and later.
        assert_eq!(
            [0, 100, 101, 150, 200, 201].map(|time| waiting.packets(time, 100)),
            [0, 0, 1, 1, 1, 2]
        );
        let sent = PacketQueue { sent: true, ..waiting };
        assert_eq!([0, 99, 100, 250].map(|time| sent.packets(time, 100)), [0, 0, 1, 2]);
    }
}
