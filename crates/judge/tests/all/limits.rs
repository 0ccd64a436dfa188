//! The edges of what a packet's fields hold (the table in `packet.rs`), and sums over every pair of nodes that find what is lost, doubled
//! or exchanged.

use des::{Event as _, NoJournal, Outbox, Time, World as _};
use fabric::models::AnyFabric;
use fabric::models::Sculpin;
use fabric::network::Network;
use fabric::network::model::Fabric;
use fabric::observe::{MessageRow, Record, Span, Stats};
use fabric::packet::{HORIZON, Kind, MAX_HOPS, MAX_PACKET, NUMBERS, OLD, Packet};
use fabric::spec::{BitsPerSec, Engine, RunSpec};
use fabric::state::{Parts, State, fault};
use judge::check::{RunFacts, verdict};
use judge::harvest::{Harvest, HarvestWanted, InFlight};
use judge::run::{self, RunError, RunResult};
use std::path::Path;
use std::sync::Arc;
use vocabulary::{LoadOptions, load_study};

fn specs(keys: &str) -> Result<Vec<RunSpec>, String> {
    let text = format!("name = \"limits\"\n{keys}\n");
    load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default())
        .map(|study| study.runs)
        .map_err(|findings| format!("{findings:?}"))
}

fn spec(keys: &str) -> RunSpec {
    specs(keys).unwrap_or_else(|findings| panic!("{findings}")).remove(0)
}

fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(keys: &str) -> String {
    match specs(keys) {
        Err(findings) => findings,
        Ok(specs) => match run::run(&specs[0], &mut |_| true) {
            Err(error) => error.to_string(),
            Ok(result) => panic!("{:?}", result.summary.verdict),
        },
    }
}

const PERMUTATION: &str = "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[link]\nbandwidth = \"25 GB/s\"\n[router]\nmodel = \"sculpin\"\n\
    [[job]]\nwork = { kind = \"random-permutation\", message = \"4 KiB\", load = 1.0 }\n";

/// A load that the network cannot carry lets more messages of a pair of nodes wait than 15 bits could number. Every one of them is known,
/// whatever the packets it is cut into, and has arrived or not; those that have are as many within what a packet's time at the ends is.
#[test]
fn messages_in_overload_are_all_known_whatever_their_packets() {
    let told = |packet: &str| {
        let result = go(&spec(&format!(
            "{PERMUTATION}[nic]\npacket = \"{packet}\"\n[run]\nend = \"8 ms\"\nwarmup = \"0 s\"\ndrain = \"0 s\"\nseeds = [1]\n"
        )));
        (result.summary.measured, result.summary.arrived)
    };
    let (measured, arrived) = told("4 KiB");
    assert!(measured > 16 << 15 && arrived < measured, "{measured} {arrived}");
    for packet in ["2 KiB", "1 KiB"] {
        let told = told(packet);
        assert_eq!(told.0, measured, "{packet}");
        assert!(
            (told.1 as f64 / arrived as f64 - 1.0).abs() < 1e-3,
            "{packet}: {} {arrived}",
            told.1
        );
    }
}

#[test]
fn hours_of_computing_end_at_the_right_time() {
    let halo = |compute: &str, rest: &str| {
        spec(&format!(
            "[topology]\nkind = \"single-router\"\nnodes = 4\n[link]\nbandwidth = \"25 GB/s\"\n[[job]]\n\
             work = {{ kind = \"halo3d\", compute = \"{compute}\", iterations = 4 }}\n[run]\nseeds = [1]\n{rest}"
        ))
    };
    let time = |spec: &RunSpec| go(spec).summary.jobs[0].time_ns.unwrap();
    // What the messages take does not depend on the computing.
    let messages = time(&halo("1 ms", "")) - 4e6;
    assert!((0.0..1e6).contains(&messages), "{messages}");
    for (compute, ns) in [("100 s", 1e11), ("1000 s", 1e12)] {
        assert_eq!(time(&halo(compute, "")), 4.0 * ns + messages, "{compute}");
    }
    for engine in [Engine::Reference, Engine::RollbackCheck, Engine::Optimistic] {
        let mut spec = halo("1000 s", "");
        spec.control.engine = engine;
        assert_eq!(time(&spec), 4e12 + messages, "{engine:?}");
    }
}

