//! How a packet remembers its way over a further group, where it drew a third group that only its own router is linked to.
//!
//! There is one link between two groups. The way leads to the router of the group that has the link to the further group, over that, and to a router there that
//! follows from who drew and what was drawn: of the one with the link to the third group as many places down as the router that drew has its own place.
//! What cannot be told from where the packet is, its phase tells:
//!
//! * on the way to the link its number among those of its router, and what was drawn;
//! * over the link what was drawn, and whether the source's router drew or the one behind it.
//!
//! What was drawn a hash tells again; if the clock drew, it is told as the number of the only link there.

use crate::routing::group_links::GroupLinks;

/// Phases of a packet.
const PHASES: u32 = 16;

/// The phases, from `first` on: to a link, then over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FurtherGroup {
    first: u8,
    /// Global links of a router.
    links: u8,
    /// Groups drawn that have to be told.
    drawn: u8,
}

impl FurtherGroup {
    /// The phases from `first` on, if there are enough of them; whether draws have to be `told`.
    pub fn new(links: &GroupLinks, first: u8, told: bool) -> Option<FurtherGroup> {
        let own = links.most_own();
        let drawn = if told { own } else { 1 };
        let phases = u32::from(first) + own * drawn + 2 * drawn;
        (links.links == 1 && links.groups > 2 && phases <= PHASES).then_some(FurtherGroup {
            first,
            links: own as u8,
            drawn: drawn as u8,
        })
    }

    fn told(self, drawn: u8) -> u8 {
        if self.drawn > 1 { drawn } else { 0 }
    }

    /// The first phase of those over a link.
    fn over_link(self) -> u8 {
        self.first + self.links * self.drawn
    }

    /// Whether a packet is on such a way.
    pub fn is_under_way(self, phase: u8) -> bool {
        phase >= self.first
    }

    /// On the way to a link, by its number; third groups are told by that of the link there.
    pub fn to(self, number: u8, drawn: u8) -> u8 {
        self.first + number * self.drawn + self.told(drawn)
    }

    /// Over the link; `second` if the router behind the source's drew.
    pub fn over(self, drawn: u8, second: bool) -> u8 {
        self.over_link() + 2 * self.told(drawn) + u8::from(second)
    }

    /// The link that a packet is on its way to, and what was drawn, as far as it is told.
    pub fn aimed_at(self, phase: u8) -> Option<(u8, u8)> {
        let told = phase - self.first;
        (phase < self.over_link()).then(|| (told / self.drawn, told % self.drawn))
    }

    /// What was drawn, as far as it is told, and whether the router behind the source's drew, of a packet that has come over the link.
    pub fn drawn(self, phase: u8) -> (u8, bool) {
        let told = phase - self.over_link();
        (told / 2, told % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(groups: u32, routers: u32, links: u32) -> GroupLinks {
        GroupLinks {
            groups,
            routers,
            links,
            local: 1,
        }
    }

    #[test]
    fn phases_tell_ways_apart_and_there_are_sixteen() {
        // Two links a router: 5 + 2 x 2 + 2 x 2 phases are 13; hashes need 4 + 2 + 2.
        for (first, told) in [(5, true), (4, false)] {
            let further = FurtherGroup::new(&numbers(9, 4, 1), first, told).unwrap();
            let drawn = if told { 2 } else { 1 };
            let mut seen = Vec::new();
            for drawn in 0..drawn {
                for number in 0..2 {
                    seen.push(further.to(number, drawn));
                    assert_eq!(further.aimed_at(further.to(number, drawn)), Some((number, drawn)));
                }
                for second in [false, true] {
                    seen.push(further.over(drawn, second));
                    assert_eq!(further.aimed_at(further.over(drawn, second)), None);
                    assert_eq!(further.drawn(further.over(drawn, second)), (drawn, second));
                }
            }
            seen.sort_unstable();
            let all: Vec<u8> = (first..first + seen.len() as u8).collect();
            assert_eq!(seen, all);
        }
        // Ten links of a router are the most that hashes leave room for, and two that the clock does.
        assert!(FurtherGroup::new(&numbers(41, 4, 1), 4, false).is_some());
        assert!(FurtherGroup::new(&numbers(42, 4, 1), 4, false).is_none());
        assert!(FurtherGroup::new(&numbers(13, 4, 1), 6, true).is_none());
        assert!(FurtherGroup::new(&numbers(9, 4, 2), 4, false).is_none());
    }
}
