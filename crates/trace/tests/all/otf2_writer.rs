//! Archives of OTF2 that we write: read back they are what was written, and the library that the format is from reads every record of them.

use crate::oracles;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::path::Path;
use trace::collected::CollectedOperation;
use trace::formats::otf2::Writer;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{
    Collected, Kind, Members, Mode, Operation, OtherDefinitions, ReadStop, TraceForm, TraceHeader, TraceSink, WorkUnit,
};

/// What an operation is made of: its kind, who takes part, its size, how long it takes, and how long nothing is told before it.
type Step = (u8, u32, u32, u64, u32, u32);

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![0_u64..100, Just(1 << 20), 0_u64..1 << 50];
    let gap = prop_oneof![3 => Just(0_u32), 1 => 0_u32..1000];
    (0_u8..36, any::<u32>(), any::<u32>(), bytes, 0_u32..5000, gap)
}

/// A program of a few ranks: each a row of steps, and who is in communicators beside the first.
fn program() -> impl Strategy<Value = Collected> {
    let ranks = prop::collection::vec(prop::collection::vec(step(), 0..60), 1..6);
    (ranks, prop::collection::vec(any::<u8>(), 0..3)).prop_map(|(ranks, groups)| {
        let n = ranks.len() as u32;
        let mut header = TraceHeader::new("otf2", n, TraceForm::Program);
        for mask in groups {
            let mut members: Vec<u32> = (0..n).filter(|rank| mask >> rank & 1 == 1).collect();
            if mask & 0x80 != 0 {
                members.reverse();
            }
            if !members.is_empty() {
                header.communicators.push(Members::of(members));
            }
        }
        let names = vec!["main".to_owned(), "solve".to_owned(), "MAIN__".to_owned()];
        let told = ranks
            .iter()
            .zip(0..)
            .map(|(steps, rank)| Making::of(rank, &header, steps))
            .collect();
        Collected {
            header,
            ranks: told,
            names,
        }
    })
}

/// The operations of a rank, one by one.
struct Making<'h> {
    rank: u32,
    header: &'h TraceHeader,
    now: u64,
    told: Vec<CollectedOperation>,
    regions: Vec<u32>,
    open: Vec<u32>,
    next: u32,
}

