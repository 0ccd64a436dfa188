//! The direction of every cable: a dimension, and up or down.
//!
//! Opposite sides of a ring of four point the same way, so cables fall into sheaves that share a direction. What a sheaf may be is a set that shrinks: two
//! cables of a switch never point the same way, and two sides of a ring of four never along the same dimension. One switch with as many such sides as there are
//! dimensions names the directions; from there sheaf after sheaf has one that is left.

use super::super::Subnet;
use super::cables::SwitchCables;
use super::{MOST_FACTORS, TorusMisfit};

/// Directions of arcs as far as they are certain.
pub(super) struct Directions {
    /// Dimensions that there are, rings of four counted as two.
    pub n_dims: usize,
    /// The switch that named them.
    pub seed: u32,
    /// By arc: twice the dimension, and one more downwards; [`Directions::OPEN`] where several are left.
    pub of: Vec<u8>,
}

/// Arcs that lead up and down an axis.
pub(super) struct ToldAxis {
    pub up: Option<u32>,
    pub down: Option<u32>,
    /// Whether these may lead along two dimensions: it is a ring of four, or of two switches that both lead to.
    pub may_be_two: bool,
}

/// A set of directions, a bit each.
type DirectionSet = u16;

/// The opposite directions.
fn opposite(set: DirectionSet) -> DirectionSet {
    let ups = 0b0101_0101_0101;
    (set & ups) << 1 | set >> 1 & ups
}

impl Directions {
    /// Not certain.
    pub const OPEN: u8 = u8::MAX;

    /// By the cables, and by arcs of one switch of which it is told which lead up and down an axis: those of different axes lead along different dimensions.
    /// `Err` names a cable that has none.
    pub fn of(cables: &SwitchCables, told: &[ToldAxis], subnet: &Subnet) -> Result<Directions, TorusMisfit> {
        let sheaves = Sheaves::of(cables);
        for arc in 0..cables.to.len() as u32 {
            if sheaves.of[arc as usize] == sheaves.of[cables.back[arc as usize] as usize] {
                let why = "rings of four cables turn it round";
                return Err(cables.refuse(subnet, arc, why));
            }
        }
        let sides: Vec<u8> = (0..cables.n_switches() as u32).map(|s| cables.most_sides(s)).collect();
        let rank = |s: u32| {
            (
                sides[s as usize].count_ones(),
                cables.of_switch(s).len(),
                std::cmp::Reverse(s),
            )
        };
        let seed = (0..cables.n_switches() as u32).max_by_key(|&s| rank(s)).unwrap_or(0);
        let n_dims = (sides[seed as usize].count_ones() as usize).min(MOST_FACTORS);
        let mut left = Elimination {
            cables,
            sheaves: &sheaves,
            sets: vec![((1u32 << (2 * n_dims)) - 1) as DirectionSet; sheaves.members.len()],
            done: vec![false; sheaves.members.len()],
            queue: Vec::new(),
        };
        let first = cables.of_switch(seed).start;
        let named = (0..8).filter(|i| sides[seed as usize] >> i & 1 == 1);
        for (dim, i) in named.enumerate() {
            left.keep(first + i, 1 << (2 * dim))
                .map_err(|arc| misfit(cables, subnet, arc))?;
        }
        left.run().map_err(|arc| misfit(cables, subnet, arc))?;
        left.hear(told).map_err(|arc| misfit(cables, subnet, arc))?;
        let of_set = |set: DirectionSet| match set.count_ones() {
            1 => set.trailing_zeros() as u8,
            _ => Self::OPEN,
        };
        let of = sheaves
            .of
            .iter()
            .map(|&sheaf| of_set(left.sets[sheaf as usize]))
            .collect();
        Ok(Directions { n_dims, seed, of })
    }
}

fn misfit(cables: &SwitchCables, subnet: &Subnet, arc: u32) -> TorusMisfit {
    cables.refuse(subnet, arc, "with the others of its switch it leads along no dimension")
}

/// Arcs that must point the same way.
struct Sheaves {
    /// By arc.
    of: Vec<u32>,
    /// The arcs of each.
    members: Vec<Vec<u32>>,
}

