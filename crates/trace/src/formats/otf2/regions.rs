//! What the regions of an archive are for a replay.

use super::call::{MpiFunction, is_mpi_name};
use super::definitions::{ArchiveDefinitions, COMPILER, MPI, USER};
use std::collections::HashMap;

/// What a region is for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionUse {
    /// A call of MPI: time in it is that of its operations.
    Call(MpiFunction),
    /// A part of the program, by number of its name.
    Program(u32),
    /// Of a library or the measurement: time in it is the program's.
    Other,
}

/// The regions of an archive.
#[derive(Debug, Default)]
pub struct RegionTable {
    uses: HashMap<u32, RegionUse>,
    /// Names of parts of the program.
    pub names: Vec<String>,
}

impl RegionTable {
    /// The regions of an archive, in the order of their numbers.
    pub fn of(definitions: &ArchiveDefinitions) -> RegionTable {
        let mut table = RegionTable::default();
        for (id, region) in &definitions.regions {
            let name = definitions.string(region.name);
            let it = if region.paradigm == MPI || is_mpi_name(name) {
                RegionUse::Call(MpiFunction::named(name))
            } else if matches!(region.paradigm, USER | COMPILER) {
                table.names.push(name.to_owned());
                RegionUse::Program(table.names.len() as u32 - 1)
            } else {
                RegionUse::Other
            };
            table.uses.insert(*id, it);
        }
        table
    }

    /// Number of regions that are no parts of the program.
    pub fn others(&self) -> usize {
        self.uses.len() - self.names.len()
    }

    /// What a region is; one that is not defined is another one.
    pub fn region(&self, id: u32) -> RegionUse {
        self.uses.get(&id).copied().unwrap_or(RegionUse::Other)
    }
}
