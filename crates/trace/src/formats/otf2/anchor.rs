//! The anchor file: what an archive says of itself.

use super::fields::{FieldFault, FieldReader};
use crate::problem::Problem;
use std::path::Path;

/// The text behind the byte order of every anchor file.
const MAGIC: &str = "OTF2";
/// Bytes of an anchor file that are read: its texts are short.
const MOST: usize = 1 << 24;
/// Sizes of chunks that are believed; OTF2 itself allows 256 KiB to 16 MiB.
const CHUNKS: std::ops::RangeInclusive<u64> = 64..=1 << 30;

/// What an archive says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveAnchor {
    /// Layout of the anchor file, 1 to 3.
    pub layout: u8,
    /// Version of the library that wrote it.
    pub version: [u8; 3],
    /// Bytes of a chunk of events.
    pub event_chunk: u64,
    /// Bytes of a chunk of definitions.
    pub definition_chunk: u64,
    /// Number of locations.
    pub locations: u64,
    /// Number of global definitions.
    pub definitions: u64,
    /// The machine, as it was called.
    pub machine: String,
    /// Who wrote it.
    pub creator: String,
    /// What it is.
    pub description: String,
}

/// Whether a file with these first bytes is an anchor file.
pub fn is_anchor(start: &[u8]) -> bool {
    FieldReader::begin(start).is_ok() && start[2..].starts_with(b"OTF2\0")
}

impl ArchiveAnchor {
    /// Reads an anchor file.
    ///
    /// # Errors
    /// A file that cannot be read, that is no anchor, or an archive of a kind that is not read.
    pub fn read(path: &Path) -> Result<ArchiveAnchor, Problem> {
        let name = path.display().to_string();
        let wrong = |reason: String, hint: &str| Problem::new(&name, reason, hint);
        let bytes = std::fs::read(path).map_err(|error| Problem::unreadable(&name, &error))?;
        if !is_anchor(&bytes) {
            return Err(wrong(
                "this is no anchor file of OTF2".to_owned(),
                "give the file of the archive that ends with .otf2",
            ));
        }
        let bytes = &bytes[..bytes.len().min(MOST)];
        let (anchor, substrate, compression) = ArchiveAnchor::of(bytes)
            .map_err(|FieldFault(reason)| wrong(reason.to_owned(), "the anchor file is damaged or cut"))?;
        if substrate != 1 {
            return Err(wrong(
                format!("its files are kept by substrate {substrate}, only POSIX files (1) are read"),
                "write it anew with otf2-print or Score-P set to POSIX files (SCOREP_TRACING_USE_SION=false)",
            ));
        }
        if compression != 1 {
            return Err(wrong(
                format!("its chunks are compressed (kind {compression}), only plain ones (1) are read"),
                "record it anew with SCOREP_TRACING_COMPRESS=false",
            ));
        }
        for (what, chunk) in [("events", anchor.event_chunk), ("definitions", anchor.definition_chunk)] {
            if !CHUNKS.contains(&chunk) {
                return Err(wrong(
                    format!("a chunk of {what} has {chunk} bytes"),
                    "the anchor file is damaged: chunks have 256 KiB to 16 MiB",
                ));
            }
        }
        Ok(anchor)
    }

    /// The anchor, its substrate and its compression.
    fn of(bytes: &[u8]) -> Result<(ArchiveAnchor, u8, u8), FieldFault> {
        let mut fields = FieldReader::begin(bytes)?;
        if fields.text()? != MAGIC {
            return Err(FieldFault("this is no anchor file of OTF2"));
        }
        let layout = fields.u8()?;
        if !(1..=3).contains(&layout) {
            return Err(FieldFault("its layout is none of 1 to 3"));
        }
        if !(2..=3).contains(&fields.u8()?) {
            return Err(FieldFault("its version of the format is neither 2 nor 3"));
        }
        let version = [fields.u8()?, fields.u8()?, fields.u8()?];
        let (event_chunk, definition_chunk) = (fields.u64_whole()?, fields.u64_whole()?);
        let (substrate, compression) = (fields.u8()?, fields.u8()?);
        let anchor = ArchiveAnchor {
            layout,
            version,
            event_chunk,
            definition_chunk,
            locations: fields.u64_whole()?,
            definitions: fields.u64_whole()?,
            machine: fields.text()?,
            creator: fields.text()?,
            description: fields.text()?,
        };
        // Properties, the number of the trace and so on say nothing that is needed here.
        Ok((anchor, substrate, compression))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An anchor in big endian, with a substrate and a compression.
    fn anchor(substrate: u8, compression: u8, chunk: u64) -> Vec<u8> {
        let mut bytes = b"\x03\x23OTF2\0\x03\x02\x03\x00\x03".to_vec();
        bytes.extend(chunk.to_be_bytes());
        bytes.extend(262_144_u64.to_be_bytes());
        bytes.extend([substrate, compression]);
        bytes.extend(4_u64.to_be_bytes());
        bytes.extend(538_u64.to_be_bytes());
        bytes.extend(b"machine\0creator\0what it is\0");
        bytes
    }

    fn read(bytes: &[u8]) -> Result<ArchiveAnchor, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.otf2");
        std::fs::write(&path, bytes).expect("a file");
        ArchiveAnchor::read(&path).map_err(|problem| problem.reason)
    }

    #[test]
    fn an_anchor_in_big_endian_is_read() {
        let found = read(&anchor(1, 1, 1 << 20)).expect("an anchor");
        assert_eq!(
            (found.version, found.event_chunk, found.definition_chunk),
            ([3, 0, 3], 1 << 20, 1 << 18)
        );
        assert_eq!((found.locations, found.definitions), (4, 538));
        assert_eq!(
            (&*found.machine, &*found.creator, &*found.description),
            ("machine", "creator", "what it is")
        );
    }

    #[test]
    fn archives_that_are_kept_otherwise_are_refused_by_name() {
        assert!(read(&anchor(2, 1, 1 << 20)).is_err_and(|reason| reason.contains("substrate 2")));
        assert!(read(&anchor(1, 2, 1 << 20)).is_err_and(|reason| reason.contains("compressed (kind 2)")));
        assert!(read(&anchor(1, 1, 0)).is_err_and(|reason| reason.contains("a chunk of events has 0 bytes")));
        assert!(read(&anchor(1, 1, 1 << 20)[..40]).is_err_and(|reason| reason.contains("it ends")));
        assert!(read(b"\x03\x42\x01").is_err_and(|reason| reason.contains("no anchor")));
    }
}
