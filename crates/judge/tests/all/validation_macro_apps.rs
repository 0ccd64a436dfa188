//! The presets `sst-macro` with `sculpin` and `pisces`, and the routings of SST/macro, give the times of its applications of 64 ranks
//! (`validation/macro-apps-64.json`): a halo exchange, an all-to-all in rows and columns, a wavefront.
//!
//! Rows whose packets draw ways by SST/macro's re-seeded generator from as many as a power of two are [no target](NO_TARGET): there all
//! packets of a stream draw alike. Rows that are not met are [`OPEN`]; with its own draws they are met.

use fabric::spec::{Draw, DrawSpec, RoutingSpec, RunSpec, Ties};
use judge::run::run;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Case, topology and routing of rows that are no target; an empty case is every one.
const NO_TARGET: [(&str, &str, &str); 3] = [
    ("", "torus_64", "val"),
    ("", "torus_64", "ugal"),
    ("", "hyperx_64", "par"),
];

/// Seeds that a row is the mean of whose ways are drawn.
const SEEDS: u64 = 4;

/// Rows that are not met, by case, topology, routing and router, with what they miss by (%).
///
/// They hang on the order of packets that come to a router at one time, which is a hash here: that of there, by itself, makes them no better.
const OPEN: [(&str, &str, &str, &str, f64); 4] = [
    ("a2a", "dragonfly_plus_64", "par", "sculpin", 5.7),
    ("a2a", "dragonfly_plus_64", "par", "pisces", 5.0),
    ("a2a", "dragonfly_64", "par", "sculpin", 5.1),
    ("sweep", "dragonfly_64", "ugal", "sculpin", 5.4),
];

/// `router.seed` of the runs outside.
const SEED: u64 = 14;

/// Ends of a barrier that 64 ranks come to at one time (ns), by hops beside the network.
#[test]
fn a_barrier_lets_ranks_go_in_classes_of_hops() {
    for (topology, classes) in [
        ("hyperx_64", vec![1_100, 1_200, 1_300, 1_400]),
        ("torus_64", vec![1_500, 1_600, 1_700]),
        ("fat_tree_64", vec![1_800, 2_000, 2_200]),
    ] {
        let routing = if topology == "fat_tree_64" { "scatter" } else { "min" };
        let row = serde_json::json!({"case": "sweep", "topology": topology, "routing": routing, "router": "sculpin"});
        let mut spec = study(&row);
        let fabric::spec::Work::Ranks(ranks) = &mut spec.jobs[0].work else {
            panic!("work of ranks")
        };
        // A barrier at the start, and one behind it.
        ranks.parts.drain(..4);
        (ranks.prelude, ranks.start) = (0, fabric::spec::Start::AfterBarrier);
        let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{topology}: {error}"));
        let ends: std::collections::BTreeSet<u64> = result.ranks.iter().map(|rank| rank.begun / 1_000).collect();
        assert_eq!(ends.into_iter().collect::<Vec<_>>(), classes, "{topology}");
    }
}

