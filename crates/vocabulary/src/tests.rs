//! Good studies give the runs that they describe.

mod samples;

use crate::registry;
use crate::*;
use des::Time;
use fabric::spec::*;
use std::path::Path;
use topo::{Arrangement, DragonflySpec, FatTreeSpec, GraphSpec, Lattice, TopologySpec};

fn load_with(text: &str, options: &LoadOptions) -> Study {
    load_study(text.as_bytes(), "dir/halo.toml", Path::new("/nowhere"), options)
        .unwrap_or_else(|diagnostics| panic!("{}", render(&diagnostics)))
}

fn load(text: &str) -> Study {
    load_with(text, &LoadOptions::default())
}

fn sets(sets: &[&str]) -> LoadOptions {
    LoadOptions {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..LoadOptions::default()
    }
}

fn variant(name: &str) -> LoadOptions {
    LoadOptions {
        variant: Some(name.to_owned()),
        ..LoadOptions::default()
    }
}

const TORUS: &str = "[topology]\nkind = \"torus\"\nshape = [4, 4]\n";

/// A study with all sections, experiments and a variant.
const FULL: &str = r#"
name = "full"
description = "every section"
[topology]
kind = "dragonfly"
groups = 9
routers_per_group = [2, 2]
nodes_per_router = 2
arrangement = "random"
seed = 5
[link]
bandwidth = "200 Gbit/s"
[link.global]
latency = "1 us"
[router]
vcs = 4
buffer = "32 KiB"
[routing]
kind = "minimal"
[nic]
packet = "1 KiB"
overhead = "200 ns"
[[job]]
name = "left"
nodes = 36
work = { kind = "hot-spot", load = 0.3, targets = 2, fraction = 0.1 }
[[job]]
name = "right"
nodes = 36
placement = "random"
work = { kind = "pairs", mode = "batch", batch = 5, messages = 20, pairs = [[0, 1], [2, 3]] }
[sweep]
"routing.kind" = ["minimal", "valiant"]
[experiment.load]
sweep = { "job.left.work.load" = [0.1, 0.2, 0.3] }
[experiment.size]
set = { nic.packet = "2 KiB" }
[experiment.size.sweep]
"job.0.work.message" = ["1 KiB", "4 KiB"]
"routing.kind" = ["min-random"]
[variant.quick]
set = { "run.end" = "10 us" }
experiments = ["load"]
sweep.load = { "job.left.work.load" = [0.2] }
[[claim]]
id = "a"
paper = "x"
value = 1.5
[reproduce]
figure = 3
[observe]
messages = "full"
timeline = true
[run]
seeds = [1, 2]
warmup = "1 us"
end = "20 us"
"#;

#[test]
fn defaults_are_those_of_the_reference() {
    let study = load(TORUS);
    assert_eq!(study.name, "halo");
    let expected = RunSpec {
        study: "halo".to_owned(),
        experiment: String::new(),
        sweep: Vec::new(),
        topology: TopologySpec::Torus(Lattice {
            shape: vec![4, 4],
            width: vec![],
            nodes_per_router: 1,
        }),
        links: Links {
            default: LinkSpec {
                bandwidth: BitsPerSec(200_000_000_000),
                latency: Time::from_ns(100),
            },
            by_class: Default::default(),
        },
        router: RouterSpec {
            model: RouterKind::CREDIT,
            preset: None,
            architecture: Architecture::VOQ,
            traversal: Time::from_ns(100),
            traversal_occupies_link: false,
            vcs: None,
            buffer: Some(Bytes(65_536)),
            output_buffer: None,
            shares_buffers: false,
            ties: Ties::Hash,
            crossbar_bandwidth: None,
            flit: Bytes(64),
            output_latency: Time::ZERO,
            credits_traverse: false,
            node_credit_delay: Time::ZERO,
            wake_delay: None,
            arbitration: Arbitration::RoundRobin,
            switching: Switching::CutThrough,
            delivery: DeliveryPoint::Tail,
            credit_delay: Time::ZERO,
            credit_uses_link: true,
            bubble: 0,
            local_latency: Time::ZERO,
            completion: Completion::Whole,
            pipeline: None,
            allow_deadlock: false,
        },
        routing: RoutingSpec::MINIMAL,
        nic: NicSpec {
            packet: Bytes(2_048),
            chunk: None,
            message_overhead: Time::ZERO,
            packet_overhead: Time::ZERO,
            gap: Time::ZERO,
            idle_delay_per_byte: Time::ZERO,
            bandwidth: None,
            buffer: None,
            control: ControlOrder::First,
            reads_behind: 0,
            retransmit: None,
        },
        fail: topo::FailSpec::default(),
        outages: OutagesSpec::default(),
        jobs: vec![JobSpec {
            name: "job0".to_owned(),
            work: Work::Synthetic(Synthetic::of(Pattern::Uniform, Bytes(2_048))),
            nodes: None,
            placement: Placement::Linear,
        }],
        observe: ObserveSpec {
            links: true,
            messages: MessageDetail::Summary,
            timeline: false,
            ranks: false,
            operations: false,
            links_every: None,
        },
        cost: None,
        control: RunControl {
            seed: 1,
            end: Some(Time::from_us(100)),
            warmup: None,
            drain: None,
            drain_sources: true,
            engine: Engine::Auto,
            workers: 0,
            partition: PartitionSpec::Auto,
            fast_forward: fabric::spec::FastForward::Exact,
            precision: 0,
            draw_cycle: 0,
            stall_after: Time::from_us(1_000),
            perturbation: None,
        },
    };
    assert_eq!(study.runs, vec![expected]);
}

