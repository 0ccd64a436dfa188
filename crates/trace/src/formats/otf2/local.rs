//! What a location defines for itself: which of its numbers stand for which of the archive's, and how its clock goes.

use super::chunks::ChunkReader;
use super::clock::ClockCorrection;
use super::fields::{FieldFault, FieldReader};
use crate::problem::Problem;
use std::path::Path;

/// Numbers of a location, and those of the archive that they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IdMapping {
    /// Each is itself.
    #[default]
    Same,
    /// By place in a list.
    Dense(Vec<u64>),
    /// Pairs in the order of the location's numbers.
    Sparse(Vec<(u64, u64)>),
}

impl IdMapping {
    /// The number of the archive; one that is not listed is itself.
    #[inline]
    pub fn of(&self, id: u32) -> u32 {
        let wide = u64::from(id);
        let found = match self {
            IdMapping::Same => return id,
            IdMapping::Dense(list) => list.get(id as usize).copied(),
            IdMapping::Sparse(pairs) => {
                let place = pairs.binary_search_by_key(&wide, |(local, _)| *local);
                place.ok().map(|place| pairs[place].1)
            }
        };
        found.map_or(id, |number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn read(fields: &mut FieldReader<'_>) -> Result<IdMapping, FieldFault> {
        let n = fields.u64()?;
        match fields.u8()? {
            0 => {
                let mut list = Vec::new();
                for _ in 0..n {
                    list.push(fields.u64()?);
                }
                Ok(IdMapping::Dense(list))
            }
            1 => {
                let mut pairs = Vec::new();
                for _ in 0..n {
                    pairs.push((fields.u64()?, fields.u64()?));
                }
                pairs.sort_unstable();
                Ok(IdMapping::Sparse(pairs))
            }
            _ => Err(FieldFault("a mapping table is neither dense nor sparse")),
        }
    }
}

/// What a location defines for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalDefinitions {
    /// Numbers of regions.
    pub regions: IdMapping,
    /// Numbers of communicators.
    pub communicators: IdMapping,
    /// Numbers of windows of memory.
    pub windows: IdMapping,
    /// Its clock.
    pub clock: ClockCorrection,
}

impl LocalDefinitions {
    /// Reads the local definitions of a location, which may have none.
    ///
    /// # Errors
    /// A file that cannot be read to its end.
    pub fn read(path: &Path, chunk: u64) -> Result<LocalDefinitions, Problem> {
        let mut local = LocalDefinitions::default();
        if !path.exists() {
            return Ok(local);
        }
        let mut file = ChunkReader::open(path, chunk)?;
        let mut number = 0;
        loop {
            let told = file.record(|id, fields| local.add(id, fields.record()?));
            match told.map_err(|problem| problem.at(number))? {
                Some(()) => number += 1,
                None => return Ok(local),
            }
        }
    }

    fn add(&mut self, id: u8, mut fields: FieldReader<'_>) -> Result<(), FieldFault> {
        match id {
            5 => {
                let kind = fields.u8()?;
                let table = match kind {
                    3 => &mut self.regions,
                    6 => &mut self.communicators,
                    8 => &mut self.windows,
                    _ => return Ok(()),
                };
                *table = IdMapping::read(&mut fields)?;
            }
            6 => {
                let time = fields.u64_whole()?;
                self.clock.add(time, fields.i64()?);
            }
            _ => {}
        }
        Ok(())
    }
}
