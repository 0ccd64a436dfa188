//! Messages from a table: each is sent at its time and told with all of its times; what a table says wrongly is refused with its line.

use fabric::observe::MessageTimes;
use fabric::spec::{Engine, RunSpec, Work};
use judge::run::{RunError, run};
use std::fmt::Write as _;
use std::path::Path;
use vocabulary::{LoadOptions, canonical, load_study, render, run_of_canonical};

/// A router of 3 nodes: 10 ns on every link and in the router, 1 byte per ps, packets of 1000 bytes.
fn study(job: &str, rest: &str) -> String {
    format!(
        "[topology]\nkind = \"single-router\"\nnodes = 3\n[link]\nbandwidth = \"1 TB/s\"\nlatency = \"10 ns\"\n\
         [router]\nmodel = \"sculpin\"\ntraversal = \"10 ns\"\n[nic]\npacket = \"1000 B\"\n[[job]]\n{job}\n\
         [observe]\nmessages = true\n{rest}\n"
    )
}

fn load(text: &str, base: &Path) -> Result<RunSpec, String> {
    match load_study(text.as_bytes(), "s.toml", base, &LoadOptions::default()) {
        Ok(mut study) => Ok(study.runs.remove(0)),
        Err(findings) => Err(render(&findings)),
    }
}

fn times(spec: &RunSpec) -> Vec<MessageTimes> {
    let result = run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    result.messages.expect("they were asked for")
}

/// Source, number, destination, bytes, born, injected, arrived.
type Told = (u32, u64, u32, u64, u64, Option<u64>, Option<u64>);

fn told(spec: &RunSpec) -> Vec<Told> {
    let row = |m: MessageTimes| {
        (
            m.source,
            m.number,
            m.destination,
            m.bytes,
            m.born,
            m.injected,
            m.arrived,
        )
    };
    times(spec).into_iter().map(row).collect()
}

#[test]
fn listed_messages_leave_at_their_times_and_arrive_when_the_formula_says() {
    // A packet of B bytes takes 30,000 + B ps; node 0 has two messages at one time, the larger in two packets.
    let table = "bytes,time_ns,destination,source\\n# any order of rows and columns\\n500,70,1,2\\n1500,5,1,0\\n\\n300,5,2,0\\n1,0.001,0,2\\n";
    let spec = load(
        &study(&format!("work = {{ kind = \"messages\", table = \"{table}\" }}"), ""),
        Path::new("."),
    )
    .unwrap();
    assert_eq!(
        told(&spec),
        [
            (0, 0, 1, 1_500, 5_000, Some(5_000), Some(36_500)),
            (0, 1, 2, 300, 5_000, Some(6_500), Some(36_800)),
            (2, 0, 0, 1, 1, Some(1), Some(30_002)),
            (2, 1, 1, 500, 70_000, Some(70_000), Some(100_500)),
        ]
    );
}

#[test]
fn the_order_of_rows_and_the_unit_of_times_are_no_part_of_a_run() {
    let spec = |table: &str| {
        let work = format!("work = {{ kind = \"messages\", table = \"{table}\" }}");
        load(&study(&work, ""), Path::new(".")).unwrap()
    };
    let one = spec("time_ps,source,destination,bytes\\n5000,0,1,8\\n7000,1,0,9\\n");
    assert_eq!(
        one,
        spec("time,bytes,source,destination\\n7 ns,9,1,0\\n0.005 us,8,0,1\\n")
    );
    assert_eq!(
        one,
        spec("time_us,bytes,source,destination\\n0.005,8,0,1\\n0.007,9,1,0\\n")
    );
    assert_eq!(run_of_canonical(&canonical(&one)), Ok(one));
}

#[test]
fn what_has_not_arrived_or_not_left_when_the_run_ends_has_no_times_for_that() {
    // 1,000 ps per message: at 3,500 ps four have left, none has arrived; node 1's second is born at the end, which is no part of it.
    let mut table = "time_ps,source,destination,bytes\\n".to_owned();
    (0..6).for_each(|_| table.push_str("0,0,2,1000\\n"));
    table.push_str("3499,1,2,10\\n3500,1,2,10\\n");
    let job = format!("work = {{ kind = \"messages\", table = \"{table}\" }}");
    let spec = load(&study(&job, "[run]\nend = \"3500 ps\""), Path::new(".")).unwrap();
    let left = |number| (0, number, 2, 1_000, 0, Some(number * 1_000), None);
    let waits = |number| (0, number, 2, 1_000, 0, None, None);
    assert_eq!(
        told(&spec),
        [
            left(0),
            left(1),
            left(2),
            left(3),
            waits(4),
            waits(5),
            (1, 0, 2, 10, 3_499, Some(3_499), None),
        ]
    );
}

