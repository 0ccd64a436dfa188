//! OTF2: archives of our own, in both byte orders, and a recorded one where it is there.

use crate::samples::otf2;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::collected::CollectedOperation;
use trace::formats::otf2::archive::Otf2Archive;
use trace::formats::otf2::events::EventRecord;
use trace::operation::{NONE, UNKNOWN_SIZE};
use trace::{Collected, Members, Mode, Problem, TraceSummary};

fn write(files: &[(String, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}

fn read(path: &Path) -> (Collected, Vec<Problem>) {
    Collected::of(|reader| trace::read(path, None, reader)).expect("it can be read")
}

/// An operation in words: what differs from nothing.
fn words(listed: &CollectedOperation) -> String {
    let it = &listed.operation;
    let mut words = vec![format!("{} @{}+{}", it.kind.name(), it.start, it.time)];
    let mut add = |name: &str, value: u64, none: u64| {
        if value != none {
            words.push(format!("{name} {value}"));
        }
    };
    add("peer", it.peer.into(), NONE.into());
    add("tag", it.tag.into(), 0);
    add("bytes", it.bytes, 0);
    add("source", it.source.into(), NONE.into());
    add("tag", it.source_tag.into(), 0);
    add("received", it.received, 0);
    add("in", it.communicator.into(), 0);
    add("request", it.request.into(), NONE.into());
    add("region", it.region.into(), NONE.into());
    if it.mode != Mode::Standard {
        words.push(format!("{:?}", it.mode));
    }
    if !listed.values.is_empty() {
        words.push(format!("{:?}", listed.values));
    }
    words.join(" ")
}

const RANK_0: &str = "compute @0+10000
enter @10000+0 region 0
compute @10000+10000 region 0
comm_create @20000+0 region 0
compute @120000+80000 region 0
irecv @200000+10000 peer 2 tag 7 bytes 200 in 1 request 11 region 0
compute @210000+10000 region 0
irecv @220000+10000 peer 1 tag 8 bytes 300 request 12 region 0
enter @230000+0 region 1
compute @230000+70000 region 1
isend @300000+30000 peer 2 tag 9 bytes 5000 request 2147483648 region 1
compute @330000+70000 region 1
waitall @400000+100000 region 1 [12, 2147483648, 11]
compute @500000+10000 region 1
leave @510000+0 region 1
compute @510000+10000 region 0
compute @580000+20000 region 0
bcast @600000+50000 peer 0 bytes 4096 region 0
barrier @650000+10000 request 13 region 0
compute @660000+10000 region 0
test @670000+10000 request 13 region 0
compute @680000+20000 region 0
wait @700000+10000 request 13 region 0
sendrecv @710000+30000 peer 1 tag 3 bytes 64 source 2 tag 4 received 32 region 0
send @740000+10000 peer 2 tag 4294967288 bytes 1099511627776 in 1 region 0 Synchronous
put @750000+10000 peer 2 bytes 77 in 1 region 0
compute @760000+40000 region 0
leave @800000+0 region 0
compute @800000+50000";

/// Its clock runs fast, and its numbers are its own.
const RANK_1: &str = "allreduce @450000+90000 bytes 8
compute @540000+90000
recv @630000+0 peer 2 tag 1 bytes 10";

const RANK_2: &str = "irecv @100000+0 peer 1 tag 6 bytes 60 request 1
irecv @100000+10000 peer 0 tag 5 bytes 50 request 2
waitany @110000+90000 request 2 [2, 1]
wait @200000+10000 request 1
send @210000+0 peer 2 tag 1 bytes 8
recv @210000+10000 peer 2 tag 1 bytes 8
compute @220000+10000";

#[test]
fn calls_are_operations_and_the_time_between_them_is_computed() {
    for (big, chunk) in [(false, 1 << 18), (true, 1 << 18), (false, 200), (true, 200)] {
        let folder = write(&otf2::files(big, chunk, true));
        let (all, problems) = read(&folder.path().join("a.otf2"));
        assert_eq!(problems, [], "big {big}, chunks of {chunk}");
        for (rank, expected) in [RANK_0, RANK_1, RANK_2].iter().enumerate() {
            let told: Vec<String> = all.ranks[rank].iter().map(words).collect();
            let expected: Vec<&str> = expected.lines().collect();
            assert_eq!(told, expected, "rank {rank}, big {big}, chunks of {chunk}");
        }
        assert_eq!(all.names, ["main", "solve"]);
        assert_eq!(all.header.communicators, [Members::all(3), Members::List(vec![2, 0])]);
        assert!(all.header.file(1).ends_with("a/0.evt"), "{:?}", all.header.files);
    }
}

#[test]
fn what_cannot_be_replayed_is_told_with_its_place() {
    let folder = write(&otf2::files(true, 1 << 18, false));
    let (all, problems) = read(&folder.path().join("a.otf2"));
    assert_eq!(all.ranks[2].len(), RANK_2.lines().count());
    let told: Vec<String> = problems
        .iter()
        .map(|problem| format!("{:?} {}", problem.record, problem.reason))
        .collect();
    let expected = [
        "Some(17) communicator 43 is one between two groups (an intercommunicator), which is not replayed: the send is left out",
        "Some(18) rank 3 of communicator 40 is meant, which has 3: the send is left out",
        "Some(19) request 77 ends, and has not begun",
        "Some(20) request 78 never ends, so that it is not known what it is: it is left out",
        "Some(21) time goes back by 5000 ps; more of that is not told",
        "Some(21) main is left within no region",
    ];
    assert_eq!(told, expected);
    assert!(
        problems
            .iter()
            .all(|problem| problem.rank == Some(2) && problem.file.ends_with("a/2.evt"))
    );
}

#[test]
fn a_file_that_is_cut_leaves_the_other_ranks_readable() {
    let mut files = otf2::files(false, 1 << 18, true);
    let file = files
        .iter_mut()
        .find(|(name, _)| name == "a/5.evt")
        .expect("it is there");
    file.1.truncate(file.1.len() / 2);
    files.retain(|(name, _)| name != "a/0.evt");
    let folder = write(&files);
    let (all, problems) = read(&folder.path().join("a.otf2"));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let is_cut =
        |words: &String| words.contains("5.evt, rank 0, record 21") && words.contains("it ends within a record");
    assert!(told.iter().any(is_cut), "{told:?}");
    assert!(
        told.iter()
            .any(|words| words.contains("0.evt") && words.contains("rank 1") && words.contains("cannot be read"))
    );
    assert_eq!(all.ranks[2].len(), RANK_2.lines().count());
    assert_eq!(words(&all.ranks[0][1]), RANK_0.lines().nth(1).expect("a line"));
}

#[test]
fn definitions_that_are_cut_are_refused() {
    let mut files = otf2::files(false, 1 << 18, true);
    files[1].1.truncate(700);
    let folder = write(&files);
    let stop = Collected::of(|reader| trace::read(&folder.path().join("a.otf2"), None, reader)).expect_err("it is cut");
    assert!(format!("{stop:?}").contains("it ends"), "{stop:?}");
}

#[test]
fn a_folder_of_score_p_is_an_archive() {
    let files: Vec<(String, Vec<u8>)> = otf2::files(false, 1 << 18, true)
        .into_iter()
        .map(|(name, bytes)| (name.replacen('a', "scorep-1/traces", 1), bytes))
        .collect();
    let folder = write(&files);
    let (all, problems) = read(&folder.path().join("scorep-1"));
    assert_eq!((all.header.ranks, problems.len()), (3, 0));
}

#[test]
fn a_message_that_never_comes_holds_up_no_memory_of_operations() {
    // The first receive never ends, so that everything after it is looked at before it is told.
    let mut file = otf2::Chunked::new(false, 1 << 18);
    file.short(otf2::BEGIN, 17, 1);
    for i in 0..20_000 {
        file.short(otf2::BEGIN + i, 17, 2);
        file.long(otf2::BEGIN + i, 19, |f| f.all(&[1, otf2::WORLD, i, 8, 2]));
    }
    let mut files = otf2::files(false, 1 << 18, true);
    files[2].1 = file.end();
    let folder = write(&files);
    let (all, problems) = read(&folder.path().join("a.otf2"));
    let receives = all.ranks[0]
        .iter()
        .filter(|listed| listed.operation.kind == trace::Kind::Irecv);
    let tags: Vec<u32> = receives.map(|listed| listed.operation.tag).collect();
    assert!(
        tags.iter().copied().eq(0..20_000),
        "each has the message that came for it"
    );
    assert_eq!(problems.len(), 1);
    assert!(problems[0].reason.contains("request 1 never ends"));
}

#[test]
fn messages_that_are_probed_are_received_by_name() {
    let mut file = otf2::Chunked::new(true, 1 << 18);
    let message = |sender: u64, tag: u64, name: u64| move |f: otf2::Fields| f.all(&[sender, otf2::PAIR, tag, name]);
    let b = otf2::BEGIN;
    file.long(b, 89, message(0, 5, 100)).long(b + 1, 89, message(0, 6, 101));
    file.long(b + 2, 91, |f| f.all(&[101, 7]))
        .long(b + 3, 90, |f| f.all(&[100, 40]));
    file.long(b + 4, 92, |f| f.all(&[7, 80]))
        .long(b + 5, 90, |f| f.all(&[100, 40]));
    let mut files = otf2::files(true, 1 << 18, true);
    files[2].1 = file.end();
    let folder = write(&files);
    let (all, problems) = read(&folder.path().join("a.otf2"));
    let told: Vec<String> = all.ranks[0]
        .iter()
        .map(words)
        .filter(|words| !words.starts_with("compute"))
        .collect();
    let probe = format!("bytes {UNKNOWN_SIZE}");
    let expected = [
        format!("probe @0+0 peer 2 tag 5 {probe} in 1"),
        format!("probe @1000+0 peer 2 tag 6 {probe} in 1"),
        "irecv @2000+0 peer 2 tag 6 bytes 80 in 1 request 7".to_owned(),
        "recv @3000+0 peer 2 tag 5 bytes 40 in 1".to_owned(),
        "wait @4000+0 request 7".to_owned(),
    ];
    assert_eq!(told, expected);
    assert!(
        problems.len() == 1
            && problems[0]
                .reason
                .contains("message 100 is received, and was not probed")
    );
}

/// The shared samples beside the checkout, if they are there.
fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = root.join("shared/reference/traces");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
    }
    folder.is_dir().then_some(folder)
}

