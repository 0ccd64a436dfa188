//! Programs' accesses from files: what a study says of them, what they take, every engine alike.

use fabric::spec::*;
use judge::run::{self, RunResult};
use std::fmt::Write as _;
use std::path::Path;
use tempfile::TempDir;
use vocabulary::{Diagnostic, LoadOptions, Study, load_study, render, run_hash};

/// A study of so many nodes whose memory nodes play what `work` says.
fn study(folder: &Path, nodes: u32, work: &str) -> Result<Study, Vec<Diagnostic>> {
    let text = format!(
        "[topology]\nkind = \"mesh\"\nshape = [{nodes}]\nnodes_per_router = 1\n[[job]]\nwork = {{ kind = \"memory\", pattern = \"trace\", memory = \"1 MiB\", {work} }}\n"
    );
    load_study(text.as_bytes(), "study.toml", folder, &LoadOptions::default())
}

fn spec(folder: &Path, nodes: u32, work: &str) -> RunSpec {
    let study = study(folder, nodes, work).unwrap_or_else(|found| panic!("{}", render(&found)));
    study.runs[0].clone()
}

fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// (accesses, writes) of all nodes.
fn counted(result: &RunResult) -> (u64, u64) {
    let rows = result.memory.iter();
    rows.fold((0, 0), |sum, row| (sum.0 + row.cores.done, sum.1 + row.cores.stores))
}

/// A program that reads, writes and does both, with some lines again and again and all others once.
fn program(accesses: u64) -> String {
    let mut text = String::from("==1== Lackey, an example Valgrind tool\n");
    for i in 0..accesses {
        for fetch in 0..i % 4 {
            let _ = writeln!(text, "I  {:08x},4", 0x0040_1000 + 4 * fetch);
        }
        let address = match i % 3 {
            0 => 0x1_ffef_f0f8 + 8 * (i % 7),
            _ => 0x0400_0000 + 40 * i,
        };
        let _ = writeln!(text, " {} {address:x},8", ["L", "L", "S", "M"][(i % 4) as usize]);
    }
    text + "==1== Exit code:       0\n"
}

