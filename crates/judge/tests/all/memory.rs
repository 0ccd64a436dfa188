//! Memory nodes: what an access takes, in closed form; bandwidths.

use crate::memory_nodes::{LINES, MEMHIERARCHY, crowd, go, ring, spec, sum};
use des::Time;
use fabric::spec::*;
use judge::run::{self, RunResult};
use topo::{Lattice, RingSpec, SingleRouterSpec, TopologySpec};

/// Times of a memory node as in [`Memory::default`], in ps, and of the network of [`plain`].
const L1: u64 = 1_000;
const L2: u64 = 4_000;
const BUS: u64 = 1_000;
const DIRECTORY: u64 = 10_000;
const MEMORY: u64 = 50_000;
const LINK: u64 = 100_000;
const TRAVERSAL: u64 = 100_000;

/// `bytes` at so many GB/s.
fn at(gigabytes: u64, bytes: u64) -> u64 {
    (bytes * 1_000).div_ceil(gigabytes)
}

/// A message of `bytes` over `hops` links between routers: the head passes them and the routers, the tail is behind it by its length.
fn way(hops: u64, bytes: u64) -> u64 {
    (hops + 1) * (LINK + TRAVERSAL) + LINK + at(25, bytes)
}

/// From giving out an access to the end of the look at the shared cache.
fn to_l2() -> u64 {
    L1 + at(64, 8) + BUS + L2
}

/// A line from the shared cache to the core.
fn to_core() -> u64 {
    at(64, 64) + BUS
}

/// Directory and memory.
fn home() -> u64 {
    DIRECTORY + MEMORY + at(8, 64)
}

/// Bus and own cache, to and from a core that gives up a line.
fn fetch() -> u64 {
    2 * (at(64, 8) + BUS) + L1
}

/// One access after the other, each long after the one before; (core, line, store).
fn listed(accesses: &[(u32, u64, bool)]) -> AccessPattern {
    let at = |i: usize| Time::from_us(10 * i as u64);
    let all = accesses.iter().enumerate();
    AccessPattern::Listed(
        all.map(|(i, &(core, line, store))| ListedAccess {
            core,
            at: at(i),
            line,
            store,
        })
        .collect(),
    )
}

/// What the last of some accesses takes (ps).
fn last(memory: &Memory, accesses: &[(u32, u64, bool)]) -> u64 {
    let sum = |n: usize| -> u64 {
        let memory = Memory {
            pattern: listed(&accesses[..n]),
            ..memory.clone()
        };
        let topology = TopologySpec::Ring(RingSpec {
            routers: 6,
            width: 1,
            nodes_per_router: memory.interfaces,
        });
        let result = go(&spec(topology, memory));
        let all = result.memory.iter().map(|row| row.cores.done).sum::<u64>();
        assert_eq!(all, n as u64);
        result.memory.iter().map(|row| row.cores.latency).sum()
    };
    sum(accesses.len()) - sum(accesses.len() - 1)
}

/// The first line at home at a node.
fn of(node: u64) -> u64 {
    node * LINES
}

#[test]
fn a_line_in_the_cores_own_cache_takes_a_look_at_it() {
    let memory = Memory::default();
    assert_eq!(last(&memory, &[(0, of(0), false), (0, of(0), false)]), L1);
    assert_eq!(last(&memory, &[(0, of(3), true), (0, of(3), true)]), L1);
    // A line that nobody else has is written without asking.
    assert_eq!(last(&memory, &[(0, of(3), false), (0, of(3), true)]), L1);
}

#[test]
fn a_line_in_the_shared_cache_or_a_neighbours_takes_the_bus_twice() {
    let memory = Memory {
        l1: Bytes(64),
        l1_ways: 1,
        ..Memory::default()
    };
    let hit = to_l2() + to_core();
    assert_eq!(
        last(&memory, &[(0, of(0), false), (0, of(1), false), (0, of(0), false)]),
        hit
    );
    assert_eq!(last(&memory, &[(0, of(2), true), (1, of(2), false)]), hit);
    assert_eq!(
        last(&memory, &[(0, of(2), false), (1, of(2), false), (0, of(2), true)]),
        hit
    );
}

