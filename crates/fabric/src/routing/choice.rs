//! The port with the least waiting before it, and which ones are as good: for `min-a`, `adaptive-up` and others.
//!
//! Who sends at the full rate of its link finds a port idle just when its next packet comes: its own. If only that port were the best, a
//! choice per packet would be a way per source. What differs by less than the packet itself is therefore no difference, unless a study wants it.

use super::algorithm::Here;
use super::{HOPS, Way};
use des::mix;
use des::rng::below;
use std::cell::RefCell;
use study::choice;

choice! {
    /// Which of the ports before which packets wait are as good as each other to `min-a` and `adaptive-up`, and which of those is taken.
    pub enum Equal {
        WithinAPacket = "within-a-packet", "Where less than a packet more waits than at the least; a random one.";
        Exact = "exact", "Where just as much waits; a random one.";
        First = "first", "Where just as much waits; the first in port order.";
        Drawn = "drawn", "Where just as much waits; a port that is drawn of all, if it is one of them, else the first in port order.";
    }
}

/// How ports are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortChoice {
    /// Which are equal, and which of them is taken.
    pub(super) equal: Equal,
    /// What waits is told in bytes, not in ps.
    pub(super) bytes: bool,
}

thread_local! {
    /// Ports and what waits before them; kept to spare allocations.
    static WAITS: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

impl PortChoice {
    /// Of ports with what waits before them, in port order: one of the best. `word` is the draw among equal ones, `packet(port)` how
    /// much the packet itself would be.
    pub(super) fn of(self, waits: &[(u64, u32)], word: u64, packet: impl FnOnce(u32) -> u64) -> Option<u32> {
        let &(least, first) = waits.iter().min_by_key(|(wait, _)| wait)?;
        let within = match self.equal {
            Equal::First => return Some(first),
            Equal::Drawn => {
                let (wait, drawn) = waits[below(word, waits.len() as u64) as usize];
                return Some(if wait == least { drawn } else { first });
            }
            Equal::Exact => 0,
            Equal::WithinAPacket => packet(first).saturating_sub(1),
        };
        let equal = || waits.iter().filter(|(wait, _)| wait - least <= within);
        let drawn = below(word, equal().count() as u64) as usize;
        equal().nth(drawn).map(|&(_, port)| port)
    }
}

impl Here<'_> {
    /// Does something with all ports to a nearer router and what waits before each on channel `vc`, in port order, each of several parallel cables by
    /// itself; and with the packet's draw here.
    #[inline(always)]
    fn of_nearer<T>(
        &self,
        vc: u8,
        mut wait: impl FnMut(u32, u8) -> u64,
        then: impl FnOnce(&mut Vec<(u64, u32)>, u64) -> T,
    ) -> T {
        let Here {
            routing,
            net,
            site,
            packet,
        } = *self;
        let target = net.topology.router_of(packet.destination());
        HOPS.with_borrow_mut(|hops| {
            net.topology.minimal_hops(site.router, target, hops);
            WAITS.with_borrow_mut(|waits| {
                waits.clear();
                let ports = hops.iter().flat_map(|hop| hop.port..hop.port + hop.links);
                waits.extend(ports.map(u32::from).map(|port| (wait(port, vc), port)));
                then(
                    waits,
                    mix(routing.seed ^ routing.moment(packet, site.router) ^ routing.identity(packet)),
                )
            })
        })
    }

    /// How much the packet itself would be before a port.
    #[inline(always)]
    fn own(&self, choice: PortChoice) -> impl FnOnce(u32) -> u64 {
        let size = u64::from(self.packet.size());
        move |port| self.waits_as_much(choice.bytes, size, port)
    }
}

impl PortChoice {
    /// Of all ports to a nearer router the one with the least `wait` on channel `vc`.
    #[inline(never)]
    pub(super) fn of_minimal(self, here: Here<'_>, vc: u8, wait: impl FnMut(u32, u8) -> u64) -> Way {
        here.of_nearer(vc, wait, |waits, word| {
            // Without a port the packet would be at its target, which the caller has excluded.
            Way::new(self.of(waits, word, here.own(self)).unwrap_or(0), vc, 0)
        })
    }

    /// Of so many ports to a nearer router as the packet draws, each another one, the one with the least `wait`; of all where there are no more.
    /// All are asked for what waits.
    #[inline(never)]
    pub(super) fn of_drawn(self, here: Here<'_>, vc: u8, draws: u8, wait: impl FnMut(u32, u8) -> u64) -> Way {
        here.of_nearer(vc, wait, |waits, mut word| {
            let drawn = usize::from(draws).min(waits.len());
            for place in 0..drawn {
                word = mix(word);
                let other = place + below(word, (waits.len() - place) as u64) as usize;
                waits.swap(place, other);
            }
            let port = self.of(&waits[..drawn], mix(word), here.own(self));
            // As above.
            Way::new(port.unwrap_or(0), vc, 0)
        })
    }

    /// Of all ports to a nearer router those with room on channel `vc`, and of these the one with the least `wait`; `None` if none has room.
    pub(super) fn of_minimal_with_room(self, here: Here<'_>, vc: u8, wait: impl FnMut(u32, u8) -> u64) -> Option<Way> {
        here.of_nearer(vc, wait, |waits, word| {
            waits.retain(|&(wait, _)| wait < u64::MAX);
            let port = self.of(waits, word, here.own(self))?;
            Some(Way::new(port, vc, 0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(equal: Equal, waits: &[(u64, u32)]) -> [u32; 5] {
        let mut count = [0; 5];
        let choice = PortChoice { equal, bytes: false };
        for draw in 0..10_000 {
            count[choice.of(waits, mix(draw), |_| 100).unwrap() as usize] += 1;
        }
        count
    }

    #[test]
    fn what_is_equal_is_drawn_evenly_and_nothing_else_is_taken() {
        let waits = [(107, 0), (7, 1), (106, 2), (7, 3), (500, 4)];
        // 10,000 draws: four standard deviations are 189 of a third and 200 of a half.
        let [a, b, c, d, e] = taken(Equal::WithinAPacket, &waits);
        assert!((a, e) == (0, 0) && [b, c, d].iter().all(|n| n.abs_diff(3_333) < 189));
        let [a, b, c, d, e] = taken(Equal::Exact, &waits);
        assert!((a, c, e) == (0, 0, 0) && b.abs_diff(d) < 400);
        assert_eq!(taken(Equal::First, &waits), [0, 10_000, 0, 0, 0]);
        // Ports 0, 2 and 4 are drawn in vain.
        let [a, b, c, d, e] = taken(Equal::Drawn, &waits);
        assert!((a, c, e) == (0, 0, 0) && b.abs_diff(8_000) < 160 && b + d == 10_000);
        assert_eq!(taken(Equal::WithinAPacket, &[(u64::MAX, 2)]), [0, 0, 10_000, 0, 0]);
    }

    #[test]
    fn no_port_is_none() {
        let choice = PortChoice {
            equal: Equal::Exact,
            bytes: true,
        };
        assert_eq!(choice.of(&[], 1, |_| 1), None);
    }
}