#[test]
fn the_recorded_archive_has_what_it_is_said_to_have() {
    let Some(folder) = shared() else { return };
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = &expected["otf2/sst-ember-4"];
    let path = folder.join("otf2/sst-ember-4/traces.otf2");
    let archive = Otf2Archive::open(&path).expect("an archive");
    let definitions = &archive.definitions;
    let (mut by_id, mut by_op) = (BTreeMap::new(), BTreeMap::new());
    let (mut bytes_sent, mut collective_bytes, mut first, mut last) = (0, 0, u64::MAX, 0);
    for location in definitions.locations.keys() {
        let mut events = archive.events(*location).expect("events");
        while let Some(event) = events.event().expect("whole events") {
            *by_id.entry(event.id.to_string()).or_insert(0) += 1;
            (first, last) = (first.min(event.time), last.max(event.time));
            match event.record {
                EventRecord::MpiSend(message) | EventRecord::MpiIsend(message, _) => bytes_sent += message.bytes,
                EventRecord::MpiCollectiveEnd(collective) => {
                    *by_op.entry(collective.op.to_string()).or_insert(0) += 1;
                    collective_bytes += collective.sent;
                }
                _ => {}
            }
        }
    }
    let clock = definitions.clock.expect("a clock");
    let found = serde_json::json!({
        "locations": definitions.locations.len(),
        "events_by_id": by_id,
        "bytes_sent": bytes_sent,
        "collective_end_by_op": by_op,
        "collective_bytes_sent": collective_bytes,
        "clock_resolution": clock.resolution,
        "global_offset": clock.offset,
        "trace_length": clock.length,
        "first_event": first,
        "last_event": last,
        "strings": definitions.strings.len(),
        "regions": definitions.regions.len(),
        "groups": definitions.groups.len(),
        "communicators": definitions.communicators.len(),
    });
    assert_eq!(&found, expected);
    assert_eq!(archive.anchor.definitions, definitions.records);
}

