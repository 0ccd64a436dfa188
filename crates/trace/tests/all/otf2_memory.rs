//! How much memory reading OTF2 takes: a chunk of a file, and what is looked at before it is told.

use crate::held;
use crate::samples::otf2::{self, BEGIN, WORLD};
use trace::{ReadProgress, TraceReader, TraceSummary};

const CHUNK: usize = 1 << 18;
/// Receives of the first rank.
const RECEIVES: u64 = 200_000;

/// The most that is held at once while an archive is read whose first rank has these events, and how many records there are.
fn most_held(events: otf2::Chunked) -> (usize, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = otf2::files(false, CHUNK, true);
    files[2].1 = events.end();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    let (mut summary, mut watch) = (TraceSummary::default(), |_: ReadProgress| true);
    let path = folder.path().join("a.otf2");
    let (records, most) = held::while_doing(|| {
        let mut reader = TraceReader::new(&mut summary, &mut watch);
        trace::read(&path, None, &mut reader).expect("it can be read");
        reader.progress.records
    });
    assert!(summary.operations["irecv"] >= RECEIVES);
    (most, records)
}

#[test]
fn memory_is_a_few_chunks_and_at_worst_64_bytes_for_each_record() {
    let receive = |file: &mut otf2::Chunked, request: u64, time: u64| {
        file.short(BEGIN + time, 17, request);
        file.long(BEGIN + time + 1, 19, |f| f.all(&[1, WORLD, 7, 8, request]));
    };
    let mut plain = otf2::Chunked::new(false, CHUNK);
    (0..RECEIVES).for_each(|i| receive(&mut plain, 2 + i % 1000, 2 * i));
    let (most, records) = most_held(plain);
    assert!(most < 4 * CHUNK, "{most} bytes for {records} records");
    // Everything is looked at, since the first receive never ends.
    let mut open = otf2::Chunked::new(false, CHUNK);
    open.short(BEGIN, 17, 1);
    (0..RECEIVES).for_each(|i| receive(&mut open, 2 + i % 1000, 2 * i));
    let (worst, records) = most_held(open);
    println!(
        "{most} bytes, at worst {worst} bytes for {records} records: {} each",
        worst as u64 / records
    );
    assert!(worst > most, "looking ahead keeps something");
    assert!((worst as u64) < 64 * records, "{worst} bytes for {records} records");
}