#[test]
fn local_memory_takes_caches_directory_and_memory() {
    let read = to_l2() + BUS + home() + BUS + to_core();
    assert_eq!(last(&Memory::default(), &[(0, of(0), false)]), read);
    assert_eq!(last(&Memory::default(), &[(0, of(0), true)]), read);
}

#[test]
fn remote_memory_takes_a_request_and_a_line_on_their_ways() {
    for (node, hops) in [(1, 1), (2, 2), (3, 3), (4, 2), (5, 1)] {
        for store in [false, true] {
            let read = to_l2() + way(hops, 8) + home() + way(hops, 72) + to_core();
            assert_eq!(last(&Memory::default(), &[(0, of(node), store)]), read, "{node}");
        }
    }
}

#[test]
fn a_line_that_a_remote_core_has_written_comes_from_there() {
    // Node 2's core has written a line of node 1's memory; node 0 asks.
    for store in [false, true] {
        let accesses = [(8, of(1), true), (0, of(1), store)];
        let read = to_l2() + way(1, 8) + DIRECTORY + way(1, 8) + L2 + way(2, 72) + to_core();
        assert_eq!(last(&Memory::default(), &accesses), read);
    }
    // The owner is at the home, then the reader is.
    let read = to_l2() + way(2, 8) + DIRECTORY + BUS + L2 + way(2, 72) + to_core();
    assert_eq!(last(&Memory::default(), &[(8, of(2), true), (0, of(2), false)]), read);
    let read = to_l2() + BUS + DIRECTORY + way(2, 8) + L2 + way(2, 72) + to_core();
    assert_eq!(last(&Memory::default(), &[(8, of(0), true), (0, of(0), false)]), read);
}

#[test]
fn a_writer_waits_for_the_acknowledgement_of_the_farthest_reader() {
    // Nodes 0 and 3 read a line of node 1; node 0 writes it: leave has 1 link, node 3's word 2 and 3.
    let memory = Memory::default();
    let leave = [(0, of(1), false), (12, of(1), false), (0, of(1), true)];
    let taken = to_l2() + way(1, 8) + DIRECTORY + way(2, 8) + L2 + way(3, 8) + to_core();
    assert_eq!(last(&memory, &leave), taken);
    // A node without a copy gets the line meanwhile. Node 4 is as far as node 3, and its word leaves the home after the other.
    let line = [(12, of(1), false), (16, of(1), false), (0, of(1), true)];
    assert_eq!(last(&memory, &line), taken + at(25, 8));
}

#[test]
fn parts_of_random_reads_add_up_to_the_whole() {
    let memory = Memory {
        cores: 2,
        accesses: 200,
        outstanding: 3,
        ..Memory::default()
    };
    let result = go(&spec(ring(6), memory));
    let summary = result.summary.memory.expect("there are memory nodes");
    assert_eq!(summary.accesses, 6 * 2 * 200);
    assert!(summary.time_ns.is_some());
    let parts = summary.l1_ns + summary.bus_ns + summary.l2_ns + summary.beyond_ns;
    assert!((parts - summary.latency_ns).abs() < 1e-6 * parts, "{summary:?}");
    // Hardly two cores ask for one line.
    assert!(summary.protocol_ns.abs() < 0.02 * summary.latency_ns, "{summary:?}");
    assert!(summary.bottleneck.contains("idle network"), "{}", summary.bottleneck);
}

