//! MSCCL's XML: what its steps become, and what is refused.

use crate::reading::{read_bytes, read_path};
use crate::samples;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::Path;
use trace::check::Check;
use trace::{Kind, Operation, TraceForm, TraceSummary};

/// Bytes of a chunk.
const CHUNK: u64 = 131_072;

#[test]
fn samples_are_recognised_and_sound() {
    for sample in samples::all().iter().filter(|sample| sample.format == "msccl") {
        let folder = tempfile::tempdir().unwrap();
        let (all, words) = read_path(&sample.write(folder.path()));
        assert_eq!((&*all.header.format, words), ("msccl", vec![]), "{}", sample.name);
        let mut check = Check::default();
        all.tell(&mut check).unwrap();
        assert_eq!(check.figures().problems, 0);
    }
}

#[test]
fn steps_become_operations_on_the_lane_of_their_thread_block() {
    let (all, words) = read_bytes("x.xml", samples::msccl::XML);
    assert_eq!(words, [""; 0]);
    assert_eq!((all.header.ranks, all.header.form), (2, TraceForm::Graph));
    let said = |rank: usize| -> Vec<(Kind, u8, u64, Vec<u32>, u64)> {
        let one = |one: &trace::collected::CollectedOperation| {
            let operation = &one.operation;
            let message = operation.kind != Kind::Compute;
            assert!(!message || (operation.peer, operation.tag) == (1 - rank as u32, 1));
            (
                operation.kind,
                operation.lane,
                operation.bytes,
                one.after.clone(),
                one.record,
            )
        };
        all.ranks[rank].iter().map(one).collect()
    };
    let (send, recv, works) = (Kind::Send, Kind::Recv, Kind::Compute);
    let first = [
        // The step of another thread block is over with its last operation.
        (works, 0, 0, vec![7], 16),
        (works, 0, 0, vec![0], 17),
        (works, 0, 0, vec![1, 3], 18),
        (send, 1, 2 * CHUNK, vec![], 21),
        (recv, 1, CHUNK, vec![3], 22),
        (works, 1, 0, vec![4], 22),
        (recv, 1, CHUNK, vec![5], 23),
        (send, 1, CHUNK, vec![6], 23),
        // It is waited with the first.
        (recv, 1, 3 * CHUNK, vec![7, 1], 24),
        (works, 1, 0, vec![8], 24),
        (send, 1, 3 * CHUNK, vec![9], 24),
    ];
    assert_eq!(said(0), first);
    let chunks = [(recv, 2), (send, 1), (send, 1), (recv, 1), (send, 3), (recv, 3)];
    let second: Vec<_> = (0..6_u32)
        .zip(chunks)
        .map(|(i, (kind, n))| {
            (
                kind,
                0,
                n * CHUNK,
                i.checked_sub(1).into_iter().collect(),
                6 + u64::from(i),
            )
        })
        .collect();
    assert_eq!(said(1), second);
}

