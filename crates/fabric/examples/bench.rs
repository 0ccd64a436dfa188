//! Runs benchmark cases from the command line: `cargo run --release --example bench -- CASE [LENGTH]`.

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "hyperx-2k-credit".into());
    let length = args.next().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    match fabric::bench::bench(&name, length) {
        None => eprintln!("no case \"{name}\""),
        Some(Err(error)) => eprintln!("{error}"),
        Some(Ok(result)) => println!(
            "{name}: {} hops, {} events, {:.3} cpu s, {:.2} M hops/s, {:.2} M events/s, build {:.2} s, {} MB, {}",
            result.packet_hops,
            result.events,
            result.cpu_s,
            result.packet_hops_per_cpu_s / 1e6,
            result.events_per_cpu_s / 1e6,
            result.build_s,
            result.peak_rss_bytes >> 20,
            result.digest
        ),
    }
}
