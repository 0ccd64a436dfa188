//! The benchmark cases, built into the program so that every machine runs the same.

use crate::run::{RunError, run};
use crate::spec::*;
use des::Time;
use des::optimistic::{OptimisticEngine, Speculation};
use des::phold::{Nobody, Phold};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use topo::{Lattice, TopologySpec};

/// A run with the defaults of a study that says nothing but its topology.
pub fn plain(topology: TopologySpec) -> RunSpec {
    RunSpec {
        study: String::new(),
        experiment: String::new(),
        sweep: Vec::new(),
        topology,
        links: Links {
            default: LinkSpec {
                bandwidth: BitsPerSec(200_000_000_000),
                latency: Time::from_ns(100),
            },
            by_class: BTreeMap::new(),
        },
        router: RouterSpec {
            model: RouterModel::Credit,
            preset: None,
            architecture: Architecture::Voq,
            traversal: Time::from_ns(100),
            traversal_occupies_link: false,
            vcs: None,
            buffer: Some(Bytes(65_536)),
            output_buffer: None,
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
            allow_deadlock: false,
        },
        routing: RoutingSpec::Minimal,
        nic: NicSpec {
            packet: Bytes(2_048),
            chunk: None,
            message_overhead: Time::ZERO,
            packet_overhead: Time::ZERO,
            idle_delay_per_byte: Time::ZERO,
            bandwidth: None,
            buffer: None,
        },
        jobs: vec![JobSpec {
            name: "job".into(),
            work: Work::Synthetic(Synthetic {
                pattern: Pattern::Uniform,
                message: Bytes(2_048),
                load: Some(0.5),
                count: None,
                process: Process::Poisson,
            }),
            nodes: None,
            placement: Placement::Linear,
        }],
        observe: ObserveSpec {
            links: false,
            messages: MessageDetail::Summary,
            timeline: false,
        },
        control: RunControl {
            seed: 1,
            end: Some(Time::from_us(20)),
            warmup: None,
            drain: None,
            engine: Engine::Auto,
            workers: 1,
            stall_after: Time::from_us(10_000),
        },
    }
}

/// A benchmark case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

/// All cases.
pub const CASES: [Case; 14] = [
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
        name: "torus-1m",
        about: "torus 100x100x100, one 2 KiB message from every node to a random other, credit",
    },
    Case {
        name: "torus-4k-chunks",
        about: "torus 16x16x16, CODES' pipelined timing, random pairs, 10 messages of 2 KiB each way in chunks of 32 B",
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
    /// CPU seconds of the simulation.
    pub cpu_s: f64,
    /// CPU seconds of the set-up.
    pub build_s: f64,
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
    let (mut spec, end_ns) = match name {
        "hyperx-32k-credit" | "hyperx-32k-sculpin" => (hyperx([16, 16, 8], 16), 20_000.0),
        "hyperx-2k-credit" | "hyperx-2k-sculpin" => (hyperx([8, 8, 4], 8), 40_000.0),
        "torus-1m" => {
            let lattice = Lattice {
                shape: vec![100; 3],
                width: vec![],
                nodes_per_router: 1,
            };
            let mut spec = plain(TopologySpec::Torus(lattice));
            spec.jobs[0].work = Work::Synthetic(Synthetic {
                pattern: Pattern::Uniform,
                message: Bytes(2_048),
                load: None,
                count: Some(1),
                process: Process::Periodic,
            });
            spec.control.end = None;
            spec.control.warmup = Some(Time::ZERO);
            return Some(spec);
        }
        _ => return None,
    };
    if name.ends_with("sculpin") {
        spec.router.model = RouterModel::Sculpin;
    }
    spec.routing = RoutingSpec::DOR;
    spec.control.end = Some(Time((end_ns * 1e3 * length) as u64));
    spec.control.warmup = Some(Time::ZERO);
    spec.control.drain = Some(Time::ZERO);
    Some(spec)
}

/// Runs a case on one thread; `None` if there is no such case. `length` scales the simulated time.
pub fn bench(name: &str, length: f64) -> Option<Result<BenchResult, RunError>> {
    if let Some(spec) = network_case(name, length) {
        return Some(run(&spec, &mut |_| true).map(|result| {
            let s = result.summary;
            BenchResult {
                name: name.into(),
                packet_hops: s.packet_hops,
                packet_hops_per_cpu_s: s.packet_hops as f64 / s.cpu_s,
                events_per_cpu_s: s.events as f64 / s.cpu_s,
                events: s.events,
                cpu_s: s.cpu_s,
                build_s: s.build_s,
                peak_rss_bytes: s.peak_rss_bytes,
                digest: s.digest,
            }
        }));
    }
    let n_lps = match name.trim_end_matches("-optimistic") {
        "phold-16k" => 1 << 14,
        "phold-65k" => 1 << 16,
        "phold-262k" => 1 << 18,
        "phold-1m" => 1 << 20,
        _ => return None,
    };
    Some(Ok(phold(name, n_lps, length)))
}

fn phold(name: &str, n_lps: u32, length: f64) -> BenchResult {
    const MEAN: u64 = 1_310_720;
    let begun = crate::run::cpu_time();
    let world = Phold {
        n_lps,
        events_per_lp: 1,
        mean: Time(MEAN),
        lookahead: Time(MEAN / 10),
        remote: 0.1,
        seed: 1,
    };
    let mut engine: Box<dyn des::engine::Engine<Phold> + '_> = match name.ends_with("-optimistic") {
        false => Box::new(des::WindowEngine::new(&world, Nobody, 8)),
        true => Box::new(OptimisticEngine::new(&world, Nobody, 8, 1, Speculation::default())),
    };
    let built = crate::run::cpu_time();
    engine.run(Time((MEAN as f64 * 40.0 * length) as u64), &mut |_, _| true);
    let cpu_s = (crate::run::cpu_time() - built).as_secs_f64();
    let outcome = engine.outcome();
    BenchResult {
        name: name.into(),
        packet_hops: 0,
        packet_hops_per_cpu_s: 0.0,
        events_per_cpu_s: outcome.events as f64 / cpu_s,
        events: outcome.events,
        cpu_s,
        build_s: (built - begun).as_secs_f64(),
        peak_rss_bytes: crate::run::peak_memory(),
        digest: format!("{:016x}", des::engine::history(&engine.digests())),
    }
}