#[test]
fn experiments_and_sweeps_are_expanded_in_written_order_with_seeds_innermost() {
    let study = load(FULL);
    let words: Vec<String> = study
        .runs
        .iter()
        .map(|run| {
            let values: Vec<_> = run.sweep.iter().map(|(_, value)| value.as_str()).collect();
            format!("{} {} {}", run.experiment, values.join(" "), run.control.seed)
        })
        .collect();
    let expected = [
        "load minimal 0.1 1",
        "load minimal 0.1 2",
        "load minimal 0.2 1",
        "load minimal 0.2 2",
        "load minimal 0.3 1",
        "load minimal 0.3 2",
        "load valiant 0.1 1",
        "load valiant 0.1 2",
        "load valiant 0.2 1",
        "load valiant 0.2 2",
        "load valiant 0.3 1",
        "load valiant 0.3 2",
        "size min-random 1 KiB 1",
        "size min-random 1 KiB 2",
        "size min-random 4 KiB 1",
        "size min-random 4 KiB 2",
    ];
    assert_eq!(words, expected);
    assert_eq!(study.runs[0].nic.packet, Bytes(1_024));
    assert_eq!(study.runs[12].nic.packet, Bytes(2_048));
    assert_eq!(study.runs[0].sweep[1].0, "job.left.work.load");
    let Work::Synthetic(work) = &study.runs[4].jobs[0].work else {
        panic!("synthetic work")
    };
    assert_eq!(work.load, Some(0.3));
    let Work::Pairs(work) = &study.runs[4].jobs[1].work else {
        panic!("pairs")
    };
    assert_eq!(
        (&work.matching, work.mode),
        (&Matching::Listed(vec![(0, 1), (2, 3)]), PairMode::Batch { batch: 5 })
    );
    let TopologySpec::Dragonfly(DragonflySpec {
        arrangement,
        arrangement_seed,
        ..
    }) = &study.runs[0].topology
    else {
        panic!("a dragonfly")
    };
    assert_eq!((*arrangement, *arrangement_seed), (Arrangement::Random, 5));
    let global = study.runs[0].links.by_class["global"];
    assert_eq!(
        (global.bandwidth.0, global.latency),
        (200_000_000_000, Time::from_us(1))
    );
}

#[test]
fn a_variant_is_another_form_of_the_study() {
    let study = load_with(FULL, &variant("quick"));
    assert_eq!(study.runs.len(), 4);
    assert!(
        study
            .runs
            .iter()
            .all(|run| run.experiment == "load" && run.control.end == Some(Time::from_us(10)))
    );
}

#[test]
fn experiments_can_be_chosen() {
    let options = LoadOptions {
        experiments: vec!["size".to_owned()],
        ..LoadOptions::default()
    };
    assert_eq!(load_with(FULL, &options).runs.len(), 4);
}

#[test]
fn a_set_key_wins_over_file_experiment_variant_and_sweep() {
    let all = sets(&[
        "nic.packet=512 B",
        "routing.kind = \"valiant\"",
        "job.left.work.load=0.7",
        "run.seed=9",
    ]);
    let study = load_with(
        FULL,
        &LoadOptions {
            variant: Some("quick".to_owned()),
            ..all
        },
    );
    assert_eq!(study.runs.len(), 1);
    let run = &study.runs[0];
    assert_eq!(
        (run.nic.packet, run.routing.clone(), run.control.seed),
        (Bytes(512), RoutingSpec::VALIANT, 9)
    );
    assert!(run.sweep.is_empty());
}

#[test]
fn set_values_are_toml_or_plain_text() {
    let study = load_with(
        TORUS,
        &sets(&[
            "topology.shape=[3, 3, 3]",
            "link.latency=1.5 us",
            "job.0.work.kind=shift",
        ]),
    );
    assert_eq!(study.runs[0].links.default.latency, Time(1_500_000));
    assert!(matches!(&study.runs[0].topology, TopologySpec::Torus(lattice) if lattice.shape == [3, 3, 3]));
}

#[test]
fn a_list_takes_the_place_of_all_that_share_a_key_with_it() {
    let text = format!(
        "{TORUS}[sweep]\n\"routing.kind, router.vcs\" = [[\"dor\", 2], [\"valiant\", 4]]\n\"run.seed\" = [1, 2]\n\
         [experiment.a]\n[experiment.b.sweep]\n\"router.vcs\" = [6]\n"
    );
    let study = load(&text);
    let words: Vec<Vec<_>> = study
        .runs
        .iter()
        .map(|run| run.sweep.iter().map(|(_, value)| value.as_str()).collect())
        .collect();
    let expected: [&[&str]; 6] = [
        &["dor", "2", "1"],
        &["dor", "2", "2"],
        &["valiant", "4", "1"],
        &["valiant", "4", "2"],
        &["6", "1"],
        &["6", "2"],
    ];
    assert_eq!(words, expected);
    assert_eq!(study.runs[2].router.vcs, Some(4));
}

