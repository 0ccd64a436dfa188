//! Axes, origin and directions by a `torus-2QoS.conf`: its first seed of which all switches are there.

use super::super::Subnet;
use super::axes::{Along, TorusAxis, places};
use super::cables::SwitchCables;
use super::conf::{AXIS_NAMES, ConfiguredAxis, SeedLink, TorusConf, TorusSeed};
use super::directions::ToldAxis;
use super::lattice::{DimensionExtent, LatticePoint, WalkedCables, words};
use super::{Recognition, TorusMisfit};

/// A seed and its switches.
pub(super) struct FoundSeed<'a> {
    subnet: &'a Subnet,
    seed: &'a TorusSeed,
    /// The switch that all links begin at.
    start: u32,
    notes: Vec<String>,
}

impl<'a> FoundSeed<'a> {
    /// `Err` names what every seed lacks.
    pub fn of(conf: &'a TorusConf, subnet: &'a Subnet) -> Result<FoundSeed<'a>, TorusMisfit> {
        let mut lost = Vec::new();
        for (number, seed) in (1..).zip(&conf.seeds) {
            let mut ends = seed.links().flat_map(|link| [link.from, link.to]);
            let start = seed.links().next().and_then(|link| switch_of(subnet, link.from));
            match (ends.find(|&guid| switch_of(subnet, guid).is_none()), start) {
                (None, Some(start)) => {
                    let notes = conf.notes.iter().cloned().chain(lost).collect();
                    return Ok(FoundSeed {
                        subnet,
                        seed,
                        start,
                        notes,
                    });
                }
                (guid, _) => {
                    let guid = guid.unwrap_or_default();
                    lost.push(format!("seed {number} is left out: no switch has the GUID 0x{guid:x}"));
                }
            }
        }
        let reason = format!("no seed of the file has all its switches: {}", lost.join("; "));
        let hint = "give links between switches of this network by their GUIDs";
        Err(TorusMisfit::new(reason, hint))
    }

    /// The arcs of its links, as far as there are cables.
    pub fn told(&self, axes: &[ConfiguredAxis; 3], cables: &SwitchCables) -> Vec<ToldAxis> {
        let arc = |link: &Option<SeedLink>| {
            let to = switch_of(self.subnet, link.as_ref()?.to)?;
            cables.arc(self.start, to)
        };
        let of_axis = |(number, axis): (usize, &ConfiguredAxis)| ToldAxis {
            up: arc(&self.seed.up[number]),
            down: arc(&self.seed.down[number]),
            may_be_two: axis.size == 2 || (axis.size == 4 && axis.loops),
        };
        axes.iter().enumerate().map(of_axis).collect()
    }

    fn name(&self, switch: u32) -> String {
        self.subnet.switch_names()[switch as usize].clone()
    }

    /// The dimension of the cables that a link leads along, and whether downwards.
    fn step(
        &self,
        walked: &WalkedCables,
        origin: &LatticePoint,
        link: &SeedLink,
    ) -> Result<(usize, bool), TorusMisfit> {
        let to = switch_of(self.subnet, link.to);
        step(walked, origin, to.and_then(|to| walked.point(to))).ok_or_else(|| {
            let to = to.map_or(format!("0x{:x}", link.to), |to| self.name(to));
            let start = self.name(self.start);
            let reason = format!(
                "line {}: `{start}` and `{to}` are no neighbours by the cables",
                link.line
            );
            let hint = "links of a seed lead from a switch to the next ones of its lines";
            TorusMisfit::new(reason, hint)
        })
    }

    /// The places of all switches.
    pub fn axes(self, conf: &TorusConf, walked: &WalkedCables) -> Result<Recognition, TorusMisfit> {
        let Some(origin) = walked.point(self.start) else {
            let start = self.name(self.start);
            let reason = format!("the cables that are left do not tell where `{start}` is, where the seed begins");
            let hint = "give a seed whose switches have all their cables by next_seed";
            return Err(TorusMisfit::new(reason, hint));
        };
        let mut axes: Vec<TorusAxis> = Vec::new();
        let mut extents = walked.extents.clone();
        for (number, axis) in conf.axes.iter().enumerate() {
            let links = [&self.seed.up[number], &self.seed.down[number]];
            let [up, down] = links.map(|link| link.as_ref().map(|link| self.step(walked, &origin, link)).transpose());
            let along = along(number, axis, [up?, down?], walked, conf)?;
            let at = (-self.seed.datelines[number]).rem_euclid(axis.size as i32);
            if let Along::Line { dim, is_down } = along {
                let before = if is_down { axis.size as i32 - 1 - at } else { at };
                let first = origin[dim] - before;
                within(axis, AXIS_NAMES[number], at, extents[dim], first)?;
                // Either of two switches may be the first.
                if axis.size > 2 {
                    extents[dim] = DimensionExtent {
                        start: if axis.loops { 0 } else { first },
                        size: axis.size,
                        loops: axis.loops,
                    };
                }
            }
            axes.push(TorusAxis {
                along,
                size: axis.size,
                loops: axis.loops,
                at,
            });
        }
        all_used(&axes, walked, conf)?;
        let lattice = walked.lattice(&extents)?;
        let origin = lattice.points[self.start as usize].ok_or_else(|| walked.ambiguous(self.start))?;
        let places = places(&lattice, &origin, &axes).map_err(|switch| walked.ambiguous(switch))?;
        Ok(Recognition {
            places,
            seed: Some(self.start),
            notes: self.notes,
        })
    }
}

