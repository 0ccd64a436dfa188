//! How much memory reading OTF2 takes: a chunk of a file, and what is looked at before it is told.

mod samples;

use samples::otf2::{self, BEGIN, WORLD};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use trace::{ReadProgress, TraceReader, TraceSummary};

/// Counts the bytes that are held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is handed on to the system's allocator as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: as the caller has promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller has promised.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CHUNK: usize = 1 << 18;
/// Receives of the first rank.
const RECEIVES: u64 = 200_000;

/// The most that is held at once while an archive is read whose first rank has these events, and how many records there are.
fn held(events: otf2::Chunked) -> (usize, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = otf2::files(false, CHUNK, true);
    files[2].1 = events.end();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    let (mut summary, mut watch) = (TraceSummary::default(), |_: ReadProgress| true);
    MOST.store(HELD.load(Relaxed), Relaxed);
    let before = HELD.load(Relaxed);
    let mut reader = TraceReader::new(&mut summary, &mut watch);
    trace::read(&folder.path().join("a.otf2"), None, &mut reader).expect("it can be read");
    let (most, records) = (MOST.load(Relaxed) - before, reader.progress.records);
    assert!(summary.operations["irecv"] >= RECEIVES);
    (most, records)
}

// One test, since what is held is counted for the whole program.
#[test]
fn memory_is_a_few_chunks_and_at_worst_64_bytes_for_each_record() {
    let receive = |file: &mut otf2::Chunked, request: u64, time: u64| {
        file.short(BEGIN + time, 17, request);
        file.long(BEGIN + time + 1, 19, |f| f.all(&[1, WORLD, 7, 8, request]));
    };
    let mut plain = otf2::Chunked::new(false, CHUNK);
    (0..RECEIVES).for_each(|i| receive(&mut plain, 2 + i % 1000, 2 * i));
    let (most, records) = held(plain);
    assert!(most < 4 * CHUNK, "{most} bytes for {records} records");
    // Everything is looked at, since the first receive never ends.
    let mut open = otf2::Chunked::new(false, CHUNK);
    open.short(BEGIN, 17, 1);
    (0..RECEIVES).for_each(|i| receive(&mut open, 2 + i % 1000, 2 * i));
    let (worst, records) = held(open);
    println!(
        "{most} bytes, at worst {worst} bytes for {records} records: {} each",
        worst as u64 / records
    );
    assert!(worst > most, "looking ahead keeps something");
    assert!((worst as u64) < 64 * records, "{worst} bytes for {records} records");
}