#[test]
fn tables_in_a_sweep_replace_whole_tables() {
    let text =
        format!("[router]\nvcs = 3\n{TORUS}[sweep]\nrouter = [{{ model = \"sculpin\" }}, {{ buffer = \"4 KiB\" }}]\n");
    let study = load(&text);
    assert_eq!(study.runs[0].router.model, RouterKind::SCULPIN);
    assert_eq!(
        (study.runs[1].router.vcs, study.runs[1].router.buffer),
        (None, Some(Bytes(4_096)))
    );
    assert_eq!(study.runs[0].sweep[0].1, "{ model = \"sculpin\" }");
}

#[test]
fn swept_tables_may_have_names_for_the_results() {
    let text = format!(
        "{TORUS}[[job]]\nname = \"first\"\nwork = {{ kind = \"uniform\", load = 0.1 }}\n[sweep]\n\
         router = [{{ name = \"plain\", model = \"sculpin\" }}, {{ buffer = \"4 KiB\", name = \"small buffers\" }}, {{ vcs = 3 }}]\n\
         \"job.0\" = [{{ name = \"second\", work = {{ kind = \"uniform\", load = 0.2 }} }}]\n"
    );
    let study = load(&text);
    let of_router = |run: &RunSpec| run.sweep[0].1.clone();
    let names: Vec<_> = study.runs.iter().map(of_router).collect();
    assert_eq!(names, ["plain", "small buffers", "{ vcs = 3 }"]);
    assert_eq!(study.runs[0].router.model, RouterKind::SCULPIN);
    assert_eq!(study.runs[1].router.buffer, Some(Bytes(4_096)));
    // A job's name is its own.
    assert_eq!(study.runs[0].jobs[0].name, "second");
    assert!(study.runs[0].sweep[1].1.starts_with("{ name = "));
    // A name is said in several points of keys that are swept together, of one table; what else the runs are does not depend on it.
    let together = |name: &str| {
        let table = format!("{{ {name}kind = \"torus\", shape = [4, 2] }}");
        load(&format!(
            "{TORUS}[sweep]\n\"topology, routing.kind\" = [[{table}, \"dor\"], [{table}, \"valiant\"]]\n"
        ))
        .runs
    };
    let (named, bare) = (together("name = \"flat\", "), together(""));
    for (named, bare) in named.iter().zip(&bare) {
        assert_eq!(named.sweep[0], ("topology".to_owned(), "flat".to_owned()));
        let mut same = named.clone();
        same.sweep.clone_from(&bare.sweep);
        assert_eq!(canonical(&same), canonical(bare));
    }
}

#[test]
fn packets_of_one_time_are_taken_by_links_where_that_is_asked_for() {
    let ties = |text: &str| load(&format!("{text}\n{TORUS}")).runs.remove(0).router.ties;
    for preset in ["sculpin", "pisces"] {
        let router = format!("[router]\npreset = \"{preset}\"\n");
        assert_eq!(ties(&router), Ties::Hash);
        assert_eq!(ties(&format!("{router}[mpi]\npreset = \"sst-macro\"\n")), Ties::Hash);
        assert_eq!(ties(&format!("{router}ties = \"links\"\n")), Ties::Links);
    }
}

#[test]
fn presets_fill_defaults_and_explicit_keys_override() {
    let preset = |text: &str| load(&format!("{text}\n{TORUS}")).runs.remove(0);
    let sculpin = preset("router.preset = \"sculpin\"");
    assert_eq!(
        (sculpin.router.model, sculpin.router.traversal),
        (RouterKind::SCULPIN, Time::ZERO)
    );
    assert_eq!(sculpin.router.buffer, None);
    let pisces = preset("router.preset = \"pisces\"\nrouter.buffer = \"8 KiB\"");
    assert_eq!(
        (
            pisces.router.shares_buffers,
            pisces.router.buffer,
            pisces.router.output_buffer
        ),
        (true, Some(Bytes(8_192)), Some(Bytes(64_000)))
    );
    let merlin = preset("router.preset = \"merlin\"\nlink.bandwidth = \"20 GB/s\"");
    assert_eq!(merlin.router.crossbar_bandwidth, Some(BitsPerSec(240_000_000_000)));
    assert_eq!(
        (merlin.router.traversal, merlin.router.delivery),
        (Time::from_ns(40), DeliveryPoint::Head)
    );
    let torus = preset("router.preset = \"codes-torus\"\nlink.bandwidth = \"2 GiB/s\"");
    // 8 B at 2 GiB/s are 3,725.29 ps, and 0.5 ns is the mean of the random part.
    assert_eq!((torus.router.credit_delay, torus.router.bubble), (Time(4_226), 2));
    assert_eq!(
        (torus.nic.packet, torus.nic.chunk, torus.nic.idle_delay_per_byte),
        (Bytes(512), Some(Bytes(32)), Time(10_000))
    );
    assert_eq!(
        (torus.links.default.latency, torus.router.local_latency),
        (Time::ZERO, Time(750))
    );
    let torus = preset(
        "router.preset = \"codes-torus\"\nrouter.credit_delay = \"1 ns\"\nnic.chunk = \"64 B\"\nlink.latency = \"2 ns\"\nrouting.kind = \"dor\"",
    );
    assert_eq!(
        (torus.router.credit_delay, torus.nic.chunk, torus.links.default.latency),
        (Time(1_000), Some(Bytes(64)), Time::from_ns(2))
    );
    assert_eq!(torus.routing, RoutingSpec::Dor(TieSpec { tie: Tie::Unwrapped }));
    let pipelined =
        preset("router.preset = \"codes-torus-pipelined\"\nrouting = { kind = \"rdr\", tie = \"positive\" }");
    assert!(!pipelined.router.traversal_occupies_link);
    assert_eq!(pipelined.nic.idle_delay_per_byte, Time::ZERO);
    assert_eq!(pipelined.routing, RoutingSpec::RDR);
}

