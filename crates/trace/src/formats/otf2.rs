//! OTF2, the format of Score-P, TAU and others: what each process did and when, in a file for each.
//!
//! ```text
//! X.otf2      the anchor: sizes of chunks, who wrote it            anchor
//! X.def       names, locations, regions, communicators             definitions
//! X/7.def     which numbers location 7 uses for those, its clock   local, clock
//! X/7.evt     its events                                           events
//! ```
//!
//! Files are rows of chunks ([`chunks`]) of records ([`fields`]). An [`archive`] gives them as they are; [`ranks`], [`regions`] and [`replay`] say
//! what they mean for whoever plays the program again. Sizes of chunks and the files of ranks are all that memory depends on: a chunk of a file
//! is there at a time, and what [`ahead`] has met before it is asked for.

pub mod ahead;
pub mod anchor;
pub mod archive;
pub mod call;
pub mod chunks;
pub mod clock;
pub mod collective;
pub mod definitions;
pub mod events;
pub mod fields;
pub mod local;
pub mod ranks;
pub mod regions;
pub mod replay;
mod requests;
pub mod write;

use crate::format::FormatReader;
use crate::header::{OtherDefinitions, TraceForm, TraceHeader};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use archive::{Otf2Archive, TRACES};
use clock::TickScale;
use ranks::RankMap;
use regions::RegionTable;
use replay::{RankReplay, ReplayPlan};
use std::path::Path;

pub use write::ArchiveWriter as Writer;

/// OTF2.
pub struct Otf2;

impl FormatReader for Otf2 {
    const NAME: &'static str = "otf2";
    const LINE: &'static str = "events of MPI programs, recorded by Score-P, TAU and others";
    const FILES: &'static str =
        "the anchor file of an archive (X.otf2, beside X.def and the folder X), or a folder with traces.otf2";
    const LIMITS: &'static str = "ranks are the locations of MPI: events of further threads, accelerators and metrics are skipped, and so are records of \
        OpenMP, input and output, sampling and one-sided synchronisation; time in regions that are neither MPI's nor the program's, and while \
        recording was off, is computation, time of writing events out is none, but within a call the call's; regions within a call of MPI are the call's; receives that were \
        cancelled, and collectives and windows of a rank by itself, are left out; messages of a rank to itself are in the communicator of all \
        ranks; a test that found something, and MPI_Waitsome, wait for what was found; receives from any source are from the one that was \
        recorded; sizes of collectives are read as Score-P writes them (of those that are in place, up to one share in n may be missing), and \
        sizes that differ from rank to rank are told as sums, without lists; archives in SION files or compressed ones are refused";
    const SOURCE: &'static str = "the OTF2 library, https://www.vi-hps.org/projects/score-p";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        anchor::is_anchor(start) || (start.is_empty() && path.is_dir() && path.join(TRACES).is_file())
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let file = path.display().to_string();
        let archive = Otf2Archive::open(path)?;
        let clock = archive.definitions.clock.filter(|clock| clock.resolution > 0);
        let clock = clock.ok_or_else(|| {
            let reason = "its definitions do not tell how many ticks of the clock a second has";
            Problem::new(&file, reason, chunks::DAMAGED)
        })?;
        let map = RankMap::of(&archive.definitions, &file)?;
        let files = map.locations.iter().map(|location| archive.event_file(*location));
        let sizes = files
            .clone()
            .map(|file| std::fs::metadata(file).map_or(0, |about| about.len()));
        reader.progress.all = sizes.sum();
        let ranks = map.locations.len() as u32;
        let regions = RegionTable::of(&archive.definitions);
        let header = TraceHeader {
            communicators: map.communicators.clone(),
            others: OtherDefinitions {
                communicators: map.other_communicators(),
                regions: regions.others(),
            },
            files: files.map(|file| file.display().to_string()).collect(),
            ..TraceHeader::new(Self::NAME, ranks, TraceForm::Program)
        };
        reader.begin(&header)?;
        let plan = ReplayPlan {
            regions,
            scale: TickScale::new(clock.offset, clock.resolution),
            map,
            archive,
        };
        for rank in 0..ranks {
            RankReplay::new(&plan, rank).read(reader)?;
        }
        reader.tick()?;
        reader.end(&plan.regions.names)
    }
}