impl Sheaves {
    fn of(cables: &SwitchCables) -> Sheaves {
        let mut parents: Vec<u32> = (0..cables.to.len() as u32).collect();
        fn root(parents: &mut [u32], mut arc: u32) -> u32 {
            while parents[arc as usize] != arc {
                parents[arc as usize] = parents[parents[arc as usize] as usize];
                arc = parents[arc as usize];
            }
            arc
        }
        let mut join = |a: u32, b: u32| {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b) as usize] = a.min(b);
        };
        for [a, b, like_a, like_b] in cables.squares() {
            for (one, other) in [(a, like_a), (b, like_b)] {
                join(one, other);
                join(cables.back[one as usize], cables.back[other as usize]);
            }
        }
        let (mut of, mut members) = (Vec::with_capacity(parents.len()), Vec::<Vec<u32>>::new());
        for arc in 0..parents.len() as u32 {
            let first = root(&mut parents, arc);
            if first == arc {
                of.push(members.len() as u32);
                members.push(Vec::new());
            } else {
                of.push(of[first as usize]);
            }
            members[of[arc as usize] as usize].push(arc);
        }
        Sheaves { of, members }
    }
}

/// What each sheaf may still be. `Err` is an arc of one that can be nothing.
struct Elimination<'a> {
    cables: &'a SwitchCables,
    sheaves: &'a Sheaves,
    sets: Vec<DirectionSet>,
    /// Whether others have been told.
    done: Vec<bool>,
    queue: Vec<u32>,
}

impl Elimination<'_> {
    /// An arc points in one of these directions, and the same cable the other way in their opposites.
    fn keep(&mut self, arc: u32, set: DirectionSet) -> Result<(), u32> {
        for (arc, set) in [(arc, set), (self.cables.back[arc as usize], opposite(set))] {
            let sheaf = self.sheaves.of[arc as usize];
            let before = self.sets[sheaf as usize];
            let after = before & set;
            if after == 0 {
                return Err(arc);
            }
            self.sets[sheaf as usize] = after;
            if after != before && after.count_ones() == 1 {
                self.queue.push(sheaf);
            }
        }
        Ok(())
    }

    /// Adds what is told of axes.
    fn hear(&mut self, told: &[ToldAxis]) -> Result<(), u32> {
        for axis in told {
            if let (Some(up), Some(down), false) = (axis.up, axis.down, axis.may_be_two) {
                for (one, other) in [(up, down), (down, up)] {
                    self.keep_if_any(other, opposite(self.set(one)))?;
                }
            }
            self.run()?;
            let others = told.iter().filter(|other| !std::ptr::eq(*other, axis));
            for arc in others.flat_map(|other| [other.up, other.down]).flatten() {
                for own in [axis.up, axis.down].into_iter().flatten() {
                    let set = self.set(own);
                    if set.count_ones() == 1 {
                        self.keep_if_any(arc, !(set | opposite(set)))?;
                    }
                }
            }
            self.run()?;
        }
        Ok(())
    }

    /// What is told and cannot be is refused later, by the line that says so.
    fn keep_if_any(&mut self, arc: u32, set: DirectionSet) -> Result<(), u32> {
        match self.set(arc) & set {
            0 => Ok(()),
            _ => self.keep(arc, set),
        }
    }

    fn set(&self, arc: u32) -> DirectionSet {
        self.sets[self.sheaves.of[arc as usize] as usize]
    }

    /// Tells the neighbours of every sheaf that is certain. Each arc comes once.
    fn run(&mut self) -> Result<(), u32> {
        let cables = self.cables;
        while let Some(sheaf) = self.queue.pop() {
            if std::mem::replace(&mut self.done[sheaf as usize], true) {
                continue;
            }
            let own = self.sets[sheaf as usize];
            let dimension = own | opposite(own);
            let sheaves = self.sheaves;
            for &arc in &sheaves.members[sheaf as usize] {
                for other in cables
                    .of_switch(cables.from[arc as usize])
                    .filter(|&other| other != arc)
                {
                    let taken = if cables.are_sides(arc, other) { dimension } else { own };
                    self.keep(other, !taken)?;
                }
            }
        }
        Ok(())
    }
}