#[test]
fn work_without_end_gets_an_end_and_counted_work_runs_until_it_is_done() {
    let end = |work: &str| load(&format!("{TORUS}[[job]]\nwork = {work}\n")).runs[0].control.end;
    assert_eq!(end("{ kind = \"uniform\" }"), Some(Time::from_us(100)));
    assert_eq!(end("{ kind = \"uniform\", load = 0.2, count = 10 }"), None);
    assert_eq!(end("{ kind = \"pairs\" }"), None);
}

#[test]
fn a_count_without_load_hands_everything_over_at_the_start() {
    let study = load(&format!(
        "{TORUS}[[job]]\nwork = {{ kind = \"tornado\", count = 10 }}\n"
    ));
    assert!(
        matches!(&study.runs[0].jobs[0].work, Work::Synthetic(work) if work.load.is_none() && work.count == Some(10))
    );
}

#[test]
fn every_topology_can_be_asked_for() {
    let cases = [
        "kind = \"single-router\"\nnodes = 64",
        "kind = \"ring\"\nrouters = 8\nwidth = 2",
        "kind = \"mesh\"\nshape = [3, 3]\nwidth = [1, 2]",
        "kind = \"torus\"\nshape = [2, 2, 2]",
        "kind = \"hyperx\"\nshape = [8, 8, 8]\nwidth = 2\nnodes_per_router = 16",
        "kind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\nnodes_per_router = 2",
        "kind = \"dragonfly+\"\ngroups = 5\nleaves = 4\nspines = 4\nnodes_per_leaf = 4\narrangement = \"relative\"",
        "kind = \"hyperx\"\nshape = [8, 4]\nnodes_per_router = 16\ntaper = 2",
        "kind = \"fat-tree\"\ndown = [8, 8, 16]\ntaper = 2\nup_width = 1",
        "kind = \"fat-tree\"\ndown = [16, 4]\nup = [4]\nup_width = [2]",
    ];
    for case in cases {
        let study = load(&format!("[topology]\n{case}\n"));
        assert_eq!(runs_of_canonical(&study.canonical), Ok(study.runs.clone()));
    }
    let study = load("[topology]\nkind = \"fat-tree\"\ndown = [8, 8, 16]\ntaper = 2\n");
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![8, 8, 16],
        up: vec![4, 8],
        up_width: vec![],
    });
    assert_eq!(study.runs[0].topology, tree);
}

#[test]
fn taper_of_a_ready_made_fat_tree_keeps_what_is_above() {
    let tapered = load("[topology]\npreset = \"ecp-8k-fat-tree\"\ntaper = 2\n");
    let tree = TopologySpec::FatTree(FatTreeSpec {
        down: vec![32, 32, 8],
        up: vec![16, 4],
        up_width: vec![1, 8],
    });
    assert_eq!(tapered.runs[0].topology, tree);
    let half = tree.build().unwrap().bisection().cables;
    assert_eq!(
        2 * half,
        load("[topology]\npreset = \"ecp-8k-fat-tree\"\n").runs[0]
            .topology
            .build()
            .unwrap()
            .bisection()
            .cables
    );
    // What is said beside it counts.
    let own = load("[topology]\npreset = \"ecp-8k-fat-tree\"\ndown = [8, 8, 4]\nup_width = 1\ntaper = 2\n");
    let tree = FatTreeSpec {
        down: vec![8, 8, 4],
        up: vec![4, 8],
        up_width: vec![1, 1],
    };
    assert_eq!(own.runs[0].topology, TopologySpec::FatTree(tree));
}

#[test]
fn fewer_long_cables_taper_a_dragonfly_and_a_hyperx() {
    let bisection = |keys: &str| {
        let study = load(&format!("topology = {{ {keys} }}\n"));
        study.runs[0].topology.build().unwrap().bisection().cables
    };
    for (preset, less) in [
        ("ecp-8k-dragonfly", "links_per_pair = 16"),
        ("ecp-8k-dragonfly", "taper = 2"),
        ("ecp-8k-dragonfly+", "links_per_pair = 64"),
        ("ecp-8k-dragonfly+", "taper = 2"),
        ("ecp-8k-hyperx", "width = [2, 1, 1]"),
        ("ecp-8k-hyperx", "taper = 2"),
    ] {
        let whole = bisection(&format!("preset = \"{preset}\""));
        assert_eq!(
            whole,
            2 * bisection(&format!("preset = \"{preset}\", {less}")),
            "{preset}"
        );
    }
}

