//! What this core is built of, for the identity of its results: the commit, whether the sources differ from it, and a digest of the
//! sources themselves, which also tells two changed builds of one commit apart. Without git (a source archive) the digest stands alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// What the core's answers depend on, from the root of the repository; manifests of crates are left to `Cargo.lock`, since a source
/// archive writes them anew.
const SOURCES: [&str; 9] = [
    "Cargo.lock",
    "crates/des/src",
    "crates/study/src",
    "crates/trace/src",
    "crates/topo/src",
    "crates/work/src",
    "crates/fabric/src",
    "crates/judge/src",
    "crates/py/src",
];

fn main() {
    let crate_folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder"));
    let root = crate_folder.join("../..");
    println!("cargo:rerun-if-changed=build.rs");
    for name in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(name).display());
    }
    let repository = repository(&root);
    let commit = repository.as_ref().and_then(|root| git(root, &["rev-parse", "HEAD"]));
    let dirty = repository
        .as_ref()
        .and_then(|root| git(root, &[&["status", "--porcelain", "--"][..], &SOURCES].concat()))
        .map(|changes| !changes.is_empty());
    if let Some(root) = &repository {
        // The reflog grows with every commit and every change of branch.
        for name in ["HEAD", "logs/HEAD"] {
            let path = git(root, &["rev-parse", "--git-path", name]).map(|path| root.join(path));
            if let Some(path) = path.filter(|path| path.exists()) {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    println!("cargo:rustc-env=FABRICSIM_COMMIT={}", commit.unwrap_or_default());
    println!(
        "cargo:rustc-env=FABRICSIM_DIRTY={}",
        dirty.map(|dirty| dirty.to_string()).unwrap_or_default()
    );
    println!("cargo:rustc-env=FABRICSIM_SOURCES={}", digest(&root));
}

/// The root of the git repository that these sources are of; None where there is none, or where they lie in one of somebody else's.
fn repository(root: &Path) -> Option<PathBuf> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    (top.canonicalize().ok()? == root.canonicalize().ok()?).then_some(top)
}

/// What git says, None where it is missing or refuses.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    // A hook that builds must not make git look at its own repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    // Looking must not write to the repository.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    let output = command.output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// SHA-256 over names and contents of all sources, in the order of their names; empty, which is like no other build, where they are not
/// at hand.
fn digest(root: &Path) -> String {
    let mut files = Vec::new();
    for name in SOURCES {
        collect(root, Path::new(name), &mut files);
    }
    if !files.iter().any(|name| name.starts_with("crates/fabric/")) {
        return String::new();
    }
    files.sort();
    let mut hash = Sha256::new();
    for name in files {
        let content = fs::read(root.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(&name);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(&content);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends the files under `name`, a path from the root with `/` between its parts.
fn collect(root: &Path, name: &Path, files: &mut Vec<String>) {
    let path = root.join(name);
    if path.is_file() {
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        files.push(parts.join("/"));
        return;
    }
    let Ok(entries) = fs::read_dir(&path) else { return };
    for entry in entries.flatten() {
        collect(root, &name.join(entry.file_name()), files);
    }
}
