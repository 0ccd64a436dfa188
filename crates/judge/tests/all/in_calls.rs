//! Ranks that handle messages in their calls: what that costs, what waits for a call, and what it does not go with.

use fabric::spec::RunSpec;
use judge::run::{RunResult, run};
use std::path::Path;
use vocabulary::{LoadOptions, load_study, render};

fn read(mpi: &str, work: &str) -> Result<RunSpec, String> {
    let text = format!(
        "[topology]\nkind = \"torus\"\nshape = [3, 3]\n[mpi]\n{mpi}\n[[job]]\nwork = {work}\n[run]\nend = \"done\"\n"
    );
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    study
        .map(|mut study| study.runs.remove(0))
        .map_err(|found| render(&found))
}

fn done(mpi: &str, work: &str) -> RunResult {
    let spec = read(mpi, work).unwrap_or_else(|found| panic!("{found}"));
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{mpi}: {error}"))
}

/// When the last rank is done (ps).
fn end(mpi: &str, work: &str) -> u64 {
    done(mpi, work).ranks.iter().map(|rank| rank.finished).max().unwrap()
}

const PING_PONG: &str = "{ kind = \"ping-pong\", messages = [\"1 B\", \"5 kB\", \"100 kB\"], repeat = 3 }";

#[test]
fn who_waits_in_a_call_pays_nothing_for_it() {
    for rendezvous in ["put", "get"] {
        for work in [
            PING_PONG,
            "{ kind = \"collective\", collective = \"allreduce\", message = \"8 B\", iterations = 5 }",
        ] {
            // What a receive takes is paid for when its message is announced in one case, and when it is there in the other.
            let always = format!(
                "rendezvous = \"{rendezvous}\"\ncopy = \"free\"\nreceive_overhead = \"0 ns\"\nallreduce = \"heap\""
            );
            let calls = format!("{always}\nprogress = \"in-calls\"");
            let (always, calls) = (end(&always, work), end(&calls, work));
            assert_eq!(calls, always, "{rendezvous} {work}");
        }
    }
}

#[test]
fn every_cost_is_paid_as_often_as_the_book_says() {
    let base = "progress = \"in-calls\"\nrendezvous = \"get\"\nreceive_overhead = \"0 ns\"\nsend_overhead = \"0 ns\"\ncopy = \"free\"\n";
    let small = "{ kind = \"ping-pong\", messages = \"1 B\", repeat = 10 }";
    let large = "{ kind = \"ping-pong\", messages = \"100 kB\", repeat = 10 }";
    // Rank 0 begins, and is done when the last bytes have come to it.
    let first = |mpi: &str, work: &str| {
        done(mpi, work)
            .ranks
            .iter()
            .find(|rank| rank.rank == 0)
            .unwrap()
            .finished
    };
    let more = |key: &str, work: &str| {
        let own = first(&format!("{base}{key}"), work) - first(base, work);
        assert_eq!(own % 20, 0, "{key}: the same for each of twenty messages");
        own / 20
    };
    // From the begin of a send to the end of its receive: one call begins, one ends, one entry is looked at.
    assert_eq!(more("enter = \"30 ns\"", small), 30_000);
    assert_eq!(more("leave = \"30 ns\"", small), 30_000);
    assert_eq!(more("match_cost = \"150 ns\"", small), 150_000);
    assert_eq!(more("host_delay = \"100 ns\"", small), 200_000);
    assert_eq!(more("match_delay = \"100 ns\"", small), 100_000);
    assert_eq!(more("read_delay = \"200 ns\"", small), 0);
    // Announcement there and back to the rank, the request that reads, the bytes back to the rank: four times.
    assert_eq!(more("host_delay = \"100 ns\"", large), 400_000);
    assert_eq!(more("read_delay = \"200 ns\"", large), 200_000);
    // The memory of the sender and, when all is there, that of the receiver, who has registered it while the other sent: 24 pages.
    let pinned = "pin_base = \"3 us\"\npin_page = \"100 ns\"";
    assert_eq!(more(pinned, small), 0);
    // An acknowledgement no longer goes just before the announcement that follows it, 5.12 ns of 64 B.
    let both = 2 * (3_000_000 + 24 * 100_000);
    assert!((both - 5_120..=both).contains(&more(pinned, large)));
}

#[test]
fn a_message_waits_for_the_next_call_of_a_rank_that_computes() {
    // All receive, then all send and compute; what is announced meanwhile is asked for when they wait.
    let work = "{ kind = \"halo3d-26\", grid = [40, 40, 40], process_grid = [3, 3, 1], vars = 8, compute = \"0 ns\" }";
    let (always, calls) = (
        end("rendezvous = \"get\"", work),
        end(
            "rendezvous = \"get\"\nprogress = \"in-calls\"\npin_base = \"50 us\"",
            work,
        ),
    );
    // Up to eight receives and eight sends, of which the faces and edges are large, one after the other before anybody waits.
    assert!(calls > always + 400_000_000, "{calls} {always}");
}

#[test]
fn what_has_no_calls_is_refused_and_keys_need_their_word() {
    let refused = |mpi: &str, work: &str, words: &str| {
        let found = read(mpi, work).map(|_| ()).unwrap_err();
        assert!(found.contains(words), "{found}");
    };
    refused("match_cost = \"150 ns\"", PING_PONG, "mpi.match_cost");
    refused("progress = \"sometimes\"", PING_PONG, "in-calls");
    refused("preset = \"fireflies\"", PING_PONG, "firefly");
    let text = "[topology]\nkind = \"torus\"\nshape = [3, 3]\nnodes_per_router = 2\n[mpi]\nrails = 2\nprogress = \"in-calls\"\n[[job]]\n\
                work = { kind = \"ping-pong\" }\n[run]\nend = \"done\"\n";
    let found = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let found = render(&found.map(|_| ()).unwrap_err());
    assert!(found.contains("one interface"), "{found}");
}
