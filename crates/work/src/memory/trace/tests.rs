//! What a trace says, line by line; how it is dealt; files that are cut or broken.

use super::format::{AccessKind, Note, TracedAccess};
use super::lackey::{self, Lackey};
use super::recording::{Reading, RecordedAccess, Recording, TraceMistake};
use super::{Frames, Trace, TraceFormat, fits, member, most, place, read, share};
use crate::memory::spec::{Instructions, Memory, Pages, Split, Trace as Spec};
use proptest::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use study::Bytes;

const HOW: &str = Lackey::HOW;

const READING: Reading = Reading {
    line: 64,
    lines_per_page: 64,
    instructions: Instructions::Timed,
    most: u64::MAX,
};

fn told(bytes: &[u8], reading: &Reading, keep: usize) -> Result<Recording, TraceMistake> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read(file.path(), "file", reading, Some(keep))
}

fn recorded(text: &str, reading: &Reading) -> Recording {
    told(text.as_bytes(), reading, 1 << 20).unwrap_or_else(|mistake| panic!("{mistake:?}"))
}

/// (line, store, pause) of all accesses.
fn words(recording: &Recording) -> Vec<(u64, bool, u64)> {
    let get = |RecordedAccess { line, store, pause }: RecordedAccess| (line, store, pause);
    (0..recording.accesses).map(|index| get(recording.get(index))).collect()
}

fn refused(bytes: &[u8]) -> TraceMistake {
    match told(bytes, &READING, 1 << 20) {
        Ok(recording) => panic!(
            "{} accesses of {:?}",
            recording.accesses,
            String::from_utf8_lossy(bytes)
        ),
        Err(mistake) => mistake,
    }
}

fn stored(packing: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    folder.join(format!("small.lackey{packing}"))
}

#[test]
fn a_line_is_a_letter_an_address_and_a_size() {
    let check = |text: &str, expected: Option<(AccessKind, u64, u64)>| {
        let found = lackey::access(text.as_bytes());
        let access = expected.map(|(kind, address, last)| (TracedAccess { kind, address, last }, text.len()));
        assert_eq!(found, access, "{text:?}");
    };
    check("I  0401ab73,5\n", Some((AccessKind::Fetch, 0x401_ab73, 0x401_ab77)));
    check(
        " S 1fff000748,8\n",
        Some((AccessKind::Store, 0x1f_ff00_0748, 0x1f_ff00_074f)),
    );
    check(" L 04a46de0,1\n", Some((AccessKind::Load, 0x4a4_6de0, 0x4a4_6de0)));
    check(" M 0,4\n", Some((AccessKind::Modify, 0, 3)));
    check(" L ffffffffffffffff,1\n", Some((AccessKind::Load, u64::MAX, u64::MAX)));
    for wrong in [
        "",
        "\n",
        " L",
        " L \n",
        " L 12\n",
        " L 12,\n",
        " L ,8\n",
        " L 12,0\n",
        " L 12,16385\n",
        " L 12,99999999999999999999\n",
        " L 1G,8\n",
        " L 1A,8\n",
        " L 12,8 \n",
        " L 12,8\r\n",
        " L 12,8",
        " L  12,8\n",
        "L 12,8\n",
        " X 12,8\n",
        " l 12,8\n",
        " L 10000000000000000,8\n",
        " L ffffffffffffffff,2\n",
        " L -12,8\n",
        " L 12,+8\n",
    ] {
        check(wrong, None);
    }
    assert_eq!(
        lackey::note(b"==7== Lackey, an example Valgrind tool"),
        Some(Note::Begin)
    );
    assert_eq!(lackey::note(b"==7== Exit code:       0"), Some(Note::End));
    assert_eq!(lackey::note(b"--7-- warning"), Some(Note::Other));
    assert_eq!(lackey::note(b"hello"), None);
}

