//! Checkpoint files: a run between two windows on disk, for any engine and number of workers to go on from.
//!
//! A file is there whole or not at all: it is written under another name, flushed to the device and renamed over the older one.
//! Layout: the name of the format (20 bytes), its version (u32, little-endian), the length of the header (u32), the header (JSON), SHA-256
//! of all that, the body. The header holds the version of fabricsim, the run's hash ([`vocabulary::run_hash`]), the byte order, and
//! length and SHA-256 of the body. The body is what [`des::engine::Engine::save`] gives behind what the run itself keeps.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const MAGIC: &[u8; 20] = b"fabricsim checkpoint";
const FORMAT: u32 = 15;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const BYTE_ORDER: &str = if cfg!(target_endian = "little") {
    "little"
} else {
    "big"
};

/// What a run does about checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The run's file; its folder exists.
    pub file: PathBuf,
    /// When one is written besides on demand.
    pub every: Option<Every>,
    /// Go on from the file if there is one. Otherwise the run begins anew and removes it.
    pub resume: bool,
}

/// Time between two checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Of the clock on the wall.
    Wall(Duration),
    /// Of the simulation, more than zero.
    Simulated(des::Time),
}

impl Every {
    /// Reads a duration: `s`, `min` and `h` are wall time, `ms`, `us`, `ns` and `ps` simulated time.
    ///
    /// # Errors
    /// Says in words what is wrong.
    pub fn parse(text: &str) -> Result<Every, String> {
        let hint =
            "write a number and a unit: 30 s, 10 min, 2 h of wall time, or 1 ms, 500 us, 200 ns of simulated time";
        let text = text.trim();
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| format!("{text:?} is no duration; {hint}"))?;
        let (scale, simulated) = match unit.trim() {
            "h" => (3_600.0, false),
            "min" => (60.0, false),
            "s" => (1.0, false),
            "ms" => (1e9, true),
            "us" => (1e6, true),
            "ns" => (1e3, true),
            "ps" => (1.0, true),
            "" => return Err(format!("{text:?} has no unit; {hint}")),
            unit => return Err(format!("unit {unit:?} is not known; {hint}")),
        };
        let value = number * scale;
        if simulated {
            let ps = value.round();
            if !(1.0..9e18).contains(&ps) {
                return Err(format!("{text:?} is not a time between checkpoints; {hint}"));
            }
            return Ok(Every::Simulated(des::Time(ps as u64)));
        }
        match Duration::try_from_secs_f64(value) {
            Ok(wall) if wall > Duration::ZERO => Ok(Every::Wall(wall)),
            _ => Err(format!("{text:?} is not a time between checkpoints; {hint}")),
        }
    }
}

/// Why a checkpoint cannot be used or written; each names the file, the reason and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Something else.
    #[error("{}: this is not a checkpoint of fabricsim, or its beginning is damaged; {ANEW}", .0.display())]
    Foreign(PathBuf),
    /// Cut off, or bytes have changed.
    #[error("{}: the checkpoint is damaged ({reason}); {ANEW}", file.display())]
    Torn {
        /// The file.
        file: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Of another fabricsim.
    #[error("{}: the checkpoint was written by fabricsim {theirs}, this is {VERSION} in format {FORMAT}; go on with that version, or {ANEW}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Who wrote it.
        theirs: String,
    },
    /// Of a machine with the other byte order.
    #[error("{}: the checkpoint was written on a machine with {theirs}-endian numbers; go on there, or {ANEW}", file.display())]
    ByteOrder {
        /// The file.
        file: PathBuf,
        /// Theirs.
        theirs: String,
    },
    /// Of another run.
    #[error("{}: the checkpoint belongs to another run ({}, this is {}); {ANEW}", file.display(), short(.theirs), short(.ours))]
    Run {
        /// The file.
        file: PathBuf,
        /// Hash of the run it belongs to.
        theirs: String,
        /// Hash of this run.
        ours: String,
    },
    /// Not readable.
    #[error("{}: the checkpoint cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Not written; the one before it is as it was.
    #[error("{}: the checkpoint cannot be written: {error}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
}

