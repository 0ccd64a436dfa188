//! Runs benchmark cases from the command line: `cargo run --release --example bench -- CASE [LENGTH [WORKERS
//! [ENGINE]]]`, ENGINE one of conservative (sequential with one worker), optimistic, auto.

use fabric::spec::Engine;
use judge::bench::BenchOptions;

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "hyperx-2k-credit".into());
    let length = args.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let workers = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let engine = match args.next().as_deref() {
        Some("optimistic") => Engine::Optimistic,
        Some("auto") => Engine::Auto,
        _ => Engine::Conservative,
    };
    let options = BenchOptions {
        length,
        engine,
        workers,
    };
    match judge::bench::bench(&name, options) {
        None => eprintln!("no case \"{name}\""),
        Some(Err(error)) => eprintln!("{error}"),
        Some(Ok(result)) => {
            if result.records > 0 {
                println!(
                    "{name}: {} records read in {:.3} cpu s, {:.2} M records/s",
                    result.records,
                    result.read_s,
                    result.records as f64 / result.read_s / 1e6
                );
            }
            println!(
                "{name}: {} hops, {} events, {:.3} cpu s, {:.3} wall s, {:.2} M hops/s, {:.2} M events/s, build {:.2} s, {} MB, {}",
                result.packet_hops,
                result.events,
                result.cpu_s,
                result.wall_s,
                result.packet_hops_per_cpu_s / 1e6,
                result.events_per_cpu_s / 1e6,
                result.build_s,
                result.peak_rss_bytes >> 20,
                result.digest
            );
        }
    }
}