#[test]
fn work_beyond_the_end_of_time_is_an_error() {
    // 200 times 1,000 s are more than 40 h.
    let work = [
        "work = { kind = \"halo3d\", compute = \"1000 s\", iterations = 200 }",
        "work = { kind = \"uniform\", message = \"1 B\", count = 200, load = 1e-14 }",
    ];
    for work in work {
        let keys = format!("[topology]\nkind = \"single-router\"\nnodes = 4\n[[job]]\n{work}\n[run]\nseeds = [1]\n");
        let reason = refusal(&keys);
        assert!(reason.contains("simulated time ends at 144115 s, when"), "{reason}");
    }
    assert!(
        refusal("[topology]\nkind = \"single-router\"\nnodes = 4\n[run]\nend = \"144116 s\"\n").contains("144000 s")
    );
}

#[test]
fn hops_are_counted_over_a_ring_of_thousands_of_routers() {
    let ring = |routers: u32, to: u32| {
        format!(
            "[topology]\nkind = \"ring\"\nrouters = {routers}\n[router]\nmodel = \"sculpin\"\n[[job]]\nwork = {{ kind = \"pairs\", mode = \
             \"stream\", messages = 2, message = \"64 B\", pairs = [[0, {to}]] }}\n[run]\nseeds = [1]\n"
        )
    };
    let hops = go(&spec(&ring(4_096, 2_048))).summary.hops;
    assert_eq!((hops.max, hops.mean), (2_049, 2_049.0), "with the one to the node");
    assert_eq!(
        go(&spec(&ring(8_300, MAX_HOPS - 1))).summary.hops.max,
        u64::from(MAX_HOPS)
    );
}

#[test]
fn more_hops_than_are_counted_are_an_error() {
    let reason = refusal(
        "[topology]\nkind = \"ring\"\nrouters = 8300\n[router]\nmodel = \"sculpin\"\n[[job]]\nwork = { kind = \"pairs\", mode = \"stream\", \
         messages = 1, message = \"64 B\", pairs = [[0, 4100]] }\n[run]\nseeds = [1]\n",
    );
    assert!(reason.contains("limits: a packet took 4095 links or more"), "{reason}");
}

#[test]
fn networks_beyond_the_fields_are_refused() {
    let reason = refusal("[topology]\nkind = \"mesh\"\nshape = [67108865]\n[run]\nend = \"1 ns\"\n");
    assert!(reason.contains("the limit is 67108864"), "{reason}");
}

#[test]
fn more_channels_than_the_field_has_are_refused() {
    let reason = refusal(
        "[topology]\nkind = \"torus\"\nshape = [4]\n[router]\nmodel = \"credit\"\nvcs = 64\n[run]\nend = \"1 ns\"\n",
    );
    assert!(reason.contains("63"), "{reason}");
}

#[test]
fn routers_with_more_ports_than_the_field_has_are_refused() {
    let single = |nodes: u32| {
        format!(
            "[topology]\nkind = \"single-router\"\nnodes = {nodes}\n[[job]]\nwork = {{ kind = \"pairs\", mode = \"stream\", messages = 1, \
             message = \"4 KiB\", pairs = [[0, {}]] }}\n[run]\nseeds = [1]\n",
            nodes - 1
        )
    };
    assert_eq!(go(&spec(&single(65_535))).summary.messages, 1);
    let reason = refusal(&single(65_536));
    assert!(reason.contains("65,535") || reason.contains("65535"), "{reason}");
}

#[test]
fn packets_of_the_largest_size_and_no_larger() {
    let stream = |packet: u64| {
        format!(
            "[topology]\nkind = \"mesh\"\nshape = [3]\n[nic]\npacket = \"{packet} B\"\n[[job]]\nwork = {{ kind = \"pairs\", mode = \"stream\", \
             messages = 3, message = \"{} B\", pairs = [[0, 2]] }}\n[run]\nseeds = [1]\n",
            2 * packet
        )
    };
    let result = go(&spec(&stream(MAX_PACKET)));
    assert_eq!((result.summary.messages, result.stats.packets), (3, 6));
    assert_eq!(result.stats.packet_bytes, 6 * MAX_PACKET);
    assert!(refusal(&stream(MAX_PACKET + 1)).contains("64 KiB"));
}

