//! What studies mean, to the byte: the canonical texts of the packaged studies and of generated ones, by their hash, and of studies that
//! are refused what they are told.
//!
//! Generated studies come from the registry: for every key and every word one study that gives it, and 500 that give many together. A
//! draw belongs to the number of the study and the name of what is drawn, so a new key or entry changes the few studies that have it.
//!
//! `FABRICSIM_BLESS=1 cargo test -p fabricsim-vocabulary --test all golden_texts::` writes the lines anew: name, runs, hash of the canonical text,
//! hash of what else is told (warnings, sample, claims). A change there is a change of what users' studies mean, or of their messages.
//! `FABRICSIM_SHOW_REFUSED=1` prints the studies that are refused, with `--nocapture`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use study::units::Unit;
use study::{Entry, Family, Parameter, Type};
use vocabulary::registry;
use vocabulary::{LoadOptions, hash, load_study, render};

/// Files that studies name, with a path that is the same everywhere: canonical texts hold it.
const BASE: &str = "tests/golden_texts";

/// Number of studies with many keys.
const N_MIXED: u64 = 500;

/// A study to be, as tables of keys with their values.
#[derive(Clone, Default)]
struct Draft {
    tables: Vec<(String, Vec<(String, String)>)>,
    /// Whole tables at the end.
    tail: String,
    /// What the registry has and this study gives: keys such as `router.buffer`, and with `=` their words.
    given: BTreeSet<String>,
    /// The key that differs, and in which surroundings: such studies differ in what they mean. Empty where nothing is compared.
    among: String,
}

impl Draft {
    fn table(&mut self, name: &str) -> &mut Vec<(String, String)> {
        let place = self.tables.iter().position(|(own, _)| own == name);
        let place = place.unwrap_or_else(|| {
            self.tables.push((name.to_owned(), Vec::new()));
            self.tables.len() - 1
        });
        &mut self.tables[place].1
    }

    fn set(&mut self, table: &str, key: &str, value: &str) {
        let keys = self.table(table);
        match keys.iter_mut().find(|(own, _)| own == key) {
            Some((_, old)) => *old = value.to_owned(),
            None => keys.push((key.to_owned(), value.to_owned())),
        }
    }

    fn get(&self, table: &str, key: &str) -> Option<&str> {
        let (_, keys) = self.tables.iter().find(|(own, _)| own == table)?;
        let (_, value) = keys.iter().find(|(own, _)| own == key)?;
        Some(value.trim_matches('"'))
    }

