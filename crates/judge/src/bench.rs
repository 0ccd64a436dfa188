//! The benchmark cases, built into the program so that every machine runs the same.

mod exchange;
mod recorded;
mod training;

use crate::run::{RunError, run};
use des::Time;
use des::optimistic::{OptimisticEngine, Speculation};
use des::phold::{Nobody, Phold};
use fabric::spec::*;
use serde::Serialize;
use std::path::Path;
use topo::{DragonflySpec, Lattice, TopologySpec};
use vocabulary::{LoadOptions, load_study};

/// A benchmark case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "hyperx-32k-credit",
        about: "HyperX 16x16x8, 16 nodes per router, DOR, uniform at half load, credit, 20 us",
    },
    Case {
        name: "hyperx-32k-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "hyperx-2k-credit",
        about: "HyperX 8x8x4, 8 nodes per router, DOR, uniform at half load, credit, 40 us",
    },
    Case {
        name: "hyperx-2k-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "dragonfly-8k-credit",
        about: "dragonfly of 65 groups of 16 routers with 8 nodes: 8,320 nodes, minimal, uniform at half load, credit, 40 us",
    },
    Case {
        name: "dragonfly-8k-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "dragonfly-262k",
        about: "dragonfly of 1,024 groups of 32 routers with 8 nodes: 262,144 nodes, minimal, uniform at 10 % load, credit, 10 us",
    },
    Case {
        name: "torus-1m-load",
        about: "torus 100x100x100, dimension order, uniform at 10 % load, credit, 10 us",
    },
    Case {
        name: "torus-1m",
        about: "torus 100x100x100, one 2 KiB message from every node to a random other, credit",
    },
    Case {
        name: "torus-8k-short",
        about: "torus 32x16x16 with links and routers of 10 ns, dimension order, uniform at half load, credit, 20 us",
    },
    Case {
        name: "torus-4k-chunks",
        about: "torus 16x16x16, CODES' pipelined timing, random pairs, 10 messages of 2 KiB each way in chunks of 32 B",
    },
    Case {
        name: "vc-mesh-64",
        about: "mesh 8x8 of vc-routers, 4 virtual channels of 8 flits, packets of a flit, uniform at 20 % load, 20,000 cycles",
    },
    Case {
        name: "vc-dragonfly-4k",
        about: "dragonfly of 33 groups of 16 vc-routers with 8 nodes: 4,224 nodes, minimal, packets of 4 flits, uniform at 20 % load, 2,000 cycles",
    },
    Case {
        name: "halo3d-26-1024-credit",
        about: "one Halo3D-26 exchange, 128^3 cells of 10 values per rank, 1,024 ranks, one per node of a full 3-level fat-tree, credit",
    },
    Case {
        name: "halo3d-26-1024-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "halo3d-26-32k-credit",
        about: "the same exchange of 32,768 ranks on the HyperX of the ECP report, one per node, credit",
    },
    Case {
        name: "halo3d-26-32k-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "halo3d-26-32k-dfp-credit",
        about: "the same exchange on the dragonfly+ of the ECP report, credit",
    },
    Case {
        name: "halo3d-26-32k-dfp-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "sweep3d-32k-credit",
        about: "the Sweep3D of the ECP report, 40x40x1000 cells per rank in blocks of 10, 32,768 ranks on its HyperX, one per node, credit",
    },
    Case {
        name: "sweep3d-32k-sculpin",
        about: "the same with sculpin",
    },
    Case {
        name: "alltoall-1024",
        about: "one pairwise MPI_Alltoall of 4 KiB per pair, 1,024 ranks, one per node of a full 3-level fat-tree, credit",
    },
    Case {
        name: "halo3d-4k",
        about: "225 Halo3D exchanges with 6 neighbours, faces of 16 KiB, 4,096 ranks, an allreduce after every 10, dragonfly of the ECP report, sculpin",
    },
    Case {
        name: "halo3d-4k-credit",
        about: "the same, credit",
    },
    Case {
        name: "trace-4k",
        about: "the same exchanges from an OTF2 archive of 50 million records, which is written first and read, sculpin",
    },
    Case {
        name: "trace-4k-credit",
        about: "the same, credit",
    },
    Case {
        name: "chakra-1k",
        about: "a training step of 1,024 ranks (8 data x 8 tensor x 16 stages, 32 micro-batches), from Chakra traces that are written first, full 3-level fat-tree",
    },
    Case {
        name: "memory-256",
        about: "40 random reads by each of 4 cores of 256 memory nodes, HyperX 4x32, 2 nodes per router, 8 GB/s, credit",
    },
    Case {
        name: "memory-2k",
        about: "300 random reads by each of 4 cores of 2,048 memory nodes, HyperX 32x32, 2 nodes per router, 64 GB/s, credit",
    },
    Case {
        name: "phold-16k",
        about: "PHOLD, 16,384 LPs, remote 0.1, lookahead 0.1 of the mean, 40 means",
    },
    Case {
        name: "phold-65k",
        about: "PHOLD, 65,536 LPs",
    },
    Case {
        name: "phold-262k",
        about: "PHOLD, 262,144 LPs",
    },
    Case {
        name: "phold-1m",
        about: "PHOLD, 1,048,576 LPs",
    },
    Case {
        name: "phold-16k-optimistic",
        about: "PHOLD, 16,384 LPs, optimistic engine on one worker",
    },
    Case {
        name: "phold-65k-optimistic",
        about: "PHOLD, 65,536 LPs, optimistic engine",
    },
    Case {
        name: "phold-262k-optimistic",
        about: "PHOLD, 262,144 LPs, optimistic engine",
    },
    Case {
        name: "phold-1m-optimistic",
        about: "PHOLD, 1,048,576 LPs, optimistic engine",
    },
];

