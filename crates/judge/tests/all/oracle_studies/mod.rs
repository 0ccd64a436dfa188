//! Random studies of listed messages, small and at the edges of fields, as text that a user could have written.

pub mod against;

use des::mix;
use fabric::spec::RunSpec;
use std::fmt::Write as _;
use std::path::Path;
use vocabulary::{LoadOptions, load_study, render};

/// A study as it is drawn, and made smaller when it differs: keys with their values, and messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// `[topology]`, which does not get smaller.
    pub topology: &'static str,
    /// Key paths outside of it with their values; without a key its default holds.
    pub keys: Vec<(&'static str, String)>,
    /// Time (ps), source, destination, bytes.
    pub messages: Vec<(u64, u32, u32, u64)>,
}

/// Numbers from a seed, one after the other.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0) % n
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Networks with the number of their nodes and routings whose ways do not depend on when a packet gets where: one for each pair of nodes,
/// or another for each packet.
const TOPOLOGIES: &[(&str, u32, &[&str])] = &[
    ("kind = \"single-router\"\nnodes = 2", 2, &["minimal"]),
    ("kind = \"single-router\"\nnodes = 7", 7, &["minimal"]),
    ("kind = \"ring\"\nrouters = 5", 5, &["dor", "minimal"]),
    (
        "kind = \"ring\"\nrouters = 3\nnodes_per_router = 3\nwidth = 2",
        9,
        &["dor", "minhop"],
    ),
    (
        "kind = \"mesh\"\nshape = [3, 2]\nnodes_per_router = 2",
        12,
        &["dor", "updn", "dfsssp", "valiant"],
    ),
    (
        "kind = \"mesh\"\nshape = [2, 2, 2]\nwidth = [1, 2, 3]",
        8,
        &["dor", "sssp"],
    ),
    (
        "kind = \"torus\"\nshape = [4, 3]",
        12,
        &["dor", "dfsssp", "lash", "valiant"],
    ),
    (
        "kind = \"torus\"\nshape = [5, 5]\nnodes_per_router = 2",
        50,
        &["dor", "valiant"],
    ),
    (
        "kind = \"hyperx\"\nshape = [3, 3]\nnodes_per_router = 2",
        18,
        &["dor", "minhop", "nue", "valiant"],
    ),
    ("kind = \"fat-tree\"\ndown = [3, 2]\nup = [2]", 6, &["d-mod-k", "ftree"]),
    (
        "kind = \"fat-tree\"\ndown = [2, 2, 3]\nup = [2, 2]",
        12,
        &["d-mod-k", "updn"],
    ),
    (
        "kind = \"dragonfly\"\ngroups = 5\nrouters_per_group = [2]\nnodes_per_router = 2\nlinks_per_pair = 2",
        20,
        &["minimal", "dfsssp", "valiant"],
    ),
    (
        "kind = \"dragonfly+\"\ngroups = 3\nleaves = 2\nspines = 3\nnodes_per_leaf = 2",
        12,
        &["minimal", "sssp"],
    ),
];

const TIMES: &[&str] = &["1 ps", "7 ps", "1 ns", "20 ns", "100 ns", "3.333 us"];
const RATES: &[&str] = &["8 Tbit/s", "25 GB/s", "100 Gbit/s", "12.345678901 Gbit/s", "3 Gbit/s"];

