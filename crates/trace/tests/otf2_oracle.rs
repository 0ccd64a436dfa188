//! OTF2 as the library says that it is: random archives that it wrote, and our own, read by both, record by record.
//!
//! Needs the Python package `otf2`, in `.venv` at the root (where `make test` puts it) or with `python3`; without it these tests say that they are
//! skipped. `FABRICSIM_OTF2_ARCHIVES=N` makes N random archives in place of 60.

#[allow(dead_code, reason = "other tests use the rest")]
mod samples;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::formats::otf2::archive::Otf2Archive;
use trace::formats::otf2::events::{CollectiveRecord, EventRecord, PeerMessage};
use trace::{Progress, Reader, Summary};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python that has the library.
fn python() -> Option<PathBuf> {
    let candidates = [root().join(".venv/bin/python"), PathBuf::from("python3")];
    let has_it = |python: &PathBuf| {
        let asked = Command::new(python).args(["-c", "import otf2"]).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    let found = candidates.into_iter().find(has_it);
    if found.is_none() {
        println!("skipped: no Python with the package otf2 (pip install otf2)");
    }
    found
}

/// Runs the oracle; what it prints.
fn ask(python: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/otf2_oracle.py");
    let done = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("a text")
}

/// The arguments of a record, as the oracle prints them.
fn arguments(record: &EventRecord) -> Vec<u64> {
    use EventRecord as E;
    let message = |m: PeerMessage| vec![m.peer.into(), m.communicator.into(), m.tag.into(), m.bytes];
    let collective = |c: CollectiveRecord| vec![c.op.into(), c.communicator.into(), c.root.into(), c.sent, c.received];
    let with = |mut list: Vec<u64>, more: u64| {
        list.push(more);
        list
    };
    match *record {
        E::BufferFlush { stop } => vec![stop],
        E::MeasurementOnOff { mode } => vec![mode.into()],
        E::Enter { region } | E::Leave { region } => vec![region.into()],
        E::MpiSend(m) | E::MpiRecv(m) => message(m),
        E::MpiIsend(m, request) | E::MpiIrecv(m, request) => with(message(m), request),
        E::MpiIsendComplete { request }
        | E::MpiIrecvRequest { request }
        | E::MpiRequestTest { request }
        | E::MpiRequestCancelled { request }
        | E::NonBlockingCollectiveRequest { request } => vec![request],
        E::MpiCollectiveEnd(c) => collective(c),
        E::NonBlockingCollectiveComplete(c, request) => with(collective(c), request),
        E::RmaPut {
            window,
            remote,
            bytes,
            matching,
        }
        | E::RmaGet {
            window,
            remote,
            bytes,
            matching,
        } => {
            vec![window.into(), remote.into(), bytes, matching]
        }
        E::CommCreate { communicator } | E::CommDestroy { communicator } => vec![communicator.into()],
        E::MpiProbe {
            peer,
            communicator,
            tag,
            message,
        } => vec![peer.into(), communicator.into(), tag.into(), message],
        E::MpiMrecv { message, bytes } => vec![message, bytes],
        E::MpiImrecvRequest { message, request } => vec![message, request],
        E::MpiImrecv { request, bytes } => vec![request, bytes],
        E::MpiCollectiveBegin | E::Other => vec![],
    }
}

/// What we read of an archive, in the words of the oracle; records of a kind that the library does not know are not among them.
fn say(path: &Path) -> String {
    let archive = Otf2Archive::open(path).expect("an archive");
    let mut said = String::new();
    for location in archive.definitions.locations.keys() {
        let mut events = archive.events(*location).expect("events");
        while let Some(event) = events.event().expect("whole events") {
            if event.id > LAST {
                continue;
            }
            write!(said, "{location} {} {}", event.time, event.id).expect("a text");
            for argument in arguments(&event.record) {
                write!(said, " {argument}").expect("a text");
            }
            said.push('\n');
        }
    }
    said
}

/// The last kind of records that version 3.2 of the library has.
const LAST: u8 = 92;

fn compare(path: &Path, oracle: &str) -> usize {
    let ours = say(path);
    for (i, (ours, oracle)) in ours.lines().zip(oracle.lines()).enumerate() {
        assert_eq!(ours, oracle, "{}, line {i}", path.display());
    }
    assert_eq!(ours.lines().count(), oracle.lines().count(), "{}", path.display());
    oracle.lines().count()
}

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
        let (mut summary, mut watch) = (Summary::default(), |_: Progress| true);
        let mut reader = Reader::new(&mut summary, &mut watch);
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