/// What a case gave.
#[derive(Clone, Debug, Serialize)]
pub struct BenchResult {
    /// The case.
    pub name: String,
    /// Packets sent by routers over links, ejections included; 0 for PHOLD.
    pub packet_hops: u64,
    /// Per second of CPU time, set-up excluded.
    pub packet_hops_per_cpu_s: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_s: f64,
    /// Events.
    pub events: u64,
    /// CPU seconds of the simulation, of all workers.
    pub cpu_s: f64,
    /// Wall seconds of the simulation.
    pub wall_s: f64,
    /// Worker threads.
    pub workers: usize,
    /// Part of the workers' time spent waiting for each other; `None` for one worker.
    pub barrier_share: Option<f64>,
    /// Mean number of events in a window.
    pub events_per_window: f64,
    /// CPU seconds of the set-up.
    pub build_s: f64,
    /// Records of the recording that was played; 0 without one.
    pub records: u64,
    /// CPU seconds of reading, checking and keeping them.
    pub read_s: f64,
    /// Largest resident memory of the process.
    pub peak_rss_bytes: u64,
    /// Digest of the run.
    pub digest: String,
}

/// The specification of a network case, `length` times as long as usual.
pub fn network_case(name: &str, length: f64) -> Option<RunSpec> {
    let hyperx = |shape: [u32; 3], nodes| {
        plain(TopologySpec::HyperX(Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router: nodes,
        }))
    };
    if let Some(spec) = exchange::motif_case(name, length) {
        return Some(spec);
    }
    if let Some(text) = ranks_case(name) {
        let study = load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default()).ok()?;
        let mut spec = study.runs.into_iter().next()?;
        if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
            ranks.parts[0].iterations = (length as u32).max(1);
        }
        return Some(spec);
    }
    if let Some((shape, bandwidth, accesses)) = memory_case(name) {
        let accesses = ((f64::from(accesses) * length) as u32).max(1);
        let text = format!(
            r#"
                topology = {{ kind = "hyperx", shape = {shape}, nodes_per_router = 2 }}
                link = {{ bandwidth = "{bandwidth}" }}
                job = [{{ work = {{ kind = "memory", accesses = {accesses}, memory_bandwidth = "{bandwidth}" }} }}]
            "#
        );
        let study = load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default()).ok()?;
        return study.runs.into_iter().next();
    }
    if name == "torus-4k-chunks" {
        let text = r#"
            topology = { kind = "torus", shape = [16, 16, 16] }
            link = { bandwidth = "2 GiB/s" }
            router = { preset = "codes-torus-pipelined" }
            routing = { kind = "dor" }
            job = [{ work = { kind = "pairs", matching = "mutual", mode = "stream", messages = 10, message = "2 KiB" } }]
        "#;
        let study = load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default()).ok()?;
        let mut spec = study.runs.into_iter().next()?;
        if let Work::Pairs(pairs) = &mut spec.jobs[0].work {
            pairs.messages = ((pairs.messages as f64 * length) as u64).max(1);
        }
        return Some(spec);
    }
    if let Some(spec) = flits_case(name, length) {
        return Some(spec);
    }
    let (mut spec, end_ns) = match name {
        "hyperx-32k-credit" | "hyperx-32k-sculpin" => (hyperx([16, 16, 8], 16), 20_000.0),
        "hyperx-2k-credit" | "hyperx-2k-sculpin" => (hyperx([8, 8, 4], 8), 40_000.0),
        "dragonfly-8k-credit" | "dragonfly-8k-sculpin" => (plain(dragonfly(65, 16)), 40_000.0),
        "dragonfly-262k" => {
            let mut spec = plain(dragonfly(1_024, 32));
            spec.jobs[0].work = uniform(0.1);
            (spec, 10_000.0)
        }
        "torus-1m-load" => {
            let mut spec = plain(million());
            spec.jobs[0].work = uniform(0.1);
            (spec, 10_000.0)
        }
        "torus-8k-short" => {
            let mut spec = plain(TopologySpec::Torus(Lattice {
                shape: vec![32, 16, 16],
                width: vec![],
                nodes_per_router: 1,
            }));
            spec.links.default.latency = Time::from_ns(10);
            spec.router.traversal = Time::from_ns(10);
            (spec, 20_000.0)
        }
        "torus-1m" => {
            let mut spec = plain(million());
            spec.jobs[0].work = Work::Synthetic(Synthetic {
                load: None,
                count: Some(1),
                process: Process::Periodic,
                ..Synthetic::of(Pattern::Uniform, Bytes(2_048))
            });
            spec.control.end = None;
            spec.control.warmup = Some(Time::ZERO);
            return Some(spec);
        }
        _ => return None,
    };
    if name.ends_with("sculpin") {
        spec.router.model = RouterKind::SCULPIN;
    }
    spec.routing = match name.starts_with("dragonfly") {
        true => RoutingSpec::MINIMAL,
        false => RoutingSpec::DOR,
    };
    spec.control.end = Some(Time((end_ns * 1e3 * length) as u64));
    spec.control.warmup = Some(Time::ZERO);
    spec.control.drain = Some(Time::ZERO);
    Some(spec)
}

