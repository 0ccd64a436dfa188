//! Time to build networks and to ask for the next hop: `cargo run --profile quick -p fabricsim-topo --example route_speed`.

use std::hint::black_box;
use std::time::Instant;
use topo::{Came, HopList, MinimalRule, check, preset};

fn main() {
    println!(
        "{:20} {:>10} {:>12} {:>14} {:>14} {:>14}",
        "network", "build ms", "resident MB", "minimal ns", "distance ns", "all hops ns"
    );
    let names = [
        "torus-16",
        "torus-32",
        "torus-100",
        "ecp-32k-hyperx",
        "ecp-32k-dragonfly",
        "ecp-32k-dragonfly+",
        "ecp-32k-fat-tree",
    ];
    for name in names {
        let Some(spec) = preset(name) else { continue };
        let start = Instant::now();
        let t = match spec.build() {
            Ok(t) => t,
            Err(errors) => return errors.iter().for_each(|e| eprintln!("{name}: {e}")),
        };
        let build = start.elapsed().as_secs_f64() * 1e3;
        let (n, calls) = (t.n_nodes(), 4_000_000u32);
        let mut seed = 1u32;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            seed
        };
        let pairs: Vec<(u32, u32, u32)> = (0..65_536)
            .map(|_| (t.router_of(random() % n), random() % n, random()))
            .collect();
        let each = |f: &mut dyn FnMut(&(u32, u32, u32))| {
            let start = Instant::now();
            (0..calls as usize / pairs.len()).for_each(|_| pairs.iter().for_each(&mut *f));
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        };
        let minimal = each(&mut |p| {
            black_box(t.minimal(p.0, p.1, Came::INJECTED, p.2));
        });
        let distance = each(&mut |p| {
            black_box(t.distance(p.0, t.router_of(p.1)));
        });
        let mut hops = HopList::new();
        let all = each(&mut |p| {
            t.minimal_hops(p.0, t.router_of(p.1), &mut hops);
            black_box(&hops);
        });
        println!(
            "{name:20} {build:10.1} {:12.1} {minimal:14.1} {distance:14.1} {all:14.1}",
            resident()
        );
    }
    for name in [
        "torus-10",
        "ecp-8k-hyperx",
        "ecp-8k-dragonfly",
        "ecp-8k-dragonfly+",
        "ecp-8k-fat-tree",
        "ecp-32k-dragonfly",
        "torus-32",
    ] {
        let Some(Ok(t)) = preset(name).map(|spec| spec.build()) else {
            continue;
        };
        let start = Instant::now();
        let verdict = check(&t, &MinimalRule::new(&t));
        println!(
            "{name:20} {:8.2} s: {}",
            start.elapsed().as_secs_f64(),
            verdict.describe(&t)
        );
    }
}

/// Megabytes resident now, where the system tells.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace()
        .next()
        .and_then(|kb| kb.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1e3
}