    /// The same, or the registry's default.
    fn value<'a>(&'a self, table: &str, key: &str, parameters: &[&'static Parameter]) -> &'a str {
        let default = parameters.iter().find(|parameter| parameter.key == key);
        self.get(table, key)
            .unwrap_or(match default.map(|parameter| parameter.default) {
                Some(study::Default::Text(text)) => text,
                _ => "",
            })
    }

    /// Gives the key of an owner (`router`, `topology.torus`, `work.halo3d`, ...) a value.
    fn give(&mut self, table: &str, owner: &str, key: &str, value: &str) {
        self.set(table, key, value);
        self.given.insert(format!("{owner}.{key}"));
        self.given.insert(format!("{owner}.{key}={value}"));
    }

    /// The study as a file. `work` and `placement` are tables of the job.
    fn text(&self) -> String {
        let mut text = String::new();
        let inline = |name: &str| {
            let (_, keys) = self.tables.iter().find(|(own, _)| own == name)?;
            let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            Some(format!("{{ {} }}", keys.join(", ")))
        };
        let of_job = ["job", "work", "placement"];
        for (name, keys) in &self.tables {
            if of_job.contains(&name.as_str()) {
                continue;
            }
            let (open, close) = if name == "outage" { ("[[", "]]") } else { ("[", "]") };
            writeln!(text, "{open}{name}{close}").expect("texts grow");
            for (key, value) in keys {
                writeln!(text, "{key} = {value}").expect("texts grow");
            }
        }
        if self.tables.iter().any(|(name, _)| of_job.contains(&name.as_str())) {
            text += "[[job]]\n";
            for (key, value) in self
                .tables
                .iter()
                .filter(|(name, _)| name == "job")
                .flat_map(|(_, keys)| keys)
            {
                writeln!(text, "{key} = {value}").expect("texts grow");
            }
            for name in ["work", "placement"] {
                if let Some(table) = inline(name) {
                    writeln!(text, "{name} = {table}").expect("texts grow");
                }
            }
        }
        text + &self.tail
    }
}

/// A number that belongs to the seed and the name of what is drawn.
fn draw(seed: u64, name: &str) -> u64 {
    // FNV-1a (Fowler, Noll, Vo 1991).
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    des::mix(des::mix(seed) ^ hash)
}

/// Whether something of this name is in a study, in `percent` of them.
fn chance(seed: u64, name: &str, percent: u64) -> bool {
    draw(seed, name) % 100 < percent
}

/// One of several names: others remain who they are when one is added.
fn one_of<'a>(seed: u64, what: &str, names: impl IntoIterator<Item = &'a str>) -> &'a str {
    let names = names.into_iter();
    names
        .max_by_key(|name| draw(seed, &format!("{what} {name}")))
        .expect("there is a name")
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// Values of single keys that not any value of the type will do for.
const SPECIAL: &[(&str, &[&str])] = &[
    ("topology.preset", &["\"tsubame2-hyperx\""]),
    ("topology.ring.routers", &["5", "8"]),
    ("topology.mesh.shape", &["[4, 4]", "[2, 3, 2]"]),
    ("topology.torus.shape", &["[4, 4]", "[3, 2, 2]"]),
    ("topology.hyperx.shape", &["[4, 4]", "[2, 4]"]),
    ("topology.mesh.width", &["2", "[1, 2]"]),
    ("topology.torus.width", &["2", "[1, 2]"]),
    ("topology.hyperx.width", &["2", "[1, 2]"]),
    ("topology.dragonfly.groups", &["5", "4"]),
    ("topology.dragonfly.routers_per_group", &["4", "[2, 2]"]),
    ("topology.dragonfly.links_per_pair", &["2", "1"]),
    ("topology.dragonfly+.groups", &["3", "5"]),
    ("topology.fat-tree.down", &["[4, 4]", "[2, 2, 4]"]),
    ("topology.fat-tree.up", &["[2]", "[2, 2]"]),
    ("topology.fat-tree.up_width", &["2"]),
    ("topology.graph.file", &["\"network.txt\""]),
    ("routing.file", &["\"tables.txt\""]),
    ("routing.torus", &["\"torus-2QoS.conf\""]),
    ("routing.roots", &["[0, 1]", "2"]),
    ("routing.ratio", &["1.5", "0.125"]),
    ("fail.cables", &["\"(0,0) x+\"", "[\"(0,0) x+\", \"(1,0) y+ #*\"]"]),
    ("fail.routers", &["\"(1,1)\""]),
    ("fail.nodes", &["3", "[3, 5]"]),
    ("fail.groups", &["1", "[0, 2]"]),
    ("fail.racks", &["1", "[0, 2]"]),
    ("fail.count", &["2", "0"]),
    ("fail.share", &["0.25"]),
    ("fail.class", &["\"x\""]),
    ("fail.keeps", &["0.25"]),
    ("fail.error_rate", &["1e-6"]),
    ("outage.cables", &["\"(0,0) x+\"", "[\"(0,0) x+\", \"(1,0) y+ #*\"]"]),
    ("outage.routers", &["\"(1,1)\""]),
    ("outage.nodes", &["3", "[3, 5]"]),
    ("outage.groups", &["1", "[0, 2]"]),
    ("outage.racks", &["1", "[0, 2]"]),
    ("outage.count", &["2", "0"]),
    ("outage.share", &["0.25"]),
    ("outage.class", &["\"x\""]),
    ("outage.keeps", &["0.25"]),
    ("outage.error_rate", &["1e-6"]),
    ("nic.chunk", &["\"32 B\"", "\"512 B\""]),
    ("nic.packet", &["\"1 KiB\"", "\"4 KiB\""]),
    ("nic.buffer", &["\"8 KiB\"", "\"1 MiB\""]),
    ("router.buffer", &["\"unlimited\"", "\"16 KiB\"", "\"1 MiB\""]),
    ("router.output_buffer", &["\"unlimited\"", "\"16 KiB\"", "\"1 MiB\""]),
    ("router.output_latency", &["\"20 ns\"", "\"0 ps\""]),
    ("router.flit", &["\"8 B\"", "\"128 B\""]),
    ("router.vcs", &["\"auto\"", "8", "12"]),
    ("router.bubble", &["2", "3"]),
    ("mpi.stripe_above", &["\"never\"", "\"64 KiB\""]),
    ("job.nodes", &["\"all\"", "4"]),
    ("job.partition", &["\"auto\""]),
    // The work has one part.
    ("job.prelude", &["0"]),
    ("observe.links_every", &["\"off\"", "\"500 ns\"", "\"10 us\""]),
    ("observe.messages", &["\"summary\"", "\"full\"", "true", "false"]),
    ("run.seeds", &["[7]", "[1, 2]"]),
    ("run.end", &["\"auto\"", "\"done\"", "\"5 us\""]),
    ("run.warmup", &["\"auto\"", "\"1 us\""]),
    ("run.partition", &["{ file = \"partition.csv\" }"]),
    ("run.stall_after", &["\"2 ms\"", "\"30 us\""]),
    ("sample.points", &["3", "4"]),
    ("process.load", &["0.25"]),
    ("work.shift.by", &["3", "1"]),
    ("work.pairs.pairs", &["[[0, 1], [3, 2]]"]),
    ("work.pairs.active", &["4", "2"]),
    ("work.messages.file", &["\"messages.csv\""]),
    (
        "work.messages.table",
        &["\"source,destination,bytes,time_ns\\n0,1,64,5\\n\""],
    ),
    ("work.partners.table", &["\"source,destination\\n0,1\\n0,2\\n3,0\\n\""]),
    (
        "work.matrix.table",
        &["\"source,destination,weight\\n0,1,2\\n1,0,0.5\\n\""],
    ),
    ("work.partners.file", &["\"messages.csv\""]),
    ("work.matrix.file", &["\"messages.csv\""]),
    ("work.matrix.blocks", &["[4, 4, 8]"]),
    (
        "work.mixed.parts",
        &["[{ kind = \"uniform\", share = 3, message = \"64 B\" }, { kind = \"shift\", by = 2 }]"],
    ),
    ("topology.slim-fly.q", &["3", "4"]),
    ("topology.oft.k", &["3", "4"]),
    ("topology.random-regular.routers", &["8", "10"]),
    ("topology.random-regular.degree", &["3", "4"]),
    ("topology.graph.text", &["\"a b 2\\nb c\\nnode a 9\\nnode c 7\\n\""]),
    ("work.memory.file", &["\"accesses.csv\""]),
    ("work.memory.table", &["\"core,address,op\\n0,64,load\\n\""]),
    (
        "work.memory.trace",
        &["\"lackey.txt\"", "[\"lackey.txt\", \"lackey.txt\"]"],
    ),
    ("work.memory.line", &["\"32 B\"", "\"128 B\""]),
    ("work.memory.l1", &["\"512 B\"", "\"1 KiB\""]),
    ("work.memory.l1_ways", &["2", "1"]),
    ("work.memory.l2", &["\"1 KiB\"", "\"4 KiB\""]),
    ("work.memory.l2_ways", &["4", "2"]),
    ("work.memory.page", &["\"1 KiB\"", "\"64 KiB\""]),
    ("work.memory.memory", &["\"1 MiB\"", "\"64 MiB\""]),
    ("work.memory.grid", &["[8, 8]", "[4, 16]"]),
    ("work.memory.stride", &["\"64 B\"", "\"8 KiB\""]),
    ("work.memory.distance", &["4", "1"]),
    ("work.memory.directory_entries", &["16", "64"]),
    ("work.memory.directory_ways", &["2", "4"]),
    ("work.memory.banks", &["2", "4"]),
    ("work.memory.interfaces", &["2"]),
    ("work.suba2a.process_grid", &["[4, 2, 2]"]),
    (
        "work.suba2a.messages",
        &["\"2 KiB\"", "[\"1 KiB\", \"0 B\", \"5 KiB\"]"],
    ),
    ("work.halo3d.process_grid", &["[4, 2, 2]"]),
    ("work.halo3d-26.process_grid", &["[4, 2, 2]"]),
    ("work.stencil3d.process_grid", &["[4, 2, 2]"]),
    ("work.stencil4d.process_grid", &["[2, 2, 2, 2]"]),
    ("work.stencil4d.grid", &["[6, 5, 4, 3]"]),
    ("work.sweep3d.process_grid", &["[8, 2]"]),
    ("work.sweep3d.grid", &["[10, 20, 30]"]),
    ("work.sweep3d.kba", &["5", "2"]),
    ("work.fft3d.process_grid", &["[8, 2]"]),
    ("work.fft3d.grid", &["[32, 64, 16]"]),
    ("work.hpl.process_grid", &["[8, 2]"]),
    ("work.hpl.rows", &["1000"]),
    ("work.mvmc.grid", &["[512]"]),
    ("work.milc.grid", &["[8, 8, 4, 4]"]),
    ("work.random-neighbours.degree", &["4", "[2, 5]"]),
    ("work.ops.file", &["\"ops.csv\""]),
    (
        "work.ops.table",
        &["\"rank,op,peer,bytes\\n0,send,1,9\\n1,recv,0,9\\n\""],
    ),
    (
        "work.program.command",
        &["[\"./ops.csv\"]", "[\"./ops.csv\", \"\", \"two\\n\\tlines\"]"],
    ),
    ("work.program.folder", &["\".\""]),
    ("work.program.compute_file", &["\"stretches.csv\""]),
    (
        "work.program.sha256",
        &["\"024692e8ac816dbe6dab32a9d2cd41b8e5a9a8d256d85b2f60e5ca0106797fd9\""],
    ),
    ("work.trace.file", &["\"trace.work\""]),
    ("work.trace.format", &["\"work\""]),
    (
        "work.trace.sha256",
        &["\"0bd45211ffaa492e04f1dd2a553925488248ec6160ba22701fbf33bb9c4eb919\""],
    ),
    ("work.trace.ranks", &["4", "3"]),
    ("work.trace.regions", &["\"solver = 0.5\""]),
    ("work.trace.rate", &["2e9"]),
    ("work.trace.only_ranks", &["\"0..4\"", "\"1..3\""]),
    ("work.trace.region", &["\"solver\""]),
    ("work.trace.visits", &["\"0..1\"", "\"1..3\""]),
    ("work.trace.from_marker", &["\"solver\""]),
    ("work.trace.to_marker", &["\"output\""]),
    ("router.L", &["\"3 us\""]),
    ("router.o", &["\"2 us\""]),
    ("router.g", &["\"2 us\""]),
    ("router.G", &["\"2 ns/B\""]),
    ("router.O", &["\"1 ns/B\""]),
    ("router.S", &["\"96 B\"", "\"3 KiB\""]),
    ("placement.file.file", &["\"placement.csv\""]),
];