#[test]
fn accesses_come_in_order_with_the_instructions_before_them() {
    let text = "I  1000,4\n L 2000,8\nI  1004,4\nI  1008,4\n S 2040,8\n M 3000,4\nI  100c,4\n";
    let of = |instructions| {
        let recording = recorded(
            text,
            &Reading {
                instructions,
                ..READING
            },
        );
        (words(&recording), recording.first)
    };
    // Pages are numbered as they appear, 64 lines each.
    let (timed, first) = of(Instructions::Timed);
    assert_eq!(timed, [(0, false, 1), (1, true, 2), (64, false, 0), (64, true, 0)]);
    assert_eq!(first, [0, 2]);
    let (ignored, _) = of(Instructions::Ignored);
    assert_eq!(ignored, [(0, false, 0), (1, true, 0), (64, false, 0), (64, true, 0)]);
    let (fetched, first) = of(Instructions::Fetched);
    let expected = [
        (0, false, 1),
        (64, false, 0),
        (0, false, 1),
        (0, false, 1),
        (65, true, 0),
        (128, false, 0),
        (128, true, 0),
        (0, false, 1),
    ];
    assert_eq!(fetched, expected);
    assert_eq!(first, [0, 1, 5]);
}

#[test]
fn what_crosses_lines_is_an_access_of_each() {
    let recording = recorded(" L 103f,2\n M 1ffe,4\n S 1000,200\n L 107f,1\n", &READING);
    let lines: Vec<_> = words(&recording).iter().map(|word| (word.0, word.1)).collect();
    let expected = [
        (0, false),
        (1, false),
        // Both lines are read, and then both are written; the second is on another page.
        (63, false),
        (64, false),
        (63, true),
        (64, true),
        (0, true),
        (1, true),
        (2, true),
        (3, true),
        (1, false),
    ];
    assert_eq!(lines, expected);
    // Lines need not be powers of two.
    let reading = Reading {
        line: 48,
        lines_per_page: 1,
        ..READING
    };
    assert_eq!(recorded(" L 2f,2\n", &reading).first, [0, 1]);
}

#[test]
fn long_pauses_are_exact_and_records_in_a_file_are_the_same() {
    let mut text = String::new();
    for pause in [1, 32_766, 32_767, 40_000, 0, 3] {
        text += &"I  1000,1\n".repeat(pause);
        text += &format!(" L {:x},8\n", 0x2000 + 64 * pause);
    }
    let here = recorded(&text, &READING);
    let pauses: Vec<u64> = words(&here).iter().map(|word| word.2).collect();
    assert_eq!(pauses, [1, 32_766, 32_767, 40_000, 0, 3]);
    for keep in 1..=7 {
        let there = told(text.as_bytes(), &READING, keep).unwrap();
        assert_eq!(words(&there), words(&here), "{keep} in memory");
    }
}

#[test]
fn a_trace_is_read_as_far_as_it_is_wanted() {
    let text = std::fs::read_to_string(stored("")).unwrap();
    let all = recorded(&text, &READING);
    assert_eq!(all.accesses, 8);
    for most in 1..=8 {
        let reading = Reading { most, ..READING };
        let some = recorded(&text, &reading);
        assert_eq!(words(&some), words(&all)[..most as usize]);
        // What comes behind is not looked at.
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let needed = (1..=lines.len())
            .find(|n| told(lines[..*n].concat().as_bytes(), &reading, 1).is_ok())
            .unwrap();
        let other = format!("{}what else?\n", lines[..needed].concat());
        assert_eq!(recorded(&other, &reading).sha256, some.sha256);
    }
}

#[test]
fn every_packing_gives_the_same_and_cut_or_broken_files_are_refused() {
    let plain = std::fs::read(stored("")).unwrap();
    let all = told(&plain, &READING, 1 << 20).unwrap();
    for packing in [".gz", ".xz", ".zst"] {
        let bytes = std::fs::read(stored(packing)).unwrap();
        let same = told(&bytes, &READING, 1 << 20).unwrap_or_else(|mistake| panic!("{packing}: {mistake:?}"));
        assert_eq!((words(&same), &same.sha256), (words(&all), &all.sha256));
        // Two parts, one after the other.
        let twice = told(&[&bytes[..], &bytes].concat(), &READING, 1 << 20).unwrap();
        assert_eq!(words(&twice), [words(&all), words(&all)].concat(), "{packing}");
        for n in 0..bytes.len() {
            let mistake = refused(&bytes[..n]);
            assert!(
                mistake.reason.starts_with("file") && !mistake.hint.is_empty(),
                "{n} of {packing}: {mistake:?}"
            );
        }
        // A byte that is another one is found, or says nothing about the text.
        for n in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[n] ^= 0x55;
            if let Ok(same) = told(&broken, &READING, 1 << 20) {
                assert_eq!(same.sha256, all.sha256, "byte {n} of {packing}");
            }
        }
    }
    // Of a plain file the last word of valgrind must be there, to its end.
    let end = plain.iter().rposition(|byte| *byte == b':').unwrap();
    for n in 0..plain.len() {
        let told = told(&plain[..n], &READING, 1 << 20);
        assert!(told.is_err(), "{n} bytes of {}", plain.len());
        let whole = n > 0 && plain[n - 1] == b'\n' && n < end;
        let reason = told.unwrap_err().reason;
        let words = [(whole, "last words"), (n > 0 && !whole, "is cut"), (n == 0, "0 lines")];
        let nothing = reason.contains("there is no access");
        assert!(
            nothing || words.iter().any(|(is, words)| *is && reason.contains(words)),
            "{n}: {reason}"
        );
    }
}