impl Case {
    /// The case of a number.
    pub fn drawn(number: u64) -> Case {
        let mut draw = Draw(mix(number));
        let (topology, n_nodes, routings) = draw.of(TOPOLOGIES);
        let mut keys = Vec::new();
        let mut set = |key, value: String| keys.push((key, value));
        let quoted = |text: &str| format!("\"{text}\"");
        set("routing.kind", quoted(draw.of(routings)));
        let model = draw.of(&["sculpin", "credit", "credit"]);
        set("router.model", quoted(model));
        set("link.latency", quoted(draw.of(TIMES)));
        set("link.bandwidth", quoted(draw.of(RATES)));
        set("router.traversal", quoted(draw.of(&["0 ps", "1 ps", "50 ns"])));
        // A third of the studies has links of several speeds.
        if draw.below(3) == 0 {
            set("link.host.bandwidth", quoted(draw.of(RATES)));
            set("link.host.latency", quoted(draw.of(TIMES)));
        }
        if draw.below(3) == 0 {
            set("nic.bandwidth", quoted(draw.of(RATES)));
        }
        let packet = draw.of(&[1u64, 7, 64, 1_000, 2_048, 4_097, 65_536]);
        set("nic.packet", format!("\"{packet} B\""));
        if draw.below(3) == 0 {
            set("nic.overhead", quoted(draw.of(&["1 ps", "333 ns"])));
        }
        if draw.below(3) == 0 {
            set("nic.packet_overhead", quoted(draw.of(&["1 ps", "15 ns"])));
        }
        if draw.below(4) == 0 {
            set("nic.idle_delay_per_byte", quoted("3 ps/B"));
        }
        if draw.below(4) == 0 {
            set("router.switching", quoted("store-and-forward"));
        }
        if draw.below(4) == 0 {
            set("router.delivery", quoted("head"));
        }
        if model == "credit" {
            let rooms = [packet, packet + 1, 2 * packet, 3 * packet + packet / 2];
            match draw.below(5) {
                0 => set("router.buffer", quoted("unlimited")),
                _ => set("router.buffer", format!("\"{} B\"", draw.of(&rooms))),
            }
            if draw.below(3) == 0 {
                set("nic.buffer", format!("\"{} B\"", draw.of(&rooms)));
            }
            set("router.arbitration", quoted(draw.of(&["round-robin", "fcfs"])));
            if draw.below(3) == 0 {
                set("router.credit_delay", quoted(draw.of(&["1 ps", "30 ns"])));
            }
            if draw.below(3) == 0 {
                set("router.credit_uses_link", "false".into());
            }
        }
        set("run.seed", draw.below(1 << 40).to_string());
        set(
            "run.engine",
            quoted(draw.of(&[
                "sequential",
                "reference",
                "conservative",
                "optimistic",
                "rollback-check",
            ])),
        );
        set("run.workers", (1 + draw.below(3)).to_string());
        // Times fall together, or lie close to the time of a packet, or anywhere; also late in simulated time.
        let grid = draw.of(&[1u64, 1_000, 81_920, 1_000_000]);
        let spread = 1 + draw.below(40);
        let offset = if draw.below(8) == 0 { 1 << 47 } else { 0 };
        let few = draw.below(3) == 0;
        let sizes = [
            1,
            packet.max(2) - 1,
            packet,
            packet + 1,
            2 * packet,
            3 * packet + packet.div_ceil(2),
        ];
        let n = 2 + draw.below(80);
        let messages = (0..n).map(|_| {
            let from = draw.below(n_nodes.into()) as u32;
            let to = match few {
                true => (from.max(1) - 1) / 2,
                false => (from + 1 + draw.below(u64::from(n_nodes) - 1) as u32) % n_nodes,
            };
            let to = if to == from { (from + 1) % n_nodes } else { to };
            (offset + draw.below(spread) * grid, from, to, draw.of(&sizes))
        });
        let mut messages: Vec<_> = messages.collect();
        messages.sort_by_key(|&(time, from, ..)| (time, from));
        Case {
            topology,
            keys,
            messages,
        }
    }

    /// Whether all packets of a pair of nodes take one way: there are no cables side by side, and no random routers to lead over.
    pub fn has_one_way(&self) -> bool {
        let many = ["width", "links_per_pair", "spines"];
        let valiant = |(key, value): &(&str, String)| *key == "routing.kind" && value.contains("valiant");
        !many.iter().any(|word| self.topology.contains(word)) && !self.keys.iter().any(valiant)
    }

    /// The study as a file, its messages in `messages.csv` beside it.
    pub fn study(&self) -> String {
        let mut text = format!("[topology]\n{}\n", self.topology);
        for section in ["link", "link.host", "router", "routing", "nic"] {
            writeln!(text, "[{section}]").unwrap();
            let own = self.keys.iter().filter_map(|(path, value)| {
                let (of, key) = path.rsplit_once('.')?;
                (of == section).then_some((key, value))
            });
            own.for_each(|(key, value)| writeln!(text, "{key} = {value}").unwrap());
        }
        text.push_str("[[job]]\nwork = { kind = \"messages\", file = \"messages.csv\" }\n[observe]\nlinks = false\nmessages = true\n[run]\n");
        let run = self
            .keys
            .iter()
            .filter_map(|(path, value)| Some((path.strip_prefix("run.")?, value)));
        run.for_each(|(key, value)| writeln!(text, "{key} = {value}").unwrap());
        text
    }

    /// Its messages as a file.
    pub fn table(&self) -> String {
        let mut text = "time_ps,source,destination,bytes\n".to_owned();
        for (time, from, to, bytes) in &self.messages {
            writeln!(text, "{time},{from},{to},{bytes}").unwrap();
        }
        text
    }

    /// The run, read as a user's study is.
    pub fn spec(&self) -> Result<RunSpec, String> {
        let table = self.table().replace('\n', "\\n");
        let text = self
            .study()
            .replace("file = \"messages.csv\"", &format!("table = \"{table}\""));
        let study = load_study(text.as_bytes(), "study.toml", Path::new("."), &LoadOptions::default());
        study
            .map(|mut study| study.runs.remove(0))
            .map_err(|findings| render(&findings))
    }

    /// The smallest case found by leaving out messages and keys that still is as `is_bad` says.
    pub fn shrunk(mut self, is_bad: impl Fn(&Case) -> bool) -> Case {
        loop {
            let before = self.clone();
            let mut size = self.messages.len().div_ceil(2);
            while size > 0 {
                let mut at = 0;
                while at < self.messages.len() && self.messages.len() > 1 {
                    let mut less = self.clone();
                    less.messages.drain(at..(at + size).min(less.messages.len()));
                    match !less.messages.is_empty() && is_bad(&less) {
                        true => self = less,
                        false => at += size,
                    }
                }
                size /= 2;
            }
            for key in (0..self.keys.len()).rev() {
                let mut less = self.clone();
                less.keys.remove(key);
                if is_bad(&less) {
                    self = less;
                }
            }
            if self == before {
                return self;
            }
        }
    }
}