/// Values that a key of this type takes, as they are written.
fn values_of(id: &str, kind: &Type) -> Vec<String> {
    if let Some((_, values)) = SPECIAL.iter().find(|(own, _)| *own == id) {
        let words = words_of(kind).into_iter().map(quoted);
        let mut all: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let more: Vec<String> = words.filter(|word| !all.contains(word)).collect();
        all.extend(more);
        return all;
    }
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    match kind {
        Type::Text | Type::Texts | Type::Lines | Type::Name => texts(&["\"a-text\""]),
        Type::Arguments => texts(&["\"a-text\"", "[\"a-text\", \"\", \"two\\n\\tlines\"]"]),
        Type::Flag => texts(&["true", "false"]),
        Type::Integer { min, max } => [2, 3].map(|near: u64| near.clamp(*min, *max).to_string()).to_vec(),
        Type::Number { .. } if id.ends_with("_rate") => texts(&["2e9", "5e9"]),
        Type::Number { max, .. } => [0.25, 0.75].map(|near| (near * max.min(8.0)).to_string()).to_vec(),
        Type::Quantity { unit, min, max } => match unit {
            Unit::Time => texts(&["\"30 ns\"", "\"1.5 us\""]),
            Unit::Size => [96, 3072]
                .map(|size: u64| quoted(&format!("{} B", size.clamp(*min, *max))))
                .to_vec(),
            Unit::Bandwidth => texts(&["\"10 GB/s\"", "\"100 Gbit/s\""]),
            Unit::TimePerByte | Unit::FineTimePerByte => texts(&["\"2 ns/B\"", "\"3 ps/B\""]),
            Unit::Length => texts(&["\"3 m\"", "\"70 cm\""]),
            Unit::Power => texts(&["\"3.5 W\"", "\"250 mW\""]),
            Unit::Price => texts(&["\"1.5 USD\"", "\"2 kUSD\""]),
        },
        Type::Choice(_) | Type::Of(_) => words_of(kind).into_iter().map(quoted).collect(),
        Type::Integers { min, max, single } => {
            let list = [3, 2].map(|near: u64| near.clamp(*min, *max));
            let mut values = vec![format!("[{}, {}, {}]", list[0], list[1], list[1])];
            values.extend(single.then(|| list[1].to_string()));
            values
        }
        Type::Pairs => texts(&["[[0, 1], [3, 2]]"]),
        Type::Rows(rows) => texts(&[rows.example]),
        Type::Sizes { .. } => texts(&["\"3 KiB\"", "[\"1 KiB\", \"5 KiB\"]"]),
        Type::ChoiceOrKey(_, key, value) => {
            let words = words_of(kind).into_iter().map(quoted);
            words
                .chain(
                    values_of(id, value)
                        .into_iter()
                        .map(|value| format!("{{ {key} = {value} }}")),
                )
                .collect()
        }
        Type::Or((word, _), other) => [quoted(word)].into_iter().chain(values_of(id, other)).collect(),
        Type::Tables(tables) => texts(&[tables.example]),
        Type::TableOf(_) | Type::OfWith(_) => Vec::new(),
    }
}

/// The words among the values of a type.
fn words_of(kind: &Type) -> Vec<&'static str> {
    match kind {
        Type::Choice(choices) | Type::ChoiceOrKey(choices, ..) => choices.iter().map(|choice| choice.0).collect(),
        Type::Of(family) | Type::OfWith(family) => family.names().collect(),
        Type::Or((word, _), other) => [*word].into_iter().chain(words_of(other)).collect(),
        _ => Vec::new(),
    }
}

/// Studies whose values of one key are two words for the same.
const SAME: &[&str] = &[
    // "full" and true, "summary" and false.
    "observe.messages 1, observe.messages 2",
    "observe.messages 0, observe.messages 3",
];