#[test]
fn a_foreign_file_is_refused_with_its_line() {
    let check = |text: &[u8], words: &str, hint: &str| {
        let mistake = refused(text);
        assert!(mistake.reason.contains(words), "{mistake:?}");
        assert!(mistake.hint.contains(hint), "{mistake:?}");
    };
    check(b"", "file: there is no access in its 0 lines", HOW);
    check(b"I  1000,4\n", "no access in its 1 lines", HOW);
    check(
        b" L 1000,8\nhello\n L 1000,8\n",
        "file, line 2: \"hello\" is not lackey's",
        "--log-file",
    );
    check(b" L 1000,8\n\n", "file, line 2: \"\" is not lackey's", HOW);
    check(
        b" L 1000,8\n L 1000,0\n",
        "file, line 2: \" L 1000,0\" is not lackey's",
        HOW,
    );
    check(b"rank,op\n0,barrier\n", "file, line 1: \"rank,op\"", HOW);
    check(b"\x7fELF\x02\x01\x00\n", "file, line 1: \"\\u{7f}ELF", HOW);
    check(
        &[b'x'; 1 << 19],
        "line 1: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is too long",
        HOW,
    );
    check(b" L 1000,8\n L 10", "file, line 2: \" L 10\" is cut", "accesses");
    check(
        b"==1== Memcheck, a memory error detector\n",
        "there is no access",
        "--tool=lackey",
    );
    assert!(refused(b"PK\x03\x04 a zip\n").reason.contains("line 1"));
    let nowhere = read(Path::new("/nowhere"), "ls.gz", &READING, None).unwrap_err();
    assert!(nowhere.reason.contains("cannot read \"ls.gz\""), "{nowhere:?}");
    assert!(
        read(Path::new("/"), "/", &READING, None)
            .unwrap_err()
            .reason
            .contains("not a file")
    );
}

fn spec(split: Split, processes: u32, pages: Pages) -> Spec {
    Spec {
        files: Vec::new(),
        most: u64::MAX,
        processes,
        split,
        instructions: Instructions::Timed,
        page: Bytes(4096),
        pages,
    }
}

fn memory(cores: u32, pages: u64) -> Memory {
    Memory {
        cores,
        accesses: crate::memory::spec::MOST_ACCESSES,
        memory: Bytes(4096 * pages),
        ..Memory::default()
    }
}

/// Accesses of all cores: (line, store), with pages as given out.
fn dealt(trace: &Trace, cores: u64) -> Vec<Vec<u64>> {
    let of = |core| (0..trace.accesses(core)).map(|k| trace.access(core, k).line).collect();
    (0..cores).map(of).collect()
}

proptest! {
    #[test]
    fn every_access_is_one_members(length in 1u64..500, members in 1u64..40, chunk in 1u64..600, which in 0..3) {
        let split = [Split::RoundRobin { chunk }, Split::Blocks, Split::OneCore][which as usize];
        let mut seen = vec![0; length as usize];
        for one in 0..members {
            let mut before = None;
            for k in 0..share(split, one, length, members) {
                let at = place(split, one, k, length, members);
                prop_assert!(before < Some(at), "in the order of the trace");
                prop_assert_eq!(member(split, at, length, members), one);
                seen[at as usize] += 1;
                before = Some(at);
            }
        }
        prop_assert!(seen.iter().all(|seen| *seen == 1), "{:?}", seen);
    }

    #[test]
    fn no_two_pages_share_a_frame(nodes in 1u32..9, each in 1u64..9, touches in prop::collection::vec(0u32..9, 0..80), policy in 0..4) {
        let pages = [Pages::FirstTouch, Pages::Interleaved, Pages::Packed, Pages::FirstTouch][policy as usize];
        let memory = Memory { interleaved: policy == 3, ..memory(1, each) };
        let mut frames = Frames::new(&spec(Split::Blocks, 1, pages), &memory, nodes);
        let mut taken = std::collections::BTreeSet::new();
        for touch in touches {
            let (node, room) = (touch % nodes, each * u64::from(nodes));
            let own = taken.range(u64::from(node) * each..(u64::from(node) + 1) * each).count() as u64;
            match frames.take(node) {
                Err(misfit) => {
                    prop_assert_eq!(taken.len() as u64, room);
                    prop_assert_eq!(misfit.key, "memory");
                }
                Ok(frame) => {
                    prop_assert!(frame < room && taken.insert(frame));
                    if policy == 0 && own < each {
                        prop_assert_eq!(frame / each, u64::from(node), "where it is touched");
                    }
                }
            }
        }
    }
}

