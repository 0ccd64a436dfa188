//! The LogGOPS model of parallel computation (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010), as values of a study: patterns of messages
//! take the times of its formulas, to the picosecond.

use crate::played_graphs::{self, Operation, go, recv, send};
use des::Time;
use fabric::spec::*;
use topo::{SingleRouterSpec, TopologySpec};

/// The parameters of the model, in ps and bytes.
#[derive(Clone, Copy, Debug)]
#[allow(non_snake_case)]
struct LogGops {
    /// Latency.
    L: u64,
    /// Overhead of a message at either end.
    o: u64,
    /// Gap between messages.
    g: u64,
    /// Gap per byte.
    G: u64,
    /// Overhead per byte.
    O: u64,
    /// Largest message that is sent without asking.
    S: u64,
}

/// LogGOPSim's own.
const USUAL: LogGops = LogGops {
    L: 2_500_000,
    o: 1_500_000,
    g: 1_000_000,
    G: 6_000,
    O: 0,
    S: 65_535,
};

impl LogGops {
    /// The run that obeys it: one router, as docs/how-to/loggops.md says.
    fn spec(self, ranks: u32, operations: &[Operation]) -> RunSpec {
        let LogGops { L, o, g, G, O, S } = self;
        let mut spec = played_graphs::spec(
            TopologySpec::SingleRouter(SingleRouterSpec { nodes: ranks }),
            1,
            ranks,
            operations,
        );
        spec.router.model = RouterKind::SCULPIN;
        // A message of s bytes takes s G on a link, the model's (s - 1) G.
        spec.links.default.bandwidth = BitsPerSec(8_000_000_000_000_u64.div_ceil(G));
        spec.links.default.latency = Time((L - G) / 2);
        spec.router.traversal = Time(L - G - 2 * ((L - G) / 2));
        spec.nic.packet = Bytes(65_536);
        spec.nic.gap = Time(g - G);
        let mpi = &mut played_graphs::ranks(&mut spec).mpi;
        (mpi.send_overhead, mpi.receive_overhead) = (Time(o - O), Time(o - O));
        mpi.copy = (O > 0).then(|| BitsPerSec(8_000_000_000_000 / O));
        mpi.eager = Bytes(S);
        spec
    }

    /// Overhead of a message of `s` bytes, the least time between the starts of two, and how long one is on its way.
    fn of(self, s: u64) -> (u64, u64, u64) {
        let (o, gap) = (self.o + (s - 1) * self.O, self.g + (s - 1) * self.G);
        (o, gap, self.L + (s - 1) * self.G)
    }

    fn ends(self, ranks: u32, operations: &[Operation]) -> Vec<u64> {
        let rows = go(&self.spec(ranks, operations)).ranks;
        rows.iter().map(|row| row.finished).collect()
    }
}

/// Parameters with one or the other of overhead and gap in charge, with and without overhead per byte.
fn parameters() -> [LogGops; 4] {
    let slow = LogGops {
        g: 3 * USUAL.o,
        ..USUAL
    };
    [
        USUAL,
        slow,
        LogGops { O: 2_000, ..USUAL },
        LogGops {
            L: 1_234_567,
            o: 345_678,
            G: 250,
            g: 1_111_111,
            O: 125,
            S: 1 << 20,
        },
    ]
}

/// The children of a rank in a binomial tree of `ranks`, in the order in which it sends to them, and its parent.
fn binomial(rank: u32, ranks: u32) -> (Vec<u32>, Option<u32>) {
    let first = rank.checked_ilog2().map_or(0, |high| high + 1);
    let children = (first..31)
        .map(|bit| rank + (1 << bit))
        .take_while(|&child| child < ranks);
    (children.collect(), rank.checked_ilog2().map(|high| rank - (1 << high)))
}

fn broadcast(ranks: u32, bytes: u64) -> Vec<Operation> {
    let mut operations = Vec::new();
    for rank in 0..ranks {
        let (children, parent) = binomial(rank, ranks);
        let before = Vec::from_iter(parent.map(|_| 0));
        operations.extend(parent.map(|parent| (rank, 0, recv(parent, bytes, 0), vec![], vec![])));
        let sends = children.into_iter().map(|child| send(child, bytes, 0));
        operations.extend(sends.map(|send| (rank, 0, send, before.clone(), vec![])));
    }
    operations
}

#[test]
fn a_binary_tree_of_32_ends_where_loggopsim_says() {
    // LogGOPSim 76451de, with its own parameters, says 27,500 ns for the last rank of its example: five times o + L + o.
    let ends = USUAL.ends(32, &broadcast(32, 1));
    assert_eq!(ends[31], 27_500_000);
    assert_eq!(ends.iter().max(), Some(&27_500_000));
}