#[test]
fn every_message_of_every_kind_of_work_is_told() {
    let works = [
        "{ kind = \"uniform\", load = 0.9, message = \"1500 B\" }",
        "{ kind = \"incast\", count = 40, message = \"700 B\" }",
        "{ kind = \"pairs\", pairs = [[0, 1]], messages = 19 }",
        "{ kind = \"pairs\", pairs = [[0, 1]], messages = 19, mode = \"batch\", batch = 4 }",
        "{ kind = \"collective\", collective = \"alltoall\", message = \"40 KiB\" }",
        "{ kind = \"memory\", accesses = 30 }",
    ];
    for (i, work) in works.into_iter().enumerate() {
        for end in ["", "[run]\nend = \"1 us\"\ndrain = \"0 s\"\nwarmup = \"0 s\""] {
            if i == 0 && end.is_empty() || i > 0 && !end.is_empty() && !end.contains("drain") {
                continue;
            }
            let end = if i > 0 {
                end.replace("drain = \"0 s\"\n", "")
            } else {
                end.to_owned()
            };
            let mut spec = load(&study(&format!("work = {work}"), &end), Path::new(".")).unwrap();
            let result = run(&spec, &mut |_| true).unwrap();
            let rows = result.messages.clone().unwrap();
            let arrived = rows.iter().filter(|m| m.arrived.is_some()).count();
            let listed = result.stats.rows.as_ref().unwrap();
            assert_eq!(arrived, listed.len(), "{work} {end}");
            assert!(arrived > 8, "{work} {end}: {arrived}");
            for m in &rows {
                assert!(m.injected.is_none_or(|injected| injected >= m.born), "{work}: {m:?}");
                // No way is faster than two links and a router.
                let least = m.injected.map(|injected| injected + 30_000);
                assert!(m.arrived.is_none_or(|arrived| Some(arrived) >= least), "{work}: {m:?}");
                assert_eq!(m.arrived.is_some(), m.hops.is_some(), "{work}: {m:?}");
            }
            if end.is_empty() {
                assert_eq!(arrived, rows.len(), "{work}: all has arrived");
            }
            spec.control.engine = Engine::Reference;
            assert_eq!(times(&spec), rows, "{work} {end}");
        }
    }
}

#[test]
fn a_job_of_listed_messages_has_nodes_of_its_own() {
    let table = "time_ps,source,destination,bytes\\n0,0,1,8\\n";
    let job = format!(
        "name = \"idle\"\nnodes = 1\nwork = {{ kind = \"idle\" }}\n[[job]]\nname = \"listed\"\nnodes = 2\n\
         work = {{ kind = \"messages\", table = \"{table}\" }}"
    );
    let spec = load(&study(&job, ""), Path::new(".")).unwrap();
    assert_eq!(told(&spec), [(1, 0, 2, 8, 0, Some(0), Some(30_008))]);
}

#[test]
fn a_table_comes_from_a_file_beside_the_study_and_a_parquet_file_is_left_to_the_face() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "time,source,destination,bytes\r\n".to_owned();
    (0..3).for_each(|i| writeln!(table, "{i} ns, {i}, {}, 9\r", (i + 1) % 3).unwrap());
    std::fs::write(folder.path().join("m.csv"), table).unwrap();
    let of = |file: &str| {
        load(
            &study(&format!("work = {{ kind = \"messages\", file = \"{file}\" }}"), ""),
            folder.path(),
        )
    };
    let Work::Messages(list) = &of("m.csv").unwrap().jobs[0].work else {
        panic!("listed messages")
    };
    assert_eq!(list.len(), 3);
    assert!(of("none.csv").unwrap_err().contains("cannot read \"none.csv\""));
    std::fs::write(folder.path().join("m.parquet"), "PAR1").unwrap();
    assert!(of("m.parquet").unwrap_err().contains("take CSV here"));
}