#[test]
fn a_saturated_memory_gives_its_bandwidth() {
    // Everyone reads from the first node's memory, which is the slowest part by far.
    let memory = Memory {
        pattern: AccessPattern::HotSpot {
            lines: LINES,
            fraction: 1.0,
        },
        accesses: 100,
        memory_bandwidth: BitsPerSec(8_000_000_000),
        ..Memory::default()
    };
    let result = go(&spec(ring(6), memory));
    let reads = sum(&result.memory, |row| row.beyond.reads);
    assert_eq!(reads, result.memory[0].beyond.reads);
    let time = result.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
    let least = reads * at(1, 64);
    assert!(time >= least && time < least + least / 20, "{time} ps for {least}");
    let summary = result.summary.memory.expect("there are memory nodes");
    assert!(
        summary.bottleneck.contains("waiting for memory"),
        "{}",
        summary.bottleneck
    );
}

#[test]
fn a_saturated_link_gives_its_bandwidth() {
    let memory = Memory {
        pattern: AccessPattern::HotSpot {
            lines: LINES,
            fraction: 1.0,
        },
        accesses: 100,
        memory_bandwidth: BitsPerSec(800_000_000_000),
        ..Memory::default()
    };
    let mut spec = spec(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 6 }), memory);
    spec.links.default.bandwidth = BitsPerSec(8_000_000_000);
    let result = go(&spec);
    let time = result.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
    // The first node's interface sends every line and every answer.
    let least = result.memory[0].beyond.bytes * 1_000;
    assert!(time >= least && time < least + least / 20, "{time} ps for {least}");
    let summary = result.summary.memory.expect("there are memory nodes");
    assert!(summary.bottleneck.contains("bandwidth"), "{}", summary.bottleneck);
    let named = "the busiest link, memory node 0 to its router, is busy for 9";
    assert!(summary.bottleneck.contains(named), "{}", summary.bottleneck);
}

#[test]
fn the_busiest_link_between_routers_is_named() {
    // Both nodes of the first router read from the second one, over one link with half of their rate.
    let list: Vec<_> = (0..400).map(|k| (k % 8, of(2) + u64::from(k), false)).collect();
    let mut pattern = listed(&list);
    if let AccessPattern::Listed(list) = &mut pattern {
        list.iter_mut().for_each(|access| access.at = Time::ZERO);
    }
    let topology = TopologySpec::Mesh(Lattice {
        shape: vec![2],
        width: Vec::new(),
        nodes_per_router: 2,
    });
    let mut spec = spec(
        topology,
        Memory {
            pattern,
            memory_bandwidth: BitsPerSec(800_000_000_000),
            ..Memory::default()
        },
    );
    spec.links.default.bandwidth = BitsPerSec(4_000_000_000);
    let host = LinkSpec {
        bandwidth: BitsPerSec(16_000_000_000),
        ..spec.links.default
    };
    spec.links.by_class.insert("host".into(), host);
    let summary = go(&spec).summary;
    let link = summary.busiest_link.expect("there are links");
    assert_eq!(link.name, "(1) x-");
    assert!(link.busy > 0.9, "{}", link.busy);
    let words = summary.memory.expect("there are memory nodes").bottleneck;
    assert!(words.contains("the busiest link, (1) x-, is busy for 9"), "{words}");
}

/// When the last of some accesses that may all be given out at once is over (ps).
fn end(memory: &Memory, accesses: &[(u32, u64, bool)]) -> u64 {
    let mut pattern = listed(accesses);
    if let AccessPattern::Listed(list) = &mut pattern {
        list.iter_mut().for_each(|access| access.at = Time::ZERO);
    }
    let memory = Memory {
        pattern,
        ..memory.clone()
    };
    let result = go(&spec(ring(6), memory));
    result.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0)
}

