//! Recursive bisection: routers in order, cut where few cables cross and both sides are even.

use crate::families::CutOrder;
use crate::topology::Topology;

/// What a cut looks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// Even weights alone.
    Even,
    /// Few cables across, with even weights: cables times the fourth power of the heavier side's weight, among cuts that keep to the
    /// limit. The power, since a worker that has 1 % more to do costs more time than a cut of 1 % more cables.
    FewCables {
        /// Weight that a part shall not exceed, as a fraction.
        limit: (u64, u64),
    },
}

impl Goal {
    /// Few cables between `parts` of these routers, none of which is more than 5 % above the mean, 10 % where groups are to be kept whole.
    pub(super) fn few_cables(topology: &Topology, routers: &[u32], weights: &[u32], parts: u32) -> Self {
        let slack = if topology.group_size().is_some() { 10 } else { 5 };
        let total = weight_of(routers, weights);
        Goal::FewCables {
            limit: (total * (100 + slack), 100 * u64::from(parts)),
        }
    }
}

/// Not among the routers at hand.
const ELSEWHERE: u32 = u32::MAX;

/// The means of cutting sets of routers.
pub(super) struct Halves<'a> {
    topology: &'a Topology,
    weights: &'a [u32],
    order: CutOrder<'a>,
    /// Place of each router among those at hand, or [`ELSEWHERE`].
    place: Vec<u32>,
}

impl<'a> Halves<'a> {
    pub(super) fn new(topology: &'a Topology, weights: &'a [u32], order: CutOrder<'a>) -> Self {
        Self {
            topology,
            weights,
            order,
            place: vec![ELSEWHERE; weights.len()],
        }
    }

    /// Puts routers in order of their parts and returns how many each part has.
    pub(super) fn divide(&mut self, routers: &mut [u32], parts: u32, goal: Goal) -> Vec<usize> {
        let mut sizes = Vec::with_capacity(parts as usize);
        self.divide_into(routers, parts, goal, &mut sizes);
        sizes
    }

    fn divide_into(&mut self, routers: &mut [u32], parts: u32, goal: Goal, sizes: &mut Vec<usize>) {
        if parts == 1 {
            sizes.push(routers.len());
            return;
        }
        let left = parts.div_ceil(2);
        if routers.len() > 1 {
            self.order
                .arrange(self.topology, routers, (left, parts - left), &mut self.place);
        }
        let at = match goal {
            Goal::Even => self.even_cut(routers, left, parts - left),
            Goal::FewCables { limit } => self.cheap_cut(routers, left, parts - left, limit),
        };
        let (a, b) = routers.split_at_mut(at);
        self.divide_into(a, left, goal, sizes);
        self.divide_into(b, parts - left, goal, sizes);
    }

    /// Where both sides are most even for `left` and `right` parts.
    fn even_cut(&self, routers: &[u32], left: u32, right: u32) -> usize {
        let scale = Scale::new(routers, self.weights, left, right);
        let (mut before, mut best) = (0, (u64::MAX, 0));
        for at in 0..=routers.len() {
            if scale.places.contains(&at) {
                best = best.min((scale.load(before), at));
            }
            before += routers.get(at).map_or(0, |&r| u64::from(self.weights[r as usize]));
        }
        best.1
    }

    /// Of the cuts that leave no side above the limit, between groups if any is, the one with the least product of cables across and
    /// the fourth power of the heavier side. The most even cut if there is none.
    fn cheap_cut(&mut self, routers: &[u32], left: u32, right: u32, limit: (u64, u64)) -> usize {
        let scale = Scale::new(routers, self.weights, left, right);
        let limit = u128::from(limit.0) * u128::from(left) * u128::from(right) / u128::from(limit.1);
        for (i, &r) in routers.iter().enumerate() {
            self.place[r as usize] = i as u32;
        }
        let (mut before, mut across, mut best) = (0, 0i64, (true, true, u128::MAX, u64::MAX, 0));
        for at in 0..=routers.len() {
            if scale.places.contains(&at) {
                let load = scale.load(before);
                let over = u128::from(load) > limit;
                let score = if over {
                    u128::from(load)
                } else {
                    across as u128 * scale.uneven(load).pow(4)
                };
                let parts_group =
                    !over && at > 0 && at < routers.len() && self.order.parts_group(routers[at - 1], routers[at]);
                best = best.min((over, parts_group, score, load, at));
            }
            let Some(&r) = routers.get(at) else { break };
            before += u64::from(self.weights[r as usize]);
            self.topology.see_cables(r, |peer, _, _| {
                let place = self.place[peer as usize];
                across += i64::from(place > at as u32 && place != ELSEWHERE) - i64::from(place < at as u32);
            });
        }
        routers.iter().for_each(|&r| self.place[r as usize] = ELSEWHERE);
        best.4
    }
}

/// Compares the two sides of a cut.
struct Scale {
    total: u64,
    left: u64,
    right: u64,
    /// Where a cut leaves every part a router, if there are enough.
    places: std::ops::RangeInclusive<usize>,
}

impl Scale {
    fn new(routers: &[u32], weights: &[u32], left: u32, right: u32) -> Self {
        let (l, r) = (left as usize, right as usize);
        let places = if routers.len() >= l + r {
            l..=routers.len() - r
        } else {
            0..=routers.len()
        };
        Self {
            total: weight_of(routers, weights),
            left: left.into(),
            right: right.into(),
            places,
        }
    }

    /// Weight per part of the heavier side, times both numbers of parts.
    fn load(&self, before: u64) -> u64 {
        (before * self.right).max((self.total - before) * self.left)
    }

    /// A load over that of an even cut, in 2^-16.
    fn uneven(&self, load: u64) -> u128 {
        let even = u128::from(self.total) * u128::from(self.left) * u128::from(self.right);
        ((u128::from(load) * u128::from(self.left + self.right)) << 16) / even.max(1)
    }
}

fn weight_of(routers: &[u32], weights: &[u32]) -> u64 {
    routers.iter().map(|&r| u64::from(weights[r as usize])).sum()
}