#[test]
fn what_a_table_says_wrongly_is_refused_with_its_line_a_reason_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let head = "time_ns,source,destination,bytes\n";
    let cases = [
        ("", "the table is empty", "its first line names columns"),
        (head, "the table has no message", "a message each"),
        (
            "time_ns,source,bytes\n1,0,8\n",
            "line 1: there is no column \"destination\"",
            "every table has it",
        ),
        (
            "source,destination,bytes\n0,1,8\n",
            "there is no column that says the time",
            "time_ns",
        ),
        (
            "time_ns,time_ps,source,destination,bytes\n1,1,0,1,8\n",
            "line 2: two columns say the time",
            "keep one",
        ),
        (
            "time_ns,size,source,destination,bytes\n",
            "line 1: there is no column \"size\"",
            "columns are time,",
        ),
        ("1,0,3,8\n", "line 2: there is no node 3", "nodes 0 to 2"),
        (
            "1,4294967296,0,8\n",
            "line 2: there is no node 4294967296",
            "nodes 0 to 2",
        ),
        ("1,-1,1,8\n", "line 2: source is \"-1\"", "the number of a node"),
        (
            "1,0,1,8\n\n# and\n1,1,1,8\n",
            "line 5: node 1 sends to itself",
            "leave them out",
        ),
        ("1,0,1,0\n", "line 2: bytes is \"0\"", "from 1 to"),
        ("1,0,1,1099511627777\n", "line 2: bytes is \"1099511627777\"", "1 TiB"),
        ("1,0,1,8.5\n", "line 2: bytes is \"8.5\"", "a whole number"),
        ("1,0,1,NaN\n", "line 2: bytes is \"NaN\"", "a whole number"),
        ("-1,0,1,8\n", "line 2: time_ns is \"-1\"", "zero or more"),
        (",0,1,8\n", "line 2: time_ns is \"\"", "a time"),
        ("soon,0,1,8\n", "line 2: time_ns is \"soon\"", "a time"),
        ("0.0001,0,1,8\n", "line 2: time_ns is \"0.0001\"", "the nearest below"),
        ("1e300,0,1,8\n", "line 2: time_ns is \"1e300\"", "use one of"),
        (
            "999999999999999999,0,1,8\n",
            "line 2: time_ns is \"999999999999999999\"",
            "such as",
        ),
        (
            "9999999999999999,0,1,8\n",
            "line 2: time_ns is \"9999999999999999\"",
            "simulated time ends",
        ),
        (
            "1,0,1\n",
            "line 2: 3 cells, the header has 4 columns",
            "every column a cell",
        ),
        (
            "1,0,1,8\n1,7,1,8\n1,0,0,8\n",
            "line 3: there is no node 7; and 1 more mistakes",
            "nodes 0 to 2",
        ),
    ];
    for (text, reason, hint) in cases {
        let has_head =
            text.is_empty() || text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.contains("source");
        let text = if has_head {
            text.to_owned()
        } else {
            format!("{head}{text}")
        };
        std::fs::write(folder.path().join("m.csv"), &text).unwrap();
        let loaded = load(
            &study("work = { kind = \"messages\", file = \"m.csv\" }", ""),
            folder.path(),
        );
        let error = loaded.map(|_| String::new()).unwrap_or_else(|error| error);
        assert!(error.contains("job[0].work.file"), "{text:?}: {error}");
        assert!(error.contains(reason), "{text:?}: {error}");
        assert!(error.contains(hint), "{text:?}: {error}");
    }
    for (job, reason) in [
        ("work = { kind = \"messages\" }", "there is no table of messages"),
        (
            "work = { kind = \"messages\", file = \"m.csv\", table = \"x\" }",
            "there are two tables of messages",
        ),
        (
            "work = { kind = \"messages\", table = \"time,source,destination,bytes\\n1 ns,0,9,8\" }",
            "row 0: there is no node 9",
        ),
    ] {
        let error = load(&study(job, ""), folder.path()).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_list_made_by_hand_that_does_not_fit_the_network_is_refused_before_the_run() {
    let table = "time_ps,source,destination,bytes\\n0,0,1,8\\n";
    let work = format!("work = {{ kind = \"messages\", table = \"{table}\" }}");
    let mut spec = load(&study(&work, ""), Path::new(".")).unwrap();
    if let Work::Messages(list) = &mut spec.jobs[0].work {
        list[0].destination = 3;
    }
    let error = run(&spec, &mut |_| true).unwrap_err();
    assert!(
        matches!(error, RunError::Build(_)) && error.to_string().contains("no node 3"),
        "{error}"
    );
}
