//! Which operations are in a part.

use crate::header::TraceHeader;
use crate::operation::{Kind, Operation};
use crate::problem::ReadStop;
use std::ops::Range;

/// A part of a trace: what all that are given have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracePart {
    /// These ranks.
    pub ranks: Option<Range<u32>>,
    /// What began within these times (ps from the begin of the trace).
    pub times: Option<Range<u64>>,
    /// What is in a region of this name, or in one that is entered from it.
    pub region: Option<String>,
    /// Only when a rank is in that region for these times, counted from 0: the iterations of a loop whose body is a region.
    pub visits: Option<Range<u64>>,
    /// From where a rank first enters a region of this name.
    pub from_marker: Option<String>,
    /// Until a rank first enters a region of this name, after the marker from which on operations are taken.
    pub to_marker: Option<String>,
}

impl TracePart {
    /// Whether it is one of whole ranks.
    pub fn has_whole_ranks(&self) -> bool {
        self.times.is_none() && !self.names_regions()
    }

    /// Whether it is all of a trace.
    pub fn is_all(&self) -> bool {
        *self == TracePart::default()
    }

    /// Whether it names regions.
    pub(crate) fn names_regions(&self) -> bool {
        self.visits.is_some()
            || [&self.region, &self.from_marker, &self.to_marker]
                .iter()
                .any(|name| name.is_some())
    }
}

/// The numbers of the regions that a part names; several may have one name.
#[derive(Clone, Debug, Default)]
pub(super) struct PartRegions {
    pub region: Vec<u32>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
}

/// Where a rank is.
#[derive(Clone, Copy, Debug, Default)]
struct RankPlace {
    /// How deep it is in regions of the name.
    depth: u32,
    /// How often it has entered one of them from outside.
    visits: u64,
    /// Whether it has come to the first marker.
    has_begun: bool,
    /// Whether it has come to the last one.
    is_over: bool,
}

/// Says of each operation, in the order of its rank, whether it is in the part.
pub(super) struct Selection {
    part: TracePart,
    regions: PartRegions,
    ranks: Range<u32>,
    places: Vec<RankPlace>,
}

impl Selection {
    pub(super) fn new(part: &TracePart, regions: &PartRegions) -> Selection {
        Selection {
            part: part.clone(),
            regions: regions.clone(),
            ranks: 0..0,
            places: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.ranks = self.part.ranks.clone().unwrap_or(0..header.ranks);
        if self.ranks.is_empty() || self.ranks.end > header.ranks {
            return Err(ReadStop::Refused(format!(
                "ranks {}..{} of a trace of {n} ranks: give A..B with A below B and B at most {n}",
                self.ranks.start,
                self.ranks.end,
                n = header.ranks
            )));
        }
        self.places = vec![RankPlace::default(); self.ranks.len()];
        Ok(())
    }

    pub(super) fn ranks(&self) -> Range<u32> {
        self.ranks.clone()
    }

    pub(super) fn has_rank(&self, rank: u32) -> bool {
        self.ranks.contains(&rank)
    }

    /// Why there is no such part, when all has been seen; `last` is when the last operation began.
    pub(super) fn why_not(&self, last: u64) -> Option<String> {
        let TracePart {
            times,
            region,
            visits,
            from_marker,
            to_marker,
            ..
        } = &self.part;
        if times.is_some() && last == 0 {
            return Some("it does not tell when operations began: cut it by ranks or by a region".into());
        }
        if let (Some(visits), Some(name)) = (visits, region) {
            let most = self.places.iter().map(|place| place.visits).max().unwrap_or(0);
            match most {
                0 => {
                    return Some(format!(
                        "no rank enters region \"{name}\": its visits cannot be told apart"
                    ));
                }
                most if most <= visits.start => {
                    return Some(format!(
                        "visits {}..{} of region \"{name}\": no rank enters it more than {most} times",
                        visits.start, visits.end
                    ));
                }
                _ => {}
            }
        }
        if let Some(name) = from_marker
            .as_ref()
            .filter(|_| self.places.iter().all(|place| !place.has_begun))
        {
            return Some(format!("no rank enters the marker \"{name}\""));
        }
        let never = self.places.iter().all(|place| !place.is_over);
        to_marker.as_ref().filter(|_| never).map(|name| match from_marker {
            Some(from) => format!("no rank enters the marker \"{name}\" after \"{from}\""),
            None => format!("no rank enters the marker \"{name}\""),
        })
    }

    /// A time counted from the begin of the part.
    pub(super) fn since(&self, start: u64) -> u64 {
        start.saturating_sub(self.part.times.as_ref().map_or(0, |times| times.start))
    }

    /// Whether an operation is in the part; every operation of its ranks is asked for once.
    pub(super) fn takes(&mut self, rank: u32, operation: &Operation) -> bool {
        if !self.has_rank(rank) {
            return false;
        }
        let place = &mut self.places[(rank - self.ranks.start) as usize];
        let enters = operation.kind == Kind::Enter;
        let (part, regions) = (&self.part, &self.regions);
        if enters && place.has_begun && regions.to.contains(&operation.region) {
            place.is_over = true;
        }
        if !place.has_begun {
            place.has_begun = match part.from_marker {
                Some(_) => enters && regions.from.contains(&operation.region),
                None => true,
            };
            // Without a marker to begin with, the first operation may be the one to end before.
            place.is_over = part.from_marker.is_none() && enters && regions.to.contains(&operation.region);
        }
        let of_region = part.region.is_some() && regions.region.contains(&operation.region);
        if of_region && enters {
            place.visits += u64::from(place.depth == 0);
            place.depth += 1;
        }
        let in_region = part.region.is_none() || of_region || place.depth > 0;
        let in_visit = part.visits.as_ref().is_none_or(|visits| {
            let number = place.visits.checked_sub(1).filter(|_| place.depth > 0);
            number.is_some_and(|number| visits.contains(&number))
        });
        if of_region && operation.kind == Kind::Leave {
            place.depth = place.depth.saturating_sub(1);
        }
        let between = place.has_begun && !place.is_over;
        let times = part.times.as_ref();
        between && in_region && in_visit && times.is_none_or(|times| times.contains(&operation.start))
    }
}