impl Making<'_> {
    fn of(rank: u32, header: &TraceHeader, steps: &[Step]) -> Vec<CollectedOperation> {
        let (told, regions, open) = (Vec::new(), Vec::new(), Vec::new());
        let (now, next) = (1000 * u64::from(rank), 0);
        let mut making = Making {
            rank,
            header,
            now,
            told,
            regions,
            open,
            next,
        };
        steps.iter().for_each(|step| making.step(step));
        if !making.open.is_empty() {
            let all = std::mem::take(&mut making.open);
            making.tell(Operation::new(Kind::Waitall), &all, 10);
        }
        making.told
    }

    fn tell(&mut self, operation: Operation, values: &[u32], time: u64) {
        let operation = Operation {
            start: self.now,
            time,
            region: self.regions.last().copied().unwrap_or(NONE),
            ..operation
        };
        self.now += time;
        let values = values.iter().copied().map(u64::from).collect();
        self.told.push(CollectedOperation {
            operation,
            values,
            ..CollectedOperation::default()
        });
    }

    fn request(&mut self) -> u32 {
        self.next += 1;
        self.open.push(self.next);
        self.next
    }

    fn step(&mut self, step: &Step) {
        let (kind, a, b, bytes, time, gap) = *step;
        if !self.told.is_empty() {
            self.now += u64::from(gap);
        }
        let time = u64::from(time);
        let kinds = Kind::ALL;
        let kind = kinds[usize::from(kind) % kinds.len()];
        // A communicator that the rank is in, and somebody in it.
        let mine = |(_, members): &(u32, &Members)| members.number(self.rank).is_some();
        let of_mine: Vec<(u32, &Members)> = (0..).zip(&self.header.communicators).filter(mine).collect();
        let (communicator, members) = of_mine[a as usize % of_mine.len()];
        let number = b % members.len();
        let peer = members.rank(number).expect("a member");
        let (is_root, n) = (peer == self.rank, members.len());
        let mode = [Mode::Standard, Mode::Synchronous, Mode::Buffered, Mode::Ready][a as usize % 4];
        let message = Operation {
            communicator,
            ..Operation::message(kind, peer, bytes, b)
        };
        let one = |requests: &[u32]| (!requests.is_empty()).then(|| requests[b as usize % requests.len()]);
        use Kind as K;
        match kind {
            K::Compute => {
                let follows = self.told.last().is_some_and(|told| told.operation.kind == K::Compute);
                if !follows && time > 0 {
                    self.tell(Operation::new(kind), &[], time);
                }
            }
            K::Send => self.tell(Operation { mode, ..message }, &[], time),
            K::Recv => self.tell(message, &[], time),
            K::Put | K::Get => self.tell(Operation { tag: 0, ..message }, &[], time),
            K::Probe => self.tell(
                Operation {
                    bytes: UNKNOWN_SIZE,
                    ..message
                },
                &[],
                time,
            ),
            K::Isend => {
                let request = self.request();
                self.tell(
                    Operation {
                        mode,
                        request,
                        ..message
                    },
                    &[],
                    time,
                );
            }
            K::Irecv => {
                let request = self.request();
                self.tell(Operation { request, ..message }, &[], time);
            }
            K::Sendrecv => {
                let source = members.rank(a % n).expect("a member");
                let (source_tag, received) = (a, bytes / 2);
                self.tell(
                    Operation {
                        source,
                        source_tag,
                        received,
                        ..message
                    },
                    &[],
                    time,
                );
            }
            K::Wait | K::Test => {
                if let Some(request) = one(&self.open) {
                    if kind == K::Wait {
                        self.open.retain(|open| *open != request);
                    }
                    self.tell(
                        Operation {
                            request,
                            ..Operation::new(kind)
                        },
                        &[],
                        time,
                    );
                }
            }
            K::Waitall if !self.open.is_empty() => {
                let some = self.open.split_off(b as usize % self.open.len());
                self.tell(Operation::new(kind), &some, time);
            }
            K::Waitany if !self.open.is_empty() => {
                let request = self.open.pop().expect("one is open");
                let mut list = vec![request];
                list.extend(&self.open);
                self.tell(
                    Operation {
                        request,
                        ..Operation::new(kind)
                    },
                    &list,
                    time,
                );
            }
            // A sleep is read back as a computation, and a wait for news is written as a probe.
            K::Waitall | K::Waitany | K::Waitnews | K::Sleep => {}
            K::Enter => {
                self.regions.push(b % 3);
                self.tell(Operation::new(kind), &[], 0);
            }
            K::Leave if !self.regions.is_empty() => {
                self.tell(Operation::new(kind), &[], 0);
                self.regions.pop();
            }
            K::Leave => {}
            _ => self.collective(kind, communicator, (number, is_root, n), (a, bytes, time)),
        }
    }

    fn collective(&mut self, kind: Kind, communicator: u32, root: (u32, bool, u32), with: (u32, u64, u64)) {
        use Kind as K;
        let ((root, is_root, n), (a, bytes, time)) = (root, with);
        let (bytes, received) = match kind {
            K::Barrier | K::CommCreate | K::CommFree => (0, 0),
            // It moves nothing.
            K::Exscan if n == 1 => (0, 0),
            K::Gatherv if is_root => (bytes, bytes * 3),
            K::Scatterv if is_root => (bytes * 3, bytes),
            K::Scatterv => (0, bytes),
            K::Allgatherv | K::Alltoallv | K::ReduceScatter => (bytes, bytes / 2 * 2 + u64::from(bytes == 0)),
            _ => (bytes, 0),
        };
        let request = match a % 2 == 0 && kind < K::CommCreate {
            true => self.request(),
            false => NONE,
        };
        let peer = if kind.has_root() { root } else { NONE };
        let operation = Operation {
            peer,
            received,
            request,
            ..Operation::collective(kind, communicator, bytes)
        };
        self.tell(operation, &[], time);
    }
}

fn write(all: &Collected, folder: &Path) -> std::path::PathBuf {
    let path = folder.join("written.otf2");
    all.tell(&mut Writer::new(&path, "fabricsim's tests"))
        .expect("it can be written");
    path
}

fn read(path: &Path) -> Collected {
    let (all, problems) = Collected::of(|reader| trace::read(path, None, reader)).expect("it can be read");
    assert_eq!(problems, []);
    all
}