fn study(row: &Value) -> RunSpec {
    let text = |key: &str| row[key].as_str().unwrap();
    let (shape, own) = match text("topology") {
        "fat_tree_64" => ("kind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 4]", "scatter"),
        "dragonfly_64" => (
            "kind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\nnodes_per_router = 2\narrangement = \"circulant\"",
            "minimal",
        ),
        "dragonfly_plus_64" => (
            "kind = \"dragonfly+\"\ngroups = 5\nleaves = 4\nspines = 4\nnodes_per_leaf = 4\nlinks_per_pair = 4",
            "minimal",
        ),
        "hyperx_64" => ("kind = \"hyperx\"\nshape = [4, 4, 2]\nnodes_per_router = 2", "dor"),
        "torus_64" => ("kind = \"torus\"\nshape = [4, 4, 4]\nnodes_per_router = 1", "dor"),
        other => panic!("unknown topology {other}"),
    };
    let routing = match (text("routing"), own) {
        ("min", "dor") => "dor".to_owned(),
        ("ugal" | "val", "dor") => panic!("{row} is no target"),
        ("val", _) => "macro-valiant".to_owned(),
        ("min" | "scatter", own) => format!("macro-{own}"),
        (other, _) => format!("macro-{other}"),
    };
    let work = match text("case") {
        "sweep" => "{ kind = \"sweep3d\", grid = [40, 40, 1000], process_grid = [8, 8], kba = 10 }".to_owned(),
        "a2a" => table(&all_to_all()),
        _ => table(&halo()),
    };
    let (before, prelude) = prelude(text("case"));
    let router = match (text("router"), row["change"].as_str()) {
        // As declared, six channels, it dies there at a packet's seventh hop.
        ("pisces", Some("dragonfly_par with 8 virtual channels")) => {
            "preset = \"pisces\"\nallow_deadlock = true\nvcs = 8"
        }
        ("pisces", None) => "preset = \"pisces\"\nallow_deadlock = true",
        (other, None) => &format!("preset = \"{other}\""),
        (_, Some(change)) => panic!("{change}"),
    };
    let text = format!(
        "[topology]\n{shape}\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"100 ns\"\n[router]\n{router}\n[mpi]\npreset = \"sst-macro\"\nbcast = \"binomial\"\n\
         [routing]\nkind = \"{routing}\"\n[[job]]\nnodes = 64\nprelude = {prelude}\n\
         work = [{before}{work}, {{ kind = \"collective\", collective = \"barrier\" }}]\n[run]\nend = \"done\"\n"
    );
    let study = load_study(text.as_bytes(), "macro.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0)
}

/// What SST/macro does before the barrier behind which the time begins, and how many parts that is: the launch goes down a tree in
/// messages of 256 B, `MPI_Init` agrees on an element, and the all-to-all splits off communicators of rows and columns.
fn prelude(case: &str) -> (String, usize) {
    let collective = |what: &str, bytes: u32| {
        format!("{{ kind = \"collective\", collective = \"{what}\", message = \"{bytes} B\" }}, ")
    };
    let mut parts = vec![collective("bcast", 256), collective("allreduce", 1)];
    if case == "a2a" {
        parts.extend([collective("allgather", 12), collective("allgather", 12)]);
    }
    parts.push("{ kind = \"collective\", collective = \"barrier\" }, ".to_owned());
    (parts.concat(), parts.len())
}

fn table(rows: &str) -> String {
    format!("{{ kind = \"ops\", table = \"\"\"rank,op,peer,bytes,tag,request\n{rows}\"\"\" }}")
}

/// All receives of a rank, all its sends, and a wait; partners with bytes and tags of what comes and what goes.
fn exchange(rows: &mut String, rank: u32, partners: &[(u32, u64, u32, u32)]) {
    let mut request = 0..;
    for (peer, bytes, comes, _) in partners {
        writeln!(rows, "{rank},irecv,{peer},{bytes},{comes},{}", request.next().unwrap()).unwrap();
    }
    for (peer, bytes, _, goes) in partners {
        writeln!(rows, "{rank},isend,{peer},{bytes},{goes},{}", request.next().unwrap()).unwrap();
    }
    writeln!(rows, "{rank},waitall,,,,").unwrap();
}

fn halo() -> String {
    let mut rows = String::new();
    for rank in 0..64u32 {
        let own = [rank % 4, rank / 4 % 4, rank / 16];
        let steps = (0..27u32).filter(|&step| step != 13);
        let partners = steps.map(|step| {
            // Steps of -1, 0 and 1, z slowest.
            let by = [step % 3, step / 3 % 3, step / 9];
            let [x, y, z] = [0, 1, 2].map(|dim| (own[dim] + by[dim] + 3) % 4);
            let sides = by.iter().filter(|&&step| step == 1).count() as u32;
            (x + 4 * y + 16 * z, 80 * 32u64.pow(sides), 26 - step, step)
        });
        exchange(&mut rows, rank, &partners.collect::<Vec<_>>());
    }
    rows
}

fn all_to_all() -> String {
    let mut rows = String::new();
    for rank in 0..64u32 {
        let (x, y) = (rank % 8, rank / 8);
        let row = (1..8).map(|by| ((x + by) % 8 + 8 * y, 32_768, 0, 0));
        exchange(&mut rows, rank, &row.collect::<Vec<_>>());
        let column = (1..8).map(|by| (x + 8 * ((y + by) % 8), 32_768, 1, 1));
        exchange(&mut rows, rank, &column.collect::<Vec<_>>());
    }
    rows
}

fn outside() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/macro-apps-64.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// From the end of the first barrier to that of the last, at rank 0 (us).
fn time(spec: &RunSpec) -> f64 {
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let first = result.ranks[0];
    (first.finished - first.begun) as f64 / 1e6
}

/// What a row is missed by (%).
fn miss(here: f64, row: &Value) -> f64 {
    (here / row["us"].as_f64().unwrap() - 1.0) * 100.0
}

#[test]
fn the_order_of_links_makes_a_wavefront_of_sst_macro_to_a_picosecond() {
    let outside = outside();
    let is_it = |row: &&Value| {
        [
            ("case", "sweep"),
            ("topology", "hyperx_64"),
            ("routing", "min"),
            ("router", "sculpin"),
        ]
        .iter()
        .all(|(key, name)| row[key] == *name)
    };
    let row = outside["rows"].as_array().unwrap().iter().find(is_it).unwrap();
    let there = row["us"].as_f64().unwrap();
    let mut spec = study(row);
    assert!((time(&spec) - there).abs() > 0.1);
    spec.router.ties = Ties::Links;
    assert!((time(&spec) - there).abs() < 2e-6, "{} us, there {there}", time(&spec));
}

/// With its draws and seed, which SST/macro has run once: of the three routings that draw those that compare queues. Valiant's draws decide alone, so that
/// it hangs on every picosecond of every packet.
#[test]
fn with_its_own_draws_ugal_and_par_take_the_times_of_sst_macro() {
    let outside = outside();
    let percent = outside["tolerance"]["percent"].as_f64().unwrap();
    let (mut off, mut rows) = (Vec::new(), 0);
    for row in outside["rows"].as_array().unwrap() {
        let [topology, routing] = ["topology", "routing"].map(|key| row[key].as_str().unwrap());
        let draws = DrawSpec { draw: Draw::Clock };
        let routing = match routing {
            "ugal" => RoutingSpec::MacroUgal(draws),
            "par" => RoutingSpec::MacroPar(draws),
            _ => continue,
        };
        if !topology.starts_with("dragonfly") {
            continue;
        }
        let mut spec = study(row);
        (spec.routing, spec.control.seed) = (routing, SEED);
        rows += 1;
        let part = miss(time(&spec), row);
        if part.abs() > percent {
            off.push(format!("{row}: {part:+.2} %"));
        }
    }
    assert!(rows == 18 && off.is_empty(), "{rows} rows, {off:#?}");
}

#[test]
fn applications_take_the_times_of_sst_macro() {
    let outside = outside();
    let percent = outside["tolerance"]["percent"].as_f64().unwrap();
    let (mut off, mut met) = (Vec::new(), 0);
    for row in outside["rows"].as_array().unwrap() {
        let [case, topology, routing, router] =
            ["case", "topology", "routing", "router"].map(|key| row[key].as_str().unwrap());
        let no_target = |&(only, shape, way): &(&str, &str, &str)| {
            (only.is_empty() || only == case) && (shape, way) == (topology, routing)
        };
        if NO_TARGET.iter().any(no_target) {
            continue;
        }
        let mut spec = study(row);
        // Which ways are drawn is an affair of each simulator: means.
        let draws = matches!(routing, "ugal" | "val" | "par");
        let seeds = if draws { SEEDS } else { 1 };
        let mut here = 0.0;
        for seed in 1..=seeds {
            spec.control.seed = seed;
            here += time(&spec) / seeds as f64;
        }
        let part = miss(here, row);
        let line = format!(
            "{case} {topology} {routing} {router}: outside {}, here {here:.2} us, {part:+.1} %",
            row["us"]
        );
        println!("{line}");
        let open = OPEN
            .iter()
            .find(|open| (open.0, open.1, open.2, open.3) == (case, topology, routing, router));
        match open {
            Some(&(.., by)) if (part - by).abs() > 1.0 => off.push(format!("{line}: open with {by:+.1} %")),
            Some(_) => {}
            None if part.abs() > percent => off.push(line),
            None => met += 1,
        }
    }
    println!("{met} rows met");
    assert!(off.is_empty(), "{off:#?}");
}