/// A case of vc-routers.
fn flits_case(name: &str, length: f64) -> Option<RunSpec> {
    let dragonfly =
        "kind = \"dragonfly\", groups = 33, routers_per_group = [16], nodes_per_router = 8, links_per_pair = 1";
    let (network, message, cycles) = match name {
        "vc-mesh-64" => ("kind = \"mesh\", shape = [8, 8]", "8 B", 20_000.0),
        "vc-dragonfly-4k" => (dragonfly, "32 B", 2_000.0),
        _ => return None,
    };
    let end = ((cycles * length) as u64).max(1);
    let work =
        format!("kind = \"uniform\", load = 0.2, message = \"{message}\", process = \"bernoulli\", slot = \"1 ns\"");
    let text = format!(
        "topology = {{ {network} }}\nrouter = {{ preset = \"booksim-iq\", vcs = 4 }}\njob = [{{ work = {{ {work} }} }}]\n\
         run = {{ end = \"{end} ns\", warmup = \"0 ns\", drain_sources = \"off\" }}\n"
    );
    let study = load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default()).ok()?;
    study.runs.into_iter().next()
}

/// Shape, bandwidth and accesses per core of a case of memory nodes.
fn memory_case(name: &str) -> Option<(&'static str, &'static str, u32)> {
    match name {
        "memory-256" => Some(("[4, 32]", "8 GB/s", 40)),
        "memory-2k" => Some(("[32, 32]", "64 GB/s", 300)),
        _ => None,
    }
}

/// The study of a case with MPI ranks.
fn ranks_case(name: &str) -> Option<String> {
    let model = if name.ends_with("sculpin") { "sculpin" } else { "credit" };
    let tree = r#"{ kind = "fat-tree", down = [16, 8, 8], up = [16, 8] }"#;
    let (topology, work) = match name.trim_end_matches("-credit").trim_end_matches("-sculpin") {
        "halo3d-26-1024" => (tree, HALO),
        "halo3d-26-32k" => (r#"{ preset = "ecp-32k-hyperx" }"#, HALO),
        "halo3d-26-32k-dfp" => (r#"{ preset = "ecp-32k-dragonfly+" }"#, HALO),
        "sweep3d-32k" => (r#"{ preset = "ecp-32k-hyperx" }"#, SWEEP),
        "alltoall-1024" => (
            tree,
            r#"{ kind = "collective", collective = "alltoall", message = "4 KiB" }"#,
        ),
        _ => return None,
    };
    Some(format!(
        r#"
            topology = {topology}
            router = {{ model = "{model}" }}
            mpi = {{ alltoall = "pairwise" }}
            observe = {{ links = false }}
            job = [{{ work = {work} }}]
        "#
    ))
}

/// Halo3D-26 as in the ECP report.
const HALO: &str = r#"{ kind = "halo3d-26", grid = [128, 128, 128], vars = 10 }"#;

/// Sweep3D as in the ECP report.
const SWEEP: &str = r#"{ kind = "sweep3d", grid = [40, 40, 1000], kba = 10 }"#;

/// Poisson messages of one packet between random nodes.
fn uniform(load: f64) -> Work {
    Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(2_048))
    })
}

