//! Coordinates of switches by the directions of their cables.
//!
//! What is certain is walked first. Where that leaves switches out, since they have lost cables, the smallest torus or mesh counts in which all of them have
//! a place next to all their neighbours.

use super::super::Subnet;
use super::cables::SwitchCables;
use super::directions::Directions;
use super::{MOST_FACTORS, OTHER_ENGINE, TorusMisfit};

/// Coordinates, of as many dimensions as there are.
pub(super) type LatticePoint = [i32; MOST_FACTORS];

/// How far a dimension goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DimensionExtent {
    /// The first coordinate of a line; 0 of a ring.
    pub start: i32,
    /// Places along it.
    pub size: u32,
    /// Whether it is a ring.
    pub loops: bool,
}

impl DimensionExtent {
    /// The coordinate from 0 up, if it is in the line.
    fn of(self, coordinate: i32) -> Option<i32> {
        let (c, size) = (coordinate - self.start, self.size as i32);
        let c = if self.loops { c.rem_euclid(size) } else { c };
        (0..size).contains(&c).then_some(c)
    }
}

/// Coordinates from one switch on over all cables whose direction is certain.
pub(super) struct WalkedCables<'a> {
    subnet: &'a Subnet,
    pub cables: &'a SwitchCables,
    directions: &'a Directions,
    points: Vec<Option<LatticePoint>>,
    /// How far each dimension goes by what has been walked.
    pub extents: Vec<DimensionExtent>,
    /// What helps where this does not tell all places.
    hint: &'static str,
}

/// Switches at integer coordinates such that every cable joins neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CableLattice {
    /// How far each dimension goes.
    pub extents: Vec<DimensionExtent>,
    /// By switch: from 0 up; none for switches without cables.
    pub points: Vec<Option<LatticePoint>>,
}