#[test]
fn taper_says_how_many_nodes_share_a_long_cable() {
    let topology = |keys: &str| load(&format!("topology = {{ {keys} }}\n")).runs[0].topology.clone();
    // Of a HyperX at 1 the bisection carries what half of the nodes send (Ahn et al. 2009).
    for (shape, nodes, taper) in [
        ("[8, 8, 8]", 16, 1),
        ("[8, 8, 8]", 16, 4),
        ("[8, 1, 4]", 8, 2),
        ("[16, 8]", 32, 2),
    ] {
        let of = format!("kind = \"hyperx\", shape = {shape}, nodes_per_router = {nodes}, taper = {taper}");
        let network = topology(&of).build().unwrap();
        let half = u64::from(network.n_nodes()) / 2;
        assert_eq!(network.bisection().cables * taper, half, "{of}");
    }
    // Groups of 32 and of 64 nodes with 4 others.
    for (of, links) in [
        (
            "kind = \"dragonfly\", groups = 5, routers_per_group = 8, nodes_per_router = 4",
            8,
        ),
        (
            "kind = \"dragonfly+\", groups = 5, leaves = 8, spines = 8, nodes_per_leaf = 8",
            16,
        ),
    ] {
        for taper in [1, 2, 4] {
            let tapered = topology(&format!("{of}, taper = {taper}"));
            assert_eq!(
                tapered,
                topology(&format!("{of}, links_per_pair = {}", links / taper)),
                "{of}"
            );
        }
    }
}

#[test]
fn prices_stand_in_the_run_and_only_where_there_are_some() {
    let without = load(TORUS);
    assert!(without.runs[0].cost.is_none() && !without.canonical.contains("cost"));
    let empty = load(&format!("{TORUS}[cost]\n"));
    assert_eq!(empty.runs[0].cost, Some(crate::default_cost()));
    assert_eq!(runs_of_canonical(&empty.canonical), Ok(empty.runs.clone()));
    assert_ne!(run_hash(&empty.runs[0]), run_hash(&without.runs[0]));
    let swept = load(&format!(
        "{TORUS}[sweep]\n\"cost.layout.nodes_per_rack\" = [16, 32]\n\"cost.port_power\" = [\"1 W\", \"2 W\"]\n"
    ));
    let found = swept.runs.iter().map(|run| {
        let cost = run.cost.as_ref().unwrap();
        (cost.layout.nodes_per_rack, cost.port_power)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(16, 1_000), (16, 2_000), (32, 1_000), (32, 2_000)]
    );
    assert_eq!(runs_of_canonical(&swept.canonical), Ok(swept.runs.clone()));
    let sampled = load(&format!(
        "{TORUS}[sample]\npoints = 4\n\"cost.electrical.reach\" = {{ from = \"1 m\", to = \"9 m\" }}\n"
    ));
    assert!(
        sampled
            .runs
            .iter()
            .all(|run| (1_000..=9_000).contains(&run.cost.as_ref().unwrap().reach))
    );
}

#[test]
fn graphs_are_found_beside_the_study() {
    let base = std::env::temp_dir().join(format!("fabricsim-graph-{}", std::process::id()));
    std::fs::create_dir_all(&base).unwrap();
    std::fs::write(base.join("g.txt"), "a b\nb c\nc a 2\n").unwrap();
    let text = "[topology]\nkind = \"graph\"\nfile = \"g.txt\"\nnodes_per_router = 1\n";
    let study = load_study(text.as_bytes(), "g.toml", &base, &LoadOptions::default());
    std::fs::remove_dir_all(&base).unwrap();
    let study = study.unwrap_or_else(|diagnostics| panic!("{}", render(&diagnostics)));
    let TopologySpec::Graph(GraphSpec { file, format, .. }) = &study.runs[0].topology else {
        panic!("a graph")
    };
    assert_eq!(
        (Path::new(file), *format),
        (base.join("g.txt").as_path(), topo::GraphFormat::EdgeList)
    );
}

#[test]
fn canonical_texts_read_back_as_equal_runs_and_are_stable() {
    let study = load(FULL);
    assert_eq!(runs_of_canonical(&study.canonical), Ok(study.runs.clone()));
    let mut hashes: Vec<String> = Vec::new();
    for run in &study.runs {
        let text = canonical(run);
        assert_eq!(run_of_canonical(&text).unwrap(), *run);
        hashes.push(hash(&text));
    }
    assert_eq!(load(FULL).canonical, study.canonical);
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), study.runs.len());
}

#[test]
fn how_a_study_is_written_does_not_change_its_canonical_text() {
    let one = load("[topology]\nkind = \"torus\"\nshape = [4, 4]\n[link]\nbandwidth = \"25 GB/s\"\n");
    let other =
        load("link.bandwidth = \"200 Gbit/s\"\n[topology]\nshape = [4, 4]\nnodes_per_router = 1\nkind = \"torus\"\n");
    assert_eq!(one.canonical, other.canonical);
}

#[test]
fn claims_and_reproduce_pass_through() {
    let study = load(FULL);
    assert_eq!(
        study.claims,
        serde_json::json!([{ "id": "a", "paper": "x", "value": 1.5 }])
    );
    assert_eq!(study.reproduce, serde_json::json!({ "figure": 3 }));
    let plain = load(TORUS);
    assert_eq!(
        (plain.claims, plain.reproduce),
        (serde_json::json!([]), serde_json::Value::Null)
    );
}

