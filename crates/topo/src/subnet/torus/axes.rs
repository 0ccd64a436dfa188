//! Which dimension of the cables is x, y and z, where it begins and which way it points, by the ports of the first switch.

use super::super::Subnet;
use super::lattice::{CableLattice, LatticePoint, WalkedCables, words};
use super::{MOST_DIMENSIONS, OTHER_ENGINE, Recognition, TorusMisfit, TorusPlaces};

/// A dimension of a torus.
pub(super) struct TorusAxis {
    pub along: Along,
    pub size: u32,
    pub loops: bool,
    /// Coordinate of the switch that is the origin of the others' points.
    pub at: i32,
}

/// What it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// A dimension of the cables, possibly the other way.
    Line { dim: usize, is_down: bool },
    /// Two of two switches each, that of the next switch up and that of the next one down.
    RingOfFour { up: usize, down: usize },
    /// None: one switch.
    Nothing,
}

impl TorusAxis {
    /// The coordinate of a point; none where it is beyond the end.
    fn coordinate(&self, origin: &LatticePoint, point: &LatticePoint) -> Option<u32> {
        let away = |dim: usize| point[dim] - origin[dim];
        let away = match self.along {
            Along::Line { dim, is_down } => away(dim) * if is_down { -1 } else { 1 },
            Along::RingOfFour { up, down } => [0, 1, 3, 2][(away(up).abs() + 2 * away(down).abs()) as usize],
            Along::Nothing => 0,
        };
        let size = self.size as i32;
        let c = self.at + away;
        // Of two switches each is up and down of the other.
        let c = if self.loops || size == 2 { c.rem_euclid(size) } else { c };
        (0..size).contains(&c).then_some(c as u32)
    }
}

/// Places by the axes. `Err` is a switch that is beyond the end of an axis, by its number.
pub(super) fn places(lattice: &CableLattice, origin: &LatticePoint, axes: &[TorusAxis]) -> Result<TorusPlaces, u32> {
    let dims: Vec<u32> = axes.iter().map(|axis| axis.size).collect();
    let n: u32 = dims.iter().product();
    let mut places = TorusPlaces {
        loops: axes.iter().map(|axis| axis.loops && axis.size > 2).collect(),
        bits: (0..axes.len() as u8).collect(),
        place_of: vec![TorusPlaces::NONE; lattice.points.len()],
        switch_at: vec![TorusPlaces::NONE; n as usize],
        dims,
    };
    for (switch, point) in (0u32..).zip(&lattice.points) {
        let Some(point) = point else { continue };
        let mut coordinates = [0; MOST_DIMENSIONS];
        for (i, axis) in axes.iter().enumerate() {
            coordinates[i] = axis.coordinate(origin, point).ok_or(switch)?;
        }
        let place = places.at(&coordinates[..axes.len()]);
        places.place_of[switch as usize] = place;
        places.switch_at[place as usize] = switch;
    }
    Ok(places)
}

/// How often a dimension of the cables has just two switches: what rings of four are made of.
fn pairs(lattice: &CableLattice) -> Vec<usize> {
    (0..lattice.extents.len())
        .filter(|&dim| lattice.extents[dim].size == 2)
        .collect()
}

