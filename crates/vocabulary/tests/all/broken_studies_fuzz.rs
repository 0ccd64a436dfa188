//! Mutation fuzzing of the study reader on stable Rust: no input may panic, every error must have a place and a reason,
//! and every study that loads must read back from its canonical text.
//!
//! Runs 2,000 inputs as a test. `FABRICSIM_FUZZ_SECONDS=60 cargo test -p fabricsim-vocabulary --test all broken_studies_fuzz::` runs that long,
//! `FABRICSIM_FUZZ_SEED` picks another sequence. A failure prints the input; the same seed finds it again.

use std::path::Path;
use std::time::{Duration, Instant};
use vocabulary::{LoadOptions, Severity, Study, load_study, render, runs_of_canonical};

/// SplitMix64 (Steele et al. 2014): small, seeded, the same everywhere.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Studies that load, to have something near the truth to mutate.
const GOOD: &[&str] = &[
    "name = \"a\"\n[topology]\nkind = \"torus\"\nshape = [4, 4]\nwidth = [1, 2]\n[link]\nbandwidth = \"25 GB/s\"\n[link.x]\nlatency = \"1 us\"\n",
    "[topology]\nkind = \"dragonfly\"\ngroups = 5\nrouters_per_group = [2, 2]\narrangement = \"random\"\nseed = 3\n[router]\npreset = \"merlin\"\n",
    "[topology]\nkind = \"fat-tree\"\ndown = [4, 4, 4]\ntaper = 2\n[[job]]\nname = \"j\"\nnodes = 16\nwork = { kind = \"pairs\", mode = \"batch\", batch = 3, pairs = [[0, 1]] }\n",
    "[topology]\nkind = \"ring\"\nrouters = 8\n[sweep]\n\"routing.kind\" = [\"dor\", \"valiant\"]\njob.0.work.load = [0.1, 0.2]\n[experiment.a]\nset = { router.vcs = 4 }\nsweep = { \"nic.packet\" = [\"1 KiB\"] }\n[experiment.b]\n[variant.quick]\nset = { \"run.end\" = \"1 us\" }\nexperiments = [\"a\"]\nsweep.a = { \"nic.packet\" = [\"2 KiB\"] }\n[run]\nseeds = [1, 2]\n",
    "[topology]\nkind = \"hyperx\"\nshape = [2, 3]\nnodes_per_router = 2\n[router]\nmodel = \"sculpin\"\n[[job]]\nwork = { kind = \"hot-spot\", load = 0.9, targets = 2 }\n[[claim]]\nid = \"c\"\n[reproduce]\nx = 1979-05-27\n[observe]\nmessages = \"full\"\n[run]\nwarmup = \"1 us\"\nend = \"2 us\"\n",
    "[topology]\nkind = \"ring\"\nrouters = 8\n[sample]\nmethod = \"sobol\"\npoints = 3\nseed = 2\n\"link.bandwidth\" = { from = \"1 GB/s\", to = \"64 GB/s\", scale = \"log\" }\nrouter.vcs = { from = 2, to = 4 }\njob.0.work.load = { from = 0.1, to = 0.9, step = 0.1 }\n\"routing.kind\" = { values = [\"dor\", \"valiant\"] }\n[variant.quick.sample]\npoints = 2\n",
];

/// Pieces that are put in somewhere.
const PIECES: &[&str] = &[
    "\n",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    ".",
    ",",
    "#",
    "-",
    "0",
    "1",
    "4294967296",
    "-9223372036854775808",
    "99999999999999999999",
    "1e308",
    "nan",
    "true",
    "\"auto\"",
    "\"0 B\"",
    "\"1 TiB\"",
    "\"18446744073709551615 ps\"",
    "\"25 GB/s\"",
    "\u{0}",
    "\u{7f}",
    "µ",
    "\u{10ffff}",
    "\r",
    "\t",
    "kind = \"torus\"",
    "[topology]",
    "[[job]]",
    "[sweep]",
    "[experiment.z]",
    "[variant.quick]",
    "work = ",
    "shape = [2, 2, 2, 2]",
    "load = 2",
    "router.vcs = [1, 2]",
    "job.0.work = [{}]",
    "run.seeds = [[1], [2]]",
    "x.y.z = 1",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "{a={a={a={a={a={a={a={a={a={a=",
];

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_studies");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let broken = files.iter().map(|path| std::fs::read(path).expect("readable"));
    // Sweeps near the limit are right but slow; one input must not take the time of a thousand.
    let broken = broken.filter(|bytes| bytes.len() < 1_500);
    GOOD.iter().map(|text| text.as_bytes().to_vec()).chain(broken).collect()
}

/// Up to seven random changes: bytes flipped, ranges removed or repeated, pieces put in, parts of another input spliced in.
fn mutate(corpus: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    // Good studies are few, but most paths lie behind them; few changes keep them near the truth.
    let among = if draws.below(2) == 0 { GOOD.len() } else { corpus.len() };
    let mut bytes = corpus[draws.below(among)].clone();
    let most = draws.below(8);
    for _ in 0..draws.below(most + 1) {
        let at = draws.below(bytes.len() + 1);
        let to = (at + draws.below(24)).min(bytes.len());
        match draws.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draws.below(8),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let repeated = bytes[at..to].to_vec();
                bytes.splice(at..at, repeated);
            }
            3 => {
                let other = &corpus[draws.below(corpus.len())];
                let from = draws.below(other.len() + 1);
                let until = (from + draws.below(120)).min(other.len());
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            _ => drop(bytes.splice(at..at, draws.pick(PIECES).bytes())),
        }
    }
    bytes
}