#[test]
fn warnings_do_not_stop_a_study() {
    let slow = "[router]\npreset = \"merlin\"\ncrossbar_bandwidth = \"1 GB/s\"\n";
    let study = load(&format!("{TORUS}{slow}"));
    assert_eq!(study.warnings.len(), 1);
    assert_eq!(
        (study.warnings[0].line, study.warnings[0].key.as_str()),
        (6, "router.crossbar_bandwidth")
    );
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    assert_eq!(load(&format!("\u{feff}{}", TORUS.replace('\n', "\r\n"))).runs.len(), 1);
}

#[test]
fn every_entry_of_the_registry_is_listed_once_with_a_line() {
    for kind in registry::FAMILIES {
        let entries = registry::list(kind);
        let mut names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), entries.len(), "{kind:?}");
        assert!(entries.iter().all(|entry| entry.line.ends_with('.')), "{kind:?}");
        assert!(registry::family(kind.name).is_some_and(|found| std::ptr::eq(found, kind)));
    }
}

#[test]
fn every_default_of_the_registry_is_a_value_of_its_key() {
    let of_sections = registry::sections().iter().flat_map(|section| section.parameters);
    let entries = registry::FAMILIES.into_iter().flat_map(|family| family.entries());
    let keys: Vec<_> = of_sections
        .chain(entries.flat_map(|entry| entry.parameters()))
        .collect();
    assert!(keys.len() > 400, "{}", keys.len());
    for key in keys {
        // A table of work has a default in words only.
        if let study::Default::Text(text) = key.default {
            let value = study::reader::default_value(&key.kind, text);
            assert!(value.is_some(), "{}: {text}", key.key);
        }
    }
}

#[test]
fn the_schema_has_every_key_of_the_registry() {
    let schema = registry::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for section in registry::sections() {
        let tables = section.name.split('.');
        let table = tables.fold(&schema, |table, name| &table["properties"][name]);
        let table = if section.header.starts_with("[[") {
            &table["items"]
        } else {
            table
        };
        for parameter in section.parameters {
            let property = &table["properties"][parameter.key];
            assert!(
                property["description"].is_string(),
                "{}.{}",
                section.name,
                parameter.key
            );
            let has_default = matches!(parameter.default, study::Default::Text(_));
            assert_eq!(
                property.get("default").is_some(),
                has_default,
                "{}.{}",
                section.name,
                parameter.key
            );
        }
    }
    let forms = schema["properties"]["topology"]["oneOf"].as_array().unwrap();
    assert_eq!(forms.len(), registry::list(&registry::TOPOLOGY).len() + 1);
}