#[test]
fn a_fence_lets_a_core_wait_until_it_has_none_under_way() {
    // Two reads of a remote memory that would go together; between them a fence.
    let reads = [(0, of(1), false), (0, of(1) + 1, false)];
    let memory = Memory {
        cores: 1,
        ..Memory::default()
    };
    let one = end(&memory, &reads[..1]);
    let both = end(&memory, &reads);
    assert!(both < one + one / 2);
    let fenced = Memory {
        fence_every: 1,
        ..memory.clone()
    };
    assert_eq!(end(&fenced, &reads), 2 * one);
    // Before the first there is nothing to wait for, and a fence after the last has no one to stop.
    let rare = Memory {
        fence_every: 2,
        ..memory
    };
    assert_eq!(end(&rare, &reads), both);
    // As many as may be under way between fences: as fast as with so many places.
    let random = |outstanding, fence_every| {
        let mut memory = crowd(0.3, false);
        (memory.outstanding, memory.fence_every) = (outstanding, fence_every);
        let result = go(&spec(ring(6), memory));
        sum(&result.memory, |row| row.cores.finished)
    };
    assert_eq!(random(1, 0), random(1, 1));
    assert_eq!(random(4, 1), random(1, 0));
    assert!(random(4, 4) > random(4, 0));
}

#[test]
fn a_bank_takes_a_line_when_it_is_done_with_the_one_before() {
    let busy = 400_000;
    let memory = |banks| Memory {
        cores: 1,
        banks,
        bank_busy: Time(busy),
        ..Memory::default()
    };
    let reads = |step: u64| [0, 1, 2, 3].map(|k| (0, of(1) + k * step, false));
    let alone = end(&memory(4), &reads(1)[..1]);
    // Four banks: only the link and the memory's rate are between the lines, as without banks.
    let free = Memory {
        bank_busy: Time::ZERO,
        ..memory(1)
    };
    assert_eq!(end(&memory(4), &reads(1)), end(&free, &reads(1)));
    // One bank for all, or all lines in one of four: one after the other.
    let queued = alone + 3 * busy;
    let slack = 3 * memory(1).issue.0;
    for time in [end(&memory(1), &reads(1)), end(&memory(4), &reads(4))] {
        assert!((queued - slack..=queued + slack).contains(&time), "{time} {queued}");
    }
}

#[test]
fn an_entry_that_is_not_at_hand_comes_from_memory_and_the_oldest_goes_back() {
    let memory = |entries| Memory {
        cores: 1,
        outstanding: 1,
        directory_entries: entries,
        directory_ways: 2,
        ..Memory::default()
    };
    let take = |entries, reads: &[(u32, u64, bool)]| last(&memory(entries), reads);
    let read = [(0, of(1), false)];
    let all = take(0, &read);
    let entry = MEMORY + at(8, 64);
    assert_eq!(take(2, &read), all + entry);
    // A second line's entry comes from memory too, then both are at hand when another node asks.
    let mut spec = spec(ring(4), memory(2));
    let run = |spec: &mut RunSpec, accesses: &[(u32, u64, bool)]| {
        if let Work::Memory(memory) = &mut spec.jobs[0].work {
            memory.pattern = listed(accesses);
        }
        let result = go(spec);
        let misses = result.summary.memory.expect("memory nodes").directory_misses;
        (misses, sum(&result.memory, |row| row.beyond.writes))
    };
    let later = [
        (0, of(1), false),
        (0, of(1) + 1, false),
        (2, of(1), false),
        (2, of(1) + 1, false),
    ];
    assert_eq!(run(&mut spec, &later).0, 2);
    // A third line's entry drives the first one out, which is written back.
    let third = [(0, of(1), false), (0, of(1) + 1, false), (0, of(1) + 2, false)];
    assert_eq!(run(&mut spec, &third).0, 3);
    if let Work::Memory(memory) = &mut spec.jobs[0].work {
        memory.directory_entries = 4;
        memory.directory_ways = 4;
    }
    assert_eq!(run(&mut spec, &third).0, 3);
}