#[test]
fn cores_play_their_parts_of_their_programs() {
    let program = |name: u64| {
        let text: String = (0..10).map(|i| format!(" L {:x},8\n", name << 32 | i << 12)).collect();
        Arc::new(recorded(&text, &READING))
    };
    let deal = |split, processes, pages, files: u64| {
        let recordings: Vec<_> = (0..files).map(program).collect();
        let trace = Trace::new(&spec(split, processes, pages), &memory(2, 16), 3, recordings).unwrap();
        let pages = |lines: Vec<u64>| lines.iter().map(|line| line / 64).collect::<Vec<_>>();
        dealt(&trace, 6).into_iter().map(pages).collect::<Vec<_>>()
    };
    // One program: cores one after the other, node by node; each page at the node that has it (16 frames per node).
    let blocks = deal(Split::Blocks, 1, Pages::FirstTouch, 1);
    assert_eq!(
        blocks,
        [vec![0], vec![1, 2], vec![16, 17], vec![18], vec![32, 33], vec![34, 35]]
    );
    let one = deal(Split::OneCore, 1, Pages::Interleaved, 1);
    assert_eq!(one[0], [0, 16, 32, 1, 17, 33, 2, 18, 34, 3]);
    assert!(one[1..].iter().all(Vec::is_empty));
    // Three processes of two programs go round the nodes: each has the two cores of a node.
    let three = deal(Split::RoundRobin { chunk: 2 }, 3, Pages::Packed, 2);
    assert_eq!(three[0], [0, 1, 4, 5, 8, 9]);
    assert_eq!(three[1], [2, 3, 6, 7]);
    assert_eq!(three[2], [10, 11, 14, 15, 18, 19]);
    assert_eq!(three[5], [22, 23, 26, 27]);
    // Pages of processes are their own.
    let mut four = deal(Split::Blocks, 4, Pages::FirstTouch, 1).concat();
    four.sort_unstable();
    four.dedup();
    assert_eq!(four.len(), 40);
    // There are 48 frames.
    assert_eq!(
        Trace::new(
            &spec(Split::Blocks, 5, Pages::Packed),
            &memory(2, 16),
            3,
            vec![program(0)]
        )
        .unwrap_err()
        .key,
        "memory"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let check = |spec: &Spec, memory: &Memory, files, cores, key: &str, words: &str| {
        let misfit = fits(spec, files, memory, Some(cores)).unwrap_err();
        assert_eq!(misfit.key, key);
        assert!(misfit.reason.contains(words), "{misfit:?}");
    };
    let fine = spec(Split::Blocks, 2, Pages::Packed);
    assert_eq!(fits(&fine, 2, &memory(1, 1), Some(2)), Ok(()));
    check(
        &fine,
        &memory(1, 1),
        3,
        4,
        "processes",
        "3 traces are more than 2 processes",
    );
    check(
        &fine,
        &memory(1, 1),
        2,
        1,
        "trace",
        "2 processes do not fit, there are 1 cores",
    );
    check(&fine, &memory(1, 1), 1, 1, "processes", "2 processes do not fit");
    let page = Spec {
        page: Bytes(100),
        ..fine.clone()
    };
    check(&page, &memory(1, 1), 1, 4, "page", "no whole number of lines");
    let large = Spec {
        page: Bytes(8192),
        ..fine
    };
    check(&large, &memory(1, 1), 1, 4, "memory", "no whole number of pages");
    // As many accesses as the largest process can use.
    assert_eq!(most(&spec(Split::Blocks, 3, Pages::Packed), 10, 7), 30);
    assert_eq!(most(&spec(Split::OneCore, 3, Pages::Packed), 10, 7), 10);
}