/// Whether a routing is made for a topology.
fn fits(topology: &str, routing: &str) -> bool {
    let lattice = ["ring", "mesh", "torus", "hyperx"].contains(&topology);
    match routing {
        "d-mod-k" | "scatter" | "adaptive-up" | "ftree" => topology == "fat-tree",
        "adaptive-local" => topology.starts_with("dragonfly"),
        "doal" | "dal" | "vdal" | "parx" | "merlin-doal" | "merlin-vdal" => topology == "hyperx",
        "merlin-adaptive-up" | "codes-fat-tree" | "macro-scatter" => topology == "fat-tree",
        "codes-dfp-par" => topology == "dragonfly+",
        "merlin-valiant" => topology == "hyperx" || topology == "dragonfly",
        others if ["merlin-", "codes-", "macro-"].iter().any(|of| others.starts_with(of)) => topology == "dragonfly",
        "booksim-anca" => topology == "fat-tree",
        "booksim-ugal" => topology == "hyperx",
        "booksim-minimal" => topology == "dragonfly",
        booksim if booksim.starts_with("booksim-") => ["ring", "mesh", "torus"].contains(&topology),
        "romm" | "o1turn" => ["ring", "mesh", "torus"].contains(&topology),
        "torus-2qos" => topology == "mesh" || topology == "torus",
        "dor" | "caminos-omni" | "min-adaptive" => lattice,
        "rdr" => topology == "ring" || topology == "torus",
        "par" | "ugal" => topology != "fat-tree" && topology != "single-router" && topology != "graph",
        _ => true,
    }
}

/// The network of a kind with what it must have.
fn on_topology(draft: &mut Draft, kind: &str, seed: u64) {
    draft.give("topology", "topology", "kind", &quoted(kind));
    let entry = registry::find(&registry::TOPOLOGY, kind).expect("the kind is there");
    for parameter in entry.parameters() {
        // A graph needs a file or a text: mixtures have always had files.
        let needed =
            matches!(parameter.default, study::Default::Required) || (kind, parameter.key) == ("graph", "file");
        if needed {
            let id = format!("topology.{kind}.{}", parameter.key);
            let values = values_of(&id, &parameter.kind);
            let value = &values[(draw(seed, &id) % values.len() as u64) as usize];
            draft.give("topology", &format!("topology.{kind}"), parameter.key, value);
        }
    }
}

/// A draft on the network that a routing is for.
fn for_routing(routing: &str) -> Draft {
    let mut draft = Draft::default();
    let kinds = ["torus", "hyperx", "fat-tree", "dragonfly", "dragonfly+"];
    let kind = kinds.into_iter().find(|kind| fits(kind, routing)).unwrap_or("torus");
    on_topology(&mut draft, kind, 0);
    draft.give("routing", "routing", "kind", &quoted(routing));
    draft
}

/// A small torus.
fn plain() -> Draft {
    let mut draft = Draft::default();
    on_topology(&mut draft, "torus", 0);
    draft
}

/// A small torus with a work and what it must have.
fn with_work(kind: &str) -> Draft {
    let mut draft = plain();
    set_work(&mut draft, kind);
    draft
}

fn set_work(draft: &mut Draft, kind: &str) {
    draft.give("work", "work", "kind", &quoted(kind));
    if kind == "messages" || kind == "ops" || kind == "trace" {
        let id = format!("work.{kind}");
        draft.give("work", &id, "file", &values_of(&format!("{id}.file"), &Type::Text)[0]);
    }
    if kind == "partners" || kind == "matrix" {
        let id = format!("work.{kind}");
        draft.give(
            "work",
            &id,
            "table",
            &values_of(&format!("{id}.table"), &Type::Lines)[0],
        );
    }
    if kind == "mixed" {
        let parts = values_of("work.mixed.parts", &Type::Text);
        draft.give("work", "work.mixed", "parts", &parts[0]);
    }
    if kind == "program" {
        draft.give("work", "work.program", "command", "[\"./ops.csv\"]");
    }
    if kind == "random-neighbours" {
        draft.give("work", "work.random-neighbours", "degree", "[4]");
    }
}