const ANEW: &str = "remove the file to begin this run anew";

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    run: String,
    byte_order: String,
    time_ps: u64,
    body_bytes: u64,
    body_sha256: String,
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a checkpoint of the run with hash `run`, which has reached `time_ps`, in place of the one that is there.
///
/// # Errors
/// [`CheckpointError::Write`]; the older checkpoint is then as it was.
pub fn write(file: &Path, run: &str, time_ps: u64, body: &[u8]) -> Result<(), CheckpointError> {
    let header = Header {
        version: VERSION.to_owned(),
        run: run.to_owned(),
        byte_order: BYTE_ORDER.to_owned(),
        time_ps,
        body_bytes: body.len() as u64,
        body_sha256: sha256(body),
    };
    let header = serde_json::json!(header).to_string();
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&FORMAT.to_le_bytes());
    head.extend_from_slice(&(header.len() as u32).to_le_bytes());
    head.extend_from_slice(header.as_bytes());
    let seal = Sha256::digest(&head);
    head.extend_from_slice(&seal);
    replace(file, &head, body).map_err(|error| CheckpointError::Write {
        file: file.to_owned(),
        error,
    })
}

/// Puts a file of two parts in the place of `file`, whole or not at all.
fn replace(file: &Path, head: &[u8], body: &[u8]) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let temporary = file.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let written = File::create(&temporary).and_then(|mut handle| {
        handle.write_all(head)?;
        handle.write_all(body)?;
        handle.sync_all()
    });
    let renamed = written.and_then(|()| std::fs::rename(&temporary, file));
    if renamed.is_err() {
        // It may never have been there.
        let _ = std::fs::remove_file(&temporary);
        return renamed;
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// The body of the checkpoint of the run with hash `run`, or `None` if there is no file.
///
/// # Errors
/// The file is there and cannot be used.
pub fn read(file: &Path, run: &str) -> Result<Option<Vec<u8>>, CheckpointError> {
    let mut bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(CheckpointError::Read {
                file: file.to_owned(),
                error,
            });
        }
    };
    let begin = body_begin(file, run, &bytes)?;
    bytes.drain(..begin);
    Ok(Some(bytes))
}

/// Where the body begins in a file whose content is sound and of this run.
fn body_begin(file: &Path, run: &str, bytes: &[u8]) -> Result<usize, CheckpointError> {
    let torn = |reason: &str| torn(file, reason);
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        // An empty file or the beginning of the name is what is left of one.
        return Err(match MAGIC.starts_with(bytes) {
            true => torn("it ends within its header"),
            false => CheckpointError::Foreign(file.to_owned()),
        });
    };
    let number = |at: usize| {
        let bytes: Option<[u8; 4]> = rest.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes)
    };
    let (Some(format), Some(length)) = (number(0), number(4)) else {
        return Err(torn("it ends within its header"));
    };
    let seal = MAGIC.len() + 8 + length as usize;
    let begin = seal + 32;
    if bytes.len() < begin {
        return Err(torn("it ends within its header"));
    }
    // Before anything in it is believed.
    if Sha256::digest(&bytes[..seal])[..] != bytes[seal..begin] {
        return Err(torn("the checksum of its header is wrong"));
    }
    let header: serde_json::Value = serde_json::from_slice(&bytes[MAGIC.len() + 8..seal]).unwrap_or_default();
    let theirs = header["version"].as_str().unwrap_or("of another kind");
    if format != FORMAT || theirs != VERSION {
        let theirs = match format == FORMAT {
            true => theirs.to_owned(),
            false => format!("{theirs} in format {format}"),
        };
        let file = file.to_owned();
        return Err(CheckpointError::Version { file, theirs });
    }
    let header: Header = serde_json::from_value(header).map_err(|error| torn(&format!("its header: {error}")))?;
    if header.byte_order != BYTE_ORDER {
        let (file, theirs) = (file.to_owned(), header.byte_order);
        return Err(CheckpointError::ByteOrder { file, theirs });
    }
    if header.run != run {
        let (file, theirs, ours) = (file.to_owned(), header.run, run.to_owned());
        return Err(CheckpointError::Run { file, theirs, ours });
    }
    let body = &bytes[begin..];
    if body.len() as u64 != header.body_bytes {
        let reason = format!(
            "it has {} bytes behind its header, not {}",
            body.len(),
            header.body_bytes
        );
        return Err(torn(&reason));
    }
    if sha256(body) != header.body_sha256 {
        return Err(torn("the checksum of its content is wrong"));
    }
    Ok(begin)
}

/// A [`CheckpointError::Torn`].
pub fn torn(file: &Path, reason: &str) -> CheckpointError {
    CheckpointError::Torn {
        file: file.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Removes a run's checkpoint, if it has one.
///
/// # Errors
/// [`CheckpointError::Write`].
pub fn remove(file: &Path) -> Result<(), CheckpointError> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CheckpointError::Write {
            file: file.to_owned(),
            error,
        }),
        _ => Ok(()),
    }
}