/// The same without what is about files, and without the calls of MPI that an archive defines as regions.
fn bare(mut all: Collected) -> Collected {
    all.header.files.clear();
    all.header.others = OtherDefinitions::default();
    for listed in all.ranks.iter_mut().flatten() {
        listed.record = 0;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_back(all in program()) {
        let folder = tempfile::tempdir().expect("a folder");
        let back = bare(read(&write(&all, folder.path())));
        prop_assert_eq!(&back.header, &all.header);
        prop_assert_eq!(&back.names, &all.names);
        for (rank, (told, expected)) in back.ranks.iter().zip(&all.ranks).enumerate() {
            for (i, (told, expected)) in told.iter().zip(expected).enumerate() {
                prop_assert_eq!(told, expected, "rank {}, operation {}", rank, i);
            }
            prop_assert_eq!(told.len(), expected.len(), "rank {}", rank);
        }
    }
}

#[test]
fn the_library_reads_every_record_that_is_written() {
    let Some(python) = oracles::python() else { return };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut records = 0;
    for _ in 0..12 {
        let all = program().new_tree(&mut runner).expect("a program").current();
        let folder = tempfile::tempdir().expect("a folder");
        let path = write(&all, folder.path());
        let said = oracles::ask(&python, &["say", path.to_str().expect("a path in UTF-8")]);
        records += oracles::compare(&path, &said);
    }
    assert!(records > 500, "{records} records are too few to say anything");
}

/// A rank that sends to itself, often.
fn long(ranks: u32, each: u64) -> impl Fn(&mut dyn TraceSink) -> Result<(), ReadStop> {
    move |sink| {
        sink.begin(&TraceHeader::new("otf2", ranks, TraceForm::Program))?;
        for i in 0..each {
            for rank in 0..ranks {
                let operation = Operation {
                    start: 100 * i,
                    time: 50,
                    ..Operation::message(if i % 2 == 0 { Kind::Send } else { Kind::Recv }, rank, i, 7)
                };
                sink.operation(rank, i, &operation, &trace::Lists::default())?;
            }
        }
        sink.end(&[])
    }
}

#[test]
fn files_of_many_chunks_are_whole_whoever_takes_turns() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.otf2");
    long(3, 12_000)(&mut Writer::new(&path, "")).expect("it can be written");
    let all = read(&path);
    for operations in &all.ranks {
        let sizes = operations
            .iter()
            .map(|listed| (listed.operation.kind, listed.operation.bytes, listed.operation.start));
        let expected = (0..12_000_u64).map(|i| (if i % 2 == 0 { Kind::Send } else { Kind::Recv }, i, 100 * i));
        assert!(sizes.eq(expected));
    }
    let bytes = std::fs::metadata(folder.path().join("long/1.evt"))
        .expect("a file")
        .len();
    assert!(bytes > 1 << 18, "{bytes} bytes");
    if let Some(python) = oracles::python() {
        let said = oracles::ask(&python, &["say", path.to_str().expect("a path in UTF-8")]);
        // The begin and the end, three records for each operation and two around the time before it.
        assert_eq!(oracles::compare(&path, &said), 3 * (2 + 12_000 * 3 + 11_999 * 2));
    }
}

#[test]
fn operations_without_times_follow_each_other() {
    let mut all = Collected {
        header: TraceHeader::new("goal", 1, TraceForm::Program),
        ranks: vec![Vec::new()],
        names: Vec::new(),
    };
    for time in [5, 7] {
        let operation = Operation {
            time,
            ..Operation::message(Kind::Send, 0, 8, 0)
        };
        all.ranks[0].push(CollectedOperation {
            operation,
            ..CollectedOperation::default()
        });
    }
    let folder = tempfile::tempdir().expect("a folder");
    let back = read(&write(&all, folder.path()));
    let times: Vec<(u64, u64)> = back.ranks[0]
        .iter()
        .map(|listed| (listed.operation.start, listed.operation.time))
        .collect();
    assert_eq!(times, [(0, 5), (5, 7)]);
}