#[test]
fn with_two_interfaces_lines_share_them_out() {
    let hyperx = |nodes_per_router| {
        TopologySpec::HyperX(Lattice {
            shape: vec![4, 3],
            width: Vec::new(),
            nodes_per_router,
        })
    };
    let stream = |interfaces, nodes_per_router| {
        let memory = Memory {
            accesses: 400,
            outstanding: 64,
            interfaces,
            memory_bandwidth: BitsPerSec(800_000_000_000),
            control: Bytes(8),
            ..Memory::default()
        };
        let mut spec = spec(hyperx(nodes_per_router), memory);
        spec.links.default.bandwidth = BitsPerSec(8_000_000_000);
        spec.router.model = RouterKind::SCULPIN;
        go(&spec)
    };
    let (one, two) = (stream(1, 1), stream(2, 2));
    let time = |result: &RunResult| sum(&result.memory, |row| row.cores.finished) as f64;
    assert_eq!((one.memory.len(), two.memory.len()), (12, 12));
    assert_eq!(sum(&two.memory, |row| row.cores.done), 12 * 4 * 400);
    assert!(time(&two) < 0.75 * time(&one), "{} {}", time(&two), time(&one));
    let refused = run::run(
        &{
            let mut spec = spec(hyperx(3), Memory::default());
            if let Work::Memory(memory) = &mut spec.jobs[0].work {
                memory.interfaces = 2;
            }
            spec
        },
        &mut |_| true,
    );
    assert!(refused.is_err_and(|error| error.to_string().contains("no whole number of hosts")));
}

/// A node of one core and one line in either cache, put together in that way.
fn with_one_line(arrangement: NodeArrangement) -> Memory {
    Memory {
        cores: 1,
        l1: Bytes(64),
        l1_ways: 1,
        l2: Bytes(64),
        l2_ways: 1,
        interfaces: match arrangement.interfaces {
            InterfaceUse::ByLine => 1,
            InterfaceUse::ByPart => 2,
        },
        arrangement,
        ..Memory::default()
    }
}

#[test]
fn a_line_that_leaves_when_another_is_asked_for_goes_before_the_request() {
    let first_then_second = [(0, of(1), false), (0, of(2), false)];
    let read = to_l2() + way(2, 8) + home() + way(2, 72) + to_core();
    let plain = NodeArrangement::default();
    assert_eq!(last(&with_one_line(plain), &first_then_second), read);
    // The core is asked for the line first, and the request waits for the word, or the line, on the node's link.
    let evict = Evict::WhenAsked;
    let word = NodeArrangement { evict, ..plain };
    assert_eq!(
        last(&with_one_line(word), &first_then_second),
        read + fetch() + at(25, 8)
    );
    let line = NodeArrangement {
        clean_writebacks: CleanWritebacks::Line,
        ..word
    };
    assert_eq!(
        last(&with_one_line(line), &first_then_second),
        read + fetch() + at(25, 72)
    );
    // What was written leaves with the line in any case.
    let written = [(0, of(1), true), (0, of(2), false)];
    assert_eq!(last(&with_one_line(word), &written), read + fetch() + at(25, 72));
    // No core has the line.
    let unheld = Memory {
        l2: Bytes(128),
        l2_ways: 2,
        ..with_one_line(word)
    };
    let third = [(0, of(1), false), (0, of(2), false), (0, of(2) + 1, false)];
    assert_eq!(last(&unheld, &third), read + at(25, 8));
}

#[test]
fn a_place_that_waits_for_its_line_lets_other_accesses_wait() {
    let reads = [(0, of(1), false), (0, of(1) + 1, false)];
    let evict = Evict::WhenAsked;
    let asked = with_one_line(NodeArrangement {
        evict,
        ..NodeArrangement::default()
    });
    // Together where the place is given when the line comes, one after the other where it is given when it is asked for.
    let one = end(&asked, &reads[..1]);
    assert!(end(&with_one_line(NodeArrangement::default()), &reads) < one + one / 2);
    assert!(end(&asked, &reads) > 2 * one - to_l2() - to_core());
    let roomy = Memory {
        l2: Bytes(128),
        l2_ways: 2,
        ..asked
    };
    assert!(end(&roomy, &reads) < one + one / 2);
}

