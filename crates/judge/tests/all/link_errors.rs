//! Cables that make bit errors: what a link loses with them, to the picosecond and in the mean; what does not show; and what is refused.

use crate::outages::{MODELS, load, ring, told};
use des::Time;
use fabric::spec::*;
use judge::run::{RunResult, run};

/// Packets of 1,000 bytes, a byte per ps.
const SERIALISATION: u64 = 1_000;
/// Of a cable, in ps.
const LATENCY: u64 = 10_000;
/// From birth to arrival on the idle ring, less what errors cost.
const ALONE: u64 = 71_000;
/// Wrong bits, so that of packets of 1,000 bytes a third comes with an error.
const RATE: f64 = 5e-5;

/// The probability that one of 8,000 bits is wrong.
fn wrong() -> f64 {
    1.0 - (1.0 - RATE).powi(8_000)
}

fn erring(cable: &str, rate: f64) -> String {
    format!("[fail]\ncables = [\"{cable}\"]\nerror_rate = {rate}\n")
}

/// So many messages of a packet, one every `apart` ps.
fn spaced(count: u64, apart: u64, model: &str, fail: &str) -> RunSpec {
    let mut spec = ring(1_000, count, model, fail);
    if let Work::Messages(list) = &mut spec.jobs[0].work {
        (0..)
            .zip(list.iter_mut())
            .for_each(|(k, message)| message.time = Time(k * apart));
    }
    spec
}