impl<'a> WalkedCables<'a> {
    pub fn new(
        subnet: &'a Subnet,
        cables: &'a SwitchCables,
        directions: &'a Directions,
        hint: &'static str,
    ) -> WalkedCables<'a> {
        let mut points: Vec<Option<LatticePoint>> = vec![None; cables.n_switches()];
        // How far each dimension has to be gone until it comes back; 0: never.
        let mut periods = vec![0; directions.n_dims];
        let mut queue = vec![(directions.seed, [0; MOST_FACTORS])];
        points[directions.seed as usize] = Some([0; MOST_FACTORS]);
        let mut head = 0;
        while let Some(&(switch, point)) = queue.get(head) {
            head += 1;
            for arc in cables.of_switch(switch) {
                let direction = directions.of[arc as usize];
                if direction == Directions::OPEN {
                    continue;
                }
                let (next, to) = (step(point, direction), cables.to[arc as usize]);
                match points[to as usize] {
                    None => {
                        points[to as usize] = Some(next);
                        queue.push((to, next));
                    }
                    Some(there) => {
                        for (dim, period) in periods.iter_mut().enumerate() {
                            *period = common_divisor(*period, next[dim] - there[dim]);
                        }
                    }
                }
            }
        }
        let extents = periods.iter().enumerate().map(|(dim, &period)| {
            for point in points.iter_mut().flatten().filter(|_| period > 0) {
                point[dim] = point[dim].rem_euclid(period);
            }
            let coordinates = || points.iter().flatten().map(|point| point[dim]);
            let (least, most) = (coordinates().min().unwrap_or(0), coordinates().max().unwrap_or(0));
            DimensionExtent {
                start: if period > 0 { 0 } else { least },
                size: if period > 0 { period } else { most - least + 1 } as u32,
                loops: period > 0,
            }
        });
        WalkedCables {
            extents: extents.collect(),
            subnet,
            cables,
            directions,
            points,
            hint,
        }
    }

    /// The point of a switch, before it is known how far dimensions go.
    pub fn point(&self, switch: u32) -> Option<LatticePoint> {
        self.points[switch as usize]
    }

    pub fn n_dims(&self) -> usize {
        self.extents.len()
    }

    /// How far a dimension may go if switches beside it have lost their cables.
    fn longer(least: DimensionExtent) -> Vec<DimensionExtent> {
        if least.loops {
            return vec![least];
        }
        let line = |before: i32, more: u32| DimensionExtent {
            start: least.start - before,
            size: least.size + more,
            loops: false,
        };
        let ring = |more: u32| DimensionExtent {
            start: 0,
            size: least.size + more,
            loops: true,
        };
        let all = [line(0, 0), ring(0), line(0, 1), line(1, 1), ring(1)];
        all.into_iter()
            .filter(|extent| !extent.loops || extent.size > 2)
            .collect()
    }

    /// The smallest lattice that has all switches with cables.
    pub fn smallest(&self) -> Result<CableLattice, TorusMisfit> {
        let misfit = match self.lattice(&self.extents) {
            Ok(found) => return Ok(found),
            Err(misfit) => misfit,
        };
        let mut all: Vec<Vec<DimensionExtent>> = vec![Vec::new()];
        for &least in &self.extents {
            let with_each = |known: &Vec<DimensionExtent>| {
                let longer = Self::longer(least).into_iter();
                longer
                    .map(|extent| [&known[..], &[extent]].concat())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with_each).collect();
        }
        let size = |extents: &Vec<DimensionExtent>| -> (u64, usize) {
            let places = extents.iter().map(|extent| u64::from(extent.size)).product();
            (places, extents.iter().filter(|extent| extent.loops).count())
        };
        all.sort_by_key(size);
        for same in all.chunk_by(|a, b| size(a) == size(b)) {
            let mut found = same.iter().filter_map(|extents| self.lattice(extents).ok());
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some(one), None) => return Ok(one),
                (Some(_), Some(_)) => break,
            }
        }
        Err(misfit)
    }

    /// The lattice that goes so far. `Err` names switches that would share a place, cables that join no neighbours, switches whose place is not certain.
    pub fn lattice(&self, extents: &[DimensionExtent]) -> Result<CableLattice, TorusMisfit> {
        let mut it = CableLattice {
            extents: extents.to_vec(),
            points: self.points.clone(),
        };
        let mut map = Occupied::of(&it, self)?;
        for switch in 0..self.cables.n_switches() as u32 {
            let Some(point) = &mut it.points[switch as usize] else {
                continue;
            };
            for (dim, extent) in extents.iter().enumerate() {
                let Some(c) = extent.of(point[dim]) else {
                    return Err(self.ambiguous(switch));
                };
                point[dim] = c;
            }
            map.take(point, switch, self)?;
        }
        it.place_the_rest(&mut map, self)?;
        for arc in 0..self.cables.to.len() as u32 {
            if !it.joins_neighbours(self, arc) {
                return Err(self
                    .cables
                    .refuse(self.subnet, arc, "by all the others its ends are no neighbours"));
            }
        }
        Ok(it)
    }

    /// That a switch cannot be placed.
    pub fn ambiguous(&self, switch: u32) -> TorusMisfit {
        let reason = format!(
            "the cables that are left do not tell where `{}` is",
            self.subnet.switch_names()[switch as usize]
        );
        TorusMisfit::new(reason, self.hint)
    }
}

impl CableLattice {
    pub fn radices(&self) -> Vec<u32> {
        self.extents.iter().map(|extent| extent.size).collect()
    }

    /// The next point in a direction.
    fn next(&self, point: LatticePoint, direction: u8) -> Option<LatticePoint> {
        let dim = usize::from(direction / 2);
        let mut next = step(point, direction);
        next[dim] = DimensionExtent {
            start: 0,
            ..self.extents[dim]
        }
        .of(next[dim])?;
        Some(next)
    }

    fn joins_neighbours(&self, walked: &WalkedCables, arc: u32) -> bool {
        let (from, to) = (walked.cables.from[arc as usize], walked.cables.to[arc as usize]);
        let (Some(from), Some(to)) = (self.points[from as usize], self.points[to as usize]) else {
            return false;
        };
        match walked.directions.of[arc as usize] {
            Directions::OPEN => (0..2 * walked.n_dims() as u8).any(|towards| self.next(from, towards) == Some(to)),
            direction => self.next(from, direction) == Some(to),
        }
    }

