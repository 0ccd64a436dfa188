//! Flows from tables and connection matrices: when each of them starts, and what is refused.

use crate::reading::{read_bytes, read_path};
use crate::samples;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use trace::check::Check;
use trace::{Collected, Kind, TraceForm};

/// How long a message takes in the network of these tests (ps).
fn takes(bytes: u64) -> u64 {
    bytes + 1000
}

/// When the sends of a graph start, by (source, destination, record), those of empty messages left out: a network without load, in
/// which sends are over at once.
fn starts(all: &Collected) -> BTreeMap<(u32, u32, u64), u64> {
    assert_eq!(all.header.form, TraceForm::Graph);
    let mut arrivals: HashMap<(u32, u32, u32), u64> = HashMap::new();
    let mut done: Vec<Vec<Option<u64>>> = all.ranks.iter().map(|all| vec![None; all.len()]).collect();
    let (mut found, mut busy) = (BTreeMap::new(), Vec::new());
    loop {
        let mut news = false;
        for (rank, operations) in all.ranks.iter().enumerate() {
            for (number, one) in operations.iter().enumerate() {
                let mut ready = one.after.iter().map(|other| done[rank][*other as usize]);
                let ready = ready.try_fold(0, |latest, end| Some(latest.max(end?)));
                let (Some(ready), None) = (ready, done[rank][number]) else {
                    continue;
                };
                let (operation, rank) = (&one.operation, rank as u32);
                let end = match operation.kind {
                    Kind::Compute => {
                        busy.push((rank, operation.lane, ready, ready + operation.time));
                        Some(ready + operation.time)
                    }
                    Kind::Send => {
                        if operation.bytes > 0 {
                            found.insert((rank, operation.peer, one.record), ready);
                        }
                        let arrival = ready + takes(operation.bytes);
                        let twice = arrivals.insert((rank, operation.peer, operation.tag), arrival);
                        assert_eq!(twice, None, "a tag is of one message");
                        Some(ready)
                    }
                    Kind::Recv => arrivals
                        .get(&(operation.peer, rank, operation.tag))
                        .map(|at| *at.max(&ready)),
                    other => panic!("{other:?}"),
                };
                done[rank as usize][number] = end;
                news |= end.is_some();
            }
        }
        if !news {
            break;
        }
    }
    assert!(done.iter().flatten().all(Option::is_some), "everything is done");
    busy.sort_unstable();
    for pair in busy.windows(2) {
        let same = (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        assert!(
            !same || pair[0].3 <= pair[1].2,
            "computations of a lane do not wait for each other"
        );
    }
    let mut check = Check::default();
    all.tell(&mut check).unwrap();
    assert_eq!(check.figures().problems, 0);
    found
}

#[test]
fn samples_are_recognised_and_read_without_problems() {
    for sample in samples::all() {
        if ["flows", "htsim"].contains(&sample.format) {
            let folder = tempfile::tempdir().unwrap();
            let (all, words) = read_path(&sample.write(folder.path()));
            assert_eq!((&*all.header.format, words), (sample.format, vec![]), "{}", sample.name);
        }
    }
}

#[test]
fn flows_of_a_table_start_at_their_times_and_after_each_other() {
    let (all, words) = read_bytes("x.csv", samples::flows::TABLE);
    assert_eq!((words, all.header.ranks), (vec![], 4));
    let a = 1_500_000;
    let b = a + takes(1000);
    // a is over for its own source when it is sent; of b tells an empty message.
    let c = (b + takes(2000) + takes(0)).max(2_000_000);
    let d = (c + takes(10) + takes(0)).max(3_000_000);
    let expected = [((0, 1, 3), a), ((0, 3, 5), c), ((1, 2, 4), b), ((2, 0, 6), d)];
    assert_eq!(starts(&all), expected.into());
}

#[test]
fn flows_of_a_connection_matrix_start_at_their_times_and_with_their_triggers() {
    let (all, words) = read_bytes("x.cm", samples::htsim::MATRIX);
    assert_eq!((words, all.header.ranks), (vec![], 6));
    let (first, second) = (0, 12_500_000);
    let third = first + takes(2_000_000);
    // The barrier is met on node 2, where its first flow is; it hears of the third flow from node 4, and tells node 4.
    let met = (third + takes(500) + takes(0)).max(second);
    let expected = [
        ((0, 1, 6), first),
        ((1, 4, 8), third),
        ((2, 0, 10), met),
        ((2, 3, 7), second),
        ((2, 4, 11), 1),
        ((4, 5, 9), met + takes(0)),
    ];
    assert_eq!(starts(&all), expected.into());
}

#[test]
fn every_flow_is_a_send_and_a_receive_with_its_size_and_a_tag_of_its_own() {
    let text = "source,destination,bytes\n0,2,5\n0,2,6\n2,0,7\n";
    let (all, words) = read_bytes("x.csv", text);
    assert_eq!(words, [""; 0]);
    let said = |rank: usize| -> Vec<(Kind, u32, u64, u32, u64)> {
        let one = |one: &trace::collected::CollectedOperation| {
            let operation = &one.operation;
            (
                operation.kind,
                operation.peer,
                operation.bytes,
                operation.tag,
                one.record,
            )
        };
        all.ranks[rank].iter().map(one).collect()
    };
    let (send, recv) = (Kind::Send, Kind::Recv);
    assert_eq!(said(0), [(send, 2, 5, 0, 2), (send, 2, 6, 1, 3), (recv, 2, 7, 2, 4)]);
    assert_eq!(said(1), []);
    assert_eq!(said(2), [(recv, 0, 5, 0, 2), (recv, 0, 6, 1, 3), (send, 0, 7, 2, 4)]);
}

#[test]
fn starts_of_a_connection_matrix_may_have_decimals_and_exponents() {
    let cases = [
        ("0", 0),
        ("0.000000", 0),
        ("1e3", 1_000_000_000),
        ("1.5E-3", 1500),
        ("0.0000004", 0),
        ("2.25", 2_250_000),
    ];
    for (text, ps) in cases {
        let (all, words) = read_bytes("x.cm", &format!("Nodes 2\n0->1 start {text} size 8\n"));
        assert_eq!(words, [""; 0]);
        assert_eq!(starts(&all), [((0, 1, 2), ps)].into(), "{text}");
    }
}

#[test]
fn tables_that_cannot_be_meant_are_refused_with_line_and_words() {
    let refused = |text: &str| read_bytes("x.csv", text).1.join(" | ");
    let row = |row: &str| refused(&format!("id,source,destination,bytes,time,after\n{row}\n"));
    let cases: &[(String, &str)] = &[
        (refused("source,destination,bytes\n"), "x.csv: the table has no flow"),
        (
            refused("source,destination,bytes,size\n"),
            "x.csv, record 1: there is no column \"size\"; columns are source, destination, bytes, time,",
        ),
        (
            refused("#\nsource,destination,bytes,bytes\n"),
            "record 2: the column \"bytes\" comes twice",
        ),
        (
            refused("source,destination,bytes,time,time_ns\n"),
            "two columns say the time",
        ),
        (
            refused("source,destination,bytes,after\n"),
            "a column \"after\" and no column \"id\"",
        ),
        (row("a,0,1"), "record 2: 3 cells, the header has 6 columns"),
        (row("a,0,,8,,"), "record 2: the row is not whole"),
        (row("a,0,0,8,,"), "rank 0 sends to itself"),
        (row("a,-1,0,8,,"), "source is \"-1\"; the number of a rank, from 0"),
        (row("a,0,4294967295,8,,"), "destination is \"4294967295\""),
        (
            row("a,0,1,0,,"),
            "bytes is \"0\"; a whole number from 1 to 1099511562239",
        ),
        (row("a,0,1,1e3,,"), "bytes is \"1e3\""),
        (row("a,0,1,8,5 parsec,"), "time is \"5 parsec\": unknown unit"),
        (row("a,0,1,8,1.5,"), "time is \"1.5\": \"1.5\" has no unit"),
        (row("a,0,1,8,0.5 ps,"), "is not a whole number of picoseconds"),
        (row("a b,0,1,8,,"), "id is \"a b\"; blanks and semicolons stand between"),
        (
            row("a,0,1,8,,\na,1,0,8,,"),
            "record 3: the id \"a\" is that of line 2 already",
        ),
        (
            row("a,0,1,8,,b"),
            "record 2: it is after \"b\", and no flow has that id",
        ),
        (row("a,0,1,8,,a"), "record 2: the flow comes after itself"),
        (
            row("a,0,1,8,,b\nb,1,0,8,,a\nc,1,0,8,,"),
            "record 2: the flow comes after itself",
        ),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found:?} does not say {words:?}");
    }
}