fn done(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a sum of `n` draws is within 4.5 standard deviations of what is expected.
fn agrees(sum: f64, n: u64, mean: f64, variance: f64) -> bool {
    let n = n as f64;
    (sum - n * mean).abs() < 4.5 * (n * variance).sqrt()
}

/// Each failed try costs the packet's time on the link, and the way of its tail there and of the answer back; how many there are is geometric.
#[test]
fn a_packet_alone_is_late_by_whole_tries() {
    let (n, q) = (3_000, wrong());
    for (model, keeps, serialisation) in [
        ("sculpin", "", SERIALISATION),
        ("credit", "", SERIALISATION),
        ("credit", "keeps = 0.25\n", 4 * SERIALISATION),
    ] {
        let fail = erring("(1) ring+", RATE) + keeps;
        let mut spec = spaced(n, 2_000_000, model, &fail);
        spec.observe.links = true;
        let each = serialisation + 2 * LATENCY;
        let late: Vec<u64> = told(&spec)
            .into_iter()
            .map(|(born, arrived)| arrived.unwrap() - born - (ALONE + serialisation - SERIALISATION))
            .collect();
        assert!(late.iter().all(|late| late % each == 0), "{model} {keeps}");
        let tries: Vec<u64> = late.iter().map(|late| late / each).collect();
        let (sum, none) = (
            tries.iter().sum::<u64>(),
            tries.iter().filter(|&&tries| tries == 0).count() as u64,
        );
        assert!(agrees(sum as f64, n, q / (1.0 - q), q / (1.0 - q) / (1.0 - q)), "{sum}");
        assert!(agrees(none as f64, n, 1.0 - q, q * (1.0 - q)), "{none}");
        let result = done(&spec);
        let told = result.summary.link_errors.as_ref().expect("a cable makes errors");
        assert_eq!((told.packets, told.tries), (n - none, sum), "{model}");
        assert_eq!(told.lost_ns, (sum * each) as f64 / 1e3);
        assert!(result.summary.lost.is_none(), "nothing can be lost");
        let note = format!("{sum} failed tries");
        assert!(result.summary.notes.iter().any(|words| words.contains(&note)));
        let busiest = result.links.iter().map(|row| row.utilisation).fold(0.0, f64::max);
        let expected = (n * serialisation + sum * each) as f64 / (1e3 * result.summary.sim_time_ns);
        assert!((busiest / expected - 1.0).abs() < 1e-9, "{model} {keeps}");
    }
}

/// A stream that never lets the cable idle is through when its packets and all failed tries are: by the formula of go-back-N the cable has
/// S / (S + q/(1 - q) (S + 2 L)) of its bandwidth.
#[test]
fn a_stream_has_the_bandwidth_of_go_back_n() {
    let n = 3_000;
    let spec = spaced(n, 0, "sculpin", &erring("(1) ring+", RATE));
    let last = told(&spec)
        .into_iter()
        .filter_map(|(_, arrived)| arrived)
        .max()
        .unwrap();
    let tries = done(&spec).summary.link_errors.unwrap().tries;
    let each = SERIALISATION + 2 * LATENCY;
    assert_eq!(last, ALONE + (n - 1) * SERIALISATION + tries * each);
    let q = wrong();
    let share = SERIALISATION as f64 / (SERIALISATION as f64 + q / (1.0 - q) * each as f64);
    let measured = (n * SERIALISATION) as f64 / (last - ALONE + SERIALISATION) as f64;
    assert!((measured / share - 1.0).abs() < 0.1, "{measured} and {share}");
}

#[test]
fn errors_where_nothing_is_sent_or_that_never_come_change_nothing() {
    for model in MODELS {
        let of = |fail: &str| done(&spaced(200, 5_010, model, fail)).summary;
        let plain = of("");
        assert!(plain.link_errors.is_none());
        let messages = |fail: &str| told(&spaced(200, 5_010, model, fail));
        let fails = [erring("(4) ring+", RATE), erring("(1) ring+", 1e-15)];
        // Where something may fail, credits are told one by one.
        let same = if model == "credit" { of(&fails[1]) } else { plain };
        for fail in fails {
            let summary = of(&fail);
            assert_eq!(messages(&fail), messages(""), "{fail}");
            assert_eq!((&summary.digest, summary.events), (&same.digest, same.events), "{fail}");
            assert_eq!(summary.link_errors.unwrap().tries, 0);
        }
        // Errors are those of the seed.
        let seeded = |seed: u64| {
            let mut spec = spaced(200, 5_010, model, &erring("(1) ring+", RATE));
            spec.control.seed = seed;
            done(&spec).summary
        };
        assert_eq!(seeded(1).digest, seeded(1).digest);
        assert_ne!(seeded(1).digest, seeded(2).digest);
    }
}

#[test]
fn errors_for_a_time_are_those_of_that_time() {
    let fail = "[[outage]]\ncables = [\"(1) ring+\"]\nat = \"100 us\"\nuntil = \"200 us\"\nerror_rate = 5e-5\n";
    let told = told(&spaced(300, 1_000_000, "credit", fail));
    let late = |&&(born, arrived): &&(u64, Option<u64>)| arrived != Some(born + ALONE);
    let (within, beside): (Vec<_>, Vec<_>) = told
        .iter()
        // At router 1 40 ns behind its birth.
        .partition(|(born, _)| (100_000_000..200_000_000).contains(&(born + 40_000)));
    assert_eq!(beside.iter().filter(|&message| late(&message)).count(), 0);
    let q = wrong();
    let late = within.iter().filter(|&message| late(&message)).count();
    assert!(agrees(late as f64, 100, q, q * (1.0 - q)), "{late}");
}

/// What is impaired from the start is not impaired once more by an outage of others.
#[test]
fn an_outage_impairs_its_own_cables_alone() {
    let start = "[fail]\ncables = [\"(0) ring+\"]\nkeeps = 0.5\n";
    let beside = "[[outage]]\ncables = [\"(4) ring+\"]\nat = \"0 ns\"\nuntil = \"1 ms\"\nkeeps = 0.5\n";
    let again = beside.replace("(4)", "(0)");
    let times = |fail: &str| told(&spaced(50, 100_000, "sculpin", fail));
    let slow = times(start);
    assert_eq!(slow, times(&format!("{start}{beside}")));
    assert_ne!(slow, times(&format!("{start}{again}")));
}

#[test]
fn what_hardly_lets_a_packet_through_is_refused_and_so_are_other_routers() {
    let study = |rest: &str| {
        format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[[job]]\nwork = {{ kind = \"uniform\", load = 0.1 }}\n{rest}\n[run]\nend = \"1 us\"\n"
        )
    };
    let refused = |rest: &str| {
        let refusal = load(&study(rest)).and_then(|spec| run(&spec, &mut |_| true).map_err(|error| error.to_string()));
        refusal.map(|_| ()).unwrap_err()
    };
    let cable = "[fail]\ncables = [\"(0,0) x+\"]\n";
    let hopeless = refused(&format!("{cable}error_rate = 1e-3"));
    assert!(
        hopeless.contains("fail.error_rate") && hopeless.contains("one in 100"),
        "{hopeless}"
    );
    let other = refused(&format!(
        "[router]\nmodel = \"credit\"\narchitecture = \"input-queued\"\n{cable}error_rate = 1e-6"
    ));
    assert!(other.contains("fail.error_rate") && other.contains("voq"), "{other}");
    let nothing = refused("[fail]\nrouters = [\"(1,1)\"]\nerror_rate = 1e-6");
    assert!(nothing.contains("none fails"), "{nothing}");
}