#[test]
fn a_receive_of_any_message_is_one_of_the_message_that_came_and_a_sleep_is_a_computation() {
    let any = |kind| Operation {
        source: 1,
        source_tag: 6,
        ..Operation::message(kind, ANY_SOURCE, UNKNOWN_SIZE, ANY_TAG)
    };
    let one = |kind| Operation::message(kind, 1, UNKNOWN_SIZE, 6);
    let sleep = Operation {
        time: 9,
        ..Operation::new(Kind::Sleep)
    };
    let list = |operations: &[Operation]| -> Vec<CollectedOperation> {
        let listed = operations.iter().map(|operation| CollectedOperation {
            operation: *operation,
            ..CollectedOperation::default()
        });
        listed.collect()
    };
    let irecv = |operation| Operation {
        request: 3,
        ..operation
    };
    let wait = Operation {
        request: 3,
        ..Operation::new(Kind::Wait)
    };
    let all = Collected {
        header: TraceHeader::new("otf2", 2, TraceForm::Program),
        ranks: vec![
            list(&[any(Kind::Probe), any(Kind::Recv), irecv(any(Kind::Irecv)), wait, sleep]),
            Vec::new(),
        ],
        names: Vec::new(),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let back = bare(read(&write(&all, folder.path())));
    let computed = Operation::compute(9);
    assert_eq!(
        back.ranks[0],
        list(&[
            one(Kind::Probe),
            one(Kind::Recv),
            irecv(one(Kind::Irecv)),
            wait,
            computed
        ])
    );
    assert_eq!(back.ranks[1], []);
}

#[test]
fn what_has_no_place_in_an_archive_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |name: &str, header: TraceHeader, operation: Operation| {
        let all = Collected {
            header,
            ranks: vec![vec![CollectedOperation {
                operation,
                ..CollectedOperation::default()
            }]],
            names: Vec::new(),
        };
        let path = folder.path().join(name);
        let stop = all.tell(&mut Writer::new(&path, "")).expect_err("it is refused");
        assert!(!path.exists(), "there is no anchor of what is not whole");
        format!("{stop:?}")
    };
    let plain = || TraceHeader::new("x", 1, TraceForm::Program);
    let words = refused(
        "a.otf2",
        TraceHeader::new("x", 1, TraceForm::Graph),
        Operation::compute(1),
    );
    assert!(words.contains("do not follow each other"), "{words}");
    let instructions = TraceHeader {
        unit: WorkUnit::Instructions,
        ..plain()
    };
    assert!(refused("b.otf2", instructions, Operation::compute(1)).contains("instructions"));
    let any = Operation::message(Kind::Recv, ANY_SOURCE, 1, 1);
    assert!(refused("c.otf2", plain(), any).contains("recv from any rank"));
    let stranger = Operation::message(Kind::Send, 3, 1, 1);
    assert!(refused("d.otf2", plain(), stranger).contains("rank 3 is not in communicator 0"));
    let unnamed = Operation {
        region: 4,
        ..Operation::new(Kind::Enter)
    };
    assert!(refused("e.otf2", plain(), unnamed).contains("region 4 has no name"));
    std::fs::create_dir(folder.path().join("f")).expect("a folder");
    assert!(refused("f.otf2", plain(), Operation::compute(1)).contains("it is there already"));
}

/// `cargo test --release -p fabricsim-trace --test all otf2_writer:: -- --ignored --nocapture` says how fast an archive of 5 million records is read.
#[test]
#[ignore = "it measures"]
fn speed_of_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fast.otf2");
    let mut writer = Writer::new(&path, "");
    writer
        .begin(&TraceHeader::new("otf2", 1, TraceForm::Program))
        .expect("it begins");
    let lists = trace::Lists::default();
    for i in 0..500_000_u64 {
        let request = i as u32;
        let message = |kind, bytes| Operation {
            request,
            start: 1000 * i + 100,
            time: 100,
            ..Operation::message(kind, 0, bytes, 7)
        };
        let wait = Operation {
            request,
            start: 1000 * i + 500,
            time: 100,
            ..Operation::new(Kind::Wait)
        };
        let operations = [message(Kind::Irecv, 100 + i), wait];
        for operation in operations {
            writer.operation(0, i, &operation, &lists).expect("it is written");
        }
    }
    writer.end(&[]).expect("it ends");
    let (mut summary, mut watch) = (trace::TraceSummary::default(), |_: trace::ReadProgress| true);
    for _ in 0..3 {
        let mut reader = trace::TraceReader::new(&mut summary, &mut watch);
        let begun = std::time::Instant::now();
        trace::read(&path, None, &mut reader).expect("it can be read");
        let (took, progress) = (begun.elapsed().as_secs_f64(), reader.progress);
        println!(
            "{} records, {:.1} MB, in {took:.2} s: {:.1} million records per second",
            progress.records,
            progress.done as f64 / 1e6,
            progress.records as f64 / took / 1e6
        );
    }
}