/// Axes in the order of the ports of the first switch, up by the lowest port; rings begin there.
pub(super) fn by_ports(walked: &WalkedCables, subnet: &Subnet) -> Result<Recognition, TorusMisfit> {
    let (cables, lattice) = (walked.cables, &walked.smallest()?);
    // Dimensions in the order in which the first switches' cables go along them, and whether that is downwards.
    let mut seen: Vec<(usize, bool)> = Vec::new();
    for arc in 0..cables.to.len() {
        let ends = [cables.from[arc], cables.to[arc]].map(|s| lattice.points[s as usize]);
        let [Some(from), Some(to)] = ends else { continue };
        for (dim, &radix) in lattice.radices().iter().enumerate() {
            if from[dim] != to[dim] && seen.iter().all(|known| known.0 != dim) {
                let steps = to[dim] - from[dim];
                seen.push((
                    dim,
                    steps.rem_euclid(radix as i32) != 1 || (!lattice.extents[dim].loops && steps < 0),
                ));
            }
        }
    }
    let two = pairs(lattice);
    let longer = lattice.extents.len() - two.len();
    let ring = match (two.len(), longer) {
        (0 | 1, _) if lattice.extents.len() <= MOST_DIMENSIONS => None,
        // As lines of two these were a dimension too many.
        (2, 2) => Some(()),
        (0 | 1, _) => {
            let reason = format!("its cables are those of {}", words(&lattice.radices()));
            return Err(TorusMisfit::new(
                format!("{reason}, which are more than three dimensions"),
                OTHER_ENGINE,
            ));
        }
        _ => return Err(of_several(lattice, subnet, two.len(), longer)),
    };
    let Some((first, origin)) = (0u32..)
        .zip(&lattice.points)
        .find_map(|(s, point)| Some((s, (*point)?)))
    else {
        return Err(TorusMisfit::new("no switch has a cable", OTHER_ENGINE));
    };
    let mut axes: Vec<TorusAxis> = Vec::new();
    for &(dim, is_down) in &seen {
        let (size, loops) = (lattice.extents[dim].size, lattice.extents[dim].loops);
        let along = match (ring, size) {
            (Some(()), 2) => {
                let Some(&(down, _)) = seen.iter().find(|other| other.0 != dim && two.contains(&other.0)) else {
                    continue;
                };
                let is_known = |axis: &TorusAxis| matches!(axis.along, Along::RingOfFour { .. });
                if axes.iter().any(is_known) {
                    continue;
                }
                Along::RingOfFour { up: dim, down }
            }
            _ => Along::Line { dim, is_down },
        };
        let is_ring = matches!(along, Along::RingOfFour { .. });
        let end = if is_down {
            size as i32 - 1 - origin[dim]
        } else {
            origin[dim]
        };
        axes.push(TorusAxis {
            along,
            size: if is_ring { 4 } else { size },
            loops: loops || is_ring,
            at: if loops || is_ring { 0 } else { end },
        });
    }
    let places = places(lattice, &origin, &axes).map_err(|switch| walked.ambiguous(switch))?;
    Ok(Recognition::of(places, Some(first)))
}

/// That pairs of switches may be lines of two or halves of rings of four.
fn of_several(lattice: &CableLattice, subnet: &Subnet, two: usize, longer: usize) -> TorusMisfit {
    let others: Vec<u32> = lattice.radices().into_iter().filter(|&radix| radix > 2).collect();
    // Rings of four, and dimensions of two beside them.
    let readings = (0..=two / 2)
        .rev()
        .filter(|rings| two - rings + longer <= MOST_DIMENSIONS);
    let told: Vec<String> = readings
        .map(|rings| {
            let mut radices = vec![4; rings];
            radices.extend(vec![2; two - 2 * rings]);
            radices.extend(&others);
            words(&radices)
        })
        .collect();
    if told.is_empty() {
        let reason = format!("its cables are those of {}", words(&lattice.radices()));
        return TorusMisfit::new(format!("{reason}, which are more than three dimensions"), OTHER_ENGINE);
    }
    let names = subnet.switch_names();
    let ring = ring_of_four(lattice, &pairs(lattice));
    let ring: Vec<String> = ring.iter().map(|&s| format!("`{}`", names[s as usize])).collect();
    let which = if told.len() > 1 {
        format!("it may be a torus of {}", told.join(" or of "))
    } else {
        format!(
            "which of them are those of a torus of {} is not told by cables",
            told[0]
        )
    };
    let reason = format!("rings of four switches, such as {}: {which}", ring.join(", "));
    TorusMisfit::new(
        reason,
        "give its torus-2QoS.conf, whose xp_link and xm_link tell the ring that is x",
    )
}

/// Four switches that differ in two dimensions of two only, round their ring.
fn ring_of_four(lattice: &CableLattice, two: &[usize]) -> Vec<u32> {
    let (&[a, b], points) = (&[two[0], two[1]], &lattice.points);
    let at = |point: LatticePoint| points.iter().position(|known| *known == Some(point)).map(|s| s as u32);
    let ring_of = |start: LatticePoint| {
        let moved = |dims: &[usize]| {
            let mut point = start;
            dims.iter().for_each(|&dim| point[dim] = 1 - point[dim]);
            at(point)
        };
        [moved(&[]), moved(&[a]), moved(&[a, b]), moved(&[b])]
    };
    let mut starts = points.iter().flatten().take(8);
    let first = points.iter().flatten().next().copied().unwrap_or_default();
    let start = starts.find(|&&start| ring_of(start).iter().all(Option::is_some));
    ring_of(*start.unwrap_or(&first)).into_iter().flatten().collect()
}
