//! OTF2 as the library says that it is: random archives that it wrote, and our own, read by both, record by record.
//!
//! `FABRICSIM_OTF2_ARCHIVES=N` makes N random archives in place of 60. What is needed stands in `oracles/mod.rs`.

use crate::oracles::{ask, compare, python};
use crate::samples;
use trace::{ReadProgress, TraceReader, TraceSummary};

#[test]
fn random_archives_of_the_library_are_read_as_it_reads_them() {
    let Some(python) = python() else { return };
    let n = std::env::var("FABRICSIM_OTF2_ARCHIVES").map_or(60, |n| n.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a path in UTF-8");
    ask(&python, &["make", "7", &n.to_string(), place]);
    let mut records = 0;
    for i in 0..n {
        let path = folder.path().join(format!("{i}/traces.otf2"));
        let oracle = std::fs::read_to_string(path.with_file_name("said.txt")).expect("what it says");
        records += compare(&path, &oracle);
        // What they mean is nonsense, which is told and ends nothing.
        let (mut summary, mut watch) = (TraceSummary::default(), |_: ReadProgress| true);
        let mut reader = TraceReader::new(&mut summary, &mut watch);
        trace::read(&path, None, &mut reader).expect("it is read to its end");
    }
    println!("{records} records of {n} archives");
    assert!(
        records > n * 100,
        "{records} records of {n} archives are too few to say anything"
    );
}

#[test]
fn our_own_samples_are_read_by_the_library_as_by_us() {
    let Some(python) = python() else { return };
    for big in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in samples::otf2::files(big, 1 << 18, true) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
        let path = folder.path().join("a.otf2");
        let oracle = ask(&python, &["say", path.to_str().expect("a path in UTF-8")]);
        assert!(compare(&path, &oracle) > 40, "{oracle}");
    }
}