/// A dragonfly with one link between each pair of groups and 8 nodes per router.
fn dragonfly(groups: u32, routers: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: vec![routers],
        nodes_per_router: 8,
        links_per_pair: 1,
        local_width: 1,
        arrangement: topo::Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

/// A torus of a million nodes.
fn million() -> TopologySpec {
    TopologySpec::Torus(Lattice {
        shape: vec![100; 3],
        width: vec![],
        nodes_per_router: 1,
    })
}

/// How a case is run.
#[derive(Clone, Copy, Debug)]
pub struct BenchOptions {
    /// Scales the simulated time.
    pub length: f64,
    /// The engine.
    pub engine: Engine,
    /// Worker threads.
    pub workers: u16,
}

impl Default for BenchOptions {
    fn default() -> Self {
        BenchOptions {
            length: 1.0,
            engine: Engine::Auto,
            workers: 1,
        }
    }
}

/// Runs a case; `None` if there is no such case.
pub fn bench(name: &str, options: BenchOptions) -> Option<Result<BenchResult, RunError>> {
    let length = options.length;
    if let Some(case) = exchange::trace_case(name, length).or_else(|| training::case(name, length)) {
        return Some(case.and_then(|case| {
            let result = simulate(name, case.spec.clone(), options)?;
            Ok(BenchResult {
                records: case.records,
                read_s: case.read_s,
                ..result
            })
        }));
    }
    if let Some(spec) = network_case(name, length) {
        return Some(simulate(name, spec, options));
    }
    let n_lps = match name.trim_end_matches("-optimistic") {
        "phold-16k" => 1 << 14,
        "phold-65k" => 1 << 16,
        "phold-262k" => 1 << 18,
        "phold-1m" => 1 << 20,
        _ => return None,
    };
    Some(Ok(phold(name, n_lps, options)))
}

/// Runs a case that is a network.
fn simulate(name: &str, mut spec: RunSpec, options: BenchOptions) -> Result<BenchResult, RunError> {
    spec.control.engine = options.engine;
    spec.control.workers = options.workers;
    let s = run(&spec, &mut |_| true)?.summary;
    Ok(BenchResult {
        name: name.into(),
        packet_hops: s.packet_hops,
        packet_hops_per_cpu_s: s.packet_hops as f64 / s.cpu_s,
        events_per_cpu_s: s.events as f64 / s.cpu_s,
        events: s.events,
        cpu_s: s.cpu_s,
        wall_s: s.execution.wall_s,
        workers: s.execution.workers,
        barrier_share: s.execution.barrier_share,
        events_per_window: s.execution.events_per_window,
        build_s: s.build_s,
        records: 0,
        read_s: 0.0,
        peak_rss_bytes: s.peak_rss_bytes,
        digest: s.digest,
    })
}

fn phold(name: &str, n_lps: u32, options: BenchOptions) -> BenchResult {
    const MEAN: u64 = 1_310_720;
    let begun = crate::process::cpu_time();
    let world = Phold {
        n_lps,
        events_per_lp: 1,
        mean: Time(MEAN),
        lookahead: Time(MEAN / 10),
        remote: 0.1,
        seed: 1,
    };
    let workers = u32::from(options.workers);
    let blocks = 8 * workers;
    let window = || des::WindowEngine::with_workers(&world, Nobody, blocks, workers);
    let mut engine: Box<dyn des::engine::Engine<Phold> + '_> = match options.engine {
        _ if name.ends_with("-optimistic") => Box::new(OptimisticEngine::new(
            &world,
            Nobody,
            blocks,
            workers,
            Speculation::default(),
        )),
        Engine::Auto => Box::new(window().adaptive()),
        _ => Box::new(window()),
    };
    let built = crate::process::cpu_time();
    let begun_wall = std::time::Instant::now();
    engine.run(Time((MEAN as f64 * 40.0 * options.length) as u64), &mut |_, _| true);
    let wall_s = begun_wall.elapsed().as_secs_f64();
    let cpu_s = (crate::process::cpu_time() - built).as_secs_f64();
    let outcome = engine.outcome();
    BenchResult {
        name: name.into(),
        packet_hops: 0,
        packet_hops_per_cpu_s: 0.0,
        events_per_cpu_s: outcome.events as f64 / cpu_s,
        events: outcome.events,
        cpu_s,
        wall_s,
        workers: engine.teamwork().map_or(1, |teamwork| teamwork.workers),
        barrier_share: engine.teamwork().map(|teamwork| teamwork.waiting),
        events_per_window: outcome.events as f64 / outcome.windows.max(1) as f64,
        build_s: (built - begun).as_secs_f64(),
        records: 0,
        read_s: 0.0,
        peak_rss_bytes: crate::process::peak_memory(),
        digest: format!("{:016x}", des::engine::history(&engine.digests())),
    }
}