#[test]
fn ids_are_words_also_where_they_are_numbers() {
    let text = "id,source,destination,bytes,after\n7,0,1,8,\n007,0,2,16,\n+7,0,3,24,\n18446744073709551616,0,4,32,\na,0,5,40,007 18446744073709551616 +7\n";
    let (all, words) = read_bytes("f.csv", text);
    assert!(words.is_empty(), "{words:?}");
    let flow = |to: u32| {
        all.ranks[0]
            .iter()
            .position(|one| one.operation.kind == Kind::Send && one.operation.peer == to)
    };
    let waits: Vec<usize> = all.ranks[0][flow(5).unwrap()]
        .after
        .iter()
        .map(|&other| other as usize)
        .collect();
    let through: Vec<usize> = match waits[..] {
        // One that waits for all of them stands between.
        [join] => all.ranks[0][join].after.iter().map(|&other| other as usize).collect(),
        _ => waits,
    };
    assert_eq!(through, [2, 4, 3].map(|to| flow(to).unwrap()));
    let (_, words) = read_bytes(
        "f.csv",
        "id,source,destination,bytes,after\n7,0,1,8,\n7,0,2,8,\n8,0,1,8,07\n",
    );
    assert_eq!(words.len(), 2, "{words:?}");
}

#[test]
fn a_parquet_file_is_left_to_the_face_that_has_arrow() {
    let (_, words) = read_bytes("f.parquet", "PAR1 and so on");
    assert!(
        words[0].starts_with("f.parquet: it cannot be read: ") && words[0].contains("comma-separated text"),
        "{words:?}"
    );
}

