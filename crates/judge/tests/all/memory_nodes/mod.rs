//! Runs of memory nodes.

use fabric::memory::MemoryRow;
use fabric::spec::*;
use judge::run::{self, RunResult};
use topo::{RingSpec, TopologySpec};

/// Lines of a node's memory in these tests.
pub const LINES: u64 = 1 << 10;

pub fn ring(routers: u32) -> TopologySpec {
    TopologySpec::Ring(RingSpec {
        routers,
        width: 1,
        nodes_per_router: 1,
    })
}

pub fn spec(topology: TopologySpec, memory: Memory) -> RunSpec {
    let mut spec = plain(topology);
    spec.jobs = vec![JobSpec {
        name: "memory".into(),
        work: Work::Memory(Memory {
            memory: Bytes(LINES * 64),
            ..memory
        }),
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.control.end = None;
    spec
}

pub fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// Tiny caches and few lines: all of the protocol.
pub fn crowd(stores: f64, told: bool) -> Memory {
    Memory {
        pattern: AccessPattern::HotSpot {
            lines: 40,
            fraction: 0.7,
        },
        accesses: 150,
        stores,
        cores: 3,
        outstanding: 4,
        l1: Bytes(128),
        l1_ways: 2,
        l2: Bytes(256),
        l2_ways: 2,
        misses: 6,
        told,
        interleaved: true,
        check_values: true,
        ..Memory::default()
    }
}

/// The parts of a node as SST's memHierarchy has them.
pub const MEMHIERARCHY: NodeArrangement = NodeArrangement {
    interfaces: InterfaceUse::ByPart,
    clean_writebacks: CleanWritebacks::Line,
    writeback_answers: WritebackAnswers::AsSent,
    evict: Evict::WhenAsked,
    own_node: OwnNode::ThroughRouter,
};

/// One arrangement after the other: as ever, single changes, all of them; with so many interfaces.
pub fn arrangement(i: u64) -> (NodeArrangement, u32) {
    let plain = NodeArrangement::default();
    let (evict, interfaces) = (Evict::WhenAsked, InterfaceUse::ByPart);
    match i % 4 {
        0 => (plain, 1),
        1 => (NodeArrangement { evict, ..plain }, 1),
        2 => (NodeArrangement { interfaces, ..plain }, 2),
        _ => (MEMHIERARCHY, 2),
    }
}

pub fn sum(rows: &[MemoryRow], of: impl Fn(&MemoryRow) -> u64) -> u64 {
    rows.iter().map(of).sum()
}
