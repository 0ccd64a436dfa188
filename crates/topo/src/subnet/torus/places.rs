//! Places of a torus or mesh and the switches at them.

use super::super::Subnet;
use super::{MOST_DIMENSIONS, TorusMisfit};

/// A torus or mesh and its switches. Place `x + dims[0] * (y + dims[1] * z)` has coordinates (x, y, z).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorusPlaces {
    /// Places along each dimension.
    pub dims: Vec<u32>,
    /// Whether the last place of a line is next to its first.
    pub loops: Vec<bool>,
    /// The bit of each dimension in service levels.
    pub bits: Vec<u8>,
    /// Place of each switch, [`TorusPlaces::NONE`] for one that no cable joins to the others.
    pub place_of: Vec<u32>,
    /// Switch at each place, [`TorusPlaces::NONE`] where it lacks.
    pub switch_at: Vec<u32>,
}

/// A way along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::subnet) enum RingSide {
    Up,
    Down,
}

impl RingSide {
    pub fn other(self) -> RingSide {
        match self {
            RingSide::Up => RingSide::Down,
            RingSide::Down => RingSide::Up,
        }
    }
}

impl TorusPlaces {
    /// No place, or no switch.
    pub const NONE: u32 = u32::MAX;

    /// Open lines, every switch at the place of its number; bits count the dimensions of more than a place.
    pub(super) fn numbered(dims: Vec<u32>) -> TorusPlaces {
        let n: u32 = dims.iter().product();
        let mut bits = Vec::new();
        let mut next = 0;
        for &size in &dims {
            bits.push(next);
            next += u8::from(size > 1);
        }
        TorusPlaces {
            loops: vec![false; dims.len()],
            bits,
            place_of: (0..n).collect(),
            switch_at: (0..n).collect(),
            dims,
        }
    }

    /// Number of places.
    pub fn len(&self) -> u32 {
        self.switch_at.len() as u32
    }

    /// Whether there is no place; never.
    pub fn is_empty(&self) -> bool {
        self.switch_at.is_empty()
    }

    /// The switch at a place.
    pub fn switch(&self, place: u32) -> Option<u32> {
        Some(self.switch_at[place as usize]).filter(|&switch| switch != Self::NONE)
    }

    /// The place of a switch.
    pub fn place(&self, switch: u32) -> Option<u32> {
        Some(self.place_of[switch as usize]).filter(|&place| place != Self::NONE)
    }

    fn stride(&self, dim: usize) -> u32 {
        self.dims[..dim].iter().product()
    }

    /// The coordinate of a place.
    pub fn coordinate(&self, place: u32, dim: usize) -> u32 {
        place / self.stride(dim) % self.dims[dim]
    }

    /// All coordinates of a place.
    pub fn coordinates(&self, place: u32) -> Vec<u32> {
        (0..self.dims.len()).map(|dim| self.coordinate(place, dim)).collect()
    }

    /// The place with these coordinates.
    pub fn at(&self, coordinates: &[u32]) -> u32 {
        let dims = (0..self.dims.len()).zip(coordinates);
        dims.map(|(dim, c)| c * self.stride(dim)).sum()
    }

    /// The place with another coordinate.
    pub(in crate::subnet) fn with(&self, place: u32, dim: usize, coordinate: u32) -> u32 {
        place - self.coordinate(place, dim) * self.stride(dim) + coordinate * self.stride(dim)
    }

    /// The next place along a dimension, round the end.
    pub(in crate::subnet) fn neighbour(&self, place: u32, dim: usize, side: RingSide) -> u32 {
        let (at, size) = (self.coordinate(place, dim), self.dims[dim]);
        let next = match side {
            RingSide::Up => (at + 1) % size,
            RingSide::Down => (at + size - 1) % size,
        };
        self.with(place, dim, next)
    }

    /// The dimension in which two places are neighbours.
    pub(in crate::subnet) fn dimension(&self, a: u32, b: u32) -> Option<usize> {
        let sides = [RingSide::Up, RingSide::Down];
        (0..self.dims.len()).find(|&dim| a != b && sides.iter().any(|&side| self.neighbour(a, dim, side) == b))
    }

    /// Dimensions that have more than a place, in order.
    pub(in crate::subnet) fn long_dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dims.len()).filter(|&dim| self.dims[dim] > 1)
    }

    /// The next place up a dimension that a cable may lead to: none at the end of an open line, nor where the first is met again.
    fn up(&self, place: u32, dim: usize) -> Option<u32> {
        let is_last = self.coordinate(place, dim) + 1 == self.dims[dim];
        let ends = is_last && (!self.loops[dim] || self.dims[dim] == 2);
        (!ends).then(|| self.neighbour(place, dim, RingSide::Up))
    }

    /// Neighbouring places whose switches are there and not joined.
    pub fn broken<'a>(&'a self, subnet: &'a Subnet) -> impl Iterator<Item = (u32, u32)> + 'a {
        let pairs = (0..self.len()).flat_map(|place| self.long_dimensions().map(move |dim| (place, dim)));
        pairs.filter_map(|(place, dim)| {
            let next = self.up(place, dim)?;
            let (from, to) = (self.switch(place)?, self.switch(next)?);
            subnet
                .cables(from)
                .all(|(_, peer, _)| peer != to)
                .then_some((place, next))
        })
    }

    /// Places without a switch, or with one that has no cable.
    pub fn lacking<'a>(&'a self, subnet: &'a Subnet) -> impl Iterator<Item = u32> + 'a {
        let is_there = |place: u32| {
            let switch = self.switch(place);
            switch.is_some_and(|switch| subnet.cables(switch).next().is_some() || self.len() == 1)
        };
        (0..self.len()).filter(move |&place| !is_there(place))
    }

    /// The switches next to a place.
    pub fn beside(&self, place: u32) -> Vec<u32> {
        let sides = [RingSide::Down, RingSide::Up];
        let pairs = self.long_dimensions().flat_map(|dim| sides.map(|side| (dim, side)));
        let next = pairs.filter_map(|(dim, side)| {
            let next = self.neighbour(place, dim, side);
            let is_next = self.up(place, dim) == Some(next) || self.up(next, dim) == Some(place);
            self.switch(next).filter(|_| is_next)
        });
        let mut found: Vec<u32> = next.collect();
        found.dedup();
        found
    }
}

