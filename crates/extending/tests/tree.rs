//! A copy of the tree with all worked examples in it compiles, and passes the conformance suites that they are enrolled in.
//!
//! The copy stays in the build folder, with a build folder of its own, so that a second run builds what has changed.

use extending::{SourceTree, examples, root};
use std::path::Path;
use std::process::Command;

/// What the build of the workspace needs.
const PARTS: &[&str] = &["Cargo.toml", "Cargo.lock", "rustfmt.toml", "crates"];

/// Suites: package, and what of it.
const SUITES: &[&[&str]] = &[
    // Topologies, by enrolment in `crates/topo/tests/all/common/mod.rs`.
    &["-p", "fabricsim-topo", "--test", "all", "conformance::"],
    // The rule of the routing, by the test in its own file.
    &["-p", "fabricsim-fabric", "--lib", "negative_first"],
    // Motifs play in it.
    &["-p", "fabricsim-work", "--lib", "motif::tests::patterns"],
    // Everything that a study can name.
    &["-p", "fabricsim-judge", "--test", "worked_examples"],
];

/// The profile of this build: the copy is built with the same.
fn profile() -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).and_then(Path::file_name);
    match profile.unwrap().to_str().unwrap() {
        "debug" => "dev".to_owned(),
        other => other.to_owned(),
    }
}

#[test]
fn the_tree_with_all_worked_examples_passes_the_suites() {
    let mut tree = SourceTree::of(root());
    for example in examples().unwrap() {
        example.apply(&mut tree).unwrap();
    }
    let suite = tree.text("crates/extending/suite/worked_examples.rs").unwrap();
    tree.put("crates/judge/tests/worked_examples.rs", suite);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with-worked-examples");
    tree.write(&copy, PARTS).unwrap();
    let profile = profile();
    let test = ["test", "--offline", "--quiet", "--profile", &profile];
    let suites = SUITES.iter().map(|suite| [&test[..], suite].concat());
    for arguments in [vec!["fmt", "--all", "--check"]].into_iter().chain(suites) {
        let mut cargo = Command::new(env!("CARGO"));
        // A build folder of its own: to cargo the crates of two trees are the same, and those of the copy would be taken for ours.
        cargo
            .args(&arguments)
            .current_dir(&copy)
            .env("CARGO_TARGET_DIR", copy.join("target"))
            // What takes time is compiling, not the suites: a build without optimisation takes 250 CPU seconds where an optimised one takes 570.
            .env(format!("CARGO_PROFILE_{}_OPT_LEVEL", profile.to_uppercase()), "0");
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
