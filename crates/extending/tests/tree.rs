//! A copy of the tree with all worked examples in it compiles, and passes the conformance suites that they are enrolled in.
//!
//! The copy stays in the build folder and is built there, so that what is not of this tree is compiled once for both, and a second run
//! builds what has changed.

use extending::{SourceTree, examples, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the build of the workspace needs.
const PARTS: &[&str] = &["Cargo.toml", "Cargo.lock", "rustfmt.toml", "crates"];

/// Suites: package, and what of it.
const SUITES: &[&[&str]] = &[
    // Topologies, by enrolment in `crates/topo/tests/all/common/mod.rs`. With the second package, which has no such test, what both need
    // from elsewhere has the features that it has everywhere, and is there already.
    &[
        "-p",
        "fabricsim-topo",
        "-p",
        "fabricsim-fabric",
        "--test",
        "all",
        "conformance::",
    ],
    // The rule of the routing, by the test in its own file.
    &["-p", "fabricsim-fabric", "--lib", "negative_first"],
    // Motifs play in it.
    &["-p", "fabricsim-work", "--lib", "motif::tests::patterns"],
    // Everything that a study can name.
    &["-p", "fabricsim-judge", "--test", "worked_examples"],
];

/// The build folder and the profile of this build: the copy is built in the one and with the other.
fn build() -> (PathBuf, String) {
    let test = std::env::current_exe().unwrap();
    let of_profile = test.parent().and_then(Path::parent).unwrap();
    let profile = match of_profile.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "dev",
        other => other,
    };
    (of_profile.parent().unwrap().to_owned(), profile.to_owned())
}

/// Another version, by which cargo tells the crates of the copy from ours: where they lie does not part them.
fn rename(tree: &mut SourceTree) {
    let manifest = tree.text("Cargo.toml").unwrap();
    let (before, rest) = manifest.split_once("\nversion = \"").unwrap();
    let (version, after) = rest.split_once('"').unwrap();
    let renamed = format!("{before}\nversion = \"{version}-with-worked-examples\"{after}");
    tree.put("Cargo.toml", renamed);
}

/// Settings that leave the crates of the copy without optimisation. What takes time is compiling them, not the suites: that takes 250 CPU
/// seconds where an optimised build takes 570. All other crates are as they are for this test.
fn levels(tree: &SourceTree, profile: &str) -> Vec<String> {
    let lock = tree.text("Cargo.lock").unwrap();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \""));
    names
        .filter(|name| name.starts_with("fabricsim-"))
        .map(|name| format!("profile.{profile}.package.{}.opt-level=0", name.trim_end_matches('"')))
        .collect()
}

#[test]
fn the_tree_with_all_worked_examples_passes_the_suites() {
    let mut tree = SourceTree::of(root());
    for example in examples().unwrap() {
        example.apply(&mut tree).unwrap();
    }
    let suite = tree.text("crates/extending/suite/worked_examples.rs").unwrap();
    tree.put("crates/judge/tests/worked_examples.rs", suite);
    rename(&mut tree);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with-worked-examples");
    tree.write(&copy, PARTS).unwrap();
    let (folder, profile) = build();
    let mut test = vec!["test", "--offline", "--quiet", "--profile", &profile];
    let levels = levels(&tree, &profile);
    test.extend(levels.iter().flat_map(|level| ["--config", level]));
    let suites = SUITES.iter().map(|suite| [&test[..], suite].concat());
    for arguments in [vec!["fmt", "--all", "--check"]].into_iter().chain(suites) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(&arguments)
            .current_dir(&copy)
            .env("CARGO_TARGET_DIR", &folder);
        // What belongs to this test is none of the copy's.
        for (name, _) in std::env::vars() {
            if name.starts_with("CARGO_PKG") || name == "CARGO_MANIFEST_DIR" || name == "FABRICSIM_BLESS" {
                cargo.env_remove(name);
            }
        }
        let output = cargo.output().unwrap();
        let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let told = told.join("\n");
        let is_fine = output.status.success() && !told.contains("warning: ");
        assert!(is_fine, "cargo {}:\n{told}", arguments.join(" "));
    }
}
