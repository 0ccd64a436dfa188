//! The global definitions of an archive: names, locations, regions, groups and communicators. Others are skipped by their length.

use super::chunks::ChunkReader;
use super::fields::{FieldFault, FieldReader};
use crate::problem::Problem;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The clock of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockProperties {
    /// Ticks per second.
    pub resolution: u64,
    /// The time (ticks) at which the trace begins.
    pub offset: u64,
    /// Its length (ticks).
    pub length: u64,
}

/// A thread, stream or other line of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefinedLocation {
    /// Its name, a string.
    pub name: u32,
    /// 1 a thread of a processor, 2 a stream of an accelerator, 3 a metric.
    pub kind: u8,
    /// Number of its events, as the writer counts them.
    pub events: u64,
    /// The group, most often a process, that it belongs to.
    pub group: u32,
}

/// A part of the program, or a function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefinedRegion {
    /// Its name, a string.
    pub name: u32,
    /// What it does.
    pub role: u8,
    /// Who has told of it: 1 the user, 2 the compiler, 4 MPI.
    pub paradigm: u8,
}

/// A list of locations or ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinedGroup {
    /// 4 locations that communicate, 5 some of those, 6 each by itself.
    pub kind: u8,
    /// Whose it is.
    pub paradigm: u8,
    /// Bit 0: members are locations, where they would be places in the list of those that communicate.
    pub flags: u32,
    /// Its members in their order.
    pub members: Vec<u64>,
}

/// A communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefinedCommunicator {
    /// Its name, a string.
    pub name: u32,
    /// Its members, a group.
    pub group: u32,
}

/// Paradigm of the user.
pub const USER: u8 = 1;
/// Paradigm of the compiler.
pub const COMPILER: u8 = 2;
/// Paradigm of MPI.
pub const MPI: u8 = 4;

/// The global definitions of an archive.
#[derive(Clone, Debug, Default)]
pub struct ArchiveDefinitions {
    /// Its clock.
    pub clock: Option<ClockProperties>,
    /// Texts.
    pub strings: HashMap<u32, String>,
    /// Kinds of groups of locations: 1 a process, 2 an accelerator.
    pub location_groups: BTreeMap<u32, u8>,
    /// Lines of events.
    pub locations: BTreeMap<u64, DefinedLocation>,
    /// Regions.
    pub regions: BTreeMap<u32, DefinedRegion>,
    /// Groups of locations.
    pub groups: BTreeMap<u32, DefinedGroup>,
    /// Communicators.
    pub communicators: BTreeMap<u32, DefinedCommunicator>,
    /// Communicators between two groups, by number: their names.
    pub between: BTreeMap<u32, u32>,
    /// Communicators of windows of memory.
    pub windows: BTreeMap<u32, u32>,
    /// Number of definitions, those that are skipped included.
    pub records: u64,
}

impl ArchiveDefinitions {
    /// Reads the file of global definitions.
    ///
    /// # Errors
    /// A file that cannot be read to its end.
    pub fn read(path: &Path, chunk: u64) -> Result<ArchiveDefinitions, Problem> {
        let mut file = ChunkReader::open(path, chunk)?;
        let mut definitions = ArchiveDefinitions::default();
        loop {
            let number = definitions.records;
            let told = file.record(|id, fields| definitions.add(id, fields.record()?));
            match told.map_err(|problem| problem.at(number))? {
                Some(()) => definitions.records += 1,
                None => return Ok(definitions),
            }
        }
    }

    /// The text of a string; that of an undefined one is empty.
    pub fn string(&self, id: u32) -> &str {
        self.strings.get(&id).map_or("", String::as_str)
    }

    fn add(&mut self, id: u8, mut fields: FieldReader<'_>) -> Result<(), FieldFault> {
        match id {
            5 => {
                self.clock = Some(ClockProperties {
                    resolution: fields.u64()?,
                    offset: fields.u64()?,
                    length: fields.u64()?,
                });
            }
            10 => {
                let id = fields.u32()?;
                self.strings.insert(id, fields.text()?);
            }
            13 => {
                let (id, _name) = (fields.u32()?, fields.u32()?);
                self.location_groups.insert(id, fields.u8()?);
            }
            14 => {
                let id = fields.u64()?;
                let location = DefinedLocation {
                    name: fields.u32()?,
                    kind: fields.u8()?,
                    events: fields.u64()?,
                    group: fields.u32()?,
                };
                self.locations.insert(id, location);
            }
            15 => {
                let (id, region) = region(&mut fields)?;
                self.regions.insert(id, region);
            }
            18 => {
                let (id, group) = group(&mut fields)?;
                self.groups.insert(id, group);
            }
            22 => {
                let id = fields.u32()?;
                let communicator = DefinedCommunicator {
                    name: fields.u32()?,
                    group: fields.u32()?,
                };
                self.communicators.insert(id, communicator);
            }
            24 => {
                let (id, _name) = (fields.u32()?, fields.u32()?);
                self.windows.insert(id, fields.u32()?);
            }
            43 => {
                let id = fields.u32()?;
                self.between.insert(id, fields.u32()?);
            }
            _ => {}
        }
        Ok(())
    }
}

fn region(fields: &mut FieldReader<'_>) -> Result<(u32, DefinedRegion), FieldFault> {
    let (id, name, _description) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let _old_kind = fields.u8()?;
    let _place = (fields.u32()?, fields.u32()?, fields.u32()?);
    let _canonical_name = fields.u32()?;
    let region = DefinedRegion {
        name,
        role: fields.u8()?,
        paradigm: fields.u8()?,
    };
    Ok((id, region))
}

fn group(fields: &mut FieldReader<'_>) -> Result<(u32, DefinedGroup), FieldFault> {
    let (id, _name) = (fields.u32()?, fields.u32()?);
    let _old_kind = fields.u8()?;
    let mut group = DefinedGroup::default();
    for _ in 0..fields.u32()? {
        group.members.push(fields.u64()?);
    }
    (group.kind, group.paradigm, group.flags) = (fields.u8()?, fields.u8()?, fields.u32()?);
    Ok((id, group))
}