#[test]
fn lines_that_leave_and_their_answers_take_what_the_study_says() {
    // Three lines of three nodes in a cache for one: two leave.
    let reads: Vec<_> = (1..4).map(|node| (0, of(node), false)).collect();
    let bytes = |arrangement| {
        let memory = Memory {
            pattern: listed(&reads),
            ..with_one_line(arrangement)
        };
        sum(&go(&spec(ring(6), memory)).memory, |row| row.beyond.bytes)
    };
    let plain = NodeArrangement::default();
    let lines = NodeArrangement {
        clean_writebacks: CleanWritebacks::Line,
        ..plain
    };
    let answered = NodeArrangement {
        writeback_answers: WritebackAnswers::AsSent,
        ..lines
    };
    let words = 3 * (8 + 72) + 2 * (8 + 8);
    assert_eq!(bytes(plain), words);
    assert_eq!(bytes(lines), words + 2 * 64);
    assert_eq!(bytes(answered), words + 4 * 64);
    // Without a line to answer there is none to send back.
    let only_answers = NodeArrangement {
        writeback_answers: WritebackAnswers::AsSent,
        ..plain
    };
    assert_eq!(bytes(only_answers), words);
}

#[test]
fn caches_and_home_of_a_node_have_an_interface_each() {
    let by_part = NodeArrangement {
        interfaces: InterfaceUse::ByPart,
        ..NodeArrangement::default()
    };
    let memory = with_one_line(by_part);
    let remote = to_l2() + way(2, 8) + home() + way(2, 72) + to_core();
    assert_eq!(last(&memory, &[(0, of(2), false)]), remote);
    let inside = to_l2() + BUS + home() + BUS + to_core();
    assert_eq!(last(&memory, &[(0, of(0), false)]), inside);
    let through = Memory {
        arrangement: NodeArrangement {
            own_node: OwnNode::ThroughRouter,
            ..by_part
        },
        ..memory.clone()
    };
    let own = to_l2() + way(0, 8) + home() + way(0, 72) + to_core();
    assert_eq!(last(&through, &[(0, of(0), false)]), own);
    // Requests leave by the first interface, lines and answers by the second.
    let topology = TopologySpec::Ring(RingSpec {
        routers: 6,
        width: 1,
        nodes_per_router: 2,
    });
    let reads = Memory {
        pattern: listed(&[(0, of(1), false), (0, of(2), false)]),
        ..memory
    };
    let result = go(&spec(topology, reads));
    let of_node = |node: usize| (result.memory[node].beyond.bytes, result.memory[node].beyond.home_bytes);
    assert_eq!([of_node(0), of_node(1), of_node(2)], [(24, 0), (80, 80), (72, 72)]);
}

#[test]
fn the_busier_of_two_interfaces_is_named() {
    let memory = Memory {
        accesses: 100,
        memory_bandwidth: BitsPerSec(800_000_000_000),
        interfaces: 2,
        arrangement: NodeArrangement {
            evict: Evict::WhenCome,
            ..MEMHIERARCHY
        },
        ..Memory::default()
    };
    let mut spec = spec(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 12 }), memory);
    spec.links.default.bandwidth = BitsPerSec(8_000_000_000);
    let result = go(&spec);
    let time = result.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
    let most = result.memory.iter().map(|row| {
        let of = &row.beyond;
        of.home_bytes.max(of.bytes - of.home_bytes)
    });
    // What leaves after the last access is counted as well.
    let share = (100.0 * 1_000.0 * most.max().unwrap_or(0) as f64 / time as f64).min(100.0);
    let words = result.summary.memory.expect("there are memory nodes").bottleneck;
    assert!(
        words.contains(&format!("is busy for {share:.0} % of the time")),
        "{words} {share}"
    );
}