/// The study of docs/how-to/loggops.md for a graph in a file.
fn study(file: &str) -> String {
    format!(
        r#"
            topology = {{ kind = "single-router", nodes = 32 }}
            router = {{ model = "sculpin", traversal = "0 ns" }}
            link = {{ bandwidth = "1333333334 bit/s", latency = "1247 ns" }}
            nic = {{ packet = "64 KiB", gap = "994 ns" }}
            mpi = {{ send_overhead = "1500 ns", receive_overhead = "1500 ns", copy = "free", eager = "65535 B" }}
            job = [{{ work = {{ kind = "trace", file = "{file}" }} }}]
        "#
    )
}

/// A study with the preset and these keys of it.
fn of_preset(keys: &str, file: &str, base: &std::path::Path) -> Result<RunSpec, String> {
    let text = format!(
        r#"
            topology = {{ kind = "single-router", nodes = 32 }}
            router = {{ preset = "loggops"{keys} }}
            job = [{{ work = {file} }}]
        "#
    );
    let read = vocabulary::load_study(text.as_bytes(), "s.toml", base, &vocabulary::LoadOptions::default());
    read.map(|mut study| study.runs.remove(0))
        .map_err(|findings| vocabulary::render(&findings))
}

#[test]
fn the_preset_is_the_model() {
    let ring = r#"{ kind = "ring" }"#;
    let here = std::path::Path::new(".");
    let mut said: Vec<(String, LogGops)> = parameters()
        .map(|model| {
            let LogGops { L, o, g, G, O, S } = model;
            let keys =
                format!(r#", L = "{L} ps", o = "{o} ps", g = "{g} ps", G = "{G} ps/B", O = "{O} ps/B", S = "{S} B""#);
            (keys, model)
        })
        .into();
    // What is left out is LogGOPSim's.
    said.push((String::new(), USUAL));
    said.push((r#", g = "4.5 us""#.to_owned(), LogGops { g: 4_500_000, ..USUAL }));
    for (keys, model) in said {
        let mut found = of_preset(&keys, ring, here).unwrap_or_else(|told| panic!("{told}"));
        let mut expected = model.spec(32, &[]);
        assert_eq!(found.router.preset.take().as_deref(), Some("loggops"));
        assert_eq!(found.links, expected.links, "{keys}");
        assert_eq!(
            (found.router.model, found.router.traversal),
            (expected.router.model, expected.router.traversal),
            "{keys}"
        );
        assert_eq!(
            (found.nic.packet, found.nic.gap),
            (expected.nic.packet, expected.nic.gap),
            "{keys}"
        );
        assert_eq!(
            played_graphs::ranks(&mut found).mpi,
            played_graphs::ranks(&mut expected).mpi,
            "{keys}"
        );
    }
    for (keys, told) in [
        (r#", L = "5 ns""#, "router.L: is shorter than what one byte takes, G"),
        (r#", g = "5 ns""#, "router.g: is shorter than what one byte takes, G"),
        (
            r#", o = "1 ns", O = "1001 ps/B""#,
            "router.o: is shorter than what one byte takes, O",
        ),
        (r#", G = "0 ns/B""#, "router.G: \"0 ns/B\" is zero"),
        (r#", l = "5 ns""#, "router.l: unknown key"),
    ] {
        let found = of_preset(keys, ring, here).unwrap_err();
        assert!(found.contains(told), "{found}");
    }
}

#[test]
fn a_graph_of_a_file_is_played_as_the_same_operations_are() {
    // The tree as GOAL, which LogGOPSim is given; its sample lies beside the project, ours is written here.
    let mut text = String::from("num_ranks 32\n");
    for rank in 0..32 {
        let (children, parent) = binomial(rank, 32);
        text += &format!("rank {rank} {{\n");
        text += &parent.map_or(String::new(), |parent| format!("l0: recv 1b from {parent} tag 0\n"));
        for child in children {
            text += &format!("l{child}: send 1b to {child} tag 0\n");
            text += &parent.map_or(String::new(), |_| format!("l{child} requires l0\n"));
        }
        text += "}\n";
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tree.goal"), text).unwrap();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces/goal");
    let mut files = vec![(folder.path().to_owned(), "tree.goal")];
    match samples.is_dir() {
        true => files.extend(["binary_tree_32.goal", "binary_tree_32.bin"].map(|name| (samples.clone(), name))),
        false => println!("the samples are not beside the project: only the tree of our own is played"),
    }
    for (folder, name) in files {
        let work = format!(r#"{{ kind = "trace", file = "{name}" }}"#);
        let preset = of_preset("", &work, &folder).unwrap_or_else(|told| panic!("{told}"));
        assert_eq!(go(&preset).ranks[31].finished, 27_500_000, "{name}");
        let read = vocabulary::load_study(
            study(name).as_bytes(),
            "s.toml",
            &folder,
            &vocabulary::LoadOptions::default(),
        );
        let read = read.unwrap_or_else(|findings| panic!("{}", vocabulary::render(&findings)));
        let rows = go(&read.runs[0]).ranks;
        let ends: Vec<u64> = rows.iter().map(|row| row.finished).collect();
        assert_eq!(ends, USUAL.ends(32, &broadcast(32, 1)), "{name}");
        assert_eq!(ends[31], 27_500_000);
    }
}

#[test]
fn a_broadcast_takes_the_time_of_its_formula() {
    // Child i of a rank has the message when the rank has it, and has sent i others, each a gap or an overhead after the one before it:
    // T(child i) = T(parent) + o + i max(o, g + (s - 1) G) + L + (s - 1) G + o, with o + (s - 1) O for every o.
    for model in parameters() {
        for bytes in [1, 2, 1_000, 65_000] {
            let (o, gap, way) = model.of(bytes);
            let ranks = 512;
            let mut has = vec![0; ranks as usize];
            let mut ends = vec![0; ranks as usize];
            for rank in 0..ranks {
                let (children, _) = binomial(rank, ranks);
                let own = has[rank as usize];
                // It is done when its last send is handed over.
                ends[rank as usize] = own + children.len() as u64 * o;
                for (i, child) in (0..).zip(children) {
                    has[child as usize] = own + o + i * o.max(gap) + way + o;
                }
            }
            assert_eq!(
                model.ends(ranks, &broadcast(ranks, bytes)),
                ends,
                "{model:?}, {bytes} B"
            );
        }
    }
}

#[test]
fn a_ring_takes_the_time_of_its_formula() {
    // Each of n ranks hands the token on when it has it: n (o + L + (s - 1) G + o).
    for model in parameters() {
        for bytes in [1, 4_096, 65_535] {
            let ranks = 512u32;
            let mut operations = Vec::new();
            for rank in 0..ranks {
                let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
                let (send, recv) = (send(next, bytes, 0), recv(before, bytes, 0));
                let (first, second) = if rank == 0 { (send, recv) } else { (recv, send) };
                operations.push((rank, 0, first, vec![], vec![]));
                operations.push((rank, 0, second, vec![0], vec![]));
            }
            let (o, _, way) = model.of(bytes);
            let end = model.ends(ranks, &operations)[0];
            assert_eq!(end, u64::from(ranks) * (2 * o + way), "{model:?}, {bytes} B");
        }
    }
}

/// Rank r sends to r + 1, r + 2, ..., all of it ready from the start.
fn all_to_all(ranks: u32, bytes: u64) -> Vec<Operation> {
    let mut operations = Vec::new();
    for rank in 0..ranks {
        for distance in 1..ranks {
            let to = (rank + distance) % ranks;
            operations.push((rank, 0, send(to, bytes, 0), vec![], vec![]));
        }
        for distance in 1..ranks {
            let from = (rank + ranks - distance) % ranks;
            operations.push((rank, 0, recv(from, bytes, 0), vec![], vec![]));
        }
    }
    operations
}

#[test]
fn an_all_to_all_takes_the_time_of_its_formula() {
    for (model, ranks, bytes) in [
        (USUAL, 512, 1),
        (USUAL, 64, 80),
        (parameters()[1], 128, 1),
        (parameters()[2], 64, 80),
    ] {
        let (o, gap, way) = model.of(bytes);
        let sends = u64::from(ranks) - 1;
        // Sends were ready first, so every processor sends all it has before it handles what has come.
        let end = match gap <= o {
            // Then it never waits: o for each send, o for each message, if the first has come by then and the last in time for its turn.
            true => {
                assert!(way <= (sends - 1) * o);
                2 * sends * o
            }
            // The interface sends one a gap; with a gap of two overheads or more the processor has handled all when the last comes.
            false => {
                assert!(gap >= 2 * o);
                o + (sends - 1) * gap + way + o
            }
        };
        let ends = model.ends(ranks, &all_to_all(ranks, bytes));
        assert!(
            ends.iter().all(|&found| found == end),
            "{model:?}: {} for {end}",
            ends[0]
        );
    }
}
