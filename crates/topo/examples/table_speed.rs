//! Times routing engines and the check of their tables: `cargo run --release -p fabricsim-topo --example table_speed [NAME...]`.
//!
//! Names are engines, presets, or `fat-tree-32k`, a fat-tree of 32,768 nodes. Without engines all of them run, without networks two of
//! 672 nodes. `lanes=N` allows other than 8. Seconds are of processor time, on all threads.

use topo::subnet::{Options, RoutingEngine, Subnet, find_cycle, route_with_report};
use topo::{FatTreeSpec, Lattice, TopologySpec, preset};

/// Most memory that this process has held, MB; 0 where the system does not tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

/// Processor time of this process, s.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split_whitespace().skip(13).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn fat_tree(down: &[u32], up: &[u32]) -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: Vec::new(),
    })
}

fn main() {
    let (names, mut networks): (Vec<String>, Vec<String>) =
        (std::env::args().skip(1)).partition(|name| RoutingEngine::from_name(name).is_some());
    let lanes = (networks.iter().position(|name| name.starts_with("lanes=")))
        .and_then(|place| networks.remove(place)["lanes=".len()..].parse().ok());
    let hyperx = TopologySpec::HyperX(Lattice {
        shape: vec![12, 8],
        width: vec![1, 1],
        nodes_per_router: 7,
    });
    let mut specs = Vec::new();
    for name in &networks {
        match (name.as_str(), preset(name)) {
            ("fat-tree-32k", _) => specs.push((name.as_str(), fat_tree(&[32, 32, 32], &[32, 32]), Vec::new())),
            (name, Some(spec)) => specs.push((name, spec, Vec::new())),
            (name, None) => return eprintln!("{name} is no engine and no preset"),
        }
    }
    if networks.is_empty() {
        specs.push(("hyperx 12 x 8, 7 nodes each", hyperx, vec![12, 8]));
        specs.push(("fat-tree 14 x 8 x 6", fat_tree(&[14, 8, 6], &[9, 9]), Vec::new()));
    }
    for (name, spec, dims) in specs {
        let topology = match spec.build() {
            Ok(topology) => topology,
            Err(errors) => panic!("{name}: {errors:?}"),
        };
        let mut subnet = Subnet::of(&topology);
        drop(topology);
        println!("{name}: {} hosts, {} switches", subnet.n_hosts(), subnet.n_switches());
        for engine in RoutingEngine::ALL {
            let asked = names.is_empty() || names.iter().any(|name| name == engine.name());
            let possible = match engine {
                RoutingEngine::Parx => !dims.is_empty(),
                RoutingEngine::Ftree => matches!(spec, TopologySpec::FatTree(_)),
                _ => true,
            };
            if !asked || !possible {
                continue;
            }
            subnet.lmc = if engine == RoutingEngine::Parx { 2 } else { 0 };
            let options = Options {
                dims: dims.clone(),
                lanes: lanes.unwrap_or(8),
                ..Options::default()
            };
            let start = cpu();
            let routed = route_with_report(engine, &subnet, &options);
            let took = cpu() - start;
            match routed {
                Ok((tables, report)) => {
                    let start = cpu();
                    let cycle = find_cycle(&subnet, &tables).is_some();
                    println!(
                        "{:7} {took:8.2} s, {} lanes needed, {:?}; check {:.2} s, cycle {cycle}; peak {} MB",
                        engine.name(),
                        report.lanes_needed,
                        report.before,
                        cpu() - start,
                        peak()
                    );
                }
                Err(error) => println!("{:7} {took:8.2} s, {error}", engine.name()),
            }
        }
    }
}