/// Options that sometimes fit the study.
fn options(draws: &mut Draws) -> LoadOptions {
    const SETS: &[&str] = &[
        "router.vcs=2",
        "run.seed=3",
        "run.seeds=[4, 5]",
        "topology.shape=[3, 3]",
        "topology.shape.0=9",
        "link.latency=5 ns",
        "job.0.work.load=0.1",
        "job.j.nodes=4",
        "router={ model = \"sculpin\" }",
        "=",
        "x",
        "a=b",
        "routing.kind.x=1",
        "job.7.work=1",
        "run.=1",
        "=1",
        "r=\"",
        "nic.packet=1\u{b5}",
    ];
    let mut options = LoadOptions::default();
    for _ in 0..draws.below(8).saturating_sub(5) {
        options.sets.push(draws.pick(SETS).to_owned());
    }
    if draws.below(8) == 0 {
        options.variant = Some(draws.pick(&["quick", "", "slow"]).to_owned());
    }
    if draws.below(6) == 0 {
        options.experiments.push(draws.pick(&["a", "b", "none"]).to_owned());
    }
    options
}

/// What must hold of any input; the error says what does not.
fn check(bytes: &[u8], options: &LoadOptions) -> Result<bool, String> {
    let base = Path::new("/nowhere");
    let again = || load_study(bytes, "fuzz.toml", base, options);
    match again() {
        Ok(Study {
            runs,
            canonical,
            warnings,
            ..
        }) => {
            if runs.is_empty() {
                return Err("a study without runs".to_owned());
            }
            if runs_of_canonical(&canonical).as_ref() != Ok(&runs) {
                return Err("the canonical text reads back otherwise".to_owned());
            }
            if warnings.iter().any(|warning| warning.severity != Severity::Warning) {
                return Err("an error among the warnings".to_owned());
            }
            if again().map(|study| study.canonical).ok().as_deref() != Some(&canonical) {
                return Err("the second time gives another canonical text".to_owned());
            }
            Ok(true)
        }
        Err(errors) => {
            let placed = |error: &vocabulary::Diagnostic| {
                error.line >= 1
                    && error.column >= 1
                    && error.width >= 1
                    && !error.reason.is_empty()
                    && !error.file.is_empty()
            };
            if !errors.iter().all(placed) {
                return Err(format!("an error without place or reason: {errors:?}"));
            }
            if !errors.iter().any(|error| error.severity == Severity::Error) {
                return Err("refused without an error".to_owned());
            }
            let lines = String::from_utf8_lossy(bytes).matches('\n').count() as u32 + 1;
            if errors
                .iter()
                .any(|error| error.file == "fuzz.toml" && error.line > lines)
            {
                return Err(format!("an error beyond the last line: {errors:?}"));
            }
            if render(&errors).chars().any(|c| c.is_control() && c != '\n') {
                return Err("control characters in the rendered errors".to_owned());
            }
            Ok(false)
        }
    }
}

#[test]
fn no_input_panics_and_every_error_has_a_place_and_a_reason() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = variable("FABRICSIM_FUZZ_SECONDS").map(Duration::from_secs);
    let mut draws = Draws(variable("FABRICSIM_FUZZ_SEED").unwrap_or(1));
    let corpus = corpus();
    let start = Instant::now();
    let (mut n_inputs, mut n_good) = (0u64, 0u64);
    while seconds.map_or(n_inputs < 2_000, |limit| start.elapsed() < limit) {
        let (bytes, options) = (mutate(&corpus, &mut draws), options(&mut draws));
        match std::panic::catch_unwind(|| check(&bytes, &options)) {
            Ok(Ok(good)) => n_good += u64::from(good),
            Ok(Err(reason)) => panic!("{reason}: {options:?}\n{:?}", String::from_utf8_lossy(&bytes)),
            Err(_) => panic!("panicked: {options:?}\n{:?}", String::from_utf8_lossy(&bytes)),
        }
        n_inputs += 1;
    }
    println!("{n_inputs} inputs, {n_good} of them good studies");
    assert!(n_good > 0, "no mutant loaded: the corpus is too far from good studies");
}

#[test]
fn depth_does_not_overflow_the_stack() {
    for n in [100, 10_000, 1_000_000] {
        let inputs = [
            format!("a{} = 1\n", ".a".repeat(n)),
            format!("[topology{}]\n", ".a".repeat(n)),
            format!("a = {}1{}\n", "[".repeat(n), "]".repeat(n)),
            format!("a = {}1{}\n", "{a=".repeat(n), "}".repeat(n)),
            format!("[reproduce]\na = {}\n", "[".repeat(n)),
            format!(
                "[reproduce]\na = {}",
                "{ a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = ".repeat(n)
            ),
            format!(
                "[topology]\nkind = \"torus\"\nshape = [4]\n[experiment.x.set]\nrouter{} = 1\n",
                ".a".repeat(n)
            ),
            format!(
                "[topology]\nkind = \"torus\"\nshape = [4]\n[sweep]\n\"router{}\" = [1]\n",
                ".a".repeat(n)
            ),
        ];
        for input in inputs {
            assert_eq!(
                check(input.as_bytes(), &LoadOptions::default()),
                Ok(false),
                "{n}: {}",
                &input[..20]
            );
        }
        let good = "[topology]\nkind = \"torus\"\nshape = [4]\n";
        let sets = vec![format!("router{}=1", ".a".repeat(n)), format!("nic={}", "[".repeat(n))];
        let options = LoadOptions {
            sets,
            ..LoadOptions::default()
        };
        assert_eq!(check(good.as_bytes(), &options), Ok(false), "{n}");
    }
}
