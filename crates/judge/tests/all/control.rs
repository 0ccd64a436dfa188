//! Control messages of a rendezvous beside the data of their own node: at once by default, behind it on request.

use judge::run::{self, RunResult};
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Runs a study; `keys` are its other tables.
fn go(keys: &str) -> RunResult {
    let text = format!("name = \"control\"\n[link]\nbandwidth = \"25 GB/s\"\n{keys}\n[run]\nseeds = [1]\n");
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{findings:?}"));
    run::run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Rank 2 sends 1 KiB to rank 0 by rendezvous after 5 us of computing, while rank 0 sends `large` bytes to rank 1; the time (us) when
/// rank 2 is done.
fn small_beside(large: u64, model: &str, rendezvous: &str, nic: &str) -> f64 {
    let table = format!(
        "rank,op,peer,bytes,tag,request,time_ps\\n0,isend,1,{large},0,1,\\n0,irecv,2,1024,0,2,\\n0,waitall,,,,,\\n1,recv,0,{large},0,,\\n\
         2,compute,,,,,5000000\\n2,send,0,1024,0,,\\n"
    );
    let result = go(&format!(
        "[topology]\nkind = \"single-router\"\nnodes = 3\n[router]\nmodel = \"{model}\"\n[nic]\n{nic}\n[mpi]\neager = \"512 B\"\n\
         rendezvous = \"{rendezvous}\"\n[[job]]\nwork = {{ kind = \"ops\", table = \"{table}\" }}\n"
    ));
    let row = result.ranks.iter().find(|row| row.rank == 2).unwrap();
    assert!(row.is_done());
    row.finished as f64 / 1e6
}

#[test]
fn leave_for_a_small_message_does_not_wait_for_a_large_one() {
    // What rank 0 answers waits for a packet of data on the link at most: 2,048 bytes at 25 GB/s.
    const PACKET: f64 = 0.082;
    for model in ["sculpin", "credit"] {
        for (rendezvous, answers) in [("put", 1.0), ("get", 2.0)] {
            let idle = small_beside(0, model, rendezvous, "");
            let first = small_beside(1 << 20, model, rendezvous, "");
            let in_order = small_beside(1 << 20, model, rendezvous, "control = \"in-order\"");
            let most = idle + answers * PACKET;
            assert!(
                (idle..=most).contains(&first),
                "{model} {rendezvous}: {first} against {idle} us alone"
            );
            assert!((42.0..45.0).contains(&in_order), "{model} {rendezvous}: {in_order}");
        }
    }
}

/// Time of a step (us) of a ring allgather of 1 MiB per rank, with `per_node` ranks at each of 8 nodes whose neighbours are elsewhere.
fn allgather(model: &str, per_node: u32, mpi: &str, nic: &str) -> f64 {
    let result = go(&format!(
        "[topology]\nkind = \"mesh\"\nshape = [2, 2, 2]\n[router]\nmodel = \"{model}\"\n[nic]\n{nic}\n[mpi]\nallgather = \"ring\"\n{mpi}\n\
         [[job]]\nranks_per_node = {per_node}\nmapping = \"round-robin\"\n\
         work = {{ kind = \"collective\", collective = \"allgather\", message = \"1 MiB\" }}\n"
    ));
    let ranks = 8 * per_node;
    result.summary.jobs[0].time_ns.unwrap() / 1e3 / f64::from(ranks - 1)
}

#[test]
fn a_rendezvous_costs_a_ring_of_large_messages_little_more_than_sending_at_once() {
    for model in ["sculpin", "credit"] {
        for per_node in [1, 4] {
            let eager = allgather(model, per_node, "eager = \"2 MiB\"\ncopy = \"free\"", "");
            for rendezvous in ["put", "get"] {
                let mpi = format!("rendezvous = \"{rendezvous}\"");
                let first = allgather(model, per_node, &mpi, "");
                let in_order = allgather(model, per_node, &mpi, "control = \"in-order\"");
                println!("{model} {per_node} {rendezvous}: {first} first, {in_order} in order, {eager} eager");
                // Two or three control messages a step cross at most three links between routers, 1 us each.
                let most = if per_node == 1 { eager + 3.0 } else { 1.05 * eager };
                assert!(
                    first <= most,
                    "{model} {per_node} {rendezvous}: {first} against {eager} us"
                );
                assert!(
                    in_order >= first,
                    "{model} {per_node} {rendezvous}: {in_order} against {first} us"
                );
            }
        }
    }
}

#[test]
fn control_messages_pass_data_that_waits_for_room_and_nothing_is_lost() {
    // Room for one packet at the router's host port: the interface waits for credit most of the time.
    for control in ["first", "in-order"] {
        let result = go(&format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 3]\nnodes_per_router = 2\n[router]\nbuffer = \"2 KiB\"\n[nic]\nbuffer = \"2304 B\"\n\
             overhead = \"100 ns\"\npacket_overhead = \"10 ns\"\ncontrol = \"{control}\"\n[mpi]\neager = \"0 B\"\n[[job]]\nranks_per_node = 2\n\
             work = {{ kind = \"collective\", collective = \"alltoall\", message = \"5000 B\" }}\n"
        ));
        let job = &result.summary.jobs[0];
        let ranks = job.ranks().unwrap();
        assert_eq!((ranks.ranks, ranks.finished), (48, 48));
    }
}

#[test]
fn interfaces_without_such_a_queue_refuse_it() {
    let text = "name = \"c\"\n[topology]\nkind = \"torus\"\nshape = [4]\n[router]\npreset = \"codes-torus\"\n[nic]\ncontrol = \"first\"\n\
                [[job]]\nwork = { kind = \"uniform\" }\n[run]\nend = \"1 us\"\n";
    let findings = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default()).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].key, "nic.control");
    assert!(findings[0].hint.contains("in-order"));
}