#[test]
fn connection_matrices_that_cannot_be_meant_are_refused_with_line_and_words() {
    let refused = |text: &str| read_bytes("x.cm", text).1.join(" | ");
    let with = |text: &str| refused(&format!("Nodes 4\n{text}\n"));
    let cases: &[(String, &str)] = &[
        (refused(""), "x.cm, record 0: the number of nodes is missing"),
        (refused("Nodes"), "record 1: Nodes has no value"),
        (refused("Nodes 0"), "there are 0 nodes"),
        (refused("Nodes 4294967295"), "there are 4294967295 nodes"),
        (refused("Nodes 4 5"), "\"5\" is too much"),
        (
            with("Connections 2\n0->1 start 0 size 8"),
            "Connections 2 is said, 1 are there; was the file cut?",
        ),
        (with("Triggers 1"), "Triggers 1 is said, 0 are there"),
        (with("Flows 2"), "record 2: \"Flows\" begins no line"),
        (with("0->x start 0 size 8"), "\"x\" is no node"),
        (
            with("0->4 start 0 size 8"),
            "record 2: there is no node 4, there are 4; nodes are 0 to 3",
        ),
        (with("1->1 start 0 size 8"), "node 1 sends to itself"),
        (
            with("0->1 start -1 size 8"),
            "start is \"-1\"; it is a number of microseconds, 0 or more",
        ),
        (with("0->1 start nan size 8"), "start is \"nan\""),
        (with("0->1 start 1e30 size 8"), "start is \"1e30\""),
        (with("0->1 start 0 size"), "size has no value"),
        (with("0->1 start 0 size -8"), "size is \"-8\""),
        (with("0->1 start 0 size 0"), "the flow has no end; give it a size"),
        (with("0->1 start 0"), "the flow has no end"),
        (with("0->1 size 8"), "nothing starts the flow"),
        (with("0->1 start 0 start 1 size 8"), "start comes twice"),
        (with("0->1 start 0 size 8 weight 2"), "a flow has no \"weight\""),
        (
            with("0->1 id 1 start 0 size 8\n1->2 id 1 start 0 size 8"),
            "record 3: its id is that of line 2 already",
        ),
        (
            with("0->1 trigger 1 size 8"),
            "record 2: trigger 1 is named and not there",
        ),
        (
            with("0->1 trigger 1 size 8\ntrigger id 1 oneshot"),
            "record 3: trigger 1 never fires",
        ),
        (
            with("0->1 trigger 1 size 8 recv_done_trigger 1\ntrigger id 1 oneshot"),
            "record 2: the flow waits for itself, over triggers",
        ),
        (with("trigger oneshot"), "a trigger has no id"),
        (with("trigger id 1"), "it is not said what the trigger does"),
        (with("trigger id 1 barrier"), "a barrier has no count"),
        (
            with("trigger id 1 oneshot\ntrigger id 1 oneshot"),
            "record 3: trigger 1 is there twice",
        ),
        (with("trigger id 1 often"), "a trigger has no \"often\""),
        (
            with("0->1 start 0 size 8 send_done_trigger 1\n1->2 trigger 1 size 8\ntrigger id 1 multishot"),
            "trigger 1 is multishot",
        ),
        (
            with("0->1 start 0 size 8 send_done_trigger 1\n1->2 trigger 1 size 8\ntrigger id 1 barrier count 2"),
            "trigger 1 waits for 2 flows, and 1 fire it; write count 1",
        ),
        (
            with(
                "0->1 start 0 size 8 send_done_trigger 1 recv_done_trigger 1\n1->2 trigger 1 size 8\ntrigger id 1 oneshot",
            ),
            "trigger 1 is oneshot, and 2 flows fire it",
        ),
        (
            with("failure switch_type TOR switch_id 0 link_id 1"),
            "a link that fails is not the work of an application",
        ),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found:?} does not say {words:?}");
    }
}

