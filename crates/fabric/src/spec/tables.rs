//! `[routing]` of the kinds that route by forwarding tables.

use super::canonical::hash_bytes;
use super::run::{Bytes, PathChoice, TableSource, TablesSpec};
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::Values;
use study::user_file::read_bytes;

/// Reads a routing by tables; `None` after errors.
pub(super) fn read_tables(kind: &str, values: &Values, base: &Path, findings: &mut Findings) -> Option<TablesSpec> {
    let source = match kind {
        "table" => file(values, base, findings)?,
        _ => TableSource::Engine {
            lanes: match kind {
                "dfsssp" | "lash" | "nue" | "parx" => values.integer("lanes")?.try_into().ok()?,
                _ => 1,
            },
            roots: values.integers_u32("roots"),
            lmc: match kind {
                "parx" => PARX_LMC,
                "ftree" => 0,
                _ => values.integer("lmc")?.try_into().ok()?,
            },
            seed: values.integer_or_default("seed"),
        },
    };
    let path = match values.choice("path") {
        Some(path) => path,
        None if kind == "parx" => PathChoice::BySize,
        None => PathChoice::RoundRobin,
    };
    if values.given("small_below") && path != PathChoice::BySize {
        let hint = "remove the key, or set routing.path = \"by-size\"";
        findings.error(
            values.place("small_below"),
            "routing.small_below",
            "has a meaning with routing.path = \"by-size\" only",
            hint,
        );
        return None;
    }
    let small_below = Bytes(values.quantity("small_below")?);
    Some(TablesSpec {
        source,
        path,
        small_below,
    })
}

/// PARX gives every node four addresses.
const PARX_LMC: u8 = 2;

/// Whether a HyperX of this shape falls into quadrants.
pub(super) fn has_quadrants(shape: &[u32]) -> bool {
    shape.len() == 2 && shape.iter().all(|&extent| extent >= 2)
}

/// The file's place and what it has now, so that a run knows it again.
fn file(values: &Values, base: &Path, findings: &mut Findings) -> Option<TableSource> {
    let mut refuse = |reason: String, hint: &str| {
        findings.error(values.place("file"), "routing.file", reason, hint);
        None
    };
    let Some(file) = values.text("file") else {
        let hint = "give a file that `fabricsim routes ... --out DIR` has written, or a dump of forwarding tables";
        return refuse("is missing".to_owned(), hint);
    };
    let bytes = match read_bytes(base, file) {
        Ok(bytes) => bytes,
        Err((reason, hint)) => return refuse(reason, &hint),
    };
    match base.join(file).to_str() {
        Some(path) => Some(TableSource::File {
            path: path.to_owned(),
            sha256: hash_bytes(&bytes),
        }),
        None => refuse(
            "the folder's name is not UTF-8 text".to_owned(),
            "use folder names of printable text",
        ),
    }
}