/// Gives `parameter` all its values, under every choice of other keys that it belongs to: a study for each.
fn each_value(
    base: &Draft,
    table: &str,
    owner: &str,
    parameter: &'static Parameter,
    all: &[&'static Parameter],
) -> Vec<Draft> {
    let mut bases = vec![base.clone()];
    for when in parameter.when {
        let other = |base: &Draft, value: &&str| {
            let mut draft = base.clone();
            if (table, when.key) == ("routing", "kind") {
                draft = for_routing(value);
            } else if draft.value(table, when.key, all) != *value {
                draft.give(table, owner, when.key, &quoted(value));
            }
            beside(&mut draft, owner, when.key, value);
            draft
        };
        bases = bases
            .iter()
            .flat_map(|base| when.values.iter().map(|value| other(base, value)))
            .collect();
    }
    let id = format!("{owner}.{}", parameter.key);
    let values = values_of(&id, &parameter.kind);
    let with = |(number, base): (usize, &Draft), value: &String| {
        let mut draft = base.clone();
        draft.among = format!("{id} {number}");
        draft.give(table, owner, parameter.key, value);
        beside(&mut draft, owner, parameter.key, value.trim_matches('"'));
        draft
    };
    let bases = bases.iter().enumerate();
    bases
        .flat_map(|base| values.iter().map(move |value| (base, value)))
        .map(|(base, value)| with(base, value))
        .collect()
}

/// What a value needs beside it.
fn beside(draft: &mut Draft, owner: &str, key: &str, value: &str) {
    match (owner, key, value) {
        ("router", "architecture", "late-admission") => draft.give("nic", "nic", "chunk", "\"32 B\""),
        ("mpi", key, _) if key.starts_with("beside_") => draft.give("mpi", "mpi", "beside", "\"256 B\""),
        ("mpi", "wakes", "once") => draft.give("mpi", "mpi", "rendezvous", "\"get\""),
        ("nic", "retransmit_after", _) => draft.give("nic", "nic", "retransmit", "3"),
        ("nic", "chunk", _) => draft.give("router", "router", "architecture", "\"late-admission\""),
        ("router", "bubble", _) => {
            draft.give("routing", "routing", "kind", "\"dor\"");
            if draft.get("router", "architecture") == Some("vc-router") {
                draft.give("router", "router", "crossbar", "\"per-channel\"");
            }
        }
        ("topology.graph", "format", "built-in") => {
            draft.give("topology", "topology.graph", "file", "\"tsubame2-fat-tree\"");
        }
        ("topology.graph", "format", format) if format != "edge-list" => {
            draft.give(
                "topology",
                "topology.graph",
                "file",
                &quoted(&format!("network.{format}")),
            );
        }
        ("routing", "small_below", _) => draft.give("routing", "routing", "path", "\"by-size\""),
        ("routing", "kind", "table") => draft.give("routing", "routing", "file", "\"tables.txt\""),
        ("routing", "scope", "group") | ("routing", "step", _) => {
            on_topology(draft, "dragonfly", 0);
            draft.table("topology").retain(|(key, _)| key != "shape");
            draft.give("routing", "routing", "scope", "\"group\"");
        }
        ("work.program", "compute", "table") => {
            draft.give("work", "work.program", "compute_file", "\"stretches.csv\"");
        }
        ("work.program", "compute", "recorded") => {
            draft.give("work", "work.program", "compute_file", "\"trace.work\"");
            draft.give("work", "work", "ranks", "4");
        }
        ("work.memory", "pattern", "trace") => draft.give("work", "work.memory", "trace", "\"lackey.txt\""),
        ("work.memory", "pattern", "listed") => draft.give("work", "work.memory", "file", "\"accesses.csv\""),
        ("topology.graph", "text", _) => draft.table("topology").retain(|(key, _)| key != "file"),
        ("work.partners", "file", _) => {
            draft.give("work", "work.partners", "file", "\"partners.csv\"");
            draft.table("work").retain(|(key, _)| key != "table");
        }
        ("work.matrix", "file", _) => {
            draft.give("work", "work.matrix", "file", "\"weights.csv\"");
            draft.table("work").retain(|(key, _)| key != "table");
        }
        ("work.matrix", "of", "blocks") => draft.give("work", "work.matrix", "blocks", "[4, 4, 8]"),
        (_, "reply", _) => draft.give("work", owner, "window", "2"),
        ("work.memory" | "work.messages" | "work.ops", "table", _) => {
            draft.table("work").retain(|(key, _)| key != "file")
        }
        ("work.trace", "from_time" | "to_time" | "from_marker" | "to_marker", _) => {
            draft.give("work", "work.trace", "file", "\"looped.work\"");
        }
        ("work.trace", "visits", _) => {
            draft.give("work", "work.trace", "file", "\"looped.work\"");
            draft.give("work", "work.trace", "region", "\"solver\"");
        }
        ("work.trace", "compute", "instructions") => {
            draft.give("work", "work.trace", "file", "\"instructions.work\"");
            draft.give("work", "work.trace", "rate", "2e9");
        }
        ("work.memory", "interfaces", _) => draft.give("topology", "topology.torus", "nodes_per_router", "2"),
        ("work.memory", "preset", _) => draft.give("topology", "topology.torus", "nodes_per_router", "2"),
        ("work.memory", "own_node", "through-router") => {
            draft.give("topology", "topology.torus", "nodes_per_router", "2");
            draft.give("work", "work.memory", "interfaces", "\"caches-and-memory\"");
        }
        ("work.pairs", "matching", "listed") => draft.give("work", "work.pairs", "pairs", "[[0, 1], [3, 2]]"),
        ("mpi", "rails", _) | ("mpi", "rail_policy" | "stripe_above", _) => {
            let rails = if key == "rails" { value } else { "2" };
            draft.give("topology", "topology.torus", "nodes_per_router", rails);
            draft.give("mpi", "mpi", "rails", rails);
        }
        (work, "flop_per_cell", _) if work.starts_with("work.") => draft.give("work", work, "flop_rate", "2e9"),
        (work, "flop_rate", _) if work.starts_with("work.") => {
            let entry = registry::find(&registry::WORK, &work["work.".len()..]).expect("the work is there");
            if entry.parameters().any(|parameter| parameter.key == "flop_per_cell") {
                draft.give("work", work, "flop_per_cell", "12.5");
            }
        }
        (work, "process", _) if work.starts_with("work.") => draft.give("work", work, "load", "0.25"),
        ("run", "end", "done") => set_work(draft, "ring"),
        ("run", "warmup" | "drain", "auto") => {}
        ("run", "drain" | "drain_sources", _) => draft.give("run", "run", "end", "\"20 us\""),
        ("run", "precision", _) => draft.give("run", "run", "fast_forward", "\"statistical\""),
        ("run", "perturb_spread", _) => draft.give("run", "run", "perturb", "1"),
        ("topology.fat-tree", "taper", _) => draft.give("topology", "topology.fat-tree", "down", "[6, 4]"),
        ("topology.dragonfly", "taper", _) => {
            draft.give("topology", "topology.dragonfly", "groups", "5");
            draft.give("topology", "topology.dragonfly", "routers_per_group", "4");
            draft.give("topology", "topology.dragonfly", "nodes_per_router", "6");
        }
        ("topology.dragonfly+", "taper", _) => {
            draft.give("topology", "topology.dragonfly+", "groups", "3");
            draft.give("topology", "topology.dragonfly+", "leaves", "2");
            draft.give("topology", "topology.dragonfly+", "nodes_per_leaf", "6");
        }
        ("topology.hyperx", "taper", _) => draft.give("topology", "topology.hyperx", "nodes_per_router", "12"),
        ("topology.fat-tree", "up", "[2, 2]") => draft.give("topology", "topology.fat-tree", "down", "[2, 2, 4]"),
        _ => {}
    }
}

/// A study for every key with every word, and for every entry.
fn single_studies() -> Vec<(String, Draft)> {
    let mut studies = Vec::new();
    let mut add = |drafts: Vec<Draft>, of: &str| {
        for (number, draft) in drafts.into_iter().enumerate() {
            studies.push((format!("{of} {number}"), draft));
        }
    };
    for entry in registry::list(&registry::TOPOLOGY) {
        let mut base = Draft::default();
        on_topology(&mut base, entry.name, 0);
        let owner = format!("topology.{}", entry.name);
        let all: Vec<_> = entry.parameters().collect();
        add(vec![base.clone()], &owner);
        for parameter in entry.parameters() {
            add(
                each_value(&base, "topology", &owner, parameter, &all),
                &format!("{owner}.{}", parameter.key),
            );
        }
    }
    let mut preset = Draft::default();
    preset.give("topology", "topology", "preset", "\"tsubame2-hyperx\"");
    add(vec![preset], "topology.preset");
    for section in registry::sections() {
        let all: Vec<_> = section.parameters.iter().collect();
        for parameter in section.parameters {
            let id = format!("{}.{}", section.name, parameter.key);
            let base = match (section.name, parameter.key) {
                ("routing", "kind") => {
                    let kinds = registry::list(&registry::ROUTING);
                    let drafts = kinds.iter().map(|entry| {
                        let mut draft = for_routing(entry.name);
                        beside(&mut draft, "routing", "kind", entry.name);
                        draft
                    });
                    add(drafts.collect(), &id);
                    continue;
                }
                ("fail", "of" | "class" | "seed" | "keeps" | "error_rate") => {
                    let mut draft = plain();
                    draft.set("fail", "count", "2");
                    draft
                }
                ("fail", "racks") => {
                    let mut draft = plain();
                    draft.set("cost.layout", "routers_per_rack", "3");
                    draft
                }
                ("outage", key) => {
                    let mut draft = plain();
                    draft.set("outage", "at", "\"10 ns\"");
                    match key {
                        "racks" => draft.set("cost.layout", "routers_per_rack", "3"),
                        "of" | "class" | "seed" => draft.set("outage", "count", "2"),
                        _ => draft.set("outage", "cables", "\"(1,0) x+\""),
                    }
                    draft
                }
                ("mpi", _)
                | ("job", "ranks_per_node" | "mapping" | "start" | "prelude")
                | ("router", "o" | "O" | "S") => with_work("ring"),
                ("sample", key) => {
                    let mut draft = plain();
                    if key != "points" {
                        draft.give("sample", "sample", "points", "3");
                    }
                    draft.tail = "[sample.link.latency]\nfrom = \"1 ns\"\nto = \"1 us\"\n".into();
                    draft
                }
                _ => plain(),
            };
            add(each_value(&base, section.name, section.name, parameter, &all), &id);
        }
    }
    for entry in registry::list(&registry::WORK) {
        let base = with_work(entry.name);
        let owner = format!("work.{}", entry.name);
        let all: Vec<_> = entry.parameters().collect();
        add(vec![base.clone()], &owner);
        for parameter in entry.parameters() {
            add(
                each_value(&base, "work", &owner, parameter, &all),
                &format!("{owner}.{}", parameter.key),
            );
        }
    }
    for entry in registry::list(&registry::PLACEMENT) {
        let mut base = with_work("ring");
        base.set("job", "nodes", "4");
        base.give("placement", "placement", "kind", &quoted(entry.name));
        let owner = format!("placement.{}", entry.name);
        for parameter in entry.parameters() {
            let values = values_of(&format!("{owner}.{}", parameter.key), &parameter.kind);
            base.give("placement", &owner, parameter.key, &values[0]);
        }
        add(vec![base], &owner);
    }
    studies
}

/// Some keys of a table, those that belong to what stands there.
fn some_keys(draft: &mut Draft, seed: u64, table: &str, owner: &str, parameters: &[&'static Parameter], percent: u64) {
    for parameter in parameters {
        let id = format!("{owner}.{}", parameter.key);
        // Words that came later: mixtures stay what they were.
        let later = [
            "\"heap\"",
            "\"shift\"",
            "\"reads-first\"",
            "\"late-admission-vcs\"",
            "\"output-buffered\"",
            "\"unadmitted\"",
            "\"drawn\"",
            "\"split\"",
            "\"vc-router\"",
            "\"striped\"",
            "\"binomial-doubling\"",
            "\"split-binary\"",
            "\"binary\"",
            "\"synchronised\"",
            "\"neighbour-exchange\"",
        ];
        // Words of another key that this one has later.
        let later_here = [
            ("mpi.barrier", "\"bruck\""),
            ("mpi.reduce", "\"chain\""),
            ("mpi.reduce", "\"linear\""),
        ];
        let mut values = values_of(&id, &parameter.kind);
        values.retain(|value| !later.contains(&value.as_str()) && !later_here.contains(&(id.as_str(), value.as_str())));
        let belongs = parameter
            .when
            .iter()
            .all(|when| when.values.contains(&draft.value(table, when.key, parameters)));
        if belongs && !values.is_empty() && draft.get(table, parameter.key).is_none() && chance(seed, &id, percent) {
            let value = one_of(seed, &format!("value of {id}"), values.iter().map(String::as_str));
            draft.give(table, owner, parameter.key, value);
        }
    }
}

/// A study with many keys.
fn mixed_study(seed: u64) -> Draft {
    let mut draft = Draft::default();
    let names = |family: &'static Family| registry::list(family).into_iter().map(|entry: &Entry| entry.name);
    // Graphs by a rule came later: mixtures stay what they were.
    let known =
        names(&registry::TOPOLOGY).filter(|name| !["slim-fly", "random-regular", "oft", "express-mesh"].contains(name));
    let topology = one_of(seed, "topology", known);
    on_topology(&mut draft, topology, seed);
    let entry = registry::find(&registry::TOPOLOGY, topology).expect("it is there");
    // Texts of graphs came later, and tapers of other networks than fat-trees.
    let is_later = |key: &str| key == "text" || (key == "taper" && topology != "fat-tree");
    let own: Vec<_> = entry
        .parameters()
        .filter(|parameter| !is_later(parameter.key))
        .collect();
    some_keys(&mut draft, seed, "topology", &format!("topology.{topology}"), &own, 20);
    let of = |name: &str| -> Vec<&'static Parameter> {
        registry::section(name).map_or(Vec::new(), |section| section.parameters.iter().collect())
    };
    some_keys(&mut draft, seed, "link", "link", &of("link"), 40);
    if chance(seed, "link.host", 20) {
        draft.set("link.host", "bandwidth", "\"5 GB/s\"");
    }
    let anything = chance(seed, "misfit", 5);
    let routing = one_of(
        seed,
        "routing",
        names(&registry::ROUTING)
            // Those of other programs came later, and these.
            .filter(|name| {
                !["merlin-", "codes-", "macro-", "booksim-", "caminos-"]
                    .iter()
                    .any(|of| name.starts_with(of))
                    && ![
                        "romm",
                        "o1turn",
                        "least-hops",
                        "polarized",
                        "min-adaptive",
                        "dnup",
                        "torus-2qos",
                    ]
                    .contains(name)
            })
            .filter(|name| anything || fits(topology, name)),
    );
    draft.give("routing", "routing", "kind", &quoted(routing));
    beside(&mut draft, "routing", "kind", routing);
    if chance(seed, "routing keys", 70) {
        let skip = |parameter: &&&'static Parameter| !["scope", "step", "small_below"].contains(&parameter.key);
        let keys = of("routing");
        let keys: Vec<_> = keys.iter().filter(skip).copied().collect();
        some_keys(&mut draft, seed, "routing", "routing", &keys, 25);
    }
    // The model that is made for a single router, and its parameters, are no part of mixtures.
    let of_model = |parameter: &&'static Parameter| parameter.when.iter().any(|when| when.key == "preset");
    let router: Vec<_> = of("router")
        .into_iter()
        .filter(|parameter| !of_model(parameter))
        .collect();
    if chance(seed, "router.preset", 15) {
        let presets = names(&registry::ROUTER_PRESET).filter(|name| {
            let later = ["loggops", "codes-dragonfly", "codes-fat-tree", "booksim-iq"];
            !later.contains(name) && !name.starts_with("caminos-")
        });
        let preset = one_of(seed, "preset", presets);
        draft.give("router", "router", "preset", &quoted(preset));
    } else {
        let leads = |parameter: &&'static Parameter| ["model", "architecture"].contains(&parameter.key);
        let (first, then): (Vec<_>, Vec<_>) = router.iter().partition(|parameter| leads(parameter));
        some_keys(&mut draft, seed, "router", "router", &first, 30);
        let late = draft.get("router", "architecture") == Some("late-admission");
        if late {
            draft.give("nic", "nic", "chunk", "\"32 B\"");
        }
        // The chunks' own router says itself how it does this.
        let its_own = ["vcs", "arbitration", "switching", "delivery"];
        let then = then
            .into_iter()
            .filter(|parameter| !(late && its_own.contains(&parameter.key)));
        let all: Vec<_> = first
            .into_iter()
            .chain(then)
            .filter(|parameter| parameter.key != "preset")
            .collect();
        some_keys(&mut draft, seed, "router", "router", &all, 12);
    }
    let kept = match draft.get("router", "architecture") {
        Some("late-admission") => vec!["packet", "overhead", "packet_overhead", "idle_delay_per_byte"],
        _ => vec![
            "packet",
            "overhead",
            "packet_overhead",
            "idle_delay_per_byte",
            "bandwidth",
            "control",
        ],
    };
    let nic: Vec<_> = of("nic")
        .into_iter()
        .filter(|parameter| kept.contains(&parameter.key))
        .collect();
    some_keys(&mut draft, seed, "nic", "nic", &nic, 15);
    if chance(seed, "work", 80) {
        // These came later: mixtures stay what they were.
        let later = [
            "program",
            "bit-reverse",
            "shuffle",
            "router-transpose",
            "diagonal-neighbour",
            "group-shift",
            "partners",
            "matrix",
            "mixed",
        ];
        let known = names(&registry::WORK).filter(|name| !later.contains(name));
        let kind = one_of(seed, "work", known);
        set_work(&mut draft, kind);
        let entry = registry::find(&registry::WORK, kind).expect("it is there");
        let tables = [
            "file",
            "table",
            "process_grid",
            "flop_per_cell",
            "trace",
            "active",
            "grid",
            "process",
            // How memory nodes are put together came later.
            "preset",
            "clean_writebacks",
            "writeback_answers",
            "evict",
            "own_node",
            // Parts of traces, which have to be in the file.
            "only_ranks",
            "from_time",
            "to_time",
            "region",
            "visits",
            "from_marker",
            "to_marker",
            // What comes before an allreduce came later.
            "lengths",
            "touch",
        ];
        let of_pattern = registry::find(&registry::PATTERN, kind).is_some();
        let later = ["slot", "self", "burst", "peak", "window", "reply"];
        let own: Vec<_> = entry
            .parameters()
            .filter(|parameter| !tables.contains(&parameter.key))
            .filter(|parameter| !(of_pattern && later.contains(&parameter.key)))
            .collect();
        some_keys(
            &mut draft,
            seed,
            "work",
            &format!("work.{kind}"),
            &own,
            if kind == "memory" { 6 } else { 25 },
        );
        if draft.get("work", "flop_rate").is_some() {
            beside(&mut draft, &format!("work.{kind}"), "flop_rate", "");
        }
        if let Some(pattern) = draft.get("work", "pattern").map(str::to_owned) {
            beside(&mut draft, "work.memory", "pattern", &pattern);
        }
        if registry::find(&registry::MOTIF, kind).is_some() {
            // Progress, presets and pieces of costs came later, and so did what belongs to them.
            let later = [
                "preset",
                "progress",
                "costs",
                "fetch_above",
                "beside",
                "beside_latency",
                "beside_hop",
                "beside_trees",
                "beside_groups",
                "beside_order",
                "collectives",
            ];
            let own: Vec<_> = of("mpi")
                .into_iter()
                .filter(|parameter| parameter.when.is_empty() && !later.contains(&parameter.key))
                .collect();
            some_keys(&mut draft, seed, "mpi", "mpi", &own, 10);
            draft.table("mpi").retain(|(key, _)| key != "rails");
            let job = ["ranks_per_node", "mapping", "start"];
            let job: Vec<_> = of("job")
                .into_iter()
                .filter(|parameter| job.contains(&parameter.key))
                .collect();
            some_keys(&mut draft, seed, "job", "job", &job, 25);
        }
        if chance(seed, "placement", 30) {
            let kind = one_of(
                seed,
                "placement",
                // Rails came later.
                names(&registry::PLACEMENT).filter(|name| !["file", "rail-optimised"].contains(name)),
            );
            draft.give("placement", "placement", "kind", &quoted(kind));
            let entry = registry::find(&registry::PLACEMENT, kind).expect("it is there");
            let own: Vec<_> = entry.parameters().collect();
            some_keys(&mut draft, seed, "placement", &format!("placement.{kind}"), &own, 100);
        }
    }
    // Windows of links came later.
    let observe: Vec<_> = of("observe")
        .into_iter()
        .filter(|parameter| parameter.key != "links_every")
        .collect();
    some_keys(&mut draft, seed, "observe", "observe", &observe, 25);
    let skip = ["seed", "end", "warmup", "drain", "partition", "perturb_spread"];
    let run: Vec<_> = of("run")
        .into_iter()
        .filter(|parameter| !skip.contains(&parameter.key))
        .collect();
    some_keys(&mut draft, seed, "run", "run", &run, 15);
    if chance(seed, "sweep", 20) {
        draft.tail += "[sweep]\n\"link.latency\" = [\"10 ns\", \"1 us\"]\n\"nic.overhead\" = [\"1 ns\", \"7 ns\"]\n";
    }
    if chance(seed, "sample", 10) {
        draft.tail +=
            "[sample]\nmethod = \"sobol\"\npoints = 3\n[sample.router.traversal]\nfrom = \"0 ns\"\nto = \"90 ns\"\n";
    }
    if chance(seed, "experiments", 10) {
        draft.tail +=
            "[experiment.a]\n[experiment.b]\nset = { \"run.seed\" = 9 }\n[variant.v]\nexperiments = [\"b\"]\n";
    }
    draft
}

/// A line of the file, and whether the study loads.
fn line(name: &str, bytes: &[u8], file: &str, base: &str, options: &LoadOptions) -> (String, Result<String, String>) {
    match load_study(bytes, file, Path::new(base), options) {
        Ok(study) => {
            let beside = format!(
                "{}{}{}{}",
                render(&study.warnings),
                study.sample,
                study.claims,
                study.reproduce
            );
            let hashes = (hash(&study.canonical), hash(&beside));
            (
                format!("{name}\t{}\t{}\t{}", study.runs.len(), hashes.0, &hashes.1[..16]),
                Ok(hashes.0),
            )
        }
        Err(errors) => {
            let told = render(&errors);
            (format!("{name}\trefused\t{}\t", hash(&told)), Err(told))
        }
    }
}

/// Every packaged study: as it is, in every variant, and every experiment of these by itself.
fn packaged(lines: &mut Vec<String>) {
    let folder = "../../studies";
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("it can be read");
        let names = |table: &str| -> Vec<String> {
            let of = |line: &str| {
                Some(
                    line.strip_prefix(&format!("[{table}."))?
                        .split([']', '.'])
                        .next()?
                        .to_owned(),
                )
            };
            let mut names: Vec<String> = text.lines().filter_map(of).collect();
            names.dedup();
            names
        };
        let variants = [None].into_iter().chain(names("variant").into_iter().map(Some));
        for variant in variants {
            let experiments = [None].into_iter().chain(names("experiment").into_iter().map(Some));
            for experiment in experiments {
                let name = format!(
                    "{file} {} {}",
                    variant.as_deref().unwrap_or("-"),
                    experiment.as_deref().unwrap_or("-")
                );
                let options = LoadOptions {
                    variant: variant.clone(),
                    experiments: experiment.into_iter().collect(),
                    sets: Vec::new(),
                };
                lines.push(line(&name, text.as_bytes(), &file, folder, &options).0);
            }
        }
    }
}

