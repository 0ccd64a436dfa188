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

/// Two large messages come while their receiver computes. It has both when it waits; who is woken once takes one, and the other when the
/// acknowledgement of the first has left: a delay to the interface, its overhead, 64 B on the link, the way to the router, a delay back.
#[test]
fn who_is_woken_once_takes_one_message_that_was_read_and_the_next_when_its_acknowledgement_has_left() {
    let ends = |wakes: &str, control: &str| -> [u64; 2] {
        let table = "rank,op,peer,bytes,time_ps\\n0,irecv,1,20000,\\n0,irecv,1,20000,\\n0,compute,,,5000000\\n0,irecv,1,8,\\n0,compute,,,10000000\\n\
                     0,waitall,,,\\n1,isend,0,20000,\\n1,isend,0,20000,\\n1,isend,0,8,\\n1,waitall,,,\\n";
        let text = format!(
            "[topology]\nkind = \"single-router\"\nnodes = 2\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"20 ns\"\n[router]\ntraversal = \"30 ns\"\n\
             [nic]\noverhead = \"50 ns\"\ncontrol = \"{control}\"\n[mpi]\nrendezvous = \"get\"\ncontrol = \"64 B\"\nprogress = \"in-calls\"\nhost_delay = \"100 ns\"\n\
             wakes = \"{wakes}\"\n[[job]]\nwork = {{ kind = \"ops\", ranks = 2, table = \"{table}\" }}\n[run]\nend = \"done\"\n"
        );
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
        let spec = study
            .unwrap_or_else(|found| panic!("{}", render(&found)))
            .runs
            .remove(0);
        let mut ranks = run(&spec, &mut |_| true)
            .unwrap_or_else(|error| panic!("{error}"))
            .ranks;
        ranks.sort_by_key(|rank| rank.rank);
        [ranks[0].finished, ranks[1].finished]
    };
    for control in ["first", "reads-first", "in-order"] {
        let (each, once) = (ends("each", control), ends("once", control));
        let later = 100_000 + 50_000 + 2_560 + 20_000 + 30_000 + 100_000;
        // The acknowledgements of both leave one behind the other.
        assert_eq!(
            [once[0] - each[0], once[1] - each[1]],
            [later, later - 52_560],
            "{control}"
        );
    }
}

/// Also where acknowledgements go inside a node, or beside the network: nobody sleeps for ever.
#[test]
fn who_is_woken_once_hears_of_every_acknowledgement_that_has_left() {
    let base = "progress = \"in-calls\"\nrendezvous = \"get\"\neager = \"100 B\"\npin_base = \"3 us\"\nhost_delay = \"100 ns\"\nwakes = \"once\"\n";
    for keys in [
        "",
        "beside = \"256 B\"",
        "beside = \"256 B\"\nbeside_order = \"sent\"\neager = \"4 KiB\"\nfetch_above = \"50 B\"",
    ] {
        for per_node in [1, 3] {
            let keys = if keys.contains("eager") {
                format!("{}{keys}", base.replace("eager = \"100 B\"\n", ""))
            } else {
                format!("{base}{keys}")
            };
            let work = format!(
                "{{ kind = \"halo3d-26\", grid = [20, 20, 20], process_grid = [3, 3, {per_node}], vars = 8, iterations = 3 }}\nranks_per_node = {per_node}"
            );
            assert!(end(&keys, &work) > 0, "{keys} {per_node}");
        }
    }
}

/// What is put goes beside the network too, and its sender is done with it when its bytes have left.
#[test]
fn who_puts_beside_the_network_does_not_wait_for_ever() {
    for progress in ["always", "in-calls"] {
        let mpi = format!("progress = \"{progress}\"\neager = \"10 B\"\nbeside = \"256 B\"");
        let work = "{ kind = \"ping-pong\", messages = \"100 B\", repeat = 3 }";
        assert!(end(&mpi, work) > 0, "{progress}");
    }
}

#[test]
fn what_has_no_calls_is_refused_and_keys_need_their_word() {
    let refused = |mpi: &str, work: &str, words: &str| {
        let found = read(mpi, work).map(|_| ()).unwrap_err();
        assert!(found.contains(words), "{found}");
    };
    refused("match_cost = \"150 ns\"", PING_PONG, "mpi.match_cost");
    refused("progress = \"sometimes\"", PING_PONG, "in-calls");
    refused("wakes = \"once\"", PING_PONG, "mpi.wakes");
    refused(
        "progress = \"in-calls\"\nwakes = \"once\"",
        PING_PONG,
        "rendezvous = \"get\"",
    );
    refused("preset = \"firefly\"\nrendezvous = \"put\"", PING_PONG, "mpi.wakes");
    refused("preset = \"fireflies\"", PING_PONG, "firefly");
    let text = "[topology]\nkind = \"torus\"\nshape = [3, 3]\nnodes_per_router = 2\n[mpi]\nrails = 2\nprogress = \"in-calls\"\n[[job]]\n\
                work = { kind = \"ping-pong\" }\n[run]\nend = \"done\"\n";
    let found = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let found = render(&found.map(|_| ()).unwrap_err());
    assert!(found.contains("one interface"), "{found}");
}