#[test]
fn every_routing_and_pattern_of_the_registry_can_be_used() {
    let fat_tree = "[topology]\nkind = \"fat-tree\"\ndown = [4, 4]\nup = [2]\n[[job]]\n";
    let hyperx = "[topology]\nkind = \"hyperx\"\nshape = [4, 4]\n[[job]]\n";
    let dragonfly = "[topology]\nkind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\n[[job]]\n";
    let dragonfly_plus = "[topology]\nkind = \"dragonfly+\"\ngroups = 3\nleaves = 2\nspines = 2\n[[job]]\n";
    for entry in registry::list(&registry::ROUTING) {
        let fits =
            |text: &&str| fabric::routing::fits(entry.name, &load_with(text, &LoadOptions::default()).runs[0].topology);
        let text = [TORUS, fat_tree, hyperx, dragonfly, dragonfly_plus]
            .into_iter()
            .find(fits)
            .unwrap();
        // What a file says is looked at when the network is built.
        let file = concat!("routing.file=", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let kind = format!("routing.kind={}", entry.name);
        let keys = [&kind, file];
        let study = load_with(text, &sets(&keys[..if entry.name == "table" { 2 } else { 1 }]));
        assert_eq!(study.runs.len(), 1);
        let written = serde_json::to_value(&study.runs[0].routing).unwrap();
        assert_eq!(written["kind"], entry.name);
    }
    for entry in registry::list(&registry::WORK) {
        let work = match entry.name {
            "ops" => "job.0.work={ kind = \"ops\", table = \"rank,op\\n0,barrier\\n\", ranks = 1 }".to_owned(),
            "program" => "job.0.work={ kind = \"program\", command = [\"./program\"], ranks = 1 }".to_owned(),
            "trace" => format!(
                "job.0.work={{ kind = \"trace\", file = {:?} }}",
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_texts/trace.work")
            ),
            "messages" => {
                "job.0.work={ kind = \"messages\", table = \"time,source,destination,bytes\\n1 ns,0,1,8\\n\" }"
                    .to_owned()
            }
            "partners" => "job.0.work={ kind = \"partners\", table = \"source,destination\\n0,1\\n\" }".to_owned(),
            "matrix" => "job.0.work={ kind = \"matrix\", table = \"source,destination,weight\\n0,1,1\\n\" }".to_owned(),
            "mixed" => "job.0.work={ kind = \"mixed\", parts = [{ kind = \"uniform\" }] }".to_owned(),
            name => format!("job.0.work.kind={name}"),
        };
        assert_eq!(load_with(TORUS, &sets(&[&work])).runs.len(), 1, "{}", entry.name);
    }
    for (key, kind) in [
        ("router.preset", &registry::ROUTER_PRESET),
        ("run.engine", &registry::ENGINE),
    ] {
        for entry in registry::list(kind) {
            assert_eq!(
                load_with(TORUS, &sets(&[&format!("{key}={}", entry.name)])).runs.len(),
                1,
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn a_memory_node_is_what_the_registry_says() {
    let work = |text: &str| {
        let study = load_with(TORUS, &sets(&[&format!("job.0.work={{ kind = \"memory\", {text} }}")]));
        match &study.runs[0].jobs[0].work {
            Work::Memory(memory) => memory.clone(),
            other => panic!("{other:?}"),
        }
    };
    let plain = Memory::default();
    assert_eq!(work("cores = 4"), plain);
    let given = Memory {
        pattern: AccessPattern::Stride { stride: Bytes(100) },
        stores: 0.25,
        outstanding: 3,
        told: true,
        interleaved: true,
        memory_bandwidth: BitsPerSec(16_000_000_000),
        ..plain
    };
    let text = "pattern = \"stride\", stride = \"100 B\", stores = 25, outstanding = 3, clean_evictions = \"told\", \
                addresses = \"interleaved\", memory_bandwidth = \"2 GB/s\"";
    assert_eq!(work(text), given);
    // A preset says all of it, and keys beside it replace single values.
    let preset = work(
        "preset = \"memhierarchy\", interfaces = \"caches-and-memory\", evict = \"when-come\", memory_latency = \"1 us\"",
    );
    let by_part = NodeArrangement {
        interfaces: InterfaceUse::ByPart,
        clean_writebacks: CleanWritebacks::Line,
        writeback_answers: WritebackAnswers::AsSent,
        evict: Evict::WhenCome,
        own_node: OwnNode::ThroughRouter,
    };
    assert_eq!((preset.arrangement, preset.interfaces), (by_part, 2));
    assert_eq!(
        (preset.memory_latency, preset.l1_latency),
        (Time::from_us(1), Time::from_ns(2))
    );
    assert_eq!(preset.preset.as_deref(), Some("memhierarchy"));
}

#[test]
fn the_largest_sweep_is_expanded() {
    let numbers = |n: usize| (1..=n).map(|i| format!("\"{i} ns\"")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "{TORUS}[sweep]\n\"link.latency\" = [{}]\n\"router.traversal\" = [{}]\n",
        numbers(100),
        numbers(100)
    );
    let study = load_with(&text, &sets(&["run.seeds=[1,2,3,4,5,6,7,8,9,10]"]));
    assert_eq!(study.runs.len() as u64, MOST_RUNS);
}

#[test]
fn errors_of_options_point_at_the_option() {
    let option = |name: &str| vec![name.to_owned()];
    let plain = LoadOptions::default();
    let cases = [
        (sets(&["router.vcs"]), "--set", 1, "--set", "has no `=`"),
        (sets(&["routr.vcs=2"]), "--set", 1, "routr.vcs", "not a key path"),
        (sets(&["router.vsc=2"]), "--set", 1, "router.vsc", "unknown key"),
        (sets(&["router.vcs=99"]), "--set", 12, "router.vcs", "99 is too large"),
        (sets(&["link.latency=7"]), "--set", 14, "link.latency", "bare number 7"),
        (
            sets(&["link.latency = seven"]),
            "--set",
            15,
            "link.latency",
            "decimal number",
        ),
        (sets(&["job.1.nodes=2"]), "--set", 1, "job.1.nodes", "no element"),
        (
            LoadOptions {
                variant: Some("quick".to_owned()),
                ..plain.clone()
            },
            "--variant",
            1,
            "variant",
            "no variant",
        ),
        (
            LoadOptions {
                experiments: option("load"),
                ..plain
            },
            "--experiment",
            1,
            "experiment",
            "no experiment",
        ),
    ];
    for (options, file, column, key, reason) in cases {
        let found = load_study(TORUS.as_bytes(), "a.toml", Path::new("."), &options).expect_err(key);
        assert_eq!(found.len(), 1, "{}", render(&found));
        let place = (
            found[0].file.as_str(),
            found[0].line,
            found[0].column,
            found[0].key.as_str(),
        );
        assert_eq!(place, (file, 1, column, key), "{}", render(&found));
        assert!(found[0].reason.contains(reason), "{}", render(&found));
    }
}

#[test]
fn swept_tables_over_several_lines_are_named_on_one_line() {
    let study = load(&format!("{TORUS}[sweep]\nrouting = [{{\n kind = \"dor\",\n}}]\n"));
    assert_eq!(study.runs[0].sweep[0].1, "{ kind = \"dor\", }");
}

#[test]
fn valiant_leads_over_nodes_unless_it_is_said() {
    let canonical = |sets: &LoadOptions| {
        let study = load_with(TORUS, sets);
        let text = serde_json::to_string(&study.runs[0].routing).unwrap();
        assert_eq!(
            serde_json::from_str::<RoutingSpec>(&text).unwrap(),
            study.runs[0].routing
        );
        text
    };
    let valiant = "routing.kind=valiant";
    assert_eq!(canonical(&sets(&[valiant])), r#"{"kind":"valiant"}"#);
    assert_eq!(
        canonical(&sets(&[valiant, "routing.via=node"])),
        r#"{"kind":"valiant"}"#
    );
    assert_eq!(
        canonical(&sets(&[valiant, "routing.via=router"])),
        r#"{"kind":"valiant","via":"router"}"#
    );
    let ugal = canonical(&sets(&["routing.kind=ugal"]));
    assert!(ugal.contains(r#""via":"router""#), "{ugal}");
}

#[test]
fn tables_are_read_with_their_paths_and_read_back() {
    let hyperx = "[topology]\nkind = \"hyperx\"\nshape = [4, 4]\n";
    let tables = |keys: &[&str]| {
        let study = load_with(hyperx, &sets(keys));
        let text = serde_json::to_string(&study.runs[0].routing).unwrap();
        assert_eq!(
            serde_json::from_str::<RoutingSpec>(&text).unwrap(),
            study.runs[0].routing
        );
        study.runs[0].routing.tables().unwrap().1.clone()
    };
    let engine = |lanes, roots: &[u32], lmc| TableSource::Engine {
        lanes,
        roots: roots.to_vec(),
        lmc,
        seed: 1,
        demands: None,
        torus: None,
    };
    let of_jobs = |source| match source {
        TableSource::Engine {
            lanes,
            roots,
            lmc,
            seed,
            ..
        } => TableSource::Engine {
            lanes,
            roots,
            lmc,
            seed,
            demands: Some(DemandsSpec {
                from: DemandsFrom::Jobs,
                sums: SumsIn::EightBits,
            }),
            torus: None,
        },
        source => source,
    };
    let parx = tables(&["routing.kind=parx"]);
    assert_eq!(parx.source, of_jobs(engine(8, &[], 2)));
    assert_eq!((parx.path, parx.small_below), (PathChoice::BySize, Bytes(512)));
    let up = tables(&["routing.kind=updn", "routing.roots=[3, 5]", "routing.lmc=1"]);
    assert_eq!(up.source, engine(1, &[3, 5], 1));
    assert_eq!(up.path, PathChoice::RoundRobin);
    let layers = tables(&["routing.kind=dfsssp", "routing.lanes=3", "routing.path=random"]);
    assert_eq!(layers.source, engine(3, &[], 0));
    assert_eq!(layers.path, PathChoice::Random);
}

/// Racks are told by what is in them: what fails is what would fail by name.
#[test]
fn a_rack_that_fails_is_its_routers_and_the_nodes_that_stand_in_it() {
    let work = "[[job]]\nwork = { kind = \"uniform\", load = 0.1 }\n[run]\nend = \"1 us\"\n";
    let fails = |topology: &str, layout: &str, fails: &str| {
        let study = load(&format!("{topology}\n{layout}\n{fails}\n{work}"));
        let run = &study.runs[0];
        let outage = run.outages.list.first().map(|outage| outage.what.clone());
        (run.fail.clone(), outage)
    };
    let dragonfly = "topology = { kind = \"dragonfly\", groups = 9, routers_per_group = 4, nodes_per_router = 2 }";
    // Two groups to a rack: the second one has the groups 2 and 3.
    let two = "[cost.layout]\nrouters_per_rack = 8";
    let members: Vec<String> = (2..4)
        .flat_map(|group| (0..4).map(move |router| format!("g{group}.r{router}")))
        .collect();
    let named = format!("routers = {members:?}");
    for table in ["[fail]", "[[outage]]\nat = \"2 us\""] {
        let by_name = fails(dragonfly, two, &format!("{table}\n{named}"));
        assert_eq!(fails(dragonfly, two, &format!("{table}\nracks = 1")), by_name);
        // Beside what is named.
        let both = fails(dragonfly, two, &format!("{table}\nnodes = [0]\nracks = [1]"));
        assert_ne!(both, by_name);
        assert_eq!(fails(dragonfly, two, &format!("{table}\nnodes = [0]\n{named}")), both);
    }
    // Without [cost] those of its defaults: 32 routers to a rack.
    let (fail, _) = fails(dragonfly, "", "[fail]\nracks = [1]");
    assert_eq!(fail.routers, ["g8.r0", "g8.r1", "g8.r2", "g8.r3"]);
    // Nodes that a rack cannot hold fill those behind it: their router lives on, and falls with its own rack alone.
    let single = "topology = { kind = \"single-router\", nodes = 8 }";
    let three = "[cost.layout]\nnodes_per_rack = 3";
    let (fail, _) = fails(single, three, "[fail]\nracks = [2, 1]");
    assert_eq!((fail.routers.len(), fail.nodes), (0, vec![3, 4, 5, 6, 7]));
}

#[test]
fn what_an_estimate_is_worth_is_said_where_there_is_one_and_names_the_run() {
    let with = |run: &str| {
        load(&format!(
            "name = \"s\"\n[topology]\nkind = \"ring\"\nrouters = 4\n[[job]]\nwork = {{ kind = \"ring\" }}\n[run]\nend = \"done\"\n{run}\n"
        ))
    };
    let precision = |run: &str| with(run).runs[0].control.precision;
    assert_eq!(precision("fast_forward = \"statistical\""), 10_000);
    assert_eq!(precision("fast_forward = \"statistical\"\nprecision = 0.0025"), 2_500);
    assert_eq!(precision("fast_forward = \"off\""), 0);
    let name = |run: &str| crate::run_hash(&with(run).runs[0]);
    assert_eq!(name("fast_forward = \"off\""), name(""));
    let estimated = name("fast_forward = \"statistical\"");
    assert!(estimated != name("") && estimated != name("fast_forward = \"statistical\"\nprecision = 0.1"));
}