#[test]
fn many_flows_at_their_own_times_take_one_lane_for_all_of_their_clock() {
    let mut text = "time_ns,source,destination,bytes\n".to_owned();
    for i in 0..5000_u64 {
        writeln!(text, "{},0,{},8", i * 7919 % 4999, 1 + i % 3).unwrap();
    }
    let (all, words) = read_bytes("x.csv", &text);
    assert_eq!(words, [""; 0]);
    let clock: Vec<u64> = all.ranks[0]
        .iter()
        .filter(|one| one.operation.kind == Kind::Compute)
        .map(|one| one.operation.time)
        .collect();
    // Times 0 to 4998 ns, each once and 0 twice: a tick for each but 0.
    assert_eq!((clock.len(), clock.iter().sum::<u64>()), (4998, 4_998_000));
    for ((_, _, record), at) in starts_in_order(&all) {
        assert_eq!(at, (record - 2) * 7919 % 4999 * 1000);
    }
}

/// As [`starts`], for graphs whose operations wait for earlier ones of their clock only.
fn starts_in_order(all: &Collected) -> Vec<((u32, u32, u64), u64)> {
    let mut ends = vec![0; all.ranks[0].len()];
    let (clock, sends): (Vec<_>, Vec<_>) = all.ranks[0]
        .iter()
        .enumerate()
        .partition(|(_, one)| one.operation.kind == Kind::Compute);
    for (number, one) in clock {
        let before = one.after.iter().map(|other| ends[*other as usize]).max().unwrap_or(0);
        ends[number] = before + one.operation.time;
    }
    let start = |one: &trace::collected::CollectedOperation| {
        one.after.iter().map(|other| ends[*other as usize]).max().unwrap_or(0)
    };
    let key = |one: &trace::collected::CollectedOperation| (0, one.operation.peer, one.record);
    sends.into_iter().map(|(_, one)| (key(one), start(one))).collect()
}

proptest! {
    #[test]
    fn flows_start_when_the_rule_of_tables_says(
        rows in proptest::collection::vec((0..4_u32, 1..4_u32, 1..100_u64, 0..3_u64, proptest::collection::vec(any::<u32>(), 0..3)), 1..12)
    ) {
        let mut text = "id,source,destination,bytes,time,after\n".to_owned();
        let (mut expected, mut known) = (BTreeMap::new(), Vec::<(u32, u32, u64, u64)>::new());
        for (i, (source, away, bytes, time, after)) in rows.into_iter().enumerate() {
            let (destination, time) = ((source + away) % 4, 1500 * time);
            let after: Vec<usize> = after.iter().map(|a| *a as usize % 12).filter(|other| *other < i).collect();
            let mut start = time;
            for &other in &after {
                let (from, to, bytes, begun) = known[other];
                start = start.max(match () {
                    () if from == source => begun,
                    () if to == source => begun + takes(bytes),
                    () => begun + takes(bytes) + takes(0),
                });
            }
            known.push((source, destination, bytes, start));
            expected.insert((source, destination, i as u64 + 2), start);
            let after: Vec<String> = after.iter().map(|other| format!("f{other}")).collect();
            writeln!(text, "f{i},{source},{destination},{bytes},{time},{}", after.join(";")).unwrap();
        }
        let (all, words) = read_bytes("x.csv", &text);
        prop_assert_eq!(words, [""; 0]);
        prop_assert_eq!(starts(&all), expected);
    }
}