/// A torus that was found, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// It.
    pub places: TorusPlaces,
    /// The switch that directions were told from, or that is first of its lines that close; none where numbers say the coordinates.
    pub seed: Option<u32>,
    /// What of a file was left out, in words.
    pub notes: Vec<String>,
}

/// Places and pairs that are named; of more the number is told.
const MOST_NAMED: usize = 8;

impl Recognition {
    /// In words: the torus, what its coordinates are told from, and what lacks.
    pub fn describe(&self, subnet: &Subnet) -> String {
        let places = &self.places;
        let names = subnet.switch_names();
        let name = |switch: u32| format!("`{}`", names[switch as usize]);
        let long: Vec<usize> = places.long_dimensions().collect();
        let is_open = |dim: &usize| !places.loops[*dim] && (places.dims[*dim] > 2 || long.len() == 1);
        let open: Vec<&str> = (long.iter().filter(|dim| is_open(dim)))
            .filter_map(|&dim| ["x", "y", "z"].get(dim).copied())
            .collect();
        let sizes = super::lattice::words(&places.dims);
        let mut words = match open.len() {
            0 => format!("a torus of {sizes}"),
            n if n == long.len() => format!("a mesh of {sizes}"),
            _ => format!("a torus of {sizes}, open along {}", open.join(" and ")),
        };
        if let Some(seed) = self.seed {
            words += &format!(", coordinates from {}", name(seed));
        }
        let at = |place: u32| {
            let coordinates: Vec<String> = places.coordinates(place).iter().map(u32::to_string).collect();
            let beside: Vec<String> = places.beside(place).into_iter().map(name).collect();
            format!("at ({}) beside {}", coordinates.join(", "), beside.join(", "))
        };
        let lacking: Vec<String> = places.lacking(subnet).map(at).collect();
        words += &listed("without a switch", &lacking);
        let ends = |place: u32| places.switch(place).map(name).unwrap_or_default();
        let broken = places.broken(subnet);
        let broken: Vec<String> = broken
            .map(|(a, b)| format!("between {} and {}", ends(a), ends(b)))
            .collect();
        words += &listed("without a cable", &broken);
        for note in &self.notes {
            words += "; ";
            words += note;
        }
        words
    }

    pub(super) fn of(places: TorusPlaces, seed: Option<u32>) -> Recognition {
        Recognition {
            places,
            seed,
            notes: Vec::new(),
        }
    }
}

/// `; WHAT EACH, EACH and 3 more`, nothing for none.
fn listed(what: &str, all: &[String]) -> String {
    let Some(more) = all.len().checked_sub(MOST_NAMED) else {
        let words = all.join(", ");
        return if all.is_empty() {
            words
        } else {
            format!("; {what} {words}")
        };
    };
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("; {what} {}{more}", all[..MOST_NAMED].join(", "))
}

/// Every switch at the place of its number.
pub(super) fn by_numbers(subnet: &Subnet, dims: &[u32]) -> Result<Recognition, TorusMisfit> {
    let n = u64::from(subnet.n_switches());
    let long = dims.iter().filter(|&&size| size > 1).count();
    if dims.iter().map(|&size| u64::from(size)).product::<u64>() != n || long > MOST_DIMENSIONS {
        let reason = format!(
            "the shape {dims:?} is not that of a torus of at most {MOST_DIMENSIONS} dimensions with {n} switches in all"
        );
        return Err(TorusMisfit::new(reason, "give the switches along each dimension"));
    }
    let mut places = TorusPlaces::numbered(dims.to_vec());
    for from in 0..subnet.n_switches() {
        for (_, to, _) in subnet.cables(from).filter(|cable| cable.1 != from) {
            let Some(dim) = places.dimension(from, to) else {
                let reason = format!(
                    "a cable joins `{}` and `{}`, which are no neighbours on a torus of shape {dims:?}",
                    subnet.switches[from as usize].name, subnet.switches[to as usize].name
                );
                let hint = "number switches so that switch x + dims[0] * (y + dims[1] * z) has coordinates (x, y, z)";
                return Err(TorusMisfit::new(reason, hint));
            };
            let apart = places.coordinate(from, dim).abs_diff(places.coordinate(to, dim));
            places.loops[dim] |= dims[dim] > 2 && apart > 1;
        }
    }
    Ok(Recognition::of(places, None))
}