/// Everything that a study can give by the registry: keys, and words of keys with `=`.
fn all_of_the_registry() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let add = |all: &mut BTreeSet<String>, owner: &str, parameter: &Parameter| {
        all.insert(format!("{owner}.{}", parameter.key));
        for word in words_of(&parameter.kind) {
            all.insert(format!("{owner}.{}={}", parameter.key, quoted(word)));
        }
    };
    for section in registry::sections() {
        for parameter in section
            .parameters
            .iter()
            .filter(|parameter| !matches!(parameter.kind, Type::TableOf(_) | Type::OfWith(_)))
        {
            add(&mut all, section.name, parameter);
        }
    }
    for (kind, owner) in [
        (&registry::TOPOLOGY, "topology"),
        (&registry::WORK, "work"),
        (&registry::PLACEMENT, "placement"),
    ] {
        for entry in registry::list(kind) {
            for parameter in entry.parameters() {
                add(&mut all, &format!("{owner}.{}", entry.name), parameter);
            }
            all.insert(format!("{owner}.kind={}", quoted(entry.name)));
        }
    }
    all.insert("topology.preset".to_owned());
    // A word that says what is not there, and why.
    all.remove("routing.scope=\"global\"");
    all
}

#[test]
fn every_study_means_what_it_meant() {
    let mut lines = Vec::new();
    packaged(&mut lines);
    let mixed = (0..N_MIXED).map(|seed| (format!("mixed {seed}"), mixed_study(seed)));
    let (mut given, mut n_refused) = (BTreeSet::new(), 0);
    let (mut meant, mut same) = (BTreeMap::new(), Vec::new());
    for (name, draft) in single_studies().into_iter().chain(mixed) {
        let text = draft.text();
        let (line, loads) = line(&name, text.as_bytes(), "study.toml", BASE, &LoadOptions::default());
        lines.push(line);
        match loads {
            Ok(meaning) => {
                if let Some(other) = meant.insert((draft.among.clone(), meaning), name.clone())
                    && !draft.among.is_empty()
                {
                    same.push(format!("{other}, {name}"));
                }
                given.extend(draft.given);
            }
            Err(told) => {
                n_refused += 1;
                if std::env::var_os("FABRICSIM_SHOW_REFUSED").is_some() {
                    println!("=== {name}\n{text}\n{told}");
                }
            }
        }
    }
    lines.push(format!("schema\t\t{}\t", hash(&registry::schema().to_string())));
    println!("{} studies, {n_refused} of them refused", lines.len());
    let missing: Vec<String> = all_of_the_registry().difference(&given).cloned().collect();
    assert!(missing.is_empty(), "no study that loads gives these: {missing:#?}");
    assert_eq!(same, SAME, "two values of a key mean the same");

    let path = Path::new("tests/golden_texts.txt");
    if std::env::var_os("FABRICSIM_BLESS").is_some() {
        std::fs::write(path, lines.join("\n") + "\n").expect("the file can be written");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    let named = |line: &'_ str| line.split('\t').next().unwrap_or_default().to_owned();
    let before: BTreeMap<String, &str> = stored.lines().map(|line| (named(line), line)).collect();
    for now in &lines {
        let before = before.get(&named(now)).copied().unwrap_or("nothing");
        assert!(
            now == before,
            "another meaning or another message:\nbefore {before}\nnow    {now}"
        );
    }
    assert_eq!(before.len(), lines.len(), "names stand twice, or studies are left out");
}