    /// Places switches that only cables without a certain direction lead to, where one place is left that is next to all their neighbours.
    fn place_the_rest(&mut self, map: &mut Occupied, walked: &WalkedCables) -> Result<(), TorusMisfit> {
        let cables = walked.cables;
        let is_lost = |it: &Self, s: u32| it.points[s as usize].is_none() && !cables.of_switch(s).is_empty();
        let mut lost: Vec<u32> = (0..cables.n_switches() as u32).filter(|&s| is_lost(self, s)).collect();
        while let Some(&first) = lost.first() {
            let before = lost.len();
            let mut still = Vec::new();
            for switch in lost {
                match self.only_place(switch, map, walked) {
                    None => still.push(switch),
                    Some(point) => {
                        self.points[switch as usize] = Some(point);
                        map.take(&point, switch, walked)?;
                    }
                }
            }
            lost = still;
            if lost.len() == before {
                return Err(walked.ambiguous(first));
            }
        }
        Ok(())
    }

    /// The one free place next to all neighbours of a switch that have places.
    fn only_place(&self, switch: u32, map: &Occupied, walked: &WalkedCables) -> Option<LatticePoint> {
        let cables = walked.cables;
        let mut fits: Option<Vec<LatticePoint>> = None;
        for arc in cables.of_switch(switch) {
            let Some(there) = self.points[cables.to[arc as usize] as usize] else {
                continue;
            };
            let known = walked.directions.of[cables.back[arc as usize] as usize];
            let towards = (0..2 * walked.n_dims() as u8).filter(|&d| known == Directions::OPEN || known == d);
            let near: Vec<LatticePoint> = towards.filter_map(|d| self.next(there, d)).collect();
            fits = Some(match fits {
                None => near.into_iter().filter(|point| map.is_free(point)).collect(),
                Some(fits) => fits.into_iter().filter(|point| near.contains(point)).collect(),
            });
        }
        match fits.as_deref() {
            Some(&[point]) => Some(point),
            _ => None,
        }
    }
}

fn step(mut point: LatticePoint, direction: u8) -> LatticePoint {
    point[usize::from(direction / 2)] += if direction.is_multiple_of(2) { 1 } else { -1 };
    point
}

fn common_divisor(a: i32, b: i32) -> i32 {
    match (a.abs(), b.abs()) {
        (a, 0) => a,
        (a, b) => common_divisor(b, a % b),
    }
}

/// The switches at the points of a lattice.
struct Occupied {
    radices: Vec<u32>,
    switch_at: Vec<u32>,
}

impl Occupied {
    const FREE: u32 = u32::MAX;

    fn of(lattice: &CableLattice, walked: &WalkedCables) -> Result<Occupied, TorusMisfit> {
        let radices = lattice.radices();
        let places: u64 = radices.iter().map(|&radix| u64::from(radix)).product();
        let alive = |&switch: &u32| !walked.cables.of_switch(switch).is_empty();
        let n = (0..walked.cables.n_switches() as u32).filter(alive).count() as u64;
        // Three of four places have their switch: else it is no torus that has lost some.
        if 4 * n < 3 * places {
            let reason = format!(
                "its cables would be those of {} switches, of which there are {n}",
                words(&radices)
            );
            return Err(TorusMisfit::new(reason, OTHER_ENGINE));
        }
        Ok(Occupied {
            radices,
            switch_at: vec![Self::FREE; places as usize],
        })
    }

    fn place(&self, point: &LatticePoint) -> usize {
        let dims = self.radices.iter().zip(point).rev();
        dims.fold(0, |place, (&radix, &c)| place * radix as usize + c as usize)
    }

    fn is_free(&self, point: &LatticePoint) -> bool {
        self.switch_at[self.place(point)] == Self::FREE
    }

    fn take(&mut self, point: &LatticePoint, switch: u32, walked: &WalkedCables) -> Result<(), TorusMisfit> {
        let place = self.place(point);
        let other = std::mem::replace(&mut self.switch_at[place], switch);
        if other == Self::FREE {
            return Ok(());
        }
        let names = walked.subnet.switch_names();
        let reason = format!(
            "by their cables `{}` and `{}` are at the same place of a torus of {}",
            names[other as usize],
            names[switch as usize],
            words(&self.radices)
        );
        Err(TorusMisfit::new(reason, OTHER_ENGINE))
    }
}

/// `4 x 5`.
pub(super) fn words(radices: &[u32]) -> String {
    let numbers: Vec<String> = radices.iter().map(u32::to_string).collect();
    numbers.join(" x ")
}