#[test]
fn algorithms_that_cannot_be_meant_are_refused_with_line_and_words() {
    let refused = |text: &str| read_bytes("x.xml", text).1.join(" | ");
    let step = r#"<step s="0" type="s" cnt="1" depid="-1" deps="-1"/>"#;
    let block = |attributes: &str, steps: &str| {
        refused(&format!(
            "<algo ngpus=\"2\">\n<gpu id=\"0\">\n<tb {attributes}>\n{steps}\n</tb>\n</gpu>\n<gpu id=\"1\"></gpu></algo>"
        ))
    };
    let steps = |steps: &str| block(r#"id="0" send="1" recv="-1" chan="0""#, steps);
    let two = format!(r#"{step}</tb><tb id="1" send="1" recv="-1" chan="0">"#);
    let cases: &[(String, &str)] = &[
        (
            refused("<algo>"),
            "x.xml, record 1: <algo> has no ngpus; give it the attribute ngpus",
        ),
        (
            refused("<algo ngpus=\"0\">"),
            "ngpus of <algo> is \"0\"; an algorithm has at least 1 GPU",
        ),
        (
            refused("<algo ngpus=\"x\">"),
            "ngpus of <algo> is \"x\"; it is a whole number",
        ),
        (
            refused("<algo ngpus=\"1\">\n\n"),
            "record 3: the file ends before the algorithm does",
        ),
        (refused("<algo ngpus=\"1\"></gpu>"), "this is no XML"),
        (refused("<algo ngpus=\"&x;\">"), "this is no XML"),
        (refused("<algo ngpus=\"1\" ngpus=\"1\">"), "this is no XML"),
        (
            refused("<algo ngpus=\"2\"><gpu id=\"0\"/></algo>"),
            "ngpus is 2, there are 1 GPUs",
        ),
        (
            refused("<algo ngpus=\"2\"><gpu id=\"0\"/>\n<gpu id=\"0\"/></algo>"),
            "record 2: there is a GPU 0, and none with the number 1",
        ),
        (
            refused("<algo ngpus=\"1\"><tb/></algo>"),
            "<tb> is not expected here; an algo has gpus",
        ),
        (
            refused("<algo ngpus=\"1\"><gpu id=\"0\"/></algo><algo/>"),
            "<algo> is not expected here",
        ),
        (
            refused("<algo ngpus=\"1\">text</algo>"),
            "there is text between elements",
        ),
        (
            block(r#"id="0" send="2" recv="-1" chan="0""#, ""),
            "record 3: send of <tb> is \"2\"; GPUs are 0 to 1, -1 is none",
        ),
        (
            block(r#"id="0" send="1" recv="-1""#, ""),
            "x.xml, rank 0, record 3: <tb> has no chan",
        ),
        (
            steps(&step.replace("\"s\"", "\"t\"")),
            "record 4: type of <step> is \"t\"; types are s, r, rrc, rcs",
        ),
        (
            steps(&step.replace("\"s\"", "\"r\"")),
            "type of <step> is \"r\"; give the thread block the attribute recv",
        ),
        (
            steps(&step.replace("s=\"0\"", "s=\"1\"")),
            "s of <step> is \"1\"; steps of a thread block are in order: this is 0",
        ),
        (
            steps(&step.replace("cnt=\"1\"", "cnt=\"0\"")),
            "cnt of <step> is \"0\"; a message has at least a chunk",
        ),
        (
            steps(&step.replace("cnt=\"1\"", "cnt=\"4294967297\"")),
            "cnt of <step> is",
        ),
        (
            steps(&step.replace("depid=\"-1\"", "depid=\"0\"")),
            "depid and deps are both -1, or none of them is",
        ),
        (
            steps(&step.replace("-1", "0")),
            "step 0 waits for step 0 of its own thread block 0; it would never start",
        ),
        (
            steps(&step.replace("-1", "1")),
            "rank 0, record 4: it waits for step 1 of thread block 1, which is not there",
        ),
        (
            steps(&two),
            "thread block 1 sends to GPU 1 over channel 0, as thread block 0 does",
        ),
        (
            steps(&two.replace("id=\"1\"", "id=\"0\"")),
            "give every thread block of a GPU a number of its own",
        ),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found:?} does not say {words:?}");
    }
    let many: String = (0..257)
        .map(|id| format!("<tb id=\"{id}\" send=\"-1\" recv=\"-1\" chan=\"0\"/>"))
        .collect();
    let found = refused(&format!("<algo ngpus=\"1\"><gpu id=\"0\">{many}</gpu></algo>"));
    assert!(found.contains("the GPU has more than 256 thread blocks"), "{found}");
}

#[test]
fn the_algorithm_in_the_shared_sample_is_the_one_that_its_nodes_write_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces");
    let name = "chakra/custom_ring_allreduce_8npus_1MB";
    let Ok(bytes) = std::fs::read(folder.join(name).join("custom_allreduce.0.et")) else {
        eprintln!("{} is not there: nothing is compared", folder.display());
        return;
    };
    let text = String::from_utf8_lossy(&bytes);
    let begin = text.find("<algo").unwrap();
    let end = text.find("</algo>").unwrap() + "</algo>".len();
    let (all, words) = read_bytes("x.xml", &text[begin..end]);
    assert_eq!(words, [""; 0]);
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let figures = &expected[name];
    let (mut summary, mut check) = (TraceSummary::default(), Check::default());
    all.tell(&mut (&mut summary, &mut check)).unwrap();
    let nodes = |kind: &str| figures["nodes"][kind].as_u64().unwrap();
    assert_eq!(u64::from(summary.ranks), figures["files"].as_u64().unwrap());
    assert_eq!(summary.operations["send"], nodes("SEND"));
    assert_eq!(summary.operations["recv"], nodes("RECV"));
    assert_eq!(summary.operations["compute"], nodes("COMP"));
    assert_eq!(summary.bytes_sent, figures["send_bytes"].as_u64().unwrap());
    assert_eq!(summary.dependencies, figures["dependencies"].as_u64().unwrap());
    assert_eq!(check.figures().problems, 0);
}

/// Types of steps: whether they receive, reduce or copy, and send.
const TYPES: [(&str, [bool; 3]); 9] = [
    ("s", [false, false, true]),
    ("r", [true, false, false]),
    ("rrc", [true, true, false]),
    ("rcs", [true, false, true]),
    ("rrcs", [true, true, true]),
    ("rrs", [true, true, true]),
    ("cpy", [false, true, false]),
    ("re", [false, true, false]),
    ("nop", [false, true, false]),
];

/// A step: its type, its chunks, and the thread block and step of the same GPU that it waits for.
type Step = (usize, u64, Option<(usize, usize)>);

/// Random algorithms: steps by GPU and thread block. Thread block `t` sends over channel `t` to the GPU that is `t + 1` further, in a ring.
fn algorithms() -> impl Strategy<Value = Vec<Vec<Vec<Step>>>> {
    let words = proptest::collection::vec(any::<u64>(), 0..7);
    let block = proptest::collection::vec(words, 1..4);
    proptest::collection::vec(block, 2..6).prop_map(|words| {
        let lengths: Vec<Vec<usize>> = words.iter().map(|gpu| gpu.iter().map(Vec::len).collect()).collect();
        let step = |gpu: usize, block: usize, word: u64| -> Step {
            let of = &lengths[gpu];
            let other = (word >> 16) as usize % of.len();
            let waits = (other != block && of[other] > 0 && word >> 24 & 1 == 1)
                .then(|| (other, (word >> 32) as usize % of[other]));
            (word as usize % TYPES.len(), 1 + (word >> 8) % 5, waits)
        };
        let blocks = |(gpu, blocks): (usize, &Vec<Vec<u64>>)| {
            let steps = |(block, words): (usize, &Vec<u64>)| words.iter().map(|word| step(gpu, block, *word)).collect();
            blocks.iter().enumerate().map(steps).collect()
        };
        words.iter().enumerate().map(blocks).collect()
    })
}

/// To whom a thread block sends and from whom it receives.
fn peers(gpu: usize, block: usize, gpus: usize) -> (usize, usize) {
    let far = 1 + block % (gpus - 1);
    ((gpu + far) % gpus, (gpu + gpus - far) % gpus)
}

fn xml(algorithm: &[Vec<Vec<Step>>]) -> String {
    let gpus = algorithm.len();
    let mut text =
        format!("<algo name=\"random\" proto=\"Simple\" nchannels=\"3\" ngpus=\"{gpus}\" coll=\"custom\">\n");
    for (gpu, blocks) in algorithm.iter().enumerate() {
        writeln!(text, "<gpu id=\"{gpu}\" i_chunks=\"4\" o_chunks=\"0\" s_chunks=\"0\">").unwrap();
        for (block, steps) in blocks.iter().enumerate() {
            let (to, from) = peers(gpu, block, gpus);
            writeln!(
                text,
                "<tb id=\"{block}\" send=\"{to}\" recv=\"{from}\" chan=\"{block}\">"
            )
            .unwrap();
            for (number, (kind, chunks, waits)) in steps.iter().enumerate() {
                let dep = |place: Option<usize>| place.map_or("-1".to_owned(), |place| place.to_string());
                let (block, step) = (dep(waits.map(|waits| waits.0)), dep(waits.map(|waits| waits.1)));
                let (kind, _) = TYPES[*kind];
                writeln!(
                    text,
                    "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"{chunks}\" \
                     depid=\"{block}\" deps=\"{step}\" hasdep=\"0\"/>"
                )
                .unwrap();
            }
            text += "</tb>\n";
        }
        text += "</gpu>\n";
    }
    text + "</algo>\n"
}

/// The operations of a GPU with what they come after, in the order of their numbers.
fn operations_of(gpu: usize, blocks: &[Vec<Step>], gpus: usize) -> Vec<(Operation, Vec<u32>)> {
    let mut all: Vec<(Operation, Vec<u32>)> = Vec::new();
    let mut ends: Vec<Vec<(usize, u32)>> = Vec::new();
    for (block, steps) in blocks.iter().enumerate() {
        let (to, from) = peers(gpu, block, gpus);
        let (mut before, mut of_block) = (None, Vec::new());
        for (kind, chunks, _) in steps {
            let message = |kind, peer: usize| Operation::message(kind, peer as u32, chunks * CHUNK, block as u32);
            let does = [
                message(Kind::Recv, from),
                Operation::compute(0),
                message(Kind::Send, to),
            ];
            let first = all.len();
            for (operation, _) in does.into_iter().zip(TYPES[*kind].1).filter(|(_, it_does)| *it_does) {
                let lane = block as u8;
                all.push((Operation { lane, ..operation }, Vec::from_iter(before)));
                before = Some(all.len() as u32 - 1);
            }
            of_block.push((first, all.len() as u32 - 1));
        }
        ends.push(of_block);
    }
    for (steps, of_block) in blocks.iter().zip(&ends) {
        for ((_, _, waits), (first, _)) in steps.iter().zip(of_block) {
            all[*first].1.extend(waits.map(|(block, step)| ends[block][step].1));
        }
    }
    all
}

proptest! {
    #[test]
    fn random_algorithms_are_read_back(algorithm in algorithms()) {
        let (all, words) = read_bytes("x.xml", &xml(&algorithm));
        prop_assert_eq!(words, [""; 0]);
        prop_assert_eq!(all.ranks.len(), algorithm.len());
        for (gpu, blocks) in algorithm.iter().enumerate() {
            let said: Vec<_> = all.ranks[gpu].iter().map(|one| (one.operation, one.after.clone())).collect();
            prop_assert_eq!(said, operations_of(gpu, blocks, algorithm.len()), "GPU {}", gpu);
        }
    }
}