#[test]
fn the_recorded_archive_is_a_broadcast_between_beginning_and_end() {
    let Some(folder) = shared() else { return };
    let (mut summary, mut check) = (TraceSummary::default(), trace::check::Check::default());
    let mut watch = |_: trace::ReadProgress| true;
    let mut both = (&mut summary, &mut check);
    let mut reader = trace::TraceReader::new(&mut both, &mut watch);
    trace::read(&folder.join("otf2/sst-ember-4"), None, &mut reader).expect("it can be read");
    assert_eq!(reader.progress.records, 80);
    assert_eq!(reader.progress.done, reader.progress.all);
    assert_eq!(reader.into_problems(), (Vec::new(), 0));
    let operations: Vec<(&str, u64)> = summary.operations.iter().map(|(name, n)| (*name, *n)).collect();
    assert_eq!(
        operations,
        [("bcast", 4), ("comm_create", 4), ("comm_free", 4), ("compute", 20)]
    );
    assert_eq!((summary.ranks, summary.bytes_sent), (4, 0));
    // What ranks spend in MPI is not computed: 1.1 s each in MPI_Init.
    assert!(
        summary.compute_ns.is_some_and(|time| time > 0.0 && time < 1e8),
        "{summary:?}"
    );
    // Nor does it count as time of the communicators that are made there: of 1.1 s of each rank 29 to 41 us are in MPI_Bcast.
    let (all, _) = read(&folder.join("otf2/sst-ember-4"));
    for listed in all.ranks.iter().flatten() {
        let operation = &listed.operation;
        match operation.kind {
            trace::Kind::Compute => {}
            trace::Kind::Bcast => assert!((20_000_000..50_000_000).contains(&operation.time), "{}", operation.time),
            _ => assert_eq!(operation.time, 0, "{}", operation.kind.name()),
        }
    }
}
