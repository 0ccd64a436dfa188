//! Times routing engines and the check of their tables: `cargo run --release -p fabricsim-topo --example table_speed [ENGINE...]`.
//!
//! Without arguments all engines run on two networks of 672 nodes. `large` as the first argument takes a fat-tree of 32,768 nodes.

use std::time::Instant;
use topo::subnet::{Engine, Options, Subnet, find_cycle, route_with_report};
use topo::{Lattice, TopologySpec};

/// Most memory that this process has held, MB; 0 where the system does not tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

fn fat_tree(down: &[u32], up: &[u32]) -> TopologySpec {
    TopologySpec::FatTree {
        down: down.to_vec(),
        up: up.to_vec(),
        up_width: Vec::new(),
    }
}

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let large = names.first().is_some_and(|name| name == "large");
    if large {
        names.remove(0);
    }
    let hyperx = TopologySpec::HyperX(Lattice {
        shape: vec![12, 8],
        width: vec![1, 1],
        nodes_per_router: 7,
    });
    let networks = if large {
        vec![("fat-tree 32 x 32 x 32", fat_tree(&[32, 32, 32], &[32, 32]), Vec::new())]
    } else {
        vec![
            ("hyperx 12 x 8, 7 nodes each", hyperx, vec![12, 8]),
            ("fat-tree 14 x 8 x 6", fat_tree(&[14, 8, 6], &[9, 9]), Vec::new()),
        ]
    };
    for (name, spec, dims) in networks {
        let topology = match spec.build() {
            Ok(topology) => topology,
            Err(errors) => panic!("{name}: {errors:?}"),
        };
        let mut subnet = Subnet::of(&topology);
        drop(topology);
        println!("{name}: {} hosts, {} switches", subnet.n_hosts(), subnet.n_switches());
        for engine in Engine::ALL {
            let asked = names.is_empty() || names.iter().any(|name| name == engine.name());
            let possible = match engine {
                Engine::Parx => !dims.is_empty(),
                Engine::Ftree => dims.is_empty(),
                _ => true,
            };
            if !asked || !possible {
                continue;
            }
            subnet.lmc = if engine == Engine::Parx { 2 } else { 0 };
            let options = Options {
                dims: dims.clone(),
                ..Options::default()
            };
            let start = Instant::now();
            let routed = route_with_report(engine, &subnet, &options);
            let took = start.elapsed().as_secs_f64();
            match routed {
                Ok((tables, report)) => {
                    let start = Instant::now();
                    let cycle = find_cycle(&subnet, &tables).is_some();
                    println!(
                        "{:7} {took:9.3} s, {} lanes needed, {:?}; check {:.3} s, cycle {cycle}; peak {} MB",
                        engine.name(),
                        report.lanes_needed,
                        report.before,
                        start.elapsed().as_secs_f64(),
                        peak()
                    );
                }
                Err(error) => println!("{:7} {took:9.3} s, {error}", engine.name()),
            }
        }
    }
}
