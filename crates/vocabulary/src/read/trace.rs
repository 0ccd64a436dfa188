//! `pattern = "trace"`: what programs accessed, from files of `valgrind --tool=lackey --trace-mem=yes`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use study::Bytes;
use study::diagnostic::Findings;
use study::reader::Values;
use work::memory::spec::{Instructions, MOST_ACCESSES, Memory, Split, SplitWord, Trace, TraceFile};
use work::memory::trace::lackey::Lackey;
use work::memory::trace::recording::{Recording, TraceMistake};
use work::memory::trace::{self, TraceFormat, TraceMisfit};

/// Files already read, by what they were read for: a sweep asks for the same ones again and again.
#[derive(Default)]
pub(crate) struct Traces(BTreeMap<Wish, Result<Arc<Recording>, TraceMistake>>);

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
            refuse("trace", "there is no trace".to_owned(), Lackey::HOW);
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
            let told = trace::read(Path::new(&path), file, &trace::reading(&spec, memory), None);
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
        && let Err(TraceMisfit { key, reason, hint }) = trace::Trace::new(&spec, memory, nodes, recordings)
    {
        refuse(key, reason, hint);
        return None;
    }
    Some(spec)
}
