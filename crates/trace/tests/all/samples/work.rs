//! Files of work, and traces of random operations to be put into them.

use super::Sample;
use std::path::Path;
use trace::collected::CollectedOperation;
use trace::formats::work::WorkWriter;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{Collected, Kind, Members, Mode, Operation, TraceForm, TraceHeader, WorkUnit};

/// Writes a trace into a file of work.
pub fn write(trace: &Collected, path: &Path) {
    let mut writer = WorkWriter::create(path).expect("a file can be made");
    trace.tell(&mut writer).expect("the trace can be written");
}

/// The bytes of a trace as a file of work.
pub fn bytes(trace: &Collected) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("it.work");
    write(trace, &path);
    std::fs::read(path).expect("it was written")
}

/// A trace with every kind, each field at its edges, and lists of several lengths.
pub fn everything(ranks: u32, rounds: u32) -> Collected {
    let mut header = TraceHeader::new("goal", ranks, TraceForm::Graph);
    header.unit = WorkUnit::Instructions;
    header.communicators.push(Members::of(vec![0]));
    header.communicators.push(Members::List((0..ranks).rev().collect()));
    header.files = (0..ranks).map(|rank| format!("app \"{rank}\".goal")).collect();
    let numbers = [0, 1, ANY_SOURCE, NONE];
    let sizes = [0, 1 << 40, UNKNOWN_SIZE, 8];
    let modes = [Mode::Standard, Mode::Synchronous, Mode::Buffered, Mode::Ready];
    let mut all = Collected {
        header,
        ranks: vec![Vec::new(); ranks as usize],
        names: vec!["main".into(), "Größe \u{1F600}".into()],
    };
    for (rank, operations) in all.ranks.iter_mut().enumerate() {
        for i in 0..rounds as usize * Kind::ALL.len() {
            let pick = |salt: usize| (rank + i / Kind::ALL.len() * 7 + i + salt) % 4;
            let operation = Operation {
                kind: Kind::ALL[i % Kind::ALL.len()],
                mode: modes[pick(0)],
                lane: [0, 1, 7, u8::MAX][pick(1)],
                nic: [0, 1, 7, u8::MAX][pick(2)],
                communicator: [0, 1, 2, 0][pick(3)],
                peer: numbers[pick(0)],
                tag: [0, 1, 5, ANY_TAG][pick(1)],
                source: numbers[pick(2)],
                source_tag: [0, 1, 5, ANY_TAG][pick(3)],
                request: [0, 1, NONE, NONE - 1][pick(0)],
                region: [0, 1, NONE, NONE][pick(1)],
                bytes: sizes[pick(2)],
                received: sizes[pick(3)],
                time: sizes[pick(0)],
                start: sizes[pick(1)],
            };
            operations.push(CollectedOperation {
                record: [i as u64, u64::MAX, 0, 1 << 33][pick(0)],
                operation,
                after: (0..i as u32 % 3).collect(),
                after_start: vec![u32::MAX; usize::from(i % 5 == 0)],
                values: (0..i as u64 % 4).map(|value| u64::MAX - value).collect(),
            });
        }
    }
    all
}

/// All samples of files of work.
pub fn all() -> Vec<Sample> {
    let sample = |name, trace: &Collected| Sample {
        format: "work",
        name,
        files: vec![("it.work".into(), bytes(trace))],
        open: "it.work",
    };
    let unsealed = unsealed(&everything(2, 1));
    vec![
        sample("every kind and field", &everything(3, 1)),
        sample(
            "no rank",
            &Collected {
                header: TraceHeader::new("otf2", 0, TraceForm::Program),
                ..Collected::default()
            },
        ),
        Sample {
            format: "work",
            name: "without a seal, as users write it",
            files: vec![("it.work".into(), unsealed)],
            open: "it.work",
        },
    ]
}

/// The bytes of a trace as a file of work without a seal: its keys have other names, of the same length.
pub fn unsealed(trace: &Collected) -> Vec<u8> {
    let mut all = bytes(trace);
    for key in [
        "\x06\0\0\0sealed\0",
        "\x04\0\0\0seal\0",
        "\x07\0\0\0batches\0",
        "\x0a\0\0\0operations\0",
    ] {
        let key = key.as_bytes();
        let at = all.windows(key.len()).rposition(|window| window == key);
        all[at.expect("it has a seal") + 4] = b'x';
    }
    all
}