fn switch_of(subnet: &Subnet, guid: u64) -> Option<u32> {
    let place = subnet.switches.iter().position(|switch| switch.guid == guid);
    place.map(|switch| switch as u32)
}

/// The switches that are there stay within an open line.
fn within(axis: &ConfiguredAxis, letter: &str, at: i32, known: DimensionExtent, first: i32) -> Result<(), TorusMisfit> {
    let beyond = known.start < first || known.start + known.size as i32 > first + axis.size as i32;
    if axis.loops || axis.size == 2 || !beyond {
        return Ok(());
    }
    let reason = format!(
        "{letter} is an open line of {} switches with the seed at {at}, but by the cables others are beyond its end",
        axis.size
    );
    let hint = "say by its dateline how far the seed is from the first switch of an open line: minus its coordinate";
    Err(TorusMisfit::new(reason, hint))
}

/// The dimension of the cables by which a point is next to another one, and whether downwards.
fn step(walked: &WalkedCables, from: &LatticePoint, to: Option<LatticePoint>) -> Option<(usize, bool)> {
    let to = to?;
    let mut apart = (0..walked.n_dims()).filter(|&dim| from[dim] != to[dim]);
    let (dim, None) = (apart.next()?, apart.next()) else {
        return None;
    };
    let (steps, radix) = (to[dim] - from[dim], walked.extents[dim].size as i32);
    match steps {
        1 => Some((dim, false)),
        -1 => Some((dim, true)),
        _ if walked.extents[dim].loops && steps == radix - 1 => Some((dim, true)),
        _ if walked.extents[dim].loops && steps == 1 - radix => Some((dim, false)),
        _ => None,
    }
}

/// What an axis of a file is made of, by its links as far as there are any.
fn along(
    number: usize,
    axis: &ConfiguredAxis,
    [up, down]: [Option<(usize, bool)>; 2],
    walked: &WalkedCables,
    conf: &TorusConf,
) -> Result<Along, TorusMisfit> {
    let letter = AXIS_NAMES[number];
    let misfit = |reason: String, hint: &str| TorusMisfit::new(format!("line {}: {reason}", conf.line), hint);
    let told = match (up, down) {
        (None, None) => return Ok(Along::Nothing),
        (Some((up, _)), Some((down, _))) if up != down => {
            let both_two = walked.extents[up].size == 2 && walked.extents[down].size == 2;
            if !(axis.size == 4 && axis.loops && both_two) {
                let reason = format!("{letter}p_link and {letter}m_link lead along different dimensions");
                return Err(misfit(
                    reason,
                    "links of an axis lead to the two neighbours of one ring or line",
                ));
            }
            return Ok(Along::RingOfFour { up, down });
        }
        (Some(up), Some(down)) if up == down && walked.extents[up.0].size > 2 => {
            let reason = format!("{letter}p_link and {letter}m_link lead the same way");
            return Err(misfit(
                reason,
                "links of an axis lead to the two neighbours of one ring or line",
            ));
        }
        (Some((dim, is_down)), _) => (dim, is_down),
        (None, Some((dim, is_down))) => (dim, !is_down),
    };
    let (dim, is_down) = told;
    let (radix, loops) = (walked.extents[dim].size, walked.extents[dim].loops);
    if loops && !axis.loops {
        let reason = format!("{letter} is an open line there, but cables join the ends of its lines");
        return Err(misfit(reason, "write `t` behind the radix, or take these cables out"));
    }
    let fits = if loops { radix == axis.size } else { radix <= axis.size };
    if !fits {
        let reason = format!("{letter} has {} switches there, {radix} by the cables", axis.size);
        return Err(misfit(reason, "give the radix that the cables have, or another link"));
    }
    Ok(Along::Line { dim, is_down })
}

/// Every dimension of the cables belongs to one axis.
fn all_used(axes: &[TorusAxis], walked: &WalkedCables, conf: &TorusConf) -> Result<(), TorusMisfit> {
    let uses = |axis: &TorusAxis, dim: usize| match axis.along {
        Along::Line { dim: own, .. } => own == dim,
        Along::RingOfFour { up, down } => up == dim || down == dim,
        Along::Nothing => false,
    };
    for dim in 0..walked.n_dims() {
        let radix = walked.extents[dim].size;
        let owners: Vec<&str> = (axes.iter().zip(AXIS_NAMES))
            .filter(|(axis, _)| uses(axis, dim))
            .map(|(_, name)| name)
            .collect();
        let reason = match &owners[..] {
            [_] => continue,
            [] => format!(
                "the cables have another dimension, of {radix} switches, beside those of {}",
                words(&conf.axes.each_ref().map(|axis| axis.size))
            ),
            [one, other, ..] => format!("the links of {one} and {other} lead along the same dimension"),
        };
        let reason = format!("line {}: {reason}", conf.line);
        return Err(TorusMisfit::new(
            reason,
            "give three radices that multiply to the switches, and a link along each",
        ));
    }
    Ok(())
}
