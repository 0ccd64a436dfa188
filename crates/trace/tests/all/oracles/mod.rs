//! The library that OTF2 is from, asked through Python.
//!
//! Needs the Python package `otf2`, in `.venv` at the root (where `make test` puts it) or with `python3`; without it tests that ask say that they
//! are skipped.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::formats::otf2::archive::Otf2Archive;
use trace::formats::otf2::events::{CollectiveRecord, EventRecord, PeerMessage};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python that has the library.
pub fn python() -> Option<PathBuf> {
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
pub fn ask(python: &Path, arguments: &[&str]) -> String {
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
        E::MpiProbe(m, name) => vec![m.peer.into(), m.communicator.into(), m.tag.into(), name],
        E::MpiMrecv { message, bytes } => vec![message, bytes],
        E::MpiImrecvRequest { message, request } => vec![message, request],
        E::MpiImrecv { request, bytes } => vec![request, bytes],
        E::MpiCollectiveBegin | E::Other => vec![],
    }
}

/// What we read of an archive, in the words of the oracle; records of a kind that the library does not know are not among them.
pub fn say(path: &Path) -> String {
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

/// Compares what we read of an archive with what the oracle says; the number of records.
pub fn compare(path: &Path, oracle: &str) -> usize {
    let ours = say(path);
    for (i, (ours, oracle)) in ours.lines().zip(oracle.lines()).enumerate() {
        assert_eq!(ours, oracle, "{}, line {i}", path.display());
    }
    assert_eq!(ours.lines().count(), oracle.lines().count(), "{}", path.display());
    oracle.lines().count()
}