#[test]
fn a_message_of_more_parts_than_are_numbered_is_an_error() {
    let reason = refusal(
        "[topology]\nkind = \"mesh\"\nshape = [3]\n[nic]\npacket = \"1 B\"\n[link]\nbandwidth = \"10 GB/s\"\n[[job]]\nwork = { kind = \"pairs\", \
         mode = \"stream\", messages = 1, message = \"2 GiB\", pairs = [[0, 2]] }\n[run]\nend = \"1 us\"\nseeds = [1]\n",
    );
    assert!(reason.contains("more than 2147483647 packets"), "{reason}");
}

/// Packets of 100 s each, all born at time 0.
#[test]
fn old_messages_of_one_packet_keep_their_births() {
    let slow = |work: &str| {
        let mut slow = spec(&format!(
            "[topology]\nkind = \"single-router\"\nnodes = 4\n[link]\nlatency = \"0 s\"\n[nic]\npacket = \"1000 B\"\n[router]\nmodel = \
             \"sculpin\"\n[[job]]\nwork = {{ message = \"1000 B\", {work} }}\n[run]\nseeds = [1]\n[observe]\nmessages = \"full\"\n"
        ));
        slow.links.default.bandwidth = BitsPerSec(80);
        slow
    };
    let times = |result: &RunResult| {
        let mut rows = result.stats.rows.clone().unwrap();
        rows.sort_unstable_by_key(|row| row.time);
        let seconds = |row: &MessageRow| (row.birth, (row.time as f64 * 1e-12).round());
        rows.iter().map(seconds).collect::<Vec<_>>()
    };
    // The last waits for 200 s at its interface.
    assert!(200e12 > OLD as f64);
    let stream = slow("kind = \"pairs\", mode = \"stream\", messages = 3, pairs = [[0, 1]]");
    assert_eq!(times(&go(&stream)), [(0, 100.0), (0, 200.0), (0, 300.0)]);
    // Two that set out at time 0 wait for each other in the router; a third would be under way for longer than can be told.
    let incast = |sources: u32| slow(&format!("kind = \"incast\", count = 1, sources = {sources}"));
    assert_eq!(times(&go(&incast(2))), [(0, 100.0), (0, 200.0)]);
    let reason = match run::run(&incast(3), &mut |_| true) {
        Err(error) => error.to_string(),
        Ok(result) => panic!("{:?}", result.summary.verdict),
    };
    assert!(reason.contains("flows: ") && reason.contains("141 s"), "{reason}");
}

#[test]
fn packets_too_short_for_whole_picoseconds_are_refused() {
    let keys = |bandwidth: &str, message: u32, load: f64| {
        format!(
            "[topology]\nkind = \"mesh\"\nshape = [3]\n[link]\nbandwidth = \"{bandwidth}\"\n[[job]]\nwork = {{ kind = \"uniform\", message = \"{message} B\", load = {load} }}\n[run]\nend = \"1 us\"\nwarmup = \"0 s\"\nseeds = [1]\n"
        )
    };
    let reason = refusal(&keys("100 Tbit/s", 1, 0.2));
    assert!(
        reason
            .contains("bandwidth: times are whole picoseconds: a packet of 1 B, which takes 0.080 ps, would take 1 ps"),
        "{reason}"
    );
    assert!(reason.contains("nic.packet"), "{reason}");
    // 34 ps in place of 33.3: that shows where links are busy.
    let reason = refusal(&keys("30 GB/s", 1, 0.9));
    assert!(
        reason.contains("limits: link") && reason.contains("lost more than 1 % of the time"),
        "{reason}"
    );
    for (bandwidth, message) in [("100 Tbit/s", 2_048), ("25 GB/s", 1), ("30 GB/s", 1), ("1.6 Tbit/s", 1)] {
        assert!(
            go(&spec(&keys(bandwidth, message, 0.2))).summary.messages > 0,
            "{bandwidth} {message}"
        );
    }
}

/// Takes nothing in but what a handler sends and records.
#[derive(Default)]
struct Seen {
    events: Vec<Packet>,
    records: Vec<Record>,
}

