//! `pattern = "trace"`: what programs accessed, from files of `valgrind --tool=lackey --trace-mem=yes`.

use super::memory::Memory;
use super::run::Bytes;
use crate::memory::trace::recording::{self, Mistake, Recording};
use crate::memory::trace::{self, Misfit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use study::choice;
use study::diagnostic::Findings;
use study::reader::Values;

/// Most accesses that are read of a file.
pub const MOST_ACCESSES: u64 = 1 << 40;

/// Programs that are played again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The files.
    pub files: Vec<TraceFile>,
    /// A file is read up to so many accesses of lines.
    pub most: u64,
    /// Address spaces; process *p* plays file *p* modulo their number.
    pub processes: u32,
    /// How the accesses of a process are dealt to its cores.
    pub split: Split,
    /// What fetches of instructions do.
    pub instructions: Instructions,
    /// Bytes of a page, a whole number of lines.
    pub page: Bytes,
    /// Where pages lie.
    pub pages: Pages,
}

impl Trace {
    /// Accesses of all processes on so many cores.
    pub fn accesses(&self, memory: &Memory, n_cores: f64) -> f64 {
        let each = match self.split {
            Split::OneCore => memory.accesses as f64,
            Split::RoundRobin { .. } | Split::Blocks => memory.accesses as f64 * n_cores / f64::from(self.processes),
        };
        let of_file = self.files.iter().map(|file| each.min(file.accesses as f64));
        of_file.sum::<f64>() / self.files.len() as f64 * f64::from(self.processes)
    }
}

/// A file with a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Where it lies.
    pub path: String,
    /// SHA-256 of its text, unpacked, up to the last line that is read.
    pub sha256: String,
    /// Accesses of lines in that.
    pub accesses: u64,
}

/// How the accesses of a process are dealt to its cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// So many after each other to the next core.
    RoundRobin {
        /// How many.
        chunk: u64,
    },
    /// To every core one piece; pieces differ by one access at most.
    Blocks,
    /// All to the first core.
    OneCore,
}

choice! {
    /// The word of a [`Split`].
    pub(crate) enum SplitWord {
        RoundRobin = "round-robin", "To the next core after every `chunk`.";
        Blocks = "blocks", "To every core one piece.";
        OneCore = "one-core", "All to the first core; the others do nothing.";
    }
}

choice! {
    /// What fetches of instructions do.
    pub enum Instructions {
        Timed = "timed", "Every instruction takes `issue`.";
        Fetched = "fetched", "The same, and it is read.";
        Ignored = "ignored", "They take no time: accesses follow each other at `issue`.";
    }
}

choice! {
    /// Where the pages of programs lie.
    pub enum Pages {
        FirstTouch = "first-touch", "At the node whose core has the access that comes first in the trace, or the next node with room.";
        Interleaved = "interleaved", "One after the other at the next node.";
        Packed = "packed", "One after the other from the start of the address space on.";
    }
}

/// Files already read, by what they were read for: a sweep asks for the same ones again and again.
#[derive(Default)]
pub(crate) struct Traces(BTreeMap<Wish, Result<Arc<Recording>, Mistake>>);

/// A file's name, the most accesses, bytes of line and page, what fetches do.
type Wish = (String, u64, u64, u64, Instructions);

/// Reads what the work says of its trace, and the files; `None` after errors.
pub(super) fn read(
    values: &Values,
    memory: &Memory,
    (nodes, base, known): (Option<u64>, &Path, &mut Traces),
    findings: &mut Findings,
) -> Option<Trace> {
    let files = values.texts("trace");
    let page = values.quantity("page")?;
    let instructions = values.choice("instructions")?;
    let mut spec = Trace {
        files: Vec::new(),
        most: MOST_ACCESSES,
        processes: values.integer_u32("processes").unwrap_or(files.len() as u32),
        split: match values.choice("split")? {
            SplitWord::Blocks => Split::Blocks,
            SplitWord::OneCore => Split::OneCore,
            SplitWord::RoundRobin => Split::RoundRobin {
                chunk: values.integer("chunk")?,
            },
        },
        instructions,
        page: Bytes(page),
        pages: values.choice_or_default("pages"),
    };
    let mut refuse = |key: &str, reason: String, hint: &str| {
        findings.error(values.place(key), &format!("{}.{key}", values.path), reason, hint);
    };
    if files.is_empty() {
        if !values.failed("trace") {
            refuse("trace", "there is no trace".to_owned(), recording::HOW);
        }
        return None;
    }
    let n_cores = nodes.map(|nodes| nodes.saturating_mul(memory.cores.into()));
    if let Err(misfit) = trace::fits(&spec, files.len(), memory, n_cores) {
        refuse(misfit.key, misfit.reason, misfit.hint);
        return None;
    }
    if let Some(n_cores) = n_cores {
        spec.most = trace::most(&spec, memory.accesses, n_cores);
    }
    let mut recordings = Vec::new();
    for file in files {
        let Some(path) = base.join(file).to_str().map(str::to_owned) else {
            let hint = "use folder names of printable text";
            refuse("trace", "the folder's name is not UTF-8 text".to_owned(), hint);
            return None;
        };
        let wish = (file.clone(), spec.most, memory.line.0, page, instructions);
        let read = known.0.entry(wish).or_insert_with(|| {
            let told = recording::read(Path::new(&path), file, &trace::reading(&spec, memory), None);
            told.map(Arc::new)
        });
        match read {
            Ok(recording) => {
                spec.files.push(TraceFile {
                    path,
                    sha256: recording.sha256.clone(),
                    accesses: recording.accesses,
                });
                recordings.push(recording.clone());
            }
            Err(mistake) => refuse("trace", mistake.reason.clone(), &mistake.hint),
        }
    }
    if recordings.len() < files.len() {
        return None;
    }
    if let Some(nodes) = nodes.and_then(|nodes| u32::try_from(nodes).ok())
        && let Err(Misfit { key, reason, hint }) = trace::Trace::new(&spec, memory, nodes, recordings)
    {
        refuse(key, reason, hint);
        return None;
    }
    Some(spec)
}