/// The same by a plain count: (reads, writes) of lines.
fn lines(text: &str) -> (u64, u64) {
    let mut all = (0, 0);
    for line in text.lines().filter(|line| line.starts_with(' ')) {
        let (address, size) = line[3..].split_once(',').unwrap();
        let (address, size) = (u64::from_str_radix(address, 16).unwrap(), size.parse::<u64>().unwrap());
        let n = (address + size - 1) / 64 - address / 64 + 1;
        all.0 += if &line[1..2] == "S" { 0 } else { n };
        all.1 += if &line[1..2] == "L" { 0 } else { n };
    }
    all
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn every_engine_plays_the_same_and_all_of_it() {
    let text = program(1_000);
    let folder = folder(&[("a.lackey", text.as_bytes()), ("b.lackey", program(500).as_bytes())]);
    let ((loads, stores), small) = (lines(&text), lines(&program(500)));
    let all = (loads + stores, stores);
    let both = (2 * (all.0 + small.0 + small.1), 2 * (all.1 + small.1));
    let cases = [
        ("trace = \"a.lackey\"", all),
        (
            "trace = \"a.lackey\", split = \"blocks\", addresses = \"interleaved\"",
            all,
        ),
        (
            "trace = \"a.lackey\", split = \"one-core\", pages = \"interleaved\", instructions = \"ignored\"",
            all,
        ),
        (
            "trace = [\"a.lackey\", \"b.lackey\"], processes = 4, chunk = 10, cores = 2",
            both,
        ),
    ];
    for (work, expected) in cases {
        let mut digests = Vec::new();
        let engines = [
            (Engine::Sequential, 1),
            (Engine::Reference, 1),
            (Engine::RollbackCheck, 1),
            (Engine::Conservative, 3),
            (Engine::Optimistic, 2),
        ];
        for (engine, workers) in engines {
            let mut spec = spec(folder.path(), 4, work);
            spec.control.engine = engine;
            spec.control.workers = workers;
            let result = go(&spec);
            assert_eq!(counted(&result), expected, "{work} {engine:?}");
            digests.push(result.summary.digest);
        }
        digests.dedup();
        assert_eq!(digests.len(), 1, "{work}");
    }
}

#[test]
fn instructions_take_their_time() {
    // Twice the same line, 1,000 instructions before the first access and 500 before the second: what is there takes 1 ns.
    let text = format!(
        "{} L 1000,8\n{} L 1008,8\n",
        "I  400,1\n".repeat(1_000),
        "I  400,1\n".repeat(500)
    );
    let folder = folder(&[("t", text.as_bytes())]);
    let finished = |keys: &str| {
        let work = format!("trace = \"t\", split = \"one-core\", {keys}");
        let result = go(&spec(folder.path(), 2, &work));
        result.memory.iter().map(|row| row.cores.finished).max().unwrap()
    };
    // The 1,500th instruction begins after 1,499 of 2 ns.
    assert_eq!(finished("issue = \"2 ns\""), 1_499 * 2_000 + 1_000);
    assert_eq!(
        finished("issue = \"2 ns\", accesses = 1, cores = 1"),
        finished("issue = \"2 ns\", accesses = 1")
    );
    let first = finished("issue = \"2 ns\", accesses = 1, cores = 1");
    let alone = finished("instructions = \"ignored\", accesses = 1, cores = 1");
    assert_eq!(first, 999 * 2_000 + alone);
}

#[test]
fn a_run_is_named_by_what_a_trace_says() {
    let text = program(100);
    let packed = {
        use flate2::{Compression, write::GzEncoder};
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        std::io::Write::write_all(&mut packer, text.as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let longer = program(101);
    let folder = folder(&[("a", text.as_bytes()), ("b.gz", &packed), ("c", longer.as_bytes())]);
    let name = |file: &str, keys: &str| run_hash(&spec(folder.path(), 2, &format!("trace = \"{file}\"{keys}")));
    assert_eq!(name("a", ""), name("b.gz", ""));
    assert_ne!(name("a", ""), name("c", ""));
    // What is not used makes no difference.
    assert_eq!(name("a", ", accesses = 5"), name("c", ", accesses = 5"));
    let spec = spec(folder.path(), 2, "trace = \"a\"");
    std::fs::write(folder.path().join("a"), longer).unwrap();
    let error = run::run(&spec, &mut |_| true).err().map(|error| error.to_string());
    assert!(
        error
            .as_ref()
            .is_some_and(|error| error.contains("it is not what it was")),
        "{error:?}"
    );
}

#[test]
fn what_is_wrong_with_a_trace_is_told_with_its_line() {
    let whole = program(10);
    let cut = &whole[..whole.len() - 45];
    let small = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../work/tests/traces/small.lackey.gz"
    ))
    .unwrap();
    let mixed = "==1== Lackey, an example Valgrind tool\n L 1000,8\nhello, world\n";
    let folder = folder(&[
        ("whole", whole.as_bytes()),
        ("cut", cut.as_bytes()),
        ("cut.gz", &small[..small.len() - 9]),
        ("mixed", mixed.as_bytes()),
        ("empty", b""),
    ]);
    let cases = [
        ("trace = \"cut\"", "trace", "cut, line 23: ", "accesses"),
        (
            "trace = \"cut.gz\"",
            "trace",
            "cut.gz, after line",
            "valgrind --tool=lackey",
        ),
        (
            "trace = \"mixed\"",
            "trace",
            "mixed, line 3: \"hello, world\" is not lackey's",
            "--log-file",
        ),
        (
            "trace = [\"whole\", \"empty\"]",
            "trace",
            "empty: there is no access",
            "valgrind --tool=lackey",
        ),
        (
            "trace = \"nowhere\"",
            "trace",
            "cannot read \"nowhere\"",
            "study's folder",
        ),
        ("trace = []", "trace", "there is no trace", "valgrind --tool=lackey"),
        (
            "split = \"blocks\"",
            "trace",
            "there is no trace",
            "valgrind --tool=lackey",
        ),
        (
            "trace = \"whole\", processes = 9",
            "processes",
            "9 processes do not fit, there are 8 cores",
            "fewer",
        ),
        (
            "trace = \"whole\", page = \"100 B\"",
            "page",
            "no whole number of lines",
            "multiple",
        ),
        (
            "trace = \"whole\", page = \"1 MiB\", processes = 2",
            "memory",
            "more than the 2 pages",
            "more memory",
        ),
        (
            "trace = \"whole\", chunk = 3, split = \"blocks\"",
            "chunk",
            "has no meaning",
            "round-robin",
        ),
        (
            "trace = \"whole\", pages = \"packed\", addresses = \"interleaved\"",
            "pages",
            "has no meaning",
            "blocks",
        ),
        ("trace = \"whole\", stores = 3", "stores", "has no meaning", "random"),
    ];
    for (work, key, reason, hint) in cases {
        let found = study(folder.path(), 2, work)
            .err()
            .unwrap_or_else(|| panic!("{work} is fine"));
        assert_eq!(found.len(), 1, "{work}: {}", render(&found));
        let found = &found[0];
        assert_eq!(found.key, format!("job[0].work.{key}"), "{work}");
        assert_eq!(found.line, 6, "{work}");
        assert!(
            found.reason.contains(reason) && found.hint.contains(hint),
            "{work}: {found:?}"
        );
    }
    // The beginning of what is cut can be used.
    assert_eq!(
        counted(&go(&spec(folder.path(), 2, "trace = \"cut\", accesses = 1"))).0,
        8
    );
}