impl Outbox<Packet, Record> for Seen {
    fn send_at(&mut self, _: Time, event: Packet) {
        self.events.push(event);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// The network with the one model that it has here: handlers for [`Seen`] are compiled for no other.
fn plain(world: &AnyFabric) -> &Fabric<Sculpin<true>> {
    match world {
        AnyFabric::PlainSculpin(fabric) => fabric,
        _ => panic!("a single router with sculpin is a plain network"),
    }
}

/// Two messages of 3 packets from node 0 to node 1 of a router, and what happens until all have arrived, but for the arrivals that
/// `meddle` changes.
struct Small {
    world: AnyFabric,
    state: State,
    stats: Stats,
    number: u32,
}

impl Small {
    fn new() -> Small {
        let spec = spec(
            "[topology]\nkind = \"single-router\"\nnodes = 3\n[nic]\npacket = \"1 KiB\"\n[router]\nmodel = \"sculpin\"\n[[job]]\nwork = { kind = \
             \"pairs\", mode = \"stream\", messages = 2, message = \"3 KiB\", pairs = [[0, 1]] }\n[run]\nseeds = [1]\n",
        );
        let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
        let (state, _) = world.start(0..1);
        let stats = Stats::new(Span::default(), 0, false, Arc::default(), (1, 0));
        Small {
            world,
            state,
            stats,
            number: 0,
        }
    }

    /// Everything before `until` and what comes of it, but for the arrivals that `meddle` changes; the verdict's failed checks.
    fn run(mut self, until: u64, meddle: impl Fn(usize, Packet) -> Vec<Packet>) -> Vec<&'static str> {
        use des::Observe as _;
        self.state.ledgers.edit(&mut NoJournal, 0).number = self.number;
        let mut seen = Seen::default();
        plain(&self.world).close(&mut self.state, &mut NoJournal, 0, Time(until), &mut seen);
        let mut events = std::mem::take(&mut seen.events);
        events.sort_by_key(|event| (event.time(), event.kind() == Kind::Arrival));
        let (mut n, mut pending) = (0, InFlight::default());
        for event in events {
            let happens = match event.kind() {
                Kind::Arrival => {
                    n += 1;
                    meddle(n - 1, event)
                }
                _ => vec![event],
            };
            for event in happens {
                match event.time().0 < until {
                    true => plain(&self.world).handle(&mut self.state, &mut NoJournal, 0, &event, &mut seen),
                    false => pending.count(&event, self.world.net()),
                }
            }
        }
        seen.records.drain(..).for_each(|record| self.stats.see(record));
        let harvest = Harvest::reap(
            &self.world,
            &Parts::new([&self.state]),
            self.stats,
            pending,
            &[],
            HarvestWanted::default(),
        );
        let verdict = verdict(&RunFacts {
            net: self.world.net(),
            harvest: &harvest,
            idle: false,
            stalled: false,
            expected: None,
            until_done: false,
        });
        verdict
            .checks
            .iter()
            .filter(|check| !check.ok)
            .map(|check| check.name)
            .collect()
    }
}

const ALL: u64 = 1_000_000_000;

#[test]
fn sums_by_flow_find_what_is_lost_doubled_or_exchanged() {
    // At every time of an honest run: before the first packet, between notices and packets, between packets, after all.
    for until in (0..600_000).step_by(1_250).chain([ALL]) {
        assert_eq!(Small::new().run(until, |_, packet| vec![packet]), [""; 0], "{until}");
    }
    let lost = Small::new().run(ALL, |n, packet| if n == 2 { vec![] } else { vec![packet] });
    assert_eq!(lost, ["conservation", "flows"]);
    let doubled = Small::new().run(ALL, |n, packet| if n == 2 { vec![packet; 2] } else { vec![packet] });
    assert_eq!(doubled, ["conservation", "flows"]);
    // As many packets and bytes as were sent: nothing but the sums by flow can see it.
    let with = |packet: &Packet, source, destination, label, size| {
        let other = Packet::part(source, destination, label, size, packet.part_number());
        other.at(packet.time(), packet.lp(), packet.port())
    };
    let another_message = Small::new().run(ALL, |n, packet| {
        vec![if n == 2 {
            with(&packet, 0, 1, packet.label() + 1, 1_024)
        } else {
            packet
        }]
    });
    assert_eq!(another_message, ["flows"]);
    let another_node = Small::new().run(ALL, |n, packet| {
        vec![if n == 2 {
            with(&packet, 0, 2, packet.label(), 1_024)
        } else {
            packet
        }]
    });
    assert_eq!(another_node, ["flows"]);
    let another_source = Small::new().run(ALL, |n, packet| {
        vec![if n == 2 {
            with(&packet, 2, 1, packet.label(), 1_024)
        } else {
            packet
        }]
    });
    assert_eq!(another_source, ["flows"]);
    let exchanged_bytes = Small::new().run(ALL, |n, packet| {
        vec![match n {
            1 => with(&packet, 0, 1, packet.label(), 1_000),
            4 => with(&packet, 0, 1, packet.label(), 1_048),
            _ => packet,
        }]
    });
    assert_eq!(exchanged_bytes, ["flows"]);
    let exchanged_packets = Small::new().run(ALL, |n, packet| {
        let part = |part| Packet::part(0, 1, packet.label(), 1_024, part).at(packet.time(), packet.lp(), packet.port());
        vec![match n {
            1 => part(2),
            2 => part(1),
            _ => packet,
        }]
    });
    assert_eq!(exchanged_packets, ["flows"]);
}

#[test]
fn a_number_in_use_twice_is_an_error() {
    // The last number and the first: they are two.
    let wraps = || Small {
        number: NUMBERS - 1,
        ..Small::new()
    };
    assert_eq!(wraps().run(ALL, |_, packet| vec![packet]), [""; 0]);
    // A notice of a message whose number is that of another which has not arrived.
    let Small { world, mut state, .. } = Small::new();
    let mut seen = Seen::default();
    plain(&world).close(&mut state, &mut NoJournal, 0, Time(300_000), &mut seen);
    let is_birth = |event: &&Packet| event.kind() == Kind::Notice && event.vc() == 0;
    let notice = *seen.events.iter().find(is_birth).unwrap();
    plain(&world).handle(&mut state, &mut NoJournal, 0, &notice, &mut seen);
    assert_eq!(state.routers.get(0).faults, 0);
    plain(&world).handle(&mut state, &mut NoJournal, 0, &notice, &mut seen);
    assert_eq!(state.routers.get(0).faults, fault::NUMBER_IN_USE);
    let harvest = |state: &State| {
        let stats = Stats::new(Span::default(), 0, false, Arc::default(), (1, 0));
        Harvest::reap(
            &world,
            &Parts::new([state]),
            stats,
            InFlight::default(),
            &[],
            HarvestWanted::default(),
        )
    };
    let harvest = harvest(&state);
    let verdict = verdict(&RunFacts {
        net: world.net(),
        harvest: &harvest,
        idle: false,
        stalled: false,
        expected: None,
        until_done: false,
    });
    let limits = verdict.checks.iter().find(|check| check.name == "limits").unwrap();
    assert!(
        !limits.ok && limits.detail.contains("number of another that was still under way"),
        "{}",
        limits.detail
    );
}

/// A rendezvous whose receive comes late: numbers of messages between two ranks go round while it waits.
#[test]
fn ranks_that_leave_a_message_behind_for_too_long_are_an_error() {
    let program = |between: usize| {
        let mut rows = String::from("rank,op,peer,bytes,tag\n0,isend,1,100000,9\n");
        rows += &"0,send,1,8,0\n".repeat(between);
        rows += "0,waitall,,,\n";
        rows += &"1,recv,0,8,0\n".repeat(between);
        rows += "1,recv,0,100000,9\n";
        let file = std::env::temp_dir().join(format!("fabricsim-limits-{}-{between}.csv", std::process::id()));
        std::fs::write(&file, rows).unwrap();
        let keys = format!(
            "[topology]\nkind = \"single-router\"\nnodes = 2\n[[job]]\nwork = {{ kind = \"ops\", file = '{}' }}\n[run]\nseeds = [1]\n",
            file.display()
        );
        let spec = specs(&keys);
        std::fs::remove_file(file).unwrap();
        run::run(&spec.unwrap()[0], &mut |_| true)
    };
    // With the request, its answer and the data.
    assert_eq!(program(32_000).unwrap().summary.messages, 32_003);
    let reason = program(70_000).unwrap_err().to_string();
    assert!(
        reason.contains("limits: at router") && reason.contains("numbered with 16 bits"),
        "{reason}"
    );
}

#[test]
fn the_end_of_a_run_may_be_late() {
    let mut late = spec(&format!(
        "{PERMUTATION}[run]\nend = \"1 ns\"\nwarmup = \"0 s\"\nseeds = [1]\n"
    ));
    late.control.end = Some(HORIZON);
    match run::run(&late, &mut |_| true) {
        Err(RunError::Build(error)) => {
            assert!(error.to_string().contains("simulated time ends at 144115 s"), "{error}")
        }
        other => panic!("{other:?}"),
    }
}
